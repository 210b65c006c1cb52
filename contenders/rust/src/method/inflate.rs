//! The methods `zip-libdeflate` and `gzip-libdeflate`, which read an archive into memory and decode
//! each entry or member as a whole.
//!
//! libdeflate is the fastest available single-threaded decoder for x86 and Arm, because it decodes
//! without interruption into a buffer for the whole content. So the content must fit into memory.
//! [`super::archive`] decodes streams; [`super::decoder`] is the control that decodes in memory.

use super::archive::{content_fault, entries, entry_fault, entry_name, member_fault, zip_fault};
use super::controls::LoadedFile;
use super::memory_check::check_fits;
use super::{Fault, Method, Reader};
use crate::consumer::Consumer;
use crate::scan::Visit;
use crate::source::Source;
use libdeflate_sys as sys;
use readlab_auto::buffer::Buffer;
use readlab_protocol::{Answer, Archive};
use std::io::{self, Cursor};
use std::ptr::NonNull;
use zip::{CompressionMethod, ZipArchive};

pub(super) const ZIP: Method = Method {
    name: "zip-libdeflate",
    about: "a zip read whole into memory, each of its entries decoded whole by libdeflate",
    decodes: &[Archive::Zip],
    build: |_| Ok(Box::new(WholeDecoder(Archive::Zip))),
    ..Method::DEFAULT
};

pub(super) const GZIP: Method = Method {
    name: "gzip-libdeflate",
    about: "a gzip read whole into memory, each of its members decoded whole by libdeflate",
    decodes: &[Archive::Gzip],
    build: |_| Ok(Box::new(WholeDecoder(Archive::Gzip))),
    ..Method::DEFAULT
};

struct WholeDecoder(Archive);

impl Reader for WholeDecoder {
    fn read(&mut self, source: &Source, visit: Visit) -> Result<Answer, Fault> {
        let loaded = LoadedFile::load("libdeflate", source)?;
        Decoder::new()?.content(self.0, loaded.bytes(), visit)
    }
}

/// The maximum number of bytes to which one deflated byte can expand: about 258 bytes in two bits.
const RATIO_MAX: usize = 1040;

/// Size of the output buffer if the size of the content is not known.
const ROOM_MIN: usize = 64 << 10;

/// A decoder of libdeflate with its output memory.
pub(super) struct Decoder {
    raw: NonNull<sys::libdeflate_decompressor>,
    out: Option<Buffer>,
}

// SAFETY: a decompressor is plain memory without ties to a thread; all its uses take `&mut self`.
unsafe impl Send for Decoder {}

enum DecodeResult {
    /// Complete: the number of bytes consumed from the archive, and the number of bytes produced.
    Whole(usize, usize),
    /// The output buffer is too small for the content.
    OutputTooSmall,
    /// The stream is corrupt, or a checksum is wrong.
    Corrupt,
}

/// A function of libdeflate that decodes one stream.
type DecodeFn = unsafe extern "C" fn(
    *mut sys::libdeflate_decompressor,
    *const core::ffi::c_void,
    usize,
    *mut core::ffi::c_void,
    usize,
    *mut usize,
    *mut usize,
) -> sys::libdeflate_result;

impl Decoder {
    pub(super) fn new() -> Result<Decoder, Fault> {
        // SAFETY: the call takes nothing, and returns a new decompressor or null.
        let raw = NonNull::new(unsafe { sys::libdeflate_alloc_decompressor() });
        let raw = raw.ok_or_else(|| io::Error::from(io::ErrorKind::OutOfMemory))?;
        Ok(Decoder { raw, out: None })
    }

    pub(super) fn content(&mut self, archive: Archive, bytes: &[u8], visit: Visit) -> Result<Answer, Fault> {
        let mut consumer = Consumer::new(visit);
        match archive {
            Archive::Zip => self.zip(bytes, &mut consumer)?,
            Archive::Gzip => self.gzip(bytes, &mut consumer)?,
            other => return Err(content_fault(format!("libdeflate does not decode {}", other.noun()))),
        }
        Ok(consumer.finish())
    }

    fn zip(&mut self, bytes: &[u8], consumer: &mut Consumer) -> Result<(), Fault> {
        let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(zip_fault)?;
        for index in entries(&mut archive)? {
            let entry = archive.by_index_raw(index).map_err(zip_fault)?;
            let (name, method) = (entry_name(&entry), entry.compression());
            let [start, stored] =
                [entry.data_start().unwrap_or(0), entry.compressed_size()].map(saturating_size);
            let (size, checksum) = (saturating_size(entry.size()), entry.crc32());
            let stored = bytes
                .get(start..start.saturating_add(stored))
                .ok_or_else(|| entry_fault(&name, content_fault("it reaches beyond the end of the file")))?;
            let content = match method {
                CompressionMethod::Stored => stored,
                CompressionMethod::Deflated => {
                    self.entry(stored, size).map_err(|fault| entry_fault(&name, fault))?
                }
                other => {
                    return Err(entry_fault(
                        &name,
                        content_fault(format!("compressed by {other}, not by deflate")),
                    ));
                }
            };
            if content.len() != size {
                return Err(entry_fault(&name, content_fault("it has not the size that the zip says")));
            }
            if crc32(content) != checksum {
                return Err(entry_fault(&name, content_fault("invalid checksum")));
            }
            consumer.feed(content);
        }
        Ok(())
    }

