//! Tests of whole searches on small files: readings of the search and final readings, advice, and
//! contenders that fail.

use super::fake::{Fake, roster};
use super::{Home, Said, trials};
use readlab_record::Record;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

const TEXT: &str = "one\ntwo\nthree\n";

/// What a search exports as JSON.
fn tune(home: &Home, target: &Path, words: &[&str]) -> (Value, Said) {
    let mut command = home.command(super::READLAB);
    command.arg("tune").arg(target).args(["--seed=7", "--quiet", "--export-json", "-", "--output", "run"]);
    let said = Said::by(command.args(words));
    let json = serde_json::from_str(&said.out);
    (json.unwrap_or_else(|error| panic!("{error}: {said}")), said)
}

fn count(trial: &Value, field: &str) -> usize {
    trial[field].as_array().unwrap().len()
}

/// The trials that were measured again, without the controls.
fn fresh(json: &Value) -> Vec<&Value> {
    let all = json["trials"].as_array().unwrap().iter();
    all.filter(|trial| trial["cache"] != "none" && count(trial, "samples") > 0).collect()
}

#[test]
fn settings_are_searched_and_the_best_are_measured_afresh() {
    let home = Home::new();
    let file = home.file("f.txt", TEXT.repeat(10_000));
    let space = ["--space", "buffer=1KiB..64KiB", "--method", "rust/read/scalar", "--state", "warm"];
    let (json, said) = tune(&home, &file, &space);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{said}");
    assert_eq!(json["verb"], "tune");
    let search = &json["searches"][0];
    assert_eq!((&search["settings"], &search["readings_exhaustive"]), (&7.into(), &70.into()));
    for size in ["1KiB", "2KiB", "4KiB", "8KiB", "16KiB", "32KiB", "64KiB"] {
        let trial = trials(&json, &format!("rust/read/scalar@buffer={size}"), "warm");
        assert_eq!(trial["outcome"], "measured", "{trial}");
        assert!(count(trial, "searched") > 0 && trial["searched"][0]["rung"] == 0, "{trial}");
        assert!([0, 10].contains(&count(trial, "samples")), "{trial}");
        assert_eq!(trial["summary"].is_null(), count(trial, "samples") == 0, "only fresh readings are told");
    }
    let ids: Vec<&str> = fresh(&json).iter().map(|trial| trial["id"].as_str().unwrap()).collect();
    assert!(ids.contains(&"rust/buffered/iterator@buffer=8KiB") && [3, 4].contains(&ids.len()), "{ids:?}");
    let told = json["advice"][0]["sentence"].as_str().unwrap();
    assert!(
        told.starts_with("warm: use rust/read with scalar and ") || told.starts_with("warm: keep "),
        "{told}"
    );
    assert!(json["advice"][0]["code"][0]["code"].as_str().unwrap().contains("BUFFER_BYTES"), "{json}");
    let page = std::fs::read_to_string(home.at("run/report.html")).unwrap();
    assert!(page.contains("id=\"advice\"") && page.contains("from the search"), "{page}");
}

#[test]
fn a_contender_that_fails_in_a_later_rung_leaves_and_the_search_continues() {
    let home = Home::new();
    let file = home.file("f.txt", TEXT);
    // Each start reads once untimed and once with a clock: the fourth reading is that of the second
    // rung.
    let dies = "echo x >> \"$0.turns\"; if [ $(wc -l < \"$0.turns\") -ge 4 ]; then echo late >&2; exit 7; fi; answer";
    let names = ["dies", "f1", "f2", "f3", "f4", "f5", "f6", "f7"];
    let fakes: Vec<Fake> =
        names.iter().map(|name| Fake { name, turn: if *name == "dies" { dies } else { "answer" } }).collect();
    let roster = roster(&home, &fakes);
    let words = ["--roster", &roster, "--method", "dies/read", "--method", "f?/read", "--state", "warm"];
    let (json, said) = tune(&home, &file, &words);
    assert_eq!(said.code, Some(1), "{said}");
    let dead = trials(&json, "dies/read", "warm");
    assert_eq!((&dead["outcome"], count(dead, "searched")), (&"failed".into(), 1), "{dead}");
    assert!(dead["reason"].as_str().unwrap().contains("it exited with 7: late"), "{dead}");
    assert_eq!((&json["end"]["reason"], fresh(&json).len()), (&"settled".into(), 3), "{json}");
}

#[test]
fn a_single_candidate_is_measured_without_a_search() {
    let home = Home::new();
    let file = home.file("f.txt", TEXT);
    let words =
        ["--method", "rust/read/scalar@buffer=4KiB", "--reference", "command/wc -l {}", "--state", "warm"];
    let (json, said) = tune(&home, &file, &words);
    assert_eq!(said.code, Some(0), "{said}");
    let ids: Vec<&Value> = fresh(&json).iter().map(|trial| &trial["id"]).collect();
    assert_eq!(ids, ["command/wc -l", "rust/read/scalar@buffer=4KiB"]);
    assert_eq!(json["searches"], Value::from(Vec::<Value>::new()));
}

