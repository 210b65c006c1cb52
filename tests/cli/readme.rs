//! Tests of what a new user types first: the lines of the example for continuous integration,
//! commands that name their file, paths with `..` and links.

use super::{Home, READLAB, Said, trials};
use std::os::unix::fs::symlink;
use std::path::Path;

/// The lines of the reference that its example for continuous integration runs.
fn steps() -> Vec<&'static str> {
    let reference = include_str!("../../REFERENCE.md");
    let lines = reference.lines().filter_map(|line| line.strip_prefix("- run: "));
    lines.filter(|line| line.starts_with("readlab ")).collect()
}

#[test]
fn a_glob_or_name_of_commands_matches_those_of_the_user_and_of_the_line_up() {
    let home = Home::new();
    let file = home.file("f.txt", "one\ntwo\n");
    for glob in ["command/wc*", "command/grep -c [a-z\\n] {}"] {
        let words = ["-c", "grep -c [a-z\\n] {}", "--method", glob, "--state", "warm"];
        let (json, said) = home.race_json(&file, &words);
        assert_eq!(said.code, Some(0), "{glob}: {said}");
        assert_eq!(trials(&json, "command/wc -l", "warm")["outcome"], "measured", "{glob}");
    }
    let said = home.race(&file, &["--method", "command/no-such*"]);
    assert!(said.refusal().contains("no method matches command/no-such*"), "{said}");
}

#[test]
fn a_command_that_names_the_file_reads_it_once_with_a_note() {
    let home = Home::new();
    home.file("f.txt", "one\ntwo\n");
    let words = ["-c", "cat f.txt | wc -l", "--reference", "command/cat f.txt | wc -l", "--state", "warm"];
    let only = ["--method", "rust/read/scalar"];
    let (json, said) = home.race_json(Path::new("f.txt"), &[&words[..], &only].concat());
    assert_eq!(said.code, Some(0), "{said}");
    let note = "readlab: the command 'cat f.txt | wc -l' names the file: raced as 'cat {} | wc -l'\n";
    assert_eq!(said.err, note);
    let trial = trials(&json, "command/cat {} | wc -l", "warm");
    assert_eq!((&trial["outcome"], &trial["answer"]["newlines"]), (&"measured".into(), &2.into()), "{trial}");
    let ratio = &trials(&json, "rust/read/scalar", "warm")["ratio"]["reference"];
    assert_eq!(ratio, "command/cat {} | wc -l");
    let quoted = home.race(Path::new("f.txt"), &["-c", "sh -c 'wc -l f.txt'"]);
    assert!(
        quoted.refusal().contains("names f.txt within quotes; hand it over as an argument: sh -c "),
        "{quoted}"
    );
}

#[test]
fn the_faults_of_a_command_are_its_own() {
    let home = Home::new();
    let file = home.file("f.txt", "one\ntwo\n");
    let (json, said) = home.race_json(&file, &["--method", "command/*", "--state", "warm"]);
    assert_eq!(said.code, Some(0), "{said}");
    let trial = trials(&json, "command/wc -l", "warm");
    let counted: Vec<u64> =
        trial["samples"].as_array().unwrap().iter().map(|it| it["minor_faults"].as_u64().unwrap()).collect();
    let Some(own) = faults_of(&["wc", "-l", file.to_str().unwrap()]) else {
        return eprintln!("SKIPPED: no python3 to count with");
    };
    assert!(counted.iter().all(|&counted| counted > 0 && counted < 2 * own), "{counted:?}, {own}");
}

/// Minor page faults of a program, by the kernel's account of it alone; `None` without Python.
fn faults_of(words: &[&str]) -> Option<u64> {
    let script = "import os, sys; pid = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ); \
                  sys.stderr.write(str(os.wait4(pid, 0)[2].ru_minflt))";
    let output = std::process::Command::new("python3").args(["-c", script]).args(words).output().ok()?;
    String::from_utf8_lossy(&output.stderr).trim().parse().ok()
}

mod ring2 {
    use super::*;

    #[test]
    fn the_example_for_continuous_integration_works_as_written() {
        let home = Home::new();
        home.file("data.bin", "one\ntwo\n");
        let reader = home.file("my-reader", "#!/bin/sh\nexec wc -l \"$1\"\n");
        std::fs::set_permissions(reader, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let steps = steps();
        assert_eq!(steps.len(), 3, "two races and a comparison: {steps:?}");
        let path =
            format!("{}:{}", Path::new(READLAB).parent().unwrap().display(), std::env::var("PATH").unwrap());
        for (at, step) in steps.into_iter().enumerate() {
            // Seconds instead of minutes; a difference by chance does not matter here.
            let quick = if at < 2 { " --runs 5 --state warm" } else { "" };
            let step = format!("{step}{quick}");
            let mut shell = home.command("sh");
            shell.args(["-c", &step]).env("PATH", &path).env("GITHUB_STEP_SUMMARY", home.at("summary.md"));
            let said = Said::by(&mut shell);
            assert!(said.code == Some(0) || at == 2 && said.code == Some(3), "{step}: {said}");
        }
        for export in ["summary.md", "benchmark.json"] {
            let text = std::fs::read_to_string(home.at(export)).unwrap();
            assert!(text.contains("./my-reader"), "{export}: {text}");
            assert!(!text.contains("rust/mmap"), "commands alone: {text}");
        }
    }

    #[test]
    fn folders_behind_links_and_parents_are_shown_and_linked_by_their_real_names() {
        let home = Home::new();
        let real = home.folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(real.join("deep/er")).unwrap();
        symlink(real.join("deep/er"), real.join("v")).unwrap();
        std::fs::write(real.join("deep/f.txt"), "one\ntwo\n").unwrap();
        let words = [
            "--method",
            "rust/read/scalar",
            "--state",
            "warm",
            "--output",
            "v/../run",
            "--flamegraph=v/../pictures",
        ];
        let said = home.race(Path::new("v/../f.txt"), &words);
        assert_eq!(said.code, Some(0), "{said}");
        let record = said.out.lines().last().unwrap();
        assert_eq!(record, format!("record: {}", real.join("deep/run/record.jsonl").display()));
        let read = readlab_record::Record::read(&real.join("deep/run/record.jsonl")).unwrap();
        assert_eq!(read.targets[0].path, real.join("deep/f.txt").to_str().unwrap());
        for graph in read.trials.iter().filter_map(|trial| trial.flame_graph.as_ref()?.file.as_ref()) {
            assert!(graph.starts_with(real.join("deep/pictures").to_str().unwrap()), "{graph}");
        }
    }
}
