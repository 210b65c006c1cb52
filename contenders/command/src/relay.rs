//! Passes on the standard error of a command, line by line, with its secrets hidden.
//!
//! This is done only for commands that know secrets. All others write to this contender's own
//! standard error, at no cost.

use crate::hiding::HiddenTexts;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

/// A longer line is omitted, because a secret that is cut in two could not be recognised.
const LINE_BYTES_MAX: u64 = 64 * 1024;

/// How long the relay waits for the last lines. A process that the command left behind may keep its
/// standard error open.
const LAST_LINES_WAIT: Duration = Duration::from_secs(1);

/// The standard error of one command that is running.
pub(crate) struct Relay {
    ended: Option<Receiver<()>>,
}

impl Relay {
    /// Starts passing lines on, if they may contain secrets.
    pub(crate) fn start(hiding: &Arc<HiddenTexts>) -> io::Result<(Relay, Stdio)> {
        if !hiding.is_needed() {
            return Ok((Relay { ended: None }, Stdio::inherit()));
        }
        let (lines, stderr) = io::pipe()?;
        let (end, ended) = mpsc::channel();
        let hiding = Arc::clone(hiding);
        thread::Builder::new().spawn(move || {
            pass_on(BufReader::new(lines), &mut io::stderr(), &hiding);
            // The receiver may have stopped waiting.
            let _ = end.send(());
        })?;
        Ok((Relay { ended: Some(ended) }, stderr.into()))
    }

    /// Waits for the last line of a command that has ended.
    pub(crate) fn end(self) {
        if let Some(ended) = self.ended {
            // If the last lines are missing, a failure still has its reason.
            let _ = ended.recv_timeout(LAST_LINES_WAIT);
        }
    }
}

/// Passes on every line. All lines are read even if they cannot be written, because the command
/// must not wait for its standard error.
fn pass_on(mut lines: impl BufRead, to: &mut impl Write, hiding: &HiddenTexts) {
    let mut line = Vec::new();
    while let Ok(1..) = lines.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line) {
        let is_cut = line.len() as u64 == LINE_BYTES_MAX && !line.ends_with(b"\n");
        let shown = if is_cut { "…\n".to_owned() } else { hiding.hide(&String::from_utf8_lossy(&line)) };
        let _ = to.write_all(shown.as_bytes());
        if is_cut && lines.skip_until(b'\n').is_err() {
            return;
        }
        line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_passed_on(printed: &str) -> String {
        let mut shown = Vec::new();
        pass_on(printed.as_bytes(), &mut shown, &HiddenTexts::new("https://h/o?secret-of-mine", &[]));
        String::from_utf8(shown).unwrap()
    }

    #[test]
    fn every_line_is_passed_on_without_its_secrets() {
        let printed = "get https://h/o?secret-of-mine\n\nno secret-of-mine\nlast";
        assert_eq!(text_passed_on(printed), "get https://h/o?…\n\nno …\nlast");
    }

    #[test]
    fn a_line_that_is_too_long_is_left_out() {
        let long = "x".repeat(usize::try_from(LINE_BYTES_MAX).unwrap() - 1);
        assert_eq!(text_passed_on(&format!("{long}\n")), format!("{long}\n"), "one of that length is not");
        assert_eq!(text_passed_on(&format!("a\n{}secret-of-mine\nb\n", &long[8..])), "a\n…\nb\n");
    }

    #[test]
    fn the_last_printed_line_is_waited_for() {
        let hiding = Arc::new(HiddenTexts::new("https://h/o?secret-of-mine", &[]));
        let (relay, stderr) = Relay::start(&hiding).unwrap();
        drop(stderr);
        relay.ended.unwrap().recv().unwrap();
        let (relay, _stderr) = Relay::start(&Arc::new(HiddenTexts::default())).unwrap();
        assert!(relay.ended.is_none(), "without secrets nothing is between the command and the lab");
    }
}
