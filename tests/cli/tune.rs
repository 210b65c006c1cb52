//! Tests of whole searches on small files: readings of the search and final readings, and advice.

use crate::fake::roster;
use crate::home::{Export, Home, Trials, items};
use serde_json::Value;
use std::collections::BTreeSet;

/// A home with a file of three lines.
fn home() -> Home {
    Home::with_file("f.txt", "one\ntwo\nthree\n")
}

/// The export of a warm search.
fn tune(home: &Home, words: &str) -> Export {
    let fixed = "tune f.txt --seed=7 --quiet --export-json - --output run --state warm";
    home.readlab(format!("{fixed} {words}")).export()
}

/// The arguments for a search of fakes, each with its turn.
fn search_of_fakes(home: &Home, fakes: &[(&str, &str)]) -> String {
    format!("--roster {} --method f?/read", roster(home, fakes))
}

fn count(trial: &Value, field: &str) -> usize {
    items(&trial[field]).len()
}

/// The trials that were measured again, without the controls.
fn measured_again(json: &Value) -> Vec<&Value> {
    let all = json.trials().iter();
    all.filter(|trial| trial["cache"] != "none" && count(trial, "samples") > 0).collect()
}

#[test]
fn settings_are_searched_and_the_best_are_measured_again() {
    let home = Home::with_file("f.txt", "one\ntwo\nthree\n".repeat(10_000));
    let json = tune(&home, "--space buffer=1KiB..64KiB --method rust/read/scalar").exits(0);
    assert_eq!((json.said.err.as_str(), &json["verb"]), ("", &"tune".into()));
    let search = &json["searches"][0];
    assert_eq!((&search["settings"], &search["readings_exhaustive"]), (&7.into(), &70.into()));
    for size in ["1KiB", "2KiB", "4KiB", "8KiB", "16KiB", "32KiB", "64KiB"] {
        let trial = json.measured(&format!("rust/read/scalar@buffer={size}"), "warm");
        assert!(count(trial, "searched") > 0 && trial["searched"][0]["rung"] == 0, "{trial}");
        assert!([0, 10].contains(&count(trial, "samples")), "{trial}");
        assert_eq!(trial["summary"].is_null(), count(trial, "samples") == 0, "only fresh readings are told");
    }
    let ids: Vec<&str> = measured_again(&json).iter().map(|trial| trial["id"].as_str().unwrap()).collect();
    assert!(ids.contains(&"rust/buffered/iterator@buffer=8KiB") && [3, 4].contains(&ids.len()), "{ids:?}");
    let told = json["advice"][0]["sentence"].as_str().unwrap();
    let begins = ["warm: use rust/read with scalar and ", "warm: keep "];
    assert!(begins.iter().any(|begin| told.starts_with(begin)), "{told}");
    assert!(json["advice"][0]["code"][0]["code"].as_str().unwrap().contains("BUFFER_BYTES"), "{json}");
    let page = home.read("run/report.html");
    assert!(page.contains("id=\"advice\"") && page.contains("from the search"), "{page}");
}

mod ring2 {
    use super::*;

    #[test]
    fn several_methods_are_raced_under_each_value_of_a_setting_after_the_search() {
        let home = Home::with_file("f.txt", "one\ntwo\nthree\n".repeat(10_000));
        home.file("setting", "1");
        let file = home.at("setting");
        let file = file.display();
        let setting =
            format!("--setting-command x=1,2 --apply 'printf %s {{x}} >\"{file}\"' --read 'cat \"{file}\"'");
        let methods = "--space 'buffer=16KiB|64KiB' --method rust/read/scalar --method rust/pread/scalar";
        let fixed = "tune f.txt --seed=7 --quiet --output run --state warm --budget 30s";
        home.readlab(format!("{fixed} {setting} {methods}")).exits(0);
        assert_eq!(home.read("setting"), "1");
        let record = home.record("run/settings");
        for method in ["read", "pread"] {
            let of_method = record.trials.iter().filter(|it| it.trial.method() == method && it.is_measured());
            let values: BTreeSet<String> =
                of_method.filter_map(|it| record.target_of(&it.trial)?.settings_words()).collect();
            assert_eq!(values, BTreeSet::from(["x=1", "x=2"].map(str::to_owned)), "{method}");
        }
    }

    #[test]
    fn a_search_in_the_terminal_shows_its_readings_and_code() {
        let words = "--space 'buffer=4KiB|64KiB' --method rust/read/scalar --state cold --no-progress";
        let said = home().readlab(format!("tune f.txt {words}")).succeeds_silently();
        for part in
            ["search: 2 settings in ", " afresh, ", "of the 20 that 10 of each would take", "advice, cold: "]
        {
            said.shows(part);
        }
        said.shows("    use std::fs::File;").hides("warm ·");
    }

    #[test]
    fn a_budget_that_is_used_up_before_most_were_read_is_reported_in_one_line() {
        let home = home();
        let fakes = ["f1", "f2", "f3", "f4", "f5", "f6"].map(|name| (name, "sleep 2; answer"));
        let words = search_of_fakes(&home, &fakes);
        // The one that was read is measured again. The others are of named contenders.
        let json = tune(&home, &format!("{words} --budget 1500ms")).exits(1);
        let absent = "of the roster did not take part: the search ended before it was read";
        assert_eq!(json.said.err.matches(absent).count(), 5, "{}", json.said);
        assert_eq!(json["end"]["reason"], "budget", "{json}");
        let again = measured_again(&json);
        assert!(again.len() == 1 && count(again[0], "samples") == 1, "{again:?}");
        let page = home.read("run/report.html");
        assert!(page.contains("the search ended before it was read") && page.contains(" more)"), "{page}");
    }

    #[test]
    fn after_the_search_the_best_is_raced_by_different_numbers_of_readers() {
        let home = Home::with_file("f.txt", "a line\n".repeat(1 << 16));
        let space = "--method rust/read/scalar --space 'buffer=4KiB|1MiB' --state warm";
        let words = "--readers 1,2 --output run --save both --no-progress";
        let said = home.readlab(format!("tune f.txt {words} {space}")).exits(0);
        said.shows("search: ").shows("2 readers read ");
        let search = home.record("run");
        let race = home.record("run/readers");
        assert_eq!(race.targets.iter().map(|it| it.reader_count).collect::<Vec<_>>(), [Some(1), Some(2)]);
        let read: BTreeSet<String> = race
            .trials
            .iter()
            .filter(|it| !it.trial.is_control() && it.trial.contender() == "rust")
            .map(|it| it.trial.id.to_string())
            .collect();
        assert_eq!(read.len(), 1, "the best of the only state: {read:?}");
        assert!(search.trials.iter().any(|it| read.contains(&it.trial.id.to_string())));
        home.readlab("report both-readers").exits(0);
        home.readlab("tune f.txt --readers 2 --export-json -").exits(2).tells("--export-json");
    }
}
