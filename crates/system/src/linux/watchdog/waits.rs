//! What the threads of this process wait for, from /proc: the system call of each thread, and its
//! number of context switches. If neither changes, the file system has not responded. A long call
//! that gets its data piece by piece waits again for each piece. A call that closes a file waits, too,
//! where the file system is asked (FUSE, NFS), and its descriptor no longer leads to the file.

use crate::kernel_file;
use crate::mounts::Mount;
use crate::process::threads;
use crate::system_root::SystemRoot;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Size of the buffer for a path; more than the longest path.
const PATH_BYTES: usize = 4096;

/// The waits of all threads that were in a call about a file at the last check, and when each wait
/// was first seen.
#[derive(Debug, Default)]
pub(super) struct Waits {
    of_threads: BTreeMap<u32, SeenWait>,
    /// The open files at the last check, by their descriptors.
    open_files: BTreeMap<u64, PathBuf>,
}

#[derive(Debug)]
struct SeenWait {
    wait: Wait,
    begun: Instant,
    /// The file that the call closes; `None` for other calls, and if the file was opened after the
    /// check before.
    closed_file: Option<PathBuf>,
}

#[derive(Debug, PartialEq, Eq)]
struct Wait {
    call: Call,
    /// Number of context switches of the thread so far, voluntary and involuntary.
    switches: u64,
}

/// A system call with its number and arguments.
#[derive(Debug, PartialEq, Eq)]
struct Call {
    number: libc::c_long,
    args: Vec<u64>,
}

/// The argument by which a call names a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileArgument {
    Descriptor(usize),
    /// The address of a path, relative to the folder of the descriptor in the argument before, if
    /// there is one.
    Path(usize),
    /// The descriptor that is closed.
    Closed(usize),
}

impl Waits {
    /// Examines all threads and returns the files whose file systems have not responded within the
    /// limit.
    pub(super) fn unanswered_files(
        &mut self,
        now: Instant,
        limit: Duration,
        may_cease: fn(&str) -> bool,
    ) -> Vec<PathBuf> {
        let mut before = std::mem::take(&mut self.of_threads);
        for thread in threads(std::process::id()).unwrap_or_default() {
            let Some(wait) = Wait::of_thread(thread) else { continue };
            let same = before.remove(&thread).filter(|before| before.wait == wait);
            let seen = same.unwrap_or_else(|| {
                let closed_file = wait.call.closed_descriptor().and_then(|it| self.open_files.get(&it));
                SeenWait { closed_file: closed_file.cloned(), wait, begun: now }
            });
            self.of_threads.insert(thread, seen);
        }
        self.open_files = open_files();
        let long = self.of_threads.values().filter(|seen| now.duration_since(seen.begun) >= limit);
        long.filter_map(|seen| seen.unanswered_file(may_cease)).collect()
    }
}

impl SeenWait {
    /// The file that the thread waits for; `None` for a descriptor on a file system that always
    /// responds.
    fn unanswered_file(&self, may_cease: fn(&str) -> bool) -> Option<PathBuf> {
        match &self.closed_file {
            Some(file) => file_may_cease_to_answer(file, may_cease).then(|| file.clone()),
            None => self.wait.call.named_file(may_cease),
        }
    }
}

/// The paths of the open files of this process, by their descriptors. No file system is accessed.
fn open_files() -> BTreeMap<u64, PathBuf> {
    let open = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    open.filter_map(|entry| {
        Some((entry.file_name().to_str()?.parse().ok()?, fs::read_link(entry.path()).ok()?))
    })
    .collect()
}

/// Whether a file is on a file system that may stop responding.
fn file_may_cease_to_answer(file: &Path, may_cease: fn(&str) -> bool) -> bool {
    let mounts = Mount::all(&SystemRoot::default());
    mounts.iter().any(|mount| may_cease(&mount.kind) && file.starts_with(&mount.point))
}

impl Wait {
    /// `None` if the thread is not in a call about a file.
    fn of_thread(thread: u32) -> Option<Wait> {
        let folder = format!("/proc/self/task/{thread}");
        let call = Call::parse(&fs::read_to_string(format!("{folder}/syscall")).ok()?)?;
        call.file_argument()?;
        let status = fs::read_to_string(format!("{folder}/status")).ok()?;
        let switches = |name| kernel_file::number_after(&status, name);
        let switches = switches("voluntary_ctxt_switches:")? + switches("nonvoluntary_ctxt_switches:")?;
        Some(Wait { call, switches })
    }
}

impl Call {
    /// Parses a line such as `0 0x3 0x7ffc… … SP PC`; `None` for a thread that is running, or
    /// waiting outside of a system call.
    fn parse(line: &str) -> Option<Call> {
        let mut words = line.split_ascii_whitespace();
        let number = words.next()?.parse().ok()?;
        let args = words.map_while(|word| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok());
        Some(Call { number, args: args.collect() })
    }

