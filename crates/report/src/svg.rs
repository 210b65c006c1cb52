//! The building blocks of charts: a scale from values to coordinates, its ticks, and the marks that
//! charts consist of.
//!
//! Marks have CSS classes and no colours, so the same drawing can be shown in the light and the
//! dark theme and on paper. Coordinates are rounded to a tenth of a unit, which keeps files small
//! and snapshots stable. A scale always returns a finite coordinate. No charting crate is used: the
//! known ones write colours into every mark and leave out what a screen reader needs.

use readlab_model::units::{Bytes, Nanos, Throughput};
use readlab_system::markup::{Element, element, text_element};
use std::fmt::Write;

/// Maps values to coordinates along one direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    domain: [f64; 2],
    coordinates: [f64; 2],
    is_logarithmic: bool,
}

/// The quantity of an axis, which decides the unit of its ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quantity {
    /// Rates in bytes per second.
    Rate,
    Time,
    Size,
    Share,
}

impl Scale {
    /// A linear scale from `domain` to `coordinates`; an empty domain is widened.
    pub(super) fn linear(domain: [f64; 2], coordinates: [f64; 2]) -> Scale {
        let [low, high] = domain;
        let high = if high > low { high } else { low + low.abs().max(1.0) };
        Scale { domain: [low, high], coordinates, is_logarithmic: false }
    }

    /// A logarithmic scale. A lower end that is not positive becomes the smallest positive number.
    pub(super) fn logarithmic(domain: [f64; 2], coordinates: [f64; 2]) -> Scale {
        let low = domain[0].max(f64::MIN_POSITIVE);
        let high = if domain[1] > low { domain[1] } else { low * 10.0 };
        Scale { domain: [low, high], coordinates, is_logarithmic: true }
    }

    /// The coordinate of a value. A value outside the domain has the coordinate of the nearer end.
    pub(super) fn coordinate_of(&self, value: f64) -> f64 {
        let [low, high] = self.domain.map(|end| self.transform(end));
        let share = ((self.transform(value) - low) / (high - low)).clamp(0.0, 1.0);
        let share = if share.is_finite() { share } else { 0.0 };
        self.coordinates[0] + share * (self.coordinates[1] - self.coordinates[0])
    }

    /// Whether a value is inside the domain.
    pub(super) fn holds(&self, value: f64) -> bool {
        (self.domain[0]..=self.domain[1]).contains(&value)
    }

    fn transform(&self, value: f64) -> f64 {
        if self.is_logarithmic { value.max(f64::MIN_POSITIVE).log10() } else { value }
    }

    /// About `about` round values within the domain.
    pub(super) fn ticks(&self, about: u32) -> Vec<f64> {
        let [low, high] = self.domain;
        if self.is_logarithmic {
            return logarithmic_ticks(low, high, about);
        }
        let step = round_step((high - low) / f64::from(about.max(1)));
        let first = (low / step).ceil();
        (0..=about * 3)
            .map(|n| (first + f64::from(n)) * step)
            .take_while(|&tick| tick <= high * (1.0 + 1e-9))
            .collect()
    }
}

/// The smallest of 1, 2, 2.5 and 5 times a power of ten that is at least `least`.
fn round_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.max(f64::MIN_POSITIVE).log10().floor());
    [1.0, 2.0, 2.5, 5.0]
        .map(|factor| factor * power)
        .into_iter()
        .find(|&step| step >= least)
        .unwrap_or(10.0 * power)
}

/// Powers of ten from `low` to `high`; if these are too few, also twice and five times each.
fn logarithmic_ticks(low: f64, high: f64, about: u32) -> Vec<f64> {
    let span = (high / low).log10();
    let factors: &[f64] = if span * 2.0 < f64::from(about) { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let first = low.log10().floor();
    let powers = (0..=24_u8).map(|n| 10_f64.powf(first + f64::from(n)));
    let ticks = powers.flat_map(|power| factors.iter().map(move |factor| factor * power));
    ticks.filter(|tick| (low * (1.0 - 1e-9)..=high * (1.0 + 1e-9)).contains(tick)).collect()
}

impl Quantity {
    /// A value with its unit, as short as possible: `20 GB/s`, `1.5 ms`.
    pub(super) fn tick_label(self, value: f64) -> String {
        let whole = value.round() as u64;
        let text = match self {
            _ if value == 0.0 => return "0".to_owned(),
            Quantity::Rate => Throughput(value).to_string(),
            Quantity::Time => Nanos(whole).to_string(),
            Quantity::Size => Bytes(whole).to_string(),
            Quantity::Share => format!("{} %", (value * 100.0).round()),
        };
        match text.split_once(' ') {
            Some((number, unit)) => format!("{} {unit}", without_trailing_zeros(number)),
            None => text,
        }
    }
}

/// A number without trailing zeros.
fn without_trailing_zeros(number: &str) -> String {
    if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        number.to_owned()
    }
}

/// A coordinate, rounded to a tenth.
pub(super) fn coordinate_text(value: f64) -> String {
    let text = without_trailing_zeros(&format!("{value:.1}"));
    if text == "-0" { "0".to_owned() } else { text }
}

pub(super) fn line(class: &str, from: [f64; 2], to: [f64; 2]) -> Element {
    with_coordinates(with_coordinates(element("line").class(class), ["x1", "y1"], from), ["x2", "y2"], to)
}

