//! The extent of a suite: the size of its corpus, and its run as it was published.

use super::Home;
use serde_json::Value;
use std::fs;

/// A suite of one trial over little text.
const SUITE: &str = "name = \"little\"\nabout = \"little\"\nwork = \"newlines\"\nstate = \"warm\"\ncontrols = false\n\
    corpus = { kind = \"lines\", size_bytes = 4096, seed = 1 }\nmax_runs = 12\nmax_time = \"5s\"\n\
    [[trial]]\ntrial = \"rust/read/iterator-native\"\n";

#[test]
fn a_corpus_of_another_size_is_made_and_one_without_room_is_refused_before_anything_is_written() {
    let home = Home::new();
    home.file("little.toml", SUITE);
    let said = home.readlab(["suite", "little.toml", "--size", "12345", "--runs", "2", "--quiet"]);
    assert_eq!(said.code, Some(0), "{said}");
    let made = fs::metadata(home.at(".cache/readlab/corpus/lines-12345-seed1.txt")).unwrap();
    assert_eq!(made.len(), 12_345);

    let home = Home::new();
    let said = home.readlab(["suite", "newlines", "--size", "8000000GiB", "--quiet"]);
    let refusal = said.refusal();
    assert!(refusal.contains("are needed and") && refusal.contains("are free"), "{refusal}");
    assert!(!home.at(".cache/readlab/corpus").exists(), "not even the folder is made");
}

#[test]
fn a_size_needs_a_corpus() {
    let home = Home::new();
    home.file("none.toml", SUITE.replace("corpus = { kind = \"lines\", size_bytes = 4096, seed = 1 }", ""));
    let said = home.readlab(["suite", "none.toml", "--size", "1MiB"]);
    assert!(said.refusal().contains("the suite has no corpus: name a target"), "{said}");
}

mod ring2 {
    use super::*;

    #[test]
    fn a_full_run_says_how_long_it_takes_reads_as_often_as_published_and_counts_several_times() {
        let home = Home::new();
        home.file("little.toml", SUITE);
        let words = ["suite", "little.toml", "--full", "--percentiles", "--fills", "2", "--no-progress"];
        let said = home.readlab([&words[..], &["--export-json", "full.json"]].concat());
        assert_eq!(said.code, Some(0), "{said}");
        let limits = "--full: 1 trials, each with up to 12 readings or 5 s of them: at most 5 s of readings and 10 s of rounds";
        assert!(said.err.contains(limits), "{said}");
        let json: Value = serde_json::from_str(&fs::read_to_string(home.at("full.json")).unwrap()).unwrap();
        let trial = &json["trials"][0];
        assert_eq!(trial["samples"].as_array().unwrap().len(), 12, "no precision ends it earlier");
        for row in ["wall time", "CPU time", "peak memory"] {
            assert!(
                said.out.contains(&format!("\n{row}")) || said.out.contains(&format!(" {row} ")),
                "{row}: {said}"
            );
        }
        if trial["counts"]["mallocs"]["value"].is_null() {
            return eprintln!("SKIPPED: counts of several runs: {}", trial["counts"]["mallocs"]["how"]);
        }
        let runs = trial["count_runs"]["mallocs"].as_array().unwrap().len();
        assert!(runs > 1, "{trial}");
        assert_eq!(trial["count_summary"]["mallocs"]["n"], runs);
        assert!(said.out.contains("mallocs"), "{said}");
    }
}
