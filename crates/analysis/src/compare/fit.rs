//! The fit over machines: a straight line of one case's number on a fact of the machine, and the
//! values of the fact at which the line reaches the numbers of other cases.
//!
//! Machines with the same processor and the same fact are one point, their mean: measuring one
//! processor with two drives must not count twice.

use super::case::Case;
use super::matching::differences;
use super::measure::Measure;
use super::side::Side;
use crate::stats::{self, AbsoluteErrors, LeastSquares};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;

/// Which number is fitted on which fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FitRequest {
    /// The case, by any of its names.
    pub case: String,
    pub measure: Measure,
    pub fact: String,
    /// Whether cases are fitted even if they differ in what they read.
    pub is_forced: bool,
}

/// The fitted line, and the values of the fact at which the line reaches the numbers of other
/// cases.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Fit {
    pub case: String,
    pub measure: Measure,
    pub fact: String,
    pub points: Vec<FitPoint>,
    /// The line, in the number's unit per unit of the fact.
    pub line: LeastSquares<AbsoluteErrors>,
    /// The value of the fact at which the line reaches the number of each other case.
    #[serde(rename = "asks")]
    pub required: Vec<RequiredFact>,
    /// The sides that have the case but lack the fact.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "without")]
    pub sides_without_fact: Vec<String>,
    /// Differences between cases that were forced onto one line, a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "forced")]
    pub forced_differences: Vec<String>,
}

/// A point of the fit: a machine, or several with the same processor and the same fact.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FitPoint {
    pub machine: String,
    #[serde(rename = "fact")]
    pub fact_value: f64,
    #[serde(rename = "value")]
    pub measured_value: f64,
}

/// The value of the fact at which the line reaches another case's number.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RequiredFact {
    pub machine: String,
    /// The case whose number the line reaches at `fact_value`.
    pub case: String,
    #[serde(rename = "value")]
    pub measured_value: f64,
    /// The value of the fact; `None` where the line is level.
    #[serde(rename = "fact")]
    pub fact_value: Option<f64>,
}

/// Why no line can be fitted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FitError {
    #[error("'{0}' is no case and metric, such as zip/wall")]
    Shape(String),
    #[error("no machine has {case} with {measure} and {fact}; cases: {cases}; facts: {facts}")]
    Nothing { case: String, measure: String, fact: String, cases: String, facts: String },
    #[error("{side} has {case} more than once, as in both states: choose with --state")]
    Several { side: String, case: String },
    #[error("not alike, so no line: {}; --force fits nevertheless", .0.join("; "))]
    Unlike(Vec<String>),
    #[error("a line needs machines with two different values of {0}")]
    OnePoint(String),
}

impl FitRequest {
    /// Parses `CASE/METRIC` and `machine.FACT`.
    pub fn parse(what: &str, fact: &str) -> Result<FitRequest, FitError> {
        let shape = || FitError::Shape(what.to_owned());
        let (case, measure) = what.rsplit_once('/').ok_or_else(shape)?;
        let measure = measure.parse().map_err(|_| shape())?;
        let fact = fact.strip_prefix("machine.").unwrap_or(fact);
        Ok(FitRequest { case: case.to_owned(), measure, fact: fact.to_owned(), is_forced: false })
    }
}

/// Machines that are merged into one point.
struct MergedMachines<'a> {
    cpu: Option<&'a Value>,
    fact: f64,
    sides: Vec<&'a Side>,
}

impl MergedMachines<'_> {
    fn name(&self) -> String {
        self.sides.iter().map(|side| side.name.as_str()).collect::<Vec<_>>().join(" and ")
    }

    /// The mean over the machines that have the case; `None` if none has.
    fn mean(&self, name: &str, measure: Measure) -> Result<Option<f64>, FitError> {
        let mut values = Vec::new();
        for side in &self.sides {
            let mut found = side.cases.iter().filter(|case| case.names.contains(name));
            let value = found.next().and_then(|case| Some(case.figures.get(&measure)?.value()));
            if found.next().is_some() {
                return Err(FitError::Several { side: side.name.clone(), case: name.to_owned() });
            }
            values.extend(value);
        }
        Ok((!values.is_empty()).then(|| stats::mean(&values)))
    }
}

