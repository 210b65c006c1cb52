//! The table of a ranking in a terminal: its columns and its lines, in which the trials that tie
//! are folded behind a count.
//!
//! The table never exceeds the width: columns that do not fit are dropped, the least needed first;
//! then names are cut. A row is always one line.

use super::super::columns::{COLUMNS, Column, RANK, TableFacts, TerminalDisplay};
use super::super::grid::{Grid, bold, left, right};
use super::super::ranking::{Ranking, RankingRow};
use super::super::words::{self, NONE};
use super::Style;
use readlab_analysis::compare::Center;
use readlab_model::trial::TrialIndex;
use readlab_system::terminal::printable::printable;

/// Smallest number of letters to which names are cut, where possible.
const NAME_LETTERS_MIN: usize = 16;

/// Number of letters of the longest list of folded names.
const FOLDED_LETTERS_MAX: usize = 60;

/// A line of the table: a trial, or several folded trials of a group.
pub(super) type TableRow<'a> = Vec<&'a RankingRow>;

/// The name of the trial, or the number of folded trials with their short names, cut to `letters`
/// if given.
fn row_name(rows: &[&RankingRow], letters: Option<usize>) -> String {
    match (rows, letters) {
        ([row], None) => name(row),
        ([row], Some(letters)) => cut(&printable(&row.short), letters),
        (rows, letters) => {
            let names: Vec<String> = rows.iter().map(|row| printable(&row.short)).collect();
            let text = format!("+ {} tied: {}", rows.len(), names.join(", "));
            cut(&text, letters.unwrap_or(FOLDED_LETTERS_MAX))
        }
    }
}

/// The text cut to at most this many letters; `…` replaces the rest.
pub(super) fn cut(text: &str, letters: usize) -> String {
    if text.chars().count() <= letters {
        return text.to_owned();
    }
    let mut kept: String = text.chars().take(letters.saturating_sub(1)).collect();
    kept.truncate(kept.trim_end().len());
    kept + "…"
}

/// All rows; or the first of each rank, the reference, the advised trial, the user's commands, and a
/// count of the others.
pub(super) fn table_rows(
    ranking: &Ranking,
    advised: Option<TrialIndex>,
    lists_all: bool,
) -> Vec<TableRow<'_>> {
    if lists_all {
        return ranking.rows.iter().map(|row| vec![row]).collect();
    }
    let groups = ranking.groups();
    let reference = ranking.reference.as_ref().map(|it| it.index);
    let is_listed = |row: &RankingRow| row.is_own_command || [reference, advised].contains(&Some(row.index));
    let mut lines: Vec<TableRow> = Vec::new();
    for row in &ranking.rows {
        let group = groups.iter().find(|(_, rows)| rows[0].index == row.index);
        // Rows without a rank are never folded.
        let Some((_, group)) = group else {
            lines.extend(row.rank.is_none().then(|| vec![row]));
            continue;
        };
        let others = &group[1..];
        let folded: TableRow = others.iter().copied().filter(|row| !is_listed(row)).collect();
        // A single row takes no more room than its count would.
        let folds = folded.len() > 1;
        lines.push(vec![row]);
        lines.extend(others.iter().filter(|row| !folds || is_listed(row)).map(|row| vec![*row]));
        lines.extend(folds.then_some(folded));
    }
    lines
}

/// Columns with lower numbers are dropped to keep names uncut. The others are dropped only if names
/// would be cut to less than [`NAME_LETTERS_MIN`] letters.
const SPARE_FOR_NAMES: u8 = 9;

/// The table with as many columns as fit. If it is still too wide, names are cut.
pub(super) fn lines(rows: &[TableRow], center: Center, style: Style) -> Vec<String> {
    let trials = rows.iter().filter(|row| row.len() == 1).map(|row| row[0]);
    let facts = TableFacts::new(center, trials.clone());
    let grid = |columns: &[&Column], letters| grid(rows, facts, style, columns, letters);
    let is_shown =
        |it: &&Column| it.in_terminal != TerminalDisplay::No && it.has_any_value(facts, trials.clone());
    let mut columns: Vec<&Column> = COLUMNS.iter().filter(is_shown).collect();
    let width = usize::from(style.width);
    let mut spares: Vec<TerminalDisplay> = columns.iter().map(|column| column.in_terminal).collect();
    spares.sort_unstable();
    let (early, late) =
        spares.split_at(spares.partition_point(|it| *it < TerminalDisplay::Spare(SPARE_FOR_NAMES)));
    for spare in early {
        if grid(&columns, None).width() <= width {
            break;
        }
        columns.retain(|column| column.in_terminal != *spare);
    }
    let whole = grid(&columns, None);
    if whole.width() <= width {
        return whole.lines();
    }
    let room = |columns: &[&Column]| width.saturating_sub(grid(columns, Some(0)).width());
    for spare in late {
        if room(&columns) >= NAME_LETTERS_MIN {
            break;
        }
        columns.retain(|column| column.in_terminal != *spare);
    }
    grid(&columns, Some(room(&columns).max(1))).lines()
}

/// The table with rank, name and these columns.
fn grid(
    rows: &[TableRow],
    facts: TableFacts,
    style: Style,
    columns: &[&Column],
    letters: Option<usize>,
) -> Grid {
    let aligned = |column: &Column, text: &str| if column.is_text { left(text) } else { right(text) };
    let names = [left(RANK.heading(facts)), left(&cut("method", letters.unwrap_or(usize::MAX)))];
    let titles = columns.iter().map(|column| aligned(column, column.heading(facts)));
    let mut grid = Grid::new(names.into_iter().chain(titles), style.color);
    for row in rows {
        let name = row_name(row, letters);
        let &[trial] = &row[..] else {
            let blank = std::iter::repeat_n(left(""), columns.len());
            grid.row([left(""), left(&name)].into_iter().chain(blank));
            continue;
        };
        let text = |column: &Column| {
            column.number(trial, facts).map_or_else(|| NONE.to_owned(), |number| number.text)
        };
        let name = if trial.is_first() { bold(&name) } else { left(&name) };
        let others = columns.iter().map(|column| aligned(column, &text(column)));
        grid.row([left(&text(&RANK)), name].into_iter().chain(others));
    }
    grid
}

/// The label that a suite gives the trial, with the trial's own name behind it; without what the heading
/// of the ranking says of all its trials.
pub(super) fn name(row: &RankingRow) -> String {
    let name = match &row.label {
        Some(label) => format!("{label} ({})", row.id),
        None => row.id.to_string(),
    };
    let cut = if row.cut_short { " (cut short)" } else { "" };
    let mark = if row.is_marked { words::CONDUCT_MARK } else { "" };
    printable(&name) + mark + cut
}
