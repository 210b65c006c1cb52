//! `Auto`: an open file, its options, and every method that takes its bytes.

use crate::lines::Lines;
use crate::reader::Reader;
use crate::source::Source;
use crate::strategy::Strategy;
use crate::visitor::StoppingVisitor;
use crate::workers::Workers;
use crate::{ReadError, Visitor, from_front, in_pieces, ordered};
use std::fs::File;
use std::io;
use std::num::NonZero;
use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// A file that is read in the fastest safe way.
///
/// The strategy is chosen anew for each reading, because the page cache changes. A file that can be
/// read at any offset is read from its first byte, wherever its position is, and its position does
/// not change. Anything else, such as a pipe, is read from the current position to the end.
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
    /// Whether no other handle shares the file description, so that reads may move its position.
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

    /// Takes a file that is open for reading.
    #[must_use]
    pub fn from_file(file: File) -> Auto {
        Auto { file, range: None, workers: Workers::default(), maps: false, is_own: false }
    }

    /// Takes anything that has a file descriptor. The descriptor is duplicated.
    ///
    /// # Errors
    /// If the process has too many descriptors.
    #[cfg(unix)]
    pub fn from_fd(fd: impl std::os::fd::AsFd) -> io::Result<Auto> {
        Ok(Auto::from_file(fd.as_fd().try_clone_to_owned()?.into()))
    }

    /// Reads only this range, or the part of it before the end of the file. If the end of the range
    /// is not behind its start, nothing is read.
    #[must_use]
    pub fn range(self, range: Range<u64>) -> Auto {
        Auto { range: Some(range), ..self }
    }

    /// Uses at most this number of threads for parallel visits. The default is one for each
    /// processor.
    #[must_use]
    pub fn threads(self, threads: NonZero<usize>) -> Auto {
        Auto { workers: Workers { threads: Some(threads), ..self.workers }, ..self }
    }

    /// Runs parallel visits on the threads of the rayon pool in which they are called, or else of
    /// the global pool, instead of on new threads. If [`Auto::threads`] was not called, every
    /// thread of the pool is used.
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

    /// Which strategy a reading would use now.
    ///
    /// # Errors
    /// If it cannot be examined.
    pub fn strategy(&self) -> Result<Strategy, ReadError> {
        Ok(self.source()?.strategy(self.maps))
    }

    /// Visits every byte once from front to back, in pieces of arbitrary size, each with its
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

    /// Visits every byte from front to back until the visitor breaks, because it knows enough or
    /// has an error of its own. Returns the value of the break, or the number of bytes.
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
        let mut visitor = StoppingVisitor::new(visit);
        let _ = from_front::read(&self.source()?, self.maps, &mut visitor)?;
        Ok(visitor.outcome())
    }

    /// Visits every byte once by several threads, each with its own visitor, in any order and in
    /// pieces of arbitrary size. A visitor that breaks ends the reading for all threads. Returns
    /// the visitors, at least one.
    ///
    /// # Errors
    /// If a call fails; the visitors are lost then.
    pub fn par_visit<V: Visitor + Send>(&self, visitor: impl Fn() -> V + Sync) -> Result<Vec<V>, ReadError> {
        in_pieces::read(&self.source()?, self.maps, self.workers, &visitor)
    }

    /// Maps every piece to a result by several threads, and passes the results to `take` in the
    /// order of the file until `take` breaks.
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
                waiting.lock().unwrap_or_else(PoisonError::into_inner).put(offset, bytes.len() as u64, made)
            }
        };
        in_pieces::read(&source, self.maps, self.workers, &visitor)?;
        Ok(queue.into_inner().unwrap_or_else(PoisonError::into_inner).broke())
    }

    /// Appends the whole content to a buffer. Returns the number of bytes.
    ///
    /// # Errors
    /// If a call fails, or memory has no room. The bytes read until then are in the buffer.
    pub fn read_to_end(&self, buffer: &mut Vec<u8>) -> Result<usize, ReadError> {
        let source = self.source()?;
        let expected = source.extent.known().map_or(0, |range| range.end - range.start);
        let expected = usize::try_from(expected).unwrap_or(usize::MAX);
        buffer.try_reserve(expected).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        let before = buffer.len();
        // Read straight into the buffer: the bytes of a mapping would have to be copied into it.
        let mut append = |_: u64, bytes: &[u8]| {
            buffer.extend_from_slice(bytes);
            ControlFlow::<()>::Continue(())
        };
        let _ = from_front::read(&source, self.maps, &mut append)?;
        Ok(buffer.len() - before)
    }

    /// A [`std::io::Read`] and [`std::io::BufRead`] over the file, for code that needs one.
    ///
    /// # Errors
    /// If the file cannot be examined.
    pub fn reader(&self) -> Result<Reader<'_>, ReadError> {
        Reader::new(self.source()?, self.maps)
    }

    /// The lines of the file without their line ends. Each line can be used until the next one is
    /// requested.
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