/// Sets two attributes to coordinates.
fn with_coordinates(mark: Element, [x, y]: [&'static str; 2], at: [f64; 2]) -> Element {
    mark.set(x, coordinate_text(at[0])).set(y, coordinate_text(at[1]))
}

/// A rectangle, given by its upper left corner and its size.
pub(super) fn bar(class: &str, corner: [f64; 2], size: [f64; 2]) -> Element {
    let mark = with_coordinates(element("rect").class(class), ["x", "y"], corner);
    with_coordinates(mark, ["width", "height"], size.map(|it| it.max(0.0))).set("rx", 1.5)
}

/// Text that starts, is centred or ends at a point, depending on its class (`start`, `middle`,
/// `end`).
pub(super) fn text(class: &str, at: [f64; 2], raw: &str) -> Element {
    with_coordinates(text_element("text", raw).class(class), ["x", "y"], at)
}

/// Round dots as a single path: strokes of zero length with round ends.
pub(super) fn dots(class: &str, points: impl IntoIterator<Item = [f64; 2]>) -> Element {
    let path = points.into_iter().fold(String::new(), |mut path, [x, y]| {
        // Writing to a String cannot fail.
        let _ = write!(path, "M{} {}h0", coordinate_text(x), coordinate_text(y));
        path
    });
    element("path").class(class).set("d", path)
}

/// A line through points in order; `None` with fewer than two.
pub(super) fn polyline(class: &str, points: &[[f64; 2]]) -> Option<Element> {
    let drawn = points.iter().map(|[x, y]| format!("{} {}", coordinate_text(*x), coordinate_text(*y)));
    let path = format!("M{}", drawn.collect::<Vec<_>>().join("L"));
    (points.len() > 1).then(|| element("path").class(class).set("d", path))
}

pub(super) fn disc(class: &str, at: [f64; 2], radius: f64) -> Element {
    with_coordinates(element("circle").class(class), ["cx", "cy"], at).set("r", coordinate_text(radius))
}

pub(super) fn square(class: &str, [x, y]: [f64; 2], radius: f64) -> Element {
    bar(class, [x - radius, y - radius], [2.0 * radius, 2.0 * radius])
}

/// A square standing on a corner.
pub(super) fn diamond(class: &str, [x, y]: [f64; 2], radius: f64) -> Element {
    let (left, top, r) = (coordinate_text(x - radius), coordinate_text(y), coordinate_text(radius));
    let path = format!("M{left} {top}l{r} -{r}l{r} {r}l-{r} {r}z");
    element("path").class(class).set("d", path)
}

/// An interval: a line with short strokes across its ends.
pub(super) fn whisker(class: &str, [low, high]: [f64; 2], at: f64, is_upright: bool) -> Element {
    const CROSS_STROKE: f64 = 3.0;
    let (low, high, near, far) = (
        coordinate_text(low),
        coordinate_text(high),
        coordinate_text(at - CROSS_STROKE),
        coordinate_text(at + CROSS_STROKE),
    );
    let at = coordinate_text(at);
    let path = if is_upright {
        format!("M{near} {low}H{far}M{at} {low}V{high}M{near} {high}H{far}")
    } else {
        format!("M{low} {near}V{far}M{low} {at}H{high}M{high} {near}V{far}")
    };
    element("path").class(class).set("d", path)
}

/// An interval that extends beyond the drawing: its upper end is an arrow.
pub(super) fn open_whisker(class: &str, [low, edge]: [f64; 2], at: f64) -> Element {
    const CROSS_STROKE: f64 = 3.0;
    let (near, far, back) = (
        coordinate_text(at - CROSS_STROKE),
        coordinate_text(at + CROSS_STROKE),
        coordinate_text(edge - CROSS_STROKE),
    );
    let (low, edge, at) = (coordinate_text(low), coordinate_text(edge), coordinate_text(at));
    let path = format!("M{low} {near}V{far}M{low} {at}H{edge}M{back} {near}L{edge} {at}L{back} {far}");
    element("path").class(class).set("d", path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ticks_are_round_and_named_briefly() {
        let ticks = Scale::linear([0.0, 23e9], [0.0, 400.0]).ticks(5);
        assert_eq!(ticks, [0.0, 5e9, 10e9, 15e9, 20e9]);
        let names: Vec<String> = ticks.iter().map(|&tick| Quantity::Rate.tick_label(tick)).collect();
        assert_eq!(names, ["0", "5 GB/s", "10 GB/s", "15 GB/s", "20 GB/s"]);
        assert_eq!(Quantity::Time.tick_label(2_500_000.0), "2.5 ms");
        assert_eq!(Scale::logarithmic([10e3, 2e9], [0.0, 1.0]).ticks(6), [1e4, 1e5, 1e6, 1e7, 1e8, 1e9]);
        assert_eq!(Scale::logarithmic([1.0, 8.0], [0.0, 1.0]).ticks(6), [1.0, 2.0, 5.0]);
    }

    #[test]
    fn a_logarithmic_scale_has_equal_room_for_equal_factors() {
        let scale = Scale::logarithmic([1.0, 100.0], [0.0, 200.0]);
        assert_eq!([1.0, 10.0, 100.0].map(|value| scale.coordinate_of(value)), [0.0, 100.0, 200.0]);
    }

    #[test]
    fn a_coordinate_is_never_minus_zero() {
        assert_eq!([-0.01, 3.0, 3.26].map(coordinate_text), ["0", "3", "3.3"]);
    }

    proptest! {
        #[test]
        fn every_value_has_a_coordinate(low in any::<f64>(), high in any::<f64>(), value in any::<f64>()) {
            for scale in [Scale::linear([low, high], [0.0, 9.0]), Scale::logarithmic([low, high], [0.0, 9.0])] {
                let at = scale.coordinate_of(value);
                prop_assert!((0.0..=9.0).contains(&at), "{:?} puts {} at {}", scale, value, at);
                prop_assert!(scale.ticks(5).len() <= 80);
            }
        }
    }
}
