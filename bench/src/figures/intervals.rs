//! Figure: how often the intervals of ratios and medians hold the true value in simulated rounds,
//! and how wide they are beside those of earlier versions.
//!
//! Nothing is read and no machine is measured: the noise is drawn from a fixed seed
//! ([`noise`]), so two runs of one revision agree. The table of METHOD.md is from here.

mod noise;

use crate::pairs::median;
use crate::programs::Programs;
use crate::row::Row;
use noise::{Cause, Noise};
use readlab_analysis::stats::{self, Confidence, Interval, Observation, count, mean_and_sd};
use readlab_model::sample::Sample;
use std::collections::BTreeMap;

pub(super) const ABOUT: &str =
    "how often intervals hold the true value in simulated rounds, and how wide they are";

const ROUNDS: [u32; 10] = [5, 6, 7, 8, 10, 12, 15, 20, 30, 40];
/// True ratios.
const FACTORS: [f64; 4] = [1.0, 1.02, 1.05, 1.2];
/// For each factor; a cell has all factors together, as they only move its logarithms. The standard
/// error of its coverage is 0.17 %.
const REPETITIONS: usize = 4_000;
/// How often the earlier interval is drawn, which takes a hundred times as long.
const EARLIER_REPETITIONS: usize = 400;
const EARLIER_RESAMPLES: usize = 400;
const COVERAGE: f64 = 0.94;
const WIDTH: f64 = 0.65;

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
    let width = median(widths.iter().copied());
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
    let earlier =
        (0..EARLIER_REPETITIONS).map(|_| half_width_earlier(&logs(quantity, cause, 10, 1.0, &mut noise)));
    let earlier = median(earlier);
    let cell = cells.iter().find(|cell| cell.cause == cause && cell.rounds == 10);
    cell.map_or(f64::NAN, |cell| cell.half_width) / earlier
}

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
    Cell { cause, rounds, held: count(held) / count(all), half_width: median(widths) }
}

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

fn logs(quantity: Quantity, cause: Cause, rounds: u32, factor: f64, noise: &mut Noise) -> Vec<Observation> {
    let (reference, trial) = noise::trial_pair(cause, rounds, factor, noise);
    let log = |sample: &Sample| Observation::from(sample).value.ln();
    let of_round = |(theirs, mine): (&Sample, &Sample)| Observation {
        value: if quantity == Quantity::Ratio { log(theirs) - log(mine) } else { log(mine) },
        ..Observation::from(mine)
    };
    reference.iter().zip(&trial).map(of_round).collect()
}

/// Half the width of the interval of ten values that earlier versions of the lab drew: a bootstrap of
/// their median over fills, widened by Student's t, and never narrower than over single values or
/// than the interval of the sign test.
fn half_width_earlier(ten: &[Observation]) -> f64 {
    let mut values: Vec<f64> = ten.iter().map(|it| it.value).collect();
    values.sort_unstable_by(f64::total_cmp);
    let singles: Vec<Vec<f64>> = ten.iter().map(|it| vec![it.value]).collect();
    let mut fills: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for it in ten {
        fills.entry(it.fill).or_default().push(it.value);
    }
    let fills: Vec<Vec<f64>> = fills.into_values().collect();
    let reach = reach(&singles).max(reach(&fills));
    let centre = median(values.iter().copied());
    // The sign test leaves out one of ten values on each side.
    let (low, high) = (values[1].min(centre - reach), values[values.len() - 2].max(centre + reach));
    (high - low) / 2.0
}

/// Student's t times the deviation of the medians of resampled groups.
fn reach(groups: &[Vec<f64>]) -> f64 {
    let mut noise = Noise::new(1);
    let k = count(groups.len());
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "one of ten groups")]
    let mut draw = || &groups[(noise.uniform() * k) as usize];
    let mut resample = || median((0..groups.len()).flat_map(|_| draw().clone()).collect::<Vec<f64>>());
    let medians: Vec<f64> = (0..EARLIER_RESAMPLES).map(|_| resample()).collect();
    let deviation = mean_and_sd(&medians).1.unwrap_or_default();
    // Ten values, or the three fills of four rounds that ten rounds have.
    let t = if groups.len() == 3 { 4.303 } else { 2.262 };
    t * (k / (k - 1.0)).sqrt() * deviation
}
