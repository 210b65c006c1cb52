//! Tests of the first commands of a new user: the example for continuous integration, commands that
//! name their file, and paths with `..` and links.

use crate::home::{Home, ProgramOutput, Trials, items};
use crate::machine::skip;
use std::os::unix::fs::symlink;

/// The commands in the reference's example for continuous integration.
fn example_commands() -> Vec<&'static str> {
    let reference = include_str!("../../REFERENCE.md");
    let lines = reference.lines().filter_map(|line| line.strip_prefix("- run: "));
    lines.filter(|line| line.starts_with("readlab ")).collect()
}

/// A home with a file of two lines.
fn home() -> Home {
    Home::with_file("f.txt", "one\ntwo\n")
}

#[test]
fn a_glob_or_name_of_commands_matches_those_of_the_user_and_of_the_line_up() {
    let home = home();
    let name = "grep -c [a-z\\n] {}";
    let method = format!("command/{name}");
    let words = ["-c", name, "--method", method.as_str(), "--state", "warm"];
    home.race_json("f.txt", words).exits(0).measured("command/wc -l", "warm");
    home.race("f.txt", "--method command/no-such*").refuses("no method matches command/no-such*");
}

#[test]
fn a_command_that_names_the_file_reads_it_once_with_a_note() {
    let home = home();
    let words = "-c 'cat f.txt | wc -l' --reference 'command/cat f.txt | wc -l' --state warm";
    let json = home.race_json("f.txt", format!("{words} --method rust/read/scalar")).exits(0);
    let note = "readlab: the command 'cat f.txt | wc -l' names the file: raced as 'cat {} | wc -l'\n";
    assert_eq!(json.said.err, note);
    assert_eq!(json.measured("command/cat {} | wc -l", "warm")["answer"]["newlines"], 2, "{json}");
    let ratio = &json.trial("rust/read/scalar", "warm")["ratio"]["reference"];
    assert_eq!(ratio, "command/cat {} | wc -l");
    let quoted = home.race("f.txt", ["-c", "sh -c 'wc -l f.txt'"]);
    quoted.refuses("names f.txt within quotes; hand it over as an argument: sh -c ");
}

#[test]
fn the_page_faults_of_a_command_are_its_own() {
    let home = home();
    let json = home.race_json("f.txt", "--method command/* --state warm").exits(0);
    let samples = items(&json.trial("command/wc -l", "warm")["samples"]).iter();
    let counted: Vec<u64> = samples.map(|it| it["minor_faults"].as_u64().unwrap()).collect();
    let Some(own) = page_faults_of(&["wc", "-l", home.at("f.txt").to_str().unwrap()]) else {
        return skip("no python3 to count with");
    };
    assert!(counted.iter().all(|&counted| counted > 0 && counted < 2 * own), "{counted:?}, {own}");
}

/// Minor page faults of a program, by the kernel's count alone; `None` without Python.
fn page_faults_of(words: &[&str]) -> Option<u64> {
    let script = "import os, sys; pid = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ); \
                  sys.stderr.write(str(os.wait4(pid, 0)[2].ru_minflt))";
    let output = std::process::Command::new("python3").args(["-c", script]).args(words).output().ok()?;
    String::from_utf8_lossy(&output.stderr).trim().parse().ok()
}

mod ring2 {
    use super::*;

    #[test]
    fn the_example_for_continuous_integration_works_as_written() {
        let home = Home::with_file("data.bin", "one\ntwo\n");
        home.program("my-reader", "#!/bin/sh\nexec wc -l \"$1\"\n");
        let example_commands = example_commands();
        assert_eq!(example_commands.len(), 3, "two races and a comparison: {example_commands:?}");
        for (at, step) in example_commands.into_iter().enumerate() {
            // The options reduce minutes to seconds. A difference by chance does not matter here.
            let quick = if at < 2 { " --runs 5 --state warm" } else { "" };
            let mut shell = home.shell(format!("{step}{quick}"));
            let said = ProgramOutput::by(shell.env("GITHUB_STEP_SUMMARY", home.at("summary.md")));
            assert!(said.code == Some(0) || at == 2 && said.code == Some(3), "{said}");
        }
        for export in ["summary.md", "benchmark.json"] {
            let text = home.read(export);
            assert!(text.contains("./my-reader"), "{export}: {text}");
            assert!(!text.contains("rust/mmap"), "commands alone: {text}");
        }
    }

    #[test]
    fn folders_behind_links_and_parents_are_shown_and_linked_by_their_real_names() {
        let home = Home::new();
        symlink(home.folder("deep/er"), home.at("v")).unwrap();
        home.file("deep/f.txt", "one\ntwo\n");
        let words = "--method rust/read/scalar --state warm --output v/../run --flamegraph=v/../pictures";
        let said = home.race("v/../f.txt", words).exits(0);
        let real = home.at("deep").canonicalize().unwrap();
        let record = said.out.lines().last().unwrap();
        assert_eq!(record, format!("record: {}", real.join("run/record.jsonl").display()));
        let read = home.record("deep/run");
        assert_eq!(read.targets.first().unwrap().path, real.join("f.txt").to_str().unwrap());
        for graph in read.trials.iter().filter_map(|trial| trial.flame_graph.as_ref()?.picture_path.as_ref())
        {
            assert!(graph.starts_with(real.join("pictures").to_str().unwrap()), "{graph}");
        }
    }
}
