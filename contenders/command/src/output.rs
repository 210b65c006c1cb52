//! The standard output of a command while it is drained: its beginning, its length, and where the
//! output itself is the answer, its digest. The user's check gets all of it.

use crate::checker::Checker;
use rustix::event::{PollFd, PollFlags, poll};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::time::Instant;
use xxhash_rust::xxh3::Xxh3;

/// How much of the output is kept: a number is at its beginning.
const KEPT_BYTES: usize = 4096;

/// As much as a pipe holds.
const CHUNK_BYTES: usize = 64 * 1024;

/// What one command printed.
#[derive(Default)]
pub(crate) struct Output {
    pub(crate) beginning: Vec<u8>,
    /// The length of all of it.
    pub(crate) bytes: u64,
    digest: Option<Xxh3>,
    checker: Option<Checker>,
}

impl Output {
    /// Output that is the answer itself. A check gets it as well.
    pub(crate) fn as_answer(checker: Option<Checker>) -> Output {
        Output { digest: Some(Xxh3::new()), checker, ..Output::default() }
    }

    /// Reads everything that the command prints until it has ended, which `process` shows; when it
    /// was seen to have. A process that the command left behind may keep the output open: what that
    /// prints later is not read. `None` if the output was closed first.
    pub(crate) fn drain(
        &mut self,
        mut stdout: impl Read + AsFd,
        process: impl AsFd,
    ) -> io::Result<Option<Instant>> {
        let mut buffer = vec![0; CHUNK_BYTES];
        loop {
            let mut ready = [
                PollFd::new(&stdout, PollFlags::IN),
                PollFd::from_borrowed_fd(process.as_fd(), PollFlags::IN),
            ];
            match poll(&mut ready, None) {
                Err(rustix::io::Errno::INTR) => continue,
                polled => polled?,
            };
            if !ready[1].revents().is_empty() {
                let ended = Instant::now();
                let printed = rustix::io::ioctl_fionread(&stdout)?;
                return self.drain_whole(stdout.take(printed)).map(|()| Some(ended));
            }
            match stdout.read(&mut buffer) {
                Ok(0) => return Ok(None),
                Ok(n) => self.take(&buffer[..n]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Reads everything until the output is closed.
    pub(crate) fn drain_whole(&mut self, mut stdout: impl Read) -> io::Result<()> {
        let mut buffer = vec![0; CHUNK_BYTES];
        loop {
            match stdout.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(n) => self.take(&buffer[..n]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        let room = KEPT_BYTES.saturating_sub(self.beginning.len()).min(bytes.len());
        self.beginning.extend_from_slice(&bytes[..room]);
        self.bytes += bytes.len() as u64;
        self.digest.iter_mut().for_each(|digest| digest.update(bytes));
        self.checker.iter_mut().for_each(|checker| checker.write(bytes));
    }

    /// The digest as the protocol has it; `None` where the output is not the answer.
    pub(crate) fn digest(&self) -> Option<u64> {
        self.digest.as_ref().map(|digest| digest.digest() >> 11)
    }

    /// Waits for the check. One line if it does not accept the output.
    pub(crate) fn checked(&mut self) -> Result<(), String> {
        self.checker.take().map_or(Ok(()), Checker::end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_counted_whole_and_kept_in_part() {
        let mut output = Output::default();
        output.drain_whole(io::repeat(0).take(100_000)).unwrap();
        assert_eq!((output.bytes, output.beginning.len(), output.digest()), (100_000, KEPT_BYTES, None));
    }

    #[test]
    fn the_digest_is_of_every_byte_and_a_number_that_json_keeps() {
        let digest = |bytes: &[u8]| {
            let mut output = Output::as_answer(None);
            output.drain_whole(bytes).unwrap();
            output.digest().unwrap()
        };
        // The digest of nothing is in the specification: 2D06800538D394C2.
        assert_eq!(digest(b""), 0x2D06_8005_38D3_94C2 >> 11);
        let mut long = vec![7; 200_000];
        let before = digest(&long);
        assert!(before < 1 << 53);
        *long.last_mut().unwrap() = 8;
        assert_ne!(digest(&long), before);
    }
}
