//! One open file of many, and the source of its bytes.

#[cfg(target_os = "linux")]
use super::in_flight::StartedFile;
use crate::ReadError;
use crate::copied::retry_interrupted;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// One open file of many.
pub struct OneOfFiles<'a> {
    index: usize,
    path: &'a Path,
    content: Content<'a>,
}

/// The source of a file's bytes, piece by piece.
pub(super) enum Content<'a> {
    /// The file is read with read(2).
    Copied { file: File, buffer: &'a mut [u8] },
    /// A ring reads the file, and has read the first piece.
    #[cfg(target_os = "linux")]
    InFlight(StartedFile<'a>),
}

impl<'a> OneOfFiles<'a> {
    pub(super) fn new(index: usize, path: &'a Path, content: Content<'a>) -> OneOfFiles<'a> {
        OneOfFiles { index, path, content }
    }

    /// The index of the file in the list, from 0.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    /// The path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.path
    }

    /// Visits all bytes of the file in order, piece by piece, each with its offset.
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
    /// The next piece, which begins at this offset. It is empty at the end of the file.
    fn next_piece(&mut self, at: u64) -> Result<&[u8], ReadError> {
        match self {
            Content::Copied { file, buffer } => {
                let count = retry_interrupted(at, || file.read(buffer))?;
                Ok(&buffer[..count])
            }
            #[cfg(target_os = "linux")]
            Content::InFlight(begun) => begun.next_piece().map_err(|cause| ReadError::at(at, cause)),
        }
    }
}
