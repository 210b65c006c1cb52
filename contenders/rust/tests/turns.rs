//! Two turns of one reading, as a session has them.

use readlab_rust::{Answer, ReadError, Reading, RequestError};

/// Reads twice, and asserts that both turns give the same answer; `None` with a message if this machine
/// lacks what the method needs.
pub(crate) fn read_twice(
    name: &str,
    reading: Result<Reading, RequestError>,
) -> Option<Result<Answer, ReadError>> {
    let mut reading = match reading {
        Ok(reading) => reading,
        Err(error) => {
            eprintln!("SKIPPED: {name}: {error}");
            return None;
        }
    };
    let mut turn = || {
        let answer = reading.prepare().and_then(|()| reading.read());
        reading.release();
        answer
    };
    match (turn(), turn()) {
        (Err(ReadError::Unavailable(reason)), _) => {
            eprintln!("SKIPPED: {name}: {reason}");
            None
        }
        (Ok(first), Ok(second)) => {
            assert_eq!(first, second, "{name}");
            Some(Ok(first))
        }
        (Err(error), _) | (Ok(_), Err(error)) => Some(Err(error)),
    }
}
