//! Sessions that read whole files: every work and scan reads every file, one after another at the
//! same path, and the sessions end in different ways.

use super::check::{
    CHECK_TURN, Check, CheckResult, ReadWords, Reason, WorkScan, check_clean_exit, is_control, prove_turn,
    session_after_turn, start_ready, work_scans,
};
use super::failure_reason;
use super::settings::{self, DataAmount};
use super::stage::{AWKWARD_NAME, Case, FileSlot, Stage, non_utf8_name};
use readlab_model::sample::Meter;
use readlab_model::trial::Work;
use readlab_protocol::{MethodLine, TurnRequest};
use readlab_roster::session::{Session, SessionError, Turn};
use readlab_system::process::{CountsByThread, DelayCounter};
use std::borrow::Borrow;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::time::Duration;

/// Longest time of a turn that may be outside of its timed windows. The turn with the least such
/// time counts. A race has a tighter limit, which a control measures; here sessions run in
/// parallel.
const LEFT_OUT_TIME_MAX: Duration = Duration::from_millis(50);

/// Buffers larger than this are not tested with files around their size, which would take seconds
/// in some languages.
const BUFFER_BYTES_MAX: u64 = 1 << 20;

/// Number of first turns in which a runtime may still load code that it needs for answers.
const LOADING_TURN_COUNT: usize = 3;

const MANY_UNTIMED_TURN: TurnRequest = TurnRequest { lead: 8, count: 1 };

/// Number of turns with many untimed readings that are tried.
const MANY_UNTIMED_TRIES: u32 = 5;

/// An untimed reading may take this many times as long as the shortest window of its turn. On a
/// busy machine the longest window can be as long as a pause outside of all windows.
const UNTIMED_READING_FACTOR: u64 = 3;

/// What happens after the last file of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// The input of the session ends. The check fails if a file was open between turns, or if a
    /// process is left behind.
    InputEnds,
    /// The file is removed before the next turn.
    FileVanishes,
    /// A folder replaces the file before the next turn.
    FolderInstead,
}

const ENDINGS: [Ending; 3] = [Ending::InputEnds, Ending::FileVanishes, Ending::FolderInstead];

/// The ending for the work and scan with this index. A control always gets
/// [`Ending::InputEnds`], because it need not read the file.
pub(super) fn ending_of(method: &MethodLine, number: usize) -> Ending {
    if is_control(method) { Ending::InputEnds } else { ENDINGS[number % ENDINGS.len()] }
}

pub(super) struct FileReading {
    pub words: ReadWords,
    pub ending: Ending,
}

/// Checks of every work and scan with every file, of names with special characters, and of settings.
pub(super) fn checks<'s>(stage: &'s Stage, method: &MethodLine) -> io::Result<Vec<Check<'s>>> {
    let work_scans = work_scans(method);
    let mut checks = Vec::new();
    // Each ending is tested at least once, even if there are fewer scans.
    for at in 0..work_scans.len().max(ENDINGS.len()) {
        let Some(visit) = work_scans.get(at % work_scans.len().max(1)) else { break };
        let reading = FileReading { words: ReadWords::new(method, visit), ending: ending_of(method, at) };
        let cases = if at < work_scans.len() {
            cases_of(stage, method)
        } else {
            vec![stage.file("no-final-newline")]
        };
        checks.push(reading.check(cases));
    }
    for (at, visit) in work_scans.iter().enumerate() {
        if work_scans[..at].iter().all(|before| before.work != visit.work) {
            checks.push(buffer_size_check(stage, method, visit)?);
        }
    }
    if let Some(visit) = work_scans.first() {
        let words = ReadWords::new(method, visit);
        if !is_control(method) {
            checks.push(untimed_readings_check(words.with_target(stage.large_text.path.as_os_str())));
        }
        checks.push(special_name_check(words.clone(), &stage.awkwardly_named, AWKWARD_NAME.into()));
        checks.push(special_name_check(words.clone(), &stage.non_utf8_named, non_utf8_name()));
        let cases: Vec<&Case> = settings::SETTING_CASES.iter().map(|name| stage.file(name)).collect();
        for setting in settings::settings_for(method, DataAmount::Kilobytes) {
            checks.push(FileReading::with_setting(&words, setting).check(cases.clone()));
        }
    }
    Ok(checks)
}

