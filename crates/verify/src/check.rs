//! One session of a contender with a purpose, and what is found in it.

use super::stage::{Case, Stage};
use readlab_model::trial::{Answer, Work};
use readlab_protocol::{Cache, MethodLine, SampleLine, TurnRequest};
use readlab_roster::session::{Session, SessionError, Turn};
use std::ffi::OsString;
use std::fmt;
use std::time::Duration;

/// A turn of an untimed and two timed readings.
pub(super) const TURN: TurnRequest = TurnRequest { lead: 1, count: 2 };

/// The turn with which a fault is repeated.
const ONE_READING: TurnRequest = TurnRequest { lead: 0, count: 1 };

/// What a check finds: how many answers were right, or the first that was not.
pub type Outcome = Result<u32, Fault>;

/// Something that a contender does against the protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What was requested, in words: `newlines of no-final-newline`.
    pub request: String,
    /// What is wrong with the answer.
    pub reason: String,
    /// A line for a shell that repeats it.
    pub repeat: String,
}

/// The words after `read` on a contender's command line, and its environment.
#[derive(Debug, Clone, Default)]
pub(super) struct ReadWords {
    pub method: String,
    pub scan: String,
    pub work: String,
    pub target: OsString,
    /// `name=value`, after the target.
    pub settings: Vec<String>,
    pub env: Vec<(OsString, OsString)>,
    pub env_removed: Vec<OsString>,
    /// The line for a shell that repeats the session, where its own command cannot: the server from
    /// which it reads has gone by then.
    pub again: Option<String>,
}

/// A check that can be run.
pub(super) struct Check<'a>(Box<dyn Fn(&Stage) -> Outcome + Send + Sync + 'a>);

impl<'a> Check<'a> {
    pub(super) fn new(run: impl Fn(&Stage) -> Outcome + Send + Sync + 'a) -> Check<'a> {
        Check(Box::new(run))
    }

    pub(super) fn run(&self, stage: &Stage) -> Outcome {
        (self.0)(stage)
    }
}

/// A way of doing a work with the bytes: a work and one of its scans.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Visit {
    pub work: Work,
    pub scan: String,
}

/// Whether a method is a control that need not prove what it reads.
pub(super) fn is_control(method: &MethodLine) -> bool {
    method.cache == Cache::None && method.method != "resident"
}

/// Every work of a method with each of its scans; the first ones touch the bytes.
pub(super) fn visits(method: &MethodLine) -> Vec<Visit> {
    let works = [Work::Newlines, Work::Lines, Work::Sum, Work::Discard];
    let scans = |work: Work| method.scans.get(work.word()).cloned().unwrap_or_default();
    let of_work = |work| scans(work).into_iter().map(move |scan| Visit { work, scan });
    works.into_iter().flat_map(of_work).collect()
}

impl ReadWords {
    pub(super) fn new(method: &MethodLine, visit: &Visit) -> ReadWords {
        ReadWords {
            method: method.method.clone(),
            scan: visit.scan.clone(),
            work: visit.work.word().to_owned(),
            ..ReadWords::default()
        }
    }

    pub(super) fn on(&self, target: impl Into<OsString>) -> ReadWords {
        ReadWords { target: target.into(), ..self.clone() }
    }

    pub(super) fn with(&self, settings: impl IntoIterator<Item = String>) -> ReadWords {
        let settings = self.settings.iter().cloned().chain(settings).collect();
        ReadWords { settings, ..self.clone() }
    }

    /// All words, `read` included.
    pub(super) fn words(&self) -> Vec<OsString> {
        let named = ["read", &self.method, &self.scan, &self.work].map(OsString::from);
        let settings = self.settings.iter().map(OsString::from);
        named.into_iter().chain([self.target.clone()]).chain(settings).collect()
    }

    /// The request in words, about what is called so.
    pub(super) fn describe(&self, of: &str) -> String {
        let scan = if self.scan == "-" { String::new() } else { format!(" by {}", self.scan) };
        let settings: String = self.settings.iter().map(|setting| format!(" {setting}")).collect();
        format!("{}{scan} of {of}{settings}", self.work)
    }

