//! Calls with known answers, and real programs under the library.

use super::*;
use std::process::Command;

fn read(thread: u64, offset: u64, got: i64) -> Call {
    let start_ns = thread + offset;
    Call { kind: Kind::Pread, thread, start_ns, wall_ns: 100 + offset, offset, requested_bytes: 8, got }
}

fn written(calls: &[Call]) -> Written {
    Written { processes: 1, made: calls.len() as u64, calls: calls.to_vec() }
}

const METERED: MeteredReading =
    MeteredReading { wall_ns: 5000, minor_faults: Some(3), major_faults: Some(0) };

#[test]
fn calls_become_sizes_latencies_and_jumps() {
    // One thread reads in order, one leaves a hole and jumps back; the read at the end returns
    // nothing.
    let mut calls = vec![read(1, 0, 8), read(1, 8, 8), read(1, 16, 0), read(2, 100, 8), read(2, 116, 4)];
    calls.push(Call { start_ns: 9999, offset: 100, ..read(2, 120, 8) });
    let trace = trace(&written(&calls), METERED);
    assert_eq!((trace.reason.as_ref(), trace.reads(), trace.threads, trace.bytes), (None, 6, 2, 36));
    assert_eq!((trace.sequential, &trace.ahead_bytes.buckets), (2, &vec![[8, 1]]));
    assert_eq!((trace.back_bytes.n, trace.back_bytes.most), (1, 20));
    assert_eq!(trace.sequential_share(), Some(0.5));
    assert_eq!(trace.requested_bytes.buckets, [[8, 6]]);
    assert_eq!((trace.empty(), &trace.got_bytes.buckets), (1, &vec![[0, 1], [4, 1], [8, 4]]));
    let brought = trace.brought();
    assert_eq!((brought.n, brought.least, &brought.buckets), (5, 4, &vec![[4, 1], [8, 4]]));
    let older = Trace { brought_bytes: None, ..trace.clone() }.brought();
    assert_eq!((older.n, older.p50, older.least, older.buckets), (5, 8, 4, brought.buckets));
    assert_eq!((trace.latency_ns.least, trace.latency_ns.most), (100, 220));
    assert_eq!(trace.calls, BTreeMap::from([("pread".to_owned(), 6)]));
}

#[test]
fn a_call_that_failed_brought_nothing_and_moved_nothing() {
    let calls = [read(1, 0, 8), read(1, 8, -1), Call { start_ns: 50, ..read(1, 8, 8) }];
    let trace = trace(&written(&calls), METERED);
    assert_eq!((trace.bytes, trace.sequential, trace.ahead_bytes.n), (16, 2, 0));
}

#[test]
fn a_trace_without_reads_has_a_reason() {
    let map = Call { kind: Kind::Mmap, requested_bytes: 4096, ..read(1, 0, 0x7f00) };
    let reason = |written: &Written, metered| trace(written, metered).reason.unwrap();
    let mapped = reason(&written(&[map]), METERED);
    let reason_of_maps =
        "it makes no read calls: mmap of 4096 bytes; 3 minor and 0 major page faults brought them";
    assert_eq!(mapped, reason_of_maps);
    assert!(reason(&written(&[map]), MeteredReading::default()).contains("an unknown number of minor"));
    assert!(reason(&written(&[]), METERED).contains("io_uring"));
    assert!(reason(&Written::default(), METERED).contains("linked statically"));
    assert_eq!(trace(&written(&[map, read(1, 0, 8)]), METERED).reason, None, "it did both");
}

#[test]
fn more_calls_than_there_is_room_for_are_counted() {
    let written = Written { made: 10, ..written(&[read(1, 0, 8)]) };
    assert_eq!(trace(&written, METERED).unrecorded, 9);
}

#[test]
fn what_was_called_before_the_reading_is_not_of_it_and_takes_no_room() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("f");
    std::fs::write(&file, "a line\n".repeat(1000)).unwrap();
    let tracing = Tracing::prepare(&file).unwrap();
    let reading = || {
        let output = Command::new("wc").arg("-l").arg(&file).envs(tracing.env()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        tracing.end(METERED)
    };
    let once = reading();
    assert_eq!(reading().bytes, 2 * once.bytes, "without a begin, the calls of both runs are there");
    tracing.begin().unwrap();
    let again = reading();
    assert_eq!((again.bytes, again.reads(), again.unrecorded), (7000, once.reads(), 0));
}

/// What a program's calls on a file of 100,002 bytes say.
fn traced(program: &str, args: &[&str]) -> Trace {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("f");
    std::fs::write(&file, "a line\n".repeat(14_286)).unwrap();
    let tracing = Tracing::prepare(&file).unwrap();
    tracing.begin().unwrap();
    let output = Command::new(program).args(args).arg(&file).envs(tracing.env()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    tracing.end(METERED)
}

#[test]
fn a_program_that_reads_is_seen_with_its_sizes_and_other_files_are_not() {
    let trace = traced("wc", &["-l"]);
    assert_eq!((trace.reason.as_deref(), trace.bytes, trace.threads), (None, 100_002, 1), "{trace:?}");
    assert_eq!(trace.sequential_share(), Some(1.0), "{trace:?}");
    assert!(trace.calls["read"] >= 2 && trace.latency_ns.least > 0, "{trace:?}");
    assert_eq!(trace.got_bytes.least, 0, "the last call finds the end: {trace:?}");
}

#[test]
fn a_child_is_seen_too() {
    let trace = traced("sh", &["-c", "wc -l < \"$0\" | cat"]);
    assert_eq!((trace.reason.as_deref(), trace.bytes), (None, 100_002), "{trace:?}");
}

#[test]
fn a_program_without_the_library_has_that_reason() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("f");
    std::fs::write(&file, "x").unwrap();
    let tracing = Tracing::prepare(&file).unwrap();
    assert!(tracing.end(METERED).reason.unwrap().contains("not loaded"));
    assert!(Tracing::prepare(&folder.path().join("gone")).unwrap_err().contains("gone"));
}
