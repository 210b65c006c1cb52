//! Tests of `readlab verify`. The contenders of the first ring are verified, each fault of
//! `tests/broken` is found and named, and a program that is no contender gets a message in time.

use crate::home::{Home, items, paths_in};
use crate::machine::{skip, succeeds_or_skip};
use crate::{fake, repository};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

/// The `// NAME: VALUE` lines at the head of a file of `tests/broken/faults`.
fn head(fault: &Path) -> BTreeMap<String, String> {
    let text = fs::read_to_string(fault).unwrap();
    let lines = text.lines().map_while(|line| line.strip_prefix("// ")?.split_once(": "));
    lines.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// The reason why `verify` does not find the fault of this file, or finds another one. A contender
/// that answers at all answers in milliseconds.
fn missed_fault(home: &Home, fault: &Path) -> Option<String> {
    let (name, head) = (fault.file_stem().unwrap().to_str().unwrap(), head(fault));
    let method = head.get("method").map_or("read", String::as_str);
    let words = ["verify", name, "--roster", "broken/roster.toml", "--method", method, "--jobs", "2"];
    let said = home.readlab([&words[..], &["--deadline", "10s"]].concat());
    let out = said.out.to_lowercase();
    let is_found = match head.get("words") {
        None => said.code == Some(0),
        Some(words) => {
            let all = words.split(',').all(|word| out.contains(&word.trim().to_lowercase()));
            said.code == Some(1) && out.contains("failed") && out.contains("to repeat it: ") && all
        }
    };
    (!is_found).then(|| format!("{name}: {head:?}: {said}"))
}

#[test]
fn each_fault_of_a_contender_is_found_and_named() {
    if !succeeds_or_skip("cc --version") {
        return;
    }
    let home = Home::new();
    let built = Command::new(repository::path("tests/broken/build.sh")).arg(home.at("broken")).status();
    assert!(built.unwrap().success());
    home.readlab("verify correct --roster broken/roster.toml").exits(0);
    let faults = fs::read_dir(repository::path("tests/broken/faults")).unwrap();
    let faults: Mutex<Vec<PathBuf>> = Mutex::new(faults.map(|entry| entry.unwrap().path()).collect());
    assert!(faults.lock().unwrap().len() > 50);
    let found = || {
        let mut missed_here = Vec::new();
        loop {
            let Some(fault) = faults.lock().unwrap().pop() else { return missed_here };
            missed_here.extend(missed_fault(&home, &fault));
        }
    };
    // Contenders that hang are waited for beside the others.
    let missed: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..10).map(|_| scope.spawn(found)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// Asserts that every method which matches the patterns and can work here is verified. The others
/// must have a reason why not. Of slow contenders the first ring takes a few methods, because
/// `contenders/test.sh` verifies all.
fn assert_verified(name: &str, methods: &str) {
    let said = Home::new().readlab(format!("verify {name} {methods}"));
    if said.code == Some(2) && said.out.contains("not verified: it needs") {
        return skip(format!("verify {name}: {}", said.out));
    }
    let said = said.exits(0);
    let ok = said.out.lines().filter(|line| line.contains(" ok ")).count();
    assert!(ok > if methods.is_empty() { 5 } else { methods.matches("--method").count() }, "{said}");
}

/// One method of each kind of target. The others share its sessions, and their answers are tested in
/// `contenders/rust/tests`.
#[test]
fn rust_is_verified_and_the_findings_are_printed_as_json() {
    let some = ["null", "read", "lines", "resident", "mmap", "gzip", "http", "walk", "places-pread"];
    let methods = some.map(|method| format!(" --method {method}")).concat();
    let found = Home::new().readlab(format!("verify rust --json{methods}")).exits(0).json();
    assert_eq!((&found["schema"], &found["version"]), (&"readlab.verification".into(), &1.into()));
    let contender = &found["contenders"][0];
    assert_eq!(contender["contender"], "rust");
    assert_eq!(contender["receipt"]["contender"], "rust");
    for name in some {
        let method = items(&contender["methods"]).iter().find(|method| method["method"] == name).unwrap();
        assert_eq!(method["verdict"], "ok", "{method}");
        assert!(name != "read" || method["sessions"].as_u64() > Some(20), "{method}");
        assert!(name != "read" || method["answers"].as_u64() > Some(200), "{method}");
    }
}

#[test]
fn c_is_verified() {
    assert_verified("c", "");
}

#[test]
fn python_is_verified() {
    assert_verified("python", "--method readinto");
}

#[test]
fn node_is_verified() {
    assert_verified("node", "--method readSync");
}

#[test]
fn a_program_that_is_no_contender_gets_a_line_with_the_reason_in_time() {
    let home = Home::new();
    for (line, reason) in [
        ("echo hello", "not a line of protocol"),
        ("exit 3", "it exited with 3"),
        ("sleep 100", "no answer within 2s"),
        ("printf '{\"say\":\"hel'", "it closed its output"),
        ("head -c 4000000 /dev/zero >&2; sleep 100", "no answer within 2s"),
    ] {
        home.file("roster.toml", fake::entry("mine", &["sh", "-c", line]));
        let said = home.readlab("verify mine --roster roster.toml --deadline 2s").exits(1);
        let failed: Vec<&str> = said.out.lines().filter(|line| line.contains("FAILED")).collect();
        assert!(failed.len() == 1 && failed[0].contains(reason), "{line}: {said}");
        said.shows("to repeat it: sh -c ");
    }
    let left = paths_in(home.at(".cache/readlab"));
    assert_eq!(left, [home.at(".cache/readlab/contenders")], "nothing is left behind");
}

#[test]
fn a_contender_that_cannot_be_verified_is_named_with_the_reason() {
    let home = Home::new();
    home.readlab("verify nobody").refuses("no contender 'nobody' in the roster");
    home.file("roster.toml", fake::entry("mine", &["no-such-program"]) + "hint = 'get it'\n");
    let absent = home.readlab("verify mine --roster roster.toml").exits(2);
    assert!(absent.out.starts_with("mine: not verified: ") && absent.out.contains("; get it"), "{absent}");
    home.readlab("verify rust --method no-such-*").exits(2).tells("no method was verified");
}

mod ring2 {
    use super::*;

    #[test]
    fn every_method_of_rust_is_verified() {
        assert_verified("rust", "");
    }

    #[test]
    fn every_method_answers_correctly_on_a_file_larger_than_its_segments() {
        let home = Home::new();
        let made = home.readlab("corpus make lines 64MiB").exits(0);
        for work in ["newlines", "lines", "sum", "discard"] {
            let words = "--method rust/*/* --state warm -r 1 --quiet --no-progress --budget 20m";
            home.readlab(format!("race {} {words} --work {work}", made.out.trim())).exits(0);
        }
    }

    #[test]
    fn commands_answer_correctly_on_awkward_files() {
        let home = Home::new();
        let files = [
            ("empty", Vec::new()),
            ("one-byte", b"x".to_vec()),
            ("no-final-newline", b"first\nsecond\nthird".to_vec()),
            ("only-newlines", vec![b'\n'; 10_007]),
            ("a 'b' \"c\" $(d) %41", b"one\ntwo\n".to_vec()),
        ];
        for (name, content) in files {
            let file = home.file(name, content);
            for (work, commands) in [
                ("newlines", &["wc -l {}", "tr -cd '\\n' < {} | wc -c", "cat {} | wc -l"][..]),
                ("lines", &["awk 'END { print NR }' {}"]),
                ("discard", &["cat {}"]),
            ] {
                let words = commands.iter().flat_map(|command| ["-c", command]);
                let words = words.chain(["--method", "rust/read", "--work", work, "--state", "warm"]);
                home.race(&file, words.collect::<Vec<_>>()).exits(0);
            }
        }
    }
}
