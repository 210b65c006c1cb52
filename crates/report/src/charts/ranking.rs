//! How fast each method is: a bar for the median rate, its interval, every reading as a dot, the
//! limits as lines.

use super::super::bound::Bound;
use super::super::chart_reading::Dots;
use super::super::ranking::{Rank, Ranking, RankingRow};
use super::super::svg::{self, Quantity, Scale};
use super::super::words;
use super::Chart;
use super::legend::{self, Key, KeyMark, Legend};
use super::rows::{self, ChartRow, STRIP, THICK, WIDTH};
use readlab_model::units::{Nanos, Throughput};
use readlab_system::markup::Element;

/// A limit above this multiple of the fastest reading would leave no room for the readings; it is
/// given in words.
const BOUND_MOST: f64 = 2.0;

/// Dots of one trial at most.
pub(in super::super) const DOTS_MOST: usize = 200;

/// The chart; `None` when nothing was measured.
pub(in super::super) fn ranking(ranking: &Ranking, slug: String) -> Option<Chart> {
    let scale = scale(ranking)?;
    let count = ranking.rows.len();
    let places: Vec<f64> = bounds(ranking).iter().map(|bound| scale.at(bound.rate.0)).collect();
    let chart_rows = ranking.rows.iter().map(|row| drawn(ranking, row, &scale, &places)).collect();
    let mut marks = rows::axis(&scale, quantity(ranking));
    marks.extend(rows::layout(chart_rows, &rows::lines(&scale)));
    let (mut foot, below) = bound_names(ranking, &scale);
    let legend = Legend::at(below, &keys(ranking));
    foot.extend(legend.marks);
    marks.push(rows::foot(count, foot));
    let title =
        format!("{}: median {}", ranking.title(), if by_rate(ranking) { "rate" } else { "wall time" });
    let description =
        ranking.rows.iter().map(|row| format!("{} {}", row.short, value(row))).collect::<Vec<_>>();
    Some(Chart {
        slug,
        title,
        description: format!("From the fastest to the slowest: {}.", description.join("; ")),
        size: [WIDTH, rows::height(count) + legend.bottom],
        marks,
    })
}

/// The names of the limits with the ends of their lines, and where they end.
fn bound_names(ranking: &Ranking, scale: &Scale) -> (Vec<Element>, f64) {
    let names = bounds(ranking).into_iter().map(|bound| BoundName {
        at: scale.at(bound.rate.0),
        text: format!("{} {}", bound.name, bound.rate),
    });
    let (mut marks, mut below) = (Vec::new(), 0.0);
    for (name, anchor) in in_order(names.collect()) {
        below += 15.0;
        marks.push(svg::line("bound", [name.at, -4.0], [name.at, below - 8.0]));
        marks.push(svg::text(&format!("bound-name {}", anchor.word()), [name.at, below + 3.0], &name.text));
    }
    (marks, below + 6.0)
}

/// The name of a limit below the rows, and where the limit's line is.
struct BoundName {
    at: f64,
    text: String,
}

/// To which side of its place a text goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Anchor {
    Start,
    End,
}

impl Anchor {
    fn word(self) -> &'static str {
        match self {
            Anchor::Start => "start",
            Anchor::End => "end",
        }
    }
}

impl BoundName {
    /// From where to where it goes.
    #[expect(clippy::cast_precision_loss, reason = "letters")]
    fn span(&self, anchor: Anchor) -> [f64; 2] {
        let wide = self.text.chars().count() as f64 * rows::LETTER;
        match anchor {
            Anchor::Start => [self.at, self.at + wide],
            Anchor::End => [self.at - wide, self.at],
        }
    }
}

/// Names in an order in which no line of a later name crosses an earlier name above it.
fn in_order(mut names: Vec<BoundName>) -> Vec<(BoundName, Anchor)> {
    let mut ordered = Vec::new();
    while !names.is_empty() {
        let is_free = |at: usize, anchor: Anchor| {
            let [low, high] = names[at].span(anchor);
            let others = names.iter().enumerate().filter(|&(other, _)| other != at);
            let crossed = others.map(|(_, it)| it.at).any(|x| x > low - 3.0 && x < high + 3.0);
            low >= 0.0 && high <= WIDTH && !crossed
        };
        let both = (0..names.len()).flat_map(|at| [(at, Anchor::End), (at, Anchor::Start)]);
        let fallback = if names[0].at > WIDTH / 2.0 { Anchor::End } else { Anchor::Start };
        let free = both.into_iter().find(|&(at, anchor)| is_free(at, anchor));
        let (at, anchor) = free.unwrap_or((0, fallback));
        ordered.push((names.remove(at), anchor));
    }
    ordered
}

