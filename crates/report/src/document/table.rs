//! Tables that a reader of the page sorts by a click or a key on the head of a column. The numbers
//! of a drawing are in another column.

use super::super::name::MethodLabel;
use super::super::palette::language_class;
use super::super::table::Cell;
use super::super::words::NONE;
use readlab_model::trial::TrialIndex;
use readlab_system::markup::{Element, element, text_element};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ColumnKind {
    /// Text, aligned left and sorted alphabetically.
    Text,
    /// Numbers, aligned right and sorted by value.
    Number,
    /// Drawings, which are not sorted.
    Plot,
}

/// One row; its first cell is its name.
pub(crate) struct TableRow {
    trial: Option<TrialIndex>,
    dot: Option<Element>,
    /// Whether the row is the last of a group, and so has a rule below it.
    pub(super) ends_group: bool,
    cells: Vec<Cell>,
}

impl TableRow {
    /// The row of a method: its name, with a dot in the colour of its language, and these cells.
    pub(super) fn new<'a>(label: impl Into<MethodLabel<'a>>, mark: &str, cells: Vec<Cell>) -> TableRow {
        let label = label.into();
        let name = Cell::Short(format!("{}{mark}", label.short_name), label.name.to_owned());
        TableRow {
            trial: Some(label.trial),
            dot: Some(dot(label.language)),
            ends_group: false,
            cells: std::iter::once(name).chain(cells).collect(),
        }
    }
}

impl From<Vec<Cell>> for TableRow {
    fn from(cells: Vec<Cell>) -> TableRow {
        TableRow { trial: None, dot: None, ends_group: false, cells }
    }
}

/// A dot in the colour of a language. The text beside the dot or its title names the language.
pub(super) fn dot(language: &str) -> Element {
    element("i").class(&format!("dot {}", language_class(language))).set("title", language)
}

#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub(crate) title: String,
    kind: ColumnKind,
    axis: Option<Element>,
}

impl Column {
    pub(crate) fn text(title: &str) -> Column {
        Column { title: title.to_owned(), kind: ColumnKind::Text, axis: None }
    }

    pub(crate) fn number(title: &str) -> Column {
        Column { kind: ColumnKind::Number, ..Column::text(title) }
    }

    /// A column of drawings, with their scale in its head.
    pub(super) fn plot(title: &str, axis: Element) -> Column {
        Column { title: title.to_owned(), kind: ColumnKind::Plot, axis: Some(axis) }
    }

    pub(crate) fn is_number(&self) -> bool {
        self.kind == ColumnKind::Number
    }

    fn head(&self) -> Element {
        let head = element("th").set("scope", "col").class(css_class(self.kind));
        match &self.axis {
            Some(axis) => head.with(text_element("span", &self.title).class("unseen")).with(axis.clone()),
            None => {
                let button = text_element("button", &self.title).set("type", "button");
                head.set("aria-sort", "none").with(button)
            }
        }
    }
}

pub(crate) fn table<R: Into<TableRow>>(
    title: &str,
    columns: impl IntoIterator<Item = Column>,
    rows: impl IntoIterator<Item = R>,
) -> Element {
    table_with_note(title, "", columns, rows)
}

/// A table with a note on its numbers in the caption.
pub(super) fn table_with_note<R: Into<TableRow>>(
    title: &str,
    note: &str,
    columns: impl IntoIterator<Item = Column>,
    rows: impl IntoIterator<Item = R>,
) -> Element {
    let caption = match note {
        "" => text_element("caption", title),
        note => element("caption").with(text_element("b", title)).text(" ").text(note),
    };
    let columns: Vec<Column> = columns.into_iter().collect();
    let body = rows.into_iter().map(|row| row_element(row.into(), &columns));
    let has_plot = columns.iter().any(|column| column.kind == ColumnKind::Plot);
    let table = element("table")
        .class(if has_plot { "sortable plots" } else { "sortable" })
        .with(caption)
        .with(element("thead").with(element("tr").with_all(columns.iter().map(Column::head))))
        .with(element("tbody").with_all(body));
    // An area that scrolls sideways must be accessible without a mouse.
    let region = element("div").class("scroll").set("role", "region").set("tabindex", 0);
    region.set("aria-label", title).with(table)
}

fn row_element(row: TableRow, columns: &[Column]) -> Element {
    let TableRow { trial, mut dot, ends_group, cells } = row;
    let cells = cells.into_iter().zip(columns).enumerate().map(|(at, (cell, column))| {
        let laid_out = if at == 0 { element("th").set("scope", "row") } else { element("td") };
        // Numbers are the default kind, because most cells are numbers.
        let kind = Some(css_class(column.kind)).filter(|_| at > 0 && column.kind != ColumnKind::Number);
        let laid_out = laid_out.set_if_some("class", kind);
        match cell {
            Cell::Text(text) => laid_out.with_all(dot.take()).text(&text),
            Cell::Name(name, rest) => laid_out.with_all(dot.take()).text(&name).text(&rest),
            Cell::Short(short, whole) => {
                let whole = Some(whole).filter(|whole| *whole != short);
                laid_out.set_if_some("title", whole).with_all(dot.take()).text(&short)
            }
            Cell::Number(number) => {
                let number = number.filter(|it| it.value.is_finite());
                let order = number.as_ref().map_or_else(String::new, |it| it.value.to_string());
                laid_out.set("data-order", order).text(number.as_ref().map_or(NONE, |it| &it.text))
            }
            Cell::Plot(drawing) => laid_out.with(drawing),
        }
    });
    element("tr")
        .set_if_some("class", ends_group.then_some("last"))
        .set_if_some("data-trial", trial)
        .with_all(cells)
}

fn css_class(kind: ColumnKind) -> &'static str {
    match kind {
        ColumnKind::Text => "word",
        ColumnKind::Number => "number",
        ColumnKind::Plot => "plot",
    }
}
