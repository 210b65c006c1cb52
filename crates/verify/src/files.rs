//! Sessions that read whole files: every work and scan reads every file, one after the other at one
//! path, and each session ends in another way.

use super::check::{
    Check, Fault, Outcome, ReadWords, TURN, Visit, after_a_turn, is_control, ready, refusal_of, turn, visits,
};
use super::settings::{self, Load};
use super::stage::{AWKWARD_NAME, Case, Slot, Stage, raw_name};
use super::{instead_of_failure, reason_of};
use readlab_model::trial::Work;
use readlab_protocol::{MethodLine, TurnRequest};
use readlab_roster::session::{Session, SessionError};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::time::Duration;

/// What the windows of a turn may leave out of it, in the turn that leaves out least. A race bounds
/// this more tightly, with a control beside it; here sessions run beside each other.
const LEFT_OUT_MAX: Duration = Duration::from_millis(50);

/// Larger buffers than this are not read around: it would take seconds in some languages.
const BUFFER_BYTES_MAX: u64 = 1 << 20;

/// In so many turns a runtime may still load what it answers with.
const FIRST_TURNS: usize = 3;

/// A turn that is mostly untimed readings.
const MANY_UNTIMED: TurnRequest = TurnRequest { lead: 8, count: 1 };

/// How many such turns are looked at.
const LEAD_TRIES: u32 = 5;

/// An untimed reading may take this many times the shortest window of its turn: on a busy machine the
/// longest one can be as long as a pause that no window has.
const UNTIMED_FACTOR: u64 = 3;

/// How a session ends after its last file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// Its input ends; between turns nothing was open, and nothing is left behind.
    InputEnds,
    /// The file is removed before the next turn.
    FileVanishes,
    FolderInstead,
}

const ENDINGS: [Ending; 3] = [Ending::InputEnds, Ending::FileVanishes, Ending::FolderInstead];

/// The endings by turns; a control need not look at the file.
pub(super) fn ending_of(method: &MethodLine, number: usize) -> Ending {
    if is_control(method) { Ending::InputEnds } else { ENDINGS[number % ENDINGS.len()] }
}

/// A session about single files.
pub(super) struct Reading {
    pub method: MethodLine,
    pub words: ReadWords,
    pub work: Work,
    pub ending: Ending,
}

/// Every visit of every file, names that need care, and settings.
pub(super) fn checks<'s>(stage: &'s Stage, method: &MethodLine) -> io::Result<Vec<Check<'s>>> {
    let visits = visits(method);
    let mut checks = Vec::new();
    // Each ending at least once, however few visits there are.
    for at in 0..visits.len().max(ENDINGS.len()) {
        let Some(visit) = visits.get(at % visits.len().max(1)) else { break };
        let reading = Reading::new(method, visit, ending_of(method, at));
        let cases =
            if at < visits.len() { cases_of(stage, method) } else { vec![stage.file("no-final-newline")] };
        checks.push(Check::new(move |stage| reading.run(stage, "file", &cases)));
    }
    for (at, visit) in visits.iter().enumerate() {
        if visits[..at].iter().all(|before| before.work != visit.work) {
            checks.push(around_buffers(stage, method, visit)?);
        }
    }
    if let Some(visit) = visits.first().cloned() {
        let words = ReadWords::new(method, &visit);
        if !is_control(method) {
            checks.push(reads_as_often_as_asked(method, &visit, &words));
        }
        checks.push(spelled(method, &visit, words.clone(), &stage.awkward, AWKWARD_NAME.into()));
        checks.push(spelled(method, &visit, words, &stage.raw, raw_name()));
        for setting in settings::for_load(method, Load::Kilobytes) {
            let reading = Reading::new(method, &visit, Ending::InputEnds).with(setting);
            let cases: Vec<&Case> = settings::CASES.iter().map(|name| stage.file(name)).collect();
            checks.push(Check::new(move |stage| {
                settings::or_refused(&reading.words, reading.run(stage, "file", &cases))
            }));
        }
    }
    Ok(checks)
}

