//! Tests of `readlab compare`: records and published results, the gate, and the exports.

use crate::home::{Home, ProgramOutput, QUICK, items};
use readlab_record::testing::scripted;
use serde_json::{Value, json};

/// The scripted race, which has numbers of both states: eight readings of each trial, cold and
/// warm.
fn race() -> String {
    scripted::text("race")
}

/// The scripted race with the times of one trial multiplied.
fn slowed_race(trial: u64, times: f64) -> String {
    let change = |line: &str| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        if line["line"] == "sample" && line["trial"] == trial {
            line["wall_ns"] = ((line["wall_ns"].as_f64().unwrap() * times).round() as u64).into();
        }
        line.to_string() + "\n"
    };
    race().lines().map(change).collect()
}

/// A home with records, each in a folder with the given name.
fn home_with(records: &[(&str, String)]) -> Home {
    let home = Home::new();
    for (name, text) in records {
        home.file(format!("{name}/record.jsonl"), text);
    }
    home
}

fn compare(home: &Home, words: &str) -> ProgramOutput {
    home.readlab(format!("compare {words}"))
}

#[test]
fn a_record_beside_itself_is_all_ties_and_passes_the_gate() {
    let home = home_with(&[("a", race()), ("b", race())]);
    let said = compare(&home, "a b --fail-over 5%").succeeds_silently();
    said.shows("wall · cold · newlines · 1.00 GB").shows("1.00 [");
    let json = compare(&home, "a b --export-json -").json();
    let rows = items(&json["tables"][0]["rows"]);
    assert!(rows.len() >= 8, "{json}");
    for row in rows {
        assert_eq!(row["cells"][1]["ratio"]["clear"], "tie", "{row}");
    }
    assert_eq!(json["differs"], Value::Array(vec![]));
}

#[test]
fn the_cautions_of_both_records_are_repeated() {
    let warning = |text: &str| format!("{}{}\n", race(), json!({ "line": "warning", "text": text }));
    let home = home_with(&[("a", warning("the clock was set")), ("b", warning("memory was short"))]);
    compare(&home, "a b").shows("note on A: the clock was set").shows("note on B: memory was short");
    let json = compare(&home, "a b --export-json -").json();
    assert!(items(&json["sides"][1]["notes"]).contains(&"memory was short".into()), "{json}");
}

#[test]
fn the_gate_fails_only_on_significant_differences_and_names_them() {
    let home = home_with(&[("a", race()), ("b", slowed_race(3, 1.5))]);
    let said = compare(&home, "a b --fail-over 5%").exits(3);
    said.tells("worse: rust/read/avx2@buffer=64KiB, cold: wall in b is 1.500 [");
    assert_eq!(said.err.lines().count(), 1, "{said}");
    for words in ["a b --fail-over 90%", "b a --fail-over 5%", "a b"] {
        compare(&home, words).exits(0);
    }
    compare(&home, "a --fail-over 5%").refuses("only one");
}

#[test]
fn a_trial_that_failed_since_does_not_pass_the_gate() {
    let failed = race().replace(
        r#""trial":3,"outcome":"measured""#,
        r#""trial":3,"outcome":"failed","reason":"it crashed""#,
    );
    assert_ne!(failed, race());
    let home = home_with(&[("a", race()), ("b", failed)]);
    let said = compare(&home, "a b --fail-over 5%").exits(1);
    said.shows("failed in B: rust/read/avx2@buffer=64KiB: it crashed");
}

/// A gate must fail if a change breaks the program.
#[test]
fn a_trial_that_one_side_lacks_does_not_pass_the_gate_unless_that_is_allowed() {
    let absent = race().replace(
        r#""trial":3,"outcome":"measured""#,
        r#""trial":3,"outcome":"unavailable","reason":"no such program""#,
    );
    let other = race().replace("wc -l", "wc -c");
    let home = home_with(&[("whole", race()), ("absent", absent), ("other", other)]);
    let unavailable = "not judged: rust/read/avx2@buffer=64KiB: unavailable in absent: no such program\n";
    for (words, why) in [
        ("whole absent", unavailable),
        ("absent whole", unavailable),
        ("whole other", "not judged: command/wc -l (cold): other does not have it\n"),
    ] {
        compare(&home, &format!("{words} --fail-over 99%")).exits(1).tells(why);
        let allowed = compare(&home, &format!("{words} --fail-over 99% --allow-missing")).exits(0);
        assert!(!allowed.err.contains("not judged"), "{allowed}");
        // Without a gate nothing is judged.
        compare(&home, words).exits(0);
    }
}

