//! Notices: one line each on standard error, about an error, a warning, or work that takes time.
//! Lines that are drawn on the terminal make way for them.
//!
//! Where standard error is closed or full the run goes on: exit code and record say the same.

use super::screen;
use crate::terminal::printable::printable;
use std::fmt::Display;
use std::io::Write;

/// Writes `readlab: …` in one line, whatever characters the text has.
pub fn show(text: impl Display) {
    let mut stderr = std::io::stderr().lock();
    // There is no other place to report that this failed.
    let _ = screen::make_way(&mut stderr);
    let _ = writeln!(stderr, "readlab: {}", printable(&text.to_string()));
}
