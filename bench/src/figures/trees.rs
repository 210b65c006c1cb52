//! Figure: many files: how long the default race of a source tree takes, whether `files-auto`
//! chooses well, how it compares with programs that everybody has, whether what stops a reading is
//! told where it was made, and what memory the lab needs for a million files.

use crate::fio;
use crate::late_tree::LateTree;
use crate::pairs;
use crate::programs::{Programs, Race};
use crate::row::Row;
use anyhow::{Context, ensure};
use readlab_analysis::verdict;
use readlab_model::trial::CacheState;
use readlab_model::units::{Bytes, Nanos};
use readlab_record::{Outcome, Record, TrialRecord};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

pub(super) const ABOUT: &str = "trees: the default race of 20,000 files, files-auto against the best other, beside tar and cat, verdicts, a million files";

const PAIRS: usize = 7;
const VERDICTS: usize = 10;
/// Rounds in which `files-auto` is compared with others: what a guest gets of its processors
/// changes by half within a minute.
const COLD_ROUNDS: &str = "7";
const WARM_ROUNDS: &str = "20";
const ONE_BY_ONE: &str = "rust/read@buffer=4KiB";
const AUTO: &str = "rust/files-auto/memchr";
/// What may be better than it.
const OTHERS: [&str; 7] = [
    "rust/read/memchr@buffer=64KiB",
    "rust/mmap/memchr",
    "rust/files-threads/memchr@threads=all",
    "rust/files-threads/memchr@threads=16",
    "rust/files-threads/memchr@threads=64",
    "rust/files-io_uring/memchr",
    "rust/files-ahead/memchr",
];
const TAR: &str = "tar -cP --format=gnu --null -T {list} -f - | wc -l";
const CAT: &str = "xargs -0 cat < {list} | wc -l";
const RIPGREP: &str =
    "xargs -0 rg --text --no-config -c --no-filename '' < {list} | awk '{ lines += $1 } END { print lines }'";
const SOURCE_FILES: u64 = 20_000;
const MILLION: usize = 1_000_000;
const LAB_MEMORY_MAX: Bytes = Bytes(64 << 20);

/// Trees on which `files-auto` must choose well.
const TREES: [(&str, Many); 3] = [
    ("100,000 files of 4 KiB", Many::Of { files: 100_000, bytes: 4 << 10 }),
    ("a source tree of 20,000 files", Many::Source),
    ("1,000 files of 1 MiB", Many::Of { files: 1_000, bytes: 1 << 20 }),
];

/// The files of a tree.
#[derive(Debug, Clone, Copy)]
enum Many {
    /// As source code has them.
    Source,
    Of {
        files: usize,
        bytes: usize,
    },
}

/// Where a tree is read.
#[derive(Debug, Clone, Copy)]
enum TreePlace {
    Disk,
    /// On a device that answers late.
    LateDevice,
}

/// What a reading is stopped by, on a tree that was made for it.
struct Case {
    figure: &'static str,
    tree: Many,
    place: TreePlace,
    state: CacheState,
    method: &'static str,
    /// Methods that show the limit, besides the controls.
    beside: &'static [&'static str],
    right: &'static [&'static str],
}

