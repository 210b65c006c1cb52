//! The comparison of several sides: which numbers differ, by how much and how certainly, and what
//! differs in the machines.
//!
//! Pure: sides go in, a [`Comparison`] comes out; `readlab_report` words it. The other sides are
//! compared with the first. A ratio above one is always an improvement: faster, or using less.
//! Sides that were measured separately have no common rounds, so ratios are computed from both
//! numbers and their intervals ([`crate::stats::LogMedian`]). The interval of a recorded time or
//! rate comes from the noise of all trials in the same state.

mod case;
mod fit;
mod gate;
mod matching;
mod measure;
mod series;
mod side;
#[cfg(test)]
mod tests;

pub use case::{
    Case, CaseNoise, Cell, Center, ComparisonKey, Figure, PERCENTS, Percentiles, Spread, Statistic,
};
pub use fit::{Fit, FitError, FitPoint, FitRequest, RequiredFact, fit};
pub use gate::{FEW_READINGS_WORDS, Gate, GateError, ONE_ROUND_WORDS};
pub use measure::{Measure, Unit};
pub use side::Side;

use matching::{MatchedCase, Matching, case_name};
pub use matching::{UnpairedCase, sizes_differ};
use readlab_record::Outcome;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;

/// The compared sides and the result.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The compared sides. The others are compared with the first.
    pub sides: Vec<Side>,
    pub differing_facts: Vec<DifferingFact>,
    pub tables: Vec<Table>,
    /// A sentence for each pair of cases of one name that differ, and so are not compared.
    pub unlike_case_sentences: Vec<String>,
    /// Differences between cases that are compared because the user forces it, a sentence each.
    pub forced_differences: Vec<String>,
    /// The cases that only one side has, a sentence for each side.
    pub one_side_sentences: Vec<String>,
    /// Cases with numbers that a side lacks.
    pub unpaired_cases: Vec<UnpairedCase>,
    /// Cases that one side did not measure and another side did.
    pub unmeasured_cases: Vec<UnmeasuredCase>,
    /// The numbers that one side of a case has and another lacks without an outcome that says why,
    /// as of a run that was cut short, a sentence each.
    pub missing_number_sentences: Vec<String>,
    /// Why the sides are not compared without a gate; `None` if they are.
    pub refusal: Option<CompareError>,
    /// Measured rates beside the rates of the drives' data sheets.
    pub sheet_rows: Vec<DataSheetRow>,
    pub lists_percentiles: bool,
}

/// A fact of the machine that differs between sides.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Differing")]
pub struct DifferingFact {
    pub fact: String,
    /// The value on each side; `None` where not known.
    pub values: Vec<Option<Value>>,
}

/// One measure of all cases.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Table {
    pub measure: Measure,
    pub rows: Vec<ComparisonRow>,
}

/// One case on all sides. The target, work and state are those of the first side.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Row")]
pub struct ComparisonRow {
    // The case's name on the first side.
    pub name: String,
    #[serde(flatten)]
    pub key: ComparisonKey,
    /// One cell for each side; `null` where the side lacks this number.
    pub cells: Vec<Option<Cell>>,
}

/// A case that one side did not measure.
#[derive(Debug, Clone, PartialEq)]
pub struct UnmeasuredCase {
    /// Number of the side that did not measure the case, from 0.
    pub side: usize,
    pub name: String,
    /// Why the case was not measured.
    pub outcome: Outcome,
}

/// A measured rate beside the rate of a data sheet.
#[derive(Debug, Clone, PartialEq)]
pub struct DataSheetRow {
    /// Number of the side, from 0.
    pub side: usize,
    pub name: String,
    /// The comparison key of the case, with its cache state.
    pub key: ComparisonKey,
    /// The measured rate, in bytes per second.
    pub measured_rate: f64,
    /// The rate of the data sheet, in bytes per second.
    pub sheet_rate: f64,
}

