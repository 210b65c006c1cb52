//! Notices: one line each on standard error, about an error, a warning, or work that takes time.
//!
//! Where standard error is closed or full the run continues: the exit code and the record have the
//! same facts.

use crate::terminal::printable::printable;
use std::fmt::Display;
use std::io::Write;

/// Writes `readlab: …` in one line, whatever characters the text has.
pub fn show(text: impl Display) {
    // There is no other place to report that this failed.
    let _ = writeln!(std::io::stderr().lock(), "readlab: {}", printable(&text.to_string()));
}
