//! The page as aligned text for a terminal: the answer and the advice first, which fit on one
//! screen, then one table for each ranking.
//!
//! Tables never exceed the width: see [`table`]. The caller decides whether to use colour. Colour
//! only repeats what the text says.

mod languages;
mod sweep;
mod table;

use super::claims;
use super::inside::InspectedTrial;
use super::limits;
use super::memory::MemoryView;
use super::page::Page;
use super::ranking::{Ranking, UnmeasuredLine};
use super::settings;
use super::words;
use anstyle::{AnsiColor, Color, Style as Ansi};
use readlab_analysis::verdict::Verdict;
use readlab_system::terminal::printable::printable;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    pub width: u16,
    /// Whether escape codes for colour may be used.
    pub may_use_color: bool,
}

impl Style {
    fn paint(self, text: &str, ansi: Ansi) -> String {
        let text = printable(text);
        if self.may_use_color { format!("{ansi}{text}{ansi:#}") } else { text }
    }

    fn colored(self, text: &str, color: AnsiColor) -> String {
        self.paint(text, Ansi::new().fg_color(Some(Color::Ansi(color))))
    }

    pub(super) fn bold(self, text: &str) -> String {
        self.paint(text, Ansi::new().bold())
    }

    pub(super) fn underlined(self, text: &str) -> String {
        self.paint(text, Ansi::new().underline())
    }
}

/// The whole page; `saved` is the path of the record.
pub fn terminal_page(page: &Page, style: Style, saved: Option<&str>) -> String {
    let mut lines = if page.is_limits_record { limit_lines(page, style) } else { ranking_lines(page, style) };
    // After a search, the user needs the code. It is below the tables, because a terminal shows the
    // last lines of an output.
    if page.shows_code() {
        lines.extend(advice_lines(page, style));
    }
    let archives = page.archives.iter().map(|it| format!("plain or packed: {}", it.sentence()));
    lines.extend(paragraph(archives));
    lines.extend(paragraph(page.break_evens.iter().map(|it| format!("break-even, {}", it.sentence()))));
    lines.extend(inside_lines(page, style));
    lines.extend(claims::terminal_lines(&page.judged_claims, style));
    lines.push(String::new());
    let caution = |text: &String| style.colored(&format!("caution: {text}"), AnsiColor::Yellow);
    lines.extend(page.cautions.iter().map(caution));
    lines.push(printable(&format!("machine: {}", page.machine)));
    lines.push(format!("end: {}", page.end));
    lines.extend(saved.map(|path| format!("record: {}", printable(path))));
    lines.push(String::new());
    lines.join("\n")
}

/// An empty line and then the lines; nothing without lines.
fn paragraph(lines: impl Iterator<Item = String>) -> impl Iterator<Item = String> {
    let mut lines = lines.map(|line| printable(&line)).peekable();
    lines.peek().is_some().then(String::new).into_iter().chain(lines)
}

