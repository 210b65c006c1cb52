//! A comparison as one JSON document. Nanoseconds, bytes, bytes per second and counts are not
//! rounded.

use super::super::escaped::{self, Document};
use readlab_analysis::compare::{
    Cell, Comparison, ComparisonRow, DifferingFact, Fit, Measure, PERCENTS, Side, Statistic, Table,
};
use readlab_analysis::stats::{IntervalRule, Significance};
use readlab_model::trial::{CacheState, Work};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const SCHEMA: &str = "readlab.comparison";
const VERSION: u32 = 1;

#[derive(Serialize, JsonSchema)]
struct Content<'a> {
    /// The compared sides. The others are compared with the first.
    sides: Vec<SideExport<'a>>,
    tables: Vec<TableExport<'a>>,
    /// Facts of the machines that differ.
    differs: &'a [DifferingFact],
    /// Cases of the same name that are unlike and so are not compared, a sentence each.
    unlike: &'a [String],
    /// Unlike cases that were forced together, with their differences, a sentence each.
    forced: &'a [String],
    /// The cases that only one side has, a sentence for each side.
    alone: &'a [String],
    /// Cases that were not measured on one side but were on another.
    lacking: Vec<LackingExport<'a>>,
    /// Measured rates beside the rates of the drives' data sheets.
    datasheet: Vec<SheetExport<'a>>,
    fit: Option<&'a Fit>,
    /// What the gate finds worse; `null` without a gate.
    worse: Option<&'a [String]>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Side")]
struct SideExport<'a> {
    name: &'a str,
    /// One line that says where the side was measured.
    about: &'a str,
    /// The known facts of the machine, by the names of the record's `machine`.
    machine: &'a BTreeMap<String, Value>,
    notes: &'a [String],
}

/// One measure of all cases.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Table")]
struct TableExport<'a> {
    measure: Measure,
    rows: Vec<RowExport<'a>>,
}

/// One case on all sides. The target, work and state are those of the first side.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Row")]
struct RowExport<'a> {
    name: &'a str,
    /// The path or URL of the target.
    target: Option<&'a str>,
    digest: Option<&'a str>,
    size_bytes: Option<u64>,
    work: Option<Work>,
    state: Option<CacheState>,
    /// One cell for each side; `null` where the side lacks this number.
    cells: Vec<Option<CellExport>>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Cell")]
struct CellExport {
    value: f64,
    ci95: Option<[f64; 2]>,
    interval: Option<IntervalRule>,
    /// Number of readings.
    n: Option<usize>,
    sd: Option<f64>,
    /// Percentiles by names such as `p50`.
    percentiles: Option<BTreeMap<String, f64>>,
    statistic: Statistic,
    ratio: Option<CellRatio>,
}

/// How many times as good as the first side the number is.
#[derive(Serialize, JsonSchema)]
struct CellRatio {
    estimate: f64,
    ci95: Option<[f64; 2]>,
    clear: Option<Significance>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Lacking")]
struct LackingExport<'a> {
    /// Index of the side, from 0.
    side: usize,
    name: &'a str,
    /// The outcome: `refused`, `failed`, `unavailable` or `ruled out`.
    outcome: &'a str,
    reason: Option<&'a str>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Datasheet")]
struct SheetExport<'a> {
    /// Index of the side, from 0.
    side: usize,
    name: &'a str,
    state: Option<CacheState>,
    rate_bytes_per_s: f64,
    datasheet_bytes_per_s: f64,
    share: f64,
}

/// The document, indented, with a newline at its end. `worse` is the result of the gate, if there
/// is one.
pub fn comparison_json(comparison: &Comparison, fit: Option<&Fit>, worse: Option<&[String]>) -> String {
    let lacking = comparison.lacking.iter().map(|it| LackingExport {
        side: it.side,
        name: &it.name,
        outcome: it.outcome.word(),
        reason: it.outcome.reason(),
    });
    let sheets = comparison.sheets.iter().map(|it| SheetExport {
        side: it.side,
        name: &it.name,
        state: it.key.state,
        rate_bytes_per_s: it.rate,
        datasheet_bytes_per_s: it.sheet,
        share: it.rate / it.sheet,
    });
    let content = json!(Content {
        sides: comparison.sides.iter().map(side).collect(),
        tables: comparison.tables.iter().map(table).collect(),
        differs: &comparison.machines,
        unlike: &comparison.unlike,
        forced: &comparison.forced,
        alone: &comparison.alone,
        lacking: lacking.collect(),
        datasheet: sheets.collect(),
        fit,
        worse,
    });
    escaped::text(&Document { schema: SCHEMA, version: VERSION, content })
}

pub(crate) fn schema(generator: SchemaGenerator) -> Schema {
    escaped::schema::<Content>(generator, SCHEMA, VERSION)
}

pub fn is_comparison_json(head: &str) -> bool {
    escaped::is_document(head, SCHEMA)
}

fn side(side: &Side) -> SideExport<'_> {
    SideExport { name: &side.name, about: &side.about, machine: &side.facts, notes: &side.notes }
}

fn table(table: &Table) -> TableExport<'_> {
    TableExport { measure: table.measure, rows: table.rows.iter().map(row).collect() }
}

fn row(row: &ComparisonRow) -> RowExport<'_> {
    RowExport {
        name: &row.name,
        target: row.key.path.as_deref(),
        digest: row.key.digest.as_deref(),
        size_bytes: row.key.size_bytes,
        work: row.key.work,
        state: row.key.state,
        cells: row.cells.iter().map(|it| it.as_ref().map(cell)).collect(),
    }
}

fn cell(cell: &Cell) -> CellExport {
    CellExport {
        value: cell.value,
        ci95: cell.ci95.map(|ends| [ends.low, ends.high]),
        interval: cell.rule,
        n: cell.n,
        sd: cell.sd,
        percentiles: cell.percentiles.map(|values| {
            PERCENTS.iter().zip(values).map(|(percent, value)| (format!("p{percent}"), value)).collect()
        }),
        statistic: cell.statistic.unwrap_or(Statistic::Median),
        ratio: cell.ratio.map(|ratio| CellRatio {
            estimate: ratio.estimate,
            ci95: ratio.ci95.map(|ends| [ends.low, ends.high]),
            clear: ratio.significance(),
        }),
    }
}
