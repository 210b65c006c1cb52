//! Tests of whole races on small files: tables, exports, exit codes, selections.

use super::{Home, trials};
use serde_json::Value;

const TEXT: &str = "one\ntwo\nthree";

/// That every field is there which the contract names, with the type that it names; `null` only
/// with a reason.
fn assert_contract(json: &Value) {
    assert!(json["schema"].is_string() && json["version"].is_u64(), "{json}");
    for field in ["machine", "limits", "trials", "seed", "command", "started", "targets", "contenders", "end"]
    {
        let known = !json[field].is_null() || json["missing"][field].is_string();
        assert!(known, "{field} is null without a reason: {}", json["missing"]);
    }
    for trial in json["trials"].as_array().unwrap() {
        for field in ["id", "contender", "method", "target", "work", "state", "outcome"] {
            assert!(trial[field].is_string(), "{field}: {trial}");
        }
        assert!(trial["params"].as_object().unwrap().values().all(Value::is_u64), "{trial}");
        assert!(trial["counts"].is_object() && trial["samples"].is_array());
        for field in ["answer", "summary", "limit", "share_of_limit", "verdict", "ratio"] {
            assert!(!trial[field].is_null() || trial["missing"][field].is_string(), "{field}: {trial}");
        }
        if trial["outcome"] == "measured" {
            assert!(trial["reason"].is_null());
            assert_measured(trial);
        } else {
            assert!(trial["reason"].is_string(), "{trial}");
        }
    }
}

fn assert_measured(trial: &Value) {
    let samples = trial["samples"].as_array().unwrap();
    assert!(!samples.is_empty(), "{trial}");
    for sample in samples {
        for field in ["wall_ns", "round", "position"] {
            assert!(sample[field].is_u64(), "{field}: {sample}");
        }
        let metered = ["cpu_user_ns", "cpu_system_ns", "peak_rss_bytes", "minor_faults", "major_faults"];
        for field in metered.into_iter().chain(["device_read_bytes"]) {
            let known = sample[field].is_u64() || trial["missing"][field].is_string();
            assert!(known, "{field} of {}: {sample} {}", trial["id"], trial["missing"]);
        }
        for field in ["resident_before", "resident_after"] {
            let share = sample[field].as_f64();
            let known = share.is_some_and(|share| (0.0..=1.0).contains(&share));
            assert!(known || trial["missing"][field].is_string(), "{field} of {}: {sample}", trial["id"]);
        }
    }
    let wall = &trial["summary"]["wall_ns"];
    for field in ["mean", "median", "p0", "p25", "p50", "p75", "p90", "p99", "p100", "n"] {
        assert!(wall[field].is_u64(), "{field}: {wall}");
    }
    assert_eq!(wall["n"].as_u64().unwrap(), samples.len() as u64);
    for (name, count) in trial["counts"].as_object().unwrap() {
        assert!(count["how"].as_str().is_some_and(|how| !how.is_empty()), "{name}: {count}");
    }
}

#[test]
fn the_table_names_its_reference_its_proof_and_the_record() {
    let home = Home::new();
    let said = home.race(&home.file("f.txt", TEXT), &["--method", "rust/read/scalar", "--state", "warm"]);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{said}");
    for part in ["ratios are to wc -l", "warm · newlines · 13 B", "rust/read/scalar", "proof: ", "machine: "]
    {
        assert!(said.out.contains(part), "no {part:?} in {said}");
    }
    assert!(!said.out.contains("cold ·") && !said.out.contains('\u{1b}'), "{said}");
    let record = said.out.lines().last().unwrap().strip_prefix("record: ").unwrap();
    let read = readlab_record::Record::read(record.as_ref()).unwrap();
    assert!(read.end.is_some() && record.starts_with(home.at(".local").to_str().unwrap()));
}

