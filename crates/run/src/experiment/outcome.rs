//! The exit code of a run, and a message for each thing that the user named and that did not take
//! part.
//!
//! A check must not pass because a program is missing: if a thing that the user named is not
//! measured, the exit code shows it.

use crate::experiment::planner::MethodPattern;
use readlab_catalog::language::Languages;
use readlab_model::trial::{COMMAND, TrialId};
use readlab_record::{EndReason, Outcome, Record, RequestedName, TrialRecord};
use readlab_system::interrupt;
use readlab_system::terminal::notice;

/// Exit code if a trial failed or was refused, or if something that the user named did not take
/// part.
pub const EXIT_TRIAL_FAILED: u8 = 1;

/// Exit code of a usage or environment error: nothing was measured, or not what the user requested.
const EXIT_NOT_MEASURED: u8 = 2;

/// The exit code of a run. The reasons for it are printed to standard error. The code is that of
/// the signal if the user interrupted the run; 2 if a hook of a command failed, a rank of a fleet
/// was lost, or nothing was measured and no failed trial explains that; 1 if a trial failed or was
/// refused, the target changed or something requested did not take part; otherwise 0.
pub fn exit_code(record: &Record, requested: &[RequestedName]) -> u8 {
    let failed_or_refused =
        |outcome: &Option<Outcome>| matches!(outcome, Some(Outcome::Failed { .. } | Outcome::Refused { .. }));
    let is_spoiled = record.trials.iter().any(|trial| failed_or_refused(&trial.outcome));
    if let Some((EndReason::Interrupted, _)) = record.end {
        return interrupt::exit_code();
    }
    if let Some((EndReason::CommandFailed, _)) = record.end {
        notice::show(format!("the run ended early: {}", failed_command_words(record)));
        return EXIT_NOT_MEASURED;
    }
    if let Some((EndReason::RankLost, _)) = record.end {
        let why = record.warnings.last().map_or("a rank was lost", String::as_str);
        notice::show(format!("the run ended early: {why}"));
        return EXIT_NOT_MEASURED;
    }
    let missing: Vec<(&RequestedName, String)> =
        requested.iter().filter_map(|it| Some((it, why_absent(it, record)?))).collect();
    if let Some(reason) = why_nothing_measured(record, requested) {
        let failed = |it: &RequestedName| {
            record
                .trials
                .iter()
                .any(|trial| request_means_trial(it, record, trial) && failed_or_refused(&trial.outcome))
        };
        let is_failure = trials_for_user(record).all(|trial| failed_or_refused(&trial.outcome))
            || missing.iter().any(|(it, _)| failed(it))
            || record.target_change().is_some();
        let has_failed = is_spoiled && is_failure;
        if !has_failed || missing.is_empty() && record.target_change().is_none() {
            notice::show(format!("nothing was measured: {reason}"));
        }
        if !has_failed {
            return EXIT_NOT_MEASURED;
        }
    }
    missing.iter().for_each(|(it, why)| notice::show(format!("{it} did not take part: {why}")));
    if let Some(change) = record.target_change().filter(|_| missing.is_empty()) {
        notice::show(format!("the run ended early: {change}"));
    }
    if is_spoiled || !missing.is_empty() || record.target_change().is_some() { EXIT_TRIAL_FAILED } else { 0 }
}

/// The words about the hook that failed: the reason of its trial, or the last warning if a clean-up
/// after the last reading failed.
fn failed_command_words(record: &Record) -> &str {
    let mut failed = record.trials.iter().filter_map(|it| match it.outcome.as_ref()? {
        // The reason begins with the hook's option; other trials may have failed before.
        Outcome::Failed { reason } => Some(reason.as_str()).filter(|reason| reason.starts_with("--")),
        _ => None,
    });
    let last = record.warnings.last().map(String::as_str);
    failed.next_back().or(last).unwrap_or("a command failed")
}

