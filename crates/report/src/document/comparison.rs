//! A comparison as one self-contained HTML file, laid out like the page of a run: numbers and
//! ratios with intervals, differences between the machines, and what could not be compared.

use super::super::charts::{Chart, ChartRow, Forest, ForestRow, PointKind, machines_chart};
use super::super::comparison::{
    self, fit_lines, is_same_section, legend, ratio_text, remark_lines, section_title, side_letter,
};
use super::super::words::{NONE, capitalized, plural, unbroken};
use super::{Section, figures, folded, html_document, item, list};
use readlab_analysis::compare::{Comparison, ComparisonRow, Fit, Measure, Side, Table};
use readlab_system::markup::{Element, element, text_element};

/// The page of a comparison, with the fit over its machines if the user requested one.
pub fn comparison_html(comparison: &Comparison, fit: Option<&Fit>) -> String {
    let tables = comparison.tables.iter().map(|table| measure_section(comparison, table));
    let parts = [machines(comparison), sheets(comparison), fit.map(fitted_line_section), notes(comparison)];
    let sections: Vec<Section> = tables.chain(parts.into_iter().flatten()).collect();
    let names: Vec<&str> = comparison.sides.iter().map(|side| side.name.as_str()).collect();
    let title = format!("readlab compare {}", names.join(" "));
    let sentence = sentence(comparison);
    let footer = format!("readlab {} · comparison", env!("CARGO_PKG_VERSION"));
    let opening = vec![super::opening(&sentence, [sides_list(comparison)])];
    html_document(&title, &sentence, opening, sections, &[&footer])
}

/// The number of cases that are better, worse and tied on each side, by the first compared measure.
fn sentence(comparison: &Comparison) -> String {
    let Some(table) = comparison.tables.first() else { return "Nothing was compared.".to_owned() };
    let of = measure_title(table.measure).to_lowercase();
    let parts = (1..comparison.sides.len()).map(|side| {
        let ratios = || table.rows.iter().filter_map(|row| row.cells.get(side)?.as_ref()?.ratio);
        let clear = || ratios().filter(|it| PointKind::from_interval(it.ci95) == PointKind::Clear);
        let better = clear().filter(|it| it.estimate > 1.0).count();
        let worse = clear().filter(|it| it.estimate < 1.0).count();
        let all = ratios().count();
        format!(
            "{} is better than {} in {better}, worse in {worse} and not clearly either in {} of {}",
            side_letter(side),
            side_letter(0),
            all - better - worse,
            plural(all, "case"),
        )
    });
    let parts: Vec<String> = parts.collect();
    match parts.as_slice() {
        [] => format!("{}: {}.", capitalized(&of), plural(table.rows.len(), "case")),
        _ => format!("By {of}, {}.", parts.join("; ")),
    }
}

fn sides_list(comparison: &Comparison) -> Element {
    let one = |(at, side): (usize, &Side)| {
        let text = legend(at, side);
        let parts = text.strip_prefix(&format!("{}: ", side_letter(at))).unwrap_or(&text);
        [text_element("dt", &side_letter(at)), text_element("dd", parts)]
    };
    element("dl").class("about").with_all(comparison.sides.iter().enumerate().flat_map(one))
}

fn measure_title(measure: Measure) -> &'static str {
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

/// The section of one measure: charts of the ratios for each file and state, and a table of all
/// numbers.
fn measure_section(comparison: &Comparison, of: &Table) -> Section {
    let mut content = Vec::new();
    for (n, rows) in of.rows.chunk_by(is_same_section).enumerate() {
        let title = section_title(&rows[0].key);
        let title = capitalized(if title.is_empty() { of.measure.word() } else { &title });
        content.push(text_element("h3", &unbroken(&title)));
        let drawn = (1..comparison.sides.len()).filter_map(|side| ratio_chart(of.measure, rows, n, side));
        content.extend(figures(drawn));
        content.push(comparison::numbers_table(comparison, of.measure, rows).element(&title));
        let percentiles = comparison::percentiles_table(comparison, of.measure, rows);
        let percentiles = percentiles.map(|it| it.element("percentiles"));
        content.extend(percentiles.map(|table| folded("percentiles", [table], true)));
    }
    let lead = "A ratio above 1 is to the better: faster, or with less. A filled point: the whole 95 % interval is on one side of 1.";
    Section { slug: of.measure.word(), title: measure_title(of.measure), lead, content }
}

fn ratio_chart(measure: Measure, rows: &[ComparisonRow], n: usize, side: usize) -> Option<Chart> {
    let title = format!("How many times as good {} is as {}", side_letter(side), side_letter(0));
    let rows: Vec<ForestRow> = rows.iter().filter_map(|row| forest_row(row, side)).collect();
    Some(Forest::from_rows(rows)?.chart(title, format!("ratio-{}-{n}-{side}", measure.word())))
}

fn forest_row(row: &ComparisonRow, side: usize) -> Option<ForestRow<'_>> {
    let ratio = row.cells.get(side)?.as_ref()?.ratio?;
    let (ci95, point_kind) = (ratio.ci95, PointKind::from_interval(ratio.ci95));
    let row = ChartRow::unlabelled(&row.name, ratio_text(&ratio));
    Some(ForestRow { row, estimate: Some(ratio.estimate), ci95, point_kind })
}

fn machines(comparison: &Comparison) -> Option<Section> {
    let table = comparison::machines_table(comparison);
    let table = table.map(|it| it.element("Facts that are not the same on all sides"));
    let lead = "Numbers of unlike machines differ for these reasons too.";
    Section::with_content("machines", "What differs in the machines", lead, table)
}

fn sheets(comparison: &Comparison) -> Option<Section> {
    let table =
        comparison::datasheet_table(comparison).map(|it| it.element("Rate beside the drive's data sheet"));
    let lead = "What was measured beside what the drive's maker promises.";
    Section::with_content("sheets", "Data sheets", lead, table)
}

fn fitted_line_section(fit: &Fit) -> Section {
    let lead = "By least squares, one point a machine.";
    let content =
        machines_chart(fit).map(super::figure_element).into_iter().chain(line_list(fit_lines(fit))).collect();
    Section { slug: "line", title: "The line through the machines", lead, content }
}

fn notes(comparison: &Comparison) -> Option<Section> {
    let lead = "What a reader of these numbers should know, and what could not be compared.";
    Section::with_content("notes", "Notes", lead, line_list(remark_lines(comparison)))
}

fn line_list(lines: Vec<String>) -> Option<Element> {
    list(lines.iter().filter(|line| !line.is_empty() && *line != NONE).map(item))
}
