//! Figure: how many honest trials are refused on a machine with more work than processors. It also
//! shows how near trials come to the refusal by the time of their turns outside windows. None may
//! be refused.
//!
//! All default trials of `readlab race` are honest. Each race is short, because the figure counts
//! refusals, not speed.

use crate::made::{Cleanup, busy_loops};
use crate::programs::{Programs, Race};
use crate::row::Row;
use readlab_analysis::stats::count_as_float;
use readlab_catalog::roster::Roster;
use readlab_measure::round::unexplained_share_of_bound;
use readlab_model::units::Bytes;
use readlab_record::{Outcome, Record, TrialRecord};
use std::collections::BTreeMap;

pub(super) const ABOUT: &str = "honest trials refused in races of 16 MiB beside two busy loops a processor";

const FILE_SIZE: Bytes = Bytes(16 << 20);
const RACES: usize = 6;
/// Number of turns after which the time outside windows is judged.
const JUDGED_TURNS_MIN: usize = 5;
const LOOPS_PER_PROCESSOR: usize = 2;
const RACE_OPTIONS: [&str; 4] = ["--runs", "5", "--budget", "20s"];

/// The time of a trial's turns outside windows, as a share of the limit for refusal.
struct UnaccountedTime {
    share: f64,
    trial: String,
}

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let file = programs.lines(FILE_SIZE)?;
    let mut cleanup = Cleanup::default();
    busy_loops(&mut cleanup, LOOPS_PER_PROCESSOR)?;
    let (mut measured, mut races, mut reasons) = (0, 0, BTreeMap::<String, usize>::new());
    let mut unaccounted = Vec::new();
    let repeats = programs.repeats(RACES);
    for _ in 0..repeats {
        let race =
            Race { name: "falsely-refused", trials: &[], file: &file, state: None, options: &RACE_OPTIONS };
        let record = programs.race(&race)?;
        let before = reasons.values().sum::<usize>();
        for it in &record.trials {
            measured += usize::from(it.is_measured());
            if let Some(Outcome::Refused { reason }) = &it.outcome {
                *reasons.entry(format!("{} ({}): {reason}", it.trial.id, it.trial.state)).or_default() += 1;
            }
        }
        races += usize::from(reasons.values().sum::<usize>() > before);
        unaccounted.extend(unaccounted_times(&record));
    }
    let why: String = reasons.iter().map(|(reason, times)| format!("; {times} × {reason}")).collect();
    let words = format!("{races} of {repeats} races, {measured} trials measured{why}");
    let ok = races == 0 && measured > 0;
    let refused =
        Row::judged("races in which an honest trial was refused", "none", count_as_float(races), ok, words);
    let figure = "left out of turns ÷ what is refused";
    let near = match unaccounted.into_iter().max_by(|a, b| a.share.total_cmp(&b.share)) {
        Some(UnaccountedTime { share, trial }) => {
            Row::judged(figure, "below 1", share, share < 1.0, format!("{share:.2} ({trial})"))
        }
        None => Row::failed(figure, &anyhow::anyhow!("no trial and no control were measured")),
    };
    Ok(vec![refused, near])
}

/// The unaccounted time of each trial with enough turns to be judged.
fn unaccounted_times(record: &Record) -> Vec<UnaccountedTime> {
    let roster = Roster::built_in();
    let trials =
        record.trials.iter().filter(|it| !it.trial.is_control() && it.samples.len() >= JUDGED_TURNS_MIN);
    let unaccounted = trials.filter_map(|it| {
        let is_null =
            |null: &&TrialRecord| null.trial.method() == "null" && null.trial.state == it.trial.state;
        let null = record.trials.iter().filter(is_null).flat_map(|null| null.samples.iter());
        let collects = roster.entry(it.trial.contender()).is_some_and(|entry| entry.collects_garbage);
        let share = unexplained_share_of_bound(null, it.samples.iter(), collects)?;
        Some(UnaccountedTime { share, trial: format!("{} ({})", it.trial.id, it.trial.state) })
    });
    unaccounted.collect()
}
