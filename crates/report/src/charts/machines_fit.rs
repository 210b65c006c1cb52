//! The line through machines: one point for each machine, with the number of the fitted case
//! against a fact of the machine, and diamonds where the line reaches the numbers of other cases.

use super::super::comparison::number;
use super::super::svg::{self, Quantity, Scale};
use super::Chart;
use super::plot::{self, BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH};
use readlab_analysis::compare::{Fit, Unit};

/// The chart; `None` for a measure without a suitable scale.
pub(in super::super) fn machines_chart(fit: &Fit) -> Option<Chart> {
    let quantity = match fit.measure.unit() {
        Unit::Nanoseconds => Quantity::Time,
        Unit::Bytes => Quantity::Size,
        Unit::BytesPerSecond => Quantity::Rate,
        Unit::Count => return None,
    };
    let required = || fit.required.iter().filter_map(|it| Some((it.fact?, it.value)));
    let places = || fit.points.iter().map(|it| (it.fact, it.value)).chain(required());
    let ends = |of: fn((f64, f64)) -> f64| {
        let values = || places().map(of).filter(|it| it.is_finite());
        Some([values().reduce(f64::min)?, values().reduce(f64::max)?])
    };
    let ([least, most], [_, highest]) = (ends(|it| it.0)?, ends(|it| it.1)?);
    let room = (most - least).max(f64::MIN_POSITIVE) * 0.08;
    let across = Scale::linear([least - room, most + room], [LEFT, RIGHT]);
    let up = Scale::linear([0.0, highest * 1.1], [BOTTOM, TOP]);
    let ticks: Vec<(f64, String)> =
        across.ticks(5).into_iter().map(|value| (across.at(value), format!("{value:.1}"))).collect();
    let mut marks = plot::frame(&up, quantity, &ticks, &fit.fact);
    let line = [least - room, most + room].map(|fact| [across.at(fact), up.at(fit.line.line.at(fact))]);
    marks.extend(svg::polyline("fit", &line));
    for (fact, value) in required() {
        marks.push(svg::diamond("edge", [across.at(fact), up.at(value)], 4.0));
    }
    for point in &fit.points {
        let [x, y] = [across.at(point.fact), up.at(point.value)];
        marks.push(svg::disc("solid other", [x, y], 4.0));
        marks.push(svg::text("tick middle", [x, y - 9.0], &point.machine));
    }
    let points = fit.points.iter();
    let points = points.map(|it| format!("{} at {}: {}", it.machine, it.fact, number(fit.measure, it.value)));
    let description = format!(
        "{}. Diamonds: where the line reaches the numbers of other cases.",
        points.collect::<Vec<_>>().join("; ")
    );
    let title = format!("{} of {} on {}", fit.measure.word(), fit.case, fit.fact);
    Some(Chart { slug: "fit".to_owned(), title, description, size: [WIDTH, HEIGHT], marks })
}
