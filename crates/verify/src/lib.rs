//! Verification of a contender: tests from outside whether it keeps PROTOCOL.md.
//!
//! Starting a program takes most of the time of a verification, so one session is used for many
//! files: between two turns the file at the target's path is replaced by another one. Settings that
//! are part of the command line (names, parameters, parts, lists) need separate sessions. Each
//! session is a `Check`. Checks run in parallel, because nothing is timed. The true answers come
//! from the oracle.

mod archives;
mod check;
mod files;
mod places;
mod protocol;
mod servers;
mod settings;
mod several;
mod stage;

use check::{Check, CheckResult};
use readlab_protocol::{MethodLine, Reads};
use readlab_report::verification::{MethodReport, Verdict};
use readlab_roster::methods::Contender;
use readlab_roster::session::SessionError;
use stage::Stage;
use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

/// The method name of a contender that accepts any command as a method.
const ANY_METHOD: &str = "*";

pub struct Verification<'a> {
    pub contender: &'a Contender,
    pub is_selected: &'a dyn Fn(&str) -> bool,
    /// An empty folder for the files that are read.
    pub folder: &'a Path,
    pub time_limit: Duration,
    /// A shell command that verifies the contender again, with all its methods.
    pub repeat_command: &'a str,
    pub job_count: usize,
}

/// The checks of one method, or the checks that do not depend on a method, with the report before
/// they run.
struct CheckGroup<'a> {
    report: MethodReport,
    checks: Vec<Check<'a>>,
}

struct QueuedCheck<'a> {
    group_index: usize,
    index_in_group: usize,
    check: Check<'a>,
}

impl Verification<'_> {
    /// Runs every check. Calls `report` for each method, in order, as soon as all checks of this method
    /// and of the methods before it are done.
    pub fn run(&self, mut report: impl FnMut(&MethodReport)) -> io::Result<Vec<MethodReport>> {
        let stage = Stage::make(self.contender, self.folder, self.time_limit, self.repeat_command)?;
        let subjects = self.check_groups(&stage)?;
        let mut reports: Vec<MethodReport> = subjects.iter().map(|subject| subject.report.clone()).collect();
        let mut left: Vec<usize> = subjects.iter().map(|subject| subject.checks.len()).collect();
        let first_faults = Mutex::new(vec![usize::MAX; subjects.len()]);
        let queue = Mutex::new(check_queue(subjects));
        let (send, results) = mpsc::channel();
        let mut shown = 0;
        std::thread::scope(|scope| {
            for _ in 0..self.job_count.max(1) {
                let (send, queue, first_faults, stage) = (send.clone(), &queue, &first_faults, &stage);
                scope.spawn(move || run_checks(queue, first_faults, stage, &send));
            }
            drop(send);
            loop {
                while left.get(shown) == Some(&0) {
                    reports[shown].left_out = stage.left_out(&reports[shown].method);
                    report(&reports[shown]);
                    shown += 1;
                }
                let Ok((group_index, number, outcome)) = results.recv() else { break };
                left[group_index] -= 1;
                if let Some(outcome) = outcome {
                    reports[group_index].add_check(number, outcome);
                }
            }
        });
        if readlab_system::interrupt::is_stop_requested() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        Ok(reports)
    }

    fn check_groups<'s>(&'s self, stage: &'s Stage<'s>) -> io::Result<Vec<CheckGroup<'s>>> {
        let selected = self.contender.methods.iter().filter(|method| (self.is_selected)(&method.method));
        let report = MethodReport::of_all_methods(Verdict::Ok);
        let mut subjects = vec![CheckGroup { report, checks: protocol::checks(stage) }];
        for method in selected {
            let number = subjects[1..].iter().filter(|subject| !subject.checks.is_empty()).count();
            subjects.push(check_group(stage, method, number)?);
        }
        Ok(subjects)
    }
}

