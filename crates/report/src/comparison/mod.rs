//! A comparison as text: a table for each number, what differs in the machines, what could not be
//! compared, and why.
//!
//! Everything is worded once here; the files below lay it out for the terminal, as Markdown, as
//! JSON, and as what continuous-integration services read.

mod ci;
mod json;
mod markdown;
mod terminal;

pub use ci::{bencher, github, is_bencher, is_github};
pub use json::{COMPARISON_SCHEMA, COMPARISON_VERSION, comparison_json, is_comparison_json};
pub use markdown::comparison_markdown;
pub use terminal::comparison_terminal;

use super::measured::HALF_SHARE_MAX;
use super::words::{self, NONE, factor, grouped};
use readlab_analysis::compare::{
    Cell, Comparison, ComparisonKey, ComparisonRow, Fit, Measure, SHEET_FACT, Side, Statistic, Unit,
};
use readlab_analysis::stats::{Interval, UnpairedRatio};
use readlab_model::units::{Bytes, Nanos, Throughput};
use serde_json::Value;

/// The letter of a side, by which tables call it.
pub fn letter(side: usize) -> String {
    u8::try_from(side)
        .ok()
        .filter(|side| *side < 26)
        .map_or_else(|| format!("side {}", side + 1), |side| char::from(b'A' + side).to_string())
}

/// `A  name: where it was measured`.
pub(super) fn legend(at: usize, side: &Side) -> String {
    format!("{}: {}: {}", letter(at), side.name, side.about)
}

