//! Tests of the protocol: one contender of a few lines of shell for each rule of PROTOCOL.md that
//! it breaks. None may hang the lab.

use super::{Session, SessionError, Turn};
use readlab_protocol::{LINE_BYTES_MAX, TurnRequest};
use readlab_record::Outcome;
use readlab_system::program::{CommandLine, Process};
use std::time::{Duration, Instant};

const HELLO: &str = r#"echo '{"say":"hello","protocol":1,"contender":"fake","version":"1","runtime":"sh"}'"#;
const READY: &str = r#"echo '{"say":"ready","params":{}}'"#;
const SAMPLE: &str = r#"echo '{"say":"sample","wall_ns":1,"bytes":0}'"#;
const DONE: &str = r#"echo '{"say":"done","count":1}'"#;

/// For contenders that answer: however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(20);

/// For contenders that never answer.
const SHORT_PATIENCE: Duration = Duration::from_millis(300);

fn shell(script: &str) -> CommandLine {
    CommandLine {
        program: "/bin/sh".into(),
        args: vec!["-c".into(), script.into()],
        ..CommandLine::default()
    }
}

/// A whole conversation of one turn with a contender that runs these lines; `go` waits for the
/// lab's line.
fn converse(lines: &[&str], patience: Duration) -> Result<Turn, SessionError> {
    let script = lines.iter().map(|line| if *line == "go" { "read go" } else { line });
    let mut session = Session::start("fake", &shell(&script.collect::<Vec<_>>().join("\n")))?;
    session.ready()?;
    session.turn(TurnRequest { lead: 0, count: 1 }, patience)
}

fn breach(lines: &[&str]) -> SessionError {
    converse(lines, PATIENCE).expect_err("this contender breaks the contract")
}

#[test]
fn a_contender_that_keeps_the_contract_is_heard() {
    let turn = converse(&[HELLO, READY, "go", SAMPLE, DONE], PATIENCE).unwrap();
    assert_eq!(turn.samples.len(), 1);
    assert!(turn.seen_ns > turn.samples[0].wall_ns);
}

#[test]
fn another_protocol_number_is_refused_before_anything_is_read() {
    let hello = HELLO.replace("\"protocol\":1", "\"protocol\":2");
    assert!(matches!(breach(&[&hello, READY, "go", SAMPLE, DONE]), SessionError::WrongVersion(2)));
}

#[test]
fn another_name_than_in_the_roster_is_refused() {
    let hello = HELLO.replace("fake", "other");
    assert!(matches!(breach(&[&hello]), SessionError::WrongName { .. }));
}

#[test]
fn no_receipt_no_timing() {
    assert!(matches!(breach(&[READY]), SessionError::OutOfTurn { expected: "hello", .. }));
}

