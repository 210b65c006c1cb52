//! The columns of a ranking, for the terminal, the live view, Markdown and the page. To add a
//! column, add a line to [`COLUMNS`].

use super::ranking::{Pieces, Rank, Ranking, RankingRow};
use super::words::{self, Number};
use Content::{Latency, Meter as MedianOf, Row};
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
    pub(super) fastest_bytes_per_s: f64,
    /// Whether a command of the table reads only a part of the target.
    pub(super) has_partial_reads: bool,
}

enum Content {
    /// The median of a meter's readings.
    Meter(Meter),
    /// The quantile of the latency of single reads with this name, such as `p99`.
    Latency(&'static str),
    /// A text computed from the row, with the number by which the page sorts; `None` if the row has
    /// no value.
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
    /// Whether the column shows names, whose characters must be escaped in Markdown.
    pub(super) shows_names: bool,
    /// Whether the column is left out of a table if no row has a value for it.
    is_optional: bool,
    pub(super) terminal_display: TerminalDisplay,
    pub(super) is_in_markdown: bool,
    /// Whether the ranking table of the page has the column.
    pub(super) is_in_ranking: bool,
    /// The heading in the page's table of time, memory and calls; `None` if that table does not
    /// have the column.
    pub(super) effort_heading: Option<&'static str>,
    /// The width in the live view; `None` if the live view does not show the column. Only columns
    /// of meters with an `effort_heading` can be in the live view.
    live_width: Option<LiveWidth>,
}

/// The width of a meter in the live view, in cells of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LiveWidth {
    pub width: usize,
    /// Narrower terminals do not show the meter.
    pub terminal_width_min: usize,
}

/// The column of a meter in the live view.
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
        shows_names: false,
        is_optional: false,
        terminal_display: spare,
        is_in_markdown: true,
        is_in_ranking: false,
        effort_heading: None,
        live_width: None,
    }
}

/// The column of a meter that only the page shows.
const fn effort_only(meter: Meter, heading: &'static str) -> Column {
    Column {
        is_in_markdown: false,
        effort_heading: Some(heading),
        ..column(|_| "", Content::Meter(meter), TerminalDisplay::No)
    }
}

const fn as_text(column: Column) -> Column {
    Column { is_text: true, ..column }
}

const fn optional(column: Column) -> Column {
    Column { is_optional: true, ..column }
}

const fn shown_in_ranking(column: Column) -> Column {
    Column { is_in_ranking: true, ..column }
}

const fn shown_in_effort(heading: &'static str, column: Column) -> Column {
    Column { effort_heading: Some(heading), ..column }
}

const fn shown_in_live(room: LiveWidth, column: Column) -> Column {
    Column { live_width: Some(room), ..column }
}

pub(super) const RANK_COLUMN: Column =
    as_text(column(|_| "#", Row(|row, _| Some(sorted_as_text(row.rank.map(Rank::word)?))), Always));

/// The columns of numbers after the name of a trial, in order.
pub(super) const COLUMNS: &[Column] = &[
    column(
        |table| if table.center == Center::Mean { "mean" } else { "median" },
        Row(|row, table| Some(sorted_as_text(words::median_or_mean(&row.wall, table.center)))),
        Spare(13),
    ),
    column(|table| if table.center == Center::Mean { "sd" } else { "±95 %" }, Row(scatter), Spare(8)),
    column(|_| "rate", Row(|row, _| Some(sorted_as_text(words::rate(row.throughput, &row.wall)))), Spare(15)),
    shown_in_ranking(optional(column(|_| "reads", Row(share_read), Spare(16)))),
    shown_in_ranking(optional(column(|_| "rate in", Row(encoded_rate), Spare(9)))),
    shown_in_ranking(optional(column(
        |table| table.pieces.map_or("", Pieces::rate_title),
        Row(pieces_per_s),
        Spare(12),
    ))),
    shown_in_ranking(optional(column(|_| "p50", Latency("p50"), Spare(11)))),
    shown_in_ranking(optional(column(|_| "p99", Latency("p99"), Spare(10)))),
    shown_in_ranking(optional(column(|_| "p99.9", Latency("p99.9"), No))),
    shown_in_ranking(optional(column(|_| "amplification", Row(amplification), Spare(6)))),
    shown_in_ranking(optional(column(
        |_| "re-read",
        Row(|row, _| row.reread_ratio.map(Number::factor)),
        Spare(6),
    ))),
    shown_in_ranking(optional(column(
        |_| "hits",
        Row(|row, _| row.hit_share.map(Number::percent)),
        Spare(6),
    ))),
    Column { is_in_markdown: false, ..as_text(column(|_| "", Row(bar), Spare(1))) },
    shown_in_effort("user", column(|_| "user", MedianOf(Meter::CpuUserNs), Spare(5))),
    shown_in_effort("kernel", column(|_| "system", MedianOf(Meter::CpuSystemNs), Spare(4))),
    // A terminal of this width has room for the names of trials beside the column.
    shown_in_live(
        LiveWidth { width: 20, terminal_width_min: 165 },
        shown_in_effort("peak memory", column(|_| "peak", MedianOf(Meter::PeakRssBytes), Spare(3))),
    ),
    effort_only(Meter::MinorFaults, "minor faults"),
    effort_only(Meter::DeviceReadBytes, "from device"),
    optional(effort_only(Meter::Refaults, "pages read again")),
    optional(effort_only(Meter::PagesScanned, "pages scanned")),
    optional(effort_only(Meter::MemoryStallNs, "waiting for memory")),
    optional(effort_only(Meter::DnsNs, Meter::DnsNs.words())),
    optional(effort_only(Meter::ConnectNs, Meter::ConnectNs.words())),
    optional(effort_only(Meter::TlsNs, Meter::TlsNs.words())),
    shown_in_effort(
        Meter::FirstByteNs.words(),
        optional(column(|_| "first byte", MedianOf(Meter::FirstByteNs), Spare(6))),
    ),
    Column {
        is_in_markdown: false,
        ..shown_in_effort(
            Meter::Requests.words(),
            optional(column(|_| "requests", MedianOf(Meter::Requests), Spare(2))),
        )
    },
    optional(effort_only(Meter::Retries, Meter::Retries.words())),
    as_text(column(
        |_| "× reference",
        Row(|row, _| Some(sorted_as_text(words::ratio_words_with_tie(row.ratio_to_reference?)))),
        Spare(14),
    )),
    Column {
        shows_names: true,
        ..shown_in_ranking(as_text(column(|_| "stops at", Row(stops_at), Spare(7))))
    },
];

