//! Names that the record of a fleet must not show: of hosts and of files. Each rank replaces its
//! own names by numbers in every text, before rank 0 gets the text or writes it.

use super::order::{HasReason, RankReport, RankResult};
use readlab_record::Line;
use readlab_system::terminal::printable::display_path;
use std::path::Path;

/// The names that texts must not show, with their replacements; none if names are shown.
#[derive(Debug, Clone, Default)]
pub struct HiddenNames(Vec<HiddenName>);

#[derive(Debug, Clone)]
struct HiddenName {
    name: String,
    replacement: String,
}

impl HiddenNames {
    /// The names of a rank, which reads this file. The path is absolute, as that of every target, so
    /// it is no word of another text.
    pub fn of_rank(rank: u32, host: &str, file: &Path) -> HiddenNames {
        HiddenNames::new(host, &shown_host(rank), file, &shown_file(rank))
    }

    /// The names of the rank on the server.
    pub fn of_witness(host: &str, file: &Path) -> HiddenNames {
        HiddenNames::new(host, SHOWN_WITNESS_HOST, file, SHOWN_WITNESS_FILE)
    }

    /// A word of a command line, for other words of that line.
    pub fn of_word(word: &str, replacement: &str) -> HiddenNames {
        HiddenNames(vec![HiddenName { name: word.to_owned(), replacement: replacement.to_owned() }])
    }

    fn new(host: &str, shown_host: &str, file: &Path, shown_file: &str) -> HiddenNames {
        // Messages about pages name the file without its links.
        let resolved = file.canonicalize().ok();
        let files = [Some(file), resolved.as_deref()].into_iter().flatten();
        let paths = files.flat_map(|file| [display_path(file), file.to_string_lossy().into_owned()]);
        let mut names: Vec<HiddenName> =
            paths.map(|name| HiddenName { name, replacement: shown_file.to_owned() }).collect();
        names.push(HiddenName { name: host.to_owned(), replacement: shown_host.to_owned() });
        names.retain(|hidden| !hidden.name.is_empty());
        HiddenNames(names)
    }

    /// Replaces the names in a text.
    pub fn hide_in_text(&self, text: &mut String) {
        for HiddenName { name, replacement } in &self.0 {
            if text.contains(name.as_str()) {
                *text = with_replaced_words(text, name, replacement);
            }
        }
    }

    /// Replaces the names in all texts of a line.
    pub fn hide_in_line(&self, line: &mut Line) {
        texts_of_line(line).into_iter().for_each(|text| self.hide_in_text(text));
    }

    pub(super) fn hide_in_report(&self, report: &mut RankReport) {
        report.notes.iter_mut().for_each(|line| self.hide_in_line(line));
        let result = match &mut report.result {
            Ok(RankResult::Filled(fill)) => Some(&mut fill.how),
            Ok(_) => None,
            Err(failure) => failure.reason(),
        };
        let refusal = report.refusal.as_mut().and_then(HasReason::reason);
        let missing = report.missing_meters.iter_mut().map(|(_, reason)| reason);
        result.into_iter().chain(refusal).chain(missing).for_each(|text| self.hide_in_text(text));
    }
}

/// The names that a record shows instead of those of the server and its file.
pub(super) const SHOWN_WITNESS_HOST: &str = "the server";
pub(super) const SHOWN_WITNESS_FILE: &str = "file";

/// The name that a record shows instead of that of a rank's host.
pub(super) fn shown_host(rank: u32) -> String {
    format!("host {rank}")
}

/// The name that a record shows instead of the path of a rank's file.
pub(super) fn shown_file(rank: u32) -> String {
    format!("file {rank}")
}

/// The text with each occurrence of a name replaced that is no part of a longer name.
fn with_replaced_words(text: &str, name: &str, replacement: &str) -> String {
    let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let (mut replaced, mut done) = (String::with_capacity(text.len()), 0);
    for (at, _) in text.match_indices(name) {
        let end = at + name.len();
        let is_part = text[..at].ends_with(is_of_name) || text[end..].starts_with(is_of_name);
        replaced.push_str(&text[done..at]);
        replaced.push_str(if is_part { name } else { replacement });
        done = end;
    }
    replaced + &text[done..]
}

