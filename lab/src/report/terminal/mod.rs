//! The page as aligned text for a terminal: the answer first, then one table for each ranking.
//!
//! Columns that do not fit the width are left out, the least needed first; if it is still too
//! narrow, names are broken over lines. Whether to colour is the caller's decision. Colour only
//! repeats what the text says.

mod sweep;

use super::grid::{Grid, bold, left, right};
use super::inside::Inside;
use super::limits;
use super::page::Page;
use super::ranking::{Rank, Ranking, RankingRow, Unmeasured};
use super::words::{self, NONE};
use crate::analysis::verdict::Diagnosis;
use crate::record::Metric;
use crate::terminal::printable::printable;
use crate::units::Bytes;
use anstyle::{AnsiColor, Color, Style as Ansi};

/// How text is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Columns of the terminal.
    pub width: u16,
    /// Whether escape codes for colour may be used.
    pub color: bool,
}

/// Cells of the longest bar.
const BAR_CELLS: f64 = 10.0;

/// One column of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Rank,
    Method,
    Median,
    PlusMinus,
    Rate,
    RateIn,
    Bar,
    User,
    System,
    Peak,
    Ratio,
    StopsAt,
}

impl Column {
    const ALL: [Column; 12] = [
        Column::Rank,
        Column::Method,
        Column::Median,
        Column::PlusMinus,
        Column::Rate,
        Column::RateIn,
        Column::Bar,
        Column::User,
        Column::System,
        Column::Peak,
        Column::Ratio,
        Column::StopsAt,
    ];
    /// What a narrow terminal does without, in this order.
    const SPARE: [Column; 6] =
        [Column::Bar, Column::Peak, Column::System, Column::User, Column::StopsAt, Column::PlusMinus];

    fn title(self) -> &'static str {
        match self {
            Column::Rank => "#",
            Column::Method => "method",
            Column::Median => "median",
            Column::PlusMinus => "±95 %",
            Column::Rate => "rate",
            Column::RateIn => "rate in",
            Column::Bar => "",
            Column::User => "user",
            Column::System => "system",
            Column::Peak => "peak",
            Column::Ratio => "× reference",
            Column::StopsAt => "stops at",
        }
    }

    /// Whether it is aligned left; numbers are aligned right.
    fn is_text(self) -> bool {
        matches!(self, Column::Rank | Column::Method | Column::Bar | Column::Ratio | Column::StopsAt)
    }

    fn text(self, row: &RankingRow, fastest: f64) -> String {
        let median = |metric| row.summaries.get(&metric).map(|summary| summary.median);
        let time = |metric| row.summaries.get(&metric).map(words::time);
        let text = match self {
            Column::Rank => row.rank.map(Rank::word),
            Column::Method => Some(name(row)),
            Column::Median => Some(words::time(&row.wall)),
            Column::PlusMinus => words::plus_minus(&row.wall),
            Column::Rate => Some(words::rate(row.throughput)),
            Column::RateIn => row.rate_in.map(|rate| rate.to_string()),
            Column::Bar => Some(bar(row.throughput.map_or(0.0, |rate| rate.0 / fastest))),
            Column::User => time(Metric::CpuUserNs),
            Column::System => time(Metric::CpuSystemNs),
            Column::Peak => median(Metric::PeakRssBytes).map(|bytes| Bytes(bytes).binary()),
            Column::Ratio => Some(row.ratio.map_or_else(|| NONE.to_owned(), |ratio| words::ratio(&ratio))),
            Column::StopsAt => row.diagnosis.as_ref().map(Diagnosis::stops_at),
        };
        text.unwrap_or_else(|| NONE.to_owned())
    }
}

