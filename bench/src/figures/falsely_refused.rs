//! Figure: how many honest trials are refused on a machine with more work than processors. None may
//! be.
//!
//! All default trials of `readlab race` are honest. Each race is short, because the figure counts
//! refusals, not speed.

use crate::programs::{Programs, Race};
use crate::row::Row;
use anyhow::Context;
use readlab::record::Outcome;
use readlab::units::Bytes;
use std::collections::BTreeMap;
use std::process::{Child, Command, Stdio};

pub(super) const ABOUT: &str =
    "falsely-refused: trials refused in 200 races of 16 MiB beside two busy loops a processor";

const FILE: Bytes = Bytes(16 << 20);
const RACES: usize = 200;
const LOOPS_EACH: usize = 2;
const OPTIONS: [&str; 4] = ["--runs", "3", "--budget", "20s"];

/// Busy loops, which end with the figure.
struct Busy(Vec<Child>);

impl Busy {
    fn start() -> anyhow::Result<Busy> {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let mut busy = Busy(Vec::new());
        for _ in 0..LOOPS_EACH * processors {
            let mut shell = Command::new("/bin/sh");
            shell.args(["-c", "while :; do :; done"]).stdin(Stdio::null());
            busy.0.push(shell.spawn().context("/bin/sh")?);
        }
        Ok(busy)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // One that has ended already is what we want.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let file = programs.lines(FILE)?;
    let _busy = Busy::start()?;
    let (mut measured, mut races, mut reasons) = (0, 0, BTreeMap::<String, usize>::new());
    for _ in 0..RACES {
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
    let words = format!("{races} of {RACES} races, {measured} trials measured{why}");
    #[expect(clippy::cast_precision_loss, reason = "at most two hundred")]
    let value = races as f64;
    Ok(vec![Row::judged(
        "races in which an honest trial was refused",
        "0 of 200",
        value,
        races == 0 && measured > 0,
        words,
    )])
}