#[test]
fn commands_answer_are_refused_or_are_not_there() {
    let home = Home::new();
    let commands = ["wc -l {}", "echo 7", "cat {} | wc -l", "no-such-command {}", "false", "echo none"];
    let words: Vec<&str> = commands.iter().flat_map(|command| ["-c", *command]).collect();
    let words = [&words[..], &["--method", "rust/read/scalar", "--state", "warm"]].concat();
    let (json, said) = home.race_json(&home.file("f.txt", TEXT), &words);
    assert_eq!(said.code, Some(1), "some were refused: {}", said.err);
    assert_contract(&json);
    for (id, outcome, reason) in [
        ("command/wc -l", "measured", None),
        ("command/cat {} | wc -l", "measured", None),
        ("command/echo 7", "refused", Some("it answered 7 newlines; right is 13 bytes, 2 newlines")),
        ("command/no-such-command", "unavailable", Some("no-such-command: not on the PATH")),
        ("command/false", "failed", Some("false ended with exit code 1")),
        ("command/echo none", "failed", Some("no number in its output")),
        ("rust/read/scalar", "measured", None),
    ] {
        let trial = trials(&json, id, "warm");
        assert_eq!(trial["outcome"], outcome, "{trial}");
        let said = trial["reason"].as_str();
        assert!(said.unwrap_or_default().contains(reason.unwrap_or_default()), "{said:?}");
    }
}

#[test]
fn an_unavailable_trial_is_no_failure_unless_it_was_requested_by_name() {
    let home = Home::new();
    let file = home.file("f.txt", TEXT);
    let words = ["--method", "rust/{direct,read}/scalar", "--state", "warm", "--quiet"];
    let said = home.race(&file, &words);
    assert_eq!((said.code, said.out.as_str(), said.err.as_str()), (Some(0), "", ""));
    assert_eq!(home.race(&file, &[&words[..], &["-c", "no-such-command {}"]].concat()).code, Some(1));
}

#[test]
fn where_the_last_line_has_no_newline_counts_of_newlines_and_of_lines_prove_each_other() {
    let home = Home::new();
    let file = home.file("f.txt", "one\ntwo\nthree");
    home.file("mine", "#!/bin/sh\nexec wc -l \"$1\"\n");
    let commands =
        ["wc -l {}", "cat {} | wc -l", "grep -c '' {}", "awk 'END { print NR }' {}", "sh mine {}", "echo 7"];
    let words: Vec<&str> = commands.iter().flat_map(|command| ["-c", *command]).collect();
    let only = ["--method", "rust/read/scalar", "--state", "warm", "--work"];
    for (work, mine, hint) in [
        ("newlines", "measured", None),
        ("lines", "refused", Some("that is the number of newlines, right for --work newlines")),
    ] {
        let (json, said) = home.race_json(&file, &[&words[..], &only, &[work]].concat());
        for id in ["wc -l", "cat {} | wc -l", "grep -c ''", "awk 'END { print NR }'"] {
            let trial = trials(&json, &format!("command/{id}"), "warm");
            assert_eq!(trial["outcome"], "measured", "{work}: {trial}: {said}");
        }
        let unknown = trials(&json, "command/sh mine", "warm");
        assert_eq!(unknown["outcome"], mine, "{unknown}");
        assert!(
            unknown["reason"].as_str().unwrap_or_default().contains(hint.unwrap_or_default()),
            "{unknown}"
        );
        let wrong = trials(&json, "command/echo 7", "warm");
        assert!(wrong["reason"].as_str().unwrap().ends_with("sum"), "no hint for any other number: {wrong}");
        let (added, warnings) = ("and readlab added it", json["warnings"].to_string());
        let about_wc = format!("command/wc -l counts newlines: the last line has none, {added}");
        assert_eq!(warnings.contains(&about_wc), work == "lines", "{warnings}");
        assert_eq!(warnings.contains("command/grep -c '' counts lines"), work == "newlines", "{warnings}");
    }
}

