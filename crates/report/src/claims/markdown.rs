//! Claims as Markdown: a GitHub table for each publication.

use super::super::markdown::{marked, text};
use super::{cells, title, titles};
use readlab_claims::JudgedClaims;

/// A table for each publication.
pub fn claims_markdown(all: &[JudgedClaims]) -> String {
    marked(&tables(all))
}

/// Each table with its heading.
pub(crate) fn tables(all: &[JudgedClaims]) -> Vec<String> {
    all.iter().map(table).collect()
}

fn table(judged: &JudgedClaims) -> String {
    let titles = titles(judged);
    let rule = titles.iter().map(|_| ":--").collect::<Vec<_>>().join(" | ");
    let mut lines = vec![
        format!("### {}\n", text(&title(judged))),
        format!("| {} |", titles.join(" | ")),
        format!("| {rule} |"),
    ];
    lines.extend(judged.claims.iter().map(|it| {
        let cells: Vec<String> = cells(it).iter().map(|cell| text(cell)).collect();
        format!("| {} |", cells.join(" | "))
    }));
    lines.join("\n")
}
