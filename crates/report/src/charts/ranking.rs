//! The speed of each method: a bar for the median rate, its interval, a dot for each reading, and a
//! line for each limit.

use super::super::answer::rate_or_time_words;
use super::super::limits::Bound;
use super::super::ranking::{Rank, Ranking, RankingRow};
use super::super::svg::{self, Quantity, Scale};
use super::Chart;
use super::legend::{KeyMark, LegendKey};
use super::rows::{self, ChartRow, RowsChart, STRIP_HEIGHT, STRIP_TOP, WIDTH};
use readlab_analysis::stats::{count_as_float, float};
use readlab_model::units::{Nanos, Throughput};
use readlab_system::markup::Element;

/// A limit above this multiple of the fastest reading is not drawn, because it would compress the
/// readings too much.
const DRAWN_LIMIT_TIMES_MAX: f64 = 2.0;

/// Largest number of dots for one trial.
pub(in super::super) const DOTS_MAX: usize = 200;

/// The chart; `None` if nothing was measured.
pub(in super::super) fn ranking_chart(ranking: &Ranking, number: usize) -> Option<Chart> {
    let scale = scale(ranking)?;
    let places: Vec<f64> =
        drawn_bounds(ranking).iter().map(|bound| scale.coordinate_of(bound.rate.0)).collect();
    let rows = ranking.rows.iter().map(|row| chart_row(ranking, row, &scale, &places));
    let quantity = if has_rates(ranking) { Quantity::Rate } else { Quantity::Time };
    let (notes, legend_top) = bound_names(ranking, &scale);
    let chart = RowsChart::new(rows, keys(ranking)).with_axis(&scale, quantity);
    let what = if has_rates(ranking) { "rate" } else { "wall time" };
    let description = format!("From the fastest to the slowest: {}.", chart.values_text());
    let title = format!("{}: median {what}", ranking.title());
    let slug = format!("ranking-{number}-{}", ranking.state);
    Some(RowsChart { notes, legend_top, ..chart }.into_chart(slug, title, description))
}

/// The names of the limits with the lower ends of their lines, and the height of all names
/// together.
fn bound_names(ranking: &Ranking, scale: &Scale) -> (Vec<Element>, f64) {
    let names = drawn_bounds(ranking).into_iter().map(|bound| BoundName {
        x: scale.coordinate_of(bound.rate.0),
        text: format!("{} {}", bound.name, bound.rate),
    });
    let (mut marks, mut below) = (Vec::new(), 0.0);
    for (name, anchor) in ordered_and_anchored(names.collect()) {
        below += 15.0;
        marks.push(svg::line("bound", [name.x, -4.0], [name.x, below - 8.0]));
        let class = match anchor {
            Anchor::Start => "bound-name start",
            Anchor::End => "bound-name end",
        };
        marks.push(svg::text(class, [name.x, below + 3.0], &name.text));
    }
    (marks, below + 6.0)
}

/// The name of a limit below the rows, and the coordinate of the limit's line.
struct BoundName {
    x: f64,
    text: String,
}

/// The end of a text that is at its coordinate.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Anchor {
    Start,
    End,
}

impl BoundName {
    /// The horizontal range that the name covers.
    fn span(&self, anchor: Anchor) -> [f64; 2] {
        let wide = count_as_float(self.text.chars().count()) * rows::LETTER_WIDTH;
        match anchor {
            Anchor::Start => [self.x, self.x + wide],
            Anchor::End => [self.x - wide, self.x],
        }
    }
}

