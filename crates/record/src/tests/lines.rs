//! One line of every kind that a record can have, with awkward values.

use crate::{
    Budget, Check, CommandRules, Count, EndReason, Fill, FlameGraph, Fleet, FleetTurn, Focus, Header,
    HotSpot, LeftBehind, Limit, LimitKind, LimitUnit, Line, Outcome, OwnScheduling, Rank, RankClock,
    RankTiming, ReaderTiming, ReadersTurn, Receipt, ReferenceCandidate, ReferenceReason, Requested,
    ResumePlan, Resumption, Rules, RunKind, SCHEMA, SCHEMA_VERSION, Share, Spread, Start, StopReason,
    Stopped, TargetRef, Trace, Trial, WarmedUp, WarmupEnd, Witness, WriteTimes, WriteWay,
};
use readlab_model::sample::Sample;
use readlab_model::target::ServerOptions;
use readlab_model::target::identity::Identity;
use readlab_model::target::{Decoded, Http, TargetFacts, TargetKind};
use readlab_model::trial::{Answer, CacheState, Params, Transport, TrialIndex, Work};
use readlab_model::units::Nanos;
use readlab_protocol::{Archive, Cache, Policy, Scheduling};
use readlab_system::machine::Machine;
use std::collections::BTreeMap;

pub(super) fn header() -> Header {
    Header {
        schema: SCHEMA.to_owned(),
        version: SCHEMA_VERSION,
        lab: "0.1.0".to_owned(),
        revision: "abc".to_owned(),
        kind: RunKind::Race,
        command: vec!["readlab".to_owned(), "race".to_owned(), "a\n\u{1b}b".to_owned()],
        started: "2024-01-01T00:00:00Z".to_owned(),
        seed: u64::MAX,
        reference: Some("command/wc -l".parse().unwrap()),
        references: vec![ReferenceCandidate {
            trial: "command/wc -l".parse().unwrap(),
            why: ReferenceReason::Named,
        }],
        machine: Machine { cpu: Some("one".to_owned()), max_turbo_ghz: Some(5.1), ..Machine::default() },
        agenda: Some(agenda()),
    }
}

/// A plan with the largest possible numbers.
fn agenda() -> ResumePlan {
    let rules = Rules {
        warmup: 1,
        min_runs: 2,
        max_runs: u32::MAX,
        max_time: Nanos(u64::MAX),
        precision: 0.1,
        fills: 3,
        budget: Budget::Firm(Nanos(u64::MAX)),
        seed: u64::MAX,
        counts: 5,
        focus: Focus::First,
        indifference: 0.1,
    };
    let identity = Identity { dev: 1, ino: u64::MAX, size_bytes: 7, mtime: (-1, 999), ctime: (2, 3) };
    ResumePlan {
        boot: Some("boot".to_owned()),
        folder: "/a".to_owned(),
        targets: vec![TargetRef {
            form: Some(Archive::Zip),
            over: Transport::Http,
            identity: Some(identity),
        }],
        states: vec![CacheState::Cold, CacheState::Warm],
        rules,
        trials: vec![trial()],
        absent: vec![(trial(), Outcome::Unavailable { reason: "none".to_owned() })],
        rosters: vec!["/r".to_owned()],
        flame_graphs: Some("/g".to_owned()),
        trace: true,
        drop_caches: true,
        allow_device: true,
        server: ServerOptions { cacert: Some("/ca.pem".into()), ..ServerOptions::default() },
        requested: vec![Requested::Command("./mine {}".to_owned()), Requested::Method("rust/*".to_owned())],
    }
}

pub(super) fn trial() -> Trial {
    let id: readlab_model::trial::TrialId = "rust/io_uring/scalar@buffer=128KiB,depth=16".parse().unwrap();
    Trial {
        index: TrialIndex::new(0),
        label: Some("ring".to_owned()),
        params: Params(BTreeMap::from([("depth".to_owned(), 16)])),
        target: 0,
        work: Work::Newlines,
        state: CacheState::Unknown,
        cache: Cache::ByParam,
        decodes: Some(Archive::Gzip),
        start: Start::EachReading,
        command: CommandRules {
            check: Check::Same { of: "command/cat {}".to_owned() },
            setup: Some("mkdir 'a b'".to_owned()),
            prepare: Some("touch {}\n".to_owned()),
            cleanup: None,
        },
        id,
    }
}

