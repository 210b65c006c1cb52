//! The methods `zstd`, `lz4`, `xz`, `bzip2`, `snappy` and `brotli`, which decode a compressed file
//! with the usual crate for its format, as a stream through one buffer.
//!
//! Consecutive frames and streams are decoded one after the other, as in a gzip. Brotli has one
//! stream. Other bytes after the end are an error, and so is a wrong checksum if the format has
//! one. A decoder uses as much memory as the window that the file requires, however small the
//! content is.

use super::archive::content_fault;
use super::read::drain;
use super::{Fault, Method, Reader};
use crate::consumer::Consumer;
use crate::scan::Visit;
use crate::setting::Param;
use crate::source::Source;
use bzip2::bufread::BzDecoder;
use liblzma::bufread::XzDecoder;
use readlab_auto::buffer::Buffer;
use readlab_protocol::{Answer, Archive};
use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use zstd::dict::DecoderDictionary;

/// Size of the input buffer, and of the output buffer.
pub(super) const BUFFER: Param = Param::new("buffer_bytes", 64 << 10, 1, 1 << 30);

/// The largest window of a zstd, as the logarithm of its size in bytes: that of `zstd --long=31`.
const ZSTD_WINDOW_LOG2_MAX: u32 = 31;

/// Defines the method of a format.
macro_rules! method {
    ($archive:ident, $name:literal, $about:literal) => {
        Method {
            name: $name,
            about: $about,
            decodes: &[Archive::$archive],
            params: &[BUFFER],
            build: |settings| {
                let buffer_bytes = settings.size(&BUFFER);
                Ok(Box::new(Stream { archive: Archive::$archive, buffer_bytes }))
            },
            ..Method::DEFAULT
        }
    };
}

pub(super) const ZSTD: Method = method!(
    Zstd,
    "zstd",
    "the frames of a zstd through crate zstd (libzstd), from a buffered file into one buffer"
);
pub(super) const LZ4: Method = method!(
    Lz4,
    "lz4",
    "the frames of an lz4 through crate lz4 (liblz4), from a buffered file into one buffer"
);
pub(super) const XZ: Method =
    method!(Xz, "xz", "the streams of an xz through crate liblzma, from a buffered file into one buffer");
pub(super) const BZIP2: Method = method!(
    Bzip2,
    "bzip2",
    "the streams of a bzip2 through crate bzip2 with libbz2-rs, from a buffered file into one buffer"
);
pub(super) const SNAPPY: Method =
    method!(Snappy, "snappy", "frames of snappy through crate snap, from a buffered file into one buffer");
pub(super) const BROTLI: Method =
    method!(Brotli, "brotli", "a brotli through crate brotli, from a buffered file into one buffer");

struct Stream {
    archive: Archive,
    buffer_bytes: usize,
}

impl Reader for Stream {
    fn read(&mut self, source: &Source, visit: Visit) -> Result<Answer, Fault> {
        let mut file = BufReader::with_capacity(self.buffer_bytes, File::open(source.path())?);
        let mut buffer = Buffer::new(self.buffer_bytes)?;
        let mut consumer = Consumer::new(visit);
        let dictionary = source.decoder_dictionary()?;
        let decoder = StreamDecoder { archive: self.archive, dictionary: dictionary.as_ref() };
        decoder.decode(&mut file, &mut buffer[..self.buffer_bytes], &mut consumer)?;
        Ok(consumer.finish())
    }
}

#[derive(Clone, Copy)]
pub(super) struct StreamDecoder<'d> {
    pub(super) archive: Archive,
    pub(super) dictionary: Option<&'d DecoderDictionary<'static>>,
}