/// Orders the names from top to bottom so that no line of a lower name crosses a name above it, and
/// chooses the anchor of each.
fn ordered_and_anchored(mut names: Vec<BoundName>) -> Vec<(BoundName, Anchor)> {
    let mut ordered = Vec::new();
    while !names.is_empty() {
        let is_free = |at: usize, anchor: Anchor| {
            let [low, high] = names[at].span(anchor);
            let others = names.iter().enumerate().filter(|&(other, _)| other != at);
            let crossed = others.map(|(_, it)| it.x).any(|x| x > low - 3.0 && x < high + 3.0);
            low >= 0.0 && high <= WIDTH && !crossed
        };
        let both = (0..names.len()).flat_map(|at| [(at, Anchor::End), (at, Anchor::Start)]);
        let fallback = if names[0].x > WIDTH / 2.0 { Anchor::End } else { Anchor::Start };
        let free = both.into_iter().find(|&(at, anchor)| is_free(at, anchor));
        let (at, anchor) = free.unwrap_or((0, fallback));
        ordered.push((names.remove(at), anchor));
    }
    ordered
}

/// The meanings of the marks in this chart.
fn keys(ranking: &Ranking) -> impl Iterator<Item = LegendKey> {
    let has_intervals = ranking.rows.iter().any(|row| row.wall.median_ci95.is_some());
    let all = [
        (true, KeyMark::Square, "bar key", "bar: median"),
        (true, KeyMark::Disc, "solid key", "dot: reading"),
        (has_intervals, KeyMark::Line, "interval", "95 % interval"),
        (!drawn_bounds(ranking).is_empty(), KeyMark::Line, "bound", "limit"),
    ];
    let shown = all.into_iter().filter(|(is_shown, ..)| *is_shown);
    shown.map(|(_, mark, class, text)| LegendKey::new(mark, class, text))
}

fn has_rates(ranking: &Ranking) -> bool {
    ranking.rows.iter().any(|row| row.throughput.is_some())
}

/// The value that the bar of a wall time shows: a rate in bytes per second, or nanoseconds if no
/// row has a rate; `None` for a row without a rate among rows with rates.
fn bar_length(ranking: &Ranking, row: &RankingRow, wall_ns: u64) -> Option<f64> {
    match has_rates(ranking) {
        true => Some(Throughput::per(row.delivered_bytes?, Nanos(wall_ns)).0),
        false => Some(float(wall_ns)),
    }
}

fn longest_bar(ranking: &Ranking) -> Option<f64> {
    let ends = ranking.rows.iter().flat_map(|row| [(row, row.wall.p0), (row, row.wall.p100)]);
    let lengths = ends.filter_map(|(row, wall_ns)| bar_length(ranking, row, wall_ns));
    lengths.filter(|it| it.is_finite()).reduce(f64::max)
}

/// The limits near the fastest reading, which are drawn; empty if bars show times.
fn drawn_bounds(ranking: &Ranking) -> Vec<&Bound> {
    let room = longest_bar(ranking).unwrap_or(0.0) * DRAWN_LIMIT_TIMES_MAX;
    let near = |bound: &&Bound| has_rates(ranking) && bound.rate.0 <= room;
    ranking.bounds.iter().filter(near).collect()
}

fn scale(ranking: &Ranking) -> Option<Scale> {
    let reach = drawn_bounds(ranking).iter().map(|bound| bound.rate.0).fold(longest_bar(ranking)?, f64::max);
    Some(Scale::linear([0.0, reach * 1.02], [0.0, WIDTH]))
}

