//! The chart of what single reads took, on records made by hand.

use super::page_records::counted;
use super::*;
use crate as report;
use crate::charts;
use readlab_record::testing::latencies;
use readlab_record::{TrialRecord, TurnLatencies};

#[test]
fn what_single_reads_took_has_a_place_for_each_quantile_that_they_show() {
    let mut record = counted();
    let is_of_reads = |(slug, _): &(String, String)| slug.starts_with("latency");
    assert!(!charts(&Page::from_record(&record)).iter().any(is_of_reads));
    let warm = |it: &&mut TrialRecord| it.trial.state == CacheState::Warm && !it.trial.is_control();
    for (times, trial) in (1..).zip(record.trials.iter_mut().filter(warm)) {
        // 1000 reads show p99, and 100,000 show p99.99.
        let reads = if times == 1 { 1_000 } else { 100_000 };
        let latencies = latencies((1..=reads).map(|read| times * (10_000 + read)));
        trial.latencies = vec![TurnLatencies { fill: 0, round: 0, latencies }];
    }
    let page = Page::from_record(&record);
    let (slug, text) = charts(&page).into_iter().find(is_of_reads).unwrap();
    let (_, described) = text.split_once("<desc").unwrap();
    let methods: Vec<&str> = described.split("</desc>").next().unwrap().split("; ").collect();
    assert_eq!((slug.as_str(), methods.len()), ("latency-1-warm", 3), "{methods:?}");
    assert!(methods[0].ends_with(" p50 10.6 µs p99 11.0 µs"), "{methods:?}");
    assert!(methods[1].ends_with(" p50 120 µs p99 218 µs p99.99 220 µs"), "{methods:?}");
    assert!(report::html(&page).contains("Single reads"));
}