impl StreamDecoder<'_> {
    /// Decodes a stream to its end, through the buffer.
    pub(super) fn decode(
        self,
        source: &mut impl BufRead,
        buffer: &mut [u8],
        consumer: &mut Consumer,
    ) -> Result<(), Fault> {
        let archive = self.archive;
        let decoded = match archive {
            Archive::Zip | Archive::Gzip => {
                Err(content_fault(format!("{} is decoded elsewhere", archive.noun())))
            }
            Archive::Zstd => drain(&mut self.zstd_decoder(source)?, buffer, consumer).map(drop),
            Archive::Lz4 => lz4_frames(source, buffer, consumer),
            Archive::Xz => drain(&mut XzDecoder::new_multi_decoder(source), buffer, consumer).map(drop),
            Archive::Bzip2 => bzip2_streams(source, buffer, consumer),
            Archive::Snappy => drain(&mut snap::read::FrameDecoder::new(source), buffer, consumer).map(drop),
            Archive::Brotli => brotli_stream(source, buffer, consumer),
        };
        decoded.map_err(|fault| match fault {
            Fault::Io { cause, .. } if cause.kind() == ErrorKind::UnexpectedEof => {
                io::Error::new(ErrorKind::UnexpectedEof, format!("the {archive} ends too early")).into()
            }
            fault => fault,
        })
    }

    fn zstd_decoder<R: BufRead>(&self, source: R) -> io::Result<zstd::Decoder<'_, R>> {
        let mut decoder = match self.dictionary {
            Some(dictionary) => zstd::Decoder::with_prepared_dictionary(source, dictionary),
            None => zstd::Decoder::with_buffer(source),
        }?;
        decoder.window_log_max(ZSTD_WINDOW_LOG2_MAX)?;
        Ok(decoder)
    }
}

/// Decodes frame after frame. The crate's decoder ends with a frame, and does not support skippable
/// frames.
fn lz4_frames(source: &mut impl BufRead, buffer: &mut [u8], consumer: &mut Consumer) -> Result<(), Fault> {
    let mut frames = 0_u64;
    while frames == 0 || !is_at_end(source)? {
        let mut magic = [0; 4];
        source.read_exact(&mut magic)?;
        match magic {
            [0x04, 0x22, 0x4d, 0x18] => {
                let mut frame = lz4::Decoder::new((&magic[..]).chain(&mut *source))?;
                drain(&mut frame, buffer, consumer)?;
                // The decoder takes the end of the file for the end of the frame.
                frame.finish().1.map_err(|_| io::Error::from(ErrorKind::UnexpectedEof))?;
            }
            [0x50..=0x5f, 0x2a, 0x4d, 0x18] => skip_frame(source)?,
            _ if frames == 0 => return Err(content_fault("the lz4 has no frame")),
            _ => return Err(content_fault("what follows the last lz4 frame is no lz4")),
        }
        frames += 1;
    }
    Ok(())
}

/// Decodes stream after stream. Bytes that begin no other stream are padding, as for the program
/// bzip2.
fn bzip2_streams(source: &mut impl BufRead, buffer: &mut [u8], consumer: &mut Consumer) -> Result<(), Fault> {
    let mut magic = Vec::with_capacity(4);
    for streams in 0_u64.. {
        magic.clear();
        source.by_ref().take(4).read_to_end(&mut magic)?;
        let is_level = |byte: &u8| (b'1'..=b'9').contains(byte);
        let is_stream = !magic.is_empty()
            && b"BZh".starts_with(&magic[..magic.len().min(3)])
            && magic.get(3).is_none_or(is_level);
        if streams > 0 && !is_stream {
            break;
        }
        drain(&mut BzDecoder::new((&magic[..]).chain(&mut *source)), buffer, consumer)?;
    }
    Ok(())
}

/// Skips the rest of a skippable frame: its size, and the number of bytes that the size states.
fn skip_frame(source: &mut impl Read) -> Result<(), Fault> {
    let mut size = [0; 4];
    source.read_exact(&mut size)?;
    let size_bytes = u64::from(u32::from_le_bytes(size));
    let skipped = io::copy(&mut source.take(size_bytes), &mut io::sink())?;
    if skipped < size_bytes { Err(io::Error::from(ErrorKind::UnexpectedEof).into()) } else { Ok(()) }
}

fn brotli_stream(source: &mut impl BufRead, buffer: &mut [u8], consumer: &mut Consumer) -> Result<(), Fault> {
    let mut brotli = brotli::Decompressor::new(&mut *source, buffer.len());
    drain(&mut brotli, buffer, consumer).map_err(|fault| match fault {
        Fault::Io { cause, .. } if cause.kind() == ErrorKind::InvalidData => {
            content_fault("the brotli is corrupt or ends too early")
        }
        fault => fault,
    })?;
    // Bytes after the end are still in the file, or in the decoder's buffer, which makes a second
    // read an error.
    let is_whole = brotli.read(&mut [0]).is_ok();
    drop(brotli);
    if is_whole && is_at_end(source)? {
        Ok(())
    } else {
        Err(content_fault("bytes follow the end of the brotli"))
    }
}

/// Whether nothing is left to read.
pub(super) fn is_at_end(source: &mut impl BufRead) -> io::Result<bool> {
    loop {
        match source.fill_buf() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            filled => return Ok(filled?.is_empty()),
        }
    }
}
