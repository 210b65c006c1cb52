//! Calls with known answers, and real programs under the library.

use super::*;
use std::process::Command;
use tempfile::NamedTempFile;

fn read(thread: u64, offset: u64, got: i64) -> Call {
    let start_ns = thread + offset;
    Call { kind: Kind::Pread, thread, start_ns, wall_ns: 100 + offset, offset, requested_bytes: 8, got }
}

fn written(calls: &[Call]) -> Written {
    Written { processes: 1, made: calls.len() as u64, calls: calls.to_vec() }
}

#[test]
fn calls_that_are_not_whole_are_left_out() {
    let whole = [2, 77, 1000, 50, 4096, 8192, 4096, 0];
    let failed = [1, 77, 1000, 50, 4096, 8192, (-1_i64).cast_unsigned(), 0];
    let [mut half, mut unknown] = [whole, whole];
    (half[0], unknown[0]) = (0, 9);
    let words = [whole, half, unknown, failed].concat();
    let bytes: Vec<u8> = words.iter().flat_map(|word: &u64| word.to_ne_bytes()).collect();
    let pread = Call { start_ns: 1000, wall_ns: 50, requested_bytes: 8192, ..read(77, 4096, 4096) };
    assert_eq!(calls(&bytes), [pread, Call { kind: Kind::Read, got: -1, ..pread }]);
}

fn metered() -> Trace {
    Trace { wall_ns: 5000, minor_faults: Some(3), major_faults: Some(0), ..Trace::default() }
}

#[test]
fn calls_become_sizes_latencies_and_jumps() {
    // One thread reads in order, one leaves a hole and jumps back; the read at the end returns
    // nothing.
    let mut calls = vec![read(1, 0, 8), read(1, 8, 8), read(1, 16, 0), read(2, 100, 8), read(2, 116, 4)];
    calls.push(Call { start_ns: 9999, offset: 100, ..read(2, 120, 8) });
    let trace = trace(&written(&calls), metered());
    assert_eq!((trace.reason.as_ref(), trace.reads(), trace.threads, trace.bytes), (None, 6, 2, 36));
    assert_eq!((trace.sequential, &trace.ahead_bytes.buckets), (2, &vec![[8, 1]]));
    assert_eq!((trace.back_bytes.n, trace.back_bytes.most), (1, 20));
    assert_eq!(trace.sequential_share(), Some(0.5));
    assert_eq!(trace.requested_bytes.buckets, [[8, 6]]);
    assert_eq!((trace.empty(), &trace.got_bytes.buckets), (1, &vec![[0, 1], [4, 1], [8, 4]]));
    let brought = &trace.brought_bytes;
    assert_eq!((brought.n, brought.least, &brought.buckets), (5, 4, &vec![[4, 1], [8, 4]]));
    assert_eq!((trace.latency_ns.least, trace.latency_ns.most), (100, 220));
    assert_eq!(trace.calls, BTreeMap::from([("pread".to_owned(), 6)]));
}

#[test]
fn a_call_that_failed_brought_nothing_and_moved_nothing() {
    let calls = [read(1, 0, 8), read(1, 8, -1), Call { start_ns: 50, ..read(1, 8, 8) }];
    let trace = trace(&written(&calls), metered());
    assert_eq!((trace.bytes, trace.sequential, trace.ahead_bytes.n), (16, 2, 0));
}

#[test]
fn a_trace_without_reads_has_a_reason() {
    let map = Call { kind: Kind::Mmap, requested_bytes: 4096, ..read(1, 0, 0x7f00) };
    let reason = |written: &Written, metered| trace(written, metered).reason.unwrap();
    let mapped = "it makes no read calls: mmap of 4096 bytes; 3 minor and 0 major page faults brought them";
    assert_eq!(reason(&written(&[map]), metered()), mapped);
    assert!(reason(&written(&[map]), Trace::default()).contains("an unknown number of minor"));
    assert!(reason(&written(&[]), metered()).contains("io_uring"));
    assert!(reason(&Written::default(), metered()).contains("linked statically"));
    assert_eq!(trace(&written(&[map, read(1, 0, 8)]), metered()).reason, None, "it did both");
}

#[test]
fn more_calls_than_there_is_room_for_are_counted() {
    let written = Written { made: 10, ..written(&[read(1, 0, 8)]) };
    assert_eq!(trace(&written, metered()).unrecorded, 9);
}

/// A file of so many lines of seven bytes, and what traces its calls.
fn prepared(lines: usize) -> (NamedTempFile, Tracing) {
    let file = NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "a line\n".repeat(lines)).unwrap();
    let tracing = Tracing::prepare(file.path()).unwrap();
    (file, tracing)
}

/// What a program's calls on a file say.
fn traced(tracing: &Tracing, program: &str, args: &[&str], file: &Path) -> Trace {
    let output = Command::new(program).args(args).arg(file).envs(tracing.env()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    tracing.end(metered())
}

#[test]
fn what_was_called_before_the_reading_is_not_of_it_and_takes_no_room() {
    let (file, tracing) = prepared(1000);
    let reading = || traced(&tracing, "wc", &["-l"], file.path());
    let once = reading();
    assert_eq!(reading().bytes, 2 * once.bytes, "without a begin, the calls of both runs are there");
    tracing.begin().unwrap();
    let again = reading();
    assert_eq!((again.bytes, again.reads(), again.unrecorded), (7000, once.reads(), 0));
}

#[test]
fn a_program_that_reads_is_seen_with_its_sizes_and_other_files_are_not() {
    let (file, tracing) = prepared(14_286);
    let trace = traced(&tracing, "wc", &["-l"], file.path());
    assert_eq!((trace.reason.as_deref(), trace.bytes, trace.threads), (None, 100_002, 1), "{trace:?}");
    assert_eq!(trace.sequential_share(), Some(1.0), "{trace:?}");
    assert!(trace.calls["read"] >= 2 && trace.latency_ns.least > 0, "{trace:?}");
    assert_eq!(trace.got_bytes.least, 0, "the last call finds the end: {trace:?}");
}

#[test]
fn a_child_is_seen_too() {
    let (file, tracing) = prepared(14_286);
    let trace = traced(&tracing, "sh", &["-c", "wc -l < \"$0\" | cat"], file.path());
    assert_eq!((trace.reason.as_deref(), trace.bytes), (None, 100_002), "{trace:?}");
}

#[test]
fn a_program_without_the_library_has_that_reason() {
    let (file, tracing) = prepared(1);
    assert!(tracing.end(metered()).reason.unwrap().contains("not loaded"));
    assert!(Tracing::prepare(&file.path().join("gone")).unwrap_err().contains("gone"));
}
