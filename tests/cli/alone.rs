//! Tests of the program without its build: copied to another folder, started elsewhere, with only a
//! PATH. It must contain everything that it needs.

use super::{Home, QUICK, READLAB, Said};
use assert_cmd::Command;
use std::fs;

/// The copy, run in an empty folder.
fn alone(home: &Home, words: &[&str]) -> Said {
    let program = home.at("elsewhere/readlab");
    if !program.exists() {
        fs::create_dir(home.at("elsewhere")).unwrap();
        // By a program of its own: what this one has open for writing, another test's child could
        // hold open, and no file that is open for writing can be started.
        let copied = std::process::Command::new("cp").arg(READLAB).arg(&program).status().unwrap();
        assert!(copied.success());
    }
    let mut command = Command::new(program);
    let path = std::env::var_os("PATH").unwrap_or_default();
    command.env_clear().env("PATH", path).envs(home.environment()).current_dir(home.at("tmp"));
    Said::by(command.args(words))
}

#[test]
fn the_program_carries_its_suites_its_published_records_and_its_contenders() {
    let home = Home::new();
    for (words, expected) in [
        (&["list"][..], "  rust/mmap\n"),
        (
            &["compare", "published:zip-lines", "--fit", "zip/wall", "machine.max_turbo_ghz"],
            "max_turbo_ghz 5.52",
        ),
        (&["request", "rust/read/memchr"], "readlab"),
        (&["man"], ".TH readlab"),
        (&["completions", "zsh"], "#compdef readlab"),
    ] {
        let said = alone(&home, words);
        assert_eq!(said.code, Some(0), "{words:?}: {said}");
        assert!(said.out.contains(expected), "{words:?}: {said}");
    }
    assert!(alone(&home, &["suite", "none"]).refusal().contains("zip-lines"));
}

#[test]
fn it_races_alone_and_builds_a_contender_into_the_cache_of_its_user() {
    let home = Home::new();
    fs::remove_file(home.at(".cache/readlab/contenders")).unwrap();
    let file = home.file("lines.txt", "one\ntwo\n".repeat(5_000));
    let file = file.to_str().unwrap();
    let methods = ["--method", "rust/read/memchr", "--method", "c/read*"];
    let said = alone(&home, &[&["race", file, "--state", "warm", "--all"], &QUICK[..], &methods].concat());
    assert_eq!(said.code, Some(0), "{said}");
    assert!(said.out.contains("rust/read/memchr"), "{said}");
    if std::process::Command::new("cc").arg("--version").output().is_err() {
        eprintln!("SKIPPED: building a contender: no C compiler");
        return;
    }
    assert!(said.out.contains("c/read"), "{said}");
    assert!(home.at(".cache/readlab/contenders").is_dir(), "{said}");
}
