//! Runs a program on a pseudo terminal, as on a user's screen, and records its output with times.
//! Output without a pause is one burst, such as a table that is drawn at once.

use crate::programs;
use anyhow::{Context, ensure};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

const COLUMNS: u16 = 120;
const ROWS: u16 = 40;
const BURST_PAUSE: Duration = Duration::from_millis(60);
const POLL_INTERVAL: Duration = Duration::from_millis(25);
/// The sequence by which a program requests the position of the cursor, and a terminal's answer.
const CURSOR_REQUEST: &[u8] = b"\x1b[6n";
const CURSOR_ANSWER: &[u8] = b"\x1b[1;1R";
/// Number of rows with a rate or a time that make a ranking.
const RANKED_ROWS: usize = 3;

/// Times since the start at which a program first showed a ranking, and at which it ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ScreenTimes {
    pub(crate) ranking: Option<Duration>,
    pub(crate) end: Duration,
}

/// Runs a race on a separate terminal.
pub(crate) fn run(command: &Command) -> anyhow::Result<ScreenTimes> {
    let mut screen = Screen::start(command)?;
    let status = screen.finish()?;
    // Exit code 1 means that some trial failed.
    ensure!(matches!(status.code(), Some(0 | 1)), "{command:?} ended with {status}");
    Ok(ScreenTimes { ranking: screen.first_ranking(), end: screen.start.elapsed() })
}

/// A terminal, the program on it, and the output of the program.
#[derive(Debug)]
struct Screen {
    controller: OwnedFd,
    child: Child,
    start: Instant,
    bursts: Vec<Burst>,
}

#[derive(Debug)]
struct Burst {
    begin: Duration,
    end: Duration,
    bytes: Vec<u8>,
}

impl Screen {
    /// Starts a program that may take keys and signals from its terminal.
    fn start(command: &Command) -> anyhow::Result<Screen> {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC);
        let controller = controller.context("a pseudo terminal")?;
        grantpt(&controller).and_then(|()| unlockpt(&controller)).context("a pseudo terminal")?;
        let size = Winsize { ws_row: ROWS, ws_col: COLUMNS, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&controller, size).context("its size")?;
        let name = ptsname(&controller, Vec::new()).context("its name")?;
        let side =
            || open(&name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).map(Stdio::from);
        let mut child = Command::new("setsid");
        child.arg("--ctty").arg(command.get_program()).args(command.get_args());
        let variables = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
        child.envs(variables).env("TERM", "xterm-256color").env_remove("NO_COLOR");
        child.stdin(side()?).stdout(side()?).stderr(side()?);
        let start = Instant::now();
        let child = child.spawn().context("setsid, of util-linux")?;
        Ok(Screen { controller, child, start, bursts: Vec::new() })
    }

    fn finish(&mut self) -> anyhow::Result<ExitStatus> {
        loop {
            let ended = self.child.try_wait().context("waiting for the lab")?;
            self.poll_output()?;
            if let Some(status) = ended {
                return Ok(status);
            }
        }
    }

    fn poll_output(&mut self) -> anyhow::Result<()> {
        let wait = Timespec { tv_sec: 0, tv_nsec: i64::from(POLL_INTERVAL.subsec_nanos()) };
        let mut ready = [PollFd::new(&self.controller, PollFlags::IN)];
        if poll(&mut ready, Some(&wait)).context("waiting for a terminal")? == 0 {
            return Ok(());
        }
        let mut bytes = [0; 1 << 16];
        match rustix::io::read(&self.controller, &mut bytes) {
            Ok(count) => self.print(&bytes[..count]),
            // The other side is closed, because the program has ended.
            Err(Errno::IO) => Ok(()),
            Err(error) => Err(error).context("a pseudo terminal"),
        }
    }

    fn print(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        if bytes.windows(CURSOR_REQUEST.len()).any(|it| it == CURSOR_REQUEST) {
            rustix::io::write(&self.controller, CURSOR_ANSWER).context("a pseudo terminal")?;
        }
        let now = self.start.elapsed();
        match self.bursts.last_mut().filter(|last| now - last.end < BURST_PAUSE) {
            Some(last) => {
                last.end = now;
                last.bytes.extend_from_slice(bytes);
            }
            None => self.bursts.push(Burst { begin: now, end: now, bytes: bytes.to_vec() }),
        }
        Ok(())
    }

    fn first_ranking(&self) -> Option<Duration> {
        let burst = self.bursts.iter().find(|burst| is_ranking(&String::from_utf8_lossy(&burst.bytes)));
        burst.map(|burst| burst.begin)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        programs::end(&mut self.child);
    }
}

/// Whether a text has several rows with a rate, or several with a time.
fn is_ranking(text: &str) -> bool {
    let rows = |unit: &str| text.matches(unit).count();
    rows("B/s") >= RANKED_ROWS || rows(" ms") >= RANKED_ROWS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_script(script: &str) -> Screen {
        let mut screen = Screen::start(Command::new("sh").args(["-c", script])).unwrap();
        screen.finish().unwrap();
        screen
    }

    fn text(screen: &Screen) -> String {
        screen.bursts.iter().map(|burst| String::from_utf8_lossy(&burst.bytes)).collect()
    }

    #[test]
    fn a_program_runs_on_a_terminal_of_the_set_size() {
        let screen = run_script("test -t 0 && test -t 1 && test -t 2 && stty size </dev/tty");
        assert_eq!(text(&screen).trim(), "40 120");
    }

    #[test]
    fn a_ranking_is_several_rates_at_once_and_no_progress_bar() {
        let screen =
            run_script("printf '12 %% 1.5 GB/s'; sleep 0.3; printf '1 9 GB/s\\n2 8 GB/s\\n3 900 MB/s\\n'");
        let (first, second) = (&screen.bursts[0], screen.bursts.last().unwrap());
        assert!(second.begin - first.end >= BURST_PAUSE);
        assert_eq!(screen.first_ranking(), Some(second.begin));
        assert_eq!(run_script("echo nothing").first_ranking(), None);
        assert!(is_ranking("7.38 ms\n9.1 ms\n 12 ms") && !is_ranking("3 items"));
    }

    #[test]
    fn a_request_for_the_cursor_position_is_answered() {
        let screen = run_script("stty raw -echo; printf '\\033[6n'; head -c 6 | tr '\\033' '^'");
        assert!(text(&screen).ends_with("^[1;1R"), "{:?}", text(&screen));
    }
}
