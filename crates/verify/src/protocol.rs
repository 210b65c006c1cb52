//! What all methods of a contender share: its hello, words that are no conversation, lines that are
//! no turns, and pipes that are closed.

use super::check::{Check, Fault, ReadWords, TURN, ready};
use super::files::refused;
use super::misuse::any_words;
use super::reason_of;
use super::servers;
use super::stage::Stage;
use readlab_protocol::{LINE_BYTES_MAX, MethodLine, Reads, TurnRequest};
use readlab_system::program::{CommandLine, Exit, Process};
use std::ffi::OsString;

/// Lines that are no turns.
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
        let session = stage.start(&command).map_err(|error| fault("hello", &command, &error))?;
        session.exit().map_err(|error| fault("hello", &command, &error))?;
        Ok(1)
    })];
    for words in [&[][..], &["helo"], &["hello", "x"], &["read"], &["read", "x"]] {
        checks.push(Check::new(move |stage| no_conversation(stage, words)));
    }
    let reads_files = |method: &&MethodLine| method.reads == Reads::File && method.decodes.is_empty();
    let available = || stage.contender().methods.iter().filter(|method| method.unavailable.is_none());
    let found = available().find(reads_files).or_else(|| available().find(|method| servers::are_for(method)));
    let Some((method, words)) = found.and_then(|it| Some((it, any_words(stage, it)?))) else { return checks };
    let unknown = ReadWords { method: "no-such-method".to_owned(), ..words.clone() };
    checks.push(Check::new(move |stage| refused(stage, &unknown, "an unknown method", "")));
    for line in NO_TURNS {
        let (words, method) = (words.clone(), method.clone());
        checks.push(Check::new(move |stage| {
            let fault = |reason: &dyn std::fmt::Display| {
                let repeat = words.repeat(stage, &[&TURN, &line]);
                Fault { request: format!("a turn spelled '{line}'"), reason: reason.to_string(), repeat }
            };
            let mut session = ready(stage, &words, &method).map_err(|error| fault(&error))?;
            session.turn(TURN, stage.deadline).map_err(|error| fault(&error))?;
            reason_of(session.answer_to(line)).map_err(|reason| fault(&reason))?;
            Ok(1)
        }));
    }
    let (of_input, of_output) = ((words.clone(), method.clone()), (words, method.clone()));
    checks.push(Check::new(move |stage| {
        let (words, method) = &of_input;
        let session = ready(stage, words, method).and_then(|session| session.exit());
        session
            .map(|()| 1)
            .map_err(|error| words.fault(stage, "an input that ends before the first turn", error))
    }));
    checks.push(Check::new(move |stage| {
        let (words, method) = &of_output;
        let fault =
            |reason: &dyn std::fmt::Display| words.fault(stage, "an output that nobody reads", reason);
        let mut session = ready(stage, words, method).map_err(|error| fault(&error))?;
        session.close_output().map_err(|error| fault(&error))?;
        let request = TurnRequest { lead: 0, count: 1 };
        session.begin_turn(request).map_err(|error| fault(&error))?;
        session.end().map(|_| 1).map_err(|error| fault(&error))
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
