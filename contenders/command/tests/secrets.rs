//! Tests whole sessions with secrets in the environment: what commands get of the secrets, and what
//! is reported.
//!
//! A session runs in a separate process, which is this test program again, because the environment
//! and the standard error belong to a process.

use std::io::Write;
use std::process::{Command, Stdio};

/// The environment variable with the words of a session, one a line. It is set only in the process
/// of a session.
const SESSION_WORDS: &str = "SESSION_WORDS";

const URL: &str = "https://host/object?X-Amz-Signature=0123456789abcdef";
const KEY: &str = "a/secret+access/key";
const SHARED: (&str, &str) = ("READLAB_COMMANDS_GET_CREDENTIALS", "1");

fn session_output(line: &str, work: &str, target: &str, variables: &[(&str, &str)]) -> String {
    let words = ["read", line, "-", work, target].join("\n");
    let mut session = Command::new(std::env::current_exe().unwrap());
    session.args(["--exact", "run_session_of_another_test", "--nocapture", "-q"]).env(SESSION_WORDS, words);
    session.env("READLAB_TARGET", URL).env("AWS_SECRET_ACCESS_KEY", KEY).env("AWS_ACCESS_KEY_ID", "AKIAAKIA");
    session.env("AWS_SESSION_TOKEN", "a-session-token").env("AWS_REGION", "region");
    session.env_remove(SHARED.0).envs(variables.iter().copied());
    session.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut session = session.spawn().unwrap();
    // A session whose method is unavailable does not read its turns.
    let _ = session.stdin.take().unwrap().write_all(b"go 0 1\n");
    let output = session.wait_with_output().unwrap();
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

/// No test itself, but the process of a session.
#[test]
fn run_session_of_another_test() {
    if let Ok(words) = std::env::var(SESSION_WORDS) {
        let code = readlab_command::main(words.split('\n').map(Into::into));
        std::process::exit(i32::from(code != std::process::ExitCode::SUCCESS));
    }
}

#[test]
fn commands_and_checks_see_no_secret_without_permission() {
    let print = "sh -c 'env >&2; echo 7' {}";
    for variables in [&[][..], &[(SHARED.0, "0")]] {
        let said = session_output(print, "newlines", "s3://bucket/key", variables);
        assert!(said.contains("\"newlines\":7") && said.contains("AWS_REGION=region"), "{said}");
        assert!(!said.contains("AWS_S") && !said.contains("AWS_A") && !said.contains("READLAB_"), "{said}");
    }
    let said =
        session_output("echo {}", "output", "s3://bucket/key", &[("READLAB_CHECK", "env >&2; echo {} >&2")]);
    assert!(said.contains("\"output\":") && said.contains("s3://bucket/key"), "{said}");
    assert!(!said.contains("AWS_S") && !said.contains("AWS_A") && !said.contains("READLAB_TARGET"), "{said}");
}

#[test]
fn with_permission_commands_and_checks_see_the_secrets_and_no_report_shows_them() {
    // The command proves that it got the secrets without printing them.
    let line = format!("test {{}} = '{URL}' && test $AWS_SECRET_ACCESS_KEY = {KEY} && echo 7");
    let sample = session_output(&line, "newlines", "-", &[SHARED]);
    assert!(sample.contains("\"newlines\":7"), "{sample}");
    let check = ("READLAB_CHECK", "echo check {} $AWS_SECRET_ACCESS_KEY >&2");
    for (line, work) in
        [("env >&2; echo {} >&2; false", "newlines"), ("env; echo {}", "newlines"), ("echo {}", "output")]
    {
        let said = session_output(line, work, "-", &[SHARED, check]);
        assert!(!said.contains("0123456789") && !said.contains(KEY) && !said.contains("a-session"), "{said}");
        assert!(work != "output" || said.contains("check https://host/object?… …\n"), "{said}");
        assert!(!line.starts_with("env >&2") || said.contains("AWS_SECRET_ACCESS_KEY=…\n"), "{said}");
    }
}

#[test]
fn a_secret_url_is_unavailable_to_commands_without_permission() {
    let said = session_output("echo 7 {}", "newlines", "-", &[]);
    assert!(said.contains("unavailable") && said.contains("--commands-get-credentials"), "{said}");
    assert!(!said.contains("sample") && !said.contains("0123456789"), "{said}");
}

#[test]
fn the_last_lines_of_a_failure_are_reported_before_the_session_ends() {
    let said = session_output("seq 100000 >&2; echo the last of {} >&2; false", "newlines", "-", &[SHARED]);
    assert!(said.contains("the last of https://host/object?…\n"), "{said}");
    assert!(said.contains("sh ended with exit code 1"), "{said}");
}
