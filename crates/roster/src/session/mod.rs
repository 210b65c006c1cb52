//! A session with one contender about one trial: hello, ready, and turns.
//! [`readlab_system::program`] has the process and its pipes.
//!
//! Every violation of PROTOCOL.md is a [`SessionError`] of its own, which the lab turns into the
//! outcome of the trial.

use readlab_model::trial::{COMMAND, Params};
use readlab_protocol::{
    CountLine, LINE_BYTES_MAX, Message, MethodLine, SampleLine, SayError, Scheduling, TurnRequest, VERSION,
};
use readlab_record::{Latencies, LatenciesError, Outcome, OwnScheduling, Receipt};
use readlab_system::memory;
use readlab_system::process::{scheduling_of_thread, threads};
use readlab_system::program::{CommandLine, LeftoverCounts, PipedProgram, ProgramError, ProgramExit};
use readlab_targets::target::secret;
use std::io;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

/// How long a contender may take until it is ready, which includes the start of a virtual machine.
pub const START_TIMEOUT: Duration = Duration::from_secs(30);

/// Shortest time that the lab waits for an answer. The time limit may have passed while the lab
/// waited for other contenders, and an answer that has arrived meanwhile is still read.
const ANSWER_TIMEOUT_MIN: Duration = Duration::from_millis(100);

/// Largest number of kinds of events that a contender may count itself.
const COUNTS_MAX: usize = 16;

