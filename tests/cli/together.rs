//! Tests of two labs at once: each reports the other, and a data folder that both use stays
//! consistent.

use crate::home::{Home, ProgramOutput, READLAB, Words};
use crate::processes::{send, wait_for_a_sample};
use rustix::process::Signal;
use std::fs::File;
use std::process::{Child, Stdio};

/// Starts a race that a test waits for.
fn race(home: &Home, words: &str) -> Child {
    let only = "race f --method rust/read/scalar --state warm --no-progress";
    let mut command = home.command(READLAB);
    command.args(format!("{only} {words}").words());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn wait_for_output(lab: Child) -> ProgramOutput {
    lab.wait_with_output().unwrap().into()
}

#[test]
fn each_of_two_labs_reports_that_the_numbers_of_both_are_distorted() {
    let home = Home::with_file("f", "line\n".repeat(1 << 16));
    let first = race(&home, "--runs 100000 --budget 100s --output first");
    wait_for_a_sample(&home.at("first/record.jsonl"));
    let second = race(&home, "--runs 20 --output second");
    let (first_pid, second_pid) = (first.id(), second.id());
    let second = wait_for_output(second).exits(0);
    send(first_pid, Signal::INT);
    let first = wait_for_output(first);
    for (said, other, run) in [(second, first_pid, "second"), (first, second_pid, "first")] {
        let told = format!("another readlab (process {other}) measured on this machine at the same time");
        assert_eq!(said.err.matches(&told).count(), 1, "said once, at once: {said}");
        // The table contains the warning, too.
        said.shows(&told);
        let warnings = home.record(run).warnings;
        assert_eq!(warnings.iter().filter(|it| it.contains(&told)).count(), 1, "{warnings:?}");
    }
    // A lock of another process on the shared folder is no lab.
    let shared = File::open(std::env::temp_dir()).unwrap();
    shared.lock_shared().unwrap();
    let alone = wait_for_output(race(&home, "--runs 3 --output alone"));
    assert_eq!(alone.err, "");
}

#[test]
fn a_data_folder_of_several_labs_at_once_loses_nothing() {
    let home = Home::with_file("f", "a\nb\n");
    let labs: Vec<Child> = (0..4).map(|_| race(&home, "--runs 3")).collect();
    for lab in labs {
        wait_for_output(lab).exits(0);
    }
    wait_for_output(race(&home, "--runs 4")).exits(0);
    let runs = home.runs();
    assert_eq!(runs.len(), 5, "each has a folder of its own: {runs:?}");
    for run in &runs {
        assert!(home.record(run).end.is_some(), "{}", run.display());
    }
    let newest = runs.iter().max_by_key(|run| home.record(run).header.started).unwrap();
    home.readlab("history show last").exits(0).shows(newest.to_str().unwrap());
}
