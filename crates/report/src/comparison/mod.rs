//! A comparison as text: a table for each measure, the differences between the machines, what could
//! not be compared, and why.
//!
//! This file has the words of every table and line. The submodules lay them out for the terminal,
//! as Markdown, as JSON, and for continuous-integration services.

mod ci;
mod json;
mod layout;

pub use ci::{bencher_json, github_json, is_own_bencher_json, is_own_github_json};
pub(super) use json::schema;
pub use json::{comparison_json, is_comparison_json};
pub use layout::{comparison_markdown, comparison_terminal};

use super::digits::{HALF_WIDTH_SHARE_MAX, TOO_FAR_APART, are_ends_too_far_apart};
use super::document::Column;
use super::table::{self, Table};
use super::words::{self, NONE, Number, PERCENTILES, factor};
use readlab_analysis::compare::{
    Cell, Comparison, ComparisonKey, ComparisonRow, DataSheetRow, DifferingFact, Fit, FitPoint, Measure,
    SHEET_FACT, Side, Statistic,
};
use readlab_analysis::stats::{Ratio, whole};
use readlab_model::units::{Bytes, Throughput};
use serde_json::Value;
use std::iter::once;

/// The name of a side in tables: a letter, or `side 27` after `Z`.
pub fn side_letter(side: usize) -> String {
    match u8::try_from(side) {
        Ok(at @ 0..26) => char::from(b'A' + at).to_string(),
        _ => format!("side {}", side + 1),
    }
}

/// The legend of a side: `A: name: where it was measured`.
pub(super) fn legend(at: usize, side: &Side) -> String {
    format!("{}: {}: {}", side_letter(at), side.name, side.about)
}

fn legends(comparison: &Comparison) -> Vec<String> {
    comparison.sides.iter().enumerate().map(|(at, side)| legend(at, side)).collect()
}