/// A check with files whose sizes are around the sizes of the method's buffers.
fn buffer_size_check<'s>(stage: &'s Stage, method: &MethodLine, visit: &WorkScan) -> io::Result<Check<'s>> {
    let sizes = method.params.iter().filter(|param| param.name.ends_with("_bytes"));
    let sizes = sizes.map(|param| param.default).filter(|bytes| (2..=BUFFER_BYTES_MAX).contains(bytes));
    let cases = sizes.map(|bytes| stage.texts_around(bytes)).collect::<io::Result<Vec<_>>>()?;
    let reading = FileReading { words: ReadWords::new(method, visit), ending: Ending::InputEnds };
    Ok(Check::new(move |stage| {
        let cases: Vec<&Case> = cases.iter().flat_map(|cases| cases.iter()).collect();
        reading.run(stage, "file", &cases)
    }))
}

/// Checks that untimed readings are performed: a turn with many of them must take longer than one
/// timed reading. On a busy machine a single turn proves nothing, so several are tried.
fn untimed_readings_check<'s>(words: ReadWords) -> Check<'s> {
    Check::new(move |stage| {
        words.attempt(stage, &stage.large_text.name, || {
            let mut session = start_ready(stage, &words)?;
            for _ in 0..MANY_UNTIMED_TRIES {
                let turn = session.run_turn(MANY_UNTIMED_TURN, stage.time_limit)?;
                words.check_samples(&turn.samples, &stage.large_text)?;
                let window_ns = turn.samples.iter().map(|sample| sample.wall_ns).max().unwrap_or_default();
                if turn.lab_wall_ns > window_ns.saturating_mul(u64::from(MANY_UNTIMED_TURN.lead) / 2) {
                    session.exit()?;
                    return Ok(1);
                }
            }
            Err(Reason::from(format!(
                "asked for {} untimed readings and a timed one, it took less time than {} of its windows: it leaves out \
                 untimed readings",
                MANY_UNTIMED_TURN.lead,
                MANY_UNTIMED_TURN.lead / 2
            )))
        })
    })
}

/// The files that a method can read; files with bytes of every value only if it visits bytes.
pub(super) fn cases_of<'s>(stage: &'s Stage, method: &MethodLine) -> Vec<&'s Case> {
    let visits_bytes = method.scans.contains_key(Work::Sum.word());
    let bytes = stage.byte_cases.iter().filter(|_| visits_bytes);
    stage.text_cases.iter().chain(bytes).collect()
}

/// A check of a turn with a file that has this name. The contender may reject only a name that is not
/// UTF-8, with the reason that it cannot spell the name.
pub(super) fn special_name_check<'s>(
    words: ReadWords,
    case: impl Borrow<Case> + Send + Sync + 's,
    name: OsString,
) -> Check<'s> {
    Check::new(move |stage| {
        let case: &Case = case.borrow();
        let words = words.with_target(case.path.as_os_str());
        match session_after_turn(stage, &words, case).and_then(Session::exit) {
            Ok(()) => Ok(CHECK_TURN.count),
            Err(SessionError::Failed(reason) | SessionError::Unavailable(reason))
                if name.to_str().is_none() && reason.contains("spell") =>
            {
                Ok(0)
            }
            Err(error) => Err(words.fault(stage, &format!("a file named {name:?}"), error)),
        }
    })
}

impl FileReading {
    pub(super) fn with_setting(words: &ReadWords, setting: String) -> FileReading {
        FileReading { words: words.with_settings([setting]), ending: Ending::InputEnds }
    }

