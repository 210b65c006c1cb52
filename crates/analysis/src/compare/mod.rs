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
    Case, CaseNoise, Center, ComparisonKey, Figure, Located, PERCENTS, Percentiles, Spread, Statistic,
};
pub use fit::{Fit, FitError, FitPoint, FitRequest, RequiredFact, fit};
pub use gate::{Gate, GateError};
pub use measure::{Measure, Unit};
pub use side::Side;

use crate::stats::{Interval, IntervalRule, UnpairedRatio};
pub use matching::Unpaired;
use matching::{MatchedCase, Matching};
use readlab_record::Outcome;
use serde_json::Value;
use std::collections::BTreeSet;

/// What was compared and what came out.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The sides; the first is what the others are held against.
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
#[derive(Debug, Clone, PartialEq)]
pub struct Differing {
    pub fact: String,
    /// Its value on each side; `None` where it is not known.
    pub values: Vec<Option<Value>>,
}

/// One number of all cases.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    pub measure: Measure,
    /// A row for each case.
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

/// One number on one side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// The median, or the number without samples.
    pub value: f64,
    /// Its 95 % interval.
    pub ci95: Option<Interval>,
    /// By which rule that was made.
    pub rule: Option<IntervalRule>,
    /// How many readings; `None` where that is not known.
    pub n: Option<usize>,
    /// Their standard deviation, beside a mean; `None` where that is not known.
    pub sd: Option<f64>,
    /// What it is where it is no median of samples.
    pub statistic: Option<Statistic>,
    /// Percentiles of the readings; `None` where they are not known.
    pub percentiles: Option<Percentiles>,
    /// How many times as good as the first side; `None` on the first side, where that has no
    /// number, and of a mean beside a median.
    pub ratio: Option<UnpairedRatio>,
}

/// A case that one side could not measure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lacking {
    pub side: usize,
    /// The case.
    pub name: String,
    /// What happened instead.
    pub outcome: Outcome,
}

/// A rate beside a data sheet's.
#[derive(Debug, Clone, PartialEq)]
pub struct SheetRow {
    pub side: usize,
    /// The case.
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
    /// The names do not meet.
    #[error("no trial in common: {0}")]
    NothingInCommon(String),
    /// None of the numbers is known.
    #[error("nothing of what is compared has a number for {0}")]
    NoNumber(String),
    /// Names meet, and all of them are unlike.
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
        let met = |side: usize| matching.rows.iter().any(|row| row.cases[side].is_some());
        // A side that has nothing in common with the first was named by mistake.
        if (1..sides.len()).any(|side| !met(side)) {
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
        let machines = differing(&sides);
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
            lists_percentiles: false,
        })
    }

    /// Whether a mean stands beside a median, so that there is no ratio.
    pub fn has_unlike_statistics(&self) -> bool {
        let rows = self.tables.iter().flat_map(|table| &table.rows);
        let lacks = |row: &ComparisonRow| {
            row.cells[0].is_some() && row.cells[1..].iter().flatten().any(|cell| cell.ratio.is_none())
        };
        rows.into_iter().any(lacks)
    }

    /// Whether some ratio has no interval.
    pub fn lacks_intervals(&self) -> bool {
        let cells =
            self.tables.iter().flat_map(|table| &table.rows).flat_map(|row| row.cells.iter().flatten());
        cells.filter_map(|cell| cell.ratio.as_ref()).any(|ratio| ratio.ci95.is_none())
    }
}

fn table(rows: &[MatchedCase], measure: Measure, center: Center) -> Table {
    let row = |matched: &MatchedCase| {
        let first = matched.cases[0].expect("a row begins with its case");
        // A published mean is compared with the mean of samples.
        let figures = || matched.cases.iter().map(|case| case.and_then(|case| case.figures.get(&measure)));
        let has_mean = figures().flatten().any(Figure::is_mean);
        let center = if has_mean { Center::Mean } else { center };
        let mut base = None;
        let mut cells = Vec::new();
        for (at, figure) in figures().enumerate() {
            let located = matched.cases[at].and_then(|case| case.located(measure, center));
            cells.push(
                figure.zip(located).map(|(figure, located)| cell(figure, &located, base.as_ref(), measure)),
            );
            if at == 0 {
                base = located;
            }
        }
        let known = cells.iter().any(Option::is_some);
        known.then(|| ComparisonRow { name: first.name.clone(), key: first.key.clone(), cells })
    };
    Table { measure, rows: rows.iter().filter_map(row).collect() }
}

fn cell(figure: &Figure, located: &Located, base: Option<&Located>, measure: Measure) -> Cell {
    let more_is_better = measure.unit() == Unit::BytesPerSecond;
    let ratio = base.filter(|base| base.is_comparable(located)).map(|base| {
        let (base, logs) = (base.log(), located.log());
        if more_is_better { logs.over(&base) } else { base.over(&logs) }
    });
    let Located { value, ci95, rule, n, sd, statistic } = *located;
    Cell { value, ci95, rule, n, sd, statistic, percentiles: figure.percentiles(), ratio }
}

fn lacking(rows: &[MatchedCase]) -> Vec<Lacking> {
    let mut found = Vec::new();
    for row in rows.iter().filter(|row| row.cases.iter().flatten().any(|case| case.unmeasured.is_none())) {
        for (side, case) in row.cases.iter().enumerate() {
            if let Some(Case { name, unmeasured: Some(outcome), .. }) = case {
                found.push(Lacking { side, name: name.clone(), outcome: outcome.clone() });
            }
        }
    }
    found
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
