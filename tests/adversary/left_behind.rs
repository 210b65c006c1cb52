//! Programs that stay: what outlives a reading, what outlives the lab, and what a contender does to its own scheduling.
//!
//! Every process of a test carries a word in its command line that no other process has, by which it is found in /proc. What
//! must happen is waited for; nothing depends on how long it takes.

use super::fake::{Fake, roster};
use super::home::{Home, READLAB, Said, trials};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Until something that must happen has happened; long, as machines may be busy.
const STEPS: u32 = 6000;
const STEP: Duration = Duration::from_millis(10);

fn soon(mut happened: impl FnMut() -> bool) -> bool {
    (0..STEPS).any(|_| {
        let done = happened();
        if !done {
            std::thread::sleep(STEP);
        }
        done
    })
}

/// A number of seconds to sleep that nothing else on this machine sleeps: the mark of a test's processes.
fn mark() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{}.{:03}", 100_000 + std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// The processes that run `sleep MARK`.
fn sleepers(mark: &str) -> Vec<u32> {
    let words = format!("sleep\0{mark}\0");
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid: &u32| fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|it| it == words.as_bytes()))
        .collect()
}

/// The processes of a home, by its path in their environment: labs, launchers, contenders and whatever they started.
fn processes_of(home: &Home) -> Vec<u32> {
    let path = home.at("").into_os_string().into_encoded_bytes();
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid: &u32| {
        fs::read(format!("/proc/{pid}/environ")).is_ok_and(|it| it.windows(path.len()).any(|at| at == path))
    })
    .collect()
}

/// A race of one command that goes on.
fn long_race(home: &Home, command: &str) -> Child {
    let file = home.file("f", "line\n".repeat(1 << 10));
    let mut race = Command::new(READLAB);
    race.arg("race").arg(file).args([
        "--no-progress",
        "--method",
        "rust/read/scalar",
        "-c",
        command,
        "--state",
        "warm",
    ]);
    race.args(["--runs", "100000", "--budget", "900s", "--output", "run"]);
    race.envs(home.environment()).current_dir(home.at(""));
    race.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

fn assert_nobody_is_left(home: &Home, mark: &str) {
    assert!(soon(|| sleepers(mark).is_empty()), "left: {:?}", sleepers(mark));
    assert!(soon(|| processes_of(home).is_empty()), "left: {:?}", processes_of(home));
}

/// Ways to have `sleep MARK` run where nobody looks for it; the reading itself does not come to its end.
fn ways(mark: &str) -> Vec<(&'static str, String)> {
    let sleep = format!("sleep {mark}");
    vec![
        ("a grandchild", format!("{sleep}; wc -l {{}}")),
        ("a session of its own", format!("setsid {sleep} & wait; wc -l {{}}")),
        (
            "forked twice, the parents gone",
            format!(
                "(setsid sh -c '(setsid {sleep} </dev/null >/dev/null 2>&1 &)' &); sleep 1{mark}; wc -l {{}}"
            ),
        ),
        ("deaf to what can be ignored", format!("trap '' TERM HUP INT QUIT; setsid {sleep}; wc -l {{}}")),
        (
            "without the lab's environment",
            format!("env -i setsid {sleep} </dev/null >/dev/null 2>&1 & sleep 1{mark}; wc -l {{}}"),
        ),
    ]
}

#[test]
fn what_a_reading_started_does_not_outlive_a_lab_that_is_killed() {
    let mark = mark();
    for (what, command) in ways(&mark) {
        let home = Home::new();
        let mut race = long_race(&home, &command);
        assert!(soon(|| !sleepers(&mark).is_empty()), "{what}: it was never started");
        send(&race, Signal::KILL);
        race.wait().unwrap();
        assert_nobody_is_left(&home, &mark);
        assert!(soon(|| sleepers(&format!("1{mark}")).is_empty()), "{what}");
    }
}

#[test]
fn what_a_reading_started_is_gone_before_a_lab_that_is_stopped() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let (home, mark) = (Home::new(), mark());
        let mut race = long_race(&home, &format!("setsid sleep {mark} & wait; wc -l {{}}"));
        assert!(soon(|| !sleepers(&mark).is_empty()), "it was never started");
        send(&race, signal);
        assert_eq!(race.wait().unwrap().code(), Some(130));
        // The lab itself waited for it.
        assert!(sleepers(&mark).is_empty() && processes_of(&home).is_empty(), "{:?}", processes_of(&home));
    }
}

