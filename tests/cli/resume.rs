//! Tests of `--resume`: a race that was killed or stopped continues from its record by its own
//! plan.

use crate::fake::roster;
use crate::home::{Home, ProgramOutput};
use crate::processes::{happens_in_time, kill, send};
use readlab_model::trial::TrialIndex;
use readlab_record::{EndReason, Record};
use rustix::process::Signal;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::process::Child;
use std::time::SystemTime;

/// Timed readings of each trial.
const RUNS: usize = 30;

/// A command that reads, and waits to be killed once the record has this number of lines of a kind.
/// So the race does not continue before the test kills it.
const WAITING_READER: &str = r#"
if [ -e kind ] && [ "$(grep -c "$(cat kind)" run/record.jsonl)" -ge "$(cat times)" ]; then
    touch waits
    exec sleep 1000
fi
exec wc -l "$1"
"#;

/// A home with that command and a file so large that no turn has several readings.
fn home() -> Home {
    let home = Home::with_file("f", "line\n".repeat(1 << 20));
    home.file("reader", WAITING_READER);
    home
}

/// A race of some seconds that writes into the folder `run`.
const RACE: &str =
    "race f --runs 30 --budget 300s --method rust/read/memchr -c 'sh reader {}' --seed=7 --output run";

const RECORD_FILE: &str = "run/record.jsonl";

/// Starts a lab that waits when its record has this number of lines of this kind.
fn start_until(home: &Home, words: &str, kind: &str, times: usize) -> Child {
    home.file("kind", format!("\"line\":\"{kind}\""));
    home.file("times", times.to_string());
    let lab = home.start(words);
    assert!(happens_in_time(|| home.at("waits").exists()), "{times} of {kind} in {}", home.read(RECORD_FILE));
    for name in ["kind", "waits"] {
        fs::remove_file(home.at(name)).unwrap();
    }
    lab
}

fn kill_when(home: &Home, words: &str, kind: &str, times: usize) {
    kill(home, start_until(home, words, kind, times));
}

/// A home with a race that was killed among its cold readings.
fn home_with_killed_race() -> Home {
    let home = home();
    kill_when(&home, RACE, "sample", 20);
    home
}

fn resume(home: &Home, words: &str) -> ProgramOutput {
    home.readlab(format!("race --resume run --no-progress {words}"))
}

/// The readings of a record by trial and round. These races have one reading a turn.
fn turns(record: &Record) -> Vec<(TrialIndex, u32)> {
    let samples = record.trials.iter().flat_map(|it| &it.samples);
    samples.map(|sample| (sample.trial, sample.round)).collect()
}

fn assert_complete(record: &Record) {
    assert!(matches!(record.end, Some((EndReason::Settled, _))), "{:?}", record.end);
    let turns = turns(record);
    assert_eq!(turns.len(), turns.iter().collect::<BTreeSet<_>>().len(), "no round is repeated: {turns:?}");
    for trial in record.trials.iter().filter(|it| it.is_measured() && !it.trial.is_control()) {
        assert_eq!(trial.samples.len(), RUNS, "{} {}", trial.trial.id, trial.trial.state);
    }
    assert!(record.trials.iter().all(|it| it.outcome.is_some()));
}

/// Checks that the earlier readings are kept, and that there are more.
fn assert_continues(after: &Record, before: &Record) {
    let readings = |record: &Record| record.trials.iter().map(|it| it.samples.clone()).collect::<Vec<_>>();
    for (after, before) in readings(after).iter().zip(&readings(before)) {
        assert!(after.iter().take(before.len()).eq(before), "what was read before stays");
    }
    assert!(turns(after).len() > turns(before).len());
}

/// Asserts that a resumption is refused with these words and changes nothing.
#[track_caller]
fn assert_refused(home: &Home, verb: &str, why: &str) {
    let before = home.read(RECORD_FILE);
    home.readlab([verb, "--resume", "run"]).refuses(why);
    assert_eq!(home.read(RECORD_FILE), before, "nothing is changed");
}

#[test]
fn a_race_that_was_killed_twice_continues_to_its_end() {
    let home = home_with_killed_race();
    let mut record = fs::OpenOptions::new().append(true).open(home.at(RECORD_FILE)).unwrap();
    record.write_all(b"{\"line\":\"sam").unwrap();
    let first = home.record("run");
    assert!(first.end.is_none() && !turns(&first).is_empty());

    kill_when(&home, "race --resume run", "fill", 4);
    let second = home.record("run");
    assert_eq!(second.resumptions.len(), 1);
    assert_continues(&second, &first);

    let said = resume(&home, "--export-json export.json").exits(0);
    let whole = home.record("run");
    assert_complete(&whole);
    let [cold, warm] = &whole.resumptions[..] else { panic!("{:?}", whole.resumptions) };
    assert_eq!((cold.state.to_string().as_str(), warm.state.to_string().as_str()), ("cold", "warm"));
    assert!(cold.round > 0 && warm.elapsed_ns > cold.elapsed_ns);
    assert!(matches!(whole.end, Some((_, wall_ns)) if wall_ns > warm.elapsed_ns));

    let page = home.read("run/report.html");
    assert_eq!(page.matches("the run was cut short after").count(), 2, "the page says so");
    said.shows("caution: the run was cut short after");
    assert_eq!(home.json("export.json")["resumed"][1]["state"], "warm");
    home.assert_no_temporary_file();
    assert_refused(&home, "race", "nothing is left to do");
}

