//! The sections that show the other measurements: effort, percentiles, sweep, parameters, rounds;
//! and all sections and charts in their order.

use super::super::charts::{self, Chart};
use super::super::columns::{self, COLUMNS, TableFacts};
use super::super::curve::Curve;
use super::super::page::Page;
use super::super::ranking::{Ranking, RankingRow};
use super::super::words::{self as wording, Number};
use super::table::{Column, TableCell, TableRow, table};
use super::{Section, figure, fleet, folded, inside, ranking, side_by_side, sweep};
use readlab_analysis::compare::Center;
use readlab_analysis::stats::Summary;
use readlab_analysis::stats::float;
use readlab_model::sample::Meter;
use readlab_model::trial::TrialIndex;
use readlab_system::markup::{Element, element, words};
use std::collections::BTreeSet;

/// All sections that the record has something for.
pub(super) fn all(page: &Page) -> Vec<Section> {
    let others = [
        fleet::hosts(page),
        fleet::scaling(page),
        fleet::readers(page),
        fleet::file_costs(page),
        archives(page),
        break_evens(page),
        sweep::section(page),
        latencies(page),
        effort(page),
        inside::section(page),
        curves(page),
    ];
    let others = others.into_iter().chain([percentiles(page), rounds(page)]);
    ranking::all(page).into_iter().chain(others.flatten()).collect()
}

/// Reading out of archives beside reading their content plain.
fn archives(page: &Page) -> Option<Section> {
    let lines = page.archives.iter().map(|it| words("li", &wording::unbroken(&it.sentence())));
    let lines: Vec<Element> = lines.collect();
    let lead = "The fastest trial of each contender out of the archive, beside its fastest one on the same content as a plain file. Ratios are made within rounds.";
    let content = vec![element("ul").class("lines").all(lines)];
    (!page.archives.is_empty()).then_some(Section {
        slug: "archives",
        title: "Plain or packed",
        lead,
        content,
    })
}

/// Below which rate of a device archives are read faster than their content.
fn break_evens(page: &Page) -> Option<Section> {
    let lines = page.break_evens.iter().map(|it| words("li", &wording::unbroken(&it.sentence())));
    let lines: Vec<Element> = lines.collect();
    let lead = "By the fastest decoding of each archive out of the page cache: the rate of a device below which it is read and decoded faster than its content is read as a plain file.";
    let content = vec![element("ul").class("lines").all(lines)];
    (!page.break_evens.is_empty()).then_some(Section {
        slug: "break-even",
        title: "Break-even",
        lead,
        content,
    })
}

pub(super) fn charts(page: &Page) -> Vec<Chart> {
    [
        ranking::charts(page),
        sweep_charts(page),
        latency_charts(page),
        effort_charts(page),
        inside::inside_charts(page),
        curve_charts(page),
        fleet::charts(page),
        drift_charts(page),
    ]
    .concat()
}

fn by_ranking(page: &Page, kind: &str, draw: fn(&Ranking, String) -> Option<Chart>) -> Vec<Chart> {
    let slug = |n: usize, ranking: &Ranking| format!("{kind}-{n}-{}", ranking.state);
    let rankings = page.rankings.iter().enumerate();
    rankings.filter_map(|(n, ranking)| draw(ranking, slug(n, ranking))).collect()
}

fn effort_charts(page: &Page) -> Vec<Chart> {
    by_ranking(page, "effort", charts::effort)
}

fn latency_charts(page: &Page) -> Vec<Chart> {
    by_ranking(page, "latency", charts::latency)
}

fn drift_charts(page: &Page) -> Vec<Chart> {
    by_ranking(page, "rounds", charts::drift)
}

fn curve_charts(page: &Page) -> Vec<Chart> {
    let curves = page.curves.iter().enumerate();
    curves.map(|(n, curve)| charts::curve(curve, format!("parameter-{n}-{}", curve.state))).collect()
}

