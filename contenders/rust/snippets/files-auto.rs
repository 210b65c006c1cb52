// needs: the crate readlab-auto
use readlab_auto::{FileError, Files};
use std::path::PathBuf;

/// Adds up `count` over all files by threads. There is one thread for each processor if a sample of
/// the files is mostly cached, else 64 threads, which wait for the device.
pub fn total(files: &[PathBuf], count: impl Fn(&[u8]) -> u64 + Sync) -> Result<u64, FileError> {
    let counted =
        Files::new(files).each(|| 0, |total, file| file.for_each(|_offset, piece| *total += count(piece)))?;
    Ok(counted.iter().sum())
}
