//! Judges claims about machines: the ratio of a trial's numbers on two machines, and the straight
//! line through the machines' times per byte against one of their facts. A record counts as one
//! machine, beside those of the publication.

use super::answer::{Answer, ClaimNumber, Estimate, ShownNumbers};
use super::bounds::Bounds;
use super::claim::Quantity;
use super::figures::{Dataset, MissingFigure, ns_per_byte, with_rate_metric};
use super::judge::Tally;
use super::operand::Operand;
use readlab_analysis::compare::{Unit, sizes_differ};
use readlab_analysis::stats::{self, AbsoluteErrors, LeastSquares};
use readlab_model::units::Bytes;
use std::collections::BTreeMap;

pub(super) fn machine_named<'a, 'r>(machines: &'a [Dataset<'r>], name: &str) -> Option<&'a Dataset<'r>> {
    machines.iter().find(|it| it.name() == name)
}

/// Judges the ratio of each trial's number on one machine to its number on another.
pub(super) fn judge_ratios(of: &Dataset, to: &Dataset, trials: &[Quantity], bounds: &Bounds) -> Answer {
    let mut tally = Tally::new(*bounds, of.is_record());
    for trial in trials {
        let ratio = || {
            let number = of.operand(trial)?;
            check_same_size(of, to, trial)?;
            let other = to.operand(trial)?.estimate();
            // A published number has no interval, so it is compared as if it were exact.
            let other = if of.is_record() && other.ci95.is_none() {
                Operand::exact(other.value)
            } else {
                Operand::Single(other)
            };
            Ok(number.divided_by(&other))
        };
        tally.add(&trial.trial, of.name(), ratio());
    }
    tally.answer(ShownNumbers::Times)
}

/// Why two machines do not share a fact; `None` if they do. The published value need only be part
/// of the record's value, because publications give the short name of a processor.
pub(super) fn why_fact_differs(here: &Dataset, there: &Dataset, fact: &str) -> Option<String> {
    let letters = |text: &str| text.to_lowercase().replace(|c: char| !c.is_alphanumeric(), "");
    let other = there.fact_text(fact).unwrap_or("known");
    let is_same = here.fact_text(fact).is_some_and(|own| letters(own).contains(&letters(other)));
    (!is_same).then(|| format!("{fact} of this machine is not {other}"))
}

/// Refuses to compare numbers that depend on the file size, such as times and memory, if the files
/// of the two sides differ in size.
pub(super) fn check_same_size(of: &Dataset, to: &Dataset, trial: &Quantity) -> Result<(), MissingFigure> {
    let (Some(a), Some(b)) = (of.size_bytes(trial), to.size_bytes(trial)) else { return Ok(()) };
    if trial.metric.unit() == Unit::BytesPerSecond || !sizes_differ(a, b) {
        return Ok(());
    }
    Err(MissingFigure::NoNumber(format!("the files differ in size: {} here, {} there", Bytes(a), Bytes(b))))
}

/// One point for each value of a fact: the value, and the machines' mean time per byte in
/// nanoseconds.
fn points_by_fact(machines: &[Dataset], of: &Quantity, fact: &str) -> Vec<(f64, f64)> {
    let mut at: BTreeMap<u64, Vec<(f64, f64)>> = BTreeMap::new();
    for machine in machines {
        let (Some(x), Ok(rate)) = (machine.fact_number(fact), machine.operand(&with_rate_metric(of))) else {
            continue;
        };
        at.entry(x.to_bits()).or_default().push((x, ns_per_byte(rate.estimate().value)));
    }
    let mean = |points: Vec<(f64, f64)>| {
        (points[0].0, points.iter().map(|point| point.1).sum::<f64>() / points.len() as f64)
    };
    at.into_values().map(mean).collect()
}

pub(super) fn fitted_line(
    machines: &[Dataset],
    of: &Quantity,
    fact: &str,
) -> Option<LeastSquares<AbsoluteErrors>> {
    stats::least_squares(&points_by_fact(machines, of, fact))
}

pub(super) fn judge_slope(machines: &[Dataset], of: &Quantity, fact: &str, bounds: &Bounds) -> Answer {
    let Some(fit) = fitted_line(machines, of, fact) else {
        return Answer::undecided(format!("its tables have too few machines with a known {fact}"));
    };
    let mut tally = Tally::new(*bounds, false);
    let estimate = Estimate::with_ends(fit.line.slope, fit.slope_ci95);
    tally.add(&of.trial, "", Ok(estimate));
    let fact = fact.to_owned();
    tally.answer(|found| ShownNumbers::PerFact(fact, found))
}

/// Judges a record's time per byte, divided by the time that the line predicts.
pub(super) fn judge_by_fitted_line(
    machines: &[Dataset],
    here: &Dataset,
    of: &Quantity,
    fact: &str,
    factor_max: f64,
) -> Answer {
    let Some(fit) = fitted_line(machines, of, fact) else { return Answer::undecided("no line is published") };
    let Some(x) = here.fact_number(fact) else {
        return Answer::undecided(format!("{fact} of this machine is not known"));
    };
    let predicted = fit.line.at(x);
    if predicted <= 0.0 {
        return Answer::undecided(format!("the line has no time at {fact} {x}"));
    }
    let mut tally = Tally::new(Bounds { at_least: Some(1.0 / factor_max), at_most: Some(factor_max) }, true);
    let rate = here.operand(&with_rate_metric(of));
    let ratio = rate.map(|rate| Operand::exact(1e9 / predicted).divided_by(&rate));
    tally.add(&of.trial, here.name(), ratio);
    tally.answer(ShownNumbers::Times)
}

/// The answer to a claim about a machine that the publication does not have.
pub(super) fn unknown_machine_answer(name: &str) -> Answer {
    Answer::undecided(format!("no machine is called {name}"))
}

/// The function that shows the numbers of a tally in a unit.
pub(super) fn shown_in_unit(unit: Unit) -> impl FnOnce(Vec<ClaimNumber>) -> ShownNumbers {
    move |found| ShownNumbers::Values(unit, found)
}
