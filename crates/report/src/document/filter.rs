//! The filter by language and text: controls that the script of the page shows, and the names by
//! which the script finds rows. Without scripts, the controls stay hidden and all rows are visible.

use super::super::groups;
use super::super::name::MethodLabel;
use super::super::page::Page;
use super::super::palette::language_class;
use readlab_model::trial::TrialIndex;
use readlab_system::markup::{Element, element, text_element};
use std::collections::BTreeMap;

/// The controls; `None` if fewer than two methods are shown.
pub(super) fn controls(page: &Page) -> Option<Element> {
    let labels = labels(page);
    let rows = page.rankings.iter().flat_map(|it| &it.rows).map(MethodLabel::from);
    let shown = rows.chain(labels.values().copied());
    let languages = groups::firsts(shown.map(|it| it.language), |language| *language);
    let chip = |language: &&str| {
        let check = element("input").set("type", "checkbox").set("value", language);
        let dot = element("i").class(&format!("dot {}", language_class(language)));
        element("label").class("chip").with(check).with(dot).text(language)
    };
    let group = element("fieldset").with(text_element("legend", "Languages").class("unseen"));
    let find = element("input").set("type", "search").set("id", "filter-text");
    let find = find.set("autocomplete", "off").set("placeholder", "Filter methods");
    let form = element("form").set("id", "filter").set("role", "search").set("hidden", "hidden");
    let form = form
        .set("aria-label", "Filter the methods in tables and charts")
        .with(text_element("label", "Filter methods by name").class("unseen").set("for", "filter-text"))
        .with(find)
        .with(group.with_all(languages.iter().map(chip)))
        .with(text_element("button", "Show all").set("type", "reset").set("hidden", "hidden"))
        .with(element("p").set("id", "filter-count").set("role", "status").set("aria-live", "polite"));
    (labels.len() > 1).then(|| form.with(list(&labels)))
}

/// A hidden list of all shown trials with their languages and names, which the script reads.
fn list(labels: &BTreeMap<TrialIndex, MethodLabel>) -> Element {
    let one = |label: &MethodLabel| {
        let short =
            if label.short_name == label.name { String::new() } else { format!(" {}", label.short_name) };
        text_element("li", label.name)
            .text(&short)
            .set("data-trial", label.trial)
            .set("data-language", label.language)
    };
    element("ul").set("id", "methods").set("hidden", "hidden").with_all(labels.values().map(one))
}

fn labels(page: &Page) -> BTreeMap<TrialIndex, MethodLabel<'_>> {
    let ranked =
        page.rankings.iter().flat_map(|it| it.rows.iter().chain(&it.searched)).map(MethodLabel::from);
    let inside = page.inspected_trials.iter().map(MethodLabel::from);
    ranked.chain(inside).map(|label| (label.trial, label)).collect()
}
