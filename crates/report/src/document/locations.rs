//! The section about places of the same content: a sentence for each place, and for each method a
//! dumbbell from the first place to the other one.

use super::super::answer::figure;
use super::super::charts::{Chart, Dumbbells};
use super::super::locations::LocationTable;
use super::super::page::Page;
use super::super::ranking::RankingRow;
use super::super::row_pairs::{RowPair, RowPairs};
use super::super::table::Cell;
use super::super::words::Number;
use super::table::{Column, TableRow, table};
use super::{Section, item, list};
use readlab_system::markup::Element;

pub(super) fn section(page: &Page) -> Option<Section> {
    let sentences = page.locations.tables.iter().map(|it| &it.sentence).chain(&page.locations.not_compared);
    let tables = page.locations.tables.iter().filter_map(|located| {
        let pairs = located.pairs(&page.rankings)?;
        Some(dumbbell_table(located, &pairs, &Dumbbells::from_pairs(&pairs)?))
    });
    let lead = "The same content at several places, read in the same rounds: a square for the first place, a disc for the other one, on a logarithmic scale. A ratio is the time at the first place divided by that at the other one, within rounds: above 1, the other place is faster. In the ratio over all methods, each method counts once.";
    Section::with_content("places", "Places", lead, list(sentences.map(item)).into_iter().chain(tables))
}

/// The dumbbells as charts; the page has them in its tables.
pub(super) fn charts(page: &Page) -> Vec<Chart> {
    let tables = page.locations.tables.iter().enumerate();
    let chart = |(n, located): (usize, &LocationTable)| {
        let pairs = located.pairs(&page.rankings)?;
        Some(Dumbbells::from_pairs(&pairs)?.chart(format!("places-{n}-{}", located.ratios.state)))
    };
    tables.filter_map(chart).collect()
}

fn dumbbell_table(located: &LocationTable, pairs: &RowPairs, dumbbells: &Dumbbells) -> Element {
    let [first, there] = &pairs.ends;
    let drawn = [Column::text("method"), Column::plot("from the first place to the other", dumbbells.axis())];
    let numbers = [first.as_str(), there.as_str(), "there ÷ first"].map(Column::number);
    let value = |row: &RankingRow, order: f64| Cell::number(Number::new(figure(row), order));
    let row = |(pair, strip): (&RowPair, Element)| {
        let method = located.ratios.methods.iter().find(|it| it.pair.there == pair.to.index);
        let ratio = Cell::number(method.map(|it| Number::ratio(it.pair.ratio)));
        let mark = if method.is_some_and(|it| it.is_unlike_others) { " (unlike others)" } else { "" };
        let [from, to] = pair.values;
        let cells = vec![Cell::Plot(strip), value(pair.from, from), value(pair.to, to), ratio];
        TableRow::new(pair.to, mark, cells)
    };
    let rows = pairs.pairs.iter().zip(dumbbells.strips()).map(row);
    table(&pairs.title, drawn.into_iter().chain(numbers), rows)
}
