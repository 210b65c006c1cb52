//! Tests of the user's commands: how their output is checked, which commands run around their
//! readings, and parameters in them.

use super::archives::gzip;
use crate::home::{Export, Home, Trials, items};
use crate::processes::{happens_in_time, send};
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::time::Instant;

/// A home with a file of lines.
fn home() -> Home {
    Home::with_file("f.txt", "one\ntwo\nthree\n".repeat(20_000))
}

/// The arguments of a race of these commands.
fn words<'a>(commands: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    commands.iter().flat_map(|command| ["-c", command]).chain(more.iter().copied()).collect()
}

/// A quick race of these commands, warm.
fn race(home: &Home, commands: &[&str], more: &[&str]) -> Export {
    home.race_json("f.txt", [&words(commands, more)[..], &["--state", "warm"]].concat())
}

/// The trial of a command, whose name omits a last `{}`.
fn trial<'a>(json: &'a Value, command: &str, state: &str) -> &'a Value {
    json.trial(&format!("command/{}", command.trim_end_matches(" {}")), state)
}

/// The reason why a command was not measured.
fn reason<'a>(json: &'a Value, command: &str) -> &'a str {
    let trial = trial(json, command, "warm");
    assert_ne!(trial["outcome"], "measured", "{trial}");
    trial["reason"].as_str().unwrap_or_else(|| panic!("{trial}"))
}

#[track_caller]
fn assert_measured(json: &Value, commands: &[&str]) {
    for command in commands {
        let trial = trial(json, command, "warm");
        assert_eq!((&trial["outcome"], &trial["work"]), (&"measured".into(), &"output".into()), "{trial}");
    }
}

#[test]
fn commands_take_part_on_a_folder_and_read_a_part_cold() {
    let home = Home::new();
    home.file("tree/read", "a line\n".repeat(200_000));
    home.file("tree/ignored", "a line\n".repeat(200_000));
    let commands = ["du -s {}", "wc -l {}/read", "head -n 10 {}/read"];
    let json = home.race_json("tree", words(&commands, &["--check", "none"])).exits(0);
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
    assert!(proof.contains("of_a_part") && proof.contains("left_nothing"), "{proof}");
}

#[test]
fn lone_carriage_returns_that_are_counted_as_lines_are_explained_in_a_folder_and_an_archive() {
    let home = Home::new();
    let text = "10 %\r20 %\n".repeat(100);
    home.file("tree/a", &text);
    home.file("tree/b", &text);
    home.file("packed", gzip(text.as_bytes()));
    for (target, read, more, what) in [
        ("tree", "cat {}/a {}/b", None, "the files have 200"),
        ("packed", "gzip -dc {}", Some("--commands-decode"), "the content has 100"),
    ] {
        let command = format!("{read} | grep -o % | wc -l");
        let more: Vec<&str> = ["--state", "warm"].into_iter().chain(more).collect();
        let json = home.race_json(target, words(&[command.as_str()], &more));
        let why = format!("({what} carriage returns (\\r) without a newline, and it ends a line at each)");
        assert!(reason(&json, &command).ends_with(&why), "{}", reason(&json, &command));
    }
}

