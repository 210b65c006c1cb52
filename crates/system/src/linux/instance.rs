//! Lets readlabs of all users on one machine detect each other, because they distort each other's
//! measurements.
//!
//! While it measures, a lab listens at an abstract socket, whose name begins alike for all labs
//! with the same folder for temporary files. The kernel reports the process that listens (unix(7),
//! `SO_PEERCRED`). Nothing waits for a listener, because any user can bind a name like these and
//! let the queue of the socket fill. Abstract names are no files, so nothing is left behind however
//! a lab ends. Labs with different temporary folders (`TMPDIR`) or network namespaces do not detect
//! each other; `readlab doctor` searches for other labs by their process names.

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::linux::fs::MetadataExt;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::time::{Duration, Instant};

/// The kernel's list of sockets, in which an abstract name begins with `@`.
const SOCKET_LIST: &str = "/proc/net/unix";

/// Beginning of the socket name of every measuring lab; the folder follows.
const NAME_PREFIX: &str = "readlab measures in ";

/// Beginning of the socket name of the lab that changes settings of the system; the folder follows.
const SETTINGS_PREFIX: &str = "readlab changes settings in ";

/// Stands for a process whose id the kernel does not report, because the process is not visible
/// from this namespace or the queue of its socket is full.
const UNKNOWN_PROCESS: u32 = 0;

/// Time between two checks. A check takes some hundred microseconds if many programs have sockets,
/// and a lab that measures for less than this time distorts nothing.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// A lab that measures. Other labs can detect it until this value is dropped.
#[derive(Debug)]
pub struct MeasuringLab {
    /// Beginning of the socket names of all labs with the same folder for temporary files.
    prefix: String,
    /// The name and the listening socket of this lab; `None` if it could not listen. Other labs are
    /// detected in any case.
    own_socket: Option<(String, UnixListener)>,
    /// The socket names of labs that `new_lab_pids` has already reported.
    known_names: BTreeSet<String>,
    last_check: Option<Instant>,
}

impl MeasuringLab {
    pub fn begin() -> MeasuringLab {
        MeasuringLab::with_prefix(format!("{NAME_PREFIX}{}: ", temporary_folder_id()))
    }

    fn with_prefix(prefix: String) -> MeasuringLab {
        // The time in the name distinguishes several measuring parts of one process.
        let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        let name = format!("{prefix}{} {}", std::process::id(), now.as_nanos());
        let listener = address(&name).and_then(|address| UnixListener::bind_addr(&address).ok());
        MeasuringLab {
            prefix,
            own_socket: listener.map(|it| (name, it)),
            known_names: BTreeSet::new(),
            last_check: None,
        }
    }

    /// The process ids of labs that were not reported before; 0 for a lab whose process is unknown.
    /// Empty without a check if the last check was less than `CHECK_INTERVAL` ago.
    pub fn new_lab_pids(&mut self) -> Vec<u32> {
        if self.last_check.is_some_and(|checked| checked.elapsed() < CHECK_INTERVAL) {
            return Vec::new();
        }
        self.last_check = Some(Instant::now());
        let sockets = socket_list();
        let is_own = |name: &str| self.own_socket.as_ref().is_some_and(|(own, _)| own == name);
        let others: Vec<&str> =
            measuring_lab_names(&sockets, &self.prefix).filter(|name| !is_own(name)).collect();
        let new = others.into_iter().filter(|name| self.known_names.insert((*name).to_owned()));
        new.filter_map(listener_pid_at).filter(|pid| *pid != std::process::id()).collect()
    }
}

/// The right to change settings of the system. Of all labs with the same folder for temporary
/// files, one has the lock at a time: a second lab would later restore values that the first lab
/// races. A copy of the lock's descriptor in another process keeps the lock, too.
#[derive(Debug)]
pub struct SettingsLock {
    listener: UnixListener,
}

