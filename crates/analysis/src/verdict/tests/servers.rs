//! Readings from a server: whether the first byte, one connection or the whole server limits them,
//! and readings that are limited by this machine's processors.

use super::causes::io_quota;
use super::*;
use readlab_model::sample::{RequestMeters, TurnSeen};
use readlab_model::target::{Http, TargetKind};

fn server_record(http: Http) -> Record {
    let mut record = record(None);
    record.targets[TargetIndex::new(0)].kind = TargetKind::Url(http);
    record
}

/// Adds a trial that reads from a server, with the first byte after this time.
fn add_server_trial(record: &mut Record, name: &str, wall_ms: u64, first_byte_ms: Option<u64>) -> usize {
    let first_byte_ns = first_byte_ms.map(|ms| ms * NS_PER_MS);
    let request = RequestMeters { first_byte_ns, ..RequestMeters::default() };
    let reading = |round: u64| Sample {
        wall_ns: wall_ms * NS_PER_MS + round * 1_000,
        cpu_user_ns: Some(wall_ms * NS_PER_MS / 10),
        cpu_system_ns: Some(wall_ms * NS_PER_MS / 10),
        request,
        ..Sample::default()
    };
    testing::add_trial(record, name, CacheState::Unknown, Cache::Through, (0..12).map(reading))
}

#[test]
fn a_reading_that_waits_for_a_server_is_limited_by_the_server_in_every_state() {
    let foreign = Http::Foreign { software: None, etag: None, last_modified: None };
    let (own, network) = ("server; of its time", "server or the network before it");
    for (http, state, right, server) in [
        (Http::Own, CacheState::Cold, "server", own),
        (Http::Own, CacheState::Warm, "server", own),
        (foreign, CacheState::Unknown, "server or network", network),
    ] {
        let mut record = server_record(http);
        let waits = add(&mut record, "rust/http", state, Cache::Through, sample_of_ms(100, 20, 20));
        let works = add(&mut record, "rust/http/scalar", state, Cache::Through, sample_of_ms(100, 80, 10));
        assert_verdict(&record, waits, right, &format!("stopped by waiting for the {server}"));
        assert_verdict(&record, waits, right, "; of its time 60 % waiting");
        assert!(matches!(verdict_on(&record, works).verdict, Verdict::Processing { .. }));
    }
}

#[test]
fn an_io_quota_below_readlabs_own_server_is_not_called_the_server() {
    let foreign = Http::Foreign { software: None, etag: None, last_modified: None };
    let plain = || Some(Extents { count: 1, ..Extents::default() });
    let (of_bytes, of_reads) = (io_quota(Some(50_000_000), None), io_quota(None, Some(500)));
    for (http, state, extents, quota, right) in [
        (Http::Own, CacheState::Cold, plain(), &of_bytes, "I/O quota 100 %"),
        (Http::Own, CacheState::Cold, plain(), &of_reads, "I/O quota"),
        // Warm, no byte comes from the device.
        (Http::Own, CacheState::Warm, plain(), &of_bytes, "server"),
        (Http::Own, CacheState::Warm, plain(), &of_reads, "server"),
        // It is not known how many bytes come from the device.
        (Http::Own, CacheState::Cold, None, &of_bytes, "server"),
        (foreign, CacheState::Unknown, plain(), &of_bytes, "server or network"),
    ] {
        let mut record = server_record(http);
        let target = &mut record.targets[TargetIndex::new(0)];
        (target.extents, target.io_quotas) = (extents, vec![quota.clone()]);
        // No meter counts what the server's process reads.
        let reading = Sample { device_read_bytes: None, ..sample_of_ms(20_000, 300, 500) };
        let read = add(&mut record, "rust/http", state, Cache::Through, reading);
        let judged = verdict_on(&record, read);
        assert_eq!(judged.short_cause(), right, "{state}, {quota:?}: {judged:?}");
        if right == "I/O quota 100 %" {
            assert_sentence(
                &judged,
                "a quota of its control group, 50.0 MB/s is all of the 50.0 MB/s of vda",
            );
        }
    }
}

#[test]
fn the_least_rate_of_the_device_below_readlabs_own_server_is_not_called_its_rate() {
    let mut record = server_record(Http::Own);
    let encoded_bytes = FILE_BYTES / 10 * 6;
    let extents = Extents { count: 8, encoded_bytes, ..Extents::default() };
    record.targets[TargetIndex::new(0)].extents = Some(extents);
    let reading = Sample { device_read_bytes: None, ..sample_of_ms(20_000, 300, 15_000) };
    let read = add(&mut record, "rust/http", CacheState::Cold, Cache::Through, reading);
    let judged = verdict_on(&record, read);
    assert_eq!(judged.short_cause(), "decoding", "{judged:?}");
    assert_sentence(&judged, "the device gives at a rate that is not known");
}

