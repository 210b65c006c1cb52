//! Reads many files, each once, by a number of threads that suits where the files are.
//!
//! Cached files keep processors busy, so there is one thread for each processor. Files that a
//! device must read keep the device busy by many requests at a time: they are in flight through a
//! ring on each thread. If there is no ring, if files are large, or if even their names must be
//! read, more threads wait for the device. A sample of the files decides which case applies.

mod choice;
mod error;
#[cfg(target_os = "linux")]
pub mod in_flight;
mod one;

use crate::ReadError;
use crate::buffer::Buffer;
use crate::copied::COPY_BYTES;
use crate::crew::crew;
use choice::ReadPlan;
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
    /// The number of files.
    fn count(&self) -> usize;

    /// The path of one file, by its index from 0.
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

/// Many files that are read in the fastest safe way, in any order.
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
    /// Takes the paths of the files.
    #[must_use]
    pub fn new(paths: &'p P) -> Files<'p, P> {
        Files { paths, threads: None }
    }

    /// Uses this number of threads, even if another number suits the cache state.
    #[must_use]
    pub fn threads(self, threads: NonZero<usize>) -> Files<'p, P> {
        Files { threads: Some(threads), ..self }
    }

    /// Opens each file, has it visited and closes it. A visit gets the state that `make` made for
    /// its thread. All states are returned. After an error no further file is opened.
    ///
    /// # Errors
    /// If a file cannot be opened, or the first error of a visit. The file is named.
    pub fn each<S: Send>(
        &self,
        make: impl Fn() -> S + Sync,
        visit: impl Fn(&mut S, &mut OneOfFiles<'_>) -> Result<(), ReadError> + Sync,
    ) -> Result<Vec<S>, FileError> {
        let plan = self
            .threads
            .map_or_else(|| ReadPlan::choose(self.paths), |threads| ReadPlan::Threads(threads.get()));
        self.each_with_plan(plan, make, visit)
    }

    fn each_with_plan<S: Send>(
        &self,
        plan: ReadPlan,
        make: impl Fn() -> S + Sync,
        visit: impl Fn(&mut S, &mut OneOfFiles<'_>) -> Result<(), ReadError> + Sync,
    ) -> Result<Vec<S>, FileError> {
        let queue = FileQueue { next: AtomicUsize::new(0), count: self.paths.count() };
        let work = || {
            let mut state = make();
            self.read_in_turn(plan, &queue, &mut |file| visit(&mut state, file))?;
            Ok(state)
        };
        crew(plan.threads().min(queue.count.max(1)), work, || queue.stop())
    }

    /// Reads files on the calling thread until none is left.
    fn read_in_turn(
        &self,
        plan: ReadPlan,
        queue: &FileQueue,
        visit: &mut dyn FnMut(&mut OneOfFiles<'_>) -> Result<(), ReadError>,
    ) -> Result<(), FileError> {
        if let ReadPlan::Rings(_) = plan {
            #[cfg(target_os = "linux")]
            if let Ok(ring) = in_flight::Ring::new(in_flight::SMALL_FILES.depth) {
                let files = FilesInFlight::prepare(ring, &in_flight::SMALL_FILES, queue.count)?;
                return files.run(self.paths, &mut iter::from_fn(|| queue.take()), visit);
            }
        }
        let mut buffer = Buffer::new(COPY_BYTES)?;
        while let Some(index) = queue.take() {
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

/// The index of the next file to read, shared by all threads.
struct FileQueue {
    next: AtomicUsize,
    count: usize,
}

impl FileQueue {
    fn take(&self) -> Option<usize> {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        (index < self.count).then_some(index)
    }

    /// Ends the list, so that no thread gets another file.
    fn stop(&self) {
        self.next.store(self.count, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use std::{fs, io};

    /// Files whose sizes are their numbers, and one file of many pieces.
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
        for plan in
            [1, 3, 100].into_iter().flat_map(|threads| [ReadPlan::Threads(threads), ReadPlan::Rings(threads)])
        {
            let of = Files::new(&paths[..]);
            let seen = of.each_with_plan(plan, Vec::new, |seen: &mut Vec<(usize, u64)>, file| {
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
            assert_eq!(seen, paths.iter().enumerate().map(size).collect::<Vec<_>>(), "{plan:?}");
        }
    }

    #[test]
    fn an_empty_list_is_read_without_an_error() {
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
