//! Figure: how many honest trials are refused on a machine with more work than processors, and how
//! near they come to it by the time that windows leave out of their turns. None may be refused.
//!
//! All default trials of `readlab race` are honest. Each race is short, because the figure counts
//! refusals, not speed.

use crate::made::{Cleanup, busy_loops};
use crate::programs::{Programs, Race};
use crate::row::Row;
use readlab_analysis::stats::count;
use readlab_catalog::roster::Roster;
use readlab_measure::round::share_of_bound;
use readlab_model::units::Bytes;
use readlab_record::{Outcome, Record, TrialRecord};
use std::collections::BTreeMap;

pub(super) const ABOUT: &str = "honest trials refused in races of 16 MiB beside two busy loops a processor";

const FILE: Bytes = Bytes(16 << 20);
const RACES: usize = 6;
/// Turns after which what was left out is judged.
const JUDGED: usize = 5;
const LOOPS_EACH: usize = 2;
const OPTIONS: [&str; 4] = ["--runs", "5", "--budget", "30s"];

/// What windows of a trial left out, over what is refused.
struct LeftOut {
    share: f64,
    trial: String,
}

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let file = programs.lines(FILE)?;
    let mut cleanup = Cleanup::default();
    busy_loops(&mut cleanup, LOOPS_EACH)?;
    let (mut measured, mut races, mut reasons) = (0, 0, BTreeMap::<String, usize>::new());
    let mut left_out = Vec::new();
    let repeats = programs.repeats(RACES);
    for _ in 0..repeats {
        let race = Race { name: "falsely-refused", trials: &[], file: &file, state: None, options: &OPTIONS };
        let record = programs.race(&race)?;
        let before = reasons.values().sum::<usize>();
        for it in &record.trials {
            measured += usize::from(it.is_measured());
            if let Some(Outcome::Refused { reason }) = &it.outcome {
                *reasons.entry(format!("{} ({}): {reason}", it.trial.id, it.trial.state)).or_default() += 1;
            }
        }
        races += usize::from(reasons.values().sum::<usize>() > before);
        left_out.extend(left_out_of(&record));
    }
    let why: String = reasons.iter().map(|(reason, times)| format!("; {times} × {reason}")).collect();
    let words = format!("{races} of {repeats} races, {measured} trials measured{why}");
    let ok = races == 0 && measured > 0;
    let refused = Row::judged("races in which an honest trial was refused", "none", count(races), ok, words);
    let figure = "left out of turns ÷ what is refused";
    let near = match left_out.into_iter().max_by(|a, b| a.share.total_cmp(&b.share)) {
        Some(LeftOut { share, trial }) => {
            Row::judged(figure, "below 1", share, share < 1.0, format!("{share:.2} ({trial})"))
        }
        None => Row::failed(figure, &anyhow::anyhow!("no trial and no control were measured")),
    };
    Ok(vec![refused, near])
}

/// Of each trial with so many turns that it is judged.
fn left_out_of(record: &Record) -> Vec<LeftOut> {
    let roster = Roster::built_in();
    let trials = record.trials.iter().filter(|it| !it.trial.is_control() && it.samples.len() >= JUDGED);
    let left_out = trials.filter_map(|it| {
        let is_null =
            |null: &&TrialRecord| null.trial.method() == "null" && null.trial.state == it.trial.state;
        let null = record.trials.iter().filter(is_null).flat_map(|null| null.samples.iter());
        let collects = roster.entry(it.trial.contender()).is_some_and(|entry| entry.collects);
        let share = share_of_bound(null, it.samples.iter(), collects)?;
        Some(LeftOut { share, trial: format!("{} ({})", it.trial.id, it.trial.state) })
    });
    left_out.collect()
}
