//! The names of hosts in reasons: what ended on one rank of several names the host.

use super::order::Ended;
use readlab_measure::interface::{CleanUpError, TrialEnd};
use readlab_record::{Fleet, Outcome};

/// Something with a reason that can name a host.
pub(super) trait OfHost {
    /// The same, with the host's name before the reason.
    fn of_host(self, host: &str) -> Self;
}

/// What was found on a rank, with the name of its host, where there are several.
pub(super) fn on_rank<T: OfHost>(fleet: &Fleet, rank: usize, what: T) -> T {
    let host = match (fleet.ranks.get(rank), &fleet.witness) {
        (Some(_), None) if fleet.ranks.len() < 2 => return what,
        (Some(found), _) => format!("{} (rank {rank})", found.host),
        (None, Some(witness)) => format!("{} (the witness)", witness.host),
        (None, None) => format!("rank {rank}"),
    };
    what.of_host(&host)
}

impl OfHost for String {
    fn of_host(self, host: &str) -> String {
        format!("{host}: {self}")
    }
}

impl OfHost for Outcome {
    fn of_host(self, host: &str) -> Outcome {
        match self {
            Outcome::Refused { reason } => Outcome::Refused { reason: reason.of_host(host) },
            Outcome::Failed { reason } => Outcome::Failed { reason: reason.of_host(host) },
            Outcome::Unavailable { reason } => Outcome::Unavailable { reason: reason.of_host(host) },
            Outcome::Measured => Outcome::Measured,
        }
    }
}

impl OfHost for TrialEnd {
    fn of_host(self, host: &str) -> TrialEnd {
        match self {
            TrialEnd::Trial(outcome) => TrialEnd::Trial(outcome.of_host(host)),
            TrialEnd::Both(outcome, reason) => TrialEnd::Both(outcome.of_host(host), reason),
            TrialEnd::Run(reason) => TrialEnd::Run(reason),
        }
    }
}

impl OfHost for Ended {
    fn of_host(self, host: &str) -> Ended {
        match self {
            Ended::Unproven(reason) => Ended::Unproven(reason.of_host(host)),
            Ended::CleanUp(CleanUpError { end, text }) => {
                Ended::CleanUp(CleanUpError { end, text: text.of_host(host) })
            }
            Ended::End(end) => Ended::End(end.of_host(host)),
            Ended::Withheld => Ended::Withheld,
        }
    }
}
