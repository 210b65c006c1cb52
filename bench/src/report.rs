//! Rows as text for people and as JSON for programs; the JSON rounds nothing.

use crate::figures::Figure;
use crate::row::Row;
use readlab_system::machine::Machine;
use serde_json::json;
use std::fmt::Write;

/// The rows of one figure, aligned.
pub(crate) fn table(figure: &Figure, rows: &[Row]) -> String {
    let width = |of: fn(&Row) -> &str| rows.iter().map(|row| of(row).chars().count()).max().unwrap_or(0);
    let (name, target) = (width(|row| &row.figure), width(target));
    let mut text = format!("\n{}\n", figure.about);
    for row in rows {
        let (mark, figure, measured) = (row.mark(), &row.figure, &row.measured);
        // Writing into a String cannot fail.
        let _ = writeln!(text, "  {mark:<6}  {figure:<name$}  {:<target$}  {measured}", self::target(row));
    }
    text
}

fn target(row: &Row) -> &str {
    row.target.as_deref().unwrap_or("–")
}

/// How many promises are kept.
pub(crate) fn summary(rows: &[(&str, Row)]) -> String {
    let count = |mark: &str| rows.iter().filter(|(_, row)| row.mark() == mark).count();
    let (met, missed, noted, absent) = (count("met"), count("MISSED"), count("noted"), count("ABSENT"));
    format!("\n{met} met, {missed} missed, {noted} noted, {absent} could not be measured")
}

/// Everything, with the machine.
pub(crate) fn json(rows: &[(&str, Row)]) -> String {
    let rows: Vec<_> = rows
        .iter()
        .map(|(group, row)| {
            let Row { figure, target, measured, ok, value, ci95 } = row;
            json!({ "group": group, "figure": figure, "target": target, "measured": measured, "ok": ok, "value": value, "ci95": ci95 })
        })
        .collect();
    let document =
        json!({ "schema": "readlab.figures", "version": 1, "machine": Machine::probe(), "rows": rows });
    format!("{document:#}\n")
}
