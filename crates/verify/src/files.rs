//! Sessions that read whole files: every work and scan reads every file, one after the other at one
//! path, and each session ends in another way.

use super::check::{
    Check, Outcome, ReadWords, Reason, TURN, Visit, after_a_turn, ends_well, is_control, ready, turn, visits,
};
use super::reason_of;
use super::settings::{self, Load};
use super::stage::{AWKWARD_NAME, Case, Slot, Stage, raw_name};
use readlab_model::sample::Meter;
use readlab_model::trial::Work;
use readlab_protocol::{MethodLine, TurnRequest};
use readlab_roster::session::{Session, SessionError, Turn};
use readlab_system::process::{DelayCounter, ThreadWaits};
use std::borrow::Borrow;
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

pub(super) struct Reading {
    pub words: ReadWords,
    pub ending: Ending,
}

/// Every visit of every file, names that need care, and settings.
pub(super) fn checks<'s>(stage: &'s Stage, method: &MethodLine) -> io::Result<Vec<Check<'s>>> {
    let visits = visits(method);
    let mut checks = Vec::new();
    // Each ending at least once, however few visits there are.
    for at in 0..visits.len().max(ENDINGS.len()) {
        let Some(visit) = visits.get(at % visits.len().max(1)) else { break };
        let reading = Reading { words: ReadWords::new(method, visit), ending: ending_of(method, at) };
        let cases =
            if at < visits.len() { cases_of(stage, method) } else { vec![stage.file("no-final-newline")] };
        checks.push(reading.check(cases));
    }
    for (at, visit) in visits.iter().enumerate() {
        if visits[..at].iter().all(|before| before.work != visit.work) {
            checks.push(around_buffers(stage, method, visit)?);
        }
    }
    if let Some(visit) = visits.first() {
        let words = ReadWords::new(method, visit);
        if !is_control(method) {
            checks.push(reads_as_often_as_asked(words.on(stage.large.path.as_os_str())));
        }
        checks.push(spelled(words.clone(), &stage.awkward, AWKWARD_NAME.into()));
        checks.push(spelled(words.clone(), &stage.raw, raw_name()));
        let cases: Vec<&Case> = settings::CASES.iter().map(|name| stage.file(name)).collect();
        for setting in settings::for_load(method, Load::Kilobytes) {
            checks.push(Reading::with_setting(&words, setting).check(cases.clone()));
        }
    }
    Ok(checks)
}

/// Files around the sizes of the method's own buffers.
fn around_buffers<'s>(stage: &'s Stage, method: &MethodLine, visit: &Visit) -> io::Result<Check<'s>> {
    let sizes = method.params.iter().filter(|param| param.name.ends_with("_bytes"));
    let sizes = sizes.map(|param| param.default).filter(|bytes| (2..=BUFFER_BYTES_MAX).contains(bytes));
    let cases = sizes.map(|bytes| stage.around(bytes)).collect::<io::Result<Vec<_>>>()?;
    let reading = Reading { words: ReadWords::new(method, visit), ending: Ending::InputEnds };
    Ok(Check::new(move |stage| {
        let cases: Vec<&Case> = cases.iter().flat_map(|cases| cases.iter()).collect();
        reading.run(stage, "file", &cases)
    }))
}

/// Whether untimed readings take time: a turn of many of them is longer than one timed reading. On
/// a busy machine one turn shows nothing, so several are looked at.
fn reads_as_often_as_asked<'s>(words: ReadWords) -> Check<'s> {
    Check::new(move |stage| {
        words.attempt(stage, &stage.large.name, || {
            let mut session = ready(stage, &words)?;
            for _ in 0..LEAD_TRIES {
                let turn = session.turn(MANY_UNTIMED, stage.deadline)?;
                words.check_samples(&turn.samples, &stage.large)?;
                let window_ns = turn.samples.iter().map(|sample| sample.wall_ns).max().unwrap_or_default();
                if turn.seen_ns > window_ns.saturating_mul(u64::from(MANY_UNTIMED.lead) / 2) {
                    session.exit()?;
                    return Ok(1);
                }
            }
            Err(Reason::from(format!(
                "asked for {} untimed readings and a timed one, it took less time than {} of its windows: it leaves out \
                 untimed readings",
                MANY_UNTIMED.lead,
                MANY_UNTIMED.lead / 2
            )))
        })
    })
}

/// The files that a method can read: bytes of every value only if it visits bytes.
pub(super) fn cases_of<'s>(stage: &'s Stage, method: &MethodLine) -> Vec<&'s Case> {
    let visits_bytes = method.scans.contains_key(Work::Sum.word());
    let bytes = stage.bytes.iter().filter(|_| visits_bytes);
    stage.text.iter().chain(bytes).collect()
}

/// One reading of a file whose name is part of the check. Only a name that is no UTF-8 may be
/// refused, by saying that it cannot be spelled.
pub(super) fn spelled<'s>(
    words: ReadWords,
    case: impl Borrow<Case> + Send + Sync + 's,
    name: OsString,
) -> Check<'s> {
    Check::new(move |stage| {
        let case: &Case = case.borrow();
        let words = words.on(case.path.as_os_str());
        match after_a_turn(stage, &words, case).and_then(Session::exit) {
            Ok(()) => Ok(TURN.count),
            Err(SessionError::Failed(reason) | SessionError::Unavailable(reason))
                if name.to_str().is_none() && reason.contains("spell") =>
            {
                Ok(0)
            }
            Err(error) => Err(words.fault(stage, &format!("a file named {name:?}"), error)),
        }
    })
}

