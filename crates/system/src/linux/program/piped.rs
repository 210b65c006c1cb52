//! One program with line-wise standard streams: starting it, deadlines, draining its output, and
//! ending it. Messages are defined elsewhere.
//!
//! The program leads its own process group, so that Ctrl-C reaches only the lab, and it dies with
//! the lab. Standard error is drained while the lab waits, and its end is kept to explain failures.
//! Dropping a [`PipedProgram`] ends everything that the program started, through
//! [`super::running`].

use super::running::{LeftoverCounts, RunningProgram};
use super::supervisor::Task;
use super::{CommandLine, last_line_of};
use crate::interrupt;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::OFlags;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    #[error("no answer within {0:.0?}")]
    Timeout(Duration),
    #[error("it closed its output")]
    Closed,
    #[error("a line of more than {0} bytes")]
    TooLong(usize),
    #[error("a line that is not UTF-8: {0:?}")]
    NotText(String),
    #[error("interrupted")]
    Interrupted,
    #[error("reading its output: {0}")]
    Io(#[from] io::Error),
}

/// Bytes of the end of standard error that are kept.
const STDERR_TAIL_BYTES: usize = 4096;

/// Characters of a line of standard error that are quoted in the reason of a failure.
const ERROR_CHARS_MAX: usize = 300;

/// How long the program may take to end after its input was closed.
const END_GRACE: Duration = Duration::from_secs(2);

/// The longest sleep while the lab waits for a program that may still write.
const EXIT_CHECK_INTERVAL_MAX: Duration = Duration::from_millis(20);

/// The longest sleep between two checks whether the user requested a stop.
const INTERRUPT_CHECK_INTERVAL_MAX: Duration = Duration::from_millis(200);

/// How a program ended after its input was closed.
#[derive(Debug, Clone, Copy)]
pub struct ProgramExit {
    /// `None` if the program did not end in time and was killed.
    pub status: Option<ExitStatus>,
    /// True if processes that the program started were still running when it ended.
    pub has_leftovers: bool,
}

#[derive(Debug)]
pub struct PipedProgram {
    running: RunningProgram,
    stdin: Option<PipeWriter>,
    stdout: PipeReader,
    stderr: Option<PipeReader>,
    unread_bytes: Vec<u8>,
    stderr_tail: Vec<u8>,
    line_bytes_max: usize,
}

impl PipedProgram {
    pub fn spawn(line: &CommandLine, line_bytes_max: usize) -> io::Result<PipedProgram> {
        let (child_stdin, stdin) = io::pipe()?;
        let (stdout, child_stdout) = io::pipe()?;
        let (stderr, child_stderr) = io::pipe()?;
        for pipe in [&stdout, &stderr] {
            rustix::fs::fcntl_setfl(pipe, OFlags::NONBLOCK)?;
        }
        let streams = [child_stdin.into(), child_stdout.into(), child_stderr.into()];
        let running = RunningProgram::start(Task { line: line.clone(), folder: None, streams })?;
        Ok(PipedProgram {
            running,
            stdin: Some(stdin),
            stdout,
            stderr: Some(stderr),
            unread_bytes: Vec::new(),
            stderr_tail: Vec::new(),
            line_bytes_max,
        })
    }

    pub fn id(&self) -> u32 {
        self.running.id()
    }

    /// The process from which the program inherits what it does not change itself.
    pub fn parent(&self) -> u32 {
        self.running.parent()
    }

    /// The process that inherits processes whose parent in the program's family ended; `None`
    /// without a supervisor.
    pub fn supervisor(&self) -> Option<u32> {
        self.running.supervisor()
    }

    /// Ends the processes that descendants of the program left behind.
    pub fn end_leftovers(&self) -> io::Result<LeftoverCounts> {
        self.running.end_leftovers()
    }

    pub fn write_line(&mut self, line: &str) -> io::Result<()> {
        let stdin = self.stdin.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        stdin.write_all(format!("{line}\n").as_bytes())
    }

