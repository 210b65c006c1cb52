//! The page as Markdown: one GitHub table for each ranking, or for each way of a sweep.

use super::advice::LanguageAdvice;
use super::claims;
use super::columns::{COLUMNS, Column, RANK, TableFacts};
use super::inside::Inside;
use super::page::Page;
use super::ranking::{Rank, Ranking, RankingRow};
use super::sweep::{Series, SizeRow, SweepView};
use super::words::{self, NONE};
use readlab_analysis::compare::Center;
use readlab_system::markup::MARK;
use readlab_system::terminal::printable::printable;

/// The whole page.
pub fn markdown(page: &Page) -> String {
    let mut blocks: Vec<String> = Vec::new();
    for (index, ranking) in page.rankings.iter().enumerate() {
        blocks.extend(section(ranking, page.center));
        for advice in page.advice.iter().filter(|advice| advice.ranking == index) {
            blocks.push(format!("Advice, {}.", text(&advice.sentence)));
            let languages: Vec<String> = advice.by_language.iter().map(language).collect();
            blocks.extend((!languages.is_empty()).then(|| languages.join("\n")));
        }
    }
    blocks.extend(page.sweep.iter().flat_map(sweep));
    if page.shows_code() {
        let snippets = page.advice.iter().flat_map(|advice| &advice.code);
        blocks.extend(snippets.map(|snippet| format!("```{}\n{}```", snippet.language, snippet.code)));
    }
    let fleet = page.lines_of_many().map(|line| format!("- {}", text(&line)));
    let fleet: Vec<String> = fleet.collect();
    blocks.extend((!fleet.is_empty()).then(|| fleet.join("\n")));
    let archives = page.archives.iter().map(|it| format!("- Plain or packed: {}", text(&it.sentence())));
    let break_evens = page.break_evens.iter().map(|it| format!("- Break-even, {}", text(&it.sentence())));
    let archives: Vec<String> = archives.chain(break_evens).collect();
    blocks.extend((!archives.is_empty()).then(|| archives.join("\n")));
    blocks.extend(inside(page));
    blocks.extend(claims::markdown_tables(&page.judged_claims));
    if blocks.is_empty() {
        blocks.push("Nothing was measured: the record holds no trial.".to_owned());
    }
    let cautions = page.cautions.iter().map(|caution| format!("- Caution: {}", text(caution)));
    let mut facts: Vec<String> = cautions.collect();
    facts.push(format!("- Machine: {}", text(&page.machine)));
    facts.push(format!("- End: {}", text(&page.end)));
    facts.push(format!("- Repeat: {}", code(&page.command)));
    blocks.push(facts.join("\n"));
    marked(&blocks)
}

/// These blocks as a text that is known as readlab's.
pub(super) fn marked(blocks: &[String]) -> String {
    format!("{MARK}\n{}\n", blocks.join("\n\n"))
}

/// Whether a file that begins like this is such a text.
pub fn is_markdown(head: &str) -> bool {
    head.starts_with(MARK)
}

/// What was seen inside readings.
fn inside(page: &Page) -> Option<String> {
    let mut lines = vec!["### Inside a reading\n".to_owned()];
    for it in &page.inside {
        for line in it.flame_line().into_iter().chain(it.trace_line()) {
            lines.push(format!("- {}, {}: {}", code(&it.name), it.state, text(&line)));
        }
    }
    lines.extend(Inside::blind(&page.inside).iter().map(|note| format!("- Not shown: {}", text(note))));
    (!page.inside.is_empty()).then(|| lines.join("\n"))
}

/// The best way of a language beside its usual one.
fn language(advice: &LanguageAdvice) -> String {
    let usual = advice.usual.as_ref().filter(|usual| **usual != advice.best);
    let usual = usual.map_or_else(String::new, |usual| format!("; usual: {}", code(&usual.name)));
    let (language, best) = (text(&advice.language), code(&advice.best.name));
    format!("- {language}: {best}, {}{usual}", text(&advice.words()))
}

