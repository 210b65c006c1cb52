//! What the threads of this process wait for, by /proc: the call that each is in, and how often it
//! has waited before. Of a thread that is in the same wait of the same call all the time, the file
//! system has not answered; a long call that is answered piece by piece waits anew for each piece.

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

/// More than the longest path.
const PATH_BYTES: usize = 4096;

/// The waits of the threads that were in a call about a file when they were last looked at.
#[derive(Debug, Default)]
pub(super) struct Waits(BTreeMap<u32, (Wait, Instant)>);

/// One wait of a thread.
#[derive(Debug, PartialEq, Eq)]
struct Wait {
    call: Call,
    /// How often the thread gave its processor away before.
    switches: u64,
}

/// A system call by its number and arguments.
#[derive(Debug, PartialEq, Eq)]
struct Call {
    number: libc::c_long,
    args: Vec<u64>,
}

/// By which argument a call names a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    Descriptor(usize),
    /// A path, from the folder of the descriptor in the argument before it, if it has one.
    Path(usize),
}

impl Waits {
    /// Looks at all threads: the files for whose file system one has waited so long.
    pub(super) fn unanswered(
        &mut self,
        now: Instant,
        limit: Duration,
        may_cease: fn(&str) -> bool,
    ) -> Vec<PathBuf> {
        let mut before = std::mem::take(&mut self.0);
        for thread in threads(std::process::id()).unwrap_or_default() {
            let Some(wait) = Wait::of_thread(thread) else { continue };
            let same = before.remove(&thread).filter(|(before, _)| *before == wait);
            self.0.insert(thread, same.unwrap_or((wait, now)));
        }
        let long = self.0.values().filter(|(_, begun)| now.duration_since(*begun) >= limit);
        long.filter_map(|(wait, _)| wait.call.file(may_cease)).collect()
    }
}

impl Wait {
    /// `None` of a thread that is in no call about a file.
    fn of_thread(thread: u32) -> Option<Wait> {
        let folder = format!("/proc/self/task/{thread}");
        let call = Call::parse(&fs::read_to_string(format!("{folder}/syscall")).ok()?)?;
        call.named()?;
        let status = fs::read_to_string(format!("{folder}/status")).ok()?;
        let switches = |name| kernel_file::field(&status, name);
        let switches = switches("voluntary_ctxt_switches:")? + switches("nonvoluntary_ctxt_switches:")?;
        Some(Wait { call, switches })
    }
}

impl Call {
    /// `0 0x3 0x7ffc… … SP PC`; a thread that runs, or waits outside of a call, has none.
    fn parse(line: &str) -> Option<Call> {
        let mut words = line.split_ascii_whitespace();
        let number = words.next()?.parse().ok()?;
        let args = words.map_while(|word| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok());
        Some(Call { number, args: args.collect() })
    }

    /// `None` of a call that does not read a file, a folder or what the file system knows of them.
    fn named(&self) -> Option<Named> {
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
            | libc::SYS_copy_file_range => Named::Descriptor(0),
            libc::SYS_sendfile => Named::Descriptor(1),
            libc::SYS_mmap => Named::Descriptor(4),
            libc::SYS_openat
            | libc::SYS_openat2
            | libc::SYS_newfstatat
            | libc::SYS_statx
            | libc::SYS_readlinkat
            | libc::SYS_faccessat => Named::Path(1),
            libc::SYS_statfs => Named::Path(0),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_open | libc::SYS_stat | libc::SYS_lstat | libc::SYS_readlink | libc::SYS_access => {
                Named::Path(0)
            }
            _ => return None,
        })
    }

    /// The file that it names. No file system is asked. A pipe, a terminal or a socket may be silent
    /// for as long as it likes: a descriptor must be on a file system that may cease to answer.
    fn file(&self, may_cease: fn(&str) -> bool) -> Option<PathBuf> {
        let descriptor = |at: usize| fs::read_link(format!("/proc/self/fd/{}", self.args.get(at)?)).ok();
        let may_cease = |file: &PathBuf| {
            let mounts = Mount::all(&SystemRoot::default());
            mounts.iter().any(|mount| may_cease(&mount.kind) && file.starts_with(&mount.point))
        };
        match self.named()? {
            Named::Descriptor(at) => descriptor(at).filter(may_cease),
            Named::Path(at) => {
                let path = text_at(*self.args.get(at)?)?;
                let folder = at.checked_sub(1).and_then(descriptor).unwrap_or_default();
                // An empty one is that of the descriptor itself.
                Some(if path == Path::new("") { folder } else { folder.join(path) })
            }
        }
    }
}

/// The text at an address of this process, read as a file: its thread may have gone on meanwhile.
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

    /// Whether a thread is seen to wait for a file, by looks between which it has no time to go on.
    fn is_waited_for(file: &Path, may_cease: fn(&str) -> bool) -> bool {
        let (mut waits, began) = (Waits::default(), Instant::now());
        (0..500).any(|look| {
            std::thread::sleep(Duration::from_millis(1));
            let now = began + LIMIT * look;
            assert!(Waits::default().unanswered(now, LIMIT, may_cease).is_empty(), "at the first look");
            waits.unanswered(now, LIMIT, may_cease).iter().any(|found| found == file)
        })
    }

    #[test]
    fn who_waits_to_open_or_to_read_is_found_with_the_file() {
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
    fn a_thread_that_is_in_no_call_about_a_file_is_not_looked_at() {
        for line in ["running\n", "-1 0x7ffd 0x7f\n", "202 0x7f 0x80 0x2 0x0 0x0 0x0 0x7f 0x7f\n", "", "x"] {
            assert_eq!(Call::parse(line).and_then(|call| call.named()), None, "{line}");
        }
        let read = Call::parse(&format!("{} 0x3 0x7f 0x80 0x0 0x0 0x0 0x7f 0x7f\n", libc::SYS_read)).unwrap();
        assert_eq!((read.named(), read.args[0]), (Some(Named::Descriptor(0)), 3));
    }
}
