//! The limit on the size of files that a process may write (`ulimit -f`).

use signal_hook::consts::SIGXFSZ;
use std::sync::Arc;

/// Makes a write beyond the limit fail with an error instead of ending this process. SIGXFSZ gets a
/// handler and is not ignored, because programs that readlab starts would inherit an ignored
/// signal.
pub fn make_excess_writes_fail() {
    // If the handler cannot be installed, the signal still ends the lab.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
}
