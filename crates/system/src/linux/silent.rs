//! Detects paths whose file system does not respond. A network or user-space file system may block
//! a process for ever when the process accesses a path, and even SIGKILL does not end the wait. So
//! a forked child process accesses the path. If the child cannot be killed, init becomes its
//! parent, and this process can end.

use crate::descriptor::{becomes_readable, close_pipes_and_sockets};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a killed child may take to end.
const END_LIMIT: Duration = Duration::from_millis(200);

const WAIT_STEP: Duration = Duration::from_millis(2);

/// Number of descriptors that a child closes one by one if the kernel cannot close a range.
const DESCRIPTORS_MAX: RawFd = 1024;

/// Steps of the child for each path, each with the time limit: status and opening, then first
/// bytes.
const STEPS_PER_PATH: usize = 2;

/// Number of bytes that are read from a folder; its first entry is shorter.
const ENTRIES_BYTES: usize = 1024;

/// Number of bytes of the file that the child reads at once; a pipe holds as many.
const PIECE_BYTES: usize = 1 << 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
/// What the child does with each path to see whether its file system responds.
pub enum ResponseProbe {
    /// Reads the path's status, and opens the path if it is a file or a folder.
    Status,
    /// Also reads the first bytes.
    Bytes,
}

/// The index of the first path that takes longer than the limit for its status, for opening it
/// (files and folders only), or for its first bytes if requested. Of consecutive paths on one file
/// system only the first is read. `None` if all paths respond, or no child can be started.
pub fn first_unresponsive_index(paths: &[&Path], asked: ResponseProbe, limit: Duration) -> Option<usize> {
    // A name with a zero byte is replaced by an empty name, because the kernel cannot be asked
    // about it.
    let names: Vec<CString> =
        paths.iter().map(|path| CString::new(path.as_os_str().as_bytes()).unwrap_or_default()).collect();
    let (mut done, writer) = io::pipe().ok()?;
    // SAFETY: the child makes system calls alone, on what was allocated before, and never returns.
    let child = match unsafe { libc::fork() } {
        -1 => return None,
        // SAFETY: this is the process that was just forked.
        0 => unsafe { probe_paths(&names, asked, writer.as_raw_fd()) },
        child => Pid::from_raw(child)?,
    };
    drop(writer);
    let mut seen = 0;
    while seen < STEPS_PER_PATH * names.len() {
        match becomes_readable(&done, Instant::now() + limit) {
            Ok(true) => match done.read(&mut [0; 256]) {
                Ok(0) => break,
                Ok(count) => seen += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            },
            Ok(false) => {
                kill_or_abandon(child);
                return Some(seen / STEPS_PER_PATH);
            }
            Err(_) => break,
        }
    }
    // The child has reported all paths, or ended before.
    let _ = retry_on_intr(|| waitpid(Some(child), WaitOptions::empty()));
    None
}

/// A file that a child process reads for this process. If a read takes longer than the limit, this
/// process gets an error, and only the child keeps waiting.
#[derive(Debug)]
pub struct WatchedFile {
    pipe: io::PipeReader,
    /// `None` after the child has been reaped.
    child: Option<Pid>,
    limit: Duration,
}

impl WatchedFile {
    /// Reads at most this many bytes of an open file, from its current offset.
    pub fn begin(file: &File, most_bytes: u64, limit: Duration) -> io::Result<WatchedFile> {
        let (pipe, writer) = io::pipe()?;
        // SAFETY: the child makes system calls alone, on its stack, and never returns.
        let child = match unsafe { libc::fork() } {
            -1 => return Err(io::Error::last_os_error()),
            // SAFETY: this is the process that was just forked.
            0 => unsafe { copy_to_pipe(file.as_raw_fd(), most_bytes, writer.as_raw_fd()) },
            child => Pid::from_raw(child),
        };
        Ok(WatchedFile { pipe, child, limit })
    }

    /// Waits for the child and returns the error that ended its reading. The child's exit code is 0
    /// at the end of the file, and otherwise the error number.
    fn end(&mut self) -> io::Result<()> {
        let Some(child) = self.child.take() else { return Ok(()) };
        let ended = retry_on_intr(|| waitpid(Some(child), WaitOptions::empty()))?;
        result_of_child(ended.and_then(|(_, status)| status.exit_status()))
    }
}

/// The result of a child whose exit code is 0 or the number of an error.
fn result_of_child(exit_code: Option<i32>) -> io::Result<()> {
    match exit_code {
        Some(0) => Ok(()),
        Some(number) => Err(io::Error::from_raw_os_error(number)),
        None => Err(io::Error::other("the process that reads or writes it was ended")),
    }
}

