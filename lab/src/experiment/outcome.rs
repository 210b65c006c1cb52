//! The exit code of a run, and the line for each thing that was asked for by name and did not take
//! part.
//!
//! A gate must not pass because a program is missing: what the user named is measured, or the exit
//! code says that it is not.

use crate::experiment::planner::MethodPattern;
use crate::linux::interrupt;
use crate::record::{EndReason, Outcome, Record, Requested, TrialRecord};
use crate::terminal::notice;
use crate::trial::{COMMAND, TrialId};

/// Some trial failed or was refused, or something that was asked for did not take part.
pub const EXIT_TRIAL: u8 = 1;

/// Usage or environment: nothing was measured.
const EXIT_NOTHING: u8 = 2;

/// The exit code of a run, after what it rests on was said on standard error: 130 when the user
/// stopped it, 1 when some trial failed or was refused or something requested did not take part, 2
/// when nothing was measured at all, else 0.
#[must_use]
pub fn exit_code(record: &Record, requested: &[Requested]) -> u8 {
    let spoiled =
        |outcome: &Option<Outcome>| matches!(outcome, Some(Outcome::Failed { .. } | Outcome::Refused { .. }));
    let is_spoiled = record.trials.iter().any(|trial| spoiled(&trial.outcome));
    if let Some((EndReason::Interrupted, _)) = record.end {
        return interrupt::EXIT_CODE;
    }
    if !is_spoiled && let Some(reason) = nothing_measured(record) {
        notice::tell(format!("nothing was measured: {reason}"));
        return EXIT_NOTHING;
    }
    let missing: Vec<String> = requested
        .iter()
        .filter_map(|it| Some(format!("{it} did not take part: {}", why(it, record)?)))
        .collect();
    missing.iter().for_each(notice::tell);
    if is_spoiled || !missing.is_empty() { EXIT_TRIAL } else { 0 }
}

/// Why no number came out of a run; `None` if one did. Controls count only where there is nothing
/// else.
fn nothing_measured(record: &Record) -> Option<String> {
    let only_controls = record.trials.iter().all(|it| it.trial.is_control());
    let counted = || record.trials.iter().filter(|it| only_controls || !it.trial.is_control());
    if counted().any(took_part) {
        return None;
    }
    let first = counted().find_map(|it| Some(format!("{}: {}", it.trial.id, it.outcome.as_ref()?.reason()?)));
    Some(
        first
            .or_else(|| record.warnings.first().cloned())
            .unwrap_or_else(|| "no trial was planned".to_owned()),
    )
}

/// Whether readings of a trial stand, be they of a search.
fn took_part(it: &TrialRecord) -> bool {
    it.stands() && !(it.samples.is_empty() && it.searched.is_empty())
}

/// Why something requested did not take part; `None` if it did, in whatever state and with whatever
/// scan.
fn why(requested: &Requested, record: &Record) -> Option<String> {
    let trials: Vec<&TrialRecord> = record.trials.iter().filter(|it| names(requested, it)).collect();
    if trials.iter().any(|it| took_part(it)) {
        return None;
    }
    let of_trial = trials.iter().find_map(|it| it.outcome.as_ref()?.reason().map(str::to_owned));
    let contender = contender(requested);
    let of_contender = || {
        let lead = format!("{contender} does not take part: ");
        record.warnings.iter().find_map(|text| text.strip_prefix(&lead).map(str::to_owned))
    };
    match of_trial.or_else(of_contender) {
        Some(reason) => Some(reason),
        // Some are for other targets, or chosen away by the user.
        None if matches!(requested, Requested::Trial(_) | Requested::Contender(_)) && trials.is_empty() => {
            None
        }
        None if trials.is_empty() => Some("no trial of this run is called so".to_owned()),
        None => Some("the run ended before its first reading".to_owned()),
    }
}

/// Whether this is a trial of what was requested.
fn names(requested: &Requested, it: &TrialRecord) -> bool {
    let trial = &it.trial;
    let is_named = |name: &str| {
        TrialId::parse_written(name).is_ok_and(|id| {
            let asked = &id.method;
            (&asked.contender, &asked.method) == (&trial.contender, &trial.method)
                && (asked.scan.is_none() || asked.scan == trial.scan)
        })
    };
    match requested {
        Requested::Command(words) => is_named(&format!("{COMMAND}/{words}")),
        // A command may hold any character of a glob.
        Requested::Method(name) if trial.contender == COMMAND && is_named(name) => true,
        Requested::Method(glob) => {
            MethodPattern::parse(glob).is_ok_and(|pattern| pattern.matches_trial(&trial.id))
        }
        Requested::Reference(name) | Requested::Trial(name) => is_named(name),
        Requested::Contender(name) => trial.contender == *name,
    }
}

/// The contender that it is of.
fn contender(requested: &Requested) -> &str {
    match requested {
        Requested::Command(_) => COMMAND,
        Requested::Method(name) | Requested::Reference(name) | Requested::Trial(name) => {
            name.split('/').next().unwrap_or(name)
        }
        Requested::Contender(name) => name,
    }
}
