//! Tests of the protocol: for each rule of PROTOCOL.md, a contender of a few lines of shell that
//! violates the rule. No contender may make the lab hang.

use super::{Session, SessionError, Turn, other_schedulings, scheduling_of};
use readlab_protocol::{LINE_BYTES_MAX, Scheduling, TurnRequest};
use readlab_system::program::{CommandLine, PipedProgram};
use std::process::Command;
use std::time::{Duration, Instant};

const HELLO: &str = r#"echo '{"say":"hello","protocol":1,"contender":"fake","version":"1","runtime":"sh"}'"#;
const READY: &str = r#"echo '{"say":"ready","params":{}}'"#;
const SAMPLE: &str = r#"echo '{"say":"sample","wall_ns":1,"bytes":0}'"#;
const DONE: &str = r#"echo '{"say":"done","count":1}'"#;

/// Time limit for contenders that answer; enough for a busy machine.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Time limit for contenders that never answer.
const SHORT_TIMEOUT: Duration = Duration::from_millis(300);

fn shell(script: &str) -> CommandLine {
    CommandLine {
        program: "/bin/sh".into(),
        args: vec!["-c".into(), script.into()],
        ..CommandLine::default()
    }
}

/// Runs a session of one turn with a contender that executes these lines; the line `go` waits for
/// the lab.
fn run_turn(lines: &[&str], timeout: Duration) -> Result<Turn, SessionError> {
    let script = lines.iter().map(|line| if *line == "go" { "read go" } else { line });
    let mut session = Session::start("fake", &shell(&script.collect::<Vec<_>>().join("\n")))?;
    session.wait_until_ready()?;
    session.run_turn(TurnRequest { lead: 0, count: 1 }, timeout)
}

fn violation(lines: &[&str]) -> SessionError {
    run_turn(lines, TIMEOUT).expect_err("this contender breaks the contract")
}

