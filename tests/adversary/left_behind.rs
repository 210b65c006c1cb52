//! Programs that stay: what outlives a reading, what outlives the lab, and what a contender does to its own scheduling.
//!
//! Every process of a test carries a word in its command line that no other process has, by which it is found in /proc. What
//! must happen is waited for; nothing depends on how long it takes.

use super::home::{Home, READLAB};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Until something that must happen has happened; long, as machines may be busy.
const STEPS: u32 = 6000;
const STEP: Duration = Duration::from_millis(10);

fn soon(mut happened: impl FnMut() -> bool) -> bool {
    (0..STEPS).any(|_| {
        let done = happened();
        if !done {
            std::thread::sleep(STEP);
        }
        done
    })
}

/// A number of seconds to sleep that nothing else on this machine sleeps: the mark of a test's processes.
fn mark() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{}.{:03}", 100_000 + std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// The processes that run `sleep MARK`.
fn sleepers(mark: &str) -> Vec<u32> {
    let words = format!("sleep\0{mark}\0");
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid: &u32| fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|it| it == words.as_bytes()))
        .collect()
}

/// The processes of a home, by its path in their environment: labs, launchers, contenders and whatever they started.
fn processes_of(home: &Home) -> Vec<u32> {
    let path = home.at("").into_os_string().into_encoded_bytes();
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid: &u32| {
        fs::read(format!("/proc/{pid}/environ")).is_ok_and(|it| it.windows(path.len()).any(|at| at == path))
    })
    .collect()
}

/// A race of one command that goes on.
fn long_race(home: &Home, command: &str) -> Child {
    let file = home.file("f", "line\n".repeat(1 << 10));
    let mut race = Command::new(READLAB);
    race.arg("race").arg(file).args([
        "--no-progress",
        "--method",
        "rust/read/scalar",
        "-c",
        command,
        "--state",
        "warm",
    ]);
    race.args(["--runs", "100000", "--budget", "900s", "--output", "run"]);
    race.envs(home.environment()).current_dir(home.at(""));
    race.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

fn assert_nobody_is_left(home: &Home, mark: &str) {
    assert!(soon(|| sleepers(mark).is_empty()), "left: {:?}", sleepers(mark));
    assert!(soon(|| processes_of(home).is_empty()), "left: {:?}", processes_of(home));
}

/// Ways to have `sleep MARK` run where nobody looks for it; the reading itself does not come to its end.
fn ways(mark: &str) -> Vec<(&'static str, String)> {
    let sleep = format!("sleep {mark}");
    vec![
        ("a grandchild", format!("{sleep}; wc -l {{}}")),
        ("a session of its own", format!("setsid {sleep} & wait; wc -l {{}}")),
        (
            "forked twice, the parents gone",
            format!(
                "(setsid sh -c '(setsid {sleep} </dev/null >/dev/null 2>&1 &)' &); sleep 1{mark}; wc -l {{}}"
            ),
        ),
        ("deaf to what can be ignored", format!("trap '' TERM HUP INT QUIT; setsid {sleep}; wc -l {{}}")),
        (
            "without the lab's environment",
            format!("env -i setsid {sleep} </dev/null >/dev/null 2>&1 & sleep 1{mark}; wc -l {{}}"),
        ),
    ]
}

#[test]
fn what_a_reading_started_does_not_outlive_a_lab_that_is_killed() {
    let mark = mark();
    for (what, command) in ways(&mark) {
        let home = Home::new();
        let mut race = long_race(&home, &command);
        assert!(soon(|| !sleepers(&mark).is_empty()), "{what}: it was never started");
        send(&race, Signal::KILL);
        race.wait().unwrap();
        assert_nobody_is_left(&home, &mark);
        assert!(soon(|| sleepers(&format!("1{mark}")).is_empty()), "{what}");
    }
}

#[test]
fn what_a_reading_started_is_gone_before_a_lab_that_is_stopped() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let (home, mark) = (Home::new(), mark());
        let mut race = long_race(&home, &format!("setsid sleep {mark} & wait; wc -l {{}}"));
        assert!(soon(|| !sleepers(&mark).is_empty()), "it was never started");
        send(&race, signal);
        assert_eq!(race.wait().unwrap().code(), Some(130));
        // The lab itself waited for it.
        assert!(sleepers(&mark).is_empty() && processes_of(&home).is_empty(), "{:?}", processes_of(&home));
    }
}

#[test]
fn a_lab_without_time_for_its_own_end_leaves_nobody() {
    let (home, mark) = (Home::new(), mark());
    let mut race = long_race(&home, &format!("setsid sleep {mark} & wait; wc -l {{}}"));
    assert!(soon(|| !sleepers(&mark).is_empty()), "it was never started");
    // Both are there when it wakes up: the second ends it at once.
    for signal in [Signal::STOP, Signal::INT, Signal::TERM, Signal::CONT] {
        send(&race, signal);
    }
    assert_eq!(race.wait().unwrap().code(), Some(130));
    assert_nobody_is_left(&home, &mark);
}
