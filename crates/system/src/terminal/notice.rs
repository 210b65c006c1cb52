//! Notices: single lines on standard error about an error, a warning, or long work. Redrawn lines
//! on the terminal are erased first.
//!
//! If standard error is closed or full, the run continues; the exit code and the record have the
//! same information.

use super::screen;
use crate::terminal::printable::printable;
use std::fmt::Display;
use std::io::Write;

/// Writes `readlab: …` in one line, whatever characters the text contains.
pub fn show(text: impl Display) {
    let mut stderr = std::io::stderr().lock();
    // There is no other place to report a failure of these writes.
    let _ = screen::erase_drawn_lines(&mut stderr);
    let _ = writeln!(stderr, "readlab: {}", printable(&text.to_string()));
}