pub(super) fn sweep_charts(page: &Page) -> Vec<Chart> {
    let series = page.sweep.iter().flat_map(|view| &view.series).enumerate();
    let both = series.flat_map(|(n, series)| {
        let slug = |kind: &str| format!("sweep-{n}-{kind}");
        [
            charts::rates(series, slug("rate")),
            charts::times(series, slug("time")),
            charts::device_shares(series, slug("device")),
        ]
    });
    let together = page.sweep.as_ref().and_then(|view| charts::together(view, "sweep-together".to_owned()));
    together.into_iter().chain(both.flatten()).collect()
}

pub(super) fn figures(charts: Vec<Chart>) -> Option<Element> {
    (!charts.is_empty()).then(|| side_by_side(charts.into_iter().map(figure)))
}

fn latencies(page: &Page) -> Option<Section> {
    let content = vec![figures(latency_charts(page))?];
    let lead = "From the call, or the submission of a batch, until the block is there: half of the reads took at most p50, 99 of 100 at most p99. The percentiles have the intervals.";
    Some(Section { slug: "latency", title: "Single reads", lead, content })
}

fn effort(page: &Page) -> Option<Section> {
    let mut content: Vec<Element> = figures(effort_charts(page)).into_iter().collect();
    let measured = page.rankings.iter().filter(|ranking| !ranking.rows.is_empty());
    let tables: Vec<Element> = measured.map(effort_table).collect();
    if tables.is_empty() {
        return None;
    }
    content.extend(tables);
    content.extend(counted(page));
    let lead = "Where CPU time is longer than wall time, more than one processor was at work. Memory of a mapped file counts the mapped pages.";
    Some(Section { slug: "effort", title: "CPU, memory, calls", lead, content })
}

/// The kinds of counts that some row of a ranking holds.
fn kinds(ranking: &Ranking) -> BTreeSet<&str> {
    ranking.rows.iter().flat_map(|row| row.counts.keys().map(String::as_str)).collect()
}

fn effort_table(ranking: &Ranking) -> Element {
    let kinds = kinds(ranking);
    let facts = TableFacts::of_ranking(ranking, Center::Median);
    let is_shown = |it: &&columns::Column| it.in_effort.is_some() && it.is_held(facts, &ranking.rows);
    let meters: Vec<_> = COLUMNS.iter().filter(is_shown).collect();
    let mut columns = vec![Column::text("method"), Column::number("wall")];
    columns.extend(meters.iter().filter_map(|it| it.in_effort).map(Column::number));
    columns.push(Column::number("processors"));
    columns.extend(kinds.iter().map(|kind| Column::number(kind)));
    let row = |row: &RankingRow| {
        let count = |kind: &&str| {
            let value = row.counts.get(*kind).and_then(|count| count.value);
            TableCell::number(value.map(|value| Number::new(wording::counted(kind, value), float(value))))
        };
        let wall = Number::new(wording::value(Meter::WallNs, row.wall.median), float(row.wall.median));
        let mut cells = vec![TableCell::number(Some(wall))];
        cells.extend(meters.iter().map(|it| TableCell::number(it.median(row))));
        cells.push(TableCell::number(row.cores.map(|cores| Number::new(wording::cores(cores), cores))));
        cells.extend(kinds.iter().map(count));
        TableRow::new(row, "", cells)
    };
    let caption = format!("{}. Medians; counts are those of one reading.", ranking.title());
    let body = table(&caption, columns, ranking.rows.iter().map(row));
    folded(&format!("{}: the numbers", ranking.title()), vec![body], false)
}

fn counted(page: &Page) -> Option<Element> {
    let ways = page.counted.iter().flat_map(|(kind, ways)| {
        let described = ways.iter().map(|way| words("dd", way));
        std::iter::once(words("dt", kind)).chain(described.collect::<Vec<_>>())
    });
    let list = element("dl").class("ways").all(ways);
    (!page.counted.is_empty()).then(|| folded("How it was counted, and why some was not", vec![list], false))
}