    fn check<'s>(self, cases: Vec<&'s Case>) -> Check<'s> {
        let settings = self.words.settings.clone();
        Check::new(move |stage| self.run(stage, "file", &cases)).or_settings_refused(settings)
    }

    /// Reads the cases one after another at one path, whose last component is `name`.
    pub(super) fn run(&self, stage: &Stage, name: &str, cases: &[&Case]) -> CheckResult {
        let (Some(first), Some(last)) = (cases.first(), cases.last()) else { return Ok(0) };
        let (slot, words, mut session) = self.words.attempt_case(stage, first, || {
            let slot = stage.new_slot(name)?;
            slot.put_file(&first.path)?;
            let words = self.words.with_target(slot.path.as_os_str());
            let session = start_ready(stage, &words)?;
            Ok((slot, words, session))
        })?;
        let mut left_out_ns = u64::MAX;
        let mut answers = 0;
        for case in cases {
            self.words.attempt_case(stage, case, || Ok(slot.put_file(&case.path)?))?;
            let before = ProcessorWaits::read(&session);
            match prove_turn(&mut session, stage, &words, case) {
                Ok(turn) => {
                    let waited_ns = ProcessorWaits::read(&session).ns_since(&before);
                    let windows = turn.samples.iter().map(|sample| sample.wall_ns);
                    let shortest = windows.clone().min().unwrap_or_default();
                    let readings: u64 =
                        windows.sum::<u64>() + UNTIMED_READING_FACTOR * shortest * u64::from(CHECK_TURN.lead);
                    left_out_ns = left_out_ns.min(turn.lab_wall_ns.saturating_sub(readings + waited_ns));
                    answers += CHECK_TURN.count;
                }
                // A method that reads only text may fail with this reason, which ends its session.
                Err(SessionError::Failed(reason)) if !is_text(case) && reason.contains("UTF-8") => {
                    return Ok(answers);
                }
                Err(error) => return self.words.attempt_case(stage, case, || Err(error.into())),
            }
        }
        if cases.len() > LOADING_TURN_COUNT && Duration::from_nanos(left_out_ns) > LEFT_OUT_TIME_MAX {
            let reason = format!(
                "its windows leave out at least {left_out_ns} ns of every turn: everything that it does for a reading \
                 belongs in the window"
            );
            return self.words.attempt_case(stage, last, || Err(reason.into()));
        }
        match self.ending {
            Ending::InputEnds => self.words.attempt_case(stage, last, || check_clean_exit(stage, session))?,
            Ending::FileVanishes => words.attempt(stage, "a file that vanished", || {
                slot.clear()?;
                check_failure_names_file(
                    &slot,
                    session.run_turn(CHECK_TURN, stage.time_limit),
                    "no such file",
                )
            })?,
            Ending::FolderInstead => words.attempt(stage, "a folder instead of a file", || {
                slot.clear()?;
                fs::create_dir(&slot.path)?;
                match session.run_turn(CHECK_TURN, stage.time_limit) {
                    Err(SessionError::Unavailable(_)) => Ok(()),
                    // The system's error depends on the system call that the method uses.
                    result => check_failure_names_file(&slot, result, ""),
                }
            })?,
        }
        Ok(answers)
    }
}

/// The time for which the threads of a contender, and the thread that waits for its answer, have
/// waited for a processor. On an overloaded machine this is most of the time that windows leave
/// out.
struct ProcessorWaits {
    contender: Option<CountsByThread>,
    own_ns: u64,
}

impl ProcessorWaits {
    fn read(session: &Session) -> ProcessorWaits {
        let own_ns = DelayCounter::of_this_thread().read().unwrap_or(0);
        ProcessorWaits { contender: CountsByThread::read(session.process_id()).ok(), own_ns }
    }

    fn ns_since(&self, before: &ProcessorWaits) -> u64 {
        let counted =
            self.contender.iter().zip(&before.contender).flat_map(|(now, before)| now.since(before));
        let delays = counted.filter(|(meter, _)| *meter == Meter::DelayedNs);
        delays.filter_map(|(_, waited_ns)| waited_ns.ok()).sum::<u64>() + self.own_ns - before.own_ns
    }
}

/// Checks that a turn failed with a reason that contains the path of the file and the cause.
fn check_failure_names_file(
    slot: &FileSlot,
    result: Result<Turn, SessionError>,
    cause: &str,
) -> Result<(), Reason> {
    let (reason, named) = (failure_reason(result)?, slot.path.to_string_lossy());
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
