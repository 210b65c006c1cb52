//! Reads from front to back through a buffer. This works for every file on every system.

use crate::source::Source;
use crate::{ReadError, Visitor};
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::ops::{ControlFlow, Range};
use std::slice;

/// Bytes of one read(2); they fit into the second-level cache of common processors.
pub(crate) const COPY_BYTES: usize = 64 << 10;

/// A buffer that begins on a cache line of the processor. The kernel copies into an unaligned
/// buffer a quarter slower.
#[repr(align(64))]
struct AlignedBuffer([MaybeUninit<u8>; COPY_BYTES]);

/// Reads through a buffer on the stack. Its pages are already mapped; fresh pages cost a fifth of
/// the time of a cold file of a megabyte. One read returns all of a small file, and if the size is
/// known, no second read is needed to find the end.
pub(crate) fn read(source: &Source, visitor: &mut impl Visitor) -> Result<ControlFlow<()>, ReadError> {
    let mut buffer = AlignedBuffer([MaybeUninit::uninit(); COPY_BYTES]);
    let mut at = source.extent.start();
    loop {
        let room = source.extent.room_at(at, COPY_BYTES);
        // If nothing is left, no call is made.
        let bytes = if room == 0 { &[] } else { filled_at(source, at, &mut buffer.0[..room])? };
        if bytes.is_empty() {
            return Ok(ControlFlow::Continue(()));
        }
        if visitor.visit(at, bytes).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        at += bytes.len() as u64;
    }
}

/// Passes one range of a file with a known range to the visitor, through this buffer.
pub(crate) fn read_range(
    source: &Source,
    range: Range<u64>,
    buffer: &mut [u8],
    visitor: &mut impl Visitor,
) -> Result<ControlFlow<()>, ReadError> {
    let mut at = range.start;
    while at < range.end {
        let room = usize::try_from(range.end - at).unwrap_or(usize::MAX).min(buffer.len());
        let count = read_at(source, at, &mut buffer[..room])?;
        // The file became shorter.
        if count == 0 {
            break;
        }
        if visitor.visit(at, &buffer[..count]).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        at += count as u64;
    }
    Ok(ControlFlow::Continue(()))
}

/// Fills the beginning of a buffer with the bytes at an offset. If the file cannot seek, these are
/// the next bytes.
#[cfg(unix)]
fn filled_at<'b>(source: &Source, at: u64, buffer: &'b mut [MaybeUninit<u8>]) -> Result<&'b [u8], ReadError> {
    let count = retry_interrupted(at, || {
        let (bytes, _) = if source.seeks {
            rustix::io::pread(source.file, &mut *buffer, at)?
        } else {
            rustix::io::read(source.file, &mut *buffer)?
        };
        Ok(bytes.len())
    })?;
    // SAFETY: the call has written `count` bytes to the beginning of the buffer.
    Ok(unsafe { slice::from_raw_parts(buffer.as_ptr().cast(), count) })
}

/// Does the same where the standard library reads only into initialised bytes.
#[cfg(not(unix))]
fn filled_at<'b>(source: &Source, at: u64, buffer: &'b mut [MaybeUninit<u8>]) -> Result<&'b [u8], ReadError> {
    for byte in &mut *buffer {
        byte.write(0);
    }
    // SAFETY: every byte was written just now.
    let bytes = unsafe { slice::from_raw_parts_mut(buffer.as_mut_ptr().cast(), buffer.len()) };
    let count = read_at(source, at, bytes)?;
    Ok(&bytes[..count])
}

/// Reads the bytes at an offset. If the file cannot seek, these are the next bytes.
pub(crate) fn read_at(source: &Source, at: u64, buffer: &mut [u8]) -> Result<usize, ReadError> {
    retry_interrupted(at, || {
        if source.seeks { read_once_at(source.file, at, buffer) } else { read_next(source.file, buffer) }
    })
}

/// Repeats a read at an offset until no signal interrupts it.
pub(crate) fn retry_interrupted(
    at: u64,
    mut read: impl FnMut() -> io::Result<usize>,
) -> Result<usize, ReadError> {
    loop {
        match read() {
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
            read => return read.map_err(|cause| ReadError::at(at, cause)),
        }
    }
}

fn read_next(mut file: &File, buffer: &mut [u8]) -> io::Result<usize> {
    io::Read::read(&mut file, buffer)
}

#[cfg(unix)]
fn read_once_at(file: &File, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, at)
}

#[cfg(windows)]
fn read_once_at(file: &File, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, at)
}
