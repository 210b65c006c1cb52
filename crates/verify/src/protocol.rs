//! What contenders do with words that mean nothing. What all methods of a contender share: its hello, words
//! that are no conversation, lines that are no turns, and pipes that are closed. And the misuse of each
//! method: it fails, with the reason, before it is ready.

use super::check::{Check, Fault, ReadWords, Reason, TURN, ready, visits};
use super::stage::Stage;
use super::{reason_of, servers};
use readlab_protocol::files::list_word;
use readlab_protocol::places::places_word;
use readlab_protocol::{LINE_BYTES_MAX, MethodLine, Reads, TurnRequest};
use readlab_roster::session::Session;
use readlab_system::program::{CommandLine, Exit, Process};
use std::ffi::OsString;

const NO_TURNS: [&str; 9] = [
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
        let command = with(stage, &["hello"]);
        let ended = stage.start(&command).and_then(Session::exit);
        ended.map(|()| 1).map_err(|error| fault("hello", &command, &error))
    })];
    for words in [&[][..], &["helo"], &["hello", "x"], &["read"], &["read", "x"]] {
        checks.push(Check::new(move |stage| no_conversation(stage, words)));
    }
    let reads_files = |method: &&MethodLine| method.reads == Reads::File && method.decodes.is_empty();
    let available = || stage.contender().methods.iter().filter(|method| method.unavailable.is_none());
    let found = available().find(reads_files).or_else(|| available().find(|method| servers::are_for(method)));
    let Some(words) = found.and_then(|it| any_words(stage, it)) else { return checks };
    let unknown = ReadWords { method: "no-such-method".to_owned(), ..words.clone() };
    checks.push(Check::refused(unknown, "an unknown method", ""));
    for line in NO_TURNS {
        let words = words.clone();
        checks.push(Check::new(move |stage| {
            let answered = || -> Result<u32, Reason> {
                let mut session = ready(stage, &words)?;
                session.turn(TURN, stage.deadline)?;
                reason_of(session.answer_to(line))?;
                Ok(1)
            };
            answered().map_err(|Reason(reason)| {
                let repeat = words.repeat(stage, &[&TURN, &line]);
                Fault { request: format!("a turn spelled '{line}'"), reason, repeat }
            })
        }));
    }
    let of_input = words.clone();
    checks.push(Check::new(move |stage| {
        of_input.attempt(stage, "an input that ends before the first turn", || {
            ready(stage, &of_input)?.exit()?;
            Ok(1)
        })
    }));
    checks.push(Check::new(move |stage| {
        words.attempt(stage, "an output that nobody reads", || {
            let mut session = ready(stage, &words)?;
            session.close_output()?;
            session.begin_turn(TurnRequest { lead: 0, count: 1 })?;
            session.end()?;
            Ok(1)
        })
    }));
    checks
}

fn with(stage: &Stage, words: &[&str]) -> CommandLine {
    stage.contender().command_with(words.iter().map(OsString::from))
}

fn fault(request: &str, command: &CommandLine, reason: &dyn std::fmt::Display) -> Fault {
    Fault { request: request.to_owned(), reason: reason.to_string(), repeat: command.shell_line() }
}

/// Words that start nothing: the program ends by itself, and not with 0.
fn no_conversation(stage: &Stage, words: &[&str]) -> super::Outcome {
    let command = with(stage, words);
    let request =
        if words.is_empty() { "no words at all".to_owned() } else { format!("the words {words:?}") };
    let fault = |reason: &dyn std::fmt::Display| fault(&request, &command, reason);
    let mut process = Process::spawn(&command, LINE_BYTES_MAX).map_err(|error| fault(&error))?;
    match process.exit(stage.deadline) {
        Ok(Exit { status: Some(status), .. }) if status.success() => {
            Err(fault(&"it exited with 0, although this starts no conversation"))
        }
        Ok(Exit { status: Some(_), .. }) => Ok(1),
        Ok(Exit { status: None, .. }) => Err(fault(&format!("it did not end within {:.0?}", stage.deadline))),
        Err(error) => Err(fault(&error)),
    }
}

/// One method in as many gets a misuse, beside the first method of a contender, which gets all: in
/// most contenders one parser reads the words of all methods.
const TURNS: usize = 3;

fn any_words(stage: &Stage, method: &MethodLine) -> Option<ReadWords> {
    if servers::are_for(method) {
        return servers::plain_words(stage, method);
    }
    let visit = visits(method).into_iter().next()?;
    Some(ReadWords::new(method, &visit).on(stage.file("no-final-newline").path.as_os_str()))
}

pub(super) fn misuses<'s>(stage: &'s Stage, method: &MethodLine, number: usize) -> Vec<Check<'s>> {
    let Some(words) = any_words(stage, method) else { return Vec::new() };
    let mut misuses = vec![
        ("an unknown scan", ReadWords { scan: "no-such-scan".to_owned(), ..words.clone() }),
        ("an unknown work", ReadWords { work: "no-such-work".to_owned(), ..words.clone() }),
        ("an unknown parameter", words.with(["no_such_parameter=1".to_owned()])),
        ("a setting without a number", words.with(["no_such_parameter".to_owned()])),
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
            misuses.extend(value.map(|value| (what, words.with([format!("{}={value}", param.name)]))));
        }
    }
    let part = ["start_bytes=0".to_owned(), "length_bytes=1".to_owned()];
    if !method.parts {
        misuses.push(("a part, which it does not offer", words.with(part)));
    } else {
        let [start, length] = part;
        misuses.push(("a part without its length", words.with([start])));
        misuses.push(("a part without its start", words.with([length])));
    }
    if !method.lists && method.reads != Reads::List {
        misuses.push(("a list, which it does not offer", words.with([list_word()])));
    }
    if method.reads != Reads::Places {
        misuses.push(("places, which it does not offer", words.with([places_word()])));
    }
    let misuses = misuses.into_iter().enumerate();
    let taken = misuses.filter(|(at, _)| number == 0 || at % TURNS == number % TURNS);
    taken.map(|(_, (what, words))| Check::refused(words, what, "")).collect()
}