    /// `None` for a call that accesses neither a file or folder nor its metadata.
    fn file_argument(&self) -> Option<FileArgument> {
        Some(match self.number {
            libc::SYS_read
            | libc::SYS_pread64
            | libc::SYS_readv
            | libc::SYS_preadv
            | libc::SYS_preadv2
            | libc::SYS_getdents64
            | libc::SYS_fstat
            | libc::SYS_fstatfs
            | libc::SYS_lseek
            | libc::SYS_ioctl
            | libc::SYS_fadvise64
            | libc::SYS_readahead
            | libc::SYS_copy_file_range => FileArgument::Descriptor(0),
            libc::SYS_close => FileArgument::Closed(0),
            libc::SYS_sendfile => FileArgument::Descriptor(1),
            libc::SYS_mmap => FileArgument::Descriptor(4),
            libc::SYS_openat
            | libc::SYS_openat2
            | libc::SYS_newfstatat
            | libc::SYS_statx
            | libc::SYS_readlinkat
            | libc::SYS_faccessat => FileArgument::Path(1),
            libc::SYS_statfs => FileArgument::Path(0),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_open | libc::SYS_stat | libc::SYS_lstat | libc::SYS_readlink | libc::SYS_access => {
                FileArgument::Path(0)
            }
            _ => return None,
        })
    }

    /// The descriptor that the call closes; `None` for other calls.
    fn closed_descriptor(&self) -> Option<u64> {
        match self.file_argument()? {
            FileArgument::Closed(at) => self.args.get(at).copied(),
            FileArgument::Descriptor(_) | FileArgument::Path(_) => None,
        }
    }

    /// The file that the call names; `None` for a call that closes it. No file system is accessed.
    /// A pipe, a terminal or a socket may be silent for any time, so a descriptor counts only on a
    /// file system that may stop responding.
    fn named_file(&self, may_cease: fn(&str) -> bool) -> Option<PathBuf> {
        let descriptor = |at: usize| fs::read_link(format!("/proc/self/fd/{}", self.args.get(at)?)).ok();
        match self.file_argument()? {
            FileArgument::Closed(_) => None,
            FileArgument::Descriptor(at) => {
                descriptor(at).filter(|file| file_may_cease_to_answer(file, may_cease))
            }
            FileArgument::Path(at) => {
                let path = text_at(*self.args.get(at)?)?;
                let folder = at.checked_sub(1).and_then(descriptor).unwrap_or_default();
                // An empty path means the descriptor itself.
                Some(if path == Path::new("") { folder } else { folder.join(path) })
            }
        }
    }
}

/// The path at an address of this process, up to its zero byte. It is read through `/proc/self/mem`,
/// which returns an error if the thread has continued and unmapped the memory; a pointer would fault.
fn text_at(address: u64) -> Option<PathBuf> {
    let mut bytes = vec![0; PATH_BYTES];
    let count = File::open("/proc/self/mem").ok()?.read_at(&mut bytes, address).ok()?;
    let end = bytes[..count].iter().position(|byte| *byte == 0)?;
    bytes.truncate(end);
    Some(OsString::from_vec(bytes).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open_file::make_pipe;

    const LIMIT: Duration = Duration::from_secs(10);

    /// True if a thread is found waiting for a file, with simulated time between the checks.
    fn is_waited_for(file: &Path, may_cease: fn(&str) -> bool) -> bool {
        let (mut waits, began) = (Waits::default(), Instant::now());
        (0..500).any(|look| {
            std::thread::sleep(Duration::from_millis(1));
            let now = began + LIMIT * look;
            assert!(Waits::default().unanswered_files(now, LIMIT, may_cease).is_empty(), "at the first look");
            waits.unanswered_files(now, LIMIT, may_cease).iter().any(|found| found == file)
        })
    }

    #[test]
    fn a_thread_that_waits_to_open_or_read_is_found_with_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = fs::canonicalize(folder.path()).unwrap().join("pipe");
        make_pipe(&pipe).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| fs::read(&pipe).unwrap());
            assert!(is_waited_for(&pipe, |_| false), "until it is opened to write");
            let writer = File::options().write(true).open(&pipe).unwrap();
            assert!(is_waited_for(&pipe, |_| true), "until its end");
            assert!(!is_waited_for(&pipe, |_| false), "its file system never ceases to answer");
            drop(writer);
        });
        assert!(!is_waited_for(&pipe, |_| true));
    }

    #[test]
    fn a_thread_outside_of_file_calls_has_no_wait() {
        for line in ["running\n", "-1 0x7ffd 0x7f\n", "202 0x7f 0x80 0x2 0x0 0x0 0x0 0x7f 0x7f\n", "", "x"] {
            assert_eq!(Call::parse(line).and_then(|call| call.file_argument()), None, "{line}");
        }
        let read = Call::parse(&format!("{} 0x3 0x7f 0x80 0x0 0x0 0x0 0x7f 0x7f\n", libc::SYS_read)).unwrap();
        assert_eq!((read.file_argument(), read.args[0]), (Some(FileArgument::Descriptor(0)), 3));
        let close =
            Call::parse(&format!("{} 0x3 0x7f 0x80 0x0 0x0 0x0 0x7f 0x7f\n", libc::SYS_close)).unwrap();
        assert_eq!((close.closed_descriptor(), read.closed_descriptor()), (Some(3), None));
    }

    #[test]
    fn open_files_are_known_by_their_descriptors() {
        use std::os::fd::AsRawFd;
        let file = tempfile::NamedTempFile::new().unwrap();
        let descriptor = u64::try_from(file.as_file().as_raw_fd()).unwrap();
        assert_eq!(open_files().get(&descriptor), Some(&fs::canonicalize(file.path()).unwrap()));
    }
}
