//! Tests of records of runs that were killed or never began, and of records written by hand: the
//! rest can be read, a failed start leaves no record, and a line that no run writes is refused with
//! its number.

use super::home::{Home, READLAB, Said};
use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a lab may take to come somewhere, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn start(home: &Home, words: &[&str]) -> Child {
    let mut command = Command::new(READLAB);
    command.args(words).envs(home.environment()).current_dir(home.at(""));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn kill(mut lab: Child) {
    lab.kill().unwrap();
    lab.wait().unwrap();
}

/// Answers every HEAD, and of every GET the first bytes.
fn slow_server() -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let url = format!("http://{}/f", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let mut held = Vec::<TcpStream>::new();
        for mut client in listener.incoming().flatten() {
            let mut asked = [0; 4096];
            let count = client.read(&mut asked).unwrap_or(0);
            let _ = client.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n");
            if asked[..count].starts_with(b"GET") {
                let _ = client.write_all(b"a\nb");
                held.push(client);
            }
        }
    });
    url
}

#[test]
fn a_run_that_is_killed_before_it_began_is_no_record() {
    let home = Home::new();
    let url = slow_server();
    let lab = start(&home, &["race", &url, "--save", "mine"]);
    wait_until("it has a folder", || !home.runs().is_empty());
    let folder = home.runs().remove(0);
    kill(lab);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "nothing is left in it");
    assert!(home.readlab(["report", "last"]).refusal().contains("last: there are 0 runs in "));
    assert!(home.readlab(["report", "mine"]).refusal().contains("mine: no record of this name"));
    let list = home.readlab(["history"]);
    assert!(!list.out.contains("not a readlab record"), "{list}");
}

#[test]
fn the_name_of_a_run_is_there_while_it_runs_and_after_it_was_killed() {
    let home = Home::new();
    home.file("f", "line\n".repeat(1 << 16));
    let words = ["race", "f", "--state", "warm", "--method", "rust/read/memchr", "--save", "mine"];
    let lab = start(&home, &[&words[..], &["--runs", "100000", "--budget", "300s"]].concat());
    let record = || home.runs().first().map(|run| run.join("record.jsonl"));
    let holds = |what: &str| {
        record().is_some_and(|path| fs::read_to_string(path).is_ok_and(|text| text.contains(what)))
    };
    wait_until("it has a sample", || holds("\"line\":\"sample\""));
    kill(lab);
    for name in ["mine", "last"] {
        let said = home.readlab(["report", name, "-o", "-"]);
        assert!(said.code == Some(0) && said.out.starts_with("<!DOCTYPE html>"), "{said}");
    }
    assert!(home.readlab(["history"]).out.contains("mine"));
    // The name stays: the plan is still known.
    let mut again = start(&home, &["race", "--resume", "mine", "--quiet"]);
    wait_until("it goes on", || holds("\"line\":\"resumed\""));
    again.kill().unwrap();
    again.wait().unwrap();
}