#[test]
fn methods_are_chosen_by_globs_and_set_by_parameters() {
    let home = Home::new();
    let file = home.file("f.txt", TEXT);
    let words =
        ["--method", "rust/mmap/*r", "--method", "rust/read/scalar@buffer=8KiB", "--param", "threads=2"];
    let (json, _) = home.race_json(&file, &[&words[..], &["--state", "warm"]].concat());
    let ids = json["trials"].as_array().unwrap().iter().filter(|trial| trial["cache"] != "none");
    let ids: Vec<&str> = ids.map(|trial| trial["id"].as_str().unwrap()).collect();
    for id in ["rust/mmap/scalar@threads=2", "rust/mmap/iterator@threads=2", "rust/read/scalar@buffer=8KiB"] {
        assert!(ids.contains(&id), "{ids:?}");
    }
    assert!(!ids.iter().any(|id| id.contains("avx2") || id.contains("buffered")), "{ids:?}");
    let read = trials(&json, "rust/read/scalar@buffer=8KiB", "warm");
    assert_eq!(read["params"]["buffer_bytes"], 8192);
}

#[test]
fn work_follows_the_content_or_the_users_word() {
    let home = Home::new();
    let (binary, text) = (home.file("f.bin", b"\0\x01\xff"), home.file("f.txt", TEXT));
    let only = ["--method", "rust/read/scalar", "--state", "warm"];
    for (file, words, work) in [
        (&binary, &[][..], "sum"),
        (&text, &[], "newlines"),
        (&text, &["--work", "sum"], "sum"),
        (&binary, &["--work", "newlines"], "newlines"),
    ] {
        let (json, said) = home.race_json(file, &[&only[..], words].concat());
        let trial = trials(&json, "rust/read/scalar", "warm");
        assert_eq!((&trial["work"], &trial["outcome"]), (&work.into(), &"measured".into()), "{said}");
    }
    let (json, _) = home.race_json(&binary, &only);
    assert_eq!(trials(&json, "rust/read/scalar", "warm")["answer"]["sum"], 0, "1 + 255 wraps");
}

#[test]
fn the_same_seed_gives_the_same_order() {
    let home = Home::new();
    let file = home.file("f.txt", TEXT);
    let order = || {
        let (json, _) = home.race_json(&file, &["--method", "rust/read", "--state", "warm"]);
        let samples = json["trials"].as_array().unwrap().iter().flat_map(|trial| {
            let samples = trial["samples"].as_array().unwrap();
            samples.iter().map(|s| (s["round"].as_u64(), s["position"].as_u64(), trial["id"].to_string()))
        });
        let mut order: Vec<_> = samples.collect();
        order.sort();
        order
    };
    assert_eq!(order(), order());
}

#[test]
fn exports_go_to_files_beside_the_table_or_alone_to_standard_output() {
    let home = Home::new();
    let file = home.file("f.txt", TEXT);
    let only = ["--method", "rust/read/scalar", "--state", "warm"];
    let files = ["--export-csv", "a.csv", "--export-markdown", "a.md", "--export-json", "a.json"];
    let said = home.race(&file, &[&only[..], &files].concat());
    assert!(said.out.contains("record: "), "{said}");
    let text = |name: &str| std::fs::read_to_string(home.at(name)).unwrap();
    let header = text("a.csv").lines().next().unwrap().to_owned();
    assert!(header.contains("wall_ns") && header.contains("round"), "{header}");
    assert!(text("a.md").contains("rust/read/scalar"), "{}", text("a.md"));
    assert_contract(&serde_json::from_str(&text("a.json")).unwrap());
    let said = home.race(&file, &[&only[..], &["--export-csv", "-"]].concat());
    assert!(said.out.starts_with(&header) && !said.out.contains("record: "), "{said}");
}

