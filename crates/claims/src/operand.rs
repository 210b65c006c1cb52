//! An operand of an expression: the numbers of one quantity on one side, and how two operands make
//! a ratio or a difference.

use super::answer::Estimate;
use readlab_analysis::stats::{self, Confidence, Interval, LogMedian, Observation};

/// The numbers of a quantity.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Operand {
    Readings {
        /// Readings of the same group share rounds.
        group: String,
        /// The readings.
        observations: Vec<Observation>,
    },
    /// The number alone.
    Single(Estimate),
}

impl Operand {
    /// A number that is known exactly.
    pub(super) fn exact(value: f64) -> Operand {
        Operand::Single(Estimate { value, ci95: Some(Interval { low: value, high: value }) })
    }

    /// The number, by its median, with the interval of the median.
    pub(super) fn estimate(&self) -> Estimate {
        match self {
            Operand::Single(estimate) => *estimate,
            Operand::Readings { observations, .. } => Estimate {
                value: stats::median(observations.iter().map(|it| it.value)).unwrap_or(f64::NAN),
                ci95: stats::median_interval(observations, Confidence::REPORTED),
            },
        }
    }

    /// How many times the other number this one is: round by round where both were read in the same
    /// rounds, else by the medians.
    pub(super) fn over(&self, to: &Operand) -> Estimate {
        let paired = self.rounds_with(to).and_then(|(number, to)| stats::ratio(number, to));
        match paired {
            Some(ratio) if ratio.ci95.is_some() => Estimate { value: ratio.estimate, ci95: ratio.ci95 },
            _ => {
                let ratio = self.log_median().over(&to.log_median());
                Estimate { value: ratio.estimate, ci95: ratio.ci95 }
            }
        }
    }

    /// How much more this number is than the other, likewise.
    pub(super) fn less(&self, from: &Operand) -> Estimate {
        let paired = self.rounds_with(from).and_then(|(number, from)| stats::difference(number, from));
        if let Some(found) = paired.filter(|found| found.ci95.is_some()) {
            return Estimate { value: found.estimate, ci95: found.ci95 };
        }
        let (a, b) = (self.estimate(), from.estimate());
        let value = a.value - b.value;
        // The same recovery of variances as for ratios, without logarithms.
        let ci95 = a.ci95.zip(b.ci95).map(|(of_a, of_b)| Interval {
            low: value - (a.value - of_a.low).hypot(of_b.high - b.value),
            high: value + (of_a.high - a.value).hypot(b.value - of_b.low),
        });
        Estimate { value, ci95 }
    }

    fn rounds_with<'a>(&'a self, other: &'a Operand) -> Option<(&'a [Observation], &'a [Observation])> {
        match (self, other) {
            (
                Operand::Readings { group, observations },
                Operand::Readings { group: other, observations: others },
            ) if group == other => Some((observations, others)),
            _ => None,
        }
    }

    fn log_median(&self) -> LogMedian {
        match self {
            Operand::Readings { observations, .. } => LogMedian::from_observations(observations)
                .unwrap_or_else(|| LogMedian::from_published(f64::NAN)),
            Operand::Single(Estimate { value, ci95 }) => {
                let log = |value: f64| value.max(1.0).ln();
                LogMedian {
                    value: log(*value),
                    ci95: ci95.map(|ends| Interval { low: log(ends.low), high: log(ends.high) }),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readings(group: &str, values: &[f64]) -> Operand {
        let observation = |(round, &value)| Observation { value, fill: round, round };
        let observations = (0..).zip(values).map(observation).collect();
        Operand::Readings { group: group.to_owned(), observations }
    }

    #[test]
    fn readings_of_the_same_rounds_are_paired_and_others_are_not() {
        let drifting: Vec<f64> = (0..10).map(|nth| 1e6 * 2_f64.powi(nth)).collect();
        let twice: Vec<f64> = drifting.iter().map(|value| value * 2.0).collect();
        let width = |it: Estimate| it.ci95.map(|ends| ends.high / ends.low).unwrap();
        let paired = readings("cold", &twice).over(&readings("cold", &drifting));
        assert!((paired.value - 2.0).abs() < 1e-9 && width(paired) < 1.001, "{paired:?}");
        let apart = readings("cold", &twice).over(&readings("warm", &drifting));
        assert!((apart.value - 2.0).abs() < 1e-9 && width(apart) > 10.0, "{apart:?}");
        let more = readings("cold", &twice).less(&readings("warm", &drifting));
        assert!(more.ci95.unwrap().low < 0.0, "{more:?}");
    }

    #[test]
    fn a_number_without_an_interval_gives_a_ratio_without_one() {
        let alone = Operand::Single(Estimate::alone(4e6));
        assert_eq!(alone.over(&Operand::exact(2e6)).ci95, None);
        let ratio = readings("cold", &[4e6; 6]).over(&Operand::exact(2e6));
        assert!((ratio.value - 2.0).abs() < 1e-9 && ratio.ci95.is_some());
    }
}