/// The advice for each ranking and for each language, and after a search the code.
fn advice_lines(page: &Page, style: Style) -> Vec<String> {
    let (mut lines, mut shown) = (Vec::new(), Vec::new());
    for advice in &page.advice {
        lines.extend([String::new(), style.bold(&format!("advice, {}", advice.sentence))]);
        lines.extend(languages::table(&page.rankings[advice.ranking_index], &advice.by_language, style));
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

fn inside_lines(page: &Page, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    for it in &page.inspected_trials {
        lines.extend([String::new(), style.underlined(&format!("inside {}", it.title()))]);
        lines.extend(it.flame_line().into_iter().chain(it.trace_line()).map(|line| printable(&line)));
    }
    lines.extend(paragraph(
        InspectedTrial::notes_on_missing_parts(&page.inspected_trials)
            .iter()
            .map(|note| format!("inside: {note}")),
    ));
    lines
}

fn limit_lines(page: &Page, style: Style) -> Vec<String> {
    let missed = page.rankings.iter().flat_map(|ranking| &ranking.unmeasured);
    limits::table(&page.limits).into_iter().chain(missed.map(|it| unmeasured_line(it, style))).collect()
}

fn ranking_lines(page: &Page, style: Style) -> Vec<String> {
    let answered = page.rankings.iter().filter(|it| it.has_reportable_result());
    let headline = |it: &Ranking| style.bold(&(it.headline() + &stops_at_words(it)));
    let mut lines: Vec<String> = answered.map(headline).collect();
    lines.extend(page.baseline.as_deref().map(printable));
    lines.extend(page.lines_beyond_rankings().map(|line| printable(&line)));
    if !page.shows_code() {
        lines.extend(advice_lines(page, style));
    }
    if let Some(view) = &page.sweep {
        lines.extend(sweep::sweep_lines(view, style));
        lines.extend(view.unmeasured.iter().map(|line| printable(line)));
    } else if page.rankings.is_empty() {
        lines.push("nothing was measured: the record holds no trial".to_owned());
    }
    let memory = page.memory_views.iter().flat_map(MemoryView::tables);
    lines.extend(memory.flat_map(|(title, table)| table.titled_lines(&title, style)));
    let settings = settings::table(&page.settings).into_iter();
    lines.extend(settings.flat_map(|table| table.titled_lines("settings of the system", style)));
    for index in 0..page.rankings.len() {
        lines.push(String::new());
        lines.extend(ranking_section(page, index, style));
    }
    for located in &page.locations.tables {
        let title = format!("places · {}", located.title());
        let table = located.table(&page.rankings).into_iter();
        lines.extend(table.flat_map(|table| table.titled_lines(&title, style)));
    }
    lines
}

/// The clause after the headline on what limits the fastest trial; empty if that is not known.
fn stops_at_words(ranking: &Ranking) -> String {
    let judged = ranking.rows.first().and_then(|row| row.diagnosis.as_ref());
    let known = judged.filter(|it| !matches!(it.verdict, Verdict::Unknown { .. }));
    known.map_or_else(String::new, |it| format!("; stops at {}", it.short_cause()))
}

/// One ranking: its title, its table, and the lines below.
fn ranking_section(page: &Page, index: usize, style: Style) -> Vec<String> {
    let ranking = &page.rankings[index];
    let size = ranking.size_words();
    let title = format!("{} · {size} · {}", words::uncapitalized(&ranking.title()), ranking.path);
    let mut lines = vec![style.underlined(&title)];
    if !ranking.rows.is_empty() {
        let advised = page.advice.iter().find(|it| it.ranking_index == index).and_then(|it| it.advised_trial);
        lines.extend(table::table_lines(
            &table::table_rows(ranking, advised, page.lists_all),
            page.center,
            style,
        ));
    }
    let mut facts: Vec<String> = ranking.verdict_line().into_iter().collect();
    facts.extend(ranking.explanations.iter().map(|line| format!("explanation: {line}")));
    facts.extend(ranking.controls.iter().map(|control| {
        let sure = words::plus_minus(&control.wall).map_or_else(String::new, |text| format!(" {text}"));
        format!("control: {} {}{sure}", table::labelled_name(control), words::time(&control.wall))
    }));
    if !ranking.rows.is_empty() {
        facts.push(ranking.proof_line());
        facts.extend(ranking.layer_lines.iter().cloned());
    }
    facts.extend(ranking.fills_line().into_iter().chain(ranking.stops_line()));
    facts.extend(ranking.search.map(|search| search.line()));
    lines.extend(facts.iter().map(|line| printable(line)));
    lines.extend(ranking.unmeasured.iter().map(|it| unmeasured_line(it, style)));
    lines
}

fn unmeasured_line(it: &UnmeasuredLine, style: Style) -> String {
    style.colored(&format!("{}: {}: {}", it.outcome, it.name, it.reason), AnsiColor::Red)
}
