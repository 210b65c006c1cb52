//! The meters on a process that does exactly what it is told: a fork of the test that makes system
//! calls only.

use super::*;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

const MIB: u64 = 1 << 20;

/// What the subject can be told to do, one byte each.
#[derive(Clone, Copy)]
enum Deed {
    /// Touch 64 MiB of memory and give them back.
    Touch64MiB = b'm' as isize,
    /// Read the file from begin to end.
    ReadFile = b'r' as isize,
    /// The same in a child that is reaped.
    ReadFileInChild = b'c' as isize,
    /// Spend 250 ms of CPU time in user mode.
    Burn = b'b' as isize,
    /// End.
    Exit = b'x' as isize,
}

/// A forked process that does deeds, killed and reaped when dropped.
struct ForkedProcess {
    pid: i32,
    link: UnixStream,
}

impl ForkedProcess {
    fn start(file: &Path) -> ForkedProcess {
        let (link, far) = UnixStream::pair().unwrap();
        let path = std::ffi::CString::new(file.as_os_str().as_encoded_bytes()).unwrap();
        // SAFETY: the child makes only system calls through async-signal-safe functions, on memory
        // that the fork copied, and ends with _exit.
        let pid = unsafe { libc::fork() };
        assert!(pid >= 0, "fork: {}", io::Error::last_os_error());
        if pid == 0 {
            // SAFETY: as above; the descriptor and the path are this process's copies.
            unsafe { obey(far.as_raw_fd(), &path) }
        }
        ForkedProcess { pid, link }
    }

    fn pid(&self) -> u32 {
        self.pid.cast_unsigned()
    }

    fn does(&mut self, deed: Deed) {
        self.link.write_all(&[deed as u8]).unwrap();
        self.link.read_exact(&mut [0]).unwrap();
    }

    /// Tells it to exit and waits until it is a zombie.
    fn dies(&mut self) {
        self.link.write_all(&[Deed::Exit as u8]).unwrap();
        // SAFETY: the information is written to a place of its type; WNOWAIT leaves the zombie.
        unsafe {
            let mut info = std::mem::zeroed();
            libc::waitid(libc::P_PID, self.pid(), &raw mut info, libc::WEXITED | libc::WNOWAIT);
        }
    }

    fn reap(&mut self) {
        // SAFETY: the number is that of our own unreaped child, or of none when it was reaped
        // before.
        unsafe {
            libc::kill(self.pid, libc::SIGKILL);
            libc::waitpid(self.pid, std::ptr::null_mut(), 0);
        }
    }
}

impl Drop for ForkedProcess {
    fn drop(&mut self) {
        self.reap();
    }
}

/// The life of the subject.
///
/// # Safety
/// Only in a process that was just forked.
unsafe fn obey(link: i32, path: &std::ffi::CStr) -> ! {
    let mut deed = 0u8;
    // SAFETY: every call gets valid descriptors and addresses within live objects of the stated
    // sizes.
    unsafe {
        while libc::read(link, (&raw mut deed).cast(), 1) == 1 {
            match deed {
                b'm' => touch(),
                b'r' => read_file(path),
                b'c' => {
                    let child = libc::fork();
                    if child == 0 {
                        read_file(path);
                        libc::_exit(0);
                    }
                    libc::waitpid(child, std::ptr::null_mut(), 0);
                }
                b'b' => burn(),
                _ => break,
            }
            libc::write(link, (&raw const deed).cast(), 1);
        }
        libc::_exit(0)
    }
}

unsafe fn touch() {
    let bytes = 64 << 20;
    // SAFETY: a fresh private mapping, used within its length and unmapped once.
    unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let at = libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_WRITE, flags, -1, 0);
        for page in (0..bytes).step_by(4096) {
            at.cast::<u8>().add(page).write_volatile(1);
        }
        libc::munmap(at, bytes);
    }
}

unsafe fn read_file(path: &std::ffi::CStr) {
    let mut buffer = [0u8; 65_536];
    // SAFETY: the buffer is as long as stated.
    unsafe {
        let fd = libc::open(path.as_ptr(), libc::O_RDONLY);
        while libc::read(fd, buffer.as_mut_ptr().cast(), buffer.len()) > 0 {}
        libc::close(fd);
    }
}

fn burn() {
    let now = || cpu_ns(libc::CLOCK_PROCESS_CPUTIME_ID, 0).unwrap_or(u64::MAX);
    let until = now() + 250_000_000;
    while now() < until {
        for step in 0..100_000u64 {
            std::hint::black_box(step);
        }
    }
}

