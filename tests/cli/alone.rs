//! Tests of the program without its build: copied to another folder and started elsewhere, with
//! only a PATH. It must contain everything that it needs.

use crate::home::{Home, ProgramOutput, QUICK, READLAB, Words};
use crate::machine::succeeds_or_skip;
use std::process::Command;

fn run_copy(home: &Home, words: impl Words) -> ProgramOutput {
    let program = home.folder("elsewhere").join("readlab");
    if !program.exists() {
        // A separate program makes the copy. A file that this process has open for writing could
        // also be open in another test's child, and a file that is open for writing cannot be
        // executed.
        assert!(Command::new("cp").arg(READLAB).arg(&program).status().unwrap().success());
    }
    let mut command = Command::new(program);
    let path = std::env::var_os("PATH").unwrap_or_default();
    command.env_clear().env("PATH", path).envs(home.environment()).current_dir(home.at("tmp"));
    ProgramOutput::by(command.args(words.words()))
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
        run_copy(&home, words).exits(0).shows(expected);
    }
    run_copy(&home, "suite none").refuses("zip-lines");
}

#[test]
fn the_copied_program_races_and_builds_a_contender_into_the_users_cache() {
    let home = Home::without_contenders();
    let file = home.file("lines.txt", "one\ntwo\n".repeat(5_000));
    let words = format!("race {} --state warm --all {QUICK}", file.display());
    let said = run_copy(&home, words + " --method rust/read/memchr --method c/read*").exits(0);
    said.shows("rust/read/memchr");
    if succeeds_or_skip("cc --version") {
        said.shows("c/read");
        assert!(home.at(".cache/readlab/contenders").is_dir(), "{said}");
    }
}
