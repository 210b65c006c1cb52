//! A map of hosts and methods: one row for each method with a cell for each rank. The longer a rank
//! takes compared with the others, the darker is its cell. A dark column is a slow host; a single
//! dark cell is a host that is slow with one method.

use super::super::fleet::FleetView;
use super::super::ranking::{Ranking, RankingRow};
use super::super::svg;
use super::Chart;
use super::legend::{KeyMark, LegendKey};
use super::rows::{ChartRow, RowsChart, STRIP_HEIGHT, STRIP_TOP, WIDTH};
use readlab_analysis::fleet::MethodEffects;
use readlab_analysis::stats::count_as_float;
use readlab_system::markup::Element;

/// Largest number of cells in a row. If there are more ranks, those that differ most are drawn.
const CELLS_MAX: usize = 64;

/// The shades of the cells, each with the lowest ratio that has this shade, and with the text of
/// the shade in the legend.
const SHADES: [Shade; 5] = [
    Shade { ratio_min: 0.0, class: "heat-0", words: "below 0.97 ×" },
    Shade { ratio_min: 0.97, class: "heat-1", words: "as long as the others" },
    Shade { ratio_min: 1.03, class: "heat-2", words: "from 1.03 ×" },
    Shade { ratio_min: 1.1, class: "heat-3", words: "from 1.1 ×" },
    Shade { ratio_min: 1.3, class: "heat-4", words: "from 1.3 ×" },
];

struct Shade {
    ratio_min: f64,
    class: &'static str,
    words: &'static str,
}

/// The map of a ranking's methods; `None` if no row was read by all ranks.
pub(in super::super) fn hosts_chart(view: &FleetView, ranking: &Ranking, slug: String) -> Option<Chart> {
    let of_row = |row: &RankingRow| view.method_effects.iter().find(|it| it.trial == row.index);
    let drawn: Vec<(&RankingRow, &MethodEffects)> =
        ranking.rows.iter().filter_map(|row| Some((row, of_row(row)?))).collect();
    let ranks = shown_ranks(&drawn.iter().map(|(_, effects)| *effects).collect::<Vec<_>>());
    if drawn.is_empty() || ranks.is_empty() {
        return None;
    }
    let rows = drawn
        .iter()
        .map(|(row, effects)| ChartRow::new(*row, slowest_rank_words(view, effects), cells(effects, &ranks)));
    let chart = RowsChart {
        keys: SHADES.map(|it| LegendKey::new(KeyMark::Square, it.class, it.words)).to_vec(),
        end_labels: end_labels(&ranks),
        legend_top: 10.0,
        ..RowsChart::new(rows, [])
    };
    let of_all = view.ranks.len();
    let which =
        if ranks.len() < of_all { format!(", {} of {of_all} ranks", ranks.len()) } else { String::new() };
    let title = format!("{}: how long each rank takes beside the others{which}", ranking.title());
    let description = format!("The slowest rank: {}.", chart.values_text());
    Some(chart.into_chart(slug, title, description))
}

/// The ranks that have a cell, in order.
fn shown_ranks(effects: &[&MethodEffects]) -> Vec<usize> {
    let differs = |rank: usize| {
        let ratios = effects.iter().filter_map(|effect| effect.ratios.get(rank));
        ratios.map(|ratio| ratio.ln().abs()).fold(0.0, f64::max)
    };
    let count = effects.iter().map(|effect| effect.ratios.len()).max().unwrap_or(0);
    let mut ranks: Vec<usize> = (0..count).collect();
    ranks.sort_by(|a, b| differs(*b).total_cmp(&differs(*a)));
    ranks.truncate(CELLS_MAX);
    ranks.sort_unstable();
    ranks
}

fn slowest_rank_words(view: &FleetView, effects: &MethodEffects) -> String {
    let found = effects.ratios.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
    let name = |rank: usize| view.ranks.get(rank).map_or("", |row| row.host.as_str());
    found.map_or_else(String::new, |(rank, ratio)| format!("{} ({rank}) {ratio:.2} ×", name(rank)))
}

fn cells(effects: &MethodEffects, ranks: &[usize]) -> Vec<Element> {
    let cell = |(at, rank): (usize, &usize)| {
        let ratio = effects.ratios.get(*rank).copied().unwrap_or(f64::NAN);
        let shade = SHADES.iter().rfind(|shade| ratio >= shade.ratio_min)?;
        let [left, right] =
            [at, at + 1].map(|edge| WIDTH * count_as_float(edge) / count_as_float(ranks.len()));
        // A gap between cells, if there is room for one.
        let wide = (right - left - 1.0).max((right - left) / 2.0);
        Some(svg::bar(shade.class, [left, STRIP_TOP], [wide, STRIP_HEIGHT]))
    };
    ranks.iter().enumerate().filter_map(cell).collect()
}

/// The labels of the first and the last rank.
fn end_labels(ranks: &[usize]) -> Vec<Element> {
    let name = |rank: Option<&usize>| rank.map(|rank| format!("rank {rank}")).unwrap_or_default();
    vec![
        svg::text("tick start", [0.0, 10.0], &name(ranks.first())),
        svg::text("tick end", [WIDTH, 10.0], &name(ranks.last())),
    ]
}
