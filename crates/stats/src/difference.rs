//! The difference of two numbers that were measured in the same rounds, in their own unit: its
//! centre and its interval, by signed ranks ([`PairedDifferences`]).

use crate::interval::{Confidence, Interval};
use crate::observation::Observation;
use crate::paired::PairedDifferences;
use crate::turns::Turns;

/// The difference of two numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// The Hodges–Lehmann centre of the differences by round.
    pub estimate: f64,
    /// 95 % interval; `None` with fewer than five pairs.
    pub ci95: Option<Interval>,
}

/// The difference `number - from`; `None` when no round holds both.
pub fn difference(number: &[Observation], from: &[Observation]) -> Option<Difference> {
    let paired = PairedDifferences::from_differences(&Turns::new(number).minus(&Turns::new(from)));
    Some(Difference { estimate: paired.estimate()?, ci95: paired.interval(Confidence::REPORTED) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(values: &[f64]) -> Vec<Observation> {
        Observation::from_rounds(values.iter().copied())
    }

    #[test]
    fn drift_of_the_machine_cancels_out() {
        let from = rounds(&[10.0, 20.0, 40.0, 80.0, 160.0, 320.0]);
        let number = rounds(&[15.0, 25.1, 44.9, 85.0, 165.0, 325.0]);
        let found = difference(&number, &from).unwrap();
        let ends = found.ci95.unwrap();
        assert!((found.estimate - 5.0).abs() < 0.1 && ends.low > 4.8 && ends.high < 5.2, "{found:?}");
    }

    #[test]
    fn few_rounds_have_no_interval_and_disjoint_rounds_no_difference() {
        assert_eq!(difference(&rounds(&[3.0, 4.0]), &rounds(&[1.0, 2.0])).unwrap().ci95, None);
        let later = [Observation { value: 1.0, fill: 9, round: 9 }];
        assert_eq!(difference(&rounds(&[3.0]), &later), None);
    }
}