#[test]
fn the_rate_of_a_command_counts_the_bytes_that_it_left_in_an_empty_cache() {
    // Larger than what the device reads ahead beyond nine megabytes.
    let home = Home::with_file("large", "a line of text\n".repeat(3 << 20));
    for name in ["a.txt", "b.log", "c.log", "d.log"] {
        home.file(format!("folder/{name}"), "a line of text\n".repeat(1 << 16));
    }
    // Each command with the largest share of the target that it may read.
    let read = |target: &str, size: u32, commands: &[(&str, f64)]| {
        let lines: Vec<&str> = commands.iter().map(|(command, _)| *command).collect();
        let words = words(&lines, &["--check", "none", "--method", "command/*"]);
        let json = home.race_json(target, words).exits(0);
        for (command, most) in commands {
            for state in ["cold", "warm"] {
                let trial = trial(&json, command, state);
                let rate = &trial["throughput_bytes_per_s"];
                let share = trial["share_read"].as_f64().unwrap_or_else(|| panic!("no share: {trial}"));
                let said = format!("{target}: {command}, {state}: {rate} of {share}");
                let is_whole = *most == 1.0;
                assert!(share <= *most && (share == 1.0) == is_whole, "{said}");
                // Most of a small part may be read-ahead, which a warm reading does not need.
                if is_whole || share == 0.0 || state == "cold" {
                    assert_eq!(rate.is_u64(), share > 0.0, "{said}");
                }
                let Some(bytes) = trial["bytes_out"].as_u64() else { continue };
                assert!((bytes as f64 - share * f64::from(size)).abs() <= 1.0, "{said}: {bytes} bytes");
            }
        }
    };
    let of_lines = |lines: u32| lines * 15;
    let of_file = [
        ("sha256sum {}", 1.0),
        ("cat {} | sha256sum", 1.0),
        ("grep -c x {}", 1.0),
        ("head -c 9M {}", 0.95),
        ("head -c 9M {} | cat | wc -c", 0.95),
        ("(head -c 9M {}; head -c 9M {})", 0.95),
        ("head -n 10 {}", 0.6),
        ("stat -c %s {}", 0.0),
        ("cat /proc/self/exe {} | head -c 1000", 0.95),
    ];
    read("large", of_lines(3 << 20), &of_file);
    let of_folder = [
        ("cat {}/a.txt {}/b.log {}/c.log {}/d.log", 1.0),
        ("find {} -type f | wc -l", 0.0),
        ("grep -r --include=*.txt x {}", 0.3),
    ];
    read("folder", of_lines(4 << 16), &of_folder);
}

#[test]
fn a_race_for_a_part_shows_the_share_that_each_command_reads() {
    let home = Home::with_file("large", "a line of text\n".repeat(1 << 20));
    let commands = ["head -n 10 {}", "cat {}"];
    let json = home.race_json("large", words(&commands, &["--work", "part"])).exits(0);
    for (command, is_whole) in commands.into_iter().zip([false, true]) {
        for state in ["cold", "warm"] {
            let trial = trial(&json, command, state);
            assert_eq!((&trial["outcome"], &trial["work"]), (&"measured".into(), &"part".into()), "{trial}");
            assert_eq!(trial["share_read"] == 1.0, is_whole, "{trial}");
            assert_eq!(trial["command"]["check"], "unchecked", "{trial}");
        }
    }
    let first = trial(&json, commands[0], "cold");
    let share = first["share_read"].as_f64().unwrap();
    let mut left = first["samples"].as_array().unwrap().iter().map(|sample| &sample["resident_after"]);
    assert!(share < 0.6 && left.any(|left| *left == share), "one of the readings, to the page: {first}");
    let shown =
        home.race("large", words(&["head -n 10 {}"], &["--work", "part", "--check", "same"])).exits(0);
    shown.shows("reads").shows(" %");
    for (words, why) in [
        ("-c 'head {}' --work part --check count", "--work part: --check count looks at a number"),
        ("--work part", "--work part is about commands"),
    ] {
        home.race("large", words).refuses(why);
    }
}

#[test]
fn accepted_exit_codes_are_recorded_and_shown_and_others_are_failures() {
    let home = home();
    let absent = "grep -c no-such-word {}";
    let alone = race(&home, &[absent], &["--check", "none"]).exits(1);
    let advice = "ended with exit code 1; if that is no failure, --success 0,1 accepts exit code 1";
    assert!(reason(&alone, absent).ends_with(advice));
    let options = ["--check", "none", "--success", "1,0,1", "--output", "run"];
    let json = race(&home, &[absent, "grep -c three {}"], &options).exits(0);
    assert_measured(&json, &[absent, "grep -c three {}"]);
    assert_eq!(trial(&json, absent, "warm")["command"]["success"], serde_json::json!([0, 1]), "{json}");
    let page = home.read("run/report.html").replace('\u{a0}', " ");
    assert!(page.contains("it may end with exit code 0 or 1"));
    let fails = "sh -c 'exit 3' {}";
    let json = race(&home, &[fails, "cat {}"], &["--check", "none", "--success", "0,1"]).exits(1);
    assert!(reason(&json, fails).ends_with("ended with exit code 3"), "{json}");
    let says_why = "sh -c 'echo reading >&2; echo no such device >&2; exit 3' {}";
    let json = race(&home, &[says_why], &["--check", "none"]).exits(1);
    assert!(
        reason(&json, says_why).ends_with("ended with exit code 3; it printed last: no such device"),
        "{json}"
    );
}