const CASES: [Case; 3] = [
    Case {
        figure: "verdict: cached files of one line each",
        tree: Many::Of { files: 20_000, bytes: 40 },
        place: TreePlace::Disk,
        state: CacheState::Warm,
        method: "rust/read/memchr@buffer=64KiB",
        beside: &[],
        right: &["metadata"],
    },
    Case {
        figure: "verdict: cold files of a device that answers late, one at a time",
        tree: Many::Of { files: 1_000, bytes: 4 << 10 },
        place: TreePlace::LateDevice,
        state: CacheState::Cold,
        method: "rust/read/memchr@buffer=64KiB",
        beside: &["rust/files-io_uring/memchr", "rust/files-threads/memchr@threads=16"],
        right: &["shallow depth"],
    },
    Case {
        figure: "verdict: cached large files, scanned slowly",
        tree: Many::Of { files: 200, bytes: 1 << 20 },
        place: TreePlace::Disk,
        state: CacheState::Warm,
        method: "rust/read/scalar@buffer=64KiB",
        beside: &[],
        right: &["processing"],
    },
];

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let or_failed =
        |figure: &str, found: anyhow::Result<Row>| found.unwrap_or_else(|error| Row::failed(figure, &error));
    let mut rows = vec![or_failed("default race of a source tree", default_race(programs))];
    for (name, tree) in TREES {
        for state in [CacheState::Cold, CacheState::Warm] {
            let figure = format!("files-auto, {name}, {state}");
            rows.push(or_failed(&figure, auto(programs, &figure, tree, state)));
        }
    }
    for (program, command) in [("tar | wc -l", TAR), ("xargs cat | wc -l", CAT), ("rg -c", RIPGREP)] {
        rows.push(or_failed(program, beside(programs, program, command)));
    }
    rows.push(or_failed("beside fio", beside_fio(programs)));
    rows.extend(CASES.iter().map(|case| or_failed(case.figure, verdicts(programs, case))));
    rows.push(or_failed("memory of the lab", memory(programs)));
    Ok(rows)
}

impl Many {
    /// The folder, made unless it is there.
    fn make(self, programs: &Programs) -> anyhow::Result<PathBuf> {
        let Many::Of { files, bytes } = self else { return source(programs) };
        let folder = programs.folder().join("trees").join(format!("{files}-{bytes}"));
        let complete = folder.with_extension("complete");
        if !complete.exists() {
            let content = "a line of the same forty bytes, as all.\n".repeat(bytes / 40 + 1);
            for index in 0..files {
                let place = folder.join(format!("{:03}", index / 500));
                if index % 500 == 0 {
                    fs::create_dir_all(&place).with_context(|| place.display().to_string())?;
                }
                let path = place.join(format!("{:03}.txt", index % 500));
                fs::write(&path, &content[..bytes]).with_context(|| path.display().to_string())?;
            }
            File::create(&complete)?;
        }
        Ok(folder)
    }
}

fn source(programs: &Programs) -> anyhow::Result<PathBuf> {
    let mut command = programs.lab().command("corpus");
    command.args(["tree", "source", &SOURCE_FILES.to_string(), "--folder"]);
    let made = command.arg(programs.folder().join("corpus")).output().context("readlab corpus")?;
    ensure!(made.status.success(), "readlab corpus ended with {}", made.status);
    Ok(PathBuf::from(String::from_utf8(made.stdout)?.trim_end()))
}

fn race(programs: &Programs, folder: &Path, state: CacheState, words: &[&str]) -> anyhow::Result<Record> {
    let options = [&["--budget", "20m"], words].concat();
    programs.race(&Race { name: "trees", trials: &[], file: folder, state: Some(state), options: &options })
}

