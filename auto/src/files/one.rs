//! One of many files, which is open, and where its bytes come from.

#[cfg(target_os = "linux")]
use super::in_flight::Begun;
use crate::ReadError;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// One of many files, which is open.
pub struct OneOfFiles<'a> {
    index: usize,
    path: &'a Path,
    pieces: Pieces<'a>,
}

/// Where the bytes of a file come from, piece by piece.
pub(super) enum Pieces<'a> {
    /// Calls of read(2).
    Copied { file: File, buffer: &'a mut [u8] },
    /// A ring, which has read the first piece.
    #[cfg(target_os = "linux")]
    InFlight(Begun<'a>),
}

impl<'a> OneOfFiles<'a> {
    pub(super) fn new(index: usize, path: &'a Path, pieces: Pieces<'a>) -> OneOfFiles<'a> {
        OneOfFiles { index, path, pieces }
    }

    /// Its number among the files, from 0.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.path
    }

    /// Visits all its bytes in order, piece by piece, each with its offset.
    ///
    /// # Errors
    /// If a read fails, with the offset.
    pub fn for_each(&mut self, mut visit: impl FnMut(u64, &[u8])) -> Result<(), ReadError> {
        let mut at = 0;
        loop {
            let piece = self.pieces.next_piece().map_err(|cause| ReadError::at(at, cause))?;
            if piece.is_empty() {
                return Ok(());
            }
            visit(at, piece);
            at += piece.len() as u64;
        }
    }
}

impl Pieces<'_> {
    /// The next piece; an empty one is at the end.
    fn next_piece(&mut self) -> io::Result<&[u8]> {
        match self {
            Pieces::Copied { file, buffer } => {
                let count = read_some(file, buffer)?;
                Ok(&buffer[..count])
            }
            #[cfg(target_os = "linux")]
            Pieces::InFlight(begun) => begun.next_piece(),
        }
    }
}

/// Reads once, unless a signal interrupts.
fn read_some(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match file.read(buffer) {
            Err(cause) if cause.kind() == ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}
