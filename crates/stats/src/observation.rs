//! Numbers with their round and fill, and groups of numbers that resemble each other.
//!
//! Functions of this crate accept any type of reading that converts into an [`Observation`].

use crate::interval::{Confidence, Interval};
use crate::student::mean_interval;
use crate::{OBSERVATIONS_MIN, median, sorted};
use std::collections::BTreeMap;

/// One number with its round and its fill of the page cache.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observation {
    pub value: f64,
    /// Index of the fill: one filling of the page cache.
    pub fill: u32,
    pub round: u32,
}

impl Observation {
    /// Values that each have a round and a fill of their own, in this order.
    pub fn from_rounds(values: impl IntoIterator<Item = f64>) -> Vec<Observation> {
        (0..).zip(values).map(|(round, value)| Observation { value, fill: round, round }).collect()
    }
}

impl From<&Observation> for Observation {
    fn from(observation: &Observation) -> Observation {
        *observation
    }
}

/// Sorted numbers, and the medians of the groups within which numbers resemble each other.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GroupedValues {
    pub(crate) values: Vec<f64>,
    /// One median for each fill, because readings of one fill resemble each other; with a single
    /// fill, one median for each round. `None` where each group has one number.
    pub(crate) group_medians: Option<Vec<f64>>,
}

impl GroupedValues {
    pub(crate) fn from_observations(observations: &[Observation]) -> GroupedValues {
        let medians =
            medians_by(observations, |it| it.fill).or_else(|| medians_by(observations, |it| it.round));
        let groups = medians.filter(|medians| medians.len() < observations.len());
        GroupedValues {
            values: sorted(observations.iter().map(|it| it.value)),
            group_medians: groups.map(sorted),
        }
    }

    /// The interval by ranks over the groups, or by Student's t over fewer than
    /// [`OBSERVATIONS_MIN`] groups. The interval is never narrower than for independent numbers:
    /// groups that agree by chance prove nothing.
    pub(crate) fn interval(
        &self,
        confidence: Confidence,
        by_ranks: impl Fn(&[f64]) -> Option<Interval>,
    ) -> Option<Interval> {
        if self.values.len() < OBSERVATIONS_MIN {
            return None;
        }
        let independent = by_ranks(&self.values)?;
        let Some(groups) = &self.group_medians else { return Some(independent) };
        let of_groups = if groups.len() < OBSERVATIONS_MIN {
            mean_interval(groups, confidence)
        } else {
            by_ranks(groups)
        };
        Some(of_groups?.hull_with(independent))
    }
}

/// One median for each value of the key; `None` if all observations have the same key.
fn medians_by(observations: &[Observation], key: impl Fn(&Observation) -> u32) -> Option<Vec<f64>> {
    let mut groups: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for observation in observations {
        groups.entry(key(observation)).or_default().push(observation.value);
    }
    (groups.len() > 1).then(|| groups.into_values().filter_map(median).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grouped(places: &[(f64, u32, u32)]) -> GroupedValues {
        let all = places.iter().map(|&(value, fill, round)| Observation { value, fill, round });
        GroupedValues::from_observations(&all.collect::<Vec<_>>())
    }

    #[test]
    fn fills_come_before_rounds_and_rounds_before_readings() {
        let fills = grouped(&[(1.0, 0, 0), (3.0, 0, 1), (9.0, 1, 2), (5.0, 1, 3)]);
        assert_eq!(
            fills,
            GroupedValues { values: vec![1.0, 3.0, 5.0, 9.0], group_medians: Some(vec![2.0, 7.0]) }
        );
        assert_eq!(grouped(&[(9.0, 4, 0), (3.0, 4, 1), (5.0, 4, 1)]).group_medians, Some(vec![4.0, 9.0]));
        assert_eq!(grouped(&[(3.0, 4, 1), (1.0, 4, 1)]).group_medians, None);
        assert_eq!(grouped(&[(3.0, 0, 0), (1.0, 1, 1)]).group_medians, None);
    }

    #[test]
    fn two_fills_that_agree_by_chance_prove_nothing() {
        let agreed: Vec<_> = (0..10_u32).map(|at| (f64::from(at % 5), at / 5, at)).collect();
        let range = |values: &[f64]| Some(Interval { low: values[0], high: values[values.len() - 1] });
        let ends = grouped(&agreed).interval(Confidence::REPORTED, range).unwrap();
        assert_eq!((ends.low, ends.high), (0.0, 4.0));
    }
}
