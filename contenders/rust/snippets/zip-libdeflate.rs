// needs: the crates zip and libdeflater; memory for the whole file
use libdeflater::{Decompressor, crc32};
use std::fs;
use std::io::{self, Cursor, Read};
use std::path::Path;
use zip::{CompressionMethod, ZipArchive};

/// Adds up `count` over what comes out of all entries of a zip, entry by entry.
pub fn total(path: &Path, count: impl Fn(&[u8]) -> u64) -> io::Result<u64> {
    let mut archive = ZipArchive::new(Cursor::new(fs::read(path)?))?;
    let mut decompressor = Decompressor::new();
    let mut total = 0;
    for index in 0..archive.len() {
        let mut entry = archive.by_index_raw(index)?;
        let mut packed = Vec::with_capacity(entry.compressed_size() as usize);
        entry.read_to_end(&mut packed)?;
        let content = if entry.compression() == CompressionMethod::Deflated {
            let mut content = vec![0; entry.size() as usize];
            decompressor.deflate_decompress(&packed, &mut content).map_err(io::Error::other)?;
            content
        } else {
            packed
        };
        if crc32(&content) != entry.crc32() {
            return Err(io::Error::other("the checksum of an entry is wrong"));
        }
        total += count(&content);
    }
    Ok(total)
}
