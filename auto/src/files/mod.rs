//! Many files, each read once: by as many threads as suit where they are.
//!
//! Cached files keep processors busy, so there is a thread for each. Files that a device must read
//! keep it busy by many requests at a time: they are in flight through a ring on each thread. Where
//! there is none, files are large or even their names must be read, more threads wait for the
//! device. Which of these it is a few files tell, which are looked at before.

mod choice;
mod error;
#[cfg(target_os = "linux")]
pub mod in_flight;
mod one;

use crate::ReadError;
use crate::buffer::Buffer;
use crate::copied::COPY_BYTES;
use crate::crew::crew;
use choice::Way;
pub use error::FileError;
#[cfg(target_os = "linux")]
use in_flight::FilesInFlight;
use one::Content;
pub use one::OneOfFiles;
use std::fs::File;
#[cfg(target_os = "linux")]
use std::iter;
use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

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
        let way = self.threads.map_or_else(|| Way::choose(self.paths), |threads| Way::Threads(threads.get()));
        self.each_by(way, make, visit)
    }

    fn each_by<S: Send>(
        &self,
        way: Way,
        make: impl Fn() -> S + Sync,
        visit: impl Fn(&mut S, &mut OneOfFiles<'_>) -> Result<(), ReadError> + Sync,
    ) -> Result<Vec<S>, FileError> {
        let turn = Turn { next: AtomicUsize::new(0), count: self.paths.count() };
        let work = || {
            let mut state = make();
            self.read_in_turn(way, &turn, &mut |file| visit(&mut state, file))?;
            Ok(state)
        };
        crew(way.threads().min(turn.count.max(1)), work, || turn.stop())
    }

    /// Reads files on the calling thread as long as there are some.
    fn read_in_turn(
        &self,
        way: Way,
        turn: &Turn,
        visit: &mut dyn FnMut(&mut OneOfFiles<'_>) -> Result<(), ReadError>,
    ) -> Result<(), FileError> {
        if let Way::Rings(_) = way {
            #[cfg(target_os = "linux")]
            if let Ok(ring) = in_flight::Ring::new(in_flight::SMALL_FILES.depth) {
                let files = FilesInFlight::prepare(ring, &in_flight::SMALL_FILES, turn.count)?;
                return files.run(self.paths, &mut iter::from_fn(|| turn.take()), visit);
            }
        }
        let mut buffer = Buffer::new(COPY_BYTES)?;
        while let Some(index) = turn.take() {
            let path = self.paths.path(index);
            let mut read = || {
                let content = Content::Copied { file: File::open(path)?, buffer: &mut buffer };
                visit(&mut OneOfFiles::new(index, path, content))
            };
            read().map_err(|cause| FileError::new(path, cause))?;
        }
        Ok(())
    }
}

/// Which file is read next, by whichever thread.
struct Turn {
    next: AtomicUsize,
    count: usize,
}

impl Turn {
    fn take(&self) -> Option<usize> {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        (index < self.count).then_some(index)
    }

    /// Gives no further file to any thread.
    fn stop(&self) {
        self.next.store(self.count, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use std::{fs, io};

    /// Files with as many bytes as their number, and one of many pieces.
    fn files(folder: &Path) -> Vec<PathBuf> {
        let path = |index: usize| {
            let path = folder.join(index.to_string());
            let bytes = if index == 7 { 3 * COPY_BYTES + 1 } else { index };
            fs::write(&path, vec![b'x'; bytes]).unwrap();
            path
        };
        (0..40).map(path).collect()
    }

    #[test]
    fn each_file_is_visited_once_by_however_many_threads() {
        let folder = tempfile::tempdir().unwrap();
        let paths = files(folder.path());
        for way in [1, 3, 100].into_iter().flat_map(|threads| [Way::Threads(threads), Way::Rings(threads)]) {
            let of = Files::new(&paths[..]);
            let seen = of.each_by(way, Vec::new, |seen: &mut Vec<(usize, u64)>, file| {
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
            assert_eq!(seen, paths.iter().enumerate().map(size).collect::<Vec<_>>(), "{way:?}");
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
