//! The judgement of claims, by the publication's own figures and by a record.
//!
//! A claim about several pairs or machines does not hold as soon as one number is clearly beyond a
//! bound, and holds only if all numbers are clearly within. A number is clearly beyond or within if
//! its whole 95 % interval is. A published number without an interval is taken as exact; a number
//! of a record without an interval decides nothing.

use super::answer::{Answer, ClaimNumber, Estimate, ShownNumbers, Verdict};
use super::bounds::{Bounds, Position};
use super::claim::{Claim, ClaimsFile, Expression, Pair, RatioForm};
use super::export::AnswerExport;
use super::figures::{Dataset, MissingFigure};
use super::metric::Metric;
use super::operand::Operand;
use super::{machines, order};
use readlab_analysis::compare::{FEW_READINGS_WORDS, Measure, ONE_ROUND_WORDS};
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
    #[serde(rename = "source")]
    pub publication: String,
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
    pub own_answer: Answer,
    /// The answer by a record; `null` if claims are judged without one.
    #[schemars(with = "Option<AnswerExport<'static>>")]
    #[serde(rename = "here")]
    pub record_answer: Option<Answer>,
}

pub fn judge(file: &ClaimsFile, record: Option<&Record>) -> JudgedClaims {
    let published = file.tables_name.as_deref().map(Dataset::of_publication).unwrap_or_default();
    let here = record.map(Dataset::of_record);
    let claim = |claim: &Claim| JudgedClaim {
        claim: claim.clone(),
        own_answer: if published.is_empty() {
            Answer::undecided("readlab has no table of it")
        } else {
            judge_by_own_figures(claim, &published)
        },
        record_answer: here.as_ref().map(|here| judge_by_record(claim, &published, here)),
    };
    JudgedClaims {
        name: file.name.clone(),
        publication: file.publication.clone(),
        claims: file.claims.iter().map(claim).collect(),
    }
}

fn judge_by_own_figures(claim: &Claim, published: &[Dataset]) -> Answer {
    match &claim.expression {
        Expression::Order(all) => order::judge_rising(published, all),
        Expression::SameOrder(all) => order::judge_same_on_all_machines(published, all),
        Expression::Machines { trials, machine, reference_machine, .. } => {
            let [of, to] = [machine, reference_machine].map(|name| machines::machine_named(published, name));
            match (of, to) {
                (Some(of), Some(to)) => machines::judge_ratios(of, to, trials, &claim.bounds),
                (None, _) => machines::unknown_machine_answer(machine),
                (_, None) => machines::unknown_machine_answer(reference_machine),
            }
        }
        Expression::Slope { quantity, fact, .. } => {
            machines::judge_slope(published, quantity, fact, &claim.bounds)
        }
        numbers => judge_numbers(numbers, claim.bounds, published),
    }
}

fn judge_by_record(claim: &Claim, published: &[Dataset], here: &Dataset) -> Answer {
    let record = std::slice::from_ref(here);
    match &claim.expression {
        Expression::Order(all) => order::judge_rising(record, all),
        Expression::SameOrder(all) => order::judge_order_of_record(published.first(), here, all),
        Expression::Machines { trials, reference_machine, shared_fact, .. } => {
            let Some(to) = machines::machine_named(published, reference_machine) else {
                return machines::unknown_machine_answer(reference_machine);
            };
            match shared_fact.as_ref().and_then(|fact| machines::why_fact_differs(here, to, fact)) {
                Some(why) => Answer::undecided(why),
                None => machines::judge_ratios(here, to, trials, &claim.bounds),
            }
        }
        Expression::Slope { quantity, fact, factor_max } => {
            machines::judge_by_fitted_line(published, here, quantity, fact, *factor_max)
        }
        numbers => match why_memory_is_incomparable(numbers, published, here) {
            Some(lack) => Answer::undecided(lack.to_string()),
            None => judge_numbers(numbers, claim.bounds, record),
        },
    }
}

/// Why a claim about memory cannot be judged by a record: its files differ in size from the
/// published ones, so a program's fixed memory is another share of the whole. `None` for all other
/// claims and records.
fn why_memory_is_incomparable(
    expression: &Expression,
    published: &[Dataset],
    here: &Dataset,
) -> Option<MissingFigure> {
    let quantities = expression.quantities().into_iter();
    let mut of_memory = quantities.filter(|it| it.metric == Metric::Measure(Measure::Peak));
    of_memory.find_map(|it| machines::check_same_size(here, published.first()?, it).err())
}

