//! Tests of programs that outlive a reading or the lab, and of contenders that change their own
//! scheduling.
//!
//! Every process of a test carries a word in its command line that no other process has, by which
//! it is found in /proc. What must happen is waited for; nothing depends on how long it takes.

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

/// A number of seconds to sleep that nothing else on this machine sleeps: the mark of a test's
/// processes.
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

/// The processes of a home, by its path in their environment: labs, launchers, contenders and
/// whatever they started.
fn processes_of(home: &Home) -> Vec<u32> {
    let path = home.at("").into_os_string().into_encoded_bytes();
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid: &u32| {
        fs::read(format!("/proc/{pid}/environ")).is_ok_and(|it| it.windows(path.len()).any(|at| at == path))
    })
    .collect()
}

/// A running race of one command.
fn long_race(home: &Home, command: &str) -> Child {
    let file = home.file("f", "line\n".repeat(1 << 20));
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

fn assert_no_process_is_left(home: &Home, mark: &str) {
    assert!(soon(|| sleepers(mark).is_empty()), "left: {:?}", sleepers(mark));
    assert!(soon(|| processes_of(home).is_empty()), "left: {:?}", processes_of(home));
}

/// A line that starts a sleeper for each mark, each where another kind of search does not find it;
/// the first keeps the reading from its end.
fn hidden([waited, session, twice, deaf, bare]: &[String; 5]) -> String {
    let aside = "</dev/null >/dev/null 2>&1";
    [
        format!("setsid sleep {session} {aside} &"),
        format!("(setsid sh -c '(setsid sleep {twice} {aside} &)' &);"),
        format!("(trap '' TERM HUP INT QUIT; setsid sleep {deaf} {aside} &);"),
        format!("env -i setsid sleep {bare} {aside} &"),
        format!("sleep {waited}; wc -l {{}}"),
    ]
    .join(" ")
}

#[test]
fn what_a_reading_started_does_not_outlive_a_lab_that_is_killed() {
    let (home, marks) = (Home::new(), std::array::from_fn(|_| mark()));
    let mut race = long_race(&home, &hidden(&marks));
    for mark in &marks {
        assert!(soon(|| !sleepers(mark).is_empty()), "{mark} was never started");
    }
    send(&race, Signal::KILL);
    race.wait().unwrap();
    marks.iter().for_each(|mark| assert_no_process_is_left(&home, mark));
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
fn a_lab_without_time_for_its_own_end_leaves_no_process() {
    let (home, mark) = (Home::new(), mark());
    let mut race = long_race(&home, &format!("setsid sleep {mark} & wait; wc -l {{}}"));
    assert!(soon(|| !sleepers(&mark).is_empty()), "it was never started");
    // Both exist when it wakes up: the second ends it at once.
    for signal in [Signal::STOP, Signal::INT, Signal::TERM, Signal::CONT] {
        send(&race, signal);
    }
    assert_eq!(race.wait().unwrap().code(), Some(130));
    assert_no_process_is_left(&home, &mark);
}

/// What a race of commands beside an honest method exports. The file is large enough that a turn is
/// one reading.
fn race_of(home: &Home, commands: &[String]) -> Value {
    let file = home.file("f", "line\n".repeat(1 << 20));
    let mut words = vec!["--method", "rust/read/scalar", "--state", "warm", "--output", "run"];
    words.extend(["--export-markdown", "m.md", "--export-csv", "s.csv"]);
    words.extend(commands.iter().flat_map(|command| ["-c", command]));
    home.race_json(&file, &words).0
}

/// The trial of a command.
fn of_command<'a>(json: &'a Value, command: &str) -> &'a Value {
    let all = json["trials"].as_array().unwrap();
    all.iter().find(|it| it["method"] == *command).unwrap()
}

