//! The user's own commands: the output that each must print, and the hooks that run around its
//! readings.
//!
//! A hook runs outside of every window. It runs before the cache state is made, so that it cannot
//! change that state. An untimed reading gives the expected output.

use super::trials::Trials;
use crate::interface::{CleanUpError, SampleError, TrialEnd};
use crate::shell_line::{self, LineError, ProgramRunner};
use readlab_model::target::TargetIndex;
use readlab_model::trial::{TrialId, TrialIndex};
use readlab_protocol::{CHECK_VARIABLE, TurnRequest};
use readlab_record::{Check, EndReason, Outcome, Trial, WHILE_RACED_WORDS};
use readlab_roster::session::Turn;
use readlab_system::program;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::Duration;

/// Longest time of a command or a hook, unless the user's budget ends it earlier.
pub(super) const COMMAND_TIME_LIMIT: Duration = Duration::from_secs(3600);

#[derive(Default)]
pub(super) struct OwnCommands {
    /// One trial of each command that was set up on a target, in order.
    set_up_trials: Vec<TrialIndex>,
    /// Digest of the output that each command must print, by the target that it reads.
    expected_output_digests: BTreeMap<(TargetIndex, TrialId), u64>,
}

impl OwnCommands {
    /// Runs the set-up of a command before its first reading, and finds its expected output.
    pub(super) fn begin(&mut self, trial: &Trial, trials: &Trials) -> Result<(), TrialEnd> {
        self.set_up(trial, trials)?;
        match &trial.command_rules.check {
            Check::Count | Check::Unchecked => Ok(()),
            Check::Accepted { accepting_program: by } => self.find_expected_output(trial, Some(by), trials),
            Check::Same { trial_name: of } => {
                let first = trials.trial_named(of, trial.target).unwrap_or(trial);
                self.set_up(first, trials)?;
                self.find_expected_output(first, None, trials)
                    .map_err(|end| end_because_of_first(end, first, trial))
            }
        }
    }

    pub(super) fn is_set_up(&self, trial: &Trial, trials: &Trials) -> bool {
        trial.command_rules.setup.is_none() || self.was_set_up(trial, trials)
    }

    fn was_set_up(&self, trial: &Trial, trials: &Trials) -> bool {
        // Targets that differ only in the number of readers are the same file.
        let file = |trial: TrialIndex| trials.target_of(trial).target.name();
        let is_same_command =
            |&other: &TrialIndex| trials.trial(other).id == trial.id && file(other) == file(trial.index);
        self.set_up_trials.iter().any(is_same_command)
    }

    fn set_up(&mut self, trial: &Trial, trials: &Trials) -> Result<(), TrialEnd> {
        if self.was_set_up(trial, trials) {
            return Ok(());
        }
        // A set-up that fails is cleaned up, too, because it may have done a part of its work.
        self.set_up_trials.push(trial.index);
        let Some(line) = &trial.command_rules.setup else { return Ok(()) };
        run_hook("--setup", line, trial, trials, program::run_to_end)
    }

    /// Reads once untimed, and keeps the digest of the output if the check accepts it.
    fn find_expected_output(
        &mut self,
        trial: &Trial,
        check: Option<&str>,
        trials: &Trials,
    ) -> Result<(), TrialEnd> {
        let key = (trial.target, trial.id.clone());
        if self.expected_output_digests.contains_key(&key) {
            return Ok(());
        }
        run_prepare_hook(trial, trials)?;
        let env = check.map(|line| (OsString::from(CHECK_VARIABLE), line.into()));
        let (mut session, _) = trials.start(trial.index, env.into_iter().collect::<Vec<_>>().into())?;
        let limit = trials.turn_limit(trial.index, 1);
        let turn = limit.run_turn(&mut session, TurnRequest { lead: 0, count: 1 })?;
        let output = turn.samples.first().and_then(|sample| sample.output);
        self.expected_output_digests.extend(output.map(|output| (key, output)));
        Ok(())
    }

