//! The flag that the user requested to stop. Every wait checks it.
//!
//! The signal handler only sets the flag; error handling and destructors then end child processes
//! and complete the files and the record. A second Ctrl-C restores the terminal and ends the lab
//! and its children at once.

use super::{terminal_mode, watchdog};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::{flag, low_level};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// The exit code of a run that the user stopped, by the convention of shells: 128 + SIGINT.
pub const EXIT_CODE: u8 = 130;

static REQUESTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Installs the handlers for Ctrl-C, SIGTERM, and a closed terminal, once.
pub fn listen() -> io::Result<()> {
    let requested = Arc::new(AtomicBool::new(false));
    if REQUESTED.set(Arc::clone(&requested)).is_err() {
        return Ok(());
    }
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // The order of the handlers matters: the first two check the flag before the last one sets
        // it.
        end_at_second_signal(signal, Arc::clone(&requested))?;
        flag::register_conditional_shutdown(signal, i32::from(EXIT_CODE), Arc::clone(&requested))?;
        flag::register(signal, Arc::clone(&requested))?;
    }
    if watchdog::has_front() {
        flag::register(watchdog::FIRST_REQUEST, requested)?;
    }
    Ok(())
}

/// At the second signal, which ends the lab at once, restores the terminal and makes the process in
/// front of the lab end, because the lab itself may be unable to end.
fn end_at_second_signal(signal: i32, requested: Arc<AtomicBool>) -> io::Result<()> {
    let handle = move || {
        if requested.load(Ordering::Relaxed) {
            terminal_mode::give_back();
            watchdog::leave(EXIT_CODE);
        }
    };
    // SAFETY: the handler reads a flag and makes system calls, all of them async-signal-safe.
    unsafe { low_level::register(signal, handle) }.map(drop)
}

pub fn requested() -> bool {
    REQUESTED.get().is_some_and(|flag| flag.load(Ordering::Relaxed))
}
