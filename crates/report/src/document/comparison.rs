//! A comparison as one HTML file that needs nothing else, in the form of a run's page: numbers and
//! ratios with intervals, what differs in the machines, what could not be compared.

use super::super::charts::{Chart, ChartRow, Forest, ForestRow, Significant, machines_chart};
use super::super::comparison::{self, fit_lines, legend, letter, remarks, same_section, section, times};
use super::super::words::{NONE, capital, plural, unbroken};
use super::{Section, figures, folded, item, list, whole};
use readlab_analysis::compare::{Comparison, ComparisonRow, Fit, Measure, Side, Table};
use readlab_system::markup::{Element, element, words};

/// The whole page, and the line through its machines where one was asked for.
pub fn comparison_html(comparison: &Comparison, fit: Option<&Fit>) -> String {
    let tables = comparison.tables.iter().map(|table| numbers(comparison, table));
    let parts = [machines(comparison), sheets(comparison), fit.map(line), notes(comparison)];
    let sections: Vec<Section> = tables.chain(parts.into_iter().flatten()).collect();
    let names: Vec<&str> = comparison.sides.iter().map(|side| side.name.as_str()).collect();
    let title = format!("readlab compare {}", names.join(" "));
    let sentence = sentence(comparison);
    let footer = format!("readlab {} · comparison", env!("CARGO_PKG_VERSION"));
    let opening = vec![super::opening(&sentence, [sides(comparison)])];
    whole(&title, &sentence, opening, sections, &[&footer])
}

/// How many cases are better, worse and tied on each side, by the first number that is compared.
fn sentence(comparison: &Comparison) -> String {
    let Some(table) = comparison.tables.first() else { return "Nothing was compared.".to_owned() };
    let of = title(table.measure).to_lowercase();
    let parts = (1..comparison.sides.len()).map(|side| {
        let ratios = || table.rows.iter().filter_map(|row| row.cells.get(side)?.as_ref()?.ratio);
        let clear = || ratios().filter(|it| Significant::from_interval(it.ci95) == Significant::Yes);
        let better = clear().filter(|it| it.estimate > 1.0).count();
        let worse = clear().filter(|it| it.estimate < 1.0).count();
        let all = ratios().count();
        format!(
            "{} is better than {} in {better}, worse in {worse} and not clearly either in {} of {}",
            letter(side),
            letter(0),
            all - better - worse,
            plural(all, "case"),
        )
    });
    let parts: Vec<String> = parts.collect();
    match parts.as_slice() {
        [] => format!("{}: {}.", capital(&of), plural(table.rows.len(), "case")),
        _ => format!("By {of}, {}.", parts.join("; ")),
    }
}

fn sides(comparison: &Comparison) -> Element {
    let one = |(at, side): (usize, &Side)| {
        let text = legend(at, side);
        let parts = text.strip_prefix(&format!("{}: ", letter(at))).unwrap_or(&text);
        [words("dt", &letter(at)), words("dd", parts)]
    };
    element("dl").class("about").all(comparison.sides.iter().enumerate().flat_map(one))
}

/// What a number is called at the head of its section.
fn title(measure: Measure) -> &'static str {
    match measure {
        Measure::Wall => "Wall time",
        Measure::Cpu => "CPU time",
        Measure::Rate => "Rate",
        Measure::Peak => "Peak memory",
        Measure::Device => "Bytes from the device",
        Measure::Syscalls => "System calls",
        Measure::Mallocs => "Allocations",
        Measure::Retains => "Retains",
        Measure::Releases => "Releases",
        Measure::Slope => "Rate by the slope",
        Measure::Most => "Highest rate",
        Measure::Fixed => "Fixed cost of a file",
    }
}

/// One number: for each file and state its ratios as charts, and all as a table.
fn numbers(comparison: &Comparison, of: &Table) -> Section {
    let mut content = Vec::new();
    for (n, rows) in of.rows.chunk_by(same_section).enumerate() {
        let title = section(&rows[0].key);
        let title = capital(if title.is_empty() { of.measure.word() } else { &title });
        content.push(words("h3", &unbroken(&title)));
        let drawn = (1..comparison.sides.len()).filter_map(|side| chart(of.measure, rows, n, side));
        content.extend(figures(drawn));
        content.push(comparison::numbers(comparison, of.measure, rows).element(&title));
        let percentiles = comparison::percentiles(comparison, of.measure, rows);
        let percentiles = percentiles.map(|it| it.element("percentiles"));
        content.extend(percentiles.map(|table| folded("percentiles", [table], true)));
    }
    let lead = "A ratio above 1 is to the better: faster, or with less. A filled point: the whole 95 % interval is on one side of 1.";
    Section { slug: of.measure.word(), title: title(of.measure), lead, content }
}

fn chart(measure: Measure, rows: &[ComparisonRow], n: usize, side: usize) -> Option<Chart> {
    let title = format!("How many times as good {} is as {}", letter(side), letter(0));
    let rows: Vec<ForestRow> = rows.iter().filter_map(|row| forest_row(row, side)).collect();
    Some(Forest::from_rows(rows)?.chart(title, format!("ratio-{}-{n}-{side}", measure.word())))
}

fn forest_row(row: &ComparisonRow, side: usize) -> Option<ForestRow<'_>> {
    let ratio = row.cells.get(side)?.as_ref()?.ratio?;
    let (ci95, significant) = (ratio.ci95, Significant::from_interval(ratio.ci95));
    let row = ChartRow::unlabelled(&row.name, times(&ratio));
    Some(ForestRow { row, estimate: Some(ratio.estimate), ci95, significant })
}

fn machines(comparison: &Comparison) -> Option<Section> {
    let table = comparison::machines(comparison);
    let table = table.map(|it| it.element("Facts that are not the same on all sides"));
    let lead = "Numbers of unlike machines differ for these reasons too.";
    Section::filled("machines", "What differs in the machines", lead, table)
}

fn sheets(comparison: &Comparison) -> Option<Section> {
    let table = comparison::sheets(comparison).map(|it| it.element("Rate beside the drive's data sheet"));
    let lead = "What was measured beside what the drive's maker promises.";
    Section::filled("sheets", "Data sheets", lead, table)
}

fn line(fit: &Fit) -> Section {
    let lead = "By least squares, one point a machine.";
    let content = machines_chart(fit).map(super::figure).into_iter().chain(lines(fit_lines(fit))).collect();
    Section { slug: "line", title: "The line through the machines", lead, content }
}

fn notes(comparison: &Comparison) -> Option<Section> {
    let lead = "What a reader of these numbers should know, and what could not be compared.";
    Section::filled("notes", "Notes", lead, lines(remarks(comparison)))
}

fn lines(lines: Vec<String>) -> Option<Element> {
    list(lines.iter().filter(|line| !line.is_empty() && *line != NONE).map(item))
}