fn with_methods<'w>(methods: &[&'w str], more: &[&'w str]) -> Vec<&'w str> {
    methods.iter().flat_map(|&method| ["--method", method]).chain(more.iter().copied()).collect()
}

fn trial(record: &Record, is_it: impl Fn(&str) -> bool) -> anyhow::Result<&TrialRecord> {
    let trial = record.trials.iter().find(|it| is_it(&it.trial.id.to_string())).context("no such trial")?;
    ensure!(trial.outcome == Some(Outcome::Measured), "{}: {:?}", trial.trial.id, trial.outcome);
    Ok(trial)
}

/// How long the default race of 20,000 files takes, without building contenders.
fn default_race(programs: &Programs) -> anyhow::Result<Row> {
    let tree = source(programs)?;
    let silent = |command: &mut Command| -> anyhow::Result<()> {
        let ended = command.stdout(Stdio::null()).stderr(Stdio::null()).status().context("readlab")?;
        ensure!(ended.success(), "{command:?} ended with {ended}");
        Ok(())
    };
    // It fails where a contender cannot be built here, which the race then leaves out.
    let _ = silent(&mut programs.lab().command("build"));
    let folder = programs.empty_folder("trees-default")?;
    let begun = Instant::now();
    silent(programs.lab().command("race").arg("--quiet").arg("--output").arg(&folder).arg(&tree))?;
    let took = begun.elapsed();
    let figure = format!("default race of a source tree of {SOURCE_FILES} files");
    let seconds = took.as_secs_f64();
    Ok(Row::judged(figure, "at most 60 s", seconds, seconds <= 60.0, Nanos::from(took).to_string()))
}

/// The best other method's time over that of `files-auto`, in the same rounds.
fn auto(programs: &Programs, figure: &str, tree: Many, state: CacheState) -> anyhow::Result<Row> {
    let folder = tree.make(programs)?;
    let methods = [&[AUTO], &OTHERS[..]].concat();
    let rounds = if state == CacheState::Cold { COLD_ROUNDS } else { WARM_ROUNDS };
    let words = with_methods(&methods, &["--runs", rounds, "--fills", "5"]);
    // By the other's name, as only the end shows which one is the best: the fastest of each single
    // race would be the luckiest of several.
    let mut found: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    for _ in 0..programs.repeats(PAIRS) {
        let record = race(programs, &folder, state, &words)?;
        let of_auto = trial(&record, |id| id.starts_with("rust/files-auto"))?;
        let others = record.trials.iter().filter(|it| {
            it.is_measured() && !it.trial.is_control() && !it.trial.id.to_string().contains("files-auto")
        });
        for other in others {
            found.entry(other.trial.id.to_string()).or_default().extend(pairs::in_rounds(other, of_auto));
        }
    }
    let ratios = found.iter().map(|(name, pairs)| (name, pairs::ratio(pairs)));
    let lowest = ratios.min_by(|(_, a), (_, b)| a.estimate.total_cmp(&b.estimate));
    let (name, ratio) = lowest.context("no other was measured")?;
    let figure = format!("best other method ÷ {figure}");
    let (ok, words) = (ratio.estimate >= 0.97, format!("{}  {name}", ratio.words()));
    Ok(Row::judged(figure, "at least 0.97", ratio.estimate, ok, words).with(ratio.ci95))
}

/// The time of a program over that of `files-auto` on the warm source tree.
fn beside(programs: &Programs, program: &str, command: &str) -> anyhow::Result<Row> {
    let folder = source(programs)?;
    let words = with_methods(&[AUTO], &["--command", command, "--runs", "5", "--fills", "5"]);
    let mut found = Vec::new();
    for _ in 0..programs.repeats(PAIRS) {
        let record = race(programs, &folder, CacheState::Warm, &words)?;
        let its = pairs::wall_ns(trial(&record, |id| id.strip_prefix("command/") == Some(command))?);
        found.push((its, pairs::wall_ns(trial(&record, |id| id.starts_with("rust/files-auto"))?)));
    }
    let ratio = pairs::ratio(&found);
    let figure = format!("{program} ÷ files-auto, source tree, warm");
    Ok(Row::unjudged(figure, ratio.estimate, ratio.words()).with(ratio.ci95))
}

/// Files per second one after the other, over those of fio.
fn beside_fio(programs: &Programs) -> anyhow::Result<Row> {
    let (files, bytes) = (100_000, 4 << 10);
    let folder = Many::Of { files, bytes }.make(programs)?;
    let words = with_methods(&[ONE_BY_ONE], &["--work", "discard", "--runs", "3", "--fills", "1"]);
    let mut found = Vec::new();
    for _ in 0..programs.repeats(PAIRS) {
        let record = race(programs, &folder, CacheState::Warm, &words)?;
        let ours_ns = pairs::wall_ns(trial(&record, |id| id.starts_with("rust/read"))?);
        let told = fio::read_files(&folder, bytes)?;
        ensure!(told["total_ios"] == files, "fio read {} times", told["total_ios"]);
        let theirs_ms = told["runtime"].as_f64().context("fio tells no time")?;
        found.push((theirs_ms * 1e6, ours_ns));
    }
    let ratio = pairs::ratio(&found);
    let figure = "files/s one after the other, ours ÷ fio's, 100,000 files of 4 KiB, warm".to_owned();
    Ok(Row::unjudged(figure, ratio.estimate, ratio.words()).with(ratio.ci95))
}

/// How often what stops a reading is told.
fn verdicts(programs: &Programs, case: &Case) -> anyhow::Result<Row> {
    let made = case.tree.make(programs)?;
    let late = match case.place {
        TreePlace::Disk => None,
        TreePlace::LateDevice => Some(LateTree::make(programs.folder(), &made)?),
    };
    let folder = late.as_ref().map_or(&*made, LateTree::folder);
    let methods = [&[case.method], case.beside].concat();
    let words = with_methods(&methods, &["--runs", "7", "--fills", "7"]);
    let repeats = programs.repeats(VERDICTS);
    let mut told = Vec::new();
    for _ in 0..repeats {
        let record = race(programs, folder, case.state, &words)?;
        let it = trial(&record, |id| id == case.method)?;
        let judged = verdict::judge(&record, &verdict::limits(&record), it).context("no verdict")?;
        told.push(format!("{}: {}", judged.stops_at(), judged.sentence));
    }
    let is_right = |told: &&String| case.right.iter().any(|right| told.starts_with(right));
    let right = told.iter().filter(is_right).count();
    let wrong = told.iter().find(|told| !is_right(told));
    let words =
        format!("right in {right} of {repeats}{}", wrong.map_or(String::new(), |it| format!("; {it}")));
    let ok = right * 10 >= repeats * 9;
    Ok(Row::judged(case.figure, "right in 9 of 10", f64::from(u32::try_from(right)?), ok, words))
}

/// The most memory that the lab itself has while a million names are read: of a thousand files,
/// each by a thousand names.
fn memory(programs: &Programs) -> anyhow::Result<Row> {
    let list = million(programs)?;
    let folder = programs.empty_folder("trees-memory")?;
    let mut command = programs.lab().command("race");
    command.args(["--quiet", "--state", "warm", "--runs", "1", "--fills", "1", "--budget", "20m"]);
    command.args(["--method", AUTO, "--output"]).arg(&folder).arg("--files-from").arg(&list);
    command.stdout(Stdio::null());
    let mut child = command.spawn().context("readlab race")?;
    let (mut peak_bytes, status) = (0, format!("/proc/{}/status", child.id()));
    while child.try_wait()?.is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
        peak_bytes = kib.map_or(peak_bytes, |kib| kib * 1024).max(peak_bytes);
        thread::sleep(Duration::from_millis(50));
    }
    ensure!(peak_bytes > 0, "its memory was not seen");
    let peak = Bytes(peak_bytes);
    let figure = format!("memory of the lab, {MILLION} names");
    let target = format!("at most {}", LAB_MEMORY_MAX.binary());
    #[expect(clippy::cast_precision_loss, reason = "a few megabytes")]
    let value = peak.0 as f64;
    Ok(Row::judged(figure, &target, value, peak <= LAB_MEMORY_MAX, peak.binary().to_string()))
}

/// A list of a million names, made unless it is there.
fn million(programs: &Programs) -> anyhow::Result<PathBuf> {
    let folder = programs.folder().join("trees/million");
    let list = folder.with_extension("list");
    if list.exists() {
        return Ok(list);
    }
    let mut names = Vec::new();
    for group in 0..1_000 {
        let place = folder.join(format!("{group:03}"));
        fs::create_dir_all(&place).with_context(|| place.display().to_string())?;
        let first = place.join("000");
        fs::write(&first, "a line\n").with_context(|| first.display().to_string())?;
        for index in 0..1_000 {
            let path = place.join(format!("{index:03}"));
            if index > 0 && !path.exists() {
                fs::hard_link(&first, &path).with_context(|| path.display().to_string())?;
            }
            writeln!(names, "{}", path.display())?;
        }
    }
    fs::write(&list, names).with_context(|| list.display().to_string())?;
    Ok(list)
}
