//! Opening files with flags that the standard library does not offer.

use rustix::fs::{CWD, FileType, Mode, OFlags, fcntl_getfl, fcntl_setfl, mknodat};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

const PRIVATE_MODE: u32 = 0o700;

/// Opens a file for reading. It neither waits for the other end of a pipe nor makes a terminal the
/// controlling terminal.
pub fn open_without_waiting(path: &Path) -> io::Result<File> {
    File::options().read(true).custom_flags(bits(OFlags::NONBLOCK | OFlags::NOCTTY)).open(path)
}

/// Creates a file for writing past the page cache.
pub fn create_direct(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).custom_flags(bits(OFlags::DIRECT)).open(path)
}

/// Makes further reads and writes of this file use the page cache.
pub fn end_direct(file: &File) -> io::Result<()> {
    let flags = fcntl_getfl(file)?;
    Ok(fcntl_setfl(file, flags - OFlags::DIRECT)?)
}

pub fn create_private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(PRIVATE_MODE).create(path)
}

pub fn make_pipe(path: &Path) -> io::Result<()> {
    Ok(mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?)
}

fn bits(flags: OFlags) -> i32 {
    flags.bits().cast_signed()
}
