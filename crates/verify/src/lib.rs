//! Verification of a contender: whether it keeps PROTOCOL.md, tested from outside.
//!
//! Most of the time of such a test is the start of a program, so a session is used for many files:
//! between two turns the file at the target's path is replaced by another one. What is in the
//! command line (names, settings, parts, lists) needs sessions of its own. Each session is a
//! `Check`; checks run side by side, because nothing is timed. The right answers are the
//! oracle's.

mod archives;
mod check;
mod files;
mod places;
mod protocol;
mod report;
mod servers;
mod settings;
mod several;
mod stage;

pub use check::{Fault, Outcome};
pub use report::{ContenderReport, MethodReport, Verdict};

use check::Check;
use readlab_protocol::{MethodLine, Reads};
use readlab_roster::methods::Contender;
use readlab_roster::session::SessionError;
use stage::Stage;
use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

/// The method name of a contender that takes any command for a method.
const ANY_METHOD: &str = "*";

pub struct Verification<'a> {
    pub contender: &'a Contender,
    pub is_selected: &'a dyn Fn(&str) -> bool,
    /// An empty folder for the files that are read.
    pub folder: &'a Path,
    pub deadline: Duration,
    /// A line for a shell that verifies the contender again, all its methods.
    pub again: &'a str,
    pub jobs: usize,
}

/// The checks of one method, or of what all methods share.
struct Subject<'a> {
    /// `None` for what all methods share.
    method: Option<MethodLine>,
    checks: Vec<Check<'a>>,
    /// Why there are none, or fewer than one would expect.
    verdict: Option<Verdict>,
}

struct Waiting<'a> {
    subject: usize,
    number: usize,
    check: Check<'a>,
}

impl Verification<'_> {
    /// Runs every check; passes on the report of each method as soon as the methods before it have
    /// theirs.
    pub fn run(&self, mut report: impl FnMut(&MethodReport)) -> io::Result<Vec<MethodReport>> {
        let stage = Stage::make(self.contender, self.folder, self.deadline, self.again)?;
        let subjects = self.subjects(&stage)?;
        let mut reports: Vec<MethodReport> = subjects.iter().map(MethodReport::from).collect();
        let mut left: Vec<usize> = subjects.iter().map(|subject| subject.checks.len()).collect();
        let first_faults = Mutex::new(vec![usize::MAX; subjects.len()]);
        let queue = Mutex::new(queue(subjects));
        let (send, results) = mpsc::channel();
        let mut shown = 0;
        std::thread::scope(|scope| {
            for _ in 0..self.jobs.max(1) {
                let (send, queue, first_faults, stage) = (send.clone(), &queue, &first_faults, &stage);
                scope.spawn(move || work(queue, first_faults, stage, &send));
            }
            drop(send);
            loop {
                while left.get(shown) == Some(&0) {
                    reports[shown].left_out = stage.left_out(&reports[shown].method);
                    report(&reports[shown]);
                    shown += 1;
                }
                let Ok((subject, number, outcome)) = results.recv() else { break };
                left[subject] -= 1;
                if let Some(outcome) = outcome {
                    reports[subject].take(number, outcome);
                }
            }
        });
        if readlab_system::interrupt::requested() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        Ok(reports)
    }

    fn subjects<'s>(&'s self, stage: &'s Stage<'s>) -> io::Result<Vec<Subject<'s>>> {
        let selected = self.contender.methods.iter().filter(|method| (self.is_selected)(&method.method));
        let mut subjects = vec![Subject { method: None, checks: protocol::checks(stage), verdict: None }];
        for method in selected {
            let verified =
                subjects.iter().filter(|subject| subject.method.is_some() && !subject.checks.is_empty());
            let number = verified.count();
            subjects.push(subject(stage, method.clone(), number)?);
        }
        Ok(subjects)
    }
}

/// Every check of one method, before which `number` others are verified.
fn subject<'s>(stage: &'s Stage<'s>, method: MethodLine, number: usize) -> io::Result<Subject<'s>> {
    if method.method == ANY_METHOD {
        let reason = "it takes any command; a race checks each".to_owned();
        let verdict = Some(Verdict::NotVerified { reason });
        return Ok(Subject { method: Some(method), checks: Vec::new(), verdict });
    }
    if let Some(reason) = &method.unavailable {
        let verdict = Some(Verdict::Unavailable { reason: reason.clone() });
        return Ok(Subject { method: Some(method), checks: Vec::new(), verdict });
    }
    let mut checks = Vec::new();
    let reads_files = matches!(method.reads, Reads::File | Reads::Both);
    match method.reads {
        _ if !method.decodes.is_empty() => checks.extend(archives::checks(stage, &method)?),
        Reads::File | Reads::Both => checks.extend(files::checks(stage, &method)?),
        Reads::Folder => checks.extend(several::folder_checks(stage, &method)?),
        Reads::Places => checks.extend(places::checks(stage, &method)?),
        Reads::Url | Reads::Object => checks.extend(servers::checks(stage, &method)),
        Reads::List => {}
    }
    if reads_files && method.parts && method.decodes.is_empty() {
        checks.extend(places::part_checks(stage, &method)?);
    }
    if method.lists || method.reads == Reads::List {
        checks.extend(several::list_checks(stage, &method)?);
    }
    let verdict = checks.is_empty().then(|| {
        let reason = "a control, which need not prove what it reads".to_owned();
        Verdict::NotVerified { reason }
    });
    if let Some(reason) = servers::left_out(&method) {
        stage.leave_out(&method.method, &reason);
    }
    if !checks.is_empty() {
        checks.extend(protocol::misuses(stage, &method, number));
    }
    Ok(Subject { method: Some(method), checks, verdict })
}

/// All checks, those of one method after those of the one before.
fn queue(subjects: Vec<Subject>) -> VecDeque<Waiting> {
    let mut queue = VecDeque::new();
    for (subject, of) in subjects.into_iter().enumerate() {
        let checks = of.checks.into_iter().enumerate();
        queue.extend(checks.map(|(number, check)| Waiting { subject, number, check }));
    }
    queue
}

/// Runs checks until there are no more. The checks of a method that come after its first fault are
/// left out: the first one is reported.
fn work(
    queue: &Mutex<VecDeque<Waiting>>,
    first_faults: &Mutex<Vec<usize>>,
    stage: &Stage,
    results: &mpsc::Sender<(usize, usize, Option<Outcome>)>,
) {
    loop {
        let next = locked(queue).pop_front();
        let Some(Waiting { subject, number, check }) = next else { return };
        let is_left_out = locked(first_faults)[subject] < number || readlab_system::interrupt::requested();
        let outcome = (!is_left_out).then(|| check.run(stage));
        if matches!(outcome, Some(Err(_))) {
            let mut first_faults = locked(first_faults);
            first_faults[subject] = first_faults[subject].min(number);
        }
        // Nobody receives any more: the program ends.
        let _ = results.send((subject, number, outcome));
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Why a session that should have failed gave another answer.
fn instead_of_failure(said: &str) -> String {
    format!("it must answer 'failed' with the reason; {said}")
}

/// What a session did that should have failed: the reason with which it did, or what it did
/// instead.
fn reason_of<T>(result: Result<T, SessionError>) -> Result<String, String> {
    match result {
        Err(SessionError::Failed(reason)) => Ok(reason),
        Err(error) => Err(instead_of_failure(&error.to_string())),
        Ok(_) => Err(instead_of_failure("it went on")),
    }
}
