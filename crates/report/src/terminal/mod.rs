//! The page as aligned text for a terminal: the answer first, then one table for each ranking, then
//! the advice.
//!
//! Tables never exceed the width: see [`table`]. Whether to colour is the caller's decision. Colour
//! only repeats what the text says.

mod languages;
mod sweep;
mod table;

use super::claims;
use super::inside::Inside;
use super::limits;
use super::page::Page;
use super::ranking::Unmeasured;
use super::words;
use anstyle::{AnsiColor, Color, Style as Ansi};
use readlab_system::terminal::printable::printable;

/// How text is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Columns of the terminal.
    pub width: u16,
    /// Whether escape codes for colour may be used.
    pub color: bool,
}

/// The whole page; `saved` is the path of the record.
pub fn terminal(page: &Page, style: Style, saved: Option<&str>) -> String {
    let mut lines = if page.is_of_limits { limits_of(page, style) } else { rankings(page, style) };
    lines.extend(advice(page, style));
    lines.extend((!page.archives.is_empty()).then(String::new));
    lines.extend(page.archives.iter().map(|it| printable(&format!("plain or packed: {}", it.sentence()))));
    lines.extend((!page.break_evens.is_empty()).then(String::new));
    lines.extend(page.break_evens.iter().map(|it| printable(&format!("break-even, {}", it.sentence()))));
    lines.extend(inside(page, style));
    lines.extend(claims::terminal_sections(&page.judged_claims, style));
    lines.push(String::new());
    let caution = Ansi::new().fg_color(Some(Color::Ansi(AnsiColor::Yellow)));
    let cautions =
        page.cautions.iter().map(|text| paint(&format!("caution: {}", printable(text)), caution, style));
    lines.extend(cautions);
    lines.push(printable(&format!("machine: {}", page.machine)));
    lines.push(format!("end: {}", page.end));
    lines.extend(saved.map(|path| format!("record: {}", printable(path))));
    lines.push(String::new());
    lines.join("\n")
}

/// What to use, for each language too, and after a search the code for it.
fn advice(page: &Page, style: Style) -> Vec<String> {
    let (mut lines, mut shown) = (Vec::new(), Vec::new());
    for advice in &page.advice {
        lines.push(String::new());
        lines.push(paint(&printable(&format!("advice, {}", advice.sentence)), Ansi::new().bold(), style));
        lines.extend(languages::table(&page.rankings[advice.ranking], &advice.by_language, style));
        let of_languages = advice.by_language.iter().flat_map(|it| &it.code);
        for snippet in advice.code.iter().chain(of_languages).filter(|_| page.shows_code()) {
            if shown.contains(&snippet) {
                continue;
            }
            shown.push(snippet);
            lines.push(String::new());
            lines.extend(snippet.code.lines().map(|line| format!("    {line}").trim_end().to_owned()));
        }
    }
    lines
}

/// What was seen inside readings, and what is not seen there.
fn inside(page: &Page, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    for it in &page.inside {
        lines.push(String::new());
        lines.push(paint(&printable(&format!("inside {}", it.title())), Ansi::new().underline(), style));
        lines.extend(it.flame_line().into_iter().chain(it.trace_line()).map(|line| printable(&line)));
    }
    let blind = Inside::blind(&page.inside);
    lines.extend((!blind.is_empty()).then(String::new));
    lines.extend(blind.iter().map(|note| printable(&format!("inside: {note}"))));
    lines
}

/// The table of limits, and what could not be measured.
fn limits_of(page: &Page, style: Style) -> Vec<String> {
    let mut lines = limits::table(&page.limits);
    let missed = page.rankings.iter().flat_map(|ranking| &ranking.unmeasured);
    lines.extend(missed.map(|it| unmeasured(it, style)));
    lines
}

/// The answers, then one section for each ranking.
fn rankings(page: &Page, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    for ranking in page.rankings.iter().filter(|it| it.says_something()) {
        lines.push(paint(&printable(&ranking.headline()), Ansi::new().bold(), style));
    }
    lines.extend(page.baseline.as_deref().map(printable));
    lines.extend(page.lines_of_many().map(|line| printable(&line)));
    if let Some(view) = &page.sweep {
        lines.extend(sweep::sections(view, style));
        lines.extend(view.unmeasured.iter().map(|line| printable(line)));
    } else if page.rankings.is_empty() {
        lines.push("nothing was measured: the record holds no trial".to_owned());
    }
    for index in 0..page.rankings.len() {
        lines.push(String::new());
        lines.extend(section(page, index, style));
    }
    lines
}

/// One ranking: title, table, and the lines below it.
fn section(page: &Page, index: usize, style: Style) -> Vec<String> {
    let ranking = &page.rankings[index];
    let size = ranking.size_words();
    let title = format!("{} · {size} · {}", words::uncapital(&ranking.title()), ranking.path);
    let mut lines = vec![paint(&printable(&title), Ansi::new().underline(), style)];
    if !ranking.rows.is_empty() {
        let advised = page.advice.iter().find(|it| it.ranking == index).and_then(|it| it.uses);
        lines.extend(table::lines(&table::table_rows(ranking, advised, page.lists_all), page.center, style));
    }
    lines.extend(ranking.verdict_line().map(|line| printable(&line)));
    lines.extend(ranking.explanations.iter().map(|line| printable(&format!("explanation: {line}"))));
    for control in &ranking.controls {
        let sure = words::plus_minus(&control.wall).map_or_else(String::new, |text| format!(" {text}"));
        lines.push(format!("control: {} {}{sure}", table::name(control), words::time(&control.wall)));
    }
    if !ranking.rows.is_empty() {
        lines.push(printable(&ranking.proof_line()));
        lines.extend(ranking.below.iter().map(|line| printable(line)));
    }
    lines.extend(ranking.fills_line().map(|line| printable(&line)));
    lines.extend(ranking.stops_line());
    lines.extend(ranking.search.map(|search| search.line()));
    lines.extend(ranking.unmeasured.iter().map(|it| unmeasured(it, style)));
    lines
}

fn unmeasured(it: &Unmeasured, style: Style) -> String {
    let failed = Ansi::new().fg_color(Some(Color::Ansi(AnsiColor::Red)));
    paint(&printable(&format!("{}: {}: {}", it.outcome, it.name, it.reason)), failed, style)
}

pub(super) fn paint(text: &str, ansi: Ansi, style: Style) -> String {
    if style.color { format!("{ansi}{text}{ansi:#}") } else { text.to_owned() }
}
