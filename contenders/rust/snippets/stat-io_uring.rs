// needs: unsafe code; the crate io-uring; the crate libc
use io_uring::types::{self, Fd};
use io_uring::{IoUring, opcode};
use std::ffi::CString;
use std::fs;
use std::io;
use std::mem;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

const DEPTH: usize = 64; // = depth

/// Adds up the sizes of all files below a folder. The ring requests the status of `DEPTH` names at
/// a time. Links are not followed.
pub fn total(folder: &Path) -> io::Result<u64> {
    let mut ring = IoUring::new(DEPTH.next_power_of_two() as u32)?;
    let (mut total, mut folders, mut names) = (0, vec![folder.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
                continue;
            }
            names.push(CString::new(entry.path().into_os_string().into_vec())?);
            if names.len() == DEPTH {
                total += sizes_of_names(&mut ring, &mem::take(&mut names))?;
            }
        }
    }
    Ok(total + sizes_of_names(&mut ring, &names)?)
}

fn sizes_of_names(ring: &mut IoUring, names: &[CString]) -> io::Result<u64> {
    // SAFETY: zeros are a valid status.
    let mut statuses: Vec<libc::statx> = vec![unsafe { mem::zeroed() }; names.len()];
    for (name, status) in names.iter().zip(&mut statuses) {
        let place = (&raw mut *status).cast::<types::statx>();
        let ask = opcode::Statx::new(Fd(libc::AT_FDCWD), name.as_ptr(), place);
        let ask = ask.flags(libc::AT_SYMLINK_NOFOLLOW).mask(libc::STATX_TYPE | libc::STATX_SIZE).build();
        // SAFETY: names and statuses stay where they are until all operations have completed.
        unsafe { ring.submission().push(&ask) }.expect("the ring has room for all");
    }
    let mut pending = names.len();
    let mut failed = 0;
    while pending > 0 {
        match ring.submit_and_wait(pending) {
            Err(error) if error.raw_os_error() != Some(libc::EINTR) => std::process::abort(),
            _ => {}
        }
        for completion in ring.completion() {
            pending -= 1;
            failed = failed.min(completion.result());
        }
    }
    if failed < 0 {
        return Err(io::Error::from_raw_os_error(-failed));
    }
    let is_file = |status: &&libc::statx| u32::from(status.stx_mode) & libc::S_IFMT == libc::S_IFREG;
    Ok(statuses.iter().filter(is_file).map(|status| status.stx_size).sum())
}
