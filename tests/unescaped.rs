//! Tests that every text of a record reaches a terminal, a page or an export only as text. Each
//! text of each kind of line is made hostile, and every output from the record is checked.

use crate::inputs;
use readlab_record::Record;
use readlab_record::testing::scripted;
use readlab_system::terminal::printable::is_unprintable;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::slice;

/// A text that would end quotes, tags, scripts and cells, and move cursors.
const HOSTILE: &str = "\u{1b}]0;t\u{7}\u{1b}[2J\u{9b}31m\r\n\u{202e}\u{200b}</script><script>alert(1)</script><img src=x onerror=alert(1)>\
                       \"'><svg onload=alert(1)>|`[x](javascript:alert(1))\u{0}";

/// Text that only a page with an injected script contains.
const INJECTED: [&str; 3] = ["<script>alert", "<img src=x", "<svg onload"];

/// The names of outputs in JSON, and of outputs for terminals whose names do not contain
/// `terminal`.
const JSON_OUTPUTS: [&str; 4] = ["json", "github", "bencher", "a comparison in json"];
const TERMINAL_OUTPUTS: [&str; 3] = ["percentiles", "the history", "a comparison"];

/// Collects every text of a record's line, by its path in the JSON. The same path in another line
/// of the same kind counts once.
fn collect_text_paths(value: &Value, place: String, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(place),
        Value::Array(all) => {
            all.iter().take(1).for_each(|one| collect_text_paths(one, format!("{place}/0"), found))
        }
        Value::Object(all) => {
            all.iter().for_each(|(name, one)| collect_text_paths(one, format!("{place}/{name}"), found))
        }
        _ => {}
    }
}

/// Records that differ from this one by several hostile texts each, with the places of the texts. A
/// text is omitted if it alone makes the record invalid. If several do so together, each is made
/// hostile alone.
fn hostile_records(record: &str, together: usize, folder: &Path) -> Vec<(Vec<String>, Record)> {
    let lines: Vec<Value> = record.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (mut seen, mut texts) = (BTreeSet::new(), Vec::new());
    for (number, line) in lines.iter().enumerate() {
        let mut all = Vec::new();
        collect_text_paths(line, String::new(), &mut all);
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
    texts.retain(|text| changed(slice::from_ref(text)).is_some());
    let some = texts.chunks(together);
    some.flat_map(|some| match changed(some) {
        Some(record) => vec![record],
        None => some.chunks(1).filter_map(changed).collect(),
    })
    .collect()
}

/// Checks all records with this number of hostile texts in each.
fn assert_every_text_stays_text(together: usize) {
    let folder = tempfile::tempdir().unwrap();
    let mut looked_at = 0;
    for name in scripted::names() {
        let record = String::from_utf8(inputs::shorter(scripted::text(name).as_bytes())).unwrap();
        let hostile = hostile_records(&record, together, folder.path());
        let texts: usize = hostile.iter().map(|(places, _)| places.len()).sum();
        assert!(texts > 10, "{name}: too few texts");
        for (places, record) in hostile {
            for (output, text) in inputs::outputs(&record) {
                looked_at += 1;
                let found = text.chars().find(|&c| is_unprintable(c) && c != '\n');
                assert_eq!(found, None, "{name}: {output} lets a character of {places:?} through");
                let is_json = JSON_OUTPUTS.contains(&output);
                // Values in JSON and CSV are no markup. The program that shows them escapes them.
                if !is_json
                    && output != "csv"
                    && !output.contains("terminal")
                    && !TERMINAL_OUTPUTS.contains(&output)
                {
                    let broken = INJECTED.iter().find(|it| text.contains(*it));
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
    assert_every_text_stays_text(12);
}

mod ring2 {
    use super::*;

    #[test]
    fn each_text_of_a_record_is_only_text_where_no_other_is_hostile() {
        assert_every_text_stays_text(1);
    }
}
