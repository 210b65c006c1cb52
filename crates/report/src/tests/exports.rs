//! Tests that the exports stay unchanged, because programs of users read them. The snapshot holds
//! each field of the JSON documents and each column of the CSV tables with a value, and a digest of
//! each whole export.
//!
//! The test also writes each export to a file in `exports/` beside the test program. The name of
//! the file is the digest of the export. If only a digest differs, run this test on the older
//! commit and `diff` the two files. `make goldens` accepts the new exports.

use super::exported;
use super::page_records::scripted_records;
use super::recomputed::{archive_record, readers_record};
use crate as report;
use readlab_record::{Record, RunKind};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use xxhash_rust::xxh3::xxh3_64;

type Export = fn(&Record, &mut dyn std::io::Write) -> std::io::Result<()>;

/// JSON without claims: the claims of publications are not part of the record, and may be
/// corrected.
const JSON_WITHOUT_CLAIMS: Export = |record, out| report::write_json_with_claims(record, &[], out);

/// Number of characters of a value in the snapshot.
const VALUE_CHARS: usize = 40;

/// The values that the exports hold at one path.
#[derive(Default)]
struct Field {
    kinds: BTreeSet<&'static str>,
    /// The first value that is not null.
    value: Option<String>,
    records: BTreeSet<&'static str>,
}

#[derive(Default)]
struct Fields(BTreeMap<String, Field>);

impl Fields {
    fn add_value(&mut self, place: &str, value: &Value, record: &'static str) {
        let kind = match value {
            Value::Object(fields) if !fields.is_empty() => {
                let dot = if place.is_empty() { "" } else { "." };
                fields
                    .iter()
                    .for_each(|(name, it)| self.add_value(&format!("{place}{dot}{name}"), it, record));
                return;
            }
            Value::Array(all) if !all.is_empty() => {
                all.iter().for_each(|it| self.add_value(&format!("{place}[]"), it, record));
                return;
            }
            Value::Object(_) => "{}",
            Value::Array(_) => "[]",
            Value::String(_) => "text",
            Value::Number(_) => "number",
            Value::Bool(_) => "bool",
            Value::Null => "null",
        };
        let field = self.0.entry(place.to_owned()).or_default();
        field.kinds.insert(kind);
        field.records.insert(record);
        if matches!(kind, "text" | "number" | "bool") {
            field.value.get_or_insert_with(|| value.to_string().chars().take(VALUE_CHARS).collect());
        }
    }

    /// A line for each field, with the names of the records that have the field, or after `not` the
    /// names of the records without it, if those are fewer.
    fn lines(&self, records: &BTreeSet<&'static str>) -> String {
        let line = |(place, field): (&String, &Field)| {
            let words = |all: &BTreeSet<&str>| all.iter().copied().collect::<Vec<_>>().join(" ");
            let value = field.value.as_ref().map_or_else(String::new, |value| format!(" = {value}"));
            let without = records - &field.records;
            let of = match without.len() {
                0 => "all".to_owned(),
                few if few < field.records.len() => format!("not {}", words(&without)),
                _ => words(&field.records),
            };
            format!("{place} ({}){value} · {of}\n", words(&field.kinds))
        };
        self.0.iter().map(line).collect()
    }
}

/// Writes an export to a file named by its digest. Returns the snapshot line with the digest.
fn write_and_digest(name: &str, ending: &str, export: &str) -> String {
    let folder = std::env::current_exe().unwrap().with_file_name("exports");
    fs::create_dir_all(&folder).unwrap();
    let digest = format!("{:016x}", xxh3_64(export.as_bytes()));
    let file = folder.join(format!("{name}-{digest}.{ending}"));
    fs::write(&file, export).unwrap();
    println!("{}", file.display());
    format!("{name}.{ending} {digest}\n")
}

/// A record of every kind of run, and records with archives and with readers, which have fields
/// that no other record has.
fn records() -> Vec<(&'static str, Record)> {
    scripted_records()
        .into_iter()
        .chain([("archive", archive_record()), ("readers", readers_record())])
        .collect()
}

#[test]
fn there_is_a_record_of_every_kind_of_run_and_one_that_was_cut_short() {
    let has = |kind| scripted_records().iter().any(|(_, record)| record.header.kind == kind);
    assert!(
        [RunKind::Race, RunKind::Suite, RunKind::Tune, RunKind::Limits, RunKind::Sweep].map(has) == [true; 5]
    );
    assert!(scripted_records().iter().any(|(_, record)| record.end.is_none()));
}

#[test]
fn the_exports_are_unchanged() {
    let (mut documents, mut tables, mut digests) = (Fields::default(), Fields::default(), String::new());
    let records = records();
    for &(name, ref record) in &records {
        let document = exported(record, JSON_WITHOUT_CLAIMS);
        documents.add_value("", &serde_json::from_str(&document).unwrap(), name);
        let table = exported(record, report::write_csv);
        let mut rows = csv::Reader::from_reader(table.as_bytes());
        let columns = rows.headers().unwrap().clone();
        for row in rows.records().map(Result::unwrap) {
            for (column, text) in columns.iter().zip(&row) {
                let value = if text.is_empty() { Value::Null } else { text.into() };
                tables.add_value(column, &value, name);
            }
        }
        digests += &write_and_digest(name, "json", &document);
        digests += &write_and_digest(name, "csv", &table);
    }
    let names: BTreeSet<&str> = records.iter().map(|(name, _)| *name).collect();
    let [json, csv] = [documents, tables].map(|fields| fields.lines(&names));
    insta::assert_snapshot!("exports", format!("# JSON\n{json}\n# CSV\n{csv}\n# Digests\n{digests}"));
}

#[test]
fn the_expected_exports_and_lines_stay_small() {
    const BYTES_MAX: usize = 60_000;
    let exports = include_str!("snapshots/readlab_report__tests__exports__exports.snap");
    let lines = include_str!("../../../record/src/tests/every_line.jsonl");
    let bytes = exports.len() + lines.len();
    assert!(bytes <= BYTES_MAX, "{bytes} bytes");
}

#[test]
fn json_with_claims_differs_in_the_claims_alone() {
    let as_value =
        |record: &Record, export: Export| serde_json::from_str::<Value>(&exported(record, export)).unwrap();
    let mut answered = Vec::new();
    for (name, record) in scripted_records() {
        let mut with = as_value(&record, report::write_json);
        let claims = with.as_object_mut().unwrap().remove("claims");
        answered.extend(claims.map(|_| name));
        assert_eq!(with, as_value(&record, JSON_WITHOUT_CLAIMS));
    }
    assert_eq!(answered, ["suite", "sweep"]);
}
