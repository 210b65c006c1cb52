//! Tests of the extent of a suite: the size of its corpus, and its run at the published size.

use crate::home::{Home, items};
use std::fs;

/// A small text corpus.
const CORPUS: &str = "corpus = { kind = 'lines', size_bytes = 4096, seed = 1 }";

/// Writes a suite of one trial over this corpus into `little.toml`.
fn home_with_suite(corpus: &str) -> Home {
    let home = Home::new();
    let head = "name = 'little'\nabout = 'little'\nwork = 'newlines'\nstate = 'warm'\ncontrols = false";
    let limits = "max_runs = 12\nmax_time = '5s'";
    let trial = "[[trial]]\ntrial = 'rust/read/iterator-native'";
    home.file("little.toml", format!("{head}\n{corpus}\n{limits}\n{trial}\n"));
    home
}

#[test]
fn a_corpus_of_another_size_is_made_and_one_without_space_is_refused_before_anything_is_written() {
    let home = home_with_suite(CORPUS);
    home.readlab("suite little.toml --size 12345 --runs 2 --quiet").exits(0);
    let made = fs::metadata(home.at(".cache/readlab/corpus/lines-12345-seed1.txt")).unwrap();
    assert_eq!(made.len(), 12_345);

    let home = Home::new();
    let said = home.readlab("suite newlines --size 8000000GiB --quiet");
    said.refuses("are needed and").tells("are free");
    assert!(!home.at(".cache/readlab/corpus").exists(), "not even the folder is made");
}

#[test]
fn a_size_needs_a_corpus() {
    let said = home_with_suite("").readlab("suite little.toml --size 1MiB");
    said.refuses("the suite has no corpus: name a target");
}

mod ring2 {
    use super::*;
    use crate::machine::skip;

    #[test]
    fn a_full_run_states_its_duration_reads_as_often_as_published_and_may_repeat() {
        let home = home_with_suite(CORPUS);
        let words = "--full --percentiles --fills 2 --no-progress --export-json full.json";
        let said = home.readlab(format!("suite little.toml {words}")).exits(0);
        said.tells("--full: 1 trials, each with up to 12 readings or 5 s of them: at most 5 s of readings and 10 s of rounds");
        let json = home.json("full.json");
        let trial = &json["trials"][0];
        assert_eq!(items(&trial["samples"]).len(), 12, "no precision ends it earlier");
        for row in ["wall time", "CPU time", "peak memory"] {
            let is_shown = said.out.contains(&format!("\n{row}")) || said.out.contains(&format!(" {row} "));
            assert!(is_shown, "{row}: {said}");
        }
        if trial["counts"]["mallocs"]["value"].is_null() {
            return skip(format!("counts of several runs: {}", trial["counts"]["mallocs"]["how"]));
        }
        let runs = items(&trial["count_runs"]["mallocs"]).len();
        assert!(runs > 1, "{trial}");
        assert_eq!(trial["count_summary"]["mallocs"]["n"], runs);
        said.shows("mallocs");
    }
}
