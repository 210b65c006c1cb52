//! Tests of the harness for `cargo bench`, by the example crate, which cargo builds and starts as
//! its user would.

use crate::home::{Home, ProgramOutput, READLAB, Words};
use crate::repository;

/// Runs `cargo bench` in the example, with these words for the benchmark.
fn bench(home: &Home, words: &str) -> ProgramOutput {
    cargo(home, "bench --profile dev", words)
}

/// The home is the test's own. Cargo and rustup keep theirs.
fn cargo(home: &Home, verb: &str, words: &str) -> ProgramOutput {
    let fixed = "--quiet --locked --package readlab-harness-example --bench readers";
    let mut cargo = home.command(env!("CARGO"));
    cargo.args(format!("{verb} {fixed} -- {words}").words());
    ProgramOutput::by(cargo.current_dir(repository::path("")).env("READLAB", READLAB))
}

const SHORT_RACE: &str = "-- --state warm --runs 5 --no-progress --budget 5m";

mod ring2 {
    use super::*;

    #[test]
    fn readers_are_raced_kept_and_compared() {
        let home = Home::new();
        bench(&home, &format!("--save-baseline first {SHORT_RACE}")).exits(0).shows("own-readers/");
        let second = bench(&home, &format!("strings --baseline first {SHORT_RACE}")).exits(0);
        for text in ["own-readers/strings", "only in ", "own-readers/one-buffer (warm)"] {
            second.shows(text);
        }
    }

    #[test]
    fn under_cargo_test_each_reader_reads_once_and_the_answers_agree() {
        let said = cargo(&Home::new(), "test", "").exits(0);
        said.shows("own-readers/strings: 2000 lines").shows("own-readers/one-buffer: 2000 lines");
    }

    #[test]
    fn wrong_usage_is_named() {
        let home = Home::new();
        for (words, named) in [
            ("no-such-reader", "there are strings, one-buffer"),
            ("--fast", "no option '--fast'"),
            ("--baseline never-saved", "no baseline of this name"),
        ] {
            let said = bench(&home, words);
            assert_ne!(said.code, Some(0), "{said}");
            said.tells(named);
        }
    }
}
