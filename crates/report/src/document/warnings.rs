//! The section of warnings: each cause once, with what it concerns, and its cases behind a fold.

use super::super::page::Page;
use super::super::warning::WarningGroup;
use super::super::words::{plural, unbroken};
use super::{Section, folded};
use readlab_system::markup::{Element, element, words};

/// The section; `None` without warnings.
pub(super) fn section(page: &Page) -> Option<Section> {
    let content = vec![element("div").class("cautions").all(page.warnings.iter().map(group))];
    let lead = "What to know before you trust these numbers, by cause.";
    (!page.warnings.is_empty()).then_some(Section { slug: "warnings", title: "Warnings", lead, content })
}

fn group(group: &WarningGroup) -> Element {
    if group.lines.is_empty() {
        return words("p", &unbroken(&group.title()));
    }
    let lines = group.lines.iter().map(|line| words("li", &unbroken(line)));
    let title = format!("{} ({})", group.title(), plural(group.lines.len(), "line"));
    folded(&unbroken(&title), vec![element("ul").class("lines").all(lines)], false)
}
