//! The sections that compare methods: ratios to the baseline as a forest plot in a table, cold and
//! warm rates, and rates with every reading.

use super::super::answer::rate_or_time_words;
use super::super::charts::{self, Chart, ChartRow, Dumbbells, Forest, ForestRow, PointKind};
use super::super::columns::{self, COLUMNS, TableFacts};
use super::super::page::Page;
use super::super::ranking::{Rank, Ranking, RankingRow};
use super::super::row_pairs::{RowPair, RowPairs};
use super::super::table::Cell;
use super::super::words::{self as wording, NONE, Number, unbroken};
use super::sections::charts_by_ranking;
use super::table::{Column, TableRow, table, table_with_note};
use super::{Section, figures, language_legend};
use readlab_analysis::compare::Center;
use readlab_analysis::stats::float;
use readlab_model::trial::TrialIndex;
use readlab_system::markup::{Element, text_element};

pub(super) fn all(page: &Page) -> Vec<Section> {
    [ranking(page), states(page), rates(page)].into_iter().flatten().collect()
}

/// The charts of these sections. They include charts that the page only shows within tables.
pub(super) fn charts(page: &Page) -> Vec<Chart> {
    let rankings = page.rankings.iter().enumerate();
    let forests = rankings.filter_map(|(n, it)| {
        let title = format!("{}: times as fast as the baseline", it.title());
        Some(Forest::from_rows(forest_rows(it))?.chart(title, format!("ratio-{n}-{}", it.state)))
    });
    let pairs = RowPairs::cold_and_warm(&page.rankings);
    let dumbbells = pairs.iter().enumerate();
    let dumbbells =
        dumbbells.filter_map(|(n, it)| Some(Dumbbells::from_pairs(it)?.chart(format!("states-{n}"))));
    forests.chain(dumbbells).chain(charts_by_ranking(page, charts::ranking_chart)).collect()
}

fn ranking(page: &Page) -> Option<Section> {
    let ranked = || page.rankings.iter().filter(|ranking| !ranking.rows.is_empty());
    let languages = ranked().flat_map(|it| &it.rows).map(|row| row.language.as_str());
    let content = language_legend(languages).into_iter().chain(ranked().map(ranking_table));
    let lead = "How many times as fast as the baseline each method is, within rounds, with the 95 % interval on a logarithmic scale. The line marks 1: an interval that crosses it is a tie, and its point is hollow. Rows between two rules share a rank. The diamond is the baseline.";
    Section::with_content("ranking", "Ranking", lead, content)
}

fn forest_rows(ranking: &Ranking) -> Vec<ForestRow<'_>> {
    let baseline = ranking.reference.as_ref().map(|it| it.index);
    ranking.rows.iter().map(|row| forest_row(row, baseline)).collect()
}

fn forest_row(row: &RankingRow, baseline: Option<TrialIndex>) -> ForestRow<'_> {
    let is_baseline = Some(row.index) == baseline;
    let ci95 = row.ratio_to_reference.and_then(|ratio| Some(ratio.ci95?.ends));
    let value = match row.ratio_to_reference {
        _ if is_baseline => "baseline".to_owned(),
        ratio => ratio.map_or_else(|| NONE.to_owned(), wording::ratio_words_with_tie),
    };
    let rank = row.rank.map_or_else(String::new, Rank::word);
    ForestRow {
        row: ChartRow { rank, ..ChartRow::new(row, value, Vec::new()) },
        estimate: if is_baseline { Some(1.0) } else { row.ratio_to_reference.map(|it| it.estimate) },
        ci95,
        point_kind: if is_baseline { PointKind::Baseline } else { PointKind::from_interval(ci95) },
    }
}

