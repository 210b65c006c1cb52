//! Orders of rank 0 to all ranks, and what each reports: the calls of a sampler as data. What ended on
//! one rank of several names the host.

use readlab_measure::interface::{CleanUpError, SampleError, Slot, TrialEnd};
use readlab_model::sample::Sample;
use readlab_model::trial::{Params, TrialIndex};
use readlab_record::{Fill, Fleet, Line, Outcome, RankClock, RankTiming};
use serde::{Deserialize, Serialize};

/// What every rank does next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum RankCommand {
    /// Starts the contenders of these trials without waiting for them.
    Launch(Vec<TrialIndex>),
    Open(TrialIndex),
    /// Has it read untimed.
    WarmUp(TrialIndex),
    Fill(u32),
    /// Takes a turn, those together that are to take it.
    Turn(TrialIndex, Slot, Taking),
    /// Compares its clock with that of rank 0.
    CompareClocks,
    /// The trial has no further turns.
    Retire(TrialIndex),
    /// Ends the contender of a trial.
    Close(TrialIndex),
    /// Runs what the user wants to be run after the last reading.
    CleanUp,
    Leave,
}

/// The ranks that take a turn: so many from the first one on, counted around.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taking {
    pub first: u32,
    pub count: u32,
}

impl Taking {
    pub fn has(self, rank: u32, of: u32) -> bool {
        (rank + of - self.first) % of < self.count
    }
}

impl RankCommand {
    pub fn trial(&self) -> Option<TrialIndex> {
        match self {
            RankCommand::Open(trial)
            | RankCommand::WarmUp(trial)
            | RankCommand::Turn(trial, ..)
            | RankCommand::Retire(trial)
            | RankCommand::Close(trial) => Some(*trial),
            _ => None,
        }
    }
}

/// What a rank found when it followed an order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// What was asked for, or what ended instead.
    pub found: Result<Found, Ended>,
    pub notes: Vec<Line>,
    /// Meters that could not be read, with the reason.
    pub missing: Vec<(String, String)>,
    /// Why the numbers of the trial are refused, if that is known now.
    pub refusal: Option<Outcome>,
}

/// What an order gives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Found {
    /// Nothing but that it was done.
    Done,
    Params(Params),
    /// How the cache was filled.
    Filled(Fill),
    /// Others took a turn.
    Idle,
    /// The samples of a turn, and when this rank took it.
    Turn(Vec<Sample>, RankTiming),
    /// What a clock differs by.
    Clock(RankClock),
}

/// What ended instead of giving something.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Ended {
    /// The state was not proven; the turn may be repeated.
    Unproven(String),
    /// This rank was ready, and another one was not.
    Withheld,
    /// A trial or the run.
    End(TrialEnd),
    /// The user's commands after the last reading failed or changed the target.
    CleanUp(CleanUpError),
}

impl Ended {
    /// Which one is told when ranks ended by different things: the run before a trial, and a trial
    /// before a turn that may be repeated.
    pub fn weight(&self) -> u8 {
        match self {
            Ended::Withheld => 0,
            Ended::Unproven(_) => 1,
            Ended::CleanUp(_) => 2,
            Ended::End(TrialEnd::Trial(_)) => 3,
            Ended::End(TrialEnd::Both(..)) => 4,
            Ended::End(TrialEnd::Run(_)) => 5,
        }
    }

    pub fn of_turn(self) -> SampleError {
        match self {
            Ended::Unproven(reason) | Ended::CleanUp(CleanUpError { text: reason, .. }) => {
                SampleError::Unproven(reason)
            }
            Ended::Withheld => SampleError::Unproven("a rank was not ready".to_owned()),
            Ended::End(end) => SampleError::TrialEnd(end),
        }
    }

    pub fn of_trial(self) -> TrialEnd {
        match self.of_turn() {
            SampleError::TrialEnd(end) => end,
            SampleError::Unproven(reason) => TrialEnd::Trial(Outcome::Refused { reason }),
        }
    }
}

impl From<SampleError> for Ended {
    fn from(error: SampleError) -> Ended {
        match error {
            SampleError::Unproven(reason) => Ended::Unproven(reason),
            SampleError::TrialEnd(end) => Ended::End(end),
        }
    }
}

impl From<TrialEnd> for Ended {
    fn from(end: TrialEnd) -> Ended {
        Ended::End(end)
    }
}

/// Something that may have a reason, which can name a host.
pub(super) trait HasReason {
    fn reason(&mut self) -> Option<&mut String>;
}

/// What was found on a rank, with the name of its host, where there are several.
pub(super) fn on_rank<T: HasReason>(fleet: &Fleet, rank: usize, mut what: T) -> T {
    let host = match (fleet.ranks.get(rank), &fleet.witness) {
        (Some(_), None) if fleet.ranks.len() < 2 => return what,
        (Some(found), _) => format!("{} (rank {rank})", found.host),
        (None, Some(witness)) => format!("{} (the witness)", witness.host),
        (None, None) => format!("rank {rank}"),
    };
    if let Some(reason) = what.reason() {
        *reason = format!("{host}: {reason}");
    }
    what
}

impl HasReason for String {
    fn reason(&mut self) -> Option<&mut String> {
        Some(self)
    }
}

impl HasReason for Outcome {
    fn reason(&mut self) -> Option<&mut String> {
        match self {
            Outcome::Refused { reason } | Outcome::Failed { reason } | Outcome::Unavailable { reason } => {
                Some(reason)
            }
            Outcome::Measured | Outcome::RuledOut { .. } => None,
        }
    }
}

impl HasReason for Ended {
    fn reason(&mut self) -> Option<&mut String> {
        match self {
            Ended::Unproven(reason) | Ended::CleanUp(CleanUpError { text: reason, .. }) => Some(reason),
            Ended::End(TrialEnd::Trial(outcome) | TrialEnd::Both(outcome, _)) => HasReason::reason(outcome),
            Ended::End(TrialEnd::Run(_)) | Ended::Withheld => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_that_take_a_turn_are_counted_around_and_each_takes_as_many() {
        let of =
            |first, count| (0..5).filter(|&rank| Taking { first, count }.has(rank, 5)).collect::<Vec<u32>>();
        assert_eq!(of(0, 5), [0, 1, 2, 3, 4]);
        assert_eq!(of(3, 5), [0, 1, 2, 3, 4]);
        assert_eq!(of(3, 3), [0, 3, 4]);
        assert_eq!(of(4, 1), [4]);
        let turns = (0..5).flat_map(|round| of(round * 2 % 5, 2));
        let mut taken = [0; 5];
        turns.for_each(|rank| taken[rank as usize] += 1);
        assert_eq!(taken, [2; 5]);
    }
}