/// A file of 8 MiB on the disk that holds the build, none of it in the page cache; `None` where
/// that cannot be had.
fn cold_file() -> Option<(tempfile::TempDir, PathBuf)> {
    let folder = tempfile::tempdir_in(std::env::current_exe().unwrap().parent().unwrap()).unwrap();
    let path = folder.path().join("cold");
    std::fs::write(&path, vec![0x41; 8 << 20]).unwrap();
    if rustix::fs::statfs(&path).unwrap().f_type == libc::TMPFS_MAGIC {
        eprintln!("SKIPPED: the build folder lies on tmpfs, which has no device");
        return None;
    }
    evict(&path);
    Some((folder, path))
}

fn evict(path: &Path) {
    let file = File::open(path).unwrap();
    rustix::fs::fsync(&file).unwrap();
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
}

#[test]
fn the_peak_is_that_of_the_turn_and_not_an_older_one() {
    // The subject begins as large as the test that it was forked from, so peaks are compared, with
    // room for the kernel's approximate counters.
    let mut subject = ForkedProcess::start(Path::new("/dev/null"));
    let mut meters = Meters::open(subject.pid());
    let idle = meters.end().peak_rss_bytes.unwrap();
    subject.does(Deed::Touch64MiB);
    let busy = meters.end().peak_rss_bytes.unwrap();
    assert!(idle > 0 && busy >= idle + 63 * MIB, "{busy} after {idle}");
    meters.begin();
    let again = meters.end().peak_rss_bytes.unwrap();
    assert!(again < idle + 16 * MIB, "{again} after {busy}");
}

#[test]
fn faults_without_the_device_are_minor_ones() {
    let mut subject = ForkedProcess::start(Path::new("/dev/null"));
    let mut meters = Meters::open(subject.pid());
    subject.does(Deed::Touch64MiB);
    let touched = meters.end();
    assert!(touched.minor_faults.unwrap() >= 32, "64 MiB are at least 32 huge pages");
    assert_eq!(touched.major_faults, Ok(0));
    assert_eq!(touched.device_read_bytes, Ok(0));
    meters.begin();
    assert_eq!(meters.end().minor_faults, Ok(0), "nothing happened in this turn");
}

#[test]
fn bytes_from_the_device_are_counted_once_and_cached_ones_not_at_all() {
    let Some((_folder, path)) = cold_file() else { return };
    let mut subject = ForkedProcess::start(&path);
    let mut meters = Meters::open(subject.pid());
    subject.does(Deed::ReadFile);
    let cold = meters.end().device_read_bytes.unwrap();
    assert!((8 * MIB..9 * MIB).contains(&cold), "{cold}");
    meters.begin();
    subject.does(Deed::ReadFile);
    assert_eq!(meters.end().device_read_bytes, Ok(0));
}

#[test]
fn a_child_that_was_reaped_counts_in_bytes_and_faults_and_makes_the_other_meters_silent() {
    let Some((_folder, path)) = cold_file() else { return };
    let mut subject = ForkedProcess::start(&path);
    let meters = Meters::open(subject.pid());
    subject.does(Deed::ReadFileInChild);
    let metered = meters.end();
    assert!(metered.device_read_bytes.unwrap() >= 8 * MIB);
    assert!(metered.minor_faults.unwrap() > 0);
    assert_eq!(metered.cpu_total_ns, Err(Missing::OtherPrograms));
    assert_eq!(metered.cpu_split, Err(Missing::OtherPrograms));
    assert_eq!(metered.peak_rss_bytes, Err(Missing::OtherPrograms));
    assert!(metered.whole.passed_bytes.unwrap() >= 8 * MIB, "what it read passed through calls");
    assert!(metered.whole.cpu_ns.is_ok(), "and its CPU time is known, in ticks");
    assert_eq!((metered.whole.cpu_error_ns, metered.whole.alone), (2 * tick_ns(), false));
}

#[test]
fn of_a_contender_behind_a_script_the_cpu_time_is_counted() {
    let work = "read go; i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo done; read end";
    let mut script = std::process::Command::new("sh");
    script.args(["-c", "sh -c \"$1\"; :", "sh", work]);
    let piped = std::process::Stdio::piped;
    let mut script = script.stdin(piped()).stdout(piped()).spawn().unwrap();
    let (mut go, mut done) = (script.stdin.take().unwrap(), script.stdout.take().unwrap());
    let ran_before = || std::fs::read(format!("/proc/{0}/task/{0}/children", script.id())).unwrap();
    while ran_before().is_empty() {
        std::thread::yield_now();
    }
    let mut meters = Meters::open(script.id());
    meters.begin();
    go.write_all(b"go\n").unwrap();
    done.read_exact(&mut [0; 5]).unwrap();
    let whole = meters.end().whole;
    go.write_all(b"end\n").unwrap();
    script.wait().unwrap();
    assert!(!whole.alone);
    // The script itself waits; a shell needs more than 30 ns to add 1.
    assert!(whole.cpu_ns.clone().unwrap() > 10_000_000, "{:?}", whole.cpu_ns);
    assert_eq!(whole.cpu_error_ns, 0, "of one that lives it is exact");
}

