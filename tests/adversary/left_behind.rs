//! Tests of a lab that is stopped or killed in a reading, of programs that outlive a reading or the
//! lab, and of contenders that change their own scheduling.
//!
//! Every process of a test has a unique word in its command line, by which the test finds it in
//! /proc. The tests wait for each expected event, so nothing depends on how long it takes.

use crate::fake::roster;
use crate::home::{Export, Home, ProgramOutput, QUICK, Trials, Words};
use crate::machine::{processors, skip, works};
use crate::processes::{
    assert_no_process, assert_nothing_left, descendants, happens_in_time, processes_of_home,
    processes_with_words, send, start_until_sample,
};
use readlab_record::{EndReason, Record};
use rustix::process::Signal;
use std::fs;
use std::process::Child;
use std::sync::atomic::{AtomicU32, Ordering};

/// A number of seconds that no other sleeping process on this machine uses. It marks the processes
/// of a test.
fn unique_sleep_seconds() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{}.{:03}", 100_000 + std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// The processes that run `sleep MARK`.
fn sleepers(mark: &str) -> Vec<u32> {
    processes_with_words(&["sleep", mark])
}

/// A long race with a sample in its record. One trial is a script, whose readings first run `deed`
/// once there is a sample.
fn long_race(home: &Home, deed: &str) -> Child {
    let is_under_way = "grep -qs '\"line\":\"sample\"' run/record.jsonl";
    home.file("reader", format!("if {is_under_way}; then\n{deed}\nfi\nexec wc -l \"$1\"\n"));
    let methods = "--method rust/read/* --method rust/io_uring/memchr -c 'sh reader {}'";
    start_until_sample(home, "race", &format!("{methods} --runs 100000 --budget 900s"))
}

/// A shell line that starts a sleeper which no search by parents finds, and waits for it.
fn detached_sleeper(mark: &str) -> String {
    format!("setsid sleep {mark} & wait")
}

/// Shell lines that start a sleeper for each mark, each in a way that another kind of search does
/// not find. The last sleeper prevents the end of the reading.
fn hidden_sleepers([waited, session, twice, deaf, bare]: &[String; 5]) -> String {
    let aside = "</dev/null >/dev/null 2>&1";
    [
        format!("setsid sleep {session} {aside} &"),
        format!("(setsid sh -c '(setsid sleep {twice} {aside} &)' &);"),
        format!("(trap '' TERM HUP INT QUIT; setsid sleep {deaf} {aside} &);"),
        format!("env -i setsid sleep {bare} {aside} &"),
        format!("sleep {waited}"),
    ]
    .join("\n")
}

#[track_caller]
fn wait_for_sleepers(mark: &str) {
    assert!(happens_in_time(|| !sleepers(mark).is_empty()), "{mark} was never started");
}

/// The reason why the run ended. Its samples must have been kept.
fn end_of_kept_run(home: &Home) -> Option<EndReason> {
    let record: Record = home.record("run");
    assert!(record.trials.iter().any(|trial| !trial.samples.is_empty()));
    record.end.map(|(reason, _)| reason)
}

#[test]
fn a_stopped_lab_keeps_its_samples_and_first_ends_the_processes_of_its_readings() {
    let home = Home::new();
    for (signal, hides) in
        [(Signal::INT, false), (Signal::INT, true), (Signal::TERM, true), (Signal::HUP, true)]
    {
        let mark = unique_sleep_seconds();
        let deed = if hides { detached_sleeper(&mark) } else { ":".to_owned() };
        let race = long_race(&home, &deed);
        if hides {
            wait_for_sleepers(&mark);
        }
        let children = descendants(race.id());
        send(race.id(), signal);
        let said = ProgramOutput::from(race.wait_with_output().unwrap()).exits(128 + signal.as_raw());
        // The lab itself waited for these processes.
        let left = processes_of_home(&home);
        assert!(!hides || sleepers(&mark).is_empty() && left.is_empty(), "{left:?}");
        assert_nothing_left(&home, &children);
        assert_eq!(end_of_kept_run(&home), Some(EndReason::Interrupted));
        // The measured results are shown.
        said.shows("record: ");
        fs::remove_dir_all(home.at("run")).unwrap();
    }
}

