//! Counting in programs that do a known number of things, compiled here with the compiler that
//! builds the lab.

use super::*;
use readlab_system::preload::testing::{program, swift_program};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

#[test]
fn hooks_are_set_only_in_runtimes_that_work_with_them() {
    for (receipt, way) in [
        ("Swift 6.0.3, -O", ArcWay::Hooks),
        ("Swift version 5.10 (swift-5.10-RELEASE)", ArcWay::Hooks),
        ("swiftlang 1, Swift version 6.2.1", ArcWay::Hooks),
        ("Swift 6.3", ArcWay::Symbols),
        ("swift 7", ArcWay::Symbols),
        ("rustc 1.95.0, release", ArcWay::Symbols),
        ("", ArcWay::Symbols),
    ] {
        assert_eq!(ArcWay::for_runtime(receipt), way, "{receipt:?}");
    }
}

/// A running program that takes turns.
struct Turns {
    child: Child,
    ask: ChildStdin,
    answer: BufReader<ChildStdout>,
}

impl Turns {
    fn start(program: &Path, counting: &mut Counting) -> Turns {
        let mut command = Command::new(program);
        command.envs(counting.env()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let ask = child.stdin.take().unwrap();
        let mut answer = BufReader::new(child.stdout.take().unwrap());
        answer.read_line(&mut String::new()).unwrap();
        counting.attach(child.id());
        Turns { child, ask, answer }
    }

    fn take(&mut self, turns: u8) {
        for _ in 0..turns {
            self.ask.write_all(b"\n").unwrap();
            self.answer.read_line(&mut String::new()).unwrap();
        }
    }
}

impl Drop for Turns {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn counted(program: &Path, arc: ArcWay, turns: u8) -> BTreeMap<String, Count> {
    counted_by(Counting::prepare(arc), program, turns)
}

fn counted_by(mut counting: Counting, program: &Path, turns: u8) -> BTreeMap<String, Count> {
    let mut process = Turns::start(program, &mut counting);
    process.take(2);
    counting.begin();
    process.take(turns);
    counting.end()
}

fn value(counts: &BTreeMap<String, Count>, name: &str) -> u64 {
    counts[name].value.unwrap_or_else(|| panic!("{name}: {}", counts[name].how))
}

#[test]
fn allocations_and_system_calls_are_counted_to_the_last_one() {
    let folder = tempfile::tempdir().unwrap();
    let program = program(folder.path(), "", &[]);
    let counts = counted(&program, ArcWay::Symbols, 3);
    assert_eq!(value(&counts, "mallocs"), 3 * 3);
    assert!(!counts.contains_key("retains"), "no Swift, no count of it");
    if let Err(why) = can_count_syscalls() {
        assert_eq!(counts["syscalls"].value, None);
        return eprintln!("SKIPPED: {why}");
    }
    // Five, the answer, and the wait for the next turn.
    assert_eq!(value(&counts, "syscalls"), 3 * 7);
}

#[test]
fn threads_and_children_count() {
    let folder = tempfile::tempdir().unwrap();
    let uses = "std::process::Command::new(\"/bin/true\").status().unwrap();";
    let with_child = program(folder.path(), uses, &[]);
    let counts = counted(&with_child, ArcWay::Symbols, 1);
    assert!(value(&counts, "mallocs") > 3);
    let of_library = "the library's own calls in the child are not the contender's";
    assert_eq!(counts["syscalls"].value, None, "{of_library}");
    if let Err(why) = can_count_syscalls() {
        return eprintln!("SKIPPED: {why}");
    }
    let counts = counted_by(Counting::of_kernel(), &with_child, 1);
    assert!(!counts.contains_key("mallocs"));
    assert!(value(&counts, "syscalls") > 7 + 10, "a program's start alone takes dozens");
    let threads = "std::thread::spawn(|| for _ in 0..100 { getppid(); }).join().unwrap();";
    let with_thread = program(folder.path(), threads, &[]);
    assert!(value(&counted(&with_thread, ArcWay::Symbols, 1), "syscalls") > 100 + 7);
}

#[test]
fn a_static_program_differs_from_one_that_allocates_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["-C", "target-feature=+crt-static"];
    let counts = counted(&program(folder.path(), "", &flags), ArcWay::Symbols, 1);
    assert_eq!(counts["mallocs"].value, None);
    assert!(counts["mallocs"].how.contains("statically"), "{}", counts["mallocs"].how);
}

#[test]
#[cfg(target_arch = "x86_64")]
fn swift_is_counted_at_its_symbols_or_in_its_hooks_and_says_which() {
    let folder = tempfile::tempdir().unwrap();
    let program = swift_program(folder.path());
    let symbols = counted(&program, ArcWay::Symbols, 2);
    assert_eq!((value(&symbols, "retains"), value(&symbols, "releases")), (2 * 2, 2));
    assert!(symbols["retains"].how.contains("public symbols"));
    let hooks = counted(&program, ArcWay::Hooks, 2);
    assert_eq!((value(&hooks, "retains"), value(&hooks, "releases")), (2 * 3, 2 * 2));
    assert!(hooks["releases"].how.contains("hook"));
}

#[test]
fn a_process_that_has_ended_leaves_reasons() {
    let mut counting = Counting::prepare(ArcWay::Symbols);
    counting.begin();
    let counts = counting.end();
    assert_eq!((counts["mallocs"].value, counts["syscalls"].value), (None, None));
    let mut gone = Command::new("true").spawn().unwrap();
    gone.wait().unwrap();
    counting.attach(gone.id());
    counting.begin();
    assert_eq!(counting.end()["syscalls"].value, None);
}

#[test]
fn the_difference_of_two_turns_holds_what_both_have() {
    let count = |value: Option<u64>, how: &str| Count { value, how: how.to_owned() };
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
