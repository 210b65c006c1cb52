//! The columns of a ranking, for the terminal, the live view, Markdown and the page. To add a
//! column, add a line to [`COLUMNS`].

use super::ranking::{Pieces, Rank, Ranking, RankingRow};
use super::words::{self, Number};
use Content::{Latency, Meter as Of, Row};
use TerminalDisplay::{Always, No, Spare};
use readlab_analysis::compare::Center;
use readlab_analysis::stats::{float, whole};
use readlab_analysis::verdict::Diagnosis;
use readlab_model::sample::{Meter, MeterUnit};

/// Width of the longest bar in cells.
const BAR_CELLS: f64 = 10.0;

#[derive(Debug, Clone, Copy)]
pub(super) struct TableFacts {
    pub(super) center: Center,
    /// The pieces in which all trials read the target.
    pub(super) pieces: Option<Pieces>,
    /// The highest rate, in bytes per second.
    pub(super) fastest: f64,
    /// Whether some command reads only a part of the target.
    pub(super) has_parts: bool,
}

enum Content {
    /// The median of a meter's readings.
    Meter(Meter),
    /// A quantile of the latency of single reads.
    Latency(&'static str),
    /// A text computed from the row, with the number by which the page sorts.
    Row(fn(&RankingRow, TableFacts) -> Option<Number>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TerminalDisplay {
    No,
    /// Shown if there is room. Narrow terminals drop the columns with the lowest numbers first.
    Spare(u8),
    Always,
}

pub(super) struct Column {
    heading: fn(TableFacts) -> &'static str,
    content: Content,
    /// Whether the column is aligned left. Numbers are aligned right.
    pub(super) is_text: bool,
    /// Whether the column shows names, in which Markdown would find markup.
    pub(super) has_names: bool,
    /// Whether a table has the column only if some row has something to show.
    is_optional: bool,
    pub(super) in_terminal: TerminalDisplay,
    pub(super) in_markdown: bool,
    /// Whether the page's ranking has it.
    pub(super) in_ranking: bool,
    /// The column's heading in the page's table of time, memory and calls.
    pub(super) in_effort: Option<&'static str>,
    /// The column's width in the live view; only for meters that the page's table shows as well.
    in_live: Option<LiveWidth>,
}

/// The width of a meter in the live view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LiveWidth {
    pub width: usize,
    /// Narrower terminals do not show the meter.
    pub terminal_min: usize,
}

/// A meter as shown in the live view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LiveColumn {
    pub meter: Meter,
    pub heading: &'static str,
    pub room: LiveWidth,
}

const fn column(heading: fn(TableFacts) -> &'static str, content: Content, spare: TerminalDisplay) -> Column {
    Column {
        heading,
        content,
        is_text: false,
        has_names: false,
        is_optional: false,
        in_terminal: spare,
        in_markdown: true,
        in_ranking: false,
        in_effort: None,
        in_live: None,
    }
}

/// A meter that only the page shows.
const fn effort(meter: Meter, heading: &'static str) -> Column {
    Column {
        in_markdown: false,
        in_effort: Some(heading),
        ..column(|_| "", Content::Meter(meter), TerminalDisplay::No)
    }
}

const fn text(column: Column) -> Column {
    Column { is_text: true, ..column }
}

const fn optional(column: Column) -> Column {
    Column { is_optional: true, ..column }
}

const fn in_ranking(column: Column) -> Column {
    Column { in_ranking: true, ..column }
}

const fn in_effort(heading: &'static str, column: Column) -> Column {
    Column { in_effort: Some(heading), ..column }
}

const fn in_live(room: LiveWidth, column: Column) -> Column {
    Column { in_live: Some(room), ..column }
}

pub(super) const RANK: Column =
    text(column(|_| "#", Row(|row, _| Some(plain(row.rank.map(Rank::word)?))), Always));

/// The columns of numbers after the name of a trial, in order.
pub(super) const COLUMNS: &[Column] = &[
    column(
        |table| if table.center == Center::Mean { "mean" } else { "median" },
        Row(|row, table| Some(plain(words::median_or_mean(&row.wall, table.center)))),
        Spare(13),
    ),
    column(|table| if table.center == Center::Mean { "sd" } else { "±95 %" }, Row(scatter), Spare(8)),
    column(|_| "rate", Row(|row, _| Some(plain(words::rate(row.throughput, &row.wall)))), Spare(15)),
    in_ranking(optional(column(|_| "reads", Row(share_read), Spare(16)))),
    in_ranking(optional(column(|_| "rate in", Row(encoded_rate), Spare(9)))),
    in_ranking(optional(column(|table| table.pieces.map_or("", Pieces::rate_title), Row(pieces), Spare(12)))),
    in_ranking(optional(column(|_| "p50", Latency("p50"), Spare(11)))),
    in_ranking(optional(column(|_| "p99", Latency("p99"), Spare(10)))),
    in_ranking(optional(column(|_| "p99.9", Latency("p99.9"), No))),
    in_ranking(optional(column(|_| "amplification", Row(amplification), Spare(6)))),
    in_ranking(optional(column(|_| "re-read", Row(|row, _| row.reread.map(Number::factor)), Spare(6)))),
    in_ranking(optional(column(|_| "hits", Row(|row, _| row.hit_share.map(Number::percent)), Spare(6)))),
    Column { in_markdown: false, ..text(column(|_| "", Row(bar), Spare(1))) },
    in_effort("user", column(|_| "user", Of(Meter::CpuUserNs), Spare(5))),
    in_effort("kernel", column(|_| "system", Of(Meter::CpuSystemNs), Spare(4))),
    // In so wide a terminal, the names of trials keep their room.
    in_live(
        LiveWidth { width: 20, terminal_min: 165 },
        in_effort("peak memory", column(|_| "peak", Of(Meter::PeakRssBytes), Spare(3))),
    ),
    effort(Meter::MinorFaults, "minor faults"),
    effort(Meter::DeviceReadBytes, "from device"),
    optional(effort(Meter::Refaults, "pages read again")),
    optional(effort(Meter::PagesScanned, "pages scanned")),
    optional(effort(Meter::MemoryStallNs, "waiting for memory")),
    optional(effort(Meter::DnsNs, Meter::DnsNs.words())),
    optional(effort(Meter::ConnectNs, Meter::ConnectNs.words())),
    optional(effort(Meter::TlsNs, Meter::TlsNs.words())),
    in_effort(
        Meter::FirstByteNs.words(),
        optional(column(|_| "first byte", Of(Meter::FirstByteNs), Spare(6))),
    ),
    Column {
        in_markdown: false,
        ..in_effort(Meter::Requests.words(), optional(column(|_| "requests", Of(Meter::Requests), Spare(2))))
    },
    optional(effort(Meter::Retries, Meter::Retries.words())),
    text(column(|_| "× reference", Row(|row, _| Some(plain(words::ratio(row.ratio?)))), Spare(14))),
    Column { has_names: true, ..in_ranking(text(column(|_| "stops at", Row(stops_at), Spare(7)))) },
];

/// The meters that the live view shows if some trial has a value.
pub fn live_columns() -> Vec<LiveColumn> {
    let live = |column: &Column| {
        let Content::Meter(meter) = column.content else { return None };
        Some(LiveColumn { meter, heading: column.in_effort?, room: column.in_live? })
    };
    COLUMNS.iter().filter_map(live).collect()
}

impl LiveColumn {
    /// A median with its heading: the live view has no header line.
    pub fn text(&self, median: f64) -> String {
        format!("{} {}", words::value(self.meter, whole(median)), self.heading)
    }
}

impl Column {
    pub(super) fn heading(&self, table: TableFacts) -> &'static str {
        (self.heading)(table)
    }