/// The trials that are measured for the user: controls only if there are no other trials.
fn trials_for_user(record: &Record) -> impl Iterator<Item = &TrialRecord> {
    let only_controls = has_only_controls(record);
    record.trials.iter().filter(move |it| only_controls || !it.trial.is_control())
}

fn has_only_controls(record: &Record) -> bool {
    record.trials.iter().all(|it| it.trial.is_control())
}

/// Why nothing was measured; `None` if something was. The reasons of requested trials take
/// precedence over those of other trials.
fn why_nothing_measured(record: &Record, requested: &[RequestedName]) -> Option<String> {
    let trials_for_user = || trials_for_user(record);
    // A limit that fio measured has no trial.
    let is_limit_measured = || record.limits.iter().any(|limit| !limit.samples.is_empty());
    let is_searched =
        |state| trials_for_user().any(|it| it.trial.state == state && !it.search_samples.is_empty());
    // Readings of a search only choose candidates and are no result; readings of the reference in a
    // search are no result either.
    let is_result = |it: &TrialRecord| {
        it.is_measured() && (!it.search_samples.is_empty() || !is_searched(it.trial.state))
    };
    if trials_for_user().any(is_result) || has_only_controls(record) && is_limit_measured() {
        return None;
    }
    let searched: usize = trials_for_user().map(|it| it.search_samples.len()).sum();
    let words = |(reason, only): (&str, Option<&TrialId>)| match only {
        Some(id) => format!("{id}: {reason}"),
        None => reason.to_owned(),
    };
    let is_requested = |it: &&TrialRecord| requested.iter().any(|name| request_means_trial(name, record, it));
    let is_up = matches!(record.end, Some((EndReason::Budget, _)));
    let of_search = (is_up && searched > 0).then(|| {
        format!(
            "the time was up after {searched} {} of the search, before the best was measured afresh: give more by \
             --budget",
            if searched == 1 { "reading" } else { "readings" }
        )
    });
    let of_requested = most_common_reason(record, trials_for_user().filter(is_requested)).map(words);
    let ended = match record.end {
        Some((EndReason::Budget, _)) => Some("the time was up before the first reading".to_owned()),
        Some((EndReason::TargetChanged, _)) => record.target_change().map(str::to_owned),
        _ => None,
    };
    Some(
        of_search
            .or(of_requested)
            .or(ended)
            .or_else(|| most_common_reason(record, trials_for_user()).map(words))
            .or_else(|| record.warnings.first().cloned())
            .unwrap_or_else(|| "no trial was planned".to_owned()),
    )
}

/// The most common reason why these trials were not measured, and the trial's name if the reason is
/// that of a single trial. Of equally common reasons the first is returned. A change of the target
/// takes precedence; trials that the change prevented have no outcome. Reasons that only a few
/// trials have, such as a method that suits no warm state, do not explain the run.
fn most_common_reason<'a>(
    record: &'a Record,
    trials: impl Iterator<Item = &'a TrialRecord>,
) -> Option<(&'a str, Option<&'a TrialId>)> {
    let with_reason = |it: &'a TrialRecord| {
        let reason = it.outcome.as_ref().map_or(record.target_change(), Outcome::reason)?;
        Some((reason, &it.trial.id))
    };
    let all: Vec<(&str, &TrialId)> = trials.filter_map(with_reason).collect();
    let count = |reason: &str| all.iter().filter(|(other, _)| *other == reason).count();
    let rank = |(reason, _): &&(&str, &TrialId)| (Some(*reason) == record.target_change(), count(reason));
    let &(reason, id) = all.iter().rev().max_by_key(rank)?;
    let is_only = all.iter().all(|(other, its)| *other != reason || *its == id);
    Some((reason, is_only.then_some(id)))
}

/// Whether a trial has valid readings, of a search or not.
fn has_valid_readings(it: &TrialRecord) -> bool {
    it.is_accepted() && !(it.samples.is_empty() && it.search_samples.is_empty())
}

