//! A comparison as Markdown: a GitHub table for each number.

use super::super::markdown::{code, marked, text};
use super::super::words::{NONE, percent};
use super::{
    PERCENTILE_TITLES, fact, fit_lines, legend, letter, percentile_rows, remarks, section, state, times,
    value,
};
use readlab_analysis::compare::{Comparison, Fit, Table};
use readlab_model::units::Throughput;

/// The whole comparison, and the line through its machines where one was asked for.
pub fn comparison_markdown(comparison: &Comparison, fit: Option<&Fit>) -> String {
    let sides = comparison.sides.iter().enumerate();
    let mut blocks = vec![list(sides.map(|(at, side)| legend(at, side)))];
    for table in &comparison.tables {
        blocks.push(numbers(table, comparison.sides.len()));
        let percentiles = percentile_rows(comparison, table.measure, &table.rows);
        if !percentiles.is_empty() {
            let rows = percentiles.iter().map(|cells| cells.iter().map(|cell| text(cell)).collect());
            let rows = grid(&PERCENTILE_TITLES.map(str::to_owned), rows);
            blocks.push(format!("### percentiles of {}\n\n{rows}", table.measure.word()));
        }
    }
    if !comparison.sheets.is_empty() {
        let head = ["", "method", "rate", "data sheet", "share"].map(str::to_owned);
        let rows = comparison.sheets.iter().map(|row| {
            vec![
                letter(row.side),
                code(&row.name) + &state(&row.key),
                Throughput(row.rate).to_string(),
                Throughput(row.sheet).to_string(),
                percent(row.rate / row.sheet),
            ]
        });
        blocks.push(format!("### rate beside the drive's data sheet\n\n{}", grid(&head, rows)));
    }
    if !comparison.machines.is_empty() {
        let head: Vec<String> =
            std::iter::once("fact".to_owned()).chain((0..comparison.sides.len()).map(letter)).collect();
        let rows = comparison.machines.iter().map(|it| {
            let values = it.values.iter().map(|value| text(&fact(&it.fact, value.as_ref())));
            std::iter::once(code(&it.fact)).chain(values).collect()
        });
        blocks.push(format!("### what differs in the machines\n\n{}", grid(&head, rows)));
    }
    blocks.extend(fit.map(|fit| list(fit_lines(fit))));
    blocks.push(list(remarks(comparison)));
    blocks.retain(|block| !block.is_empty());
    marked(&blocks)
}

fn numbers(table: &Table, sides: usize) -> String {
    let mut head = vec!["method".to_owned(), "what".to_owned(), letter(0)];
    for side in 1..sides {
        head.extend([letter(side), format!("{} × {}", letter(side), letter(0))]);
    }
    let rows = table.rows.iter().map(|row| {
        let mut cells = vec![code(&row.name), text(&section(&row.key))];
        for (side, cell) in row.cells.iter().enumerate() {
            cells.push(cell.map_or_else(|| NONE.to_owned(), |cell| value(table.measure, &cell)));
            if side > 0 {
                let ratio = cell.and_then(|cell| cell.ratio);
                cells.push(ratio.map_or_else(|| NONE.to_owned(), |ratio| times(&ratio)));
            }
        }
        cells
    });
    format!("### {}\n\n{}", table.measure.word(), grid(&head, rows))
}

fn grid(head: &[String], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut lines = vec![format!("| {} |", head.join(" | ")), format!("|{}", " :-- |".repeat(head.len()))];
    lines.extend(rows.map(|row| format!("| {} |", row.join(" | "))));
    lines.join("\n")
}

fn list(lines: impl IntoIterator<Item = String>) -> String {
    lines.into_iter().map(|line| format!("- {}", text(&line))).collect::<Vec<_>>().join("\n")
}
