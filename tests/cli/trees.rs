//! Tests of many files as one target, `readlab race FOLDER` and `--files-from`: which files are found,
//! and how they are read.

use crate::fake::roster_of;
use crate::home::{Export, Home, ProgramOutput, QUICK, READLAB, Trials, Words, items, set_mode};
use readlab_model::trial::CacheState;
use readlab_record::{Outcome, TrialRecord};
use rustix::fs::{CWD, FileType, mknodat};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

const FILE_COUNT: usize = 40;
/// One method of each kind: for single files, for lists, and with a walk.
const THREE_METHODS: &str =
    "--method rust/read/scalar --method rust/files-threads/scalar --method rust/walk/scalar";

/// A home with text in files of two folders, and with other things than files.
fn home() -> Home {
    let home = Home::new();
    for index in 0..FILE_COUNT {
        let folder = if index % 2 == 0 { "tree" } else { "tree/deep" };
        home.file(format!("{folder}/{index}.txt"), "a line\n".repeat(index) + "without end");
    }
    symlink(home.at("tree"), home.at("tree/loop")).unwrap();
    mknodat(CWD, home.at("tree/pipe"), FileType::Fifo, 0o600.into(), 0).unwrap();
    drop(UnixListener::bind(home.at("tree/socket")).unwrap());
    home
}

fn newlines() -> u64 {
    (0..FILE_COUNT as u64).sum()
}

/// The trials of a document that are neither controls nor unavailable.
fn measured_trials(json: &Value) -> Vec<&Value> {
    json.trials().iter().filter(|it| it["outcome"] == "measured" && it["cache"] != "none").collect()
}

/// Asserts that the answer is right: the number of newlines, or for ripgrep the number of lines, of
/// which each file has one more.
fn assert_right(trial: &Value, newlines: u64, files: usize) {
    let answer = &trial["answer"];
    let lines = newlines + files as u64;
    assert!(answer["newlines"] == newlines || answer["lines"] == lines, "{trial}");
}

#[test]
fn all_files_of_a_folder_are_one_target_cold_and_warm_and_other_entries_are_counted() {
    let home = home();
    let json = home.race_shown("tree", THREE_METHODS);
    json.said.shows("files/s").shows("40 files of ").shows("1 link, 1 pipe and 1 socket");
    let target = &json["targets"][0];
    let facts = &target["tree"];
    assert_eq!((&facts["files"], &facts["folders"]), (&FILE_COUNT.into(), &2.into()), "{target}");
    for kind in ["links", "pipes", "sockets"] {
        assert_eq!(facts["skipped"][kind], 1, "{target}");
    }
    for trial in measured_trials(&json) {
        assert_right(trial, newlines(), FILE_COUNT);
        assert_eq!(trial["files"], FILE_COUNT);
        if trial["contender"] != "command" {
            assert_eq!(trial["answer"]["files"], FILE_COUNT, "{trial}");
        }
        assert!(trial["files_per_s"].as_u64().unwrap() > 0, "{trial}");
    }
    let names: Vec<&str> = measured_trials(&json).iter().map(|it| it["method"].as_str().unwrap()).collect();
    for method in ["read", "files-threads", "walk"] {
        assert!(names.contains(&method), "{method}: {names:?}");
    }
    // Every cold reading found no page of any file in the cache, and every warm one found all
    // pages.
    let record = home.record(&home.runs()[0]);
    let trials = record.trials.iter().filter(|it| it.outcome == Some(Outcome::Measured));
    let (controls, read): (Vec<_>, Vec<_>) = trials.partition(|it| it.trial.is_control());
    let samples = |trials: &[&TrialRecord]| trials.iter().map(|it| it.samples.len()).sum::<usize>();
    assert!(samples(&read) > 12, "{read:?}");
    for it in read {
        let expected = if it.trial.state == CacheState::Cold { 0.0 } else { 1.0 };
        let is_proven = it.samples.iter().all(|sample| sample.resident_before == Some(expected));
        assert!(is_proven, "{} {}: {:?}", it.trial.id, it.trial.state, it.samples);
    }
    // The state of a control is recorded and not proven, and the kernel may drop a page at any time.
    // A control without a limit reads nothing, and no file is examined for it.
    for it in controls {
        let is_examined = it.trial.limit_kind().is_some();
        let is_right = it.samples.iter().all(|sample| sample.resident_before.is_some() == is_examined);
        assert!(is_right, "{}: {:?}", it.trial.id, it.samples);
    }
}

