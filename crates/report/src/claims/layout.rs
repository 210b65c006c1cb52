//! The layout of claims: as Markdown, as aligned text for a terminal, and as a section of a page.

use super::super::document::{Column, Section};
use super::super::markdown::{marked_text, text};
use super::super::table::{Cell, Table};
use super::super::terminal::Style;
use super::super::words::{capital, unbroken};
use super::{cells, title, titles};
use readlab_claims::{JudgedClaim, JudgedClaims};

pub fn claims_markdown(all: &[JudgedClaims]) -> String {
    marked_text(&markdown_tables(all))
}

pub(crate) fn markdown_tables(all: &[JudgedClaims]) -> Vec<String> {
    let one =
        |it: &JudgedClaims| format!("### {}\n\n{}", text(&title(it)), table(it, str::to_owned).markdown());
    all.iter().map(one).collect()
}

pub fn claims_terminal(all: &[JudgedClaims], style: Style) -> String {
    let lines = terminal_sections(all, style).into_iter().skip(1);
    lines.chain([String::new()]).collect::<Vec<_>>().join("\n")
}

/// The lines of the tables, each table after an empty line.
pub(crate) fn terminal_sections(all: &[JudgedClaims], style: Style) -> Vec<String> {
    let lines = |it: &JudgedClaims| {
        let heading = [String::new(), style.underlined(&title(it))];
        heading.into_iter().chain(table(it, str::to_owned).lines(style))
    };
    all.iter().flat_map(lines).collect()
}

pub(crate) fn section(all: &[JudgedClaims]) -> Option<Section> {
    let lead = "What publications claim and ask, by the figures that they published and by this run. A claim holds, or does not hold, where whole 95 % intervals say so.";
    // Keeps a factor with its sign, and numbers with their units, on one line.
    let kept = |cell: &str| unbroken(cell).replace(" ×", "\u{a0}×");
    let tables = all.iter().map(|it| table(it, kept).element(&capital(&title(it))));
    Section::with_content("claims", "Published claims", lead, tables)
}

fn table(judged: &JudgedClaims, shown: fn(&str) -> String) -> Table {
    let columns = titles(judged).iter().map(|title| Column::text(title)).collect();
    let row = |it: &JudgedClaim| cells(it).iter().map(|cell| Cell::Text(shown(cell))).collect();
    Table { columns, rows: judged.claims.iter().map(row).collect() }
}