#[test]
fn another_file_or_other_bytes_are_refused() {
    let home = home_with_killed_race();
    let (file, was) = (home.at("f"), fs::read(home.at("f")).unwrap());
    let modified = fs::metadata(&file).unwrap().modified().unwrap();
    let date =
        |time: SystemTime| fs::File::options().write(true).open(&file).unwrap().set_modified(time).unwrap();

    date(SystemTime::UNIX_EPOCH);
    assert_refused(&home, "race", "was written to since the run was cut short");
    fs::write(&file, [&was[..], b"x"].concat()).unwrap();
    assert_refused(&home, "race", "grew from 5242880 to 5242881 bytes");
    fs::write(&file, was.to_ascii_uppercase()).unwrap();
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
    // With an unchanged file the run continues.
    resume(&home, "--quiet").exits(0);
}

#[test]
fn another_plan_lab_or_contender_is_refused() {
    let home = home_with_killed_race();
    for words in ["f", "--runs 7", "--seed 8", "--trace", "--work sum", "-c 'cat {}'", "--output o"] {
        resume(&home, words).exits(2).tells("cannot be used with");
    }
    assert_refused(&home, "suite", "it is one of `race`: readlab race --resume");
    let good = home.read(RECORD_FILE);
    for (from, to, why) in [
        ("\"lab\":\"", "\"lab\":\"9.", "it was begun by readlab 9."),
        ("\"agenda\":{", "\"other\":{", "it holds no plan to go on by"),
        ("\"contender\":\"rust\",\"version\":\"", "\"contender\":\"rust\",\"version\":\"9.", "rust was 9."),
        (
            "\"line\":\"target\",\"index\":0",
            "\"line\":\"warning\",\"text\":\"\"",
            "target 0, which no earlier line",
        ),
        ("\"folder\":\"", "\"folder\":\"/nowhere", "it was begun in /nowhere"),
    ] {
        assert!(good.contains(from), "{from} is not in {}", &good[..400]);
        home.file(RECORD_FILE, good.replacen(from, to, 1));
        assert_refused(&home, "race", why);
    }
    home.readlab("race --resume none").refuses("no record of this name");
}

#[test]
fn a_record_that_is_being_written_is_left_alone() {
    let home = home();
    let deaf = roster(&home, &[("deaf", "touch deaf; exec sleep 1000")]);
    let lab = home.start(format!("race f --roster {deaf} --method deaf/read --output run"));
    assert!(happens_in_time(|| home.at("deaf").exists()), "it had no turn");
    assert_refused(&home, "race", "another readlab is writing it");
    kill(&home, lab);
}

mod ring2 {
    use super::*;

    #[test]
    fn a_race_that_was_stopped_continues_too() {
        let home = home();
        let mut lab = start_until(&home, RACE, "sample", 20);
        send(lab.id(), Signal::INT);
        assert_eq!(lab.wait().unwrap().code(), Some(130));
        let before = home.record("run");
        assert!(matches!(before.end, Some((EndReason::Interrupted, _))));
        resume(&home, "--quiet").exits(0);
        let whole = home.record("run");
        assert_complete(&whole);
        assert!(!whole.resumptions[0].reopened_trials.is_empty());
        assert_continues(&whole, &before);
    }

    #[test]
    fn another_start_of_the_machine_is_reported() {
        let home = home_with_killed_race();
        let text = home.read(RECORD_FILE);
        assert!(text.contains("\"boot\":\""), "{}", &text[..400]);
        home.file(RECORD_FILE, text.replacen("\"boot\":\"", "\"boot\":\"another ", 1));
        resume(&home, "").exits(0).shows("caution: the machine was started anew");
        assert_complete(&home.record("run"));
    }

    #[test]
    fn a_suite_continues_in_the_same_way() {
        let home = home();
        let suite = "name = 'mine'\nabout = 'a'\nstate = 'warm'\n[[trial]]\ntrial = 'rust/read'\nlabel = 'one'\n\
                 [[trial]]\ntrial = 'command/sh reader {}'\n";
        home.file("mine.toml", suite);
        let words = "suite mine.toml f --runs 30 --budget 300s --output run";
        kill_when(&home, words, "sample", 9);
        fs::remove_file(home.at("mine.toml")).unwrap();
        home.readlab("suite --resume run --no-progress").exits(0);
        assert_complete(&home.record("run"));
    }
}
