//! Writing the files of a sweep: plain, plain with the sync timed apart, or past the page cache.
//!
//! Only the calls are timed, from creating the file to closing it; making the bytes and their
//! digest happens before them. A file is written in one piece, as by the published experiment,
//! unless memory is too small for it; then in pieces of a mebibyte. Where a size is no multiple of
//! the block, the last bytes cannot go past the page cache and are written through it.

use super::{SweepError, SweepFolder, WrittenFile, at};
use readlab_model::corpus::Recipe;
use readlab_model::units::Nanos;
use readlab_record::{WriteTimes, WriteWay};
use readlab_system::machine::memory::Memory;
use readlab_system::{filesystem, interrupt, open_file};
use readlab_targets::corpus::oracle::Tally;
use readlab_targets::corpus::pieces::Pieces;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// Alignment of the buffer and of the length of direct writes: a multiple of every block size in
/// use.
const ALIGNMENT_BYTES: usize = 4096;

/// A piece of a file for which there is too little memory.
const PIECE_BYTES: usize = 1 << 20;

/// A file in one piece takes at most this part of the available memory: the page cache needs room
/// for the same bytes.
const MEMORY_PART: u64 = 4;

/// Bytes at an aligned address, up to a fixed number.
struct AlignedBuffer {
    bytes: Vec<u8>,
    offset: usize,
    length: usize,
}

/// A stopwatch that runs only during calls.
struct Calls(Duration);

impl Calls {
    fn time<T>(&mut self, call: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let start = Instant::now();
        let done = call();
        self.0 += start.elapsed();
        done
    }
}

/// Writes one file into the folder; the time that its calls took.
pub fn write(
    folder: &mut SweepFolder,
    name: String,
    recipe: Recipe,
    way: WriteWay,
) -> Result<WriteTimes, SweepError> {
    let path = folder.path().join(&name);
    let (mut calls, mut tally) = (Calls(Duration::ZERO), Tally::default());
    let file = calls.time(|| create(&path, way)).map_err(at(&path))?;
    let mut pieces = Pieces::new(recipe);
    let mut piece = Vec::new();
    let mut buffer = AlignedBuffer::with_room(at_once_bytes(recipe.size_bytes, &Memory::read()));
    while pieces.next_into(&mut piece) {
        if interrupt::requested() {
            return Err(SweepError::Interrupted);
        }
        tally.take(&piece);
        let mut rest = &piece[..];
        while !rest.is_empty() {
            rest = buffer.take(rest);
            if buffer.is_full() {
                write_piece(&file, buffer.filled(), way, &mut calls).map_err(at(&path))?;
                buffer.length = 0;
            }
        }
    }
    if buffer.length > 0 {
        write_piece(&file, buffer.filled(), way, &mut calls).map_err(at(&path))?;
    }
    let written = calls.0;
    if way == WriteWay::Fdatasync {
        calls.time(|| file.sync_data()).map_err(at(&path))?;
    }
    let synced = calls.0 - written;
    let closing = Instant::now();
    drop(file);
    let write_ns = Nanos::from(written + closing.elapsed()).0;
    let (answer, digest) = tally.finish();
    folder.files.push(WrittenFile { name, recipe, digest, answer });
    Ok(WriteTimes { write_ns, sync_ns: (way == WriteWay::Fdatasync).then(|| Nanos::from(synced).0) })
}

/// Writes everything in the folder to the device, so that the device is idle when reading starts.
pub fn settle(folder: &SweepFolder) -> Result<(), SweepError> {
    filesystem::sync(folder.path()).map_err(at(folder.path()))
}

fn create(path: &Path, way: WriteWay) -> io::Result<File> {
    if way == WriteWay::Direct { open_file::create_direct(path) } else { File::create_new(path) }
}

/// How much of a file of this size is written by one call.
fn at_once_bytes(size_bytes: u64, memory: &Memory) -> usize {
    let is_small = size_bytes <= memory.available_here_bytes() / MEMORY_PART;
    usize::try_from(size_bytes).ok().filter(|_| is_small).unwrap_or(PIECE_BYTES).max(1)
}

