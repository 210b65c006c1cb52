//! Checks what a contender did besides reading, after each of its turns: processes that outlive the
//! turn are ended and counted, and a scheduling that it gave itself is noted once.
//!
//! Nothing here happens within a window. A turn after which no process is left costs reading one
//! list of /proc and, for each thread, one file.

use super::notes::Notes;
use super::observed_turn::MeteredTurn;
use crate::interface::TrialEnd;
use readlab_model::trial::TrialIndex;
use readlab_record::{LeftBehind, Line, Outcome};
use readlab_roster::session::Session;
use readlab_system::program::Leftovers;

/// Ends what a trial's turn left behind, and notes what it did to its own scheduling.
pub(super) fn check(
    session: &Session,
    trial: TrialIndex,
    turn: &MeteredTurn,
    notes: &mut Notes,
) -> Result<(), TrialEnd> {
    let left = session.end_leftovers();
    let schedulings = session.scheduled(&turn.answer.samples);
    let Leftovers { ended, remaining } =
        left.map_err(|cause| failed(format!("the process that supervises it has gone: {cause}")))?;
    if ended > 0 {
        let left = LeftBehind { processes: u64::from(ended), readings: turn.readings() };
        notes.add(Line::LeftBehind { trial, left });
    }
    if remaining > 0 {
        return Err(failed(format!("it left processes behind that could not be ended: {remaining}")));
    }
    schedulings.into_iter().for_each(|scheduling| notes.scheduling(trial, scheduling));
    Ok(())
}

fn failed(reason: String) -> TrialEnd {
    TrialEnd::Trial(Outcome::Failed { reason })
}