/// A gzip with known content.
fn target() -> TargetFacts {
    let answer = Answer { bytes: Some(70), ..Answer::default() };
    let decoded = Decoded { archive: Archive::Gzip, digest: "00ff".into(), answer };
    TargetFacts { size_bytes: 7, readers: Some(2), decoded: Some(decoded), ..TargetFacts::default() }
}

fn flame_graph(text: String) -> Line {
    Line::FlameGraph {
        trial: TrialIndex::new(0),
        graph: Box::new(FlameGraph {
            file: Some("flamegraphs/a b.svg".to_owned()),
            samples: 7,
            hottest: vec![HotSpot { name: text.clone(), share: 0.5 }],
            blind: vec![text],
            ..FlameGraph::default()
        }),
    }
}

fn left_behind(processes: u64) -> Line {
    Line::LeftBehind { trial: TrialIndex::new(0), left: LeftBehind { processes, readings: 1 } }
}

fn counts(how: String) -> Line {
    let counts = BTreeMap::from([("syscalls".to_owned(), Count { value: None, how })]);
    Line::Counts { trial: TrialIndex::new(0), counts }
}

/// Of two reads.
fn latencies() -> Line {
    let histogram = "HISTFAAAACh4nJNpmSzMwMDAxgABTFCakYGBoXvTyQIG+w8QgV4OpsesTAB7IQZ2";
    let histogram = histogram.to_owned().try_into().expect("a contender sent it");
    Line::Latencies { trial: TrialIndex::new(0), fill: 2, round: 4, histogram }
}

fn trace() -> Line {
    Line::Trace {
        trial: TrialIndex::new(0),
        trace: Box::new(Trace {
            calls: BTreeMap::from([("read".to_owned(), 3)]),
            latency_ns: Spread::from_numbers(vec![1, 2, u64::MAX]),
            major_faults: Some(0),
            ..Trace::default()
        }),
    }
}

/// The run was resumed.
pub(super) fn resumed(reopen: Vec<usize>) -> Line {
    Line::Resumed(Resumption {
        at: "2024-01-02T00:00:00Z".to_owned(),
        elapsed_ns: 1 << 53,
        state: CacheState::Warm,
        round: 5,
        reopen: reopen.into_iter().map(TrialIndex::new).collect(),
    })
}

fn own_scheduling() -> Line {
    let given = Scheduling { policy: Policy::Other, priority: 0, nice: 0, processors: vec![0, 1] };
    let ran = Scheduling { policy: Policy::Fifo, priority: 1, ..given.clone() };
    Line::Scheduling { trial: TrialIndex::new(0), scheduling: Box::new(OwnScheduling { ran, given }) }
}

fn limit(how: String) -> Line {
    Line::Limit(Box::new(Limit {
        kind: LimitKind::Device,
        name: "fio@buffer=128KiB,depth=16".to_owned(),
        target: 0,
        state: None,
        trial: None,
        threads: 1,
        unit: LimitUnit::BytesPerSecond,
        value: 1 << 53,
        ci95: Some([1, 2]),
        samples: vec![1, 2, 3],
        how,
    }))
}

/// A reading whose number is reported.
fn reported() -> Line {
    Line::Sample(Box::new(Sample {
        trial: TrialIndex::new(0),
        fill: 1,
        round: 2,
        position: 3,
        reading: 4,
        turn_readings: 5,
        wall_ns: 1 << 53,
        cpu_user_ns: Some(0),
        resident_before: Some(0.1),
        answer: Answer { newlines: Some(9), ..Answer::default() },
        ..Sample::default()
    }))
}

fn searched() -> Line {
    Line::Sample(Box::new(Sample {
        rung: Some(3),
        round: 3,
        turn_readings: 1,
        wall_ns: 1,
        ..Sample::default()
    }))
}

