//! Whether a trial is slower than the first of several.
//!
//! The first was chosen because it looked fast, so it is slower than its readings: at 95 %, every
//! tenth of eight identical trials and every sixth of thirty would be called slower. So the error
//! is divided by the number of comparisons (Dunn, *Multiple Comparisons among Means*, Journal of
//! the American Statistical Association 56, 1961), by [`COMPARISONS_MAX`] at most: simulated races
//! show that this is enough. Where the rounds are too few for such an interval, only a trial that
//! is [`separated`] is slower.

use crate::OBSERVATIONS_MIN;
use crate::interval::Confidence;
use crate::observation::Observation;
use crate::paired::Paired;
use crate::ratio::Significance;
use crate::turns::{Pair, Turns};

/// With more comparisons, the share that is called slower by chance hardly grows.
const COMPARISONS_MAX: usize = 7;

/// How a trial compares with the first of some trials, of which so many are compared with it;
/// `None` with too few rounds that hold both.
pub fn against_first<O: Into<Observation>>(
    first: impl IntoIterator<Item = O>,
    trial: impl IntoIterator<Item = O>,
    comparisons: usize,
) -> Option<Significance> {
    let pairs = Turns::from_readings(first).pairs(&Turns::from_readings(trial));
    if pairs.len() < OBSERVATIONS_MIN {
        return None;
    }
    let logs: Vec<_> = pairs.iter().map(Pair::log_ratio).collect();
    Some(match Paired::from_differences(&logs).interval(confidence_against_chosen(comparisons)) {
        Some(ends) => Significance::from_interval(ends.map(f64::exp)),
        None if are_separated(&pairs) => Significance::Slower,
        None => Significance::Tie,
    })
}

/// Whether the trial's fastest turn is slower than the slowest of the first, in five rounds or more
/// that hold both.
pub fn separated<O: Into<Observation>>(
    first: impl IntoIterator<Item = O>,
    trial: impl IntoIterator<Item = O>,
) -> bool {
    are_separated(&Turns::from_readings(first).pairs(&Turns::from_readings(trial)))
}

fn are_separated(pairs: &[Pair]) -> bool {
    let slowest = pairs.iter().map(|pair| pair.reference).fold(f64::NEG_INFINITY, f64::max);
    let fastest = pairs.iter().map(|pair| pair.trial).fold(f64::INFINITY, f64::min);
    pairs.len() >= OBSERVATIONS_MIN && fastest > slowest
}

/// The confidence of each of so many comparisons with a trial that was chosen because it looked
/// fast.
#[expect(clippy::cast_precision_loss, reason = "a small number")]
pub(crate) fn confidence_against_chosen(comparisons: usize) -> Confidence {
    Confidence::with_error(Confidence::REPORTED.error() / comparisons.clamp(1, COMPARISONS_MAX) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::reading;

    fn walls(walls: &[u64]) -> Vec<Observation> {
        walls.iter().zip(0..).map(|(&wall, round)| reading(round, round, wall)).collect()
    }

    #[test]
    fn five_rounds_decide_between_many_only_by_separation() {
        let first = walls(&[100, 110, 120, 105, 115]);
        let (apart, beside) = (walls(&[130, 131, 125, 140, 150]), walls(&[101, 111, 121, 106, 116]));
        assert!(separated(&first, &apart) && !separated(&first, &beside) && !separated(&apart, &first));
        assert_eq!(against_first(&first, &apart, 7), Some(Significance::Slower));
        assert_eq!(against_first(&first, &beside, 7), Some(Significance::Tie));
        // Of two trials neither was chosen: five of five rounds are enough.
        assert_eq!(against_first(&first, &beside, 1), Some(Significance::Slower));
        assert_eq!(against_first(&first[..4], &apart, 1), None);
        assert!(!separated(&first[..4], &apart));
    }

    #[test]
    fn eight_rounds_decide_between_many_by_their_pairs() {
        let first: Vec<u64> = (0..8).map(|round| 1000 + 100 * round).collect();
        let slower: Vec<u64> = first.iter().map(|wall| wall + 20).collect();
        assert_eq!(against_first(walls(&first), walls(&slower), 40), Some(Significance::Slower));
        assert_eq!(against_first(walls(&slower), walls(&first), 40), Some(Significance::Faster));
    }
}
