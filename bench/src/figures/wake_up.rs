//! Figure: whether a pause, other work on the processor, or an eviction just before a reading makes
//! the reading slower. It has no promise; METHOD.md has the results.
//!
//! The bench speaks the protocol itself, so that only the circumstance is between two turns. Each
//! pass has every circumstance once and begins with a different one; ratios are made within passes.

use crate::pairs;
use crate::programs::Programs;
use crate::row::Row;
use anyhow::Context;
use readlab_measure::cache::{Eviction, PageCache, TargetCache};
use readlab_model::units::{Bytes, Nanos};
use readlab_protocol::TurnRequest;
use readlab_roster::session::Session;
use std::path::Path;
use std::time::{Duration, Instant};

pub(super) const ABOUT: &str = "wake-up: a reading by read(2) in a process that was just woken, by what came right before; ratio to the first of its group";

const SMALL: Bytes = Bytes(10_000);
const LARGE: Bytes = Bytes(4 << 20);
const PAUSE: Duration = Duration::from_millis(100);
const PASSES: usize = 41;
const DEADLINE: Duration = Duration::from_secs(60);
const ONE: TurnRequest = TurnRequest { lead: 0, count: 1 };
/// As the lab requests for files of this size.
const SEVERAL: TurnRequest = TurnRequest { lead: 44, count: 10 };

/// What comes right before a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    /// The turn before.
    Nothing,
    /// A pause without computation.
    Idle,
    /// As long a time of computing in this process.
    Busy,
    /// Another file is read and evicted.
    OtherEvicted,
}

/// One circumstance: its name, what happens before the reading, and the request.
type Circumstance = (&'static str, Before, TurnRequest);

const WARM: [Circumstance; 5] = [
    ("one reading a turn, back to back", Before::Nothing, ONE),
    ("… after 100 ms of idling", Before::Idle, ONE),
    ("… after 100 ms of computing elsewhere", Before::Busy, ONE),
    ("… after eviction of another file", Before::OtherEvicted, ONE),
    ("several readings a turn, with a lead", Before::Nothing, SEVERAL),
];
const COLD: [Circumstance; 3] = [
    ("right after its eviction", Before::Nothing, ONE),
    ("… and 100 ms of idling", Before::Idle, ONE),
    ("… and 100 ms of computing elsewhere", Before::Busy, ONE),
];

/// A started contender, and the files that it or the bench reads.
struct Bench {
    session: Session,
    file: PageCache,
    other: PageCache,
    other_path: std::path::PathBuf,
    cold: bool,
}

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let (small, large) = (programs.lines(SMALL)?, programs.lines(LARGE)?);
    let other = programs.lines(Bytes(32 << 20))?;
    let mut rows = Vec::new();
    for (name, file, cold, circumstances) in [
        ("10 kB, warm", &small, false, &WARM[..]),
        ("4 MiB, warm", &large, false, &WARM[..4]),
        ("4 MiB, cold", &large, true, &COLD[..]),
    ] {
        let mut bench = Bench::start(programs, file, &other, cold)?;
        rows.extend(bench.compare(name, circumstances)?);
    }
    Ok(rows)
}

impl Bench {
    fn start(programs: &Programs, file: &Path, other: &Path, cold: bool) -> anyhow::Result<Bench> {
        let words = ["read", "read", "memchr", "newlines"].map(Into::into).into_iter();
        let words = words.chain([file.as_os_str().to_owned(), "buffer_bytes=65536".into()]);
        let mut session = Session::start("rust", &programs.contender(words.collect()))?;
        session.ready()?;
        let cache = |path: &Path| PageCache::open(path, Eviction::OfFile);
        let bench =
            Bench { session, file: cache(file)?, other: cache(other)?, other_path: other.to_owned(), cold };
        bench.file.refill()?;
        Ok(bench)
    }

    /// Every circumstance in every pass; the first is what the others are compared with.
    fn compare(&mut self, name: &str, circumstances: &[Circumstance]) -> anyhow::Result<Vec<Row>> {
        let mut found = vec![Vec::new(); circumstances.len()];
        self.turn(ONE)?;
        for pass in 0..PASSES {
            for step in 0..circumstances.len() {
                let at = (pass + step) % circumstances.len();
                let (_, before, request) = circumstances[at];
                self.prepare(before)?;
                found[at].push(self.turn(request)?);
            }
        }
        let row = |(circumstance, times): (&Circumstance, &Vec<f64>)| {
            let pairs: Vec<(f64, f64)> = times.iter().copied().zip(found[0].iter().copied()).collect();
            let (ratio, figure) = (pairs::ratio(&pairs), format!("{name}: {}", circumstance.0));
            let median = Nanos::from_secs_f64(pairs::median(times) / 1e9);
            Row::unjudged(figure, ratio.estimate, format!("{}  ({median})", ratio.words())).with(ratio.ci95)
        };
        Ok(circumstances.iter().zip(&found).map(row).collect())
    }

    fn prepare(&self, before: Before) -> anyhow::Result<()> {
        if self.cold {
            self.file.evict()?;
        }
        match before {
            Before::Nothing => {}
            Before::Idle => std::thread::sleep(PAUSE),
            Before::Busy => compute(PAUSE),
            Before::OtherEvicted => {
                std::fs::read(&self.other_path).with_context(|| self.other_path.display().to_string())?;
                self.other.evict()?;
            }
        }
        Ok(())
    }

    /// The median window of one turn, in nanoseconds. The turn before has just been answered,
    /// unless the cache was in the way.
    fn turn(&mut self, request: TurnRequest) -> anyhow::Result<f64> {
        let turn = self.session.turn(request, DEADLINE)?;
        Ok(pairs::median(&pairs::floats(turn.samples.iter().map(|sample| sample.wall_ns))))
    }
}

/// Keeps a processor busy with registers alone.
fn compute(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}
