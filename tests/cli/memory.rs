//! Tests with little memory: a control group with a quarter of the file's size, a contender that
//! the kernel kills, and the lab's own peak. Skipped with a message without these control groups.

use crate::control_group::ControlGroup;
use crate::fake::{at_second_turn, roster};
use crate::home::{EVERY_METHOD, Home, ProgramOutput, READLAB, Trials, Words};
use crate::machine::{or_skip, skip};
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Stdio};

/// Memory limit of the group. The file is four times as large.
const LIMIT_BYTES: u64 = 64 << 20;

/// Memory limit of the lab itself, whatever it measures. A quarter is the code of a program that is
/// not optimised.
const LAB_KIB_MAX: u64 = 45 << 10;

/// Memory that a larger file, or more samples, may add to that.
const GROWTH_KIB_MAX: u64 = 2 << 10;

/// The smallest possible pipe.
const PIPE_BYTES: usize = 4096;

/// A control group with little memory; `None` with a message if it cannot be made.
fn group_with_little_memory() -> Option<ControlGroup> {
    let places = [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")];
    let there = |(root, file): &&(&str, &str)| {
        let unified = fs::read_to_string(Path::new(root).join("cgroup.subtree_control"));
        Path::new(root).join(file).exists() || unified.is_ok_and(|it| it.contains("memory"))
    };
    let Some((root, file)) = places.iter().find(there) else {
        skip("no control group limits memory here");
        return None;
    };
    or_skip(ControlGroup::below(root.as_ref(), file, &LIMIT_BYTES.to_string()))
}

/// The peak memory of a process; `None` when it has ended.
fn peak_kib(child: &Child) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").parse().unwrap())
}

/// The lab's own peak memory up to its export, which does not fit so small a pipe and waits there
/// to be read.
fn peak_of_race(home: &Home, file: &str, words: &str) -> u64 {
    let mut command = home.command(READLAB);
    command.args(format!("race {file} --state warm --quiet --export-json - {words}").words());
    command.stdout(Stdio::piped());
    let mut race = command.spawn().unwrap();
    let mut export = race.stdout.take().unwrap();
    rustix::pipe::fcntl_setpipe_size(&export, PIPE_BYTES).unwrap();
    let (mut peak, mut piece) = (None, [0; PIPE_BYTES]);
    while export.read(&mut piece).unwrap() > 0 {
        peak = peak.max(peak_kib(&race));
    }
    assert!(race.wait().unwrap().success());
    peak.expect("it still ran when the first of its export was read")
}

mod ring2 {
    use super::*;

    #[test]
    fn with_a_quarter_of_the_memory_every_trial_is_right_or_has_a_reason() {
        let Some(group) = group_with_little_memory() else { return };
        let home = Home::new();
        let file = home.file("f", "a line of a file that does not fit the memory\n".repeat(1 << 10));
        fs::File::options().write(true).open(file).unwrap().set_len(4 * LIMIT_BYTES).unwrap();
        let words = format!("--runs 1 --fills 1 --work newlines {EVERY_METHOD} --quiet --export-json -");
        // A shell would expand the patterns of methods.
        let line = format!("{} && set -f && exec readlab race f {words}", group.enter());
        let json = ProgramOutput::by(&mut home.shell(line)).exits(1).json();
        let mut measured = 0;
        for trial in json.trials() {
            let [id, state, outcome, why] = ["id", "state", "outcome", "reason"].map(|field| &trial[field]);
            let what = format!("{id} {state}: {outcome} {why}");
            eprintln!("{what}");
            let reason = trial["reason"].as_str().unwrap_or_default();
            match trial["outcome"].as_str().unwrap() {
                "measured" => measured += u32::from(trial["state"] == "cold" && trial["cache"] != "none"),
                // The hole is one line, and a line must fit into memory.
                "failed" => assert!(trial["id"] == "rust/lines" && reason.contains("(OOM)"), "{what}"),
                _ => assert!(trial["outcome"] == "unavailable" && reason.len() > 10, "{what}"),
            }
            if trial["state"] == "warm" && trial["cache"] == "through" {
                assert!(reason.contains("cannot be warm"), "{what}");
            }
        }
        assert!(measured >= 8, "{measured} measured");
    }

    #[test]
    fn a_contender_that_is_killed_for_its_memory_fails_with_that_reason_and_alone() {
        let Some(group) = group_with_little_memory() else { return };
        let home = Home::with_file("f", "a\nb\n");
        // The program tail keeps bytes without a newline until it ends. It is alone in the group,
        // because a kernel that cannot free its memory in time would kill other processes of the
        // group.
        let greedy = at_second_turn(&format!("{} && exec tail /dev/zero", group.enter()));
        let roster = roster(&home, &[("greedy", greedy.as_str()), ("modest", "answer")]);
        let words = format!("--fills 1 --roster {roster} --state warm --method */read");
        let json = home.race_json("f", words).exits(1);
        for why in ["SIGKILL", "(OOM)"] {
            json.ended("greedy/read", "warm", "failed", why);
        }
        json.measured("modest/read", "warm");
    }

    #[test]
    fn the_lab_itself_stays_small_whatever_the_size_and_the_number_of_samples() {
        let home = Home::new();
        let huge = home.file("huge", "");
        fs::File::options().write(true).open(huge).unwrap().set_len(64 << 20).unwrap();
        home.file("small", "a\n".repeat(5_000));
        let methods = "--work newlines --method rust/mmap/memchr --method rust/read/memchr";
        let one_run = format!("--runs 1 --fills 1 {methods}");
        let least = peak_of_race(&home, "small", &one_run);
        let of_size = peak_of_race(&home, "huge", &one_run);
        let of_samples = peak_of_race(&home, "small", &format!("--runs 300 {methods}"));
        eprintln!(
            "peaks of the lab: {least} KiB, {of_size} with 64 MiB, {of_samples} with 300 readings of each trial"
        );
        for peak in [least, of_size, of_samples] {
            assert!(peak < LAB_KIB_MAX && peak < least + GROWTH_KIB_MAX, "{peak} KiB, {least} KiB");
        }
    }
}
