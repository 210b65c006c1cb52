//! From cold to warm: for each method that was read in both states a square for the cold rate and a
//! disc for the warm one, joined by a line, on a logarithmic scale.
//!
//! The same strips are the cells of a table and the rows of a chart.

use super::super::method_label::MethodLabel;
use super::super::palette::language_class;
use super::super::state_pairs::{StatePair, StatePairs};
use super::super::svg::{self, Quantity, Scale};
use super::legend::{self, Key, KeyMark, Legend};
use super::rows::{self, ChartRow, STRIP, THICK, WIDTH};
use super::{Chart, STRIP_SIZE, across_rows, strip};
use readlab_system::markup::{Element, element};

/// The pairs of one target and work, and the scale that holds them.
pub(in super::super) struct Dumbbells<'a> {
    pairs: &'a StatePairs<'a>,
    domain: [f64; 2],
}

impl<'a> Dumbbells<'a> {
    /// The plot; `None` where nothing can be drawn.
    pub(in super::super) fn from_pairs(pairs: &'a StatePairs<'a>) -> Option<Dumbbells<'a>> {
        let values =
            || pairs.pairs.iter().flat_map(|pair| pair.values).filter(|it| it.is_finite() && *it > 0.0);
        let (low, high) = (values().reduce(f64::min)?, values().reduce(f64::max)?);
        let room = (high / low).powf(0.04).max(1.1);
        Some(Dumbbells { pairs, domain: [low / room, high * room] })
    }

    pub(in super::super) fn chart(&self, slug: String) -> Chart {
        let scale = Scale::logarithmic(self.domain, [6.0, WIDTH - 6.0]);
        let pairs = &self.pairs.pairs;
        let drawn = pairs.iter().map(|pair| ChartRow {
            marks: marks(pair, &scale, STRIP + THICK / 2.0),
            ..ChartRow::new(pair.warm, pair.words())
        });
        let mut all = rows::axis(&scale, self.quantity());
        all.extend(rows::layout(drawn.collect(), &rows::lines(&scale)));
        let mut keys = legend::languages(pairs.iter().map(|pair| pair.warm.language.as_str()));
        keys.push(Key::new(KeyMark::Square, "solid key", "cold"));
        keys.push(Key::new(KeyMark::Disc, "solid key", "warm"));
        let legend = Legend::at(4.0, &keys);
        all.push(rows::foot(pairs.len(), legend.marks));
        let described: Vec<String> =
            pairs.iter().map(|pair| format!("{} {}", pair.warm.short, pair.words())).collect();
        Chart {
            slug,
            title: self.pairs.title.clone(),
            description: format!("From cold to warm: {}.", described.join("; ")),
            size: [WIDTH, rows::height(pairs.len()) + legend.bottom],
            marks: all,
        }
    }

    /// The scale of the strips with its names, for the head of a column.
    pub(in super::super) fn axis(&self) -> Element {
        let scale = self.strip_scale();
        let name =
            |value: f64| svg::text("tick middle", [scale.at(value), 16.0], &self.quantity().tick(value));
        strip("axis-names", ticks(&scale).into_iter().map(name))
    }

    /// The strips, one for each pair in their order.
    pub(in super::super) fn strips(&self) -> Vec<Element> {
        let scale = self.strip_scale();
        let height = STRIP_SIZE[1];
        let lines = ticks(&scale).into_iter().map(|tick| across_rows(scale.at(tick)));
        let path: String = lines.collect();
        let grid = || element("path").class("grid").set("d", &path);
        let drawn = |pair: &StatePair| {
            let label = MethodLabel::from(pair.warm);
            strip(language_class(label.language), [vec![grid()], marks(pair, &scale, height / 2.0)].concat())
        };
        self.pairs.pairs.iter().map(drawn).collect()
    }

    fn quantity(&self) -> Quantity {
        if self.pairs.by_rate { Quantity::Rate } else { Quantity::Time }
    }

    fn strip_scale(&self) -> Scale {
        Scale::logarithmic(self.domain, [14.0, STRIP_SIZE[0] - 14.0])
    }
}

/// The named values, so far apart that their names have room.
fn ticks(scale: &Scale) -> Vec<f64> {
    const ROOM: f64 = 56.0;
    let mut taken: Vec<f64> = Vec::new();
    for tick in scale.ticks(8) {
        if taken.last().is_none_or(|&last| scale.at(tick) - scale.at(last) >= ROOM) {
            taken.push(tick);
        }
    }
    taken
}

fn marks(pair: &StatePair, scale: &Scale, y: f64) -> Vec<Element> {
    const HALF: f64 = 4.0;
    let [cold, warm] = pair.values.map(|value| scale.at(value));
    vec![
        svg::line("span", [cold, y], [warm, y]),
        svg::bar("solid", [cold - HALF, y - HALF], [2.0 * HALF, 2.0 * HALF]),
        svg::disc("solid", [warm, y], 4.5),
    ]
}
