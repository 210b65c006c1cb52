//! Many files, each read once: by as many threads as suit where they are.
//!
//! Cached files keep processors busy, so there is a thread for each. Files that a device must read
//! keep it busy by many requests at a time: threads wait for it, so there are more of them. Which
//! of the two it is a few files tell, which are looked at before.

use crate::ReadError;
use crate::buffer::Buffer;
use crate::crew::crew;
use crate::source::Source;
use crate::strategy::Cached;
use std::error::Error;
use std::fs::File;
use std::io::{self, Read};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fmt, thread};

/// Files that are looked at, evenly spread.
const LOOKED_AT: usize = 16;

/// Threads where files come from a device.
const WAITING_THREADS: usize = 64;

/// More buffer than most files have bytes; larger files are read in several pieces.
const BUFFER_BYTES: usize = 256 << 10;

/// The paths of many files.
pub trait FilePaths: Sync {
    /// How many there are.
    fn count(&self) -> usize;

    /// The path of one of them, by its number from 0.
    fn path(&self, index: usize) -> &Path;
}

impl<P: AsRef<Path> + Sync> FilePaths for [P] {
    fn count(&self) -> usize {
        self.len()
    }

    fn path(&self, index: usize) -> &Path {
        self[index].as_ref()
    }
}

/// Many files that are read the fastest way that is safe, in any order.
///
/// ```
/// use readlab_auto::Files;
/// # let folder = env!("CARGO_MANIFEST_DIR");
/// # let paths = [format!("{folder}/Cargo.toml"), format!("{folder}/README.md")];
/// let newlines = |bytes: &[u8]| bytes.iter().filter(|&&byte| byte == b'\n').count();
/// let count = |total: &mut usize, file: &mut readlab_auto::OneOfFiles| {
///     file.for_each(|_offset, bytes| *total += newlines(bytes))
/// };
/// let totals = Files::new(&paths[..]).each(|| 0, count)?;
/// # let lines = |path: &String| std::fs::read_to_string(path).unwrap().lines().count();
/// # assert_eq!(totals.iter().sum::<usize>(), paths.iter().map(lines).sum::<usize>());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Files<'p, P: ?Sized> {
    paths: &'p P,
    threads: Option<NonZero<usize>>,
}

/// One of many files, which is open.
#[derive(Debug)]
pub struct OneOfFiles<'a> {
    index: usize,
    path: &'a Path,
    file: File,
    buffer: &'a mut [u8],
}

/// Why one of many files was not read to its end.
#[derive(Debug)]
pub struct FileError {
    path: PathBuf,
    cause: ReadError,
}

impl<'p, P: FilePaths + ?Sized> Files<'p, P> {
    /// These files.
    #[must_use]
    pub fn new(paths: &'p P) -> Files<'p, P> {
        Files { paths, threads: None }
    }

    /// Uses so many threads, whatever is cached.
    #[must_use]
    pub fn threads(self, threads: NonZero<usize>) -> Files<'p, P> {
        Files { threads: Some(threads), ..self }
    }

    /// Opens each file, has it visited and closes it. A visit gets what `make` made for its thread;
    /// all of these are returned. After an error no further file is opened.
    ///
    /// # Errors
    /// If a file cannot be opened, or the first error of a visit. The file is named.
    pub fn each<S: Send>(
        &self,
        make: impl Fn() -> S + Sync,
        visit: impl Fn(&mut S, &mut OneOfFiles<'_>) -> Result<(), ReadError> + Sync,
    ) -> Result<Vec<S>, FileError> {
        let (next, count) = (AtomicUsize::new(0), self.paths.count());
        let work = || {
            let mut state = make();
            let mut buffer = Buffer::new(BUFFER_BYTES).map_err(FileError::of_none)?;
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= count {
                    return Ok(state);
                }
                let path = self.paths.path(index);
                let mut read = || {
                    let file = File::open(path)?;
                    visit(&mut state, &mut OneOfFiles { index, path, file, buffer: &mut buffer })
                };
                read().map_err(|cause| FileError { path: path.to_owned(), cause })?;
            }
        };
        let threads = self.threads.map_or_else(|| threads_for(self.paths), NonZero::get);
        crew(threads.min(count.max(1)), work, || next.store(count, Ordering::Relaxed))
    }
}

