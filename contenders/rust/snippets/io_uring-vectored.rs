// needs: unsafe code; the crate io-uring; the crate libc
use io_uring::{IoUring, opcode, types};
use std::fs::OpenOptions;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

const BUFFER_BYTES: usize = 8192; // = buffer_bytes
const BUFFERS: usize = 32; // = buffers
const DEPTH: usize = 1; // = depth
const DIRECT: bool = false; // = direct

const SLOT_BYTES: usize = BUFFERS * BUFFER_BYTES;

/// Alignment that O_DIRECT requires of buffers and lengths on common devices.
const BLOCK_BYTES: usize = 4096;

/// Ends the process if a panic would free memory that reads in flight still write into.
struct NoUnwinding;

impl Drop for NoUnwinding {
    fn drop(&mut self) {
        if std::thread::panicking() {
            std::process::abort();
        }
    }
}

/// Adds up `count` over the file's bytes in the order in which reads complete, with `DEPTH` reads
/// in flight.
pub fn total(path: &Path, count: impl Fn(&[u8]) -> u64) -> io::Result<u64> {
    let flags = if DIRECT { libc::O_DIRECT } else { 0 };
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let size = file.metadata()?.len();
    let mut memory = vec![0_u8; DEPTH * SLOT_BYTES + BLOCK_BYTES];
    let begin = memory.as_ptr().align_offset(BLOCK_BYTES);
    let (buffers, _) = memory[begin..].split_at_mut(DEPTH * SLOT_BYTES);
    let mut slots: Vec<(u64, &mut [u8])> = buffers.chunks_mut(SLOT_BYTES).map(|slot| (0, slot)).collect();
    let nothing = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
    let mut vectors = vec![[nothing; BUFFERS]; DEPTH];
    let mut ring = IoUring::new(DEPTH.next_power_of_two() as u32)?;
    let _guard = NoUnwinding;
    let (mut next, mut in_flight, mut total) = (0, 0, 0);
    let mut free: Vec<usize> = (0..DEPTH).collect();
    let mut failure = None;
    loop {
        while failure.is_none() && next < size {
            let Some(slot) = free.pop() else { break };
            let (at, buffer) = &mut slots[slot];
            *at = next;
            for (vector, part) in vectors[slot].iter_mut().zip(buffer.chunks_mut(BUFFER_BYTES)) {
                *vector = libc::iovec { iov_base: part.as_mut_ptr().cast(), iov_len: part.len() };
            }
            let read =
                opcode::Readv::new(types::Fd(file.as_raw_fd()), vectors[slot].as_ptr(), BUFFERS as u32);
            // SAFETY: buffers and vector are not accessed until their read has completed, and the
            // function does not return before all reads have.
            unsafe { ring.submission().push(&read.offset(next).build().user_data(slot as u64)) }
                .expect("the ring has room for all slots");
            next += SLOT_BYTES as u64;
            in_flight += 1;
        }
        if in_flight == 0 {
            return failure.map_or(Ok(total), Err);
        }
        match ring.submit_and_wait(1) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            // Reads in flight would write into freed memory.
            Err(_) => std::process::abort(),
        }
        for landed in ring.completion() {
            in_flight -= 1;
            let slot = landed.user_data() as usize;
            let (at, buffer) = &mut slots[slot];
            let wanted = (size - *at).min(SLOT_BYTES as u64) as usize;
            let brought = usize::try_from(landed.result()).map(|length| length.min(wanted));
            let whole = match brought {
                // A read may return fewer bytes than requested.
                Ok(length) => file.read_exact_at(&mut buffer[length..wanted], *at + length as u64),
                Err(_) => Err(io::Error::from_raw_os_error(-landed.result())),
            };
            match whole {
                Ok(()) => total += buffer[..wanted].chunks(BUFFER_BYTES).map(&count).sum::<u64>(),
                Err(error) => failure = Some(error),
            }
            free.push(slot);
        }
    }
}
