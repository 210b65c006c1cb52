//! Tests of the program without its build: copied to another folder, started elsewhere, with only a
//! PATH. It must contain everything that it needs.

use crate::home::{Home, QUICK, READLAB, Said, Words};
use crate::machine::can;
use std::process::Command;

/// The copy, run in an empty folder.
fn alone(home: &Home, words: impl Words) -> Said {
    let program = home.folder("elsewhere").join("readlab");
    if !program.exists() {
        // By a program of its own: what this one has open for writing, another test's child could
        // hold open, and no file that is open for writing can be started.
        assert!(Command::new("cp").arg(READLAB).arg(&program).status().unwrap().success());
    }
    let mut command = Command::new(program);
    let path = std::env::var_os("PATH").unwrap_or_default();
    command.env_clear().env("PATH", path).envs(home.environment()).current_dir(home.at("tmp"));
    Said::by(command.args(words.words()))
}

#[test]
fn the_program_carries_its_suites_its_published_records_and_its_contenders() {
    let home = Home::new();
    for (words, expected) in [
        ("list", "  rust/mmap\n"),
        ("compare published:zip-lines --fit zip/wall machine.max_turbo_ghz", "max_turbo_ghz 5.52"),
        ("request rust/read/memchr", "readlab"),
        ("man", ".TH readlab"),
        ("completions zsh", "#compdef readlab"),
    ] {
        alone(&home, words).exits(0).shows(expected);
    }
    alone(&home, "suite none").refuses("zip-lines");
}

#[test]
fn it_races_alone_and_builds_a_contender_into_the_cache_of_its_user() {
    let home = Home::without_contenders();
    let file = home.file("lines.txt", "one\ntwo\n".repeat(5_000));
    let words = format!("race {} --state warm --all {QUICK}", file.display());
    let said = alone(&home, words + " --method rust/read/memchr --method c/read*").exits(0);
    said.shows("rust/read/memchr");
    if can("cc --version") {
        said.shows("c/read");
        assert!(home.at(".cache/readlab/contenders").is_dir(), "{said}");
    }
}
