//! Conversions from the errors of sessions and of the page cache to the end of a trial or of the
//! run.

use crate::cache::CacheError;
use crate::interface::{SampleError, TrialEnd};
use readlab_record::{EndReason, Outcome};
use readlab_roster::session::SessionError;

impl From<SessionError> for TrialEnd {
    fn from(error: SessionError) -> TrialEnd {
        error.outcome().map_or(TrialEnd::Run(EndReason::Interrupted), TrialEnd::Trial)
    }
}

impl From<SessionError> for SampleError {
    fn from(error: SessionError) -> SampleError {
        SampleError::TrialEnd(error.into())
    }
}

/// What it means for a trial that the state which it starts from cannot be made.
impl From<CacheError> for TrialEnd {
    fn from(error: CacheError) -> TrialEnd {
        let reason = error.to_string();
        TrialEnd::Trial(match error {
            // The file could be read when the right answer was found: its device fails.
            CacheError::Io { .. } => Outcome::Failed { reason },
            _ => Outcome::Unavailable { reason },
        })
    }
}

/// Pages that stay may go at the next try; every other failure comes from the file system.
impl From<CacheError> for SampleError {
    fn from(error: CacheError) -> SampleError {
        match error {
            CacheError::Remains { .. } => SampleError::Unproven(error.to_string()),
            other => SampleError::TrialEnd(other.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interruption_ends_the_run_and_any_other_error_the_trial() {
        assert_eq!(TrialEnd::from(SessionError::Interrupted), TrialEnd::Run(EndReason::Interrupted));
        let failed = TrialEnd::from(SessionError::Failed("it broke".to_owned()));
        assert_eq!(failed, TrialEnd::Trial(Outcome::Failed { reason: "it broke".to_owned() }));
    }

    #[test]
    fn a_device_that_fails_fails_the_trial() {
        let cause = std::io::Error::other("torn");
        let error = CacheError::Io { path: "f".into(), call: "read", cause };
        assert!(matches!(TrialEnd::from(error), TrialEnd::Trial(Outcome::Failed { .. })));
        let error = CacheError::DropCaches { cause: std::io::Error::other("no") };
        assert!(matches!(TrialEnd::from(error), TrialEnd::Trial(Outcome::Unavailable { .. })));
    }
}
