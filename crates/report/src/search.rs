//! The number of readings of a search, compared with the number that an exhaustive run would take.

use super::words::{grouped, percent, plural};
use readlab_analysis::stats::EXHAUSTIVE_READINGS_PER_CANDIDATE;
use readlab_record::{Prediction, Samples, TrialRecord};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct SearchView {
    /// Number of settings that were read at least once.
    #[serde(rename = "settings")]
    pub setting_count: usize,
    /// Number of turns that the search took.
    #[serde(rename = "readings_searched")]
    pub search_turns: usize,
    #[serde(rename = "rungs")]
    pub rung_count: usize,
    /// Number of turns of the fresh measurement, including those of the reference.
    #[serde(rename = "readings_fresh")]
    pub fresh_turns: usize,
    /// Number of turns that measuring every setting would have taken.
    #[serde(rename = "readings_exhaustive")]
    pub exhaustive_turns: usize,
    /// Number of settings that the model of the search excluded without a reading.
    #[serde(rename = "settings_ruled_out")]
    pub ruled_out_settings: usize,
    /// The relative error with which the model predicts a reading that it has not seen.
    pub model_error: Option<f64>,
}

impl SearchView {
    /// Counts the turns of trials of one target, work and state; `None` if no trial was searched.
    pub(super) fn from_trials(trials: &[&TrialRecord]) -> Option<SearchView> {
        let reading = || trials.iter().filter(|trial| !trial.trial.is_control());
        let rungs: BTreeSet<u32> =
            reading().flat_map(|trial| &trial.search_samples).filter_map(|it| it.rung).collect();
        let settings = reading().filter(|trial| !trial.search_samples.is_empty()).count();
        let predictions: Vec<Prediction> =
            reading().filter_map(|trial| trial.outcome.as_ref()?.prediction()).collect();
        (settings > 0).then(|| SearchView {
            setting_count: settings,
            search_turns: reading().map(|trial| count_turns(&trial.search_samples)).sum(),
            rung_count: rungs.len(),
            fresh_turns: reading().map(|trial| count_turns(&trial.samples)).sum(),
            exhaustive_turns: (settings + predictions.len()) * EXHAUSTIVE_READINGS_PER_CANDIDATE,
            ruled_out_settings: predictions.len(),
            model_error: predictions.first().map(|it| it.model_error),
        })
    }

    pub fn line(&self) -> String {
        let SearchView {
            setting_count: settings,
            search_turns,
            rung_count: rungs,
            fresh_turns,
            exhaustive_turns,
            ..
        } = *self;
        let share = percent((search_turns + fresh_turns) as f64 / exhaustive_turns as f64);
        let line = format!(
            "search: {} in {}, {} and {fresh_turns} afresh, {share} of the {} that {EXHAUSTIVE_READINGS_PER_CANDIDATE} of each would take; only fresh readings count",
            plural(settings, "setting"),
            plural(rungs, "rung"),
            plural(search_turns, "reading"),
            grouped(exhaustive_turns as u64),
        );
        match self.model_error {
            Some(error) => format!(
                "{line}; {} ruled out by a model that is {} off a reading that it does not have",
                plural(self.ruled_out_settings, "more setting"),
                percent(error),
            ),
            None => line,
        }
    }
}

/// The number of turns. All readings of one turn have the same round and count once.
fn count_turns(samples: &Samples) -> usize {
    samples.iter().map(|sample| sample.round).collect::<BTreeSet<_>>().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_a_search_ruled_out_are_reported_with_the_model_error() {
        let all = SearchView {
            setting_count: 60,
            search_turns: 75,
            rung_count: 5,
            fresh_turns: 40,
            exhaustive_turns: 1480,
            ruled_out_settings: 88,
            model_error: Some(0.042),
        };
        let line = all.line();
        let end = "; 88 more settings ruled out by a model that is 4.2 % off a reading that it does not have";
        assert!(line.starts_with("search: 60 settings in 5 rungs, 75 readings and 40 afresh, "), "{line}");
        assert!(line.ends_with(end), "{line}");
        let none = SearchView { ruled_out_settings: 0, model_error: None, ..all };
        assert!(!none.line().contains("model"));
    }
}
