//! Figure: how many honest trials are refused on a machine with more work than processors. None may
//! be.
//!
//! All default trials of `readlab race` are honest. Each race is short, because the figure counts
//! refusals, not speed.

use crate::busy_loops::BusyLoops;
use crate::programs::{Programs, Race};
use crate::row::Row;
use readlab_model::units::Bytes;
use readlab_record::Outcome;
use std::collections::BTreeMap;

pub(super) const ABOUT: &str =
    "falsely-refused: trials refused in 200 races of 16 MiB beside two busy loops a processor";

const FILE: Bytes = Bytes(16 << 20);
const RACES: usize = 200;
const LOOPS_EACH: usize = 2;
const OPTIONS: [&str; 4] = ["--runs", "3", "--budget", "20s"];

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let file = programs.lines(FILE)?;
    let _busy = BusyLoops::start(LOOPS_EACH)?;
    let (mut measured, mut races, mut reasons) = (0, 0, BTreeMap::<String, usize>::new());
    let repeats = programs.repeats(RACES);
    for _ in 0..repeats {
        let race = Race { name: "falsely-refused", trials: &[], file: &file, state: None, options: &OPTIONS };
        let record = programs.race(&race)?;
        let mut is_refused = false;
        for it in &record.trials {
            measured += usize::from(it.is_measured());
            if let Some(Outcome::Refused { reason }) = &it.outcome {
                is_refused = true;
                *reasons.entry(format!("{} ({}): {reason}", it.trial.id, it.trial.state)).or_default() += 1;
            }
        }
        races += usize::from(is_refused);
    }
    let why: String = reasons.iter().map(|(reason, times)| format!("; {times} × {reason}")).collect();
    let words = format!("{races} of {repeats} races, {measured} trials measured{why}");
    #[expect(clippy::cast_precision_loss, reason = "at most two hundred")]
    let value = races as f64;
    Ok(vec![Row::judged(
        "races in which an honest trial was refused",
        "none",
        value,
        races == 0 && measured > 0,
        words,
    )])
}
