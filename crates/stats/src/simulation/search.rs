//! Whole searches on random machines: how often the chosen setting is within 3 % of the best.

use super::Races;
use crate::search::{Search, SearchRules, SearchSetting};
use crate::testing::fewest_holding_draws;
use crate::{SeededRandom, count_as_float, quantile, sorted};

/// The methods of one of this project's own searches, 151 settings in all: the number of levels of
/// buffers, depths, threads, direct reads and hints. A method without a parameter has 0 levels.
const METHODS: [[usize; 5]; 7] = [
    [5, 0, 0, 0, 0],
    [5, 0, 0, 0, 2],
    [5, 0, 2, 0, 2],
    [5, 0, 0, 0, 0],
    [0, 0, 2, 0, 4],
    [5, 4, 0, 2, 2],
    [5, 0, 2, 0, 0],
];

/// All combinations of levels; those of the last parameter change first.
fn combinations(level_counts: [usize; 5]) -> Vec<[usize; 5]> {
    let mut all = vec![[0; 5]];
    for (parameter, count) in level_counts.into_iter().enumerate() {
        let with_level = |mut levels: [usize; 5], level| {
            levels[parameter] = level;
            levels
        };
        let with_levels = |levels| (0..count.max(1)).map(move |level| with_level(levels, level));
        all = all.into_iter().flat_map(with_levels).collect();
    }
    all
}

/// A random machine: the logarithm of the time of each setting.
fn random_machine_logs(is_cold: bool, noise: &mut SeededRandom) -> Vec<(SearchSetting, f64)> {
    let mut settings = Vec::new();
    // The device reaches half of its rate with this many KiB in flight.
    let half = (3.0 + 5.0 * noise.uniform()).exp2() * 16.0;
    let device = 0.4 + 1.2 * noise.uniform();
    let hint = 0.3 * noise.uniform();
    for (method, level_counts) in METHODS.into_iter().enumerate() {
        let (own, call, spill) = (0.5 + 0.8 * noise.uniform(), 4.0 * noise.uniform(), 0.1 * noise.uniform());
        let copies = 0.3 * noise.uniform();
        let reads_ahead = 64.0 * (4.0 * noise.uniform()).exp2();
        for levels in combinations(level_counts) {
            let [buffer, depth, threads, direct, hints] = levels;
            let kib = if level_counts[0] == 0 { 128.0 } else { 16.0 * 4_f64.powi(buffer as i32) };
            let (copy, ahead) = if direct == 1 { (0.0, 0.0) } else { (copies, reads_ahead) };
            let of_call = call / kib.max(1.0);
            let of_cache = spill * (kib / 1024.0).min(4.0);
            let processor = (own + copy + of_call + of_cache) / 1.8_f64.powi(threads as i32);
            let flight = kib * 4_f64.powi(depth as i32) * 2_f64.powi(threads as i32) + ahead;
            let of_device = if is_cold { device * (1.0 + half / flight) } else { 0.0 }
                * (1.0 - hint * count_as_float(hints) / 4.0);
            let time = (processor.powi(3) + of_device.powi(3)).cbrt();
            let level = |(count, level): (usize, usize)| (count > 0).then_some(level);
            let levels = level_counts.into_iter().zip(levels).map(level).collect();
            let own = 0.005 * noise.normal();
            settings.push((SearchSetting { method, levels }, time.ln() + own));
        }
    }
    settings
}

#[derive(Debug)]
struct SearchResult {
    /// The excess time of the chosen setting over the best, after a fresh measurement of the best
    /// two.
    excess_time_share: f64,
    readings: usize,
    is_decided: bool,
}

fn run_search(is_cold: bool, sd: f64, readings_max: usize, seed: u64) -> SearchResult {
    let mut noise = SeededRandom::new(seed);
    let machine = random_machine_logs(is_cold, &mut noise);
    let rules = SearchRules { readings_max, ..SearchRules::for_candidates(machine.len(), 40, seed) };
    let settings = machine.iter().map(|(setting, _)| setting.clone()).enumerate();
    let mut search = Search::new(settings, rules);
    let mut readings = 0;
    while !search.is_over() {
        let drift = 0.03 * noise.normal();
        for at in search.remaining_candidates() {
            let burst = noise.spike_with_probability(0.03, 0.5 * burst_duration(seed, readings));
            let log = machine[at].1 + drift + sd * noise.normal() + burst;
            search.add_reading(at, 1e9 * log.exp());
            readings += 1;
        }
        search.close_rung();
    }
    let best = machine.iter().map(|(_, log)| *log).fold(f64::INFINITY, f64::min);
    // The two best settings are read ten more times.
    let fresh = |at: usize, noise: &mut SeededRandom| {
        let readings: Vec<f64> = (0..10).map(|_| machine[at].1 + sd * noise.normal()).collect();
        crate::median(readings).expect("ten")
    };
    let chosen: Vec<usize> = search.best_first().into_iter().take(2).collect();
    let winner = chosen
        .into_iter()
        .map(|at| (fresh(at, &mut noise), at))
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .expect("two")
        .1;
    SearchResult {
        excess_time_share: (machine[winner].1 - best).exp() - 1.0,
        readings,
        is_decided: readings < readings_max - 8,
    }
}

/// The duration of a random burst of other work, in units of half a reading.
fn burst_duration(seed: u64, reading: usize) -> f64 {
    SeededRandom::new(seed ^ (reading as u64) << 32).exponential()
}

/// How many searches find a setting within 3 % of the best.
fn count_within_3_percent(is_cold: bool, sd: f64, readings: usize, seeds: u64) -> u64 {
    let all: Vec<SearchResult> = (0..seeds).map(|seed| run_search(is_cold, sd, readings, seed)).collect();
    let within = all.iter().filter(|it| it.excess_time_share <= 0.03).count();
    let excess_time_share = sorted(all.iter().map(|it| it.excess_time_share));
    let taken: usize = all.iter().map(|it| it.readings).sum();
    let decided = all.iter().filter(|it| it.is_decided).count();
    eprintln!(
        "cold {is_cold}, {readings} readings, sd {sd}: {within} of {seeds} within 3 %, 90 % within {:.3}, {:.1} read, {decided} decided",
        quantile(&excess_time_share, 0.9),
        count_as_float(taken) / count_as_float(all.len()),
    );
    within as u64
}

#[test]
fn a_search_finds_a_setting_within_three_percent_of_the_best() {
    let seeds = Races::Tenth.share_of(200) as u64;
    for is_cold in [true, false] {
        assert!(count_within_3_percent(is_cold, 0.05, 60, seeds) >= fewest_holding_draws(0.85, seeds));
    }
}

mod ring2 {
    use super::*;

    #[test]
    fn a_search_finds_a_setting_within_three_percent_of_the_best() {
        let seeds = Races::All.share_of(100) as u64;
        for is_cold in [true, false] {
            for (sd, readings) in [(0.05, 60), (0.1, 90)] {
                assert!(
                    count_within_3_percent(is_cold, sd, readings, seeds) >= fewest_holding_draws(0.8, seeds)
                );
            }
        }
    }
}