impl OneOfFiles<'_> {
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
            match self.file.read(self.buffer) {
                Ok(0) => return Ok(()),
                Ok(count) => {
                    visit(at, &self.buffer[..count]);
                    at += count as u64;
                }
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
                Err(cause) => return Err(ReadError::at(at, cause)),
            }
        }
    }
}

impl FileError {
    fn of_none(cause: io::Error) -> FileError {
        FileError { path: PathBuf::new(), cause: cause.into() }
    }

    /// The file; empty if it was none of them, as where no thread could be started.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What failed.
    #[must_use]
    pub fn cause(&self) -> &ReadError {
        &self.cause
    }

    /// The file and what failed.
    #[must_use]
    pub fn into_parts(self) -> (PathBuf, ReadError) {
        (self.path, self.cause)
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.as_os_str().is_empty() {
            return self.cause.fmt(f);
        }
        write!(f, "{}: {}", self.path.display(), self.cause)
    }
}

impl Error for FileError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.cause)
    }
}

impl From<io::Error> for FileError {
    fn from(cause: io::Error) -> FileError {
        FileError::of_none(cause)
    }
}

/// How many threads suit the files.
fn threads_for(paths: &(impl FilePaths + ?Sized)) -> usize {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    let count = paths.count();
    let looked_at = (0..count).step_by(count.div_ceil(LOOKED_AT).max(1));
    let asked = looked_at.len();
    let cached = looked_at.filter(|index| is_cached(paths.path(*index))).count();
    if cached * 2 >= asked { processors } else { processors.max(WAITING_THREADS) }
}

/// Whether the first byte of a file can be read without waiting; one that is empty, or cannot be
/// read, waits for nothing.
fn is_cached(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return true };
    match Source::of(&file, true, None) {
        Ok(source) if source.has_size() => source.cached_of(0..1) != Cached::None,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Files with as many bytes as their number, and one of many pieces.
    fn files(folder: &Path) -> Vec<PathBuf> {
        let path = |index: usize| {
            let path = folder.join(index.to_string());
            let bytes = if index == 7 { 3 * BUFFER_BYTES + 1 } else { index };
            fs::write(&path, vec![b'x'; bytes]).unwrap();
            path
        };
        (0..40).map(path).collect()
    }

    #[test]
    fn each_file_is_visited_once_by_however_many_threads() {
        let folder = tempfile::tempdir().unwrap();
        let paths = files(folder.path());
        for threads in [None, NonZero::new(1), NonZero::new(3), NonZero::new(100)] {
            let of = Files { paths: &paths[..], threads };
            let seen = of.each(Vec::new, |seen: &mut Vec<(usize, u64)>, file| {
                assert_eq!(file.path(), paths[file.index()]);
                let mut bytes = 0;
                file.for_each(|offset, piece| {
                    assert_eq!(offset, bytes);
                    bytes += piece.len() as u64;
                })?;
                seen.push((file.index(), bytes));
                Ok(())
            });
            let mut seen: Vec<(usize, u64)> = seen.unwrap().concat();
            seen.sort_unstable();
            let size = |(index, path): (usize, &PathBuf)| (index, fs::metadata(path).unwrap().len());
            assert_eq!(seen, paths.iter().enumerate().map(size).collect::<Vec<_>>());
        }
    }

    #[test]
    fn no_files_are_read_at_once() {
        let none: [&str; 0] = [];
        assert_eq!(Files::new(&none[..]).each(|| 1, |_, _| Ok(())).unwrap(), [1]);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named_and_ends_the_reading() {
        let folder = tempfile::tempdir().unwrap();
        let mut paths = files(folder.path());
        paths[20] = folder.path().join("absent");
        let error = Files::new(&paths[..]).each(|| (), |(), file| file.for_each(|_, _| ())).unwrap_err();
        assert_eq!(error.path(), paths[20]);
        assert_eq!(error.cause().cause().kind(), io::ErrorKind::NotFound);
        assert!(error.to_string().starts_with(&format!("{}: ", paths[20].display())));
        let stopped = Files::new(&paths[..20]).threads(NonZero::<usize>::MIN);
        let visit = |count: &mut usize, file: &mut OneOfFiles| {
            *count += 1;
            if file.index() == 5 { Err(ReadError::at(3, io::Error::other("broken"))) } else { Ok(()) }
        };
        let error = stopped.each(|| 0, visit).unwrap_err();
        assert_eq!(error.to_string(), format!("{}: broken at byte 3", paths[5].display()));
    }
}