#[test]
fn a_line_that_is_no_message_ends_the_session() {
    for line in
        ["echo hi", "echo '{}'", r#"echo '{"say":"sample","wall_ns":1,"surprise":2}'"#, "printf '\\377\\n'"]
    {
        let breach = breach(&[HELLO, READY, "go", line]);
        assert!(
            matches!(breach, SessionError::Malformed(_) | SessionError::Silent { .. }),
            "{line}: {breach}"
        );
        assert!(matches!(breach.outcome(), Some(Outcome::Failed { .. })));
    }
}

#[test]
fn a_line_without_end_is_cut_off_at_the_limit() {
    let endless = breach(&[HELLO, READY, "go", "head -c 1000000 /dev/zero | tr '\\0' x", "sleep 60"]);
    assert!(endless.to_string().contains(&LINE_BYTES_MAX.to_string()), "{endless}");
}

#[test]
fn a_message_out_of_turn_ends_the_session() {
    assert!(matches!(breach(&[HELLO, SAMPLE]), SessionError::OutOfTurn { expected: "ready", .. }));
    assert!(matches!(breach(&[HELLO, READY, "go", READY]), SessionError::OutOfTurn { .. }));
}

#[test]
fn more_or_fewer_samples_than_requested_are_refused() {
    assert!(matches!(breach(&[HELLO, READY, "go", DONE]), SessionError::WrongCount { expected: 1, got: 0 }));
    let two = breach(&[HELLO, READY, "go", SAMPLE, SAMPLE, r#"echo '{"say":"done","count":2}'"#]);
    assert!(matches!(two, SessionError::WrongCount { expected: 1, got: 2 }));
    let miscounted = breach(&[HELLO, READY, "go", SAMPLE, r#"echo '{"say":"done","count":7}'"#]);
    assert!(matches!(miscounted, SessionError::WrongCount { .. }));
}

#[test]
fn what_a_runtime_counts_comes_once_and_after_the_samples() {
    let count = |of: &str| format!(r#"echo '{{"say":"count","of":"{of}","value":7,"how":"beans"}}'"#);
    let turn = converse(&[HELLO, READY, "go", SAMPLE, &count("gc_ns"), DONE], PATIENCE).unwrap();
    assert_eq!((turn.counts[0].of.as_str(), turn.counts[0].value), ("gc_ns", Some(7)));
    let twice = breach(&[HELLO, READY, "go", SAMPLE, &count("gc_ns"), &count("gc_ns"), DONE]);
    assert!(matches!(twice, SessionError::TooManyCounts(_)), "{twice}");
    let many: Vec<String> = (0..17).map(|n| count(&format!("n{n}"))).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let flood = breach(&[&[HELLO, READY, "go", SAMPLE], &many[..], &[DONE]].concat());
    assert!(matches!(flood, SessionError::TooManyCounts(_)), "{flood}");
    let early = breach(&[HELLO, READY, "go", &count("gc_ns"), SAMPLE, DONE]);
    assert!(matches!(early, SessionError::OutOfTurn { .. }), "{early}");
}

#[test]
fn a_window_longer_than_the_lab_saw_is_a_lie() {
    let hour = SAMPLE.replace("\"wall_ns\":1", "\"wall_ns\":3600000000000");
    let lie = breach(&[HELLO, READY, "go", &hour, DONE]);
    assert!(matches!(lie, SessionError::LiesAboutTime { claimed_ns: 3_600_000_000_000, .. }), "{lie}");
    assert!(matches!(lie.outcome(), Some(Outcome::Refused { .. })));
}

#[test]
fn a_sample_sent_before_it_was_requested_is_refused_too() {
    let early = SAMPLE.replace("\"wall_ns\":1", "\"wall_ns\":3600000000000");
    let lie = breach(&[HELLO, READY, &early, DONE, "go"]);
    assert!(matches!(lie, SessionError::LiesAboutTime { .. }), "{lie}");
}

#[test]
fn a_contender_that_hangs_is_killed_at_the_deadline() {
    let start = Instant::now();
    let hung = converse(&[HELLO, READY, "go", "sleep 600"], SHORT_PATIENCE).unwrap_err();
    assert!(matches!(hung, SessionError::Silent { .. }), "{hung}");
    assert!(hung.to_string().contains("no answer within"), "{hung}");
    assert!(start.elapsed() < Duration::from_secs(300), "it was not waited for");
}

#[test]
fn a_contender_that_dies_is_reported_with_its_last_output() {
    let died = breach(&[HELLO, READY, "go", "echo first >&2; echo out of luck >&2; exit 7"]).to_string();
    assert!(died.contains("exited with 7: out of luck"), "{died}");
    let killed = breach(&[HELLO, READY, "go", "kill -BUS $$"]).to_string();
    assert!(killed.contains("SIGBUS"), "{killed}");
}

#[test]
fn what_a_contender_reports_is_its_outcome() {
    let unavailable = breach(&[HELLO, r#"echo '{"say":"unavailable","reason":"no such call"}'"#]);
    assert_eq!(unavailable.outcome(), Some(Outcome::Unavailable { reason: "no such call".into() }));
    let failed = breach(&[HELLO, READY, "go", r#"echo '{"say":"failed","reason":"f: broken"}'"#]);
    assert_eq!(failed.outcome(), Some(Outcome::Failed { reason: "f: broken".into() }));
}

#[test]
fn a_flood_on_standard_error_does_not_block() {
    let flood = "head -c 3000000 /dev/zero | tr '\\0' y >&2";
    assert!(converse(&[HELLO, READY, "go", flood, SAMPLE, DONE], PATIENCE).is_ok());
}

#[test]
fn a_program_that_does_not_exist_is_unavailable_with_its_name() {
    let line = CommandLine { program: "/no/such/reader".into(), ..CommandLine::default() };
    let breach = Session::start("fake", &line).unwrap_err();
    assert!(matches!(breach.outcome(), Some(Outcome::Unavailable { .. })));
    assert!(breach.to_string().contains("/no/such/reader"));
}

#[test]
fn nothing_that_a_contender_started_outlives_it() {
    let mut process = Process::spawn(&shell("sleep 600 & echo $!; sleep 600"), LINE_BYTES_MAX).unwrap();
    let grandchild: i32 = process.read_line(PATIENCE).unwrap().parse().unwrap();
    let child = process.id().cast_signed();
    drop(process);
    for pid in [child, grandchild] {
        assert!(ends_soon(pid), "process {pid} is still there");
    }
}

/// Whether the process is gone, or a zombie that another process must reap.
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
