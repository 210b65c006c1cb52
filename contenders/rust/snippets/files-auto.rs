// needs: the crate readlab-auto
use readlab_auto::{FileError, Files};
use std::path::PathBuf;

/// Adds up `count` over all files by threads: as many as processors if most of a few files are
/// cached, else 64, which wait for the device.
pub fn total(files: &[PathBuf], count: impl Fn(&[u8]) -> u64 + Sync) -> Result<u64, FileError> {
    let counted =
        Files::new(files).each(|| 0, |total, file| file.for_each(|_offset, piece| *total += count(piece)))?;
    Ok(counted.iter().sum())
}
