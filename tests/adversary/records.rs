//! Tests of records of runs that were killed or never began, and of records written by hand. The
//! rest can be read, a failed start leaves no record, and a line that no run writes is refused with
//! its number.

use crate::home::{Home, ProgramOutput, READLAB};
use crate::processes::{happens_in_time, kill};
use crate::scripted_server::{Server, silence};
use readlab_record::testing::scripted;
use std::fs;
use std::io::Write;

const SHORT_RACE: &str = "--runs 1 --state warm --method rust/read/scalar --quiet";

#[test]
fn a_run_that_is_killed_before_it_began_is_no_record() {
    let home = Home::new();
    // The server answers every HEAD, and sends the first bytes of every GET.
    let server = Server::writing(|request, client| {
        client.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")?;
        if request.is_get() { client.write_all(b"a\nb").and_then(|()| silence()) } else { Ok(()) }
    });
    let lab = home.start(["race", &server.url(), "--save", "mine"]);
    assert!(happens_in_time(|| !home.runs().is_empty()), "it has a folder");
    let folder = home.runs().remove(0);
    kill(&home, lab);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "nothing is left in it");
    home.readlab("report last").refuses("last: there are 0 runs in ");
    home.readlab("report mine").refuses("mine: no record of this name");
    home.readlab("history").hides("not a readlab record");
}

#[test]
fn the_name_of_a_run_exists_while_it_runs_and_after_it_was_killed() {
    let home = Home::with_file("f", "line\n".repeat(1 << 16));
    let words = "race f --state warm --method rust/read/memchr --save mine --runs 100000 --budget 300s";
    let lab = home.start(words);
    let record = || home.runs().first().map(|run| run.join("record.jsonl"));
    let holds = |what: &str| {
        record().is_some_and(|path| fs::read_to_string(path).is_ok_and(|text| text.contains(what)))
    };
    assert!(happens_in_time(|| holds("\"line\":\"sample\"")), "it has a sample");
    kill(&home, lab);
    for name in ["mine", "last"] {
        let said = home.readlab(["report", name, "-o", "-"]).exits(0);
        assert!(said.out.starts_with("<!DOCTYPE html>"), "{said}");
    }
    home.readlab("history").shows("mine");
    // The name stays, because the plan is still known.
    let again = home.start("race --resume mine --quiet");
    assert!(happens_in_time(|| holds("\"line\":\"resumed\"")), "it goes on");
    kill(&home, again);
}

#[test]
fn invalid_arguments_are_errors_and_a_failed_start_leaves_no_record_and_no_name() {
    let home = Home::with_file("f", "a\nb\n");
    home.file("text.toml", "nonsense");
    home.folder("mine");
    home.file("taken/record.jsonl", "something");
    home.readlab(format!("race f {SHORT_RACE} --save base")).exits(0);
    let run = home.runs();
    for words in [
        "race none",
        "race f --method rust/nothing*",
        "race f --roster text.toml",
        "race f --output taken",
        "race f --export-json no/such/folder/x.json",
        "suite no-such-suite f",
        "sweep no-such-folder",
        "sweep . --sizes 10kB --method nonsense",
        "sweep . --sizes 10kB --max-bytes 1kB",
        "sweep . --read-only",
        "sweep . --sizes 10kB --output taken",
        "race f --method rust/nothing* --output mine",
        "race f --method [ --quiet",
        "race f --reference nonsense",
        "race f --roster none.toml",
        "tune f --space nonsense",
        "tune f --space depth=4..1",
        "tune f --space depht=1..4",
        "tune f --space buffer=9999GiB",
        "tune f --space depth=1..64|99999",
        "tune f --space buffer=4KiB,buffer=1MiB",
        "tune f --method rust/nothing*",
        "tune f --reference nonsense",
        "request rust/nothing",
        "request nobody/read",
    ] {
        let name = if words.starts_with("request") { "" } else { "--save base" };
        let said = home.readlab(format!("{words} {name}")).exits(2);
        assert!(said.out.is_empty() && !said.err.is_empty(), "{said}");
        assert_eq!(home.runs(), run, "{words} left something");
        let base = fs::read_link(home.at(".local/share/readlab/names/base")).unwrap();
        assert_eq!(base, run[0].canonicalize().unwrap(), "{words}");
    }
    assert!(home.at("mine").is_dir(), "a folder of the user's stays");
    assert_eq!(home.read("taken/record.jsonl"), "something");
    // A name that cannot be written is reported before any measurement, and no record is left.
    home.folder(".local/share/readlab/names/folder");
    home.readlab(format!("race f {SHORT_RACE} --save folder")).exits(2);
    assert_eq!(home.runs(), run);
}

