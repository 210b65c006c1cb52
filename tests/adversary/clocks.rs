//! Tests of contenders with false time, CPU time, memory or work, each beside an honest method of
//! the same program. Also tests of contenders that read in a process below their own, behind a
//! shell, and of a race of honest trials on an overloaded machine.

use crate::fake::entry;
use crate::home::{EVERY_METHOD, Export, Home, READLAB, Trials, items};
use crate::machine::{processors, skip, succeeds_or_skip};
use crate::processes::KilledOnDrop;
use crate::repository;
use readlab_record::PROGRAM_FILES_BYTES_MAX;
use serde_json::Value;
use std::process::{Command, Stdio};

/// Busy loops that end with the test, this number for each processor.
fn busy_loops(each: usize) -> Vec<KilledOnDrop> {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "while :; do :; done"]).stdin(Stdio::null());
    (0..each * processors()).map(|_| KilledOnDrop(shell.spawn().unwrap())).collect()
}

/// A home with a file of this number of MiB and the roster of the lying contender, which needs
/// Python.
fn home_with_lying_contender(mib: usize) -> Option<Home> {
    if !succeeds_or_skip("python3 -V") {
        return None;
    }
    let home = home_with_file(mib);
    let liar = repository::path("tests/adversary/clocks.py");
    home.file("liar.toml", entry("liar", &["python3", "-S", liar.to_str().unwrap()]));
    Some(home)
}

fn home_with_file(mib: usize) -> Home {
    Home::with_file("f.txt", "some words on a line, as in any text\n".repeat(mib * (1 << 20) / 37))
}

/// A race of these lying methods beside an honest method and a method of Rust, in one state or in
/// both. The honest methods must be measured.
fn race(home: &Home, states: &[&str], liars: &[&str]) -> Export {
    let state = if let [only] = *states { only } else { "both" };
    let liars: String = liars.iter().map(|liar| format!(" --method liar/{liar}")).collect();
    let words = format!("--roster liar.toml --state {state} --method rust/read/memchr --method liar/honest");
    let run = home.race_json("f.txt", words + &liars);
    for state in states {
        for id in ["liar/honest", "rust/read/memchr"] {
            run.measured(id, state);
        }
    }
    run
}

#[test]
fn a_contender_that_leaves_time_out_of_its_windows_is_refused() {
    let Some(home) = home_with_lying_contender(8) else { return };
    let liars = ["half_time", "reads_first", "sleeps_outside", "computes_outside"];
    let states = ["cold", "warm"];
    let run = race(&home, &states, &liars);
    for state in states {
        for liar in liars {
            let refused = run.ended(&format!("liar/{liar}"), state, "refused", "");
            // On a busy machine so much time is hidden that the check of CPU time notices it first.
            let reasons =
                ["its windows leave out", "ns of CPU time in readings for which the kernel counted"];
            let said = refused["reason"].as_str().unwrap();
            assert!(reasons.iter().any(|reason| said.contains(reason)), "{liar}, {state}: {said}");
        }
    }
}

#[test]
fn claims_that_exceed_the_kernels_count_are_refused_with_both_numbers() {
    let Some(home) = home_with_lying_contender(8) else { return };
    let run = race(&home, &["warm"], &["claims_all_cpu", "claims_no_cpu", "claims_memory"]);
    for (liar, why) in [
        ("claims_all_cpu", "it claims 18446744073709551615 ns of CPU time in a turn for"),
        ("claims_no_cpu", "it claims 0 ns of CPU time in readings for which the kernel"),
        ("claims_memory", "it claims a peak of 9223372036854775808 bytes of memory where"),
    ] {
        run.ended(&format!("liar/{liar}"), "warm", "refused", why);
    }
}

#[test]
fn a_contender_that_answers_from_memory_is_refused() {
    let Some(home) = home_with_lying_contender(128) else { return };
    let run = race(&home, &["warm"], &["remembers"]);
    run.ended("liar/remembers", "warm", "refused", "turns cannot have touched the bytes");
}

/// The contender of Rust behind a shell, with the name `behind`.
const RUST_BEHIND_A_SHELL: &str =
    r#""$0" contender rust "$@" | sed -u 's/"contender":"rust"/"contender":"behind"/'"#;

fn numbers(trial: &Value, meter: &str) -> Vec<u64> {
    let samples = items(&trial["samples"]).iter();
    samples.map(|sample| sample[meter].as_u64().unwrap_or_else(|| panic!("{meter}: {trial}"))).collect()
}

#[test]
fn the_work_of_a_process_below_the_contender_counts_for_the_contender() {
    let home =
        Home::with_file("roster.toml", entry("behind", &["/bin/sh", "-c", RUST_BEHIND_A_SHELL, READLAB]));
    let (size, file) = (16 << 20, home.file("f", "0123456789abcde\n".repeat(1 << 20)));
    let methods = "--method behind/fs-read/scalar --method rust/fs-read/scalar --method behind/mmap/memchr";
    let run = home.race_json(&file, format!("{methods} --roster roster.toml --state both"));
    // Mapped pages are touched below the contender, too.
    run.measured("behind/mmap/memchr", "warm");
    if run.trial("rust/fs-read/scalar", "cold")["outcome"] != "measured" {
        return skip(format!("no file is cold here: {run}"));
    }
    for (state, bytes) in [("cold", size..2 * size), ("warm", 0..PROGRAM_FILES_BYTES_MAX)] {
        let trial = run.measured("behind/fs-read/scalar", state);
        assert!(numbers(trial, "device_read_bytes").iter().all(|read| bytes.contains(read)), "{trial}");
        // The whole file is in the memory of the reading process, which a shell never needs.
        assert!(numbers(trial, "peak_rss_bytes").iter().all(|peak| *peak > size), "{trial}");
        assert!(numbers(trial, "minor_faults").iter().all(|faults| *faults > 0), "{trial}");
    }
}

mod ring2 {
    use super::*;

    #[test]
    fn a_contender_that_lies_in_every_other_turn_is_refused_too() {
        let Some(home) = home_with_lying_contender(1) else { return };
        let words = "race f.txt --roster liar.toml --state warm --runs 16 --budget 20m --quiet --no-progress";
        let methods = "--method liar/honest --method liar/every_other --export-json -";
        let run = home.readlab(format!("{words} {methods}")).export();
        run.ended("liar/every_other", "warm", "refused", "the median of");
        run.measured("liar/honest", "warm");
    }

    #[test]
    fn on_a_busy_machine_no_honest_trial_is_refused() {
        let home = home_with_file(16);
        let busy = busy_loops(2);
        let run = home.race_json("f.txt", EVERY_METHOD);
        drop(busy);
        let refused: Vec<&Value> =
            run.trials().iter().filter(|trial| trial["outcome"] == "refused").collect();
        assert!(refused.is_empty(), "{refused:#?}\n{run}");
    }
}
