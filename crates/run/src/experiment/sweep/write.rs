//! Writes the files of a sweep: plain, plain with the sync timed separately, or bypassing the page
//! cache.
//!
//! Only the calls are timed, from creating the file to closing it; making the bytes and their
//! digest happens before. A file is written in one piece, as in the published experiment, unless
//! memory is too small; then in pieces of a mebibyte. If a size is no multiple of the block, the
//! last bytes cannot bypass the page cache and are written through it.

use super::{SweepError, SweepFolder, WrittenFile, io_error_at};
use readlab_corpus::oracle::ContentTally;
use readlab_corpus::pieces::Pieces;
use readlab_model::corpus::Recipe;
use readlab_model::units::Nanos;
use readlab_record::{WriteTimes, WriteWay};
use readlab_system::machine::memory::MachineMemory;
use readlab_system::{filesystem, interrupt, open_file};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// Alignment of the buffer and of the length of direct writes: a multiple of every block size in
/// use.
const ALIGNMENT_BYTES: usize = 4096;

/// Size of the pieces of a file for which there is too little memory.
const PIECE_BYTES: usize = 1 << 20;

/// A file is written in one piece only if it takes at most the available memory divided by this,
/// because the page cache needs room for the same bytes.
const ONE_PIECE_MEMORY_DIVISOR: u64 = 4;

/// A buffer of fixed capacity whose first byte has an aligned address.
struct AlignedBuffer {
    bytes: Vec<u8>,
    /// Offset of the aligned address in `bytes`.
    aligned_offset: usize,
    /// Number of bytes that are filled.
    filled_length: usize,
}

/// The total time of the timed calls.
struct CallTimer(Duration);

impl CallTimer {
    fn time<T>(&mut self, call: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let start = Instant::now();
        let done = call();
        self.0 += start.elapsed();
        done
    }
}

/// Writes one file into the folder; returns the total time of its calls.
pub fn write(
    folder: &mut SweepFolder,
    name: String,
    recipe: Recipe,
    way: WriteWay,
) -> Result<WriteTimes, SweepError> {
    let path = folder.path().join(&name);
    let (mut calls, mut tally) = (CallTimer(Duration::ZERO), ContentTally::default());
    let file = calls.time(|| create_file(&path, way)).map_err(io_error_at(&path))?;
    let mut pieces = Pieces::new(recipe);
    let mut piece = Vec::new();
    let mut buffer = AlignedBuffer::with_capacity(bytes_per_call(recipe.size_bytes, &MachineMemory::read()));
    while pieces.next_into(&mut piece) {
        if interrupt::is_stop_requested() {
            return Err(SweepError::Interrupted);
        }
        tally.take(&piece);
        let mut rest = &piece[..];
        while !rest.is_empty() {
            rest = buffer.copy_from(rest);
            if buffer.is_full() {
                write_piece(&file, buffer.filled_bytes(), way, &mut calls).map_err(io_error_at(&path))?;
                buffer.filled_length = 0;
            }
        }
    }
    if buffer.filled_length > 0 {
        write_piece(&file, buffer.filled_bytes(), way, &mut calls).map_err(io_error_at(&path))?;
    }
    let written = calls.0;
    if way == WriteWay::Fdatasync {
        calls.time(|| file.sync_data()).map_err(io_error_at(&path))?;
    }
    let synced = calls.0 - written;
    let closing = Instant::now();
    drop(file);
    let write_ns = Nanos::from(written + closing.elapsed()).0;
    let (answer, digest) = tally.finish();
    folder.files.push(WrittenFile { name, recipe, digest, answer });
    Ok(WriteTimes { write_ns, sync_ns: (way == WriteWay::Fdatasync).then(|| Nanos::from(synced).0) })
}

/// Writes everything in the folder back to the device, so that the device is idle when reading
/// starts.
pub fn write_back(folder: &SweepFolder) -> Result<(), SweepError> {
    filesystem::sync(folder.path(), &interrupt::check).map_err(|cause| {
        if interrupt::is_stop_requested() {
            SweepError::Interrupted
        } else {
            io_error_at(folder.path())(cause)
        }
    })
}

fn create_file(path: &Path, way: WriteWay) -> io::Result<File> {
    if way == WriteWay::Direct { open_file::create_for_direct_io(path) } else { File::create_new(path) }
}