    /// Whether a table of these rows has the column.
    pub(super) fn has_any_value<'a>(
        &self,
        table: TableFacts,
        rows: impl IntoIterator<Item = &'a RankingRow>,
    ) -> bool {
        let holds = |row: &RankingRow| match self.content {
            // The available quantiles depend on the number of reads, so a table has all of their
            // columns or none.
            Content::Latency(_) => row.latency.is_some(),
            _ => self.number(row, table).is_some(),
        };
        !self.is_optional || rows.into_iter().any(holds)
    }

    /// The column's value in a row, with as many digits as the interval allows.
    pub(super) fn number(&self, row: &RankingRow, table: TableFacts) -> Option<Number> {
        match &self.content {
            Content::Row(number) => number(row, table),
            Content::Latency(quantile) => {
                let latency = row.latency(quantile)?;
                Some(Number::new(latency.to_string(), float(latency.0)))
            }
            Content::Meter(meter) => {
                let summary = row.summaries.get(meter)?;
                let text = match meter.unit() {
                    MeterUnit::Nanoseconds => words::time(summary),
                    _ => words::value(*meter, summary.median),
                };
                Some(Number::new(text, float(summary.median)))
            }
        }
    }

    pub(super) fn median(&self, row: &RankingRow) -> Option<Number> {
        let Content::Meter(meter) = self.content else { return None };
        let median = row.summaries.get(&meter)?.median;
        Some(Number::new(words::value(meter, median), float(median)))
    }
}

