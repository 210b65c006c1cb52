//! One of many files, which is open, and where its bytes come from.

#[cfg(target_os = "linux")]
use super::in_flight::Begun;
use crate::ReadError;
use crate::copied::uninterrupted;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// One of many files, which is open.
pub struct OneOfFiles<'a> {
    index: usize,
    path: &'a Path,
    content: Content<'a>,
}

/// Where the bytes of a file come from, piece by piece.
pub(super) enum Content<'a> {
    /// Calls of read(2).
    Copied { file: File, buffer: &'a mut [u8] },
    /// A ring, which has read the first piece.
    #[cfg(target_os = "linux")]
    InFlight(Begun<'a>),
}

impl<'a> OneOfFiles<'a> {
    pub(super) fn new(index: usize, path: &'a Path, content: Content<'a>) -> OneOfFiles<'a> {
        OneOfFiles { index, path, content }
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
            let piece = self.content.next_piece(at)?;
            if piece.is_empty() {
                return Ok(());
            }
            visit(at, piece);
            at += piece.len() as u64;
        }
    }
}

impl Content<'_> {
    /// The next piece, which begins at this offset; an empty one is at the end.
    fn next_piece(&mut self, at: u64) -> Result<&[u8], ReadError> {
        match self {
            Content::Copied { file, buffer } => {
                let count = uninterrupted(at, || file.read(buffer))?;
                Ok(&buffer[..count])
            }
            #[cfg(target_os = "linux")]
            Content::InFlight(begun) => begun.next_piece().map_err(|cause| ReadError::at(at, cause)),
        }
    }
}
