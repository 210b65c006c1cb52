//! Maps a part of a file, on systems that map files.

use crate::source::Source;

#[cfg(unix)]
pub(crate) use mapped::Map;
#[cfg(not(unix))]
pub(crate) use none::Map;

#[cfg(unix)]
mod mapped {
    use super::Source;
    use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
    use std::{ptr, slice};

    /// The bytes of a source, unmapped when it is dropped.
    pub(crate) struct Map {
        start: ptr::NonNull<u8>,
        len: usize,
        /// Bytes of the mapping before the requested range, because mappings begin at pages.
        before: usize,
    }

    // SAFETY: the mapping belongs to this value alone and is only read.
    unsafe impl Send for Map {}
    // SAFETY: as above.
    unsafe impl Sync for Map {}

    impl Map {
        /// Maps the source; `None` if it cannot be mapped. The caller's user must have allowed
        /// mapping, and so guaranteed that the file does not change during the reading.
        pub(crate) fn new(source: &Source) -> Option<Map> {
            let page_bytes = rustix::param::page_size() as u64;
            let range = source.extent.known()?;
            let offset = range.start / page_bytes * page_bytes;
            let before = usize::try_from(range.start - offset).ok()?;
            let len = usize::try_from(range.end - offset).ok().filter(|&len| len > before)?;
            // SAFETY: a new mapping at a place that the kernel chooses overlaps nothing.
            let start =
                unsafe { mmap(ptr::null_mut(), len, ProtFlags::READ, MapFlags::SHARED, source.file, offset) };
            let start = ptr::NonNull::new(start.ok()?.cast())?;
            Some(Map { start, len, before })
        }

        pub(crate) fn bytes(&self) -> &[u8] {
            // SAFETY: the range is mapped until this value is dropped, and by the guarantee of
            // `Auto::mapping` the file is neither changed nor truncated until then.
            unsafe { &slice::from_raw_parts(self.start.as_ptr(), self.len)[self.before..] }
        }
    }

    impl Drop for Map {
        fn drop(&mut self) {
            // SAFETY: the range was mapped by this value, and no reference outlives the value.
            // Unmapping cannot fail for this range.
            let _ = unsafe { munmap(self.start.as_ptr().cast(), self.len) };
        }
    }
}

#[cfg(not(unix))]
mod none {
    use super::Source;

    /// No value exists: this system maps no files.
    pub(crate) enum Map {}

    impl Map {
        pub(crate) fn new(_source: &Source) -> Option<Map> {
            None
        }

        pub(crate) fn bytes(&self) -> &[u8] {
            match *self {}
        }
    }
}
