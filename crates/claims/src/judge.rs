//! The judgement of claims, by the publication's own figures and by a record.
//!
//! A claim about several pairs or machines does not hold as soon as one number is clearly beyond a
//! bound, and holds only if all numbers are clearly within. Clearly means with the whole 95 %
//! interval. A published number without an interval is taken as exact; a number of a record without
//! an interval decides nothing.

use super::answer::{Answer, ClaimNumber, Estimate, ShownNumbers, Verdict};
use super::bounds::{Bounds, Position};
use super::claim::{Claim, ClaimsFile, Expression, Pair, RatioForm};
use super::export::AnswerExport;
use super::figures::{Dataset, MissingFigure};
use super::metric::Metric;
use super::operand::Operand;
use super::{machines, order};
use readlab_analysis::compare::{FEW_READINGS, Measure, ONE_ROUND};
use readlab_analysis::stats::Interval;
use readlab_record::Record;
use schemars::JsonSchema;
use serde::Serialize;

/// The claims of one publication.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Claims")]
pub struct JudgedClaims {
    pub name: String,
    /// The publication, in one line.
    pub source: String,
    // In the order of their file.
    pub claims: Vec<JudgedClaim>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Claim")]
pub struct JudgedClaim {
    #[serde(flatten)]
    pub claim: Claim,
    #[serde(rename = "by_its_own_figures")]
    #[schemars(with = "AnswerExport<'static>")]
    pub own: Answer,
    /// The answer by a record.
    #[schemars(with = "Option<AnswerExport<'static>>")]
    pub here: Option<Answer>,
}

pub fn judge(file: &ClaimsFile, record: Option<&Record>) -> JudgedClaims {
    let published = file.published.as_deref().map(Dataset::published).unwrap_or_default();
    let here = record.map(Dataset::of_record);
    let claim = |claim: &Claim| JudgedClaim {
        claim: claim.clone(),
        own: if published.is_empty() {
            Answer::undecided("readlab has no table of it")
        } else {
            judge_by_own_figures(claim, &published)
        },
        here: here.as_ref().map(|here| judge_by_record(claim, &published, here)),
    };
    JudgedClaims {
        name: file.name.clone(),
        source: file.source.clone(),
        claims: file.claims.iter().map(claim).collect(),
    }
}

fn judge_by_own_figures(claim: &Claim, published: &[Dataset]) -> Answer {
    match &claim.expression {
        Expression::Order(all) => order::judge_rising(published, all),
        Expression::SameOrder(all) => order::judge_same_on_all(published, all),
        Expression::Machines { trials, of, to, .. } => {
            match (machines::machine_named(published, of), machines::machine_named(published, to)) {
                (Some(of), Some(to)) => machines::compare(of, to, trials, &claim.bounds),
                (None, _) => machines::unknown_machine(of),
                (_, None) => machines::unknown_machine(to),
            }
        }
        Expression::Slope { of, over, .. } => machines::slope(published, of, over, &claim.bounds),
        numbers => judge_numbers(numbers, claim.bounds, published),
    }
}

fn judge_by_record(claim: &Claim, published: &[Dataset], here: &Dataset) -> Answer {
    let record = std::slice::from_ref(here);
    match &claim.expression {
        Expression::Order(all) => order::judge_rising(record, all),
        Expression::SameOrder(all) => order::judge_same_here(published.first(), here, all),
        Expression::Machines { trials, to, same, .. } => match machines::machine_named(published, to) {
            Some(to) => match same.as_ref().and_then(|fact| machines::why_fact_differs(here, to, fact)) {
                Some(why) => Answer::undecided(why),
                None => machines::compare(here, to, trials, &claim.bounds),
            },
            None => machines::unknown_machine(to),
        },
        Expression::Slope { of, over, within } => {
            machines::compare_with_line(published, here, of, over, *within)
        }
        numbers => match memory_of_another_size(numbers, published, here) {
            Some(lack) => Answer::undecided(lack.to_string()),
            None => judge_numbers(numbers, claim.bounds, record),
        },
    }
}

/// Checks a claim about memory: if the record's files differ in size from the published ones,
/// memory cannot be compared, because a program's fixed memory is then another share of the whole.
fn memory_of_another_size(
    expression: &Expression,
    published: &[Dataset],
    here: &Dataset,
) -> Option<MissingFigure> {
    let quantities = expression.quantities().into_iter();
    let mut of_memory = quantities.filter(|it| it.metric == Metric::Of(Measure::Peak));
    of_memory.find_map(|it| machines::check_same_size(here, published.first()?, it).err())
}

fn judge_numbers(expression: &Expression, bounds: Bounds, sides: &[Dataset]) -> Answer {
    let mut tally = Tally::new(bounds, sides.iter().any(Dataset::is_record));
    match expression {
        Expression::Ratio { pairs, form } => {
            let tally = judge_pairs(tally, pairs, sides, Operand::over);
            match form {
                RatioForm::Times => tally.answer(ShownNumbers::Times),
                RatioForm::Share => tally.answer(ShownNumbers::Shares),
            }
        }
        Expression::Difference(pairs) => {
            let unit = pairs.first().map(|pair| pair.of.metric.unit());
            let tally = judge_pairs(tally, pairs, sides, Operand::minus);
            unit.map_or_else(|| Answer::undecided("no pair"), |unit| tally.answer(machines::in_unit(unit)))
        }
        Expression::Value(all) => {
            let unit = all.first().map(|it| it.metric.unit());
            for quantity in all {
                tally.add_sides(&quantity.trial, sides, |side| Ok(side.operand(quantity)?.estimate()));
            }
            unit.map_or_else(|| Answer::undecided("no trial"), |unit| tally.answer(machines::in_unit(unit)))
        }
        _ => Answer::undecided("it is about several machines"),
    }
}

fn judge_pairs(
    mut tally: Tally,
    pairs: &[Pair],
    sides: &[Dataset],
    combine: fn(&Operand, &Operand) -> Estimate,
) -> Tally {
    for pair in pairs {
        let name = if pair.of.trial == pair.to.trial {
            pair.of.trial.clone()
        } else {
            format!("{} / {}", pair.of.trial, pair.to.trial)
        };
        tally.add_sides(&name, sides, |side| {
            if !side.is_record() && pair.of.state != pair.to.state && !side.has_states() {
                return Err(MissingFigure::NoNumber("its tables are of one state of the cache".to_owned()));
            }
            Ok(combine(&side.operand(&pair.of)?, &side.operand(&pair.to)?))
        });
    }
    tally
}

/// Collects the numbers of a claim with their positions, until the claim is decided.
#[derive(Debug, Default)]
pub(super) struct Tally {
    bounds: Bounds,
    is_record: bool,
    found: Vec<ClaimNumber>,
    outside: usize,
    /// The number that is farthest beyond a bound, with its distance.
    beyond: Option<(f64, ClaimNumber)>,
    straddling: usize,
    /// The numbers that decide nothing because they have no interval.
    without_interval: Vec<Estimate>,
    lacks: Vec<String>,
}

impl Tally {
    pub(super) fn new(bounds: Bounds, is_record: bool) -> Tally {
        Tally { bounds, is_record, ..Tally::default() }
    }

