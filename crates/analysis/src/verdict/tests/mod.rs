//! Tests with known answers: records made by hand in which one resource limits the reading, one for
//! each verdict. And no record, even one that lacks most numbers, makes a verdict panic or a share
//! leave its range.

mod causes;
mod devices;
mod limits;
mod servers;

use super::*;
use proptest::prelude::*;
use readlab_model::sample::Sample;
use readlab_model::target::extents::Extents;
use readlab_model::target::tree::TreeFacts;
use readlab_model::target::{Decoded, TargetFacts, TargetKind};
use readlab_model::trial::{Answer, CacheState, TrialIndex};
use readlab_protocol::{Archive, Cache};
use readlab_record::{Header, LimitUnit, Line, Outcome, testing};

const SIZE: u64 = 1_000_000_000;

/// MeterValues of every sample of a trial, in milliseconds, bytes and counts.
#[derive(Debug, Clone, Copy, Default)]
struct MeterValues {
    wall_ms: u64,
    user_ms: Option<u64>,
    system_ms: Option<u64>,
    device_bytes: Option<u64>,
    minor_faults: Option<u64>,
}

fn cpu(wall_ms: u64, user_ms: u64, system_ms: u64) -> MeterValues {
    let (user_ms, system_ms) = (Some(user_ms), Some(system_ms));
    MeterValues { wall_ms, user_ms, system_ms, device_bytes: Some(0), minor_faults: Some(0) }
}

fn from_device(meters: MeterValues) -> MeterValues {
    MeterValues { device_bytes: Some(SIZE), ..meters }
}

fn record(extents: Option<Extents>) -> Record {
    let mut record = Record::new(Header { seed: 1, ..testing::header() });
    record.add(testing::target(0, TargetFacts { size_bytes: SIZE, extents, ..TargetFacts::default() }));
    record
}

/// Adds a trial whose samples are all alike; its number.
fn add(record: &mut Record, name: &str, state: CacheState, cache: Cache, meters: MeterValues) -> usize {
    let index = record.trials.len();
    record.add(testing::trial(index, name, state, cache));
    for round in 0..5 {
        record.add(Line::Sample(Box::new(Sample {
            trial: TrialIndex::new(index),
            round,
            wall_ns: meters.wall_ms * 1_000_000,
            cpu_user_ns: meters.user_ms.map(|ms| ms * 1_000_000),
            cpu_system_ns: meters.system_ms.map(|ms| ms * 1_000_000),
            device_read_bytes: meters.device_bytes,
            minor_faults: meters.minor_faults,
            ..Sample::default()
        })));
    }
    testing::outcome(record, index, Outcome::Measured);
    index
}

fn warm(record: &mut Record, name: &str, meters: MeterValues) -> usize {
    add(record, name, CacheState::Warm, Cache::Through, meters)
}

fn cold(record: &mut Record, name: &str, meters: MeterValues) -> usize {
    add(record, name, CacheState::Cold, Cache::Through, from_device(meters))
}

fn direct(record: &mut Record, name: &str, meters: MeterValues) -> usize {
    add(record, name, CacheState::Cold, Cache::Bypass, from_device(meters))
}

/// Memory 20 GB/s with one thread and 32 with two, copy 10 GB/s, a fault a microsecond, device 2.5
/// GB/s.
fn machine() -> Record {
    let mut record = record(None);
    let mapped = MeterValues { minor_faults: Some(20_000), ..cpu(20, 0, 20) };
    for (name, meters) in [
        ("rust/resident", cpu(50, 50, 0)),
        ("rust/resident@threads=2", cpu(31, 60, 0)),
        ("rust/copy@buffer_bytes=131072", cpu(100, 1, 99)),
        ("rust/faults", mapped),
    ] {
        add(&mut record, name, CacheState::Warm, Cache::None, meters);
    }
    let name = "rust/device@buffer_bytes=131072,depth=16";
    add(&mut record, name, CacheState::Cold, Cache::None, from_device(cpu(400, 5, 30)));
    record
}

fn verdict_on(record: &Record, trial: usize) -> Diagnosis {
    judge(record, &limits(record), &record.trials[TrialIndex::new(trial)]).unwrap()
}

#[test]
fn reading_at_the_rate_of_the_copy_is_stopped_by_it() {
    let mut record = machine();
    let read = warm(&mut record, "rust/read/avx512@buffer_bytes=262144", cpu(110, 10, 99));
    let judged = verdict_on(&record, read);
    assert_eq!(judged.verdict, Verdict::Copy);
    assert_eq!(judged.stops_at(), "copy 91 %");
    assert!((judged.share_of_limit.unwrap() - 100.0 / 110.0).abs() < 1e-9);
    assert!(
        judged.sentence.contains("9.09 GB/s is 91 % of the 10.0 GB/s that rust/copy"),
        "{}",
        judged.sentence
    );
    // Slower, but most of its time is still the copy.
    let half = warm(&mut record, "rust/read/memchr", cpu(160, 60, 99));
    assert_eq!(verdict_on(&record, half).verdict, Verdict::Copy);
}

