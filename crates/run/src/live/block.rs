//! One ranking while it grows: the rows of what can be compared, as in the final tables.

use super::row::{Figures, Row};
use readlab_analysis::stats::SharedVariance;
use readlab_model::trial::{CacheState, Work};
use readlab_protocol::Archive;
use readlab_record::Trial;

/// What the trials of one ranking have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) state: CacheState,
    pub(super) work: Work,
    pub(super) decodes: Option<Archive>,
    /// `None` in a sweep, whose files are compared together.
    pub(super) target: Option<usize>,
}

impl Key {
    /// Of a trial that is compared with others on the same target, or on all targets.
    pub(super) fn from_trial(trial: &Trial, on_all: bool) -> Key {
        let target = (!on_all).then_some(trial.target);
        Key { state: trial.state, work: trial.work, decodes: trial.decodes, target }
    }
}

/// One ranking.
#[derive(Debug, Clone)]
pub(super) struct Block {
    pub(super) key: Key,
    pub(super) rows: Vec<Row>,
    /// How many others had a reading before it; `None` before its first.
    pub(super) place: Option<usize>,
}

/// The rows of a ranking in order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Standings {
    /// The fastest, first.
    pub(super) best: Vec<Figures>,
    /// The rows with readings, whether they are among the fastest or not.
    pub(super) measured: usize,
    /// The rows without any that counts, because they ended so.
    pub(super) out: usize,
    /// Whether these are the readings of a search.
    pub(super) of_search: bool,
}

impl Block {
    /// Whether it holds only readings of a search so far.
    fn is_of_search(&self) -> bool {
        !self.rows.iter().any(Row::is_measured) && self.rows.iter().any(|row| row.median_ns(true).is_some())
    }

    /// The fastest rows, `most` of them. Intervals are shown for these only.
    pub(super) fn standings(&self, most: usize) -> Standings {
        let of_search = self.is_of_search();
        let mut best = match self.key.target {
            Some(_) => self.by_median(of_search, most),
            None => self.by_rate(),
        };
        let measured = match self.key.target {
            Some(_) => self.rows.iter().filter(|row| row.median_ns(of_search).is_some()).count(),
            None => best.len(),
        };
        best.truncate(most);
        Standings { best, measured, out: self.rows.iter().filter(|row| row.is_out()).count(), of_search }
    }

    fn by_median(&self, of_search: bool, most: usize) -> Vec<Figures> {
        let medians = self.rows.iter().filter_map(|row| Some((row.median_ns(of_search)?, row)));
        let mut rows: Vec<(f64, &Row)> = medians.collect();
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        // The rungs of a search are no rounds that all have in common.
        let readings = rows.iter().filter(|_| !of_search).map(|(_, row)| row.walls());
        let shared = SharedVariance::new(readings);
        let figures = |(at, (_, row)): (usize, &(f64, &Row))| {
            let figures = row.figures(of_search)?;
            let precision = figures.precision.or_else(|| precision_among(&shared, at));
            Some(Figures { precision, ..figures })
        };
        rows.iter().take(most).enumerate().filter_map(figures).collect()
    }

    fn by_rate(&self) -> Vec<Figures> {
        let mut all: Vec<Figures> = self.rows.iter().filter_map(Row::figures_of_files).collect();
        all.sort_by(|a, b| b.speed().total_cmp(&a.speed()));
        all
    }
}

/// Half the interval of a trial's time over that time, by the noise of all trials; `None` of one
/// round.
fn precision_among(shared: &SharedVariance, trial: usize) -> Option<f64> {
    let location = shared.location(trial)?;
    Some(location.ci95?.ends.half_width() / location.estimate_ns)
}
