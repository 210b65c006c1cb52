//! Counting in programs with a known number of calls; the tests compile the programs with `rustc`.

use super::*;
use readlab_system::preload::testing::{compile_program, compile_swift_program};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

#[test]
fn hooks_are_set_only_in_runtimes_that_work_with_them() {
    for (receipt, counting) in [
        ("Swift 6.0.3, -O", SwiftRetainCounting::Hooks),
        ("Swift version 5.10 (swift-5.10-RELEASE)", SwiftRetainCounting::Hooks),
        ("swiftlang 1, Swift version 6.2.1", SwiftRetainCounting::Hooks),
        ("Swift 6.3", SwiftRetainCounting::Symbols),
        ("swift 7", SwiftRetainCounting::Symbols),
        ("rustc 1.95.0, release", SwiftRetainCounting::Symbols),
        ("", SwiftRetainCounting::Symbols),
    ] {
        assert_eq!(SwiftRetainCounting::for_runtime(receipt), counting, "{receipt:?}");
    }
}

/// A running program that takes turns on command.
struct TurnTaker {
    child: Child,
    stdin: ChildStdin,
    answer: BufReader<ChildStdout>,
}

impl TurnTaker {
    fn start(program: &Path, counter: &mut CallCounter) -> TurnTaker {
        let mut command = Command::new(program);
        command.envs(counter.env()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdin = child.stdin.take().unwrap();
        let mut answer = BufReader::new(child.stdout.take().unwrap());
        answer.read_line(&mut String::new()).unwrap();
        counter.attach(child.id());
        TurnTaker { child, stdin, answer }
    }

    fn take_turns(&mut self, turns: u8) {
        for _ in 0..turns {
            self.stdin.write_all(b"\n").unwrap();
            self.answer.read_line(&mut String::new()).unwrap();
        }
    }
}

impl Drop for TurnTaker {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn count_turns(
    program: &Path,
    retain_counting: SwiftRetainCounting,
    turns: u8,
) -> BTreeMap<String, UntimedCount> {
    count_turns_with(CallCounter::prepare(retain_counting), program, turns)
}

fn count_turns_with(mut counter: CallCounter, program: &Path, turns: u8) -> BTreeMap<String, UntimedCount> {
    let mut process = TurnTaker::start(program, &mut counter);
    process.take_turns(2);
    counter.begin();
    process.take_turns(turns);
    counter.end()
}

fn count_value(counts: &BTreeMap<String, UntimedCount>, name: &str) -> u64 {
    counts[name].value.unwrap_or_else(|| panic!("{name}: {}", counts[name].how))
}

#[test]
fn allocations_and_system_calls_are_counted_to_the_last_one() {
    let folder = tempfile::tempdir().unwrap();
    let program = compile_program(folder.path(), "", &[]);
    let counts = count_turns(&program, SwiftRetainCounting::Symbols, 3);
    assert_eq!(count_value(&counts, "mallocs"), 3 * 3);
    assert!(!counts.contains_key("retains"), "no Swift, no count of it");
    if let Err(why) = can_count_syscalls() {
        assert_eq!(counts["syscalls"].value, None);
        return eprintln!("SKIPPED: {why}");
    }
    // Each turn makes five calls, writes the answer, and waits for the next turn.
    assert_eq!(count_value(&counts, "syscalls"), 3 * 7);
}

#[test]
fn threads_and_children_count() {
    let folder = tempfile::tempdir().unwrap();
    let uses = "std::process::Command::new(\"/bin/true\").status().unwrap();";
    let with_child = compile_program(folder.path(), uses, &[]);
    let counts = count_turns(&with_child, SwiftRetainCounting::Symbols, 1);
    assert!(count_value(&counts, "mallocs") > 3);
    let of_library = "the library's own calls in the child are not the contender's";
    assert_eq!(counts["syscalls"].value, None, "{of_library}");
    if let Err(why) = can_count_syscalls() {
        return eprintln!("SKIPPED: {why}");
    }
    let counts = count_turns_with(CallCounter::syscalls_only(), &with_child, 1);
    assert!(!counts.contains_key("mallocs"));
    assert!(count_value(&counts, "syscalls") > 7 + 10, "a program's start alone takes dozens");
    let threads = "std::thread::spawn(|| for _ in 0..100 { getppid(); }).join().unwrap();";
    let with_thread = compile_program(folder.path(), threads, &[]);
    assert!(count_value(&count_turns(&with_thread, SwiftRetainCounting::Symbols, 1), "syscalls") > 100 + 7);
}

#[test]
fn a_static_program_differs_from_one_that_allocates_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["-C", "target-feature=+crt-static"];
    let counts = count_turns(&compile_program(folder.path(), "", &flags), SwiftRetainCounting::Symbols, 1);
    assert_eq!(counts["mallocs"].value, None);
    assert!(counts["mallocs"].how.contains("statically"), "{}", counts["mallocs"].how);
}

#[test]
#[cfg(target_arch = "x86_64")]
fn swift_is_counted_at_its_symbols_or_in_its_hooks_and_how_names_the_method() {
    let folder = tempfile::tempdir().unwrap();
    let program = compile_swift_program(folder.path());
    let symbols = count_turns(&program, SwiftRetainCounting::Symbols, 2);
    assert_eq!((count_value(&symbols, "retains"), count_value(&symbols, "releases")), (2 * 2, 2));
    assert!(symbols["retains"].how.contains("public symbols"));
    let hooks = count_turns(&program, SwiftRetainCounting::Hooks, 2);
    assert_eq!((count_value(&hooks, "retains"), count_value(&hooks, "releases")), (2 * 3, 2 * 2));
    assert!(hooks["releases"].how.contains("hook"));
}

#[test]
fn counts_of_a_process_that_has_ended_are_missing_with_reasons() {
    let mut counter = CallCounter::prepare(SwiftRetainCounting::Symbols);
    counter.begin();
    let counts = counter.end();
    assert_eq!((counts["mallocs"].value, counts["syscalls"].value), (None, None));
    let mut gone = Command::new("true").spawn().unwrap();
    gone.wait().unwrap();
    counter.attach(gone.id());
    counter.begin();
    assert_eq!(counter.end()["syscalls"].value, None);
}

#[test]
fn the_difference_of_two_turns_holds_only_counts_that_both_have() {
    let count = |value: Option<u64>, how: &str| UntimedCount { value, how: how.to_owned() };
    let turn = |mallocs, syscalls| {
        Counts::from([("mallocs".to_owned(), mallocs), ("syscalls".to_owned(), syscalls)])
    };
    let two = turn(count(Some(9), "library"), count(Some(3), "tracepoint"));
    let one = turn(count(Some(5), "library"), count(None, "no rights"));
    let found = difference(two.clone(), &one);
    assert_eq!(found["mallocs"], count(Some(4), "library"));
    assert_eq!(found["syscalls"], count(None, "no rights"));
    assert_eq!(difference(one, &two)["mallocs"].value, None, "never less than nothing");
}
