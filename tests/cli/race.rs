//! Tests of whole races on small files: tables, exports, exit codes, selections.

use crate::home::{Home, ProgramOutput, QUICK, READLAB, Trials, Words, items};
use serde_json::Value;

/// A home with a file of three lines, the last of which is not terminated.
fn home() -> Home {
    Home::with_file("f.txt", "one\ntwo\nthree")
}

const WARM_READ: &str = "--method rust/read/scalar --state warm";

/// Asserts that every field which the contract names exists, with the type that it names, and is
/// `null` only with a reason.
fn assert_contract(json: &Value) {
    assert!(json["schema"].is_string() && json["version"].is_u64(), "{json}");
    for field in ["machine", "limits", "trials", "seed", "command", "started", "targets", "contenders", "end"]
    {
        let known = !json[field].is_null() || json["missing"][field].is_string();
        assert!(known, "{field} is null without a reason: {}", json["missing"]);
    }
    for trial in json.trials() {
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
    let samples = items(&trial["samples"]);
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
fn commands_are_measured_refused_or_missing() {
    let commands = [
        "wc -l {}",
        "echo 7",
        "grep -c two {}",
        "cat {} | wc -l",
        "no-such-command {}",
        "false",
        "echo none",
    ];
    let commands: String = commands.iter().map(|command| format!(" -c '{command}'")).collect();
    let json = home().race_json("f.txt", format!("{WARM_READ}{commands}")).exits(1);
    assert_contract(&json);
    assert_eq!(json["seed"], 7, "that of the option");
    for (id, outcome, reason) in [
        ("command/wc -l", "measured", ""),
        ("command/cat {} | wc -l", "measured", ""),
        ("command/echo 7", "refused", "it answered 7 newlines; right is 13 bytes, 2 newlines"),
        ("command/grep -c two", "refused", "(if it counts something else: --check same or none)"),
        ("command/no-such-command", "unavailable", "no-such-command: not on the PATH"),
        ("command/false", "failed", "false ended with exit code 1"),
        ("command/echo none", "failed", "; if it counts nothing: --check same or none"),
        ("rust/read/scalar", "measured", ""),
    ] {
        json.ended(id, "warm", outcome, reason);
    }
}

#[test]
fn without_a_last_newline_counts_of_newlines_and_of_lines_prove_each_other() {
    let home = home();
    home.file("mine", "#!/bin/sh\nexec wc -l \"$1\"\n");
    let known = ["wc -l {}", "cat {} | wc -l", "grep -c '' {}", "awk 'END { print NR }' {}"];
    let commands = known.into_iter().chain(["sh mine {}", "echo 7"]).flat_map(|command| ["-c", command]);
    let commands: Vec<&str> = commands.collect();
    let only = ["--method", "rust/read/scalar", "--state", "warm", "--work"];
    for (work, mine, hint) in [
        ("newlines", "measured", ""),
        ("lines", "refused", "that is the number of newlines, right for --work newlines"),
    ] {
        let json = home.race_json("f.txt", [&commands[..], &only, &[work]].concat());
        for command in known {
            json.measured(&format!("command/{}", command.trim_end_matches(" {}")), "warm");
        }
        json.ended("command/sh mine", "warm", mine, hint);
        let wrong = json.trial("command/echo 7", "warm");
        let reason = wrong["reason"].as_str().unwrap();
        assert!(reason.ends_with("sum (if it counts something else: --check same or none)"), "{wrong}");
        let warnings = json["warnings"].to_string();
        let about_wc = "command/wc -l counts newlines: the last line has none, and readlab added it";
        assert_eq!(warnings.contains(about_wc), work == "lines", "{warnings}");
        assert_eq!(warnings.contains("command/grep -c '' counts lines"), work == "newlines", "{warnings}");
    }
}

#[test]
fn methods_are_chosen_by_globs_and_set_by_parameters() {
    let words = "--method rust/mmap/*r --method rust/read/scalar@buffer=8KiB --param threads=2 --state warm";
    let json = home().race_json("f.txt", words);
    let ids = json.trials().iter().filter(|trial| trial["cache"] != "none");
    let ids: Vec<&str> = ids.map(|trial| trial["id"].as_str().unwrap()).collect();
    for id in ["rust/mmap/scalar@threads=2", "rust/mmap/iterator@threads=2", "rust/read/scalar@buffer=8KiB"] {
        assert!(ids.contains(&id), "{ids:?}");
    }
    assert!(!ids.iter().any(|id| id.contains("avx2") || id.contains("buffered")), "{ids:?}");
    let read = json.trial("rust/read/scalar@buffer=8KiB", "warm");
    assert_eq!(read["params"]["buffer_bytes"], 8192);
}

#[test]
fn a_setting_in_the_name_of_a_method_precedes_the_setting_for_all_methods() {
    let own = "--method rust/read/scalar@buffer=8KiB --method rust/read/scalar@buffer=16KiB";
    let words = format!("{own} --method rust/pread/scalar --param buffer=4KiB --state warm");
    let json = home().race_json("f.txt", words);
    for id in
        ["rust/read/scalar@buffer=8KiB", "rust/read/scalar@buffer=16KiB", "rust/pread/scalar@buffer=4KiB"]
    {
        json.measured(id, "warm");
    }
}

#[test]
fn the_work_depends_on_the_content_or_on_the_option() {
    let home = home();
    home.file("f.bin", b"\0\x01\xff");
    for (file, words, sum) in [("f.bin", "", 0), ("f.txt", "--work sum", 200)] {
        let json = home.race_json(file, format!("{WARM_READ} {words}"));
        let trial = json.measured("rust/read/scalar", "warm");
        assert_eq!((&trial["work"], &trial["answer"]["sum"]), (&"sum".into(), &sum.into()), "{trial}");
    }
}

#[test]
fn the_table_names_its_reference_proof_and_record_and_exports_accompany_or_replace_it() {
    let home = home();
    let exports = "--export-csv a.csv --export-markdown a.md --export-json a.json";
    let said = home.race("f.txt", format!("{WARM_READ} {exports}")).succeeds_silently();
    for part in ["ratios are to wc -l", "warm · newlines · 13 B", "rust/read/scalar", "proof: ", "machine: "]
    {
        said.shows(part);
    }
    said.hides("cold ·").hides("\u{1b}");
    let record = said.out.lines().last().unwrap().strip_prefix("record: ").unwrap();
    let read = readlab_record::Record::read(record.as_ref()).unwrap();
    assert!(read.end.is_some() && record.starts_with(home.at(".local").to_str().unwrap()));
    let csv = home.read("a.csv");
    let header = csv.lines().next().unwrap();
    assert!(header.contains("wall_ns") && header.contains("round"), "{header}");
    assert!(home.read("a.md").contains("rust/read/scalar"), "{}", home.read("a.md"));
    assert_contract(&home.json("a.json"));
    let said = home.race("f.txt", format!("{WARM_READ} --export-csv -"));
    assert!(said.out.starts_with(header), "{said}");
    said.hides("record: ");
}

#[test]
fn an_export_that_cannot_be_written_is_reported_before_anything_is_measured() {
    let home = home();
    for (option, path) in [
        ("--export-json", "no/such/folder/a.json"),
        ("--export-csv", "f.txt/a.csv"),
        ("--export-markdown", "tmp"),
        ("--output", "f.txt/run"),
    ] {
        home.race("f.txt", [option, path]).refuses(path);
        assert!(home.runs().is_empty(), "{option}: a run was begun");
    }
    let words = format!("{WARM_READ} --quiet --output run");
    home.race("f.txt", &words).exits(0);
    home.race("f.txt", &words).refuses("run: has a record already, which is not overwritten\n");
}

mod ring2 {
    use super::*;

    #[test]
    fn the_default_line_up_races_and_its_export_follows_the_contract() {
        let home = Home::with_languages();
        let json = home.race_json(home.file("f.txt", "one\ntwo\nthree"), "").exits(0);
        assert_eq!(json.said.err, "");
        assert_contract(&json);
        assert_eq!(json["end"]["reason"], "settled");
        for (id, state) in [("command/wc -l", "cold"), ("command/wc -l", "warm"), ("rust/null", "warm")] {
            let samples = items(&json.measured(id, state)["samples"]);
            assert_eq!(samples.len(), 3, "--runs 3 is exact, whatever the file's size");
        }
        let contenders: Vec<_> = items(&json["contenders"]).iter().map(|c| &c["contender"]).collect();
        assert!(contenders.iter().any(|name| *name == "rust"), "{contenders:?}");
        home.assert_no_temporary_file();
    }

    #[test]
    fn colour_comes_when_requested_and_goes_with_no_color() {
        let home = home();
        let coloured = |words: &str, env: &[(&str, &str)]| {
            let mut command = home.command(READLAB);
            command.args(format!("race f.txt {QUICK} {WARM_READ} {words}").words()).envs(env.iter().copied());
            ProgramOutput::by(&mut command).exits(0).out.contains('\u{1b}')
        };
        assert!(coloured("--color always", &[]));
        assert!(!coloured("", &[]), "no terminal");
        assert!(coloured("", &[("CLICOLOR_FORCE", "1")]));
        assert!(!coloured("", &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    }

    #[test]
    fn targets_that_are_raced_apart_get_a_race_each_and_the_worst_exit_code_counts() {
        let home = Home::with_file("two.txt", "a\nb\n");
        home.file("three.txt", "a\nb\nc\n");
        let said =
            home.readlab(format!("race two.txt three.txt --apart {QUICK} {WARM_READ} -c 'echo 3'")).exits(1);
        assert_eq!(home.runs().len(), 2, "{said}");
        said.shows("two.txt").shows("three.txt");
    }
}
