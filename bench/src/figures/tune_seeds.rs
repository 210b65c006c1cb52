//! Figure: whether searches of one minute find a setting as good as an exhaustive measurement does,
//! cold and warm, whatever their seed, and whether they leave a setting without a reading and
//! without a prediction.
//!
//! Each search is for both states in the default space. Every setting is read exhaustively once a
//! state. Then the settings that the searches found race against the exhaustive best, because the
//! best of many medians is too low by its noise.

use super::tune::{Reading, best_trial_name, race_settings, search, searched_settings, unknown_settings};
use crate::pairs;
use crate::programs::{Programs, measured_trial};
use crate::row::{Row, Share};
use readlab_analysis::stats::count_as_float;
use readlab_model::trial::CacheState;
use readlab_model::units::Bytes;
use readlab_record::{Record, TrialRecord};
use std::collections::BTreeSet;
use std::path::Path;

pub(super) const ABOUT: &str =
    "settings of ten searches of 60 s against the best of an exhaustive run, 256 MiB, both states";

const FILE_SIZE: Bytes = Bytes(256 << 20);
const BUDGET: &str = "60s";
const SEARCHES: usize = 10;
/// Share by which the reading may be longer than the exhaustive best.
const TOLERANCE: f64 = 0.03;
const GOOD_SHARE_MIN: f64 = 0.9;

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let file = programs.lines(FILE_SIZE)?;
    let search_with = |seed: usize| {
        let seed = seed.to_string();
        search(programs, &file, None, &["--seed", &seed, "--budget", BUDGET])
    };
    let searches: Vec<Record> =
        (0..programs.repeats(SEARCHES)).map(search_with).collect::<anyhow::Result<_>>()?;
    let rows = [CacheState::Cold, CacheState::Warm].into_iter().flat_map(|state| {
        let compared = compare_with_exhaustive(programs, &file, &searches, state);
        let good = Row::or_failed(format!("{state}: settings of the searches"), compared);
        [good, unknown_row(&searches, state)]
    });
    Ok(rows.collect())
}

/// The share of searches whose setting is nearly as fast as the exhaustive best.
fn compare_with_exhaustive(
    programs: &Programs,
    file: &Path,
    searches: &[Record],
    state: CacheState,
) -> anyhow::Result<Row> {
    let race = |settings: &BTreeSet<String>, reading| {
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        race_settings(programs, file, state, &settings, &[], reading)
    };
    let name = |trial: &TrialRecord| trial.trial.id.to_string();
    let settings: BTreeSet<String> =
        searches.iter().flat_map(|it| searched_settings(it, state)).map(name).collect();
    let by_all = best_trial_name(&race(&settings, Reading::Exhaustive)?, state)?;
    let by_search: Vec<String> =
        searches.iter().map(|it| best_trial_name(it, state)).collect::<anyhow::Result<_>>()?;
    let best: BTreeSet<String> = by_search.iter().chain([&by_all]).cloned().collect();
    let mut ratios = vec![1.0; by_search.len()];
    if best.len() > 1 {
        let afresh = race(&best, Reading::Afresh)?;
        let of_all = measured_trial(&afresh, &by_all)?;
        for (ratio, name) in ratios.iter_mut().zip(&by_search).filter(|(_, name)| **name != by_all) {
            *ratio = pairs::of_trials(measured_trial(&afresh, name)?, of_all)?.estimate;
        }
    }
    let good: Share = ratios.iter().map(|ratio| *ratio <= 1.0 + TOLERANCE).collect();
    let percent = TOLERANCE * 100.0;
    let figure = format!("{state}: settings within {percent:.0} % of the exhaustive best");
    let worst = ratios.iter().copied().fold(1.0, f64::max);
    let words = format!("; the worst takes {worst:.3} times its time; {} settings, {by_all}", settings.len());
    Ok(good.row_at_least(figure, GOOD_SHARE_MIN).and(&words))
}

/// The settings that no search read and no model predicted, in all searches.
fn unknown_row(searches: &[Record], state: CacheState) -> Row {
    let unknown: Vec<String> = searches
        .iter()
        .flat_map(|it| unknown_settings(it, state))
        .map(|trial| trial.trial.id.to_string())
        .collect();
    let figure = format!("{state}: settings without a reading or a prediction");
    let first = unknown.first().map_or_else(String::new, |first| format!(", such as {first}"));
    let words = format!("{}{first}", unknown.len());
    Row::judged(figure, "none", count_as_float(unknown.len()), unknown.is_empty(), words)
}
