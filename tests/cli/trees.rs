//! Tests of many files as one target: `readlab race FOLDER` and `--files-from`.

use super::{AS_NOBODY, Home, QUICK, READLAB, Said, no_other_user};
use readlab_model::trial::CacheState;
use readlab_record::{Outcome, Record, Trial};
use rustix::fs::{CWD, FileType, mknodat};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

pub(super) const FILES: usize = 40;
/// One method of each kind: of single files, of lists, and one that walks.
const THREE: [&str; 6] =
    ["--method", "rust/read/scalar", "--method", "rust/files-threads/scalar", "--method", "rust/walk/scalar"];

/// Text in files of two folders, with everything in them that is no file.
pub(super) fn tree(home: &Home) -> PathBuf {
    let folder = home.at("tree");
    fs::create_dir_all(folder.join("deep")).unwrap();
    for index in 0..FILES {
        let place = if index % 2 == 0 { folder.clone() } else { folder.join("deep") };
        fs::write(place.join(format!("{index}.txt")), "a line\n".repeat(index) + "without end").unwrap();
    }
    symlink(&folder, folder.join("loop")).unwrap();
    mknodat(CWD, folder.join("pipe"), FileType::Fifo, 0o600.into(), 0).unwrap();
    drop(UnixListener::bind(folder.join("socket")).unwrap());
    folder
}

fn newlines() -> u64 {
    (0..FILES as u64).sum()
}

fn quick<'w>(words: &[&'w str]) -> Vec<&'w str> {
    [&QUICK[..], words].concat()
}

/// The trials of a document that are neither controls nor unavailable.
pub(super) fn measured(json: &Value) -> Vec<&Value> {
    let trials = json["trials"].as_array().unwrap().iter();
    trials.filter(|it| it["outcome"] == "measured" && it["cache"] != "none").collect()
}

/// The answer is right: the newlines or, of ripgrep where it is installed, the lines, of which each
/// file has one more.
fn assert_right(trial: &Value, newlines: u64, files: usize) {
    let answer = &trial["answer"];
    let lines = newlines + files as u64;
    assert!(answer["newlines"] == newlines || answer["lines"] == lines, "{trial}");
}

#[test]
fn all_files_of_a_folder_are_read_as_one_target_and_what_is_no_file_is_counted() {
    let home = Home::new();
    let folder = tree(&home);
    let (json, said) = home.race_json(&folder, &THREE);
    assert_eq!(said.code, Some(0), "{said}");
    let target = &json["targets"][0];
    let facts = &target["tree"];
    assert_eq!((&facts["files"], &facts["folders"]), (&FILES.into(), &2.into()), "{target}");
    assert_eq!(facts["skipped"]["links"], 1);
    assert_eq!((&facts["skipped"]["pipes"], &facts["skipped"]["sockets"]), (&1.into(), &1.into()));
    for trial in measured(&json) {
        assert_right(trial, newlines(), FILES);
        assert_eq!(trial["files"], FILES);
        if trial["contender"] != "command" {
            assert_eq!(trial["answer"]["files"], FILES, "{trial}");
        }
        assert!(trial["files_per_s"].as_u64().unwrap() > 0, "{trial}");
    }
    let names: Vec<&str> = measured(&json).iter().map(|it| it["method"].as_str().unwrap()).collect();
    for method in ["read", "files-threads", "walk"] {
        assert!(names.contains(&method), "{method}: {names:?}");
    }
    let said = home.race(&folder, &[&THREE[..], &["--state", "warm"]].concat());
    assert!(said.out.contains("files/s") && said.out.contains("40 files of "), "{said}");
    assert!(said.out.contains("1 link, 1 pipe and 1 socket"), "{said}");
}

