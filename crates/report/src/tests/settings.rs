//! Tests of the effects of settings of the system, on the page and as charts.

use super::*;
use crate::html;

/// A warm run of two methods under a read-ahead of 128 KiB, which is the found value, and of 4 MiB.
/// With 4 MiB `rust/mmap` takes half as long.
pub(super) fn record_under_two_settings() -> Record {
    let mut record = Record::new(header());
    for (index, (value, is_found)) in [("128KiB", true), ("4MiB", false)].into_iter().enumerate() {
        let settings = vec![read_ahead_setting(value, is_found)];
        let facts =
            TargetFacts { path: "/data/f".to_owned(), size_bytes: SIZE, settings, ..TargetFacts::default() };
        record.add(testing::target_line(index, facts));
    }
    for (target, walls_ms) in [[100, 200], [50, 200]].into_iter().enumerate() {
        for (method, (name, wall_ms)) in ["rust/mmap", "rust/read"].into_iter().zip(walls_ms).enumerate() {
            let index = 2 * target + method;
            announce(&mut record, index, name, CacheState::Warm).target = TargetIndex::new(target);
            let wall_ns = |round: u32| wall_ms * (1_000_000 + 1_000 * u64::from(round * 7 % 5));
            add_readings(&mut record, index, (0..8).map(|round| reading(index, round, wall_ns(round))));
        }
    }
    record
}

#[test]
fn the_page_has_a_dumbbell_for_each_method_from_the_found_setting_to_the_other() {
    let page = Page::from_record(&record_under_two_settings());
    let html = html(&page);
    let section = html.split("id=\"settings\"").nth(1).unwrap().split("</section>").next().unwrap();
    assert!(section.contains("read-ahead=128KiB to read-ahead=4MiB"), "{section}");
    let charts: Vec<String> = crate::svg_files(&page)
        .iter()
        .filter(|(name, _)| name.starts_with("settings-"))
        .map(|(name, _)| name.clone())
        .collect();
    assert_eq!(charts, ["settings-0"]);
    let pairs = crate::settings::pairs(&page.settings, &page.rankings);
    assert_eq!(pairs.len(), 1);
    assert_eq!(pairs[0].end_names, ["read-ahead=128KiB", "read-ahead=4MiB"]);
    let gains: Vec<f64> = pairs[0].pairs.iter().map(|pair| pair.speedup()).collect();
    assert!((gains[0] - 2.0).abs() < 0.01 && (gains[1] - 1.0).abs() < 0.01, "{gains:?}");
}
