//! The table of a ranking in a terminal: its columns, and its lines, where the trials that tie are
//! folded behind a count.
//!
//! It never exceeds the width: columns that do not fit are left out, the least needed first; then
//! names are cut. A row is always one line.

use super::super::grid::{Grid, bold, left, right};
use super::super::ranking::{Pieces, Rank, Ranking, RankingRow};
use super::super::words::{self, NONE};
use super::Style;
use crate::analysis::compare::Center;
use crate::analysis::verdict::Diagnosis;
use crate::record::Metric;
use crate::terminal::printable::printable;
use crate::trial::TrialIndex;
use crate::units::Bytes;

/// Cells of the longest bar.
const BAR_CELLS: f64 = 10.0;

/// Letters that a name has at least, where that is possible.
const NAME_MIN: usize = 16;

/// Letters of the longest list of folded names.
const FOLDED_MAX: usize = 60;

/// One line of the table.
pub(super) enum TableRow<'a> {
    Trial(&'a RankingRow),
    /// The trials of a group that are not listed.
    Folded(Vec<&'a RankingRow>),
}

impl TableRow<'_> {
    /// The trial, or how many are folded and their short names.
    fn name(&self, length: NameLength) -> String {
        match (self, length) {
            (TableRow::Trial(row), NameLength::Whole) => name(row),
            (TableRow::Trial(row), NameLength::Cut(letters)) => cut(&printable(&row.short), letters),
            (TableRow::Folded(rows), length) => {
                let names: Vec<String> = rows.iter().map(|row| printable(&row.short)).collect();
                let letters = match length {
                    NameLength::Whole => FOLDED_MAX,
                    NameLength::Cut(letters) => letters,
                };
                cut(&format!("+ {} tied: {}", rows.len(), names.join(", ")), letters)
            }
        }
    }
}

/// How long names may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NameLength {
    Whole,
    /// Short names of at most so many letters.
    Cut(usize),
}

/// The text with at most so many letters; `…` stands for the rest.
pub(super) fn cut(text: &str, letters: usize) -> String {
    if text.chars().count() <= letters {
        return text.to_owned();
    }
    let mut kept: String = text.chars().take(letters.saturating_sub(1)).collect();
    kept.truncate(kept.trim_end().len());
    kept + "…"
}

/// The lines of a ranking: all its rows; or the first of each rank, the reference and the advised
/// trial, and a count of the others.
pub(super) fn table_rows(
    ranking: &Ranking,
    advised: Option<TrialIndex>,
    lists_all: bool,
) -> Vec<TableRow<'_>> {
    if lists_all {
        return ranking.rows.iter().map(TableRow::Trial).collect();
    }
    let groups = ranking.groups();
    let reference = ranking.reference.as_ref().map(|it| it.index);
    let is_listed = |row: &RankingRow| [reference, advised].contains(&Some(row.index));
    let mut lines = Vec::new();
    for row in &ranking.rows {
        let group = groups.iter().find(|group| group.best.index == row.index);
        // Rows without a rank stay where they are.
        let Some(group) = group else {
            lines.extend((row.rank.is_none()).then_some(TableRow::Trial(row)));
            continue;
        };
        let (mut listed, mut folded): (Vec<&RankingRow>, Vec<&RankingRow>) =
            group.others.iter().partition(|row| is_listed(row));
        // A single one takes no more room than its count would.
        if folded.len() == 1 {
            listed = group.others.clone();
            folded.clear();
        }
        lines.push(TableRow::Trial(row));
        lines.extend(listed.into_iter().map(TableRow::Trial));
        lines.extend((!folded.is_empty()).then_some(TableRow::Folded(folded)));
    }
    lines
}

/// One column of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Rank,
    Method,
    Median,
    PlusMinus,
    Rate,
    RateIn,
    Pieces,
    P50,
    P99,
    Bar,
    User,
    System,
    Peak,
    FirstByte,
    Requests,
    Ratio,
    StopsAt,
}

