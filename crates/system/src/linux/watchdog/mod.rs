//! A deadline for every wait of the lab for a file system that has ceased to answer: a thread looks
//! at what the others wait for, and ends the lab, whatever call it is in.
//!
//! A thread whose request was taken by a program in user space cannot be killed, and a process ends
//! with its last thread. So another process is in front of the lab: it is the one that the shell
//! waits for, and it can end.

mod front;
mod waits;

use super::interrupt;
use super::program::launcher;
use super::terminal_mode;
pub use front::begin;
pub(super) use front::{FIRST_REQUEST, has_front, leave};
use rustix::process::{Signal, getpid, kill_process};
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};
use waits::Waits;

/// How often the waits are looked at.
const STEP: Duration = Duration::from_secs(1);

/// How long the lab may take to clean up: what it made may be on the same file system.
const CLEAN_UP_LIMIT: Duration = Duration::from_secs(5);

/// What is done before the lab ends.
#[derive(Debug, Clone, Copy)]
pub struct LastSteps {
    /// Reports the file whose file system does not answer; the exit code.
    pub report: fn(PathBuf) -> u8,
    pub clean_up: fn(),
}

/// Ends this process, which has a process in front of it, once one of its threads has waited so long
/// for one answer of a file system. Files that are open count if they are on a type of file system
/// that may cease to answer, by its name in mountinfo.
pub fn watch(limit: Duration, may_cease: fn(&str) -> bool, last: LastSteps) {
    let watch = move || {
        let mut waits = Waits::default();
        loop {
            thread::sleep(STEP);
            let unanswered = waits.unanswered(Instant::now(), limit, may_cease);
            if let Some(file) = unanswered.into_iter().next() {
                return end(file, last);
            }
        }
    };
    // Where threads are limited, nobody watches.
    let _ = thread::Builder::new().name("watchdog".to_owned()).spawn(watch);
}

/// Ends what the lab started, then the lab.
fn end(file: PathBuf, last: LastSteps) {
    let code = (last.report)(file);
    launcher::end();
    let (tell, cleaned) = mpsc::channel();
    let clean_up = move || {
        (last.clean_up)();
        tell.send(())
    };
    // Where threads are limited, the next run names what is left.
    let _ = thread::Builder::new().spawn(clean_up);
    let _ = cleaned.recv_timeout(CLEAN_UP_LIMIT);
    terminal_mode::give_back();
    leave(if interrupt::requested() { interrupt::EXIT_CODE } else { code });
    // Threads that wait for an answer end with it.
    let _ = kill_process(getpid(), Signal::KILL);
}
