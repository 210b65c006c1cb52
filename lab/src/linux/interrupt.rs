//! The flag that the user wants to stop, which every wait checks.
//!
//! The handler only sets it: returning errors and dropping values ends children and completes files
//! and the record. A second Ctrl-C ends the lab at once, and its children with it.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// The exit code of a run that the user stopped, as shells count it: 128 + SIGINT.
pub const EXIT_CODE: u8 = 130;

static REQUESTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Installs the handlers for Ctrl-C, SIGTERM, and a closed terminal.
///
/// # Errors
/// If the system refuses the handlers.
pub fn listen() -> io::Result<()> {
    let requested = REQUESTED.get_or_init(Arc::default);
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // The order matters: this handler checks the flag before the next one sets it.
        flag::register_conditional_shutdown(signal, i32::from(EXIT_CODE), Arc::clone(requested))?;
        flag::register(signal, Arc::clone(requested))?;
    }
    Ok(())
}

/// Whether the user wants to stop.
#[must_use]
pub fn requested() -> bool {
    REQUESTED.get().is_some_and(|flag| flag.load(Ordering::Relaxed))
}
