//! A check: one session with a contender, which has one purpose, and the result of the session.

use super::missing_failure_message;
use super::stage::{Case, Stage};
use readlab_model::trial::{Answer, Work};
use readlab_protocol::{Cache, MethodLine, SampleLine, TurnRequest};
use readlab_report::verification::Fault;
use readlab_roster::session::{Session, SessionError, Turn};
use std::borrow::Borrow;
use std::ffi::OsString;
use std::fmt;

/// A turn of one untimed and two timed readings.
pub(super) const CHECK_TURN: TurnRequest = TurnRequest { lead: 1, count: 2 };

/// A turn of one timed reading, with which a user can also repeat a violation by hand.
pub(super) const ONE_READING: TurnRequest = TurnRequest { lead: 0, count: 1 };

/// The result of a check: the number of right answers, or the first violation.
pub(super) type CheckResult = Result<u32, Fault>;

/// Why a check fails, in words; the caller adds the request.
pub(super) struct Reason(pub String);

impl<E: fmt::Display> From<E> for Reason {
    fn from(why: E) -> Reason {
        Reason(why.to_string())
    }
}

/// The words after `read` on the contender's command line, and its environment.
#[derive(Debug, Clone)]
pub(super) struct ReadWords {
    pub method_line: MethodLine,
    /// The work that the samples must prove.
    pub proven_work: Work,
    pub method: String,
    pub scan: String,
    pub work: String,
    pub target: OsString,
    /// Settings `name=value`, after the target.
    pub settings: Vec<String>,
    pub env: Vec<(OsString, OsString)>,
    pub env_removed: Vec<OsString>,
    /// The shell command that a report shows for repeating the session. `None` if the session's own
    /// command can be repeated, which needs no server of the verification.
    pub repeating_command: Option<String>,
}

pub(super) struct Check<'a>(Box<dyn Fn(&Stage) -> CheckResult + Send + Sync + 'a>);

impl<'a> Check<'a> {
    pub(super) fn new(run: impl Fn(&Stage) -> CheckResult + Send + Sync + 'a) -> Check<'a> {
        Check(Box::new(run))
    }

    /// A check of a session that must prove the work for the case in its first turn, and then pass
    /// `end`.
    pub(super) fn reading(
        words: ReadWords,
        case: impl Borrow<Case> + Send + Sync + 'a,
        end: fn(&Stage, Session) -> Result<(), Reason>,
    ) -> Check<'a> {
        Check::new(move |stage| {
            let case: &Case = case.borrow();
            let words = words.with_target(case.path.as_os_str());
            words.attempt(stage, &case.name, || {
                end(stage, session_after_turn(stage, &words, case)?)?;
                Ok(CHECK_TURN.count)
            })
        })
    }

