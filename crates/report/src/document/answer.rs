//! The first screen: the answer in one sentence, and for each ranking the trial to use, how certain
//! it is that no other trial is faster, the limit of the trial, and the best method of each
//! language.

use super::super::headline::{Headline, LanguageBest};
use super::super::page::Page;
use super::super::warning::WarningGroup;
use super::super::words::{capitalized, plural, unbroken, utc_time_text};
use super::table::dot;
use readlab_system::markup::{Element, element, text_element};

pub(super) fn answer(page: &Page) -> Element {
    let mut about = element("dl").class("about");
    for (name, texts) in [
        ("Read", page.target_titles.clone()),
        ("Baseline", page.baseline.iter().map(|line| capitalized(line)).collect()),
        ("Machine", vec![page.machine.clone()]),
        ("Begun", vec![utc_time_text(&page.start_time)]),
    ] {
        if !texts.is_empty() {
            about = about
                .with(text_element("dt", name))
                .with_all(texts.iter().map(|text| text_element("dd", text)));
        }
    }
    let claims = element("div").class("claims").with_all(page.headlines.iter().map(headline_card));
    super::opening(&unbroken(&page.answer), warning_notice(&page.warnings).into_iter().chain([claims, about]))
}

/// The sentence that there are warnings, with a link to them.
fn warning_notice(groups: &[WarningGroup]) -> Option<Element> {
    let text = match groups {
        [] => return None,
        [only] => format!("1 warning: {}", shortened_title(only)),
        [first, ..] => format!(
            "{}: {}, …",
            plural(groups.len(), "kind of warning").replace("kind of warnings", "kinds of warnings"),
            shortened_title(first)
        ),
    };
    Some(element("p").class("warned").with(text_element("a", &text).set("href", "#warnings")))
}

fn shortened_title(group: &WarningGroup) -> String {
    const LETTERS_MAX: usize = 60;
    let text = group.title();
    if text.chars().count() <= LETTERS_MAX {
        text
    } else {
        text.chars().take(LETTERS_MAX).chain(['…']).collect()
    }
}

fn headline_card(headline: &Headline) -> Element {
    let verb =
        headline.action.map(|action| text_element("span", &capitalized(&action.to_string())).class("verb"));
    let who = element("p").class("who").with_all(verb);
    let who = who.with_all(headline.language.iter().map(|it| dot(it))).text(&headline.trial);
    let who = who.with_all(headline.language.iter().map(|it| text_element("span", it).class("language")));
    let figure = text_element("p", &unbroken(&headline.rate_or_time)).class("figure");
    let figure = match &headline.interval_words {
        Some(sure) => figure.text(" ").with(text_element("small", &unbroken(sure))),
        None => figure,
    };
    let facts = [
        ("Baseline", &headline.ratio_words),
        ("How sure", &headline.certainty),
        ("Stops at", &headline.stops_at),
    ];
    let facts = facts.into_iter().filter(|(_, text)| !text.is_empty());
    let facts: Vec<Element> = facts
        .flat_map(|(name, text)| {
            [text_element("dt", name), text_element("dd", &unbroken(text)).class("against")]
        })
        .collect();
    element("div")
        .class("claim")
        .with(text_element("p", &headline.title).class("where"))
        .with(who)
        .with(figure)
        .with_all((!facts.is_empty()).then(|| element("dl").with_all(facts)))
        .with_all(languages_table(headline))
}

/// The best method of each language; `None` if there is only one language.
fn languages_table(headline: &Headline) -> Option<Element> {
    let row = |it: &LanguageBest| {
        element("tr")
            .with(element("th").set("scope", "row").with(dot(&it.language)).text(&it.language))
            .with(text_element("td", &it.short_name).set("title", &it.name))
            .with(text_element("td", &unbroken(&it.rate_or_time)))
            .with(text_element("td", &unbroken(&it.ratio_words)))
    };
    let caption =
        text_element("caption", &format!("The best of each language: {}", headline.title)).class("unseen");
    let titles =
        ["language", "method", "at", "× baseline"].map(|it| text_element("th", it).set("scope", "col"));
    let head = element("thead").class("unseen").with(element("tr").with_all(titles));
    let body = element("tbody").with_all(headline.languages.iter().map(row));
    (headline.languages.len() > 1)
        .then(|| element("table").class("languages").with(caption).with(head).with(body))
}