mod ring2 {
    use super::*;

    #[test]
    fn a_search_in_the_terminal_shows_its_readings_and_code() {
        let home = Home::new();
        let file = home.file("f.txt", TEXT);
        let words = [
            "--space",
            "buffer=4KiB|64KiB",
            "--method",
            "rust/read/scalar",
            "--state",
            "cold",
            "--no-progress",
        ];
        let said = Said::by(home.command(super::super::READLAB).arg("tune").arg(&file).args(words));
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{said}");
        for part in
            ["search: 2 settings in ", " afresh, ", "of the 20 that 10 of each would take", "advice, cold: "]
        {
            assert!(said.out.contains(part), "no {part:?} in {said}");
        }
        assert!(said.out.contains("    use std::fs::File;") && !said.out.contains("warm ·"), "{said}");
    }

    #[test]
    fn where_every_candidate_fails_nothing_is_reported() {
        let home = Home::new();
        let file = home.file("f.txt", TEXT);
        let fakes = ["f1", "f2"].map(|name| Fake { name, turn: "exit 3" });
        let roster = roster(&home, &fakes);
        let (json, said) =
            tune(&home, &file, &["--roster", &roster, "--method", "f?/read", "--state", "warm"]);
        assert_eq!(said.code, Some(1), "{said}");
        assert_eq!(
            (fresh(&json).len(), &json["searches"], &json["advice"]),
            (0, &Value::from(Vec::<Value>::new()), &Value::from(Vec::<Value>::new()))
        );
        for name in ["f1/read", "f2/read"] {
            assert_eq!(trials(&json, name, "warm")["outcome"], "failed");
        }
    }

    #[test]
    fn a_budget_that_is_used_up_before_most_were_read_is_reported_in_one_line() {
        let home = Home::new();
        let file = home.file("f.txt", TEXT);
        let fakes = ["f1", "f2", "f3", "f4", "f5", "f6"].map(|name| Fake { name, turn: "sleep 2; answer" });
        let roster = roster(&home, &fakes);
        let words = ["--roster", &roster, "--method", "f?/read", "--state", "warm", "--budget", "1500ms"];
        let (json, said) = tune(&home, &file, &words);
        assert_eq!(
            (&json["end"]["reason"], said.code),
            (&"budget".into(), Some(2)),
            "five were left out, and none was measured afresh: {said}"
        );
        assert!(said.err.contains("after 1 reading of the search"), "{said}");
        let page = std::fs::read_to_string(home.at("run/report.html")).unwrap();
        assert!(page.contains("used up before the first reading") && page.contains(" more)"), "{page}");
    }

    #[test]
    fn two_identical_candidates_are_a_tie_or_as_rarely_something_else_as_chance_allows() {
        let home = Home::new();
        let file = home.file("f.txt", TEXT);
        let fakes = ["f1", "f2"].map(|name| Fake { name, turn: "answer" });
        let roster = roster(&home, &fakes);
        // These report the same time in every turn.
        let (json, said) =
            tune(&home, &file, &["--roster", &roster, "--method", "f?/read", "--state", "warm"]);
        assert_eq!(said.code, Some(0), "{said}");
        let ranks: Vec<&Value> =
            ["f1/read", "f2/read"].iter().map(|id| &trials(&json, id, "warm")["rank"]["place"]).collect();
        assert_eq!(ranks[0], ranks[1], "{json}");
    }

    #[test]
    fn after_the_search_the_best_is_raced_by_different_numbers_of_readers() {
        let home = Home::new();
        let file = home.file("f.txt", "a line\n".repeat(1 << 16));
        let file = file.to_str().unwrap();
        let space = ["--method", "rust/read/scalar", "--space", "buffer=4KiB|1MiB", "--state", "warm"];
        let words = ["tune", file, "--readers", "1,2", "--output", "run", "--save", "both", "--no-progress"];
        let said = home.readlab([&words[..], &space].concat());
        assert_eq!(said.code, Some(0), "{said}");
        assert!(said.out.contains("search: ") && said.out.contains("2 readers read "), "{said}");
        let search = Record::read(&home.at("run/record.jsonl")).unwrap();
        let race = Record::read(&home.at("run/readers/record.jsonl")).unwrap();
        assert_eq!(race.targets.iter().map(|it| it.readers).collect::<Vec<_>>(), [Some(1), Some(2)]);
        let read: BTreeSet<String> = race
            .trials
            .iter()
            .filter(|it| !it.trial.is_control() && it.trial.contender() == "rust")
            .map(|it| it.trial.id.to_string())
            .collect();
        assert_eq!(read.len(), 1, "the best of the only state: {read:?}");
        assert!(search.trials.iter().any(|it| read.contains(&it.trial.id.to_string())));
        assert_eq!(home.readlab(["report", "both-readers"]).code, Some(0));
        let said = home.readlab(["tune", file, "--readers", "2", "--export-json", "-"]);
        assert!(said.code == Some(2) && said.err.contains("--export-json"), "{said}");
    }
}
