//! The size of a search, beside the readings that measuring every setting would have taken.

use super::words::{grouped, percent, plural};
use readlab_analysis::stats::EXHAUSTIVE_READINGS;
use readlab_record::{Samples, TrialRecord};
use serde::Serialize;
use std::collections::BTreeSet;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SearchView {
    /// Settings that were read at least once.
    pub settings: usize,
    /// Turns that the search took.
    #[serde(rename = "readings_searched")]
    pub searched: usize,
    pub rungs: usize,
    /// Turns of the fresh measurement, the reference's among them.
    #[serde(rename = "readings_fresh")]
    pub fresh: usize,
    /// Turns that measuring every setting would have taken.
    #[serde(rename = "readings_exhaustive")]
    pub exhaustive: usize,
}

impl SearchView {
    /// Over the trials of one target, work and state; `None` where nothing was searched.
    pub(super) fn from_trials(trials: &[&TrialRecord]) -> Option<SearchView> {
        let reading = || trials.iter().filter(|trial| !trial.trial.is_control());
        let rungs: BTreeSet<u32> =
            reading().flat_map(|trial| &trial.searched).filter_map(|it| it.rung).collect();
        let settings = reading().filter(|trial| !trial.searched.is_empty()).count();
        (settings > 0).then(|| SearchView {
            settings,
            searched: reading().map(|trial| turns(&trial.searched)).sum(),
            rungs: rungs.len(),
            fresh: reading().map(|trial| turns(&trial.samples)).sum(),
            exhaustive: settings * EXHAUSTIVE_READINGS,
        })
    }

    pub fn line(&self) -> String {
        let SearchView { settings, searched, rungs, fresh, exhaustive } = *self;
        let share = percent((searched + fresh) as f64 / exhaustive as f64);
        format!(
            "search: {} in {}, {} and {fresh} afresh, {share} of the {} that {EXHAUSTIVE_READINGS} of each would take; only fresh readings count",
            plural(settings, "setting"),
            plural(rungs, "rung"),
            plural(searched, "reading"),
            grouped(exhaustive as u64),
        )
    }
}

/// Readings of one turn are one look at the machine.
fn turns(samples: &Samples) -> usize {
    samples.iter().map(|sample| sample.round).collect::<BTreeSet<_>>().len()
}
