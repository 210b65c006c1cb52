//! Records from which the tests of pages make pages: counts, settings, many readings, sweeps.

use super::*;
use crate::Bound;
use readlab_model::target::layers::Layer;
use readlab_model::trial::TrialIndex;
use readlab_model::units::Throughput;
use readlab_record::{Count, Header, RunKind, Samples, WriteTimes, WriteWay};

/// As `race`, with calls counted.
pub(super) fn counted() -> Record {
    let mut record = race();
    let count = |value, how: &str| Count { value, how: how.to_owned() };
    let counts = [("syscalls", count(Some(16_391), "tracepoint")), ("mallocs", count(None, "no library"))];
    for trial in 0..3 {
        let counts = counts.iter().map(|(kind, count)| ((*kind).to_owned(), count.clone())).collect();
        record.add(Line::Counts { trial: TrialIndex::new(trial), counts });
    }
    record
}

/// Four buffers of one method; with one of the `rounds` no difference is clear.
pub(super) fn buffers(rounds: usize) -> Record {
    let mut record = Record::new(header());
    record.add(target("/data/file"));
    for (index, (buffer, wall_ms)) in [(4, 400), (16, 200), (64, 100), (256, 100)].into_iter().enumerate() {
        let name = format!("rust/read/avx2@buffer={buffer}KiB");
        record.add(trial(index, &name, CacheState::Warm, Cache::Through));
        samples(&mut record, index, wall_ms, [0, 10, 20, 30, 40]);
        let samples = &mut record.trials[TrialIndex::new(index)].samples;
        *samples = samples.iter().take(rounds).collect();
        outcome(&mut record, index, Outcome::Measured);
    }
    record
}

/// 10,000 readings of 20 trials.
pub(super) fn large() -> Record {
    let mut record = Record::new(header());
    record.add(target("/data/file"));
    for index in 0..20 {
        record.add(trial(index, &format!("rust/m{index}"), CacheState::Warm, Cache::Through));
        for round in 0..500_u32 {
            let scattered = u64::from(round.wrapping_mul(2_654_435_761) >> 8);
            record.add(Line::Sample(Box::new(Sample {
                trial: TrialIndex::new(index),
                fill: round / 100,
                round,
                wall_ns: 50_000_000 + index as u64 * 1_000_000 + scattered,
                cpu_user_ns: Some(40_000_000 + scattered),
                cpu_system_ns: Some(1_000_000),
                peak_rss_bytes: Some(2 << 20),
                ..Sample::default()
            })));
        }
        outcome(&mut record, index, Outcome::Measured);
    }
    record
}

/// Three files of each size, written plainly at 2 GB/s and read at 2.5, with a tenth of a
/// millisecond a file.
pub(super) fn sweep() -> Page {
    Page::from_record(&swept())
}

pub(super) fn swept() -> Record {
    let mut record = Record::new(Header { kind: RunKind::Sweep, ..header() });
    let sizes = [10_000_u64, 1_000_000, 100_000_000, 2_000_000_000];
    for (index, size_bytes) in (0..3).flat_map(|_| sizes).enumerate() {
        let path = format!("/data/sweep/{index} <b>.bin");
        let facts = TargetFacts { path, size_bytes, ..TargetFacts::default() };
        record.add(testing::target(index, facts));
        let late_ns = index as u64 * 100;
        let times = WriteTimes { write_ns: 100_000 + size_bytes / 2 + late_ns, sync_ns: None };
        record.add(Line::Write { target: index, how: WriteWay::Plain, times });
        record.add(trial(index, "rust/direct@buffer=1MiB", CacheState::Cold, Cache::Bypass));
        record.trials[TrialIndex::new(index)].trial.target = index;
        let wall_ns = 100_000 + size_bytes * 2 / 5 + late_ns;
        let sample = Sample {
            trial: TrialIndex::new(index),
            wall_ns,
            device_read_bytes: Some(size_bytes),
            ..Sample::default()
        };
        record.add(Line::Sample(Box::new(sample)));
        outcome(&mut record, index, Outcome::Measured);
    }
    record
}

/// The same above a server, whose cache cannot be made cold.
pub(super) fn swept_above_a_cache() -> Record {
    let mut record = swept();
    let layers = r#"[{"kind":"filesystem","name":"nfs"},{"kind":"server","name":"nas","cache":{"before_cold":"remains",
        "what":"the cache of the server of nas","why":"it is elsewhere"}}]"#;
    let layers: Vec<Layer> = serde_json::from_str(layers).unwrap();
    record.targets.iter_mut().for_each(|target| target.layers.clone_from(&layers));
    record.targets[0].hidden_cache = Some(HiddenCache::NotProbed { why: NotProbed::SlowDevice });
    // One size far above the line.
    for it in record.trials.iter_mut().filter(|it| it.trial.target % 4 == 2) {
        let sample = Sample { wall_ns: 4_000_000, ..it.samples.iter().next().unwrap() };
        it.samples = Samples::default();
        it.samples.push(&sample);
    }
    record
}

pub(super) fn bounded() -> Page {
    let mut page = Page::from_record(&race());
    page.rankings[1].bounds = vec![Bound { name: "memory".into(), rate: Throughput(30e9) }];
    page
}

pub(super) fn all_pages() -> Vec<(&'static str, Page)> {
    let mut cut_short = race();
    cut_short.end = None;
    cut_short.trials[TrialIndex::new(5)].outcome = None;
    vec![
        ("race", Page::from_record(&counted())),
        ("cut short", Page::from_record(&cut_short)),
        ("failures", Page::from_record(&failures())),
        ("empty", Page::from_record(&Record::new(header()))),
        ("one round", Page::from_record(&buffers(1))),
        ("settings", Page::from_record(&buffers(10))),
        ("sweep", sweep()),
        ("bounded", bounded()),
    ]
}
