//! Tests that every text of a record reaches a terminal, a page or an export only as text: each
//! text of each kind of line is made hostile, and every output from the record is checked.

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

/// Records that differ from this one by some hostile texts each, with the places of these. Where they
/// make it no record any more, each is made hostile alone, and left out where it still is none.
fn hostile(record: &str, together: usize, folder: &Path) -> Vec<(Vec<String>, Record)> {
    let lines: Vec<Value> = record.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (mut seen, mut texts) = (BTreeSet::new(), Vec::new());
    for (number, line) in lines.iter().enumerate() {
        let mut all = Vec::new();
        places(line, String::new(), &mut all);
        all.retain(|place| place != "/line" && seen.insert((line["line"].to_string(), place.clone())));
        texts.extend(all.into_iter().map(|place| (number, place)));
    }
    let changed = |texts: &[(usize, String)]| {
        let mut lines = lines.clone();
        for (number, place) in texts {
            let text = lines[*number].pointer_mut(place).expect("it was found there");
            *text = format!("{}{HOSTILE}", text.as_str().unwrap()).into();
        }
        let file = folder.join("record.jsonl");
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        fs::write(&file, text).unwrap();
        let places = texts.iter().map(|(number, place)| format!("{}{place}", lines[*number]["line"]));
        Record::read(&file).ok().map(|record| (places.collect(), record))
    };
    let some = texts.chunks(together);
    some.flat_map(|some| match changed(some) {
        Some(record) => vec![record],
        None => some.chunks(1).filter_map(changed).collect(),
    })
    .collect()
}

/// With so many hostile texts at once in each record.
fn every_text_is_only_text(together: usize) {
    let folder = tempfile::tempdir().unwrap();
    let mut looked_at = 0;
    for name in scripted::names() {
        let record = String::from_utf8(inputs::shorter(scripted::text(name).as_bytes())).unwrap();
        let hostile = hostile(&record, together, folder.path());
        let texts: usize = hostile.iter().map(|(places, _)| places.len()).sum();
        assert!(texts > 10, "{name}: too few texts");
        for (places, record) in hostile {
            for (output, text) in inputs::outputs(&record) {
                looked_at += 1;
                let found = text.chars().find(|&c| is_obeyed(c) && c != '\n');
                assert_eq!(found, None, "{name}: {output} lets a character of {places:?} through");
                let is_json = JSON.contains(&output);
                // Values of JSON and CSV are no markup: what shows them escapes them.
                if !is_json && output != "csv" && !output.contains("terminal") && !TEXTS.contains(&output) {
                    let broken = BROKEN_INTO.iter().find(|it| text.contains(*it));
                    assert_eq!(broken, None, "{name}: {places:?} breaks into {output}");
                }
                if is_json {
                    let read = serde_json::from_str::<Value>(&text);
                    read.unwrap_or_else(|error| panic!("{output}: {places:?}: {error}"));
                }
            }
        }
    }
    eprintln!("{looked_at} outputs looked at");
}

#[test]
fn every_text_of_a_record_is_only_text_in_all_outputs() {
    every_text_is_only_text(6);
}

mod ring2 {
    use super::*;

    #[test]
    fn each_text_of_a_record_is_only_text_where_no_other_is_hostile() {
        every_text_is_only_text(1);
    }
}