/// The whole page; `saved` is the path of the record.
#[must_use]
pub fn terminal(page: &Page, style: Style, saved: Option<&str>) -> String {
    let mut lines = if page.is_of_limits() { limits_of(page, style) } else { rankings(page, style) };
    lines.extend(advice(page, style));
    lines.extend(inside(page, style));
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

/// What to use, and after a search the code for it.
fn advice(page: &Page, style: Style) -> Vec<String> {
    let (mut lines, mut shown) = (Vec::new(), Vec::new());
    for advice in &page.advice {
        lines.push(String::new());
        lines.push(paint(&printable(&format!("advice, {}", advice.sentence)), Ansi::new().bold(), style));
        for snippet in advice.code.iter().filter(|_| page.shows_code()) {
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
    if let Some(view) = &page.sweep {
        lines.extend(sweep::sections(view, style));
        lines.extend(view.unmeasured.iter().map(|line| printable(line)));
    } else if page.rankings.is_empty() {
        lines.push("nothing was measured: the record holds no trial".to_owned());
    }
    for ranking in &page.rankings {
        lines.push(String::new());
        lines.extend(section(ranking, style));
    }
    lines
}

/// One ranking: title, table, and the lines below it.
fn section(ranking: &Ranking, style: Style) -> Vec<String> {
    let size = ranking.size_words();
    let title = format!("{} · {size} · {}", words::uncapital(&ranking.title()), ranking.path);
    let mut lines = vec![paint(&printable(&title), Ansi::new().underline(), style)];
    if !ranking.rows.is_empty() {
        lines.extend(table(&ranking.rows, style));
    }
    lines.extend(ranking.reference_line().map(|line| printable(&line)));
    lines.extend(ranking.verdict_line().map(|line| printable(&line)));
    lines.extend(ranking.explanations.iter().map(|line| printable(&format!("explanation: {line}"))));
    for control in &ranking.controls {
        let sure = words::plus_minus(&control.wall).map_or_else(String::new, |text| format!(" {text}"));
        lines.push(format!("control: {} {}{sure}", name(control), words::time(&control.wall)));
    }
    if !ranking.rows.is_empty() {
        lines.push(printable(&ranking.proof_line()));
        lines.extend(ranking.below.iter().map(|line| printable(line)));
    }
    lines.extend(ranking.fills_line().map(|line| printable(&line)));
    lines.extend(ranking.search.map(|search| search.line()));
    lines.extend(ranking.unmeasured.iter().map(|it| unmeasured(it, style)));
    lines
}

fn unmeasured(it: &Unmeasured, style: Style) -> String {
    let failed = Ansi::new().fg_color(Some(Color::Ansi(AnsiColor::Red)));
    paint(&printable(&format!("{}: {}: {}", it.outcome, it.name, it.reason)), failed, style)
}

/// The rows with as many columns as fit.
fn table(rows: &[RankingRow], style: Style) -> Vec<String> {
    let mut columns = Column::ALL.to_vec();
    // Only what is decoded has other bytes going in than coming out.
    columns.retain(|column| *column != Column::RateIn || rows.iter().any(|row| row.rate_in.is_some()));
    for spare in Column::SPARE {
        if build(rows, &columns, style).width() <= usize::from(style.width) {
            break;
        }
        columns.retain(|column| *column != spare);
    }
    build(rows, &columns, style).lines_within(style.width)
}

fn build(rows: &[RankingRow], columns: &[Column], style: Style) -> Grid {
    let rates = rows.iter().filter_map(|row| Some(row.throughput?.0));
    let fastest = rates.fold(f64::MIN_POSITIVE, f64::max);
    let aligned = |column: Column, text: &str| if column.is_text() { left(text) } else { right(text) };
    let titles = columns.iter().map(|&column| aligned(column, column.title()));
    let mut grid = Grid::new(titles, style.color);
    for row in rows {
        let first = row.is_first();
        grid.row(columns.iter().map(|&column| {
            let text = column.text(row, fastest);
            if first && column == Column::Method { bold(&text) } else { aligned(column, &text) }
        }));
    }
    grid
}

/// The name that a suite gives, with the trial's own behind it.
fn name(row: &RankingRow) -> String {
    let name = match &row.label {
        Some(label) => format!("{label} ({})", row.name),
        None => row.name.clone(),
    };
    let cut = if row.cut_short { " (cut short)" } else { "" };
    let mark = if row.has_conduct { words::CONDUCT_MARK } else { "" };
    printable(&name) + mark + cut
}

/// A bar of block characters in eighths of a cell.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 80")]
fn bar(share: f64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share.clamp(0.0, 1.0) * BAR_CELLS * 8.0).round() as usize;
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

pub(super) fn paint(text: &str, ansi: Ansi, style: Style) -> String {
    if style.color { format!("{ansi}{text}{ansi:#}") } else { text.to_owned() }
}
