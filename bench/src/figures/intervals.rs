//! Figure: how often the intervals of ratios and times contain the true value in simulated rounds
//! of two trials, and how wide they are compared with those of Student's t.
//!
//! Nothing is read and no machine is measured. The noise is drawn from a fixed seed
//! ([`NoiseKind`]), so two runs of one revision agree. The table of METHOD.md is from the same
//! noise. With fewer than six rounds, intervals use the noise that many trials share. Tests of the
//! crate `readlab_stats` simulate those.

use crate::pairs::median;
use crate::programs::Programs;
use crate::row::Row;
use readlab_analysis::stats::{
    Confidence, Interval, Noise, NoiseKind, Observation, SharedVariance, count, mean_interval,
};

pub(super) const ABOUT: &str =
    "how often intervals hold the true value in simulated rounds, and how wide they are";

const ROUNDS: [u32; 9] = [6, 7, 8, 10, 12, 15, 20, 30, 40];
const WIDTH_ROUNDS: u32 = 10;
const TRUE_RATIOS: [f64; 4] = [1.0, 1.02, 1.05, 1.2];
/// Repetitions for each factor. A cell contains all factors together, because they only shift its
/// logarithms. The standard error of its coverage is 0.17 %.
const REPETITIONS: usize = 4_000;
const COVERAGE_MIN: f64 = 0.94;
const WIDTH_RATIO_MAX: f64 = 1.1;

/// The intervals of one quantity under one noise with one number of rounds, in logarithms.
struct CoverageCell {
    kind: NoiseKind,
    rounds: u32,
    /// The share of intervals that contain the true value.
    held: f64,
    /// The median width, divided by that of Student's t for the same readings.
    width: f64,
}

/// A simulated interval, that of Student's t, and the true value.
struct SimulatedInterval {
    ends: Interval,
    student: Interval,
    truth: f64,
}

pub(super) fn measure(_: &Programs) -> anyhow::Result<Vec<Row>> {
    let cells = NoiseKind::ALL.into_iter().flat_map(|kind| ROUNDS.map(|rounds| cells(kind, rounds)));
    let (ratios, times): (Vec<CoverageCell>, Vec<CoverageCell>) =
        cells.map(|[ratio, time]| (ratio, time)).unzip();
    Ok([rows("ratio", &ratios), rows("time", &times)].concat())
}

/// Rows for the least coverage over all cells, the width compared with Student's t, and each noise
/// separately.
fn rows(name: &str, cells: &[CoverageCell]) -> Vec<Row> {
    let Some(least) = cells.iter().min_by(|a, b| a.held.total_cmp(&b.held)) else { return Vec::new() };
    let words = format!("{:.1} % ({:?}, {} rounds)", 100.0 * least.held, least.kind, least.rounds);
    let at_ten: Vec<&CoverageCell> = cells.iter().filter(|cell| cell.rounds == WIDTH_ROUNDS).collect();
    let width = median(at_ten.iter().map(|cell| cell.width));
    let figure = format!("{name}: width at {WIDTH_ROUNDS} rounds ÷ Student's");
    let width_words = format!("{width:.2}, median over {} kinds of noise", at_ten.len());
    let held = least.held;
    let mut rows = vec![
        Row::judged(format!("{name}: least coverage"), "at least 94 %", held, held >= COVERAGE_MIN, words),
        Row::judged(figure, "at most 1.10", width, width <= WIDTH_RATIO_MAX, width_words),
    ];
    rows.extend(at_ten.iter().map(|&&CoverageCell { kind, width, .. }| {
        let shares = cells.iter().filter(|cell| cell.kind == kind);
        let shares: Vec<String> =
            shares.map(|cell| format!("{}: {:.1}", cell.rounds, 100.0 * cell.held)).collect();
        let words = format!("{width:.2} as wide at {WIDTH_ROUNDS}; coverage in % at {}", shares.join(", "));
        Row::unjudged(format!("{name}: {kind:?}"), width, words)
    }));
    rows
}

/// Simulates the cells of ratios and of times.
fn cells(kind: NoiseKind, rounds: u32) -> [CoverageCell; 2] {
    let mut noise = Noise::new(u64::from(rounds));
    let mut found: [Vec<SimulatedInterval>; 2] = Default::default();
    for factor in TRUE_RATIOS {
        for _ in 0..REPETITIONS {
            let both = simulate(kind, rounds, factor, &mut noise);
            found.iter_mut().zip(both).for_each(|(found, once)| found.extend(once));
        }
    }
    found.map(|found| {
        let held = found.iter().filter(|it| it.ends.holds(it.truth)).count();
        let width =
            |of: fn(&SimulatedInterval) -> &Interval| median(found.iter().map(|it| of(it).half_width()));
        // A missing interval counts as one that does not contain the true value.
        let held = count(held) / count(REPETITIONS * TRUE_RATIOS.len());
        CoverageCell { kind, rounds, held, width: width(|it| &it.ends) / width(|it| &it.student) }
    })
}

/// Simulates the ratio and the time that readlab reports of a trial beside another one.
fn simulate(kind: NoiseKind, rounds: u32, factor: f64, noise: &mut Noise) -> [Option<SimulatedInterval>; 2] {
    let [reference, trial] = kind.pair(rounds, factor, noise);
    let walls = |logs: &[Observation]| -> Vec<Observation> {
        logs.iter().map(|it| Observation { value: 1e9 * it.value.exp(), ..*it }).collect()
    };
    let shared = SharedVariance::new([walls(&reference), walls(&trial)]);
    let found = |ends: Interval, logs: Vec<f64>, truth| {
        Some(SimulatedInterval { ends, student: mean_interval(&logs, Confidence::REPORTED)?, truth })
    };
    let ratio = shared.ratio(1, 0).and_then(|it| it.ci95).map(|it| it.ends.map(f64::ln));
    let time = shared.location(1).and_then(|it| it.ci95).map(|it| it.ends.map(|ns| (ns / 1e9).ln()));
    let differences = reference.iter().zip(&trial).map(|(a, b)| a.value - b.value).collect();
    let logs = trial.iter().map(|it| it.value).collect();
    [
        ratio.and_then(|ends| found(ends, differences, factor.ln())),
        time.and_then(|ends| found(ends, logs, kind.median())),
    ]
}
