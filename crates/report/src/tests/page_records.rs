//! Records for the tests of pages: counts, settings, many readings, sweeps.

use super::memory::record_under_bounds;
use super::*;
use crate::limits::Bound;
use readlab_model::target::layers::Layer;
use readlab_model::units::Throughput;
use readlab_record::{Header, RunKind, UntimedCount, WriteTimes, WriteWay};

/// The record of `race`, with counted calls.
pub(super) fn race_with_counts() -> Record {
    let mut record = race();
    let count = |value, how: &str| UntimedCount { value, how: how.to_owned() };
    let counts = [("syscalls", count(Some(16_391), "tracepoint")), ("mallocs", count(None, "no library"))];
    for trial in 0..3 {
        let counts = counts.iter().map(|(kind, count)| ((*kind).to_owned(), count.clone())).collect();
        record.add(Line::Counts { trial: TrialIndex::new(trial), counts });
    }
    record
}

/// Four buffer sizes of one method. With one round, no difference is statistically clear.
pub(super) fn race_of_buffer_sizes(rounds: usize) -> Record {
    let trials = [(4, 400), (16, 200), (64, 100), (256, 100)];
    let trials = trials.map(|(buffer, wall_ms)| (format!("rust/read/avx2@buffer={buffer}KiB"), wall_ms));
    let mut record =
        warm_race(&trials.each_ref().map(|(name, wall_ms)| (name.as_str(), *wall_ms, STEADY_WOBBLE_US)));
    (0..trials.len()).for_each(|index| keep_first_readings(&mut record, index, rounds));
    record
}

/// 20 trials with 10,000 readings in all.
pub(super) fn race_of_many_readings() -> Record {
    let mut record = record();
    for index in 0..20 {
        announce(&mut record, index, &format!("rust/m{index}"), CacheState::Warm);
        let read = |round: u32| {
            let scattered = u64::from(round.wrapping_mul(2_654_435_761) >> 8);
            Sample {
                fill: round / 100,
                cpu_user_ns: Some(40_000_000 + scattered),
                cpu_system_ns: Some(1_000_000),
                peak_rss_bytes: Some(2 << 20),
                ..reading(index, round, 50_000_000 + index as u64 * 1_000_000 + scattered)
            }
        };
        add_readings(&mut record, index, (0..500).map(read));
    }
    record
}

/// Three files of each size, written plainly at 2 GB/s and read at 2.5 GB/s, with a fixed cost of a
/// tenth of a millisecond.
pub(super) fn sweep_page() -> Page {
    Page::from_record(&swept_record())
}

pub(super) fn swept_record() -> Record {
    let mut record = Record::new(Header { kind: RunKind::Sweep, ..header() });
    let sizes = [10_000_u64, 1_000_000, 100_000_000, 2_000_000_000];
    for (index, size_bytes) in (0..3).flat_map(|_| sizes).enumerate() {
        let path = format!("/data/sweep/{index} <b>.bin");
        let facts = TargetFacts { path, size_bytes, ..TargetFacts::default() };
        record.add(testing::target_line(index, facts));
        let late_ns = index as u64 * 100;
        let times = WriteTimes { write_ns: 100_000 + size_bytes / 2 + late_ns, sync_ns: None };
        record.add(Line::Write { target: TargetIndex::new(index), way: WriteWay::Plain, times });
        record.add(trial_line(index, "rust/direct@buffer=1MiB", CacheState::Cold, Cache::Bypass));
        trial_mut(&mut record, index).trial.target = TargetIndex::new(index);
        let read = reading(index, 0, 100_000 + size_bytes * 2 / 5 + late_ns);
        add_readings(&mut record, index, [Sample { device_read_bytes: Some(size_bytes), ..read }]);
    }
    record
}

/// The sweep of [`swept_record`] on a file server whose cache is not evicted before cold readings.
pub(super) fn swept_record_above_a_cache() -> Record {
    let mut record = swept_record();
    let layers = r#"[{"kind":"filesystem","name":"nfs"},{"kind":"server","name":"nas","cache":{"before_cold":"remains",
        "what":"the cache of the server of nas","why":"it is elsewhere"}}]"#;
    let layers: Vec<Layer> = serde_json::from_str(layers).unwrap();
    record.targets.iter_mut().for_each(|target| target.layers.clone_from(&layers));
    record.targets[TargetIndex::new(0)].hidden_cache =
        Some(HiddenCache::NotProbed { why: NotProbed::SlowDevice });
    // The files of one size are far faster than the line predicts.
    let is_of_size = |it: &&mut TrialRecord| it.trial.target.under_first_condition(4) == TargetIndex::new(2);
    for it in record.trials.iter_mut().filter(is_of_size) {
        it.samples = it.samples.iter().map(|sample| Sample { wall_ns: 4_000_000, ..sample }).collect();
    }
    record
}

pub(super) fn page_with_limit() -> Page {
    let mut page = Page::from_record(&race());
    page.rankings[1].bounds = vec![Bound { name: "memory".into(), rate: Throughput(30e9) }];
    page
}

pub(super) fn all_pages() -> Vec<(&'static str, Page)> {
    let mut cut_short = race();
    cut_short.end = None;
    trial_mut(&mut cut_short, 5).outcome = None;
    vec![
        ("race", Page::from_record(&race_with_counts())),
        ("cut short", Page::from_record(&cut_short)),
        ("failures", Page::from_record(&failures())),
        ("empty", Page::from_record(&Record::new(header()))),
        ("one round", Page::from_record(&race_of_buffer_sizes(1))),
        ("settings", Page::from_record(&race_of_buffer_sizes(10))),
        ("sweep", sweep_page()),
        ("bounded", page_with_limit()),
        ("memory", Page::from_record(&record_under_bounds())),
    ]
}

/// One record of every kind of run.
pub(super) fn scripted_records() -> Vec<(&'static str, Record)> {
    testing::scripted::names().map(|name| (name, testing::scripted::record(name))).into()
}
