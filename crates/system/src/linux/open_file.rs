//! Opening files with flags that the standard library does not offer.

use rustix::fs::{CWD, FileType, Mode, OFlags, fcntl_getfl, fcntl_setfl, mknodat};
use rustix::io::Errno;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

const PRIVATE_MODE: u32 = 0o700;

/// Opens a file for reading. Opening a pipe does not wait for its other end, and opening a terminal
/// does not make it the controlling terminal.
pub fn open_without_waiting(path: &Path) -> io::Result<File> {
    File::options().read(true).custom_flags(flag_bits(OFlags::NONBLOCK | OFlags::NOCTTY)).open(path)
}

/// Opens a pipe for writing; fails with `NotConnected` if no program reads the pipe. Writes to the
/// opened pipe wait until the reader has taken earlier bytes.
pub fn open_pipe_with_reader(path: &Path) -> io::Result<File> {
    let opened = File::options().write(true).custom_flags(flag_bits(OFlags::NONBLOCK)).open(path);
    let pipe = opened.map_err(|cause| match cause.raw_os_error() {
        Some(code) if code == Errno::NXIO.raw_os_error() => {
            io::Error::new(io::ErrorKind::NotConnected, "no program reads it")
        }
        _ => cause,
    })?;
    let flags = fcntl_getfl(&pipe)?;
    fcntl_setfl(&pipe, flags - OFlags::NONBLOCK)?;
    Ok(pipe)
}

/// Creates a file for writing past the page cache.
pub fn create_for_direct_io(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).custom_flags(flag_bits(OFlags::DIRECT)).open(path)
}

/// Makes further reads and writes of this file use the page cache.
pub fn disable_direct_io(file: &File) -> io::Result<()> {
    let flags = fcntl_getfl(file)?;
    Ok(fcntl_setfl(file, flags - OFlags::DIRECT)?)
}

pub fn create_private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(PRIVATE_MODE).create(path)
}

pub fn make_pipe(path: &Path) -> io::Result<()> {
    Ok(mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?)
}

fn flag_bits(flags: OFlags) -> i32 {
    flags.bits().cast_signed()
}
