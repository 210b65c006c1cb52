//! Where a file cannot be read: looked for when a contender failed at it, for few of them tell the
//! place.

use super::ProcessSampler;
use crate::corpus::oracle;
use crate::measure::interface::TrialEnd;
use crate::record::Outcome;
use std::fs::File;
use std::io;
use std::time::{Duration, Instant};

/// A file that reads well for so long is not looked at any further.
const LOOK_MAX: Duration = Duration::from_secs(2);

impl ProcessSampler<'_> {
    /// The same end, with the byte at which the file fails if it does and nobody said so.
    pub(super) fn with_read_offset(&self, trial: usize, ending: TrialEnd) -> TrialEnd {
        match ending {
            TrialEnd::Trial(Outcome::Failed { reason }) if !reason.contains(" at byte ") => {
                let place = self.unreadable(trial).map(|place| format!("; the file itself: {place}"));
                TrialEnd::Trial(Outcome::Failed { reason: reason + &place.unwrap_or_default() })
            }
            other => other,
        }
    }

    /// Why and where the file of a trial cannot be read, if that is soon found.
    fn unreadable(&self, trial: usize) -> Option<io::Error> {
        let (path, begun) = (self.subject(trial).target.file()?, Instant::now());
        let late = || io::Error::from(io::ErrorKind::TimedOut);
        let go_on = || if begun.elapsed() < LOOK_MAX { Ok(()) } else { Err(late()) };
        let found = oracle::truth_of(|| File::open(path), &go_on).err();
        found.filter(|cause| cause.kind() != io::ErrorKind::TimedOut)
    }
}
