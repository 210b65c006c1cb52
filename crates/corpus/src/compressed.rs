//! Compressed streams: zstd, lz4, xz, bzip2, snappy frames and brotli, written and decoded.
//!
//! The output equals what the format's own program writes by default, with the same level and
//! checksums. The exception is brotli, whose default level takes minutes. Decoding is as simple as
//! possible, with widely used crates and one buffer of fixed size.
//!
//! As in gzip, a frame or stream may be followed by another, which is decoded too. Other bytes
//! after the last frame or stream are an error, unless the format's own program treats them as
//! padding: zeros after xz, any bytes after bzip2. A brotli file has only one stream.

use super::archive::{PieceConsumer, invalid_archive, pass_to_end};
use bzip2::bufread::BzDecoder;
use bzip2::write::BzEncoder;
use liblzma::bufread::XzDecoder;
use liblzma::stream::{CONCATENATED, Stream, TELL_UNSUPPORTED_CHECK};
use liblzma::write::XzEncoder;
use readlab_protocol::{Archive, first_frame};
use std::io::{self, BufRead, ErrorKind, Read, Seek, Write};
use zstd::zstd_safe::{get_dict_id_from_dict, get_dict_id_from_frame};

/// The largest window of a zstd, as the logarithm of its size in bytes: that of `zstd --long=31`.
/// libzstd by itself refuses windows above 128 MiB. The decoder allocates the window that the file
/// declares, and touches only the part that the content needs.
const ZSTD_WINDOW_LOG2_MAX: u32 = 31;
const XZ_LEVEL: u32 = 6;
/// Compression level of brotli: the highest level at which compression is fast.
const BROTLI_LEVEL: u32 = 5;
/// The window of `brotli`, as the logarithm of its size in bytes.
const BROTLI_WINDOW_LOG2: u32 = 22;
/// Size of the buffer between a brotli stream and its file.
const BROTLI_BUFFER_BYTES: usize = 1 << 16;
const SNAPPY_HEAD: &[u8] = b"\xff\x06\0\0sNaPpY";

/// Writes a compressed stream of this kind, with the content that `fill` writes.
pub(super) fn write(
    archive: Archive,
    mut out: impl Write,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    match archive {
        Archive::Zip | Archive::Gzip => {
            return Err(invalid_archive(format!("{archive} is written elsewhere")));
        }
        Archive::Zstd => {
            let mut zstd = zstd::Encoder::new(&mut out, zstd::DEFAULT_COMPRESSION_LEVEL)?;
            zstd.include_checksum(true)?;
            fill(&mut zstd)?;
            zstd.finish()?;
        }
        Archive::Lz4 => {
            let mut options = lz4::EncoderBuilder::new();
            options.block_size(lz4::BlockSize::Max4MB).block_mode(lz4::BlockMode::Independent);
            let mut lz4 =
                options.block_checksum(lz4::liblz4::BlockChecksum::NoBlockChecksum).build(&mut out)?;
            fill(&mut lz4)?;
            lz4.finish().1?;
        }
        Archive::Xz => {
            let mut xz = XzEncoder::new(&mut out, XZ_LEVEL);
            fill(&mut xz)?;
            xz.finish()?;
        }
        Archive::Bzip2 => {
            let mut bzip2 = BzEncoder::new(&mut out, bzip2::Compression::best());
            fill(&mut bzip2)?;
            bzip2.finish()?;
        }
        Archive::Snappy => {
            // For empty content the encoder writes no head, so the head is written here. For other
            // content the encoder writes it again, which the format allows between any two chunks.
            out.write_all(SNAPPY_HEAD)?;
            let mut snappy = snap::write::FrameEncoder::new(&mut out);
            fill(&mut snappy)?;
            snappy.into_inner().map_err(|error| error.into_error())?;
        }
        Archive::Brotli => {
            let kept = ErrorKeeper { out: &mut out, error: None };
            let (level, window) = (BROTLI_LEVEL, BROTLI_WINDOW_LOG2);
            let mut brotli = brotli::CompressorWriter::new(kept, BROTLI_BUFFER_BYTES, level, window);
            fill(&mut brotli)?;
            brotli.into_inner().error.map_or(Ok(()), Err)?;
        }
    }
    out.flush()
}

/// A writer that stores its error, because brotli's encoder returns no result when it writes the
/// end of the stream.
struct ErrorKeeper<W> {
    out: W,
    error: Option<io::Error>,
}

