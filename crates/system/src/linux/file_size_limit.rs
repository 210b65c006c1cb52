//! The limit on the size of files that a process may write (`ulimit -f`).

use signal_hook::consts::SIGXFSZ;
use std::sync::Arc;

/// From now on, a write beyond the limit fails instead of ending this process: by a handler,
/// because programs that readlab starts would inherit that the signal is ignored.
pub fn report_as_error() {
    // Where the handler cannot be installed, the signal ends the lab as before.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
}
