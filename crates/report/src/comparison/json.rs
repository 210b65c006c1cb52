//! A comparison as one JSON document; nanoseconds, bytes, bytes per second and counts are unrounded.

use super::super::escaped::{Document, is_document, text};
use readlab_analysis::compare::{Cell, Comparison, ComparisonRow, Fit, PERCENTS};
use serde_json::{Value, json};

const SCHEMA: &str = "readlab.comparison";
const VERSION: u32 = 1;

/// The document, indented, with a newline at its end. `worse` is what the gate says, if there is one.
pub fn comparison_json(comparison: &Comparison, fit: Option<&Fit>, worse: Option<&[String]>) -> String {
    let row = |row: &ComparisonRow| {
        json!({
            "name": row.name,
            "target": row.key.path,
            "digest": row.key.digest,
            "size_bytes": row.key.size_bytes,
            "work": row.key.work,
            "state": row.key.state,
            "cells": row.cells.iter().map(|it| it.as_ref().map(cell)).collect::<Vec<Option<Value>>>(),
        })
    };
    let content = json!({
        "sides": comparison.sides.iter().map(|side| json!({
            "name": side.name, "about": side.about, "machine": side.facts, "notes": side.notes,
        })).collect::<Vec<Value>>(),
        "tables": comparison.tables.iter().map(|table| json!({
            "measure": table.measure, "rows": table.rows.iter().map(row).collect::<Vec<Value>>(),
        })).collect::<Vec<Value>>(),
        "differs": comparison.machines.iter().map(|it| json!({ "fact": it.fact, "values": it.values })).collect::<Vec<Value>>(),
        "unlike": comparison.unlike,
        "forced": comparison.forced,
        "alone": comparison.alone,
        "lacking": comparison.lacking.iter().map(|it| json!({
            "side": it.side, "name": it.name, "outcome": it.outcome.word(), "reason": it.outcome.reason(),
        })).collect::<Vec<Value>>(),
        "datasheet": comparison.sheets.iter().map(|it| json!({
            "side": it.side, "name": it.name, "state": it.key.state,
            "rate_bytes_per_s": it.rate, "datasheet_bytes_per_s": it.sheet, "share": it.rate / it.sheet,
        })).collect::<Vec<Value>>(),
        "fit": fit,
        "worse": worse,
    });
    text(&Document { schema: SCHEMA, version: VERSION, content })
}

pub fn is_comparison_json(head: &str) -> bool {
    is_document(head, SCHEMA)
}

fn cell(cell: &Cell) -> Value {
    json!({
        "value": cell.value,
        "ci95": cell.ci95.map(|ends| [ends.low, ends.high]),
        "interval": cell.rule,
        "n": cell.n,
        "sd": cell.sd,
        "percentiles": cell.percentiles.map(|values| {
            PERCENTS.iter().zip(values).map(|(percent, value)| (format!("p{percent}"), json!(value))).collect::<Value>()
        }),
        "statistic": cell.statistic.map_or_else(|| json!("median"), |it| json!(it)),
        "ratio": cell.ratio.map(|ratio| json!({
            "estimate": ratio.estimate,
            "ci95": ratio.ci95.map(|ends| [ends.low, ends.high]),
            "clear": ratio.clear(),
        })),
    })
}
