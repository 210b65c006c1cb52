// needs: unsafe code; the crate io-uring; the crate libc
use io_uring::squeue::Flags;
use io_uring::types::{DestinationSlot, Fd, Fixed};
use io_uring::{IoUring, opcode};
use std::ffi::CString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

const BUFFER_BYTES: usize = 65536; // = buffer_bytes
const DEPTH: usize = 64; // = depth

/// Adds up `count` over all files. The open, read and close of a file are linked in a ring, for
/// `DEPTH` files at a time. A file that fills its buffer is read again as a whole.
pub fn total(files: &[PathBuf], count: impl Fn(&[u8]) -> u64) -> io::Result<u64> {
    let mut ring = IoUring::new((DEPTH * 3).next_power_of_two() as u32)?;
    ring.submitter().register_files_sparse(DEPTH as u32)?;
    let mut buffers = vec![vec![0_u8; BUFFER_BYTES]; DEPTH];
    let mut total = 0;
    for some in files.chunks(DEPTH) {
        let names = some.iter().map(|path| CString::new(path.as_os_str().as_bytes()));
        let names = names.collect::<Result<Vec<CString>, _>>()?;
        for (slot, (name, buffer)) in names.iter().zip(&mut buffers).enumerate() {
            let fixed = Fixed(slot as u32);
            let place = DestinationSlot::try_from_slot_target(slot as u32).expect("a small number");
            let open = opcode::OpenAt::new(Fd(libc::AT_FDCWD), name.as_ptr()).file_index(Some(place));
            let read = opcode::Read::new(fixed, buffer.as_mut_ptr(), BUFFER_BYTES as u32);
            let linked = [
                open.flags(libc::O_RDONLY).build().flags(Flags::IO_LINK).user_data(0),
                read.build().flags(Flags::IO_HARDLINK).user_data(1 + slot as u64),
                opcode::Close::new(fixed).build().user_data(0),
            ];
            // SAFETY: names and buffers stay in place until all operations have completed.
            unsafe { ring.submission().push_multiple(&linked) }.expect("the ring has room for all");
        }
        let mut lengths = vec![0; some.len()];
        let mut pending = some.len() * 3;
        while pending > 0 {
            match ring.submit_and_wait(1) {
                Err(error) if error.raw_os_error() != Some(libc::EINTR) => std::process::abort(),
                _ => {}
            }
            for completion in ring.completion() {
                pending -= 1;
                if let Some(slot) = completion.user_data().checked_sub(1) {
                    lengths[slot as usize] = completion.result();
                }
            }
        }
        for ((path, buffer), length) in some.iter().zip(&buffers).zip(lengths) {
            total += match usize::try_from(length) {
                Ok(length) if length < BUFFER_BYTES => count(&buffer[..length]),
                Ok(_) => count(&fs::read(path)?),
                Err(_) => return Err(io::Error::from_raw_os_error(-length)),
            };
        }
    }
    Ok(total)
}