fn fleet() -> Line {
    Line::Fleet(Box::new(Fleet {
        library: "Open MPI".to_owned(),
        share: Share::Own,
        ranks: vec![Rank {
            digest: None,
            host: "h".to_owned(),
            path: "p".to_owned(),
            start_bytes: Some(4096),
            size_bytes: 7,
            cache: 0,
        }],
        witness: Some(Witness { host: "s".to_owned(), path: "/e/p".to_owned() }),
    }))
}

/// One line of every kind but the header, in the order of a run.
pub(super) fn every_line() -> Vec<Line> {
    let how = "counted".to_owned();
    let trial_0 = TrialIndex::new(0);
    let reason = || "a reason with \"quotes\" and \u{1b}".to_owned();
    let http = Http::Foreign {
        software: Some("s\u{1b}".to_owned()),
        etag: None,
        last_modified: Some("m".to_owned()),
    };
    let facts = TargetFacts { size_bytes: 7, kind: TargetKind::Url(http), ..TargetFacts::default() };
    vec![
        Line::Target { index: 0, facts: Box::new(target()) },
        Line::Target { index: 1, facts: Box::new(facts) },
        fleet(),
        Line::Clocks { round: 1, ranks: vec![RankClock { offset_ns: -5, bound_ns: 7, drift_ppm: 0.5 }] },
        Line::Contender(Receipt {
            contender: "rust".into(),
            version: "1".into(),
            runtime: "r".into(),
            language: None,
        }),
        Line::Trial(Box::new(trial())),
        Line::Warmup(WarmedUp { trial: trial_0, readings: 7, wall_ns: 7, end: WarmupEnd::NoSteadyState }),
        Line::Write {
            target: 0,
            how: WriteWay::Fdatasync,
            times: WriteTimes { write_ns: 5, sync_ns: Some(6) },
        },
        Line::Fill(Fill { fill: 2, target: 0, how: how.clone(), wall_ns: 3, resident_after: Some(1.0) }),
        reported(),
        searched(),
        Line::FleetTurn(Box::new(FleetTurn {
            trial: TrialIndex::new(0),
            round: 4,
            ranks: vec![RankTiming { rank: 0, started_ns: 3, late_ns: 2, wall_ns: 5, bound_ns: 1 }],
        })),
        Line::ReadersTurn(Box::new(ReadersTurn {
            trial: TrialIndex::new(0),
            round: 4,
            readers: vec![
                ReaderTiming { began_ns: 0, wall_ns: 5, answered_ns: 7 },
                ReaderTiming { began_ns: 2, wall_ns: 4, answered_ns: 6 },
            ],
        })),
        Line::Rejected { trial: TrialIndex::new(0), round: 4, reason: reason() },
        Line::Missing { trial: TrialIndex::new(0), meter: "minor_faults".to_owned(), reason: reason() },
        left_behind(2),
        left_behind(u64::MAX),
        own_scheduling(),
        counts(how),
        latencies(),
        flame_graph(reason()),
        trace(),
        resumed(vec![0]),
        Line::Stopped { trial: trial_0, stopped: Stopped { why: StopReason::NotFirst, rounds: 5 } },
        Line::Outcome { trial: TrialIndex::new(0), outcome: Outcome::Refused { reason: reason() } },
        limit(reason()),
        Line::Warning { text: reason() },
        Line::End { reason: EndReason::TargetChanged, wall_ns: 11 },
    ]
}

/// One more kind of line than those above does not compile here: it belongs there too.
const _: fn(&Line) = |line| match line {
    Line::Header(_) | Line::Target { .. } | Line::Contender(_) | Line::Trial(_) | Line::Fill(_) => {}
    Line::Warmup(_) | Line::Write { .. } | Line::Sample(_) | Line::Rejected { .. } | Line::Missing { .. } => {
    }
    Line::Fleet(_) | Line::Clocks { .. } | Line::FleetTurn(_) | Line::ReadersTurn(_) => {}
    Line::Counts { .. } | Line::Stopped { .. } | Line::Outcome { .. } | Line::Limit(_) => {}
    Line::Latencies { .. } => {}
    Line::FlameGraph { .. } | Line::Trace { .. } | Line::LeftBehind { .. } | Line::Scheduling { .. } => {}
    Line::Warning { .. } | Line::Resumed(_) | Line::End { .. } => {}
};