/// Checks that the table, Markdown, the page and the CSV show it beside the trial.
fn assert_reported_everywhere(home: &Home, said: &str) {
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
fn what_outlives_a_reading_is_ended_counted_and_reported() {
    let (home, mark) = (Home::new(), mark());
    let ways = ["setsid sleep MARK", "(setsid setsid sleep MARK &)", "trap '' TERM HUP; setsid sleep MARK"];
    let line = |way: &str| format!("{} </dev/null >/dev/null 2>&1 & wc -l {{}}", way.replace("MARK", &mark));
    let mut commands: Vec<String> = ways.into_iter().map(line).collect();
    // The last of a pipeline and its first end when they do: nothing is left.
    commands.push("cat {} | cat | wc -l".to_owned());
    let json = race_of(&home, &commands);
    assert!(sleepers(&mark).is_empty() && processes_of(&home).is_empty(), "{:?}", processes_of(&home));
    for command in &commands[..3] {
        let trial = of_command(&json, command);
        assert_eq!(trial["outcome"], "measured", "{trial}");
        let left = &trial["conduct"]["left_behind"];
        let (processes, readings) = (left["processes"].as_u64().unwrap(), left["readings"].as_u64().unwrap());
        assert!(readings >= 4 && processes == readings, "{command}: {left}");
        assert_reported_everywhere(
            &home,
            &format!("left 1 process behind after each of {readings} readings: ended"),
        );
    }
    for honest in [of_command(&json, &commands[3]), trials(&json, "rust/read/scalar", "warm")] {
        assert!(honest["conduct"].is_null(), "{honest}");
    }
}

#[test]
fn no_trial_reads_beside_what_another_left() {
    let (home, mark) = (Home::new(), mark());
    let leaves = format!("setsid sleep {mark} </dev/null >/dev/null 2>&1 & wc -l {{}}");
    // Each of its readings fails if it finds what the other left. The pattern does not find itself.
    let pattern = format!("[{}]{}", &mark[..1], &mark[1..]);
    let others = format!("cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -cx '{pattern}'");
    let looks = format!("test $({others}) = 0 || exit 9; wc -l {{}}");
    let json = race_of(&home, &[leaves.clone(), looks.clone()]);
    assert_eq!(of_command(&json, &looks)["outcome"], "measured", "{}", of_command(&json, &looks));
    let left = &of_command(&json, &leaves)["conduct"]["left_behind"];
    assert!(left["processes"].as_u64().unwrap() >= 4, "{left}");
}

/// Whether a program can be run here with success.
fn works(program: &str, words: &[&str]) -> bool {
    Command::new(program).args(words).output().is_ok_and(|output| output.status.success())
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
    let may = |line: &str| works("sh", &["-c", &format!("{line} true")]);
    let can = |(line, _): &&(&str, String)| may(line) && !(line.starts_with("taskset") && cpus() < 2);
    let (cases, others): (Vec<_>, Vec<_>) = cases.iter().partition(can);
    others.iter().for_each(|(line, _)| eprintln!("SKIPPED: {line} may not be done here"));
    let commands: Vec<String> = cases.iter().map(|(line, _)| format!("{line} wc -l {{}}")).collect();
    let home = Home::new();
    let json = race_of(&home, &commands);
    for (command, (_, told)) in commands.iter().zip(cases) {
        let trial = of_command(&json, command);
        assert_eq!(trial["outcome"], "measured", "{trial}");
        let conduct = &trial["conduct"];
        assert_eq!(conduct["scheduling"].as_array().map(Vec::len), Some(1), "{command}: {conduct}");
        assert!(conduct["left_behind"].is_null(), "{conduct}");
        assert_reported_everywhere(&home, told);
    }
    assert!(trials(&json, "rust/read/scalar", "warm")["conduct"].is_null());
}

fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

mod ring2 {
    use super::*;

    #[test]
    fn scheduling_is_reported_if_a_contender_changed_it_and_not_if_the_user_did() {
        let home = Home::new();
        let file = home.file("f", "line\n".repeat(1 << 20));
        let fakes = [
            Fake { name: "nicer", turn: "renice -n 19 -p $$ >/dev/null 2>&1; answer" },
            Fake { name: "batch", turn: "chrt -b -p 0 $$; answer" },
            Fake { name: "plain", turn: "answer" },
        ];
        let roster = roster(&home, &fakes);
        let words =
            ["--roster", &roster, "--method", "*/read", "--state", "warm", "--quiet", "--export-json", "-"];
        let mut command = home.command("taskset");
        command
            .args(["-c", "0", "nice", "-n", "3", READLAB, "race"])
            .arg(&file)
            .args(super::super::home::QUICK);
        let said = Said::by(command.args(words));
        let json: Value = serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said}"));
        let of = |id: &str| &trials(&json, id, "warm")["conduct"];
        assert!(of("plain/read").is_null() && of("command/wc -l").is_null(), "{}", of("plain/read"));
        assert_eq!(of("nicer/read")["scheduling"][0]["ran"]["nice"], 19);
        let own = rustix::process::getpriority_process(None).unwrap();
        assert_eq!(of("nicer/read")["scheduling"][0]["given"]["nice"], own + 3);
        assert_eq!(of("batch/read")["scheduling"][0]["ran"]["policy"], "SCHED_BATCH");
    }
}
