//! Tests of Ctrl-C during a race: children gone, temporary files gone, the record kept and
//! readable, exit 130.

use super::fake::{Fake, roster};
use super::{Home, READLAB};
use readlab_record::{EndReason, Record};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Until something that must happen has happened; long, as machines may be busy.
const STEPS: u32 = 15_000;
const STEP: Duration = Duration::from_millis(20);

/// Until a race has its first sample.
pub(super) fn wait_for_a_sample(record: &Path) {
    let has_sample = || fs::read_to_string(record).is_ok_and(|text| text.contains("\"line\":\"sample\""));
    assert!(soon(has_sample), "no sample in {}", record.display());
}

pub(super) fn soon(mut happened: impl FnMut() -> bool) -> bool {
    (0..STEPS).any(|_| {
        let done = happened();
        if !done {
            std::thread::sleep(STEP);
        }
        done
    })
}

/// Process id, parent and state of every process.
fn processes() -> Vec<(u32, u32, char)> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        let Some((_, rest)) = stat.rsplit_once(") ") else { continue };
        let mut fields = rest.split(' ');
        let state = fields.next().and_then(|state| state.chars().next()).unwrap_or('?');
        let parent = fields.next().and_then(|parent| parent.parse().ok()).unwrap_or(0);
        found.push((pid, parent, state));
    }
    found
}

/// The children of a process and theirs, as soon as there are any: between two turns there may be none.
pub(super) fn descendants(of: u32) -> Vec<u32> {
    let mut found = Vec::new();
    let any = soon(|| {
        found = descendants_now(of);
        !found.is_empty()
    });
    assert!(any, "process {of} started nothing");
    found
}

fn descendants_now(of: u32) -> Vec<u32> {
    let (all, mut found) = (processes(), vec![of]);
    for at in 0.. {
        let Some(&parent) = found.get(at) else { break };
        found.extend(all.iter().filter(|(_, its, _)| *its == parent).map(|(pid, ..)| *pid));
    }
    found.split_off(1)
}

fn are_gone(pids: &[u32]) -> bool {
    soon(|| !processes().iter().any(|(pid, _, state)| pids.contains(pid) && *state != 'Z'))
}

/// A long race, with a sample in its record.
fn long_race(home: &Home) -> Child {
    let methods = ["--method", "rust/read/*", "--method", "rust/io_uring/memchr", "-c", "wc -l {}"];
    let race = [&["--runs", "100000", "--budget", "300s"], &methods[..]].concat();
    long_run(home, "race", &race)
}

/// A running race with a sample in its record.
pub(super) fn long_run(home: &Home, verb: &str, words: &[&str]) -> Child {
    let file = home.file("f", "line\n".repeat(1 << 20));
    let mut command = Command::new(READLAB);
    command.arg(verb).arg(&file).args(["--no-progress", "--output", "run"]).args(words);
    command.envs(home.environment()).current_dir(home.at(""));
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_a_sample(&home.at("run/record.jsonl"));
    child
}

pub(super) fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

pub(super) fn assert_nothing_left(home: &Home, children: &[u32]) {
    assert!(are_gone(children), "children were left: {children:?}");
    let left: Vec<_> = fs::read_dir(home.temporary()).unwrap().collect();
    assert!(left.is_empty(), "temporary files were left: {left:?}");
}

#[test]
fn ctrl_c_ends_the_race_and_keeps_what_was_measured() {
    let home = Home::new();
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let race = long_race(&home);
        let children = descendants(race.id());
        send(&race, signal);
        let output = race.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{output:?}");
        assert_nothing_left(&home, &children);
        let record = Record::read(&home.at("run/record.jsonl")).unwrap();
        assert!(matches!(record.end, Some((EndReason::Interrupted, _))), "{:?}", record.end);
        assert!(record.trials.iter().any(|trial| !trial.samples.is_empty()));
        let table = String::from_utf8(output.stdout).unwrap();
        assert!(table.contains("record: "), "what was measured is shown: {table}");
        fs::remove_dir_all(home.at("run")).unwrap();
    }
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let home = Home::new();
    let race = long_race(&home);
    let children = descendants(race.id());
    // Both are there when it wakes up: it has no time to end in its own way.
    for signal in [Signal::STOP, Signal::INT, Signal::TERM, Signal::CONT] {
        send(&race, signal);
    }
    let output = race.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    assert_nothing_left(&home, &children);
    let record = Record::read(&home.at("run/record.jsonl")).unwrap();
    assert!(record.end.is_none() && output.stdout.is_empty(), "it ended in its own way: {:?}", record.end);
    assert!(record.trials.iter().any(|trial| !trial.samples.is_empty()));
}

#[test]
fn a_lab_that_is_killed_takes_its_children_with_it() {
    let home = Home::new();
    let race = long_race(&home);
    let children = descendants(race.id());
    send(&race, Signal::KILL);
    race.wait_with_output().unwrap();
    assert!(are_gone(&children), "children were left: {children:?}");
    let record = Record::read(&home.at("run/record.jsonl")).unwrap();
    assert!(record.end.is_none() && record.trials.iter().any(|trial| !trial.samples.is_empty()));
}

#[test]
fn even_a_contender_that_does_not_listen_dies_with_a_lab_that_is_killed() {
    let home = Home::new();
    let file = home.file("f", "a\n");
    let roster = roster(&home, &[Fake { name: "deaf", turn: "exec sleep 600" }]);
    let mut command = Command::new(READLAB);
    command.arg("race").arg(&file).args(["--no-progress", "--roster", &roster, "--method", "deaf/read"]);
    let mut race =
        command.envs(home.environment()).stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    let sleeps =
        |pid: &u32| fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|comm| comm == "sleep\n");
    assert!(soon(|| descendants_now(race.id()).iter().any(sleeps)), "it never took its turn");
    let children = descendants(race.id());
    send(&race, Signal::KILL);
    race.wait().unwrap();
    assert!(are_gone(&children), "children were left: {children:?}");
}

mod ring2 {
    use super::*;

    #[test]
    fn ctrl_c_ends_a_search_and_keeps_what_was_read() {
        let home = Home::new();
        let search = long_run(&home, "tune", &["--budget", "300s"]);
        let children = descendants(search.id());
        send(&search, Signal::INT);
        let output = search.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{output:?}");
        assert!(are_gone(&children), "children were left: {children:?}");
        let record = Record::read(&home.at("run/record.jsonl")).unwrap();
        assert!(matches!(record.end, Some((EndReason::Interrupted, _))), "{:?}", record.end);
        assert!(record.trials.iter().any(|trial| !trial.searched.is_empty()));
    }
}