#[test]
fn commands_with_equal_output_are_raced_and_another_is_refused() {
    let home = home();
    let (first, same, other) = ("grep -n thr {}", "grep -F -n thr {}", "grep -n two {}");
    let json = race(&home, &[first, same], &["--check", "same"]).exits(0);
    assert_measured(&json, &[first, same]);
    let names = json.trials().iter().map(|it| it["id"].as_str().unwrap());
    let readers: Vec<&str> =
        names.filter(|name| name.starts_with("rust/read") || name.contains("wc")).collect();
    assert!(readers.is_empty(), "what counts lines does other work: {readers:?}");
    let json = race(&home, &[first, other], &["--check", "same"]).exits(1);
    assert_measured(&json, &[first]);
    for run in home.runs() {
        let page = home.read(run.join("report.html"));
        assert!(page.contains("Commands as they are") && page.contains("it must print what"), "the page");
    }
    assert_eq!(reason(&json, other), "its output is not that of command/grep -n thr");
}

#[test]
fn changing_output_is_refused_unless_output_is_ignored() {
    let home = home();
    let changing = "cat {} && date +%s%N";
    for check in ["same", "cat"] {
        let json = race(&home, &[changing], &["--check", check]).exits(1);
        let why = reason(&json, changing);
        assert!(why.contains("changes from reading to reading") && why.contains("--check none"), "{why}");
    }
    let json =
        home.race_shown("f.txt", words(&[changing, "cat {}"], &["--state", "warm", "--check", "none"]));
    assert_measured(&json, &[changing]);
    json.said.shows("what the commands printed was not checked");
}

#[test]
fn a_program_decides_whether_output_is_right() {
    let home = home();
    let check = "grep -q three && test -s {}";
    let json = race(&home, &["cat {}", "head -c 3 {}"], &["--check", check]).exits(1);
    assert_measured(&json, &["cat {}"]);
    let why = format!("the check '{check}' of its output ended with exit code 1");
    assert_eq!(reason(&json, "head -c 3 {}"), why);
    let json = race(&home, &["cat {}"], &["--check", "no-such-program"]);
    let why = reason(&json, "cat {}");
    assert!(
        why.contains("ended with exit code 127; it printed last: ") && why.contains("no-such-program"),
        "{why}"
    );
}

#[test]
fn a_command_that_fails_has_no_right_output() {
    let failing = "sh -c 'cat \"$0\"; exit 3' {}";
    let json = race(&home(), &[failing, "cat {}"], &["--check", "same"]).exits(1);
    assert!(reason(&json, failing).contains("exit code 3"));
    let why = reason(&json, "cat {}");
    assert!(why.contains("whose output it must print") && why.contains("exit code 3"), "{why}");
}

#[test]
fn page_faults_of_a_command_s_start_prove_no_touch() {
    // The answer is right, and nothing is read.
    let command = "echo 60000 # {}";
    let json = race(&home(), &[command], &[]);
    let trial = trial(&json, command, "warm");
    let samples = items(&trial["samples"]);
    assert!(!samples.is_empty(), "{trial}");
    assert!(samples.iter().all(|sample| sample["turn"]["delivered"].is_null()), "{trial}");
}

/// The log to which commands and hooks wrote.
fn log(home: &Home) -> Vec<String> {
    fs::read_to_string(home.at("log")).unwrap_or_default().lines().map(str::to_owned).collect()
}

