//! Tests of contenders with false time, CPU time, memory or work, each beside an honest method of
//! the same program; and of a race of honest trials on a machine that is too busy.

use super::home::{Home, trials};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Busy loops that end with the test.
struct Busy(Vec<Child>);

impl Busy {
    /// Number of processes on each processor.
    fn loops(each: usize) -> Busy {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let start = |_| {
            let mut shell = Command::new("/bin/sh");
            shell.args(["-c", "while :; do :; done"]).stdin(Stdio::null()).spawn().unwrap()
        };
        Busy((0..each * processors).map(start).collect())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The roster of the liar; `None` where there is no Python.
fn roster(home: &Home) -> Option<String> {
    if Command::new("python3").arg("-V").output().is_err() {
        eprintln!("SKIPPED: the liars are written in Python, and there is no python3");
        return None;
    }
    let liar = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/adversary/clocks.py");
    let text = format!(
        "[[contender]]\nname = \"liar\"\nabout = \"lies\"\nrun = [\"python3\", \"-S\", \"{}\"]\n",
        liar.display()
    );
    Some(home.file("liar.toml", text).display().to_string())
}

fn file(home: &Home, mib: usize) -> PathBuf {
    home.file("f.txt", "some words on a line, as in any text\n".repeat(mib * (1 << 20) / 37))
}

/// A race of these methods of the liar beside an honest method of Rust, in one state.
fn race(home: &Home, file: &Path, state: &str, methods: &[&str]) -> Option<Value> {
    let roster = roster(home)?;
    let methods: Vec<String> = methods.iter().map(|method| format!("liar/{method}")).collect();
    let mut words = vec!["--roster", &roster, "--state", state, "--method", "rust/read/memchr"];
    methods.iter().for_each(|method| words.extend(["--method", method]));
    Some(home.race_json(file, &words).0)
}

fn assert_refused(json: &Value, state: &str, method: &str, reasons: &[&str]) {
    let trial = trials(json, &format!("liar/{method}"), state);
    let said = trial["reason"].as_str().unwrap_or_default();
    assert_eq!(trial["outcome"], "refused", "{method}, {state}: {said}");
    assert!(reasons.iter().any(|reason| said.contains(reason)), "{method}, {state}: {said}");
}

fn assert_honest(json: &Value, state: &str) {
    for id in ["liar/honest", "rust/read/memchr"] {
        let trial = trials(json, id, state);
        assert_eq!(trial["outcome"], "measured", "{id}, {state}: {}", trial["reason"]);
    }
}

#[test]
fn a_contender_that_leaves_time_out_of_its_windows_is_refused() {
    let home = Home::new();
    let file = file(&home, 8);
    let liars = ["half_time", "reads_first", "sleeps_outside", "computes_outside"];
    for state in ["cold", "warm"] {
        let Some(json) = race(&home, &file, state, &[&["honest"][..], &liars].concat()) else { return };
        for liar in liars {
            // On a busy machine so much time is hidden that it is missed among the CPU time first.
            let reasons =
                ["its windows leave out", "ns of CPU time in readings for which the kernel counted"];
            assert_refused(&json, state, liar, &reasons);
        }
        assert_honest(&json, state);
    }
}

#[test]
fn claims_beyond_what_the_kernel_counted_are_refused_with_both_numbers() {
    let home = Home::new();
    let file = file(&home, 8);
    let methods = ["honest", "claims_all_cpu", "claims_no_cpu", "claims_memory"];
    let Some(json) = race(&home, &file, "warm", &methods) else { return };
    assert_refused(
        &json,
        "warm",
        "claims_all_cpu",
        &["it claims 18446744073709551615 ns of CPU time in a turn for"],
    );
    assert_refused(
        &json,
        "warm",
        "claims_no_cpu",
        &["it claims 0 ns of CPU time in readings for which the kernel"],
    );
    assert_refused(
        &json,
        "warm",
        "claims_memory",
        &["it claims a peak of 9223372036854775808 bytes of memory where"],
    );
    assert_honest(&json, "warm");
}

#[test]
fn a_contender_that_answers_from_memory_is_refused() {
    let home = Home::new();
    let file = file(&home, 128);
    let Some(json) = race(&home, &file, "warm", &["honest", "remembers"]) else { return };
    assert_refused(&json, "warm", "remembers", &["turns cannot have touched the bytes"]);
    assert_honest(&json, "warm");
}

#[test]
fn a_contender_behind_a_script_is_measured_as_any_other() {
    let home = Home::new();
    let file = file(&home, 16);
    let script = home.file(
        "behind.sh",
        format!(
            "'{}' contender rust \"$@\" | sed -u 's/\"contender\":\"rust\"/\"contender\":\"behind\"/'\n",
            super::home::READLAB
        ),
    );
    let text = format!(
        "[[contender]]\nname = \"behind\"\nabout = \"\"\nrun = [\"/bin/sh\", \"{}\"]\n",
        script.display()
    );
    let roster = home.file("behind.toml", text);
    let words = ["--roster", roster.to_str().unwrap(), "--method", "behind/mmap/memchr", "--state", "warm"];
    let (json, said) = home.race_json(&file, &words);
    let trial = trials(&json, "behind/mmap/memchr", "warm");
    assert_eq!(trial["outcome"], "measured", "{}\n{said}", trial["reason"]);
}

mod ring2 {
    use super::*;

    #[test]
    fn a_contender_that_lies_in_every_other_turn_is_refused_too() {
        let home = Home::new();
        let file = file(&home, 1);
        let Some(roster) = roster(&home) else { return };
        let file = file.to_str().unwrap();
        let words = ["race", file, "--roster", &roster, "--state", "warm", "--runs", "16", "--budget", "20m"];
        let methods = ["--method", "liar/honest", "--method", "liar/every_other"];
        let said = home
            .readlab([&words[..], &methods, &["--quiet", "--no-progress", "--export-json", "-"]].concat());
        let json = serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said}"));
        assert_refused(&json, "warm", "every_other", &["the median of"]);
        assert_eq!(trials(&json, "liar/honest", "warm")["outcome"], "measured", "{said}");
    }

    #[test]
    fn on_a_busy_machine_no_honest_trial_is_refused() {
        let home = Home::new();
        let file = file(&home, 16);
        let busy = Busy::loops(2);
        let words = ["--method", "rust/*/memchr", "--method", "rust/lines"];
        let (json, said) = home.race_json(&file, &words);
        drop(busy);
        let refused = |trial: &&Value| trial["outcome"] == "refused";
        let refused: Vec<&Value> = json["trials"].as_array().unwrap().iter().filter(refused).collect();
        assert!(refused.is_empty(), "{refused:#?}\n{said}");
    }
}
