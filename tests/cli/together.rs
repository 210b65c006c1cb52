//! Tests of two labs at once: each reports the other, and a data folder that both use stays
//! consistent.

use super::interrupt::{send, wait_for_a_sample};
use super::{Home, READLAB};
use readlab_record::Record;
use rustix::process::Signal;
use std::fs::File;
use std::process::{Child, Command, Stdio};

const ONLY: [&str; 5] = ["--method", "rust/read/scalar", "--state", "warm", "--no-progress"];

fn race(home: &Home, words: &[&str]) -> Child {
    let mut command = Command::new(READLAB);
    command.arg("race").arg(home.at("f")).args(ONLY).args(words).envs(home.environment());
    command.current_dir(home.at("")).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

#[test]
fn each_of_two_labs_reports_that_the_numbers_of_both_are_distorted() {
    let home = Home::new();
    home.file("f", "line\n".repeat(1 << 16));
    let first = race(&home, &["--runs", "100000", "--budget", "100s", "--output", "first"]);
    let first_record = home.at("first/record.jsonl");
    wait_for_a_sample(&first_record);
    let second = race(&home, &["--runs", "20", "--output", "second"]);
    let (first_pid, second_pid) = (first.id(), second.id());
    let second = second.wait_with_output().unwrap();
    assert_eq!(second.status.code(), Some(0), "{second:?}");
    send(&first, Signal::INT);
    let first = first.wait_with_output().unwrap();
    for (output, other, record) in
        [(&second, first_pid, home.at("second/record.jsonl")), (&first, second_pid, first_record)]
    {
        let told = format!("another readlab (process {other}) measured on this machine at the same time");
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(err.matches(&told).count(), 1, "said once, at once: {err}");
        assert!(out.contains(&told), "and in the table: {out}");
        let record = Record::read(&record).unwrap();
        assert_eq!(
            record.warnings.iter().filter(|it| it.contains(&told)).count(),
            1,
            "{:?}",
            record.warnings
        );
    }
    // Somebody's lock on the shared folder is no lab.
    let shared = File::open(std::env::temp_dir()).unwrap();
    shared.lock_shared().unwrap();
    let alone = race(&home, &["--runs", "3", "--output", "alone"]).wait_with_output().unwrap();
    assert!(alone.stderr.is_empty(), "{}", String::from_utf8_lossy(&alone.stderr));
}

#[test]
fn a_data_folder_of_several_labs_at_once_loses_nothing() {
    let home = Home::new();
    home.file("f", "a\nb\n");
    let labs: Vec<Child> = (0..4).map(|_| race(&home, &["--runs", "3"])).collect();
    for lab in labs {
        assert_eq!(lab.wait_with_output().unwrap().status.code(), Some(0));
    }
    let last = race(&home, &["--runs", "4"]).wait_with_output().unwrap();
    assert_eq!(last.status.code(), Some(0));
    let runs = home.runs();
    assert_eq!(runs.len(), 5, "each has a folder of its own: {runs:?}");
    for run in &runs {
        assert!(Record::read(&run.join("record.jsonl")).unwrap().end.is_some(), "{}", run.display());
    }
    let said = home.readlab(["history", "show", "last"]);
    assert!(said.code == Some(0), "{said}");
    let newest =
        runs.iter().max_by_key(|run| Record::read(&run.join("record.jsonl")).unwrap().header.started);
    assert!(said.out.contains(newest.unwrap().to_str().unwrap()), "{said}");
}
