//! The user's wish to stop, as a flag that every wait looks at.
//!
//! The handler does nothing but set it: children, files and the record are put in order by the
//! ordinary path of returning errors and dropping values. A second Ctrl-C ends the lab at once; its
//! children die with it.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// The exit code of a run that the user stopped, as shells count it: 128 + SIGINT.
pub const EXIT_CODE: u8 = 130;

static REQUESTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Listens for Ctrl-C, for a polite kill, and for a closed terminal.
///
/// # Errors
/// If the system refuses the handlers.
pub fn listen() -> io::Result<()> {
    let requested = REQUESTED.get_or_init(Arc::default);
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // The order matters: on the second signal the flag is already set when this one looks at
        // it.
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
