//! The gate for continuous integration: whether any case is clearly slower than allowed.

use super::side::SHARED_NOISE_MEASURES;
use super::{Case, Cell, CompareError, Comparison, ComparisonRow, Measure, Side, UnpairedCase};
use crate::stats::Ratio;
use readlab_record::Outcome;

/// The condition under which a comparison fails.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gate {
    /// The allowed share by which a number may be worse, such as 0.05.
    pub allowed_share: f64,
}

/// Why the gate cannot judge a comparison.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GateError {
    #[error("--fail-over holds records against the first, and there is only one")]
    OneSide,
    #[error(
        "--fail-over judges by intervals, and no ratio has one: samples are too few, or only means are known"
    )]
    NoInterval,
    #[error(transparent)]
    NothingCompared(CompareError),
}

/// Why a number of a single round has no interval.
pub const ONE_ROUND_WORDS: &str = "a single round has no interval";

/// Why a number of several rounds has no interval: only times and rates share their noise with
/// other trials, and other numbers need as many readings as a rank test does
/// ([`crate::stats::OBSERVATIONS_MIN`]).
pub const FEW_READINGS_WORDS: &str = "fewer than five readings have an interval only of times and rates";

/// Why two numbers have no ratio.
const NO_QUOTIENT_WORDS: &str = "a number that is 0 or less has no ratio";

impl Gate {
    /// Whether the whole interval is beyond the allowed share; a ratio without an interval never
    /// fails.
    pub fn fails(&self, ratio: &Ratio) -> bool {
        ratio.ci95.is_some_and(|ends| ends.high < 1.0 / (1.0 + self.allowed_share))
    }

    /// Whether any ratio has an interval, by which the gate judges.
    pub fn judges_any(comparison: &Comparison) -> bool {
        comparison.pairs().any(|(cell, _)| cell.ratio.is_some_and(|ratio| ratio.ci95.is_some()))
    }

    /// Everything that is clearly worse than allowed, a sentence each. An error if the gate judges
    /// nothing and no trial is missing, broken or unlike.
    pub fn worse_sentences(&self, comparison: &Comparison) -> Result<Vec<String>, GateError> {
        if comparison.sides.len() < 2 {
            return Err(GateError::OneSide);
        }
        let has_cause = || {
            let sentences = [Gate::broken_sentences(comparison), Gate::unjudged_sentences(comparison)];
            sentences.iter().any(|it| !it.is_empty())
        };
        if !Gate::judges_any(comparison) && !has_cause() {
            let refusal = comparison.refusal.clone();
            return Err(refusal.map_or(GateError::NoInterval, GateError::NothingCompared));
        }
        let mut worse = Vec::new();
        for (table, row) in comparison.rows() {
            for (side, cell) in comparison.sides.iter().zip(&row.cells) {
                let Some(ratio) = cell.and_then(|cell| cell.ratio) else { continue };
                let Some(ends) = ratio.ci95.filter(|_| self.fails(&ratio)) else { continue };
                worse.push(format!(
                    "{}: {} in {} is {:.3} [{:.3}, {:.3}] times that of {}",
                    case_name(row),
                    table.measure.word(),
                    side.name,
                    1.0 / ratio.estimate,
                    1.0 / ends.high,
                    1.0 / ends.low,
                    comparison.sides[0].name,
                ));
            }
        }
        Ok(worse)
    }

    /// Every number that could not be judged because another side lacks it or differs, a sentence
    /// each. Trials that failed or were refused on the first side are among them, because a
    /// baseline without numbers proves nothing; those of a later side are listed by
    /// [`Gate::broken_sentences`] instead.
    pub fn unjudged_sentences(comparison: &Comparison) -> Vec<String> {
        let name = |side: usize| &comparison.sides[side].name;
        let lacks = |it: &UnpairedCase| format!("{}: {} does not have it", it.name, name(it.lacking_side));
        let mut found: Vec<String> = comparison.unpaired_cases.iter().map(lacks).collect();
        found.extend(comparison.unlike_case_sentences.iter().cloned());
        found.extend(comparison.missing_number_sentences.iter().cloned());
        let unavailable = comparison.unmeasured_cases.iter().filter(|it| !is_failure(&it.outcome));
        found.extend(unavailable.map(|it| unmeasured_sentence(&it.name, &it.outcome, name(it.side))));
        found.extend(comparison.sides.iter().take(1).flat_map(failure_sentences));
        for (table, row) in comparison.rows() {
            let Some(first) = &row.cells[0] else { continue };
            let unjudged = (1..)
                .zip(&row.cells[1..])
                .filter_map(|(at, cell)| Some((at, why_unjudged(table.measure, first, (*cell)?)?)));
            found.extend(unjudged.map(|(side, why)| {
                let measure = table.measure.word();
                format!("{}: {measure} in {} and {}: {why}", case_name(row), name(0), name(side))
            }));
        }
        found
    }

    /// Every trial that failed or was refused on a later side, a sentence each.
    pub fn broken_sentences(comparison: &Comparison) -> Vec<String> {
        comparison.sides.iter().skip(1).flat_map(failure_sentences).collect()
    }
}

/// Every trial of a side that failed or was refused, a sentence each.
fn failure_sentences(side: &Side) -> Vec<String> {
    let sentence = |case: &Case| {
        let outcome = case.why_unmeasured.as_ref().filter(|outcome| is_failure(outcome))?;
        Some(unmeasured_sentence(&case.name, outcome, &side.name))
    };
    side.cases.iter().filter_map(sentence).collect()
}

fn is_failure(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Failed { .. } | Outcome::Refused { .. })
}

fn unmeasured_sentence(name: &str, outcome: &Outcome, side: &str) -> String {
    format!("{name}: {} in {side}: {}", outcome.word(), outcome.reason().unwrap_or("no reading counts"))
}

/// Why two numbers cannot be judged; `None` if they can be judged, if one is a mean and the other a
/// median, and if the number of readings of either is not known, as of many published means.
fn why_unjudged(measure: Measure, first: &Cell, other: Cell) -> Option<&'static str> {
    let fewer = first.n?.min(other.n?);
    if other.has_no_quotient(first) {
        return Some(NO_QUOTIENT_WORDS);
    }
    let is_one_round = fewer < 2 || SHARED_NOISE_MEASURES.contains(&measure);
    let why = if is_one_round { ONE_ROUND_WORDS } else { FEW_READINGS_WORDS };
    other.ratio?.ci95.is_none().then_some(why)
}

/// The name of a row, with its cache state where known.
fn case_name(row: &ComparisonRow) -> String {
    row.key.state.map_or_else(|| row.name.clone(), |state| format!("{}, {state}", row.name))
}
