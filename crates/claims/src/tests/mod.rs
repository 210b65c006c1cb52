//! Tests of all claims: each is judged by a record that makes it hold, by one that does not, and by
//! one that shows neither; and the answers that publications give by their own figures.

mod own_figures;
mod scripted;
mod scripted_sweep;
mod trials;

use super::*;
use readlab_record::Record;
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

#[test]
fn every_claim_holds_by_a_record_that_shows_it() {
    for file in files() {
        for claim in &file.claims {
            let answer = here(&file, claim, &record(&file, claim, Script::Holds));
            assert_eq!(answer.verdict, Verdict::Holds, "{}: {}: {answer:?}", file.name, claim.says);
        }
    }
}

#[test]
fn every_claim_fails_by_a_record_that_shows_the_opposite() {
    for file in files() {
        for claim in &file.claims {
            let answer = here(&file, claim, &record(&file, claim, Script::Fails));
            assert_eq!(answer.verdict, Verdict::DoesNotHold, "{}: {}: {answer:?}", file.name, claim.says);
        }
    }
}

#[test]
fn no_claim_is_decided_by_a_record_whose_intervals_hold_its_bound() {
    for file in files() {
        for claim in &file.claims {
            let answer = here(&file, claim, &record(&file, claim, Script::Noisy));
            let is_untold =
                matches!(&answer.verdict, Verdict::CannotBeTold(why) if !why.contains("take part"));
            assert!(is_untold, "{}: {}: {answer:?}", file.name, claim.says);
        }
    }
}

#[test]
fn a_claim_about_a_trial_that_did_not_take_part_cannot_be_told() {
    for file in files() {
        let script = if file.answered_by == AnsweredBy::Sweep {
            Record::new(readlab_record::Header {
                kind: readlab_record::RunKind::Sweep,
                ..readlab_record::testing::header()
            })
        } else {
            Record::new(readlab_record::testing::header())
        };
        for claim in &file.claims {
            let Verdict::CannotBeTold(why) = here(&file, claim, &script).verdict else {
                panic!("{}: decided without any trial", claim.says);
            };
            let is_reason = why.contains("did not take part")
                || why.contains("not known")
                || why.contains("of this machine is not")
                || why.contains("no control");
            assert!(is_reason, "{}: {why}", claim.says);
        }
    }
}

#[test]
fn one_reading_decides_nothing() {
    for file in files().into_iter().filter(|file| file.answered_by != AnsweredBy::Sweep) {
        for claim in &file.claims {
            let answer = here(&file, claim, &record(&file, claim, Script::OneRound));
            assert!(matches!(answer.verdict, Verdict::CannotBeTold(_)), "{}: {answer:?}", claim.says);
        }
    }
}

#[test]
fn three_rounds_tell_what_times_and_rates_show() {
    let is_timed = |it: &&Quantity| ["wall", "rate"].contains(&it.metric.name());
    let mut told = 0;
    for file in files().into_iter().filter(|file| file.answered_by != AnsweredBy::Sweep) {
        for claim in &file.claims {
            let quantities = claim.expression.quantities();
            if quantities.iter().filter(|it| is_timed(it)).count() < quantities.len() {
                continue;
            }
            let answer = here(&file, claim, &record(&file, claim, Script::ThreeRounds));
            assert_eq!(answer.verdict, Verdict::Holds, "{}: {}: {answer:?}", file.name, claim.says);
            told += 1;
        }
    }
    assert!(told >= 10, "{told}");
}
