//! The advice by language in a terminal: a table with one line for each language.

use super::super::advice::{AdvisedTrial, LanguageAdvice, UsualWay};
use super::super::grid::{Grid, left_cell};
use super::super::ranking::Ranking;
use super::super::words::{self, NONE};
use super::Style;
use super::table::cut_text;
use readlab_system::terminal::printable::printable;

/// Smallest number of letters to which names are cut.
const NAME_LETTERS_MIN: usize = 8;

const TITLES: [&str; 5] = ["language", "usual way", "best way", "× usual", "needs"];

/// Index of the column of ratios.
const RATIO_COLUMN: usize = 3;

/// The columns that a narrow terminal drops, in this order.
const DROPPED_COLUMNS: [usize; 3] = [4, 1, RATIO_COLUMN];

fn row_texts(ranking: &Ranking, advice: &LanguageAdvice) -> [String; TITLES.len()] {
    let short =
        |trial: &AdvisedTrial| ranking.row(trial.index).map_or(&trial.name, |row| &row.short_name).clone();
    let best = match advice.usual_standing {
        Some(UsualWay::TheSame) => "the same".to_owned(),
        _ => short(&advice.best),
    };
    let ratio = advice.ratio.map(words::ratio_words);
    let ratio = match advice.usual_standing {
        Some(UsualWay::NotToldApart) => {
            let times = ratio.map_or_else(String::new, |times| format!(" ({times})"));
            Some(format!("not told apart{times}"))
        }
        _ => ratio,
    };
    let needs = (!advice.needs.is_empty()).then(|| advice.needs.join(", "));
    let usual = advice.usual.as_ref().map(short);
    [Some(advice.language.clone()), usual, Some(best), ratio, needs]
        .map(|text| printable(&text.unwrap_or_else(|| NONE.to_owned())))
}

/// The lines of the table, within the width; empty without advice.
pub(super) fn table(ranking: &Ranking, advice: &[LanguageAdvice], style: Style) -> Vec<String> {
    if advice.is_empty() {
        return Vec::new();
    }
    let rows: Vec<_> = advice.iter().map(|advice| row_texts(ranking, advice)).collect();
    let build = |columns: &[usize], letters: usize| {
        let mut grid = Grid::new(columns.iter().map(|&at| left_cell(TITLES[at])), style.may_use_color);
        rows.iter()
            .for_each(|row| grid.add_row(columns.iter().map(|&at| left_cell(&cut_text(&row[at], letters)))));
        grid
    };
    let width = usize::from(style.width);
    let mut columns: Vec<usize> = (0..TITLES.len()).collect();
    let ratio_letters = rows.iter().map(|row| row[RATIO_COLUMN].chars().count()).max().unwrap_or_default();
    for dropped in DROPPED_COLUMNS {
        // Long names are cut before the ratios are dropped.
        let letters = if dropped == RATIO_COLUMN { ratio_letters.max(NAME_LETTERS_MIN) } else { usize::MAX };
        if build(&columns, letters).width() <= width {
            break;
        }
        columns.retain(|column| *column != dropped);
    }
    // If the table is still too wide, all texts are cut to the same length.
    let fits = |&letters: &usize| build(&columns, letters).width() <= width;
    let letters = (NAME_LETTERS_MIN..width).rev().find(fits).unwrap_or(NAME_LETTERS_MIN);
    build(&columns, letters).lines()
}
