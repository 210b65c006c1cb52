//! Tests that every text of a record reaches a terminal, a page or an export only as text: each
//! text of each kind of line is made hostile in turn, and every output from the record is checked.

use crate::inputs;
use readlab_record::Record;
use readlab_record::testing::scripted;
use readlab_system::terminal::printable::is_obeyed;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Ends quotes, tags, scripts and cells, and moves cursors.
const HOSTILE: &str = "\u{1b}]0;t\u{7}\u{1b}[2J\u{9b}31m\r\n\u{202e}\u{200b}</script><script>alert(1)</script><img src=x onerror=alert(1)>\
                       \"'><svg onload=alert(1)>|`[x](javascript:alert(1))\u{0}";

/// What only a page that was broken into has.
const BROKEN_INTO: [&str; 3] = ["<script>alert", "<img src=x", "<svg onload"];

/// The outputs that are JSON, and the texts for terminals beside those that are called so.
const JSON: [&str; 4] = ["json", "github", "bencher", "a comparison in json"];
const TEXTS: [&str; 3] = ["percentiles", "the history", "a comparison"];

/// Every text of a record's line, by its place; the same place in another line of its kind counts
/// once.
fn places(value: &Value, place: String, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(place),
        Value::Array(all) => all.iter().take(1).for_each(|one| places(one, format!("{place}/0"), found)),
        Value::Object(all) => {
            all.iter().for_each(|(name, one)| places(one, format!("{place}/{name}"), found))
        }
        _ => {}
    }
}

/// Records that differ from this one by one hostile text each; those that are no records any more are
/// left out.
fn hostile(record: &str, folder: &Path) -> Vec<(String, Record)> {
    let lines: Vec<Value> = record.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (mut seen, mut records) = (BTreeSet::new(), Vec::new());
    for (number, line) in lines.iter().enumerate() {
        let mut all = Vec::new();
        places(line, String::new(), &mut all);
        for place in all.into_iter().filter(|place| place != "/line") {
            if !seen.insert((line["line"].to_string(), place.clone())) {
                continue;
            }
            let mut lines = lines.clone();
            let text = lines[number].pointer_mut(&place).expect("it was found there");
            *text = format!("{}{HOSTILE}", text.as_str().unwrap()).into();
            let file = folder.join("record.jsonl");
            let lines = lines.iter().map(Value::to_string).collect::<Vec<_>>();
            fs::write(&file, lines.join("\n") + "\n").unwrap();
            if let Ok(record) = Record::read(&file) {
                records.push((format!("{}{place}", line["line"]), record));
            }
        }
    }
    records
}

#[test]
fn every_text_of_a_record_is_only_text_in_all_outputs() {
    let folder = tempfile::tempdir().unwrap();
    let mut looked_at = 0;
    for name in scripted::names() {
        let record = String::from_utf8(inputs::shorter(scripted::text(name).as_bytes())).unwrap();
        let hostile = hostile(&record, folder.path());
        assert!(hostile.len() > 10, "{name}: too few texts");
        for (place, record) in hostile {
            for (output, text) in inputs::outputs(&record) {
                looked_at += 1;
                let found = text.chars().find(|&c| is_obeyed(c) && c != '\n');
                assert_eq!(found, None, "{name}: {output} lets a character of {place} through");
                let is_json = JSON.contains(&output);
                // Values of JSON and CSV are no markup: what shows them escapes them.
                if !is_json && output != "csv" && !output.contains("terminal") && !TEXTS.contains(&output) {
                    let broken = BROKEN_INTO.iter().find(|it| text.contains(*it));
                    assert_eq!(broken, None, "{name}: {place} breaks into {output}");
                }
                if is_json {
                    let read = serde_json::from_str::<Value>(&text);
                    read.unwrap_or_else(|error| panic!("{output}: {place}: {error}"));
                }
            }
        }
    }
    eprintln!("{looked_at} outputs looked at");
}
