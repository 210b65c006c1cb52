//! Whole sessions with secrets in the environment: what commands get of them, and what is reported.
//!
//! A session runs in a process of its own, which is this test program again: only a process has an
//! environment and a standard error.

use std::io::Write;
use std::process::{Command, Stdio};

/// The words of a session, one a line; set only in the process of a session.
const WORDS: &str = "SESSION_WORDS";

const URL: &str = "https://host/object?X-Amz-Signature=0123456789abcdef";
const KEY: &str = "a/secret+access/key";
const SHARED: (&str, &str) = ("READLAB_COMMANDS_GET_CREDENTIALS", "1");

/// Everything that a session writes on both of its streams.
fn said(line: &str, work: &str, target: &str, variables: &[(&str, &str)]) -> String {
    let words = ["read", line, "-", work, target].join("\n");
    let mut session = Command::new(std::env::current_exe().unwrap());
    session.args(["--exact", "session_of_another_test", "--nocapture", "-q"]).env(WORDS, words);
    session.env("READLAB_TARGET", URL).env("AWS_SECRET_ACCESS_KEY", KEY).env("AWS_ACCESS_KEY_ID", "AKIAAKIA");
    session.env("AWS_SESSION_TOKEN", "a-session-token").env("AWS_REGION", "region");
    session.env_remove(SHARED.0).envs(variables.iter().copied());
    session.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut session = session.spawn().unwrap();
    // One that is unavailable does not read its turns.
    let _ = session.stdin.take().unwrap().write_all(b"go 0 1\n");
    let output = session.wait_with_output().unwrap();
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

/// Not a test: the process of a session.
#[test]
fn session_of_another_test() {
    if let Ok(words) = std::env::var(WORDS) {
        let code = readlab_command::main(words.split('\n').map(Into::into));
        std::process::exit(i32::from(code != std::process::ExitCode::SUCCESS));
    }
}

#[test]
fn commands_and_checks_see_no_secret_without_permission() {
    let print = "sh -c 'env >&2; echo 7' {}";
    for variables in [&[][..], &[(SHARED.0, "0")]] {
        let said = said(print, "newlines", "s3://bucket/key", variables);
        assert!(said.contains("\"newlines\":7") && said.contains("AWS_REGION=region"), "{said}");
        assert!(!said.contains("AWS_S") && !said.contains("AWS_A") && !said.contains("READLAB_"), "{said}");
    }
    let said = said("echo {}", "output", "s3://bucket/key", &[("READLAB_CHECK", "env >&2; echo {} >&2")]);
    assert!(said.contains("\"output\":") && said.contains("s3://bucket/key"), "{said}");
    assert!(!said.contains("AWS_S") && !said.contains("AWS_A") && !said.contains("READLAB_TARGET"), "{said}");
}

#[test]
fn with_permission_commands_and_checks_see_the_secrets_and_no_report_shows_them() {
    // What it got is proven without printing it.
    let line = format!("test {{}} = '{URL}' && test $AWS_SECRET_ACCESS_KEY = {KEY} && echo 7");
    let sample = said(&line, "newlines", "-", &[SHARED]);
    assert!(sample.contains("\"newlines\":7"), "{sample}");
    let check = ("READLAB_CHECK", "echo check {} $AWS_SECRET_ACCESS_KEY >&2");
    for (line, work) in
        [("env >&2; echo {} >&2; false", "newlines"), ("env; echo {}", "newlines"), ("echo {}", "output")]
    {
        let said = said(line, work, "-", &[SHARED, check]);
        assert!(!said.contains("0123456789") && !said.contains(KEY) && !said.contains("a-session"), "{said}");
        assert!(work != "output" || said.contains("check https://host/object?… …\n"), "{said}");
        assert!(!line.starts_with("env >&2") || said.contains("AWS_SECRET_ACCESS_KEY=…\n"), "{said}");
    }
}

#[test]
fn a_secret_url_is_unavailable_to_commands_without_permission() {
    let said = said("echo 7 {}", "newlines", "-", &[]);
    assert!(said.contains("unavailable") && said.contains("--commands-get-credentials"), "{said}");
    assert!(!said.contains("sample") && !said.contains("0123456789"), "{said}");
}

#[test]
fn the_last_lines_of_a_failure_are_reported_before_the_session_ends() {
    let said = said("seq 100000 >&2; echo the last of {} >&2; false", "newlines", "-", &[SHARED]);
    assert!(said.contains("the last of https://host/object?…\n"), "{said}");
    assert!(said.contains("sh ended with exit code 1"), "{said}");
}