/// What was read, how and from where, as far as it is known.
pub(super) fn section(key: &ComparisonKey) -> String {
    let parts = [
        key.state.map(|it| it.to_string()),
        key.work.map(|it| it.to_string()),
        key.size_bytes.map(|it| Bytes(it).to_string()),
        key.path.clone(),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// A number with its unit.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "float casts saturate")]
pub(super) fn number(measure: Measure, value: f64) -> String {
    if value < 0.0 {
        return signed(measure, value);
    }
    match measure.unit() {
        Unit::Nanoseconds => Nanos(value.round() as u64).to_string(),
        Unit::Bytes if measure == Measure::Peak => Bytes(value.round() as u64).binary(),
        Unit::Bytes => Bytes(value.round() as u64).to_string(),
        Unit::BytesPerSecond => Throughput(value).to_string(),
        Unit::Count => grouped(value.round() as u64),
    }
}

/// The number: a median with half its interval in percent, or the ends of a wide interval; a mean with its standard deviation and
/// the number of readings, as far as they are known; a single reading called so.
pub(super) fn value(measure: Measure, cell: &Cell) -> String {
    let shown = number(measure, cell.value);
    match (cell.statistic, cell.n, cell.sd) {
        (Some(Statistic::Mean), Some(1), _) => format!("{shown} (one reading)"),
        (Some(Statistic::Mean), Some(n), Some(sd)) => {
            format!("{shown} ± {} (mean of {n})", number(measure, sd))
        }
        (Some(Statistic::Mean), _, _) => format!("{shown} mean"),
        (_, Some(1), _) => format!("{shown} (one reading)"),
        _ => match cell.ci95 {
            None => shown,
            Some(ends) if ends.half_width() > HALF_SHARE_MAX * cell.value => {
                format!("{} to {}", number(measure, ends.low), number(measure, ends.high))
            }
            Some(ends) => format!("{shown} ±{:.1} %", 100.0 * ends.half_width() / cell.value),
        },
    }
}

/// The head of a table of percentiles.
pub(super) const PERCENTILE_TITLES: [&str; 10] =
    ["method", "", "p0", "p25", "p50", "p75", "p90", "p99", "p100", "n"];

/// A line for each case and side whose percentiles are known; none unless they were asked for.
pub(super) fn percentile_rows(
    comparison: &Comparison,
    measure: Measure,
    rows: &[ComparisonRow],
) -> Vec<[String; PERCENTILE_TITLES.len()]> {
    let mut lines = Vec::new();
    for row in rows.iter().filter(|_| comparison.lists_percentiles) {
        for (side, cell) in row.cells.iter().enumerate() {
            let Some((cell, percentiles)) = cell.and_then(|cell| Some((cell, cell.percentiles?))) else {
                continue;
            };
            let n = cell.n.map_or_else(|| NONE.to_owned(), |n| n.to_string());
            let [p0, p25, p50, p75, p90, p99, p100] = percentiles.map(|value| number(measure, value));
            lines.push([row.name.clone(), letter(side), p0, p25, p50, p75, p90, p99, p100, n]);
        }
    }
    lines
}

/// `1.25 [1.20, 1.31]`, with `=` behind it for a tie; the estimate alone where there is no interval.
pub(super) fn times(ratio: &UnpairedRatio) -> String {
    let estimate = factor(ratio.estimate);
    match ratio.ci95 {
        None => estimate,
        Some(Interval { low, high }) => {
            let tie = if low <= 1.0 && 1.0 <= high { " =" } else { "" };
            format!("{estimate} [{}, {}]{tie}", factor(low), factor(high))
        }
    }
}

/// A fact of a machine, by its name.
pub(super) fn fact(name: &str, value: Option<&Value>) -> String {
    match value {
        None => NONE.to_owned(),
        Some(Value::Number(rate)) if name == SHEET_FACT => {
            Throughput(rate.as_f64().unwrap_or(f64::NAN)).to_string()
        }
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            parts.iter().map(|it| fact(name, Some(it))).collect::<Vec<_>>().join(" ")
        }
        Some(other) => other.to_string(),
    }
}

/// The lines below the tables.
pub(super) fn remarks(comparison: &Comparison) -> Vec<String> {
    let mut lines = Vec::new();
    for (at, side) in comparison.sides.iter().enumerate() {
        lines.extend(side.notes.iter().map(|note| format!("note on {}: {note}", letter(at))));
    }
    if comparison.lacks_intervals() {
        let why = "a side was read in one round, or only its number is known";
        lines.push(format!("a ratio without brackets has no interval: {why}"));
    }
    if comparison.has_unlike_statistics() {
        lines.push("no ratio: a mean is not compared with a median".to_owned());
    }
    lines.extend(comparison.forced.iter().map(|it| format!("unlike, compared because it was forced: {it}")));
    lines.extend(comparison.unlike.iter().map(|it| format!("not compared: {it}")));
    for it in &comparison.lacking {
        let (side, outcome) = (letter(it.side), it.outcome.word());
        lines.push(format!("{outcome} in {side}: {}: {}", it.name, it.outcome.reason().unwrap_or_default()));
    }
    lines.extend(comparison.alone.iter().cloned());
    lines
}

/// The line, and the facts that it requires.
pub(super) fn fit_lines(fit: &Fit) -> Vec<String> {
    let Fit { case, measure, fact, points, line, required, forced, without } = fit;
    let on = |it: &readlab_analysis::compare::FitPoint| {
        format!("{} ({}, {})", it.machine, it.fact, number(*measure, it.value))
    };
    let sure = match line.slope_ci95 {
        Some(ends) => format!(
            "slope {} a unit, 95 % interval [{}, {}]",
            signed(*measure, line.line.slope),
            signed(*measure, ends.low),
            signed(*measure, ends.high)
        ),
        None => format!("slope {} a unit; two points have no interval", signed(*measure, line.line.slope)),
    };
    let explains = line.r_squared.map_or_else(String::new, |it| format!(", R² {it:.3}"));
    let mut lines = vec![
        format!(
            "{} of {case} on {fact}: {}",
            measure.word(),
            points.iter().map(on).collect::<Vec<_>>().join("; ")
        ),
        format!("line: {} at 0, {sure}{explains}", signed(*measure, line.line.intercept)),
    ];
    lines.extend(required.iter().map(|it| {
        let required =
            it.fact.map_or_else(|| NONE.to_owned(), |fact| words::signed(fact, |size| format!("{size:.2}")));
        format!("to reach {} of {} ({}): {fact} {required}", number(*measure, it.value), it.case, it.machine)
    }));
    lines.extend(without.iter().map(|side| {
        format!("not on the line: {side} has no {fact}; --fact '{side}:{fact}=NUMBER' gives it one")
    }));
    lines.extend(forced.iter().map(|it| format!("unlike, fitted because it was forced: {it}")));
    lines
}

fn signed(measure: Measure, value: f64) -> String {
    words::signed(value, |size| number(measure, size))
}

/// `warm`, where it is known.
pub(super) fn state(key: &ComparisonKey) -> String {
    key.state.map_or_else(String::new, |state| format!(" ({state})"))
}
