//! Single readings as charts show them, and what is computed from single readings only.

use readlab_analysis::stats::median;
use readlab_model::sample::Sample;
use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChartReading {
    pub round: u32,
    /// Of which fill of the cache.
    pub fill: u32,
    pub wall_ns: u64,
}

/// Values that are drawn one by one, or where they are too many, as few that stand for all.
#[derive(Debug, Clone, PartialEq)]
pub struct Dots {
    /// What is drawn, in rising order.
    pub shown: Vec<f64>,
    /// How many values there are.
    pub of: usize,
}

impl ChartReading {
    pub(super) fn from_sample(sample: Sample) -> ChartReading {
        ChartReading { round: sample.round, fill: sample.fill, wall_ns: sample.wall_ns }
    }
}

/// The median wall time of each round with the fill it belongs to, in order of the rounds.
pub(super) fn rounds(readings: &[ChartReading]) -> Vec<(u32, u32, f64)> {
    let mut rounds: BTreeMap<(u32, u32), Vec<f64>> = BTreeMap::new();
    for reading in readings {
        #[expect(clippy::cast_precision_loss, reason = "exact up to 104 days")]
        rounds.entry((reading.round, reading.fill)).or_default().push(reading.wall_ns as f64);
    }
    rounds.into_iter().filter_map(|((round, fill), walls)| Some((round, fill, median(walls)?))).collect()
}

impl Dots {
    /// All values when they are at most `most`; else one of each of `most` equal steps from the
    /// lowest to the highest that holds any: the range and every gap wider than a step stay as they
    /// are.
    pub fn from_values(values: impl Iterator<Item = f64>, most: usize) -> Dots {
        let mut shown: Vec<f64> = values.filter(|value| value.is_finite()).collect();
        shown.sort_unstable_by(f64::total_cmp);
        let of = shown.len();
        if let (true, [low, .., high]) = (of > most, &shown[..]) {
            #[expect(clippy::cast_precision_loss, reason = "a few hundred")]
            let step = (high - low) / most as f64;
            let low = *low;
            shown.dedup_by_key(|value| ((*value - low) / step).floor());
        }
        Dots { shown, of }
    }

    /// Whether a dot may stand for several values.
    pub fn are_binned(&self) -> bool {
        self.shown.len() < self.of
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn few_values_are_all_drawn() {
        let dots = Dots::from_values([3.0, 1.0, 1.0].into_iter(), 3);
        assert_eq!((dots.shown, dots.of), (vec![1.0, 1.0, 3.0], 3));
    }

    proptest! {
        #[test]
        fn many_values_keep_their_range(values in prop::collection::vec(0.0..1e9_f64, 0..600)) {
            let dots = Dots::from_values(values.iter().copied(), 100);
            prop_assert!(dots.shown.len() <= 101);
            prop_assert_eq!(dots.of, values.len());
            let low = values.iter().copied().fold(f64::INFINITY, f64::min);
            let high = values.iter().copied().fold(0.0, f64::max);
            if let (Some(first), Some(last)) = (dots.shown.first(), dots.shown.last()) {
                prop_assert_eq!(*first, low);
                prop_assert!(high - last <= (high - low) / 100.0 + 1e-6);
            }
        }
    }
}
