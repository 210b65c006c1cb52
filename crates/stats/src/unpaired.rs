//! The unpaired ratio: the quotient of two medians that were measured separately, in two records
//! and perhaps on two machines.
//!
//! The two medians have no rounds in common, so each has its own interval
//! ([`crate::median_interval`], on logarithms). The interval of the difference of the logarithms is
//! computed from both intervals by the method of variance estimates recovery: Zou & Donner,
//! *Construction of confidence limits about effect measures: A general approach*, Statistics in
//! Medicine 27 (2008). The distance of its lower end from the difference is √(a² + b²), where a is
//! the distance of the minuend from its lower end and b the distance of the subtrahend from its
//! upper end; the upper end is computed likewise. Skewed intervals stay skewed, and swapping the
//! two sides gives exactly the inverse.
//!
//! The interval does not include differences between runs, such as the state of a machine at the
//! time.

use crate::interval::{Confidence, Interval, IntervalRule};
use crate::median;
use crate::observation::Observation;
use crate::ratio::Ratio;

/// The logarithm of a median with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogMedian {
    /// The natural logarithm of the median. An observation below one counts as one, and so does an
    /// estimate of 0 or less.
    pub value: f64,
    /// 95 % interval; `None` with too few observations, and where only the median is known.
    pub ci95: Option<Interval>,
    /// The rule of the interval, where it is known.
    pub rule: Option<IntervalRule>,
}

/// An end of 0 or less of a positive number's interval counts as this number, which is below any
/// number that is measured.
const POSITIVE_MIN: f64 = 1e-9;

impl LogMedian {
    /// The logarithm of the median of observations; `None` without any.
    pub fn from_observations<O: Into<Observation>>(
        observations: impl IntoIterator<Item = O>,
    ) -> Option<LogMedian> {
        let log = |it: Observation| Observation { value: it.value.max(1.0).ln(), ..it };
        let logs: Vec<Observation> = observations.into_iter().map(|it| log(it.into())).collect();
        let value = median(logs.iter().map(|it| it.value))?;
        let ci95 = crate::median_interval(&logs, Confidence::REPORTED);
        Some(LogMedian { value, ci95, rule: ci95.map(|_| IntervalRule::SignTest) })
    }

    /// The logarithm of a published number, without an interval.
    pub fn from_published(value: f64) -> LogMedian {
        LogMedian::from_estimate(value, None, None)
    }

    /// The logarithms of a number and the ends of its interval. A number of 0 or less has no logarithm
    /// and counts as 1, with its interval.
    pub fn from_estimate(value: f64, ci95: Option<Interval>, rule: Option<IntervalRule>) -> LogMedian {
        let floor = if value > 0.0 { POSITIVE_MIN } else { 1.0 };
        let log = |value: f64| value.max(floor).ln();
        LogMedian { value: log(value), ci95: ci95.map(|ends| ends.map(log)), rule }
    }