impl SettingsLock {
    /// Takes the lock until the value is dropped; an error says which lab has it.
    pub fn take() -> Result<SettingsLock, String> {
        SettingsLock::with_name(&format!("{SETTINGS_PREFIX}{}", temporary_folder_id()))
    }

    fn with_name(name: &str) -> Result<SettingsLock, String> {
        let bound = SocketAddr::from_abstract_name(name).and_then(|it| UnixListener::bind_addr(&it));
        let lock = bound.map(|listener| SettingsLock { listener });
        lock.map_err(|error| match (error.kind(), listener_pid_at(name)) {
            // The kernel remembers the process that began to listen.
            (ErrorKind::AddrInUse, Some(pid)) if pid != UNKNOWN_PROCESS && !is_running(pid) => format!(
                "those that another readlab (process {pid}) changed before it was killed are being restored: try again in \
                 some seconds"
            ),
            (ErrorKind::AddrInUse, pid) => {
                format!("{} races settings of this machine", lab_words(pid.unwrap_or(UNKNOWN_PROCESS)))
            }
            _ => error.to_string(),
        })
    }
}

impl AsFd for SettingsLock {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}

/// True if a process runs; the command line of a zombie is empty.
fn is_running(pid: u32) -> bool {
    std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|words| !words.is_empty())
}

/// Device and inode number of the folder for temporary files, as the names of sockets contain them.
fn temporary_folder_id() -> String {
    let folder = std::fs::metadata(std::env::temp_dir()).map_or((0, 0), |it| (it.st_dev(), it.st_ino()));
    format!("{}:{}", folder.0, folder.1)
}

pub fn concurrent_lab_warning(pid: u32) -> String {
    format!(
        "{} measured on this machine at the same time: both share its processors, caches and device, and the numbers of \
         both are spoiled",
        lab_words(pid)
    )
}

fn lab_words(pid: u32) -> String {
    match pid {
        UNKNOWN_PROCESS => "another readlab".to_owned(),
        pid => format!("another readlab (process {pid})"),
    }
}

/// The kernel's list of sockets. A name may contain bytes that are not UTF-8; they are replaced, so
/// that the other names can still be read.
fn socket_list() -> String {
    String::from_utf8_lossy(&std::fs::read(SOCKET_LIST).unwrap_or_default()).into_owned()
}

fn address(name: &str) -> Option<SocketAddr> {
    SocketAddr::from_abstract_name(name).ok()
}

/// The socket names of measuring labs: the text after `@` in each line. A connection that waits to
/// be accepted has the name of its listener.
fn measuring_lab_names<'a>(sockets: &'a str, prefix: &'a str) -> impl Iterator<Item = &'a str> {
    sockets
        .lines()
        .filter_map(|line| line.split_once(" @").map(|(_, name)| name))
        .filter(move |name| name.starts_with(prefix))
}

/// The id of the process that listens at a name; 0 if the kernel does not show the process, or the
/// queue of its socket is full. A full queue counts, because any user could otherwise hide a lab by
/// filling its queue. `None` if no process listens.
fn listener_pid_at(name: &str) -> Option<u32> {
    let address = SocketAddrUnix::new_abstract_name(name.as_bytes()).ok()?;
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).ok()?;
    match connect(&socket, &address) {
        Ok(()) => peer_pid(&socket),
        Err(Errno::AGAIN) => Some(UNKNOWN_PROCESS),
        Err(_) => None,
    }
}