#[test]
fn every_cold_reading_found_no_page_of_any_file_and_every_warm_one_all() {
    let home = Home::new();
    let said = home.race(&tree(&home), &THREE);
    assert_eq!(said.code, Some(0), "{said}");
    let record = Record::read(&home.runs()[0].join("record.jsonl")).unwrap();
    let trials = record.trials.iter().filter(|it| it.outcome == Some(Outcome::Measured));
    let samples = trials.flat_map(|it| it.samples.iter().map(move |sample| (&it.trial, sample)));
    let before: Vec<(&Trial, Option<f64>)> =
        samples.map(|(trial, sample)| (trial, sample.resident_before)).collect();
    assert!(before.len() > 12, "{before:?}");
    for (trial, resident) in before {
        // A control without a limit reads nothing, and no file is looked at for it.
        let reads = !trial.is_control() || trial.limit().is_some();
        let expected = if trial.state == CacheState::Cold { 0.0 } else { 1.0 };
        assert_eq!(resident, reads.then_some(expected), "{} {}", trial.id, trial.state);
    }
}

/// A list of the files, each path with this end, in a file or on standard input.
fn list(folder: &Path, end: u8) -> Vec<u8> {
    let mut list = Vec::new();
    for index in (0..FILES).step_by(2).chain([0]) {
        list.extend(folder.join(format!("{index}.txt")).as_os_str().as_encoded_bytes());
        list.push(end);
    }
    list
}

#[test]
fn a_list_names_the_files_by_lines_or_by_zero_bytes_and_duplicates_are_told() {
    let home = Home::new();
    let folder = tree(&home);
    for end in [b'\n', 0] {
        let list = home.file("list", list(&folder, end));
        let words = ["race", "--files-from", list.to_str().unwrap(), "--export-json", "-", "--quiet"];
        let said = home.readlab([&words[..], &quick(&THREE)].concat());
        assert_eq!(said.code, Some(1), "the walk has no folder: {said}");
        let json: Value = serde_json::from_str(&said.out).unwrap();
        let facts = &json["targets"][0]["tree"];
        assert_eq!((&facts["files"], &facts["duplicates"]), (&(FILES / 2).into(), &1.into()), "{end}");
        let walk = json["trials"].as_array().unwrap().iter().find(|it| it["method"] == "walk").unwrap();
        assert_eq!(walk["reason"], "it walks a folder, and the files are from a list");
        let right: u64 = (0..FILES as u64).step_by(2).sum();
        measured(&json).into_iter().for_each(|trial| assert_right(trial, right, FILES / 2));
    }
}

/// A contender of a folder that reads right sums, proves what these words say of the files, and
/// does this at the end of each turn.
fn walker(home: &Home, files: &str, deed: &str) -> String {
    let script = format!(
        r#"say() {{ printf '%s\n' "$1"; }}
say '{{"say":"hello","protocol":1,"contender":"walker","version":"1","runtime":"sh"}}'
if [ "$1" = methods ]; then
    say '{{"say":"method","method":"walk","scans":{{"newlines":["-"]}},"about":"a fake","cache":"through","reads":"folder"}}'
    exit
fi
folder=$5
say '{{"say":"ready","params":{{}}}}'
while read -r go lead count; do
    while [ "$count" -gt 0 ]; do
        newlines=$(find "$folder" -type f -exec cat {{}} + | wc -l)
        say '{{"say":"sample","wall_ns":1500000,"newlines":'"$newlines"'{files}}}'
        count=$((count - 1)) turns=1
    done
    {deed}
    say '{{"say":"done","count":'"$turns"'}}'
done
"#
    );
    let script = home.file("walker.sh", script);
    let roster = format!(
        "[[contender]]\nname = \"walker\"\nabout = \"a fake\"\nrun = [\"/bin/sh\", \"{}\"]\n",
        script.display()
    );
    home.file("roster.toml", roster).to_str().unwrap().to_owned()
}

