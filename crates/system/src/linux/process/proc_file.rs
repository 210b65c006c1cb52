//! Files of /proc/PID that are opened once and read many times, and the reasons why one cannot be
//! read.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Longest file that is read; /proc/PID/status has about 1.5 KiB.
const FILE_BYTES_MAX: usize = 8192;

/// Why one of the kernel's counters of a process is not available.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CounterError {
    /// The process belongs to another user, or has changed its user id.
    #[error("{file}: permission denied (the process is not this user's)")]
    NotPermitted { file: String },
    #[error("/proc/{pid} is hidden from this user (proc is mounted with hidepid)")]
    Hidden { pid: u32 },
    #[error("process {pid} has ended")]
    Ended { pid: u32 },
    #[error("{file}: {cause}")]
    Unreadable { file: String, cause: String },
    #[error("{file} has no {field} on this kernel")]
    NoField { file: String, field: &'static str },
}

/// An open file of /proc/PID, or the reason why it could not be opened.
#[derive(Debug)]
pub(super) struct ProcFile {
    pid: u32,
    path: String,
    file: Result<File, CounterError>,
}

impl ProcFile {
    pub(super) fn open(pid: u32, name: &str) -> ProcFile {
        ProcFile::open_with(pid, name, File::options().read(true))
    }

    pub(super) fn open_to_write(pid: u32, name: &str) -> ProcFile {
        ProcFile::open_with(pid, name, File::options().write(true))
    }

    fn open_with(pid: u32, name: &str, options: &std::fs::OpenOptions) -> ProcFile {
        let path = format!("/proc/{pid}/{name}");
        let file = options.open(&path).map_err(|cause| counter_error(&cause, pid, &path));
        ProcFile { pid, path, file }
    }

    /// Reads the file again and parses one value from it. `what` names the value in the error if
    /// this kernel does not have it.
    pub(super) fn read<T>(
        &self,
        parse: impl Fn(&str) -> Option<T>,
        what: &'static str,
    ) -> Result<T, CounterError> {
        let file = self.file.as_ref().map_err(CounterError::clone)?;
        let mut bytes = [0; FILE_BYTES_MAX];
        let length =
            file.read_at(&mut bytes, 0).map_err(|cause| counter_error(&cause, self.pid, &self.path))?;
        let text = String::from_utf8_lossy(&bytes[..length]);
        parse(&text).ok_or_else(|| CounterError::NoField { file: self.path.clone(), field: what })
    }

    pub(super) fn write(&self, bytes: &[u8]) -> Result<(), CounterError> {
        let file = self.file.as_ref().map_err(CounterError::clone)?;
        file.write_all_at(bytes, 0).map_err(|cause| counter_error(&cause, self.pid, &self.path))
    }
}

/// The reason why a file of /proc/PID cannot be opened, read or written.
pub(super) fn counter_error(cause: &io::Error, pid: u32, path: &str) -> CounterError {
    match cause.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) => CounterError::NotPermitted { file: path.to_owned() },
        Some(libc::ESRCH) => CounterError::Ended { pid },
        Some(libc::ENOENT) if !Path::new("/proc/self").exists() => {
            CounterError::Unreadable { file: "/proc".to_owned(), cause: "not mounted".to_owned() }
        }
        Some(libc::ENOENT) if process_exists(pid) => CounterError::Hidden { pid },
        Some(libc::ENOENT) => CounterError::Ended { pid },
        _ => CounterError::Unreadable { file: path.to_owned(), cause: cause.to_string() },
    }
}

/// True if a process with this id exists, even if this user may not signal it.
fn process_exists(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_distinguish_missing_permission_hidden_processes_and_ended_processes() {
        let me = std::process::id();
        let because = |code| counter_error(&io::Error::from_raw_os_error(code), me, "/proc/1/io");
        assert_eq!(because(libc::EACCES), CounterError::NotPermitted { file: "/proc/1/io".into() });
        assert_eq!(because(libc::ENOENT), CounterError::Hidden { pid: me });
        assert_eq!(because(libc::ESRCH), CounterError::Ended { pid: me });
        assert!(because(libc::EIO).to_string().starts_with("/proc/1/io: "));
    }
}