/// Why something requested did not take part; `None` if it did, in any cache state and with any
/// scan.
fn why_absent(requested: &RequestedName, record: &Record) -> Option<String> {
    let trials: Vec<&TrialRecord> =
        record.trials.iter().filter(|it| request_means_trial(requested, record, it)).collect();
    if trials.iter().any(|it| has_valid_readings(it)) {
        return None;
    }
    let of_trial = most_common_reason(record, trials.iter().copied());
    let of_trial = of_trial.map(|(reason, _)| reason.to_owned());
    let languages = Languages::of_record(record);
    let contender = match requested {
        RequestedName::Language(name) => languages.contender_of(name),
        other => requested_contender(other),
    };
    let of_contender = || {
        let lead = format!("{contender} does not take part: ");
        record.warnings.iter().find_map(|text| text.strip_prefix(&lead).map(str::to_owned))
    };
    match of_trial.or_else(of_contender) {
        Some(reason) => Some(reason),
        // The contender reads other targets, or the user's options exclude the trial.
        None if matches!(requested, RequestedName::Trial(_) | RequestedName::Contender(_))
            && trials.is_empty() =>
        {
            None
        }
        None if trials.is_empty() && matches!(record.end, None | Some((EndReason::Settled, _))) => {
            Some(match requested {
                RequestedName::Language(_) => {
                    "none of its ways of reading is for this target and this work".to_owned()
                }
                _ => "no trial of this run is called so".to_owned(),
            })
        }
        None => {
            let cause = record.target_change().map(|change| format!(": {change}")).unwrap_or_default();
            Some(format!("the run ended before its first reading{cause}"))
        }
    }
}

/// Whether something that the user requested means this trial.
fn request_means_trial(requested: &RequestedName, record: &Record, it: &TrialRecord) -> bool {
    let trial = &it.trial;
    let is_named = |name: &str| {
        TrialId::parse_written(name).is_ok_and(|id| {
            let method = &id.method;
            (method.contender.as_str(), method.method.as_str()) == (trial.contender(), trial.method())
                && (method.scan.is_none() || method.scan == trial.id.method.scan)
        })
    };
    match requested {
        RequestedName::Command(words) => is_named(&format!("{COMMAND}/{words}")),
        // A command may contain characters of a glob, so its name is compared first.
        RequestedName::Method(name) if trial.contender() == COMMAND && is_named(name) => true,
        RequestedName::Method(glob) => {
            MethodPattern::parse(glob).is_ok_and(|pattern| pattern.matches_trial(&trial.id))
        }
        RequestedName::Reference(name) | RequestedName::Trial(name) => is_named(name),
        RequestedName::Contender(name) => trial.contender() == name,
        RequestedName::Language(name) => {
            !trial.is_control() && Languages::of_record(record).language_of(trial.contender()) == name
        }
    }
}

