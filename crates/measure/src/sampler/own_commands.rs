//! The user's commands as they are: what each of them must print, and the commands that are run
//! around its readings.
//!
//! What is run around a reading is outside of every window, and before the state of the cache is
//! made: what it does to the cache is undone. What must be printed is found in an untimed reading.

use super::trials::Trials;
use crate::interface::{CleanUpError, SampleError, TrialEnd};
use readlab_model::trial::{TrialId, TrialIndex};
use readlab_protocol::{CHECK_VARIABLE, TurnRequest};
use readlab_record::{Check, EndReason, Outcome, Trial, WHILE_RACED};
use readlab_roster::session::Turn;
use readlab_system::program::{self, CommandLine, ReadError};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

/// Longest time of a command that is run around readings, where the user's budget does not end it.
const TIME_LIMIT: Duration = Duration::from_secs(3600);

#[derive(Default)]
pub(super) struct OwnCommands {
    /// A trial of each command that was set up, in order.
    set_up: Vec<TrialIndex>,
    /// The digest of what a command must print.
    outputs: BTreeMap<TrialId, u64>,
}

impl OwnCommands {
    /// Sets a command up before its first reading, and finds out what it must print.
    pub(super) fn begin(&mut self, trial: &Trial, trials: &Trials) -> Result<(), TrialEnd> {
        self.set_up(trial, trials)?;
        match &trial.command.check {
            Check::Count | Check::Unchecked => Ok(()),
            Check::Accepted { by } => self.find_output(trial, Some(by), trials),
            Check::Same { of } => {
                let first = trials.named(of).unwrap_or(trial);
                self.set_up(first, trials)?;
                self.find_output(first, None, trials).map_err(|end| of_first(end, first, trial))
            }
        }
    }

    /// Whether nothing must be run before a command can be started.
    pub(super) fn is_set_up(&self, trial: &Trial, trials: &Trials) -> bool {
        trial.command.setup.is_none() || self.was_set_up(trial, trials)
    }

    fn was_set_up(&self, trial: &Trial, trials: &Trials) -> bool {
        self.set_up.iter().any(|&other| trials.trial(other).id == trial.id)
    }

    fn set_up(&mut self, trial: &Trial, trials: &Trials) -> Result<(), TrialEnd> {
        if self.was_set_up(trial, trials) {
            return Ok(());
        }
        // What a set-up did before it failed is cleaned up, too.
        self.set_up.push(trial.index);
        let Some(line) = &trial.command.setup else { return Ok(()) };
        run_hook("--setup", line, trial, trials, program::run_to_end)
    }

    /// Reads once untimed, and keeps the digest of what was printed if the check accepts it.
    fn find_output(&mut self, trial: &Trial, check: Option<&str>, trials: &Trials) -> Result<(), TrialEnd> {
        if self.outputs.contains_key(&trial.id) {
            return Ok(());
        }
        before_reading(trial, trials)?;
        let env = check.map(|line| (OsString::from(CHECK_VARIABLE), line.into()));
        let (mut session, _) = trials.start(trial.index, env.into_iter().collect::<Vec<_>>().into())?;
        let turn = session.turn(TurnRequest { lead: 0, count: 1 }, trials.time_limit(trial.index, 1))?;
        let output = turn.samples.first().and_then(|sample| sample.output);
        self.outputs.extend(output.map(|output| (trial.id.clone(), output)));
        Ok(())
    }

    /// Refuses a turn in which a command printed something else than it must.
    pub(super) fn compare(&self, trial: &Trial, turn: &Turn) -> Result<(), SampleError> {
        let (right, reason) = match &trial.command.check {
            Check::Count | Check::Unchecked => return Ok(()),
            Check::Same { of } if *of != trial.id.to_string() => {
                (of.parse().ok(), format!("its output is not that of {of}"))
            }
            Check::Same { .. } | Check::Accepted { .. } => {
                let reason = "its output changes from reading to reading; --check none does not compare it";
                (Some(trial.id.clone()), reason.to_owned())
            }
        };
        let right = right.and_then(|id| self.outputs.get(&id));
        let is_right = turn.samples.iter().all(|sample| sample.output.as_ref() == right && right.is_some());
        if is_right { Ok(()) } else { Err(SampleError::refused(reason)) }
    }

