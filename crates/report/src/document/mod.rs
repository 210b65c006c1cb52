//! The page as one HTML file that needs nothing else: no network, no fonts, no other file.
//!
//! Only layout: what is said comes from [`Page`], what is drawn from the charts. Sections that a
//! record has nothing for are left out, except those whose emptiness says something.

mod advice;
mod answer;
mod comparison;
mod facts;
mod filter;
mod fleet;
mod inside;
mod ranking;
mod sections;
mod sweep;
mod table;
mod warnings;

pub use comparison::comparison_html;
pub(super) use table::{Column, TableCell, table};

use super::charts::Chart;
use super::claims;
use super::page::Page;
use super::palette;
use readlab_system::markup::{self, Element, element, words};

/// Nothing may be loaded from anywhere, whatever a record holds.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// One part of the page.
pub(super) struct Section {
    pub(super) slug: &'static str,
    pub(super) title: &'static str,
    /// Its first sentence.
    pub(super) lead: &'static str,
    pub(super) content: Vec<Element>,
}

/// The whole page.
pub fn html(page: &Page) -> String {
    let advised = [warnings::section(page), advice::section(page)].into_iter().flatten();
    let measured = sections::all(page).into_iter().chain(claims::section(&page.judged_claims));
    let sections: Vec<Section> = advised.chain(measured).chain(facts::all(page)).collect();
    let target = page.target_titles.first().map_or("", String::as_str);
    let title = format!("readlab {} {}", page.verb, target.split(" · ").next().unwrap_or(""));
    let opening: Vec<Element> = std::iter::once(answer::answer(page)).chain(filter::controls(page)).collect();
    whole(&title, &page.answer, opening, sections, &[&page.maker, &page.end])
}

/// A page of its answer, with what belongs to it, and its sections.
fn whole(
    title: &str,
    description: &str,
    opening: Vec<Element>,
    sections: Vec<Section>,
    footer: &[&str],
) -> String {
    let body = element("body")
        .with(words("a", "Skip to the answer").class("skip").set("href", "#answer"))
        .with(top(&sections))
        .with(element("main").all(opening).all(sections.into_iter().map(Section::laid_out)))
        .with(element("footer").all(footer.iter().map(|line| words("p", line))))
        .with(element("script").verbatim(include_str!("../theme.js")))
        .with(element("script").verbatim(include_str!("../sort.js")))
        .with(element("script").verbatim(include_str!("../filter.js")));
    let document = element("html").set("lang", "en").with(head(title, description)).with(body);
    markup::page(document)
}

/// Every chart as a file of its own: its name without the ending, and its text.
pub fn charts(page: &Page) -> Vec<(String, String)> {
    let charts = sections::charts(page).into_iter();
    charts.map(|chart| (chart.slug.clone(), chart.standalone())).collect()
}

fn head(title: &str, description: &str) -> Element {
    let meta = |name: &'static str, content: &str| element("meta").set("name", name).set("content", content);
    element("head")
        .with(element("meta").set("charset", "utf-8"))
        .with(element("meta").set("http-equiv", "Content-Security-Policy").set("content", POLICY))
        .with(meta("viewport", "width=device-width, initial-scale=1"))
        .with(meta("color-scheme", "light dark"))
        .with(meta("description", description))
        .with(element("link").set("rel", "icon").set("href", "data:,"))
        .with(words("title", title.trim()))
        .with(element("style").text(&one_line(&palette::variables())))
        .with(element("style").verbatim(palette::chart_style()))
        .with(element("style").verbatim(include_str!("../style.css")))
}

/// Line ends would be written out as codes.
fn one_line(text: &str) -> String {
    text.replace('\n', " ")
}

fn top(sections: &[Section]) -> Element {
    let entry = |section: &Section| {
        element("li").with(words("a", section.title).set("href", format!("#{}", section.slug)))
    };
    let list = element("ul").all(sections.iter().map(entry));
    let theme = words("button", "Theme").set("type", "button").set("id", "theme").set("hidden", "hidden");
    element("header")
        .class("top")
        .with(words("span", "readlab").class("brand"))
        .with(element("nav").set("aria-label", "Sections").with(list))
        .with(theme)
}

impl Section {
    fn laid_out(self) -> Element {
        let heading = format!("{}-heading", self.slug);
        element("section")
            .set("id", self.slug)
            .set("aria-labelledby", &heading)
            .with(words("h2", self.title).set("id", &heading))
            .with(words("p", self.lead).class("lead"))
            .all(self.content)
    }
}

/// A chart with its heading.
fn figure(chart: Chart) -> Element {
    let heading = words("h3", &chart.title);
    element("figure").with(element("figcaption").with(heading)).with(chart.inline())
}

/// Something that opens with a click.
fn folded(title: &str, content: Vec<Element>, open: bool) -> Element {
    let details = element("details").maybe("open", open.then_some("open"));
    details.with(words("summary", title)).all(content)
}

/// The colours of the languages, in the order in which they come first; nothing where there is one
/// language.
fn legend_words<'a>(languages: impl Iterator<Item = &'a str>) -> Option<Element> {
    let mut names: Vec<&str> = Vec::new();
    for name in languages {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let entry = |name: &&str| element("li").with(table::dot(name)).text(name);
    let list = element("ul").class("legend").set("aria-label", "Colours of the languages");
    (names.len() > 1).then(|| list.all(names.iter().map(entry)))
}

/// Things side by side where there is room.
fn side_by_side(parts: impl IntoIterator<Item = Element>) -> Element {
    element("div").class("pair").all(parts)
}
