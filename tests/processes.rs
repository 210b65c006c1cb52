//! The processes of this machine, by /proc, and functions that wait for an expected event, however
//! long a busy machine takes.

use crate::home::{Home, READLAB, Words};
use crate::machine::{or_skip, skip};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A process that is killed when the value is dropped, if it has not ended before.
pub(crate) struct KilledOnDrop(pub(crate) Child);

impl KilledOnDrop {
    /// Starts a program that prints "ready"; `None` with a message if it does not.
    pub(crate) fn ready(command: &mut Command) -> Option<KilledOnDrop> {
        let started = command.stdout(Stdio::piped()).spawn();
        let started = or_skip(started.map_err(|error| format!("{command:?}: {error}")))?;
        let mut process = KilledOnDrop(started);
        let mut line = String::new();
        BufReader::new(process.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let is_ready = line == "ready\n";
        if !is_ready {
            skip(format!("{command:?} did not start"));
        }
        is_ready.then_some(process)
    }
}

impl Drop for KilledOnDrop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Number of steps to wait for an expected event. The wait is long, because machines may be busy.
const STEPS: u32 = 30_000;
const STEP: Duration = Duration::from_millis(10);

pub(crate) fn happens_in_time(mut happened: impl FnMut() -> bool) -> bool {
    (0..STEPS).any(|_| {
        let done = happened();
        if !done {
            std::thread::sleep(STEP);
        }
        done
    })
}

pub(crate) fn wait_for_a_sample(record: &Path) {
    let has_sample = || fs::read_to_string(record).is_ok_and(|text| text.contains("\"line\":\"sample\""));
    assert!(happens_in_time(has_sample), "no sample in {}", record.display());
}

fn process_ids() -> impl Iterator<Item = u32> {
    fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn parent_and_state(pid: u32) -> Option<(u32, char)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    let state = fields.next()?.chars().next()?;
    Some((fields.next()?.parse().ok()?, state))
}

/// The arguments of a process, each followed by a zero byte. Empty for a process that has ended.
pub(crate) fn command_line(pid: u32) -> Vec<u8> {
    fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default()
}

/// The processes with this command line.
pub(crate) fn processes_with_words(words: &[&str]) -> Vec<u32> {
    let line: Vec<u8> = words.iter().flat_map(|word| [word.as_bytes(), b"\0"].concat()).collect();
    process_ids().filter(|pid| command_line(*pid) == line).collect()
}

/// The processes of a home, by its path in their environment: labs, launchers, contenders and all
/// processes that they started.
pub(crate) fn processes_of_home(home: &Home) -> Vec<u32> {
    let path = home.at("").into_os_string().into_encoded_bytes();
    let path = path.strip_suffix(b"/").unwrap_or(&path);
    let has_path = |environment: Vec<u8>| environment.windows(path.len()).any(|at| at == path);
    // A process that has ended and was not reaped has no environment.
    process_ids().filter(|pid| fs::read(format!("/proc/{pid}/environ")).is_ok_and(has_path)).collect()
}

/// The descendants of a process, as soon as there are any. Between two turns there may be none.
pub(crate) fn descendants(of: u32) -> Vec<u32> {
    let mut found = Vec::new();
    let any = happens_in_time(|| {
        found = descendants_now(of);
        !found.is_empty()
    });
    assert!(any, "process {of} started nothing");
    found
}

fn descendants_now(of: u32) -> Vec<u32> {
    let all: Vec<(u32, u32)> =
        process_ids().filter_map(|pid| Some((pid, parent_and_state(pid)?.0))).collect();
    let mut found = vec![of];
    for at in 0.. {
        let Some(&parent) = found.get(at) else { break };
        found.extend(all.iter().filter(|(_, its)| *its == parent).map(|(pid, _)| *pid));
    }
    found.split_off(1)
}

#[track_caller]
pub(crate) fn assert_gone(pids: &[u32]) {
    let is_there = |pid: &u32| parent_and_state(*pid).is_some_and(|(_, state)| state != 'Z');
    assert!(happens_in_time(|| !pids.iter().any(is_there)), "processes were left: {pids:?}");
}

/// Asserts that these processes have ended, and that no temporary file is left.
#[track_caller]
pub(crate) fn assert_nothing_left(home: &Home, children: &[u32]) {
    assert_gone(children);
    home.assert_no_temporary_file();
}

#[track_caller]
pub(crate) fn assert_no_process(home: &Home) {
    assert!(happens_in_time(|| processes_of_home(home).is_empty()), "left: {:?}", processes_of_home(home));
}

pub(crate) fn send(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), signal).unwrap();
}

/// Starts a run on 5 MiB of lines into the folder `run`, and waits for its first sample.
pub(crate) fn start_until_sample(home: &Home, verb: &str, words: &str) -> Child {
    let file = home.file("f", "line\n".repeat(1 << 20));
    let mut command = home.command(READLAB);
    command.arg(verb).arg(file).args(format!("{words} --no-progress --output run").words());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    wait_for_a_sample(&home.at("run/record.jsonl"));
    child
}

/// Kills a lab, and waits until all its processes have ended.
#[track_caller]
pub(crate) fn kill(home: &Home, mut lab: Child) {
    lab.kill().unwrap();
    lab.wait().unwrap();
    assert_no_process(home);
}