fn chart_row<'a>(ranking: &Ranking, row: &'a RankingRow, scale: &Scale, bounds: &[f64]) -> ChartRow<'a> {
    let length = |wall_ns| bar_length(ranking, row, wall_ns);
    let mut marks = Vec::new();
    if let Some(median) = length(row.wall.median) {
        marks.push(svg::bar("bar", [0.0, STRIP_TOP], [scale.coordinate_of(median), STRIP_HEIGHT]));
        let shown = dot_values(row.readings.iter().filter_map(|reading| length(reading.wall_ns)), DOTS_MAX);
        let places = shown
            .iter()
            .zip(dot_heights())
            .map(|(&value, high)| [scale.coordinate_of(value), STRIP_TOP + high]);
        marks.push(svg::dots("dots", places));
    }
    let interval = row.wall.median_ci95.and_then(|[low, high]| Some([length(low)?, length(high)?]));
    marks.extend(interval.map(|[a, b]| {
        let ends = [scale.coordinate_of(a.min(b)), scale.coordinate_of(a.max(b))];
        let middle = STRIP_TOP + STRIP_HEIGHT / 2.0;
        if scale.holds(a.max(b)) {
            svg::whisker("interval", ends, middle, false)
        } else {
            svg::open_whisker("interval", ends, middle)
        }
    }));
    // The line of a limit crosses only the strip, in front of the bar, and not the name and the
    // value above the strip.
    let ends = |x: f64| ([x, STRIP_TOP - 2.0], [x, STRIP_TOP + STRIP_HEIGHT + 2.0]);
    marks.extend(bounds.iter().map(|&x| ends(x)).map(|(from, to)| svg::line("bound", from, to)));
    ChartRow {
        rank: row.rank.map_or_else(String::new, Rank::word),
        is_bold: ranking.is_leader(row),
        ..ChartRow::new(row, rate_or_time_words(row), marks)
    }
}

/// Heights of dots within a strip that do not repeat nearby: multiples of the golden ratio.
fn dot_heights() -> impl Iterator<Item = f64> {
    (0..u32::MAX).map(|n| 2.0 + (STRIP_HEIGHT - 4.0) * (f64::from(n) * 0.618_033_988_75).fract())
}

/// The values that are drawn as dots, in rising order. Up to `most` values are all drawn. For more
/// values, the range is divided into `most` equal steps, and one value of each step is drawn. So
/// the range stays the same, and every gap wider than a step is visible.
fn dot_values(values: impl Iterator<Item = f64>, most: usize) -> Vec<f64> {
    let mut shown: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    shown.sort_unstable_by(f64::total_cmp);
    if let (true, &[low, .., high]) = (shown.len() > most, &shown[..]) {
        let step = (high - low) / count_as_float(most);
        shown.dedup_by_key(|value| ((*value - low) / step).floor());
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn no_limits_line_goes_through_the_name_of_another() {
        let text = || "memory, 2 threads 23.1 GB/s".to_owned();
        for places in
            [&[400.0, 390.0, 380.0][..], &[10.0, 20.0, 430.0], &[200.0, 210.0], &[5.0, 100.0, 330.0, 439.0]]
        {
            let names = places.iter().map(|&at| BoundName { x: at, text: text() }).collect();
            let ordered = ordered_and_anchored(names);
            assert_eq!(ordered.len(), places.len());
            for (row, (name, anchor)) in ordered.iter().enumerate() {
                let [low, high] = name.span(*anchor);
                assert!(low >= 0.0 && high <= WIDTH, "{places:?}: {low} to {high}");
                let lower = ordered[row + 1..].iter().map(|(name, _)| name.x);
                assert!(lower.into_iter().all(|x| x <= low || x >= high), "{places:?}: row {row}");
            }
        }
    }

    #[test]
    fn up_to_the_maximum_all_values_are_drawn() {
        assert_eq!(dot_values([3.0, 1.0, 1.0].into_iter(), 3), [1.0, 1.0, 3.0]);
    }

    proptest! {
        #[test]
        fn many_values_keep_their_range(values in prop::collection::vec(0.0..1e9_f64, 0..600)) {
            let dots = dot_values(values.iter().copied(), 100);
            prop_assert!(dots.len() <= 101);
            let low = values.iter().copied().fold(f64::INFINITY, f64::min);
            let high = values.iter().copied().fold(0.0, f64::max);
            if let (Some(first), Some(last)) = (dots.first(), dots.last()) {
                prop_assert_eq!(*first, low);
                prop_assert!(high - last <= (high - low) / 100.0 + 1e-6);
            }
        }
    }
}
