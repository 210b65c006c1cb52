//! A comparison as one HTML file that needs nothing else, in the form of a run's page: numbers and
//! ratios with intervals, what differs in the machines, what could not be compared.

use super::super::charts::{Chart, Forest, ForestRow, Significant, machines_chart};
use super::super::comparison::{self, fact, fit_lines, legend, letter, remarks, section, state, times};
use super::super::words::{NONE, Number, capital, percent, plural, unbroken};
use super::table::{Column, TableCell, table};
use super::{Section, figure, folded, side_by_side, whole};
use readlab_analysis::compare::{Comparison, ComparisonRow, Fit, Measure, Table};
use readlab_model::units::Throughput;
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
    let opening = vec![answer(comparison, &sentence)];
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

/// The top of the page: the answer, and what the letters mean.
fn answer(comparison: &Comparison, sentence: &str) -> Element {
    let mut about = element("dl").class("about");
    for (at, side) in comparison.sides.iter().enumerate() {
        let text = legend(at, side);
        let parts = text.strip_prefix(&format!("{}: ", letter(at))).unwrap_or(&text);
        about = about.with(words("dt", &letter(at))).with(words("dd", parts));
    }
    element("section")
        .set("id", "answer")
        .set("aria-labelledby", "answer-heading")
        .with(words("h1", sentence).set("id", "answer-heading"))
        .with(about)
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
    for (n, rows) in of.rows.chunk_by(|a, b| section(&a.key) == section(&b.key)).enumerate() {
        let title = rows.first().map(|row| section(&row.key)).unwrap_or_default();
        let title = capital(if title.is_empty() { of.measure.word() } else { &title });
        let drawn = (1..comparison.sides.len()).filter_map(|side| chart(of.measure, rows, n, side));
        let drawn: Vec<Element> = drawn.map(figure).collect();
        content.push(words("h3", &unbroken(&title)));
        if !drawn.is_empty() {
            content.push(side_by_side(drawn));
        }
        content.push(grid(comparison, of.measure, &title, rows));
        content.extend(percentiles(comparison, of.measure, rows));
    }
    let lead = "A ratio above 1 is to the better: faster, or with less. A filled point: the whole 95 % interval is on one side of 1.";
    Section { slug: of.measure.word(), title: title(of.measure), lead, content }
}

/// The ratios of one side.
fn chart(measure: Measure, rows: &[ComparisonRow], n: usize, side: usize) -> Option<Chart> {
    let title = format!("How many times as good {} is as {}", letter(side), letter(0));
    let rows: Vec<ForestRow> = rows.iter().filter_map(|row| forest_row(row, side)).collect();
    Some(Forest::from_rows(rows)?.chart(title, format!("ratio-{}-{n}-{side}", measure.word())))
}

fn forest_row(row: &ComparisonRow, side: usize) -> Option<ForestRow<'_>> {
    let ratio = row.cells.get(side)?.as_ref()?.ratio?;
    Some(ForestRow {
        rank: String::new(),
        label: None,
        short: &row.name,
        estimate: Some(ratio.estimate),
        ci95: ratio.ci95,
        significant: Significant::from_interval(ratio.ci95),
        value: times(&ratio),
    })
}

fn grid(comparison: &Comparison, measure: Measure, caption: &str, rows: &[ComparisonRow]) -> Element {
    let mut columns = vec![Column::text("method"), Column::number(&letter(0))];
    for side in 1..comparison.sides.len() {
        columns.push(Column::number(&letter(side)));
        columns.push(Column::number(&format!("{} × {}", letter(side), letter(0))));
    }
    let laid_out = rows.iter().map(|row| {
        let mut cells = vec![TableCell::text(row.name.clone())];
        for (side, cell) in row.cells.iter().enumerate() {
            let number = cell.map(|cell| Number::new(comparison::value(measure, &cell), cell.value));
            cells.push(TableCell::number(number));
            if side > 0 {
                let ratio = cell.and_then(|cell| cell.ratio);
                cells.push(TableCell::number(ratio.map(|it| Number::new(times(&it), it.estimate))));
            }
        }
        cells
    });
    table(caption, columns, laid_out)
}

/// The percentiles of one number, where they were asked for.
fn percentiles(comparison: &Comparison, measure: Measure, rows: &[ComparisonRow]) -> Option<Element> {
    let lines = comparison::percentile_rows(comparison, measure, rows);
    let columns = comparison::PERCENTILE_TITLES.iter().enumerate();
    let columns = columns.map(|(at, title)| if at < 2 { Column::text(title) } else { Column::number(title) });
    let cells = lines.iter().map(|line| line.clone().map(TableCell::text).to_vec());
    (!lines.is_empty()).then(|| folded("percentiles", vec![table("percentiles", columns, cells)], true))
}

fn machines(comparison: &Comparison) -> Option<Section> {
    let letters: Vec<String> = (0..comparison.sides.len()).map(letter).collect();
    let columns = std::iter::once("fact").chain(letters.iter().map(String::as_str));
    let columns = columns.map(Column::text);
    let rows = comparison.machines.iter().map(|it| {
        let values = it.values.iter().map(|value| TableCell::text(fact(&it.fact, value.as_ref())));
        std::iter::once(TableCell::text(it.fact.clone())).chain(values).collect::<Vec<_>>()
    });
    let content = vec![table("Facts that are not the same on all sides", columns, rows)];
    let lead = "Numbers of unlike machines differ for these reasons too.";
    (!comparison.machines.is_empty()).then_some(Section {
        slug: "machines",
        title: "What differs in the machines",
        lead,
        content,
    })
}

fn sheets(comparison: &Comparison) -> Option<Section> {
    let columns = [
        Column::text(""),
        Column::text("method"),
        Column::number("rate"),
        Column::number("data sheet"),
        Column::number("share"),
    ];
    let rows = comparison.sheets.iter().map(|row| {
        let rate = |value: f64| TableCell::number(Some(Number::new(Throughput(value).to_string(), value)));
        let share = row.rate / row.sheet;
        vec![
            TableCell::text(letter(row.side)),
            TableCell::text(row.name.clone() + &state(&row.key)),
            rate(row.rate),
            rate(row.sheet),
            TableCell::number(Some(Number::new(percent(share), share))),
        ]
    });
    let content = vec![table("Rate beside the drive's data sheet", columns, rows)];
    let lead = "What was measured beside what the drive's maker promises.";
    (!comparison.sheets.is_empty()).then_some(Section { slug: "sheets", title: "Data sheets", lead, content })
}

fn line(fit: &Fit) -> Section {
    let lead = "By least squares, one point a machine.";
    let mut content: Vec<Element> = machines_chart(fit).map(figure).into_iter().collect();
    content.extend(list(fit_lines(fit)));
    Section { slug: "line", title: "The line through the machines", lead, content }
}

fn notes(comparison: &Comparison) -> Option<Section> {
    let lines = remarks(comparison);
    let lead = "What a reader of these numbers should know, and what could not be compared.";
    (!lines.is_empty()).then(|| Section { slug: "notes", title: "Notes", lead, content: list(lines) })
}

fn list(lines: Vec<String>) -> Vec<Element> {
    let lines = lines.iter().filter(|line| !line.is_empty() && *line != NONE);
    vec![element("ul").class("lines").all(lines.map(|line| words("li", &unbroken(line))))]
}