    /// Reads the next line of standard output, without its newline.
    pub fn read_line(&mut self, time_limit: Duration) -> Result<String, ProgramError> {
        let deadline = Instant::now() + time_limit;
        loop {
            if let Some(end) = self.unread_bytes.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = self.unread_bytes.drain(..=end).take(end).collect();
                return String::from_utf8(line).map_err(|error| {
                    ProgramError::NotText(String::from_utf8_lossy(error.as_bytes()).into_owned())
                });
            }
            if self.unread_bytes.len() >= self.line_bytes_max {
                return Err(ProgramError::TooLong(self.line_bytes_max));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(ProgramError::Timeout(time_limit));
            }
            self.wait_for_output(left)?;
            if !read_available(&mut self.stdout, &mut self.unread_bytes)? {
                return Err(ProgramError::Closed);
            }
        }
    }

    /// Sleeps until the program writes, for at most `left`; meanwhile drains standard error.
    fn wait_for_output(&mut self, left: Duration) -> Result<(), ProgramError> {
        if interrupt::is_stop_requested() {
            return Err(ProgramError::Interrupted);
        }
        let timeout =
            left.min(INTERRUPT_CHECK_INTERVAL_MAX).try_into().expect("a fifth of a second is a timespec");
        let stdout = PollFd::new(&self.stdout, PollFlags::IN);
        let polled = match &self.stderr {
            Some(stderr) => poll(&mut [stdout, PollFd::new(stderr, PollFlags::IN)], Some(&timeout)),
            None => poll(&mut [stdout], Some(&timeout)),
        };
        match polled {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(ProgramError::Io(error.into())),
        }
        self.drain_stderr()
    }

    /// Reads what standard error holds and keeps its end.
    fn drain_stderr(&mut self) -> Result<(), ProgramError> {
        let Some(stderr) = &mut self.stderr else { return Ok(()) };
        let open = read_available(stderr, &mut self.stderr_tail)?;
        let excess = self.stderr_tail.len().saturating_sub(STDERR_TAIL_BYTES);
        self.stderr_tail.drain(..excess);
        if !open {
            self.stderr = None;
        }
        Ok(())
    }

    /// Closes the reading end of the program's output, so that its next write fails with a broken
    /// pipe.
    pub fn close_output(&mut self) -> io::Result<()> {
        self.stdout = io::pipe()?.0;
        Ok(())
    }

    /// Closes the program's input, waits for at most `time_limit` until the program and everything
    /// that it started have ended, and then ends what is left.
    pub fn exit(&mut self, time_limit: Duration) -> io::Result<ProgramExit> {
        drop(self.stdin.take());
        let deadline = Instant::now() + time_limit;
        let left = || deadline.saturating_duration_since(Instant::now());
        // The output is read, so that a full pipe does not keep the program from ending.
        let mut is_read = true;
        while is_read && !left().is_zero() && !self.running.ends_within(Duration::ZERO) {
            let _ = self.wait_for_output(left().min(EXIT_CHECK_INTERVAL_MAX));
            is_read = read_available(&mut self.stdout, &mut Vec::new()).unwrap_or(false);
        }
        let has_ended = self.running.ends_within(left());
        while has_ended && self.running.has_leftovers() && !left().is_zero() {
            std::thread::sleep(EXIT_CHECK_INTERVAL_MAX);
        }
        let has_leftovers = has_ended && self.running.has_leftovers();
        let status = self.running.end()?;
        Ok(ProgramExit { status: has_ended.then_some(status), has_leftovers })
    }

    /// Closes the program's input, waits a moment for the program to end, and ends all processes
    /// that it started. Returns in words how the program ended.
    pub fn finish(&mut self) -> String {
        drop(self.stdin.take());
        self.running.ends_within(END_GRACE);
        // The last output of the program most likely states the reason. A failure to read it is
        // ignored.
        let _ = self.drain_stderr();
        match self.running.end() {
            Ok(status) => self.end_description(status),
            Err(error) => format!("it could not be reaped: {error}"),
        }
    }

    /// States how the program ended, with the last line of its standard error.
    pub fn end_description(&self, status: ExitStatus) -> String {
        let ended = match (status.code(), status.signal()) {
            (Some(code), _) => format!("it exited with {code}"),
            (None, Some(signal)) => format!("it was killed by signal {}", signal_name(signal)),
            (None, None) => format!("it ended: {status}"),
        };
        match self.last_stderr_line() {
            Some(line) => format!("{ended}: {line}"),
            None => ended,
        }
    }

    pub fn stderr_tail_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr_tail).into_owned()
    }

    /// The last line that the program has printed on standard error until now, shortened.
    pub fn newest_stderr_line(&mut self) -> Option<String> {
        // A failure to read standard error is ignored: the caller describes the actual failure.
        let _ = self.drain_stderr();
        Some(self.last_stderr_line()?.chars().take(ERROR_CHARS_MAX).collect())
    }

    /// The last line on standard error that is not blank.
    pub fn last_stderr_line(&self) -> Option<String> {
        last_line_of(&self.stderr_tail_text())
    }
}

impl Drop for PipedProgram {
    fn drop(&mut self) {
        // Nothing more can be done in a drop.
        let _ = self.running.end();
    }
}

/// Reads the available bytes without waiting; returns `false` at the end of the stream.
fn read_available(from: &mut impl Read, into: &mut Vec<u8>) -> io::Result<bool> {
    let mut buffer = [0; 4096];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(false),
            // Only one buffer is read at a time, so that the caller checks its limits before it
            // reads more.
            Ok(n) => {
                into.extend_from_slice(&buffer[..n]);
                return Ok(true);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(true),
            Err(error) => return Err(error),
        }
    }
}

/// The number of a signal, with its name if it is one that ends readers, such as `11 (SIGSEGV)`.
fn signal_name(signal: i32) -> String {
    let name = match signal {
        libc::SIGBUS => " (SIGBUS: a mapped file became shorter, or its device failed)",
        libc::SIGSEGV => " (SIGSEGV)",
        libc::SIGABRT => " (SIGABRT)",
        libc::SIGILL => " (SIGILL)",
        libc::SIGTRAP => " (SIGTRAP)",
        libc::SIGFPE => " (SIGFPE)",
        libc::SIGKILL => " (SIGKILL)",
        libc::SIGTERM => " (SIGTERM)",
        libc::SIGSYS => " (SIGSYS: a forbidden system call)",
        _ => "",
    };
    format!("{signal}{name}")
}
