//! Every trial that a claim names must exist: as a published case, as a trial of the suite that
//! answers the claim, or as a series of a sweep. A claim with a misspelled name would never be
//! decided.

use super::super::figures::{DRIVE_NAME, Dataset, MissingFigure};
use super::*;
use readlab_suite::Suite;

#[test]
fn every_trial_of_a_claim_is_in_the_suite_that_answers_it() {
    for file in built_in_files() {
        let AnsweredBy::Suite(name) = &file.answered_by else { continue };
        let suite = Suite::find(name).unwrap();
        let is_there = |trial: &str| {
            trial == DRIVE_NAME
                || suite.entries.iter().any(|it| it.label.as_deref() == Some(trial) || it.trial == trial)
                || suite.entries.iter().any(|it| it.published_name.as_deref() == Some(trial))
        };
        for claim in &file.claims {
            for quantity in claim.expression.quantities() {
                assert!(is_there(&quantity.trial), "{name} has no trial {}", quantity.trial);
            }
        }
    }
}

#[test]
fn every_published_case_is_in_some_claim() {
    for file in built_in_files() {
        let Some(published) = &file.tables_name else { continue };
        let machines = Dataset::of_publication(published);
        assert!(!machines.is_empty(), "{}", file.name);
        let quantities: Vec<&Quantity> =
            file.claims.iter().flat_map(|claim| claim.expression.quantities()).collect();
        for case in machines.iter().flat_map(Dataset::cases) {
            let is_named = |it: &&Quantity| case.names.contains(&it.trial);
            assert!(quantities.iter().any(is_named), "{}: no claim is about {}", file.name, case.name);
        }
    }
}

#[test]
fn machines_that_claims_name_are_published() {
    for file in built_in_files() {
        let machines = Dataset::of_publication(file.tables_name.as_deref().unwrap_or_default());
        for claim in &file.claims {
            if let Expression::Machines { machine, reference_machine, .. } = &claim.expression {
                for name in [machine, reference_machine] {
                    assert!(machines.iter().any(|it| it.name() == name), "{name}");
                }
            }
        }
    }
    let nothing = Quantity {
        trial: "no such".into(),
        metric: Metric::WALL,
        published_metric: None,
        state: None,
        memory: None,
        size_range_bytes: None,
    };
    let machine = &Dataset::of_publication("newlines")[0];
    assert_eq!(machine.operand(&nothing), Err(MissingFigure::NotPublished("no such".into())));
}