fn section(ranking: &Ranking, center: Center) -> Vec<String> {
    let size = ranking.size_words();
    let title = format!("### {}, {}, {}, {size}", ranking.condition(), ranking.work, code(&ranking.path));
    let mut blocks = vec![title, format!("**{}**", text(&ranking.headline()))];
    if !ranking.rows.is_empty() {
        let facts = TableFacts::of_ranking(ranking, center);
        let is_shown = |it: &&Column| it.in_markdown && it.is_held(facts, &ranking.rows);
        let columns: Vec<&Column> = COLUMNS.iter().filter(is_shown).collect();
        let titles: String = columns.iter().map(|it| format!(" {} |", it.heading(facts))).collect();
        let rules: String = columns.iter().map(|it| if it.is_text { " :-- |" } else { " --: |" }).collect();
        let mut lines =
            vec![format!("| {} | method |{titles}", RANK.heading(facts)), format!("| :-- | :-- |{rules}")];
        lines.extend(ranking.rows.iter().map(|row| line(row, &columns, facts)));
        blocks.push(lines.join("\n"));
    }
    let mut facts: Vec<String> =
        ranking.reference_line().iter().map(|it| format!("- {}", text(it))).collect();
    facts.extend(ranking.verdict_line().iter().map(|it| format!("- {}", text(it))));
    facts.extend(ranking.explanations.iter().map(|it| format!("- Explanation: {}", text(it))));
    let controls = ranking.controls.iter();
    facts.extend(controls.map(|it| format!("- control: {} {}", code(&it.name), words::time(&it.wall))));
    if !ranking.rows.is_empty() {
        facts.push(format!("- {}", text(&ranking.proof_line())));
        facts.extend(ranking.below.iter().map(|line| format!("- {}", text(line))));
    }
    facts.extend(ranking.fills_line().map(|it| format!("- {}", text(&it))));
    facts.extend(ranking.stops_line().map(|it| format!("- {}", text(&it))));
    let unmeasured = ranking.unmeasured.iter();
    facts.extend(unmeasured.map(|it| format!("- {}: {}: {}", it.outcome, code(&it.name), text(&it.reason))));
    facts.extend(ranking.search.map(|it| format!("- {}", text(&it.line()))));
    if !facts.is_empty() {
        blocks.push(facts.join("\n"));
    }
    blocks
}

/// A table for each way of writing and reading, and what the line through them says.
fn sweep(view: &SweepView) -> Vec<String> {
    let mut blocks: Vec<String> = view.series.iter().map(series).collect();
    let facts = view.unmeasured.iter().map(|it| format!("- {}", text(it)));
    let below = view.below.iter().map(|it| format!("- {}", text(it)));
    let facts: Vec<String> = below.chain(facts).collect();
    if !facts.is_empty() {
        blocks.push(facts.join("\n"));
    }
    blocks
}

fn series(series: &Series) -> String {
    let mut lines = vec![
        format!("### {}{}\n", code(&series.name), text(series.title().trim_start_matches(&series.name))),
        format!("| {} |", SizeRow::TITLES.join(" | ")),
        format!("| {} |", SizeRow::TITLES.map(|_| "--:").join(" | ")),
    ];
    lines.extend(series.sizes.iter().map(|row| format!("| {} |", row.texts().join(" | "))));
    lines.push(String::new());
    lines.push(format!("- {}", text(&series.headline())));
    lines.extend(series.line_words().map(|it| format!("- {}", text(&it))));
    lines.extend(series.band.iter().map(|it| format!("- Leaves the line: {}", text(it))));
    lines.extend(series.mixed.iter().map(|it| format!("- Mixed: {}", text(&it.sentence()))));
    lines.extend(series.known.proof_line().map(|it| format!("- {}", text(&it))));
    lines.join("\n")
}

fn line(row: &RankingRow, columns: &[&Column], facts: TableFacts) -> String {
    let rank = row.rank.map_or_else(String::new, Rank::word);
    let label = row.label.as_ref().map_or_else(String::new, |label| format!("{} ", text(label)));
    let mark = if row.is_marked { words::CONDUCT_MARK } else { "" };
    let cells = columns.iter().map(|column| match column.number(row, facts) {
        Some(number) if column.has_names => text(&number.text),
        Some(number) => number.text,
        None => NONE.to_owned(),
    });
    let cells: Vec<String> =
        [rank, format!("{label}{}{mark}", code(&row.name))].into_iter().chain(cells).collect();
    format!("| {} |", cells.join(" | "))
}

/// Text that Markdown shows as it is: what it would read as markup is escaped, a bar too, which
/// would end a cell.
pub(super) fn text(raw: &str) -> String {
    let mut shown = String::with_capacity(raw.len());
    for c in printable(raw).chars() {
        match c {
            '&' => shown.push_str("&amp;"),
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            '\\' | '|' | '`' | '*' | '_' | '[' | ']' | '~' | '#' => shown.extend(['\\', c]),
            _ => shown.push(c),
        }
    }
    shown
}

/// A name as code. Backslashes cannot escape inside a code span, so it is HTML, which tables take
/// as well.
pub(super) fn code(raw: &str) -> String {
    format!("<code>{}</code>", text(raw))
}