fn count_line(of: &str) -> String {
    format!(r#"echo '{{"say":"count","of":"{of}","value":7,"how":"beans"}}'"#)
}

#[test]
fn every_breach_of_the_protocol_is_an_error_of_its_own() {
    let other_protocol = HELLO.replace("\"protocol\":1", "\"protocol\":2");
    let other_name = HELLO.replace("fake", "other");
    let hour = SAMPLE.replace("\"wall_ns\":1", "\"wall_ns\":3600000000000");
    let flood = (0..17).map(|n| count_line(&format!("n{n}"))).collect::<Vec<_>>().join("\n");
    let gc = count_line("gc_ns");
    let done = |count: u32| format!(r#"echo '{{"say":"done","count":{count}}}'"#);
    let turn = |lines: &[&str]| [&[HELLO, READY, "go"], lines].concat().join("\n");
    let endless = format!("head -c {} /dev/zero | tr '\\0' x", 2 * LINE_BYTES_MAX);
    for (script, outcome, said) in [
        (other_protocol, "failed", "it speaks protocol 2, this readlab speaks 1"),
        (other_name, "failed", "the roster calls it 'fake', it calls itself 'other'"),
        (READY.to_owned(), "failed", "out of turn: expected hello"),
        ([HELLO, SAMPLE].join("\n"), "failed", "out of turn: expected ready"),
        (turn(&[READY]), "failed", "out of turn: expected sample, count or done"),
        (turn(&[&gc, SAMPLE, DONE]), "failed", "out of turn: expected sample, count or done"),
        (turn(&[DONE]), "failed", "asked for 1 samples, got 0"),
        (turn(&[SAMPLE, SAMPLE, &done(2)]), "failed", "asked for 1 samples, got 2"),
        (turn(&[SAMPLE, &done(7)]), "failed", "asked for 1 samples, got 1"),
        (turn(&[SAMPLE, &gc, &gc, DONE]), "failed", "it counts \"gc_ns\" twice"),
        (turn(&[SAMPLE, &flood, DONE]), "failed", "it counts \"n16\" twice, or more than 16 things"),
        (turn(&[&hour, DONE]), "refused", "it claims 3600000000000 ns"),
        // A sample that was sent before it was requested also counts as a claim about too much
        // time.
        ([HELLO, READY, &hour, DONE, "go"].join("\n"), "refused", "it claims 3600000000000 ns"),
        (turn(&["echo hi"]), "failed", "not a line of protocol 1"),
        (turn(&["echo '{}'"]), "failed", "not a line of protocol 1"),
        (
            turn(&[r#"echo '{"say":"sample","wall_ns":1,"surprise":2}'"#]),
            "failed",
            "not a line of protocol 1",
        ),
        (turn(&["printf '\\377\\n'"]), "failed", "a line that is not UTF-8"),
        (turn(&[&endless, "sleep 60"]), "failed", "a line of more than"),
        (turn(&["echo first >&2; echo out of luck >&2; exit 7"]), "failed", "it exited with 7: out of luck"),
        (turn(&["kill -BUS $$"]), "failed", "SIGBUS"),
        (turn(&[r#"echo '{"say":"failed","reason":"f: broken"}'"#]), "failed", "f: broken"),
        (
            [HELLO, r#"echo '{"say":"unavailable","reason":"no such call"}'"#].join("\n"),
            "unavailable",
            "no such call",
        ),
    ] {
        let breach = violation(&script.lines().collect::<Vec<_>>());
        assert!(breach.to_string().contains(said), "{script}: {breach}");
        assert_eq!(breach.outcome().unwrap().word(), outcome, "{script}: {breach}");
    }
}

#[test]
fn a_contender_that_keeps_the_protocol_gives_a_turn_with_the_counts_after_its_samples() {
    let gc = count_line("gc_ns");
    for (lines, counts) in
        [(&[SAMPLE, DONE][..], vec![]), (&[SAMPLE, &gc, DONE], vec![("gc_ns", Some(7_u64))])]
    {
        let turn = run_turn(&[&[HELLO, READY, "go"], lines].concat(), TIMEOUT).unwrap();
        assert_eq!(turn.samples.len(), 1);
        assert!(turn.lab_wall_ns > turn.samples[0].wall_ns);
        let counted: Vec<_> = turn.counts.iter().map(|it| (it.of.as_str(), it.value)).collect();
        assert_eq!(counted, counts);
    }
}

#[test]
fn a_contender_that_hangs_is_killed_at_the_deadline() {
    let start = Instant::now();
    let hung = run_turn(&[HELLO, READY, "go", "sleep 600"], SHORT_TIMEOUT).unwrap_err();
    assert!(matches!(hung, SessionError::Silent { .. }), "{hung}");
    assert!(hung.to_string().contains("no answer within"), "{hung}");
    assert!(start.elapsed() < Duration::from_secs(300), "it was not waited for");
}

#[test]
fn a_flood_on_standard_error_does_not_block() {
    let flood = "head -c 3000000 /dev/zero | tr '\\0' y >&2";
    assert!(run_turn(&[HELLO, READY, "go", flood, SAMPLE, DONE], TIMEOUT).is_ok());
}

#[test]
fn a_program_that_does_not_exist_is_unavailable_with_its_name() {
    let line = CommandLine { program: "/no/such/reader".into(), ..CommandLine::default() };
    let breach = Session::start("fake", &line).unwrap_err();
    assert_eq!(breach.outcome().unwrap().word(), "unavailable");
    assert!(breach.to_string().contains("/no/such/reader"));
}

#[test]
fn nothing_that_a_contender_started_outlives_it() {
    let mut process = PipedProgram::spawn(&shell("sleep 600 & echo $!; sleep 600"), LINE_BYTES_MAX).unwrap();
    let grandchild: i32 = process.read_line(TIMEOUT).unwrap().parse().unwrap();
    let child = process.id().cast_signed();
    drop(process);
    for pid in [child, grandchild] {
        assert!(ends_soon(pid), "process {pid} is still there");
    }
}

/// True if the process is gone, or is a zombie that another process must reap.
fn ends_soon(pid: i32) -> bool {
    for _ in 0..500 {
        match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
            Err(_) => return true,
            Ok(stat) if stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z')) => return true,
            Ok(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    }
    false
}

#[test]
fn only_scheduling_that_differs_from_the_given_one_is_reported() {
    let given = scheduling_of(std::process::id()).unwrap();
    let mut nicer = Command::new("nice").args(["-n", "2", "sleep", "600"]).spawn().unwrap();
    let changed = (0..1000).any(|_| {
        std::thread::sleep(Duration::from_millis(5));
        other_schedulings(&given, nicer.id()) == [Scheduling { nice: given.nice + 2, ..given.clone() }]
    });
    nicer.kill().unwrap();
    nicer.wait().unwrap();
    assert!(changed, "{:?}", other_schedulings(&given, nicer.id()));
    assert!(scheduling_of(nicer.id()).is_none() && other_schedulings(&given, nicer.id()).is_empty());
    let mut same = Command::new("sleep").arg("600").spawn().unwrap();
    let others = other_schedulings(&given, same.id());
    same.kill().unwrap();
    same.wait().unwrap();
    assert!(others.is_empty(), "{others:?}");
}
