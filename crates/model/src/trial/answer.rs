//! The answer of a reading, which proves that the work was done.

use super::Work;
use readlab_protocol::SampleLine;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Proof of work. A field is `None` if the contender does not know it; a field that both the
/// contender and the oracle know must be equal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Bytes equal to 0x0A.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newlines: Option<u64>,
    /// Lines; a last line without a newline counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<u64>,
    /// Wrapping sum of all bytes, 0 to 255.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sum: Option<u64>,
    /// How many files were read, for a target with several files, or found by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<u64>,
    /// Number of folders that were found below the target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folders: Option<u64>,
    /// Number of symbolic links that were found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links: Option<u64>,
    /// Number of names that are not files, folders or symbolic links.
    #[serde(rename = "others", skip_serializing_if = "Option::is_none")]
    pub other_names: Option<u64>,
    /// Number of all names below the target. A command may also count the target itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub names: Option<u64>,
    /// How many blocks were read, for places of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u64>,
    /// The sum of products that proves each file or block (PROTOCOL.md).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub products: Option<u64>,
    /// Digest of everything that a command printed, in 53 bits.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "output")]
    pub output_digest: Option<u64>,
}

impl Answer {
    /// True if this answer proves `work`, given the true answer: every field that is present
    /// agrees, and a field that proves the work is present. Newlines and lines prove each other:
    /// both need a visit of every byte, and the oracle knows whether the last line ends with a
    /// newline.
    pub fn proves(&self, work: Work, truth: &Answer) -> bool {
        let proof = match work {
            Work::Newlines | Work::Lines => self.newlines.or(self.lines),
            Work::Sum => self.sum,
            Work::Discard => self.bytes,
            Work::Names => self.files.or(self.names),
            Work::Stat => self.bytes,
            Work::Output | Work::Part => self.output_digest,
        };
        let mut both = self.named_numbers().into_iter().zip(truth.named_numbers());
        let agree = both.all(|((_, mine), (_, theirs))| mine.is_none() || theirs.is_none() || mine == theirs);
        proof.is_some() && agree && self.agrees_on_names(truth)
    }

    /// True if the number of all names is right, or unknown. One more is right too: `find` counts
    /// the folder itself, and `fd` does not.
    fn agrees_on_names(&self, truth: &Answer) -> bool {
        self.names
            .zip(truth.names)
            .is_none_or(|(own, right)| own == right || right.checked_add(1) == Some(own))
    }

    /// True if the answer has the number of names of each kind, which only commands may omit.
    pub fn has_every_kind(&self) -> bool {
        [self.files, self.folders, self.links, self.other_names].iter().all(Option::is_some)
    }

    /// The fields that are compared one by one, with their names.
    fn named_numbers(&self) -> [(&'static str, Option<u64>); 9] {
        [
            ("bytes", self.bytes),
            ("newlines", self.newlines),
            ("lines", self.lines),
            ("sum", self.sum),
            ("files", self.files),
            ("folders", self.folders),
            ("links", self.links),
            ("others", self.other_names),
            ("blocks", self.blocks),
        ]
    }

    /// States in words what readlab adds to an answer that counts lines instead of newlines or the
    /// reverse; `None` if it adds nothing.
    pub fn added_line_note(&self, work: Work, truth: &Answer) -> Option<&'static str> {
        match (work, self.newlines, self.lines) {
            _ if truth.newlines == truth.lines => None,
            (Work::Lines, Some(_), None) => {
                Some("counts newlines: the last line has none, and readlab added it")
            }
            (Work::Newlines, None, Some(_)) => {
                Some("counts lines: the last one has no newline, and readlab took it away")
            }
            _ => None,
        }
    }

    /// States why this answer does not prove the work, and whether it is the right number of lines
    /// or newlines instead.
    pub fn refusal(&self, work: Work, truth: &Answer) -> String {
        let reason = format!("it answered {self}; right is {truth}");
        match self.suited_work(work, truth) {
            Some(other) => format!(
                "{reason} (the last line does not end with a newline: that is the number of {other}, right for --work {other})"
            ),
            None => reason,
        }
    }

    /// The name of the work that this answer proves instead of `work`; `None` if it is neither the
    /// number of lines nor that of newlines.
    pub fn suited_work(&self, work: Work, truth: &Answer) -> Option<&'static str> {
        match work {
            Work::Newlines if self.newlines.is_some() && self.newlines == truth.lines => Some("lines"),
            Work::Lines if self.lines.is_some() && self.lines == truth.newlines => Some("newlines"),
            _ => None,
        }
    }
}

