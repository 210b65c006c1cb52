//! Tables that a click or a key on a column's head sorts. A column may be a drawing, whose numbers
//! are in another column.

use super::super::method_label::MethodLabel;
use super::super::palette::language_class;
use super::super::words::{NONE, Number};
use readlab_model::trial::TrialIndex;
use readlab_system::markup::{Element, element, words};

/// How a column is laid out and sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ColumnKind {
    /// Text, at the left, by the alphabet.
    Text,
    /// Numbers, at the right, by value.
    Number,
    /// Drawings, which are not sorted.
    Plot,
}

/// One cell: what is shown, and by what it is sorted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TableCell {
    content: Vec<Element>,
    text: String,
    order: Option<String>,
    whole: Option<String>,
}

impl TableCell {
    /// Text, sorted by itself.
    pub(crate) fn text(text: impl Into<String>) -> TableCell {
        TableCell { content: Vec::new(), text: text.into(), order: None, whole: None }
    }

    /// A short name, and the whole one.
    pub(super) fn name(short: &str, whole: &str) -> TableCell {
        TableCell { whole: (short != whole).then(|| whole.to_owned()), ..TableCell::text(short) }
    }

    /// A number; an unknown one is sorted behind all others.
    pub(super) fn number(number: Option<Number>) -> TableCell {
        match number.filter(|number| number.value.is_finite()) {
            Some(Number { text, value }) => {
                TableCell { order: Some(value.to_string()), ..TableCell::text(text) }
            }
            None => TableCell { order: Some(String::new()), ..TableCell::text(NONE) },
        }
    }

    pub(super) fn plot(drawing: Element) -> TableCell {
        TableCell { content: vec![drawing], ..TableCell::text("") }
    }
}

/// One row; its first cell names it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TableRow {
    trial: Option<TrialIndex>,
    dot: Option<Element>,
    ends_group: bool,
    cells: Vec<TableCell>,
}

impl TableRow {
    /// The row of a method: its name, with a dot in the colour of its language, and these cells.
    pub(super) fn new<'a>(label: impl Into<MethodLabel<'a>>, mark: &str, cells: Vec<TableCell>) -> TableRow {
        let label = label.into();
        let name = TableCell::name(&format!("{}{mark}", label.short), label.name);
        TableRow {
            trial: Some(label.trial),
            dot: Some(dot(label.language)),
            ends_group: false,
            cells: std::iter::once(name).chain(cells).collect(),
        }
    }

    /// With a rule below it, as the last of rows that belong together.
    pub(super) fn ending_group(self, ends_group: bool) -> TableRow {
        TableRow { ends_group, ..self }
    }
}

impl From<Vec<TableCell>> for TableRow {
    fn from(cells: Vec<TableCell>) -> TableRow {
        TableRow { trial: None, dot: None, ends_group: false, cells }
    }
}

/// A dot in the colour of a language, which words beside it name.
pub(super) fn dot(language: &str) -> Element {
    element("i").class(&format!("dot {}", language_class(language))).set("title", language)
}

#[derive(Debug, Clone)]
pub(crate) struct Column {
    title: String,
    kind: ColumnKind,
    axis: Option<Element>,
}

impl Column {
    pub(crate) fn text(title: &str) -> Column {
        Column { title: title.to_owned(), kind: ColumnKind::Text, axis: None }
    }

    pub(super) fn number(title: &str) -> Column {
        Column { title: title.to_owned(), kind: ColumnKind::Number, axis: None }
    }

    /// A column of drawings, with their scale in its head.
    pub(super) fn plot(title: &str, axis: Element) -> Column {
        Column { title: title.to_owned(), kind: ColumnKind::Plot, axis: Some(axis) }
    }

    fn head(&self) -> Element {
        let head = element("th").set("scope", "col").class(class(self.kind));
        match &self.axis {
            Some(axis) => head.with(words("span", &self.title).class("unseen")).with(axis.clone()),
            None => {
                let button = words("button", &self.title).set("type", "button");
                head.set("aria-sort", "none").with(button)
            }
        }
    }
}

/// What a table is, and below it what to know of its numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caption {
    pub(super) title: String,
    pub(super) note: String,
}

impl Caption {
    fn laid_out(&self) -> Element {
        if self.note.is_empty() {
            return words("caption", &self.title);
        }
        element("caption").with(words("b", &self.title)).text(" ").text(&self.note)
    }
}

impl From<&str> for Caption {
    fn from(title: &str) -> Caption {
        Caption { title: title.to_owned(), note: String::new() }
    }
}

impl From<&String> for Caption {
    fn from(title: &String) -> Caption {
        Caption::from(title.as_str())
    }
}

pub(crate) fn table<R: Into<TableRow>>(
    caption: impl Into<Caption>,
    columns: impl IntoIterator<Item = Column>,
    rows: impl IntoIterator<Item = R>,
) -> Element {
    let caption = caption.into();
    let columns: Vec<Column> = columns.into_iter().collect();
    let body: Vec<Element> = rows.into_iter().map(|row| laid_out(row.into(), &columns)).collect();
    let has_plot = columns.iter().any(|column| column.kind == ColumnKind::Plot);
    let table = element("table")
        .class(if has_plot { "sortable plots" } else { "sortable" })
        .with(caption.laid_out())
        .with(element("thead").with(element("tr").all(columns.iter().map(Column::head))))
        .with(element("tbody").all(body));
    // A region that scrolls sideways must be reachable without a mouse.
    let region = element("div").class("scroll").set("role", "region").set("tabindex", 0);
    region.set("aria-label", caption.title).with(table)
}

fn laid_out(row: TableRow, columns: &[Column]) -> Element {
    let TableRow { trial, mut dot, ends_group, cells } = row;
    let cells = cells.into_iter().zip(columns).enumerate().map(|(at, (cell, column))| {
        let laid_out = if at == 0 { element("th").set("scope", "row") } else { element("td") };
        // Most cells are numbers.
        let kind = Some(class(column.kind)).filter(|_| at > 0 && column.kind != ColumnKind::Number);
        let laid_out = laid_out.maybe("class", kind).maybe("data-order", cell.order);
        let laid_out = laid_out.maybe("title", cell.whole).all(dot.take().filter(|_| at == 0));
        laid_out.text(&cell.text).all(cell.content)
    });
    element("tr").maybe("class", ends_group.then_some("last")).maybe("data-trial", trial).all(cells)
}

fn class(kind: ColumnKind) -> &'static str {
    match kind {
        ColumnKind::Text => "word",
        ColumnKind::Number => "number",
        ColumnKind::Plot => "plot",
    }
}
