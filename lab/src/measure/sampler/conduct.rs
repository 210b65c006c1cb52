//! What a contender did beside reading, looked at after each of its turns and before the next
//! window: processes that outlive the turn are ended and counted, and scheduling that it gave
//! itself is noted once.
//!
//! Nothing here happens within a window. A turn that left nothing costs a look at one list of /proc
//! and, for each thread, at one file.

use super::ProcessSampler;
use crate::contender::session::Turn;
use crate::linux::program::Leftovers;
use crate::measure::interface::{SampleError, TrialEnd};
use crate::record::{LeftBehind, Line, Outcome, OwnScheduling};
use readlab_protocol::TurnRequest;
use std::collections::BTreeMap;

/// Most kinds of scheduling that are noted of one trial.
const KINDS_MAX: usize = 4;

/// The scheduling that was noted already, by trial.
pub(super) type Noted = BTreeMap<usize, Vec<OwnScheduling>>;

impl ProcessSampler<'_> {
    /// Ends what the trial's turn left behind, and notes what it did to its own scheduling.
    pub(super) fn look_after(
        &mut self,
        trial: usize,
        ask: TurnRequest,
        turn: &Turn,
    ) -> Result<(), SampleError> {
        let session = &self.seat(trial)?.session;
        let left = session.end_leftovers();
        let scheduled = session.scheduled(&turn.samples);
        let failed = |reason: String| SampleError::TrialEnd(TrialEnd::Trial(Outcome::Failed { reason }));
        let Leftovers { ended, remaining } =
            left.map_err(|cause| failed(format!("the process that supervises it has gone: {cause}")))?;
        if ended > 0 {
            let left = LeftBehind {
                processes: u64::from(ended),
                readings: u64::from(ask.lead) + u64::from(ask.count),
            };
            self.notes.push(Line::LeftBehind { trial, left });
        }
        if remaining > 0 {
            return Err(failed(format!("it left processes behind that could not be ended: {remaining}")));
        }
        let noted = self.noted.entry(trial).or_default();
        for scheduling in scheduled {
            if noted.len() < KINDS_MAX && !noted.contains(&scheduling) {
                noted.push(scheduling.clone());
                self.notes.push(Line::Scheduling { trial, scheduling: Box::new(scheduling) });
            }
        }
        Ok(())
    }
}
