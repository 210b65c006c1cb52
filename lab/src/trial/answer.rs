//! The answer of a reading, which proves that the work was done.

use super::Work;
use readlab_protocol::SampleLine;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Proof of work. Fields that a contender cannot know are absent; those present on both sides must agree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// Bytes read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Bytes equal to 0x0A.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newlines: Option<u64>,
    /// Lines, an unterminated last one included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<u64>,
    /// Wrapping sum of all bytes, 0 to 255.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sum: Option<u64>,
}

impl Answer {
    /// Whether this reading proves `work`, given the true answer: every field that is present agrees, and one of
    /// those that prove the work is present. Lines prove newlines too: the oracle knows both counts.
    #[must_use]
    pub fn proves(&self, work: Work, truth: &Answer) -> bool {
        let agrees =
            |mine: Option<u64>, theirs: Option<u64>| mine.is_none() || theirs.is_none() || mine == theirs;
        let proof = match work {
            Work::Newlines => self.newlines.or(self.lines),
            Work::Lines => self.lines,
            Work::Sum => self.sum,
            Work::Discard => self.bytes,
        };
        proof.is_some()
            && agrees(self.bytes, truth.bytes)
            && agrees(self.newlines, truth.newlines)
            && agrees(self.lines, truth.lines)
            && agrees(self.sum, truth.sum)
    }
}

impl From<&SampleLine> for Answer {
    fn from(sample: &SampleLine) -> Answer {
        Answer { bytes: sample.bytes, newlines: sample.newlines, lines: sample.lines, sum: sample.sum }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named =
            [("bytes", self.bytes), ("newlines", self.newlines), ("lines", self.lines), ("sum", self.sum)];
        let known = named.iter().filter_map(|(name, value)| value.map(|value| format!("{value} {name}")));
        let known: Vec<String> = known.collect();
        f.pad(&if known.is_empty() { "nothing".to_owned() } else { known.join(", ") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_proof_only_when_it_holds_the_work_and_all_of_it_agrees() {
        let truth = Answer { bytes: Some(10), newlines: Some(2), lines: Some(3), sum: Some(7) };
        let newlines = |n| Answer { newlines: Some(n), ..Answer::default() };
        assert!(newlines(2).proves(Work::Newlines, &truth));
        assert!(!newlines(3).proves(Work::Newlines, &truth));
        assert!(!newlines(2).proves(Work::Sum, &truth));
        assert!(Answer { lines: Some(3), ..Answer::default() }.proves(Work::Newlines, &truth));
        assert!(!Answer { bytes: Some(9), ..newlines(2) }.proves(Work::Newlines, &truth));
        assert!(!Answer::default().proves(Work::Discard, &truth));
    }
}
