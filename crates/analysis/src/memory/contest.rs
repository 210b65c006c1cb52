//! Methods that read the same bytes under the same bounds: which method is the fastest at each
//! level of memory, and between which levels one method overtakes another.

use super::{MemoryCurve, MemoryLevel, MemoryPoint, PressedNoise, is_same_contest};
use crate::stats::{Ratio, Significance};
use readlab_record::{Record, TrialRecord};

/// The methods that do the same work with the same bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryContest<'a> {
    pub curves: Vec<MemoryCurve<'a>>,
    /// The fastest method at each level at which several were measured, from the least memory.
    pub fastest_methods: Vec<FastestMethod<'a>>,
    /// Where the fastest method with the most memory overtakes the fastest method with the least
    /// memory; `None` if both are the same method, and if no interval shows a crossing.
    pub crossing: Option<Crossing<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FastestMethod<'a> {
    pub level: MemoryLevel,
    pub trial: &'a TrialRecord,
    /// The time of the second fastest method divided by that of the fastest. The interval is
    /// corrected for the choice of the fastest. `None` if no round holds both.
    pub ratio_to_second: Option<Ratio>,
}

/// Two methods, one faster with little memory and the other with much.
#[derive(Debug, Clone, PartialEq)]
pub struct Crossing<'a> {
    /// The trial of the method that is faster with little memory, at the least memory.
    pub trial_with_less_memory: &'a TrialRecord,
    /// The trial of the method that is faster with much memory, at the most memory.
    pub trial_with_more_memory: &'a TrialRecord,
    /// The greatest level at which the first method is clearly faster, and the least level above it
    /// at which the second is clearly faster.
    pub between_levels: [MemoryLevel; 2],
    /// The share of the working set at which both are equally fast, if the logarithm of their ratio
    /// changes along a straight line between two levels; `None` if one of these levels is the warm
    /// state.
    pub equal_share: Option<f64>,
    pub ratios: Vec<LevelRatio>,
}

/// At one level, the speed of the method that is faster with much memory, divided by that of the
/// other method.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelRatio {
    pub level: MemoryLevel,
    pub ratio: Ratio,
}

impl<'a> MemoryContest<'a> {
    /// All contests under bounds on memory, ordered by the index of their trials.
    pub fn all(record: &'a Record) -> Vec<MemoryContest<'a>> {
        let mut contests: Vec<Vec<MemoryCurve>> = Vec::new();
        for curve in MemoryCurve::all(record) {
            let is_its = |curves: &&mut Vec<MemoryCurve>| {
                is_same_contest(record, curves[0].points[0].trial, curve.points[0].trial)
            };
            match contests.iter_mut().find(is_its) {
                Some(curves) => curves.push(curve),
                None => contests.push(vec![curve]),
            }
        }
        contests.into_iter().map(|curves| MemoryContest::of_curves(record, curves)).collect()
    }

    fn of_curves(record: &'a Record, curves: Vec<MemoryCurve<'a>>) -> MemoryContest<'a> {
        let noise = PressedNoise::of_trials_like(record, curves[0].points[0].trial);
        let mut levels: Vec<MemoryLevel> =
            curves.iter().flat_map(|curve| &curve.points).map(|point| point.level).collect();
        levels.sort_by(|a, b| a.order(*b));
        levels.dedup();
        let fastest: Vec<FastestMethod> =
            levels.iter().filter_map(|level| FastestMethod::at(&curves, *level, &noise)).collect();
        let crossing = match &fastest[..] {
            [first, .., last] => Crossing::find(&curves, &levels, [first.trial, last.trial], &noise),
            _ => None,
        };
        MemoryContest { curves, fastest_methods: fastest, crossing }
    }
}

impl<'a> FastestMethod<'a> {
    /// `None` if fewer than two methods were measured at this level.
    fn at(curves: &[MemoryCurve<'a>], level: MemoryLevel, noise: &PressedNoise) -> Option<FastestMethod<'a>> {
        let mut points: Vec<&MemoryPoint> = curves.iter().filter_map(|curve| curve.point_at(level)).collect();
        points.sort_by(|a, b| b.rate.total_cmp(&a.rate));
        let [first, second, ..] = points[..] else { return None };
        let ratio_to_second = noise.ratio(first.trial, second.trial, points.len() - 1);
        Some(FastestMethod { level, trial: first.trial, ratio_to_second })
    }

    /// Whether the fastest method is clearly faster than the second.
    pub fn is_clear(&self) -> bool {
        self.ratio_to_second.is_some_and(|ratio| ratio.significance() == Some(Significance::Faster))
    }
}

impl<'a> Crossing<'a> {
    /// The crossing of the methods of two trials: the fastest trial with the least memory, and the
    /// fastest with the most.
    fn find(
        curves: &[MemoryCurve<'a>],
        levels: &[MemoryLevel],
        [trial_with_less, trial_with_more]: [&'a TrialRecord; 2],
        noise: &PressedNoise,
    ) -> Option<Crossing<'a>> {
        let curve_of = |it: &TrialRecord| {
            curves
                .iter()
                .find(|curve| curve.points.iter().any(|point| point.trial.trial.index == it.trial.index))
        };
        let (low, high) = (curve_of(trial_with_less)?, curve_of(trial_with_more)?);
        if low.trial().index == high.trial().index {
            return None;
        }
        let ratio_at = |level: &MemoryLevel| {
            let ratio = noise.ratio(high.point_at(*level)?.trial, low.point_at(*level)?.trial, 1)?;
            Some(LevelRatio { level: *level, ratio })
        };
        let ratios: Vec<LevelRatio> = levels.iter().filter_map(ratio_at).collect();
        let shows = |at: usize, what: Significance| ratios[at].ratio.significance() == Some(what);
        let last_slower = (0..ratios.len()).rfind(|&at| shows(at, Significance::Slower))?;
        let first_faster = (0..ratios.len()).find(|&at| shows(at, Significance::Faster))?;
        (last_slower < first_faster).then(|| Crossing {
            trial_with_less_memory: trial_with_less,
            trial_with_more_memory: trial_with_more,
            between_levels: [last_slower, first_faster].map(|at| ratios[at].level),
            equal_share: ratios[last_slower..=first_faster].windows(2).find_map(equal_share),
            ratios: ratios.clone(),
        })
    }
}

/// The share of the working set at which the ratio is 1, interpolated between two neighbouring
/// levels; `None` if the ratio does not cross 1 between them.
fn equal_share(pair: &[LevelRatio]) -> Option<f64> {
    let [below, above] = [&pair[0], &pair[1]].map(|it| (it.level.share(), it.ratio.estimate.ln()));
    let ((from, log_below), (to, log_above)) = ((below.0?, below.1), (above.0?, above.1));
    let is_between = log_below < 0.0 && log_above >= 0.0;
    is_between.then(|| from + (to - from) * log_below / (log_below - log_above))
}