/// The fact that holds the rate of a drive's data sheet, in bytes per second.
pub const SHEET_FACT: &str = "datasheet_bytes_per_s";

/// Why the sides cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    #[error("no trial in common: {0}")]
    NothingInCommon(String),
    #[error("nothing of what is compared has a number for {0}")]
    NoNumber(String),
    #[error("not alike, so not compared: {}; --force compares nevertheless", .0.join("; "))]
    Unlike(Vec<String>),
}

impl Comparison {
    /// Compares the sides; a single side gives a table without ratios.
    pub fn new(
        sides: Vec<Side>,
        measures: &[Measure],
        center: Center,
        force: bool,
    ) -> Result<Comparison, CompareError> {
        let comparison = Comparison::for_gate(sides, measures, center, force)?;
        match comparison.refusal {
            Some(refusal) => Err(refusal),
            None => Ok(comparison),
        }
    }

    /// Compares the sides for a gate, to which a side without a trial or a number of the first is a
    /// finding. Refuses only sides of which every trial of the same name is unlike.
    pub fn for_gate(
        sides: Vec<Side>,
        measures: &[Measure],
        center: Center,
        force: bool,
    ) -> Result<Comparison, CompareError> {
        let matching = Matching::pair(&sides, force);
        // A side that has nothing in common with the first was probably named by mistake.
        let is_apart = (1..sides.len()).any(|side| matching.rows.iter().all(|row| row.cases[side].is_none()));
        if is_apart && !matching.unlike_case_sentences.is_empty() {
            return Err(CompareError::Unlike(matching.unlike_case_sentences));
        }
        let tables = measures.iter().map(|&measure| table(&matching.rows, measure, center));
        let tables: Vec<Table> = tables.filter(|table| !table.rows.is_empty()).collect();
        let refusal = if is_apart {
            Some(CompareError::NothingInCommon(matching.one_side_sentences.join("; ")))
        } else if tables.is_empty() {
            let words = measures.iter().map(|measure| measure.word()).collect::<Vec<_>>().join(", ");
            Some(CompareError::NoNumber(words))
        } else {
            None
        };
        let missing_number_sentences = missing_number_sentences(&matching.rows, &tables, &sides);
        let forced_differences =
            matching.rows.iter().flat_map(|row| row.forced_differences.clone()).collect();
        let (unmeasured_cases, sheet_rows) = (unmeasured_cases(&matching.rows), sheet_rows(&sides));
        let Matching { unlike_case_sentences, one_side_sentences, unpaired_cases, .. } = matching;
        let (machines, lists_percentiles) = (differing_facts(&sides), false);
        Ok(Comparison {
            sides,
            differing_facts: machines,
            tables,
            unlike_case_sentences,
            forced_differences,
            one_side_sentences,
            unpaired_cases,
            unmeasured_cases,
            missing_number_sentences,
            refusal,
            sheet_rows,
            lists_percentiles,
        })
    }

    fn rows(&self) -> impl Iterator<Item = (&Table, &ComparisonRow)> {
        self.tables.iter().flat_map(|table| table.rows.iter().map(move |row| (table, row)))
    }

    /// The cells of the other sides, each with that of the first side.
    fn pairs(&self) -> impl Iterator<Item = (&Cell, &Cell)> {
        self.rows().flat_map(|(_, row)| {
            let base = row.cells[0].as_ref();
            row.cells[1..].iter().flatten().filter_map(move |cell| Some((cell, base?)))
        })
    }

    /// Whether a mean is compared with a median, so that there is no ratio.
    pub fn has_unlike_statistics(&self) -> bool {
        self.pairs().any(|(cell, base)| cell.is_of_other_statistic(base))
    }

    /// Whether a number is 0 or less and another is not the same, so that there is no ratio.
    pub fn has_numbers_without_quotient(&self) -> bool {
        self.pairs().any(|(cell, base)| cell.has_no_quotient(base))
    }

