//! The sections with the other measurements: places, bounds on memory, archives, sweep, effort,
//! percentiles, parameters and rounds; and the order of all sections and charts.

use super::super::archives::ArchiveRatio;
use super::super::break_even::BreakEven;
use super::super::charts::{self, Chart, Dumbbells};
use super::super::columns::{self, COLUMNS, TableFacts};
use super::super::curve::Curve;
use super::super::locations::LocationTable;
use super::super::memory::MemoryView;
use super::super::page::Page;
use super::super::ranking::{Ranking, RankingRow};
use super::super::row_pairs::{RowPair, RowPairs};
use super::super::sweep::{Series, SizeRow};
use super::super::table::Cell;
use super::super::words::{self as wording, Number};
use super::table::{Column, TableRow, table};
use super::{
    Section, figure_element, figures, fleet, folded, inside, item, list, ranking, side_by_side, titled_list,
};
use readlab_analysis::compare::Center;
use readlab_analysis::stats::{Summary, float};
use readlab_model::sample::Meter;
use readlab_model::trial::TrialIndex;
use readlab_system::markup::{Element, element, text_element};
use std::collections::BTreeSet;

pub(super) fn all(page: &Page) -> Vec<Section> {
    let others = [
        places(page),
        memory(page),
        fleet::hosts(page),
        fleet::scaling(page),
        fleet::readers(page),
        fleet::settings(page),
        fleet::file_costs(page),
        archives(page),
        break_evens(page),
        sweep(page),
        latencies(page),
        effort(page),
        inside::section(page),
        curves(page),
        percentiles(page),
        rounds(page),
    ];
    ranking::all(page).into_iter().chain(others.into_iter().flatten()).collect()
}

/// The places of the same content: a sentence for each place, and for each method a dumbbell from
/// the first place to the other one.
fn places(page: &Page) -> Option<Section> {
    let sentences =
        page.locations.tables.iter().map(|it| &it.sentence).chain(&page.locations.not_compared_sentences);
    let tables = page.locations.tables.iter().filter_map(|located| {
        let pairs = located.pairs(&page.rankings)?;
        Some(dumbbell_table(located, &pairs, &Dumbbells::from_pairs(&pairs)?))
    });
    let lead = "The same content at several places, read in the same rounds: a square for the first place, a disc for the other one, on a logarithmic scale. A ratio is the time at the first place divided by that at the other one, within rounds: above 1, the other place is faster. In the ratio over all methods, each method counts once.";
    Section::with_content("places", "Places", lead, list(sentences.map(item)).into_iter().chain(tables))
}

/// The dumbbells of places as charts for files. The page has the same dumbbells in its tables.
fn location_charts(page: &Page) -> Vec<Chart> {
    let tables = page.locations.tables.iter().enumerate();
    let chart = |(n, located): (usize, &LocationTable)| {
        let pairs = located.pairs(&page.rankings)?;
        Some(Dumbbells::from_pairs(&pairs)?.chart(format!("places-{n}-{}", located.ratios.state)))
    };
    tables.filter_map(chart).collect()
}

fn dumbbell_table(located: &LocationTable, pairs: &RowPairs, dumbbells: &Dumbbells) -> Element {
    let [first, there] = &pairs.end_names;
    let drawn = [Column::text("method"), Column::plot("from the first place to the other", dumbbells.axis())];
    let numbers = [first.as_str(), there.as_str(), "there ÷ first"].map(Column::number);
    let row = |(pair, strip): (&RowPair, Element)| {
        let method = located.ratios.methods.iter().find(|it| it.pair.other == pair.second_row.index);
        let ratio = Cell::number(method.map(|it| Number::ratio(it.pair.ratio)));
        let mark = if method.is_some_and(|it| it.is_unlike_others) { " (unlike others)" } else { "" };
        let [from, to] = pair.numbers().map(Cell::number);
        TableRow::new(pair.second_row, mark, vec![Cell::Plot(strip), from, to, ratio])
    };
    let rows = pairs.pairs.iter().zip(dumbbells.strips()).map(row);
    table(&pairs.title, drawn.into_iter().chain(numbers), rows)
}

fn memory(page: &Page) -> Option<Section> {
    let sentences = page.memory_views.iter().flat_map(MemoryView::lines).map(item);
    let tables = page.memory_views.iter().flat_map(MemoryView::tables);
    let tables = tables.map(|(title, table)| table.element(&title));
    let lead = "Each method was read cold, with memory for a part of the working set, and warm. The page cache of a reading is in a control group with this bound, and untimed readings come first until the share of it that stays in memory is steady. Ratios between bounds are made within rounds; a ratio to the cold or the warm end is that of two medians. What a method falls by is the largest step between two neighbouring bounds.";
    let content = figures(memory_charts(page)).into_iter().chain(list(sentences)).chain(tables);
    Section::with_content("memory", "Memory", lead, content)
}

fn memory_charts(page: &Page) -> Vec<Chart> {
    page.memory_views
        .iter()
        .enumerate()
        .flat_map(|(number, view)| charts::memory_charts(view, number))
        .collect()
}

