//! Percentiles: a table for each trial in a terminal; counts of several runs on the page and in
//! JSON.

use super::super::{Page, html, percentile_tables};
use super::document;
use super::page_records::race_with_counts;
use readlab_model::trial::TrialIndex;
use readlab_record::{Line, Record, UntimedCount};
use std::collections::BTreeMap;

/// A race whose first trial has counts of calls from five runs: 16,391, then 1 to 4.
fn race_with_several_counts() -> Record {
    let mut record = race_with_counts();
    for value in 1..5 {
        let count = UntimedCount { value: Some(value), how: "tracepoint".to_owned() };
        record.add(Line::Counts {
            trial: TrialIndex::new(0),
            counts: BTreeMap::from([("syscalls".to_owned(), count)]),
        });
    }
    record
}

fn cells_of_row(text: &str, name: &str) -> Vec<String> {
    let line = text.lines().find(|line| line.trim_start().starts_with(name)).unwrap();
    line.trim_start()
        .trim_start_matches(name)
        .split("  ")
        .map(str::trim)
        .filter(|cell| !cell.is_empty())
        .map(str::to_owned)
        .collect()
}

#[test]
fn each_trial_has_a_table_of_its_metrics_and_counts_with_the_number_of_samples() {
    let page = Page::from_record(&race_with_several_counts());
    let text = percentile_tables(&page);
    let trials: usize = page.rankings.iter().map(|ranking| ranking.rows.len()).sum();
    assert_eq!(text.lines().filter(|line| line.trim_end().ends_with("samples")).count(), trials, "{text}");
    assert_eq!(text.matches("wall time").count(), trials, "{text}");
    let mut rows = page.rankings.iter().flat_map(|it| &it.rows);
    let name = &rows.find(|row| row.index == TrialIndex::new(0)).unwrap().name;
    let of_first = &text[text.find(name.as_str()).unwrap()..];
    assert_eq!(
        cells_of_row(of_first, "syscalls"),
        ["1", "2", "3", "4", "–", "–", "16\u{202f}391", "5"],
        "{of_first}"
    );
    assert!(!text.contains("mallocs"), "what was not counted has no row");
}

#[test]
fn counts_of_several_runs_are_on_the_page_and_in_json() {
    let (once, again) = (race_with_counts(), race_with_several_counts());
    let shows_runs = |record: &Record| html(&Page::from_record(record)).contains(">runs</");
    assert!(shows_runs(&again) && !shows_runs(&once));
    let trial = &document(&again)["trials"][0];
    assert_eq!(trial["count_runs"]["syscalls"], serde_json::json!([16_391, 1, 2, 3, 4]));
    assert_eq!(
        (&trial["count_summary"]["syscalls"]["p50"], &trial["counts"]["syscalls"]["value"]),
        (&3.into(), &3.into())
    );
    assert!(document(&once)["trials"][0].get("count_runs").is_none());
}