#[test]
fn a_failed_start_leaves_no_record_and_no_name() {
    let home = Home::new();
    home.file("f", "a\nb\n");
    home.file("text.toml", "nonsense");
    fs::create_dir(home.at("taken")).unwrap();
    home.file("taken/record.jsonl", "something");
    fs::create_dir(home.at("mine")).unwrap();
    let race = ["race", "f", "--runs", "1", "--state", "warm", "--method", "rust/read/scalar", "--quiet"];
    let first = home.readlab([&race[..], &["--save", "base"]].concat());
    assert_eq!(first.code, Some(0), "{first}");
    let run = home.runs();
    for words in [
        &["race", "none"][..],
        &["race", "f", "--method", "rust/nothing*"],
        &["race", "f", "--roster", "text.toml"],
        &["race", "f", "--output", "taken"],
        &["race", "f", "--export-json", "no/such/folder/x.json"],
        &["race", "f", "--work", "md5"],
        &["suite", "no-such-suite", "f"],
        &["sweep", "no-such-folder"],
        &["sweep", ".", "--sizes", "10kB", "--method", "nonsense"],
        &["sweep", ".", "--sizes", "10kB", "--max-bytes", "1kB"],
        &["sweep", ".", "--read-only"],
        &["sweep", ".", "--sizes", "10kB", "--output", "taken"],
        &["race", "f", "--method", "rust/nothing*", "--output", "mine"],
    ] {
        let said = home.readlab([words, &["--save", "base"]].concat());
        assert_eq!(said.code, Some(2), "{words:?}: {said}");
        assert_eq!(home.runs(), run, "{words:?} left something");
        let base = fs::read_link(home.at(".local/share/readlab/names/base")).unwrap();
        assert_eq!(base, run[0].canonicalize().unwrap(), "{words:?}");
    }
    assert!(home.at("mine").is_dir(), "a folder of the user's stays");
    assert_eq!(fs::read(home.at("taken/record.jsonl")).unwrap(), b"something");
    // A name that cannot be written is reported before any measurement, and no record is left.
    fs::create_dir(home.at(".local/share/readlab/names/folder")).unwrap();
    let said = home.readlab([&race[..], &["--save", "folder"]].concat());
    assert_eq!((said.code, home.runs()), (Some(2), run), "{said}");
}

/// A golden record with a line changed, doubled or added, each by its number from 1.
fn golden(change: impl FnOnce(&mut Vec<String>)) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/race.jsonl");
    let mut lines: Vec<String> = fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect();
    change(&mut lines);
    lines.join("\n") + "\n"
}

/// The number of the first sample.
fn first_sample(lines: &[String]) -> usize {
    lines.iter().position(|line| line.contains("\"line\": \"sample\"")).unwrap()
}

#[test]
fn what_no_run_writes_is_refused_with_its_line_by_every_verb() {
    type Change = fn(&mut Vec<String>);
    let cases: [(&str, Change); 7] = [
        ("a second header", |lines| lines.insert(1, lines[0].clone())),
        ("does not come after the one before", |lines| {
            let at = first_sample(lines);
            lines.insert(at, lines[at].clone());
        }),
        ("a window of 0 ns", |lines| {
            let at = first_sample(lines);
            lines[at] = lines[at].replace("\"wall_ns\": 1185600000", "\"wall_ns\": 0");
        }),
        ("resident_before is 1e308, and a share is from 0 to 1", |lines| {
            let at = first_sample(lines);
            lines[at] = lines[at].replace("\"resident_before\": 0.0", "\"resident_before\": 1e308");
        }),
        ("number out of range", |lines| {
            let at = first_sample(lines);
            lines[at] = lines[at].replace("\"resident_before\": 0.0", "\"resident_before\": 1e309");
        }),
        ("trial 99, which no line before tells of", |lines| {
            let at = first_sample(lines);
            lines[at] = lines[at].replace("\"trial\": 0", "\"trial\": 99");
        }),
        ("a second end", |lines| lines.push(lines.last().unwrap().clone())),
    ];
    let home = Home::new();
    home.file("good", golden(|_| {}));
    for (cause, change) in cases {
        home.file("bad", golden(change));
        for words in
            [&["report", "bad", "-o", "-"][..], &["compare", "good", "bad"], &["history", "show", "bad"]]
        {
            let said = home.readlab(words);
            let refusal = said.refusal();
            assert!(refusal.contains("bad: line ") && refusal.contains(cause), "{cause}: {refusal}");
        }
    }
}

#[test]
fn a_record_without_an_end_to_its_lines_is_refused_with_the_number() {
    let home = Home::new();
    let too_long = "longer than 8388608 bytes";
    home.file("bad", golden(|lines| lines.push("x".repeat(9 << 20))));
    assert!(home.readlab(["report", "bad"]).refusal().contains(too_long));
    home.file("bad", "x".repeat(9 << 20));
    assert!(home.readlab(["report", "bad"]).refusal().contains(too_long));
}