impl Column {
    const ALL: [Column; 17] = [
        Column::Rank,
        Column::Method,
        Column::Median,
        Column::PlusMinus,
        Column::Rate,
        Column::RateIn,
        Column::Pieces,
        Column::P50,
        Column::P99,
        Column::Bar,
        Column::User,
        Column::System,
        Column::Peak,
        Column::FirstByte,
        Column::Requests,
        Column::Ratio,
        Column::StopsAt,
    ];
    /// What a narrow terminal does without, in this order.
    const SPARE: [Column; 8] = [
        Column::Bar,
        Column::Requests,
        Column::Peak,
        Column::System,
        Column::User,
        Column::FirstByte,
        Column::StopsAt,
        Column::PlusMinus,
    ];
    /// What a terminal does without on which a name has fewer than [`NAME_MIN`] letters, in this
    /// order.
    const LAST: [Column; 7] = [
        Column::RateIn,
        Column::P99,
        Column::P50,
        Column::Pieces,
        Column::Median,
        Column::Ratio,
        Column::Rate,
    ];

    fn title(self, shown: Shown) -> &'static str {
        let center = shown.center;
        match self {
            Column::Median if center == Center::Mean => "mean",
            Column::PlusMinus if center == Center::Mean => "sd",
            Column::Rank => "#",
            Column::Method => "method",
            Column::Median => "median",
            Column::PlusMinus => "±95 %",
            Column::Rate => "rate",
            Column::RateIn => "rate in",
            Column::Pieces => shown.pieces().map_or("", Pieces::rate_title),
            Column::P50 => "p50",
            Column::P99 => "p99",
            Column::Bar => "",
            Column::User => "user",
            Column::System => "system",
            Column::Peak => "peak",
            Column::FirstByte => "first byte",
            Column::Requests => "requests",
            Column::Ratio => "× reference",
            Column::StopsAt => "stops at",
        }
    }

    /// Whether it is aligned left; numbers are aligned right.
    fn is_text(self) -> bool {
        matches!(self, Column::Rank | Column::Method | Column::Bar | Column::Ratio | Column::StopsAt)
    }

    /// Whether some row has something to show in it.
    fn is_held(self, rows: &[TableRow]) -> bool {
        let some = |holds: &dyn Fn(&RankingRow) -> bool| {
            rows.iter().any(|row| matches!(row, TableRow::Trial(row) if holds(row)))
        };
        match self {
            // Only what is decoded has other bytes going in than coming out.
            Column::RateIn => some(&|row| row.rate_in.is_some()),
            Column::Pieces => some(&|row| row.pieces_per_s.is_some()),
            Column::P50 | Column::P99 => some(&|row| row.latency.is_some()),
            Column::FirstByte => some(&|row| row.summaries.contains_key(&Metric::FirstByteNs)),
            Column::Requests => some(&|row| row.summaries.contains_key(&Metric::Requests)),
            _ => true,
        }
    }

    fn text(self, row: &RankingRow, center: Center, fastest: f64) -> String {
        let median = |metric| row.summaries.get(&metric).map(|summary| summary.median);
        let time = |metric| row.summaries.get(&metric).map(words::time);
        let text = match self {
            Column::Rank => row.rank.map(Rank::word),
            Column::Method => Some(name(row)),
            Column::Median => Some(words::located(&row.wall, center)),
            Column::PlusMinus => words::scatter(&row.wall, center),
            Column::Rate => Some(words::rate(row.throughput, &row.wall)),
            Column::RateIn => row.rate_in.map(|rate| words::rate(Some(rate), &row.wall)),
            Column::Pieces => row.pieces_per_s.map(words::pieces_per_s),
            Column::P50 => row.latency("p50").map(|it| it.to_string()),
            Column::P99 => row.latency("p99").map(|it| it.to_string()),
            Column::Bar => Some(bar(row.throughput.map_or(0.0, |rate| rate.0 / fastest))),
            Column::User => time(Metric::CpuUserNs),
            Column::System => time(Metric::CpuSystemNs),
            Column::Peak => median(Metric::PeakRssBytes).map(|bytes| Bytes(bytes).binary()),
            Column::FirstByte => time(Metric::FirstByteNs),
            Column::Requests => median(Metric::Requests).map(words::grouped),
            Column::Ratio => Some(row.ratio.map_or_else(|| NONE.to_owned(), |ratio| words::ratio(&ratio))),
            Column::StopsAt => row.diagnosis.as_ref().map(Diagnosis::stops_at),
        };
        text.unwrap_or_else(|| NONE.to_owned())
    }
}