    /// This median divided by the other.
    pub fn over(&self, under: &LogMedian) -> Ratio {
        let difference = self.value - under.value;
        let ends = self.ci95.zip(under.ci95).map(|(a, b)| Interval {
            low: (difference - (self.value - a.low).hypot(b.high - under.value)).exp(),
            high: (difference + (a.high - self.value).hypot(under.value - b.low)).exp(),
        });
        let rule = ends.and_then(|_| IntervalRule::of_both(self.rule, under.rule));
        Ratio { estimate: difference.exp(), ci95: ends, rule, pairs: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SeededRandom, Significance};
    use proptest::prelude::*;

    /// Observations of `fills` fills with `each` readings and median `level`.
    fn observations_of_fills(
        noise: &mut SeededRandom,
        (fills, each): (u32, u32),
        between: f64,
        level: f64,
    ) -> Vec<Observation> {
        let mut all = Vec::new();
        for fill in 0..fills {
            let of_fill = between * noise.normal();
            for reading in 0..each {
                let value = level * (of_fill + 0.03 * noise.normal()).exp();
                all.push(Observation { value, fill, round: fill * each + reading });
            }
        }
        all
    }

    fn log_median(value: f64, low: f64, high: f64) -> LogMedian {
        LogMedian { value, ci95: Some(Interval { low, high }), rule: None }
    }

    #[test]
    fn a_quotient_has_the_rule_of_its_medians_unless_they_differ() {
        use IntervalRule::{SharedVariance, SignTest};
        let median = |rule| LogMedian { rule, ..log_median(4.0, 3.0, 5.0) };
        for (one, other, expected) in [
            (Some(SignTest), Some(SignTest), Some(SignTest)),
            (Some(SignTest), None, Some(SignTest)),
            (None, Some(SharedVariance), Some(SharedVariance)),
            (Some(SharedVariance), Some(SignTest), None),
            (None, None, None),
        ] {
            assert_eq!(median(one).over(&median(other)).rule, expected, "{one:?} {other:?}");
        }
        let without = LogMedian { ci95: None, ..median(Some(SignTest)) };
        assert_eq!(without.over(&median(Some(SignTest))).rule, None);
    }

    #[test]
    fn a_known_difference_is_reproduced() {
        // 4 [1, 6] less 2 [1, 6]: from 2 - √(3² + 4²) to 2 + √(2² + 1²).
        let ends = log_median(4.0, 1.0, 6.0).over(&log_median(2.0, 1.0, 6.0)).ci95.unwrap();
        assert!((ends.low.ln() + 3.0).abs() < 1e-12 && (ends.high.ln() - 2.0 - 5_f64.sqrt()).abs() < 1e-12);
        // Symmetric intervals add up like standard errors.
        let ends = log_median(0.0, -3.0, 3.0).over(&log_median(0.0, -4.0, 4.0)).ci95.unwrap();
        assert!((ends.low.ln() + 5.0).abs() < 1e-12 && (ends.high.ln() - 5.0).abs() < 1e-12);
    }

    #[test]
    fn a_published_number_has_no_interval_but_a_quotient() {
        let quotient = LogMedian::from_published(30.0).over(&log_median(10_f64.ln(), 2.0, 3.0));
        assert!((quotient.estimate - 3.0).abs() < 1e-12);
        assert_eq!((quotient.ci95, quotient.significance()), (None, None));
        assert_eq!(LogMedian::from_observations::<Observation>([]), None);
    }

    #[test]
    fn a_number_below_one_is_not_one() {
        let ends = Some(Interval { low: 0.25, high: 1.0 });
        let half = LogMedian::from_estimate(0.5, ends, Some(IntervalRule::Student));
        let quotient = half.over(&LogMedian::from_published(1.0));
        assert!((quotient.estimate - 0.5).abs() < 1e-12, "{quotient:?}");
        assert!((half.ci95.unwrap().low - 0.25_f64.ln()).abs() < 1e-12, "{half:?}");
        let zero = LogMedian::from_published(0.0);
        assert_eq!(zero.over(&zero).estimate, 1.0);
        let reaches_zero = LogMedian::from_estimate(0.5, Some(Interval { low: -1.0, high: 2.0 }), None);
        assert!(reaches_zero.ci95.unwrap().low < -20.0, "{reaches_zero:?}");
    }

    /// Half the 95 % interval of the median of this many readings with normal noise of this spread.
    fn ideal_half_width(spread: f64, readings: u32) -> f64 {
        1.96 * (std::f64::consts::FRAC_PI_2 / f64::from(readings)).sqrt() * spread
    }

    #[test]
    fn intervals_hold_the_true_quotient_as_often_as_they_say_and_are_not_much_wider_than_they_must() {
        let mut noise = SeededRandom::new(11);
        for (one, other, between) in
            [((10, 1), (10, 1), 0.03), ((3, 10), (8, 5), 0.03), ((1, 30), (1, 10), 0.0)]
        {
            let (mut held, mut reach) = (0, 0.0);
            for _ in 0..500 {
                let a = observations_of_fills(&mut noise, one, between, 1.2e6);
                let b = observations_of_fills(&mut noise, other, between, 1e6);
                let of = |all: &[Observation]| LogMedian::from_observations(all).unwrap();
                let ends = of(&a).over(&of(&b)).ci95.unwrap();
                held += u32::from(ends.holds(1.2));
                reach += (ends.high / ends.low).ln() / 2.0 / 500.0;
            }
            // A side is never narrower than the sign test's interval, so with few readings more
            // intervals hold the true value than promised.
            assert!(held >= 465, "{one:?} {other:?} {between}: {held} of 500");
            if one.1 == 1 || between == 0.0 {
                let spread = 0.03_f64.hypot(between);
                let ideal = ideal_half_width(spread, one.0 * one.1)
                    .hypot(ideal_half_width(spread, other.0 * other.1));
                assert!(reach < 1.7 * ideal, "{one:?} {other:?} {between}: {reach} against {ideal}");
            }
        }
    }

    #[test]
    fn two_records_of_equal_trials_tie_as_often_as_promised() {
        let mut noise = SeededRandom::new(13);
        let ties = (0..400).filter(|_| {
            let mut of =
                || LogMedian::from_observations(observations_of_fills(&mut noise, (10, 1), 0.02, 1e6));
            of().unwrap().over(&of().unwrap()).significance() == Some(Significance::Tie)
        });
        let ties = ties.count();
        // With 95 % for each interval, chance allows as few as 368 of 400.
        assert!(ties >= 368, "{ties} of 400");
    }

    proptest! {
        #[test]
        fn swapping_the_sides_inverts_the_ratio(
            a in prop::collection::vec(1.0..1e9_f64, 5..20),
            b in prop::collection::vec(1.0..1e9_f64, 5..20),
        ) {
            let of = |values: &[f64]| {
                let all: Vec<_> = values.iter().zip(0..).map(|(&value, round)| Observation { value, fill: 0, round }).collect();
                LogMedian::from_observations(&all).unwrap()
            };
            let (there, back) = (of(&a).over(&of(&b)), of(&b).over(&of(&a)));
            prop_assert!((there.estimate * back.estimate - 1.0).abs() < 1e-9);
            let (there, back) = (there.ci95.unwrap(), back.ci95.unwrap());
            prop_assert!((there.low * back.high - 1.0).abs() < 1e-6 && there.low <= there.high);
        }
    }
}
