//! Tests of `readlab compare`: records and published results, the gate, and the exports.

use super::{Home, Said};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// The golden race, which has records of both kinds of numbers: ten samples a trial, cold and warm.
fn golden() -> String {
    golden_of("race")
}

fn golden_sweep() -> String {
    golden_of("sweep")
}

fn golden_of(verb: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../tests/golden/{verb}.jsonl"));
    fs::read_to_string(file).unwrap()
}

/// The golden race with the times of one trial multiplied.
fn slower(trial: u64, times: f64) -> String {
    let change = |line: &str| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        if line["line"] == "sample" && line["trial"] == trial {
            line["wall_ns"] = ((line["wall_ns"].as_f64().unwrap() * times).round() as u64).into();
        }
        line.to_string() + "\n"
    };
    golden().lines().map(change).collect()
}

/// A record in a separate folder.
fn record(home: &Home, name: &str, text: &str) -> PathBuf {
    fs::create_dir(home.at(name)).unwrap();
    home.file(Path::new(name).join("record.jsonl"), text)
}

fn compare(home: &Home, words: &[&str]) -> Said {
    home.readlab([&["compare"], words].concat())
}

#[test]
fn a_record_beside_itself_is_all_ties_and_passes_the_gate() {
    let home = Home::new();
    record(&home, "a", &golden());
    record(&home, "b", &golden());
    let said = compare(&home, &["a", "b", "--fail-over", "5%"]);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{said}");
    assert!(said.out.contains("wall · cold · newlines · 1.00 GB") && said.out.contains("1.00 ["), "{said}");
    let json: Value = serde_json::from_str(&compare(&home, &["a", "b", "--export-json", "-"]).out).unwrap();
    let rows = json["tables"][0]["rows"].as_array().unwrap();
    assert!(rows.len() >= 8, "{json}");
    for row in rows {
        assert_eq!(row["cells"][1]["ratio"]["clear"], "tie", "{row}");
    }
    assert_eq!(json["differs"], Value::Array(vec![]));
}

#[test]
fn the_cautions_of_both_records_are_repeated() {
    let home = Home::new();
    let warning = |text: &str| format!("{}{}\n", golden(), json!({ "line": "warning", "text": text }));
    record(&home, "a", &warning("the clock was set"));
    record(&home, "b", &warning("memory was short"));
    let said = compare(&home, &["a", "b"]);
    assert!(said.out.contains("note on A: the clock was set"), "{said}");
    assert!(said.out.contains("note on B: memory was short"), "{said}");
    let json: Value = serde_json::from_str(&compare(&home, &["a", "b", "--export-json", "-"]).out).unwrap();
    assert!(json["sides"][1]["notes"].as_array().unwrap().contains(&"memory was short".into()), "{json}");
}

#[test]
fn the_gate_fails_only_on_significant_differences_and_names_them() {
    let home = Home::new();
    record(&home, "a", &golden());
    record(&home, "b", &slower(3, 1.5));
    let said = compare(&home, &["a", "b", "--fail-over", "5%"]);
    assert_eq!(said.code, Some(3), "{said}");
    assert!(said.err.contains("worse: rust/read/avx2@buffer=64KiB, cold: wall in b is 1.500 ["), "{said}");
    assert_eq!(said.err.lines().count(), 1, "{said}");
    for words in [&["a", "b", "--fail-over", "90%"][..], &["b", "a", "--fail-over", "5%"], &["a", "b"]] {
        assert_eq!(compare(&home, words).code, Some(0), "{words:?}");
    }
    let alone = compare(&home, &["a", "--fail-over", "5%"]);
    assert!(alone.refusal().contains("only one"), "{alone}");
}

