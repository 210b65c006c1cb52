//! Tests of all claims. Each claim is judged by a record that makes it hold, by one that
//! contradicts it, and by one that decides nothing. Publications are also judged by their own
//! figures.

mod own_figures;
mod scripted;
mod scripted_sweep;
mod trials;

use super::*;
use readlab_record::testing::header;
use readlab_record::{Header, Record, RunKind};
use scripted::Script;

fn answer_by_record(file: &ClaimsFile, claim: &Claim, record: &Record) -> Answer {
    let alone = ClaimsFile { claims: vec![claim.clone()], ..file.clone() };
    judge(&alone, Some(record)).claims.swap_remove(0).record_answer.unwrap()
}

fn built_in_files() -> Vec<ClaimsFile> {
    built_in_names().into_iter().map(|name| find_built_in(name).unwrap()).collect()
}

fn record(file: &ClaimsFile, claim: &Claim, script: Script) -> Record {
    match file.answered_by {
        AnsweredBy::Sweep => scripted_sweep::record(claim, script),
        _ => scripted::record(file, claim, script),
    }
}

/// Judges each claim of these files by a record of the script, and checks the answer.
fn check_answers(
    files: impl IntoIterator<Item = ClaimsFile>,
    script: Script,
    check: impl Fn(&Claim, &Answer),
) {
    for file in files {
        for claim in &file.claims {
            let answer = answer_by_record(&file, claim, &record(&file, claim, script));
            println!("{}: {}: {answer:?}", file.name, claim.statement);
            check(claim, &answer);
        }
    }
}

fn files_of_suites() -> impl Iterator<Item = ClaimsFile> {
    built_in_files().into_iter().filter(|file| file.answered_by != AnsweredBy::Sweep)
}

#[test]
fn every_claim_is_decided_by_a_record_that_shows_it_or_the_opposite() {
    check_answers(built_in_files(), Script::Holds, |_, answer| assert_eq!(answer.verdict, Verdict::Holds));
    check_answers(built_in_files(), Script::Fails, |_, answer| {
        assert_eq!(answer.verdict, Verdict::DoesNotHold)
    });
}

#[test]
fn a_fixed_cost_is_told_where_ordinary_least_squares_tell_nothing() {
    let sizes = built_in_files().into_iter().find(|file| file.answered_by == AnsweredBy::Sweep).unwrap();
    let record = scripted_sweep::record_with_errors_in_proportion();
    let series = record.sweep_series();
    let is_meant = |claim: &&Claim| claim.statement.contains(" has a fixed cost of less than a millisecond");
    let claims: Vec<&Claim> = sizes.claims.iter().filter(is_meant).collect();
    assert_eq!(claims.len(), 2);
    for claim in claims {
        let answer = answer_by_record(&sizes, claim, &record);
        assert_eq!(answer.verdict, Verdict::Holds, "{}: {answer:?}", claim.statement);
        let of_claim =
            series.iter().find(|it| it.is_write == claim.statement.starts_with("writing")).unwrap();
        let ordinary = readlab_analysis::stats::least_squares(&of_claim.sizes_and_seconds()).unwrap();
        let ends = ordinary.intercept_ci95.unwrap();
        assert!(ends.low < -1e-3 && ends.high > 1e-3, "an interval of milliseconds: {ends:?}");
    }
}

#[test]
fn no_claim_is_decided_by_a_record_whose_intervals_hold_its_bound() {
    check_answers(built_in_files(), Script::Noisy, |_, answer| {
        assert!(matches!(&answer.verdict, Verdict::Undecided(why) if !why.contains("take part")));
    });
}

#[test]
fn a_claim_about_a_trial_that_did_not_take_part_cannot_be_decided() {
    for file in built_in_files() {
        let is_sweep = file.answered_by == AnsweredBy::Sweep;
        let kind = if is_sweep { RunKind::Sweep } else { header().kind };
        let nothing = Record::new(Header { kind, ..header() });
        for claim in &file.claims {
            let Verdict::Undecided(why) = answer_by_record(&file, claim, &nothing).verdict else {
                panic!("{}: decided without any trial", claim.statement);
            };
            let reasons = ["did not take part", "not known", "of this machine is not", "no control"];
            assert!(reasons.iter().any(|reason| why.contains(reason)), "{}: {why}", claim.statement);
        }
    }
}

#[test]
fn one_reading_decides_nothing() {
    check_answers(files_of_suites(), Script::OneRound, |_, answer| {
        assert!(matches!(answer.verdict, Verdict::Undecided(_)));
    });
}

#[test]
fn three_rounds_decide_claims_about_times_and_rates() {
    let told = std::cell::Cell::new(0);
    check_answers(files_of_suites(), Script::ThreeRounds, |claim, answer| {
        let quantities = claim.expression.quantities();
        if quantities.iter().all(|it| ["wall", "rate"].contains(&it.metric.name())) {
            assert_eq!(answer.verdict, Verdict::Holds);
            told.set(told.get() + 1);
        } else if let Verdict::Undecided(why) = &answer.verdict {
            assert!(!why.contains("single round"), "{}: {why}", claim.statement);
        }
    });
    assert!(told.get() >= 10, "{}", told.get());
}
