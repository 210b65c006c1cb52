//! The fit through machines: a straight line of one case's number on a fact of the machine, and the
//! value of the fact at which the line reaches the other cases' numbers.
//!
//! Machines with the same processor and the same fact are one point, their mean: a processor that
//! was measured with two drives says nothing twice.

use super::case::Case;
use super::matching::differences;
use super::measure::Measure;
use super::side::Side;
use crate::stats::{self, AbsoluteErrors, LeastSquares};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;

/// What is fitted on what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FitRequest {
    /// The case, by any of its names.
    pub case: String,
    pub measure: Measure,
    pub fact: String,
    /// Whether what is unlike is fitted nevertheless.
    pub force: bool,
}

/// The line, and the facts that it requires.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Fit {
    pub case: String,
    pub measure: Measure,
    pub fact: String,
    pub points: Vec<FitPoint>,
    /// The line, in the number's unit per unit of the fact.
    pub line: LeastSquares<AbsoluteErrors>,
    /// The fact that the line requires for the number of each other case.
    #[serde(rename = "asks")]
    pub required: Vec<RequiredFact>,
    /// The sides that have the case and not the fact.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<String>,
    /// Unlike things that were forced onto one line, a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub forced: Vec<String>,
}

/// A machine, or several with the same processor.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FitPoint {
    pub machine: String,
    pub fact: f64,
    pub value: f64,
}

/// The fact at which the line reaches another case's number.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RequiredFact {
    pub machine: String,
    /// Which case's number is to be reached.
    pub case: String,
    pub value: f64,
    /// The fact; `None` on a level line.
    pub fact: Option<f64>,
}

/// Why there is no line.
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
    /// From `CASE/METRIC` and `machine.FACT`.
    pub fn parse(what: &str, fact: &str) -> Result<FitRequest, FitError> {
        let shape = || FitError::Shape(what.to_owned());
        let (case, measure) = what.rsplit_once('/').ok_or_else(shape)?;
        let measure = measure.parse().map_err(|_| shape())?;
        let fact = fact.strip_prefix("machine.").unwrap_or(fact);
        Ok(FitRequest { case: case.to_owned(), measure, fact: fact.to_owned(), force: false })
    }
}

/// Machines that are one point.
struct Machines<'a> {
    cpu: Option<&'a Value>,
    fact: f64,
    sides: Vec<&'a Side>,
}

impl Machines<'_> {
    fn name(&self) -> String {
        self.sides.iter().map(|side| side.name.as_str()).collect::<Vec<_>>().join(" and ")
    }

    /// The mean over those that have it.
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
        let mean = values.iter().sum::<f64>() / stats::count(values.len());
        Ok((!values.is_empty()).then_some(mean))
    }
}

/// What is not alike in the cases of one name, a sentence for each machine that differs from one
/// before it: they are one point or one line only if all read the same.
fn unlike(machines: &[Machines], name: &str, measure: Measure) -> Vec<String> {
    let mut had: Vec<(&Side, &Case)> = Vec::new();
    let mut found = Vec::new();
    for &side in machines.iter().flat_map(|it| &it.sides) {
        let Some(case) = side.cases.iter().find(|case| case.has(name, measure)) else { continue };
        found.extend(had.iter().find_map(|(first, theirs)| {
            let why = differences(&theirs.key, &case.key);
            let named = || format!("{name} of {} and of {}: {}", first.name, side.name, why.join(", "));
            (!why.is_empty()).then(named)
        }));
        had.push((side, case));
    }
    found
}

/// Fits by least squares.
pub fn fit(sides: &[Side], request: &FitRequest) -> Result<Fit, FitError> {
    let FitRequest { case, measure, fact, .. } = request;
    let mut machines: Vec<Machines> = Vec::new();
    for side in sides {
        let Some(value) = side.facts.get(fact).and_then(Value::as_f64) else { continue };
        let cpu = side.facts.get("cpu");
        match machines.iter_mut().find(|it| it.cpu == cpu && it.fact == value && cpu.is_some()) {
            Some(machines) => machines.sides.push(side),
            None => machines.push(Machines { cpu, fact: value, sides: vec![side] }),
        }
    }
    let mut points = Vec::new();
    for it in &machines {
        let value = it.mean(case, *measure)?;
        points.extend(value.map(|value| FitPoint { machine: it.name(), fact: it.fact, value }));
    }
    if points.is_empty() {
        return Err(nothing(sides, request));
    }
    let forced = alike(&machines, request)?;
    let line = stats::least_squares(&points.iter().map(|it| (it.fact, it.value)).collect::<Vec<_>>())
        .ok_or_else(|| FitError::OnePoint(fact.clone()))?;
    let mut required = Vec::new();
    for it in &machines {
        let others = it.sides[0].cases.iter().filter(|other| !other.names.contains(case));
        for Case { name, .. } in others {
            let Some(value) = it.mean(name, *measure)? else { continue };
            required.push(RequiredFact {
                machine: it.name(),
                case: name.clone(),
                value,
                fact: line.line.solve(value),
            });
        }
    }
    let without = without(sides, request);
    Ok(Fit {
        case: case.clone(),
        measure: *measure,
        fact: fact.clone(),
        points,
        line,
        required,
        without,
        forced,
    })
}

/// The sides that have the number and do not know the fact.
fn without(sides: &[Side], request: &FitRequest) -> Vec<String> {
    let has_number = |side: &&Side| side.cases.iter().any(|case| case.has(&request.case, request.measure));
    let lacks = |side: &&Side| side.facts.get(&request.fact).and_then(Value::as_f64).is_none();
    sides.iter().filter(has_number).filter(lacks).map(|side| side.name.clone()).collect()
}

/// What is not alike in the case that is fitted and in those that are to be reached, if that is
/// forced.
fn alike(machines: &[Machines], request: &FitRequest) -> Result<Vec<String>, FitError> {
    let named = |it: &Case| (!it.names.contains(&request.case)).then(|| it.name.clone());
    let others: BTreeSet<String> =
        machines.iter().flat_map(|it| it.sides[0].cases.iter().filter_map(named)).collect();
    let names = std::iter::once(&request.case).chain(&others);
    let found: Vec<String> = names.flat_map(|name| unlike(machines, name, request.measure)).collect();
    if found.is_empty() || request.force { Ok(found) } else { Err(FitError::Unlike(found)) }
}

fn nothing(sides: &[Side], request: &FitRequest) -> FitError {
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
