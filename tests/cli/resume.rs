//! Tests of `--resume`: a race that was killed or stopped continues from its record by its own
//! plan.

use super::fake::{Fake, roster};
use super::interrupt::{send, soon};
use super::killed::{kill, start};
use super::{Home, Said};
use readlab_model::trial::TrialIndex;
use readlab_record::{EndReason, Record};
use rustix::process::Signal;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::Child;
use std::time::SystemTime;

/// Timed readings of each trial.
const RUNS: usize = 30;

/// A command that reads, and waits to be killed once the record has so many lines of a kind: a race
/// that is to be killed in its middle does not go on while the test is not scheduled.
const READER: &str = r#"
if [ -e kind ] && [ "$(grep -c "$(cat kind)" run/record.jsonl)" -ge "$(cat times)" ]; then
    touch waits
    exec sleep 1000
fi
exec wc -l "$1"
"#;

/// A file of which no turn holds several readings, and the command.
fn lines(home: &Home) {
    home.file("f", "line\n".repeat(1 << 20));
    home.file("reader", READER);
}

/// A race of some seconds that writes into the folder `run`.
const RACE: [&str; 13] = [
    "race",
    "f",
    "--runs",
    "30",
    "--budget",
    "300s",
    "--method",
    "rust/read/memchr",
    "-c",
    "sh reader {}",
    "--seed=7",
    "--output",
    "run",
];

fn record(home: &Home) -> PathBuf {
    home.at("run/record.jsonl")
}

fn text(home: &Home) -> String {
    fs::read_to_string(record(home)).unwrap_or_default()
}

/// Starts a lab that waits when its record has so many lines of this kind.
fn start_until(home: &Home, words: &[&str], kind: &str, times: usize) -> Child {
    home.file("kind", format!("\"line\":\"{kind}\""));
    home.file("times", times.to_string());
    let lab = start(home, words);
    assert!(soon(|| home.at("waits").exists()), "{times} of {kind} in {}", text(home));
    for name in ["kind", "waits"] {
        fs::remove_file(home.at(name)).unwrap();
    }
    lab
}

fn kill_when(home: &Home, words: &[&str], kind: &str, times: usize) {
    let lab = start_until(home, words, kind, times);
    kill(home, lab);
}

/// A race that was killed among its cold readings.
fn killed_race(home: &Home) {
    lines(home);
    kill_when(home, &RACE, "sample", 20);
}

fn resume(home: &Home, words: &[&str]) -> Said {
    home.readlab([&["race", "--resume", "run", "--no-progress"], words].concat())
}

/// The readings of a record by trial and round: in a race of these, one a turn.
fn turns(record: &Record) -> Vec<(TrialIndex, u32)> {
    let samples = record.trials.iter().flat_map(|it| &it.samples);
    samples.map(|sample| (sample.trial, sample.round)).collect()
}

/// That the record is that of a whole race.
fn assert_whole(record: &Record) {
    assert!(matches!(record.end, Some((EndReason::Settled, _))), "{:?}", record.end);
    let turns = turns(record);
    assert_eq!(turns.len(), turns.iter().collect::<BTreeSet<_>>().len(), "no round is repeated: {turns:?}");
    for trial in record.trials.iter().filter(|it| it.is_measured() && !it.trial.is_control()) {
        assert_eq!(trial.samples.len(), RUNS, "{} {}", trial.trial.id, trial.trial.state);
    }
    assert!(record.trials.iter().all(|it| it.outcome.is_some()));
}

/// Checks that the earlier readings are kept, and that there are more.
fn assert_holds(after: &Record, before: &Record) {
    let readings = |record: &Record| record.trials.iter().map(|it| it.samples.clone()).collect::<Vec<_>>();
    for (after, before) in readings(after).iter().zip(&readings(before)) {
        assert!(after.iter().take(before.len()).eq(before), "what was read before stays");
    }
    assert!(turns(after).len() > turns(before).len());
}

