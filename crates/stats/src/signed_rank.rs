//! The centre of differences and its interval, by Wilcoxon's signed ranks.
//!
//! The estimate is the median of the Walsh averages, which are the means of all pairs of values,
//! including each value with itself: Hodges & Lehmann, *Estimates of Location Based on Rank Tests*,
//! Annals of Mathematical Statistics 34 (1963). The interval leaves out as many of these means on
//! each side as the exact distribution of the signed-rank statistic allows (Hollander & Wolfe,
//! *Nonparametric Statistical Methods*, 1973, section 3.2). The allowed error falls between two
//! steps, so the ends are interpolated. The only assumption is that values scatter symmetrically
//! around their centre, as differences of two readings of one round do: the noise need not be
//! normal, and spreads need not be equal.
//!
//! With very few values even the whole range misses the centre more often than the error allows. If
//! the range misses at most a quarter more often (five values at 5 %: 6.25 %), it is widened by a
//! share that simulations found; otherwise there is no interval.

use crate::interval::{Confidence, Interval};
use crate::number::count_as_float;
use statrs::distribution::{ContinuousCDF, Normal};

/// Up to this many values the distribution is exact; beyond, the normal distribution agrees to
/// three digits.
const EXACT_VALUES_MAX: usize = 40;

/// The error of the whole range may be at most this many times the allowed error.
const RANGE_ERROR_FACTOR_MAX: f64 = 1.25;

/// The tolerance for rounding: five values at 5 % are exactly at the limit of
/// [`RANGE_ERROR_FACTOR_MAX`].
const ROUNDING_TOLERANCE: f64 = 1e-9;

/// The range of very few values is widened on each side by this share of its width.
const RANGE_WIDENING_SHARE: f64 = 0.08;

const SIGN_BIT: u64 = 1 << 63;

/// Sorted values whose centre is estimated.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SignedRank<'a> {
    sorted: &'a [f64],
}

/// The number of Walsh averages that an interval leaves out on each side.
#[derive(Debug, Clone, Copy, PartialEq)]
struct OutsideAverages {
    whole_count: usize,
    /// The fraction by which the end moves towards the next Walsh average, from 0 to 1.
    share: f64,
}

impl<'a> SignedRank<'a> {
    /// Takes sorted values.
    pub(crate) fn new(sorted: &'a [f64]) -> SignedRank<'a> {
        SignedRank { sorted }
    }

    /// The median of the Walsh averages; `None` without values.
    pub(crate) fn estimate(&self) -> Option<f64> {
        let averages = walsh_count(self.sorted.len());
        let last = averages.checked_sub(1)?;
        Some(f64::midpoint(self.walsh(last / 2), self.walsh(averages / 2)))
    }

    /// The interval of the centre; `None` with too few values for this confidence.
    pub(crate) fn interval(&self, confidence: Confidence) -> Option<Interval> {
        let n = self.sorted.len();
        let Some(cut) = OutsideAverages::find(n, confidence) else {
            return widened_range(self.sorted, confidence);
        };
        let last = walsh_count(n) - 1;
        let between = |from: f64, to: f64| from + cut.share * (to - from);
        Some(Interval {
            low: between(self.walsh(cut.whole_count), self.walsh(cut.whole_count + 1)),
            high: between(self.walsh(last - cut.whole_count), self.walsh(last - cut.whole_count - 1)),
        })
    }

    /// The Walsh average of this rank, from 0: the smallest value that more than `rank` averages do
    /// not exceed. Found by bisection over the bit patterns of floats.
    fn walsh(&self, rank: usize) -> f64 {
        let (mut low, mut high) =
            (ordered_bits(self.sorted[0]), ordered_bits(self.sorted[self.sorted.len() - 1]));
        while low < high {
            let middle = low.midpoint(high);
            if self.walsh_up_to(from_ordered_bits(middle)) > rank { high = middle } else { low = middle + 1 }
        }
        from_ordered_bits(low)
    }

    /// The number of Walsh averages that are at most `value`.
    fn walsh_up_to(&self, value: f64) -> usize {
        let mut end = self.sorted.len();
        let mut count = 0;
        for (at, &one) in self.sorted.iter().enumerate() {
            while end > at && f64::midpoint(one, self.sorted[end - 1]) > value {
                end -= 1;
            }
            if end <= at {
                break;
            }
            count += end - at;
        }
        count
    }
}

impl OutsideAverages {
    /// The largest number of Walsh averages that may be left out; `None` where even the whole range
    /// misses too often.
    fn find(n: usize, confidence: Confidence) -> Option<OutsideAverages> {
        if n > EXACT_VALUES_MAX {
            return Some(OutsideAverages::normal(n, confidence));
        }
        let tails = cumulative_probabilities(n);
        let whole = tails.iter().take_while(|tail| **tail <= confidence.tail()).count().checked_sub(1)?;
        let share = (confidence.tail() - tails[whole]) / (tails[whole + 1] - tails[whole]);
        Some(OutsideAverages { whole_count: whole, share })
    }

