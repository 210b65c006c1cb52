//! Aligned text in columns for a terminal: the layout, width and line breaks of every table.
//!
//! Tables have no borders and one blank on each side of a cell. Cells are wrapped only if the
//! caller passes a width. The caller decides the columns and the text of the cells.

use comfy_table::{Attribute, Cell, CellAlignment, ContentArrangement, Table, TableStyle};
use readlab_system::terminal::printable::printable;

pub(super) struct Grid(Table);

pub(super) fn left_cell(text: &str) -> Cell {
    Cell::new(printable(text)).set_alignment(CellAlignment::Left)
}

pub(super) fn right_cell(text: &str) -> Cell {
    Cell::new(printable(text)).set_alignment(CellAlignment::Right)
}

/// Left-aligned text, bold if the grid may use escape codes.
pub(super) fn bold_cell(text: &str) -> Cell {
    left_cell(text).add_attribute(Attribute::Bold)
}

impl Grid {
    /// A table with these titles and no rows. `color` allows escape codes, which make titles dim.
    pub(super) fn new(titles: impl IntoIterator<Item = Cell>, color: bool) -> Grid {
        let mut table = Table::new();
        table.load_style(TableStyle::new()).set_content_arrangement(ContentArrangement::Disabled);
        if color {
            table.enforce_styling();
        } else {
            table.force_no_tty();
        }
        let dim = |title: Cell| title.add_attribute(Attribute::Dim);
        table.set_header(titles.into_iter().map(dim).collect::<Vec<Cell>>());
        Grid(table)
    }

    pub(super) fn add_row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.0.add_row(cells.into_iter().collect::<Vec<Cell>>());
    }

    /// The width without line breaks: the content and one blank on each side.
    pub(super) fn width(&self) -> usize {
        self.0.column_max_content_widths().iter().map(|&width| usize::from(width) + 2).sum()
    }

    /// The lines of the table at its full width.
    pub(super) fn lines(&self) -> Vec<String> {
        self.0.lines().map(|line| line.trim_end().to_owned()).collect()
    }

    /// The lines of the table, with cells wrapped to keep within this width.
    pub(super) fn lines_within(mut self, width: u16) -> Vec<String> {
        if self.width() > usize::from(width) {
            self.0.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
        }
        self.lines()
    }
}
