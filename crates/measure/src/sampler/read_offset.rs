//! Finds the byte at which a file cannot be read, after a contender failed: few contenders report
//! the position.

use crate::interface::TrialEnd;
use readlab_corpus::oracle;
use readlab_record::Outcome;
use std::fs::File;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// Time after which the search stops without an error of the file.
const SEARCH_TIME_MAX: Duration = Duration::from_secs(2);

/// Adds to the reason why a trial failed the byte at which its file cannot be read, if there is one
/// and the contender did not report the byte.
pub(super) fn with_read_offset(end: TrialEnd, file: Option<&Path>) -> TrialEnd {
    match (end, file) {
        (TrialEnd::Trial(Outcome::Failed { reason }), Some(file)) if !reason.contains(" at byte ") => {
            let place = find_read_error(file).map(|place| format!("; the file itself: {place}"));
            TrialEnd::failed(reason + &place.unwrap_or_default())
        }
        (end, _) => end,
    }
}

/// Why and where a file cannot be read; `None` if no error was found within [`SEARCH_TIME_MAX`].
fn find_read_error(file: &Path) -> Option<io::Error> {
    let begun = Instant::now();
    let check =
        |_| if begun.elapsed() < SEARCH_TIME_MAX { Ok(()) } else { Err(io::ErrorKind::TimedOut.into()) };
    let error = oracle::truth_of(|| File::open(file), &check).err();
    error.filter(|cause| cause.kind() != io::ErrorKind::TimedOut)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::round::testing::failed_end;

    #[test]
    fn a_file_that_cannot_be_read_is_part_of_the_reason() {
        let missing = Path::new("/nonexistent/file");
        let outcome = with_read_offset(failed_end("read failed"), Some(missing)).outcome().unwrap();
        assert!(outcome.reason().unwrap().starts_with("read failed; the file itself: "), "{outcome:?}");
    }

    #[test]
    fn a_reason_with_an_offset_and_a_readable_file_are_left_unchanged() {
        let missing = Path::new("/nonexistent/file");
        assert_eq!(with_read_offset(failed_end("EIO at byte 7"), Some(missing)), failed_end("EIO at byte 7"));
        let file = tempfile::NamedTempFile::new().unwrap();
        assert_eq!(with_read_offset(failed_end("no"), Some(file.path())), failed_end("no"));
        assert_eq!(with_read_offset(failed_end("no"), None), failed_end("no"));
    }
}