#[test]
fn what_failed_since_does_not_pass_the_gate() {
    let home = Home::new();
    record(&home, "a", &golden());
    let failed = golden().replace(
        r#""trial": 3, "outcome": "measured""#,
        r#""trial": 3, "outcome": "failed", "reason": "it crashed""#,
    );
    assert_ne!(failed, golden());
    record(&home, "b", &failed);
    let said = compare(&home, &["a", "b", "--fail-over", "5%"]);
    assert_eq!(said.code, Some(1), "{said}");
    assert!(said.out.contains("failed in B: rust/read/avx2@buffer=64KiB: it crashed"), "{said}");
}

#[test]
fn unlike_things_are_refused_unless_forced() {
    let home = Home::new();
    record(&home, "a", &golden());
    record(&home, "b", &golden().replace(r#""digest": "00""#, r#""digest": "11""#));
    let said = compare(&home, &["a", "b"]);
    assert!(said.refusal().contains("the files differ (digest 00 and 11)"), "{said}");
    let forced = compare(&home, &["a", "b", "--force"]);
    assert_eq!(forced.code, Some(0), "{forced}");
    assert!(forced.out.contains("unlike, compared because it was forced:"), "{forced}");
    let state = compare(&home, &["a", "b", "--state", "warm", "--force"]);
    assert!(!state.out.contains("cold"), "{state}");
}

#[test]
fn the_machines_difference_is_listed() {
    let home = Home::new();
    record(&home, "a", &golden());
    record(&home, "b", &golden().replace("Example CPU", "Other CPU"));
    let said = compare(&home, &["a", "b"]);
    assert!(said.out.contains("what differs in the machines"), "{said}");
    let line = said.out.lines().find(|line| line.trim_start().starts_with("cpu ")).unwrap();
    assert!(line.contains("Example CPU") && line.contains("Other CPU"), "{line}");
    assert!(!said.out.contains("page_bytes"), "{said}");
}

#[test]
fn names_that_mean_nothing_and_files_that_are_no_records_are_refused_in_one_line() {
    let home = Home::new();
    let whole = record(&home, "whole", &golden());
    record(&home, "later", &golden().replacen("\"version\": 1", "\"version\": 99", 1));
    record(&home, "sweep", &golden_sweep());
    home.file("text", "hello\n");
    fs::create_dir(home.at("empty")).unwrap();
    for (words, cause) in [
        (&["whole", "nowhere"][..], "nowhere: no record of this name and no such file"),
        (&["whole", "lasst"], "near it: last"),
        (&["last"], "last: there are 0 runs in "),
        (&["whole", "later"], "schema version 99"),
        (&["whole", "text"], "not a readlab record"),
        (&["whole", "empty"], "empty/record.jsonl: No such file"),
        (&["whole", "sweep"], "no trial in common: only in "),
        (&["published:nothing"], "known: newlines, urlsession"),
        (&["published:zip-lines/VAX"], "M920"),
        (&["published:ssd-sizes", "whole"], "no trial in common"),
        (&["published:ssd-sizes", "--metric", "mallocs"], "has a number for mallocs"),
        (&["published:zip-lines", "--fit", "zip", "machine.cpus"], "no case and metric"),
        (
            &["published:zip-lines", "--fit", "zip/wall", "machine.cpus"],
            "facts: datasheet_bytes_per_s, max_turbo_ghz",
        ),
        (&["published:zip-lines", "--fail-over", "5%"], "no ratio has one"),
    ] {
        let said = compare(&home, words);
        assert!(said.refusal().contains(cause), "{words:?}: {said}");
    }
    let cut = golden();
    record(&home, "cut", &cut[..cut.len() * 2 / 3]);
    let said = compare(&home, &["whole", "cut"]);
    assert_eq!(said.code, Some(0), "{said}");
    assert!(said.out.contains("note on B: the run was cut short"), "{said}");
    assert_eq!(fs::read_to_string(whole).unwrap(), golden(), "a record is only read");
}

#[test]
fn published_results_are_shown_as_published() {
    let home = Home::new();
    let two = compare(&home, &["published:urlsession", "--metric", "wall,cpu,rate,peak"]);
    insta::assert_snapshot!("published-urlsession", two.out);
    let sheet = compare(&home, &["published:zip-lines"]);
    insta::assert_snapshot!("published-zip-lines", sheet.out);
    let fit = compare(&home, &["published:zip-lines", "--fit", "zip/wall", "machine.max_turbo_ghz"]);
    assert!(fit.out.contains("of buffer 8192 (M920): max_turbo_ghz 5.52\n"), "{fit}");
    assert!(
        fit.out.contains(
            "of buffer 8192 (NUC11 with Samsung disk and NUC11 with WD Black): max_turbo_ghz 5.90\n"
        ),
        "{fit}"
    );
    for name in ["published:newlines", "published:ssd-sizes"] {
        let said = compare(&home, &[name]);
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{said}");
    }
}

#[test]
fn means_spread_percentiles_and_given_facts_are_shown_and_drawn() {
    let home = Home::new();
    let means = compare(&home, &["published:zip-lines/M920", "published:zip-lines/NUC11"]);
    assert!(means.out.contains("24.9 s ± 352 ms (mean of 10)") && means.out.contains("[1."), "{means}");
    let single = compare(&home, &["published:zip-lines/Old"]);
    assert!(single.out.contains("32.3 s (one reading)"), "{single}");
    let summary = compare(&home, &["published:urlsession-summary/M2", "--percentiles"]);
    assert!(
        summary.out.contains("79.0 ms") && !summary.out.contains("p99"),
        "it has no percentiles: {summary}"
    );
    let percentiles = compare(&home, &["published:urlsession/M2", "--metric", "mallocs", "--percentiles"]);
    assert!(percentiles.out.contains("p99") && percentiles.out.contains("67\u{202f}000"), "{percentiles}");
    let fixed = compare(&home, &["published:ssd-sizes/iMac", "--metric", "fixed"]);
    assert!(fixed.out.contains("40.0 µs"), "the intercept: {fixed}");
    record(&home, "here", &golden());
    let means = compare(&home, &["here", "--stats", "mean"]);
    assert!(means.out.contains("(mean of "), "{means}");

    let fit = ["published:zip-lines", "--fit", "zip/wall", "ghz"];
    let none = compare(&home, &fit);
    assert!(none.code == Some(2) && none.err.contains("no machine has zip"), "{none}");
    let facts = ["--fact", "A:ghz=3.3", "--fact", "M920:ghz=4.3", "--export-html", "page.html"];
    let given = compare(&home, &[&fit[..], &facts].concat());
    assert_eq!(given.code, Some(0), "{given}");
    assert!(given.out.contains("not on the line: NUC11 with WD Black has no ghz; --fact"), "{given}");
    assert!(given.out.contains("ghz = 3.3 was given by --fact"), "{given}");
    let page = fs::read_to_string(home.at("page.html")).unwrap();
    assert!(page.contains("id=\"fit-title\"") && page.contains("wall of zip on ghz"), "the chart of the fit");
    let unknown = compare(&home, &[&fit[..], &["--fact", "Z:ghz=1"]].concat());
    assert!(unknown.code == Some(2) && unknown.err.contains("no side is called so"), "{unknown}");
}

#[test]
fn a_sweep_is_compared_with_the_published_one_by_slope_median_and_highest_rate() {
    let home = Home::new();
    record(&home, "sweep", &golden_sweep());
    let rate = compare(&home, &["published:ssd-sizes/M1", "sweep"]);
    assert_eq!(rate.code, Some(0), "{rate}");
    let said = compare(&home, &["published:ssd-sizes/M1", "sweep", "--metric", "rate,slope,most"]);
    assert_eq!(said.code, Some(0), "{said}");
    insta::assert_snapshot!("sweep-published", said.out);
    let twice = compare(&home, &["sweep", "sweep", "--metric", "slope"]);
    let line = twice.out.lines().find(|line| line.contains("over all sizes")).unwrap();
    assert!(line.contains("1.00"), "{twice}");
}

#[test]
fn a_given_data_sheet_is_shown_beside_the_rates_of_a_record() {
    let home = Home::new();
    record(&home, "a", &golden());
    let said = compare(&home, &["a", "--datasheet", "3400MB/s"]);
    assert!(
        said.out.contains("rate beside the drive's data sheet") && said.out.contains("3.40 GB/s"),
        "{said}"
    );
    assert!(!compare(&home, &["a"]).out.contains("data sheet"));
}

#[test]
fn services_that_watch_benchmarks_get_what_they_read() {
    let home = Home::new();
    record(&home, "a", &golden());
    let bmf: Value = serde_json::from_str(&compare(&home, &["a", "--export-bmf", "-"]).out).unwrap();
    let metric = &bmf["rust/mmap/avx2@threads=2 · newlines · warm"]["latency"];
    let [low, value, high] = ["lower_value", "value", "upper_value"].map(|key| metric[key].as_f64().unwrap());
    assert!(low < value && value < high, "{bmf}");
    let file = home.at("github.json");
    assert_eq!(compare(&home, &["a", "--export-github", file.to_str().unwrap()]).code, Some(0));
    let github: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    for entry in github.as_array().unwrap() {
        assert!(
            entry["name"].is_string() && entry["unit"].is_string() && entry["value"].is_number(),
            "{entry}"
        );
        assert!(entry["range"].as_str().unwrap().starts_with("± "), "{entry}");
    }
    let markdown = compare(&home, &["a", "a", "--export-markdown", "-"]).out;
    assert!(markdown.contains("| method | what | A | B | B × A |"), "{markdown}");
}

#[test]
fn one_name_is_for_one_record() {
    let home = Home::new();
    let (one, two) = (home.file("one", "a\n"), home.file("two", "b\n"));
    let said = home.readlab(["race", one.to_str().unwrap(), two.to_str().unwrap(), "--save", "x"]);
    assert!(said.refusal().contains("--save names one record"), "{said}");
    assert_eq!(home.readlab(["race", "one", "--save", "last"]).code, Some(2));
    assert!(home.runs().is_empty());
}

mod ring2 {
    use super::*;

    #[test]
    fn runs_are_saved_listed_shown_compared_and_removed() {
        let home = Home::new();
        let file = home.file("f", "a\nb\n");
        let race = |words: &[&str]| {
            let said = home.race(
                &file,
                &[&["--state", "warm", "--method", "rust/read/scalar", "--quiet"], words].concat(),
            );
            assert_eq!(said.code, Some(0), "{said}");
        };
        assert_eq!(home.readlab(["history"]).out, "no records\n");
        race(&["--save", "baseline"]);
        race(&[]);
        race(&["--save", "elsewhere", "--output", "here"]);
        let list = home.readlab(["history"]);
        assert_eq!((list.code, list.err.as_str()), (Some(0), ""), "{list}");
        assert!(list.out.contains("last~1, baseline") && list.out.contains("elsewhere"), "{list}");
        assert!(home.readlab(["history", "show", "baseline"]).out.contains("rust/read/scalar"));
        let said = compare(&home, &["baseline", "last"]);
        assert!(said.code == Some(0) && said.out.contains("rust/read/scalar"), "{said}");
        let wrong = home.readlab(["history", "rm", "baseline", "nothing"]);
        assert!(wrong.refusal().contains("nothing: no record of this name"), "{wrong}");
        assert_eq!(home.runs().len(), 2, "all names are looked up before anything is removed");
        let gone = home.readlab(["history", "rm", "last~1", "last", "elsewhere"]);
        assert_eq!(gone.code, Some(0), "{gone}");
        assert!(home.runs().is_empty() && home.at("here/record.jsonl").exists());
        assert_eq!(home.readlab(["history"]).out, "no records\n");
    }
}
