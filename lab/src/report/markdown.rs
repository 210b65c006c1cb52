//! The page as Markdown: one GitHub table for each ranking, or for each way of a sweep.

use super::claims;
use super::inside::Inside;
use super::page::Page;
use super::ranking::{Pieces, Rank, Ranking, RankingRow};
use super::sweep::{Series, SizeRow, SweepView};
use super::words::{self, NONE};
use crate::analysis::compare::Center;
use crate::record::Metric;
use crate::terminal::printable::printable;
use crate::units::Bytes;

/// The whole page.
pub fn markdown(page: &Page) -> String {
    let mut blocks: Vec<String> = Vec::new();
    for (index, ranking) in page.rankings.iter().enumerate() {
        blocks.extend(section(ranking, page.center));
        let advice = page.advice.iter().filter(|advice| advice.ranking == index);
        blocks.extend(advice.map(|advice| format!("Advice, {}.", text(&advice.sentence))));
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
    blocks.join("\n\n") + "\n"
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

fn section(ranking: &Ranking, center: Center) -> Vec<String> {
    let size = ranking.size_words();
    let title = format!("### {}, {}, {}, {size}", ranking.condition(), ranking.work, code(&ranking.path));
    let mut blocks = vec![title, format!("**{}**", text(&ranking.headline()))];
    if !ranking.rows.is_empty() {
        let optional = OptionalColumns::for_ranking(ranking);
        let (title, rule) = optional.head();
        let [located, scatter] = match center {
            Center::Median => ["median", "±95 %"],
            Center::Mean => ["mean", "sd"],
        };
        let mut lines = vec![
            format!(
                "| # | method | {located} | {scatter} | rate |{title} user | system | peak | × reference | stops at |"
            ),
            format!("| :-- | :-- | --: | --: | --: |{rule} --: | --: | --: | :-- | :-- |"),
        ];
        lines.extend(ranking.rows.iter().map(|row| line(row, center, optional)));
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

/// The quantiles of single reads that have a column.
const LATENCIES: [&str; 3] = ["p50", "p99", "p99.9"];

/// The columns that only some tables have.
#[derive(Debug, Clone, Copy)]
struct OptionalColumns {
    /// Only what is decoded has other bytes going in than coming out.
    rate_in: bool,
    /// Only what is read in pieces has it.
    pieces: Option<Pieces>,
    /// Only where single reads are timed.
    latency: bool,
    /// Only what is requested has it.
    first_byte: bool,
}

impl OptionalColumns {
    fn for_ranking(ranking: &Ranking) -> OptionalColumns {
        let has_first_byte = |row: &RankingRow| row.summaries.contains_key(&Metric::FirstByteNs);
        OptionalColumns {
            rate_in: ranking.decodes.is_some(),
            pieces: ranking.pieces,
            latency: ranking.rows.iter().any(|row| row.latency.is_some()),
            first_byte: ranking.rows.iter().any(has_first_byte),
        }
    }

    /// Their titles and the rules below them.
    fn head(self) -> (String, String) {
        let shown =
            |is_shown: bool, titles: &[&'static str]| if is_shown { titles.to_vec() } else { Vec::new() };
        let titles = [
            shown(self.rate_in, &["rate in"]),
            self.pieces.iter().map(|pieces| pieces.rate_title()).collect(),
            shown(self.latency, &LATENCIES),
            shown(self.first_byte, &["first byte"]),
        ];
        titles.concat().iter().map(|title| (format!(" {title} |"), " --: |")).unzip()
    }
}

fn line(row: &RankingRow, center: Center, optional: OptionalColumns) -> String {
    let median = |metric| row.summaries.get(&metric).map(|summary| summary.median);
    let time = |metric| row.summaries.get(&metric).map_or_else(|| NONE.to_owned(), words::time);
    let rank = row.rank.map_or_else(String::new, Rank::word);
    let label = row.label.as_ref().map_or_else(String::new, |label| format!("{} ", text(label)));
    let peak = median(Metric::PeakRssBytes).map_or_else(|| NONE.to_owned(), |bytes| Bytes(bytes).binary());
    let mut cells = vec![
        rank,
        format!("{label}{}{}", code(&row.name), if row.is_marked { words::CONDUCT_MARK } else { "" }),
        words::located(&row.wall, center),
        words::scatter(&row.wall, center).unwrap_or_else(|| NONE.to_owned()),
        words::rate(row.throughput, &row.wall),
    ];
    cells.extend(optional.rate_in.then(|| words::rate(row.rate_in, &row.wall)));
    let pieces = |_| row.pieces_per_s.map_or_else(|| NONE.to_owned(), words::pieces_per_s);
    cells.extend(optional.pieces.map(pieces));
    let latency = |name: &&str| row.latency(name).map_or_else(|| NONE.to_owned(), |it| it.to_string());
    cells.extend(LATENCIES.iter().filter(|_| optional.latency).map(latency));
    cells.extend(optional.first_byte.then(|| time(Metric::FirstByteNs)));
    cells.extend([
        time(Metric::CpuUserNs),
        time(Metric::CpuSystemNs),
        peak,
        row.ratio.map_or_else(|| NONE.to_owned(), |ratio| words::ratio(&ratio)),
        row.diagnosis.as_ref().map_or_else(|| NONE.to_owned(), |it| text(&it.stops_at())),
    ]);
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
