//! A pseudo terminal on which a test starts a program, sees the screen as its user would, types,
//! and changes the size.

use crate::home::{Home, Words};
use crate::processes::{KilledOnDrop, send};
use avt::Terminal;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::Signal;
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use std::os::fd::OwnedFd;
use std::process::Command;
use std::time::{Duration, Instant};

/// Time limit for something to become visible. It is long, because machines may be busy.
const VISIBLE_TIMEOUT: Duration = Duration::from_secs(120);

/// The sequence that begins a drawing. A test examines the screen before each.
const DRAWING_BEGIN: &[u8] = b"\x1b[?25l";

pub(crate) struct PseudoTerminal {
    main: OwnedFd,
    /// The program is killed on drop, so that a failed test leaves no race behind.
    child: KilledOnDrop,
    terminal: Terminal,
    /// Everything that was written to the terminal.
    pub(crate) output: Vec<u8>,
    /// The number of output bytes that the emulated terminal has shown.
    shown: usize,
}

/// A command whose standard streams are the terminal unless others are set.
pub(crate) fn command(home: &Home, words: impl Words) -> Command {
    let mut command = home.command("setsid");
    command.arg("--ctty").args(words.words()).env("TERM", "xterm").env_remove("COLUMNS");
    command
}

impl PseudoTerminal {
    pub(crate) fn start(mut command: Command, columns: u16, rows: u16) -> PseudoTerminal {
        let main = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&main).unwrap();
        unlockpt(&main).unwrap();
        tcsetwinsize(&main, winsize(columns, rows)).unwrap();
        let side = || ioctl_tiocgptpeer(&main, OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        let child = command.stdin(side()).stdout(side()).stderr(side()).spawn();
        let child = KilledOnDrop(child.unwrap());
        drop(command);
        let terminal = Terminal::new(columns.into(), rows.into()).unwrap();
        PseudoTerminal { main, child, terminal, output: Vec::new(), shown: 0 }
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        let lines = self.terminal.screen().visible_lines();
        lines.map(|line| line.text().trim_end().to_owned()).collect()
    }

    /// The whole visible text.
    pub(crate) fn text(&self) -> String {
        self.lines().join("\n").trim_end().to_owned()
    }

    /// Whether a line continues in the next one, because the terminal is too narrow for it.
    pub(crate) fn has_wrapped_line(&self) -> bool {
        self.terminal.screen().visible_lines().any(avt::Line::is_wrapped)
    }

    pub(crate) fn is_cursor_visible(&self) -> bool {
        self.terminal.cursor().visible
    }

    /// Whether the terminal delivers keys by lines and shows them, as a shell expects.
    pub(crate) fn is_as_shells_expect(&self) -> bool {
        let modes = tcgetattr(&self.main).unwrap().local_modes;
        modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
    }

    /// Waits until this is visible. Checks the screen before every drawing.
    pub(crate) fn wait_for(&mut self, what: &str, is_seen: impl Fn(&PseudoTerminal) -> bool) {
        let begun = Instant::now();
        while !is_seen(self) {
            assert!(begun.elapsed() < VISIBLE_TIMEOUT, "{what} was not seen on:\n{}", self.text());
            if !self.show_next() && !self.receive() {
                panic!("it ended, and {what} was not seen on:\n{}", self.text());
            }
        }
    }

    pub(crate) fn press(&self, keys: &[u8]) {
        assert_eq!(rustix::io::write(&self.main, keys).unwrap(), keys.len());
    }

    pub(crate) fn send(&self, signal: Signal) {
        send(self.child.0.id(), signal);
    }

    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        tcsetwinsize(&self.main, winsize(columns, rows)).unwrap();
        self.terminal.resize(columns.into(), rows.into());
    }

    /// Shows all output until the program ends. Returns its exit code.
    pub(crate) fn finish(&mut self) -> Option<i32> {
        let begun = Instant::now();
        while self.receive() {
            assert!(begun.elapsed() < VISIBLE_TIMEOUT, "it does not end:\n{}", self.text());
        }
        while self.show_next() {}
        self.child.0.wait().unwrap().code()
    }

    /// Shows the received output up to the next drawing. Returns `false` if there is none.
    fn show_next(&mut self) -> bool {
        let rest = &self.output[self.shown..];
        let next = rest.windows(DRAWING_BEGIN.len()).skip(1).position(|bytes| bytes == DRAWING_BEGIN);
        let part = &rest[..next.map_or(rest.len(), |at| at + 1)];
        // The rest of a character may arrive later.
        let whole = match std::str::from_utf8(part) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(&part[..error.valid_up_to()]).unwrap(),
        };
        self.terminal.feed(whole);
        self.shown += whole.len();
        !whole.is_empty()
    }

    /// Waits a moment for output. Returns `false` when no more can arrive.
    fn receive(&mut self) -> bool {
        let moment = Duration::from_millis(100).try_into().unwrap();
        let mut polled = [PollFd::new(&self.main, PollFlags::IN)];
        if poll(&mut polled, Some(&moment)).unwrap() == 0 {
            return true;
        }
        let mut bytes = [0; 4096];
        // Reading fails when the last program has closed the terminal.
        let count = rustix::io::read(&self.main, &mut bytes).unwrap_or(0);
        self.output.extend_from_slice(&bytes[..count]);
        count > 0
    }
}

fn winsize(columns: u16, rows: u16) -> Winsize {
    Winsize { ws_col: columns, ws_row: rows, ws_xpixel: 0, ws_ypixel: 0 }
}
