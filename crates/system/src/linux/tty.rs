//! The user's terminal: its size, whether this process may draw on it, and which keys were pressed.
//! The mode in which keys arrive lives in [`super::terminal_mode`].

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::getpgrp;
use rustix::stdio::{stderr, stdin, stdout};
use rustix::termios::{isatty, tcgetpgrp, tcgetwinsize};
use std::os::fd::AsFd;

/// Keys that are taken from the terminal at once; the others wait.
const KEYS_MAX: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    pub columns: u16,
    pub rows: u16,
}

/// The size of a terminal that does not know its own.
const DEFAULT_SIZE: Size = Size { columns: 80, rows: 24 };

/// Columns of the terminal that standard output is; `None` where it is none.
pub fn columns() -> Option<u16> {
    let columns = tcgetwinsize(stdout()).ok().map(|size| size.ws_col);
    // A terminal that a launcher of MPI jobs makes has none.
    columns.filter(|&columns| columns > 0)
}

pub fn size_of_stderr() -> Size {
    match tcgetwinsize(stderr()) {
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => Size { columns: size.ws_col, rows: size.ws_row },
        _ => DEFAULT_SIZE,
    }
}

/// Whether standard error is a terminal on which this process may draw: not one on which a shell
/// has put another program, or itself, in front.
pub fn may_draw() -> bool {
    isatty(stderr()) && is_in_front(stderr()) != Some(false)
}

/// Whether standard input is a terminal whose keys are for this process.
pub fn has_keys() -> bool {
    is_in_front(stdin()) == Some(true)
}

/// The keys pressed since the last call, without waiting; none that are not for this process.
pub fn pressed_keys() -> Vec<u8> {
    let stdin = stdin();
    if !has_keys() {
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

/// Whether this process is in the foreground of a terminal; `None` where it is no terminal, or not
/// the one that controls this process.
fn is_in_front(terminal: impl AsFd) -> Option<bool> {
    tcgetpgrp(terminal).ok().map(|group| group == getpgrp())
}