/// Readlab in a shell that sets a limit of files, in blocks of 512 bytes.
fn limited(home: &Home, blocks: u32, words: &str) -> Said {
    let line = format!("ulimit -f {blocks}; exec {READLAB} {words}");
    Said::by(home.command("/bin/sh").args(["-c", &line]))
}

#[test]
fn a_limit_of_files_is_one_line_with_the_file_and_the_cause() {
    let home = Home::new();
    home.file("f", "line\n".repeat(1 << 12));
    let race = "race f --runs 500 --quiet --method rust/read/memchr --state warm --output run";
    let said = limited(&home, 40, race);
    assert_eq!(said.code, Some(2), "{said}");
    assert_eq!(said.err.lines().count(), 1, "{said}");
    assert!(said.err.contains("run/record.jsonl: File too large"), "{said}");
    assert!(readlab_record::Record::read(&home.at("run/record.jsonl")).is_ok(), "it goes as far as it goes");
    fs::create_dir(home.at("swept")).unwrap();
    for words in
        ["corpus --folder c make lines 1MiB", "sweep swept --sizes 1MB --repeat 1 --quiet --output s"]
    {
        let said = limited(&home, 200, words);
        assert_eq!((said.code, said.err.lines().count()), (Some(2), 1), "{words}: {said}");
        assert!(said.err.contains("File too large"), "{words}: {said}");
    }
    assert_eq!(fs::read_dir(home.at("swept")).unwrap().count(), 0);
}

/// The number of SIGXFSZ on this machine.
fn libc_sigxfsz() -> i32 {
    rustix::process::Signal::XFSZ.as_raw()
}

mod ring2 {
    use super::*;

    #[test]
    fn a_report_is_made_of_whatever_the_other_verbs_know_a_record_by() {
        let home = Home::new();
        home.file("f", "a\nb\n");
        let race = ["race", "f", "--runs", "1", "--state", "warm", "--method", "rust/read/scalar", "--quiet"];
        let read = |name: &str| {
            let said = home.readlab(["report", name, "-o", "-"]);
            assert_eq!(said.code, Some(0), "{name}: {said}");
            said.out
        };
        assert_eq!(home.readlab([&race[..], &["--save", "old", "--seed", "5"]].concat()).code, Some(0));
        assert_eq!(home.readlab([&race[..], &["--output", "apart"]].concat()).code, Some(0));
        let old = read("old");
        assert_eq!(home.readlab([&race[..], &["--seed", "6"]].concat()).code, Some(0));
        assert_eq!((read("last~1"), read("last") == old), (old, false));
        assert_eq!(read("apart"), read("apart/record.jsonl"));
        assert!(home.readlab(["report", "olds"]).refusal().ends_with("; near it: old"));
        assert!(home.readlab(["report", "last~7"]).refusal().contains("last~7: there are 2 runs in "));
    }

    #[test]
    fn programs_that_the_lab_starts_have_the_signal_of_that_limit_as_ever() {
        let home = Home::new();
        let file = home.file("f", "a\nb\n");
        let command = "grep -E 'Sig(Ign|Blk)' /proc/self/status > signals; wc -l {}";
        let said = home.race(&file, &["-c", command, "--state", "warm", "--method", "rust/read/scalar"]);
        let signals =
            fs::read_to_string(home.at("signals")).unwrap_or_else(|error| panic!("{error}: {said}"));
        assert_eq!(signals.lines().count(), 2, "{signals}");
        for mask in signals.lines().filter_map(|line| line.split_whitespace().nth(1)) {
            let mask = u64::from_str_radix(mask, 16).unwrap();
            assert_eq!(mask & 1 << (libc_sigxfsz() - 1), 0, "{signals}");
        }
    }
}
