//! The process in front of the lab: it waits for the lab and ends as the lab does, or at once with
//! the code that the lab sends, if the lab cannot end. It touches no file, and the lab dies with it.
//!
//! Both are in one process group: what the terminal sends reaches both, and what is sent to the one
//! in front alone is passed on.

use crate::process::threads;
use crate::silent::close_all_but;
use rustix::fs::{Mode, OFlags};
use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitOptions, getpid, getppid, set_parent_process_death_signal, setrlimit,
    waitpid,
};
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicI32, Ordering};

/// It differs from the lab's, so that a command that ends processes by the lab's name ends the lab.
const NAME: &std::ffi::CStr = c"watchdog";

/// Requests to end, which are passed on.
const REQUESTS: [i32; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// What the lab sends with its exit code when it may be unable to end.
const LEAVING: i32 = libc::SIGUSR1;

/// What is passed on for the first request, where the lab handles it. The lab may have had the same
/// request itself, as one of its group, and would end at once by a second one.
pub(in super::super) const FIRST_REQUEST: i32 = libc::SIGUSR2;

/// How often the process in front looks whether the lab is ending. So many times in a row it was,
/// and could not.
static LOOK: libc::timespec = libc::timespec { tv_sec: 5, tv_nsec: 0 };
const LOOKS_MAX: u32 = 2;

/// The number of the process in front of this one; 0 if there is none.
static FRONT: AtomicI32 = AtomicI32::new(0);

/// Forks the lab, which goes on here; the process that was there is in front of it from now on.
/// `false`, and no other process, where that cannot be.
pub fn begin() -> bool {
    // A fork copies the calling thread alone: locks that others hold would stay locked in the copy.
    if !threads(std::process::id()).is_ok_and(|threads| threads.len() == 1) {
        return false;
    }
    let (front, signals) = (getpid(), signals());
    let mut before = MaybeUninit::uninit();
    // SAFETY: both sets are live locals. The copy of the only thread finds every lock free.
    let forked = unsafe {
        // With SIG_IGN, which may be inherited, the kernel would keep no status of the lab.
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        libc::sigprocmask(libc::SIG_BLOCK, &raw const signals, before.as_mut_ptr());
        libc::fork()
    };
    if let Some(lab) = Pid::from_raw(forked.max(0)) {
        be_in_front(lab, &signals);
    }
    // SAFETY: the set was filled above.
    unsafe { libc::sigprocmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
    if forked < 0 {
        return false;
    }
    // Where the kernel refuses it, a lab whose front was killed goes on.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    // It may have been killed before the line above.
    if getppid() != Some(front) {
        // SAFETY: the call ends the process.
        unsafe { libc::_exit(libc::EXIT_FAILURE) };
    }
    FRONT.store(front.as_raw_nonzero().get(), Ordering::Relaxed);
    true
}

pub(in super::super) fn has_front() -> bool {
    FRONT.load(Ordering::Relaxed) != 0
}

/// Has the process in front end with this code, if there is one: this one may have a thread that
/// cannot end, and then keeps every descriptor open for which others wait. So it closes them. All by
/// system calls alone: signal handlers may call it.
pub(in super::super) fn leave(code: u8) {
    let front = FRONT.load(Ordering::Relaxed);
    if front == 0 {
        return;
    }
    if let Ok(null) = rustix::fs::open(c"/dev/null", OFlags::RDWR, Mode::empty()) {
        let _ = rustix::stdio::dup2_stdin(&null);
        let _ = rustix::stdio::dup2_stdout(&null);
        let _ = rustix::stdio::dup2_stderr(&null);
    }
    let value = libc::sigval { sival_ptr: std::ptr::without_provenance_mut(usize::from(code)) };
    // SAFETY: this process does nothing with its files any more; the value is a number.
    unsafe {
        close_all_but([0, 1, 2]);
        libc::sigqueue(front, LEAVING, value);
    }
}

/// The signals for which the process in front waits.
fn signals() -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: the set is a live local, and is filled before it is used.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for signal in REQUESTS.into_iter().chain([LEAVING, libc::SIGCHLD]) {
            libc::sigaddset(set.as_mut_ptr(), signal);
        }
        set.assume_init()
    }
}

/// What the process in front does until the lab has ended, or cannot.
fn be_in_front(lab: Pid, signals: &libc::sigset_t) -> ! {
    let _ = rustix::thread::set_name(NAME);
    let number = lab.as_raw_nonzero().get();
    let (mut asked, mut looks) = (None, 0);
    loop {
        let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
        // SAFETY: all pointers are to live values, and zeros are a value of the information.
        let (signal, info) = unsafe {
            let signal = libc::sigtimedwait(signals, info.as_mut_ptr(), &raw const LOOK);
            (signal, info.assume_init())
        };
        match signal {
            libc::SIGCHLD => end_as(lab),
            // SAFETY: the kernel filled in what such a signal has; the call ends the process.
            LEAVING if info.si_code == libc::SI_QUEUE => unsafe {
                if info.si_pid() == number {
                    let code = i32::try_from(info.si_value().sival_ptr.addr());
                    libc::_exit(code.unwrap_or(libc::EXIT_FAILURE));
                }
            },
            -1 if is_ending(number) => {
                looks += 1;
                if looks == LOOKS_MAX {
                    die_by(asked.unwrap_or(libc::SIGKILL));
                }
            }
            -1 => looks = 0,
            // The terminal has sent it to the lab, too.
            _ if info.si_code == libc::SI_KERNEL => {}
            request => {
                let is_first = REQUESTS.contains(&request) && asked.replace(request).is_none();
                let is_handled = has_signal(number, "SigCgt:", FIRST_REQUEST);
                let passed = if is_first && is_handled { FIRST_REQUEST } else { request };
                // SAFETY: only numbers are passed; the lab is a child that was not reaped.
                unsafe { libc::kill(number, passed) };
            }
        }
    }
}

/// Whether the lab ends: its first thread has ended, or is killed.
fn is_ending(lab: i32) -> bool {
    has_signal(lab, "SigPnd:", libc::SIGKILL)
        || status_of(lab, "State:").is_some_and(|it| it.starts_with('Z'))
}

/// Whether a signal is in one of the sets of a process.
fn has_signal(pid: i32, set: &str, signal: i32) -> bool {
    let mask = status_of(pid, set).and_then(|mask| u64::from_str_radix(&mask, 16).ok());
    mask.is_some_and(|mask| (mask >> (signal - 1)) & 1 == 1)
}

/// What the kernel says of a process behind a name.
fn status_of(pid: i32, name: &str) -> Option<String> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    Some(status.lines().find_map(|line| line.strip_prefix(name))?.trim().to_owned())
}

/// Ends this process as the lab has ended, if it has.
fn end_as(lab: Pid) {
    let Ok(Some((_, status))) = waitpid(Some(lab), WaitOptions::NOHANG) else { return };
    match status.terminating_signal() {
        Some(signal) => die_by(signal),
        // SAFETY: the call ends the process.
        None => unsafe { libc::_exit(status.exit_status().unwrap_or(libc::EXIT_FAILURE)) },
    }
}

/// Ends this process by a signal, of which the lab has left its core already.
fn die_by(signal: i32) -> ! {
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    // SAFETY: only numbers are passed, and the set is a live local that is filled before it is used.
    unsafe {
        let mut all = MaybeUninit::uninit();
        libc::sigfillset(all.as_mut_ptr());
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
        libc::sigprocmask(libc::SIG_UNBLOCK, all.as_ptr(), std::ptr::null_mut());
        libc::_exit(libc::EXIT_FAILURE)
    }
}
