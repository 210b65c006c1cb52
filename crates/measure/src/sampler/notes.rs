//! Notes of the sampler: lines for the record that are no samples, and meters that could not be
//! read in a turn. Remembers earlier notes, so that none is repeated.

use readlab_model::trial::{TrialId, TrialIndex};
use readlab_record::{Line, OwnScheduling};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

/// Largest number of scheduling kinds that are noted for one trial.
const SCHEDULINGS_MAX: usize = 4;

#[derive(Default)]
pub(super) struct Notes {
    lines: Vec<Line>,
    missing_meters: Vec<(&'static str, String)>,
    /// Warnings that are noted only once.
    warned_texts: BTreeSet<String>,
    schedulings: BTreeMap<TrialIndex, Vec<OwnScheduling>>,
}

impl Notes {
    /// Forgets the missing meters of an earlier turn, of any trial.
    pub(super) fn begin_turn(&mut self) {
        self.missing_meters.clear();
    }

    pub(super) fn add(&mut self, line: Line) {
        self.lines.push(line);
    }

    pub(super) fn warn(&mut self, text: String) {
        self.lines.push(Line::Warning { text });
    }

    pub(super) fn add_missing_meter(&mut self, meter: &'static str, reason: impl Display) {
        self.missing_meters.push((meter, reason.to_string()));
    }

    /// The value of a meter; if it could not be read, the reason becomes a note.
    pub(super) fn value_or_note<T>(
        &mut self,
        meter: &'static str,
        reading: Result<T, impl Display>,
    ) -> Option<T> {
        reading.map_err(|reason| self.add_missing_meter(meter, reason)).ok()
    }

    pub(super) fn warn_once(&mut self, text: String) {
        if self.warned_texts.insert(text.clone()) {
            self.warn(text);
        }
    }

    /// Notes, once for each trial, how readlab adjusts its answers.
    pub(super) fn note_adjustment(&mut self, trial: &TrialId, how: &str) {
        self.warn_once(format!("{trial} {how}"));
    }

    /// Notes a scheduling policy that a contender set for itself; each kind once, and at most a few
    /// for each trial.
    pub(super) fn note_scheduling(&mut self, trial: TrialIndex, scheduling: OwnScheduling) {
        let noted = self.schedulings.entry(trial).or_default();
        if noted.len() < SCHEDULINGS_MAX && !noted.contains(&scheduling) {
            noted.push(scheduling.clone());
            self.lines.push(Line::Scheduling { trial, scheduling: Box::new(scheduling) });
        }
    }

    /// Keeps only lines about side effects of a contender: missing meters and warm-ups on a file
    /// that is not measured are irrelevant.
    pub(super) fn keep_side_effect_lines(&mut self) {
        self.lines.retain(|line| matches!(line, Line::LeftBehind { .. } | Line::Scheduling { .. }));
    }

    pub(super) fn take_lines(&mut self) -> Vec<Line> {
        std::mem::take(&mut self.lines)
    }

    pub(super) fn take_missing_meters(&mut self) -> Vec<(&'static str, String)> {
        std::mem::take(&mut self.missing_meters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_record::LeftBehind;

    #[test]
    fn a_meter_without_a_reading_gives_its_reason() {
        let mut notes = Notes::default();
        assert_eq!(notes.value_or_note("before", Err::<u64, _>("an earlier turn")), None);
        notes.begin_turn();
        assert_eq!(notes.value_or_note("minor_faults", Ok::<_, String>(3)), Some(3));
        assert_eq!(notes.value_or_note("major_faults", Err::<u64, _>("not here")), None);
        assert_eq!(notes.take_missing_meters(), [("major_faults", "not here".to_owned())]);
        assert!(notes.take_missing_meters().is_empty(), "taken once");
    }

    #[test]
    fn after_a_warm_up_on_another_file_only_side_effects_are_kept() {
        let mut notes = Notes::default();
        let left =
            Line::LeftBehind { trial: TrialIndex::new(0), left: LeftBehind { processes: 1, readings: 1 } };
        notes.warn("of the other file".to_owned());
        notes.add(left.clone());
        notes.keep_side_effect_lines();
        assert_eq!(notes.take_lines(), [left]);
    }

    #[test]
    fn a_warning_that_is_the_same_for_each_reading_is_noted_once() {
        let mut notes = Notes::default();
        ["a", "a", "b"].into_iter().for_each(|text| notes.warn_once(text.to_owned()));
        assert_eq!(notes.take_lines(), ["a", "b"].map(|text| Line::Warning { text: text.to_owned() }));
        notes.warn_once("a".to_owned());
        assert!(notes.take_lines().is_empty());
    }

    #[test]
    fn an_adjusted_answer_is_noted_once_for_each_trial() {
        let mut notes = Notes::default();
        let [a, b]: [TrialId; 2] = ["rust/a", "rust/b"].map(|name| name.parse().unwrap());
        for trial in [&a, &a, &b] {
            notes.note_adjustment(trial, "counts newlines");
        }
        let text = |text: &str| Line::Warning { text: text.to_owned() };
        assert_eq!(notes.take_lines(), [text("rust/a counts newlines"), text("rust/b counts newlines")]);
    }
}