#[test]
fn a_second_signal_ends_a_lab_at_once_and_no_process_is_left() {
    let (home, mark) = (Home::new(), unique_sleep_seconds());
    let race = long_race(&home, &detached_sleeper(&mark));
    wait_for_sleepers(&mark);
    let children = descendants(race.id());
    // Both signals are pending when the lab wakes up, so it has no time for its own cleanup.
    for signal in [Signal::STOP, Signal::INT, Signal::TERM, Signal::CONT] {
        send(race.id(), signal);
    }
    let said = ProgramOutput::from(race.wait_with_output().unwrap()).exits(130);
    assert_no_sleeper(&mark);
    assert_no_process(&home);
    assert_nothing_left(&home, &children);
    assert!(end_of_kept_run(&home).is_none() && said.out.is_empty(), "it ended in its own way: {said}");
}

#[test]
fn processes_of_a_reading_do_not_outlive_a_killed_lab() {
    let (home, marks) = (Home::new(), std::array::from_fn(|_| unique_sleep_seconds()));
    let mut race = long_race(&home, &hidden_sleepers(&marks));
    marks.iter().for_each(|mark| wait_for_sleepers(mark));
    send(race.id(), Signal::KILL);
    race.wait().unwrap();
    marks.iter().for_each(|mark| assert_no_sleeper(mark));
    assert_no_process(&home);
    assert!(end_of_kept_run(&home).is_none());
}

#[track_caller]
fn assert_no_sleeper(mark: &str) {
    assert!(happens_in_time(|| sleepers(mark).is_empty()), "left: {:?}", sleepers(mark));
}

/// The export of a race of commands beside an honest method. The file is large enough that a turn
/// is one reading.
fn race_of(home: &Home, commands: &[String]) -> Export {
    let file = home.file("f", "line\n".repeat(1 << 20));
    let words =
        "--method rust/read/scalar --state warm --output run --export-markdown m.md --export-csv s.csv";
    let commands = commands.iter().flat_map(|command| ["-c".into(), command.into()]);
    home.race_json(&file, words.words().into_iter().chain(commands).collect::<Vec<_>>())
}

/// Checks that the table, Markdown, the page and the CSV report this beside the trial.
fn assert_reported_everywhere(home: &Home, said: &str) {
    home.readlab("history show run").shows(" †").shows(said);
    home.readlab("report run --output p.html").exits(0);
    // Characters that Markdown would interpret as markup are escaped there.
    let markdown = home.read("m.md").replace('\\', "");
    let page = home.read("p.html").replace('\u{a0}', " ");
    for (name, text) in [("markdown", markdown), ("csv", home.read("s.csv")), ("page", page)] {
        assert!(text.contains(said), "{name} lacks {said}");
    }
}

#[test]
fn processes_that_outlive_a_reading_are_ended_before_the_next_counted_and_reported() {
    let (home, mark) = (Home::new(), unique_sleep_seconds());
    let ways = ["setsid sleep MARK", "(setsid setsid sleep MARK &)", "trap '' TERM HUP; setsid sleep MARK"];
    let line = |way: &str| format!("{} </dev/null >/dev/null 2>&1 & wc -l {{}}", way.replace("MARK", &mark));
    let mut commands: Vec<String> = ways.into_iter().map(line).collect();
    // In these pipelines the processes end together, so nothing is left.
    commands.push("cat {} | cat | wc -l".to_owned());
    // Each reading of this command fails if it finds a process that another trial left. The pattern
    // does not match itself.
    let pattern = format!("[{}]{}", &mark[..1], &mark[1..]);
    let others = format!("cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -cx '{pattern}'");
    commands.push(format!("test $({others}) = 0 || exit 9; wc -l {{}}"));
    let run = race_of(&home, &commands);
    let left = processes_of_home(&home);
    assert!(sleepers(&mark).is_empty() && left.is_empty(), "{left:?}");
    for command in &commands[..3] {
        let trial = run.trial_with("method", command);
        assert_eq!(trial["outcome"], "measured", "{trial}");
        let left = &trial["conduct"]["left_behind"];
        let (processes, readings) = (left["processes"].as_u64().unwrap(), left["readings"].as_u64().unwrap());
        assert!(readings >= 4 && processes == readings, "{command}: {left}");
        let told = format!("left 1 process behind after each of {readings} readings: ended");
        assert_reported_everywhere(&home, &told);
    }
    for honest in [run.trial_with("method", &commands[3]), run.trial("rust/read/scalar", "warm")] {
        assert!(honest["conduct"].is_null(), "{honest}");
    }
    let looked = run.trial_with("method", &commands[4]);
    assert_eq!(looked["outcome"], "measured", "{looked}");
}