#[test]
fn of_small_files_the_rate_of_the_copy_is_that_of_opening_them() {
    for (opens_ms, right) in [(60, Verdict::Metadata), (20, Verdict::Copy)] {
        let mut record = machine();
        record.targets[0].kind = TargetKind::Tree(TreeFacts { files: 20_000, ..TreeFacts::default() });
        add(&mut record, "rust/opens", CacheState::Warm, Cache::None, cpu(opens_ms, 1, opens_ms - 1));
        let read = warm(&mut record, "rust/read/memchr@buffer_bytes=65536", cpu(105, 6, 99));
        assert_eq!(verdict_on(&record, read).verdict, right, "{opens_ms} ms of 100");
    }
}

/// An archive of which three times its size comes out, decoded at 3 GB/s at best.
fn archive() -> Record {
    let mut record = machine();
    let answer = Answer { bytes: Some(3 * SIZE), ..Answer::default() };
    record.targets[0].decoded = Some(Decoded { archive: Archive::Gzip, digest: String::new(), answer });
    decoding(&mut record, "rust/decoder", Cache::None, cpu(1000, 1000, 0));
    record
}

fn decoding(record: &mut Record, name: &str, cache: Cache, meters: MeterValues) -> usize {
    let index = add(record, name, CacheState::Warm, cache, meters);
    record.trials[TrialIndex::new(index)].trial.decodes = Some(Archive::Gzip);
    index
}

#[test]
fn who_decodes_nearly_as_fast_as_can_be_is_stopped_by_decoding() {
    let mut record = archive();
    let limit = limits(&record).into_iter().find(|limit| limit.kind == LimitKind::Decoding).unwrap();
    assert_eq!((limit.value, limit.unit), (3_000_000_000, LimitUnit::BytesPerSecond));
    let whole = decoding(&mut record, "rust/gzip-libdeflate", Cache::Through, cpu(1030, 950, 80));
    let judged = verdict_on(&record, whole);
    assert_eq!((judged.verdict.clone(), judged.stops_at().as_str()), (Verdict::Decoding, "decoding 97 %"));
    let expected = "stopped by decoding: 2.91 GB/s is 97 % of the 3.00 GB/s that rust/decoder showed";
    assert!(judged.sentence.starts_with(expected), "{}", judged.sentence);
    // Slower, but most of its time is what decoding takes.
    let streamed = decoding(&mut record, "rust/gzip", Cache::Through, cpu(1800, 1700, 100));
    assert_eq!(verdict_on(&record, streamed).verdict, Verdict::Decoding);
    // Its own code takes longer than any decoding.
    let lines = decoding(&mut record, "java/gzip", Cache::Through, cpu(5000, 4900, 100));
    assert_eq!(verdict_on(&record, lines).verdict, Verdict::Processing { lift: None });
    // The same file read as it is knows no decoder.
    let plain = warm(&mut record, "rust/read/scalar", cpu(500, 400, 99));
    assert!(verdict_on(&record, plain).limit.unwrap().kind != LimitKind::Decoding);
}

#[test]
fn a_mapped_scan_at_the_rate_of_memory_is_stopped_by_it() {
    let mut record = machine();
    let one =
        warm(&mut record, "rust/mmap/avx512", MeterValues { minor_faults: Some(900), ..cpu(55, 54, 1) });
    assert_eq!(verdict_on(&record, one).stops_at(), "memory 91 %");
    // Two threads have a limit of their own.
    let two = warm(&mut record, "rust/mmap/avx512@threads=2", cpu(33, 62, 1));
    assert_eq!(verdict_on(&record, two).verdict, Verdict::Memory);
    let slow = warm(&mut record, "rust/mmap/x@threads=2", cpu(55, 108, 1));
    assert!(matches!(verdict_on(&record, slow).verdict, Verdict::Processing { .. }));
}

#[test]
fn a_slow_scan_is_processing_and_the_faster_one_is_named() {
    let mut record = machine();
    let slow = warm(&mut record, "rust/mmap/scalar", cpu(500, 495, 5));
    assert_eq!(verdict_on(&record, slow).verdict, Verdict::Processing { lift: None });
    warm(&mut record, "rust/mmap/avx2", cpu(100, 95, 5));
    warm(&mut record, "rust/mmap/avx512", cpu(62, 60, 2));
    let judged = verdict_on(&record, slow);
    let Verdict::Processing { lift: Some(lift) } = &judged.verdict else { panic!("{judged:?}") };
    assert_eq!((lift.name.as_str(), lift.times.round()), ("rust/mmap/avx512", 8.0));
    assert_eq!(judged.stops_at(), "processing, 8.1× by scan");
}