/// The whole size of a file that is written in one piece, otherwise the size of a piece.
fn bytes_per_call(size_bytes: u64, memory: &MachineMemory) -> usize {
    let is_small = size_bytes <= memory.cacheable_now_bytes() / ONE_PIECE_MEMORY_DIVISOR;
    usize::try_from(size_bytes).ok().filter(|_| is_small).unwrap_or(PIECE_BYTES).max(1)
}

impl AlignedBuffer {
    fn with_capacity(capacity: usize) -> AlignedBuffer {
        let mut bytes = vec![0; capacity + ALIGNMENT_BYTES];
        let offset = bytes.as_ptr().align_offset(ALIGNMENT_BYTES);
        bytes.truncate(offset + capacity);
        AlignedBuffer { bytes, aligned_offset: offset, filled_length: 0 }
    }

    /// Copies bytes into the free space; returns the bytes that did not fit.
    fn copy_from<'a>(&mut self, piece: &'a [u8]) -> &'a [u8] {
        let free = &mut self.bytes[self.aligned_offset + self.filled_length..];
        let (taken, rest) = piece.split_at(piece.len().min(free.len()));
        free[..taken.len()].copy_from_slice(taken);
        self.filled_length += taken.len();
        rest
    }

    fn is_full(&self) -> bool {
        self.aligned_offset + self.filled_length == self.bytes.len()
    }

    fn filled_bytes(&self) -> &[u8] {
        &self.bytes[self.aligned_offset..self.aligned_offset + self.filled_length]
    }
}

fn write_piece(mut file: &File, bytes: &[u8], way: WriteWay, calls: &mut CallTimer) -> io::Result<()> {
    if way != WriteWay::Direct {
        return calls.time(|| file.write_all(bytes));
    }
    let (blocks, rest) = bytes.split_at(bytes.len() - bytes.len() % ALIGNMENT_BYTES);
    calls.time(|| file.write_all(blocks))?;
    if rest.is_empty() {
        return Ok(());
    }
    open_file::disable_direct_io(file)?;
    calls.time(|| file.write_all(rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_corpus::oracle;
    use readlab_model::corpus::CorpusKind;

    #[test]
    fn a_file_is_written_at_once_if_a_quarter_of_the_memory_holds_it() {
        let memory = MachineMemory { total_bytes: 8 << 30, available_bytes: 4 << 30, limit_bytes: None };
        assert_eq!(bytes_per_call(1 << 30, &memory), 1 << 30);
        assert_eq!(bytes_per_call((1 << 30) + 1, &memory), PIECE_BYTES);
        assert_eq!(bytes_per_call(0, &memory), 1);
        let limited = MachineMemory { limit_bytes: Some(1 << 30), ..memory };
        assert_eq!(bytes_per_call(1 << 29, &limited), PIECE_BYTES);
    }

    #[test]
    fn pieces_larger_than_the_room_are_taken_in_parts() {
        let mut buffer = AlignedBuffer::with_capacity(5);
        assert_eq!(buffer.copy_from(b"abc"), b"");
        assert_eq!(buffer.copy_from(b"defg"), b"fg");
        assert!(buffer.is_full() && buffer.filled_bytes() == b"abcde");
        assert_eq!(buffer.filled_bytes().as_ptr().align_offset(ALIGNMENT_BYTES), 0);
    }

    #[test]
    fn every_write_method_writes_the_bytes_of_its_recipe() {
        // Avoids the folder for temporary files, which may be in memory, where direct writes do not
        // work.
        let parent = tempfile::tempdir_in(std::env::current_exe().unwrap().parent().unwrap()).unwrap();
        let mut folder = SweepFolder::make(parent.path(), 10_000_000, None).unwrap();
        for way in [WriteWay::Plain, WriteWay::Fdatasync, WriteWay::Direct] {
            for size_bytes in [0, 1, 4096, 1_000_001, 3 << 20] {
                let recipe = Recipe { kind: CorpusKind::Random, size_bytes, seed: 3 };
                let name = format!("{way:?}-{size_bytes}");
                let times = write(&mut folder, name, recipe, way).unwrap();
                assert_eq!(times.sync_ns.is_some(), way == WriteWay::Fdatasync);
                let file = folder.files.last().unwrap();
                let truth = oracle::truth_of_file(&folder.path().join(&file.name)).unwrap();
                assert_eq!(
                    (truth.answer, &truth.digest),
                    (file.answer, &file.digest),
                    "{way:?} {size_bytes}"
                );
            }
        }
    }
}
