//! Tests of commands as they are: how their output is checked, what is run around their readings,
//! and parameters in them.

use super::interrupt::{send, soon};
use super::{Home, READLAB, Said, trials};
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

const WARM: [&str; 2] = ["--state", "warm"];

fn words<'a>(commands: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    let commands = commands.iter().flat_map(|command| ["-c", command]);
    commands.chain(WARM).chain(more.iter().copied()).collect()
}

fn target(home: &Home) -> PathBuf {
    home.file("f.txt", "one\ntwo\nthree\n".repeat(20_000))
}

/// A quick race of these commands.
fn race(home: &Home, commands: &[&str], more: &[&str]) -> (Value, Said) {
    home.race_json(&target(home), &words(commands, more))
}

/// The trial of a command; its name leaves a last `{}` out.
fn trial<'a>(json: &'a Value, command: &str, state: &str) -> &'a Value {
    trials(json, &format!("command/{}", command.trim_end_matches(" {}")), state)
}

/// Why a command was not measured.
fn reason(json: &Value, command: &str) -> String {
    let trial = trial(json, command, "warm");
    assert_ne!(trial["outcome"], "measured", "{trial}");
    trial["reason"].as_str().unwrap_or_else(|| panic!("{trial}")).to_owned()
}

fn is_measured(json: &Value, command: &str) {
    let trial = trial(json, command, "warm");
    assert_eq!((&trial["outcome"], &trial["work"]), (&"measured".into(), &"output".into()), "{trial}");
}

#[test]
fn commands_as_they_are_take_part_on_a_folder_and_read_a_part_cold() {
    let home = Home::new();
    fs::create_dir(home.at("tree")).unwrap();
    home.file("tree/read", "a line\n".repeat(200_000));
    home.file("tree/ignored", "a line\n".repeat(200_000));
    let commands = ["du -s {}", "wc -l {}/read", "head -n 10 {}/read"];
    let words = commands.iter().flat_map(|command| ["-c", command]).chain(["--check", "none"]);
    let (json, said) = home.race_json(&home.at("tree"), &words.collect::<Vec<_>>());
    assert_eq!(said.code, Some(0), "{said}");
    for command in commands {
        for state in ["cold", "warm"] {
            let trial = trial(&json, command, state);
            assert_eq!(trial["outcome"], "measured", "{trial}");
        }
        let share = trial(&json, command, "cold")["samples"][0]["resident_after"].as_f64().unwrap();
        let is_part = if command.starts_with("du") { share == 0.0 } else { share > 0.0 && share < 0.6 };
        assert!(is_part, "{command}: {share}");
    }
    let proof = json["proofs"].to_string();
    assert!(proof.contains("of_a_part"), "{proof}");
}

