//! The series of a sweep over all sizes, as cases of a comparison: the median rate, the rate by the
//! slope of time on size, and the highest rate of a single file. Single sizes are cases of their
//! own ([`super::side`]).

use super::case::{Case, ComparisonKey, Figure, Statistic};
use super::measure::Measure;
use super::side::is_above_cache;
use crate::stats;
use readlab_model::trial::{CacheState, Transport};
use readlab_record::{Record, SweepPoint, SweepSeries, Trial};
use std::collections::BTreeMap;

/// The names that publications use for plain writing and plain reading.
const PUBLISHED_NAMES: [&str; 2] = ["write", "read"];

/// One case for each series of a sweep; empty for a record that holds no sweep.
pub(super) fn cases(record: &Record) -> Vec<Case> {
    let swept = record.sweep_series();
    let first = |is_write: bool| swept.iter().position(move |it| it.is_write == is_write);
    let published = [first(true), first(false)];
    let case = |(at, it): (usize, &SweepSeries)| {
        let also = published.iter().zip(PUBLISHED_NAMES).find(|(first, _)| **first == Some(at));
        let name = format!("{} over all sizes", it.name);
        Case {
            names: [name.clone()].into_iter().chain(also.map(|(_, word)| word.to_owned())).collect(),
            name,
            key: key(record, it),
            figures: figures(it),
            noise: BTreeMap::new(),
            why_unmeasured: None,
        }
    };
    swept.iter().enumerate().map(case).collect()
}

/// The comparison key of a series: the state in which its method read, and whether its cold
/// readings may come from a cache. A series of writes has no state.
fn key(record: &Record, it: &SweepSeries) -> ComparisonKey {
    let trials = record.trials.iter().map(|it| &it.trial);
    let read: Vec<&Trial> = trials.filter(|trial| !it.is_write && trial.id.to_string() == it.name).collect();
    let cold = read.iter().filter(|trial| trial.state == CacheState::Cold);
    let above = cold.filter_map(|trial| is_above_cache(record.target_of(trial)?));
    ComparisonKey {
        transport: Some(Transport::File),
        state: read.first().map(|trial| trial.state),
        is_above_cache: above.reduce(|one, other| one || other),
        ..ComparisonKey::default()
    }
}

fn figures(it: &SweepSeries) -> BTreeMap<Measure, Figure> {
    let rates = || it.points.iter().filter(|point| point.size_bytes > 0).map(SweepPoint::rate);
    let single = |value: Option<f64>, statistic| value.map(|value| Figure::of_value(value, statistic));
    let fit = stats::least_squares(&it.sizes_and_seconds());
    let slope = fit.as_ref().map(|fit| 1.0 / fit.line.slope).filter(|rate| *rate > 0.0);
    let fixed_ns = fit.as_ref().map(|fit| fit.line.intercept * 1e9);
    let all = [
        (Measure::Rate, single(stats::median(rates()), Statistic::Median)),
        (Measure::Slope, single(slope, Statistic::Slope)),
        (Measure::Fixed, single(fixed_ns, Statistic::Slope)),
        (Measure::Most, single(rates().reduce(f64::max), Statistic::Most)),
    ];
    all.into_iter().filter_map(|(measure, figure)| Some((measure, figure?))).collect()
}
