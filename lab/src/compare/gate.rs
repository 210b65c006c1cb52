//! The judgement for a machine that must say no: is anything slower than allowed, beyond doubt?

use super::Comparison;
use crate::stats::Quotient;

/// What may not happen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gate {
    /// By what share a number may be worse, such as 0.05.
    pub fail_over: f64,
}

/// Why nothing can be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GateError {
    /// There is nothing to hold it against.
    #[error("--fail-over holds records against the first, and there is only one")]
    OneSide,
    /// No ratio has an interval.
    #[error(
        "--fail-over judges by intervals, and no ratio has one: samples are too few, or only means are known"
    )]
    NoInterval,
}

impl Gate {
    /// Whether the whole interval lies beyond what is allowed; what has none is never judged.
    #[must_use]
    pub fn fails(&self, ratio: &Quotient) -> bool {
        ratio.ci95.is_some_and(|ends| ends.high < 1.0 / (1.0 + self.fail_over))
    }

    /// Everything that is worse beyond doubt, a sentence each.
    ///
    /// # Errors
    /// If there is nothing that could be judged.
    pub fn judge(&self, comparison: &Comparison) -> Result<Vec<String>, GateError> {
        if comparison.sides.len() < 2 {
            return Err(GateError::OneSide);
        }
        let (mut judged, mut worse) = (0, Vec::new());
        for table in &comparison.tables {
            for row in &table.rows {
                for (side, cell) in comparison.sides.iter().zip(&row.cells) {
                    let Some(ratio) = cell.and_then(|cell| cell.ratio) else { continue };
                    judged += usize::from(ratio.ci95.is_some());
                    let Some(ends) = ratio.ci95.filter(|_| self.fails(&ratio)) else { continue };
                    let state = row.subject.state.map_or_else(String::new, |state| format!(", {state}"));
                    worse.push(format!(
                        "{}{state}: {} in {} is {:.3} [{:.3}, {:.3}] times that of {}",
                        row.name,
                        table.measure.word(),
                        side.name,
                        1.0 / ratio.estimate,
                        1.0 / ends.high,
                        1.0 / ends.low,
                        comparison.sides[0].name,
                    ));
                }
            }
        }
        if judged == 0 { Err(GateError::NoInterval) } else { Ok(worse) }
    }
}