fn percentiles(page: &Page) -> Option<Section> {
    let held = |metric: &Meter| {
        page.rankings.iter().any(|it| it.rows.iter().any(|row| row.summaries.contains_key(metric)))
    };
    let of_metric = |metric: Meter| PercentileColumns {
        name: metric.words(),
        samples: "readings",
        of: Box::new(move |row| row.summaries.get(&metric)),
        show: Box::new(move |value| wording::value(metric, value)),
    };
    let is_counted_again = |row: &&RankingRow| row.count_summaries.values().any(|it| it.n > 1);
    let again = page.rankings.iter().flat_map(|it| &it.rows).filter(is_counted_again);
    let kinds: BTreeSet<&str> =
        again.flat_map(|row| row.count_summaries.keys().map(String::as_str)).collect();
    let of_kind = |kind| PercentileColumns {
        name: kind,
        samples: "runs",
        of: Box::new(move |row| row.count_summaries.get(kind)),
        show: Box::new(move |value| wording::counted(kind, value)),
    };
    let metrics = Meter::summarised().filter(held).map(of_metric);
    let shown = metrics.chain(kinds.into_iter().map(of_kind));
    let content: Vec<Element> = shown.map(|columns| columns.folded(page)).collect();
    let lead = "From the smallest reading (p0) through the median (p50) to the largest (p100).";
    (!content.is_empty()).then_some(Section { slug: "percentiles", title: "Percentiles", lead, content })
}

/// Finds what is summarised of a row.
type SummaryOf<'a> = dyn Fn(&RankingRow) -> Option<&Summary> + 'a;

/// A metric or a count whose percentiles are shown.
struct PercentileColumns<'a> {
    name: &'a str,
    samples: &'a str,
    of: Box<SummaryOf<'a>>,
    show: Box<dyn Fn(u64) -> String + 'a>,
}

impl PercentileColumns<'_> {
    /// One table for each ranking; the wall times are shown at once.
    fn folded(&self, page: &Page) -> Element {
        let tables = page.rankings.iter().filter_map(|ranking| self.table(ranking));
        let is_open = self.name == Meter::WallNs.words();
        folded(&wording::capital(self.name), tables.collect(), is_open)
    }

    fn table(&self, ranking: &Ranking) -> Option<Element> {
        let mut columns = vec![Column::text("method")];
        let titles = wording::PERCENTILES.into_iter().chain([self.samples]);
        columns.extend(titles.map(Column::number));
        let row = |row: &RankingRow| {
            let it = (self.of)(row)?;
            let number = |value| Number::new((self.show)(value), float(value));
            let mut cells: Vec<TableCell> =
                wording::percentiles(it).map(|value| TableCell::number(value.map(number))).into();
            cells.push(TableCell::number(Some(Number::new(
                wording::grouped(it.n as u64),
                float(it.n as u64),
            ))));
            Some(TableRow::new(row, "", cells))
        };
        let rows: Vec<TableRow> = ranking.rows.iter().filter_map(row).collect();
        let caption = format!("{}: {}", ranking.title(), self.name);
        (!rows.is_empty()).then(|| table(&caption, columns, rows))
    }
}

fn curves(page: &Page) -> Option<Section> {
    let trials = |curve: &Curve| curve.trials.iter().map(TrialIndex::to_string).collect::<Vec<_>>().join(" ");
    let drawn = page.curves.iter().zip(curve_charts(page));
    let drawn = drawn.map(|(curve, chart)| figure(chart).set("data-trials", trials(curve)));
    let content = vec![side_by_side(drawn)];
    let lead = "The same method with one setting changed and all others kept. Rate at the median, with its 95 % interval. Where a search is named, each setting was read only as often as it stayed in it.";
    (!page.curves.is_empty()).then_some(Section { slug: "settings", title: "Settings", lead, content })
}

fn rounds(page: &Page) -> Option<Section> {
    let content = vec![figures(drift_charts(page))?];
    let lead = "Down is slower. What moves in all lines at once is the machine; what moves in one alone is the method.";
    Some(Section { slug: "rounds", title: "Rounds in time", lead, content })
}
