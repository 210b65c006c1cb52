//! The size of a search: settings, readings and rungs, beside the readings that measuring every
//! setting would have taken.

use super::words::{grouped, plural};
use readlab_analysis::stats::EXHAUSTIVE_READINGS;
use readlab_record::{Samples, TrialRecord};
use std::collections::BTreeSet;

/// The readings of one search and of the fresh measurement behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchView {
    /// Settings that were read at least once.
    pub settings: usize,
    /// Turns that the search took.
    pub searched: usize,
    pub rungs: usize,
    /// Turns of the fresh measurement, the reference's among them.
    pub fresh: usize,
    /// Turns that measuring every setting would have taken.
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
        #[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
        let share = super::words::percent((searched + fresh) as f64 / exhaustive as f64);
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