fn archives(page: &Page) -> Option<Section> {
    let lead = "The fastest trial of each contender out of the archive, beside its fastest one on the same content as a plain file. Ratios are made within rounds.";
    let lines = page.archives.iter().map(ArchiveRatio::sentence).map(item);
    Section::with_content("archives", "Plain or packed", lead, list(lines))
}

fn break_evens(page: &Page) -> Option<Section> {
    let lead = "By the fastest decoding of each archive out of the page cache: the rate of a device below which it is read and decoded faster than its content is read as a plain file.";
    let lines = page.break_evens.iter().map(BreakEven::sentence).map(item);
    Section::with_content("break-even", "Break-even", lead, list(lines))
}

pub(super) fn charts(page: &Page) -> Vec<Chart> {
    [
        ranking::charts(page),
        location_charts(page),
        memory_charts(page),
        sweep_charts(page),
        charts_by_ranking(page, charts::latency_chart),
        charts_by_ranking(page, charts::effort_chart),
        inside::inside_charts(page),
        curve_charts(page),
        fleet::charts(page),
        charts_by_ranking(page, charts::drift_chart),
    ]
    .concat()
}

pub(super) fn charts_by_ranking(page: &Page, draw: fn(&Ranking, usize) -> Option<Chart>) -> Vec<Chart> {
    page.rankings.iter().enumerate().filter_map(|(number, it)| draw(it, number)).collect()
}

fn curve_charts(page: &Page) -> Vec<Chart> {
    let curves = page.curves.iter().enumerate();
    curves.map(|(n, curve)| charts::curve_chart(curve, format!("parameter-{n}-{}", curve.state))).collect()
}

fn sweep_charts(page: &Page) -> Vec<Chart> {
    let series = page.sweep.iter().flat_map(|view| &view.series).enumerate();
    let both = series.flat_map(|(n, series)| {
        let slug = |kind: &str| format!("sweep-{n}-{kind}");
        [
            charts::rates_by_size(series, slug("rate")),
            charts::times_by_size(series, slug("time")),
            charts::device_shares(series, slug("device")),
        ]
    });
    let together =
        page.sweep.as_ref().and_then(|view| charts::write_and_read_rates(view, "sweep-together".to_owned()));
    together.into_iter().chain(both.flatten()).collect()
}

/// The section of a sweep: its charts, the facts of each line, and the numbers by size; `None` for
/// a record of another kind, or for a sweep without files.
fn sweep(page: &Page) -> Option<Section> {
    let series = || page.sweep.iter().flat_map(|view| &view.series);
    let numbers = series().map(|series| {
        let rows = series.sizes.iter().map(|row| Vec::from(row.cells().map(Cell::number)));
        let title = series.title();
        let body = table(&title, SizeRow::TITLES.map(Column::number), rows);
        folded(&format!("{title}: the numbers"), [body], false)
    });
    let lead = "Each dot is one file. The slope of time on size is the transfer rate, its value at size 0 the fixed cost of a file. Dashed: least squares of relative errors; solid: the line that single files cannot bend. A size is mixed if some of its files are fast and the others slow, with a gap between.";
    let content = [figures(sweep_charts(page))?].into_iter().chain(series().flat_map(line_facts));
    Section::with_content("sizes", "Sizes", lead, content.chain(numbers))
}

/// The facts of the fitted line, and the sizes that deviate from the line.
fn line_facts(series: &Series) -> Vec<Element> {
    let lines = std::iter::once(series.headline()).chain(series.line_words());
    let band = series.band_sentences.iter().map(|sentence| format!("leaves the line: {sentence}"));
    let mixed = series.mixed.iter().map(|mixed| format!("mixed: {}", mixed.sentence()));
    titled_list(&series.title(), lines.chain(band).chain(mixed).map(item)).collect()
}

fn latencies(page: &Page) -> Option<Section> {
    let lead = "From the call, or the submission of a batch, until the block is there: half of the reads took at most p50, 99 of 100 at most p99. The percentiles have the intervals.";
    Section::with_content(
        "latency",
        "Single reads",
        lead,
        figures(charts_by_ranking(page, charts::latency_chart)),
    )
}

fn effort(page: &Page) -> Option<Section> {
    let measured = page.rankings.iter().filter(|ranking| !ranking.rows.is_empty());
    let mut tables = measured.map(effort_table).peekable();
    tables.peek()?;
    let drawn = figures(charts_by_ranking(page, charts::effort_chart));
    let content = drawn.into_iter().chain(tables).chain(counting_methods(page));
    let lead = "Where CPU time is longer than wall time, more than one processor was at work. Memory of a mapped file counts the mapped pages.";
    Section::with_content("effort", "CPU, memory, calls", lead, content)
}

