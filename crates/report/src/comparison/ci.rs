//! The numbers of one side as services that watch benchmarks over time read them: Bencher Metric
//! Format, and the array of github-action-benchmark (`customSmallerIsBetter`).

use super::super::escaped::text;
use readlab_analysis::compare::{Case, Center, Figure, Measure, Side};
use serde_json::{Map, json};
use std::collections::BTreeSet;

/// Measures that are better when smaller, with the name that Bencher knows a measure by.
const MEASURES: [(Measure, &str, &str); 3] = [
    (Measure::Wall, "latency", "ns"),
    (Measure::Cpu, "cpu-time", "ns"),
    (Measure::Peak, "peak-memory", "bytes"),
];

/// Bencher Metric Format: `{benchmark: {measure: {value, lower_value, upper_value}}}`; the bounds
/// are the 95 % interval.
pub fn bencher(side: &Side) -> String {
    let mut benchmarks = Map::new();
    for (name, case) in named(side) {
        let mut measures = Map::new();
        for (measure, slug, _) in MEASURES {
            let Some((value, ends)) = number(case, measure) else { continue };
            let mut metric = json!({ "value": value });
            if let Some([low, high]) = ends {
                metric["lower_value"] = json!(low);
                metric["upper_value"] = json!(high);
            }
            measures.insert(slug.to_owned(), metric);
        }
        if !measures.is_empty() {
            benchmarks.insert(name, measures.into());
        }
    }
    text(&benchmarks)
}

/// The array of github-action-benchmark: `[{name, unit, value, range, extra}]`, smaller is better.
pub fn github(side: &Side) -> String {
    let mut entries = Vec::new();
    for (name, case) in named(side) {
        for (measure, _, unit) in MEASURES {
            let Some((value, ends)) = number(case, measure) else { continue };
            let mut entry = json!({ "name": format!("{name} · {}", measure.word()), "unit": unit, "value": value, "extra": side.about });
            if let Some([low, high]) = ends {
                entry["range"] = format!("± {}", ((high - low) / 2.0).round()).into();
            }
            entries.push(entry);
        }
    }
    text(&entries)
}

/// The cases with names that stay the same from run to run; where a file's size is needed to tell
/// two apart, it is in it.
fn named(side: &Side) -> Vec<(String, &Case)> {
    let short = |case: &Case| {
        let key = &case.key;
        let parts = [key.work.map(|it| it.to_string()), key.state.map(|it| it.to_string())];
        std::iter::once(case.name.clone()).chain(parts.into_iter().flatten()).collect::<Vec<_>>().join(" · ")
    };
    let (mut seen, mut twice) = (BTreeSet::new(), BTreeSet::new());
    for name in side.cases.iter().map(short) {
        if !seen.insert(name.clone()) {
            twice.insert(name);
        }
    }
    let name = |case: &Case| match (twice.contains(&short(case)), case.key.size_bytes) {
        (true, Some(bytes)) => format!("{} · {bytes} bytes", short(case)),
        _ => short(case),
    };
    side.cases.iter().map(|case| (name(case), case)).collect()
}

fn number(case: &Case, measure: Measure) -> Option<(f64, Option<[f64; 2]>)> {
    let figure: &Figure = case.figures.get(&measure)?;
    let ends = figure.located(Center::Median).log().ci95;
    Some((figure.value(), ends.map(|ends| [ends.low.exp(), ends.high.exp()])))
}