/// Writes a list of every other file, and of the first one again, with this character after each
/// path.
fn write_list(home: &Home, end: char) {
    let names = (0..FILE_COUNT).step_by(2).chain([0]);
    let paths = names.map(|index| format!("{}{end}", home.at(format!("tree/{index}.txt")).display()));
    home.file("list", paths.collect::<String>());
}

#[test]
fn a_list_of_lines_is_read_and_duplicates_are_reported() {
    let home = home();
    write_list(&home, '\n');
    let words = format!("race --files-from list --export-json - --quiet {QUICK} {THREE_METHODS}");
    // The walk takes no part, because it has no folder.
    let json = home.readlab(words).exits(1).json();
    let facts = &json["targets"][0]["tree"];
    assert_eq!((&facts["files"], &facts["duplicates"]), (&(FILE_COUNT / 2).into(), &1.into()));
    let why = "it walks a folder, and the files are from a list";
    assert_eq!(json.trial_with("method", "walk")["reason"], why);
    let right: u64 = (0..FILE_COUNT as u64).step_by(2).sum();
    measured_trials(&json).into_iter().for_each(|trial| assert_right(trial, right, FILE_COUNT / 2));
}

/// Fakes that walk a folder: each has a name, its turn, and the outcome that it must have with words
/// of the reason.
type Walker = (&'static str, String, &'static str, &'static str);

/// Races these walkers, whose method finds this, and asserts their outcomes.
fn race_walkers(home: &Home, finds: &str, walkers: &[Walker], words: &str) -> Export {
    let method = format!(r#""method":"walk","scans":{{"{finds}":["-"]}},"reads":"folder""#);
    let fakes: Vec<(&str, &str)> = walkers.iter().map(|(name, turn, ..)| (*name, turn.as_str())).collect();
    let methods: String = fakes.iter().map(|(name, _)| format!(" --method {name}/walk")).collect();
    let roster = roster_of(home, &method, &fakes);
    let json = home.race_json("tree", format!("--roster {roster} --state warm {words}{methods}")).exits(1);
    for (name, _, outcome, why) in walkers {
        json.ended(&format!("{name}/walk"), "warm", outcome, why);
    }
    json
}

/// The turn of a fake that answers with right sums, gives this proof of the files, and does this at
/// the end.
fn walk_with(files: &str, deed: &str) -> String {
    format!(
        r#"answered=$count
    while [ "$count" -gt 0 ]; do
        newlines=$(find "$target" -type f -exec cat {{}} + | wc -l)
        say '{{"say":"sample","wall_ns":1500000,"newlines":'"$newlines"'{files}}}'
        count=$((count - 1))
    done
    {deed}
    say '{{"say":"done","count":'"$answered"'}}'"#
    )
}

/// The proof that each file of the tree was read: the sum over all files (METHOD.md).
fn products() -> u64 {
    (0..FILE_COUNT as u64).map(|index| (7 * index + "without end".len() as u64 + 1) * (index + 1)).sum()
}

#[test]
fn a_contender_that_does_not_prove_each_file_or_keeps_one_between_turns_is_refused() {
    let proof = format!(",\"files\":{FILE_COUNT},\"products\":{}", products());
    let unproven = "do not prove that it read each file or block once";
    let kept = "/deep/3.txt open between turns (process ";
    let walkers = [
        ("unproven", walk_with("", ""), "refused", unproven),
        ("misproven", walk_with(",\"files\":40,\"products\":1", ""), "refused", unproven),
        ("short", walk_with(",\"files\":39,\"products\":1", ""), "refused", "right is"),
        ("keeper", walk_with(&proof, "exec 9<\"$target/deep/3.txt\""), "refused", kept),
        ("honest", walk_with(&proof, "exec 9<\"$0\""), "measured", ""),
    ];
    race_walkers(&home(), "newlines", &walkers, "");
}

#[test]
fn a_file_that_changes_or_goes_while_the_tree_is_read_ends_the_run_and_is_named() {
    for deed in ["echo more >> tree/deep/3.txt", "rm tree/deep/3.txt", "touch tree/deep/new"] {
        let home = home();
        // The program does this once, at its second start.
        let once = format!("[ -e once2 ] || {{ [ ! -e once ] || {{ {deed}; touch once2; }}; touch once; }}");
        home.program("meddle", format!("#!/bin/sh\n{once}\n"));
        let command = "./meddle; xargs -0 cat < {list} | wc -l";
        let words = "--state warm --runs 9 --no-progress --method rust/read/scalar";
        let said = home.readlab(format!("race tree --command \"{command}\" {words}")).exits(1);
        let all = format!("{}{}", said.out, said.err);
        let place = home.at("tree/deep").display().to_string();
        assert!(all.contains(&place) && all.contains("while it was raced"), "{deed}: {said}");
    }
}

#[test]
fn a_name_that_comes_and_goes_while_the_tree_is_read_ends_no_run() {
    let command = "touch tree/lock; rm tree/lock; xargs -0 cat < {list} | wc -l";
    let words = format!("--state warm --method rust/read/scalar --command \"{command}\"");
    let json = home().race_json("tree", words).exits(0);
    json.ended(&format!("command/{command}"), "warm", "measured", "");
}

#[test]
fn targets_and_options_that_do_not_fit_are_refused() {
    let home = home();
    (0..9).for_each(|index| drop(home.file(format!("same/{index}"), "same\n")));
    home.folder("empty");
    home.file("missing", "/nonexistent/file\n");
    home.file("pipes", home.at("tree/pipe").to_str().unwrap());
    for (words, why) in [
        ("race empty", "empty: no file in it"),
        (
            "race --files-from missing",
            "no file in it, only 1 name without a file; the first is /nonexistent/file",
        ),
        ("race tree --http", "--http needs a file of this machine, and no target is one"),
        // The lab does not wait for the pipe.
        ("race --files-from pipes", "no file in it, only 1 pipe"),
        ("race same --per-file", "its files are of nearly one size"),
        ("race same --per-file --readers 2", "--per-file: not with --readers"),
        ("race same/1 --per-file", "same/1: --per-file is for the files of a folder"),
        // Options about bytes do not suit works that find names.
        (
            "race tree/0.txt --work names",
            "0.txt: --work names is about what is below a folder, and this is none",
        ),
        ("race tree --work stat --state cold", "names and inodes are cold only with --metadata cold"),
        ("race tree --work names --follow", "--follow: --work names finds the names of a folder"),
        ("race tree --work stat --per-file", "--per-file: --work stat finds the names of a folder"),
        ("race tree --work names --readers 2", "--readers: --work names finds the names of a folder"),
        ("race tree --work names --range 0:1", "--range: --work names finds the names of a folder"),
        ("race tree --work stat --ranges tree/0.txt", "--ranges: --work stat finds the names of a folder"),
        ("race tree --work names --output tree/run", "readlab writes below it"),
        ("tune tree/0.txt --work stat", "--work stat: tune searches"),
    ] {
        home.readlab(words).exits(2).tells(why);
    }
    assert!(!home.at("tree/run").exists(), "nothing is left of a run that did not begin");
}

#[test]
fn links_are_followed_on_request_and_walks_that_follow_none_do_not_take_part() {
    let home = Home::new();
    home.file("blobs/1", "a line\n".repeat(1000));
    symlink("../blobs/1", home.folder("snapshot").join("model")).unwrap();
    home.race("snapshot", "").refuses("only 1 link (--follow reads what links lead to)");
    let words = "--follow --method rust/read/scalar --method rust/walk/scalar --state warm \
                 -c 'cat $(find -L {} -type f) | wc -l'";
    // The walk was requested by name, and takes no part.
    let json = home.race_json("snapshot", words).exits(1);
    json.said.tells("it walks the folder and follows no links");
    let names: Vec<&str> = measured_trials(&json).iter().map(|it| it["method"].as_str().unwrap()).collect();
    assert!(names.contains(&"read") && names.len() > 1, "the command follows links, too: {names:?}");
    assert_eq!(json["targets"][0]["tree"]["follows_links"], true);
}

#[test]
fn the_names_of_a_home_folder_are_found_if_readlab_writes_elsewhere() {
    let (home, other) = (home(), Home::new());
    let words = "race . --work names --method rust/names-readdir --runs 3 --quiet";
    let data = "/.local/share/readlab (elsewhere by XDG_DATA_HOME), ";
    home.readlab(words).refuses(data).tells("/.cache/readlab (elsewhere by XDG_CACHE_HOME), ");
    let mut command = home.command(READLAB);
    command.env("XDG_DATA_HOME", other.at("data")).env("XDG_CACHE_HOME", other.at(".cache"));
    command.env("TMPDIR", other.temporary()).args(words.split(' '));
    ProgramOutput::by(&mut command).exits(0);
}

#[test]
fn files_that_readlab_writes_below_a_folder_are_no_part_of_it() {
    // The target is the whole home, with its data folder and the folder for temporary files.
    let json = home().race_json(".", "--method rust/read/scalar --state warm").exits(0);
    let cautions = json["targets"][0]["cautions"].to_string();
    assert!(cautions.contains("Not read, for readlab writes there:"), "{cautions}");
    assert!(cautions.contains("Contenders that walk the folder would read it"), "{cautions}");
    // The second race finds the exports of the first, which it replaces.
    let home = home();
    for is_repeated in [false, true] {
        let exports = "--export-json out.json --export-csv tree/out.csv --export-markdown out.md";
        home.race(".", format!("--method rust/read/scalar --state warm --quiet {exports}")).exits(0);
        let json: Value = serde_json::from_str(&home.read("out.json")).unwrap();
        let cautions = json["targets"][0]["cautions"].to_string();
        for name in ["/out.json", "/tree/out.csv", "/out.md"] {
            assert_eq!(cautions.contains(name), is_repeated, "{name}: {cautions}");
        }
    }
    // An export to standard output replaces no file named like it.
    home.file("-", home.read("out.json"));
    let json = home.race_json(".", "--method rust/read/scalar --state warm").exits(0);
    let cautions = json["targets"][0]["cautions"].to_string();
    assert!(!cautions.contains("/-,") && !cautions.contains("/-."), "{cautions}");
}

/// Number of names below the tree of [`home`]: its files, a folder, a link, a pipe and a socket.
const NAME_COUNT: usize = FILE_COUNT + 4;

#[test]
fn names_and_statuses_are_found_without_reading_a_file_and_every_number_is_checked() {
    let home = home();
    let sizes: u64 = (0..FILE_COUNT as u64).map(|index| 7 * index + "without end".len() as u64).sum();
    let all = "find {} | wc -l";
    for (work, count) in [("names", 3), ("stat", 3)] {
        let more = if work == "names" { format!("-c '{all}'") } else { String::new() };
        let json = home.race_shown("tree", format!("--work {work} {more}"));
        json.said.shows("names/s").shows(&format!("{NAME_COUNT} names of "));
        json.said.hides("Not read, for they are no files");
        assert!(json.trials().iter().all(|it| it["state"] == "warm"), "cold is for root: {json}");
        let own: Vec<&Value> =
            measured_trials(&json).into_iter().filter(|trial| trial["contender"] == "rust").collect();
        let rings =
            json.trials().iter().filter(|it| it["outcome"] == "unavailable" && it["contender"] == "rust");
        assert_eq!(own.len() + rings.count(), count, "{json}");
        for trial in own {
            let answer = &trial["answer"];
            let kinds = ["files", "folders", "links", "others"].map(|kind| answer[kind].as_u64().unwrap());
            assert_eq!(kinds, [FILE_COUNT as u64, 1, 1, 2], "{trial}");
            assert_eq!(answer["bytes"].as_u64(), (work == "stat").then_some(sizes), "{trial}");
            assert_eq!((&trial["work"], &trial["names"]), (&work.into(), &NAME_COUNT.into()), "{trial}");
            assert!(trial["names_per_s"].as_u64().unwrap() > 0, "{trial}");
            assert!(trial["throughput_bytes_per_s"].is_null() && trial["bytes_in"].is_null(), "{trial}");
            assert!(trial.get("files_per_s").is_none(), "{trial}");
            for sample in items(&trial["samples"]) {
                let looked_up = (&sample["resident_before"], &sample["resident_after"]);
                assert!(*looked_up.0 == 1.0 && *looked_up.1 == 1.0, "{sample}");
            }
        }
        let command = if work == "names" { all } else { "du -s" };
        let command = json.trial_with("id", &format!("command/{command}"));
        assert_eq!((&command["outcome"], &command["work"]), (&"measured".into(), &work.into()), "{command}");
        if work == "names" {
            assert_eq!(command["answer"]["names"], NAME_COUNT + 1, "find counts the folder itself");
        }
    }
}

#[test]
fn the_names_of_folders_alone_are_found() {
    let home = Home::with_file("empty/.keep", "");
    home.folder("folders/a/b");
    home.folder("folders/c");
    let json = home.race_json("folders", "--work names --method rust/names-readdir").exits(0);
    let trial = json.trial("rust/names-readdir", "warm");
    assert_eq!((&trial["outcome"], &trial["names"]), (&"measured".into(), &3.into()), "{trial}");
    let answer = ["files", "folders", "links", "others"].map(|kind| trial["answer"][kind].as_u64().unwrap());
    assert_eq!(answer, [0, 3, 0, 0], "{trial}");
    assert!(items(&trial["samples"]).iter().all(|it| it["resident_before"] == 1.0), "{trial}");
    fs::remove_file(home.at("empty/.keep")).unwrap();
    home.readlab("race empty --work names").refuses("empty: no file in it");
    home.readlab("race folders").refuses("folders: no file in it");
}

#[test]
fn a_walk_that_leaves_out_a_name_or_a_kind_is_refused() {
    let finds = |kinds: &str| {
        format!(
            r#"left=$count
    while [ "$left" -gt 0 ]; do
        say '{{"say":"sample","wall_ns":1000,{kinds}}}'
        left=$((left - 1))
    done
    say '{{"say":"done","count":'"$count"'}}'"#
        )
    };
    let three = r#""files":40,"folders":1,"links":1"#;
    let walkers = [
        ("honest", finds(&format!(r#"{three},"others":2"#)), "measured", ""),
        ("generous", finds(&format!(r#"{three},"others":3"#)), "refused", "right is"),
        ("vague", finds(three), "refused", "must say how many"),
    ];
    let words = "--work names --method 'command/*' -c 'find {} -type f | wc -l'";
    let json = race_walkers(&home(), "names", &walkers, words);
    let reason = json.trial_with("id", "command/find {} -type f | wc -l")["reason"].clone();
    assert!(reason.as_str().unwrap().starts_with("it answered 40 names; right is"), "{reason}");
}

mod ring2 {
    use super::*;
    use crate::machine::{NOBODY, skip};
    use std::os::unix::fs::chown;

    #[test]
    fn a_list_may_come_from_standard_input() {
        let home = home();
        write_list(&home, '\0');
        let words = format!("race --files-from - --state warm --method rust/files-threads/scalar {QUICK}");
        let list = fs::File::open(home.at("list")).unwrap();
        let said = ProgramOutput::by(home.command(READLAB).args(words.words()).stdin(list)).exits(0);
        said.shows("20 files of ").shows("1 names were left out");
    }

    #[test]
    fn an_ordinary_user_is_warned_of_missing_rights_before_anything_is_measured() {
        let home = home();
        let Some(said) = home.as_nobody("race tree --metadata cold") else { return };
        said.exits(2).tells("/proc/sys/vm/drop_caches");
    }

    #[test]
    fn what_an_ordinary_user_may_not_read_is_left_out_and_walks_do_not_take_part() {
        let home = home();
        (0..FILE_COUNT).filter(|index| *index != 3).for_each(|index| {
            let folder = if index % 2 == 0 { "tree" } else { "tree/deep" };
            chown(home.at(format!("{folder}/{index}.txt")), Some(NOBODY), Some(NOBODY)).unwrap();
        });
        set_mode(home.at("tree/deep/3.txt"), 0o0);
        let methods = format!("{QUICK} --state warm --export-json - {THREE_METHODS}");
        let Some(said) = home.as_nobody(format!("race tree --quiet {methods}")) else { return };
        let json = said.exits(1).json();
        let target = &json["targets"][0];
        assert_eq!(
            (&target["tree"]["files"], &target["tree"]["skipped"]["unreadable"]),
            (&39.into(), &1.into())
        );
        let named = format!("The first is {}.", home.at("tree/deep/3.txt").display());
        assert!(target["cautions"].to_string().contains(&named), "{target}");
        let why = "it walks the folder, and some files below it are left out";
        assert_eq!(json.trial_with("method", "walk")["reason"], why);
        measured_trials(&json)
            .into_iter()
            .for_each(|trial| assert_right(trial, newlines() - 3, FILE_COUNT - 1));
        let Some(shown) = home.as_nobody(format!("race tree {QUICK} --state warm --method rust/read/scalar"))
        else {
            return;
        };
        shown.exits(0).shows("39 files of ").shows("Left out: 1 file or folder that cannot be read");
        // No byte of a file is read for names, but each folder is listed.
        let names = format!("race tree --work names --method rust/names-readdir {QUICK}");
        let Some(named) = home.as_nobody(&names) else { return };
        named.exits(0).shows(&format!("{NAME_COUNT} names of "));
        set_mode(home.at("tree/deep"), 0);
        let Some(refused) = home.as_nobody(&names) else { return };
        refused.exits(2).tells("this user may not read every folder below it");
    }

    #[test]
    fn a_resumed_run_continues_in_the_order_that_the_user_chose() {
        let home = home();
        home.race("tree", format!("{THREE_METHODS} --order shuffled --state warm --output run")).exits(0);
        home.cut_short("run/record.jsonl");
        let cut = home.read("run/record.jsonl");
        home.readlab("race --resume run/record.jsonl").exits(0).shows("40 files of ");
        home.file("tree/0.txt", "another content");
        home.file("run/record.jsonl", cut);
        let said = home.readlab("race --resume run/record.jsonl").exits(2);
        said.tells("is not what it was before the run was cut short");
    }

    #[test]
    fn the_costs_of_a_file_and_of_its_bytes_are_fitted_to_groups_by_size() {
        let home = Home::new();
        for index in 0..60 {
            let lines = [10, 1_000, 20_000][index % 3] + index;
            home.file(format!("sizes/{index}.txt"), "a line\n".repeat(lines));
        }
        let json = home.race_json("sizes", format!("{THREE_METHODS} --per-file --output run")).exits(0);
        let groups = items(&json["targets"]);
        let of = |field: &str| groups.iter().map(|it| it["tree"][field].clone()).collect::<Vec<Value>>();
        assert_eq!(of("group"), [Value::Null, "smallest".into(), "middle".into(), "largest".into()]);
        assert_eq!(of("files"), [60, 20, 20, 20].map(Value::from));
        let costs = items(&json["per_file"]);
        let names: Vec<&str> = costs.iter().map(|it| it["trial"].as_str().unwrap()).collect();
        let lists = ["rust/read/scalar", "rust/files-threads/scalar"];
        assert_eq!(names, [lists, lists].concat(), "a walk reads the folder only: {names:?}");
        for cost in costs.iter().filter(|it| it["state"] == "warm") {
            assert!(cost["per_byte_ns"].as_f64().unwrap() > 0.0, "{cost}");
            assert_eq!(items(&cost["per_file_ns_ci95"]).len(), 2, "{cost}");
        }
        let page = home.read("run/report.html");
        assert!(page.contains("Cost of a file") && page.contains("largest third of its files"));
        // After a truncation, the run continues with the same groups.
        home.cut_short("run/record.jsonl");
        let said = home.readlab("race --resume run/record.jsonl").exits(0);
        said.shows("per file: Warm, rust/read/scalar");
        assert_eq!(said.out.matches("\nwarm · ").count(), 1, "groups have no tables: {said}");
    }

    #[test]
    fn newlines_in_names_are_not_counted_by_the_commands_of_the_suite() {
        let home = home();
        home.file("tree/two\nlines", "a line\n");
        let json = home.race_json("tree", "--method rust/read/scalar --state warm").exits(0);
        assert_tar_counts(&json, newlines() + 1);
    }

    /// Asserts that the suite's `tar` was measured, with this number of newlines.
    fn assert_tar_counts(json: &Value, newlines: u64) {
        let is_tar = |it: &&Value| it["method"].as_str().is_some_and(|name| name.starts_with("tar "));
        let tar = json.trials().iter().find(is_tar).unwrap();
        let ended = (&tar["outcome"], &tar["answer"]["newlines"]);
        assert_eq!(ended, (&"measured".into(), &newlines.into()), "{tar}");
    }

    #[test]
    fn the_commands_of_the_suite_read_links_and_files_with_several_names() {
        let home = Home::new();
        home.file("blob", "a line\n".repeat(3));
        home.file("tree/first", "a line\n".repeat(2));
        fs::hard_link(home.at("tree/first"), home.at("tree/second")).unwrap();
        symlink(home.at("blob"), home.at("tree/linked")).unwrap();
        let json = home.race_json("tree", "--follow --method rust/read/scalar --state warm").exits(0);
        assert_tar_counts(&json, 7);
    }

    #[test]
    fn fd_finds_the_right_names_under_either_of_its_names() {
        let home = home();
        let is_there = |program: &&str| home.command(program).arg("--version").output().is_ok();
        let Some(program) = ["fd", "fdfind"].into_iter().find(is_there) else {
            return skip("there is neither fd nor fdfind");
        };
        let json = home.race_json("tree", "--work names").exits(0);
        let id = format!("command/{program} --unrestricted --print0 . {{}} | tr -cd '\\0' | wc -c");
        let trial = json.trial(&id, "warm");
        assert_eq!((&trial["outcome"], &trial["answer"]["names"]), (&"measured".into(), &NAME_COUNT.into()));
    }
}
