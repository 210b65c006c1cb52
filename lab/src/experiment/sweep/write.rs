//! Writing the files of a sweep: plain, plain with the sync timed apart, or past the page cache.
//!
//! Only the calls are timed, from creating the file to closing it; making the bytes and their
//! digest happens between them. Where a size is no multiple of the block, the last bytes cannot go
//! past the page cache and are written through it.

use super::{SweepError, SweepFolder, WrittenFile, at};
use crate::corpus::oracle::Tally;
use crate::corpus::recipe::Recipe;
use crate::linux::{filesystem, interrupt, open_file};
use crate::record::{WriteTimes, WriteWay};
use crate::units::Nanos;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// Alignment of the buffer and of the length of direct writes: a multiple of every block size in
/// use.
const ALIGNMENT_BYTES: usize = 4096;

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
///
/// # Errors
/// If a call fails, as on a full disk, or the user wants to stop.
pub fn write(
    folder: &mut SweepFolder,
    name: String,
    recipe: Recipe,
    way: WriteWay,
) -> Result<WriteTimes, SweepError> {
    let path = folder.path().join(&name);
    let (mut calls, mut tally) = (Calls(Duration::ZERO), Tally::default());
    let file = calls.time(|| create(&path, way)).map_err(at(&path))?;
    let mut pieces = recipe.pieces();
    let mut piece = Vec::new();
    let mut aligned = vec![0_u8; (1 << 20) + ALIGNMENT_BYTES];
    while pieces.next_into(&mut piece) {
        if interrupt::requested() {
            return Err(SweepError::Interrupted);
        }
        tally.take(&piece);
        let bytes = copy_aligned(&mut aligned, &piece);
        write_piece(&file, bytes, way, &mut calls).map_err(at(&path))?;
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
///
/// # Errors
/// If the file system cannot be synced.
pub fn settle(folder: &SweepFolder) -> Result<(), SweepError> {
    filesystem::sync(folder.path()).map_err(at(folder.path()))
}

fn create(path: &Path, way: WriteWay) -> io::Result<File> {
    if way == WriteWay::Direct { open_file::create_direct(path) } else { File::create_new(path) }
}

/// The piece at an aligned address.
fn copy_aligned<'a>(buffer: &'a mut [u8], piece: &[u8]) -> &'a [u8] {
    let offset = buffer.as_ptr().align_offset(ALIGNMENT_BYTES);
    let place = &mut buffer[offset..offset + piece.len()];
    place.copy_from_slice(piece);
    place
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
    use crate::corpus::oracle;
    use crate::corpus::recipe::CorpusKind;

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