#[test]
fn setup_runs_first_prepare_before_each_reading_and_cleanup_at_the_end() {
    let home = home();
    let file = home.at("f.txt");
    let (first, second) = ("echo read >> log; wc -l {}", "echo read >> log; grep -c '' {}");
    let around = ["--setup", "echo setup >> log", "--cleanup", "echo cleanup {} >> log"];
    let prepare = ["--prepare", "echo prepare >> log", "--prepare", "echo prepare >> log; sleep 0.001"];
    let more = [&around[..], &prepare, &["--method", "command/*"]].concat();
    let json = home.race_json(&file, words(&[first, second], &more)).exits(0);
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
fn a_failing_hook_ends_the_run_with_its_exit_code_and_its_last_output() {
    let home = home();
    for (option, cleanup) in [
        ("--setup", &["--cleanup", "echo cleanup >> log"][..]),
        ("--prepare", &["--cleanup", "echo cleanup >> log"]),
        ("--cleanup", &[]),
    ] {
        let _ = fs::remove_file(home.at("log"));
        let failing = "echo first >&2; echo no such device >&2; exit 3";
        let only = ["--state", "warm", "--method", "command/*"];
        let more = [&[option, failing][..], &only, cleanup].concat();
        let said = home.race("f.txt", words(&["wc -l {}"], &more)).exits(2);
        let why = format!("the run ended early: {option} '{failing}' ended with exit code 3: no such device");
        assert!(said.err.lines().any(|line| line == format!("readlab: {why}")), "{said}");
        assert_eq!(log(&home).len(), cleanup.len() / 2, "{option}: {:?}", log(&home));
    }
}

#[test]
fn a_parameter_makes_one_command_for_each_of_its_values_and_a_check_has_the_value() {
    let home = home();
    let parameters = ["-L", "size", "4K,1M", "-P", "n", "1", "2", "--check", "same"];
    let command = "dd if={} bs={size} status=none | cat | tail -n +{n} | wc -c";
    let json = race(&home, &[command, "wc -c"], &parameters).exits(1);
    let with = |size: &str, n: &str| command.replace("{size}", size).replace("{n}", n);
    assert_measured(&json, &[&with("4K", "1"), &with("1M", "1")]);
    // The output of n=2 differs.
    reason(&json, &with("1M", "2"));
    json.said.tells("the command 'wc -c' names no file: raced as 'wc -c {}'");
    let parameters = ["-L", "n", "5,6", "--check", "test $(wc -l) = {n}"];
    let json = race(&home, &["head -n {n} {}"], &parameters).exits(0);
    assert_measured(&json, &["head -n 5 {}", "head -n 6 {}"]);
}

#[test]
fn a_command_that_names_the_file_as_a_shell_would_reads_it_once() {
    let home = home();
    fs::copy(home.at("f.txt"), home.at("my data")).unwrap();
    for line in ["wc -l ~/f.txt", "wc -l $HOME/f.txt", "cat f.tx? | wc -l", "cd . && wc -l f.txt*"] {
        let words = ["-c", line, "--state", "warm", "--method", "command/*"];
        home.race("f.txt", words).refuses("write {} where the path belongs");
    }
    let words = ["-c", "wc -l my\\ data", "--state", "warm", "--method", "command/*"];
    home.race("my data", words)
        .exits(0)
        .tells("the command 'wc -l my\\ data' names the file: raced as 'wc -l {}'");
}

#[test]
fn a_command_is_raced_as_written() {
    let home = home();
    home.file("count.pl", "open(my $file, '<', $ARGV[1]); my $lines = () = <$file>; print \"$lines\\n\";\n");
    let only = ["--method", "command/*"];
    let text = "grep -c level=all {} || echo 0";
    let json = race(&home, &[text], &[&only[..], &["--check", "none"]].concat()).exits(0);
    assert_measured(&json, &[text]);
    let option = "perl count.pl -p {}";
    let json = race(&home, &[option], &only).exits(0);
    assert_eq!(trial(&json, option, "warm")["outcome"], "measured", "{json}");
}

#[test]
fn a_pattern_for_names_below_the_folder_is_not_taken_for_a_script() {
    let home = Home::new();
    for name in ["a.log", "b.log", "sub dir/x"] {
        home.file(format!("tree/{name}"), "a line\n".repeat(1000));
    }
    let found = "find {} -name '*.log' -exec cat \\{\\} + | wc -l";
    let commands = ["cat {}/*.log | wc -l", "cat \"{}\"/[ab].log", "cat \"{}/sub dir/x\"", found];
    let words = words(&commands, &["--check", "none", "--state", "warm"]);
    assert_measured(&home.race_json("tree", words).exits(0), &commands);
    home.race("tree", ["-c", "find {} -exec cat {} +"]).refuses("write that one as \\{\\}");
}

#[test]
fn two_spellings_of_one_command_are_named_and_no_hook_is_lost() {
    let home = home();
    let hooks = "--state warm --prepare true --prepare 'touch PREPARED'";
    let said = home.race("f.txt", format!("-c 'wc -l f.txt' -c 'wc -l {{}}' {hooks}"));
    said.refuses("'wc -l f.txt' and 'wc -l {}' are both 'wc -l {}'");
    home.readlab("suite newlines f.txt -c 'wc -l' -c 'wc -l'").refuses("are both 'wc -l {}'");
    let twice = "[[trial]]\ntrial = 'command/wc -l'\n[[trial]]\ntrial = 'command/wc -l {}'\n";
    home.file("s.toml", format!("name = 's'\nabout = 'x'\n{twice}command = {{ prepare = 'true' }}\n"));
    home.readlab("suite s.toml f.txt").refuses("of the suite are one");
}

#[test]
fn options_that_suit_no_command_are_refused() {
    let home = home();
    for (words, why) in [
        ("-c 'wc -l {}' --check ''", "--check is empty"),
        ("-c 'wc -l {n} {}' -L n 1,,2", "the parameter 'n' has an empty value"),
        ("-c 'wc -l {n} {}' -P n 3 1", "has no value from 3 to 1"),
        ("-c 'wc -l {n} {}' -P n 1 9 -D 0", "the step of the parameter 'n' is 0: it must be above 0"),
        (
            "-c 'wc -l {}' -c 'wc -l {}'",
            "the command 'wc -l {}' is given twice: a row is named after its command",
        ),
        ("-c 'cat {}' --check same --method rust/read", "no method matches rust/read"),
        ("-c 'cat {}' --check same --work sum", "--work"),
        ("-c 'wc -l f.txt' --method \"command/sh -c 'wc f.txt | cat'\"", "names f.txt within quotes"),
    ] {
        home.race("f.txt", words).refuses(why);
    }
}

mod ring2 {
    use super::*;

    #[test]
    fn the_budget_ends_the_current_command_and_names_it() {
        let home = home();
        let ended = |more: &str, code: i32, why: &str| {
            let begun = Instant::now();
            let words = "--no-progress --method command/* --budget 1s --state warm";
            let said = home.readlab(format!("race f.txt {words} {more}")).exits(code);
            said.tells(why);
            assert!(begun.elapsed().as_secs() < 30, "{said}");
        };
        for option in ["--setup", "--prepare", "--cleanup"] {
            let why = format!("{option} 'sleep 60' was ended after");
            ended(&format!("-c 'wc -l {{}}' {option} 'sleep 60'"), 2, &why);
        }
        ended("-c \"sh -c 'sleep 60' sh {}\"", 1, "no answer within");
    }

    #[test]
    fn a_command_that_takes_longer_than_a_reader_may_is_measured() {
        let home = home();
        let line = "sleep 11; wc -l {}";
        let words = format!("-c '{line}' --method command/* --state cold --runs 1");
        let said = home.readlab(format!("race f.txt {words} --quiet --export-json -"));
        let json = said.export();
        assert_eq!(trial(&json, line, "cold")["outcome"], "measured", "{json}");
    }

    #[test]
    fn the_setup_command_may_make_the_program_itself() {
        let home = home();
        let made = "printf '#!/bin/sh\\nexec wc -l \"$1\"\\n' > built && chmod +x built";
        let more = ["--setup", made, "--cleanup", "rm built", "--method", "command/*"];
        let json = home.race_json("f.txt", words(&["./built {}"], &more)).exits(0);
        for state in ["cold", "warm"] {
            assert_eq!(trial(&json, "./built {}", state)["outcome"], "measured", "{json}");
        }
        assert!(!home.at("built").exists(), "it was cleaned up");
    }

    #[test]
    fn ctrl_c_cleans_up_and_a_resumed_run_sets_up_again() {
        let home = home();
        let words = "--no-progress --save cut --runs 2000 --budget 20m --state warm --check same";
        let around = "--setup 'echo setup >> log' --cleanup 'sleep 0.2; echo cleanup >> log'";
        let count = |word: &str| log(&home).iter().filter(|line| *line == word).count();
        let interrupt = |words: String, is_under_way: &dyn Fn() -> bool| {
            let mut lab = home.start(words);
            assert!(happens_in_time(is_under_way), "{:?}", log(&home));
            send(lab.id(), Signal::INT);
            assert_eq!(lab.wait().unwrap().code(), Some(130));
        };
        interrupt(format!("race f.txt -c 'echo read >> log; cat {{}}' {words} {around}"), &|| {
            log(&home).len() > 8
        });
        assert_eq!((count("setup"), count("cleanup")), (1, 1), "{:?}", log(&home));
        assert_eq!(log(&home).last().unwrap(), "cleanup");
        interrupt("race --resume cut --no-progress".to_owned(), &|| count("setup") == 2);
        assert_eq!(count("cleanup"), 2, "{:?}", log(&home));
    }
}
