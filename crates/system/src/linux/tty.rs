//! The user's terminal: its size, whether this process may draw on it, and the pressed keys.
//! [`super::terminal_mode`] sets the mode in which keys arrive.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::getpgrp;
use rustix::stdio::{stderr, stdin, stdout};
use rustix::termios::{isatty, tcgetpgrp, tcgetwinsize};
use std::os::fd::AsFd;

/// Most bytes of pressed keys that are read from the terminal at once.
const KEYS_MAX: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalSize {
    pub columns: u16,
    pub rows: u16,
}

/// The size that is assumed if the terminal does not report one.
const DEFAULT_SIZE: TerminalSize = TerminalSize { columns: 80, rows: 24 };

/// Columns of the terminal on standard output; `None` if it is not a terminal.
pub fn stdout_columns() -> Option<u16> {
    let columns = tcgetwinsize(stdout()).ok().map(|size| size.ws_col);
    // A terminal that an MPI launcher creates reports 0 columns.
    columns.filter(|&columns| columns > 0)
}

pub fn size_of_stderr() -> TerminalSize {
    match tcgetwinsize(stderr()) {
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => {
            TerminalSize { columns: size.ws_col, rows: size.ws_row }
        }
        _ => DEFAULT_SIZE,
    }
}

/// True if standard error is a terminal on which this process may draw. It may not draw while a
/// shell or another program is in the foreground.
pub fn may_draw() -> bool {
    isatty(stderr()) && is_in_foreground(stderr()) != Some(false)
}

/// True if standard input is a terminal and its keys go to this process.
pub fn receives_keys() -> bool {
    is_in_foreground(stdin()) == Some(true)
}

/// The keys pressed since the last call, without waiting; none if the keys do not go to this
/// process.
pub fn pressed_keys() -> Vec<u8> {
    let stdin = stdin();
    if !receives_keys() {
        return Vec::new();
    }
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let mut polled = [PollFd::new(&stdin, PollFlags::IN)];
    if !poll(&mut polled, Some(&now)).is_ok_and(|ready| ready > 0) {
        return Vec::new();
    }
    let mut keys = [0; KEYS_MAX];
    let count = rustix::io::read(stdin, &mut keys).unwrap_or(0);
    keys[..count].to_vec()
}

/// True if this process is in the terminal's foreground; `None` if it is not a terminal, or not the
/// controlling terminal of this process.
fn is_in_foreground(terminal: impl AsFd) -> Option<bool> {
    tcgetpgrp(terminal).ok().map(|group| group == getpgrp())
}