#[test]
fn a_contender_that_does_not_prove_each_file_is_refused() {
    let home = Home::new();
    let folder = tree(&home);
    for (files, why) in [
        ("", "do not prove that it read each file or block once"),
        (",\"files\":40,\"products\":1", "do not prove that it read each file or block once"),
        (",\"files\":39,\"products\":1", "right is"),
    ] {
        let roster = walker(&home, files, "");
        let words = ["--roster", &roster, "--method", "walker/walk", "--state", "warm"];
        let (json, said) = home.race_json(&folder, &words);
        assert_eq!(said.code, Some(1), "{said}");
        let trials = json["trials"].as_array().unwrap();
        let trial = trials.iter().find(|it| it["contender"] == "walker").unwrap();
        assert_eq!(trial["outcome"], "refused", "{files}: {trial}");
        assert!(trial["reason"].as_str().unwrap().contains(why), "{files}: {trial}");
    }
}

/// What proves that each file of the tree was read: the sum over all files (METHOD.md).
fn products() -> u64 {
    (0..FILES as u64).map(|index| (7 * index + "without end".len() as u64 + 1) * (index + 1)).sum()
}

#[test]
fn a_contender_that_keeps_one_of_the_files_between_turns_is_refused_with_its_name() {
    let home = Home::new();
    let folder = tree(&home);
    let proof = format!(",\"files\":{FILES},\"products\":{}", products());
    for (deed, outcome, why) in [
        ("exec 9<\"$folder/deep/3.txt\"", "refused", "/deep/3.txt open between turns (process "),
        ("exec 9<\"$0\"", "measured", ""),
    ] {
        let roster = walker(&home, &proof, deed);
        let words = ["--roster", &roster, "--method", "walker/walk", "--state", "warm"];
        let (json, said) = home.race_json(&folder, &words);
        let trials = json["trials"].as_array().unwrap();
        let trial = trials.iter().find(|it| it["contender"] == "walker").unwrap();
        assert_eq!(trial["outcome"], outcome, "{deed}: {trial} {said}");
        assert!(trial["reason"].as_str().unwrap_or_default().contains(why), "{deed}: {trial}");
    }
}

#[test]
fn a_file_that_changes_or_goes_while_the_tree_is_read_ends_the_run_and_is_named() {
    for deed in ["echo more >> '{}/3.txt'", "rm '{}/3.txt'", "touch '{}/new'"] {
        let home = Home::new();
        let folder = tree(&home);
        let place = folder.join("deep");
        let deed = deed.replace("{}", place.to_str().unwrap());
        let once = home.at("once");
        let command = format!(
            "[ -e '{0}2' ] || {{ [ ! -e '{0}' ] || {{ {deed}; touch '{0}2'; }}; touch '{0}'; }}; xargs -0 cat < {{list}} | wc -l",
            once.display()
        );
        let words = ["--command", &command, "--state", "warm", "--runs", "9", "--no-progress"];
        let only = ["--method", "rust/read/scalar"];
        let said = home.readlab([&["race", folder.to_str().unwrap()], &words[..], &only].concat());
        assert_eq!(said.code, Some(1), "{deed}: {said}");
        let told = format!("{}", place.display());
        let all = format!("{}{}", said.out, said.err);
        assert!(all.contains(&told) && all.contains("while it was raced"), "{deed}: {said}");
    }
}

#[test]
fn what_has_no_file_or_cannot_be_a_tree_is_refused() {
    let home = Home::new();
    let empty = home.at("empty");
    fs::create_dir(&empty).unwrap();
    let said = home.race(&empty, &[]);
    assert_eq!((said.code, said.err.contains("empty: no file in it")), (Some(2), true), "{said}");
    let missing = home.file("list", "/nonexistent/file\n");
    let said = home.readlab(["race", "--files-from", missing.to_str().unwrap()]);
    assert_eq!(said.code, Some(2), "{said}");
    assert!(said.err.contains("/nonexistent/file: no such file"), "{said}");
    let folder = tree(&home);
    let said = home.race(&folder, &["--http"]);
    assert_eq!(said.code, Some(2), "{said}");
    assert!(said.err.contains("--http needs a file of this machine, and no target is one"), "{said}");
    let listed = home.file("list", folder.join("pipe").to_str().unwrap());
    let said = home.readlab(["race", "--files-from", listed.to_str().unwrap()]);
    assert_eq!(said.code, Some(2), "it does not wait for the pipe: {said}");
    assert!(said.err.contains("a pipe"), "{said}");
}

