//! Figure: how often the intervals of ratios and medians hold the true value in simulated rounds,
//! and how wide they are beside those of earlier versions.
//!
//! Nothing is read and no machine is measured: the noise is drawn from a fixed seed
//! ([`noise`]), so two runs of one revision agree. The table of METHOD.md is from here.

mod earlier;
mod noise;

use crate::pairs::median;
use crate::programs::Programs;
use crate::row::Row;
use noise::{Cause, Noise};
use readlab_analysis::stats::{self, Confidence, Interval, Observation};
use readlab_model::sample::Sample;

pub(super) const ABOUT: &str =
    "intervals: how often they hold the true value in simulated rounds, and how wide they are";

const ROUNDS: [u32; 10] = [5, 6, 7, 8, 10, 12, 15, 20, 30, 40];
/// True ratios.
const FACTORS: [f64; 4] = [1.0, 1.02, 1.05, 1.2];
/// For each factor; a cell has all factors together, as they only move its logarithms. The standard
/// error of its coverage is 0.17 %.
const REPETITIONS: usize = 4_000;
/// How often the earlier interval is drawn, which takes a hundred times as long.
const EARLIER_REPETITIONS: usize = 400;
const COVERAGE: f64 = 0.94;
const WIDTH: f64 = 0.65;

/// What an interval is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quantity {
    Ratio,
    Median,
}

/// The intervals under one noise with one number of rounds.
struct Cell {
    cause: Cause,
    rounds: u32,
    /// The share of intervals that hold the true value.
    held: f64,
    half_width: f64,
}

pub(super) fn measure(_: &Programs) -> anyhow::Result<Vec<Row>> {
    Ok([Quantity::Ratio, Quantity::Median].into_iter().flat_map(rows).collect())
}

/// The least coverage over all cells, the width beside the earlier one, and each noise by itself.
fn rows(quantity: Quantity) -> Vec<Row> {
    let name = if quantity == Quantity::Ratio { "ratio" } else { "median" };
    let cells: Vec<Cell> =
        noise::ALL.into_iter().flat_map(|cause| ROUNDS.map(|rounds| cell(quantity, cause, rounds))).collect();
    let Some(least) = cells.iter().min_by(|a, b| a.held.total_cmp(&b.held)) else { return Vec::new() };
    let words = format!("{:.1} % ({:?}, {} rounds)", 100.0 * least.held, least.cause, least.rounds);
    let held = least.held;
    let target = "at least 94 %";
    let mut rows =
        vec![Row::judged(format!("{name}: least coverage"), target, held, held >= COVERAGE, words)];
    let widths: Vec<f64> = noise::ALL.map(|cause| earlier_width(quantity, cause, &cells)).to_vec();
    let width = median(&widths);
    let figure = format!("{name}: width at 10 rounds ÷ earlier");
    let words = format!("{width:.2}, median over {} kinds of noise", widths.len());
    rows.push(match quantity {
        Quantity::Ratio => Row::judged(figure, "at most 0.65", width, width <= WIDTH, words),
        Quantity::Median => Row::unjudged(figure, width, words),
    });
    rows.extend(noise::ALL.iter().zip(widths).map(|(cause, width)| {
        let shares = cells.iter().filter(|cell| cell.cause == *cause);
        let shares: Vec<String> =
            shares.map(|cell| format!("{}: {:.1}", cell.rounds, 100.0 * cell.held)).collect();
        let words = format!("{width:.2} as wide at 10; coverage in % at {}", shares.join(", "));
        Row::unjudged(format!("{name}: {cause:?}"), width, words)
    }));
    rows
}

/// How wide the interval at ten rounds is, in widths of the earlier interval of the same noise.
fn earlier_width(quantity: Quantity, cause: Cause, cells: &[Cell]) -> f64 {
    let mut noise = Noise::new(10);
    let mut earlier = || earlier::half_width(&logs(quantity, cause, 10, 1.0, &mut noise));
    let earlier: Vec<f64> = (0..EARLIER_REPETITIONS).map(|_| earlier()).collect();
    let cell = cells.iter().find(|cell| cell.cause == cause && cell.rounds == 10);
    cell.map_or(f64::NAN, |cell| cell.half_width) / median(&earlier)
}

#[expect(clippy::cast_precision_loss, reason = "a few thousand")]
fn cell(quantity: Quantity, cause: Cause, rounds: u32) -> Cell {
    let mut noise = Noise::new(u64::from(rounds));
    let true_value = |factor: f64| if quantity == Quantity::Ratio { factor } else { cause.median() };
    let mut widths = Vec::new();
    let mut held = 0;
    for factor in FACTORS {
        let ends: Vec<Interval> = (0..REPETITIONS)
            .filter_map(|_| interval(quantity, &noise::trial_pair(cause, rounds, factor, &mut noise)))
            .collect();
        held += ends.iter().filter(|ends| ends.holds(true_value(factor))).count();
        widths.extend(ends.iter().map(|ends| (ends.high / ends.low).ln() / 2.0));
    }
    let all = REPETITIONS * FACTORS.len();
    Cell { cause, rounds, held: held as f64 / all as f64, half_width: median(&widths) }
}

/// The interval of the lab.
fn interval(quantity: Quantity, (reference, trial): &(Vec<Sample>, Vec<Sample>)) -> Option<Interval> {
    match quantity {
        Quantity::Ratio => stats::ratio(reference, trial)?.ci95,
        Quantity::Median => {
            let walls: Vec<Observation> = trial.iter().map(Observation::from).collect();
            let seconds = |value: f64| value / 1e9;
            let ends = stats::median_interval(&walls, Confidence::REPORTED)?;
            Some(Interval { low: seconds(ends.low), high: seconds(ends.high) })
        }
    }
}

/// What the earlier interval is drawn from.
fn logs(quantity: Quantity, cause: Cause, rounds: u32, factor: f64, noise: &mut Noise) -> Vec<Observation> {
    let (reference, trial) = noise::trial_pair(cause, rounds, factor, noise);
    let log = |sample: &Sample| Observation::from(sample).value.ln();
    let of_round = |(theirs, mine): (&Sample, &Sample)| Observation {
        value: if quantity == Quantity::Ratio { log(theirs) - log(mine) } else { log(mine) },
        ..Observation::from(mine)
    };
    reference.iter().zip(&trial).map(of_round).collect()
}
