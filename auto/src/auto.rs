//! `Auto`: an open file with what may be done with it, and every way of taking its bytes.

use crate::lines::Lines;
use crate::reader::Reader;
use crate::source::Source;
use crate::strategy::Strategy;
use crate::visitor::Stopping;
use crate::workers::Workers;
use crate::{ReadError, Visitor, from_front, in_pieces, ordered};
use std::fs::File;
use std::io;
use std::num::NonZero;
use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::sync::Mutex;

/// A file that is read the fastest way that is safe.
///
/// What is best is found out for each reading anew, as the page cache changes. A file that can be
/// read at any offset is read from its first byte, wherever its position is, and its position does
/// not change; anything else, such as a pipe, is read from where it is to its end.
///
/// ```
/// use readlab_auto::Auto;
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
/// let mut newlines = 0;
/// let count = |_offset, bytes: &[u8]| newlines += memchr::memchr_iter(b'\n', bytes).count();
/// Auto::open(path)?.for_each(count)?;
/// assert_eq!(newlines, std::fs::read_to_string(path)?.lines().count());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Auto {
    file: File,
    range: Option<Range<u64>>,
    workers: Workers,
    maps: bool,
    /// Whether nobody else has the file description, so that its position does not matter.
    is_own: bool,
}

impl Auto {
    /// Opens a file for reading.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Auto> {
        Ok(Auto { is_own: true, ..Auto::from_file(File::open(path)?) })
    }

    /// A file that is open for reading.
    #[must_use]
    pub fn from_file(file: File) -> Auto {
        Auto { file, range: None, workers: Workers::default(), maps: false, is_own: false }
    }

    /// Anything that has a file descriptor, which is duplicated.
    ///
    /// # Errors
    /// If the process has too many descriptors.
    #[cfg(unix)]
    pub fn from_fd(fd: impl std::os::fd::AsFd) -> io::Result<Auto> {
        Ok(Auto::from_file(fd.as_fd().try_clone_to_owned()?.into()))
    }

    /// Reads only this range, as far as the file goes: nothing, if its end is not behind its start.
    #[must_use]
    pub fn range(self, range: Range<u64>) -> Auto {
        Auto { range: Some(range), ..self }
    }

    /// Uses at most so many threads for parallel visits; the default is one for each processor.
    #[must_use]
    pub fn threads(self, threads: NonZero<usize>) -> Auto {
        Auto { workers: Workers { threads: Some(threads), ..self.workers }, ..self }
    }

    /// Has parallel visits run on threads of the rayon pool in which they are called, or of the
    /// global one, instead of threads of their own; as many as it has, if nothing else is said.
    #[cfg(feature = "rayon")]
    #[must_use]
    pub fn in_rayon(self) -> Auto {
        Auto { workers: Workers { pool: crate::workers::Pool::Rayon, ..self.workers }, ..self }
    }

    /// Allows mapping, which is about twice as fast as copying where the file is cached. Has no
    /// effect on Windows.
    ///
    /// # Safety
    /// The file must not change or become shorter during a reading: a visitor sees the bytes of the
    /// page cache itself, and SIGBUS ends the process if the file becomes shorter.
    #[must_use]
    pub unsafe fn mapping(self) -> Auto {
        Auto { maps: true, ..self }
    }

    /// How the file would be read now.
    ///
    /// # Errors
    /// If it cannot be examined.
    pub fn strategy(&self) -> Result<Strategy, ReadError> {
        Ok(self.source()?.strategy(self.maps))
    }

    /// Visits every byte once from front to back, in pieces of no particular size, each with its
    /// offset.
    ///
    /// # Errors
    /// If a call fails; the visitor has then seen a part.
    pub fn for_each(&self, mut visit: impl FnMut(u64, &[u8])) -> Result<u64, ReadError> {
        let visited = self.visit(|offset, bytes| {
            visit(offset, bytes);
            ControlFlow::<std::convert::Infallible>::Continue(())
        })?;
        match visited {
            ControlFlow::Continue(bytes) => Ok(bytes),
            ControlFlow::Break(never) => match never {},
        }
    }

    /// The same until the visitor breaks: early because it knows enough, or with an error of its
    /// own. Returns what it broke with, or the number of bytes.
    ///
    /// ```
    /// use readlab_auto::Auto;
    /// use std::ops::ControlFlow;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    /// let first = Auto::open(path)?.visit(|offset, bytes| match memchr::memchr(b'=', bytes) {
    ///     Some(at) => ControlFlow::Break(offset + at as u64),
    ///     None => ControlFlow::Continue(()),
    /// })?;
    /// assert!(matches!(first, ControlFlow::Break(1..)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a call fails; the visitor has then seen a part.
    pub fn visit<B>(
        &self,
        visit: impl FnMut(u64, &[u8]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B, u64>, ReadError> {
        let mut visitor = Stopping::new(visit);
        let _ = from_front::read(&self.source()?, self.maps, &mut visitor)?;
        Ok(visitor.outcome())
    }

    /// Visits every byte once by several threads, each with a visitor of its own, in any order and
    /// in pieces of no particular size. A visitor that breaks ends the reading for all. Returns the
    /// visitors, at least one.
    ///
    /// # Errors
    /// If a call fails; the visitors are lost then.
    pub fn par_visit<V: Visitor + Send>(&self, visitor: impl Fn() -> V + Sync) -> Result<Vec<V>, ReadError> {
        in_pieces::read(&self.source()?, self.maps, self.workers, &visitor)
    }

    /// Makes something of every piece by several threads, and takes the results in the order of the
    /// file until `take` breaks.
    ///
    /// ```
    /// use readlab_auto::Auto;
    /// use std::ops::ControlFlow;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    /// let mut lengths = Vec::new();
    /// let take = |length: usize| {
    ///     lengths.push(length);
    ///     ControlFlow::<()>::Continue(())
    /// };
    /// Auto::open(path)?.par_map(|_offset, bytes| bytes.len(), take)?;
    /// assert_eq!(lengths.iter().sum::<usize>() as u64, std::fs::metadata(path)?.len());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a call fails; a part of the results was taken then.
    pub fn par_map<T: Send, B: Send>(
        &self,
        map: impl Fn(u64, &[u8]) -> T + Sync,
        take: impl FnMut(T) -> ControlFlow<B> + Send,
    ) -> Result<Option<B>, ReadError> {
        let source = self.source()?;
        let queue = Mutex::new(ordered::Queue::new(source.extent.start(), take));
        let (map, waiting) = (&map, &queue);
        let visitor = || {
            move |offset: u64, bytes: &[u8]| {
                let made = map(offset, bytes);
                ordered::locked(waiting).put(offset, bytes.len() as u64, made)
            }
        };
        in_pieces::read(&source, self.maps, self.workers, &visitor)?;
        Ok(queue.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).broke())
    }

    /// Appends everything to a buffer; returns how many bytes.
    ///
    /// # Errors
    /// If a call fails, or memory has no room; what was read until then is in the buffer.
    pub fn read_to_end(&self, buffer: &mut Vec<u8>) -> Result<usize, ReadError> {
        let source = self.source()?;
        let expected = source.extent.known().map_or(0, |range| range.end - range.start);
        let expected = usize::try_from(expected).unwrap_or(usize::MAX);
        buffer.try_reserve(expected).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        let before = buffer.len();
        // Into the buffer itself, which mapping would only be copied into.
        let mut append = |_: u64, bytes: &[u8]| {
            buffer.extend_from_slice(bytes);
            ControlFlow::<()>::Continue(())
        };
        let _ = from_front::read(&source, self.maps, &mut append)?;
        Ok(buffer.len() - before)
    }

    /// A [`std::io::Read`] and [`std::io::BufRead`] over it, for code that wants one.
    ///
    /// # Errors
    /// If the file cannot be examined.
    pub fn reader(&self) -> Result<Reader<'_>, ReadError> {
        Reader::new(self.source()?, self.maps)
    }

    /// Its lines without their ends, one after the other, each until the next is asked for.
    ///
    /// ```
    /// use readlab_auto::Auto;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    /// let auto = Auto::open(path)?;
    /// let mut lines = auto.lines()?;
    /// while let Some(line) = lines.next_line()? {
    ///     assert!(!line.contains(&b'\n'));
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the file cannot be examined.
    pub fn lines(&self) -> Result<Lines<'_>, ReadError> {
        Ok(Lines::new(self.reader()?))
    }

    fn source(&self) -> Result<Source<'_>, ReadError> {
        Ok(Source::new(&self.file, self.is_own, self.range.clone())?)
    }
}
