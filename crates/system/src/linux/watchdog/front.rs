//! The process in front of the lab: the parent that the shell waits for. It waits for the lab and
//! ends with the same status. If the lab cannot end, the process in front ends at once with the
//! exit code that the lab sends. The process in front accesses only files of /proc. The kernel kills
//! the lab when the process in front ends.
//!
//! The lab and the process in front are in the same process group, so signals from the terminal
//! reach both. Signals that are sent only to the process in front are passed on to the lab.

use crate::descriptor::{close_pipes_and_sockets, redirect_streams_to_null};
use crate::interrupt;
use crate::process::threads;
use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitOptions, getpid, getppid, set_parent_process_death_signal, setrlimit,
    waitpid,
};
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicI32, Ordering};

/// The process name. It differs from the lab's name, so that a command that ends processes by the
/// lab's name ends the lab.
const PROCESS_NAME: &std::ffi::CStr = c"watchdog";

/// Signals that request the end and are passed on.
const END_REQUEST_SIGNALS: [i32; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// The signal that carries the lab's exit code when the lab may be unable to end.
const EXIT_CODE_SIGNAL: i32 = libc::SIGUSR1;

/// The signal that is passed on for the first request to end, if the lab handles it. The lab may
/// already have received the request as a member of the process group, and a second request would
/// end the lab at once.
pub(in super::super) const FIRST_REQUEST_SIGNAL: i32 = libc::SIGUSR2;

/// Interval of the checks whether the lab is ending.
static CHECK_INTERVAL: libc::timespec = libc::timespec { tv_sec: 5, tv_nsec: 0 };
/// A lab that is still ending after this number of consecutive checks cannot end.
const ENDING_CHECKS_MAX: u32 = 2;

/// The process id of the process in front of this one; 0 if there is none.
static FRONT_PID: AtomicI32 = AtomicI32::new(0);

/// Forks the lab: this function returns in the child, and the parent is the process in front from
/// now on. Returns `false`, without another process, if this is not possible.
pub fn begin() -> bool {
    // A fork copies only the calling thread, so locks held by other threads would stay locked in
    // the copy.
    if !threads(std::process::id()).is_ok_and(|threads| threads.len() == 1) {
        return false;
    }
    let (front, signals) = (getpid(), awaited_signals());
    let mut before = MaybeUninit::uninit();
    // SAFETY: both sets are live locals. The copy of the only thread finds every lock free.
    let forked = unsafe {
        // With an inherited SIG_IGN the kernel would not keep the lab's exit status.
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        libc::sigprocmask(libc::SIG_BLOCK, &raw const signals, before.as_mut_ptr());
        libc::fork()
    };
    if let Some(lab) = Pid::from_raw(forked.max(0)) {
        run_front(lab, &signals);
    }
    // SAFETY: the set was filled above.
    unsafe { libc::sigprocmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
    if forked < 0 {
        return false;
    }
    // If the kernel refuses this, the lab continues after the process in front was killed.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    // The process in front may have been killed before the previous call.
    if getppid() != Some(front) {
        // SAFETY: the call ends the process.
        unsafe { libc::_exit(libc::EXIT_FAILURE) };
    }
    FRONT_PID.store(front.as_raw_nonzero().get(), Ordering::Relaxed);
    true
}

pub(in super::super) fn has_front() -> bool {
    FRONT_PID.load(Ordering::Relaxed) != 0
}

/// Ends the process in front, if there is one, with this exit code, because this process may have a
/// thread that cannot end. Closes all pipes and sockets of this process, because other processes may
/// wait until these are closed. A file stays open: its file system may be asked when it is closed, and
/// may not respond. Signal handlers may call this function, because it makes only system calls.
pub(in super::super) fn end_front_process(code: u8) {
    let front = FRONT_PID.load(Ordering::Relaxed);
    if front == 0 {
        return;
    }
    redirect_streams_to_null();
    let value = libc::sigval { sival_ptr: std::ptr::without_provenance_mut(usize::from(code)) };
    // SAFETY: this process does nothing with its files any more; the value is a number.
    unsafe {
        close_pipes_and_sockets(libc::STDERR_FILENO + 1);
        libc::sigqueue(front, EXIT_CODE_SIGNAL, value);
    }
}

/// The signals that the process in front waits for.
fn awaited_signals() -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: the set is a live local, and is filled before it is used.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for signal in END_REQUEST_SIGNALS.into_iter().chain([EXIT_CODE_SIGNAL, libc::SIGCHLD]) {
            libc::sigaddset(set.as_mut_ptr(), signal);
        }
        set.assume_init()
    }
}