#[test]
fn a_lab_without_time_for_its_own_end_leaves_nobody() {
    let (home, mark) = (Home::new(), mark());
    let mut race = long_race(&home, &format!("setsid sleep {mark} & wait; wc -l {{}}"));
    assert!(soon(|| !sleepers(&mark).is_empty()), "it was never started");
    // Both are there when it wakes up: the second ends it at once.
    for signal in [Signal::STOP, Signal::INT, Signal::TERM, Signal::CONT] {
        send(&race, signal);
    }
    assert_eq!(race.wait().unwrap().code(), Some(130));
    assert_nobody_is_left(&home, &mark);
}

/// What a race of one command beside an honest method exports, and what was said.
fn race_of(home: &Home, command: &str) -> (Value, Said) {
    let file = home.file("f", "line\n".repeat(1 << 10));
    let honest = ["--method", "rust/read/scalar", "--state", "warm"];
    home.race_json(
        &file,
        &[
            &honest[..],
            &["--output", "run", "--export-markdown", "m.md", "--export-csv", "s.csv", "-c", command],
        ]
        .concat(),
    )
}

/// The trial of the command that was asked for: the last, behind the control and the baseline.
fn of_command(json: &Value) -> &Value {
    let all = json["trials"].as_array().unwrap();
    all.iter().rfind(|it| it["contender"] == "command").unwrap()
}

/// That the table, Markdown, the page and the rows for other programs say it beside the trial.
fn assert_said_everywhere(home: &Home, said: &str) {
    let show = home.readlab(["history", "show", "run"]);
    assert!(show.out.contains(" †") && show.out.contains(said), "{show}");
    let page = home.readlab(["report", "run", "--output", "p.html"]);
    assert_eq!(page.code, Some(0), "{page}");
    // What Markdown would read as markup is escaped there.
    let markdown = fs::read_to_string(home.at("m.md")).unwrap().replace('\\', "");
    let csv = fs::read_to_string(home.at("s.csv")).unwrap();
    let page = fs::read_to_string(home.at("p.html")).unwrap().replace('\u{a0}', " ");
    for (name, text) in [("markdown", markdown), ("csv", csv), ("page", page)] {
        assert!(text.contains(said), "{name} lacks {said}");
    }
}

#[test]
fn what_outlives_a_reading_is_ended_counted_and_told() {
    for way in ["setsid sleep MARK", "(setsid setsid sleep MARK &)", "trap '' TERM HUP; setsid sleep MARK"] {
        let (home, mark) = (Home::new(), mark());
        let sleep = way.replace("MARK", &mark);
        let (json, said) = race_of(&home, &format!("{sleep} </dev/null >/dev/null 2>&1 & wc -l {{}}"));
        assert_eq!(of_command(&json)["outcome"], "measured", "{said}");
        let left = &of_command(&json)["conduct"]["left_behind"];
        let (processes, readings) = (left["processes"].as_u64().unwrap(), left["readings"].as_u64().unwrap());
        assert!(readings >= 4 && processes == readings, "{way}: {left}");
        let honest = trials(&json, "rust/read/scalar", "warm");
        assert!(honest["conduct"].is_null(), "{honest}");
        assert!(sleepers(&mark).is_empty() && processes_of(&home).is_empty(), "{:?}", processes_of(&home));
        assert_said_everywhere(
            &home,
            &format!("left 1 process behind after each of {readings} readings: ended"),
        );
    }
}

