//! The layout of a comparison: as aligned text for a terminal, and as Markdown.

use super::super::document::Column;
use super::super::markdown::{list, marked_text};
use super::super::table::Cell;
use super::super::terminal::Style;
use super::{
    fit_lines, further_tables, is_same_section, legends, numbers_table, percentiles_table, remark_lines,
    section_title,
};
use readlab_analysis::compare::{Comparison, Fit};
use readlab_system::terminal::printable::printable;

/// The comparison as text for a terminal, with the fit over its machines if the user requested one.
pub fn comparison_terminal(comparison: &Comparison, fit: Option<&Fit>, style: Style) -> String {
    let plain = Style { may_use_color: false, ..style };
    let mut lines: Vec<String> = legends(comparison).iter().map(|it| printable(it)).collect();
    for table in &comparison.tables {
        for rows in table.rows.chunk_by(is_same_section) {
            let title = format!("{} · {}", table.measure.word(), section_title(&rows[0].key));
            lines.extend([String::new(), style.underlined(title.trim_end_matches(" · "))]);
            lines.extend(numbers_table(comparison, table.measure, rows).lines(plain));
            if let Some(percentiles) = percentiles_table(comparison, table.measure, rows) {
                lines.push("percentiles".to_owned());
                lines.extend(percentiles.lines(plain));
            }
        }
    }
    for (title, table) in further_tables(comparison) {
        lines.extend([String::new(), style.underlined(title)]);
        lines.extend(table.lines(plain));
    }
    if let Some(fit) = fit {
        lines.push(String::new());
        lines.extend(fit_lines(fit).iter().map(|line| printable(line)));
    }
    lines.push(String::new());
    lines.extend(remark_lines(comparison).iter().map(|line| printable(line)));
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines.push(String::new());
    lines.join("\n")
}

/// The comparison as Markdown, with the fit over its machines if the user requested one.
pub fn comparison_markdown(comparison: &Comparison, fit: Option<&Fit>) -> String {
    let mut blocks = vec![list(legends(comparison))];
    for table in &comparison.tables {
        let word = table.measure.word();
        let mut all = numbers_table(comparison, table.measure, &table.rows);
        all.columns.insert(1, Column::text("what"));
        for (cells, row) in all.rows.iter_mut().zip(&table.rows) {
            cells.insert(1, Cell::Text(section_title(&row.key)));
        }
        blocks.push(format!("### {word}\n\n{}", all.markdown()));
        let percentiles = percentiles_table(comparison, table.measure, &table.rows);
        blocks.extend(percentiles.map(|it| format!("### percentiles of {word}\n\n{}", it.markdown())));
    }
    blocks.extend(
        further_tables(comparison).into_iter().map(|(title, it)| format!("### {title}\n\n{}", it.markdown())),
    );
    blocks.extend(fit.map(|fit| list(fit_lines(fit))));
    blocks.push(list(remark_lines(comparison)));
    blocks.retain(|block| !block.is_empty());
    marked_text(&blocks)
}
