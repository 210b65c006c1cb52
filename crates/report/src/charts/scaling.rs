//! The rate of one method by the number of ranks or readers: the measured rates with their
//! intervals, the fitted law up to twice as many, and perfect scaling.

use super::super::palette::language_class;
use super::super::scaling::ScalingView;
use super::super::svg::{self, Quantity, Scale};
use super::Chart;
use super::legend::{Key, KeyMark, Legend};
use super::plot::{self, BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH};
use readlab_analysis::scaling::LawPoint;
use readlab_analysis::stats::float;
use readlab_system::markup::element;

/// Largest number of points drawn for the law.
const LAW_POINTS: u64 = 64;

pub(in super::super) fn scaling(view: &ScalingView, slug: String) -> Chart {
    let points = &view.scaling.points;
    let law = view.scaling.law_points(LAW_POINTS);
    let most = points.iter().map(|point| point.count).chain(law.iter().map(|point| point.count)).max();
    let across = Scale::linear([0.0, float(most.unwrap_or(1))], [LEFT, RIGHT - 10.0]);
    let tops = points.iter().map(|point| point.interval.map_or(point.rate, |it| it.high));
    let highest = tops.chain(law.iter().map(|point| point.interval.high)).fold(0.0, f64::max) * 1.1;
    let up = Scale::linear([0.0, highest], [BOTTOM, TOP]);
    let place = |count: u64, rate: f64| [across.at(float(count)), up.at(rate)];
    let ticks = points.iter().map(|point| point.count).chain(most);
    let ticks: Vec<(f64, String)> = ticks.map(|count| (across.at(float(count)), count.to_string())).collect();
    let title = format!("{} that read together", view.scaling.unit.plural());
    let mut marks = plot::frame(&up, Quantity::Rate, &ticks, &title);
    if let Some(first) = points.first() {
        // The line of perfect scaling ends at the frame.
        let of_one = first.rate / float(first.count);
        let last = (highest / of_one).min(float(most.unwrap_or(1)));
        marks.push(svg::line(
            "robust",
            [across.at(0.0), up.at(0.0)],
            [across.at(last), up.at(of_one * last)],
        ));
    }
    let along = |rate: fn(&LawPoint) -> f64| {
        law.iter().map(|point| place(point.count, rate(point))).collect::<Vec<_>>()
    };
    marks.extend(svg::polyline("fit", &along(|point| point.rate)));
    marks.extend(svg::polyline("fill", &along(|point| point.interval.low)));
    marks.extend(svg::polyline("fill", &along(|point| point.interval.high)));
    for point in points {
        let ends = point.interval.map(|it| [up.at(it.high), up.at(it.low)]);
        marks.extend(ends.map(|ends| svg::whisker("interval", ends, across.at(float(point.count)), true)));
    }
    let dots = svg::dots("curve-dots", points.iter().map(|point| place(point.count, point.rate)));
    let class = language_class(&view.language);
    marks.push(element("g").class(class).all(vec![dots]));
    let legend = Legend::at(HEIGHT, &keys(class, !law.is_empty()));
    marks.extend(legend.marks);
    Chart {
        slug,
        title: format!("{}: rate by {}", view.name, view.scaling.unit.plural()),
        description: format!("{}.", view.lines.join("; ")),
        size: [WIDTH, legend.bottom],
        marks,
    }
}

fn keys(class: &str, has_law: bool) -> Vec<Key> {
    let measured = Key::new(KeyMark::Disc, &format!("solid {class}"), "measured");
    let mut keys = vec![measured, Key::new(KeyMark::Line, "robust", "perfect scaling")];
    if has_law {
        keys.push(Key::new(KeyMark::Line, "fit", "the law"));
        keys.push(Key::new(KeyMark::Line, "fill", "its 95 % interval"));
    }
    keys
}
