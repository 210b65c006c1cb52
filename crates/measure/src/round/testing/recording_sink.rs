//! A recording sink: keeps the lines of the record and writes lines and steps into the log.

use super::Log;
use crate::interface::{Progress, Sink, Step};
use readlab_model::trial::TrialIndex;
use readlab_record::{Line, RecordError};
use std::collections::BTreeMap;

/// The record of a scripted run.
pub(super) struct RecordingSink {
    pub(super) log: Log,
    pub(super) lines: Vec<Line>,
    pub(super) names: BTreeMap<TrialIndex, String>,
    /// The record takes only so many lines.
    pub(super) full_after: usize,
    /// The turn before which the user ends the run.
    pub(super) user_ends_at: Option<usize>,
    pub(super) turns: usize,
    pub(super) progress: Vec<Progress>,
}

impl Sink for RecordingSink {
    fn append(&mut self, line: Line) -> Result<(), RecordError> {
        if self.lines.len() >= self.full_after {
            let cause = std::io::ErrorKind::StorageFull.into();
            return Err(RecordError::Io { path: "record".into(), cause });
        }
        let name = |trial: &TrialIndex| self.names[trial].clone();
        let text = match &line {
            Line::Trial(trial) => format!("trial {} {}", name(&trial.index), trial.params),
            Line::Fill(fill) => format!("filled {}", fill.fill),
            Line::Sample(sample) => format!(
                "sample {}{} {} ns, fill {} round {} position {}",
                sample.rung.map_or_else(String::new, |rung| format!("of rung {rung} ")),
                name(&sample.trial),
                sample.wall_ns,
                sample.fill,
                sample.round,
                sample.position
            ),
            Line::Rejected { trial, round, reason } => {
                format!("rejected {} round {round}: {reason}", name(trial))
            }
            Line::Missing { trial, meter, reason } => format!("missing {} {meter}: {reason}", name(trial)),
            Line::Counts { trial, counts } => {
                format!("counts {} {:?}", name(trial), counts["syscalls"].value)
            }
            Line::Stopped { trial, stopped } => {
                format!("stopped {} {:?} after {} rounds", name(trial), stopped.why, stopped.rounds)
            }
            Line::Outcome { trial, outcome } => match outcome.reason() {
                Some(reason) => format!("{} {}: {reason}", outcome.word(), name(trial)),
                None => format!("{} {}", outcome.word(), name(trial)),
            },
            Line::Limit(limit) => format!("limit {} {}", limit.name, limit.value),
            Line::Warning { text } => format!("warning {text}"),
            Line::Trace { trial, .. } => format!("trace {}", name(trial)),
            Line::End { reason, wall_ns } => format!("end {reason:?} after {wall_ns} ns"),
            _ => "not of a run".to_owned(),
        };
        self.log.borrow_mut().push(format!("> {text}"));
        self.lines.push(line);
        Ok(())
    }

    fn about_to(&mut self, step: Step) {
        self.turns += usize::from(matches!(step, Step::Turn { .. }));
        let name = |trial: TrialIndex| &self.names[&trial];
        self.log.borrow_mut().push(match step {
            Step::State(state, trials) => format!("stage {state} {trials}"),
            Step::Fill(fill) => format!("fill {fill}"),
            Step::Start(trial) => format!("start {}", name(trial)),
            Step::Count(trial, progress) => {
                self.progress.push(progress);
                format!("count {}", name(trial))
            }
            Step::Inspect(trial) => format!("inspect {}", name(trial)),
            Step::Turn { trial, round, position, of } => {
                format!("round {round} {}/{of} {}", position + 1, name(trial))
            }
            Step::RoundOver(progress) => {
                self.progress.push(progress);
                format!("round over {:.0} %", progress.share * 100.0)
            }
        });
    }

    fn wants_end(&mut self) -> Result<bool, RecordError> {
        Ok(self.user_ends_at.is_some_and(|turn| self.turns >= turn))
    }
}
