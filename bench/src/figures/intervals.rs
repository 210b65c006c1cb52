//! Figure: how often the intervals of ratios and times contain the true value in simulated rounds
//! of two trials and in simulated races, how wide they are compared with those of Student's t, and
//! how many readings a race needs until its zone of indifference decides it.
//!
//! Nothing is read and no machine is measured. The noise is drawn from a fixed seed
//! ([`NoiseKind`], [`NoiseModel`]), so two runs of one revision agree. The tables of METHOD.md are
//! from the same noise. With fewer than six rounds, the intervals of a race use the noise that its
//! trials share.

use crate::pairs::median;
use crate::programs::Programs;
use crate::row::Row;
use readlab_analysis::stats::{
    Confidence, Indifference, Interval, ModelCoverage, NoiseKind, NoiseModel, Observation, RaceAverages,
    SeededRandom, SharedVariance, TrueMedians, TrueTimes, count_as_float, mean_interval,
};

pub(super) const ABOUT: &str =
    "how often intervals hold the true value in simulated rounds, how wide they are, readings of a race";

const ROUNDS: [u32; 9] = [6, 7, 8, 10, 12, 15, 20, 30, 40];
const WIDTH_ROUNDS: u32 = 10;
const TRUE_RATIOS: [f64; 4] = [1.0, 1.02, 1.05, 1.2];
/// Repetitions for each factor. A cell contains all factors together, because they only shift its
/// logarithms. The standard error of its coverage is 0.17 %.
const REPETITIONS: usize = 4_000;
const COVERAGE_MIN: f64 = 0.94;
const WIDTH_RATIO_MAX: f64 = 1.1;

/// The simulated races under each of the 19 models: numbers of trials, and of races.
const RACES: [(usize, usize); 3] = [(4, 1_000), (8, 500), (30, 125)];
const ROUNDS_OF_RACES: [usize; 6] = [2, 3, 4, 5, 10, 40];
/// The number of simulated races that an indifference zone of [`ZONE`] decides.
const DECIDED_RACES: usize = 400;
const TRIALS_OF_DECIDED_RACES: usize = 28;
const NOISE_OF_DECIDED_RACES: f64 = 0.1;
const ZONE: f64 = 0.1;
const DECIDED_SHARE_MIN: f64 = 0.98;
const READINGS_MAX: f64 = 105.0;

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
    Ok([rows("ratio", &ratios), rows("time", &times), race_rows(), decision_rows()].concat())
}

/// A simulated race under one model, with how often its intervals hold the true value.
struct RaceCell {
    model: NoiseModel,
    rounds: usize,
    found: ModelCoverage,
}

impl RaceCell {
    /// The cells with this number of trials.
    fn all(trials: usize, races: usize) -> Vec<RaceCell> {
        let of_model = |model: NoiseModel| {
            let mut medians = TrueMedians::default();
            ROUNDS_OF_RACES.map(|rounds| {
                let found = medians.coverage(model, trials, rounds, races);
                RaceCell { model, rounds, found }
            })
        };
        NoiseModel::ALL.into_iter().flat_map(of_model).collect()
    }
}

/// For each number of trials, the least coverage over all models and numbers of rounds, and that of
/// loud trials among silent ones, which few readings do not reveal.
fn race_rows() -> Vec<Row> {
    let of_trials = |(trials, races): (usize, usize)| {
        let cells = RaceCell::all(trials, races);
        let least = |of: fn(&ModelCoverage) -> Option<f64>| -> Option<(f64, String)> {
            let held = cells.iter().filter_map(|cell| Some((of(&cell.found)?, cell)));
            let (held, cell) = held.min_by(|a, b| a.0.total_cmp(&b.0))?;
            Some((held, format!("{:.1} % ({:?}, {} rounds)", 100.0 * held, cell.model, cell.rounds)))
        };
        let judged = |name: &str, (held, words): (f64, String)| {
            let figure = format!("{name} of {trials} trials: least coverage");
            Row::judged(figure, "at least 94 %", held, held >= COVERAGE_MIN, words)
        };
        let ratio = least(|it| Some(it.ratio_held_share)).map(|it| judged("ratio", it));
        let time = least(|it| Some(it.location_held_share)).map(|it| judged("time", it));
        let of_loud = least(|it| it.loud_ratio_held_share).map(|(held, words)| {
            Row::unjudged(format!("ratio of a loud trial among {trials}: least coverage"), held, words)
        });
        [ratio, time, of_loud].into_iter().flatten().collect::<Vec<Row>>()
    };
    RACES.into_iter().flat_map(of_trials).collect()
}

/// Races with the times of a recorded one, the second trial a tenth behind the first.
fn decision_rows() -> Vec<Row> {
    let RaceAverages { readings, rounds, decided_share: decided, wrong_share: wrong } =
        RaceAverages::simulate(
            TrueTimes::Recorded(ZONE),
            TRIALS_OF_DECIDED_RACES,
            NOISE_OF_DECIDED_RACES,
            Indifference::within(ZONE),
            DECIDED_RACES,
        );
    let figure = |what: &str| format!("race of {TRIALS_OF_DECIDED_RACES} trials: {what}");
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let words = format!("{}, {} of them for a wrong trial", percent(decided), percent(wrong));
    let share = Row::judged(
        figure("decided at ±10 %"),
        format!("at least {:.0} %", 100.0 * DECIDED_SHARE_MIN),
        decided,
        decided >= DECIDED_SHARE_MIN,
        words,
    );
    let words = format!("{readings:.1} in {rounds:.1} rounds, means of {DECIDED_RACES} races");
    let target = format!("at most {READINGS_MAX:.0}");
    let readings =
        Row::judged(figure("readings until decided"), target, readings, readings <= READINGS_MAX, words);
    vec![share, readings]
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
    let mut noise = SeededRandom::new(u64::from(rounds));
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
        let held = count_as_float(held) / count_as_float(REPETITIONS * TRUE_RATIOS.len());
        CoverageCell { kind, rounds, held, width: width(|it| &it.ends) / width(|it| &it.student) }
    })
}

/// Simulates the ratio and the time that readlab reports of a trial beside another one.
fn simulate(
    kind: NoiseKind,
    rounds: u32,
    factor: f64,
    noise: &mut SeededRandom,
) -> [Option<SimulatedInterval>; 2] {
    let [reference, trial] = kind.simulated_pair_logs(rounds, factor, noise);
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
