//! Logarithms of times by trial and unit, and their residuals without the effects of trials and
//! units.
//!
//! The effects are those of a median polish (Tukey, *Exploratory Data Analysis*, 1977, chapter 11):
//! alternately the centre over the units of a trial and the median over the trials of a unit. A
//! machine that is slow in one round is slow for all trials, so the times of the other trials in
//! that round predict the time of this one.

use crate::number::mean;

/// The time of a trial in one unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LogTime {
    /// Index of the unit: a round, or a fill of the page cache.
    pub(crate) unit: usize,
    /// Natural logarithm of the time.
    pub(crate) log: f64,
}

/// Times by trial and unit. A trial has no time in a unit in which it was not read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TwoWayTable {
    /// One row for each trial, in the order of the units. No row is empty.
    pub(crate) rows: Vec<Vec<LogTime>>,
    units: usize,
}

/// The effects of trials and units.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PolishedEffects {
    pub(crate) levels: Vec<f64>,
    /// The effect of each unit: how much longer trials took in it than usual. 0 for a unit without
    /// times.
    pub(crate) effects: Vec<f64>,
}

impl TwoWayTable {
    pub(crate) fn new(rows: Vec<Vec<LogTime>>, units: usize) -> TwoWayTable {
        TwoWayTable { rows, units }
    }

    pub(crate) fn trial_counts_by_unit(&self) -> Vec<usize> {
        let mut trials_by_unit = vec![0; self.units];
        self.rows.iter().flatten().for_each(|time| trials_by_unit[time.unit] += 1);
        trials_by_unit
    }

    /// The effects after this many alternating sweeps. `centre` computes the centre of a trial's
    /// times.
    pub(crate) fn polish(&self, sweeps: usize, centre: impl Fn(&[f64]) -> f64) -> PolishedEffects {
        let mut polished = PolishedEffects { levels: Vec::new(), effects: vec![0.0; self.units] };
        for _ in 0..sweeps {
            let level = |row: &Vec<LogTime>| centre(&without_effects(row, &polished.effects));
            polished.levels = self.rows.iter().map(level).collect();
            let columns = self.residuals_by_unit(&polished.levels);
            polished.effects = columns.iter().map(|sorted| median_of_sorted(sorted)).collect();
        }
        polished
    }

    /// The residuals of each trial about their mean. Each is the time minus the effect of its unit,
    /// estimated from the other trials alone. Without other trials a unit has no effect.
    pub(crate) fn residuals(&self, levels: &[f64]) -> Vec<Vec<f64>> {
        let columns = self.residuals_by_unit(levels);
        let residuals = |(row, level): (&Vec<LogTime>, &f64)| {
            let left = row.iter().map(|time| {
                let column = &columns[time.unit];
                let own = column.partition_point(|other| *other < time.log - level);
                time.log - median_of_others(column, own)
            });
            deviations_from_mean(left.collect())
        };
        self.rows.iter().zip(levels).map(residuals).collect()
    }

    /// The sorted times of each unit, without the levels of their trials.
    fn residuals_by_unit(&self, levels: &[f64]) -> Vec<Vec<f64>> {
        let mut columns = vec![Vec::new(); self.units];
        for (row, level) in self.rows.iter().zip(levels) {
            row.iter().for_each(|time| columns[time.unit].push(time.log - level));
        }
        columns.iter_mut().for_each(|column| column.sort_unstable_by(f64::total_cmp));
        columns
    }
}

/// The times of a trial without the effects of their units.
pub(crate) fn without_effects(row: &[LogTime], effects: &[f64]) -> Vec<f64> {
    row.iter().map(|time| time.log - effects[time.unit]).collect()
}

pub(crate) fn deviations_from_mean(mut values: Vec<f64>) -> Vec<f64> {
    let mean = mean(&values);
    values.iter_mut().for_each(|value| *value -= mean);
    values
}

fn median_of_sorted(sorted: &[f64]) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    f64::midpoint(sorted[last / 2], sorted[sorted.len() / 2])
}

/// The median of sorted values without the value at index `own`.
fn median_of_others(sorted: &[f64], own: usize) -> f64 {
    let others = sorted.len() - 1;
    let Some(last) = others.checked_sub(1) else { return 0.0 };
    let other = |place: usize| sorted[place + usize::from(place >= own)];
    f64::midpoint(other(last / 2), other(others / 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[&[(usize, f64)]]) -> TwoWayTable {
        let row = |row: &&[(usize, f64)]| row.iter().map(|&(unit, log)| LogTime { unit, log }).collect();
        TwoWayTable::new(rows.iter().map(row).collect(), 3)
    }

    #[test]
    fn effects_of_trials_and_units_that_add_up_are_found() {
        // Levels 10, 20 and 30; effects -1, 0 and 1.
        let added = table(&[
            &[(0, 9.0), (1, 10.0), (2, 11.0)],
            &[(0, 19.0), (1, 20.0), (2, 21.0)],
            &[(0, 29.0), (1, 30.0), (2, 31.0)],
        ]);
        let found = added.polish(3, mean);
        assert_eq!(found, PolishedEffects { levels: vec![10.0, 20.0, 30.0], effects: vec![-1.0, 0.0, 1.0] });
        assert!(added.residuals(&found.levels).concat().iter().all(|left| *left == 0.0));
        assert_eq!(added.trial_counts_by_unit(), [3, 3, 3]);
    }

    #[test]
    fn a_residual_is_from_the_others_alone() {
        // In unit 2 the last trial takes 6 longer than the others predict.
        let one = table(&[&[(0, 0.0), (2, 1.0)], &[(0, 0.0), (2, 1.0)], &[(0, 0.0), (2, 7.0)]]);
        let residuals = one.residuals(&[0.5, 0.5, 3.5]);
        assert_eq!(residuals[2], [-3.0, 3.0]);
        // The medians of the others: of 0.5 and 3.5 in unit 2, of -0.5 and -3.5 in unit 0.
        assert_eq!(residuals[0], [1.5, -1.5]);
    }

    #[test]
    fn a_unit_without_other_trials_has_no_effect() {
        let alone = table(&[&[(0, 1.0), (1, 2.0), (2, 3.0)]]);
        assert_eq!(alone.residuals(&[2.0]), [[-1.0, 0.0, 1.0]]);
        assert_eq!(table(&[&[(1, 2.0)]]).polish(2, mean).effects, [0.0, 0.0, 0.0]);
    }

    #[test]
    fn medians_without_one_value() {
        for (sorted, own, median) in [
            (&[1.0, 2.0, 4.0, 8.0][..], 0, 4.0),
            (&[1.0, 2.0, 4.0, 8.0], 1, 4.0),
            (&[1.0, 2.0, 4.0, 8.0], 2, 2.0),
            (&[1.0, 2.0, 4.0], 1, 2.5),
            (&[1.0, 2.0, 4.0], 2, 1.5),
            (&[1.0, 2.0], 0, 2.0),
            (&[1.0], 0, 0.0),
        ] {
            assert!((median_of_others(sorted, own) - median).abs() < 1e-15, "{sorted:?} {own}");
        }
    }
}
