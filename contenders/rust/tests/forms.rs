//! Makes archives with given content, by the crates that write them.

use flate2::Compression;
use flate2::write::GzEncoder;
use readlab_protocol::Archive;
use std::io::{Cursor, Write};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

pub(crate) fn zip(parts: &[&[u8]], options: SimpleFileOptions) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    archive.add_directory("a folder", options).unwrap();
    for (at, part) in parts.iter().enumerate() {
        archive.start_file(format!("a folder/entry {at}"), options).unwrap();
        archive.write_all(part).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

pub(crate) fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// The content in blocks as `bgzip` writes them: gzip members that state their length, of at most
/// this size, and an empty one at the end.
pub(crate) fn bgzf(content: &[u8], block_bytes: usize) -> Vec<u8> {
    let block = |content: &[u8]| {
        let mut deflated = flate2::write::DeflateEncoder::new(Vec::new(), Compression::default());
        deflated.write_all(content).unwrap();
        let deflated = deflated.finish().unwrap();
        let mut crc = flate2::Crc::new();
        crc.update(content);
        let length = u16::try_from(18 + deflated.len() + 8 - 1).unwrap().to_le_bytes();
        let head = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0";
        let tail = [crc.sum().to_le_bytes(), (content.len() as u32).to_le_bytes()].concat();
        [&head[..], &length, &deflated, &tail].concat()
    };
    content.chunks(block_bytes).chain([&[][..]]).flat_map(block).collect()
}

/// One frame or stream of a format that has no entries.
pub(crate) fn stream(archive: Archive, content: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    match archive {
        Archive::Zip | Archive::Gzip => panic!("{archive} has functions of its own"),
        Archive::Zstd => {
            let mut encoder = zstd::Encoder::new(&mut out, 1).unwrap();
            encoder.include_checksum(true).unwrap();
            encoder.write_all(content).unwrap();
            encoder.finish().unwrap();
        }
        Archive::Lz4 => {
            let mut encoder = lz4::EncoderBuilder::new().build(&mut out).unwrap();
            encoder.write_all(content).unwrap();
            encoder.finish().1.unwrap();
        }
        Archive::Xz => {
            let mut encoder = liblzma::write::XzEncoder::new(&mut out, 1);
            encoder.write_all(content).unwrap();
            encoder.finish().unwrap();
        }
        Archive::Bzip2 => {
            let mut encoder = bzip2::write::BzEncoder::new(&mut out, bzip2::Compression::fast());
            encoder.write_all(content).unwrap();
            encoder.finish().unwrap();
        }
        Archive::Snappy => {
            out.extend_from_slice(b"\xff\x06\0\0sNaPpY");
            let mut encoder = snap::write::FrameEncoder::new(&mut out);
            encoder.write_all(content).unwrap();
            encoder.flush().unwrap();
        }
        Archive::Brotli => {
            let mut encoder = brotli::CompressorWriter::new(&mut out, 4096, 2, 22);
            encoder.write_all(content).unwrap();
        }
    }
    out
}
