//! Tests whether this process may use io_uring.

use super::kernel_file::read_line;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

/// The reason why the kernel refuses to set up the smallest ring, with the name of the sysctl that
/// disables io_uring; `None` if the kernel sets it up.
pub fn refusal() -> Option<String> {
    // `struct io_uring_params` is 120 bytes long; zeros request no options.
    let mut params = [0_u64; 15];
    // SAFETY: io_uring_setup(2) reads and writes only the 120 bytes of `params`, which outlive the
    // call; a ring that it opens is a file descriptor that is closed below.
    let ring = unsafe { libc::syscall(libc::SYS_io_uring_setup, 1, params.as_mut_ptr()) };
    let cause = io::Error::last_os_error();
    if let Ok(ring @ 0..) = i32::try_from(ring) {
        // SAFETY: the descriptor was opened above, and nothing else uses it.
        drop(unsafe { OwnedFd::from_raw_fd(ring) });
        return None;
    }
    Some(match read_line("/proc/sys/kernel/io_uring_disabled").as_deref() {
        Some("2") => "kernel.io_uring_disabled is 2: switched off for all".to_owned(),
        Some("1") => "kernel.io_uring_disabled is 1: switched off for ordinary users".to_owned(),
        _ => format!("io_uring_setup: {cause}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_io_uring_has_a_reason() {
        if let Some(reason) = refusal() {
            assert!(reason.contains("io_uring"), "{reason}");
        }
    }
}
