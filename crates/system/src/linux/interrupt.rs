//! The flag that is set when the user requests a stop. Every wait checks the flag.
//!
//! The signal handler only sets the flag; error handling and destructors then end child processes
//! and complete the files and the record. A second Ctrl-C restores the terminal and ends the lab
//! and its children at once.

use super::{terminal_mode, watchdog};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::{flag, low_level};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, OnceLock};

static IS_STOP_REQUESTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// The signal that requested the stop. SIGINT, the signal of Ctrl-C, stands for an unknown one: the
/// process in front of the lab passes the first request on as another signal.
static FIRST_SIGNAL: AtomicI32 = AtomicI32::new(SIGINT);

/// The exit code of a run that the user stopped: 130 after Ctrl-C, 143 after SIGTERM.
pub fn exit_code() -> u8 {
    exit_code_of(FIRST_SIGNAL.load(Ordering::Relaxed))
}

/// The exit code of a run that this signal stopped, by the convention of shells.
pub(super) fn exit_code_of(signal: i32) -> u8 {
    u8::try_from(128 + signal).unwrap_or(u8::MAX)
}

/// Installs the handlers for Ctrl-C, SIGTERM, and a closed terminal, once.
pub fn install_handlers() -> io::Result<()> {
    let requested = Arc::new(AtomicBool::new(false));
    if IS_STOP_REQUESTED.set(Arc::clone(&requested)).is_err() {
        return Ok(());
    }
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // The order of the handlers matters: the first two check the flag before the last one sets
        // it.
        keep_first_and_leave_at_second(signal, Arc::clone(&requested))?;
        let code = i32::from(exit_code_of(signal));
        flag::register_conditional_shutdown(signal, code, Arc::clone(&requested))?;
        flag::register(signal, Arc::clone(&requested))?;
    }
    if watchdog::has_front() {
        flag::register(watchdog::FIRST_REQUEST_SIGNAL, requested)?;
    }
    Ok(())
}

/// Keeps the first signal for the exit code. At the second one, which ends the lab at once, restores the
/// terminal and makes the process in front of the lab end, because the lab itself may be unable to end.
fn keep_first_and_leave_at_second(signal: i32, requested: Arc<AtomicBool>) -> io::Result<()> {
    let handle = move || {
        if requested.load(Ordering::Relaxed) {
            terminal_mode::restore();
            watchdog::end_front_process(exit_code_of(signal));
        } else {
            FIRST_SIGNAL.store(signal, Ordering::Relaxed);
        }
    };
    // SAFETY: the handler uses atomics and makes system calls, all of them async-signal-safe.
    unsafe { low_level::register(signal, handle) }.map(drop)
}

/// An error once the user has requested a stop.
pub fn check() -> io::Result<()> {
    if is_stop_requested() { Err(io::Error::other("interrupted")) } else { Ok(()) }
}

pub fn is_stop_requested() -> bool {
    IS_STOP_REQUESTED.get().is_some_and(|flag| flag.load(Ordering::Relaxed))
}