    /// The content of one deflated entry, which must have `size` bytes.
    pub(super) fn entry(&mut self, stored: &[u8], size: usize) -> Result<&[u8], Fault> {
        if size / RATIO_MAX > stored.len() {
            return Err(content_fault("so few bytes cannot hold what the zip says"));
        }
        match self.inflate(sys::libdeflate_deflate_decompress_ex, stored, size)? {
            DecodeResult::Whole(_, out) => Ok(&self.room(size)?[..out]),
            DecodeResult::OutputTooSmall => Err(content_fault("more comes out than the zip says")),
            DecodeResult::Corrupt => Err(content_fault("corrupt deflate stream")),
        }
    }

    fn gzip(&mut self, bytes: &[u8], consumer: &mut Consumer) -> Result<(), Fault> {
        let mut at = 0;
        let mut room = gzip_size(bytes);
        loop {
            let rest = &bytes[at..];
            match self.inflate(sys::libdeflate_gzip_decompress_ex, rest, room)? {
                DecodeResult::Whole(used, out) => {
                    consumer.feed(&self.room(room)?[..out]);
                    at += used;
                }
                // The content cannot be larger than this; a stream that needs more is corrupt.
                DecodeResult::OutputTooSmall if room / RATIO_MAX <= rest.len() => room *= 2,
                _ => {
                    let is_gzip = Archive::by_magic(rest) == Some(Archive::Gzip);
                    let fault = content_fault(
                        "the gzip is corrupt, ends too early, or has not the checksum that it says",
                    );
                    return Err(member_fault(at as u64, is_gzip, fault));
                }
            }
            // Zeros up to the end of the file are padding.
            if bytes[at..].iter().all(|byte| *byte == 0) {
                return Ok(());
            }
        }
    }

    /// Decodes one stream into the output buffer.
    fn inflate(&mut self, function: DecodeFn, stored: &[u8], room: usize) -> Result<DecodeResult, Fault> {
        let raw = self.raw.as_ptr();
        let out = self.room(room)?;
        let (mut used, mut made) = (0, 0);
        // SAFETY: the decompressor lives as long as `self`, which is borrowed exclusively. Both
        // ranges are valid for their lengths, the second for writing, and they do not overlap. The
        // two counts are local variables.
        let result = unsafe {
            function(
                raw,
                stored.as_ptr().cast(),
                stored.len(),
                out.as_mut_ptr().cast(),
                out.len(),
                &raw mut used,
                &raw mut made,
            )
        };
        Ok(match result {
            sys::libdeflate_result_LIBDEFLATE_SUCCESS => DecodeResult::Whole(used, made),
            sys::libdeflate_result_LIBDEFLATE_INSUFFICIENT_SPACE => DecodeResult::OutputTooSmall,
            _ => DecodeResult::Corrupt,
        })
    }

    /// An output buffer of `bytes` bytes, which is kept for later contents that fit into it.
    fn room(&mut self, bytes: usize) -> Result<&mut [u8], Fault> {
        let least = bytes.max(1);
        if self.out.as_ref().is_none_or(|out| out.len() < least) {
            check_fits("libdeflate", bytes as u64)?;
            self.out = None;
            self.out = Some(Buffer::new(least)?);
        }
        Ok(&mut self.out.as_mut().expect("it was just made where there was none")[..bytes])
    }
}

impl Drop for Decoder {
    fn drop(&mut self) {
        // SAFETY: libdeflate made the decompressor, and it is not used after this.
        unsafe { sys::libdeflate_free_decompressor(self.raw.as_ptr()) };
    }
}

/// Converts a size in an archive to a size in memory. A size beyond the address space becomes the
/// maximum.
fn saturating_size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// The checksum of a zip's entries and of a gzip's members.
pub(super) fn crc32(bytes: &[u8]) -> u32 {
    // SAFETY: the range is valid for its length.
    unsafe { sys::libdeflate_crc32(0, bytes.as_ptr().cast(), bytes.len()) }
}

/// The size of the content of a gzip with one member, whose last four bytes are the size modulo
/// 2^32. For other gzips it is a first guess.
fn gzip_size(bytes: &[u8]) -> usize {
    let stated = stated_size(bytes);
    let most = bytes.len().saturating_mul(RATIO_MAX);
    if stated == 0 {
        return padded_size(bytes).clamp(ROOM_MIN, most.max(ROOM_MIN));
    }
    // Text is larger than its gzip, so a smaller number has wrapped around.
    let whole = if stated < bytes.len() / 2 { stated.saturating_add(1 << 32) } else { stated };
    if whole <= most { whole.max(ROOM_MIN) } else { stated.clamp(ROOM_MIN, most.max(ROOM_MIN)) }
}

/// The number in the last four bytes.
fn stated_size(bytes: &[u8]) -> usize {
    bytes.last_chunk::<4>().map_or(0, |last| u32::from_le_bytes(*last) as usize)
}

/// A first guess at the size of the content of a gzip that ends with zeros. It is not known how
/// many of the zeros are the high bytes of its size, and how many are padding.
fn padded_size(bytes: &[u8]) -> usize {
    const RATIO_USUAL: usize = 64;
    let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let ends = (end..bytes.len().min(end + 4)).map(|end| stated_size(&bytes[..end]));
    let most = end.saturating_mul(RATIO_USUAL);
    ends.filter(|size| *size <= most).max().unwrap_or(0)
}
