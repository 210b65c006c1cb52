//! Opening files with flags that the standard library does not offer.

use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Opens a file for reading. Opening a pipe does not wait for its other end, and opening a terminal
/// does not make it the controlling terminal.
pub fn open_without_waiting(path: &Path) -> io::Result<File> {
    File::options().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)
}