impl<W: Write> Write for ErrorKeeper<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes);
        written.inspect_err(|cause| self.error = Some(io::Error::new(cause.kind(), cause.to_string())))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Decodes zstd with this dictionary, or without a dictionary if it is empty.
pub(super) fn decode_zstd(mut file: impl BufRead, dictionary: &[u8], take: PieceConsumer) -> io::Result<()> {
    if let Some(needed) = get_dict_id_from_frame(first_frame(file.fill_buf()?)) {
        match get_dict_id_from_dict(dictionary) {
            _ if dictionary.is_empty() => {
                return Err(invalid_archive(format!(
                    "it needs the dictionary {needed}, which --dictionary names"
                )));
            }
            Some(given) if given == needed => {}
            given => {
                let given = given.map_or_else(|| "has no number".to_owned(), |id| format!("is {id}"));
                return Err(invalid_archive(format!(
                    "it needs the dictionary {needed}, and the given one {given}"
                )));
            }
        }
    }
    let mut decoder = zstd::Decoder::with_dictionary(file, dictionary)?;
    decoder.window_log_max(ZSTD_WINDOW_LOG2_MAX)?;
    pass_to_end(&mut decoder, take).map_err(unify_early_end)
}

pub(super) fn decode_xz(file: impl BufRead, take: PieceConsumer) -> io::Result<()> {
    // As in the program `xz`, there is no memory limit. The decoder allocates the dictionary that
    // the file declares, at most 4 GiB, and touches only the part that the content needs.
    let stream = Stream::new_stream_decoder(u64::MAX, CONCATENATED | TELL_UNSUPPORTED_CHECK)?;
    pass_to_end(&mut XzDecoder::new_stream(file, stream), take).map_err(unify_early_end)
}

pub(super) fn decode_bzip2(mut file: impl BufRead, take: PieceConsumer) -> io::Result<()> {
    let mut streams = 0;
    loop {
        let mut magic = Vec::new();
        (&mut file).take(4).read_to_end(&mut magic)?;
        // As in the program `bzip2`, bytes after a stream that do not begin another stream are
        // padding.
        if streams > 0 && !may_begin_bzip2(&magic) {
            return Ok(());
        }
        pass_to_end(&mut BzDecoder::new((&magic[..]).chain(&mut file)), take).map_err(unify_early_end)?;
        streams += 1;
    }
}

/// True if these bytes (at most the first four of a stream) may begin a bzip2 stream.
fn may_begin_bzip2(magic: &[u8]) -> bool {
    let is_level = |byte: &u8| (b'1'..=b'9').contains(byte);
    !magic.is_empty() && b"BZh".starts_with(&magic[..magic.len().min(3)]) && magic.get(3).is_none_or(is_level)
}

pub(super) fn decode_snappy(file: impl BufRead, take: PieceConsumer) -> io::Result<()> {
    pass_to_end(&mut snap::read::FrameDecoder::new(file), take).map_err(unify_early_end)
}

pub(super) fn decode_lz4(mut file: impl BufRead + Seek, take: PieceConsumer) -> io::Result<()> {
    loop {
        let at = file.stream_position()?;
        let mut magic = [0; 4];
        match file.read_exact(&mut magic) {
            Err(cause) if cause.kind() == ErrorKind::UnexpectedEof && file.stream_position()? == at => {
                return if at == 0 { Err(early_end_error()) } else { Ok(()) };
            }
            read => read.map_err(unify_early_end)?,
        }
        match magic {
            [0x04, 0x22, 0x4d, 0x18] => {
                let mut frame = lz4::Decoder::new((&magic[..]).chain(&mut file))?;
                pass_to_end(&mut frame, take).map_err(unify_early_end)?;
                // The decoder treats the end of the file as the end of a frame, so the frame is
                // checked separately.
                frame.finish().1.map_err(|_| early_end_error())?;
            }
            [0x50..=0x5f, 0x2a, 0x4d, 0x18] => skip_frame(&mut file)?,
            _ => {
                return Err(invalid_archive(format!(
                    "what follows its last frame, from byte {at} on, is no lz4"
                )));
            }
        }
    }
}

/// Skips the rest of a skippable frame after its magic number: the size field, and as many bytes as
/// it states.
fn skip_frame(file: &mut impl Read) -> io::Result<()> {
    let mut size = [0; 4];
    file.read_exact(&mut size).map_err(unify_early_end)?;
    let size_bytes = u64::from(u32::from_le_bytes(size));
    let skipped = io::copy(&mut file.take(size_bytes), &mut io::sink())?;
    if skipped == size_bytes { Ok(()) } else { Err(early_end_error()) }
}