#[test]
fn scheduling_that_a_command_gives_itself_is_reported() {
    let own = rustix::process::getpriority_process(None).unwrap();
    let cases = [
        ("chrt -f 1", "ran with SCHED_FIFO 1 by".to_owned()),
        ("chrt -r 2", "ran with SCHED_RR 2 by".to_owned()),
        ("chrt -b 0", "ran with SCHED_BATCH by".to_owned()),
        ("nice -n -5", format!("ran at nice {} by", (own - 5).max(-20))),
        ("nice -n 3", format!("ran at nice {} by", (own + 3).min(19))),
        ("taskset -c 0", "ran on 1 of".to_owned()),
    ];
    let can = |(line, _): &&(&str, String)| {
        works(&format!("{line} true")) && !(line.starts_with("taskset") && processors() < 2)
    };
    let (cases, others): (Vec<_>, Vec<_>) = cases.iter().partition(can);
    others.iter().for_each(|(line, _)| skip(format!("{line} may not be done here")));
    let commands: Vec<String> = cases.iter().map(|(line, _)| format!("{line} wc -l {{}}")).collect();
    let home = Home::new();
    let run = race_of(&home, &commands);
    for (command, (_, told)) in commands.iter().zip(cases) {
        let trial = run.trial_with("method", command);
        assert_eq!(trial["outcome"], "measured", "{trial}");
        let conduct = &trial["conduct"];
        assert_eq!(conduct["scheduling"].as_array().map(Vec::len), Some(1), "{command}: {conduct}");
        assert!(conduct["left_behind"].is_null(), "{conduct}");
        assert_reported_everywhere(&home, told);
    }
    assert!(run.trial("rust/read/scalar", "warm")["conduct"].is_null());
}

mod ring2 {
    use super::*;

    #[test]
    fn scheduling_is_reported_if_a_contender_changed_it_and_not_if_the_user_did() {
        let home = Home::with_file("f", "line\n".repeat(1 << 12));
        let fakes = [
            ("nicer", "renice -n 19 -p $$ >/dev/null 2>&1; answer"),
            ("batch", "chrt -b -p 0 $$; answer"),
            ("plain", "answer"),
        ];
        let methods = "--method nicer/read --method batch/read --method plain/read";
        let methods = format!("--roster {} {methods} --state warm", roster(&home, &fakes));
        let line = format!("taskset -c 0 nice -n 3 readlab race f {QUICK} {methods} --quiet --export-json -");
        let run = ProgramOutput::by(&mut home.shell(line)).export();
        let of = |id: &str| &run.trial(id, "warm")["conduct"];
        assert!(of("plain/read").is_null() && of("command/wc -l").is_null(), "{}", of("plain/read"));
        assert_eq!(of("nicer/read")["scheduling"][0]["ran"]["nice"], 19);
        let own = rustix::process::getpriority_process(None).unwrap();
        assert_eq!(of("nicer/read")["scheduling"][0]["given"]["nice"], own + 3);
        assert_eq!(of("batch/read")["scheduling"][0]["ran"]["policy"], "SCHED_BATCH");
    }
}