/// The main loop of the process in front, until the lab has ended or cannot end.
fn run_front(lab: Pid, signals: &libc::sigset_t) -> ! {
    let _ = rustix::thread::set_name(PROCESS_NAME);
    let number = lab.as_raw_nonzero().get();
    let (mut first_request, mut looks) = (None, 0);
    loop {
        let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
        // SAFETY: all pointers are to live values, and zeros are a value of the information.
        let (signal, info) = unsafe {
            let signal = libc::sigtimedwait(signals, info.as_mut_ptr(), &raw const CHECK_INTERVAL);
            (signal, info.assume_init())
        };
        match signal {
            libc::SIGCHLD => end_with_status_of(lab, first_request),
            // SAFETY: the kernel filled in the fields of this signal; the call ends the process.
            EXIT_CODE_SIGNAL if info.si_code == libc::SI_QUEUE => unsafe {
                if info.si_pid() == number {
                    let code = i32::try_from(info.si_value().sival_ptr.addr());
                    libc::_exit(exit_code(code.unwrap_or(libc::EXIT_FAILURE), first_request));
                }
            },
            -1 if is_ending(number) => {
                looks += 1;
                if looks == ENDING_CHECKS_MAX {
                    end_by_signal(first_request.unwrap_or(libc::SIGKILL));
                }
            }
            -1 => looks = 0,
            // The terminal has also sent the signal to the lab.
            _ if info.si_code == libc::SI_KERNEL => {}
            request => {
                let is_first = END_REQUEST_SIGNALS.contains(&request) && first_request.is_none();
                first_request = first_request.or(is_first.then_some(request));
                let is_handled = has_signal(number, "SigCgt:", FIRST_REQUEST_SIGNAL);
                let passed = if is_first && is_handled { FIRST_REQUEST_SIGNAL } else { request };
                // SAFETY: only numbers are passed; the lab is a child that was not reaped.
                unsafe { libc::kill(number, passed) };
            }
        }
    }
}

/// True if the lab is ending: its first thread has ended, or SIGKILL is pending.
fn is_ending(lab: i32) -> bool {
    has_signal(lab, "SigPnd:", libc::SIGKILL)
        || status_value(lab, "State:").is_some_and(|it| it.starts_with('Z'))
}

/// True if a signal is in this signal set of the process.
fn has_signal(pid: i32, set: &str, signal: i32) -> bool {
    let mask = status_value(pid, set).and_then(|mask| u64::from_str_radix(&mask, 16).ok());
    mask.is_some_and(|mask| (mask >> (signal - 1)) & 1 == 1)
}

/// The value after a name in /proc/PID/status.
fn status_value(pid: i32, name: &str) -> Option<String> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    Some(status.lines().find_map(|line| line.strip_prefix(name))?.trim().to_owned())
}

/// The exit code of this process for the lab's exit code. For an interrupted lab it is the exit
/// code of the first signal that this process received, because the lab got another signal in its
/// place.
fn exit_code(lab_code: i32, first_request: Option<i32>) -> i32 {
    let code_of = |request: i32| i32::from(interrupt::exit_code_of(request));
    let is_interrupted = END_REQUEST_SIGNALS.into_iter().any(|request| lab_code == code_of(request));
    first_request.filter(|_| is_interrupted).map_or(lab_code, code_of)
}

/// Ends this process with the status of the lab, if the lab has ended.
fn end_with_status_of(lab: Pid, first_request: Option<i32>) {
    let Ok(Some((_, status))) = waitpid(Some(lab), WaitOptions::NOHANG) else { return };
    match status.terminating_signal() {
        Some(signal) => end_by_signal(signal),
        // SAFETY: the call ends the process.
        None => unsafe {
            libc::_exit(exit_code(status.exit_status().unwrap_or(libc::EXIT_FAILURE), first_request))
        },
    }
}

/// Ends this process by a signal, without a core dump, because the lab has already written one.
fn end_by_signal(signal: i32) -> ! {
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    // SAFETY: only numbers are passed, and the set is a live local that is filled before it is
    // used.
    unsafe {
        let mut all = MaybeUninit::uninit();
        libc::sigfillset(all.as_mut_ptr());
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
        libc::sigprocmask(libc::SIG_UNBLOCK, all.as_ptr(), std::ptr::null_mut());
        libc::_exit(libc::EXIT_FAILURE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupted_lab_gives_the_exit_code_of_the_first_signal_and_another_lab_its_own() {
        assert_eq!(exit_code(130, Some(libc::SIGTERM)), 143);
        assert_eq!(exit_code(130, Some(libc::SIGHUP)), 129);
        assert_eq!(exit_code(143, Some(libc::SIGINT)), 130, "a second signal ended the lab");
        assert_eq!((exit_code(130, None), exit_code(143, None)), (130, 143));
        assert_eq!((exit_code(0, Some(libc::SIGTERM)), exit_code(2, Some(libc::SIGTERM))), (0, 2));
    }
}
