//! Readings from a server: what they wait for, its first byte, one connection or it as a whole; and
//! those that this machine's processors stop.

use super::*;
use readlab_model::sample::{RequestMeters, TurnSeen};
use readlab_model::target::{Http, TargetKind};
use readlab_model::trial::TrialIndex;

fn of_server(http: Http) -> Record {
    let mut record = record(None);
    record.targets[0].kind = TargetKind::Url(http);
    record
}

/// Adds a trial over a server, whose first byte comes after this long.
fn requested(record: &mut Record, name: &str, wall_ms: u64, first_byte_ms: Option<u64>) -> usize {
    let index = record.trials.len();
    record.add(testing::trial(index, name, CacheState::Unknown, Cache::Through));
    for round in 0..12 {
        let first_byte_ns = first_byte_ms.map(|ms| ms * 1_000_000);
        record.add(Line::Sample(Box::new(Sample {
            trial: TrialIndex::new(index),
            round,
            wall_ns: wall_ms * 1_000_000 + u64::from(round) * 1_000,
            cpu_user_ns: Some(wall_ms * 100_000),
            cpu_system_ns: Some(wall_ms * 100_000),
            request: RequestMeters { first_byte_ns, ..RequestMeters::default() },
            ..Sample::default()
        })));
    }
    testing::outcome(record, index, Outcome::Measured);
    index
}

fn waits_for(record: &Record, trial: usize) -> (ServerWait, String) {
    let judged = verdict_on(record, trial);
    let Verdict::Server { wait } = judged.verdict.clone() else { panic!("{judged:?}") };
    (wait, judged.stops_at())
}

#[test]
fn who_waits_for_a_server_is_stopped_by_the_server_in_every_state() {
    let foreign = Http::Foreign { software: None, etag: None, last_modified: None };
    for (http, state, wait) in [
        (Http::Own, CacheState::Cold, ServerWait::Server),
        (Http::Own, CacheState::Warm, ServerWait::Server),
        (foreign, CacheState::Unknown, ServerWait::ServerOrNetwork),
    ] {
        let (word, server) = match wait {
            ServerWait::ServerOrNetwork => ("server or network", "the server or the network before it"),
            _ => ("server", "the server;"),
        };
        let mut record = of_server(http);
        let waits = add(&mut record, "rust/http", state, Cache::Through, cpu(100, 20, 20));
        let works = add(&mut record, "rust/http/scalar", state, Cache::Through, cpu(100, 80, 10));
        let judged = verdict_on(&record, waits);
        assert_eq!((&judged.verdict, judged.stops_at().as_str()), (&Verdict::Server { wait }, word));
        assert!(judged.sentence.starts_with(&format!("stopped by waiting for {server}")));
        assert!(judged.sentence.contains("; of its time 60 % waiting"));
        assert!(matches!(verdict_on(&record, works).verdict, Verdict::Processing { .. }));
    }
}

#[test]
fn a_first_byte_that_takes_most_of_the_time_is_what_stops() {
    let mut record = of_server(Http::Own);
    let late = requested(&mut record, "rust/http", 100, Some(60));
    let soon = requested(&mut record, "rust/http/scalar", 100, Some(40));
    let unknown = requested(&mut record, "rust/http/iterator", 100, None);
    let (wait, word) = waits_for(&record, late);
    assert!(matches!(wait, ServerWait::FirstByte { share } if (share - 0.6).abs() < 0.01), "{wait:?}");
    assert_eq!(word, "first byte 60 %");
    assert_eq!(waits_for(&record, soon).0, ServerWait::Server);
    assert_eq!(waits_for(&record, unknown).0, ServerWait::Server);
}

#[test]
fn one_connection_stops_where_several_are_faster() {
    let mut record = of_server(Http::Own);
    let one = requested(&mut record, "rust/http", 400, Some(1));
    let four = requested(&mut record, "rust/http-ranged@concurrency=4", 110, Some(1));
    let eight = requested(&mut record, "rust/http-ranged@concurrency=8", 110, Some(1));
    let (wait, word) = waits_for(&record, one);
    let ServerWait::Connection { connections: 1, remedy } = wait else { panic!("{wait:?}") };
    assert!(remedy.name.starts_with("rust/http-ranged") && remedy.times > 3.0, "{remedy:?}");
    assert_eq!(word, "one connection, 3.6× by more");
    // More connections than four bring nothing.
    for trial in [four, eight] {
        assert_eq!(waits_for(&record, trial).0, ServerWait::Server);
    }
}

