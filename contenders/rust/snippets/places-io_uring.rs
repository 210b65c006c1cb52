// needs: unsafe code; the crate io-uring; the crate libc
use io_uring::types::Fd;
use io_uring::{IoUring, opcode};
use std::fs::OpenOptions;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The block size, which suits the alignment that O_DIRECT requires on common devices.
const BLOCK_BYTES: usize = 4096;
const DEPTH: usize = 16; // = depth
const DIRECT: u64 = 0; // = direct

/// Adds up `count` over the blocks at these offsets, `DEPTH` of them in flight.
pub fn total(path: &Path, offsets: &[u64], count: impl Fn(&[u8]) -> u64) -> io::Result<u64> {
    let flags = if DIRECT == 1 { libc::O_DIRECT } else { 0 };
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let mut ring = IoUring::new(DEPTH.next_power_of_two() as u32)?;
    let mut memory = vec![0; (DEPTH + 1) * BLOCK_BYTES];
    let begin = memory.as_ptr().align_offset(BLOCK_BYTES);
    let blocks = &mut memory[begin..begin + DEPTH * BLOCK_BYTES];
    let mut offsets = offsets.iter();
    let (mut total, mut pending, mut failed) = (0, 0, None);
    let mut free: Vec<usize> = (0..DEPTH).collect();
    loop {
        while let Some(slot) = free.pop() {
            let Some(&offset) = offsets.next().filter(|_| failed.is_none()) else { break };
            let block = blocks[slot * BLOCK_BYTES..].as_mut_ptr();
            let read = opcode::Read::new(Fd(file.as_raw_fd()), block, BLOCK_BYTES as u32);
            // SAFETY: a block stays in place and is not accessed until its read has completed.
            unsafe { ring.submission().push(&read.offset(offset).build().user_data(slot as u64)) }
                .expect("the ring has room for all");
            pending += 1;
        }
        if pending == 0 {
            return failed.map_or(Ok(total), Err);
        }
        match ring.submit_and_wait(1) {
            Err(error) if error.raw_os_error() != Some(libc::EINTR) => std::process::abort(),
            _ => {}
        }
        for completion in ring.completion() {
            pending -= 1;
            let slot = completion.user_data() as usize;
            free.push(slot);
            match completion.result() {
                length if length as usize == BLOCK_BYTES => {
                    total += count(&blocks[slot * BLOCK_BYTES..][..BLOCK_BYTES]);
                }
                code if code < 0 => failed = Some(io::Error::from_raw_os_error(-code)),
                _ => failed = Some(io::ErrorKind::UnexpectedEof.into()),
            }
        }
    }
}