#[test]
fn two_readings_of_a_turn_never_see_what_an_earlier_turn_left() {
    // Each reading says how many of its kind it finds: with every one ended before the next turn, none.
    let (home, mark) = (Home::new(), mark());
    let count = format!(
        "grep -lsx 'sleep' /proc/[0-9]*/comm | xargs -r dirname | sed 's,$,/cmdline,' \
                         | xargs -r grep -ls {mark} | wc -l"
    );
    let line =
        format!("test $({count}) = 0 || exit 9; setsid sleep {mark} </dev/null >/dev/null 2>&1 & wc -l {{}}");
    let file = home.file("f", "line\n".repeat(1 << 20));
    let (json, said) =
        home.race_json(&file, &["--method", "rust/read/scalar", "--state", "warm", "-c", &line]);
    assert_eq!(of_command(&json)["outcome"], "measured", "{said}");
    assert!(of_command(&json)["conduct"]["left_behind"]["processes"].as_u64().unwrap() >= 4);
}

#[test]
fn a_command_that_is_done_leaves_nothing_to_be_told() {
    let home = Home::new();
    // The last of a pipeline and its first end when they do.
    let (json, said) = race_of(&home, "cat {} | cat | wc -l");
    assert_eq!(of_command(&json)["outcome"], "measured", "{said}");
    assert!(of_command(&json)["conduct"].is_null(), "{}", of_command(&json)["conduct"]);
    let shown = home.readlab(["history", "show", "run"]);
    assert!(!shown.out.contains('†') && !shown.out.contains("behind"), "{shown}");
}

/// Whether a program can be run here with success.
fn works(program: &str, words: &[&str]) -> bool {
    Command::new(program).args(words).output().is_ok_and(|output| output.status.success())
}

#[test]
fn scheduling_that_a_command_gives_itself_is_told() {
    let cases = [
        ("chrt", vec!["-f", "1"], "ran with SCHED_FIFO 1"),
        ("chrt", vec!["-r", "2"], "ran with SCHED_RR 2"),
        ("chrt", vec!["-b", "0"], "ran with SCHED_BATCH"),
        ("nice", vec!["-n", "-5"], "ran at nice "),
        ("nice", vec!["-n", "7"], "ran at nice "),
        ("taskset", vec!["-c", "0"], "ran on 1 of"),
    ];
    for (program, words, told) in cases {
        if !works(program, &[&words[..], &["true"]].concat()) || told.contains(" of") && cpus() < 2 {
            eprintln!("SKIPPED: {program} {words:?} may not be done here");
            continue;
        }
        let home = Home::new();
        let (json, said) = race_of(&home, &format!("{program} {} wc -l {{}}", words.join(" ")));
        assert_eq!(of_command(&json)["outcome"], "measured", "{said}");
        let conduct = &of_command(&json)["conduct"];
        assert_eq!(conduct["scheduling"].as_array().map(Vec::len), Some(1), "{program}: {conduct}");
        assert!(conduct["left_behind"].is_null(), "{conduct}");
        assert!(trials(&json, "rust/read/scalar", "warm")["conduct"].is_null(), "{program}");
        assert_said_everywhere(&home, told);
    }
}

#[test]
fn scheduling_that_a_contender_gives_itself_is_told_and_what_the_user_gave_the_lab_is_not() {
    let home = Home::new();
    let file = home.file("f", "line\n".repeat(1 << 10));
    let fakes = [
        Fake { name: "nicer", turn: "renice -n 19 -p $$ >/dev/null 2>&1; answer" },
        Fake { name: "batch", turn: "chrt -b -p 0 $$; answer" },
        Fake { name: "plain", turn: "answer" },
    ];
    let roster = roster(&home, &fakes);
    let words =
        ["--roster", &roster, "--method", "*/read", "--state", "warm", "--quiet", "--export-json", "-"];
    let mut command = home.command("taskset");
    command.args(["-c", "0", "nice", "-n", "3", READLAB, "race"]).arg(&file).args(super::home::QUICK);
    let said = Said::of(command.args(words));
    let json: Value = serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said}"));
    let of = |id: &str| &trials(&json, id, "warm")["conduct"];
    assert!(of("plain/read").is_null() && of_command(&json)["conduct"].is_null(), "{}", of("plain/read"));
    assert_eq!(of("nicer/read")["scheduling"][0]["ran"]["nice"], 19);
    let own = rustix::process::getpriority_process(None).unwrap();
    assert_eq!(of("nicer/read")["scheduling"][0]["given"]["nice"], own + 3);
    assert_eq!(of("batch/read")["scheduling"][0]["ran"]["policy"], "SCHED_BATCH");
}

fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
