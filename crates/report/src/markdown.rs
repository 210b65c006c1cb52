//! The page as Markdown: one GitHub table for each ranking, or for each series of a sweep.

use super::advice::LanguageAdvice;
use super::claims;
use super::columns::{COLUMNS, Column, RANK_COLUMN, TableFacts};
use super::inside::InspectedTrial;
use super::memory::MemoryView;
use super::page::Page;
use super::ranking::{Rank, Ranking, RankingRow};
use super::settings;
use super::sweep::{Series, SizeRow, SweepView};
use super::table::Table;
use super::words::{self, NONE};
use readlab_analysis::compare::Center;
use readlab_system::markup::MARK;
use readlab_system::terminal::printable::printable;

pub fn markdown(page: &Page) -> String {
    let mut blocks: Vec<String> = Vec::new();
    for (index, ranking) in page.rankings.iter().enumerate() {
        blocks.extend(ranking_section(ranking, page.center));
        for advice in page.advice.iter().filter(|advice| advice.ranking_index == index) {
            blocks.push(format!("Advice, {}.", escape_markup(&advice.sentence)));
            blocks.push(advice.by_language.iter().map(language_line).collect::<Vec<_>>().join("\n"));
        }
    }
    for located in &page.locations.tables {
        let table = located.table(&page.rankings);
        blocks.extend(table.map(|table| format!("{}\n\n{}", located.markdown_title(), table.markdown())));
    }
    blocks.extend(page.sweep.iter().flat_map(sweep_blocks));
    if page.shows_code() {
        let snippets = page.advice.iter().flat_map(|advice| &advice.code);
        blocks.extend(snippets.map(|snippet| format!("```{}\n{}```", snippet.file_extension, snippet.code)));
    }
    blocks.push(list(page.lines_beyond_rankings()));
    for (title, table) in page.memory_views.iter().flat_map(MemoryView::tables) {
        blocks.push(format!("### {}\n\n{}", escape_markup(&words::capitalized(&title)), table.markdown()));
    }
    blocks.extend(settings::table(&page.settings).as_ref().map(Table::markdown));
    let archives = page.archives.iter().map(|it| format!("Plain or packed: {}", it.sentence()));
    let break_evens = page.break_evens.iter().map(|it| format!("Break-even, {}", it.sentence()));
    blocks.push(list(archives.chain(break_evens)));
    blocks.retain(|block| !block.is_empty());
    blocks.extend(inside_section(page));
    blocks.extend(claims::markdown_tables(&page.judged_claims));
    if blocks.is_empty() {
        blocks.push("Nothing was measured: the record holds no trial.".to_owned());
    }
    let facts = page.cautions.iter().map(|caution| format!("Caution: {caution}"));
    let facts = facts.chain([format!("Machine: {}", page.machine), format!("End: {}", page.end)]);
    blocks.push(format!("{}\n- Repeat: {}", list(facts), code_span(&page.command)));
    marked_text(&blocks)
}

/// A list with one item for each line; empty without lines.
pub(super) fn list(lines: impl IntoIterator<Item = String>) -> String {
    lines.into_iter().map(|line| format!("- {}", escape_markup(&line))).collect::<Vec<_>>().join("\n")
}

/// Joins blocks of Markdown after [`MARK`], by which readlab recognizes its own Markdown.
pub(super) fn marked_text(blocks: &[String]) -> String {
    format!("{MARK}\n{}\n", blocks.join("\n\n"))
}

/// Whether a file that begins with `head` is Markdown that readlab wrote.
pub fn is_own_markdown(head: &str) -> bool {
    head.starts_with(MARK)
}

fn inside_section(page: &Page) -> Option<String> {
    let mut lines = vec!["### Inside a reading\n".to_owned()];
    for it in &page.inspected_trials {
        for line in it.flame_line().into_iter().chain(it.trace_line()) {
            lines.push(format!("- {}, {}: {}", code_span(&it.name), it.state, escape_markup(&line)));
        }
    }
    lines.extend(
        InspectedTrial::notes_on_missing_parts(&page.inspected_trials)
            .iter()
            .map(|note| format!("- Not shown: {}", escape_markup(note))),
    );
    (!page.inspected_trials.is_empty()).then(|| lines.join("\n"))
}

fn language_line(advice: &LanguageAdvice) -> String {
    let usual = advice.usual.as_ref().filter(|usual| **usual != advice.best);
    let usual = usual.map_or_else(String::new, |usual| format!("; usual: {}", code_span(&usual.name)));
    let (language, best) = (escape_markup(&advice.language), code_span(&advice.best.name));
    format!("- {language}: {best}, {}{usual}", escape_markup(&advice.words()))
}