fn check_group<'s>(stage: &'s Stage<'s>, method: &MethodLine, number: usize) -> io::Result<CheckGroup<'s>> {
    let group =
        |verdict, checks| CheckGroup { report: MethodReport::of_method(&method.method, verdict), checks };
    if method.method == ANY_METHOD {
        let reason = "it takes any command; a race checks each".to_owned();
        return Ok(group(Verdict::NotVerified { reason }, Vec::new()));
    }
    if let Some(reason) = method.unavailable.clone() {
        return Ok(group(Verdict::Unavailable { reason }, Vec::new()));
    }
    let mut checks = Vec::new();
    let reads_files = matches!(method.reads, Reads::File | Reads::Both);
    match method.reads {
        _ if !method.decodes.is_empty() => checks.extend(archives::checks(stage, method)?),
        Reads::File | Reads::Both => checks.extend(files::checks(stage, method)?),
        Reads::Folder => checks.extend(several::folder_checks(stage, method)?),
        Reads::Places => checks.extend(places::checks(stage, method)?),
        Reads::Url | Reads::Object if method.ranges => {
            checks.extend(servers::range_checks(stage, method, &places::range_cases(stage)?));
        }
        Reads::Url | Reads::Object => checks.extend(servers::checks(stage, method)),
        Reads::List => {}
    }
    if reads_files && method.parts && method.decodes.is_empty() {
        checks.extend(places::part_checks(stage, method)?);
    }
    if servers::reads_from_servers(method) && method.parts {
        checks.extend(servers::part_checks(stage, method, places::part_cases(stage)?));
    }
    if method.lists || method.reads == Reads::List {
        checks.extend(several::list_checks(stage, method)?);
    }
    if let Some(reason) = servers::why_left_out(method) {
        stage.leave_out(&method.method, &reason);
    }
    if checks.is_empty() {
        let reason = "a control, which need not prove what it reads".to_owned();
        return Ok(group(Verdict::NotVerified { reason }, checks));
    }
    checks.extend(protocol::misuse_checks(stage, method, number));
    Ok(group(Verdict::Ok, checks))
}

/// All checks, method by method.
fn check_queue(subjects: Vec<CheckGroup>) -> VecDeque<QueuedCheck> {
    let mut queue = VecDeque::new();
    for (group_index, of) in subjects.into_iter().enumerate() {
        let checks = of.checks.into_iter().enumerate();
        queue.extend(checks.map(|(number, check)| QueuedCheck {
            group_index,
            index_in_group: number,
            check,
        }));
    }
    queue
}

/// Runs checks until the queue is empty. Checks that come after the first violation of a method are
/// skipped, because only the first violation is reported.
fn run_checks(
    queue: &Mutex<VecDeque<QueuedCheck>>,
    first_faults: &Mutex<Vec<usize>>,
    stage: &Stage,
    results: &mpsc::Sender<(usize, usize, Option<CheckResult>)>,
) {
    loop {
        let next = locked(queue).pop_front();
        let Some(QueuedCheck { group_index, index_in_group: number, check }) = next else { return };
        let is_left_out =
            locked(first_faults)[group_index] < number || readlab_system::interrupt::is_stop_requested();
        let outcome = (!is_left_out).then(|| check.run(stage));
        if matches!(outcome, Some(Err(_))) {
            let mut first_faults = locked(first_faults);
            first_faults[group_index] = first_faults[group_index].min(number);
        }
        // If the receiver is gone, the program is ending.
        let _ = results.send((group_index, number, outcome));
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The reason for a violation if a session that had to fail did something else.
fn missing_failure_message(said: &str) -> String {
    format!("it must answer 'failed' with the reason; {said}")
}

/// The reason that a session gave for its failure; an error if the session did not fail, or not with
/// `failed`.
fn failure_reason<T>(result: Result<T, SessionError>) -> Result<String, String> {
    match result {
        Err(SessionError::Failed(reason)) => Ok(reason),
        Err(error) => Err(missing_failure_message(&error.to_string())),
        Ok(_) => Err(missing_failure_message("it went on")),
    }
}
