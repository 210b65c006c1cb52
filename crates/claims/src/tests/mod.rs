//! Tests of all claims: each is judged by a record that makes it hold, by one that does not, and by
//! one that shows neither; and the answers that publications give by their own figures.

mod own_figures;
mod scripted;
mod scripted_sweep;
mod trials;

use super::*;
use readlab_record::testing::header;
use readlab_record::{Header, Record, RunKind};
use scripted::Script;

fn here(file: &ClaimsFile, claim: &Claim, record: &Record) -> Answer {
    let alone = ClaimsFile { claims: vec![claim.clone()], ..file.clone() };
    judge(&alone, Some(record)).claims.swap_remove(0).here.unwrap()
}

fn files() -> Vec<ClaimsFile> {
    names().into_iter().map(|name| find(name).unwrap()).collect()
}

fn record(file: &ClaimsFile, claim: &Claim, script: Script) -> Record {
    match file.answered_by {
        AnsweredBy::Sweep => scripted_sweep::record(claim, script),
        _ => scripted::record(file, claim, script),
    }
}

/// The answer to each claim of these files by the record of a script.
fn answers(files: impl IntoIterator<Item = ClaimsFile>, script: Script, check: impl Fn(&Claim, &Answer)) {
    for file in files {
        for claim in &file.claims {
            let answer = here(&file, claim, &record(&file, claim, script));
            println!("{}: {}: {answer:?}", file.name, claim.says);
            check(claim, &answer);
        }
    }
}

fn files_of_suites() -> impl Iterator<Item = ClaimsFile> {
    files().into_iter().filter(|file| file.answered_by != AnsweredBy::Sweep)
}

#[test]
fn every_claim_is_decided_by_a_record_that_shows_it_or_the_opposite() {
    answers(files(), Script::Holds, |_, answer| assert_eq!(answer.verdict, Verdict::Holds));
    answers(files(), Script::Fails, |_, answer| assert_eq!(answer.verdict, Verdict::DoesNotHold));
}

#[test]
fn no_claim_is_decided_by_a_record_whose_intervals_hold_its_bound() {
    answers(files(), Script::Noisy, |_, answer| {
        assert!(matches!(&answer.verdict, Verdict::CannotBeTold(why) if !why.contains("take part")));
    });
}

#[test]
fn a_claim_about_a_trial_that_did_not_take_part_cannot_be_told() {
    for file in files() {
        let is_sweep = file.answered_by == AnsweredBy::Sweep;
        let kind = if is_sweep { RunKind::Sweep } else { header().kind };
        let nothing = Record::new(Header { kind, ..header() });
        for claim in &file.claims {
            let Verdict::CannotBeTold(why) = here(&file, claim, &nothing).verdict else {
                panic!("{}: decided without any trial", claim.says);
            };
            let reasons = ["did not take part", "not known", "of this machine is not", "no control"];
            assert!(reasons.iter().any(|reason| why.contains(reason)), "{}: {why}", claim.says);
        }
    }
}

#[test]
fn one_reading_decides_nothing() {
    answers(files_of_suites(), Script::OneRound, |_, answer| {
        assert!(matches!(answer.verdict, Verdict::CannotBeTold(_)));
    });
}

#[test]
fn three_rounds_tell_what_times_and_rates_show() {
    let told = std::cell::Cell::new(0);
    answers(files_of_suites(), Script::ThreeRounds, |claim, answer| {
        let quantities = claim.expression.quantities();
        if quantities.iter().all(|it| ["wall", "rate"].contains(&it.metric.name())) {
            assert_eq!(answer.verdict, Verdict::Holds);
            told.set(told.get() + 1);
        }
    });
    assert!(told.get() >= 10, "{}", told.get());
}