fn judge_numbers(expression: &Expression, bounds: Bounds, sides: &[Dataset]) -> Answer {
    let mut tally = Tally::new(bounds, sides.iter().any(Dataset::is_record));
    match expression {
        Expression::Ratio { pairs, form } => {
            let tally = judge_pairs(tally, pairs, sides, Operand::divided_by);
            match form {
                RatioForm::Times => tally.answer(ShownNumbers::Times),
                RatioForm::Share => tally.answer(ShownNumbers::Shares),
            }
        }
        Expression::Difference(pairs) => {
            let unit = pairs.first().map(|pair| pair.quantity.metric.unit());
            let tally = judge_pairs(tally, pairs, sides, Operand::minus);
            unit.map_or_else(
                || Answer::undecided("no pair"),
                |unit| tally.answer(machines::shown_in_unit(unit)),
            )
        }
        Expression::Value(all) => {
            let unit = all.first().map(|it| it.metric.unit());
            for quantity in all {
                tally.add_numbers_of_sides(&quantity.trial, sides, |side| {
                    Ok(side.operand(quantity)?.estimate())
                });
            }
            unit.map_or_else(
                || Answer::undecided("no trial"),
                |unit| tally.answer(machines::shown_in_unit(unit)),
            )
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
        let name = if pair.quantity.trial == pair.reference.trial {
            pair.quantity.trial.clone()
        } else {
            format!("{} / {}", pair.quantity.trial, pair.reference.trial)
        };
        tally.add_numbers_of_sides(&name, sides, |side| {
            if !side.is_record() && pair.quantity.state != pair.reference.state && !side.has_known_states() {
                return Err(MissingFigure::NoNumber("its tables are of one state of the cache".to_owned()));
            }
            Ok(combine(&side.operand(&pair.quantity)?, &side.operand(&pair.reference)?))
        });
    }
    tally
}

/// Collects the numbers of a claim with their positions, until the claim is decided.
#[derive(Debug, Default)]
pub(super) struct Tally {
    bounds: Bounds,
    has_record_side: bool,
    numbers: Vec<ClaimNumber>,
    outside_count: usize,
    /// The largest distance of a number beyond a bound, and that number; `None` if no number is
    /// beyond a bound.
    farthest_beyond: Option<(f64, ClaimNumber)>,
    straddling_count: usize,
    /// The numbers that decide nothing because they have no interval.
    estimates_without_interval: Vec<Estimate>,
    missing_reasons: Vec<String>,
}

impl Tally {
    pub(super) fn new(bounds: Bounds, has_record_side: bool) -> Tally {
        Tally { bounds, has_record_side, ..Tally::default() }
    }

    /// Adds the numbers of the sides that have one. If no side has one, adds one reason.
    fn add_numbers_of_sides(
        &mut self,
        trials: &str,
        sides: &[Dataset],
        number: impl Fn(&Dataset) -> Result<Estimate, MissingFigure>,
    ) {
        let mut lack = None;
        let before = self.numbers.len();
        for side in sides {
            match number(side) {
                Ok(estimate) => self.add(trials, side.name(), Ok(estimate)),
                Err(why) => lack = lack.or(Some(why)),
            }
        }
        if let Some(why) = lack.filter(|_| self.numbers.len() == before) {
            self.add(trials, "", Err(why));
        }
    }

    /// Adds a number, or the reason why it is missing.
    pub(super) fn add(&mut self, trials: &str, side: &str, number: Result<Estimate, MissingFigure>) {
        let estimate = match number {
            Ok(estimate) => estimate,
            Err(lack) => {
                let why = lack.to_string();
                if !self.missing_reasons.contains(&why) {
                    self.missing_reasons.push(why);
                }
                return;
            }
        };
        let position = self.bounds.position_of(&estimate, self.has_record_side);
        if estimate.ci95.is_none() && position == Position::Straddling {
            self.estimates_without_interval.push(estimate);
        }
        let found = ClaimNumber { trials: trials.to_owned(), side: side.to_owned(), estimate };
        if position == Position::Outside {
            self.outside_count += 1;
            let ends = estimate.ci95.unwrap_or(Interval { low: estimate.value, high: estimate.value });
            let distance = self.bounds.distance_beyond(ends);
            if self.farthest_beyond.as_ref().is_none_or(|(farthest, _)| distance > *farthest) {
                self.farthest_beyond = Some((distance, found.clone()));
            }
        }
        self.straddling_count += usize::from(position == Position::Straddling);
        self.numbers.push(found);
    }

    /// The answer, with the numbers in the form that `shown` makes.
    pub(super) fn answer(self, shown: impl FnOnce(Vec<ClaimNumber>) -> ShownNumbers) -> Answer {
        let verdict = self.verdict();
        let farthest_beyond = self.farthest_beyond.map(|(_, found)| found).filter(|_| self.numbers.len() > 1);
        let shown = if self.numbers.is_empty() { ShownNumbers::Nothing } else { shown(self.numbers) };
        Answer { shown, verdict, farthest_beyond }
    }

    fn verdict(&self) -> Verdict {
        if self.outside_count > 0 {
            return Verdict::DoesNotHold;
        }
        if let Some(why) = self.missing_reasons.first() {
            let more = self.missing_reasons.len() - 1;
            let more = if more == 0 { String::new() } else { format!("; {more} more") };
            return Verdict::Undecided(format!("{why}{more}"));
        }
        let all = self.numbers.len();
        if self.straddling_count == 0 && all > 0 {
            return Verdict::Holds;
        }
        Verdict::Undecided(match self.estimates_without_interval.first() {
            None if all == 1 => "the interval holds a bound of the claim".to_owned(),
            None => format!("{} of {all} intervals hold a bound of the claim", self.straddling_count),
            Some(bare) if self.has_record_side => why_no_interval(bare).to_owned(),
            Some(_) => "the figures tie".to_owned(),
        })
    }
}

/// Why a number of a record has no interval.
fn why_no_interval(number: &Estimate) -> &'static str {
    match number.round_count {
        None => "the number has no interval",
        Some(0 | 1) => ONE_ROUND_WORDS,
        Some(_) => FEW_READINGS_WORDS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_a_record_without_an_interval_says_why() {
        let whys =
            [(Some(1), ONE_ROUND_WORDS), (Some(3), FEW_READINGS_WORDS), (None, "the number has no interval")];
        for (rounds, why) in whys {
            let mut tally = Tally::new(Bounds::ABOVE_ONE, true);
            tally.add("a", "here", Ok(Estimate { round_count: rounds, ..Estimate::without_interval(4.0) }));
            let answer = tally.answer(ShownNumbers::Times);
            assert_eq!(answer.verdict, Verdict::Undecided(why.to_owned()));
        }
    }
}
