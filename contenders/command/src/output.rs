//! Drains the standard output of a command. Keeps its beginning, its length and, if the output
//! itself is the answer, its digest. The user's check gets the whole output.

use crate::checker::Checker;
use rustix::event::{PollFd, PollFlags, poll};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::time::Instant;
use xxhash_rust::xxh3::Xxh3;

/// Number of bytes that are kept. A number is at the beginning of the output.
const KEPT_BYTES: usize = 4096;

/// Size of a read: the capacity of a pipe.
const CHUNK_BYTES: usize = 64 * 1024;

#[derive(Default)]
pub(crate) struct Output {
    pub(crate) beginning: Vec<u8>,
    /// Length of the whole output.
    pub(crate) bytes: u64,
    digest: Option<Xxh3>,
    checker: Option<Checker>,
}

impl Output {
    /// Makes a consumer for output that is itself the answer. A check gets the output as well.
    pub(crate) fn as_answer(checker: Option<Checker>) -> Output {
        Output { digest: Some(Xxh3::new()), checker, ..Output::default() }
    }

    /// Reads the output until the command has ended, which `process` shows. Returns the time at
    /// which the end was seen, or `None` if the output was closed first. A process that the command
    /// left behind may keep the output open. Its later output is not read.
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

    /// The digest in the form of the protocol; `None` if the output is not the answer.
    pub(crate) fn digest(&self) -> Option<u64> {
        self.digest.as_ref().map(|digest| digest.digest() >> 11)
    }

    /// Waits for the check. Returns one line if it rejects the output.
    pub(crate) fn checked(&mut self) -> Result<(), String> {
        self.checker.take().map_or(Ok(()), Checker::end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_output_is_counted_and_its_beginning_kept() {
        let mut output = Output::default();
        output.drain_whole(io::repeat(0).take(100_000)).unwrap();
        assert_eq!((output.bytes, output.beginning.len(), output.digest()), (100_000, KEPT_BYTES, None));
    }

    #[test]
    fn the_digest_covers_every_byte_and_fits_a_json_number() {
        let digest = |bytes: &[u8]| {
            let mut output = Output::as_answer(None);
            output.drain_whole(bytes).unwrap();
            output.digest().unwrap()
        };
        // The specification gives the digest of empty input: 2D06800538D394C2.
        assert_eq!(digest(b""), 0x2D06_8005_38D3_94C2 >> 11);
        let mut long = vec![7; 200_000];
        let before = digest(&long);
        assert!(before < 1 << 53);
        *long.last_mut().unwrap() = 8;
        assert_ne!(digest(&long), before);
    }
}
