//! A comparison as one JSON document. Nanoseconds, bytes, bytes per second and counts are not
//! rounded.

use super::super::escaped::{self, Document};
use readlab_analysis::compare::{Comparison, DifferingFact, Fit, Side, Table};
use readlab_model::trial::CacheState;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::json;

const SCHEMA_NAME: &str = "readlab.comparison";
const SCHEMA_VERSION: u32 = 1;

#[derive(Serialize, JsonSchema)]
struct Content<'a> {
    /// The compared sides. The others are compared with the first.
    sides: &'a [Side],
    tables: &'a [Table],
    /// Facts of the machines that differ.
    #[serde(rename = "differs")]
    differing_facts: &'a [DifferingFact],
    /// Cases of the same name that are unlike and so are not compared, a sentence each.
    #[serde(rename = "unlike")]
    unlike_case_sentences: &'a [String],
    /// Unlike cases that are compared because the user forced it, with their differences, a
    /// sentence each.
    #[serde(rename = "forced")]
    forced_case_sentences: &'a [String],
    /// The cases that only one side has, a sentence for each side.
    #[serde(rename = "alone")]
    one_side_sentences: &'a [String],
    /// Cases that were not measured on one side but were on another.
    lacking: Vec<LackingExport<'a>>,
    /// Measured rates beside the rates of the drives' data sheets.
    datasheet: Vec<SheetExport<'a>>,
    fit: Option<&'a Fit>,
    /// The cases that the gate finds worse, a sentence each; `null` without a gate.
    #[serde(rename = "worse")]
    worse_sentences: Option<&'a [String]>,
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
    let lacking = comparison.unmeasured_cases.iter().map(|it| LackingExport {
        side: it.side,
        name: &it.name,
        outcome: it.outcome.word(),
        reason: it.outcome.reason(),
    });
    let sheets = comparison.sheet_rows.iter().map(|it| SheetExport {
        side: it.side,
        name: &it.name,
        state: it.key.state,
        rate_bytes_per_s: it.measured_rate,
        datasheet_bytes_per_s: it.sheet_rate,
        share: it.measured_rate / it.sheet_rate,
    });
    let content = json!(Content {
        sides: &comparison.sides,
        tables: &comparison.tables,
        differing_facts: &comparison.differing_facts,
        unlike_case_sentences: &comparison.unlike_case_sentences,
        forced_case_sentences: &comparison.forced_differences,
        one_side_sentences: &comparison.one_side_sentences,
        lacking: lacking.collect(),
        datasheet: sheets.collect(),
        fit,
        worse_sentences: worse,
    });
    escaped::json_text(&Document { schema: SCHEMA_NAME, version: SCHEMA_VERSION, content })
}

pub(crate) fn schema(generator: SchemaGenerator) -> Schema {
    escaped::schema::<Content>(generator, SCHEMA_NAME, SCHEMA_VERSION)
}

pub fn is_comparison_json(head: &str) -> bool {
    escaped::is_document(head, SCHEMA_NAME)
}
