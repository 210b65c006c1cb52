//! Calls with known statistics, and real programs under the library.

use super::*;
use std::process::Command;
use tempfile::NamedTempFile;

fn read_call(thread: u64, offset: u64, got: i64) -> TracedCall {
    let start_ns = thread + offset;
    TracedCall {
        kind: CallKind::Pread,
        thread,
        start_ns,
        wall_ns: 100 + offset,
        offset,
        requested_bytes: 8,
        return_value: got,
    }
}

fn recorded_calls(calls: &[TracedCall]) -> RecordedCalls {
    RecordedCalls { program_count: 1, made_count: calls.len() as u64, calls: calls.to_vec() }
}

#[test]
fn incomplete_calls_are_left_out() {
    let whole = [2, 77, 1000, 50, 4096, 8192, 4096, 0];
    let failed = [1, 77, 1000, 50, 4096, 8192, (-1_i64).cast_unsigned(), 0];
    let [mut half, mut unknown] = [whole, whole];
    (half[0], unknown[0]) = (0, 9);
    let words = [whole, half, unknown, failed].concat();
    let bytes: Vec<u8> = words.iter().flat_map(|word: &u64| word.to_ne_bytes()).collect();
    let pread =
        TracedCall { start_ns: 1000, wall_ns: 50, requested_bytes: 8192, ..read_call(77, 4096, 4096) };
    assert_eq!(parse_calls(&bytes), [pread, TracedCall { kind: CallKind::Read, return_value: -1, ..pread }]);
}

fn metered_trace() -> Trace {
    Trace { wall_ns: 5000, minor_faults: Some(3), major_faults: Some(0), ..Trace::default() }
}

#[test]
fn calls_become_sizes_latencies_and_jumps() {
    // Thread 1 reads in order; its last read, at the end of the file, returns nothing. Thread 2
    // skips a hole and jumps back.
    let mut calls = vec![
        read_call(1, 0, 8),
        read_call(1, 8, 8),
        read_call(1, 16, 0),
        read_call(2, 100, 8),
        read_call(2, 116, 4),
    ];
    calls.push(TracedCall { start_ns: 9999, offset: 100, ..read_call(2, 120, 8) });
    let trace = trace_from_calls(&recorded_calls(&calls), metered_trace());
    assert_eq!(
        (trace.reason.as_ref(), trace.read_call_count(), trace.threads, trace.bytes),
        (None, 6, 2, 36)
    );
    assert_eq!((trace.sequential_calls, &trace.ahead_bytes.buckets), (2, &vec![[8, 1]]));
    assert_eq!((trace.back_bytes.n, trace.back_bytes.most), (1, 20));
    assert_eq!(trace.sequential_share(), Some(0.5));
    assert_eq!(trace.requested_bytes.buckets, [[8, 6]]);
    assert_eq!((trace.empty_read_count(), &trace.returned_bytes.buckets), (1, &vec![[0, 1], [4, 1], [8, 4]]));
    let brought = &trace.nonempty_returned_bytes;
    assert_eq!((brought.n, brought.least, &brought.buckets), (5, 4, &vec![[4, 1], [8, 4]]));
    assert_eq!((trace.latency_ns.least, trace.latency_ns.most), (100, 220));
    assert_eq!(trace.call_counts, BTreeMap::from([("pread".to_owned(), 6)]));
}

#[test]
fn a_failed_call_brings_no_bytes_and_moves_no_offset() {
    let calls = [read_call(1, 0, 8), read_call(1, 8, -1), TracedCall { start_ns: 50, ..read_call(1, 8, 8) }];
    let trace = trace_from_calls(&recorded_calls(&calls), metered_trace());
    assert_eq!((trace.bytes, trace.sequential_calls, trace.ahead_bytes.n), (16, 2, 0));
}

#[test]
fn a_trace_without_reads_has_a_reason() {
    let map = TracedCall { kind: CallKind::Mmap, requested_bytes: 4096, ..read_call(1, 0, 0x7f00) };
    let reason = |written: &RecordedCalls, metered| trace_from_calls(written, metered).reason.unwrap();
    let mapped = "it makes no read calls: mmap of 4096 bytes; 3 minor and 0 major page faults brought them";
    assert_eq!(reason(&recorded_calls(&[map]), metered_trace()), mapped);
    assert!(reason(&recorded_calls(&[map]), Trace::default()).contains("an unknown number of minor"));
    assert!(reason(&recorded_calls(&[]), metered_trace()).contains("io_uring"));
    assert!(reason(&RecordedCalls::default(), metered_trace()).contains("linked statically"));
    assert_eq!(
        trace_from_calls(&recorded_calls(&[map, read_call(1, 0, 8)]), metered_trace()).reason,
        None,
        "it did both"
    );
}

#[test]
fn more_calls_than_there_is_room_for_are_counted() {
    let written = RecordedCalls { made_count: 10, ..recorded_calls(&[read_call(1, 0, 8)]) };
    assert_eq!(trace_from_calls(&written, metered_trace()).unrecorded, 9);
}

/// A file of `lines` lines of seven bytes, and the tracing of its calls.
fn prepare_tracing(lines: usize) -> (NamedTempFile, Tracing) {
    let file = NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "a line\n".repeat(lines)).unwrap();
    let tracing = Tracing::prepare(file.path()).unwrap();
    (file, tracing)
}

fn trace_program(tracing: &Tracing, program: &str, args: &[&str], file: &Path) -> Trace {
    let output = Command::new(program).args(args).arg(file).envs(tracing.env()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    tracing.end(metered_trace())
}

#[test]
fn calls_before_the_reading_are_discarded_and_take_no_room() {
    let (file, tracing) = prepare_tracing(1000);
    let reading = || trace_program(&tracing, "wc", &["-l"], file.path());
    let once = reading();
    assert_eq!(reading().bytes, 2 * once.bytes, "without a begin, the calls of both runs are there");
    tracing.begin().unwrap();
    let again = reading();
    assert_eq!((again.bytes, again.read_call_count(), again.unrecorded), (7000, once.read_call_count(), 0));
}

#[test]
fn reads_of_the_traced_file_are_seen_with_their_sizes_and_reads_of_other_files_are_not() {
    let (file, tracing) = prepare_tracing(14_286);
    let trace = trace_program(&tracing, "wc", &["-l"], file.path());
    assert_eq!((trace.reason.as_deref(), trace.bytes, trace.threads), (None, 100_002, 1), "{trace:?}");
    assert_eq!(trace.sequential_share(), Some(1.0), "{trace:?}");
    assert!(trace.call_counts["read"] >= 2 && trace.latency_ns.least > 0, "{trace:?}");
    assert_eq!(trace.returned_bytes.least, 0, "the last call finds the end: {trace:?}");
}

#[test]
fn calls_of_a_child_are_seen_too() {
    let (file, tracing) = prepare_tracing(14_286);
    let trace = trace_program(&tracing, "sh", &["-c", "wc -l < \"$0\" | cat"], file.path());
    assert_eq!((trace.reason.as_deref(), trace.bytes), (None, 100_002), "{trace:?}");
}

#[test]
fn the_trace_of_a_program_without_the_library_gives_that_reason() {
    let (file, tracing) = prepare_tracing(1);
    assert!(tracing.end(metered_trace()).reason.unwrap().contains("not loaded"));
    assert!(Tracing::prepare(&file.path().join("gone")).unwrap_err().contains("gone"));
}