/// What the marks mean, of those that are there.
fn keys(ranking: &Ranking) -> Vec<Key> {
    let mut keys = legend::languages(ranking.rows.iter().map(|row| row.language.as_str()));
    keys.push(Key::new(KeyMark::Square, "bar key", "bar: median"));
    keys.push(Key::new(KeyMark::Disc, "solid key", "dot: reading"));
    if ranking.rows.iter().any(|row| row.wall.median_ci95.is_some()) {
        keys.push(Key::new(KeyMark::Line, "interval", "95 % interval"));
    }
    if !bounds(ranking).is_empty() {
        keys.push(Key::new(KeyMark::Line, "bound", "limit"));
    }
    keys
}

fn by_rate(ranking: &Ranking) -> bool {
    ranking.rows.iter().any(|row| row.throughput.is_some())
}

fn quantity(ranking: &Ranking) -> Quantity {
    if by_rate(ranking) { Quantity::Rate } else { Quantity::Time }
}

/// A wall time as the length that is drawn.
#[expect(clippy::cast_precision_loss, reason = "drawn with four digits")]
fn length(ranking: &Ranking, row: &RankingRow, wall_ns: u64) -> f64 {
    match row.bytes.filter(|_| by_rate(ranking)) {
        Some(size) => Throughput::per(size, Nanos(wall_ns)).0,
        None => wall_ns as f64,
    }
}

fn longest(ranking: &Ranking) -> Option<f64> {
    let ends = ranking.rows.iter().flat_map(|row| [(row, row.wall.p0), (row, row.wall.p100)]);
    ends.map(|(row, wall_ns)| length(ranking, row, wall_ns)).filter(|it| it.is_finite()).reduce(f64::max)
}

/// The limits that are drawn; none where bars are times.
fn bounds(ranking: &Ranking) -> Vec<&Bound> {
    let room = longest(ranking).unwrap_or(0.0) * BOUND_MOST;
    let near = |bound: &&Bound| by_rate(ranking) && bound.rate.0 <= room;
    ranking.bounds.iter().filter(near).collect()
}

fn scale(ranking: &Ranking) -> Option<Scale> {
    let reach = bounds(ranking).iter().map(|bound| bound.rate.0).fold(longest(ranking)?, f64::max);
    Some(Scale::linear([0.0, reach * 1.02], [0.0, WIDTH]))
}

fn value(row: &RankingRow) -> String {
    match row.throughput {
        Some(rate) => words::rate_with_half(rate, &row.wall),
        None => words::time_with_half(&row.wall),
    }
}

fn drawn<'a>(ranking: &Ranking, row: &'a RankingRow, scale: &Scale, bounds: &[f64]) -> ChartRow<'a> {
    let x = |wall_ns| scale.at(length(ranking, row, wall_ns));
    let mut marks = vec![svg::bar("bar", [0.0, STRIP], [x(row.wall.median), THICK])];
    let lengths = row.readings.iter().map(|reading| length(ranking, row, reading.wall_ns));
    let dots = Dots::from_values(lengths, DOTS_MOST);
    let places = dots.shown.iter().zip(heights()).map(|(&value, high)| [scale.at(value), STRIP + high]);
    marks.push(svg::dots("dots", places));
    marks.extend(row.wall.median_ci95.map(|[low, high]| {
        let [a, b] = [length(ranking, row, low), length(ranking, row, high)];
        let ends = [scale.at(a.min(b)), scale.at(a.max(b))];
        let middle = STRIP + THICK / 2.0;
        if scale.holds(a.max(b)) {
            svg::whisker("interval", ends, middle, false)
        } else {
            svg::open_whisker("interval", ends, middle)
        }
    }));
    // Across the strip alone, and over the bar: the name and the value are above it.
    let ends = |x: f64| ([x, STRIP - 2.0], [x, STRIP + THICK + 2.0]);
    marks.extend(bounds.iter().map(|&x| ends(x)).map(|(from, to)| svg::line("bound", from, to)));
    ChartRow {
        rank: row.rank.map_or_else(String::new, Rank::word),
        strong: ranking.leads(row),
        marks,
        ..ChartRow::new(row, value(row))
    }
}

/// Heights within a strip that never repeat nearby: multiples of the golden section.
fn heights() -> impl Iterator<Item = f64> {
    (0..u32::MAX).map(|n| 2.0 + (THICK - 4.0) * (f64::from(n) * 0.618_033_988_75).fract())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_limits_line_goes_through_the_name_of_another() {
        let text = || "memory, 2 threads 23.1 GB/s".to_owned();
        for places in
            [&[400.0, 390.0, 380.0][..], &[10.0, 20.0, 430.0], &[200.0, 210.0], &[5.0, 100.0, 330.0, 439.0]]
        {
            let names = places.iter().map(|&at| BoundName { at, text: text() }).collect();
            let ordered = in_order(names);
            assert_eq!(ordered.len(), places.len());
            for (row, (name, anchor)) in ordered.iter().enumerate() {
                let [low, high] = name.span(*anchor);
                assert!(low >= 0.0 && high <= WIDTH, "{places:?}: {low} to {high}");
                let lower = ordered[row + 1..].iter().map(|(name, _)| name.at);
                assert!(lower.into_iter().all(|x| x <= low || x >= high), "{places:?}: row {row}");
            }
        }
    }
}
