//! Figure: whether verdicts are correct, in cases with a known limit.
//!
//! Each case is a place, a few trials (the one that is judged first, then those that show the
//! limits), and the verdict that is right. Several verdicts may be right where the machine decides
//! which of two near limits comes first.

use crate::busy_loops::BusyLoops;
use crate::control_group::{Group, Limit};
use crate::places::Place;
use crate::programs::{Programs, Race};
use crate::row::Row;
use anyhow::Context;
use readlab_analysis::verdict;
use readlab_model::trial::{CacheState, TrialIndex};
use readlab_model::units::Bytes;
use readlab_protocol::Archive;
use readlab_record::Record;
use std::any::Any;
use std::path::Path;

pub(super) const ABOUT: &str = "verdicts: right on cases made for the purpose, at least nine of ten";

const FILE: Bytes = Bytes(256 << 20);
/// Slow things are shown by a smaller file.
const SMALL: Bytes = Bytes(64 << 20);
const SHARE_MIN: f64 = 0.9;

/// The place of a case's file.
#[derive(Clone, Copy)]
enum FilePlace {
    /// The disk of the build.
    Disk(Bytes),
    /// The same, of which blocks of 4 KiB are read at random.
    AtRandom(Bytes),
    /// A disk with a limit of bytes per second: so low that the burst which the kernel grants after
    /// a pause is a small share of the file.
    Throttled(u64),
    /// The same, as an archive.
    Zipped,
    /// A separate place.
    Elsewhere(Place, Bytes),
}

/// What else goes on while a case is raced.
#[derive(Clone, Copy)]
enum Beside {
    Nothing,
    /// So many busy loops for each processor.
    BusyLoops(usize),
    /// A quota of processor time.
    Quota {
        percent: u32,
    },
}

impl Beside {
    /// Goes on until the value is dropped.
    fn begin(self) -> anyhow::Result<Option<Box<dyn Any>>> {
        Ok(match self {
            Beside::Nothing => None,
            Beside::BusyLoops(each) => Some(Box::new(BusyLoops::start(each)?)),
            Beside::Quota { percent } => {
                Some(Box::new(Group::entered(Limit::ProcessorTime { percent }, "quota")?))
            }
        })
    }
}

struct Case {
    name: &'static str,
    ground: FilePlace,
    state: CacheState,
    beside: Beside,
    trials: &'static [&'static str],
    /// The correct verdicts.
    right: &'static [&'static str],
}