#[test]
fn a_command_has_a_rate_only_if_it_left_the_whole_target_in_an_empty_cache() {
    let home = Home::new();
    let file = home.file("large", "a line of text\n".repeat(1 << 20));
    let whole = ["sha256sum {}", "cat {} | sha256sum", "grep -c x {}"];
    let part = [
        "head -c 9M {}",
        "head -c 9M {} | cat | wc -c",
        "(head -c 9M {}; head -c 9M {})",
        "head -n 10 {}",
        "wc -c {}",
        "cat /proc/self/exe {} | head -c 1000",
    ];
    let rates = |file: &Path, commands: &[&str]| {
        let options = commands.iter().flat_map(|command| ["-c", command]);
        let options: Vec<&str> = options.chain(["--check", "none", "--method", "command/*"]).collect();
        let (json, said) = home.race_json(file, &options);
        assert_eq!(said.code, Some(0), "{said}");
        let of = |command: &&str| {
            ["cold", "warm"].map(|state| trial(&json, command, state)["throughput_bytes_per_s"].is_u64())
        };
        commands.iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(rates(&file, &whole), [[true; 2]; 3], "{whole:?}");
    assert_eq!(rates(&file, &part), [[false; 2]; 6], "{part:?}");
    fs::create_dir(home.at("folder")).unwrap();
    for name in ["a.txt", "b.log", "c.log", "d.log"] {
        home.file(format!("folder/{name}"), "a line of text\n".repeat(1 << 16));
    }
    let of_folder = [
        "cat {}/a.txt {}/b.log {}/c.log {}/d.log",
        "find {} -type f | wc -l",
        "grep -r --include=*.txt x {}",
    ];
    assert_eq!(rates(&home.at("folder"), &of_folder), [[true; 2], [false; 2], [false; 2]], "{of_folder:?}");
}

#[test]
fn commands_that_print_the_same_are_raced_alone_and_another_is_refused() {
    let home = Home::new();
    let (first, same, other) = ("grep -n thr {}", "grep -F -n thr {}", "grep -n two {}");
    let (json, said) = race(&home, &[first, same], &["--check", "same"]);
    assert_eq!(said.code, Some(0), "{said}");
    for command in [first, same] {
        is_measured(&json, command);
    }
    let names = json["trials"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap().to_owned());
    let readers: Vec<String> =
        names.filter(|name| name.starts_with("rust/read") || name.contains("wc")).collect();
    assert!(readers.is_empty(), "what counts lines does other work: {readers:?}");
    let (json, said) = race(&home, &[first, other], &["--check", "same"]);
    assert_eq!(said.code, Some(1), "{said}");
    is_measured(&json, first);
    let page = home.runs().into_iter().map(|run| fs::read_to_string(run.join("report.html")).unwrap());
    let says = |page: &String| page.contains("Commands as they are") && page.contains("it must print what");
    assert!(page.into_iter().all(|page| says(&page)), "the page");
    assert_eq!(
        reason(&json, other),
        format!("its output is not that of command/{}", first.trim_end_matches(" {}"))
    );
}

#[test]
fn output_that_changes_is_refused_unless_nobody_looks_at_it() {
    let home = Home::new();
    let changing = "cat {} && date +%s%N";
    for check in ["same", "cat"] {
        let (json, said) = race(&home, &[changing], &["--check", check]);
        assert_eq!(said.code, Some(1), "{said}");
        let why = reason(&json, changing);
        assert!(why.contains("changes from reading to reading") && why.contains("--check none"), "{why}");
    }
    let (json, said) = race(&home, &[changing, "cat {}"], &["--check", "none"]);
    assert_eq!(said.code, Some(0), "{said}");
    is_measured(&json, changing);
    let shown = home.race(&target(&home), &words(&[changing], &["--check", "none"]));
    assert!(shown.out.contains("what the commands printed was not checked"), "{shown}");
}

#[test]
fn a_program_decides_whether_output_is_right() {
    let home = Home::new();
    let (json, said) = race(&home, &["cat {}", "head -c 3 {}"], &["--check", "grep -q three && test -s {}"]);
    assert_eq!(said.code, Some(1), "{said}");
    is_measured(&json, "cat {}");
    let why = "the check 'grep -q three && test -s {}' of its output ended with exit code 1";
    assert_eq!(reason(&json, "head -c 3 {}"), why);
    let (json, _) = race(&home, &["cat {}"], &["--check", "no-such-program"]);
    assert!(reason(&json, "cat {}").ends_with("ended with exit code 127"));
}

#[test]
fn a_command_that_fails_has_no_right_output() {
    let home = Home::new();
    let (json, said) = race(&home, &["sh -c 'cat \"$0\"; exit 3' {}", "cat {}"], &["--check", "same"]);
    assert_eq!(said.code, Some(1), "{said}");
    assert!(reason(&json, "sh -c 'cat \"$0\"; exit 3' {}").contains("exit code 3"));
    let why = reason(&json, "cat {}");
    assert!(why.contains("whose output it must print") && why.contains("exit code 3"), "{why}");
}

/// The log that commands and hooks wrote to.
fn log(home: &Home) -> Vec<String> {
    fs::read_to_string(home.at("log")).unwrap_or_default().lines().map(str::to_owned).collect()
}

#[test]
fn set_up_comes_first_prepared_comes_before_each_reading_and_cleaned_up_is_at_the_end() {
    let home = Home::new();
    let file = target(&home);
    let (first, second) = ("echo read >> log; wc -l {}", "echo read >> log; grep -c '' {}");
    let around = ["--setup", "echo setup >> log", "--cleanup", "echo cleanup {} >> log"];
    let prepare = ["--prepare", "echo prepare >> log", "--prepare", "echo prepare >> log; sleep 0.001"];
    let only = ["--method", "command/*", "-c", first, "-c", second];
    let (json, said) = home.race_json(&file, &[&around[..], &prepare, &only].concat());
    assert_eq!(said.code, Some(0), "{said}");
    for state in ["cold", "warm"] {
        for line in [first, second] {
            let trial = trial(&json, line, state);
            assert_eq!(trial["outcome"], "measured", "{trial}");
            assert_eq!(trial["command"]["setup"], "echo setup >> log", "{trial}");
        }
    }
    let log = log(&home);
    let at = |word: &str| -> Vec<usize> { (0..log.len()).filter(|&at| log[at].starts_with(word)).collect() };
    assert_eq!((at("setup").len(), at("cleanup").len()), (2, 2), "one for each command: {log:?}");
    assert!(at("cleanup").first() > at("read").last(), "{log:?}");
    assert!(log.ends_with(&[format!("cleanup {}", file.display())]), "{log:?}");
    let reads = at("read");
    assert!(reads.len() > 12 && at("prepare").len() == reads.len(), "{log:?}");
    for read in reads {
        assert_eq!(log[read - 1], "prepare", "line {read} of {log:?}");
    }
}

#[test]
fn what_fails_around_readings_ends_the_run_with_its_exit_code_and_its_last_words() {
    let home = Home::new();
    let file = target(&home);
    for (option, is_cleaned_up) in [("--setup", true), ("--prepare", true), ("--cleanup", false)] {
        let _ = fs::remove_file(home.at("log"));
        let failing = "echo first >&2; echo no such device >&2; exit 3";
        let cleanup: &[&str] = if is_cleaned_up { &["--cleanup", "echo cleanup >> log"] } else { &[] };
        let said = home.race(&file, &words(&["wc -l {}"], &[&[option, failing], cleanup].concat()));
        assert_eq!(said.code, Some(2), "{option}: {said}");
        let why = format!("the run ended early: {option} '{failing}' ended with exit code 3: no such device");
        assert!(said.err.lines().any(|line| line == format!("readlab: {why}")), "{said}");
        assert_eq!(log(&home).len(), usize::from(is_cleaned_up), "{option}: {:?}", log(&home));
    }
}

#[test]
fn a_parameter_makes_one_command_for_each_of_its_values() {
    let home = Home::new();
    let parameters = ["-L", "size", "4K,1M", "-P", "n", "1", "2", "--check", "same"];
    let command = "dd if={} bs={size} status=none | cat | tail -n +{n} | wc -c";
    let (json, said) = race(&home, &[command, "wc -c"], &parameters);
    assert_eq!(said.code, Some(1), "the output of n=2 is another: {said}");
    is_measured(&json, "dd if={} bs=4K status=none | cat | tail -n +1 | wc -c");
    is_measured(&json, "dd if={} bs=1M status=none | cat | tail -n +1 | wc -c");
    reason(&json, "dd if={} bs=1M status=none | cat | tail -n +2 | wc -c");
    assert!(said.err.contains("the command 'wc -c' names no file: raced as 'wc -c {}'"), "{said}");
}

#[test]
fn a_command_is_raced_as_it_is_written() {
    let home = Home::new();
    home.file("count.py", "import sys\nprint(sum(1 for _ in open(sys.argv[2])))\n");
    let only = ["--method", "command/*"];
    let text = "grep -c level=all {} || echo 0";
    let (json, said) = race(&home, &[text], &[&only[..], &["--check", "none"]].concat());
    assert_eq!(said.code, Some(0), "{said}");
    is_measured(&json, text);
    let option = "python3 count.py -p {}";
    let (json, said) = race(&home, &[option], &only);
    assert_eq!(said.code, Some(0), "{said}");
    assert_eq!(trial(&json, option, "warm")["outcome"], "measured", "{said}");
}

#[test]
fn a_check_has_the_value_of_the_parameter_of_its_command() {
    let home = Home::new();
    let parameters = ["-L", "n", "5,6", "--check", "test $(wc -l) = {n}"];
    let (json, said) = race(&home, &["head -n {n} {}"], &parameters);
    assert_eq!(said.code, Some(0), "{said}");
    is_measured(&json, "head -n 5 {}");
    is_measured(&json, "head -n 6 {}");
}

#[test]
fn a_pattern_for_names_below_the_folder_is_no_script() {
    let home = Home::new();
    fs::create_dir_all(home.at("tree/sub dir")).unwrap();
    for name in ["a.log", "b.log", "sub dir/x"] {
        home.file(format!("tree/{name}"), "a line\n".repeat(1000));
    }
    let found = "find {} -name '*.log' -exec cat \\{\\} + | wc -l";
    let commands = ["cat {}/*.log | wc -l", "cat \"{}\"/[ab].log", "cat \"{}/sub dir/x\"", found];
    let words = commands.iter().flat_map(|command| ["-c", command]).chain(["--check", "none"]);
    let (json, said) = home.race_json(&home.at("tree"), &words.chain(WARM).collect::<Vec<_>>());
    assert_eq!(said.code, Some(0), "{said}");
    for command in commands {
        is_measured(&json, command);
    }
    let said = home.race(&home.at("tree"), &["-c", "find {} -exec cat {} +"]);
    assert!(said.refusal().contains("write that one as \\{\\}"), "{said}");
}

#[test]
fn two_spellings_of_one_command_are_named_and_no_hook_is_lost() {
    let home = Home::new();
    let file = target(&home);
    let hooks = ["--prepare", "true", "--prepare", "touch PREPARED"];
    for one in ["wc -l", "wc -l f.txt"] {
        let said = home.race(&file, &words(&[one, "wc -l {}"], &hooks));
        assert!(
            said.refusal().contains(&format!("'{one}' and 'wc -l {{}}' are both 'wc -l {{}}'")),
            "{said}"
        );
    }
    let said = home.readlab(["suite", "newlines", "f.txt", "-c", "wc -l", "-c", "wc -l"]);
    assert!(said.refusal().contains("are both 'wc -l {}'"), "{said}");
    let twice = "[[trial]]\ntrial = 'command/wc -l'\n[[trial]]\ntrial = 'command/wc -l {}'\n";
    home.file("s.toml", format!("name = 's'\nabout = 'x'\n{twice}command = {{ prepare = 'true' }}\n"));
    let said = home.readlab(["suite", "s.toml", "f.txt"]);
    assert!(said.refusal().contains("of the suite are one"), "{said}");
}

#[test]
fn options_about_commands_that_suit_none_are_refused() {
    let home = Home::new();
    let file = target(&home);
    let refused = |words: &[&str], why: &str| {
        let said = home.race(&file, words);
        assert!(said.refusal().contains(why), "{words:?}: {said}");
    };
    refused(&["--check", "same"], "--check is about commands, and there is none");
    refused(&["--prepare", "true"], "--prepare is about commands, and there is none");
    refused(&["-c", "wc -l {}", "--check", ""], "--check is empty");
    refused(&["-c", "wc -l {}", "-L", "n", "1"], "no command uses the parameter 'n'");
    refused(&["-c", "wc -l {n} {}", "-L", "n", "1,,2"], "the parameter 'n' has an empty value");
    refused(&["-c", "wc -l {n} {}", "-P", "n", "3", "1"], "has no value from 3 to 1");
    let thrice = ["-c", "wc -l {}", "-c", "wc {}", "-c", "cat {} | wc -l", "--setup", "a", "--setup", "b"];
    refused(&thrice, "--setup is given 2 times for 3 commands");
    refused(&["-c", "cat {}", "--check", "same", "--method", "rust/read"], "no method matches rust/read");
    refused(&["-c", "cat {}", "--check", "same", "--work", "sum"], "--work");
}

mod ring2 {
    use super::*;

    #[test]
    fn the_budget_ends_what_goes_on_and_names_it() {
        let home = Home::new();
        target(&home);
        let budget = ["race", "f.txt", "--no-progress", "--method", "command/*", "--budget", "1s"];
        let ended = |more: &[&str], code: i32, why: &str| {
            let begun = Instant::now();
            let said = home.readlab([&budget[..], &WARM, more].concat());
            assert!(said.code == Some(code) && said.err.contains(why), "{said}");
            assert!(begun.elapsed().as_secs() < 30, "{said}");
        };
        for option in ["--setup", "--prepare", "--cleanup"] {
            ended(
                &["-c", "wc -l {}", option, "sleep 60"],
                2,
                &format!("{option} 'sleep 60' was ended after"),
            );
        }
        ended(&["-c", "sh -c 'sleep 60' sh {}"], 1, "no answer within");
    }

    #[test]
    fn a_set_up_may_make_the_program_itself() {
        let home = Home::new();
        let made = "printf '#!/bin/sh\\nexec wc -l \"$1\"\\n' > built && chmod +x built";
        let words = ["--setup", made, "--cleanup", "rm built", "--method", "command/*", "-c", "./built {}"];
        let (json, said) = home.race_json(&target(&home), &words);
        assert_eq!(said.code, Some(0), "{said}");
        for state in ["cold", "warm"] {
            assert_eq!(trial(&json, "./built {}", state)["outcome"], "measured", "{said}");
        }
        assert!(!home.at("built").exists(), "it was cleaned up");
    }

    #[test]
    fn ctrl_c_cleans_up_and_a_resumed_run_sets_up_again() {
        let home = Home::new();
        let file = target(&home);
        let mut command = Command::new(READLAB);
        command.arg("race").arg(&file).args([
            "--no-progress",
            "--save",
            "cut",
            "--runs",
            "2000",
            "--budget",
            "20m",
        ]);
        command.args(words(&["echo read >> log; cat {}"], &["--check", "same"]));
        command.args(["--setup", "echo setup >> log", "--cleanup", "sleep 0.2; echo cleanup >> log"]);
        command.envs(home.environment()).current_dir(home.at(""));
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        assert!(soon(|| log(&home).len() > 8), "{:?}", log(&home));
        send(&child, Signal::INT);
        assert_eq!(child.wait().unwrap().code(), Some(130));
        let count = |word: &str| log(&home).iter().filter(|line| *line == word).count();
        assert_eq!((count("setup"), count("cleanup")), (1, 1), "{:?}", log(&home));
        assert_eq!(log(&home).last().unwrap(), "cleanup");
        let mut resumed = Command::new(READLAB);
        resumed
            .args(["race", "--resume", "cut", "--no-progress"])
            .envs(home.environment())
            .current_dir(home.at(""));
        let mut child =
            resumed.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        assert!(soon(|| count("setup") == 2), "{:?}", log(&home));
        send(&child, Signal::INT);
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert_eq!(count("cleanup"), 2, "{:?}", log(&home));
    }
}