/// The meters that the live view shows if a trial has a value for them.
pub fn live_columns() -> Vec<LiveColumn> {
    let live = |column: &Column| {
        let Content::Meter(meter) = column.content else { return None };
        Some(LiveColumn { meter, heading: column.effort_heading?, room: column.live_width? })
    };
    COLUMNS.iter().filter_map(live).collect()
}

impl LiveColumn {
    /// A median with its heading: the live view has no header line.
    pub fn text(&self, median: f64) -> String {
        format!("{} {}", words::meter_value(self.meter, whole(median)), self.heading)
    }
}

impl Column {
    pub(super) fn heading(&self, table: TableFacts) -> &'static str {
        (self.heading)(table)
    }

    /// Whether a table of these rows has the column: an optional column needs a value in some row.
    pub(super) fn is_in_table<'a>(
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
                let latency = row.latency_quantile(quantile)?;
                Some(Number::new(latency.to_string(), float(latency.0)))
            }
            Content::Meter(meter) => {
                let summary = row.summaries.get(meter)?;
                let text = match meter.unit() {
                    MeterUnit::Nanoseconds => words::time(summary),
                    _ => words::meter_value(*meter, summary.median),
                };
                Some(Number::new(text, float(summary.median)))
            }
        }
    }

    pub(super) fn meter_median(&self, row: &RankingRow) -> Option<Number> {
        let Content::Meter(meter) = self.content else { return None };
        let median = row.summaries.get(&meter)?.median;
        Some(Number::new(words::meter_value(meter, median), float(median)))
    }
}

impl TableFacts {
    pub(super) fn new<'a>(
        center: Center,
        rows: impl IntoIterator<Item = &'a RankingRow> + Clone,
    ) -> TableFacts {
        let rates = rows.clone().into_iter().filter_map(|row| Some(row.throughput?.0));
        let is_part = |row: &RankingRow| row.share_read.is_some_and(|share| share < 1.0);
        let has_partial_reads = rows.clone().into_iter().any(is_part);
        TableFacts {
            center,
            pieces: rows.into_iter().find_map(|row| row.pieces),
            fastest_bytes_per_s: rates.fold(f64::MIN_POSITIVE, f64::max),
            has_partial_reads,
        }
    }

    pub(super) fn from_ranking(ranking: &Ranking, center: Center) -> TableFacts {
        TableFacts { pieces: ranking.pieces, ..TableFacts::new(center, &ranking.rows) }
    }
}

/// A text without a number to sort by: the page sorts it alphabetically.
fn sorted_as_text(text: String) -> Number {
    Number::new(text, f64::NAN)
}

fn scatter(row: &RankingRow, table: TableFacts) -> Option<Number> {
    Some(sorted_as_text(words::scatter(&row.wall, table.center)))
}

/// The share of the target that a command reads; `None` if the share is not known, or if every
/// command reads the whole target.
fn share_read(row: &RankingRow, table: TableFacts) -> Option<Number> {
    row.share_read.filter(|_| table.has_partial_reads).map(Number::percent)
}

/// The rate of encoded bytes; `None` if the trial decodes nothing.
fn encoded_rate(row: &RankingRow, _: TableFacts) -> Option<Number> {
    let rate = row.encoded_rate?;
    Some(Number::new(words::rate(Some(rate), &row.wall), rate.0))
}

fn pieces_per_s(row: &RankingRow, _: TableFacts) -> Option<Number> {
    let rate = row.pieces_per_s?;
    Some(Number::new(words::pieces_per_s(rate), rate))
}

/// The bytes that were read divided by the useful bytes; `None` under a bound on memory, where the
/// column `re-read` shows this ratio.
fn amplification(row: &RankingRow, _: TableFacts) -> Option<Number> {
    row.amplification.filter(|_| row.reread_ratio.is_none()).map(Number::factor)
}

fn bar(row: &RankingRow, table: TableFacts) -> Option<Number> {
    Some(sorted_as_text(bar_text(row.throughput.map_or(0.0, |rate| rate.0 / table.fastest_bytes_per_s))))
}

fn stops_at(row: &RankingRow, _: TableFacts) -> Option<Number> {
    row.diagnosis.as_ref().map(Diagnosis::short_cause).map(sorted_as_text)
}

/// A bar of block characters, with a resolution of an eighth of a cell.
pub(super) fn bar_text(share: f64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share.clamp(0.0, 1.0) * BAR_CELLS * 8.0).round() as usize;
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}
