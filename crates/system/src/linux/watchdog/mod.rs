//! A time limit for every wait on a file system that has stopped responding. A thread examines what
//! the other threads wait for, and ends the lab whichever system call blocks.
//!
//! A thread cannot be killed while a user-space file system handles its request, and a process ends
//! only with its last thread. So the shell waits for another process, in front of the lab, which
//! can end at any time.

mod front;
mod waits;

use super::interrupt;
use super::program::launcher;
use super::terminal_mode;
pub use front::begin;
pub(super) use front::{FIRST_REQUEST_SIGNAL, end_front_process, has_front};
use rustix::process::{Signal, getpid, kill_process};
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};
use waits::Waits;

/// Interval at which the waits are examined.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// How long the lab may take to clean up, because its own files may be on the same file system.
const CLEAN_UP_LIMIT: Duration = Duration::from_secs(5);

/// The steps before the lab ends.
#[derive(Debug, Clone, Copy)]
pub struct LastSteps {
    /// Reports the file whose file system does not respond; returns the exit code.
    pub report: fn(PathBuf) -> u8,
    pub clean_up: fn(),
}

/// Ends this process, which must have a process in front of it, once a thread has waited for this
/// long for one response of a file system. Waits on open files count only if the type of their file
/// system, by its name in mountinfo, may stop responding.
pub fn watch(limit: Duration, may_cease: fn(&str) -> bool, last: LastSteps) {
    let watch = move || {
        let mut waits = Waits::default();
        loop {
            thread::sleep(CHECK_INTERVAL);
            let unanswered = waits.unanswered_files(Instant::now(), limit, may_cease);
            if let Some(file) = unanswered.into_iter().next() {
                return end(file, last);
            }
        }
    };
    // If no further thread can be created, waits are not limited.
    let _ = thread::Builder::new().name("watchdog".to_owned()).spawn(watch);
}

/// Ends the programs that the lab started, then the lab.
fn end(file: PathBuf, last: LastSteps) {
    let code = (last.report)(file);
    launcher::end();
    let (tell, cleaned) = mpsc::channel();
    let clean_up = move || {
        (last.clean_up)();
        tell.send(())
    };
    // If no further thread can be created, the next run reports what is left.
    let _ = thread::Builder::new().spawn(clean_up);
    let _ = cleaned.recv_timeout(CLEAN_UP_LIMIT);
    terminal_mode::restore();
    end_front_process(if interrupt::is_stop_requested() { interrupt::exit_code() } else { code });
    // Threads that wait for a response end together with the process.
    let _ = kill_process(getpid(), Signal::KILL);
}
