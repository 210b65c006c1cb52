//! A table before its layout, from which a terminal, Markdown and a page make theirs.

use super::document::{self, Column};
use super::grid::{Grid, left};
use super::markdown::{code, text};
use super::terminal::Style;
use super::words::{NONE, Number};
use readlab_system::markup::Element;

pub(super) struct Table {
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Vec<Cell>>,
}

/// One cell: what is shown, and by what the page sorts it.
pub(super) enum Cell {
    /// Sorted by itself.
    Text(String),
    /// A name, which Markdown shows as code, and what follows it.
    Name(String, String),
    /// A short name, and the whole one.
    Short(String, String),
    /// An unknown one is sorted behind all others.
    Number(Option<Number>),
    /// A drawing, whose numbers are in another column.
    Plot(Element),
}

impl Table {
    /// `None` without rows.
    pub(super) fn filled(
        columns: impl IntoIterator<Item = Column>,
        rows: impl IntoIterator<Item = Vec<Cell>>,
    ) -> Option<Table> {
        let rows: Vec<Vec<Cell>> = rows.into_iter().collect();
        (!rows.is_empty()).then(|| Table { columns: columns.into_iter().collect(), rows })
    }

    /// Aligned lines, as wide as they are or as the terminal is.
    pub(super) fn lines(self, style: Style) -> Vec<String> {
        let mut grid = Grid::new(self.columns.iter().map(|it| left(&it.title)), style.color);
        for row in self.rows {
            grid.row(row.iter().map(|cell| left(&cell.shown())));
        }
        grid.lines_within(style.width)
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

    fn shown(&self) -> String {
        match self {
            Cell::Text(text) | Cell::Short(text, _) => text.clone(),
            Cell::Name(name, rest) => format!("{name}{rest}"),
            Cell::Number(number) => number.as_ref().map_or(NONE, |number| &number.text).to_owned(),
            Cell::Plot(_) => String::new(),
        }
    }

    fn markdown(&self) -> String {
        match self {
            Cell::Text(raw) => text(raw),
            Cell::Name(name, rest) => code(name) + rest,
            other => other.shown(),
        }
    }
}
