//! The first screen: the answer in one sentence, and for each ranking what to use, how sure that
//! is, what stops it, and the best way of each language.

use super::super::headline::{Headline, LanguageBest};
use super::super::page::Page;
use super::super::warning::WarningGroup;
use super::super::words::{capital, moment, plural, unbroken};
use super::table::dot;
use readlab_system::markup::{Element, element, words};

pub(super) fn answer(page: &Page) -> Element {
    let mut about = element("dl").class("about");
    for (name, texts) in [
        ("Read", page.target_titles.clone()),
        ("Baseline", page.baseline.iter().map(|line| capital(line)).collect()),
        ("Machine", vec![page.machine.clone()]),
        ("Begun", vec![moment(&page.started)]),
    ] {
        if !texts.is_empty() {
            about = about.with(words("dt", name)).all(texts.iter().map(|text| words("dd", text)));
        }
    }
    let claims = element("div").class("claims").all(page.headlines.iter().map(card));
    super::opening(&unbroken(&page.answer), warned(&page.warnings).into_iter().chain([claims, about]))
}

/// That there are warnings, with a link to them.
fn warned(groups: &[WarningGroup]) -> Option<Element> {
    let text = match groups {
        [] => return None,
        [only] => format!("1 warning: {}", summed_up(only)),
        [first, ..] => format!(
            "{}: {}, …",
            plural(groups.len(), "kind of warning").replace("kind of warnings", "kinds of warnings"),
            summed_up(first)
        ),
    };
    Some(element("p").class("warned").with(words("a", &text).set("href", "#warnings")))
}

fn summed_up(group: &WarningGroup) -> String {
    const LETTERS: usize = 60;
    let text = group.title();
    if text.chars().count() <= LETTERS { text } else { text.chars().take(LETTERS).chain(['…']).collect() }
}

fn card(headline: &Headline) -> Element {
    let verb = headline.deed.map(|deed| words("span", &capital(&deed.to_string())).class("verb"));
    let who = element("p").class("who").all(verb);
    let who = who.all(headline.language.iter().map(|it| dot(it))).text(&headline.who);
    let who = who.all(headline.language.iter().map(|it| words("span", it).class("language")));
    let figure = words("p", &unbroken(&headline.figure)).class("figure");
    let figure = match &headline.sure {
        Some(sure) => figure.text(" ").with(words("small", &unbroken(sure))),
        None => figure,
    };
    let facts =
        [("Baseline", &headline.against), ("How sure", &headline.tie), ("Stops at", &headline.stops_at)];
    let facts = facts.into_iter().filter(|(_, text)| !text.is_empty());
    let facts: Vec<Element> = facts
        .flat_map(|(name, text)| [words("dt", name), words("dd", &unbroken(text)).class("against")])
        .collect();
    element("div")
        .class("claim")
        .with(words("p", &headline.title).class("where"))
        .with(who)
        .with(figure)
        .all((!facts.is_empty()).then(|| element("dl").all(facts)))
        .all(languages(headline))
}

/// The best way of each language; nothing where there is one.
fn languages(headline: &Headline) -> Option<Element> {
    let row = |it: &LanguageBest| {
        element("tr")
            .with(element("th").set("scope", "row").with(dot(&it.language)).text(&it.language))
            .with(words("td", &it.short).set("title", &it.name))
            .with(words("td", &unbroken(&it.figure)))
            .with(words("td", &unbroken(&it.times)))
    };
    let caption = words("caption", &format!("The best of each language: {}", headline.title)).class("unseen");
    let titles = ["language", "method", "at", "× baseline"].map(|it| words("th", it).set("scope", "col"));
    let head = element("thead").class("unseen").with(element("tr").all(titles));
    let body = element("tbody").all(headline.languages.iter().map(row));
    (headline.languages.len() > 1)
        .then(|| element("table").class("languages").with(caption).with(head).with(body))
}