fn effort_table(ranking: &Ranking) -> Element {
    let kinds: BTreeSet<&String> = ranking.rows.iter().flat_map(|row| row.counts.keys()).collect();
    let facts = TableFacts::from_ranking(ranking, Center::Median);
    let is_shown =
        |it: &&columns::Column| it.effort_heading.is_some() && it.is_in_table(facts, &ranking.rows);
    let meters: Vec<_> = COLUMNS.iter().filter(is_shown).collect();
    let mut columns = vec![Column::text("method"), Column::number("wall")];
    columns.extend(meters.iter().filter_map(|it| it.effort_heading).map(Column::number));
    columns.push(Column::number("processors"));
    columns.extend(kinds.iter().map(|kind| Column::number(kind)));
    let row = |row: &RankingRow| {
        let wall = Number::new(wording::meter_value(Meter::WallNs, row.wall.median), float(row.wall.median));
        let mut numbers = vec![Some(wall)];
        numbers.extend(meters.iter().map(|it| it.meter_median(row)));
        numbers.push(row.busy_processors.map(|cores| Number::new(wording::cores_words(cores), cores)));
        numbers.extend(kinds.iter().map(|kind| {
            let value = row.counts.get(*kind)?.value?;
            Some(Number::new(wording::count_in_unit(kind, value), float(value)))
        }));
        TableRow::new(row, "", numbers.into_iter().map(Cell::number).collect())
    };
    let caption = format!("{}. Medians; counts are those of one reading.", ranking.title());
    let body = table(&caption, columns, ranking.rows.iter().map(row));
    folded(&format!("{}: the numbers", ranking.title()), [body], false)
}

fn counting_methods(page: &Page) -> Option<Element> {
    let ways = page.counting_methods.iter().flat_map(|(kind, ways)| {
        let described = ways.iter().map(|way| text_element("dd", way));
        std::iter::once(text_element("dt", kind)).chain(described)
    });
    let list = element("dl").class("ways").with_all(ways);
    (!page.counting_methods.is_empty())
        .then(|| folded("How it was counted, and why some was not", [list], false))
}

fn percentiles(page: &Page) -> Option<Section> {
    let rows = || page.rankings.iter().flat_map(|it| &it.rows);
    let held = |metric: &Meter| rows().any(|row| row.summaries.contains_key(metric));
    let metrics = Meter::summarised().filter(held).map(|metric| {
        let of = |row: &RankingRow| row.summaries.get(&metric).cloned();
        folded_percentiles(page, metric.words(), "readings", of, |value| wording::meter_value(metric, value))
    });
    let again = rows().filter(|row| row.count_summaries.values().any(|it| it.n > 1));
    let kinds: BTreeSet<&String> = again.flat_map(|row| row.count_summaries.keys()).collect();
    let kinds = kinds.into_iter().map(|kind| {
        let of = |row: &RankingRow| row.count_summaries.get(kind).cloned();
        folded_percentiles(page, kind, "runs", of, |value| wording::count_in_unit(kind, value))
    });
    let lead = "From the smallest reading (p0) through the median (p50) to the largest (p100).";
    Section::with_content("percentiles", "Percentiles", lead, metrics.chain(kinds))
}

/// The percentiles of a metric or a count, as a folded table for each ranking. The percentiles of
/// wall times are open.
fn folded_percentiles(
    page: &Page,
    name: &str,
    samples: &str,
    of: impl Fn(&RankingRow) -> Option<Summary>,
    shown: impl Fn(u64) -> String,
) -> Element {
    let row = |row: &RankingRow| {
        let it = of(row)?;
        let number = |value| Number::new(shown(value), float(value));
        let values = wording::percentiles(&it).map(|value| value.map(number)).into_iter();
        let cells = values.chain([Some(Number::grouped(it.n as u64))]).map(Cell::number);
        Some(TableRow::new(row, "", cells.collect()))
    };
    let tables = page.rankings.iter().filter_map(|ranking| {
        let mut rows = ranking.rows.iter().filter_map(row).peekable();
        rows.peek()?;
        let numbers = wording::PERCENTILES.into_iter().chain([samples]).map(Column::number);
        let caption = format!("{}: {name}", ranking.title());
        Some(table(&caption, [Column::text("method")].into_iter().chain(numbers), rows))
    });
    folded(&wording::capitalized(name), tables, name == Meter::WallNs.words())
}

fn curves(page: &Page) -> Option<Section> {
    let trials = |curve: &Curve| curve.trials.iter().map(TrialIndex::to_string).collect::<Vec<_>>().join(" ");
    let drawn = page.curves.iter().zip(curve_charts(page));
    let drawn = drawn.map(|(curve, chart)| figure_element(chart).set("data-trials", trials(curve)));
    let lead = "The same method with one setting changed and all others kept. Rate at the median, with its 95 % interval. Where a search is named, each setting was read only as often as it stayed in it.";
    Section::with_content("settings", "Settings", lead, side_by_side(drawn))
}

fn rounds(page: &Page) -> Option<Section> {
    let lead = "Down is slower. What moves in all lines at once is the machine; what moves in one alone is the method.";
    Section::with_content(
        "rounds",
        "Rounds in time",
        lead,
        figures(charts_by_ranking(page, charts::drift_chart)),
    )
}