    pub fn lacks_intervals(&self) -> bool {
        let mut cells = self.rows().flat_map(|(_, row)| row.cells.iter().flatten());
        cells.any(|cell| cell.ratio.is_some_and(|ratio| ratio.ci95.is_none()))
    }
}

fn table(rows: &[MatchedCase], measure: Measure, center: Center) -> Table {
    let row = |matched: &MatchedCase| {
        // A published mean is compared with the mean of samples.
        let mut figures = matched.cases.iter().flatten().filter_map(|case| case.figures.get(&measure));
        let center = if figures.any(Figure::is_mean) { Center::Mean } else { center };
        let cell = |case: &Option<&Case>| case.and_then(|case| case.cell(measure, center));
        let mut cells: Vec<Option<Cell>> = matched.cases.iter().map(cell).collect();
        let base = cells[0];
        for cell in cells[1..].iter_mut().flatten() {
            cell.ratio = base.and_then(|base| cell.ratio_to(&base, measure));
        }
        let known = cells.iter().any(Option::is_some);
        known.then(|| ComparisonRow {
            name: matched.first_case().name.clone(),
            key: matched.first_case().key.clone(),
            cells,
        })
    };
    Table { measure, rows: rows.iter().filter_map(row).collect() }
}

fn unmeasured_cases(rows: &[MatchedCase]) -> Vec<UnmeasuredCase> {
    let measured = rows.iter().filter(|row| row.cases.iter().flatten().any(|it| it.why_unmeasured.is_none()));
    let cases = measured.flat_map(|row| row.cases.iter().enumerate());
    let unmeasured_on_one_side = cases.filter_map(|(side, case)| {
        let Case { name, why_unmeasured: unmeasured, .. } = case.as_ref()?;
        Some(UnmeasuredCase { side, name: name.clone(), outcome: unmeasured.clone()? })
    });
    unmeasured_on_one_side.collect()
}

/// The numbers of the tables that one side of a case has and another lacks, though no outcome says
/// why.
fn missing_number_sentences(rows: &[MatchedCase], tables: &[Table], sides: &[Side]) -> Vec<String> {
    let mut found = Vec::new();
    for measure in tables.iter().map(|table| table.measure) {
        let has = |case: &Case| case.figures.contains_key(&measure);
        for row in rows.iter().filter(|row| row.cases.iter().flatten().any(|case| has(case))) {
            for (case, side) in row.cases.iter().zip(sides) {
                let Some(case) = case.filter(|case| case.why_unmeasured.is_none() && !has(case)) else {
                    continue;
                };
                found.push(format!(
                    "{}: {} has no number for {}",
                    case_name(case),
                    side.name,
                    measure.word()
                ));
            }
        }
    }
    found
}

/// The facts that some side knows and that differ between sides.
fn differing_facts(sides: &[Side]) -> Vec<DifferingFact> {
    let names: BTreeSet<&String> = sides.iter().flat_map(|side| side.facts.keys()).collect();
    let fact = |name: &String| {
        let of = |side: &Side| side.facts.get(name).filter(|value| !value.is_null()).cloned();
        let values: Vec<Option<Value>> = sides.iter().map(of).collect();
        let same = values.iter().all(|value| *value == values[0]);
        (!same).then(|| DifferingFact { fact: name.clone(), values })
    };
    names.into_iter().filter_map(fact).collect()
}

fn sheet_rows(sides: &[Side]) -> Vec<DataSheetRow> {
    let mut rows = Vec::new();
    for (at, side) in sides.iter().enumerate() {
        let Some(sheet_rate) = side.facts.get(SHEET_FACT).and_then(Value::as_f64) else { continue };
        rows.extend(side.cases.iter().filter_map(|case| {
            let measured_rate = case.figures.get(&Measure::Rate)?.value();
            Some(DataSheetRow {
                side: at,
                name: case.name.clone(),
                key: case.key.clone(),
                measured_rate,
                sheet_rate,
            })
        }));
    }
    rows
}
