//! Runs the same work on several threads, the calling thread among them.

use std::{io, panic, thread};

/// Runs `work` on `threads` threads, the calling one included, and returns the result of each. At
/// the first error `stop` is called, which must end the work of the others.
///
/// # Errors
/// The first error of the calling thread, else the first error of another thread, or the error of
/// starting a thread.
pub fn crew<T, E, W, S>(threads: usize, work: W, stop: S) -> Result<Vec<T>, E>
where
    T: Send,
    E: From<io::Error> + Send,
    W: Fn() -> Result<T, E> + Sync,
    S: Fn() + Sync,
{
    if threads <= 1 {
        return Ok(vec![work()?]);
    }
    let worker = || work().inspect_err(|_| stop());
    thread::scope(|scope| {
        let mut others = Vec::new();
        for number in 1..threads {
            let other = thread::Builder::new().spawn_scoped(scope, worker).map_err(|cause| {
                stop();
                io::Error::new(cause.kind(), format!("thread {number} of {threads}: {cause}"))
            });
            others.push(other?);
        }
        let mut parts = vec![worker()?];
        for other in others {
            parts.push(other.join().unwrap_or_else(|panic| panic::resume_unwind(panic))?);
        }
        Ok(parts)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ReadError;
    use crate::pieces::Pieces;

    #[test]
    fn an_error_of_one_thread_ends_the_others() {
        let pieces = Pieces::new(Pieces::cut(0..1 << 16, 1));
        let work = || {
            while let Some(range) = pieces.take() {
                if range.start == 100 {
                    return Err(ReadError::at(100, io::Error::other("broken")));
                }
            }
            Ok(())
        };
        let error = crew(2, work, || pieces.stop()).unwrap_err();
        assert_eq!((error.to_string().as_str(), error.offset()), ("broken at byte 100", Some(100)));
    }
}
