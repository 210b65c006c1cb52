//! The page as one self-contained HTML file: no network, no fonts, no other files.
//!
//! This module only lays out: the words come from [`Page`], the drawings from the charts. Sections
//! without content are left out.

mod advice;
mod answer;
mod comparison;
mod facts;
mod filter;
mod fleet;
mod inside;
mod ranking;
mod sections;
mod table;

pub use comparison::comparison_html;
pub(super) use table::{Column, table};

use super::charts::Chart;
use super::claims;
use super::groups;
use super::page::Page;
use super::palette;
use super::words::unbroken;
use readlab_system::markup::{self, Element, element, text_element};

/// With this policy, a browser loads nothing from other addresses, whatever names a record
/// contains.
const CONTENT_SECURITY_POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

pub(super) struct Section {
    slug: &'static str,
    title: &'static str,
    /// The introduction below the heading.
    lead: &'static str,
    content: Vec<Element>,
}

pub fn html(page: &Page) -> String {
    let advised = [facts::warnings(page), advice::section(page)].into_iter().flatten();
    let measured = sections::all(page).into_iter().chain(claims::section(&page.judged_claims));
    let sections: Vec<Section> = advised.chain(measured).chain(facts::closing_sections(page)).collect();
    let target = page.target_titles.first().map_or("", String::as_str);
    let title = format!("readlab {} {}", page.verb, target.split(" · ").next().unwrap_or(""));
    let opening: Vec<Element> = std::iter::once(answer::answer(page)).chain(filter::controls(page)).collect();
    html_document(&title, &page.answer, opening, sections, &[&page.version_and_seed, &page.end])
}

fn html_document(
    title: &str,
    description: &str,
    opening: Vec<Element>,
    sections: Vec<Section>,
    footer: &[&str],
) -> String {
    let body = element("body")
        .with(text_element("a", "Skip to the answer").class("skip").set("href", "#answer"))
        .with(page_header(&sections))
        .with(element("main").with_all(opening).with_all(sections.into_iter().map(Section::into_element)))
        .with(element("footer").with_all(footer.iter().map(|line| text_element("p", line))))
        .with(element("script").verbatim(include_str!("../theme.js")))
        .with(element("script").verbatim(include_str!("../sort.js")))
        .with(element("script").verbatim(include_str!("../filter.js")));
    let document = element("html").set("lang", "en").with(head(title, description)).with(body);
    markup::page(document)
}

/// All charts as separate files: the name without extension, and the text.
pub fn svg_files(page: &Page) -> Vec<(String, String)> {
    let charts = sections::charts(page).into_iter();
    charts.map(|chart| (chart.slug.clone(), chart.standalone_svg())).collect()
}

fn head(title: &str, description: &str) -> Element {
    let meta = |name: &'static str, content: &str| element("meta").set("name", name).set("content", content);
    // The writer of markup would escape newlines in this text.
    let variables = palette::color_variables().replace('\n', " ");
    element("head")
        .with(element("meta").set("charset", "utf-8"))
        .with(
            element("meta")
                .set("http-equiv", "Content-Security-Policy")
                .set("content", CONTENT_SECURITY_POLICY),
        )
        .with(meta("viewport", "width=device-width, initial-scale=1"))
        .with(meta("color-scheme", "light dark"))
        .with(meta("description", description))
        .with(element("link").set("rel", "icon").set("href", "data:,"))
        .with(text_element("title", title.trim()))
        .with(element("style").text(&variables))
        .with(element("style").verbatim(palette::CHART_STYLE))
        .with(element("style").verbatim(include_str!("../style.css")))
}

fn page_header(sections: &[Section]) -> Element {
    let entry = |section: &Section| {
        element("li").with(text_element("a", section.title).set("href", format!("#{}", section.slug)))
    };
    let list = element("ul").with_all(sections.iter().map(entry));
    let theme =
        text_element("button", "Theme").set("type", "button").set("id", "theme").set("hidden", "hidden");
    element("header")
        .class("top")
        .with(text_element("span", "readlab").class("brand"))
        .with(element("nav").set("aria-label", "Sections").with(list))
        .with(theme)
}

/// The first screen: the answer as the heading of the page, with its details.
fn opening(answer: &str, content: impl IntoIterator<Item = Element>) -> Element {
    element("section")
        .set("id", "answer")
        .set("aria-labelledby", "answer-heading")
        .with(text_element("h1", answer).set("id", "answer-heading"))
        .with_all(content)
}

impl Section {
    /// A section with this content; `None` without content.
    pub(super) fn with_content(
        slug: &'static str,
        title: &'static str,
        lead: &'static str,
        content: impl IntoIterator<Item = Element>,
    ) -> Option<Section> {
        let content: Vec<Element> = content.into_iter().collect();
        (!content.is_empty()).then_some(Section { slug, title, lead, content })
    }

    fn into_element(self) -> Element {
        let heading = format!("{}-heading", self.slug);
        element("section")
            .set("id", self.slug)
            .set("aria-labelledby", &heading)
            .with(text_element("h2", self.title).set("id", &heading))
            .with(text_element("p", self.lead).class("lead"))
            .with_all(self.content)
    }
}

fn figure_element(chart: Chart) -> Element {
    let heading = text_element("h3", &chart.title);
    element("figure").with(element("figcaption").with(heading)).with(chart.inline())
}

/// Elements side by side if there is room; `None` without elements.
fn side_by_side(parts: impl IntoIterator<Item = Element>) -> Option<Element> {
    let mut parts = parts.into_iter().peekable();
    parts.peek().is_some().then(|| element("div").class("pair").with_all(parts))
}

fn figures(charts: impl IntoIterator<Item = Chart>) -> Option<Element> {
    side_by_side(charts.into_iter().map(figure_element))
}

fn folded(title: &str, content: impl IntoIterator<Item = Element>, open: bool) -> Element {
    let details = element("details").set_if_some("open", open.then_some("open"));
    details.with(text_element("summary", title)).with_all(content)
}

fn item(line: impl AsRef<str>) -> Element {
    text_element("li", &unbroken(line.as_ref()))
}

/// Items one below the other; `None` without items.
fn list(items: impl IntoIterator<Item = Element>) -> Option<Element> {
    let mut items = items.into_iter().peekable();
    items.peek().is_some().then(|| element("ul").class("lines").with_all(items))
}

fn titled_list(title: &str, items: impl IntoIterator<Item = Element>) -> impl Iterator<Item = Element> {
    list(items).map(|list| [text_element("h3", title), list]).into_iter().flatten()
}

/// A list of the languages with their colours; `None` if there is only one language.
fn language_legend<'a>(languages: impl Iterator<Item = &'a str>) -> Option<Element> {
    let names = groups::firsts(languages, |name| *name);
    let entry = |name: &&str| element("li").with(table::dot(name)).text(name);
    let list = element("ul").class("legend").set("aria-label", "Colours of the languages");
    (names.len() > 1).then(|| list.with_all(names.iter().map(entry)))
}
