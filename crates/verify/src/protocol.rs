//! Checks of invalid input. For the contender as a whole: its hello, words that do not begin a
//! session, lines that do not begin a turn, and closed pipes. For each method: invalid words, for
//! which the method must fail with a reason.

use super::check::{CHECK_TURN, Check, ReadWords, Reason, start_ready, work_scans};
use super::stage::Stage;
use super::{failure_reason, servers};
use readlab_protocol::files::list_word;
use readlab_protocol::places::places_word;
use readlab_protocol::{LINE_BYTES_MAX, MethodLine, Reads, TurnRequest};
use readlab_report::verification::Fault;
use readlab_roster::session::Session;
use readlab_system::program::{CommandLine, PipedProgram, ProgramExit};
use std::ffi::OsString;

const INVALID_TURNS: [&str; 9] = [
    "",
    "go",
    "go 1",
    "go 0 0",
    "go -1 1",
    "go 1 1 1",
    "stop 1 1",
    "go 0 4294967296",
    "go 0 99999999999999999999",
];

pub(super) fn checks<'s>(stage: &'s Stage) -> Vec<Check<'s>> {
    let mut checks = vec![Check::new(|stage| {
        let command = command_with(stage, &["hello"]);
        let ended = stage.start_command(&command).and_then(Session::exit);
        ended.map(|()| 1).map_err(|error| fault("hello", &command, &error))
    })];
    for words in [&[][..], &["helo"], &["hello", "x"], &["read"], &["read", "x"]] {
        checks.push(Check::new(move |stage| check_invalid_words(stage, words)));
    }
    let reads_files = |method: &&MethodLine| method.reads == Reads::File && method.decodes.is_empty();
    let available = || stage.contender.methods.iter().filter(|method| method.unavailable.is_none());
    let found = available()
        .find(reads_files)
        .or_else(|| available().find(|method| servers::reads_from_servers(method)));
    let Some(words) = found.and_then(|it| valid_words(stage, it)) else { return checks };
    let unknown = ReadWords { method: "no-such-method".to_owned(), ..words.clone() };
    checks.push(Check::must_fail(unknown, "an unknown method", ""));
    for line in INVALID_TURNS {
        let words = words.clone();
        checks.push(Check::new(move |stage| {
            let answered = || -> Result<u32, Reason> {
                let mut session = start_ready(stage, &words)?;
                session.run_turn(CHECK_TURN, stage.time_limit)?;
                failure_reason(session.request_answer(line))?;
                Ok(1)
            };
            answered().map_err(|Reason(reason)| {
                let repeat = words.repeat_command(stage, &[&CHECK_TURN, &line]);
                Fault { request: format!("a turn spelled '{line}'"), reason, repeat_command: repeat }
            })
        }));
    }
    let of_input = words.clone();
    checks.push(Check::new(move |stage| {
        of_input.attempt(stage, "an input that ends before the first turn", || {
            start_ready(stage, &of_input)?.exit()?;
            Ok(1)
        })
    }));
    checks.push(Check::new(move |stage| {
        words.attempt(stage, "an output that nobody reads", || {
            let mut session = start_ready(stage, &words)?;
            session.close_output()?;
            session.begin_turn(TurnRequest { lead: 0, count: 1 })?;
            session.wait_for_exit()?;
            Ok(1)
        })
    }));
    checks
}

fn command_with(stage: &Stage, words: &[&str]) -> CommandLine {
    stage.contender.command_with(words.iter().map(OsString::from))
}

fn fault(request: &str, command: &CommandLine, reason: &dyn std::fmt::Display) -> Fault {
    Fault { request: request.to_owned(), reason: reason.to_string(), repeat_command: command.shell_line() }
}

/// Checks that the program exits by itself, and not with 0, after words that begin no session.
fn check_invalid_words(stage: &Stage, words: &[&str]) -> super::CheckResult {
    let command = command_with(stage, words);
    let request =
        if words.is_empty() { "no words at all".to_owned() } else { format!("the words {words:?}") };
    let fault = |reason: &dyn std::fmt::Display| fault(&request, &command, reason);
    let mut process = PipedProgram::spawn(&command, LINE_BYTES_MAX).map_err(|error| fault(&error))?;
    match process.exit(stage.time_limit) {
        Ok(ProgramExit { status: Some(status), .. }) if status.success() => {
            Err(fault(&"it exited with 0, although this starts no conversation"))
        }
        Ok(ProgramExit { status: Some(_), .. }) => Ok(1),
        Ok(ProgramExit { status: None, .. }) => {
            Err(fault(&format!("it did not end within {:.0?}", stage.time_limit)))
        }
        Err(error) => Err(fault(&error)),
    }
}

/// Each misuse is tested with one in this many methods. Only the first method of a contender gets
/// all misuses, because in most contenders one parser reads the words of all methods.
const METHODS_PER_MISUSE: usize = 3;

fn valid_words(stage: &Stage, method: &MethodLine) -> Option<ReadWords> {
    if servers::reads_from_servers(method) {
        return servers::valid_words(stage, method);
    }
    let visit = work_scans(method).into_iter().next()?;
    Some(ReadWords::new(method, &visit).with_target(stage.file("no-final-newline").path.as_os_str()))
}

pub(super) fn misuse_checks<'s>(stage: &'s Stage, method: &MethodLine, number: usize) -> Vec<Check<'s>> {
    let Some(words) = valid_words(stage, method) else { return Vec::new() };
    let mut misuses = vec![
        ("an unknown scan", ReadWords { scan: "no-such-scan".to_owned(), ..words.clone() }),
        ("an unknown work", ReadWords { work: "no-such-work".to_owned(), ..words.clone() }),
        ("an unknown parameter", words.with_settings(["no_such_parameter=1".to_owned()])),
        ("a setting without a number", words.with_settings(["no_such_parameter".to_owned()])),
    ];
    if let Some(param) = method.params.first() {
        let number = |number: Option<u64>| number.map(|number| number.to_string());
        for (what, value) in [
            ("a setting that is no number", Some("many".to_owned())),
            ("a setting that is no number", Some(String::new())),
            ("a negative setting", Some("-1".to_owned())),
            ("a setting below its least", number(param.min.checked_sub(1))),
            ("a setting above its largest", number(param.max.checked_add(1))),
        ] {
            misuses
                .extend(value.map(|value| (what, words.with_settings([format!("{}={value}", param.name)]))));
        }
    }
    let part = ["start_bytes=0".to_owned(), "length_bytes=1".to_owned()];
    if !method.parts {
        misuses.push(("a part, which it does not offer", words.with_settings(part)));
    } else {
        let [start, length] = part;
        misuses.push(("a part without its length", words.with_settings([start])));
        misuses.push(("a part without its start", words.with_settings([length])));
    }
    if !method.lists && method.reads != Reads::List {
        misuses.push(("a list, which it does not offer", words.with_settings([list_word()])));
    }
    if method.reads != Reads::Places {
        misuses.push(("places, which it does not offer", words.with_settings([places_word()])));
    }
    let misuses = misuses.into_iter().enumerate();
    let taken =
        misuses.filter(|(at, _)| number == 0 || at % METHODS_PER_MISUSE == number % METHODS_PER_MISUSE);
    taken.map(|(_, (what, words))| Check::must_fail(words, what, "")).collect()
}