    /// Refuses a turn in which a command printed another output than it must.
    pub(super) fn compare_output(&self, trial: &Trial, turn: &Turn) -> Result<(), SampleError> {
        let (right, reason) = match &trial.command_rules.check {
            Check::Count | Check::Unchecked => return Ok(()),
            Check::Same { trial_name: of } if *of != trial.id.to_string() => {
                (of.parse().ok(), format!("its output is not that of {of}"))
            }
            Check::Same { .. } | Check::Accepted { .. } => {
                let reason = "its output changes from reading to reading; --check none does not compare it";
                (Some(trial.id.clone()), reason.to_owned())
            }
        };
        let right = right.and_then(|id| self.expected_output_digests.get(&(trial.target, id)));
        let is_right = turn.samples.iter().all(|sample| sample.output.as_ref() == right && right.is_some());
        if is_right { Ok(()) } else { Err(SampleError::refused(reason)) }
    }

    /// Runs the clean-up of every command that was set up, even if another clean-up fails. The
    /// error is a change of a target, or else the first failure.
    pub(super) fn clean_up(&mut self, trials: &Trials) -> Result<(), CleanUpError> {
        let set_up = std::mem::take(&mut self.set_up_trials).into_iter().map(|trial| trials.trial(trial));
        let due: Vec<_> =
            set_up.filter_map(|trial| Some((trial, trial.command_rules.cleanup.as_ref()?))).collect();
        if due.is_empty() {
            return Ok(());
        }
        let (mut failed, mut changed) = (None, None);
        // A change from before is not caused by these commands.
        let was_changed_before = trials.describe_first_change().is_some();
        for (trial, line) in due {
            let ended = run_hook("--cleanup", line, trial, trials, program::run_uninterruptibly);
            if let Err(TrialEnd::Both(Outcome::Failed { reason }, _)) = ended {
                failed.get_or_insert(reason);
            }
            if changed.is_none() && !was_changed_before {
                let change = trials.describe_first_change();
                changed = change
                    .map(|change| format!("{change}, seen after --cleanup '{line}', {WHILE_RACED_WORDS}"));
            }
        }
        let changed = changed.map(|text| CleanUpError { end: EndReason::TargetChanged, text });
        let failed = failed.map(|text| CleanUpError { end: EndReason::CommandFailed, text });
        changed.or(failed).map_or(Ok(()), Err)
    }
}

/// Runs the hook before each reading of a command.
pub(super) fn run_prepare_hook(trial: &Trial, trials: &Trials) -> Result<(), TrialEnd> {
    let Some(line) = &trial.command_rules.prepare_command else { return Ok(()) };
    run_hook("--prepare", line, trial, trials, program::run_to_end)
}

/// Runs a shell command line in which `{}` is the path, until it ends or its time is up. If it
/// fails, the run ends.
fn run_hook(
    option: &str,
    line: &str,
    trial: &Trial,
    trials: &Trials,
    runner: ProgramRunner,
) -> Result<(), TrialEnd> {
    let failed = |what: String| {
        let reason = format!("{option} '{line}' {what}");
        TrialEnd::Both(Outcome::Failed { reason }, EndReason::CommandFailed)
    };
    let path = trials.target_of(trial.index).target.name();
    let time_limit = trials.clock.wait_limit(COMMAND_TIME_LIMIT, Duration::ZERO);
    shell_line::run_line(line, path, time_limit, runner).map(drop).map_err(|error| match error {
        LineError::Interrupted => TrialEnd::Run(EndReason::Interrupted),
        LineError::Timeout(limit) if limit < COMMAND_TIME_LIMIT => {
            failed(format!("was ended after {limit:.1?}, by when the budget was over"))
        }
        LineError::Timeout(limit) => failed(format!("was ended after {limit:.0?}")),
        LineError::Failed(what) => failed(what),
    })
}

/// Explains the end of a trial that must print the output of the trial `first`, if `first` failed.
fn end_because_of_first(end: TrialEnd, first: &Trial, trial: &Trial) -> TrialEnd {
    match end {
        TrialEnd::Trial(outcome) if first.id != trial.id => {
            let reason = outcome.reason().unwrap_or("it ended");
            TrialEnd::failed(format!("{}, whose output it must print: {reason}", first.id))
        }
        other => other,
    }
}
