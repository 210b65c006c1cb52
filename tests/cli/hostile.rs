//! Tests of difficult targets: not files, unreadable, with strange names, in memory, or changing
//! during a race.

use crate::fake::{at_second_turn, entry, roster};
use crate::home::{EVERY_METHOD, Home, ProgramOutput, READLAB, Trials};
use crate::machine::{or_skip, skip};
use crate::processes::wait_for_a_sample;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

const WARM_READ: &str = "--method rust/read/scalar --state warm";

#[test]
fn a_target_that_is_no_file_is_refused_in_one_line_that_names_it() {
    let home = Home::new();
    let mode = rustix::fs::Mode::RUSR;
    rustix::fs::mknodat(rustix::fs::CWD, home.at("fifo"), rustix::fs::FileType::Fifo, mode, 0).unwrap();
    for (path, reason) in [
        (home.at("a\x1b[31m\nb"), "a\\u{1b}[31m\\nb: no such file"),
        (home.at("fifo"), "fifo: a pipe, which can be read only once, not a file"),
        ("/proc/self/status".into(), "the kernel makes it up while it is read"),
    ] {
        home.race(path, "").refuses(&format!("{reason}\n"));
    }
    assert!(home.runs().is_empty(), "a refused target has no record");
}

#[test]
fn an_empty_file_is_raced() {
    let home = Home::new();
    let json = home.race_json(home.file("empty", ""), "--language rust").exits(0);
    for state in ["cold", "warm"] {
        assert_eq!(json.measured("command/wc -l", state)["answer"]["newlines"], 0, "{json}");
    }
    for trial in json.trials().iter().filter(|trial| trial["outcome"] != "measured") {
        assert_eq!(trial["outcome"], "unavailable", "{}: {}", trial["id"], trial["reason"]);
    }
}

#[test]
fn names_of_any_bytes_are_raced_and_reach_no_terminal_unescaped() {
    let home = Home::new();
    let words = format!("{WARM_READ} -c 'wc -l {{}}' -c 'cat {{}} | wc -l'");
    let race = |name: &[u8]| {
        let json = home.race_shown(home.file(OsStr::from_bytes(name), "a\nb\n"), &words);
        assert_eq!(json.said.err, "");
        assert!(!json.said.out.contains(|c: char| c.is_control() && c != '\n'), "{json}");
        json
    };
    race(b"new\nline\x1b[31mred").said.shows("new\\nline\\u{1b}[31mred");
    race(b"$(touch x) 'q' \"d\" ;").said.shows("$(touch x) 'q' \"d\" ;");
    assert!(!home.at("x").exists(), "a name was run as a command");
    let json = race(b"latin1 \xe4");
    json.said.shows("latin1 \u{fffd}");
    assert!(json["targets"][0]["path_hex"].as_str().unwrap().ends_with("20e4"), "{}", json["targets"]);
}

#[test]
fn a_file_that_is_changed_removed_or_replaced_at_a_turn_ends_the_race() {
    for (deed, told) in [
        ("truncate -s 1000 \"$target\"", "shrank from 4000 to 1000 bytes"),
        ("cp \"$target\" \"$target.new\" && mv \"$target.new\" \"$target\"", "was replaced by another file"),
        ("rm \"$target\"", "No such file"),
    ] {
        let home = Home::with_file("victim", "a\nb\n".repeat(1000));
        let roster = roster(&home, &[("meddler", at_second_turn(deed).as_str())]);
        let words = format!("{WARM_READ} --roster {roster} --method meddler/read");
        let json = home.race_json("victim", words).exits(1);
        assert_eq!(json["end"]["reason"], "target_changed", "{}", json["end"]);
        let refused: Vec<_> = json.trials().iter().filter(|trial| trial["outcome"] == "refused").collect();
        let [refused] = refused[..] else { panic!("{deed}: {json}") };
        let reason = refused["reason"].as_str().unwrap();
        for part in ["victim", told, "while it was raced"] {
            assert!(reason.contains(part), "{deed}: no {part:?}: {reason}");
        }
    }
}

/// A file that is one hole; `None` with a message if the file system does not allow this size.
fn make_hole(home: &Home, bytes: u64) -> Option<PathBuf> {
    let path = home.at("hole");
    or_skip(fs::File::create(&path).unwrap().set_len(bytes)).map(|()| path)
}

#[test]
fn holes_are_read_correctly_and_reported() {
    let home = Home::new();
    let Some(file) = make_hole(&home, (8 << 20) + 1) else { return };
    let json = home.race_json(file, format!("--work newlines {EVERY_METHOD}")).exits(0);
    for (id, state) in [("rust/read/memchr", "cold"), ("command/wc -l", "warm")] {
        let mut of_state = json.trials().iter().filter(|trial| trial["state"] == state);
        let trial = of_state.find(|trial| trial["id"] == id);
        assert!(trial.is_none_or(|trial| trial["outcome"] == "measured"), "{id} {state}: {trial:?}");
    }
    let cautions = json["targets"][0]["cautions"].to_string();
    assert!(cautions.contains("are holes: they read as zeros and come from no device"), "{cautions}");
}