#[test]
fn files_of_one_size_and_what_is_no_folder_have_no_cost_of_a_file() {
    let home = Home::new();
    let folder = home.at("same");
    fs::create_dir(&folder).unwrap();
    (0..9).for_each(|index| fs::write(folder.join(index.to_string()), "same\n").unwrap());
    let path = folder.to_str().unwrap();
    for (words, why) in [
        (vec!["race", path, "--per-file"], "its files are of nearly one size"),
        (vec!["race", path, "--per-file", "--readers", "2"], "--per-file: not with --readers"),
        (vec!["race", "same/1", "--per-file"], "same/1: --per-file is for the files of a folder"),
    ] {
        let said = home.readlab(words);
        assert!(said.code == Some(2) && said.err.contains(why), "{said}");
    }
}

mod ring2 {
    use super::*;

    #[test]
    fn a_list_may_come_from_standard_input() {
        let home = Home::new();
        let list = list(&tree(&home), 0);
        let words = ["--files-from", "-", "--state", "warm", "--method", "rust/files-threads/scalar"];
        let mut command = home.command(READLAB);
        let said = Said::by(command.arg("race").args(quick(&words)).write_stdin(list));
        assert_eq!(said.code, Some(0), "{said}");
        assert!(said.out.contains("20 files of ") && said.out.contains("1 names were left out"), "{said}");
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named_before_anything_is_measured() {
        if let Some(reason) = no_other_user() {
            eprintln!("SKIPPED: {reason}");
            return;
        }
        let home = Home::new();
        let folder = tree(&home);
        fs::set_permissions(home.at(""), fs::Permissions::from_mode(0o755)).unwrap();
        fs::set_permissions(folder.join("deep/3.txt"), fs::Permissions::from_mode(0o0)).unwrap();
        let mut command = home.command("setpriv");
        command.args(AS_NOBODY).arg(READLAB).arg("race").arg(&folder).env("HOME", home.temporary());
        let said = Said::by(&mut command);
        assert_eq!(said.code, Some(2), "{said}");
        assert!(said.err.contains("deep/3.txt: no permission to read it"), "{said}");
    }

    #[test]
    fn only_root_may_have_names_cold() {
        if let Some(reason) = no_other_user() {
            return eprintln!("SKIPPED: {reason}");
        }
        let home = Home::new();
        let folder = tree(&home);
        fs::set_permissions(home.at(""), fs::Permissions::from_mode(0o755)).unwrap();
        let mut command = home.command("setpriv");
        command.args(AS_NOBODY).arg(READLAB).arg("race").arg(&folder).args(["--metadata", "cold"]);
        let said = Said::by(&mut command);
        assert_eq!(said.code, Some(2), "{said}");
        assert!(said.err.contains("/proc/sys/vm/drop_caches"), "{said}");
    }

    #[test]
    fn the_order_is_that_of_the_user_and_a_run_that_was_cut_short_goes_on_in_it() {
        let home = Home::new();
        let folder = tree(&home);
        let words = ["--order", "shuffled", "--state", "warm", "--output", "run"];
        let said = home.race(&folder, &[&THREE[..], &words].concat());
        assert_eq!(said.code, Some(0), "{said}");
        let record = home.at("run/record.jsonl");
        let whole = fs::read_to_string(&record).unwrap();
        let lines: Vec<&str> = whole.lines().collect();
        let cut = lines[..lines.len() * 2 / 3].join("\n") + "\n";
        fs::write(&record, cut).unwrap();
        let said = home.readlab(["race", "--resume", record.to_str().unwrap()]);
        assert_eq!(said.code, Some(0), "{said}");
        assert!(said.out.contains("40 files of "), "{said}");
        fs::write(folder.join("0.txt"), "another content").unwrap();
        fs::write(&record, lines[..lines.len() * 2 / 3].join("\n") + "\n").unwrap();
        let said = home.readlab(["race", "--resume", record.to_str().unwrap()]);
        assert_eq!(said.code, Some(2), "{said}");
        assert!(said.err.contains("is not what it was before the run was cut short"), "{said}");
    }

    #[test]
    fn what_a_file_and_its_bytes_cost_is_fitted_to_groups_by_size() {
        let home = Home::new();
        let folder = home.at("sizes");
        fs::create_dir(&folder).unwrap();
        for index in 0..60 {
            let lines = [10, 1_000, 20_000][index % 3] + index;
            fs::write(folder.join(format!("{index}.txt")), "a line\n".repeat(lines)).unwrap();
        }
        let words = [&THREE[..], &["--per-file", "--output", "run"]].concat();
        let (json, said) = home.race_json(&folder, &words);
        assert_eq!(said.code, Some(0), "{said}");
        let groups: Vec<&Value> = json["targets"].as_array().unwrap().iter().collect();
        let of = |field: &str| groups.iter().map(|it| it["tree"][field].clone()).collect::<Vec<Value>>();
        assert_eq!(of("group"), [Value::Null, "smallest".into(), "middle".into(), "largest".into()]);
        assert_eq!(of("files"), [60, 20, 20, 20].map(Value::from));
        let costs = json["per_file"].as_array().unwrap();
        let names: Vec<&str> = costs.iter().map(|it| it["trial"].as_str().unwrap()).collect();
        let lists = ["rust/read/scalar", "rust/files-threads/scalar"];
        assert_eq!(names, [lists, lists].concat(), "a walk reads the folder only: {names:?}");
        for cost in costs.iter().filter(|it| it["state"] == "warm") {
            assert!(cost["per_byte_ns"].as_f64().unwrap() > 0.0, "{cost}");
            assert_eq!(cost["per_file_ns_ci95"].as_array().unwrap().len(), 2, "{cost}");
        }
        let page = fs::read_to_string(home.at("run/report.html")).unwrap();
        assert!(page.contains("Cost of a file") && page.contains("largest third of its files"));
        // Cut short, it goes on with the same groups.
        let record = home.at("run/record.jsonl");
        let whole = fs::read_to_string(&record).unwrap();
        let lines: Vec<&str> = whole.lines().collect();
        fs::write(&record, lines[..lines.len() * 2 / 3].join("\n") + "\n").unwrap();
        let said = home.readlab(["race", "--resume", record.to_str().unwrap()]);
        assert!(said.code == Some(0) && said.out.contains("per file: Warm, rust/read/scalar"), "{said}");
        assert_eq!(said.out.matches("\nwarm · ").count(), 1, "groups have no tables: {said}");
    }

    #[test]
    fn newlines_in_names_are_not_counted_by_the_commands_of_the_suite() {
        let home = Home::new();
        let folder = tree(&home);
        fs::write(folder.join("two\nlines"), "a line\n").unwrap();
        let (json, said) = home.race_json(&folder, &["--method", "rust/read/scalar", "--state", "warm"]);
        assert_eq!(said.code, Some(0), "{said}");
        let trials = json["trials"].as_array().unwrap().iter();
        let mut tar = trials.filter(|it| it["method"].as_str().is_some_and(|name| name.starts_with("tar ")));
        let tar = tar.next().unwrap();
        assert_eq!(
            (&tar["outcome"], &tar["answer"]["newlines"]),
            (&"measured".into(), &(newlines() + 1).into())
        );
    }

    #[test]
    fn a_command_that_takes_the_list_is_raced_as_it_is() {
        let home = Home::new();
        let folder = tree(&home);
        let command = "xargs -0 cat < {list} | wc -l";
        let words = ["--method", "rust/walk/scalar", "--state", "warm", "--command", command];
        let (json, said) = home.race_json(&folder, &words);
        assert_eq!(said.code, Some(0), "{said}");
        assert!(!said.err.contains("names no file"), "{said}");
        let trials = json["trials"].as_array().unwrap();
        let trial = trials.iter().find(|it| it["contender"] == "command" && it["cache"] != "none").unwrap();
        assert_eq!((&trial["method"], &trial["answer"]["newlines"]), (&command.into(), &newlines().into()));
    }
}
