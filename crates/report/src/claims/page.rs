//! Claims as a section of a page.

use super::super::document::{Column, Section, TableCell, table};
use super::super::words::{capital, unbroken};
use super::{cells, title, titles};
use readlab_claims::JudgedClaims;
use readlab_system::markup::Element;

/// The section; `None` without claims.
pub(crate) fn section(all: &[JudgedClaims]) -> Option<Section> {
    let lead = "What publications claim and ask, by the figures that they published and by this run. A claim holds, or does not hold, where whole 95 % intervals say so.";
    let content: Vec<Element> = all.iter().map(element).collect();
    (!content.is_empty()).then_some(Section { slug: "claims", title: "Published claims", lead, content })
}

fn element(judged: &JudgedClaims) -> Element {
    let columns = titles(judged).iter().map(|title| Column::text(title));
    let rows = judged
        .claims
        .iter()
        .map(|it| cells(it).iter().map(|cell| text_cell(cell)).collect::<Vec<TableCell>>());
    table(&capital(&title(judged)), columns, rows)
}

/// A factor stays with its sign, and numbers with their units.
fn text_cell(cell: &str) -> TableCell {
    TableCell::text(unbroken(cell).replace(" ×", "\u{a0}×"))
}
