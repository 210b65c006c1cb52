// needs: the crate rustix
use rustix::fs::{Advice, fadvise};
use std::fs::File;
use std::io;
use std::num::NonZero;
use std::os::unix::fs::FileExt;
use std::path::Path;

const BLOCK_BYTES: usize = 4096;
const DEPTH: usize = 16; // = depth

/// Adds up `count` over the blocks at these offsets. The next places are requested from the kernel,
/// which reads them while the current block is visited.
pub fn total(path: &Path, offsets: &[u64], count: impl Fn(&[u8]) -> u64) -> io::Result<u64> {
    let file = File::open(path)?;
    let tell = |offset| fadvise(&file, offset, NonZero::new(BLOCK_BYTES as u64), Advice::WillNeed);
    let (mut block, mut total) = (vec![0; BLOCK_BYTES], 0);
    offsets.iter().take(DEPTH - 1).try_for_each(|&offset| tell(offset))?;
    for (number, &offset) in offsets.iter().enumerate() {
        if let Some(&next) = offsets.get(number + DEPTH - 1) {
            tell(next)?;
        }
        file.read_exact_at(&mut block, offset)?;
        total += count(&block);
    }
    Ok(total)
}