impl AlignedBuffer {
    fn with_room(room: usize) -> AlignedBuffer {
        let mut bytes = vec![0; room + ALIGNMENT_BYTES];
        let offset = bytes.as_ptr().align_offset(ALIGNMENT_BYTES);
        bytes.truncate(offset + room);
        AlignedBuffer { bytes, offset, length: 0 }
    }

    /// Takes as much as there is room for; the rest.
    fn take<'a>(&mut self, piece: &'a [u8]) -> &'a [u8] {
        let free = &mut self.bytes[self.offset + self.length..];
        let (taken, rest) = piece.split_at(piece.len().min(free.len()));
        free[..taken.len()].copy_from_slice(taken);
        self.length += taken.len();
        rest
    }

    fn is_full(&self) -> bool {
        self.offset + self.length == self.bytes.len()
    }

    fn filled(&self) -> &[u8] {
        &self.bytes[self.offset..self.offset + self.length]
    }
}

fn write_piece(mut file: &File, bytes: &[u8], way: WriteWay, calls: &mut Calls) -> io::Result<()> {
    if way != WriteWay::Direct {
        return calls.time(|| file.write_all(bytes));
    }
    let (blocks, rest) = bytes.split_at(bytes.len() - bytes.len() % ALIGNMENT_BYTES);
    calls.time(|| file.write_all(blocks))?;
    if rest.is_empty() {
        return Ok(());
    }
    open_file::end_direct(file)?;
    calls.time(|| file.write_all(rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_model::corpus::CorpusKind;
    use readlab_targets::corpus::oracle;

    #[test]
    fn a_file_is_written_at_once_if_a_quarter_of_the_memory_holds_it() {
        let memory = Memory { total_bytes: 8 << 30, available_bytes: 4 << 30, limit_bytes: None };
        assert_eq!(at_once_bytes(1 << 30, &memory), 1 << 30);
        assert_eq!(at_once_bytes((1 << 30) + 1, &memory), PIECE_BYTES);
        assert_eq!(at_once_bytes(0, &memory), 1);
        let limited = Memory { limit_bytes: Some(1 << 30), ..memory };
        assert_eq!(at_once_bytes(1 << 29, &limited), PIECE_BYTES);
    }

    #[test]
    fn pieces_larger_than_the_room_are_taken_in_parts() {
        let mut buffer = AlignedBuffer::with_room(5);
        assert_eq!(buffer.take(b"abc"), b"");
        assert_eq!(buffer.take(b"defg"), b"fg");
        assert!(buffer.is_full() && buffer.filled() == b"abcde");
        assert_eq!(buffer.filled().as_ptr().align_offset(ALIGNMENT_BYTES), 0);
    }

    #[test]
    fn every_way_writes_the_bytes_of_its_recipe() {
        // Not the folder for temporary files: that may be in memory, where no write is direct.
        let parent = tempfile::tempdir_in(std::env::current_exe().unwrap().parent().unwrap()).unwrap();
        let mut folder = SweepFolder::make(parent.path(), 10_000_000, None).unwrap();
        for way in [WriteWay::Plain, WriteWay::Fdatasync, WriteWay::Direct] {
            for size_bytes in [0, 1, 4096, 1_000_001, 3 << 20] {
                let recipe = Recipe { kind: CorpusKind::Random, size_bytes, seed: 3 };
                let name = format!("{way:?}-{size_bytes}");
                let times = write(&mut folder, name, recipe, way).unwrap();
                assert_eq!(times.sync_ns.is_some(), way == WriteWay::Fdatasync);
                let file = folder.files.last().unwrap();
                let truth = oracle::truth(&folder.path().join(&file.name)).unwrap();
                assert_eq!(
                    (truth.answer, &truth.digest),
                    (file.answer, &file.digest),
                    "{way:?} {size_bytes}"
                );
            }
        }
    }
}
