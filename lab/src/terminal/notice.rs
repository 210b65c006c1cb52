//! One line on standard error for whoever runs readlab: an error, a warning, or what will take
//! time.
//!
//! That nobody hears it (standard error closed, or full) stops nothing: the exit code and the
//! record say the same.

use crate::terminal::printable::printable;
use std::fmt::Display;
use std::io::Write;

/// Says it, as `readlab: …`, in one line whatever the text.
pub fn tell(text: impl Display) {
    // Nobody is there to be told that nobody can be told.
    let _ = writeln!(std::io::stderr().lock(), "readlab: {}", printable(&text.to_string()));
}