fn ranking_section(ranking: &Ranking, center: Center) -> Vec<String> {
    let size = ranking.size_words();
    let title =
        format!("### {}, {}, {}, {size}", ranking.condition(), ranking.work, code_span(&ranking.path));
    let mut blocks = vec![title, format!("**{}**", escape_markup(&ranking.headline()))];
    if !ranking.rows.is_empty() {
        let facts = TableFacts::from_ranking(ranking, center);
        let is_shown = |it: &&Column| it.is_in_markdown && it.is_in_table(facts, &ranking.rows);
        let columns: Vec<&Column> = COLUMNS.iter().filter(is_shown).collect();
        let titles: String = columns.iter().map(|it| format!(" {} |", it.heading(facts))).collect();
        let rules: String = columns.iter().map(|it| if it.is_text { " :-- |" } else { " --: |" }).collect();
        let mut lines = vec![
            format!("| {} | method |{titles}", RANK_COLUMN.heading(facts)),
            format!("| :-- | :-- |{rules}"),
        ];
        lines.extend(ranking.rows.iter().map(|row| row_line(row, &columns, facts)));
        blocks.push(lines.join("\n"));
    }
    let explanations = ranking.explanations.iter().map(|it| format!("Explanation: {it}"));
    let lines = ranking.reference_line().into_iter().chain(ranking.verdict_line()).chain(explanations);
    let mut facts = vec![list(lines)];
    let controls = ranking.controls.iter();
    facts.extend(controls.map(|it| format!("- control: {} {}", code_span(&it.name), words::time(&it.wall))));
    if !ranking.rows.is_empty() {
        facts.push(list([ranking.proof_line()].into_iter().chain(ranking.layer_lines.iter().cloned())));
    }
    facts.push(list(ranking.fills_line().into_iter().chain(ranking.stops_line())));
    let unmeasured = ranking.unmeasured.iter();
    facts.extend(
        unmeasured
            .map(|it| format!("- {}: {}: {}", it.outcome, code_span(&it.name), escape_markup(&it.reason))),
    );
    facts.push(list(ranking.search.map(|it| it.line())));
    facts.retain(|lines| !lines.is_empty());
    blocks.extend((!facts.is_empty()).then(|| facts.join("\n")));
    blocks
}

/// A table for each series of a sweep, and the facts of the line through its times.
fn sweep_blocks(view: &SweepView) -> Vec<String> {
    let mut blocks: Vec<String> = view.series.iter().map(series_block).collect();
    blocks.push(list(view.layer_lines.iter().chain(&view.unmeasured).cloned()));
    blocks.retain(|block| !block.is_empty());
    blocks
}

fn series_block(series: &Series) -> String {
    let mut lines = vec![
        format!(
            "### {}{}\n",
            code_span(&series.name),
            escape_markup(series.title().trim_start_matches(&series.name))
        ),
        format!("| {} |", SizeRow::TITLES.join(" | ")),
        format!("| {} |", SizeRow::TITLES.map(|_| "--:").join(" | ")),
    ];
    lines.extend(series.sizes.iter().map(|row| format!("| {} |", row.cell_texts().join(" | "))));
    let facts = [series.headline()].into_iter().chain(series.line_words());
    let band = series.band_sentences.iter().map(|it| format!("Leaves the line: {it}"));
    let mixed = series.mixed.iter().map(|it| format!("Mixed: {}", it.sentence()));
    let facts = facts.chain(band).chain(mixed).chain(series.facts.proof_line());
    lines.extend([String::new(), list(facts)]);
    lines.join("\n")
}

fn row_line(row: &RankingRow, columns: &[&Column], facts: TableFacts) -> String {
    let rank = row.rank.map_or_else(String::new, Rank::word);
    let label = row.label.as_ref().map_or_else(String::new, |label| format!("{} ", escape_markup(label)));
    let mark = if row.is_marked { words::CONDUCT_MARK } else { "" };
    let cells = columns.iter().map(|column| match column.number(row, facts) {
        Some(number) if column.shows_names => escape_markup(&number.text),
        Some(number) => number.text,
        None => NONE.to_owned(),
    });
    let cells: Vec<String> =
        [rank, format!("{label}{}{mark}", code_span(&row.id.to_string()))].into_iter().chain(cells).collect();
    format!("| {} |", cells.join(" | "))
}

/// Escapes the markup of Markdown and the bar, which would end the cell of a table.
pub(super) fn escape_markup(raw: &str) -> String {
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

/// A name as code. It is an HTML element, because a code span of Markdown has no escapes. Cells of
/// tables may hold HTML.
pub(super) fn code_span(raw: &str) -> String {
    format!("<code>{}</code>", escape_markup(raw))
}