#[test]
fn an_export_that_cannot_be_written_is_reported_before_anything_is_measured() {
    let home = Home::new();
    let file = home.file("f.txt", TEXT);
    for (option, path) in [
        ("--export-json", "no/such/folder/a.json"),
        ("--export-csv", "f.txt/a.csv"),
        ("--export-markdown", "tmp"),
        ("--output", "f.txt/run"),
    ] {
        let said = home.race(&file, &[option, path]);
        assert!(said.refusal().contains(path), "{said}");
        assert!(home.runs().is_empty(), "{option}: a run was begun");
    }
    let only = ["--method", "rust/read/scalar", "--state", "warm", "--quiet", "--output", "run"];
    assert_eq!(home.race(&file, &only).code, Some(0));
    let again = home.race(&file, &only);
    assert!(again.refusal().ends_with("run: has a record already, which is not overwritten"), "{again}");
}

mod ring2 {
    use super::*;

    #[test]
    fn the_default_line_up_races_and_its_export_keeps_the_contract() {
        let home = Home::with_languages();
        let (json, said) = home.race_json(&home.file("f.txt", TEXT), &[]);
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
        assert_contract(&json);
        assert_eq!(json["end"]["reason"], "settled");
        for (id, state) in [("command/wc -l", "cold"), ("command/wc -l", "warm"), ("rust/null", "warm")] {
            let trial = trials(&json, id, state);
            assert_eq!(trial["outcome"], "measured", "{trial}");
            assert_eq!(
                trial["samples"].as_array().unwrap().len(),
                3,
                "--runs 3 is exact, whatever the file's size"
            );
        }
        let contenders: Vec<_> =
            json["contenders"].as_array().unwrap().iter().map(|c| &c["contender"]).collect();
        assert!(contenders.iter().any(|name| *name == "rust"), "{contenders:?}");
        let left: Vec<_> = std::fs::read_dir(home.temporary()).unwrap().collect();
        assert!(left.is_empty(), "temporary files were left: {left:?}");
    }

    #[test]
    fn the_reference_is_the_one_that_was_named() {
        let home = Home::new();
        let words =
            ["--method", "rust/{read,mmap}/scalar", "--reference", "rust/mmap/scalar", "--state", "warm"];
        let (json, _) = home.race_json(&home.file("f.txt", TEXT), &words);
        assert_eq!(trials(&json, "rust/read/scalar", "warm")["ratio"]["reference"], "rust/mmap/scalar");
        let missing = &trials(&json, "rust/mmap/scalar", "warm")["missing"]["ratio"];
        assert_eq!(missing, "it is the reference");
    }

    #[test]
    fn colour_comes_when_requested_and_goes_with_no_color() {
        let home = Home::new();
        let file = home.file("f.txt", TEXT);
        let coloured = |words: &[&str], env: &[(&str, &str)]| {
            let mut command = home.command(super::super::READLAB);
            command.arg("race").arg(&file).args(super::super::QUICK).args(words).envs(env.iter().copied());
            command.args(["--method", "rust/read/scalar", "--state", "warm"]);
            let said = super::super::Said::by(&mut command);
            assert_eq!(said.code, Some(0), "{said}");
            said.out.contains('\u{1b}')
        };
        assert!(coloured(&["--color", "always"], &[]));
        assert!(!coloured(&[], &[]), "no terminal");
        assert!(coloured(&[], &[("CLICOLOR_FORCE", "1")]));
        assert!(!coloured(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    }

    #[test]
    fn several_targets_get_a_race_each_and_the_worst_end_is_the_exit_code() {
        let home = Home::new();
        let (two, three) = (home.file("two.txt", "a\nb\n"), home.file("three.txt", "a\nb\nc\n"));
        let mut command = home.command(super::super::READLAB);
        command.arg("race").args([&two, &three]).args(super::super::QUICK);
        let said = super::super::Said::by(command.args([
            "-c",
            "echo 3",
            "--method",
            "rust/read/scalar",
            "--state",
            "warm",
        ]));
        assert_eq!((said.code, home.runs().len()), (Some(1), 2), "{said}");
        assert!(said.out.contains("two.txt") && said.out.contains("three.txt"));
    }
}