    /// Cleans up after every command that was set up, whatever the others did; that one changed a
    /// target, or else the first failure.
    pub(super) fn clean_up(&mut self, trials: &Trials) -> Result<(), CleanUpError> {
        let set_up = std::mem::take(&mut self.set_up).into_iter().map(|trial| trials.trial(trial));
        let due: Vec<_> = set_up.filter_map(|trial| Some((trial, trial.command.cleanup.as_ref()?))).collect();
        if due.is_empty() {
            return Ok(());
        }
        let (mut failed, mut changed) = (None, None);
        // What changed before is no work of these commands.
        let was_changed = trials.changed_file().is_some();
        for (trial, line) in due {
            let ended = run_hook("--cleanup", line, trial, trials, program::run_in_any_case);
            if let Err(TrialEnd::Both(Outcome::Failed { reason }, _)) = ended {
                failed.get_or_insert(reason);
            }
            if changed.is_none() && !was_changed {
                let change = trials.changed_file();
                changed =
                    change.map(|change| format!("{change}, seen after --cleanup '{line}', {WHILE_RACED}"));
            }
        }
        let changed = changed.map(|text| CleanUpError { end: EndReason::TargetChanged, text });
        let failed = failed.map(|text| CleanUpError { end: EndReason::CommandFailed, text });
        changed.or(failed).map_or(Ok(()), Err)
    }
}

/// Runs what must be run before each reading of a command.
pub(super) fn before_reading(trial: &Trial, trials: &Trials) -> Result<(), TrialEnd> {
    let Some(line) = &trial.command.prepare else { return Ok(()) };
    run_hook("--prepare", line, trial, trials, program::run_to_end)
}

type Runner =
    fn(&CommandLine, &Path, &std::fs::File, Duration) -> Result<std::process::ExitStatus, ReadError>;

/// Runs a line for a shell, in which `{}` is the path, to its end or that of its time. If it fails, the run
/// ends.
fn run_hook(
    option: &str,
    line: &str,
    trial: &Trial,
    trials: &Trials,
    runner: Runner,
) -> Result<(), TrialEnd> {
    let failed = |what: String| {
        let reason = format!("{option} '{line}' {what}");
        TrialEnd::Both(Outcome::Failed { reason }, EndReason::CommandFailed)
    };
    // Without a name, so that nothing is left however the lab ends.
    let said = tempfile::tempfile().map_err(|error| failed(format!("has nowhere to write to: {error}")))?;
    let script = readlab_protocol::command_line::script(line);
    let args = vec!["-c".into(), script.into(), "sh".into(), trials.target_of(trial.index).target.name()];
    let shell = CommandLine { program: "sh".into(), args, ..CommandLine::default() };
    let time_limit = trials.clock.wait_limit(TIME_LIMIT, Duration::ZERO);
    let status = runner(&shell, Path::new("."), &said, time_limit).map_err(|error| match error {
        ReadError::Interrupted => TrialEnd::Run(EndReason::Interrupted),
        ReadError::Timeout(limit) if limit < TIME_LIMIT => {
            failed(format!("was ended after {limit:.1?}, by when the budget was over"))
        }
        ReadError::Timeout(limit) => failed(format!("was ended after {limit:.0?}")),
        other => failed(format!("could not be run: {other}")),
    })?;
    if status.success() {
        return Ok(());
    }
    let last = program::last_line(said).map_or_else(String::new, |line| format!(": {line}"));
    let how = status.code().map_or_else(|| status.to_string(), |code| format!("ended with exit code {code}"));
    Err(failed(format!("{how}{last}")))
}

/// The end of another trial than the first, whose output it should have printed.
fn of_first(end: TrialEnd, first: &Trial, trial: &Trial) -> TrialEnd {
    match end {
        TrialEnd::Trial(outcome) if first.id != trial.id => {
            let reason = outcome.reason().unwrap_or("it ended");
            TrialEnd::failed(format!("{}, whose output it must print: {reason}", first.id))
        }
        other => other,
    }
}