/// Changes the record as text.
fn edit(home: &Home, from: &str, to: &str) {
    let text = text(home);
    assert!(text.contains(from), "{from} is not in {}", &text[..400]);
    fs::write(record(home), text.replacen(from, to, 1)).unwrap();
}

/// That a resumption is refused with these words and changes nothing.
fn assert_refused(home: &Home, verb: &str, why: &str) {
    let before = text(home);
    let said = home.readlab([verb, "--resume", "run"]);
    assert!(said.refusal().contains(why), "{said}");
    assert_eq!(text(home), before, "nothing is changed");
}

#[test]
fn a_race_that_was_killed_twice_continues_to_its_end() {
    let home = Home::new();
    killed_race(&home);
    fs::OpenOptions::new().append(true).open(record(&home)).unwrap().write_all(b"{\"line\":\"sam").unwrap();
    let first = Record::read(&record(&home)).unwrap();
    assert!(first.end.is_none() && !turns(&first).is_empty());

    kill_when(&home, &["race", "--resume", "run"], "fill", 4);
    let second = Record::read(&record(&home)).unwrap();
    assert_eq!(second.resumed.len(), 1);
    assert_holds(&second, &first);

    let said = resume(&home, &["--export-json", "export.json"]);
    assert_eq!(said.code, Some(0), "{said}");
    let whole = Record::read(&record(&home)).unwrap();
    assert_whole(&whole);
    let rounds: Vec<(String, u32)> =
        whole.resumed.iter().map(|it| (it.state.to_string(), it.round)).collect();
    assert_eq!((rounds[0].0.as_str(), rounds[1].0.as_str()), ("cold", "warm"));
    assert!(rounds[0].1 > 0 && whole.resumed[1].elapsed_ns > whole.resumed[0].elapsed_ns);
    assert!(matches!(whole.end, Some((_, wall_ns)) if wall_ns > whole.resumed[1].elapsed_ns));

    let page = fs::read_to_string(home.at("run/report.html")).unwrap();
    assert_eq!(page.matches("the run was cut short after").count(), 2, "the page says so");
    assert!(said.out.contains("caution: the run was cut short after"), "{said}");
    let json: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(home.at("export.json")).unwrap()).unwrap();
    assert_eq!(json["resumed"][1]["state"], "warm");
    assert_eq!(fs::read_dir(home.temporary()).unwrap().count(), 0);
    assert_refused(&home, "race", "nothing is left to do");
}

#[test]
fn another_file_or_other_bytes_are_refused() {
    let home = Home::new();
    killed_race(&home);
    let (file, was) = (home.at("f"), fs::read(home.at("f")).unwrap());
    let modified = fs::metadata(&file).unwrap().modified().unwrap();
    let date =
        |time: SystemTime| fs::File::options().write(true).open(&file).unwrap().set_modified(time).unwrap();

    date(SystemTime::UNIX_EPOCH);
    assert_refused(&home, "race", "was written to since the run was cut short");
    fs::write(&file, [&was[..], b"x"].concat()).unwrap();
    assert_refused(&home, "race", "grew from 5242880 to 5242881 bytes");
    fs::write(&file, was.iter().map(|byte| byte.to_ascii_uppercase()).collect::<Vec<_>>()).unwrap();
    date(modified);
    assert_refused(&home, "race", "is not what it was before the run was cut short");
    fs::rename(&file, home.at("g")).unwrap();
    assert_refused(&home, "race", "no such file");
    fs::copy(home.at("g"), &file).unwrap();
    date(modified);
    assert_refused(&home, "race", "was replaced by another file");
    fs::rename(home.at("g"), &file).unwrap();
    fs::write(&file, &was).unwrap();
    date(modified);
    assert_eq!(resume(&home, &["--quiet"]).code, Some(0), "what is as it was goes on");
}