/// How a contender violated the protocol, or why it cannot run.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error("cannot start {command}: {cause}")]
    NotStarted { command: String, cause: io::Error },
    #[error("it speaks protocol {0}, this readlab speaks {VERSION}")]
    WrongVersion(u32),
    #[error("the roster calls it '{expected}', it calls itself '{said}'")]
    WrongName { expected: String, said: String },
    #[error("{0}")]
    Malformed(#[from] SayError),
    #[error("out of turn: expected {expected}, got {said}")]
    OutOfTurn { expected: &'static str, said: String },
    #[error("asked for {expected} samples, got {got}")]
    WrongCount {
        expected: u32,
        /// The number of samples that were received. Samples after one too many are not counted.
        got: u32,
    },
    #[error("it counts {0:?} twice, or more than {COUNTS_MAX} things")]
    TooManyCounts(String),
    #[error("latencies: {0}")]
    BadLatencies(#[from] LatenciesError),
    #[error("it claims {claimed_ns} ns inside a turn that lasted {seen_ns} ns")]
    ClaimsTooMuchTime {
        /// Sum of the contender's windows.
        claimed_ns: u64,
        /// Duration of the turn by the lab's own clock.
        seen_ns: u64,
    },
    #[error("not built yet: `readlab build {0}` builds it")]
    NotBuilt(String),
    /// The contender states that it cannot run here, or something that it needs is missing.
    #[error("{0}")]
    Unavailable(String),
    #[error("{0}")]
    Failed(String),
    #[error("{cause}; {end}")]
    Silent { cause: ProgramError, end: String },
    #[error("at the end of its input {0} instead of exiting with 0")]
    WrongExit(String),
    #[error("interrupted")]
    Interrupted,
}

impl SessionError {
    /// The outcome of the trial; `None` if the contender did not cause the error.
    pub fn outcome(&self) -> Option<Outcome> {
        // The text comes from a program and may contain the URL that the program got.
        let reason = secret::redact_command(&self.to_string());
        match self {
            SessionError::Interrupted => None,
            SessionError::Unavailable(_) | SessionError::NotBuilt(_) | SessionError::NotStarted { .. } => {
                Some(Outcome::Unavailable { reason })
            }
            SessionError::ClaimsTooMuchTime { .. } => Some(Outcome::Refused { reason }),
            _ => Some(Outcome::Failed { reason }),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// The timed readings, in order.
    pub samples: Vec<SampleLine>,
    /// Counts of the contender's runtime over all readings of the turn.
    pub counts: Vec<CountLine>,
    /// Latencies of single reads in the timed readings, if the contender measures them.
    pub latencies: Option<Latencies>,
    /// Duration of the whole turn by the lab's own clock.
    pub lab_wall_ns: u64,
}

/// A contender whose program was started, but whose hello has not been received.
#[derive(Debug)]
pub struct LaunchedSession(Session);

/// A started contender that has sent its hello.
#[derive(Debug)]
pub struct Session {
    process: PipedProgram,
    /// How long the contender may take until it is ready, and between two lines of an answer.
    time_limit: Duration,
    /// Number of OOM kills on the machine before the contender was started.
    oom_kills_at_start: Option<u64>,
    pub receipt: Receipt,
}

impl LaunchedSession {
    pub fn process_id(&self) -> u32 {
        self.0.process_id()
    }

    pub fn receive_hello(self) -> Result<Session, SessionError> {
        let LaunchedSession(mut session) = self;
        match session.receive(session.time_limit)? {
            Message::Hello { protocol, .. } if protocol != VERSION => {
                Err(SessionError::WrongVersion(protocol))
            }
            Message::Hello { contender, .. } if contender != session.receipt.contender => {
                let expected = session.receipt.contender;
                Err(SessionError::WrongName { expected, said: contender })
            }
            Message::Hello { version, runtime, .. } => {
                (session.receipt.version, session.receipt.runtime) = (version, runtime);
                Ok(session)
            }
            other => Err(unexpected_message("hello", &other)),
        }
    }
}

impl Session {
    pub fn start(name: &str, command: &CommandLine) -> Result<Session, SessionError> {
        Session::launch(name, command)?.receive_hello()
    }

    /// Starts the contender without waiting for its hello.
    pub fn launch(name: &str, command: &CommandLine) -> Result<LaunchedSession, SessionError> {
        Session::launch_within(name, command, START_TIMEOUT)
    }

    /// Like `launch`, with a limit on the time until the contender is ready.
    pub fn launch_within(
        name: &str,
        command: &CommandLine,
        time_limit: Duration,
    ) -> Result<LaunchedSession, SessionError> {
        let oom_kills = memory::oom_kills();
        let process = PipedProgram::spawn(command, LINE_BYTES_MAX)
            .map_err(|cause| SessionError::NotStarted { command: command.shell_line(), cause })?;
        let (contender, version, runtime) = (name.to_owned(), String::new(), String::new());
        let receipt = Receipt { contender, version, runtime, language: None };
        Ok(LaunchedSession(Session { process, time_limit, oom_kills_at_start: oom_kills, receipt }))
    }

    /// Reads the methods that a contender lists after it was started with the word `methods`, until
    /// it closes its output.
    pub fn read_methods(&mut self) -> Result<Vec<MethodLine>, SessionError> {
        let mut methods = Vec::new();
        loop {
            match self.process.read_line(self.time_limit) {
                Ok(line) => match Message::parse(&line)? {
                    Message::Method(method) => methods.push(method),
                    other => return Err(unexpected_message("method", &other)),
                },
                Err(ProgramError::Closed) => return Ok(methods),
                Err(cause) => return Err(self.silence_error(cause)),
            }
        }
    }

    /// Waits until a contender that was started with the word `read` is ready; returns the value of
    /// every parameter.
    pub fn wait_until_ready(&mut self) -> Result<Params, SessionError> {
        match self.receive(self.time_limit)? {
            Message::Ready { params } => Ok(Params(params)),
            other => Err(unexpected_message("ready", &other)),
        }
    }

    /// Runs one turn (`go`, the samples, `done`), and takes its duration by the lab's clock.
    pub fn run_turn(&mut self, request: TurnRequest, timeout: Duration) -> Result<Turn, SessionError> {
        let start = self.begin_turn(request)?;
        self.end_turn(request, start, timeout)
    }

    /// Sends `go`, and returns the time at which it was sent.
    pub fn begin_turn(&mut self, request: TurnRequest) -> Result<Instant, SessionError> {
        let start = Instant::now();
        self.send(&request.to_string())?;
        Ok(start)
    }

    fn send(&mut self, line: &str) -> Result<(), SessionError> {
        let said = self.process.write_line(line);
        said.map_err(|error| self.silence_error(ProgramError::Io(error)))
    }

    /// Receives the answer to a `go` that was sent at `start`.
    pub fn end_turn(
        &mut self,
        request: TurnRequest,
        start: Instant,
        timeout: Duration,
    ) -> Result<Turn, SessionError> {
        let first = self.receive(timeout.saturating_sub(start.elapsed()).max(ANSWER_TIMEOUT_MIN))?;
        let seen_ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let turn = self.collect_answer(request, first, seen_ns)?;
        let claimed_ns = turn.samples.iter().fold(0_u64, |sum, sample| sum.saturating_add(sample.wall_ns));
        if claimed_ns > seen_ns {
            return Err(SessionError::ClaimsTooMuchTime { claimed_ns, seen_ns });
        }
        Ok(turn)
    }

    /// Collects the answer to a turn, beginning with its first line.
    fn collect_answer(
        &mut self,
        request: TurnRequest,
        first: Message,
        seen_ns: u64,
    ) -> Result<Turn, SessionError> {
        let (mut samples, mut counts, mut latencies) = (Vec::new(), Vec::<CountLine>::new(), None);
        let mut message = first;
        loop {
            match message {
                Message::Sample(_) if samples.len() as u64 >= u64::from(request.count) => {
                    return Err(SessionError::WrongCount { expected: request.count, got: request.count + 1 });
                }
                Message::Sample(sample) if counts.is_empty() && latencies.is_none() => samples.push(sample),
                Message::Latencies(line) if latencies.is_none() => {
                    latencies = Some(Latencies::try_from(line.histogram)?);
                }
                Message::Count(count)
                    if counts.len() >= COUNTS_MAX || counts.iter().any(|it| it.of == count.of) =>
                {
                    return Err(SessionError::TooManyCounts(count.of));
                }
                Message::Count(count) => counts.push(count),
                Message::Done { count }
                    if count == request.count && samples.len() as u64 == u64::from(count) =>
                {
                    return Ok(Turn { samples, counts, latencies, lab_wall_ns: seen_ns });
                }
                Message::Done { .. } => {
                    let got = u32::try_from(samples.len()).unwrap_or(u32::MAX);
                    return Err(SessionError::WrongCount { expected: request.count, got });
                }
                other => return Err(unexpected_message("sample, count or done", &other)),
            }
            message = self.receive(self.time_limit)?;
        }
    }

    /// Sends a line that does not begin a turn, and returns the answer.
    pub fn request_answer(&mut self, line: &str) -> Result<Message, SessionError> {
        self.send(line)?;
        self.receive(self.time_limit)
    }

    /// Closes the reading end of the contender's output.
    pub fn close_output(&mut self) -> io::Result<()> {
        self.process.close_output()
    }

    /// Closes the contender's input and waits for it to exit.
    pub fn wait_for_exit(&mut self) -> Result<ExitStatus, SessionError> {
        let wrong = |what: String| Err(SessionError::WrongExit(what));
        match self.process.exit(self.time_limit) {
            Err(error) => wrong(format!("it could not be reaped: {error}")),
            Ok(ProgramExit { status: None, .. }) => wrong(format!("it went on for {:.0?}", self.time_limit)),
            Ok(ProgramExit { has_leftovers: true, .. }) => wrong("it left processes behind".to_owned()),
            Ok(ProgramExit { status: Some(status), .. }) => Ok(status),
        }
    }

    /// Closes the contender's input and waits for it to exit; the exit code must be 0.
    pub fn exit(mut self) -> Result<(), SessionError> {
        let status = self.wait_for_exit()?;
        if status.success() {
            Ok(())
        } else {
            Err(SessionError::WrongExit(self.process.end_description(status)))
        }
    }

    /// The last lines of the contender on standard error.
    pub fn last_error_lines(&self) -> String {
        self.process.stderr_tail_text()
    }

    /// Gives the contender time to exit by itself, so that it can write its last output, and kills it
    /// if it does not exit.
    pub fn finish(mut self) {
        // The exit status no longer matters.
        let _ = self.process.finish();
    }

    /// Ends processes that the contender's processes left behind.
    pub fn end_leftovers(&self) -> io::Result<LeftoverCounts> {
        self.process.end_leftovers()
    }

    /// The schedulings of the contender's threads, and of programs that it started for these
    /// readings, that differ from the scheduling that the lab gave the contender.
    pub fn own_schedulings(&self, samples: &[SampleLine]) -> Vec<OwnScheduling> {
        let Some(given) = scheduling_of(self.process.parent()) else { return Vec::new() };
        let mut others = other_schedulings(&given, self.process.id());
        for its in samples.iter().filter_map(|sample| sample.scheduling.as_ref()) {
            if *its != given && !others.contains(its) {
                others.push(its.clone());
            }
        }
        others
            .into_iter()
            .map(|ran| OwnScheduling { own_scheduling: ran, given_scheduling: given.clone() })
            .collect()
    }

    pub fn process_id(&self) -> u32 {
        self.process.id()
    }

    /// The id of the process that becomes the parent of the contender's processes whose own parent
    /// has ended. The meters need this id, too.
    pub fn supervisor_id(&self) -> Option<u32> {
        self.process.supervisor()
    }

    /// Receives the next message. A message with which the contender ends the session is an error.
    fn receive(&mut self, timeout: Duration) -> Result<Message, SessionError> {
        let line = self.process.read_line(timeout).map_err(|cause| self.silence_error(cause))?;
        match Message::parse(&line)? {
            Message::Unavailable { reason } => Err(SessionError::Unavailable(reason)),
            Message::Failed { reason } => {
                let reason = self.with_last_error(reason);
                Err(SessionError::Failed(self.with_oom_notice(reason)))
            }
            message => Ok(message),
        }
    }

    /// Appends the last line on standard error to the failure of a user's command, because that
    /// line most likely states the cause.
    fn with_last_error(&mut self, reason: String) -> String {
        let is_command = self.receipt.contender == COMMAND;
        match is_command.then(|| self.process.newest_stderr_line()).flatten() {
            Some(line) => format!("{reason}; it printed last: {line}"),
            None => reason,
        }
    }

    fn silence_error(&mut self, cause: ProgramError) -> SessionError {
        match cause {
            ProgramError::Interrupted => SessionError::Interrupted,
            cause => {
                let end = self.process.finish();
                SessionError::Silent { end: self.with_oom_notice(end), cause }
            }
        }
    }

    /// Appends to the reason of a failure that memory ran out, if the kernel has killed a process for
    /// lack of memory since the contender was started.
    fn with_oom_notice(&self, reason: String) -> String {
        if memory::oom_kills() > self.oom_kills_at_start {
            format!("{reason}; memory ran out meanwhile, and the kernel killed a process to get some (OOM)")
        } else {
            reason
        }
    }
}

fn unexpected_message(expected: &'static str, said: &Message) -> SessionError {
    SessionError::OutOfTurn { expected, said: said.line() }
}

/// The scheduling of the first thread of a process; `None` if it has ended or must not be
/// inspected.
fn scheduling_of(pid: u32) -> Option<Scheduling> {
    scheduling_of_thread(pid, pid)
}

/// The schedulings of a process's threads that differ from `given`.
fn other_schedulings(given: &Scheduling, pid: u32) -> Vec<Scheduling> {
    let mut others = Vec::new();
    for thread in threads(pid).unwrap_or_default() {
        if let Some(its) = scheduling_of_thread(pid, thread)
            && its != *given
            && !others.contains(&its)
        {
            others.push(its);
        }
    }
    others
}

#[cfg(test)]
mod tests;