fn requested_contender(requested: &RequestedName) -> &str {
    match requested {
        RequestedName::Command(_) => COMMAND,
        RequestedName::Method(name) | RequestedName::Reference(name) | RequestedName::Trial(name) => {
            name.split('/').next().unwrap_or(name)
        }
        RequestedName::Contender(name) | RequestedName::Language(name) => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_model::sample::Sample;
    use readlab_model::trial::{CacheState, TrialIndex};
    use readlab_protocol::Cache;
    use readlab_record::testing::{header, target_line_of_size, trial_line};
    use readlab_record::{Line, Record, WHILE_RACED_WORDS};

    #[test]
    fn a_search_without_fresh_readings_has_measured_nothing() {
        let mut record = Record::new(header());
        record.add(target_line_of_size(0, 1 << 20));
        record.add(trial_line(0, "rust/read/memchr", CacheState::Cold, Cache::Through));
        let reading =
            |rung| Line::Sample(Box::new(Sample { trial: TrialIndex::new(0), rung, ..Sample::default() }));
        record.add(reading(Some(0)));
        record.end = Some((EndReason::Budget, 1));
        let why = why_nothing_measured(&record, &[]).unwrap();
        assert!(why.contains("after 1 reading of the search") && why.contains("--budget"), "{why}");
        record.add(reading(None));
        assert_eq!(why_nothing_measured(&record, &[]), None);
    }

    /// A record of trials: for each, the number of its readings in a search, the number of its fresh
    /// readings, and its outcome.
    fn record_of_trials(trials: &[(u32, u32, Option<Outcome>)], end: EndReason) -> Record {
        let mut record = Record::new(header());
        record.add(target_line_of_size(0, 1 << 20));
        for (index, (searched, fresh, outcome)) in trials.iter().enumerate() {
            record.add(trial_line(index, &format!("c{index}/read"), CacheState::Cold, Cache::Through));
            let trial = TrialIndex::new(index);
            let rungs = (0..*searched).map(Some).chain((0..*fresh).map(|_| None));
            rungs.for_each(|rung| {
                record.add(Line::Sample(Box::new(Sample { trial, rung, ..Sample::default() })));
            });
            if let Some(outcome) = outcome.clone() {
                record.add(Line::Outcome { trial, outcome });
            }
        }
        record.end = Some((end, 1));
        record
    }

    #[test]
    fn a_search_without_a_result_gives_exit_code_2_whatever_failed_or_was_compared() {
        let failed = || Some(Outcome::Failed { reason: "no".to_owned() });
        let measured = || Some(Outcome::Measured);
        for trials in [
            &[(1, 0, failed()), (1, 0, None)][..],
            &[(0, 0, failed()), (1, 0, None)],
            &[(0, 3, measured()), (1, 0, None)],
        ] {
            let record = record_of_trials(trials, EndReason::Budget);
            assert_eq!(exit_code(&record, &[]), EXIT_NOT_MEASURED, "{trials:?}");
            assert!(why_nothing_measured(&record, &[]).unwrap().contains("of the search"), "{trials:?}");
        }
        let found = record_of_trials(&[(0, 3, measured()), (1, 3, measured())], EndReason::Budget);
        assert_eq!(exit_code(&found, &[]), 0);
    }

    #[test]
    fn the_reason_is_that_of_most_trials_and_of_what_the_user_named() {
        let absent = |reason: &str| Some(Outcome::Unavailable { reason: reason.to_owned() });
        let trials = ["past the cache", "no time", "no time", "no program"].map(|why| (0, 0, absent(why)));
        let some = record_of_trials(&trials, EndReason::Settled);
        let method = |name: &str| RequestedName::Method(name.to_owned());
        let why = |requested: &[RequestedName]| why_nothing_measured(&some, requested).unwrap();
        assert_eq!(why(&[]), "no time", "it concerns two trials");
        assert_eq!(why(&[method("c3/read")]), "c3/read: no program", "no bystander is named");
        assert_eq!(why_absent(&method("*/read"), &some).unwrap(), "no time");
        // The run ended before the second trial was read.
        let change = format!("f grew {WHILE_RACED_WORDS}");
        let mut changed =
            record_of_trials(&[(0, 0, absent("past the cache")), (0, 0, None)], EndReason::TargetChanged);
        changed.warnings.push(change.clone());
        assert_eq!(why_absent(&method("*/read"), &changed), Some(change));
    }

    #[test]
    fn the_exit_code_is_1_if_all_trials_failed_and_2_if_some_were_never_read() {
        let failed = || Some(Outcome::Failed { reason: "no".to_owned() });
        let absent = Some(Outcome::Unavailable { reason: "no time".to_owned() });
        let all = record_of_trials(&[(0, 0, failed()), (0, 0, failed())], EndReason::Settled);
        assert_eq!(exit_code(&all, &[]), EXIT_TRIAL_FAILED);
        let some = record_of_trials(&[(0, 0, failed()), (0, 0, absent)], EndReason::Settled);
        assert_eq!(exit_code(&some, &[]), EXIT_NOT_MEASURED);
        let named = [RequestedName::Method("c0/read".to_owned())];
        assert_eq!(exit_code(&some, &named), EXIT_TRIAL_FAILED);
    }
}