/// The state, work, file size and path of a case, as far as they are known.
pub(super) fn section_title(key: &ComparisonKey) -> String {
    let parts = [
        key.state.map(|it| it.to_string()),
        key.work.map(|it| it.to_string()),
        key.size_bytes.map(|it| Bytes(it).to_string()),
        key.path.clone(),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

pub(super) fn is_same_section(a: &ComparisonRow, b: &ComparisonRow) -> bool {
    section_title(&a.key) == section_title(&b.key)
}

pub(super) fn measure_text(measure: Measure, value: f64) -> String {
    match measure {
        Measure::Peak => words::signed(value, |size| Bytes(whole(size)).binary_text()),
        _ => words::value_in_unit(measure.unit(), value),
    }
}

/// A number in words: a median with half its interval in percent, or with the ends of a wide
/// interval; a mean with its standard deviation and the number of readings, as far as these are
/// known. A single reading has the words `one reading`.
pub(super) fn cell_text(measure: Measure, cell: &Cell) -> String {
    let shown = measure_text(measure, cell.value);
    match (cell.statistic, cell.n, cell.sd, cell.ci95) {
        (_, Some(1), ..) => format!("{shown} (one reading)"),
        (Some(Statistic::Mean), Some(n), Some(sd), _) => {
            format!("{shown} ± {} (mean of {n})", measure_text(measure, sd))
        }
        (Some(Statistic::Mean), ..) => format!("{shown} mean"),
        (.., None) => shown,
        (.., Some(ends)) if are_ends_too_far_apart([ends.low, ends.high]) => {
            format!("{shown} ({TOO_FAR_APART})")
        }
        (.., Some(ends)) if ends.half_width() > HALF_WIDTH_SHARE_MAX * cell.value => {
            format!("{} to {}", measure_text(measure, ends.low), measure_text(measure, ends.high))
        }
        (.., Some(ends)) => format!("{shown} ±{:.1} %", 100.0 * ends.half_width() / cell.value),
    }
}

/// A table with the numbers of these cases on every side, and their ratios to the first side.
pub(super) fn numbers_table(comparison: &Comparison, measure: Measure, rows: &[ComparisonRow]) -> Table {
    let mut columns = vec![Column::text("method"), Column::number(&side_letter(0))];
    for side in 1..comparison.sides.len() {
        columns.push(Column::number(&side_letter(side)));
        columns.push(Column::number(&format!("{} × {}", side_letter(side), side_letter(0))));
    }
    let row = |row: &ComparisonRow| {
        let mut cells = vec![table::Cell::Name(row.name.clone(), String::new())];
        for (side, cell) in row.cells.iter().enumerate() {
            let number = cell.map(|cell| Number::new(cell_text(measure, &cell), cell.value));
            cells.push(table::Cell::Number(number));
            if side > 0 {
                let ratio = cell.and_then(|cell| cell.ratio);
                cells.push(table::Cell::Number(ratio.map(|it| Number::new(ratio_text(&it), it.estimate))));
            }
        }
        cells
    };
    Table { columns, rows: rows.iter().map(row).collect() }
}

/// A table with a line for each case and side whose percentiles are known; `None` without such
/// lines, and if percentiles were not requested.
pub(super) fn percentiles_table(
    comparison: &Comparison,
    measure: Measure,
    rows: &[ComparisonRow],
) -> Option<Table> {
    let numbers = PERCENTILES.into_iter().chain(["n"]).map(Column::number);
    let line = |row: &ComparisonRow, side: usize| {
        let cell = row.cells[side]?;
        let values = cell.percentiles?.map(|value| measure_text(measure, value));
        let n = cell.n.map_or_else(|| NONE.to_owned(), |n| n.to_string());
        let texts = [row.name.clone(), side_letter(side)].into_iter().chain(values).chain([n]);
        Some(texts.map(table::Cell::Text).collect::<Vec<_>>())
    };
    let rows = rows.iter().filter(|_| comparison.lists_percentiles);
    let lines = rows.flat_map(|row| (0..row.cells.len()).filter_map(move |side| line(row, side)));
    Table::with_content(["method", ""].map(Column::text).into_iter().chain(numbers), lines)
}

pub(super) fn datasheet_table(comparison: &Comparison) -> Option<Table> {
    let numbers = ["rate", "data sheet", "share"].map(Column::number);
    let row = |it: &DataSheetRow| {
        let numbers = [
            Number::rate(it.measured_rate),
            Number::rate(it.sheet_rate),
            Number::percent(it.measured_rate / it.sheet_rate),
        ];
        let names = [
            table::Cell::Text(side_letter(it.side)),
            table::Cell::Name(it.name.clone(), state_words(&it.key)),
        ];
        names.into_iter().chain(numbers.map(|it| table::Cell::Number(Some(it)))).collect()
    };
    let columns = ["", "method"].map(Column::text).into_iter().chain(numbers);
    Table::with_content(columns, comparison.sheet_rows.iter().map(row))
}

pub(super) fn machines_table(comparison: &Comparison) -> Option<Table> {
    let letters = (0..comparison.sides.len()).map(side_letter);
    let columns = once("fact".to_owned()).chain(letters).map(|title| Column::text(&title));
    let row = |it: &DifferingFact| {
        let values = it.values.iter().map(|value| table::Cell::Text(fact_text(&it.fact, value.as_ref())));
        once(table::Cell::Name(it.fact.clone(), String::new())).chain(values).collect()
    };
    Table::with_content(columns, comparison.differing_facts.iter().map(row))
}

/// The tables after those of the numbers, each with its title.
fn further_tables(comparison: &Comparison) -> Vec<(&'static str, Table)> {
    let both = [
        datasheet_table(comparison).map(|it| ("rate beside the drive's data sheet", it)),
        machines_table(comparison).map(|it| ("what differs in the machines", it)),
    ];
    both.into_iter().flatten().collect()
}

/// The text `1.25 [1.20, 1.31]`, followed by `=` for a tie; only the estimate if there is no
/// interval.
pub(super) fn ratio_text(ratio: &Ratio) -> String {
    let ends = ratio.ci95.map_or_else(String::new, |ends| words::ratio_ends_text(ends, factor));
    let is_tie = ratio.ci95.is_some_and(words::is_clear_tie);
    factor(ratio.estimate) + &ends + if is_tie { " =" } else { "" }
}

fn fact_text(name: &str, value: Option<&Value>) -> String {
    match value {
        None => NONE.to_owned(),
        Some(Value::Number(rate)) if name == SHEET_FACT => {
            Throughput(rate.as_f64().unwrap_or(f64::NAN)).to_string()
        }
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            parts.iter().map(|it| fact_text(name, Some(it))).collect::<Vec<_>>().join(" ")
        }
        Some(other) => other.to_string(),
    }
}

/// The lines below the tables: notes on sides, and what was not compared or not measured, and why.
pub(super) fn remark_lines(comparison: &Comparison) -> Vec<String> {
    let mut lines = Vec::new();
    for (at, side) in comparison.sides.iter().enumerate() {
        lines.extend(side.notes.iter().map(|note| format!("note on {}: {note}", side_letter(at))));
    }
    if comparison.lacks_intervals() {
        let why = "a side was read in one round, or only its number is known";
        lines.push(format!("a ratio without brackets has no interval: {why}"));
    }
    if comparison.has_unlike_statistics() {
        lines.push("no ratio: a mean is not compared with a median".to_owned());
    }
    if comparison.has_numbers_without_quotient() {
        lines.push("no ratio: a number that is 0 or less has none".to_owned());
    }
    lines.extend(
        comparison
            .forced_differences
            .iter()
            .map(|it| format!("unlike, compared because it was forced: {it}")),
    );
    lines.extend(comparison.unlike_case_sentences.iter().map(|it| format!("not compared: {it}")));
    for it in &comparison.unmeasured_cases {
        let (side, outcome) = (side_letter(it.side), it.outcome.word());
        lines.push(format!("{outcome} in {side}: {}: {}", it.name, it.outcome.reason().unwrap_or_default()));
    }
    lines.extend(comparison.one_side_sentences.iter().cloned());
    lines
}

/// The fitted line, and the facts that other cases would require.
pub(super) fn fit_lines(fit: &Fit) -> Vec<String> {
    let Fit { case, measure, fact, points, line, required, forced_differences, sides_without_fact } = fit;
    let number = |value| measure_text(*measure, value);
    let on = |it: &FitPoint| format!("{} ({}, {})", it.machine, it.fact_value, number(it.measured_value));
    let sure = line.slope_ci95.map_or_else(
        || "; two points have no interval".to_owned(),
        |ends| format!(", 95 % interval{}", words::ends_text(ends, number)),
    );
    let (at_zero, slope) = (number(line.line.intercept), number(line.line.slope));
    let explains = line.errors.r_squared.map_or_else(String::new, |it| format!(", R² {it:.3}"));
    let points: Vec<String> = points.iter().map(on).collect();
    let mut lines = vec![
        format!("{} of {case} on {fact}: {}", measure.word(), points.join("; ")),
        format!("line: {at_zero} at 0, slope {slope} a unit{sure}{explains}"),
    ];
    lines.extend(required.iter().map(|it| {
        let required = it
            .fact_value
            .map_or_else(|| NONE.to_owned(), |fact| words::signed(fact, |size| format!("{size:.2}")));
        format!("to reach {} of {} ({}): {fact} {required}", number(it.measured_value), it.case, it.machine)
    }));
    lines.extend(sides_without_fact.iter().map(|side| {
        format!("not on the line: {side} has no {fact}; --fact '{side}:{fact}=NUMBER' gives it one")
    }));
    lines.extend(forced_differences.iter().map(|it| format!("unlike, fitted because it was forced: {it}")));
    lines
}

/// The cache state in parentheses, such as ` (warm)`; empty if it is not known.
fn state_words(key: &ComparisonKey) -> String {
    key.state.map_or_else(String::new, |state| format!(" ({state})"))
}