/// A gate on a single trial must fail by 1, too, and its exports must be written.
#[test]
fn a_gate_that_has_nothing_to_judge_says_why_and_writes_its_exports() {
    let ended = |outcome: &str| {
        let outcome = format!(r#""outcome":"{outcome}","reason":"no luck""#);
        race().replace(r#""outcome":"measured""#, &outcome)
    };
    let home = home_with(&[
        ("whole", race()),
        ("failed", ended("failed")),
        ("absent", ended("unavailable")),
        ("sweep", scripted::text("sweep")),
    ]);
    let failed = "not judged: rust/read/avx2@buffer=64KiB: failed in failed: no luck\n";
    let absent = "not judged: rust/read/avx2@buffer=64KiB: unavailable in absent: no luck\n";
    for (words, code, allowed_code, why) in [
        ("whole failed", 1, 1, failed),
        ("failed whole", 1, 0, failed),
        ("failed failed", 1, 1, failed),
        ("whole absent", 1, 0, absent),
        ("whole sweep", 1, 0, "not judged: command/wc -l (cold): sweep does not have it\n"),
        ("published:zip-lines", 1, 0, "M920: a single round has no interval\n"),
    ] {
        let words = format!("{words} --fail-over 5% --export-markdown table.md");
        compare(&home, &words).exits(code).tells(why);
        assert!(home.read("table.md").contains("A: "), "{words}");
        let allowed = compare(&home, &format!("{words} --allow-missing")).exits(allowed_code);
        if allowed_code == 0 {
            allowed.tells("nothing was judged: no ratio has an interval\n");
        }
    }
}

#[test]
fn records_that_cannot_be_compared_are_refused_unless_forced() {
    let other = race().replace(r#""digest":"00""#, r#""digest":"11""#);
    let home = home_with(&[("a", race()), ("b", other)]);
    compare(&home, "a b").refuses("the files differ (digest 00 and 11)");
    compare(&home, "a b --force").exits(0).shows("unlike, compared because it was forced:");
    compare(&home, "a b --state warm --force").hides("cold");
}

#[test]
fn unknown_names_and_files_that_are_no_records_are_refused_in_one_line() {
    let (whole, sweep) = (race(), scripted::text("sweep"));
    let home = home_with(&[
        ("whole", race()),
        ("other", whole.replacen("\"version\":1", "\"version\":99", 1)),
        ("cut", whole[..whole.len() * 2 / 3].to_owned()),
        ("sweep", sweep),
    ]);
    home.file("text", "hello\n");
    home.folder("empty");
    for (words, cause) in [
        ("whole nowhere", "nowhere: no record of this name and no such file"),
        ("whole lasst", "near it: last"),
        ("last", "last: there are 0 runs in "),
        ("whole other", "schema version 99"),
        ("whole text", "not a readlab record"),
        ("whole empty", "empty/record.jsonl: No such file"),
        ("whole sweep", "no trial in common: only in "),
        ("published:nothing", "known: newlines, urlsession"),
        ("published:zip-lines/VAX", "M920"),
        ("published:ssd-sizes whole", "no trial in common"),
        ("published:ssd-sizes --metric mallocs", "has a number for mallocs"),
        ("published:zip-lines --fit zip machine.cpus", "no case and metric"),
        ("published:zip-lines --fit zip/wall machine.cpus", "facts: datasheet_bytes_per_s, max_turbo_ghz"),
        ("whole whole --fail-over 5% --metric mallocs", "has a number for mallocs"),
    ] {
        compare(&home, words).refuses(cause);
    }
    compare(&home, "whole cut").exits(0).shows("note on B: the run was cut short");
    assert_eq!(home.read("whole/record.jsonl"), whole, "a record is only read");
}

#[test]
fn published_results_are_shown_as_published() {
    let home = Home::new();
    let two = compare(&home, "published:urlsession --metric wall,cpu,rate,peak");
    insta::assert_snapshot!("published-urlsession", two.out);
    let sheet = compare(&home, "published:zip-lines");
    insta::assert_snapshot!("published-zip-lines", sheet.out);
    let fit = compare(&home, "published:zip-lines --fit zip/wall machine.max_turbo_ghz");
    fit.shows("of buffer 8192 (M920): max_turbo_ghz 5.52\n");
    fit.shows("of buffer 8192 (NUC11 with Samsung disk and NUC11 with WD Black): max_turbo_ghz 5.90\n");
    for name in ["published:newlines", "published:ssd-sizes"] {
        compare(&home, name).succeeds_silently();
    }
}

#[test]
fn means_spread_percentiles_and_given_facts_are_shown_and_drawn() {
    let home = home_with(&[("here", race())]);
    for (words, shown) in [
        ("published:zip-lines/M920 published:zip-lines/NUC11", &["24.9 s ± 352 ms (mean of 10)", "[1."][..]),
        ("published:zip-lines/Old", &["32.3 s (one reading)"]),
        ("published:urlsession/M2 --metric mallocs --percentiles", &["p99", "67\u{202f}000"]),
        // The value is the intercept.
        ("published:ssd-sizes/iMac --metric fixed", &["40.0 µs"]),
        ("here --stats mean", &["(mean of "]),
    ] {
        let said = compare(&home, words);
        for text in shown {
            said.shows(text);
        }
    }
    // This record has no percentiles.
    compare(&home, "published:urlsession-summary/M2 --percentiles").shows("79.0 ms").hides("p99");

    let fit = "published:zip-lines --fit zip/wall ghz";
    compare(&home, fit).exits(2).tells("no machine has zip");
    let facts = "--fact A:ghz=3.3 --fact M920:ghz=4.3 --export-html page.html";
    let given = compare(&home, &format!("{fit} {facts}")).exits(0);
    given.shows("not on the line: NUC11 with WD Black has no ghz; --fact");
    given.shows("ghz = 3.3 was given by --fact");
    let page = home.read("page.html");
    assert!(page.contains("id=\"fit-title\"") && page.contains("wall of zip on ghz"), "the chart of the fit");
    compare(&home, &format!("{fit} --fact Z:ghz=1")).exits(2).tells("no side is called so");
}

#[test]
fn a_sweep_is_compared_with_the_published_one_by_slope_median_and_highest_rate() {
    let home = home_with(&[("sweep", scripted::text("sweep"))]);
    compare(&home, "published:ssd-sizes/M1 sweep").exits(0);
    let said = compare(&home, "published:ssd-sizes/M1 sweep --metric rate,slope,most").exits(0);
    insta::assert_snapshot!("sweep-published", said.out);
    let twice = compare(&home, "sweep sweep --metric slope");
    let line = twice.out.lines().find(|line| line.contains("over all sizes")).unwrap();
    assert!(line.contains("1.00"), "{twice}");
}

#[test]
fn a_given_data_sheet_is_shown_beside_the_rates_of_a_record() {
    let home = home_with(&[("a", race())]);
    let said = compare(&home, "a --datasheet 3400MB/s");
    said.shows("rate beside the drive's data sheet").shows("3.40 GB/s");
    compare(&home, "a").hides("data sheet");
}

#[test]
fn the_exports_for_benchmark_services_have_their_formats() {
    let home = home_with(&[("a", race())]);
    let bmf = compare(&home, "a --export-bmf -").json();
    let metric = &bmf["rust/mmap/avx2@threads=2 · newlines · warm"]["latency"];
    let [low, value, high] = ["lower_value", "value", "upper_value"].map(|key| metric[key].as_f64().unwrap());
    assert!(low < value && value < high, "{bmf}");
    compare(&home, "a --export-github github.json").exits(0);
    for entry in items(&home.json("github.json")) {
        let is_whole = entry["name"].is_string() && entry["unit"].is_string() && entry["value"].is_number();
        assert!(is_whole && entry["range"].as_str().unwrap().starts_with("± "), "{entry}");
    }
    compare(&home, "a a --export-markdown -").shows("| method | what | A | B | B × A |");
}

#[test]
fn a_name_belongs_to_one_record() {
    let home = Home::with_file("one", "a\n");
    home.file("two", "b\n");
    home.readlab("race one two --apart --save x").refuses("--save names one record");
    home.readlab("race one two --apart --output x").refuses("--output names one folder");
    home.readlab("race one --save last").exits(2);
    assert!(home.runs().is_empty());
    home.file(".local/share/readlab/names", "a file where names are kept\n");
    let said = home.readlab(format!("race one {QUICK} --state warm --method rust/read/scalar --save x"));
    said.exits(2).tells("readlab/names: ");
    assert!(home.runs().is_empty(), "a record that cannot be named is removed: {:?}", home.runs());
}

mod ring2 {
    use super::*;

    #[test]
    fn runs_are_saved_listed_shown_compared_and_removed() {
        let home = Home::with_file("f", "a\nb\n");
        let readlab = |words: &str| home.readlab(words).exits(0);
        let only = format!("race f {QUICK} --state warm --method rust/read/scalar --quiet");
        assert_eq!(readlab("history").out, "no records\n");
        for words in ["--save baseline", "", "--save elsewhere --output here"] {
            readlab(&format!("{only} {words}"));
        }
        home.readlab("history").succeeds_silently().shows("last~1, baseline").shows("elsewhere");
        readlab("history show baseline").shows("rust/read/scalar");
        readlab("compare baseline last").shows("rust/read/scalar");
        home.readlab("history rm baseline nothing").refuses("nothing: no record of this name");
        assert_eq!(home.runs().len(), 2, "all names are looked up before anything is removed");
        readlab("history rm last~1 last elsewhere");
        assert!(home.runs().is_empty() && home.at("here/record.jsonl").exists());
        assert_eq!(readlab("history").out, "no records\n");
    }
}
