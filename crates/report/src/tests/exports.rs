//! Tests that old records give the same exports: records of every verb, written by an earlier
//! readlab, with its exports. Users keep both, so the exports must be equal to the byte.
//!
//! `tests/golden/made/` holds the records and, under the same name, the exports. Records by hand,
//! each with something peculiar in it, are one folder above.

use crate as report;
use readlab_record::Record;
use std::fs;
use std::path::{Path, PathBuf};

type Export = fn(&Record, &mut dyn std::io::Write) -> std::io::Result<()>;

fn records() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/made");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut records: Vec<_> = paths.filter(|path| path.extension().is_some_and(|it| it == "jsonl")).collect();
    records.sort();
    records
}

/// Compares an export with the stored one. A different one is written to the tests' folder.
fn assert_unchanged(path: &Path, ending: &str, export: Export) {
    let record = Record::read(path).unwrap();
    let mut now = Vec::new();
    export(&record, &mut now).unwrap();
    let stored = path.with_extension(ending);
    let before = fs::read(&stored).unwrap_or_default();
    if now != before {
        let other = std::env::current_exe().unwrap().parent().unwrap().join(stored.file_name().unwrap());
        fs::write(&other, &now).unwrap();
        panic!("{} is not what it was: see {}", stored.display(), other.display());
    }
}

#[test]
fn there_is_a_record_of_every_verb_and_one_that_was_cut_short() {
    let names: Vec<_> = records().iter().map(|it| it.file_stem().unwrap().to_owned()).collect();
    assert_eq!(names, ["cut", "http", "limits", "race", "suite", "sweep", "tune"]);
}

#[test]
fn json_is_the_same_to_the_byte() {
    // The claims of publications are not of the record: they may be corrected.
    let export: Export = |record, out| report::json_with(record, &[], out);
    records().iter().for_each(|path| assert_unchanged(path, "json", export));
}

#[test]
fn json_with_claims_differs_in_the_claims_alone() {
    let as_value = |path: &Path, export: Export| -> serde_json::Value {
        let mut text = Vec::new();
        export(&Record::read(path).unwrap(), &mut text).unwrap();
        serde_json::from_slice(&text).unwrap()
    };
    let mut answered = Vec::new();
    for path in records() {
        let mut with = as_value(&path, report::json);
        let claims = with.as_object_mut().unwrap().remove("claims");
        answered.extend(claims.map(|_| path.file_stem().unwrap().to_owned()));
        assert_eq!(with, as_value(&path, |record, out| report::json_with(record, &[], out)));
    }
    assert_eq!(answered, ["suite", "sweep"]);
}

#[test]
fn csv_is_the_same_to_the_byte() {
    records().iter().for_each(|path| assert_unchanged(path, "csv", report::csv));
}