/// What a table shows.
#[derive(Clone, Copy)]
struct Shown<'a> {
    rows: &'a [TableRow<'a>],
    center: Center,
}

impl Shown<'_> {
    /// The pieces in which all trials read the target.
    fn pieces(self) -> Option<Pieces> {
        self.rows.iter().find_map(|row| match row {
            TableRow::Trial(row) => row.pieces,
            TableRow::Folded(_) => None,
        })
    }
}

/// The table with as many columns as fit. If it is still too wide, names are cut.
pub(super) fn lines(rows: &[TableRow], center: Center, style: Style) -> Vec<String> {
    let shown = Shown { rows, center };
    let mut columns = Column::ALL.to_vec();
    columns.retain(|column| column.is_held(rows));
    let width = usize::from(style.width);
    for spare in Column::SPARE {
        if build(shown, &columns, NameLength::Whole, style).width() <= width {
            break;
        }
        columns.retain(|column| *column != spare);
    }
    let grid = build(shown, &columns, NameLength::Whole, style);
    if grid.width() <= width {
        return grid.lines();
    }
    let room =
        |columns: &[Column]| width.saturating_sub(build(shown, columns, NameLength::Cut(0), style).width());
    for last in Column::LAST {
        if room(&columns) >= NAME_MIN {
            break;
        }
        columns.retain(|column| *column != last);
    }
    build(shown, &columns, NameLength::Cut(room(&columns).max(1)), style).lines()
}

fn build(shown: Shown, columns: &[Column], length: NameLength, style: Style) -> Grid {
    let Shown { rows, center } = shown;
    let trials = rows.iter().filter_map(|row| match row {
        TableRow::Trial(row) => Some(*row),
        TableRow::Folded(_) => None,
    });
    let fastest = trials.filter_map(|row| Some(row.throughput?.0)).fold(f64::MIN_POSITIVE, f64::max);
    let aligned = |column: Column, text: &str| if column.is_text() { left(text) } else { right(text) };
    let title = |column: Column| match (column, length) {
        (Column::Method, NameLength::Cut(letters)) => cut(column.title(shown), letters),
        _ => column.title(shown).to_owned(),
    };
    let titles = columns.iter().map(|&column| aligned(column, &title(column)));
    let mut grid = Grid::new(titles, style.color);
    for row in rows {
        grid.row(columns.iter().map(|&column| match (column, row) {
            (Column::Method, TableRow::Trial(trial)) if trial.is_first() => bold(&row.name(length)),
            (Column::Method, _) => left(&row.name(length)),
            (_, TableRow::Trial(trial)) => aligned(column, &column.text(trial, center, fastest)),
            (_, TableRow::Folded(_)) => left(""),
        }));
    }
    grid
}

/// The name that a suite gives, with the trial's own behind it.
pub(super) fn name(row: &RankingRow) -> String {
    let name = match &row.label {
        Some(label) => format!("{label} ({})", row.name),
        None => row.name.clone(),
    };
    let cut = if row.cut_short { " (cut short)" } else { "" };
    let mark = if row.is_marked { words::CONDUCT_MARK } else { "" };
    printable(&name) + mark + cut
}

/// A bar of block characters in eighths of a cell.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 80")]
pub(super) fn bar(share: f64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share.clamp(0.0, 1.0) * BAR_CELLS * 8.0).round() as usize;
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}
