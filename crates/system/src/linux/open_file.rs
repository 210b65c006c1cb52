//! Opening files in ways that need the kernel's own flags.

use rustix::fs::{CWD, FileType, Mode, OFlags, fcntl_getfl, fcntl_setfl, mknodat};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

const PRIVATE: u32 = 0o700;

/// Opens a file for reading without waiting for a pipe's other end, and not as our terminal.
pub fn read_without_waiting(path: &Path) -> io::Result<File> {
    File::options().read(true).custom_flags(bits(OFlags::NONBLOCK | OFlags::NOCTTY)).open(path)
}

/// Creates a file that is written past the page cache.
pub fn create_direct(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).custom_flags(bits(OFlags::DIRECT)).open(path)
}

/// From now on reads and writes of this file go through the page cache.
pub fn end_direct(file: &File) -> io::Result<()> {
    let flags = fcntl_getfl(file)?;
    Ok(fcntl_setfl(file, flags - OFlags::DIRECT)?)
}

pub fn create_private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(PRIVATE).create(path)
}

pub fn make_pipe(path: &Path) -> io::Result<()> {
    Ok(mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?)
}

fn bits(flags: OFlags) -> i32 {
    flags.bits().cast_signed()
}
