//! The table of a ranking in a terminal: its columns and its lines, some of which stand for several
//! trials that tie.
//!
//! The table never exceeds the width: columns that do not fit are dropped, the least needed first;
//! then names are cut. A row is always one line.

use super::super::columns::{COLUMNS, Column, RANK_COLUMN, TableFacts, TerminalDisplay};
use super::super::grid::{Grid, bold_cell, left_cell, right_cell};
use super::super::ranking::{Ranking, RankingRow};
use super::super::words::{self, NONE};
use super::Style;
use readlab_analysis::compare::Center;
use readlab_model::trial::TrialIndex;
use readlab_system::terminal::printable::printable;

/// Names are cut to fewer letters than this only if no further column can be dropped.
const NAME_LETTERS_MIN: usize = 16;

/// Largest number of letters of a line that stands for several trials.
const FOLDED_LETTERS_MAX: usize = 60;

/// A line of the table: a trial, or several folded trials of a group.
pub(super) type TableRow<'a> = Vec<&'a RankingRow>;

/// The name of the trial, or the number of folded trials with their short names. It is cut to
/// `letters` letters; `None` leaves the name of a single trial uncut.
fn row_name(rows: &[&RankingRow], letters: Option<usize>) -> String {
    match (rows, letters) {
        ([row], None) => labelled_name(row),
        ([row], Some(letters)) => cut_text(&printable(&row.short_name), letters),
        (rows, letters) => {
            let names: Vec<String> = rows.iter().map(|row| printable(&row.short_name)).collect();
            let text = format!("+ {} tied: {}", rows.len(), names.join(", "));
            cut_text(&text, letters.unwrap_or(FOLDED_LETTERS_MAX))
        }
    }
}

/// The text cut to at most this many letters; `…` replaces the rest.
pub(super) fn cut_text(text: &str, letters: usize) -> String {
    if text.chars().count() <= letters {
        return text.to_owned();
    }
    let mut kept: String = text.chars().take(letters.saturating_sub(1)).collect();
    kept.truncate(kept.trim_end().len());
    kept + "…"
}

/// The lines of the table. With `lists_all`, all rows have a line. If not, the first row of each
/// rank, the reference, the advised trial and the user's commands have a line, and the other rows
/// of a rank share one.
pub(super) fn table_rows(
    ranking: &Ranking,
    advised: Option<TrialIndex>,
    lists_all: bool,
) -> Vec<TableRow<'_>> {
    if lists_all {
        return ranking.rows.iter().map(|row| vec![row]).collect();
    }
    let groups = ranking.rows_by_rank();
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
        // A single row takes no more room than a line that stands for it.
        let folds = folded.len() > 1;
        lines.push(vec![row]);
        lines.extend(others.iter().filter(|row| !folds || is_listed(row)).map(|row| vec![*row]));
        lines.extend(folds.then_some(folded));
    }
    lines
}

/// Columns with a lower number in [`TerminalDisplay::Spare`] are dropped before names are cut.
/// Other columns are dropped only if names would be cut to less than [`NAME_LETTERS_MIN`] letters.
const LATE_SPARE_NUMBER_MIN: u8 = 9;

/// The table with as many columns as fit. If it is still too wide, names are cut.
pub(super) fn table_lines(rows: &[TableRow], center: Center, style: Style) -> Vec<String> {
    let trials = rows.iter().filter(|row| row.len() == 1).map(|row| row[0]);
    let facts = TableFacts::new(center, trials.clone());
    let grid = |columns: &[&Column], letters| grid(rows, facts, style, columns, letters);
    let is_shown =
        |it: &&Column| it.terminal_display != TerminalDisplay::No && it.is_in_table(facts, trials.clone());
    let mut columns: Vec<&Column> = COLUMNS.iter().filter(is_shown).collect();
    let width = usize::from(style.width);
    let mut spares: Vec<TerminalDisplay> = columns.iter().map(|column| column.terminal_display).collect();
    spares.sort_unstable();
    let (early, late) =
        spares.split_at(spares.partition_point(|it| *it < TerminalDisplay::Spare(LATE_SPARE_NUMBER_MIN)));
    for spare in early {
        if grid(&columns, None).width() <= width {
            break;
        }
        columns.retain(|column| column.terminal_display != *spare);
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
        columns.retain(|column| column.terminal_display != *spare);
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
    let aligned =
        |column: &Column, text: &str| if column.is_text { left_cell(text) } else { right_cell(text) };
    let names = [
        left_cell(RANK_COLUMN.heading(facts)),
        left_cell(&cut_text("method", letters.unwrap_or(usize::MAX))),
    ];
    let titles = columns.iter().map(|column| aligned(column, column.heading(facts)));
    let mut grid = Grid::new(names.into_iter().chain(titles), style.may_use_color);
    for row in rows {
        let name = row_name(row, letters);
        let &[trial] = &row[..] else {
            let blank = std::iter::repeat_n(left_cell(""), columns.len());
            grid.add_row([left_cell(""), left_cell(&name)].into_iter().chain(blank));
            continue;
        };
        let text = |column: &Column| {
            column.number(trial, facts).map_or_else(|| NONE.to_owned(), |number| number.text)
        };
        let name = if trial.is_first() { bold_cell(&name) } else { left_cell(&name) };
        let others = columns.iter().map(|column| aligned(column, &text(column)));
        grid.add_row([left_cell(&text(&RANK_COLUMN)), name].into_iter().chain(others));
    }
    grid
}

/// The label of the trial in a suite, followed by the name of the trial in parentheses. The name
/// does not repeat the facts in the heading of the ranking.
pub(super) fn labelled_name(row: &RankingRow) -> String {
    let name = match &row.label {
        Some(label) => format!("{label} ({})", row.id),
        None => row.id.to_string(),
    };
    let cut = if row.is_cut_short { " (cut short)" } else { "" };
    let mark = if row.is_marked { words::CONDUCT_MARK } else { "" };
    printable(&name) + mark + cut
}