/// The id of the process that listened when this socket was connected.
fn peer_pid(socket: &OwnedFd) -> Option<u32> {
    let mut peer = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut bytes = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `bytes` bytes into a live local. rustix has no number 0 for
    // a process of another namespace.
    let code = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &raw mut bytes,
        )
    };
    (code == 0).then_some(peer.pid.cast_unsigned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::net::{bind, listen};
    use std::fs::File;

    /// A measuring lab under a name that no lab of this machine reports, and no other run of the
    /// tests.
    fn test_instance() -> MeasuringLab {
        MeasuringLab::with_prefix(format!("readlab tests {}: ", std::process::id()))
    }

    #[test]
    fn only_sockets_of_measuring_labs_count() {
        let sockets = "Num       RefCount Protocol Flags    Type St Inode Path\n\
                       0000000000000000: 00000002 00000000 00010000 0001 01 16613 /run/a @readlab\n\
                       0000000000000000: 00000002 00000000 00010000 0001 01 16614\n\
                       0000000000000000: 00000002 00000000 00010000 0001 01 16615 @readlab measures in 1:2: 7 12\n\
                       0000000000000000: 00000003 00000000 00000000 0001 02 0 @readlab measures in 1:2: 7 12\n\
                       0000000000000000: 00000002 00000000 00010000 0001 01 16616 @readlab measures in 1:3: 8 12\n";
        let prefix = "readlab measures in 1:2: ";
        assert_eq!(
            measuring_lab_names(sockets, prefix).collect::<Vec<_>>(),
            ["readlab measures in 1:2: 7 12"; 2]
        );
    }

    #[test]
    fn one_lab_at_a_time_changes_settings() {
        let take = || SettingsLock::with_name(&format!("readlab tests settings {}", std::process::id()));
        let lock = take().unwrap();
        let refusal = take().unwrap_err();
        let own = format!("another readlab (process {}) races settings of this machine", std::process::id());
        assert_eq!(refusal, own);
        drop(lock);
        assert!(take().is_ok());
    }

    #[test]
    fn a_lab_is_detected_while_it_measures_and_locks_of_other_programs_have_no_effect() {
        let folder = File::open(std::env::temp_dir()).unwrap();
        for lock in [File::try_lock_shared, File::try_lock] {
            // Another test may hold the lock; then the lock is held by another process, which is
            // the case under test.
            let _ = lock(&folder);
            let mut own = test_instance();
            let (name, _) = own.own_socket.as_ref().unwrap();
            let (name, prefix) = (name.clone(), own.prefix.clone());
            assert!(measuring_lab_names(&socket_list(), &prefix).any(|it| it == name));
            assert_eq!(listener_pid_at(&name), Some(std::process::id()));
            assert!(!own.new_lab_pids().contains(&std::process::id()));
            drop(own);
            assert!(!measuring_lab_names(&socket_list(), &prefix).any(|it| it == name));
            folder.unlock().unwrap();
        }
    }

    /// A stream socket that does not wait.
    fn stream_socket() -> OwnedFd {
        socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::NONBLOCK, None).unwrap()
    }

    #[test]
    fn a_lab_whose_queue_is_full_is_detected_without_waiting() {
        let mut own = test_instance();
        let name = format!("{}full {}", own.prefix, std::process::id());
        let address = SocketAddrUnix::new_abstract_name(name.as_bytes()).unwrap();
        let listener = stream_socket();
        bind(&listener, &address).unwrap();
        listen(&listener, 0).unwrap();
        let mut queued = Vec::new();
        let refusal = loop {
            let socket = stream_socket();
            if let Err(error) = connect(&socket, &address) {
                break error;
            }
            queued.push(socket);
        };
        assert_eq!(refusal, Errno::AGAIN);
        assert_eq!(listener_pid_at(&name), Some(UNKNOWN_PROCESS));
        assert!(own.new_lab_pids().contains(&UNKNOWN_PROCESS));
        assert!(
            concurrent_lab_warning(UNKNOWN_PROCESS).starts_with("another readlab measured on this machine")
        );
        drop(queued);
    }

    #[test]
    fn a_name_that_is_no_text_hides_no_lab() {
        let name = [b"\xff no text ".as_slice(), std::process::id().to_string().as_bytes()].concat();
        let strange = SocketAddr::from_abstract_name(name).unwrap();
        let _socket = UnixListener::bind_addr(&strange).unwrap();
        let own = test_instance();
        let (name, _) = own.own_socket.as_ref().unwrap();
        assert!(measuring_lab_names(&socket_list(), &own.prefix).any(|it| it == name));
    }
}