/// The scripted race after a change of its lines.
fn changed_race(change: impl FnOnce(&mut Vec<String>)) -> String {
    let text = scripted::text("race");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    change(&mut lines);
    lines.join("\n") + "\n"
}

#[test]
fn every_verb_refuses_a_line_that_no_run_writes_with_its_number() {
    let with_sample = |from: &str, to: &str| {
        changed_race(|lines| {
            let first = lines.iter_mut().find(|line| line.contains("\"line\":\"sample\"")).unwrap();
            *first = first.replace(from, to);
        })
    };
    let cases = [
        ("a window of 0 ns", with_sample("\"wall_ns\":1185600000", "\"wall_ns\":0")),
        ("number out of range", with_sample("\"resident_before\":0.0", "\"resident_before\":1e309")),
        ("a second end", changed_race(|lines| lines.push(lines.last().unwrap().clone()))),
    ];
    let home = Home::with_file("good", changed_race(|_| {}));
    for (cause, record) in cases {
        home.file("bad", record);
        for words in ["report bad -o -", "compare good bad", "history show bad"] {
            home.readlab(words).refuses(cause).tells("bad: line ");
        }
    }
}

#[test]
fn a_record_without_an_end_to_its_lines_is_refused_with_the_number() {
    let home = Home::new();
    let endless = || "x".repeat(9 << 20);
    for record in [changed_race(|lines| lines.push(endless())), endless()] {
        home.file("bad", record);
        home.readlab("report bad").refuses("longer than 8388608 bytes");
    }
}

/// Runs readlab in a shell with a limit for the size of files, in blocks of 512 bytes. The limit
/// ends readlab with one line.
fn ends_at_limit(home: &Home, blocks: u32, words: &str) -> ProgramOutput {
    let line = format!("ulimit -f {blocks}; exec {READLAB} {words}");
    let said = ProgramOutput::by(&mut home.shell(line)).exits(2);
    assert_eq!(said.err.lines().count(), 1, "{said}");
    said
}

#[test]
fn a_file_size_limit_is_one_line_with_the_file_and_the_cause() {
    let home = Home::with_file("f", "line\n".repeat(1 << 12));
    let race = "race f --runs 500 --quiet --method rust/read/memchr --state warm --output run";
    ends_at_limit(&home, 40, race).tells("run/record.jsonl: File too large");
    // The record contains the lines up to the limit.
    home.record("run");
    let swept = home.folder("swept");
    for words in
        ["corpus --folder c make lines 1MiB", "sweep swept --sizes 1MB --repeat 1 --quiet --output s"]
    {
        ends_at_limit(&home, 200, words).tells("File too large");
    }
    assert_eq!(fs::read_dir(swept).unwrap().count(), 0);
}

mod ring2 {
    use super::*;

    #[test]
    fn programs_that_the_lab_starts_have_the_default_signal_for_that_limit() {
        let home = Home::new();
        let file = home.file("f", "a\nb\n");
        let command = "grep -E 'Sig(Ign|Blk)' /proc/self/status > signals; wc -l {}";
        home.race(&file, ["-c", command, "--state", "warm", "--method", "rust/read/scalar"]);
        let signals = home.read("signals");
        assert_eq!(signals.lines().count(), 2, "{signals}");
        for mask in signals.lines().filter_map(|line| line.split_whitespace().nth(1)) {
            let mask = u64::from_str_radix(mask, 16).unwrap();
            assert_eq!(mask & 1 << (rustix::process::Signal::XFSZ.as_raw() - 1), 0, "{signals}");
        }
    }
}
