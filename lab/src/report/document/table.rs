//! Tables that a click or a key on a column's head sorts.

use super::super::html::{Element, element, words};
use super::super::words::{NONE, Number};

/// How a column is laid out and sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnKind {
    /// Text, at the left, by the alphabet.
    Text,
    /// Numbers, at the right, by value.
    Number,
}

/// One cell: what is shown, and by what it is sorted.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TableCell {
    text: String,
    order: Option<String>,
    whole: Option<String>,
}

impl TableCell {
    /// Text, sorted by itself.
    pub(super) fn text(text: impl Into<String>) -> TableCell {
        TableCell { text: text.into(), order: None, whole: None }
    }

    /// A short name, and the whole one.
    pub(super) fn name(short: &str, whole: &str) -> TableCell {
        TableCell { whole: (short != whole).then(|| whole.to_owned()), ..TableCell::text(short) }
    }

    /// A number; an unknown one is sorted behind all others.
    pub(super) fn number(number: Option<Number>) -> TableCell {
        match number.filter(|number| number.value.is_finite()) {
            Some(Number { text, value }) => TableCell { text, order: Some(value.to_string()), whole: None },
            None => TableCell { order: Some(String::new()), ..TableCell::text(NONE) },
        }
    }
}

/// A table; the first cell of a row names it.
pub(super) fn table(caption: &str, columns: &[(&str, ColumnKind)], rows: Vec<Vec<TableCell>>) -> Element {
    let titles = columns.iter().map(|&(title, kind)| {
        let button = words("button", title).set("type", "button");
        element("th").set("scope", "col").class(class(kind)).set("aria-sort", "none").with(button)
    });
    let body = rows.into_iter().map(|row| {
        let cells = row.into_iter().zip(columns).enumerate().map(|(at, (cell, &(_, kind)))| {
            let laid_out = if at == 0 { element("th").set("scope", "row") } else { element("td") };
            let laid_out =
                laid_out.class(class(kind)).maybe("data-order", cell.order).maybe("title", cell.whole);
            laid_out.text(&cell.text)
        });
        element("tr").all(cells)
    });
    let table = element("table")
        .class("sortable")
        .with(words("caption", caption))
        .with(element("thead").with(element("tr").all(titles)))
        .with(element("tbody").all(body));
    // A region that scrolls sideways must be reachable without a mouse.
    let region = element("div").class("scroll").set("role", "region").set("tabindex", 0);
    region.set("aria-label", caption).with(table)
}

fn class(kind: ColumnKind) -> &'static str {
    match kind {
        ColumnKind::Text => "word",
        ColumnKind::Number => "number",
    }
}
