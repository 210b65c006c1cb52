//! The advice by language in a terminal: a table with one line for each language.

use super::super::advice::{AdvisedTrial, LanguageAdvice, UsualWay};
use super::super::grid::{Grid, left};
use super::super::ranking::Ranking;
use super::super::words::{self, NONE};
use super::Style;
use super::table::cut;
use readlab_system::terminal::printable::printable;

/// Letters that a name has at least.
const NAME_MIN: usize = 8;

/// One column of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Language,
    Usual,
    Best,
    Ratio,
    Needs,
}

impl Column {
    const ALL: [Column; 5] = [Column::Language, Column::Usual, Column::Best, Column::Ratio, Column::Needs];
    /// What a narrow terminal does without, in this order.
    const SPARE: [Column; 3] = [Column::Needs, Column::Usual, Column::Ratio];

    fn title(self) -> &'static str {
        match self {
            Column::Language => "language",
            Column::Usual => "usual way",
            Column::Best => "best way",
            Column::Ratio => "× usual",
            Column::Needs => "needs",
        }
    }

    fn text(self, ranking: &Ranking, advice: &LanguageAdvice) -> String {
        let short = |trial: &AdvisedTrial| {
            let row = ranking.rows.iter().find(|row| row.index == trial.index);
            row.map_or_else(|| trial.name.clone(), |row| row.short.clone())
        };
        let text = match self {
            Column::Language => Some(advice.language.clone()),
            Column::Usual => advice.usual.as_ref().map(short),
            Column::Best if advice.usual_is == Some(UsualWay::TheSame) => Some("the same".to_owned()),
            Column::Best => Some(short(&advice.best)),
            Column::Ratio if advice.usual_is == Some(UsualWay::NotToldApart) => {
                let times = advice.ratio.map_or_else(String::new, |it| format!(" ({})", words::times(it)));
                Some(format!("not told apart{times}"))
            }
            Column::Ratio => advice.ratio.map(words::times),
            Column::Needs => (!advice.needs.is_empty()).then(|| advice.needs.join(", ")),
        };
        text.unwrap_or_else(|| NONE.to_owned())
    }
}

/// The lines of the table, within the width; none where there is no advice.
pub(super) fn table(ranking: &Ranking, advice: &[LanguageAdvice], style: Style) -> Vec<String> {
    if advice.is_empty() {
        return Vec::new();
    }
    let width = usize::from(style.width);
    let mut columns = Column::ALL.to_vec();
    for spare in Column::SPARE {
        if build(ranking, advice, &columns, usize::MAX, style).width() <= width {
            break;
        }
        columns.retain(|column| *column != spare);
    }
    // What is left is cut, all of it by the same length.
    let letters = (NAME_MIN..width).rev();
    let fits = |&letters: &usize| build(ranking, advice, &columns, letters, style).width() <= width;
    let letters = letters.into_iter().find(fits).unwrap_or(NAME_MIN);
    build(ranking, advice, &columns, letters, style).lines()
}

fn build(
    ranking: &Ranking,
    advice: &[LanguageAdvice],
    columns: &[Column],
    letters: usize,
    style: Style,
) -> Grid {
    let mut grid = Grid::new(columns.iter().map(|column| left(column.title())), style.color);
    for advice in advice {
        let text = |column: &Column| cut(&printable(&column.text(ranking, advice)), letters);
        grid.row(columns.iter().map(|column| left(&text(column))));
    }
    grid
}
