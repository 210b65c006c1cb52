// needs: unsafe code; the crate memmap2; the crate memchr
use memmap2::Mmap;
use std::fs::File;
use std::io;
use std::path::Path;

/// Counts newlines where they are mapped. A file that others cut off meanwhile ends the process with
/// SIGBUS.
pub fn newlines(path: &Path) -> io::Result<u64> {
    let file = File::open(path)?;
    // SAFETY: nobody writes to the file or cuts it off while it is mapped: that is for the program
    // to see to.
    let map = unsafe { Mmap::map(&file)? };
    Ok(memchr::memchr_iter(b'\n', &map).count() as u64)
}
