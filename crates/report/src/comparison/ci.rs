//! The numbers of one side for services that track benchmarks over time: Bencher Metric Format, and
//! the array of github-action-benchmark (`customSmallerIsBetter`).

use super::super::escaped::json_text;
use readlab_analysis::compare::{Case, Center, Measure, Side};
use serde_json::{Map, json};
use std::collections::BTreeSet;

/// The exported measures, all of which are better when smaller, with Bencher's name for each.
const MEASURES: [(Measure, &str, &str); 3] = [
    (Measure::Wall, "latency", "ns"),
    (Measure::Cpu, "cpu-time", "ns"),
    (Measure::Peak, "peak-memory", "bytes"),
];

const NAME_SEPARATOR: &str = " · ";

/// Bencher Metric Format: `{benchmark: {measure: {value, lower_value, upper_value}}}`; the bounds
/// are the 95 % interval.
pub fn bencher_json(side: &Side) -> String {
    let mut benchmarks = Map::new();
    for (name, case) in cases_with_names(side) {
        let mut measures = Map::new();
        for (measure, slug, _) in MEASURES {
            let Some(cell) = case.cell(measure, Center::Median) else { continue };
            let mut metric = json!({ "value": cell.value });
            if let Some(ends) = cell.ci95 {
                metric["lower_value"] = json!(ends.low);
                metric["upper_value"] = json!(ends.high);
            }
            measures.insert(slug.to_owned(), metric);
        }
        if !measures.is_empty() {
            benchmarks.insert(name, measures.into());
        }
    }
    json_text(&benchmarks)
}

/// The array of github-action-benchmark: `[{name, unit, value, range, extra}]`, smaller is better.
pub fn github_json(side: &Side) -> String {
    let mut entries = Vec::new();
    for (name, case) in cases_with_names(side) {
        for (measure, _, unit) in MEASURES {
            let Some(cell) = case.cell(measure, Center::Median) else { continue };
            let name = format!("{name}{NAME_SEPARATOR}{}", measure.word());
            let mut entry = json!({ "name": name, "unit": unit, "value": cell.value, "extra": side.about });
            if let Some(ends) = cell.ci95 {
                entry["range"] = format!("± {}", ends.half_width().round()).into();
            }
            entries.push(entry);
        }
    }
    json_text(&entries)
}

/// Whether a file that begins with `head` is readlab's output in Bencher's format: the name of its
/// first benchmark has several parts, and its first measure is one that readlab exports.
pub fn is_own_bencher_json(head: &str) -> bool {
    let mut lines = head.lines();
    let starts = [lines.next(), lines.next(), lines.next()].map(Option::unwrap_or_default);
    let is_ours = |line: &str| MEASURES.iter().any(|(_, slug, _)| line == format!("    \"{slug}\": {{"));
    head == json_text(&Map::new())
        || starts[0] == "{" && starts[1].contains(NAME_SEPARATOR) && is_ours(starts[2])
}

/// Whether a file that begins with `head` is readlab's array for github-action-benchmark: the first
/// name ends in a measure that readlab exports.
pub fn is_own_github_json(head: &str) -> bool {
    let ends = MEASURES.map(|(measure, ..)| format!("{NAME_SEPARATOR}{}\",", measure.word()));
    let mut lines = head.lines().skip(2);
    let first = [lines.next(), lines.next()].map(Option::unwrap_or_default);
    let is_ours = first[0].starts_with("    \"extra\": ") && first[1].starts_with("    \"name\": ");
    head == json_text(&[(); 0])
        || head.starts_with("[\n  {\n") && is_ours && ends.iter().any(|end| first[1].ends_with(end))
}

/// The cases with names that are the same in every run. A name includes the size if two cases would
/// otherwise have the same name.
fn cases_with_names(side: &Side) -> Vec<(String, &Case)> {
    let short = |case: &Case| {
        let key = &case.key;
        let parts = [key.work.map(|it| it.to_string()), key.state.map(|it| it.to_string())];
        std::iter::once(case.name.clone())
            .chain(parts.into_iter().flatten())
            .collect::<Vec<_>>()
            .join(NAME_SEPARATOR)
    };
    let (mut seen, mut twice) = (BTreeSet::new(), BTreeSet::new());
    for name in side.cases.iter().map(short) {
        if !seen.insert(name.clone()) {
            twice.insert(name);
        }
    }
    let name = |case: &Case| match (twice.contains(&short(case)), case.key.size_bytes) {
        (true, Some(bytes)) => format!("{}{NAME_SEPARATOR}{bytes} bytes", short(case)),
        _ => short(case),
    };
    side.cases.iter().map(|case| (name(case), case)).collect()
}