#[test]
fn another_plan_lab_or_contender_is_refused() {
    let home = Home::new();
    killed_race(&home);
    for words in [
        &["f"][..],
        &["--runs", "7"],
        &["--seed", "8"],
        &["--trace"],
        &["--work", "sum"],
        &["-c", "cat {}"],
        &["--output", "o"],
    ] {
        let said = resume(&home, words);
        assert_eq!(said.code, Some(2), "{said}");
        assert!(said.err.contains("cannot be used with"), "{said}");
    }
    assert_refused(&home, "suite", "it is one of `race`: readlab race --resume");
    let good = text(&home);
    let cases = [
        ("\"lab\":\"", "\"lab\":\"9.", "it was begun by readlab 9."),
        ("\"agenda\":{", "\"other\":{", "it holds no plan to go on by"),
        ("\"contender\":\"rust\",\"version\":\"", "\"contender\":\"rust\",\"version\":\"9.", "rust was 9."),
        ("\"line\":\"target\",\"index\":0", "\"line\":\"warning\",\"text\":\"\"", "target 0, which no line"),
        ("\"folder\":\"", "\"folder\":\"/nowhere", "it was begun in /nowhere"),
    ];
    for (from, to, why) in cases {
        edit(&home, from, to);
        assert_refused(&home, "race", why);
        fs::write(record(&home), &good).unwrap();
    }
    assert!(home.readlab(["race", "--resume", "none"]).refusal().contains("no record of this name"));
}

#[test]
fn a_record_that_is_being_written_is_left_alone() {
    let home = Home::new();
    lines(&home);
    let deaf = roster(&home, &[Fake { name: "deaf", turn: "touch deaf; exec sleep 1000" }]);
    let lab = start(&home, &["race", "f", "--roster", &deaf, "--method", "deaf/read", "--output", "run"]);
    assert!(soon(|| home.at("deaf").exists()), "it had no turn");
    assert_refused(&home, "race", "another readlab is writing it");
    kill(&home, lab);
}

mod ring2 {
    use super::*;

    #[test]
    fn a_race_that_was_stopped_continues_too() {
        let home = Home::new();
        lines(&home);
        let lab = start_until(&home, &RACE, "sample", 20);
        send(&lab, Signal::INT);
        assert_eq!(lab.wait_with_output().unwrap().status.code(), Some(130));
        let before = Record::read(&record(&home)).unwrap();
        assert!(matches!(before.end, Some((EndReason::Interrupted, _))));
        let said = resume(&home, &["--quiet"]);
        assert_eq!(said.code, Some(0), "{said}");
        let whole = Record::read(&record(&home)).unwrap();
        assert_whole(&whole);
        assert!(!whole.resumed[0].reopen.is_empty());
        assert_holds(&whole, &before);
    }

    #[test]
    fn another_start_of_the_machine_is_reported() {
        let home = Home::new();
        killed_race(&home);
        edit(&home, "\"boot\":\"", "\"boot\":\"another ");
        let said = resume(&home, &[]);
        assert_eq!(said.code, Some(0), "{said}");
        assert!(said.out.contains("caution: the machine was started anew"), "{said}");
        assert_whole(&Record::read(&record(&home)).unwrap());
    }

    #[test]
    fn a_suite_continues_in_the_same_way() {
        let home = Home::new();
        lines(&home);
        let suite = "name = \"mine\"\nabout = \"a\"\nstate = \"warm\"\n[[trial]]\ntrial = \"rust/read\"\nlabel = \"one\"\n\
                 [[trial]]\ntrial = \"command/sh reader {}\"\n";
        home.file("mine.toml", suite);
        let words = ["suite", "mine.toml", "f", "--runs", "30", "--budget", "300s", "--output", "run"];
        kill_when(&home, &words, "sample", 9);
        fs::remove_file(home.at("mine.toml")).unwrap();
        let said = home.readlab(["suite", "--resume", "run", "--no-progress"]);
        assert_eq!(said.code, Some(0), "{said}");
        assert_whole(&Record::read(&record(&home)).unwrap());
    }
}