    /// The number by the normal distribution with the statistic's mean and variance.
    fn normal(n: usize, confidence: Confidence) -> OutsideAverages {
        let n = count_as_float(n);
        let mean = n * (n + 1.0) / 4.0;
        let deviation = (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt();
        let rank = (mean + Normal::standard().inverse_cdf(confidence.tail()) * deviation - 0.5).max(0.0);
        OutsideAverages { whole_count: rank.floor() as usize, share: rank.fract() }
    }
}

/// The widened range of very few sorted values; `None` if even the range misses the centre of their
/// distribution more often than the confidence allows.
pub(crate) fn widened_range(sorted: &[f64], confidence: Confidence) -> Option<Interval> {
    let (&first, &last) = (sorted.first()?, sorted.last()?);
    let error = (1..sorted.len()).fold(1.0, |error, _| error / 2.0);
    let more = RANGE_WIDENING_SHARE * (last - first);
    let range = Interval { low: first - more, high: last + more };
    (error <= RANGE_ERROR_FACTOR_MAX * confidence.error_probability() * (1.0 + ROUNDING_TOLERANCE))
        .then_some(range)
}

/// The probabilities that the signed-rank statistic of `n` values is at most 0, 1, 2 and so on. The
/// statistic is the sum of the ranks for which a fair coin shows heads.
fn cumulative_probabilities(n: usize) -> Vec<f64> {
    let mut shares = vec![0.0; walsh_count(n) + 1];
    shares[0] = 1.0;
    for rank in 1..=n {
        for sum in (0..shares.len()).rev() {
            let with_rank = sum.checked_sub(rank).map_or(0.0, |without| shares[without]);
            shares[sum] = f64::midpoint(shares[sum], with_rank);
        }
    }
    let mut tail = 0.0;
    shares.iter_mut().for_each(|share| {
        tail += *share;
        *share = tail;
    });
    shares
}

fn walsh_count(n: usize) -> usize {
    n * (n + 1) / 2
}

/// An integer that orders as the float does.
fn ordered_bits(value: f64) -> u64 {
    let bits = value.to_bits();
    if value.is_sign_negative() { !bits } else { bits | SIGN_BIT }
}

fn from_ordered_bits(key: u64) -> f64 {
    f64::from_bits(if key & SIGN_BIT == 0 { !key } else { key & !SIGN_BIT })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sorted;

    #[test]
    fn critical_values_are_those_of_printed_tables() {
        // Wilcoxon's table for two sides at 5 % and at 1 %: the largest rank sum that is
        // significant.
        for (n, at_5, at_1) in [
            (6, Some(0), None),
            (7, Some(2), None),
            (8, Some(3), Some(0)),
            (9, Some(5), Some(1)),
            (10, Some(8), Some(3)),
            (15, Some(25), Some(15)),
            (20, Some(52), Some(37)),
            (25, Some(89), Some(68)),
            (30, Some(137), Some(109)),
        ] {
            let whole =
                |error| OutsideAverages::find(n, Confidence::with_error(error)).map(|cut| cut.whole_count);
            assert_eq!((whole(0.05), whole(0.01)), (at_5, at_1), "{n}");
        }
    }

    #[test]
    #[expect(clippy::approx_constant, reason = "3.14 is a patient's score")]
    fn the_textbook_example_is_reproduced() {
        // Hollander & Wolfe, table 3.1: nine patients on the Hamilton depression scale, before and
        // after. The estimate is -0.46; the interval at 96.1 % is from -0.786 to -0.010.
        let before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30];
        let after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29];
        let differences = sorted(before.iter().zip(after).map(|(before, after)| after - before));
        let ranks = SignedRank::new(&differences);
        assert!((ranks.estimate().unwrap() + 0.46).abs() < 1e-9);
        let ends = ranks.interval(Confidence::with_error(20.0 / 512.0)).unwrap();
        assert!((ends.low + 0.786).abs() < 1e-9 && (ends.high + 0.010).abs() < 1e-9, "{ends:?}");
    }

    #[test]
    fn the_normal_distribution_takes_over_where_it_agrees() {
        for error in [0.05, 0.005] {
            let confidence = Confidence::with_error(error);
            let (exact, normal) = (
                OutsideAverages::find(EXACT_VALUES_MAX, confidence).unwrap(),
                OutsideAverages::normal(EXACT_VALUES_MAX, confidence),
            );
            assert!(exact.whole_count.abs_diff(normal.whole_count) <= 4, "{exact:?} {normal:?}");
        }
    }

    #[test]
    fn walsh_averages_are_found_in_order() {
        let values = [-3.0, -0.5, 0.0, 0.0, 2.0, 7.5];
        let pairs = (0..values.len()).flat_map(|one| (one..values.len()).map(move |other| [one, other]));
        let all = sorted(pairs.map(|[one, other]| f64::midpoint(values[one], values[other])));
        let ranks = SignedRank::new(&values);
        let found: Vec<f64> = (0..walsh_count(values.len())).map(|rank| ranks.walsh(rank)).collect();
        assert_eq!(found, all);
    }

    #[test]
    fn too_few_values_have_no_interval_and_equal_ones_no_width() {
        let interval =
            |values: &[f64], error| SignedRank::new(values).interval(Confidence::with_error(error));
        assert_eq!(interval(&[1.0, 2.0, 3.0, 4.0], 0.05), None);
        assert_eq!(interval(&[1.0; 8], 0.005), None);
        assert_eq!(interval(&[1.0; 9], 0.005), Some(Interval { low: 1.0, high: 1.0 }));
        assert_eq!(SignedRank::new(&[]).estimate(), None);
        let of_decided = |values: &[f64]| SignedRank::new(values).interval(Confidence::DECIDED);
        assert_eq!([of_decided(&[1.0; 7]).is_some(), of_decided(&[1.0; 8]).is_some()], [false, true]);
        let five = interval(&[0.0, 1.0, 2.0, 3.0, 10.0], 0.05).unwrap();
        assert!((five.low + 0.8).abs() < 1e-12 && (five.high - 10.8).abs() < 1e-12);
    }
}
