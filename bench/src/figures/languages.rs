//! Figure: whether the lab reports the time that a contender in another language takes without the
//! lab.
//!
//! Two processes of one program differ by a fifth and more here, which hides the lab's influence.
//! So one process does both: after each of the lab's turns, the program `readlab-relay` requests
//! one more reading, without the lab. The two readings are a pair.

use crate::pairs;
use crate::programs::{Programs, Race};
use crate::row::Row;
use anyhow::{Context, bail};
use readlab_model::trial::{CacheState, TrialId, Work};
use readlab_model::units::Bytes;
use readlab_record::Outcome;
use readlab_roster::roster::Roster;
use readlab_targets::target::source::ReadRequest;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub(super) const ABOUT: &str =
    "languages: a reading for the lab ÷ one by hand, in turns in the same process, warm, 64 MiB of lines";

const WAYS: [&str; 6] = [
    "java/BufferedReader@buffer=8192",
    "java/FileInputStream/loop@buffer=8192",
    "java/FileChannel-direct/bulk",
    "swift/read/for-unsafe",
    "swift/data/for-unsafe",
    "swift/dataTask-delegate/for-unsafe",
];

const FILE: Bytes = Bytes(64 << 20);
/// Readings before the clock counts, which let a compiler at run time settle; each again by hand.
const WARMUP: &str = "20";
const PAIRS: &str = "60";
const TOLERANCE: f64 = 0.03;

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let file = programs.lines(FILE)?;
    let row = |trial: &&str| {
        compare(programs, &file, trial).unwrap_or_else(|error| Row::failed((*trial).to_owned(), &error))
    };
    Ok(WAYS.iter().map(row).collect())
}

fn compare(programs: &Programs, file: &Path, trial: &str) -> anyhow::Result<Row> {
    let (contender, method) = trial.split_once('/').context("a trial has a contender")?;
    let notes = programs.folder().join("relay.txt");
    // Of an earlier run; there may be none.
    let _ = std::fs::remove_file(&notes);
    let roster = roster(programs, contender, trial, &notes)?;
    let (roster, trial_name) = (roster.display().to_string(), format!("relayed/{method}"));
    let options =
        ["--roster", &roster, "--fills", "1", "--warmup", WARMUP, "--runs", PAIRS, "--max-time", "5m"];
    let (trials, state) = (&[trial_name.as_str()], Some(CacheState::Warm));
    let record = programs.race(&Race { name: "languages", trials, file, state, options: &options })?;
    let Some(measured) = record.trials.iter().next() else { bail!("{}", record.warnings.join("; ")) };
    if measured.outcome != Some(Outcome::Measured) {
        bail!("{}", measured.outcome.as_ref().and_then(Outcome::reason).unwrap_or("the run was cut short"));
    }
    let by_hand = by_hand(&notes)?;
    let pair = |lab_ns: u64| Some((lab_ns, *by_hand.get(&lab_ns)?));
    let found = measured.samples.iter().filter_map(|sample| pair(sample.wall_ns));
    #[expect(clippy::cast_precision_loss, reason = "exact up to 104 days")]
    let found: Vec<(f64, f64)> = found.map(|(lab_ns, own_ns)| (lab_ns as f64, own_ns as f64)).collect();
    let ratio = pairs::ratio(&found);
    let (measured, target) = (ratio.words(), format!("within {:.0} %", TOLERANCE * 100.0));
    Ok(Row::judged(trial, &target, ratio.estimate, ratio.within(TOLERANCE), measured).with(ratio.ci95))
}

/// A roster in which the relay starts the contender.
fn roster(programs: &Programs, contender: &str, trial: &str, notes: &Path) -> anyhow::Result<PathBuf> {
    let built_in = Roster::built_in();
    let entry = built_in.entry(contender).with_context(|| format!("{contender}: in no roster"))?;
    entry.build_once(|| eprintln!("building the contender {contender}")).context(contender.to_owned())?;
    let there = entry.query().context(contender.to_owned())?;
    let id: TrialId = trial.parse().with_context(|| trial.to_owned())?;
    let choice = there.choose(&id.method, &id.params, Work::Newlines).context(trial.to_owned())?;
    let command = there.read_command(&choice, Work::Newlines, &ReadRequest::default());
    // The words before those of the protocol.
    let program = command.args.iter().take_while(|word| *word != "read");
    let relay = programs.relay().display().to_string();
    let words = [relay, notes.display().to_string(), contender.to_owned()];
    let words: Vec<String> = words
        .into_iter()
        .chain([&command.program].into_iter().chain(program).map(|word| word.to_string_lossy().into_owned()))
        .collect();
    let env = command.env.iter().map(|(name, value)| format!("{name:?} = {value:?}")).collect::<Vec<_>>();
    let text = format!(
        "[[contender]]\nname = 'relayed'\nabout = '{contender} behind a relay'\nrun = {words:?}\nenv = {{ {} }}\n",
        env.join(", ")
    );
    let file = programs.folder().join("relay.toml");
    std::fs::write(&file, text).with_context(|| file.display().to_string())?;
    Ok(file)
}

/// For each reading for the lab, the reading by hand that followed it, in nanoseconds.
fn by_hand(notes: &Path) -> anyhow::Result<BTreeMap<u64, u64>> {
    let text = std::fs::read_to_string(notes).with_context(|| notes.display().to_string())?;
    let pair = |line: &str| {
        let (lab_ns, own_ns) = line.split_once(' ')?;
        Some((lab_ns.parse().ok()?, own_ns.parse().ok()?))
    };
    text.lines().map(|line| pair(line).with_context(|| format!("the relay noted {line:?}"))).collect()
}
