//! Lines at the end of a terminal that are drawn again and again, on standard error.
//!
//! Between two drawings the cursor is hidden at the beginning of the first of these lines. A
//! terminal that becomes narrower wraps them anew, or cuts them; in either case the cursor stays
//! with the first line, so the next drawing needs no memory of the last: it writes the lines, and
//! erases what is below. For the same reason a handler of signals can erase them by constant bytes.
//! While lines are written the terminal cuts them, because it may have become narrower meanwhile.
//! What the lines say is the caller's.

use crate::terminal_mode;
use crate::tty::{self, Size};
use std::fmt::Write as _;
use std::io::{IsTerminal, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

/// Erases the lines, and shows the cursor where the first of them was; the terminal wraps again.
const FAREWELL: &str = "\r\x1b[J\x1b[?7h\x1b[?25h";

const ERASE: &str = "\r\x1b[J";

/// Hides the cursor, has lines cut instead of wrapped, and goes to the beginning of the line.
const BEGIN: &str = "\x1b[?25l\x1b[?7l\r";

/// Goes to the beginning of the line, and has lines wrapped again.
const END: &str = "\r\x1b[?7h";

/// Erases what follows in the line.
const ERASE_LINE: &str = "\x1b[K";

static IS_DRAWN: AtomicBool = AtomicBool::new(false);

/// The terminal that standard error is. It is given back when this is dropped.
#[derive(Debug)]
pub struct Screen(());

impl Screen {
    /// `None` where standard error is no terminal, or one that cannot move its cursor.
    pub fn of_stderr() -> Option<Screen> {
        let can_move = std::env::var_os("TERM").is_some_and(|kind| !kind.is_empty() && kind != "dumb");
        if !can_move || !std::io::stderr().is_terminal() {
            return None;
        }
        give_back_at_panic();
        Some(Screen(()))
    }

    pub fn size(&self) -> Size {
        tty::size_of_stderr()
    }

    /// Draws these lines in the place of those that were drawn before. They must fit the terminal.
    /// Nothing is drawn while another program is in the foreground.
    pub fn draw(&mut self, lines: &[String]) {
        write(&frame(lines));
    }

    /// Draws the first line anew, and leaves the others.
    pub fn draw_first(&mut self, line: &str) {
        write(&first(line));
    }

    pub fn pressed_keys(&self) -> Vec<u8> {
        tty::pressed_keys()
    }

    pub fn has_keys(&self) -> bool {
        tty::has_keys()
    }

    /// Whether what was drawn last is still there: notices and Ctrl-Z remove it.
    pub fn is_drawn(&self) -> bool {
        IS_DRAWN.load(Ordering::Relaxed) && terminal_mode::is_taken()
    }

    /// Erases the lines and gives the terminal back, until lines are drawn again.
    pub fn give_back(&mut self) {
        IS_DRAWN.store(false, Ordering::Relaxed);
        terminal_mode::give_back();
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.give_back();
    }
}

/// Erases the lines, where there are any, so that a line of another kind can take their place.
pub(super) fn make_way(out: &mut impl Write) -> std::io::Result<()> {
    if IS_DRAWN.swap(false, Ordering::Relaxed) { out.write_all(ERASE.as_bytes()) } else { Ok(()) }
}

fn write(text: &str) {
    if terminal_mode::take(FAREWELL.as_bytes()) {
        IS_DRAWN.store(true, Ordering::Relaxed);
        // The run goes on without a screen that takes nothing.
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
    }
}

/// What draws these lines over those before, and leaves the cursor at the beginning of the first.
fn frame(lines: &[String]) -> String {
    let mut text = BEGIN.to_owned();
    for (at, line) in lines.iter().enumerate() {
        text += if at > 0 { "\r\n" } else { "" };
        text += line;
        text += ERASE_LINE;
    }
    text += "\x1b[J";
    text += END;
    if lines.len() > 1 {
        let _ = write!(text, "\x1b[{}A", lines.len() - 1);
    }
    text
}

/// What draws the first line over the one before.
fn first(line: &str) -> String {
    format!("{BEGIN}{line}{ERASE_LINE}{END}")
}

/// Gives the terminal back before the message of a panic.
fn give_back_at_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            terminal_mode::give_back();
            report(panic);
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use avt::Terminal;

    /// Emulated terminals with a line of a shell on them: one that wraps lines anew when it becomes
    /// narrower, and one that cuts them.
    fn terminals() -> [Terminal; 2] {
        ["", "\x1b[?1049h"].map(|kind| {
            let mut terminal = Terminal::new(40, 12).unwrap();
            terminal.feed(format!("{kind}\x1b[H$ readlab race f\r\n").as_str());
            terminal
        })
    }

    /// The lines that a user sees, without the empty ones at the end.
    fn seen(terminal: &Terminal) -> Vec<String> {
        let lines = terminal.screen().visible_lines();
        let mut lines: Vec<String> = lines.map(|line| line.text().trim_end().to_owned()).collect();
        lines.truncate(lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1));
        lines
    }

    fn lines(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn lines_take_the_place_of_those_before_and_leave_nothing() {
        for mut terminal in terminals() {
            terminal.feed(frame(&lines(&["now: one", "row 1 of a long table", "row 2", "row 3"])).as_str());
            terminal.feed(frame(&lines(&["now: two", "row 1"])).as_str());
            assert_eq!(seen(&terminal), ["$ readlab race f", "now: two", "row 1"]);
            assert!(!terminal.cursor().visible);
            terminal.feed(first("now").as_str());
            assert_eq!(seen(&terminal), ["$ readlab race f", "now", "row 1"]);
            terminal.feed(FAREWELL);
            assert_eq!(seen(&terminal), ["$ readlab race f"]);
            let cursor = terminal.cursor();
            assert!(cursor.visible && (cursor.col, cursor.row) == (0, 1), "{cursor:?}");
        }
    }

    #[test]
    fn a_terminal_that_becomes_narrower_or_wider_keeps_nothing_of_the_lines() {
        let wide = lines(&["a first line of thirty-nine characters", "a second line that is longer than it"]);
        for mut terminal in terminals() {
            for columns in [40, 15, 20, 39, 11, 60] {
                terminal
                    .feed(frame(&wide.iter().map(|line| cut(line, columns)).collect::<Vec<_>>()).as_str());
                terminal.resize(if columns == 40 { 15 } else { 20 }, 12);
                terminal.feed(frame(&lines(&["narrow", "lines"])).as_str());
                let seen = seen(&terminal);
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
    fn lines_for_a_wider_terminal_that_arrive_late_leave_nothing() {
        let wide = lines(&["a first line of thirty-nine characters", "a second line that is longer than it"]);
        for mut terminal in terminals() {
            terminal.feed(frame(&wide).as_str());
            terminal.resize(20, 12);
            terminal.feed(first("the first line, made for thirty-nine").as_str());
            terminal.feed(frame(&wide).as_str());
            terminal.feed(frame(&lines(&["narrow", "lines"])).as_str());
            // What was above may have scrolled away.
            let seen = seen(&terminal);
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
            assert_eq!(seen(&terminal)[8..], ["the last line", "one", "two", "three"]);
        }
    }

    #[test]
    fn a_notice_takes_the_place_of_the_lines() {
        for mut terminal in terminals() {
            terminal.feed(frame(&lines(&["one", "two", "three"])).as_str());
            terminal.feed(format!("{ERASE}readlab: a notice\r\n").as_str());
            terminal.feed(frame(&lines(&["four"])).as_str());
            assert_eq!(seen(&terminal), ["$ readlab race f", "readlab: a notice", "four"]);
        }
    }
}