    /// A fault of this session at what is called so.
    pub(super) fn fault(&self, stage: &Stage, of: &str, reason: impl fmt::Display) -> Fault {
        let repeat = self.repeat(stage, &[&ONE_READING]);
        Fault { request: self.describe(of), reason: reason.to_string(), repeat }
    }

    /// A line for a shell that repeats the session with these lines as its input.
    pub(super) fn repeat(&self, stage: &Stage, lines: &[&dyn fmt::Display]) -> String {
        if let Some(again) = &self.again {
            return again.clone();
        }
        let lines: String = lines.iter().map(|line| format!("{line}\\n")).collect();
        let variables: String = self
            .env
            .iter()
            .map(|(name, value)| {
                format!("{}={} ", name.display(), shell_words::quote(&value.to_string_lossy()))
            })
            .collect();
        format!("printf '{lines}' | {variables}{}", stage.command(self).shell_line())
    }

    /// The same at a file, which the repeated command reads under its own name.
    pub(super) fn fault_at(&self, stage: &Stage, case: &Case, reason: impl fmt::Display) -> Fault {
        self.on(case.path.as_os_str()).fault(stage, &case.name, reason)
    }
}

/// Starts a session and waits until it is ready. Its parameters in force are those of the method; a
/// value of 0 or one that does not fit may have become another one.
pub(super) fn ready(stage: &Stage, words: &ReadWords, method: &MethodLine) -> Result<Session, SessionError> {
    let mut session = stage.launch(words)?;
    let in_force = session.ready()?;
    if let Some(param) = method.params.iter().find(|param| !in_force.0.contains_key(&param.name)) {
        return Err(SessionError::Failed(format!(
            "'ready' has no {}, a parameter of the method",
            param.name
        )));
    }
    match in_force.0.keys().find(|name| method.params.iter().all(|param| param.name != **name)) {
        Some(name) => {
            Err(SessionError::Failed(format!("'ready' has {name}, which is no parameter of the method")))
        }
        None => Ok(session),
    }
}

/// One turn; its samples prove the work on the case.
pub(super) fn turn(
    session: &mut Session,
    deadline: Duration,
    method: &MethodLine,
    work: Work,
    case: &Case,
) -> Result<Turn, SessionError> {
    let turn = session.turn(TURN, deadline)?;
    match refusal_of(&turn.samples, method, work, case) {
        Some(reason) => Err(SessionError::Failed(reason)),
        None => Ok(turn),
    }
}

/// A session that has proven the work on the case in its first turn.
pub(super) fn after_a_turn(
    stage: &Stage,
    words: &ReadWords,
    method: &MethodLine,
    work: Work,
    case: &Case,
) -> Result<Session, SessionError> {
    let mut session = ready(stage, words, method)?;
    turn(&mut session, stage.deadline, method, work, case)?;
    Ok(session)
}

/// Why some sample does not prove that the case was read; `None` if all do.
pub(super) fn refusal_of(
    samples: &[SampleLine],
    method: &MethodLine,
    work: Work,
    case: &Case,
) -> Option<String> {
    samples.iter().find_map(|sample| refusal(sample, method, work, case))
}

/// Why a sample does not prove that the case was read; `None` if it does.
fn refusal(sample: &SampleLine, method: &MethodLine, work: Work, case: &Case) -> Option<String> {
    if sample.wall_ns == 0 {
        return Some("its window has 0 ns".to_owned());
    }
    // What a control proves is said of it in the protocol.
    if is_control(method) {
        return None;
    }
    let (answer, truth) = (Answer::from(sample), &case.truth);
    if !answer.proves(work, &truth.answer) {
        return Some(answer.refusal(work, &truth.answer));
    }
    let products = truth.products?;
    (!products.agree(work, &answer, true)).then(|| match answer.products {
        None => format!("it answered {answer} without products"),
        Some(said) => format!(
            "it answered {answer}, which is right, with the products {said}, which are not: a piece was left out, \
             or read twice, or stands for another one"
        ),
    })
}