#[test]
fn whoever_runs_nothing_else_is_alone_and_its_calls_are_counted() {
    let mut subject = ForkedProcess::start(Path::new("/proc/self/exe"));
    let meters = Meters::open(subject.pid());
    subject.does(Deed::ReadFile);
    let whole = meters.end().whole;
    let size = std::fs::metadata("/proc/self/exe").unwrap().len();
    assert!(whole.alone);
    assert!(whole.passed_bytes.clone().unwrap() >= size, "{:?} of {size}", whole.passed_bytes);
    assert!(whole.delayed_ns.is_ok() && whole.lab_delayed_ns.is_ok());
}

#[test]
fn cpu_time_is_exact_and_its_two_parts_make_the_whole() {
    let mut subject = ForkedProcess::start(Path::new("/dev/null"));
    let mut meters = Meters::open(subject.pid());
    assert!(matches!(meters.end().cpu_split, Err(Missing::TooFewTicks { .. })));
    meters.begin();
    subject.does(Deed::Burn);
    let metered = meters.end();
    let total = metered.cpu_total_ns.unwrap();
    assert!((250_000_000..500_000_000).contains(&total), "{total}");
    let split = metered.cpu_split.unwrap();
    assert_eq!(split.user_ns + split.system_ns, total);
    assert!(split.user_ns > 0);
}

#[test]
fn a_process_that_ends_leaves_reasons_and_no_zeros() {
    let mut subject = ForkedProcess::start(Path::new("/dev/null"));
    let mut meters = Meters::open(subject.pid());
    let pid = subject.pid();
    subject.dies();
    let zombie = meters.end();
    assert_eq!(zombie.peak_rss_bytes, Err(Missing::Ended { pid }));
    assert!(zombie.device_read_bytes.is_ok(), "a zombie's input is still known");
    subject.reap();
    meters.begin();
    let gone = meters.end();
    for reading in [gone.cpu_total_ns, gone.minor_faults, gone.major_faults, gone.device_read_bytes] {
        assert_eq!(reading, Err(Missing::Ended { pid }));
    }
    assert_eq!(Meters::open(pid).end().minor_faults, Err(Missing::Ended { pid }));
}

#[test]
fn reasons_tell_rights_from_hiding_and_ending() {
    let me = std::process::id();
    let because = |code| missing(&io::Error::from_raw_os_error(code), me, "/proc/1/io");
    assert_eq!(because(libc::EACCES), Missing::NotPermitted { file: "/proc/1/io".into() });
    assert_eq!(because(libc::ENOENT), Missing::Hidden { pid: me });
    assert_eq!(because(libc::ESRCH), Missing::Ended { pid: me });
    assert!(because(libc::EIO).to_string().starts_with("/proc/1/io: "));
}

#[test]
fn a_name_full_of_parentheses_is_no_trap() {
    let text = "7 (a) Z 1 (b c) S 1 1 1 0 -1 0 10 20 30 40 5 6 0 0 20 0 1 0 1";
    let stat = Stat::parse(text).unwrap();
    assert_eq!((stat.minor_faults, stat.child_minor_faults), (10, 20));
    assert_eq!((stat.major_faults, stat.child_major_faults), (30, 40));
    assert_eq!((stat.user_ticks, stat.system_ticks, stat.zombie), (5, 6, false));
    assert_eq!(Stat::parse("7 (a) S 1"), None);
}

#[test]
fn the_split_needs_ticks_and_never_overflows() {
    let stat = |user_ticks, system_ticks| Stat { user_ticks, system_ticks, ..Stat::parse(ZEROS).unwrap() };
    assert_eq!(stat(4, 5).split(90), Err(Missing::TooFewTicks { ticks: 9 }));
    assert_eq!(stat(9, 1).split(1001), Ok(CpuSplit { user_ns: 900, system_ns: 101 }));
    assert_eq!(stat(1 << 40, 0).split(u64::MAX), Ok(CpuSplit { user_ns: u64::MAX, system_ns: 0 }));
}

const ZEROS: &str = "1 (x) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 1";

#[test]
fn the_lab_knows_what_it_uses_itself() {
    let me = lab_self();
    assert!(me.cpu_ns.unwrap() > 0);
    assert!(me.peak_rss_bytes.unwrap() > MIB);
}
