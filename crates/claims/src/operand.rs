//! An operand of an expression: the numbers of one quantity on one side, and the ratio and the
//! difference of two operands.

use super::answer::Estimate;
use readlab_analysis::compare::CaseNoise;
use readlab_analysis::stats::{
    self, Confidence, Interval, IntervalRule, IntervalWithRule, LogMedian, Observation, SharedVariance,
};
use std::collections::BTreeSet;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Operand {
    Readings {
        /// The name of the rounds in which the readings were made. Operands with the same name here
        /// share their rounds.
        round_group: String,
        observations: Vec<Observation>,
        /// The noise pooled over all trials of the cache state; `None` if the numbers are neither
        /// times nor rates.
        noise: Option<CaseNoise>,
    },
    Single(Estimate),
}

impl Operand {
    /// A number that is known exactly.
    pub(super) fn exact(value: f64) -> Operand {
        Operand::Single(Estimate::with_ends(value, Some(Interval { low: value, high: value })))
    }

    /// The number with its interval: from the pooled noise of all trials of its cache state if this
    /// noise is known, otherwise the median with its own interval.
    pub(super) fn estimate(&self) -> Estimate {
        match self {
            Operand::Single(estimate) => *estimate,
            Operand::Readings { observations, noise, .. } => {
                if let Some((value, ci95)) = noise.as_ref().and_then(CaseNoise::estimate) {
                    return Estimate::with_rule(value, ci95);
                }
                let median = stats::median(observations.iter().map(|it| it.value)).unwrap_or(f64::NAN);
                let ci95 = stats::median_interval(observations, Confidence::REPORTED);
                let rule = ci95.map(|_| IntervalRule::SignTest);
                Estimate { value: median, ci95, rule, round_count: self.round_count() }
            }
        }
    }

    /// This number divided by another: by their pooled noise if they share it; otherwise round by
    /// round if both were read in the same rounds; otherwise by the medians.
    pub(super) fn divided_by(&self, to: &Operand) -> Estimate {
        let shared = self.noise().zip(to.noise()).and_then(|(number, to)| number.ratio_to(to));
        if let Some((value, ci95)) = shared.and_then(|it| Some((it.estimate, it.ci95?))) {
            return Estimate::with_rule(value, ci95);
        }
        let paired = self
            .observations_of_same_rounds(to)
            .and_then(|(number, to)| SharedVariance::new([number, to]).ratio(1, 0));
        if let Some((value, ci95)) = paired.and_then(|it| Some((it.estimate, it.ci95?))) {
            return Estimate::with_rule(value, ci95);
        }
        let ratio = self.log_median().over(&to.log_median());
        Estimate {
            value: ratio.estimate,
            ci95: ratio.ci95,
            rule: ratio.rule,
            round_count: self.smaller_round_count(to),
        }
    }

    /// This number minus another: round by round if both were read in the same rounds, otherwise by
    /// the medians.
    pub(super) fn minus(&self, from: &Operand) -> Estimate {
        let paired =
            self.observations_of_same_rounds(from).and_then(|(number, from)| stats::difference(number, from));
        if let Some((value, ends)) = paired.and_then(|found| Some((found.estimate, found.ci95?))) {
            return Estimate::with_rule(value, IntervalWithRule { ends, rule: IntervalRule::SignedRank });
        }
        let (a, b) = (self.estimate(), from.estimate());
        let value = a.value - b.value;
        // This is the method of variance estimates recovery (MOVER), as for ratios but without
        // logarithms.
        let ci95 = a.ci95.zip(b.ci95).map(|(of_a, of_b)| Interval {
            low: value - (a.value - of_a.low).hypot(of_b.high - b.value),
            high: value + (of_a.high - a.value).hypot(b.value - of_b.low),
        });
        let rule = ci95.and_then(|_| IntervalRule::of_both(a.rule, b.rule));
        Estimate { value, ci95, rule, round_count: self.smaller_round_count(from) }
    }

    /// Number of rounds with readings; `None` if the number was not computed from readings.
    fn round_count(&self) -> Option<usize> {
        match self {
            Operand::Readings { observations, .. } => {
                Some(observations.iter().map(|it| it.round).collect::<BTreeSet<u32>>().len())
            }
            Operand::Single(estimate) => estimate.round_count,
        }
    }

    fn smaller_round_count(&self, other: &Operand) -> Option<usize> {
        [self.round_count(), other.round_count()].into_iter().flatten().min()
    }

    fn noise(&self) -> Option<&CaseNoise> {
        match self {
            Operand::Readings { noise, .. } => noise.as_ref(),
            Operand::Single(_) => None,
        }
    }