fn ranking_table(ranking: &Ranking) -> Element {
    let forest = Forest::from_rows(forest_rows(ranking));
    let has_rates = ranking.rows.iter().any(|row| row.throughput.is_some());
    let mut columns: Vec<Column> = vec![Column::text("method"), Column::number("rank")];
    columns.extend(forest.iter().map(|it| Column::plot("times as fast as the baseline", it.axis())));
    columns.extend(["× baseline", if has_rates { "rate" } else { "median" }].map(Column::number));
    let facts = TableFacts::from_ranking(ranking, Center::Median);
    let is_further = |it: &&columns::Column| it.is_in_ranking && it.is_in_table(facts, &ranking.rows);
    let further: Vec<_> = COLUMNS.iter().filter(is_further).collect();
    columns.extend(further.iter().map(|it| match it.is_text {
        true => Column::text(it.heading(facts)),
        false => Column::number(it.heading(facts)),
    }));
    columns.push(Column::number("readings"));
    let mut strips = forest.as_ref().map_or_else(Vec::new, Forest::strips).into_iter();
    let place = |row: &RankingRow| row.rank.map(|rank| rank.place);
    let rows = ranking.rows.iter().enumerate().map(|(at, row)| {
        let mark = if row.is_marked { wording::CONDUCT_MARK } else { "" };
        let next = ranking.rows.get(at + 1);
        let ends_group = next.is_some_and(|next| place(next) != place(row));
        // Among rows with rates, a row without a rate is sorted last.
        let order = match has_rates {
            true => row.throughput.map_or(0.0, |rate| rate.0),
            false => float(row.wall.median),
        };
        let mut table_row = TableRow::new(row, mark, cells(row, &further, facts, order, strips.next()));
        table_row.ends_group = ends_group;
        table_row
    });
    let title = format!("{}{}", ranking.title(), ranking.distinction);
    let reference = wording::capitalized(&ranking.reference_line().unwrap_or_default());
    let sizes = ranking.archive.map_or_else(String::new, |_| format!(" {}.", ranking.size_words()));
    table_with_note(&title, &format!("{reference}.{sizes} Behind a ratio, “=” is a tie."), columns, rows)
}

fn cells(
    row: &RankingRow,
    further: &[&columns::Column],
    facts: TableFacts,
    order: f64,
    strip: Option<Element>,
) -> Vec<Cell> {
    let rank = row.rank.map(|rank| Number::new(rank.word(), float(rank.place as u64)));
    let mut cells = vec![Cell::number(rank)];
    cells.extend(strip.map(Cell::Plot));
    let ratio = Cell::number(row.ratio_to_reference.map(Number::ratio));
    cells.extend([ratio, Cell::number(Number::new(rate_or_time_words(row), order))]);
    cells.extend(further.iter().map(|it| match (it.number(row, facts), it.is_text) {
        (number, true) => Cell::text(number.map_or_else(|| NONE.to_owned(), |it| unbroken(&it.text))),
        (number, false) => Cell::number(number),
    }));
    cells.push(Cell::number(Number::grouped(row.wall.n as u64)));
    cells
}

fn states(page: &Page) -> Option<Section> {
    let groups = RowPairs::cold_and_warm(&page.rankings);
    let mut content = Vec::new();
    for pairs in &groups {
        let Some(dumbbells) = Dumbbells::from_pairs(pairs) else { continue };
        if groups.len() > 1 {
            content.push(text_element("h3", &pairs.title));
        }
        content.push(states_table(pairs, &dumbbells));
    }
    let lead = "Each method that was read in both states: a square for the cold median, a disc for the warm one, on a logarithmic scale. The line between them is what the page cache gives.";
    Section::with_content("states", "Cold to warm", lead, content)
}

fn states_table(pairs: &RowPairs, dumbbells: &Dumbbells) -> Element {
    let drawn = [Column::text("method"), Column::plot("from cold to warm", dumbbells.axis())];
    let columns = drawn.into_iter().chain(["cold", "warm", "warm ÷ cold"].map(Column::number));
    let row = |(pair, strip): (&RowPair, Element)| {
        let gain = Cell::number(Number::factor(pair.speedup()));
        let [from, to] = pair.numbers().map(Cell::number);
        TableRow::new(pair.second_row, "", vec![Cell::Plot(strip), from, to, gain])
    };
    table(&pairs.title, columns, pairs.pairs.iter().zip(dumbbells.strips()).map(row))
}

fn rates(page: &Page) -> Option<Section> {
    let mut content = vec![figures(charts_by_ranking(page, charts::ranking_chart))?];
    let rows = || page.rankings.iter().flat_map(|ranking| &ranking.rows);
    if rows().any(|row| row.readings.len() > charts::DOTS_MAX) {
        let note = format!(
            "Of a trial with more than {} readings, one dot shows those that are side by side; every reading counts in the bars and intervals.",
            charts::DOTS_MAX
        );
        content.push(text_element("p", &note).class("note"));
    }
    let lead = "Every reading, the median and its interval, and the limits of this machine. Charts of different states have scales of their own. A name in bold is clearly faster than the others, alone or with those that tie.";
    Section::with_content("rates", "Rates", lead, content)
}
