//! The section of a sweep: its charts, the facts of each line, the sizes that deviate from it and
//! why, the numbers by size.

use super::super::page::Page;
use super::super::sweep::{Series, SizeRow};
use super::super::words as wording;
use super::sections::{figures, sweep_charts};
use super::table::{Column, TableCell, table};
use super::{Section, folded};
use readlab_system::markup::{Element, element, words};

/// The section; `None` for what is no sweep, or one without files.
pub(super) fn section(page: &Page) -> Option<Section> {
    let mut content = vec![figures(sweep_charts(page))?];
    let series = || page.sweep.iter().flat_map(|view| &view.series);
    content.extend(series().flat_map(line_facts));
    content.extend(series().map(|series| {
        let columns = SizeRow::TITLES.map(Column::number);
        let rows = series.sizes.iter().map(|row| row.cells().map(TableCell::number).to_vec());
        let title = series.title();
        folded(&format!("{title}: the numbers"), vec![table(&title, columns, rows)], false)
    }));
    let lead = "Each dot is one file. The slope of time on size is the transfer rate, its value at size 0 the fixed cost of a file. Dashed: least squares of relative errors; solid: the line that single files cannot bend. A size is mixed if some of its files are fast and the others slow, with a gap between.";
    Some(Section { slug: "sizes", title: "Sizes", lead, content })
}

/// What the line says, and what leaves it.
fn line_facts(series: &Series) -> Vec<Element> {
    let lines = std::iter::once(series.headline()).chain(series.line_words());
    let band = series.band.iter().map(|sentence| format!("leaves the line: {sentence}"));
    let mixed = series.mixed.iter().map(|mixed| format!("mixed: {}", mixed.sentence()));
    let items = lines.chain(band).chain(mixed).map(|line| words("li", &wording::unbroken(&line)));
    vec![words("h3", &series.title()), element("ul").class("lines").all(items)]
}