/// Writes all dirty data of a file system to its device. This may take any time, and no signal ends
/// the wait, so a child process waits; it is abandoned if `check` returns an error.
pub(super) fn sync_in_child(folder: &File, check: &dyn Fn() -> io::Result<()>) -> io::Result<()> {
    // SAFETY: the child makes system calls alone, and never returns.
    let child = match unsafe { libc::fork() } {
        -1 => return Err(io::Error::last_os_error()),
        // SAFETY: this is the process that was just forked.
        0 => unsafe { sync_and_exit(folder.as_raw_fd()) },
        child => Pid::from_raw(child).ok_or(io::ErrorKind::Other)?,
    };
    loop {
        if let Err(error) = check() {
            kill_or_abandon(child);
            return Err(error);
        }
        if let Some((_, status)) = waitpid(Some(child), WaitOptions::NOHANG)? {
            return result_of_child(status.exit_status());
        }
        std::thread::sleep(WAIT_STEP);
    }
}

impl Read for WatchedFile {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if !becomes_readable(&self.pipe, Instant::now() + self.limit)? {
            let why = format!("its file system did not answer within {} s", self.limit.as_secs());
            return Err(io::Error::new(io::ErrorKind::TimedOut, why));
        }
        match self.pipe.read(bytes)? {
            0 if !bytes.is_empty() => self.end().map(|()| 0),
            count => Ok(count),
        }
    }
}

impl Drop for WatchedFile {
    fn drop(&mut self) {
        self.child.take().into_iter().for_each(kill_or_abandon);
    }
}

fn kill_or_abandon(child: Pid) {
    // The child exists, because it was not reaped.
    let _ = kill_process(child, Signal::KILL);
    let end = Instant::now() + END_LIMIT;
    while matches!(waitpid(Some(child), WaitOptions::NOHANG), Ok(None)) && Instant::now() < end {
        std::thread::sleep(WAIT_STEP);
    }
}

/// The child's code: accesses each path, and writes a byte after each step.
///
/// # Safety
/// Only in a process that was just forked.
unsafe fn probe_paths(names: &[CString], asked: ResponseProbe, writer: RawFd) -> ! {
    // SAFETY: none of these calls allocates or takes a lock, and every pointer is to a live local.
    unsafe {
        close_descriptors_except([writer]);
        let mut read_from = None;
        for name in names {
            let mut status = MaybeUninit::<libc::stat>::zeroed();
            let is_there = libc::stat(name.as_ptr(), status.as_mut_ptr()) == 0;
            let status = status.assume_init();
            let kind = status.st_mode & libc::S_IFMT;
            // Opening anything but a file or folder may have side effects.
            let file = if is_there && (kind == libc::S_IFREG || kind == libc::S_IFDIR) {
                libc::open(name.as_ptr(), libc::O_RDONLY | libc::O_NONBLOCK | libc::O_CLOEXEC)
            } else {
                -1
            };
            report_step(writer);
            if file >= 0 {
                if asked == ResponseProbe::Bytes && read_from.replace(status.st_dev) != Some(status.st_dev) {
                    read_first_bytes(file, kind == libc::S_IFDIR);
                }
                libc::close(file);
            }
            report_step(writer);
        }
        libc::_exit(0)
    }
}

/// The code of the reading child: reads a file, and writes its bytes to the pipe.
///
/// # Safety
/// Only in a process that was just forked.
unsafe fn copy_to_pipe(file: RawFd, most_bytes: u64, writer: RawFd) -> ! {
    let (mut piece, mut left) = ([0_u8; PIECE_BYTES], most_bytes);
    // SAFETY: none of these calls allocates or takes a lock, and every pointer is to live bytes.
    unsafe {
        close_descriptors_except([file, writer]);
        while left > 0 {
            let most = usize::try_from(left).map_or(PIECE_BYTES, |left| left.min(PIECE_BYTES));
            let Ok(count) = usize::try_from(libc::read(file, piece.as_mut_ptr().cast(), most)) else {
                match Errno::from_io_error(&io::Error::last_os_error()) {
                    Some(Errno::INTR) => continue,
                    error => libc::_exit(error.map_or(libc::EIO, Errno::raw_os_error)),
                }
            };
            if count == 0 {
                break;
            }
            left -= count as u64;
            let mut written = 0;
            while written < count {
                let rest = &piece[written..count];
                match usize::try_from(libc::write(writer, rest.as_ptr().cast(), rest.len())) {
                    Ok(more) => written += more,
                    // The reader of the pipe is gone.
                    Err(_) => libc::_exit(libc::EPIPE),
                }
            }
        }
        libc::_exit(0)
    }
}

/// The code of the child that writes dirty data.
///
/// # Safety
/// Only in a process that was just forked.
unsafe fn sync_and_exit(folder: RawFd) -> ! {
    // SAFETY: none of these calls allocates or takes a lock.
    unsafe {
        // Other processes wait until all copies of the lab's output are closed. Files stay open: the
        // file system of one may be asked when it is closed, and may not respond.
        close_pipes_and_sockets(0);
        if libc::syncfs(folder) == 0 {
            libc::_exit(0);
        }
        let error = Errno::from_io_error(&io::Error::last_os_error());
        libc::_exit(error.map_or(libc::EIO, Errno::raw_os_error))
    }
}

