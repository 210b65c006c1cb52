//! A table without a layout. The terminal, Markdown and the page each have their own layout.

use super::document::{self, Column};
use super::grid::{Grid, left_cell, right_cell};
use super::markdown::{code_span, escape_markup};
use super::terminal::Style;
use super::words::{NONE, Number};
use readlab_system::markup::Element;

pub(super) struct Table {
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Vec<Cell>>,
}

/// One cell: the shown content, and the key by which the page sorts it.
pub(super) enum Cell {
    /// Text, sorted alphabetically.
    Text(String),
    /// A name, which Markdown shows as code, and the text that follows the name.
    Name(String, String),
    /// A short name, which is shown, and the full name.
    Short(String, String),
    /// A number; `None` if it is not known. Unknown numbers are sorted last.
    Number(Option<Number>),
    /// A drawing, whose numbers are in another column.
    Plot(Element),
}

impl Table {
    /// A table of these rows; `None` without rows.
    pub(super) fn with_content(
        columns: impl IntoIterator<Item = Column>,
        rows: impl IntoIterator<Item = Vec<Cell>>,
    ) -> Option<Table> {
        let rows: Vec<Vec<Cell>> = rows.into_iter().collect();
        (!rows.is_empty()).then(|| Table { columns: columns.into_iter().collect(), rows })
    }

    /// Aligned lines, as wide as the table or the terminal; numbers are aligned at the right.
    pub(super) fn lines(self, style: Style) -> Vec<String> {
        let aligned =
            |column: &Column, text: &str| if column.is_number() { right_cell(text) } else { left_cell(text) };
        let titles = self.columns.iter().map(|column| aligned(column, &column.title));
        let mut grid = Grid::new(titles, style.may_use_color);
        for row in &self.rows {
            let cells = self.columns.iter().zip(row);
            grid.add_row(cells.map(|(column, cell)| aligned(column, &cell.text_or_none())));
        }
        grid.lines_within(style.width)
    }

    /// The lines under a title, after an empty line.
    pub(super) fn titled_lines(self, title: &str, style: Style) -> impl Iterator<Item = String> + use<> {
        [String::new(), style.underlined(title)].into_iter().chain(self.lines(style))
    }

    pub(super) fn markdown(&self) -> String {
        let titles: Vec<&str> = self.columns.iter().map(|it| it.title.as_str()).collect();
        let rule = " :-- |".repeat(titles.len());
        let mut lines = vec![format!("| {} |", titles.join(" | ")), format!("|{rule}")];
        let cells = |row: &Vec<Cell>| row.iter().map(Cell::markdown).collect::<Vec<_>>().join(" | ");
        lines.extend(self.rows.iter().map(|row| format!("| {} |", cells(row))));
        lines.join("\n")
    }

    pub(super) fn element(self, caption: &str) -> Element {
        document::table(caption, self.columns, self.rows)
    }
}

impl Cell {
    pub(super) fn text(text: impl Into<String>) -> Cell {
        Cell::Text(text.into())
    }

    pub(super) fn number(number: impl Into<Option<Number>>) -> Cell {
        Cell::Number(number.into())
    }

    fn text_or_none(&self) -> String {
        match self {
            Cell::Text(text) | Cell::Short(text, _) => text.clone(),
            Cell::Name(name, rest) => format!("{name}{rest}"),
            Cell::Number(number) => number.as_ref().map_or(NONE, |number| &number.text).to_owned(),
            Cell::Plot(_) => String::new(),
        }
    }

    fn markdown(&self) -> String {
        match self {
            Cell::Text(raw) => escape_markup(raw),
            Cell::Name(name, rest) => code_span(name) + rest,
            other => other.text_or_none(),
        }
    }
}
