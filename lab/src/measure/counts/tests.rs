//! Counting in programs that do a known number of things, compiled here with the compiler that
//! builds the lab.

use super::*;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Says it is ready; then, for every line, allocates three times and frees, makes five system
/// calls, runs USE, and answers.
const PROGRAM: &str = r#"
unsafe extern "C" {
    fn malloc(n: usize) -> *mut u8; fn calloc(n: usize, m: usize) -> *mut u8; fn free(p: *mut u8);
    fn realloc(p: *mut u8, n: usize) -> *mut u8; fn getppid() -> i32;
    fn read(fd: i32, p: *mut u8, n: usize) -> isize; fn write(fd: i32, p: *const u8, n: usize) -> isize;
    SWIFT
}
fn main() { unsafe {
    let mut c = 0u8;
    write(1, b"\n".as_ptr(), 1);
    while read(0, &mut c, 1) == 1 {
        // Without the black boxes the compiler takes the allocations away.
        let (a, b) = std::hint::black_box((malloc(10), calloc(2, 10)));
        free(std::hint::black_box(realloc(a, 100))); free(b);
        for _ in 0..5 { getppid(); }
        USE
        write(1, b"\n".as_ptr(), 1);
    }
} }
"#;

/// Replaces Swift's runtime: public symbols that go through hook variables when the switch is
/// on, and call themselves from within.
const FAKE_SWIFT: &str = r#"
#![allow(non_upper_case_globals, static_mut_refs)]
type F = unsafe extern "C" fn(*mut u8) -> *mut u8;
type N = unsafe extern "C" fn(*mut u8, u32) -> *mut u8;
unsafe extern "C" fn plain(p: *mut u8) -> *mut u8 { p }
unsafe extern "C" fn plain_n(p: *mut u8, _: u32) -> *mut u8 { p }
#[unsafe(no_mangle)] pub static mut _swift_retain: F = plain;
#[unsafe(no_mangle)] pub static mut _swift_release: F = plain;
#[unsafe(no_mangle)] pub static mut _swift_retain_n: N = plain_n;
#[unsafe(no_mangle)] pub static mut _swift_release_n: N = plain_n;
#[unsafe(no_mangle)]
pub static mut _swift_enableSwizzlingOfAllocationAndRefCountingFunctions_forInstrumentsOnly: bool = false;
unsafe fn on() -> bool { unsafe {
    std::ptr::read_volatile(&raw const _swift_enableSwizzlingOfAllocationAndRefCountingFunctions_forInstrumentsOnly)
} }
#[unsafe(no_mangle)] pub unsafe extern "C" fn swift_retain(p: *mut u8) -> *mut u8 {
    unsafe { if on() { _swift_retain(p) } else { p } } }
#[unsafe(no_mangle)] pub unsafe extern "C" fn swift_release(p: *mut u8) -> *mut u8 {
    unsafe { if on() { _swift_release(p) } else { p } } }
#[unsafe(no_mangle)] pub unsafe extern "C" fn swift_retain_n(p: *mut u8, n: u32) -> *mut u8 {
    unsafe { if on() { _swift_retain_n(p, n) } else { p } } }
#[unsafe(no_mangle)] pub unsafe extern "C" fn swift_release_n(p: *mut u8, n: u32) -> *mut u8 {
    unsafe { if on() { _swift_release_n(p, n) } else { p } } }
#[unsafe(no_mangle)] pub unsafe extern "C" fn fake_runtime_works(p: *mut u8) {
    unsafe { if on() { _swift_retain(p); _swift_release(p); } } }
"#;

fn compile(folder: &Path, name: &str, source: &str, flags: &[&str]) -> PathBuf {
    let (file, out) = (folder.join(format!("{name}.rs")), folder.join(name));
    std::fs::write(&file, source).unwrap();
    let mut rustc = Command::new("rustc");
    rustc.args(["--edition", "2024", "-O", "-A", "warnings"]).args(flags).arg("-L").arg(folder);
    let output = rustc.arg("-o").arg(&out).arg(&file).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    out
}

fn program(folder: &Path, uses: &str, flags: &[&str]) -> PathBuf {
    compile(folder, "program", &PROGRAM.replace("SWIFT", "").replace("USE", uses), flags)
}

/// A program with Swift in it: two retains (one of them by n) and one release a turn from outside,
/// and one of each within the runtime.
fn swift_program(folder: &Path) -> PathBuf {
    compile(folder, "libfakeswift.so", FAKE_SWIFT, &["--crate-type", "cdylib", "--crate-name", "fakeswift"]);
    let functions = "fn swift_retain(p: *mut u8) -> *mut u8; fn swift_release(p: *mut u8); \
        fn swift_retain_n(p: *mut u8, n: u32) -> *mut u8; fn fake_runtime_works(p: *mut u8);";
    let uses = "let o = &mut c as *mut u8; assert_eq!(swift_retain(o), o); assert_eq!(swift_retain_n(o, 7), o); \
        swift_release(o); fake_runtime_works(o);";
    let source = PROGRAM.replace("SWIFT", functions).replace("USE", uses);
    let rpath = format!("link-arg=-Wl,-rpath,{}", folder.display());
    compile(folder, "program", &source, &["-l", "dylib=fakeswift", "-C", &rpath])
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
        eprintln!("SKIPPED: {why}");
        assert_eq!(counts["syscalls"].value, None);
        return;
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
    assert_eq!(
        counts["syscalls"].value, None,
        "the library's own calls in the child are not the contender's"
    );
    if let Err(why) = can_count_syscalls() {
        eprintln!("SKIPPED: {why}");
        return;
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
    assert_eq!(counts["mallocs"].value, None);
    assert_eq!(counts["syscalls"].value, None);
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
        BTreeMap::from([("mallocs".to_owned(), mallocs), ("syscalls".to_owned(), syscalls)])
    };
    let two = turn(count(Some(9), "library"), count(Some(3), "tracepoint"));
    let one = turn(count(Some(5), "library"), count(None, "no rights"));
    let found = difference(two.clone(), &one);
    assert_eq!(found["mallocs"], count(Some(4), "library"));
    assert_eq!(found["syscalls"], count(None, "no rights"));
    assert_eq!(difference(one, &two)["mallocs"].value, None, "never less than nothing");
}
