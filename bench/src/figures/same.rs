//! Figure: eight identical commands with different spellings, raced as a user would race them. It
//! shows how many pairs are called different, with all rules that stop a race early.

use crate::pairwise::Pairwise;
use crate::programs::{Programs, Race};
use crate::row::{Row, Share};
use readlab_model::trial::CacheState;
use readlab_model::units::Bytes;
use std::time::Instant;

pub(super) const ABOUT: &str =
    "pairs called different in races of eight identical commands, 64 MiB, both states";

const FILE_SIZE: Bytes = Bytes(64 << 20);
const RACES: usize = 4;
/// Spellings of the same program with the same work. They race against `wc -l {}`, which takes part
/// in every race.
const SPELLINGS: [&str; 7] = [
    "wc --lines {}",
    "wc -l -- {}",
    "wc --lines -- {}",
    "/usr/bin/wc -l {}",
    "/usr/bin/wc --lines {}",
    "/usr/bin/wc -l -- {}",
    "/usr/bin/wc --lines -- {}",
];
const DIFFERENT_SHARE_MAX: f64 = 0.05;

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let file = programs.lines(FILE_SIZE)?;
    let states = [CacheState::Cold, CacheState::Warm];
    let (mut called, mut seconds) = ([Share::default(); 2], Vec::new());
    for seed in 0..programs.repeats(RACES) {
        let seed = seed.to_string();
        let mut options = vec!["--seed", &seed, "--method", "command/wc -l {}"];
        options.extend(SPELLINGS.iter().flat_map(|spelling| ["--command", *spelling]));
        let race = Race { name: "same", trials: &[], file: &file, state: None, options: &options };
        let start = Instant::now();
        let record = programs.start(&race)?.finish()?;
        seconds.push(start.elapsed().as_secs_f64());
        let pairwise = Pairwise::compare(&programs.lab, &record)?;
        for (state, called) in states.iter().zip(&mut called) {
            *called = called.plus(pairwise.distinguished_pairs(&state.to_string()));
        }
    }
    let rows = states.iter().zip(called);
    let mut rows: Vec<Row> = rows
        .map(|(state, called)| {
            called.row_at_most(format!("{state}: pairs called different"), DIFFERENT_SHARE_MAX)
        })
        .collect();
    rows.push(Row::judged_seconds("time of a race", None, &seconds));
    Ok(rows)
}