#[test]
fn a_command_is_judged_by_its_user_and_system_time() {
    let mut record = machine();
    let wc = warm(&mut record, "command/wc -l", cpu(150, 45, 100));
    assert_eq!(verdict_on(&record, wc).verdict, Verdict::Copy);
    let awk = warm(&mut record, "command/awk 'END{print NR}'", cpu(3000, 2800, 150));
    assert!(matches!(verdict_on(&record, awk).verdict, Verdict::Processing { .. }));
}

#[test]
fn a_mapping_of_small_folios_is_stopped_by_faults() {
    let mut record = machine();
    let meters = MeterValues { minor_faults: Some(244_000), ..cpu(300, 60, 240) };
    let mapped = warm(&mut record, "rust/mmap/avx512", meters);
    let judged = verdict_on(&record, mapped);
    assert_eq!(judged.verdict, Verdict::Faults, "{judged:?}");
    assert!(judged.sentence.contains("80 % page faults"), "{}", judged.sentence);
}

#[test]
fn where_nothing_decides_the_shares_are_shown() {
    let mut record = machine();
    let meters = MeterValues { device_bytes: Some(0), ..cpu(1000, 300, 300) };
    let open = warm(&mut record, "command/cat", meters);
    let judged = verdict_on(&record, open);
    let Verdict::Mixed { shares } = &judged.verdict else { panic!("{judged:?}") };
    assert_eq!(shares[0], (TimeShare::Waiting, 0.4));
    assert!((shares.iter().map(|(_, share)| share).sum::<f64>() - 1.0).abs() < 1e-9);
}

/// A machine on which the controls that only work take so many times as long, as they get a
/// processor for a part of the time only.
fn busy_machine(times: u64) -> Record {
    let mut record = machine();
    for it in record.trials.iter_mut().filter(|it| it.trial.is_control()) {
        let slower = |sample: Sample| Sample { wall_ns: times * sample.wall_ns, ..sample };
        it.samples = it.samples.iter().map(slower).collect();
    }
    record
}

#[test]
fn who_waits_for_a_processor_most_of_the_time_is_stopped_by_the_scheduler() {
    let mut record = busy_machine(4);
    let scan = warm(&mut record, "rust/mmap/scalar", cpu(1000, 240, 5));
    let judged = verdict_on(&record, scan);
    assert!(matches!(judged.verdict, Verdict::Scheduler { quota: None, .. }), "{judged:?}");
    assert!(judged.stops_at().starts_with("scheduler 7"), "{}", judged.stops_at());
    assert!(judged.sentence.contains("others use them;"), "{}", judged.sentence);
    record.header.machine.cpu_quota = Some(0.25);
    let judged = verdict_on(&record, scan);
    assert!(matches!(judged.verdict, Verdict::Scheduler { quota: Some(_), .. }), "{judged:?}");
    assert!(judged.sentence.contains("quota of 0.25"), "{}", judged.sentence);
}

#[test]
fn a_busy_machine_is_no_latency() {
    // A processor for half of the time, like every other process.
    let mut record = busy_machine(2);
    let scan = warm(&mut record, "rust/mmap/scalar", cpu(1000, 480, 5));
    let judged = verdict_on(&record, scan);
    assert_eq!(judged.verdict, Verdict::Processing { lift: None }, "{judged:?}");
    assert!(judged.sentence.contains("waiting for a processor"), "{}", judged.sentence);
    let waits = warm(&mut record, "rust/read/x", cpu(1000, 50, 50));
    assert_eq!(verdict_on(&record, waits).verdict, Verdict::Latency);
}

#[test]
fn threads_that_wait_although_one_alone_does_not_wait_for_each_other() {
    let mut record = machine();
    let several = warm(&mut record, "rust/pread/x@threads=2", cpu(1000, 200, 200));
    assert_eq!(verdict_on(&record, several).verdict, Verdict::Latency, "nothing shows it");
    warm(&mut record, "rust/mmap/x@threads=1", cpu(500, 490, 5));
    assert_eq!(verdict_on(&record, several).verdict, Verdict::Latency, "another method shows nothing");
    warm(&mut record, "rust/pread/x@threads=1", cpu(500, 200, 295));
    let judged = verdict_on(&record, several);
    let alone = Remedy { name: "rust/pread/x@threads=1".to_owned(), times: 2.0 };
    assert_eq!(judged.stops_at(), "lock");
    assert_eq!(judged.verdict, Verdict::Lock { alone });
}

