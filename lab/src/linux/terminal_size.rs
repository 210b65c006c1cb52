//! The size of the terminal.

/// Columns of the terminal that standard output is; `None` where it is none.
#[must_use]
pub fn columns() -> Option<u16> {
    rustix::termios::tcgetwinsize(std::io::stdout()).ok().map(|size| size.ws_col)
}