impl From<&SampleLine> for Answer {
    fn from(sample: &SampleLine) -> Answer {
        let SampleLine { bytes, newlines, lines, sum, blocks, products, output, .. } = *sample;
        let SampleLine { files, folders, links, others: other_names, names, .. } = *sample;
        let read = Answer {
            bytes,
            newlines,
            lines,
            sum,
            blocks,
            products,
            output_digest: output,
            ..Answer::default()
        };
        Answer { files, folders, links, other_names, names, ..read }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = self.named_numbers().into_iter().chain([("names", self.names)]);
        // `sum` is no count and has no plural.
        let known = named.filter_map(|(name, value)| match value? {
            1 => Some(format!("1 {}", name.strip_suffix('s').unwrap_or(name))),
            value => Some(format!("{value} {name}")),
        });
        let printed = self.output_digest.map(|digest| format!("output of digest {digest:014x}"));
        let known: Vec<String> = known.chain(printed).collect();
        f.pad(&if known.is_empty() { "nothing".to_owned() } else { known.join(", ") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_proof_only_when_it_holds_the_work_and_all_of_it_agrees() {
        let truth =
            Answer { bytes: Some(10), newlines: Some(2), lines: Some(3), sum: Some(7), ..Answer::default() };
        let newlines = |n| Answer { newlines: Some(n), ..Answer::default() };
        assert!(newlines(2).proves(Work::Newlines, &truth));
        assert!(!newlines(3).proves(Work::Newlines, &truth));
        assert!(!newlines(2).proves(Work::Sum, &truth));
        assert!(Answer { lines: Some(3), ..Answer::default() }.proves(Work::Newlines, &truth));
        assert!(newlines(2).proves(Work::Lines, &truth), "the lab knows of the last line");
        assert!(!newlines(3).proves(Work::Lines, &truth));
        assert!(!Answer { bytes: Some(9), ..newlines(2) }.proves(Work::Newlines, &truth));
        assert!(!Answer::default().proves(Work::Discard, &truth));
    }

    #[test]
    fn names_are_proven_by_kind_or_in_all_and_statuses_by_the_sum_of_sizes() {
        let truth = Answer {
            bytes: Some(70),
            files: Some(3),
            folders: Some(2),
            links: Some(1),
            other_names: Some(0),
            names: Some(6),
            ..Answer::default()
        };
        let walked = Answer { names: None, ..truth };
        assert!(walked.proves(Work::Names, &truth) && walked.proves(Work::Stat, &truth));
        assert!(walked.has_every_kind() && !Answer { other_names: None, ..walked }.has_every_kind());
        assert!(!Answer { folders: Some(3), ..walked }.proves(Work::Names, &truth));
        assert!(!Answer { bytes: Some(71), ..walked }.proves(Work::Stat, &truth));
        assert!(!Answer { bytes: None, ..walked }.proves(Work::Stat, &truth), "no status was requested");
        let command = |names| Answer { names: Some(names), ..Answer::default() }.proves(Work::Names, &truth);
        assert_eq!([5, 6, 7, 8].map(command), [false, true, true, false]);
        assert_eq!(Answer { names: Some(6), ..Answer::default() }.to_string(), "6 names");
        let shown = "70 bytes, 3 files, 2 folders, 1 link, 0 others, 6 names";
        assert_eq!(truth.to_string(), shown);
        let one = Answer { sum: Some(1), other_names: Some(1), names: Some(1), ..Answer::default() };
        assert_eq!(one.to_string(), "1 sum, 1 other, 1 name");
    }

    #[test]
    fn a_number_that_is_right_for_the_other_work_gets_a_hint_and_any_other_does_not() {
        let truth =
            Answer { bytes: Some(10), newlines: Some(2), lines: Some(3), sum: Some(7), ..Answer::default() };
        let hint =
            |answer: Answer, work| answer.refusal(work, &truth).contains("does not end with a newline");
        let (newlines, lines) = (
            |n| Answer { newlines: Some(n), ..Answer::default() },
            |n| Answer { lines: Some(n), ..Answer::default() },
        );
        assert!(hint(lines(2), Work::Lines) && hint(newlines(3), Work::Newlines));
        assert!(!hint(lines(1), Work::Lines) && !hint(newlines(4), Work::Newlines));
        let added = |answer: Answer, work| answer.added_line_note(work, &truth).is_some();
        assert!(added(newlines(2), Work::Lines) && added(lines(3), Work::Newlines));
        assert!(!added(lines(3), Work::Lines) && !added(newlines(2), Work::Newlines));
        assert_eq!(newlines(2).added_line_note(Work::Lines, &Answer { lines: Some(2), ..truth }), None);
    }
}
