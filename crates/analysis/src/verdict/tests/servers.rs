//! Readings from a server: what they wait for, its first byte, one connection or it as a whole; and
//! those that this machine's processors stop.

use super::*;
use readlab_model::sample::{RequestMeters, TurnSeen};
use readlab_model::target::{Http, TargetKind};

fn of_server(http: Http) -> Record {
    let mut record = record(None);
    record.targets[0].kind = TargetKind::Url(http);
    record
}

/// Adds a trial over a server, whose first byte comes after this long.
fn requested(record: &mut Record, name: &str, wall_ms: u64, first_byte_ms: Option<u64>) -> usize {
    let first_byte_ns = first_byte_ms.map(|ms| ms * MS);
    let request = RequestMeters { first_byte_ns, ..RequestMeters::default() };
    let reading = |round: u64| Sample {
        wall_ns: wall_ms * MS + round * 1_000,
        cpu_user_ns: Some(wall_ms * MS / 10),
        cpu_system_ns: Some(wall_ms * MS / 10),
        request,
        ..Sample::default()
    };
    add_rounds(record, name, CacheState::Unknown, Cache::Through, (0..12).map(reading))
}

#[test]
fn who_waits_for_a_server_is_stopped_by_the_server_in_every_state() {
    let foreign = Http::Foreign { software: None, etag: None, last_modified: None };
    let (own, network) = ("server; of its time", "server or the network before it");
    for (http, state, right, server) in [
        (Http::Own, CacheState::Cold, "server", own),
        (Http::Own, CacheState::Warm, "server", own),
        (foreign, CacheState::Unknown, "server or network", network),
    ] {
        let mut record = of_server(http);
        let waits = add(&mut record, "rust/http", state, Cache::Through, cpu(100, 20, 20));
        let works = add(&mut record, "rust/http/scalar", state, Cache::Through, cpu(100, 80, 10));
        told(&record, waits, right, &format!("stopped by waiting for the {server}"));
        told(&record, waits, right, "; of its time 60 % waiting");
        assert!(matches!(verdict_on(&record, works).verdict, Verdict::Processing { .. }));
    }
}

#[test]
fn a_first_byte_that_takes_most_of_the_time_is_what_stops() {
    let mut record = of_server(Http::Own);
    let late = requested(&mut record, "rust/http", 100, Some(60));
    let soon = requested(&mut record, "rust/http/scalar", 100, Some(40));
    let unknown = requested(&mut record, "rust/http/iterator", 100, None);
    told(&record, late, "first byte 60 %", "which takes 60 % of the time");
    assert_eq!([soon, unknown].map(|trial| stops_at(&record, trial)), ["server", "server"]);
}

#[test]
fn one_connection_stops_where_several_are_faster() {
    let mut record = of_server(Http::Own);
    let one = requested(&mut record, "rust/http", 400, Some(1));
    let four = requested(&mut record, "rust/http-ranged@concurrency=4", 110, Some(1));
    let eight = requested(&mut record, "rust/http-ranged@concurrency=8", 110, Some(1));
    told(&record, one, "one connection, 3.6× by more", "one connection brings; with more, rust/http-ranged@");
    // More connections than four bring nothing.
    assert_eq!([four, eight].map(|trial| stops_at(&record, trial)), ["server", "server"]);
}

#[test]
fn a_rate_near_that_of_the_interface_is_stopped_by_the_link() {
    let mut record = of_server(Http::Foreign { software: None, etag: None, last_modified: None });
    let size_bytes = record.targets[0].size_bytes;
    let near = requested(&mut record, "rust/http", 100, Some(1));
    let far = requested(&mut record, "rust/http/scalar", 200, Some(1));
    // Nine tenths of it are read in 100 ms.
    record.add(limit(LimitKind::Link, "eth0", size_bytes * 10 * 10 / 9));
    told(&record, near, "link 90 %", "that eth0 showed");
    assert_eq!(stops_at(&record, far), "server or network");
}

/// Adds a reading of 100 ms over a server that is so busy, and waits so long for a processor.
fn busy(record: &mut Record, name: &str, [user_ms, system_ms, delayed_ms]: [u64; 3]) -> usize {
    // A turn of a reading and as much that is not timed.
    let (wall_ns, delayed_ns) = (Some(200 * MS), Some(delayed_ms * 2 * MS));
    let turn = TurnSeen { wall_ns, delayed_ns, ..TurnSeen::default() };
    let reading = Sample { turn, ..cpu(100, user_ms, system_ms) };
    add(record, name, CacheState::Unknown, Cache::Through, reading)
}

#[test]
fn who_has_or_wants_a_processor_nearly_all_the_time_is_stopped_by_the_processors() {
    let mut record = of_server(Http::Own);
    let works = busy(&mut record, "rust/http", [30, 60, 0]);
    let queues = busy(&mut record, "rust/http/scalar", [10, 15, 65]);
    let half = busy(&mut record, "rust/http/iterator", [30, 40, 0]);
    let waits = busy(&mut record, "rust/http/loop", [10, 15, 5]);
    told(&record, works, "processors 90 %", "it is at 90 % of what it gets of them;");
    told(&record, queues, "processors 90 %", "65 % waiting for a processor");
    assert!(matches!(verdict_on(&record, half).verdict, Verdict::Mixed { .. }));
    assert_eq!(stops_at(&record, waits), "server");
}

#[test]
fn who_uses_all_of_a_quota_is_stopped_by_it_whether_its_wait_was_counted_or_not() {
    let mut record = of_server(Http::Own);
    record.header.machine.cpu_quota = Some(0.25);
    let command = busy(&mut record, "command/curl", [10, 15, 0]);
    let idle = busy(&mut record, "command/wget", [5, 5, 0]);
    told(&record, command, "processors 100 %", "a quota of 0.25;");
    assert_eq!(stops_at(&record, idle), "server");
}
