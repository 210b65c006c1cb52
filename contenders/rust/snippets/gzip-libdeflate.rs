// needs: the crate libdeflater; memory for the whole file
use libdeflater::Decompressor;
use std::fs;
use std::io;
use std::path::Path;

/// Counts in the content of a gzip with one member, which must be smaller than 4 GiB. The last four
/// bytes of the gzip are the size of the content.
pub fn total(path: &Path, count: impl Fn(&[u8]) -> u64) -> io::Result<u64> {
    let packed = fs::read(path)?;
    let length = packed.last_chunk().map_or(0, |length| u32::from_le_bytes(*length));
    let mut content = vec![0; length as usize];
    Decompressor::new().gzip_decompress(&packed, &mut content).map_err(io::Error::other)?;
    Ok(count(&content))
}