impl TableFacts {
    pub(super) fn new<'a>(
        center: Center,
        rows: impl IntoIterator<Item = &'a RankingRow> + Clone,
    ) -> TableFacts {
        let rates = rows.clone().into_iter().filter_map(|row| Some(row.throughput?.0));
        let is_part = |row: &RankingRow| row.share_read.is_some_and(|share| share < 1.0);
        let has_parts = rows.clone().into_iter().any(is_part);
        TableFacts {
            center,
            pieces: rows.into_iter().find_map(|row| row.pieces),
            fastest: rates.fold(f64::MIN_POSITIVE, f64::max),
            has_parts,
        }
    }

    pub(super) fn of_ranking(ranking: &Ranking, center: Center) -> TableFacts {
        TableFacts { pieces: ranking.pieces, ..TableFacts::new(center, &ranking.rows) }
    }
}

/// Text that is sorted alphabetically.
fn plain(text: String) -> Number {
    Number::new(text, f64::NAN)
}

fn scatter(row: &RankingRow, table: TableFacts) -> Option<Number> {
    Some(plain(words::scatter(&row.wall, table.center)))
}

/// The share of the target that a command reads; shown only if some command reads a part.
fn share_read(row: &RankingRow, table: TableFacts) -> Option<Number> {
    row.share_read.filter(|_| table.has_parts).map(Number::percent)
}

/// The rate of encoded bytes. Only where something is decoded does it differ from the rate of
/// decoded bytes.
fn encoded_rate(row: &RankingRow, _: TableFacts) -> Option<Number> {
    let rate = row.rate_in?;
    Some(Number::new(words::rate(Some(rate), &row.wall), rate.0))
}

fn pieces(row: &RankingRow, _: TableFacts) -> Option<Number> {
    let rate = row.pieces_per_s?;
    Some(Number::new(words::pieces_per_s(rate), rate))
}

/// The ratio of the bytes that were read to the useful bytes. Under a bound on memory, it is shown as
/// re-read bytes.
fn amplification(row: &RankingRow, _: TableFacts) -> Option<Number> {
    row.amplification.filter(|_| row.reread.is_none()).map(Number::factor)
}

fn bar(row: &RankingRow, table: TableFacts) -> Option<Number> {
    Some(plain(bar_of(row.throughput.map_or(0.0, |rate| rate.0 / table.fastest))))
}

fn stops_at(row: &RankingRow, _: TableFacts) -> Option<Number> {
    row.diagnosis.as_ref().map(Diagnosis::stops_at).map(plain)
}

/// A bar of block characters, with a resolution of an eighth of a cell.
pub(super) fn bar_of(share: f64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share.clamp(0.0, 1.0) * BAR_CELLS * 8.0).round() as usize;
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}