/// The texts of a line that may name a host or a file. The facts about the target have none:
/// `JoinedFleet` of the run leaves them out.
fn texts_of_line(line: &mut Line) -> Vec<&mut String> {
    match line {
        Line::Header(header) => header.command.iter_mut().collect(),
        Line::Warning { text: reason } | Line::Rejected { reason, .. } | Line::Missing { reason, .. } => {
            vec![reason]
        }
        Line::Outcome { outcome, .. } => HasReason::reason(outcome).into_iter().collect(),
        Line::Fill(fill) => vec![&mut fill.how],
        Line::Counts { counts, .. } => counts.values_mut().map(|count| &mut count.how).collect(),
        Line::FlameGraph { graph, .. } => {
            let sentences = graph.why_no_picture.iter_mut().chain(&mut graph.blind_spots);
            sentences.chain([&mut graph.how]).collect()
        }
        Line::Trace { trace, .. } => trace.reason.iter_mut().chain([&mut trace.how_traced]).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::RankFailure;
    use readlab_measure::interface::{SampleError, TrialEnd};
    use readlab_model::trial::TrialIndex;
    use readlab_record::{Outcome, UntimedCount};
    use std::collections::BTreeMap;

    fn names() -> HiddenNames {
        HiddenNames::of_rank(1, "node7", Path::new("/store/data.bin"))
    }

    fn hidden(text: &str) -> String {
        let mut text = text.to_owned();
        names().hide_in_text(&mut text);
        text
    }

    #[test]
    fn host_and_path_are_replaced_wherever_they_stand_alone() {
        assert_eq!(hidden("node7: /store/data.bin: torn"), "host 1: file 1: torn");
        assert_eq!(hidden("'/store/data.bin' (/store/data.bin)"), "'file 1' (file 1)");
        for other in ["node71: it ended", "my-node7", "/store/data.bin2: torn", "no names"] {
            assert_eq!(hidden(other), other);
        }
        let mut shown = "/store/data.bin".to_owned();
        HiddenNames::default().hide_in_text(&mut shown);
        assert_eq!(shown, "/store/data.bin");
    }

    #[test]
    fn a_file_is_hidden_by_the_path_without_its_links_too() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        std::fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let names = HiddenNames::of_witness("s", &link);
        let mut text = format!("{} is {}", link.display(), file.canonicalize().unwrap().display());
        names.hide_in_text(&mut text);
        assert_eq!(text, "file is file");
    }

    #[test]
    fn every_text_of_a_line_is_hidden() {
        let trial = TrialIndex::new(0);
        let reason = || "/store/data.bin: torn".to_owned();
        let count = UntimedCount { value: None, how: reason() };
        for mut line in [
            Line::Warning { text: reason() },
            Line::Rejected { trial, round: 0, reason: reason() },
            Line::Missing { trial, meter: "m".to_owned(), reason: reason() },
            Line::Outcome { trial, outcome: Outcome::Failed { reason: reason() } },
            Line::Counts { trial, counts: BTreeMap::from([("mallocs".to_owned(), count)]) },
        ] {
            names().hide_in_line(&mut line);
            let text = serde_json::to_string(&line).unwrap();
            assert!(text.contains("file 1: torn") && !text.contains("store"), "{text}");
        }
    }

    #[test]
    fn a_report_leaves_its_rank_without_names() {
        let reason = || "node7: /store/data.bin: torn".to_owned();
        let failures = [
            RankFailure::from(SampleError::Unproven(reason())),
            RankFailure::from(TrialEnd::failed(reason())),
        ];
        for failure in failures {
            let mut report = RankReport {
                result: Err(failure),
                notes: vec![Line::Warning { text: reason() }],
                missing_meters: vec![("m".to_owned(), reason())],
                refusal: Some(Outcome::Refused { reason: reason() }),
            };
            names().hide_in_report(&mut report);
            let text = serde_json::to_string(&report).unwrap();
            assert_eq!(text.matches("host 1: file 1: torn").count(), 4, "{text}");
            assert!(!text.contains("node7") && !text.contains("store"), "{text}");
        }
    }
}