#[test]
fn a_rate_near_that_of_the_interface_is_stopped_by_the_link() {
    let mut record = of_server(Http::Foreign { software: None, etag: None, last_modified: None });
    let size_bytes = record.targets[0].size_bytes;
    let near = requested(&mut record, "rust/http", 100, Some(1));
    let far = requested(&mut record, "rust/http/scalar", 200, Some(1));
    // Nine tenths of it are read in 100 ms.
    let value = size_bytes * 10 * 10 / 9;
    record.add(Line::Limit(Box::new(Limit {
        kind: LimitKind::Link,
        name: "eth0".to_owned(),
        target: 0,
        state: None,
        trial: None,
        threads: 1,
        unit: LimitUnit::BytesPerSecond,
        value,
        ci95: None,
        samples: vec![value],
        how: String::new(),
    })));
    let (wait, word) = waits_for(&record, near);
    assert_eq!((wait, word.as_str()), (ServerWait::Link, "link 90 %"));
    assert!(verdict_on(&record, near).sentence.contains("that eth0 showed"));
    assert_eq!(waits_for(&record, far).0, ServerWait::ServerOrNetwork);
}

/// Adds a reading of 100 ms over a server that is so busy, and waits so long for a processor.
fn busy(record: &mut Record, name: &str, [user_ms, system_ms, delayed_ms]: [u64; 3]) -> usize {
    let index = record.trials.len();
    record.add(testing::trial(index, name, CacheState::Unknown, Cache::Through));
    for round in 0..5 {
        record.add(Line::Sample(Box::new(Sample {
            trial: TrialIndex::new(index),
            round,
            wall_ns: 100_000_000,
            cpu_user_ns: Some(user_ms * 1_000_000),
            cpu_system_ns: Some(system_ms * 1_000_000),
            // A turn of a reading and as much that is not timed.
            turn: TurnSeen {
                wall_ns: Some(200_000_000),
                delayed_ns: Some(delayed_ms * 2_000_000),
                ..TurnSeen::default()
            },
            ..Sample::default()
        })));
    }
    testing::outcome(record, index, Outcome::Measured);
    index
}

#[test]
fn who_has_or_wants_a_processor_nearly_all_the_time_is_stopped_by_the_processors() {
    let mut record = of_server(Http::Own);
    let works = busy(&mut record, "rust/http", [30, 60, 0]);
    let queues = busy(&mut record, "rust/http/scalar", [10, 15, 65]);
    let half = busy(&mut record, "rust/http/iterator", [30, 40, 0]);
    let waits = busy(&mut record, "rust/http/loop", [10, 15, 5]);
    for trial in [works, queues] {
        let judged = verdict_on(&record, trial);
        assert!(matches!(judged.verdict, Verdict::Processors { quota: None, .. }), "{judged:?}");
        assert_eq!(judged.stops_at(), "processors 90 %");
    }
    assert!(verdict_on(&record, queues).sentence.contains("65 % waiting for a processor"));
    assert!(matches!(verdict_on(&record, half).verdict, Verdict::Mixed { .. }));
    assert_eq!(waits_for(&record, waits).0, ServerWait::Server);
}

#[test]
fn who_uses_all_of_a_quota_is_stopped_by_it_whether_its_wait_was_counted_or_not() {
    let mut record = of_server(Http::Own);
    record.header.machine.cpu_quota = Some(0.25);
    let command = busy(&mut record, "command/curl", [10, 15, 0]);
    let idle = busy(&mut record, "command/wget", [5, 5, 0]);
    let judged = verdict_on(&record, command);
    let verdict = Verdict::Processors { share: 1.0, quota: Some(0.25) };
    assert_eq!((&judged.verdict, judged.stops_at().as_str()), (&verdict, "processors 100 %"));
    assert!(judged.sentence.contains("a quota of 0.25;"), "{}", judged.sentence);
    assert_eq!(waits_for(&record, idle).0, ServerWait::Server);
}
