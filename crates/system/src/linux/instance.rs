//! How labs of any user on one machine see each other, because they distort each other's numbers.
//!
//! A lab that measures listens at a name in the kernel's list of sockets, which begins alike for
//! all labs with the same folder for temporary files. The kernel tells who listens there (unix(7),
//! `SO_PEERCRED`), so that nobody stands for another; and no name is a file, so that nothing is
//! left behind, however a lab ends. Labs with folders (`TMPDIR`) or network namespaces of their own
//! do not see each other; `readlab doctor` searches for others by their names.

use std::collections::BTreeSet;
use std::os::fd::AsRawFd;
use std::os::linux::fs::MetadataExt;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::time::{Duration, Instant};

/// The kernel's list of sockets; a name that is no file begins with `@` there.
const SOCKETS: &str = "/proc/net/unix";

/// What the names of the sockets of measuring labs begin with, before their folder.
const PREFIX: &str = "readlab measures in ";

/// The time between two checks: a check takes some hundred microseconds where many programs have
/// sockets, and a lab that measures for a shorter time distorts nothing.
const INTERVAL: Duration = Duration::from_millis(100);

/// A lab that measures, which others can see until it is dropped.
#[derive(Debug)]
pub struct Instance {
    /// What the names of all labs with this folder begin with.
    prefix: String,
    /// Its name, and who listens there; `None` where it cannot: others are seen all the same.
    own: Option<(String, UnixListener)>,
    known: BTreeSet<String>,
    checked: Option<Instant>,
}

impl Instance {
    pub fn begin() -> Instance {
        // The time tells the measuring parts of one process apart.
        let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        let folder = std::fs::metadata(std::env::temp_dir()).map_or((0, 0), |it| (it.st_dev(), it.st_ino()));
        let prefix = format!("{PREFIX}{}:{}: ", folder.0, folder.1);
        let name = format!("{prefix}{} {}", std::process::id(), now.as_nanos());
        let listener = address(&name).and_then(|address| UnixListener::bind_addr(&address).ok());
        Instance { prefix, own: listener.map(|it| (name, it)), known: BTreeSet::new(), checked: None }
    }

    /// The process ids of labs that were not reported before. Checks at intervals only.
    pub fn newcomers(&mut self) -> Vec<u32> {
        if self.checked.is_some_and(|checked| checked.elapsed() < INTERVAL) {
            return Vec::new();
        }
        self.checked = Some(Instant::now());
        let sockets = std::fs::read_to_string(SOCKETS).unwrap_or_default();
        let is_own = |name: &str| self.own.as_ref().is_some_and(|(own, _)| own == name);
        let others: Vec<&str> = measuring(&sockets, &self.prefix).filter(|name| !is_own(name)).collect();
        let new = others.into_iter().filter(|name| self.known.insert((*name).to_owned()));
        new.filter_map(listener_at).filter(|pid| *pid != std::process::id()).collect()
    }
}

pub fn warning(pid: u32) -> String {
    format!(
        "another readlab (process {pid}) measured on this machine at the same time: both share its processors, caches and \
         device, and the numbers of both are spoiled"
    )
}

fn address(name: &str) -> Option<SocketAddr> {
    SocketAddr::from_abstract_name(name).ok()
}

/// The names of the sockets of measuring labs: what follows `@` in a line, to its end. A socket of
/// a connection that waits has the name of the listener.
fn measuring<'a>(sockets: &'a str, prefix: &'a str) -> impl Iterator<Item = &'a str> {
    sockets
        .lines()
        .filter_map(|line| line.split_once(" @").map(|(_, name)| name))
        .filter(move |name| name.starts_with(prefix))
}

/// The process that listens at a name; 0 where it is not visible from here.
fn listener_at(name: &str) -> Option<u32> {
    let stream = UnixStream::connect_addr(&address(name)?).ok()?;
    let mut peer = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut bytes = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the kernel writes at most so many bytes into a live local. rustix has no number 0 for
    // a process of another namespace.
    let code = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
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
    use std::fs::File;

    #[test]
    fn only_sockets_of_measuring_labs_count() {
        let sockets = "Num       RefCount Protocol Flags    Type St Inode Path\n\
                       0000000000000000: 00000002 00000000 00010000 0001 01 16613 /run/a @readlab\n\
                       0000000000000000: 00000002 00000000 00010000 0001 01 16614\n\
                       0000000000000000: 00000002 00000000 00010000 0001 01 16615 @readlab measures in 1:2: 7 12\n\
                       0000000000000000: 00000003 00000000 00000000 0001 02 0 @readlab measures in 1:2: 7 12\n\
                       0000000000000000: 00000002 00000000 00010000 0001 01 16616 @readlab measures in 1:3: 8 12\n";
        let prefix = "readlab measures in 1:2: ";
        assert_eq!(measuring(sockets, prefix).collect::<Vec<_>>(), ["readlab measures in 1:2: 7 12"; 2]);
    }

    #[test]
    fn a_lab_is_seen_as_long_as_it_measures_and_nobody_elses_lock_hides_it_or_stands_for_it() {
        let folder = File::open(std::env::temp_dir()).unwrap();
        for lock in [File::try_lock_shared, File::try_lock] {
            // Another test may have it: what holds is then held by somebody else, as it should be.
            let _ = lock(&folder);
            let mut own = Instance::begin();
            let (name, _) = own.own.as_ref().unwrap();
            let sockets = || std::fs::read_to_string(SOCKETS).unwrap();
            let name = name.clone();
            assert!(measuring(&sockets(), PREFIX).any(|it| it == name));
            assert_eq!(listener_at(&name), Some(std::process::id()));
            assert!(!own.newcomers().contains(&std::process::id()));
            drop(own);
            assert!(!measuring(&sockets(), PREFIX).any(|it| it == name));
            folder.unlock().unwrap();
        }
    }
}