    /// Adds the number of each side that has it. If no side has it, the reason is added once.
    fn add_sides(
        &mut self,
        trials: &str,
        sides: &[Dataset],
        number: impl Fn(&Dataset) -> Result<Estimate, MissingFigure>,
    ) {
        let mut lack = None;
        let before = self.found.len();
        for side in sides {
            match number(side) {
                Ok(estimate) => self.add(trials, side.name(), Ok(estimate)),
                Err(why) => lack = lack.or(Some(why)),
            }
        }
        if let Some(why) = lack.filter(|_| self.found.len() == before) {
            self.add(trials, "", Err(why));
        }
    }

    /// Adds a number, or the reason why it is missing.
    pub(super) fn add(&mut self, trials: &str, side: &str, number: Result<Estimate, MissingFigure>) {
        let estimate = match number {
            Ok(estimate) => estimate,
            Err(lack) => {
                let why = lack.to_string();
                if !self.lacks.contains(&why) {
                    self.lacks.push(why);
                }
                return;
            }
        };
        let position = self.bounds.position_of(&estimate, self.is_record);
        if estimate.ci95.is_none() && position == Position::Straddling {
            self.without_interval.push(estimate);
        }
        let found = ClaimNumber { trials: trials.to_owned(), side: side.to_owned(), estimate };
        if position == Position::Outside {
            self.outside += 1;
            let ends = estimate.ci95.unwrap_or(Interval { low: estimate.value, high: estimate.value });
            let distance = self.bounds.distance(ends);
            if self.beyond.as_ref().is_none_or(|(farthest, _)| distance > *farthest) {
                self.beyond = Some((distance, found.clone()));
            }
        }
        self.straddling += usize::from(position == Position::Straddling);
        self.found.push(found);
    }

    /// The answer, with the numbers in the form that `shown` makes.
    pub(super) fn answer(self, shown: impl FnOnce(Vec<ClaimNumber>) -> ShownNumbers) -> Answer {
        let verdict = self.verdict();
        let beyond = self.beyond.map(|(_, found)| found).filter(|_| self.found.len() > 1);
        let shown = if self.found.is_empty() { ShownNumbers::Nothing } else { shown(self.found) };
        Answer { shown, verdict, beyond }
    }

    fn verdict(&self) -> Verdict {
        if self.outside > 0 {
            return Verdict::DoesNotHold;
        }
        if let Some(why) = self.lacks.first() {
            let more = self.lacks.len() - 1;
            let more = if more == 0 { String::new() } else { format!("; {more} more") };
            return Verdict::CannotBeTold(format!("{why}{more}"));
        }
        let all = self.found.len();
        if self.straddling == 0 && all > 0 {
            return Verdict::Holds;
        }
        Verdict::CannotBeTold(match self.without_interval.first() {
            None if all == 1 => "the interval holds a bound of the claim".to_owned(),
            None => format!("{} of {all} intervals hold a bound of the claim", self.straddling),
            Some(bare) if self.is_record => why_no_interval(bare).to_owned(),
            Some(_) => "the figures tie".to_owned(),
        })
    }
}

/// Why a number of a record has no interval.
fn why_no_interval(number: &Estimate) -> &'static str {
    match number.rounds {
        None => "the number has no interval",
        Some(0 | 1) => ONE_ROUND,
        Some(_) => FEW_READINGS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_a_record_without_an_interval_says_why() {
        let whys = [(Some(1), ONE_ROUND), (Some(3), FEW_READINGS), (None, "the number has no interval")];
        for (rounds, why) in whys {
            let mut tally = Tally::new(Bounds::ABOVE_ONE, true);
            tally.add("a", "here", Ok(Estimate { rounds, ..Estimate::without_interval(4.0) }));
            let answer = tally.answer(ShownNumbers::Times);
            assert_eq!(answer.verdict, Verdict::CannotBeTold(why.to_owned()));
        }
    }
}