#[test]
fn what_is_missing_is_said_instead_of_guessed() {
    let mut record = machine();
    let blind = warm(&mut record, "rust/read/avx512", MeterValues { wall_ms: 200, ..MeterValues::default() });
    let reason = "perf events are not permitted".to_owned();
    record.add(Line::Missing { trial: TrialIndex::new(blind), meter: "cpu_user_ns".into(), reason });
    let judged = verdict_on(&record, blind);
    assert!(judged.sentence.contains("perf events are not permitted"), "{}", judged.sentence);
    let control = &record.trials[TrialIndex::new(0)];
    assert_eq!(judge(&record, &limits(&record), control), None);
}

/// Gives the samples of a trial these times, in turn.
fn timed(record: &mut Record, trial: usize, walls_ms: [u64; 5]) {
    let samples = &mut record.trials[TrialIndex::new(trial)].samples;
    let with = |(sample, wall_ms)| Sample { wall_ns: wall_ms * 1_000_000, ..sample };
    *samples = samples.iter().zip(walls_ms).map(with).collect();
}

#[test]
fn what_is_not_faster_beyond_doubt_is_no_remedy() {
    let mut record = machine();
    let slow = warm(&mut record, "rust/mmap/scalar", cpu(500, 495, 5));
    let faster = warm(&mut record, "rust/mmap/avx2", cpu(460, 455, 5));
    timed(&mut record, faster, [460, 700, 410, 620, 450]);
    let judged = verdict_on(&record, slow);
    assert_eq!(judged.verdict, Verdict::Processing { lift: None });
    assert!(
        judged.sentence.contains("no other scan of this method was faster beyond doubt"),
        "{}",
        judged.sentence
    );
    timed(&mut record, faster, [460, 470, 410, 440, 450]);
    assert!(matches!(verdict_on(&record, slow).verdict, Verdict::Processing { lift: Some(_) }));
}

#[test]
fn readers_that_each_read_the_whole_are_held_against_limits_by_all_that_they_read() {
    let mut record = machine();
    let two = warm(&mut record, "java/BufferedReader@readers=2", cpu(110, 20, 198));
    let judged = verdict_on(&record, two);
    assert!(judged.sentence.contains("18.2 GB/s"), "{}", judged.sentence);
    assert_eq!(judged.verdict, Verdict::Copy, "{judged:?}");
    assert!((judged.parts.unwrap().copy - 0.9).abs() < 0.01, "{judged:?}");
}

fn meters() -> impl Strategy<Value = MeterValues> {
    let some = || proptest::option::of(0u64..20_000);
    (1u64..10_000, some(), some(), proptest::option::of(0u64..2 * SIZE), proptest::option::of(0u64..300_000))
        .prop_map(|(wall_ms, user_ms, system_ms, device_bytes, minor_faults)| MeterValues {
            wall_ms,
            user_ms,
            system_ms,
            device_bytes,
            minor_faults,
        })
}

proptest! {
    #[test]
    fn parts_add_up_and_shares_stay_in_range_unless_the_verdict_says_so(
        meters in proptest::collection::vec((meters(), 0usize..5, any::<bool>()), 1..8),
        with_limits in any::<bool>(),
    ) {
        let mut record = if with_limits { machine() } else { record(None) };
        let names = ["rust/read/x", "rust/mmap/x", "rust/direct@buffer_bytes=8192", "rust/pread/x@threads=2", "command/wc -l"];
        for (meters, name, is_cold) in meters {
            let state = if is_cold { CacheState::Cold } else { CacheState::Warm };
            let cache = if name == 2 { Cache::Bypass } else { Cache::Through };
            add(&mut record, names[name], state, cache, meters);
        }
        let limits = limits(&record);
        for trial in record.trials.iter().filter(|it| !it.trial.is_control()) {
            let judged = judge(&record, &limits, trial).unwrap();
            prop_assert!(!judged.sentence.is_empty() && !judged.stops_at().is_empty());
            if let Some(parts) = judged.parts {
                let shares = parts.largest_first();
                prop_assert!(shares.iter().all(|(_, share)| (0.0..=1.0).contains(share)), "{parts:?}");
                prop_assert!((shares.iter().map(|(_, share)| share).sum::<f64>() - 1.0).abs() < 1e-6);
            }
            if let Some(share) = judged.share_of_limit {
                prop_assert!((0.0..=ABOVE_LIMIT).contains(&share), "{judged:?}");
            }
        }
    }
}
