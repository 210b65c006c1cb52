//! A comparison as aligned text for a terminal.

use super::super::grid::{Grid, left};
use super::super::terminal::{Style, paint};
use super::super::words::{NONE, percent};
use super::{
    PERCENTILE_TITLES, fact, fit_lines, legend, letter, percentile_rows, remarks, section, state, times,
    value,
};
use anstyle::Style as Ansi;
use readlab_analysis::compare::{Comparison, ComparisonRow, Fit, Table};
use readlab_model::units::Throughput;
use readlab_system::terminal::printable::printable;

/// The whole comparison, and the line through its machines where one was asked for.
pub fn comparison_terminal(comparison: &Comparison, fit: Option<&Fit>, style: Style) -> String {
    let mut lines: Vec<String> =
        comparison.sides.iter().enumerate().map(|(at, side)| printable(&legend(at, side))).collect();
    for table in &comparison.tables {
        let mut rows = table.rows.as_slice();
        while let Some(first) = rows.first() {
            let title = section(&first.key);
            let end = rows.iter().position(|row| section(&row.key) != title).unwrap_or(rows.len());
            let (these, others) = rows.split_at(end);
            lines.push(String::new());
            let title = format!("{} · {title}", table.measure.word());
            lines.push(paint(&printable(title.trim_end_matches(" · ")), Ansi::new().underline(), style));
            lines.extend(numbers(table, these, comparison.sides.len(), style));
            let percentiles = percentile_rows(comparison, table.measure, these);
            if !percentiles.is_empty() {
                lines.push("percentiles".to_owned());
                lines.extend(grid(
                    &PERCENTILE_TITLES.map(str::to_owned),
                    percentiles.into_iter().map(Vec::from).collect(),
                    style,
                ));
            }
            rows = others;
        }
    }
    if !comparison.sheets.is_empty() {
        lines.push(String::new());
        lines.push(paint("rate beside the drive's data sheet", Ansi::new().underline(), style));
        lines.extend(sheets(comparison, style));
    }
    if !comparison.machines.is_empty() {
        lines.push(String::new());
        lines.push(paint("what differs in the machines", Ansi::new().underline(), style));
        lines.extend(machines(comparison, style));
    }
    if let Some(fit) = fit {
        lines.push(String::new());
        lines.extend(fit_lines(fit).iter().map(|line| printable(line)));
    }
    lines.push(String::new());
    lines.extend(remarks(comparison).iter().map(|line| printable(line)));
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines.push(String::new());
    lines.join("\n")
}

fn numbers(table: &Table, rows: &[ComparisonRow], sides: usize, style: Style) -> Vec<String> {
    let mut head = vec!["method".to_owned()];
    for side in 0..sides {
        head.push(letter(side));
        if side > 0 {
            head.push(format!("{} × {}", letter(side), letter(0)));
        }
    }
    let row = |row: &ComparisonRow| {
        let mut cells = vec![row.name.clone()];
        for (side, cell) in row.cells.iter().enumerate() {
            cells.push(cell.map_or_else(|| NONE.to_owned(), |cell| value(table.measure, &cell)));
            if side > 0 {
                cells.push(cell.and_then(|cell| cell.ratio).map_or_else(|| NONE.to_owned(), |it| times(&it)));
            }
        }
        cells
    };
    grid(&head, rows.iter().map(row).collect(), style)
}

fn sheets(comparison: &Comparison, style: Style) -> Vec<String> {
    let head = ["", "method", "rate", "data sheet", "share"].map(str::to_owned);
    let rows = comparison.sheets.iter().map(|row| {
        vec![
            letter(row.side),
            row.name.clone() + &state(&row.key),
            Throughput(row.rate).to_string(),
            Throughput(row.sheet).to_string(),
            percent(row.rate / row.sheet),
        ]
    });
    grid(&head, rows.collect(), style)
}

fn machines(comparison: &Comparison, style: Style) -> Vec<String> {
    let letters = (0..comparison.sides.len()).map(letter);
    let head: Vec<String> = std::iter::once("fact".to_owned()).chain(letters).collect();
    let rows = comparison.machines.iter().map(|it| {
        let values = it.values.iter().map(|value| fact(&it.fact, value.as_ref()));
        std::iter::once(it.fact.clone()).chain(values).collect()
    });
    grid(&head, rows.collect(), style)
}

/// Rows under a head, as wide as they are or as the terminal is.
fn grid(head: &[String], rows: Vec<Vec<String>>, style: Style) -> Vec<String> {
    let mut grid = Grid::new(head.iter().map(|text| left(text)), false);
    for row in rows {
        grid.row(row.iter().map(|text| left(text)));
    }
    grid.lines_within(style.width)
}