pub(super) fn decode_brotli(file: impl BufRead, take: PieceConsumer) -> io::Result<()> {
    let mut brotli = brotli::Decompressor::new(file, BROTLI_BUFFER_BYTES);
    pass_to_end(&mut brotli, take).map_err(|cause| match cause.kind() {
        ErrorKind::InvalidData => invalid_archive("it is corrupt or ends too early"),
        _ => cause,
    })?;
    // Bytes after the end of the stream are in the decoder's buffer, where they make a second read
    // fail, or still in the file.
    let is_at_end = brotli.read(&mut [0]).is_ok() && brotli.into_inner().fill_buf()?.is_empty();
    if is_at_end { Ok(()) } else { Err(invalid_archive("bytes follow its end")) }
}

/// The error of a decoder; if the file ends too early, the same message for all decoders.
fn unify_early_end(cause: io::Error) -> io::Error {
    if cause.kind() == ErrorKind::UnexpectedEof { early_end_error() } else { cause }
}

fn early_end_error() -> io::Error {
    invalid_archive("it ends too early")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::tests::decoded_with;

    const STREAMS: [Archive; 6] =
        [Archive::Zstd, Archive::Lz4, Archive::Xz, Archive::Bzip2, Archive::Snappy, Archive::Brotli];

    /// Text that is larger than a block of snappy, and compresses well.
    fn content() -> Vec<u8> {
        (0..20_000).flat_map(|n| format!("a line of text, number {n}\n").into_bytes()).collect()
    }

    fn encoded(archive: Archive, content: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        write(archive, &mut out, |stream| stream.write_all(content)).unwrap();
        out
    }

    fn decoded(archive: Archive, bytes: &[u8]) -> Result<Vec<u8>, String> {
        decoded_with(b"", archive, bytes)
    }

    #[test]
    fn every_format_decodes_to_the_content_that_was_written() {
        for archive in STREAMS {
            for content in [vec![], vec![b'x'], content()] {
                let bytes = encoded(archive, &content);
                assert_eq!(decoded(archive, &bytes).unwrap(), content, "{archive}");
            }
        }
    }

    #[test]
    fn skippable_frames_and_padding_are_not_content() {
        let skippable = b"\x5a\x2a\x4d\x18\x03\0\0\0abc";
        for archive in [Archive::Zstd, Archive::Lz4] {
            let frame = encoded(archive, b"frame\n");
            let bytes = [&skippable[..], &frame, skippable, b"\x50\x2a\x4d\x18\0\0\0\0", &frame].concat();
            assert_eq!(Archive::by_magic(&bytes), Some(archive));
            assert_eq!(decoded(archive, &bytes).unwrap(), b"frame\nframe\n", "{archive}");
            decoded(archive, &bytes[..bytes.len() - frame.len() - 1]).unwrap_err();
        }
        let stream = encoded(Archive::Xz, b"stream\n");
        let padded = [&stream[..], &[0; 8], &stream, &[0; 4]].concat();
        assert_eq!(decoded(Archive::Xz, &padded).unwrap(), b"stream\nstream\n");
        decoded(Archive::Xz, &padded[..padded.len() - 1]).unwrap_err();
        let stream = encoded(Archive::Bzip2, b"stream\n");
        for padding in [&[0; 1][..], &[0; 4], &[0; 512], b"x", b"garbage", b"BZhx", b"\0BZh9"] {
            let padded = [&stream[..], &stream, padding].concat();
            assert_eq!(decoded(Archive::Bzip2, &padded).unwrap(), b"stream\nstream\n", "{padding:?}");
        }
        for (cut, begun) in [b"BZ".as_slice(), b"BZh9"].into_iter().enumerate() {
            decoded(Archive::Bzip2, &[&stream[..], begun].concat()).expect_err(&format!("cut {cut}"));
        }
    }

    #[test]
    fn a_zstd_with_a_large_window_decodes() {
        // RFC 8878, 3.1.1.1: a window of 256 MiB, and a last block of two raw bytes.
        assert_eq!(decoded(Archive::Zstd, b"\x28\xb5\x2f\xfd\0\x90\x11\0\0a\n").unwrap(), b"a\n");
    }

    #[test]
    fn a_dictionary_of_any_bytes_decodes() {
        let dictionary = b"a line of text, number 17\na line of text, number 4711\n";
        let mut encoder = zstd::Encoder::with_dictionary(Vec::new(), 19, dictionary).unwrap();
        encoder.include_checksum(true).unwrap();
        encoder.write_all(&content()).unwrap();
        let bytes = encoder.finish().unwrap();
        assert_eq!(decoded_with(dictionary, Archive::Zstd, &bytes).unwrap(), content());
        decoded_with(b"", Archive::Zstd, &bytes).unwrap_err();
    }

    #[test]
    fn a_missing_or_wrong_dictionary_is_an_error_that_names_it() {
        // RFC 8878, 3.1.1.1: a single segment with a dictionary identifier of four bytes, and an
        // empty last block, after a skippable frame.
        let frame = b"\x28\xb5\x2f\xfd\x23\x39\x30\0\0\0\x01\0\0";
        let behind = [&b"\x50\x2a\x4d\x18\x01\0\0\0x"[..], frame].concat();
        for bytes in [&frame[..], &behind] {
            let said = decoded_with(b"", Archive::Zstd, bytes).unwrap_err();
            assert_eq!(said, "it needs the dictionary 12345, which --dictionary names");
            let said = decoded_with(b"raw bytes", Archive::Zstd, bytes).unwrap_err();
            assert_eq!(said, "it needs the dictionary 12345, and the given one has no number");
            let said = decoded_with(b"\x37\xa4\x30\xec\x07\0\0\0", Archive::Zstd, bytes).unwrap_err();
            assert_eq!(said, "it needs the dictionary 12345, and the given one is 7");
        }
    }

    #[test]
    fn a_stream_that_is_cut_anywhere_is_an_error() {
        for archive in STREAMS {
            let bytes = encoded(archive, &content()[..3000]);
            for end in 1..bytes.len() {
                // Snappy streams have no end marker, so a stream that is cut between two frames is
                // complete.
                let is_whole = archive == Archive::Snappy && end <= 2 * SNAPPY_HEAD.len();
                let cut = decoded(archive, &bytes[..end]);
                match cut {
                    Ok(content) => assert!(is_whole && content.is_empty(), "{archive} of {end} bytes"),
                    Err(reason) => assert!(reason.contains("ends too early"), "{archive} of {end}: {reason}"),
                }
            }
        }
    }

    #[test]
    fn trailing_bytes_and_changed_bytes_are_errors() {
        for (archive, reason) in [
            (Archive::Zstd, Some("Unknown frame descriptor")),
            (Archive::Lz4, Some("what follows its last frame, from byte ")),
            (Archive::Xz, Some("lzma data error")),
            (Archive::Bzip2, None),
            (Archive::Snappy, Some("snappy: corrupt input (unsupported chunk ")),
            (Archive::Brotli, Some("bytes follow its end")),
        ] {
            let good = encoded(archive, &content());
            for garbage in [&b"garbage that is longer than any head"[..], &[b'y'; 100_000]] {
                let Some(reason) = reason else { continue };
                let said = decoded(archive, &[&good[..], garbage].concat()).unwrap_err();
                assert!(said.contains(reason) && said.lines().count() == 1, "{archive}: {said}");
                decoded(archive, &[&good[..], b"x"].concat()).unwrap_err();
            }
            let mut corrupt = good.clone();
            corrupt[good.len() / 2..][..64].fill(0);
            // Brotli has no checksum.
            let came_out = decoded(archive, &corrupt);
            assert!(came_out.is_err() || archive == Archive::Brotli && came_out.unwrap() != content());
        }
    }

    #[test]
    fn a_wrong_checksum_is_an_error() {
        for (archive, from_end, reason) in [
            (Archive::Zstd, 4, "checksum"),
            (Archive::Lz4, 4, "hecksum"),
            (Archive::Bzip2, 5, "bzip2: "),
            (Archive::Xz, 40, "lzma data error"),
            (Archive::Snappy, 16, "checksum"),
        ] {
            let mut bytes = encoded(archive, b"a little text\n");
            let at = bytes.len() - from_end;
            bytes[at] ^= 1;
            let said = decoded(archive, &bytes).unwrap_err();
            assert!(said.contains(reason), "{archive}: {said}");
        }
    }

    #[test]
    fn writing_to_a_full_device_is_an_error() {
        for archive in STREAMS {
            for lines in [1, 6_000] {
                let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
                let error =
                    write(archive, full, |stream| stream.write_all(&content()[..lines * 20])).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::StorageFull, "{archive}: {error}");
            }
        }
    }
}