/// Reports a finished step; ends the process if the reader of the pipe is gone.
///
/// # Safety
/// Only in a process that was just forked.
unsafe fn report_step(writer: RawFd) {
    // SAFETY: the pointer is to a live byte.
    unsafe {
        if libc::write(writer, [0_u8].as_ptr().cast(), 1) != 1 {
            libc::_exit(0);
        }
    }
}

/// Reads the first byte of a file, or the first entries of a folder. Read-ahead is disabled, so
/// that at most one page of the file enters the page cache and the caches below it.
///
/// # Safety
/// Only in a process that was just forked.
unsafe fn read_first_bytes(file: RawFd, is_folder: bool) {
    let mut bytes = [0_u64; ENTRIES_BYTES / 8];
    // SAFETY: the pointer is to as many live bytes as are read.
    unsafe {
        if is_folder {
            libc::syscall(libc::SYS_getdents64, file, bytes.as_mut_ptr(), ENTRIES_BYTES);
        } else {
            libc::posix_fadvise(file, 0, 0, libc::POSIX_FADV_RANDOM);
            libc::pread(file, bytes.as_mut_ptr().cast(), 1, 0);
        }
    }
}

/// Closes all descriptors except `kept`. Other processes wait until all copies of some are closed: of
/// the lab's output, and of the launcher's socket.
///
/// # Safety
/// Only in a process that was just forked.
unsafe fn close_descriptors_except<const N: usize>(mut kept: [RawFd; N]) {
    let range = |from: RawFd, to: libc::c_uint| {
        // SAFETY: only numbers are passed.
        from.cast_unsigned() > to || unsafe { libc::syscall(libc::SYS_close_range, from, to, 0) == 0 }
    };
    kept.sort_unstable();
    let (mut from, mut is_closed) = (0, true);
    for next in kept {
        is_closed &= next == 0 || range(from, next.cast_unsigned() - 1);
        from = next + 1;
    }
    if !(is_closed && range(from, libc::c_uint::MAX)) {
        for other in (0..DESCRIPTORS_MAX).filter(|other| !kept.contains(other)) {
            // SAFETY: closing a number that is not an open descriptor fails without effect.
            unsafe { libc::close(other) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_folders_pipes_and_missing_paths_respond() {
        let folder = tempfile::tempdir().unwrap();
        let (pipe, file) = (folder.path().join("pipe"), folder.path().join("file"));
        crate::open_file::make_pipe(&pipe).unwrap();
        std::fs::write(&file, "x").unwrap();
        let nothing = folder.path().join("nothing");
        let names = [folder.path(), &pipe, &file, &nothing, Path::new(""), Path::new("/dev/tty")];
        assert_eq!(first_unresponsive_index(&names, ResponseProbe::Bytes, Duration::from_secs(60)), None);
        assert_eq!(first_unresponsive_index(&[], ResponseProbe::Bytes, Duration::ZERO), None);
    }

    #[test]
    fn a_child_reads_a_file_to_its_end_or_reports_the_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let content: Vec<u8> = (0..=250).cycle().take(3 * PIECE_BYTES + 5).collect();
        std::fs::write(&path, &content).unwrap();
        let read = |path: &Path, most_bytes| {
            let mut bytes = Vec::new();
            let file = File::open(path).unwrap();
            WatchedFile::begin(&file, most_bytes, Duration::from_secs(60))?.read_to_end(&mut bytes)?;
            Ok::<_, io::Error>(bytes)
        };
        assert!(read(&path, u64::MAX).unwrap() == content);
        assert!(read(&path, PIECE_BYTES as u64 + 1).unwrap() == content[..=PIECE_BYTES]);
        assert_eq!(read(folder.path(), u64::MAX).unwrap_err().raw_os_error(), Some(libc::EISDIR));
    }

    #[test]
    fn a_child_writes_dirty_data_until_the_check_fails() {
        let folder = tempfile::tempdir().unwrap();
        let opened = File::open(folder.path()).unwrap();
        sync_in_child(&opened, &|| Ok(())).unwrap();
        let error = sync_in_child(&opened, &|| Err(io::Error::other("the time is up"))).unwrap_err();
        assert_eq!(error.to_string(), "the time is up");
    }

    #[test]
    fn a_read_without_response_is_an_error_after_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        crate::open_file::make_pipe(&path).unwrap();
        // The pipe has a writer that never writes.
        let file = File::options().read(true).write(true).open(&path).unwrap();
        let mut watched = WatchedFile::begin(&file, u64::MAX, Duration::from_millis(50)).unwrap();
        let error = watched.read(&mut [0; 8]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut, "{error}");
    }

    #[test]
    fn each_of_many_paths_has_a_time_limit_of_its_own() {
        let names = vec![Path::new("/"); 100_000];
        assert_eq!(first_unresponsive_index(&names, ResponseProbe::Bytes, Duration::from_secs(60)), None);
    }
}
