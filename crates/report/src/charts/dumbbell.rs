//! From cold to warm, or from one location to another: for each method that was read under both
//! conditions, a square for the first rate and a disc for the second rate, joined by a line, on a
//! logarithmic scale.
//!
//! The cells of a table and the rows of a chart use the same strips.

use super::super::palette::language_class;
use super::super::row_pairs::{RowPair, RowPairs};
use super::super::svg::{self, Quantity, Scale};
use super::legend::{KeyMark, LegendKey};
use super::rows::{ChartRow, RowsChart, STRIP_HEIGHT, STRIP_TOP, WIDTH};
use super::{Chart, STRIP_SIZE, strip, strip_axis, strip_grid, values_with_room};
use readlab_system::markup::Element;

/// The pairs of two rankings, with a scale that covers them.
pub(in super::super) struct Dumbbells<'a> {
    pairs: &'a RowPairs<'a>,
    domain: [f64; 2],
}

impl<'a> Dumbbells<'a> {
    /// The plot; `None` if no pair has a positive value.
    pub(in super::super) fn from_pairs(pairs: &'a RowPairs<'a>) -> Option<Dumbbells<'a>> {
        let values =
            || pairs.pairs.iter().flat_map(|pair| pair.values).filter(|it| it.is_finite() && *it > 0.0);
        let (low, high) = (values().reduce(f64::min)?, values().reduce(f64::max)?);
        let room = (high / low).powf(0.04).max(1.1);
        Some(Dumbbells { pairs, domain: [low / room, high * room] })
    }

    pub(in super::super) fn chart(&self, slug: String) -> Chart {
        let scale = Scale::logarithmic(self.domain, [6.0, WIDTH - 6.0]);
        let rows = self.pairs.pairs.iter().map(|pair| {
            ChartRow::new(pair.second_row, pair.words(), marks(pair, &scale, STRIP_TOP + STRIP_HEIGHT / 2.0))
        });
        let [from, to] = &self.pairs.end_names;
        let keys = [
            LegendKey::new(KeyMark::Square, "solid key", from),
            LegendKey::new(KeyMark::Disc, "solid key", to),
        ];
        let chart = RowsChart::new(rows, keys).with_axis(&scale, self.quantity());
        let description = format!("From {from} to {to}: {}.", chart.values_text());
        chart.into_chart(slug, self.pairs.title.clone(), description)
    }

    /// The scale of the strips with labels, for the head of a column.
    pub(in super::super) fn axis(&self) -> Element {
        let scale = self.strip_scale();
        strip_axis(&scale, &ticks(&scale), |value| self.quantity().tick_label(value))
    }

    /// The strips, one for each pair, in order.
    pub(in super::super) fn strips(&self) -> Vec<Element> {
        let scale = self.strip_scale();
        let grid = strip_grid("grid", &scale, ticks(&scale));
        let drawn = |pair: &RowPair| {
            let marks = marks(pair, &scale, STRIP_SIZE[1] / 2.0);
            strip(language_class(&pair.second_row.language), [vec![grid.clone()], marks].concat())
        };
        self.pairs.pairs.iter().map(drawn).collect()
    }

    fn quantity(&self) -> Quantity {
        if self.pairs.has_rates { Quantity::Rate } else { Quantity::Time }
    }

    fn strip_scale(&self) -> Scale {
        Scale::logarithmic(self.domain, [14.0, STRIP_SIZE[0] - 14.0])
    }
}

fn ticks(scale: &Scale) -> Vec<f64> {
    values_with_room(scale, scale.ticks(8), 56.0)
}

fn marks(pair: &RowPair, scale: &Scale, y: f64) -> Vec<Element> {
    let [from, to] = pair.values.map(|value| scale.coordinate_of(value));
    vec![
        svg::line("span", [from, y], [to, y]),
        svg::square("solid", [from, y], 4.0),
        svg::disc("solid", [to, y], 4.5),
    ]
}