    /// A check of a session that must fail, before it is ready or in its first turn, with a reason that
    /// contains `expected`.
    pub(super) fn must_fail(
        words: ReadWords,
        of: impl Into<String>,
        expected: impl Into<String>,
    ) -> Check<'a> {
        let (of, expected) = (of.into(), expected.into());
        Check::new(move |stage| {
            let opened = stage.start_session(&words).and_then(|mut session| {
                session.wait_until_ready()?;
                session.run_turn(CHECK_TURN, stage.time_limit).map(|turn| turn.samples.len())
            });
            words.attempt(stage, &of, || match opened {
                Err(SessionError::Failed(reason))
                    if reason.to_lowercase().contains(&expected.to_lowercase()) =>
                {
                    Ok(1)
                }
                Err(SessionError::Failed(reason)) => {
                    Err(format!("it failed with {reason:?}, which must have {expected:?}").into())
                }
                Err(error) => Err(missing_failure_message(&error.to_string()).into()),
                Ok(samples) => Err(missing_failure_message(&format!("it sent {samples} samples")).into()),
            })
        })
    }

    /// Also accepts a failure whose reason names one of these settings. A contender may reject a value
    /// within the bounds, for example because a device does not support it.
    pub(super) fn or_settings_refused(self, settings: Vec<String>) -> Check<'a> {
        let is_named = move |fault: &Fault| {
            let mut names = settings.iter().map(|setting| setting.split('=').next().unwrap_or_default());
            names.any(|name| fault.reason.to_lowercase().contains(&name.to_lowercase()))
        };
        Check::new(move |stage| match self.run(stage) {
            Err(fault) if is_named(&fault) => Ok(0),
            other => other,
        })
    }

    pub(super) fn run(&self, stage: &Stage) -> CheckResult {
        (self.0)(stage)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WorkScan {
    pub work: Work,
    pub scan: String,
}

/// True if the method is a control that need not prove what it reads.
pub(super) fn is_control(method: &MethodLine) -> bool {
    method.cache == Cache::None && method.method != "resident"
}

/// Every work of a method with each of its scans; works that visit bytes come first.
pub(super) fn work_scans(method: &MethodLine) -> Vec<WorkScan> {
    let works = [Work::Newlines, Work::Lines, Work::Sum, Work::Discard, Work::Names, Work::Stat];
    let scans = |work: Work| method.scans.get(work.word()).cloned().unwrap_or_default();
    let of_work = |work| scans(work).into_iter().map(move |scan| WorkScan { work, scan });
    works.into_iter().flat_map(of_work).collect()
}

impl ReadWords {
    pub(super) fn new(method: &MethodLine, visit: &WorkScan) -> ReadWords {
        ReadWords {
            method_line: method.clone(),
            proven_work: visit.work,
            method: method.method.clone(),
            scan: visit.scan.clone(),
            work: visit.work.word().to_owned(),
            target: OsString::new(),
            settings: Vec::new(),
            env: Vec::new(),
            env_removed: Vec::new(),
            repeating_command: None,
        }
    }

    pub(super) fn with_target(&self, target: impl Into<OsString>) -> ReadWords {
        ReadWords { target: target.into(), ..self.clone() }
    }

    pub(super) fn with_settings(&self, settings: impl IntoIterator<Item = String>) -> ReadWords {
        let settings = self.settings.iter().cloned().chain(settings).collect();
        ReadWords { settings, ..self.clone() }
    }

    pub(super) fn words(&self) -> Vec<OsString> {
        let named = ["read", &self.method, &self.scan, &self.work].map(OsString::from);
        let settings = self.settings.iter().map(OsString::from);
        named.into_iter().chain([self.target.clone()]).chain(settings).collect()
    }

    /// The request in words; `of` is the name of the target.
    pub(super) fn describe(&self, of: &str) -> String {
        let scan = if self.scan == "-" { String::new() } else { format!(" by {}", self.scan) };
        let settings: String = self.settings.iter().map(|setting| format!(" {setting}")).collect();
        format!("{}{scan} of {of}{settings}", self.work)
    }

    /// A violation in this session; `of` is the name of the target.
    pub(super) fn fault(&self, stage: &Stage, of: &str, reason: impl fmt::Display) -> Fault {
        let repeat = self.repeat_command(stage, &[&ONE_READING]);
        Fault { request: self.describe(of), reason: reason.to_string(), repeat_command: repeat }
    }

    /// A shell command that repeats the session with these lines as its input.
    pub(super) fn repeat_command(&self, stage: &Stage, lines: &[&dyn fmt::Display]) -> String {
        if let Some(again) = &self.repeating_command {
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

    /// The result of `search`; its error becomes a violation in this session, for the target named
    /// `of`.
    pub(super) fn attempt<T>(
        &self,
        stage: &Stage,
        of: &str,
        search: impl FnOnce() -> Result<T, Reason>,
    ) -> Result<T, Fault> {
        search().map_err(|Reason(reason)| self.fault(stage, of, reason))
    }

    /// Like `attempt`, for a file. The command that repeats the session reads the file at its own path.
    pub(super) fn attempt_case<T>(
        &self,
        stage: &Stage,
        case: &Case,
        search: impl FnOnce() -> Result<T, Reason>,
    ) -> Result<T, Fault> {
        self.with_target(case.path.as_os_str()).attempt(stage, &case.name, search)
    }

    /// Returns an error if a sample does not prove that the case was read.
    pub(super) fn check_samples(&self, samples: &[SampleLine], case: &Case) -> Result<(), String> {
        samples.iter().find_map(|sample| self.why_unproven(sample, case)).map_or(Ok(()), Err)
    }

    /// Why a sample does not prove that the case was read; `None` if it does.
    fn why_unproven(&self, sample: &SampleLine, case: &Case) -> Option<String> {
        if sample.wall_ns == 0 {
            return Some("its window has 0 ns".to_owned());
        }
        // PROTOCOL.md defines what each control must prove.
        if is_control(&self.method_line) {
            return None;
        }
        let (answer, truth, work) = (Answer::from(sample), &case.truth, self.proven_work);
        if !answer.proves(work, &truth.answer) {
            return Some(answer.refusal(work, &truth.answer));
        }
        if work.finds_names() && !answer.has_every_kind() {
            return Some(format!(
                "it answered {answer}, and must say how many files, folders, links and others there are"
            ));
        }
        match (sample.read_bytes, case.useful_bytes) {
            (Some(_), None) => return Some("it has 'read_bytes', and reads no places".to_owned()),
            (Some(said), Some(useful)) if said < useful => {
                return Some(format!(
                    "it says that its reads asked for {said} bytes, and the blocks have {useful}"
                ));
            }
            _ => {}
        }
        let products = truth.products?;
        (!products.agrees_with(work, &answer, true)).then(|| match answer.products {
            None => format!("it answered {answer} without products"),
            Some(said) => format!(
                "it answered {answer}, which is right, with the products {said}, which are not: a piece was left out, \
                 or read twice, or stands for another one"
            ),
        })
    }
}

/// Starts a session and waits until it is ready. `ready` must name exactly the parameters of the
/// method. Their values are not compared, because a contender may replace 0 or a value that does not
/// fit.
pub(super) fn start_ready(stage: &Stage, words: &ReadWords) -> Result<Session, SessionError> {
    let mut session = stage.start_session(words)?;
    let in_force = session.wait_until_ready()?;
    let known: Vec<&String> = words.method_line.params.iter().map(|param| &param.name).collect();
    let lacking = known.iter().find(|name| !in_force.0.contains_key(**name));
    let lacking = lacking.map(|name| format!("'ready' has no {name}, a parameter of the method"));
    let added = in_force.0.keys().find(|name| !known.contains(name));
    let added = || added.map(|name| format!("'ready' has {name}, which is no parameter of the method"));
    lacking.or_else(added).map_or(Ok(session), |reason| Err(SessionError::Failed(reason)))
}

/// Runs one turn, whose samples must prove the work for the case.
pub(super) fn prove_turn(
    session: &mut Session,
    stage: &Stage,
    words: &ReadWords,
    case: &Case,
) -> Result<Turn, SessionError> {
    let turn = session.run_turn(CHECK_TURN, stage.time_limit)?;
    words.check_samples(&turn.samples, case).map_err(SessionError::Failed)?;
    Ok(turn)
}

/// A session that has proven the work for the case in its first turn.
pub(super) fn session_after_turn(
    stage: &Stage,
    words: &ReadWords,
    case: &Case,
) -> Result<Session, SessionError> {
    let mut session = start_ready(stage, words)?;
    prove_turn(&mut session, stage, words, case)?;
    Ok(session)
}

/// Checks that the session exits with 0 at the end of its input.
pub(super) fn check_exit(_: &Stage, session: Session) -> Result<(), Reason> {
    Ok(session.exit()?)
}

/// Checks that the session has no file open or mapped between turns, and that it exits with 0 at the
/// end of its input and leaves no processes behind.
pub(super) fn check_clean_exit(stage: &Stage, session: Session) -> Result<(), Reason> {
    if let Some(reason) = stage.held_file_reason(&session) {
        return Err(reason.into());
    }
    check_exit(stage, session)
}
