//! What the user asked of commands as they are, in words: how their output was checked, and what
//! was run around their readings.

use readlab_model::trial::TrialId;
use readlab_record::{Check, CommandRules, Record};

/// One line for each thing that was asked of a command, each once.
pub(super) fn lines(record: &Record) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for it in &record.trials {
        for line in of_command(&it.trial.id, &it.trial.command) {
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    lines
}

fn of_command(id: &TrialId, rules: &CommandRules) -> impl Iterator<Item = String> {
    let checked = match &rules.check {
        Check::Count => None,
        Check::Same { of } if *of == id.to_string() => {
            Some("its output is what the others must print".to_owned())
        }
        Check::Same { of } => Some(format!("it must print what {of} prints")),
        Check::Accepted { by } => Some(format!("it must print what '{by}' accepted")),
        Check::Unchecked => Some("its output was not checked".to_owned()),
    };
    let run = |when: &str, line: &Option<String>| line.as_ref().map(|line| format!("{when}: {line}"));
    let around = [
        run("before its first reading", &rules.setup),
        run("before each reading", &rules.prepare),
        run("after the last reading of the run", &rules.cleanup),
    ];
    let id = id.to_string();
    [checked].into_iter().chain(around).flatten().map(move |line| format!("{id}: {line}"))
}