    fn observations_of_same_rounds<'a>(
        &'a self,
        other: &'a Operand,
    ) -> Option<(&'a [Observation], &'a [Observation])> {
        match (self, other) {
            (
                Operand::Readings { round_group, observations, .. },
                Operand::Readings { round_group: other, observations: others, .. },
            ) if round_group == other => Some((observations, others)),
            _ => None,
        }
    }

    fn log_median(&self) -> LogMedian {
        match self {
            Operand::Readings { observations, noise: None, .. } => LogMedian::from_observations(observations)
                .unwrap_or_else(|| LogMedian::from_published(f64::NAN)),
            _ => {
                let Estimate { value, ci95, rule, .. } = self.estimate();
                LogMedian::from_estimate(value, ci95, rule)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_analysis::noise::SharedNoise;
    use readlab_model::trial::TrialIndex;
    use std::sync::Arc;

    fn readings(group: &str, values: &[f64]) -> Operand {
        let observation = |(round, &value)| Observation { value, fill: round, round };
        let observations = (0..).zip(values).map(observation).collect();
        Operand::Readings { round_group: group.to_owned(), observations, noise: None }
    }

    #[test]
    fn readings_of_the_same_rounds_are_paired_and_others_are_not() {
        let drifting: Vec<f64> = (0..10).map(|nth| 1e6 * 2_f64.powi(nth)).collect();
        let twice: Vec<f64> = drifting.iter().map(|value| value * 2.0).collect();
        let width = |it: Estimate| it.ci95.map(|ends| ends.high / ends.low).unwrap();
        let paired = readings("cold", &twice).divided_by(&readings("cold", &drifting));
        assert!((paired.value - 2.0).abs() < 1e-9 && width(paired) < 1.001, "{paired:?}");
        let apart = readings("cold", &twice).divided_by(&readings("warm", &drifting));
        assert!((apart.value - 2.0).abs() < 1e-9 && width(apart) > 10.0, "{apart:?}");
        let more = readings("cold", &twice).minus(&readings("warm", &drifting));
        assert!(more.ci95.unwrap().low < 0.0, "{more:?}");
        let rules = [paired, apart, more, readings("cold", &twice).minus(&readings("cold", &drifting))];
        use IntervalRule::{SignTest, SignedRank};
        let rules = rules.map(|it| it.rule.unwrap());
        assert_eq!(rules, [SignedRank, SignTest, SignTest, SignedRank]);
    }

    #[test]
    fn three_rounds_of_many_trials_show_a_factor_of_nine() {
        let trial = |level: f64| [1.0, 1.06, 0.97].map(|round| 1e6 * level * round);
        let trials: Vec<[f64; 3]> = [1.0, 9.0, 2.0, 2.1, 2.2, 3.0, 3.1, 4.0].into_iter().map(trial).collect();
        let observed = |values: &[f64; 3]| -> Vec<Observation> {
            (0..).zip(values).map(|(round, &value)| Observation { value, fill: round, round }).collect()
        };
        let all = (0..).map(TrialIndex::new).zip(trials.iter().map(observed));
        let shared = Arc::new(SharedNoise::new(all));
        let operand = |trial: usize| Operand::Readings {
            round_group: "warm".to_owned(),
            observations: observed(&trials[trial]),
            noise: Some(CaseNoise { shared: Arc::clone(&shared), trial: TrialIndex::new(trial) }),
        };
        let found = operand(1).divided_by(&operand(0));
        let ends = found.ci95.unwrap();
        assert!(ends.low > 7.0 && ends.high < 11.0 && ends.holds(9.0), "{found:?}");
        assert_eq!(found.rule, Some(IntervalRule::SharedVariance));
        let alone = operand(1).estimate();
        assert!(alone.ci95.unwrap().holds(alone.value), "{alone:?}");
        let more = operand(1).minus(&operand(0));
        assert!(more.ci95.unwrap().low > 0.0 && more.rule == Some(IntervalRule::SharedVariance), "{more:?}");
    }

    #[test]
    fn a_number_without_an_interval_gives_a_ratio_without_one() {
        let alone = Operand::Single(Estimate::without_interval(4e6));
        assert_eq!(alone.divided_by(&Operand::exact(2e6)).ci95, None);
        let few = readings("cold", &[4e6; 3]);
        for estimate in
            [few.estimate(), few.divided_by(&Operand::exact(2e6)), few.minus(&readings("warm", &[1e6]))]
        {
            assert_eq!((estimate.ci95, estimate.rule), (None, None));
        }
        assert_eq!(few.divided_by(&Operand::exact(2e6)).round_count, Some(3));
        assert_eq!(few.minus(&readings("warm", &[1e6])).round_count, Some(1), "the fewer of both");
        let ratio = readings("cold", &[4e6; 6]).divided_by(&Operand::exact(2e6));
        assert!((ratio.value - 2.0).abs() < 1e-9 && ratio.ci95.is_some());
    }
}
