//! Lines at the end of a terminal that are redrawn again and again, on standard error.
//!
//! Between two drawings the cursor is hidden at the beginning of the first of these lines. A
//! terminal that becomes narrower rewraps or cuts the lines; in both cases the cursor stays at the
//! first line. So the next drawing needs no information about the previous one: it writes the lines
//! and erases everything below. For the same reason a signal handler can erase them by writing
//! constant bytes. Wrapping is disabled while lines are written, because the terminal may have become
//! narrower since its size was read. The caller defines the content of the lines.

use crate::terminal_mode;
use crate::tty::{self, TerminalSize};
use std::fmt::{Debug, Write as _};
use std::io::{IsTerminal, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Erases the lines, shows the cursor where the first line was, and enables wrapping again.
const RESTORE_TERMINAL: &str = "\r\x1b[J\x1b[?7h\x1b[?25h";

const ERASE_BELOW: &str = "\r\x1b[J";

/// Hides the cursor, disables wrapping, and moves to the beginning of the line.
const BEGIN_DRAWING: &str = "\x1b[?25l\x1b[?7l\r";

/// Moves to the beginning of the line, and enables wrapping again.
const END_DRAWING: &str = "\r\x1b[?7h";

const ERASE_LINE: &str = "\x1b[K";

static IS_DRAWN: AtomicBool = AtomicBool::new(false);

/// A terminal to draw on: [`Screen`], or a scripted one in tests.
pub trait Surface: Debug {
    fn size(&self) -> TerminalSize;
    fn receives_keys(&self) -> bool;
    fn pressed_keys(&self) -> Vec<u8>;
    /// True if the last drawing is still visible; notices and Ctrl-Z remove it.
    fn is_drawn(&self) -> bool;
    /// Draws these lines in place of the previous ones. They must fit the terminal. Nothing is
    /// drawn while another program is in the foreground.
    fn draw(&mut self, lines: &[String]);
    /// Draws this line in place of the first of the drawn lines. The other lines stay.
    fn draw_first_line(&mut self, line: &str);
    /// Erases the lines and restores the terminal, until lines are drawn again.
    fn restore_terminal(&mut self);

    /// The current time; a scripted terminal simulates it.
    fn now(&self) -> Instant {
        Instant::now()
    }
}

/// The terminal on standard error. It is restored when this value is dropped.
#[derive(Debug)]
pub struct Screen(());

impl Screen {
    /// `None` if standard error is not a terminal, or is one that cannot move its cursor.
    pub fn of_stderr() -> Option<Screen> {
        let can_move = std::env::var_os("TERM").is_some_and(|kind| !kind.is_empty() && kind != "dumb");
        if !can_move || !std::io::stderr().is_terminal() {
            return None;
        }
        restore_terminal_at_panic();
        Some(Screen(()))
    }
}

impl Surface for Screen {
    fn size(&self) -> TerminalSize {
        tty::size_of_stderr()
    }

    fn receives_keys(&self) -> bool {
        tty::receives_keys()
    }

    fn pressed_keys(&self) -> Vec<u8> {
        tty::pressed_keys()
    }

    fn is_drawn(&self) -> bool {
        IS_DRAWN.load(Ordering::Relaxed) && terminal_mode::is_taken()
    }

    fn draw(&mut self, lines: &[String]) {
        write(&frame(lines));
    }

    fn draw_first_line(&mut self, line: &str) {
        write(&frame_of_first_line(line));
    }

    fn restore_terminal(&mut self) {
        IS_DRAWN.store(false, Ordering::Relaxed);
        terminal_mode::restore();
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.restore_terminal();
    }
}

/// Erases the lines, if there are any, so that another line can be written in their place.
pub(super) fn erase_drawn_lines(out: &mut impl Write) -> std::io::Result<()> {
    if IS_DRAWN.swap(false, Ordering::Relaxed) { out.write_all(ERASE_BELOW.as_bytes()) } else { Ok(()) }
}

fn write(text: &str) {
    if terminal_mode::take(RESTORE_TERMINAL.as_bytes()) {
        IS_DRAWN.store(true, Ordering::Relaxed);
        // If standard error accepts no bytes, the run continues without drawing.
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
    }
}

/// The bytes that draw these lines over the previous ones and leave the cursor at the first line.
fn frame(lines: &[String]) -> String {
    let mut text = BEGIN_DRAWING.to_owned();
    for (at, line) in lines.iter().enumerate() {
        text += if at > 0 { "\r\n" } else { "" };
        text += line;
        text += ERASE_LINE;
    }
    text += "\x1b[J";
    text += END_DRAWING;
    if lines.len() > 1 {
        let _ = write!(text, "\x1b[{}A", lines.len() - 1);
    }
    text
}

fn frame_of_first_line(line: &str) -> String {
    format!("{BEGIN_DRAWING}{line}{ERASE_LINE}{END_DRAWING}")
}

/// Makes a panic restore the terminal before its message is written.
fn restore_terminal_at_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            terminal_mode::restore();
            report(panic);
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use avt::Terminal;

    /// Emulated terminals that show a shell's line: one that rewraps lines when it becomes
    /// narrower, and one that cuts them.
    fn terminals() -> [Terminal; 2] {
        ["", "\x1b[?1049h"].map(|kind| {
            let mut terminal = Terminal::new(40, 12).unwrap();
            terminal.feed(format!("{kind}\x1b[H$ readlab race f\r\n").as_str());
            terminal
        })
    }

    /// The visible lines, without empty lines at the end.
    fn visible_lines(terminal: &Terminal) -> Vec<String> {
        let lines = terminal.screen().visible_lines();
        let mut lines: Vec<String> = lines.map(|line| line.text().trim_end().to_owned()).collect();
        lines.truncate(lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1));
        lines
    }

    fn lines(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn lines_replace_the_previous_lines_completely() {
        for mut terminal in terminals() {
            terminal.feed(frame(&lines(&["now: one", "row 1 of a long table", "row 2", "row 3"])).as_str());
            terminal.feed(frame(&lines(&["now: two", "row 1"])).as_str());
            assert_eq!(visible_lines(&terminal), ["$ readlab race f", "now: two", "row 1"]);
            assert!(!terminal.cursor().visible);
            terminal.feed(frame_of_first_line("now").as_str());
            assert_eq!(visible_lines(&terminal), ["$ readlab race f", "now", "row 1"]);
            terminal.feed(RESTORE_TERMINAL);
            assert_eq!(visible_lines(&terminal), ["$ readlab race f"]);
            let cursor = terminal.cursor();
            assert!(cursor.visible && (cursor.col, cursor.row) == (0, 1), "{cursor:?}");
        }
    }

    #[test]
    fn resizing_the_terminal_leaves_no_remains_of_the_lines() {
        let wide = lines(&["a first line of thirty-nine characters", "a second line that is longer than it"]);
        for mut terminal in terminals() {
            for columns in [40, 15, 20, 39, 11, 60] {
                terminal
                    .feed(frame(&wide.iter().map(|line| cut(line, columns)).collect::<Vec<_>>()).as_str());
                terminal.resize(if columns == 40 { 15 } else { 20 }, 12);
                terminal.feed(frame(&lines(&["narrow", "lines"])).as_str());
                let seen = visible_lines(&terminal);
                let own = seen.iter().position(|line| line == "narrow").unwrap();
                assert_eq!(seen[own..], ["narrow", "lines"], "{columns}");
                assert!(!seen[..own].iter().any(|line| line.contains("line")), "{columns}: {seen:?}");
                terminal.resize(60, 12);
            }
        }
    }

    fn cut(line: &str, columns: usize) -> String {
        line.chars().take(columns - 1).collect()
    }

    #[test]
    fn lines_drawn_for_a_wider_terminal_leave_no_remains() {
        let wide = lines(&["a first line of thirty-nine characters", "a second line that is longer than it"]);
        for mut terminal in terminals() {
            terminal.feed(frame(&wide).as_str());
            terminal.resize(20, 12);
            terminal.feed(frame_of_first_line("the first line, made for thirty-nine").as_str());
            terminal.feed(frame(&wide).as_str());
            terminal.feed(frame(&lines(&["narrow", "lines"])).as_str());
            // The line above may have scrolled off the screen.
            let seen = visible_lines(&terminal);
            assert!(
                seen == ["narrow", "lines"] || seen == ["$ readlab race f", "narrow", "lines"],
                "{seen:?}"
            );
        }
    }

    #[test]
    fn lines_at_the_end_of_the_screen_scroll_it_once() {
        for mut terminal in terminals() {
            terminal.feed("\r\n".repeat(20).as_str());
            terminal.feed("the last line\r\n");
            for _ in 0..3 {
                terminal.feed(frame(&lines(&["one", "two", "three"])).as_str());
            }
            assert_eq!(visible_lines(&terminal)[8..], ["the last line", "one", "two", "three"]);
        }
    }

    #[test]
    fn a_notice_replaces_the_drawn_lines() {
        for mut terminal in terminals() {
            terminal.feed(frame(&lines(&["one", "two", "three"])).as_str());
            terminal.feed(format!("{ERASE_BELOW}readlab: a notice\r\n").as_str());
            terminal.feed(frame(&lines(&["four"])).as_str());
            assert_eq!(visible_lines(&terminal), ["$ readlab race f", "readlab: a notice", "four"]);
        }
    }
}