#[test]
fn a_mapped_file_that_becomes_shorter_kills_its_reader_and_not_the_lab() {
    let home = Home::new();
    let file = home.file("victim", vec![b'\n'; 32 << 20]);
    let record = home.at("run/record.jsonl");
    let words = "race victim --method rust/mmap/scalar --state warm --quiet --export-json - --output run";
    let said = std::thread::scope(|scope| {
        scope.spawn(|| {
            wait_for_a_sample(&record);
            fs::File::options().write(true).open(&file).unwrap().set_len(1).unwrap();
        });
        home.readlab(format!("{words} --runs 1000 --budget 100s"))
    });
    assert_eq!(said.exits(1).json()["end"]["reason"], "target_changed");
    assert!(record.exists());
}

#[test]
fn suites_and_rosters_in_the_current_folder_are_not_run() {
    let home = Home::with_file("f", "a\nb\n");
    let roster = ["rust", "planted"].map(|name| entry(name, &["touch", "evidence"])).concat();
    let suite =
        "name = 'newlines'\nabout = 'planted'\n[[trial]]\ntrial = 'command/touch evidence; wc -l {}'\n";
    for folder in ["", "contenders", "suites", ".readlab", "readlab", ".config/readlab"] {
        for (name, text) in [("roster.toml", &*roster), ("newlines", suite), ("newlines.toml", suite)] {
            home.file(Path::new(folder).join(name), text);
        }
    }
    home.readlab("list").exits(0).hides("planted").hides("a fake");
    let only = "--runs 1 --fills 1 --no-progress";
    home.readlab(format!("race f {only} {WARM_READ}")).exits(0);
    // The suite that readlab itself contains.
    home.readlab(format!("suite newlines f {only}")).shows("Mmap with AVX2");
    assert!(!home.at("evidence").exists(), "what was found was run");
    // A trial of a named suite is run, so running it would be visible.
    let named = home.readlab(format!("suite ./newlines.toml f {only}"));
    assert!(home.at("evidence").exists(), "{named}");
}

mod ring2 {
    use super::*;

    #[test]
    fn a_file_in_memory_is_raced_warm_with_the_reason_why_not_cold() {
        let Some(file) = or_skip(tempfile::NamedTempFile::new_in("/dev/shm")) else { return };
        fs::write(file.path(), "a\nb\n").unwrap();
        let json = Home::new().race_json(file.path(), "--method rust/read/scalar").exits(0);
        if json["targets"][0]["filesystem"] != "tmpfs" {
            return skip("/dev/shm is not in memory");
        }
        json.ended("rust/read/scalar", "cold", "unavailable", "cold is impossible on tmpfs");
        json.measured("rust/read/scalar", "warm");
    }

    #[test]
    fn a_command_that_reads_the_beginning_of_a_huge_file_is_measured_in_a_short_time() {
        let home = Home::new();
        if make_hole(&home, 500_000_000_000).is_none() {
            return;
        }
        let command = "-c 'head -c 1000000 {}' --work part";
        let words = "--state cold --runs 3 --budget 20s --quiet --export-json -";
        let json = home.readlab(format!("race hole {command} {words}")).export();
        json.measured("command/head -c 1000000", "cold");
        let target = &json["targets"][0];
        assert!(target["digest"].is_null(), "{target}");
        assert!(target["cautions"].to_string().contains("Only its beginning was read"), "{target}");
    }

    #[test]
    fn a_command_that_lists_a_huge_folder_is_measured_in_a_short_time() {
        let home = Home::new();
        fs::create_dir(home.at("folder")).unwrap();
        let file = fs::File::create(home.at("folder/hole")).unwrap();
        if or_skip(file.set_len(500_000_000_000)).is_none() {
            return;
        }
        let words = "--state cold --runs 3 --budget 20s --quiet --export-json -";
        let json = home.readlab(format!("race folder -c 'ls {{}}' --check none {words}")).export();
        json.measured("command/ls", "cold");
        let target = &json["targets"][0];
        assert!(target["digest"].is_null(), "{target}");
        assert!(target["cautions"].to_string().contains("Only some of its files were read"), "{target}");
        let compared = "race folder --no-progress --budget 1s";
        home.readlab(compared).refuses("longer than 1.00 s (--budget); a folder below it takes less time");
    }

    #[test]
    fn a_file_of_5_tb_ends_with_the_time_that_the_user_set() {
        let home = Home::new();
        if make_hole(&home, 5_000_000_000_000).is_none() {
            return;
        }
        for (words, told) in [
            ("--budget 1s", "longer than 1.00 s (--budget); race --range reads a part of it"),
            (
                "--max-time 50ms",
                "longer than 500 ms (10 readings of --max-time); race --range reads a part of it",
            ),
        ] {
            home.readlab(format!("race hole --no-progress {words}")).refuses(told);
        }
        assert!(home.runs().is_empty(), "a race that never began has no record");
        // Without a time limit it is read for as long as necessary, and Ctrl-C ends the reading.
        let script = format!("{READLAB} race hole --no-progress & sleep 1; kill -INT $!; wait $!");
        let said = ProgramOutput::by(home.command("bash").args(["-mc", &script])).exits(130);
        assert_eq!(said.out, "", "{said}");
    }
}
