//! Records of every kind of run, each made from a short script of the times of its readings. The
//! lines are the same each time. Tests of exports and reports use these records.

mod script;

use crate::{
    Distribution, FlameGraph, Fleet, FleetTurn, HotSpot, LeftBehind, Limit, LimitKind, LimitUnit, Line,
    Outcome, OwnScheduling, Prediction, Rank, RankClock, RankTiming, Record, Resumption, RunKind, ShareMode,
    StopReason, Trace, WarmedUp, WarmupEnd, WriteTimes, WriteWay,
};
use readlab_model::sample::{RequestMeters, Sample};
use readlab_model::target::{Http, TargetFacts, TargetIndex, TargetKind};
use readlab_model::trial::{Answer, CacheState, TrialIndex, Work};
use readlab_protocol::{Archive, Policy, Scheduling};
use script::{FILE_BYTES, Script, ScriptedTrial, answer, cold_trial, file, warm_trial};
use std::collections::BTreeMap;
use std::iter;

/// The name of a record, and the function that makes its script.
type Scripted = (&'static str, fn() -> Script);

/// The records, in the order of their names.
const ALL: [Scripted; 11] = [
    ("cut", interrupted_race),
    ("failures", failures),
    ("fleet", fleet),
    ("http", http),
    ("inside", inspected_race),
    ("limits", limits),
    ("race", race),
    ("stopped", stopped_race),
    ("suite", suite),
    ("sweep", sweep),
    ("tune", tune),
];

pub fn names() -> [&'static str; ALL.len()] {
    ALL.map(|(name, _)| name)
}

pub fn lines(name: &str) -> Vec<Line> {
    let (_, make) = ALL.iter().find(|(known, _)| *known == name).expect("a record has this name");
    make().lines
}

pub fn record(name: &str) -> Record {
    let mut lines = lines(name).into_iter();
    let Some(Line::Header(header)) = lines.next() else { unreachable!("a script begins with a header") };
    let mut record = Record::new(*header);
    lines.for_each(|line| record.add(line));
    record
}

pub fn text(name: &str) -> String {
    lines(name).iter().map(|line| serde_json::to_string(line).unwrap() + "\n").collect()
}

/// Five methods, each read eight times cold and eight times warm, and a sixth that is unavailable.
/// The path and a caution contain characters that pages must escape.
fn race() -> Script {
    let mut it = Script::begin(RunKind::Race, &["race", "lines <b>.txt"]);
    let cautions = vec!["it is <small>".to_owned()];
    it.add_target(TargetFacts { cautions, ..file("/data/lines <b>\"'&.txt") });
    it.add_contender("rust");
    it.run_trials(
        &[
            cold_trial("command/wc -l", 1_200_000),
            cold_trial("rust/mmap/avx2@threads=2", 300_000),
            cold_trial("rust/read/avx2@buffer=4KiB", 960_000),
            cold_trial("rust/read/avx2@buffer=64KiB", 540_000),
            cold_trial("rust/read/avx2@buffer=1MiB", 541_200),
        ],
        8,
    );
    it.run_trials(
        &[
            warm_trial("command/wc -l", 200_000),
            warm_trial("rust/mmap/avx2@threads=2", 50_000),
            warm_trial("rust/read/avx2@buffer=4KiB", 160_000),
            warm_trial("rust/read/avx2@buffer=64KiB", 90_000),
            warm_trial("rust/read/avx2@buffer=1MiB", 90_200),
        ],
        8,
    );
    it.add_missing_meter(0, "major_faults", "not permitted <here>");
    it.add_unavailable_trial(warm_trial("rust/io_uring@depth=8", 0), "io_uring is switched off");
    it.add_warning("the machine is busy");
    it.settled()
}

/// A race in which every trial failed. A command and a reason contain characters that pages must
/// escape.
fn failures() -> Script {
    let mut it = Script::begin(RunKind::Race, &["race", "lines <b>.txt"]);
    it.add_target(file("/data/lines <b>\"'&.txt"));
    let plays = [warm_trial("command/cat <script>alert(1)</script>", 0), warm_trial("rust/mmap", 0)];
    let first = it.announce(&plays);
    let reason = "answered 8 newlines, not 9 <script>document.title='owned'</script>".to_owned();
    it.add_outcome(first, Outcome::Refused { reason });
    it.add_outcome(first + 1, Outcome::Failed { reason: "killed by signal 9".to_owned() });
    it.settled()
}

/// A published suite on a target that is no archive: a method of archives is unavailable, and the
/// others, in three languages, are measured.
fn suite() -> Script {
    let mut it = Script::of_lines(RunKind::Suite, &["suite", "zip-lines", "lines.txt"]);
    ["java", "python"].iter().for_each(|name| it.add_contender(name));
    let none = "it reads what comes out of a zip, and the target is none";
    it.add_unavailable_trial(cold_trial("rust/zip/memchr", 0), none);
    it.trials().for_each(|trial| trial.decoded_format = Some(Archive::Zip));
    let ways = [
        ("rust/null", 2, 2),
        ("rust/resident/avx2", 41_000, 40_000),
        ("command/wc -l", 640_000, 200_000),
        ("java/BufferedReader@buffer=8192", 910_000, 800_000),
        ("java/BufferedReader@buffer=1024", 1_020_000, 900_000),
        ("rust/lines@buffer=16KiB", 560_000, 300_000),
        ("python/lines", 2_600_000, 2_500_000),
    ];
    it.run_trials(&ways.map(|(name, wall_us, _)| cold_trial(name, wall_us)), 8);
    it.run_trials(&ways.map(|(name, _, wall_us)| warm_trial(name, wall_us)), 8);
    for trial in it.trials() {
        trial.work = Work::Lines;
        trial.label = trial.id.params.0.get("buffer").map(|chars| format!("plain, buffer of {chars} chars"));
    }
    it.settled()
}

/// Four files of each size, written at 1 GB/s and read at 2.5 GB/s, plus 0.1 ms for each file.
/// Files of 1 MB are read at twice that rate.
fn sweep() -> Script {
    let mut it = Script::begin(RunKind::Sweep, &["sweep", "/data"]);
    let sizes = [10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 2_000_000_000];
    for (round, sizes) in (0..).zip(iter::repeat_n(sizes, 4)) {
        for size_bytes in sizes {
            let index = it.trial_count;
            let number = index as u64;
            it.add_target(TargetFacts {
                size_bytes,
                answer: None,
                ..file(&format!("/data/sweep/{index} <b>.bin"))
            });
            let times = WriteTimes { write_ns: 90_000 + size_bytes + 2_919 * number % 5_000, sync_ns: None };
            it.lines.push(Line::Write { target: TargetIndex::new(index), way: WriteWay::Plain, times });
            let play = cold_trial("rust/direct@buffer=1MiB", 0);
            it.announce(&[play]);
            let read_ns = if size_bytes == 1_000_000 { size_bytes / 5 } else { size_bytes * 2 / 5 };
            let wall_ns = 100_000 + read_ns + 5_729 * number % 9_000;
            let sample = Sample {
                fill: 0,
                device_read_bytes: Some(size_bytes),
                ..play.sample_with_time(index, round, wall_ns)
            };
            it.lines.push(Line::Sample(Box::new(Sample { answer: Answer::default(), ..sample })));
            it.add_outcome(index, Outcome::Measured);
        }
    }
    for (target, trial) in it.trials().enumerate() {
        (trial.target, trial.work) = (TargetIndex::new(target), Work::Discard);
    }
    it.settled()
}

/// A search over three buffer sizes. Two of the sizes were then measured beside the usual method,
/// and a fourth size was ruled out.
fn tune() -> Script {
    let mut it = Script::of_lines(RunKind::Tune, &["tune", "lines.txt"]);
    let searched = [
        warm_trial("rust/read/memchr@buffer=4KiB", 160_000),
        warm_trial("rust/read/memchr@buffer=64KiB", 90_000),
        warm_trial("rust/read/memchr@buffer=1MiB", 91_000),
    ];
    it.announce(&searched);
    it.read(0, &searched, 0..1);
    it.read(1, &searched[1..], 1..3);
    it.samples().for_each(|sample| sample.rung = Some(sample.round));
    let usual = [warm_trial("rust/lines@buffer=16KiB", 300_000)];
    it.announce(&usual);
    it.read(1, &searched[1..], 0..8);
    it.read(3, &usual, 0..8);
    it.add_outcome(0, Outcome::Measured);
    (1..4).for_each(|index| it.end_as_measured(index, StopReason::MostReadings, 8));
    let ruled_out = it.announce(&[warm_trial("rust/read/memchr@buffer=256KiB", 0)]);
    let prediction = Prediction { ratio: 1.5, ci95: [1.25, 1.75], model_error: 0.0625 };
    it.add_outcome(ruled_out, Outcome::RuledOut { prediction });
    it.settled()
}

/// The limits of a machine, measured by controls and by another program.
fn limits() -> Script {
    let mut it = Script::of_lines(RunKind::Limits, &["limits", "lines.txt"]);
    it.run_trials(
        &[
            cold_trial("rust/resident/avx2", 41_000),
            cold_trial("rust/device@buffer=128KiB,depth=16", 500_000),
        ],
        5,
    );
    it.run_trials(
        &[
            warm_trial("rust/resident/avx2", 40_000),
            warm_trial("rust/resident/avx2@threads=2", 25_000),
            warm_trial("rust/copy", 80_000),
            warm_trial("rust/faults", 60_000),
            warm_trial("rust/syscall@calls=20000", 4_000),
        ],
        5,
    );
    let samples = vec![1_900_000_000, 2_000_000_000, 1_980_000_000];
    it.lines.push(Line::Limit(Box::new(Limit {
        kind: LimitKind::Device,
        name: "fio@buffer=128KiB,depth=16".to_owned(),
        target: TargetIndex::new(0),
        state: None,
        trial: None,
        threads: 1,
        unit: LimitUnit::BytesPerSecond,
        value: 1_980_000_000,
        ci95: None,
        samples,
        how_measured: "fio: io_uring, O_DIRECT, sequential; its own rate, after our rounds".to_owned(),
    })));
    it.settled()
}

/// A URL of another server, read over one connection and over four.
fn http() -> Script {
    let mut it = Script::begin(RunKind::Race, &["race", "https://example.org/lines.txt"]);
    let (software, etag) = (Some("nginx".to_owned()), Some("\"a\"".to_owned()));
    it.add_target(TargetFacts {
        path: "https://example.org/lines.txt".to_owned(),
        size_bytes: FILE_BYTES,
        answer: Some(answer()),
        kind: TargetKind::Url(Http::Foreign { software, etag, last_modified: None }),
        ..TargetFacts::default()
    });
    it.add_contender("rust");
    let unknown = |name, wall_us| ScriptedTrial { name, state: CacheState::Unknown, wall_us };
    it.run_trials(
        &[
            unknown("command/curl -s {} | wc -l", 8_300_000),
            unknown("rust/http/memchr", 8_000_000),
            unknown("rust/http-ranged/memchr@concurrency=4", 2_500_000),
        ],
        6,
    );
    for sample in it.samples() {
        (sample.device_read_bytes, sample.resident_before, sample.resident_after) = (None, None, None);
        // The command does not report its requests.
        if u64::from(sample.trial) > 0 {
            sample.request = RequestMeters {
                dns_ns: Some(1_000_000),
                connect_ns: Some(20_000_000),
                tls_ns: Some(25_000_000),
                first_byte_ns: Some(70_000_000),
                requests: Some(1 + 3 * (u64::from(sample.trial) - 1)),
                retries: Some(u64::from(sample.round == 3)),
            };
        }
    }
    it.settled()
}

/// A fleet of two hosts, each of which reads its own file.
fn fleet() -> Script {
    let words = ["fleet", "race", "--share", "own", "FILE", "--hide-hosts"];
    let mut it = Script::begin(RunKind::Race, &words);
    it.add_target(file("file 0"));
    let rank = |number: u32| Rank {
        host: format!("host {number}"),
        path: format!("file {number}"),
        start_bytes: None,
        size_bytes: FILE_BYTES / 2,
        digest: None,
        page_cache_number: number,
    };
    it.lines.push(Line::Fleet(Box::new(Fleet {
        mpi_library: "Open MPI v4.1.4".to_owned(),
        share: ShareMode::Own,
        ranks: vec![rank(0), rank(1)],
        witness: None,
    })));
    it.add_contender("rust");
    let plays = [
        cold_trial("rust/device@buffer=128KiB,depth=16", 400_000),
        cold_trial("command/wc -l", 900_000),
        cold_trial("rust/read/memchr", 600_000),
        cold_trial("rust/mmap/memchr", 610_000),
    ];
    let first = it.announce(&plays);
    for round in 0..6 {
        let other = RankClock { offset_ns: -125, error_bound_ns: 441, drift_ppm: 0.5 };
        it.lines.push(Line::Clocks { round, ranks: vec![RankClock::default(), other] });
        it.read(first, &plays, round..round + 1);
    }
    // The CPU times of a joint sample are sums over both ranks.
    for sample in it.samples() {
        let cpu = [&mut sample.cpu_user_ns, &mut sample.cpu_system_ns, &mut sample.turn.cpu_ns];
        cpu.into_iter().flatten().for_each(|ns| *ns *= 2);
    }
    // The second host begins a little later and ends last.
    let turns: Vec<Line> = it.samples().map(|sample| fleet_turn_of_two_ranks(sample)).collect();
    it.lines.extend(turns);
    it.add_rejection(2, 5, "host 1 (rank 1): began 5.86 ms late");
    (0..plays.len()).for_each(|at| it.end_as_measured(first + at, StopReason::MostReadings, 6));
    it.settled()
}

/// A fleet turn of two ranks, whose joint sample is `sample`.
fn fleet_turn_of_two_ranks(sample: &Sample) -> Line {
    let began_ns = 1_000_000_000_000 * (1 + u64::from(sample.round));
    let rank = |rank: u32, late_ns, wall_ns| RankTiming {
        rank,
        started_ns: began_ns + late_ns,
        late_ns,
        wall_ns,
        error_bound_ns: 441 * u64::from(rank),
    };
    let ranks = vec![rank(0, 0, sample.wall_ns * 9 / 10), rank(1, 50_000, sample.wall_ns - 50_000)];
    Line::FleetTurn(Box::new(FleetTurn { trial: sample.trial, round: sample.round, ranks }))
}

/// A race that was interrupted, resumed, and interrupted again. Its contenders had side effects.
fn interrupted_race() -> Script {
    let mut it = Script::of_lines(RunKind::Race, &["race", "lines.txt", "--state", "warm"]);
    let plays = [
        warm_trial("command/wc -l", 200_000),
        warm_trial("java/Files.lines", 400_000),
        warm_trial("rust/mmap/memchr", 50_000),
    ];
    let first = it.announce(&plays);
    let at = |number: usize| TrialIndex::new(first + number);
    let end = WarmupEnd::NoSteadyState;
    it.lines.push(Line::Warmup(WarmedUp { trial: at(1), readings: 40, wall_ns: 16_000_000_000, end }));
    it.read(first, &plays, 0..5);
    it.add_rejection(first, 3, "0.2 % of the file left the cache");
    it.lines.push(Line::LeftBehind { trial: at(0), left: LeftBehind { processes: 5, readings: 5 } });
    let given = Scheduling { policy: Policy::Other, priority: 0, nice: 0, processors: vec![0, 1] };
    let ran = Scheduling { nice: -5, ..given.clone() };
    it.lines.push(Line::Scheduling {
        trial: at(2),
        scheduling: Box::new(OwnScheduling { own_scheduling: ran, given_scheduling: given }),
    });
    it.end_as_measured(first, StopReason::Precise, 5);
    it.lines.push(Line::Resumed(Resumption {
        resumed_at: "2026-01-02T04:00:00Z".to_owned(),
        elapsed_ns: 30_000_000_000,
        state: CacheState::Warm,
        round: 5,
        reopened_trials: Vec::new(),
    }));
    it.read(first + 1, &plays[1..], 5..8);
    it
}

/// Three methods with flame graphs and traces.
fn inspected_race() -> Script {
    let mut it = Script::of_lines(RunKind::Race, &["race", "lines.txt", "--flamegraph", "--trace"]);
    let controls = [
        warm_trial("rust/null", 2),
        warm_trial("rust/resident/avx2", 40_000),
        warm_trial("rust/copy", 80_000),
    ];
    let ways = [
        warm_trial("command/wc -l", 200_000),
        warm_trial("rust/read/memchr", 90_000),
        warm_trial("rust/mmap/memchr", 50_000),
    ];
    it.run_trials(&[&controls[..], &ways[..]].concat(), 5);
    let mapped = Trace {
        reason: Some(format!(
            "it makes no read calls: mmap of {FILE_BYTES} bytes; 8 minor and 0 major page faults"
        )),
        wall_ns: 50_000_000,
        minor_faults: Some(8),
        major_faults: Some(0),
        call_counts: BTreeMap::from([("mmap".to_owned(), 1)]),
        ..Trace::default()
    };
    let traces = [trace_of_read_calls(27, 16_320, 2_562), trace_of_read_calls(3, 262_144, 12_301), mapped];
    for (index, trace) in (controls.len()..).zip(traces) {
        let trial = TrialIndex::new(index);
        let graph = FlameGraph {
            picture_path: Some(format!("flamegraphs/warm-{index}.svg")),
            why_no_picture: None,
            how: "processor time by the kernel's clock, 997 samples a second".to_owned(),
            sample_count: 656,
            readings: 18,
            hottest: vec![HotSpot { name: "_copy_to_iter".to_owned(), share: 0.25 }],
            blind_spots: vec!["31 samples were lost".to_owned()],
        };
        it.lines.push(Line::FlameGraph { trial, graph: Box::new(graph) });
        let trace = Trace { how_traced: "seen by a preloaded library".to_owned(), ..trace };
        it.lines.push(Line::Trace { trial, trace: Box::new(trace) });
    }
    it.settled()
}

/// A trace of `count` calls of equal latency; the last call finds the end of the file.
fn trace_of_read_calls(count: usize, bytes: u64, latency_ns: u64) -> Trace {
    let calls = count as u64;
    let brought = vec![bytes; count - 1];
    Trace {
        wall_ns: 2 * latency_ns * calls,
        minor_faults: Some(64),
        major_faults: Some(0),
        call_counts: BTreeMap::from([("read".to_owned(), calls)]),
        threads: 1,
        in_calls_ns: latency_ns * calls,
        bytes: bytes * (calls - 1),
        requested_bytes: Distribution::from_numbers(vec![bytes; count]),
        returned_bytes: Distribution::from_numbers([&brought[..], &[0]].concat()),
        nonempty_returned_bytes: Distribution::from_numbers(brought),
        latency_ns: Distribution::from_numbers(vec![latency_ns; count]),
        sequential_calls: calls - 1,
        ..Trace::default()
    }
}

/// Two trials that tie for the first rank, and two that stopped as soon as they were clearly
/// slower.
fn stopped_race() -> Script {
    let mut it = Script::of_lines(RunKind::Race, &["race", "lines.txt"]);
    let plays = [
        warm_trial("rust/mmap/memchr", 50_000),
        warm_trial("rust/read/memchr@buffer=256KiB", 50_200),
        warm_trial("rust/read/memchr@buffer=4KiB", 90_000),
        warm_trial("command/wc -l", 200_000),
    ];
    let first = it.announce(&plays);
    it.read(first, &plays, 0..5);
    it.read(first, &plays[..2], 5..12);
    (2..4).for_each(|at| it.end_as_measured(first + at, StopReason::NotFirst, 5));
    (0..2).for_each(|at| it.end_as_measured(first + at, StopReason::Decided, 12));
    it.settled()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_record_keeps_the_rules_and_is_read_back_as_it_was_made() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record.jsonl");
        for name in names() {
            std::fs::write(&path, text(name)).unwrap();
            let read = Record::read(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(read, record(name), "{name}");
        }
    }
}
