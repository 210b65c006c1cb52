//! The table of a ranking in a terminal: its columns, and its lines, where the trials that tie are
//! folded behind a count.
//!
//! It never exceeds the width: columns that do not fit are left out, the least needed first; then
//! names are cut. A row is always one line.

use super::super::columns::{COLUMNS, Column, InTerminal, RANK, TableFacts};
use super::super::grid::{Grid, bold, left, right};
use super::super::ranking::{Ranking, RankingRow};
use super::super::words::{self, NONE};
use super::Style;
use readlab_analysis::compare::Center;
use readlab_model::trial::TrialIndex;
use readlab_system::terminal::printable::printable;

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

impl<'a> TableRow<'a> {
    /// `None` for a row of folded trials.
    fn trial(&self) -> Option<&'a RankingRow> {
        match self {
            TableRow::Trial(row) => Some(row),
            TableRow::Folded(_) => None,
        }
    }

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

/// The first column that goes only where names are too short without it; those before it go where
/// a line would be too wide.
const SPARE_FOR_NAMES: u8 = 9;

/// What a table shows.
#[derive(Clone, Copy)]
struct Shown<'a> {
    rows: &'a [TableRow<'a>],
    facts: TableFacts,
    style: Style,
}

/// The table with as many columns as fit. If it is still too wide, names are cut.
pub(super) fn lines(rows: &[TableRow], center: Center, style: Style) -> Vec<String> {
    let trials = rows.iter().filter_map(TableRow::trial);
    let facts = TableFacts::new(center, trials.clone());
    let shown = Shown { rows, facts, style };
    let is_shown = |it: &&Column| it.in_terminal != InTerminal::No && it.is_held(facts, trials.clone());
    let mut columns: Vec<&Column> = COLUMNS.iter().filter(is_shown).collect();
    let width = usize::from(style.width);
    let mut spares: Vec<InTerminal> = columns.iter().map(|column| column.in_terminal).collect();
    spares.sort_unstable();
    let (early, late) =
        spares.split_at(spares.partition_point(|it| *it < InTerminal::Spare(SPARE_FOR_NAMES)));
    for spare in early {
        if shown.grid(&columns, NameLength::Whole).width() <= width {
            break;
        }
        columns.retain(|column| column.in_terminal != *spare);
    }
    let grid = shown.grid(&columns, NameLength::Whole);
    if grid.width() <= width {
        return grid.lines();
    }
    let room = |columns: &[&Column]| width.saturating_sub(shown.grid(columns, NameLength::Cut(0)).width());
    for spare in late {
        if room(&columns) >= NAME_MIN {
            break;
        }
        columns.retain(|column| column.in_terminal != *spare);
    }
    shown.grid(&columns, NameLength::Cut(room(&columns).max(1))).lines()
}

impl Shown<'_> {
    /// The table with rank, name and these columns.
    fn grid(self, columns: &[&Column], length: NameLength) -> Grid {
        let aligned = |column: &Column, text: &str| if column.is_text { left(text) } else { right(text) };
        let method = match length {
            NameLength::Whole => "method".to_owned(),
            NameLength::Cut(letters) => cut("method", letters),
        };
        let titles = columns.iter().map(|column| aligned(column, column.heading(self.facts)));
        let mut grid = Grid::new(
            [left(RANK.heading(self.facts)), left(&method)].into_iter().chain(titles),
            self.style.color,
        );
        for row in self.rows {
            let Some(trial) = row.trial() else {
                let blank = std::iter::repeat_n(left(""), columns.len());
                grid.row([left(""), left(&row.name(length))].into_iter().chain(blank));
                continue;
            };
            let text = |column: &Column| {
                column.number(trial, self.facts).map_or_else(|| NONE.to_owned(), |number| number.text)
            };
            let name = row.name(length);
            let name = if trial.is_first() { bold(&name) } else { left(&name) };
            let others = columns.iter().map(|column| aligned(column, &text(column)));
            grid.row([left(&text(&RANK)), name].into_iter().chain(others));
        }
        grid
    }
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
