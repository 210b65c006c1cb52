//! Buffers for file content: whole pages, mapped for one buffer and unmapped with it.
//!
//! A buffer has its own pages, so it costs the same in every reading, suits `O_DIRECT`, and keeps
//! no byte of a file. On systems other than Unix the memory comes from the allocator.

use std::io;
use std::ops::{Deref, DerefMut};

/// The size of a huge page on the common architectures; memory aligned to it can use huge pages.
pub const HUGE_PAGE_BYTES: usize = 2 << 20;

/// A buffer that begins on a page and is filled with zeros. The default buffer is empty and has no
/// page.
#[derive(Debug, Default)]
pub struct Buffer {
    pages: Option<Pages>,
    start: usize,
    len: usize,
}

impl Buffer {
    /// Maps pages for `bytes` bytes.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn new(bytes: usize) -> io::Result<Buffer> {
        let pages = if bytes == 0 { None } else { Some(Pages::map(bytes)?) };
        Ok(Buffer { pages, start: 0, len: bytes })
    }

    /// Maps huge pages if they are available. One huge page is faulted in, and pinned for a device,
    /// in one step instead of 512.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn huge(bytes: usize) -> io::Result<Buffer> {
        if bytes < HUGE_PAGE_BYTES {
            return Buffer::new(bytes);
        }
        let pages = Pages::map(bytes + HUGE_PAGE_BYTES)?;
        pages.advise_huge();
        let start = pages.as_slice().as_ptr().align_offset(HUGE_PAGE_BYTES);
        Ok(Buffer { pages: Some(pages), start, len: bytes })
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.pages.as_ref().map_or(&[], |pages| &pages.as_slice()[self.start..self.start + self.len])
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        let range = self.start..self.start + self.len;
        self.pages.as_mut().map_or(&mut [], |pages| &mut pages.as_mut_slice()[range])
    }
}

#[cfg(unix)]
use mapped::Pages;
#[cfg(unix)]
mod mapped {
    //! Anonymous pages.

    use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
    use std::{io, ptr, slice};

    #[derive(Debug)]
    pub(super) struct Pages {
        start: ptr::NonNull<u8>,
        len: usize,
    }

    // SAFETY: the pages belong to this value alone, as the memory of a box does.
    unsafe impl Send for Pages {}
    // SAFETY: a shared reference gives shared access only.
    unsafe impl Sync for Pages {}

    impl Pages {
        pub(super) fn map(len: usize) -> io::Result<Pages> {
            let access = ProtFlags::READ | ProtFlags::WRITE;
            // SAFETY: new pages at a place that the kernel chooses overlap nothing.
            let start = unsafe { mmap_anonymous(ptr::null_mut(), len, access, MapFlags::PRIVATE) }?;
            let start = ptr::NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
            Ok(Pages { start, len })
        }

        pub(super) fn advise_huge(&self) {
            #[cfg(target_os = "linux")]
            // SAFETY: the range is mapped by this value, and the advice changes no content. A
            // kernel without huge pages refuses it; small pages work too, but cost more.
            let _ = unsafe {
                rustix::mm::madvise(self.start.as_ptr().cast(), self.len, rustix::mm::Advice::LinuxHugepage)
            };
        }

        pub(super) fn as_slice(&self) -> &[u8] {
            // SAFETY: the pages are mapped and filled with zeros until this value is dropped.
            unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len) }
        }

        pub(super) fn as_mut_slice(&mut self) -> &mut [u8] {
            // SAFETY: as above, and no other reference exists.
            unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
        }
    }

    impl Drop for Pages {
        fn drop(&mut self) {
            // SAFETY: the range was mapped by this value, and no reference outlives the value.
            // Unmapping cannot fail for this range.
            let _ = unsafe { munmap(self.start.as_ptr().cast(), self.len) };
        }
    }
}

#[cfg(not(unix))]
use allocated::Pages;
#[cfg(not(unix))]
mod allocated {
    //! Memory of the allocator.

    use std::io;

    #[derive(Debug)]
    pub(super) struct Pages(Vec<u8>);

    impl Pages {
        pub(super) fn map(len: usize) -> io::Result<Pages> {
            let mut bytes = Vec::new();
            bytes.try_reserve_exact(len).map_err(|_| io::ErrorKind::OutOfMemory)?;
            bytes.resize(len, 0);
            Ok(Pages(bytes))
        }

        pub(super) fn advise_huge(&self) {}

        pub(super) fn as_slice(&self) -> &[u8] {
            &self.0
        }

        pub(super) fn as_mut_slice(&mut self) -> &mut [u8] {
            &mut self.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no madvise(2)")]
    fn a_buffer_begins_on_a_page_and_is_zero_and_a_large_one_on_a_huge_page() {
        for bytes in [0, 1, 4096, HUGE_PAGE_BYTES, HUGE_PAGE_BYTES + 5] {
            for mut buffer in [Buffer::new(bytes).unwrap(), Buffer::huge(bytes).unwrap()] {
                assert!(buffer.len() == bytes && buffer.iter().all(|&byte| byte == 0), "{bytes}");
                buffer.fill(7);
                assert!(buffer.iter().all(|&byte| byte == 7));
            }
        }
        let huge = Buffer::huge(HUGE_PAGE_BYTES).unwrap();
        assert_eq!(huge.as_ptr().align_offset(HUGE_PAGE_BYTES), 0);
    }
}