#[test]
fn a_first_byte_that_takes_most_of_the_time_limits_the_reading() {
    let mut record = server_record(Http::Own);
    let late = add_server_trial(&mut record, "rust/http", 100, Some(60));
    let soon = add_server_trial(&mut record, "rust/http/scalar", 100, Some(40));
    let unknown = add_server_trial(&mut record, "rust/http/iterator", 100, None);
    assert_verdict(&record, late, "first byte 60 %", "which takes 60 % of the time");
    assert_eq!([soon, unknown].map(|trial| short_cause(&record, trial)), ["server", "server"]);
}

#[test]
fn a_single_connection_is_the_limit_if_several_are_faster() {
    let mut record = server_record(Http::Own);
    let one = add_server_trial(&mut record, "rust/http", 400, Some(1));
    let four = add_server_trial(&mut record, "rust/http-ranged@concurrency=4", 110, Some(1));
    let eight = add_server_trial(&mut record, "rust/http-ranged@concurrency=8", 110, Some(1));
    assert_verdict(
        &record,
        one,
        "one connection, 3.6× by more",
        "one connection brings; with more, rust/http-ranged@",
    );
    // More than four connections are not faster.
    assert_eq!([four, eight].map(|trial| short_cause(&record, trial)), ["server", "server"]);
}

#[test]
fn a_rate_near_that_of_the_interface_is_limited_by_the_link() {
    let mut record = server_record(Http::Foreign { software: None, etag: None, last_modified: None });
    let size_bytes = record.targets[TargetIndex::new(0)].size_bytes;
    let near = add_server_trial(&mut record, "rust/http", 100, Some(1));
    let far = add_server_trial(&mut record, "rust/http/scalar", 200, Some(1));
    // The reading reaches nine tenths of the link's rate.
    record.add(limit_line(LimitKind::Link, "eth0", size_bytes * 10 * 10 / 9));
    assert_verdict(&record, near, "link 90 %", "that eth0 showed");
    assert_eq!(short_cause(&record, far), "server or network");
}

/// Adds a reading of 100 ms from a server, with these CPU times and this wait for a processor.
fn add_busy(record: &mut Record, name: &str, [user_ms, system_ms, delayed_ms]: [u64; 3]) -> usize {
    // The turn takes twice as long as the reading, because of work that is not timed.
    let (wall_ns, delayed_ns) = (Some(200 * NS_PER_MS), Some(delayed_ms * 2 * NS_PER_MS));
    let turn = TurnSeen { wall_ns, delayed_ns, ..TurnSeen::default() };
    let reading = Sample { turn, ..sample_of_ms(100, user_ms, system_ms) };
    add(record, name, CacheState::Unknown, Cache::Through, reading)
}

#[test]
fn a_reading_that_runs_or_waits_for_a_processor_nearly_all_the_time_is_limited_by_processors() {
    let mut record = server_record(Http::Own);
    let works = add_busy(&mut record, "rust/http", [30, 60, 0]);
    let queues = add_busy(&mut record, "rust/http/scalar", [10, 15, 65]);
    let half = add_busy(&mut record, "rust/http/iterator", [30, 40, 0]);
    let waits = add_busy(&mut record, "rust/http/loop", [10, 15, 5]);
    assert_verdict(&record, works, "processors 90 %", "it is at 90 % of what it gets of them;");
    assert_verdict(&record, queues, "processors 90 %", "65 % waiting for a processor");
    assert!(matches!(verdict_on(&record, half).verdict, Verdict::Mixed { .. }));
    assert_eq!(short_cause(&record, waits), "server");
}

#[test]
fn a_command_on_a_busy_machine_whose_waits_were_not_counted_is_not_said_to_wait_for_the_server() {
    for (pressure_ms, delayed_ns, right) in
        [(180, None, "unknown"), (20, None, "server"), (180, Some(0), "server")]
    {
        let mut record = server_record(Http::Own);
        let (wall_ns, cpu_pressure_ns) = (Some(200 * NS_PER_MS), Some(pressure_ms * NS_PER_MS));
        let turn = TurnSeen { wall_ns, delayed_ns, cpu_pressure_ns, ..TurnSeen::default() };
        let reading = Sample { turn, ..sample_of_ms(100, 10, 15) };
        let command = add(&mut record, "command/curl", CacheState::Unknown, Cache::Through, reading);
        assert_eq!(short_cause(&record, command), right, "{pressure_ms} ms, {delayed_ns:?}");
    }
}

#[test]
fn a_reading_that_uses_a_whole_quota_is_limited_by_it_even_if_its_wait_was_not_counted() {
    let mut record = server_record(Http::Own);
    record.header.machine.cpu_quota = Some(0.25);
    let command = add_busy(&mut record, "command/curl", [10, 15, 0]);
    let idle = add_busy(&mut record, "command/wget", [5, 5, 0]);
    assert_verdict(&record, command, "processors 100 %", "a quota of 0.25;");
    assert_eq!(short_cause(&record, idle), "server");
}
