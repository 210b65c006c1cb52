//! Orders of rank 0 to all ranks, and the report of each rank. An order is a call of a sampler as
//! data. If a trial or the run ends on one of several ranks, the reason names the host.

use readlab_measure::interface::{CleanUpError, SampleError, Slot, TrialEnd};
use readlab_model::sample::Sample;
use readlab_model::trial::{Params, TrialIndex};
use readlab_record::{Fill, Fleet, Line, Outcome, RankClock, RankTiming};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum RankCommand {
    /// Starts the contenders of these trials without waiting for them.
    Launch(Vec<TrialIndex>),
    Open(TrialIndex),
    /// Makes the contender of a trial read untimed.
    WarmUp(TrialIndex),
    Fill(u32),
    /// Takes a turn; only the given ranks read.
    Turn(TrialIndex, Slot, TurnRanks),
    CompareClocks,
    /// Retires the contender of a trial without further turns.
    Retire(TrialIndex),
    /// Ends the contender of a trial.
    Close(TrialIndex),
    /// Runs the user's clean-up after the last reading.
    CleanUp,
    /// Waits for the next order, before which rank 0 works alone.
    Wait,
    Leave,
}

/// The ranks that take a turn: `count` ranks from `first` on, wrapping around after the last rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnRanks {
    pub first: u32,
    pub count: u32,
}

impl TurnRanks {
    /// Whether a rank takes the turn, in a fleet of `of` reading ranks.
    pub fn contains(self, rank: u32, of: u32) -> bool {
        (rank + of - self.first) % of < self.count
    }
}

impl RankCommand {
    /// The trial that the order is about; `None` if it is about no single trial.
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

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankReport {
    /// The result of the order, or the end of a trial or the run.
    pub result: Result<RankResult, RankFailure>,
    pub notes: Vec<Line>,
    /// Meters that could not be read, with the reason.
    pub missing_meters: Vec<(String, String)>,
    /// Why the numbers of the trial are refused; `None` if no reason is known yet.
    pub refusal: Option<Outcome>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum RankResult {
    /// The order was carried out, without a result.
    Done,
    Params(Params),
    /// How the cache was filled.
    Filled(Fill),
    /// Other ranks took a turn.
    Idle,
    Turn(Vec<Sample>, RankTiming),
    Clock(RankClock),
}

/// Why an order gave no result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum RankFailure {
    /// The cache state was not proven; the turn may be repeated.
    Unproven(String),
    /// This rank was ready, but another rank was not.
    OtherRankUnready,
    End(TrialEnd),
    /// The user's clean-up failed or changed the target.
    CleanUp(CleanUpError),
}

impl RankFailure {
    /// Priority among the failures that several ranks report; the highest one is returned. The end
    /// of the run has a higher priority than the end of a trial, and both than a turn that may be
    /// repeated.
    pub fn priority(&self) -> u8 {
        match self {
            RankFailure::OtherRankUnready => 0,
            RankFailure::Unproven(_) => 1,
            RankFailure::CleanUp(_) => 2,
            RankFailure::End(TrialEnd::Trial(_)) => 3,
            RankFailure::End(TrialEnd::Both(..)) => 4,
            RankFailure::End(TrialEnd::Run(_)) => 5,
        }
    }

    pub fn into_sample_error(self) -> SampleError {
        match self {
            RankFailure::Unproven(reason) | RankFailure::CleanUp(CleanUpError { text: reason, .. }) => {
                SampleError::Unproven(reason)
            }
            RankFailure::OtherRankUnready => SampleError::Unproven("a rank was not ready".to_owned()),
            RankFailure::End(end) => SampleError::TrialEnd(end),
        }
    }

    pub fn into_trial_end(self) -> TrialEnd {
        match self.into_sample_error() {
            SampleError::TrialEnd(end) => end,
            SampleError::Unproven(reason) => TrialEnd::Trial(Outcome::Refused { reason }),
        }
    }
}

impl From<SampleError> for RankFailure {
    fn from(error: SampleError) -> RankFailure {
        match error {
            SampleError::Unproven(reason) => RankFailure::Unproven(reason),
            SampleError::TrialEnd(end) => RankFailure::End(end),
        }
    }
}

impl From<TrialEnd> for RankFailure {
    fn from(end: TrialEnd) -> RankFailure {
        RankFailure::End(end)
    }
}

/// A value that may contain the text of a reason. The name of a host can be added to that text.
pub(super) trait HasReason {
    fn reason(&mut self) -> Option<&mut String>;
}

/// Adds the name of a rank's host to a reason, if there are several hosts.
pub(super) fn with_host<T: HasReason>(fleet: &Fleet, rank: usize, mut what: T) -> T {
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

impl HasReason for RankFailure {
    fn reason(&mut self) -> Option<&mut String> {
        match self {
            RankFailure::Unproven(reason) | RankFailure::CleanUp(CleanUpError { text: reason, .. }) => {
                Some(reason)
            }
            RankFailure::End(TrialEnd::Trial(outcome) | TrialEnd::Both(outcome, _)) => {
                HasReason::reason(outcome)
            }
            RankFailure::End(TrialEnd::Run(_)) | RankFailure::OtherRankUnready => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_turns_wrap_around_and_all_take_equally_many_turns() {
        let of = |first, count| {
            (0..5).filter(|&rank| TurnRanks { first, count }.contains(rank, 5)).collect::<Vec<u32>>()
        };
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