/// The differences between cases of one name, a sentence for each machine that differs from an
/// earlier one. Only cases that read the same thing belong on one line.
fn unlike_case_sentences(machines: &[MergedMachines], name: &str, measure: Measure) -> Vec<String> {
    let mut had: Vec<(&Side, &Case)> = Vec::new();
    let mut found = Vec::new();
    for &side in machines.iter().flat_map(|it| &it.sides) {
        let Some(case) = side.cases.iter().find(|case| case.has_figure(name, measure)) else { continue };
        found.extend(had.iter().find_map(|(first, theirs)| {
            let why = differences(&theirs.key, &case.key);
            let named = || format!("{name} of {} and of {}: {}", first.name, side.name, why.join(", "));
            (!why.is_empty()).then(named)
        }));
        had.push((side, case));
    }
    found
}

/// Fits the line by least squares.
pub fn fit(sides: &[Side], request: &FitRequest) -> Result<Fit, FitError> {
    let FitRequest { case, measure, fact, .. } = request;
    let mut machines: Vec<MergedMachines> = Vec::new();
    for side in sides {
        let Some(value) = side.facts.get(fact).and_then(Value::as_f64) else { continue };
        let cpu = side.facts.get("cpu");
        match machines.iter_mut().find(|it| it.cpu == cpu && it.fact == value && cpu.is_some()) {
            Some(machines) => machines.sides.push(side),
            None => machines.push(MergedMachines { cpu, fact: value, sides: vec![side] }),
        }
    }
    let mut points = Vec::new();
    for it in &machines {
        let value = it.mean(case, *measure)?;
        points.extend(value.map(|value| FitPoint {
            machine: it.name(),
            fact_value: it.fact,
            measured_value: value,
        }));
    }
    if points.is_empty() {
        return Err(no_machine_error(sides, request));
    }
    let forced_differences = check_alike(&machines, request)?;
    let line =
        stats::least_squares(&points.iter().map(|it| (it.fact_value, it.measured_value)).collect::<Vec<_>>())
            .ok_or_else(|| FitError::OnePoint(fact.clone()))?;
    let mut required = Vec::new();
    for it in &machines {
        let others = it.sides[0].cases.iter().filter(|other| !other.names.contains(case));
        for Case { name, .. } in others {
            let Some(value) = it.mean(name, *measure)? else { continue };
            required.push(RequiredFact {
                machine: it.name(),
                case: name.clone(),
                measured_value: value,
                fact_value: line.line.solve(value),
            });
        }
    }
    let sides_without_fact = sides_without_fact(sides, request);
    Ok(Fit {
        case: case.clone(),
        measure: *measure,
        fact: fact.clone(),
        points,
        line,
        required,
        sides_without_fact,
        forced_differences,
    })
}

/// The names of the sides that have the fitted number but lack the fact.
fn sides_without_fact(sides: &[Side], request: &FitRequest) -> Vec<String> {
    let has_number =
        |side: &&Side| side.cases.iter().any(|case| case.has_figure(&request.case, request.measure));
    let lacks = |side: &&Side| side.facts.get(&request.fact).and_then(Value::as_f64).is_none();
    sides.iter().filter(has_number).filter(lacks).map(|side| side.name.clone()).collect()
}

/// Checks that the fitted case and the cases to reach are alike on all machines. Their differences
/// are an error, or are returned if the fit is forced.
fn check_alike(machines: &[MergedMachines], request: &FitRequest) -> Result<Vec<String>, FitError> {
    let named = |it: &Case| (!it.names.contains(&request.case)).then(|| it.name.clone());
    let others: BTreeSet<String> =
        machines.iter().flat_map(|it| it.sides[0].cases.iter().filter_map(named)).collect();
    let names = std::iter::once(&request.case).chain(&others);
    let found: Vec<String> =
        names.flat_map(|name| unlike_case_sentences(machines, name, request.measure)).collect();
    if found.is_empty() || request.is_forced { Ok(found) } else { Err(FitError::Unlike(found)) }
}

fn no_machine_error(sides: &[Side], request: &FitRequest) -> FitError {
    let numbers = sides.iter().flat_map(|side| &side.facts).filter(|(_, value)| value.is_number());
    let facts: BTreeSet<&str> = numbers.map(|(name, _)| name.as_str()).collect();
    let cases: BTreeSet<&str> =
        sides.iter().flat_map(|side| &side.cases).map(|case| case.name.as_str()).collect();
    FitError::Nothing {
        case: request.case.clone(),
        measure: request.measure.word().to_owned(),
        fact: request.fact.clone(),
        cases: cases.into_iter().collect::<Vec<_>>().join("; "),
        facts: facts.into_iter().collect::<Vec<_>>().join(", "),
    }
}