impl Reading {
    pub(super) fn with_setting(words: &ReadWords, setting: String) -> Reading {
        Reading { words: words.with([setting]), ending: Ending::InputEnds }
    }

    fn check<'s>(self, cases: Vec<&'s Case>) -> Check<'s> {
        let settings = self.words.settings.clone();
        Check::new(move |stage| self.run(stage, "file", &cases)).or_refused(settings)
    }

    /// Reads the cases one after the other at one path, whose last part is `name`.
    pub(super) fn run(&self, stage: &Stage, name: &str, cases: &[&Case]) -> Outcome {
        let (Some(first), Some(last)) = (cases.first(), cases.last()) else { return Ok(0) };
        let (slot, words, mut session) = self.words.attempt_at(stage, first, || {
            let slot = stage.slot(name)?;
            slot.put(&first.path)?;
            let words = self.words.on(slot.path.as_os_str());
            let session = ready(stage, &words)?;
            Ok((slot, words, session))
        })?;
        let mut left_out_ns = u64::MAX;
        let mut answers = 0;
        for case in cases {
            self.words.attempt_at(stage, case, || Ok(slot.put(&case.path)?))?;
            let before = Waits::read(&session);
            match turn(&mut session, stage, &words, case) {
                Ok(turn) => {
                    let waited_ns = Waits::read(&session).since(&before);
                    let windows = turn.samples.iter().map(|sample| sample.wall_ns);
                    let shortest = windows.clone().min().unwrap_or_default();
                    let readings: u64 =
                        windows.sum::<u64>() + UNTIMED_FACTOR * shortest * u64::from(TURN.lead);
                    left_out_ns = left_out_ns.min(turn.seen_ns.saturating_sub(readings + waited_ns));
                    answers += TURN.count;
                }
                // A method of text alone says so, and its session is over.
                Err(SessionError::Failed(reason)) if !is_text(case) && reason.contains("UTF-8") => {
                    return Ok(answers);
                }
                Err(error) => return self.words.attempt_at(stage, case, || Err(error.into())),
            }
        }
        if cases.len() > FIRST_TURNS && Duration::from_nanos(left_out_ns) > LEFT_OUT_MAX {
            let reason = format!(
                "its windows leave out at least {left_out_ns} ns of every turn: everything that it does for a reading \
                 belongs in the window"
            );
            return self.words.attempt_at(stage, last, || Err(reason.into()));
        }
        match self.ending {
            Ending::InputEnds => self.words.attempt_at(stage, last, || ends_well(stage, session))?,
            Ending::FileVanishes => words.attempt(stage, "a file that vanished", || {
                slot.clear()?;
                names_the_file(&slot, session.turn(TURN, stage.deadline), "no such file")
            })?,
            Ending::FolderInstead => words.attempt(stage, "a folder instead of a file", || {
                slot.clear()?;
                fs::create_dir(&slot.path)?;
                match session.turn(TURN, stage.deadline) {
                    Err(SessionError::Unavailable(_)) => Ok(()),
                    // What the system says depends on the call.
                    result => names_the_file(&slot, result, ""),
                }
            })?,
        }
        Ok(answers)
    }
}

/// For how long the threads of a contender, and the one that waits for its answer, have waited for a
/// processor. On a machine with more work than processors that is most of what windows leave out.
struct Waits {
    contender: Option<ThreadWaits>,
    own_ns: u64,
}

impl Waits {
    fn read(session: &Session) -> Waits {
        let own_ns = DelayCounter::of_this_thread().read().unwrap_or(0);
        Waits { contender: ThreadWaits::read(session.id()).ok(), own_ns }
    }

    fn since(&self, before: &Waits) -> u64 {
        let counted =
            self.contender.iter().zip(&before.contender).flat_map(|(now, before)| now.since(before));
        let delays = counted.filter(|(meter, _)| *meter == Meter::DelayedNs);
        delays.filter_map(|(_, waited_ns)| waited_ns.ok()).sum::<u64>() + self.own_ns - before.own_ns
    }
}

/// A turn has failed, with the file and the cause in its reason.
fn names_the_file(slot: &Slot, result: Result<Turn, SessionError>, cause: &str) -> Result<(), Reason> {
    let (reason, named) = (reason_of(result)?, slot.path.to_string_lossy());
    if !reason.contains(&*named) {
        return Err(format!("it failed with {reason:?}, which must have the path {named:?}").into());
    }
    if !reason.to_lowercase().contains(cause) {
        return Err(format!("it failed with {reason:?}, which must have the cause: {cause}").into());
    }
    Ok(())
}

pub(super) fn is_text(case: &Case) -> bool {
    fs::read(&case.path).is_ok_and(|bytes| std::str::from_utf8(&bytes).is_ok())
}