/// Files around the sizes of the method's own buffers.
fn around_buffers<'s>(stage: &'s Stage, method: &MethodLine, visit: &Visit) -> io::Result<Check<'s>> {
    let sizes = method.params.iter().filter(|param| param.name.ends_with("_bytes"));
    let sizes = sizes.map(|param| param.default).filter(|bytes| (2..=BUFFER_BYTES_MAX).contains(bytes));
    let cases = sizes.map(|bytes| stage.around(bytes)).collect::<io::Result<Vec<_>>>()?;
    let reading = Reading::new(method, visit, Ending::InputEnds);
    Ok(Check::new(move |stage| {
        let cases: Vec<&Case> = cases.iter().flat_map(|cases| cases.iter()).collect();
        reading.run(stage, "file", &cases)
    }))
}

/// Whether untimed readings take time: a turn of many of them is longer than one timed reading. On
/// a busy machine one turn shows nothing, so several are looked at.
fn reads_as_often_as_asked<'s>(method: &MethodLine, visit: &Visit, words: &ReadWords) -> Check<'s> {
    let (method, work, words) = (method.clone(), visit.work, words.clone());
    Check::new(move |stage| {
        let case = &stage.large;
        let words = words.on(case.path.as_os_str());
        let fault = |reason: &dyn std::fmt::Display| words.fault(stage, &case.name, reason);
        let mut session = ready(stage, &words, &method).map_err(|error| fault(&error))?;
        for _ in 0..LEAD_TRIES {
            let turn = session.turn(MANY_UNTIMED, stage.deadline).map_err(|error| fault(&error))?;
            if let Some(reason) = refusal_of(&turn.samples, &method, work, case) {
                return Err(fault(&reason));
            }
            let window_ns = turn.samples.iter().map(|sample| sample.wall_ns).max().unwrap_or_default();
            if turn.seen_ns > window_ns.saturating_mul(u64::from(MANY_UNTIMED.lead) / 2) {
                return session.exit().map(|()| 1).map_err(|error| fault(&error));
            }
        }
        let reason = format!(
            "asked for {} untimed readings and a timed one, it took less time than {} of its windows: it leaves out \
             untimed readings",
            MANY_UNTIMED.lead,
            MANY_UNTIMED.lead / 2
        );
        Err(fault(&reason))
    })
}

/// The files that a method can read: bytes of every value only if it visits bytes.
fn cases_of<'s>(stage: &'s Stage, method: &MethodLine) -> Vec<&'s Case> {
    let visits_bytes = method.scans.contains_key(Work::Sum.word());
    let bytes = stage.bytes.iter().filter(|_| visits_bytes);
    stage.text.iter().chain(bytes).collect()
}

/// One reading of a file whose name is part of the check. Only a name that is no UTF-8 may be
/// refused, by saying that it cannot be spelled.
pub(super) fn spelled<'s>(
    method: &MethodLine,
    visit: &Visit,
    words: ReadWords,
    case: &'s Case,
    name: OsString,
) -> Check<'s> {
    let (method, work, words) = (method.clone(), visit.work, words.on(case.path.as_os_str()));
    Check::new(move |stage| match after_a_turn(stage, &words, &method, work, case).and_then(Session::exit) {
        Ok(()) => Ok(TURN.count),
        Err(SessionError::Failed(reason) | SessionError::Unavailable(reason))
            if name.to_str().is_none() && reason.contains("spell") =>
        {
            Ok(0)
        }
        Err(error) => Err(words.fault(stage, &format!("a file named {name:?}"), error)),
    })
}

impl Reading {
    pub(super) fn new(method: &MethodLine, visit: &Visit, ending: Ending) -> Reading {
        Reading { method: method.clone(), words: ReadWords::new(method, visit), work: visit.work, ending }
    }

    pub(super) fn with(self, setting: String) -> Reading {
        Reading { words: self.words.with([setting]), ..self }
    }

