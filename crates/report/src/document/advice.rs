//! The section of advice: for each ranking the trial to use, and for each language its usual
//! method, its best method, the ratio of the two, what the best one needs, and the code.

use super::super::advice::{Advice, LanguageAdvice};
use super::super::page::Page;
use super::super::words::{capitalized, unbroken};
use super::table::dot;
use super::{Section, folded};
use readlab_catalog::snippet::Snippet;
use readlab_system::markup::{Element, element, text_element};

/// The section; `None` without advice.
pub(super) fn section(page: &Page) -> Option<Section> {
    let lead = "What to use, and the best way in each language beside its usual way, with how many times as fast it is. What to use follows only from differences that are statistically clear.";
    Section::with_content(
        "advice",
        "Advice",
        lead,
        page.advice.iter().map(|advice| advice_part(page, advice)),
    )
}

fn advice_part(page: &Page, advice: &Advice) -> Element {
    let title = text_element("p", &unbroken(&format!("{}.", capitalized(&advice.sentence))));
    let is_best = advice.by_language.iter().any(|it| advice.advised_trial == Some(it.best.index));
    let with_code = advice.advised_name.as_ref().filter(|_| !is_best && !advice.code.is_empty());
    let code =
        with_code.map(|name| folded(&format!("The code: {name}"), advice.code.iter().map(code_block), true));
    let languages = advice.by_language.iter().map(|it| language_details(page, advice, it));
    element("div").class("advice").with(title).with_all(code).with_all(languages)
}

/// The `details` element of one language, which is open if it holds the advised trial.
fn language_details(page: &Page, advice: &Advice, it: &LanguageAdvice) -> Element {
    let is_used = advice.advised_trial == Some(it.best.index);
    let summary = element("summary").with(dot(&it.language)).with(text_element("b", &it.language)).text(" ");
    let best = page.rankings[advice.ranking_index].row(it.best.index);
    let summary = summary.with(text_element("span", best.map_or("", |row| row.short_name.as_str())));
    let summary = summary.with(text_element("small", &unbroken(&it.words())));
    element("details")
        .set("data-language", &it.language)
        .set_if_some("open", is_used.then_some("open"))
        .with(summary)
        .with(fact_list(it))
        .with_all(it.code.iter().map(code_block))
}

fn fact_list(it: &LanguageAdvice) -> Element {
    let needs = match (it.code.is_empty(), it.needs.is_empty()) {
        // The needs of a method without a snippet are not known.
        (true, _) => String::new(),
        (false, true) => "nothing beyond the language".to_owned(),
        (false, false) => it.needs.join(", "),
    };
    let usual = it.usual.as_ref().map_or("", |usual| usual.name.as_str());
    let facts = [("Best", it.best.name.as_str()), ("Usual", usual), ("Needs", &needs)];
    let shown = facts.into_iter().filter(|(_, text)| !text.is_empty());
    element("dl")
        .class("about")
        .with_all(shown.flat_map(|(name, text)| [text_element("dt", name), text_element("dd", text)]))
}

fn code_block(snippet: &Snippet) -> Element {
    let label = format!("Code in {}", snippet.file_extension);
    let block = element("pre").class("code").set("tabindex", 0).set("aria-label", &label);
    block.with(element("code").lines(&snippet.code))
}
