//! The comparison of several sides: which numbers differ, by how much and how certainly, and what
//! differs in the machines.
//!
//! Pure: sides go in, a [`Comparison`] comes out; `readlab_report` words it. The first side is the
//! one that the others are held against. A ratio above one is always to the better: faster, or with
//! less. Sides that were measured apart have no common rounds, so ratios come from both numbers and
//! their intervals ([`crate::stats::LogMedian`]); a time or a rate of a record has the interval by
//! the noise of all trials of its state.

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
pub use gate::{Gate, GateError};
pub use measure::{Measure, Unit};
pub use side::Side;

pub use matching::Unpaired;
use matching::{MatchedCase, Matching};
use readlab_record::Outcome;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;

/// What was compared and what came out.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The first is what the others are held against.
    pub sides: Vec<Side>,
    pub machines: Vec<Differing>,
    pub tables: Vec<Table>,
    /// Names that meet and things that are unlike, a sentence each; not compared.
    pub unlike: Vec<String>,
    /// Unlike things that were forced together, a sentence each.
    pub forced: Vec<String>,
    /// What only one side has, a sentence each.
    pub alone: Vec<String>,
    /// Cases with numbers that a side does not have at all.
    pub unpaired: Vec<Unpaired>,
    /// What was not measured on a side though another measured it.
    pub lacking: Vec<Lacking>,
    /// Rates beside what the drives' data sheets say.
    pub sheets: Vec<SheetRow>,
    /// Whether the percentiles of every number are listed.
    pub lists_percentiles: bool,
}

/// A fact that is not the same on all sides.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Differing {
    pub fact: String,
    /// Its value on each side; `None` where it is not known.
    pub values: Vec<Option<Value>>,
}

/// One number of all cases.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    pub measure: Measure,
    pub rows: Vec<ComparisonRow>,
}

/// One case on all sides.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparisonRow {
    /// What it is called on the first side.
    pub name: String,
    /// What was read, how and from where, on the first side.
    pub key: ComparisonKey,
    /// One for each side; `None` where the side does not know this number.
    pub cells: Vec<Option<Cell>>,
}

/// A case that one side could not measure.
#[derive(Debug, Clone, PartialEq)]
pub struct Lacking {
    pub side: usize,
    pub name: String,
    /// What happened instead.
    pub outcome: Outcome,
}

/// A rate beside a data sheet's.
#[derive(Debug, Clone, PartialEq)]
pub struct SheetRow {
    pub side: usize,
    pub name: String,
    /// Where the bytes were.
    pub key: ComparisonKey,
    /// Measured, bytes per second.
    pub rate: f64,
    /// Of the data sheet, bytes per second.
    pub sheet: f64,
}

/// The fact that holds what a drive's data sheet says, in bytes per second.
pub const SHEET_FACT: &str = "datasheet_bytes_per_s";

/// Why nothing can be compared.
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
    /// Lays the sides beside each other; one side alone is a table without ratios.
    pub fn new(
        sides: Vec<Side>,
        measures: &[Measure],
        center: Center,
        force: bool,
    ) -> Result<Comparison, CompareError> {
        let matching = Matching::pair(&sides, force);
        // A side that has nothing in common with the first was named by mistake.
        if (1..sides.len()).any(|side| matching.rows.iter().all(|row| row.cases[side].is_none())) {
            return Err(if matching.unlike.is_empty() {
                CompareError::NothingInCommon(matching.alone.join("; "))
            } else {
                CompareError::Unlike(matching.unlike)
            });
        }
        let tables = measures.iter().map(|&measure| table(&matching.rows, measure, center));
        let tables: Vec<Table> = tables.filter(|table| !table.rows.is_empty()).collect();
        if tables.is_empty() {
            let words = measures.iter().map(|measure| measure.word()).collect::<Vec<_>>().join(", ");
            return Err(CompareError::NoNumber(words));
        }
        let forced = matching.rows.iter().flat_map(|row| row.forced.clone()).collect();
        let (lacking, sheets) = (lacking(&matching.rows), sheets(&sides));
        let Matching { unlike, alone, unpaired, .. } = matching;
        let (machines, lists_percentiles) = (differing(&sides), false);
        Ok(Comparison {
            sides,
            machines,
            tables,
            unlike,
            forced,
            alone,
            unpaired,
            lacking,
            sheets,
            lists_percentiles,
        })
    }

    /// Every row of every table.
    fn rows(&self) -> impl Iterator<Item = (&Table, &ComparisonRow)> {
        self.tables.iter().flat_map(|table| table.rows.iter().map(move |row| (table, row)))
    }

    /// Whether a mean stands beside a median, so that there is no ratio.
    pub fn has_unlike_statistics(&self) -> bool {
        let lacks = |row: &ComparisonRow| {
            row.cells[0].is_some() && row.cells[1..].iter().flatten().any(|cell| cell.ratio.is_none())
        };
        self.rows().any(|(_, row)| lacks(row))
    }

    /// Whether some ratio has no interval.
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
            name: matched.first().name.clone(),
            key: matched.first().key.clone(),
            cells,
        })
    };
    Table { measure, rows: rows.iter().filter_map(row).collect() }
}

fn lacking(rows: &[MatchedCase]) -> Vec<Lacking> {
    let measured = rows.iter().filter(|row| row.cases.iter().flatten().any(|it| it.unmeasured.is_none()));
    let cases = measured.flat_map(|row| row.cases.iter().enumerate());
    let lacking = cases.filter_map(|(side, case)| {
        let Case { name, unmeasured, .. } = case.as_ref()?;
        Some(Lacking { side, name: name.clone(), outcome: unmeasured.clone()? })
    });
    lacking.collect()
}

/// The facts that are known on some side and not the same on all.
fn differing(sides: &[Side]) -> Vec<Differing> {
    let names: BTreeSet<&String> = sides.iter().flat_map(|side| side.facts.keys()).collect();
    let fact = |name: &String| {
        let of = |side: &Side| side.facts.get(name).filter(|value| !value.is_null()).cloned();
        let values: Vec<Option<Value>> = sides.iter().map(of).collect();
        let same = values.iter().all(|value| *value == values[0]);
        (!same).then(|| Differing { fact: name.clone(), values })
    };
    names.into_iter().filter_map(fact).collect()
}

fn sheets(sides: &[Side]) -> Vec<SheetRow> {
    let mut rows = Vec::new();
    for (at, side) in sides.iter().enumerate() {
        let Some(sheet) = side.facts.get(SHEET_FACT).and_then(Value::as_f64) else { continue };
        rows.extend(side.cases.iter().filter_map(|case| {
            let rate = case.figures.get(&Measure::Rate)?.value();
            Some(SheetRow { side: at, name: case.name.clone(), key: case.key.clone(), rate, sheet })
        }));
    }
    rows
}