    /// Reads the cases one after the other at one path, whose last part is `name`.
    pub(super) fn run(&self, stage: &Stage, name: &str, cases: &[&Case]) -> Outcome {
        let (Some(first), Some(last)) = (cases.first(), cases.last()) else { return Ok(0) };
        let fault = |case: &Case, reason: &dyn std::fmt::Display| self.words.fault_at(stage, case, reason);
        let slot = stage.slot(name).map_err(|error| fault(first, &error))?;
        slot.put(&first.path).map_err(|error| fault(first, &error))?;
        let words = self.words.on(slot.path.as_os_str());
        let mut session = ready(stage, &words, &self.method).map_err(|error| fault(first, &error))?;
        let mut left_out_ns = u64::MAX;
        let mut answers = 0;
        for case in cases {
            slot.put(&case.path).map_err(|error| fault(case, &error))?;
            match turn(&mut session, stage.deadline, &self.method, self.work, case) {
                Ok(turn) => {
                    let windows = turn.samples.iter().map(|sample| sample.wall_ns);
                    let shortest = windows.clone().min().unwrap_or_default();
                    let readings: u64 =
                        windows.sum::<u64>() + UNTIMED_FACTOR * shortest * u64::from(TURN.lead);
                    left_out_ns = left_out_ns.min(turn.seen_ns.saturating_sub(readings));
                    answers += TURN.count;
                }
                // A method of text alone says so, and its session is over.
                Err(SessionError::Failed(reason)) if !is_text(case) && reason.contains("UTF-8") => {
                    return Ok(answers);
                }
                Err(error) => return Err(fault(case, &error)),
            }
        }
        if cases.len() > FIRST_TURNS && Duration::from_nanos(left_out_ns) > LEFT_OUT_MAX {
            let reason = format!(
                "its windows leave out at least {left_out_ns} ns of every turn: everything that it does for a reading \
                 belongs in the window"
            );
            return Err(fault(last, &reason));
        }
        self.end(stage, session, &slot, last)?;
        Ok(answers)
    }

    fn end(&self, stage: &Stage, mut session: Session, slot: &Slot, last: &Case) -> Result<(), Fault> {
        let named = slot.path.to_string_lossy().into_owned();
        let (of, cause) = match self.ending {
            Ending::InputEnds => return ends_well(stage, &self.words, session, last),
            Ending::FileVanishes => ("a file that vanished", "no such file"),
            // What the system says depends on the call.
            Ending::FolderInstead => ("a folder instead of a file", ""),
        };
        let words = self.words.on(slot.path.as_os_str());
        let fault = |reason: &dyn std::fmt::Display| words.fault(stage, of, reason);
        slot.clear().map_err(|error| fault(&error))?;
        if self.ending == Ending::FolderInstead {
            fs::create_dir(&slot.path).map_err(|error| fault(&error))?;
        }
        let result = session.turn(TURN, stage.deadline);
        if self.ending == Ending::FolderInstead && matches!(result, Err(SessionError::Unavailable(_))) {
            return Ok(());
        }
        let reason = reason_of(result).map_err(|reason| fault(&reason))?;
        if !reason.contains(&named) {
            return Err(fault(&format!("it failed with {reason:?}, which must have the path {named:?}")));
        }
        if !reason.to_lowercase().contains(cause) {
            return Err(fault(&format!("it failed with {reason:?}, which must have the cause: {cause}")));
        }
        Ok(())
    }
}

/// Between turns nothing is open or mapped; at the end of its input the session exits with 0, and
/// leaves nothing behind.
pub(super) fn ends_well(
    stage: &Stage,
    words: &ReadWords,
    session: Session,
    case: &Case,
) -> Result<(), Fault> {
    let fault = |reason: &dyn std::fmt::Display| words.fault_at(stage, case, reason);
    if let Some(reason) = stage.held(&session) {
        return Err(fault(&reason));
    }
    session.exit().map_err(|error| fault(&error))
}

pub(super) fn is_text(case: &Case) -> bool {
    fs::read(&case.path).is_ok_and(|bytes| std::str::from_utf8(&bytes).is_ok())
}

/// A session that must fail before it is ready.
pub(super) fn refused(stage: &Stage, words: &ReadWords, of: &str, expected: &str) -> Outcome {
    let fault = |reason: &dyn std::fmt::Display| words.fault(stage, of, reason);
    let opened = stage.launch(words).and_then(|mut session| {
        session.ready()?;
        session.turn(TURN, stage.deadline).map(|turn| turn.samples.len())
    });
    match opened {
        Err(SessionError::Failed(reason)) if reason.to_lowercase().contains(&expected.to_lowercase()) => {
            Ok(1)
        }
        Err(SessionError::Failed(reason)) => {
            Err(fault(&format!("it failed with {reason:?}, which must have {expected:?}")))
        }
        Err(error) => Err(fault(&instead_of_failure(&error.to_string()))),
        Ok(samples) => Err(fault(&instead_of_failure(&format!("it sent {samples} samples")))),
    }
}