const CASES: [Case; 20] = [
    Case {
        name: "a quota of reads from the device",
        ground: FilePlace::Throttled(30_000_000),
        state: CacheState::Cold,
        beside: Beside::Nothing,
        trials: &["rust/read@buffer=128KiB", "rust/device"],
        right: &["I/O quota"],
    },
    Case {
        name: "a cold file, much in flight",
        ground: FilePlace::Disk(FILE),
        state: CacheState::Cold,
        beside: Beside::Nothing,
        trials: &[
            "rust/io_uring@buffer=1MiB,depth=8,direct=1",
            "rust/device",
            "rust/device@buffer=1MiB,depth=8",
        ],
        right: &["device"],
    },
    Case {
        name: "small blocks, one in flight",
        ground: FilePlace::Disk(SMALL),
        state: CacheState::Cold,
        beside: Beside::Nothing,
        trials: &["rust/direct@buffer=8KiB", "rust/direct@buffer=1MiB", "rust/device"],
        right: &["small blocks"],
    },
    Case {
        name: "large blocks, one in flight",
        ground: FilePlace::Disk(FILE),
        state: CacheState::Cold,
        beside: Beside::Nothing,
        trials: &[
            "rust/io_uring@buffer=128KiB,depth=1,direct=1",
            "rust/io_uring@buffer=128KiB,depth=16,direct=1",
            "rust/device",
        ],
        right: &["shallow depth"],
    },
    Case {
        name: "a slow scan of a mapped file",
        ground: FilePlace::Disk(FILE),
        state: CacheState::Warm,
        beside: Beside::Nothing,
        trials: &["rust/mmap/scalar", "rust/mmap", "rust/resident", "rust/copy"],
        right: &["processing"],
    },
    Case {
        name: "a string made of every line",
        ground: FilePlace::Disk(FILE),
        state: CacheState::Warm,
        beside: Beside::Nothing,
        trials: &["rust/lines", "rust/resident", "rust/copy"],
        right: &["processing"],
    },
    Case {
        name: "a cached file copied",
        ground: FilePlace::Disk(FILE),
        state: CacheState::Warm,
        beside: Beside::Nothing,
        trials: &["rust/read@buffer=128KiB", "rust/resident", "rust/copy"],
        right: &["copy"],
    },
    Case {
        name: "a cached file mapped and counted by all processors",
        ground: FilePlace::Disk(FILE),
        state: CacheState::Warm,
        beside: Beside::Nothing,
        trials: &["rust/mmap@threads=all", "rust/resident@threads=all", "rust/resident", "rust/copy"],
        right: &["memory"],
    },
    Case {
        name: "a mapping of small pages",
        ground: FilePlace::Elsewhere(Place::Compressed, FILE),
        state: CacheState::Warm,
        beside: Beside::Nothing,
        trials: &["rust/mmap", "rust/resident", "rust/copy", "rust/faults"],
        right: &["faults", "mixed"],
    },
    Case {
        name: "a compressed file, cold",
        ground: FilePlace::Elsewhere(Place::Compressed, FILE),
        state: CacheState::Cold,
        beside: Beside::Nothing,
        trials: &["rust/read@buffer=128KiB"],
        // No reading past the cache shows the limit of the device: then the correct verdict is
        // unknown.
        right: &["decoding", "unknown"],
    },
    Case {
        name: "a program that sleeps",
        ground: FilePlace::Disk(SMALL),
        state: CacheState::Warm,
        beside: Beside::Nothing,
        trials: &["command/sleep 0.2; wc -l {}", "rust/resident", "rust/copy"],
        right: &["latency"],
    },
    Case {
        name: "a slow file system in user space",
        ground: FilePlace::Elsewhere(Place::Slow, SMALL),
        state: CacheState::Cold,
        beside: Beside::Nothing,
        trials: &["rust/read@buffer=128KiB"],
        // It waits for what lies below the file system, which may have a cache of its own.
        right: &["unknown"],
    },
    Case {
        name: "threads under one lock",
        ground: FilePlace::Disk(FILE),
        state: CacheState::Warm,
        beside: Beside::Nothing,
        trials: &["locked/read@threads=2", "locked/read@threads=1", "rust/resident", "rust/copy"],
        right: &["lock"],
    },
    Case {
        name: "a cached file beside busy loops",
        ground: FilePlace::Disk(FILE),
        state: CacheState::Warm,
        beside: Beside::BusyLoops(3),
        trials: &["rust/read@buffer=128KiB", "rust/resident", "rust/copy"],
        right: &["scheduler"],
    },
    Case {
        name: "a cached file under a quota of a quarter of a processor",
        ground: FilePlace::Disk(FILE),
        state: CacheState::Warm,
        beside: Beside::Quota { percent: 25 },
        trials: &["rust/read@buffer=128KiB", "rust/resident", "rust/copy"],
        right: &["processor quota"],
    },
    Case {
        name: "two threads under a quota of a fifth of a processor",
        ground: FilePlace::Disk(FILE),
        state: CacheState::Warm,
        beside: Beside::Quota { percent: 20 },
        trials: &["rust/pread@threads=2", "rust/resident", "rust/copy"],
        right: &["processor quota"],
    },
    Case {
        name: "a cached file read into a new buffer each time",
        ground: FilePlace::Disk(FILE),
        state: CacheState::Warm,
        beside: Beside::Nothing,
        trials: &["rust/fs-read", "rust/read@buffer=128KiB", "rust/resident", "rust/copy", "rust/faults"],
        right: &["new memory"],
    },
    Case {
        name: "a mapping read at random",
        ground: FilePlace::AtRandom(FILE),
        state: CacheState::Cold,
        beside: Beside::Nothing,
        trials: &["rust/places-mmap", "rust/places-device"],
        right: &["read-ahead"],
    },
    Case {
        name: "a cold file of which little is read ahead",
        ground: FilePlace::Elsewhere(Place::ShortReadAhead, SMALL),
        state: CacheState::Cold,
        beside: Beside::Nothing,
        trials: &["rust/mmap", "rust/device"],
        right: &["short read-ahead"],
    },
    Case {
        name: "a zip",
        ground: FilePlace::Zipped,
        state: CacheState::Warm,
        beside: Beside::Nothing,
        trials: &["rust/zip", "rust/decoder", "rust/resident", "rust/copy"],
        right: &["decoding"],
    },
];

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let mut rows: Vec<Row> = CASES.iter().map(|case| row(programs, case)).collect();
    let (right, of) = (
        rows.iter().filter(|row| row.ok == Some(true)).count(),
        rows.iter().filter(|row| row.ok.is_some()).count(),
    );
    #[expect(clippy::cast_precision_loss, reason = "a dozen cases")]
    let share = right as f64 / of.max(1) as f64;
    let target = format!("at least {:.0} %", SHARE_MIN * 100.0);
    rows.push(Row::judged(
        "verdicts that are right",
        &target,
        share,
        share >= SHARE_MIN,
        format!("{right} of {of}"),
    ));
    Ok(rows)
}

fn row(programs: &Programs, case: &Case) -> Row {
    match told(programs, case) {
        Err(error) => Row::failed(case.name, &error),
        Ok(said) => {
            let ok = case.right.iter().any(|right| said.starts_with(right));
            Row::judged(case.name, &case.right.join(" or "), f64::from(u8::from(ok)), ok, said)
        }
    }
}

/// The lab's verdict on the case's first trial.
fn told(programs: &Programs, case: &Case) -> anyhow::Result<String> {
    let roster = programs.locked()?;
    let race_with = |file: &Path, more: &[&str]| {
        let options = [&["--runs", "7", "--fills", "7", "--roster", &roster], more].concat();
        let state = Some(case.state);
        programs.race(&Race { name: "verdicts", trials: case.trials, file, state, options: &options })
    };
    let race = |file: &Path| race_with(file, &[]);
    let _beside = case.beside.begin()?;
    let record = match case.ground {
        FilePlace::Disk(size) => race(&programs.lines(size)?)?,
        FilePlace::AtRandom(size) => {
            race_with(&programs.lines(size)?, &["--pattern", "random", "--reads", "2000"])?
        }
        FilePlace::Zipped => race(&programs.packed_lines(SMALL, Archive::Zip)?)?,
        FilePlace::Throttled(bytes_per_second) => {
            let file = programs.lines(SMALL)?;
            let _group = Group::entered(Limit::device_of(&file, bytes_per_second)?, "throttled")?;
            race(&file)?
        }
        FilePlace::Elsewhere(place, size) => race(place.make(programs, size)?.file())?,
    };
    first(&record)
}

/// The verdict on the first trial of the suite.
fn first(record: &Record) -> anyhow::Result<String> {
    let trial = record.trial(TrialIndex::new(0)).context("no trial")?;
    let limits = verdict::limits(record);
    let why =
        || trial.outcome.as_ref().and_then(|outcome| outcome.reason()).unwrap_or("no verdict").to_owned();
    Ok(verdict::judge(record, &limits, trial).with_context(why)?.stops_at())
}
