//! Tests with known answers: for each verdict, a hand-made record in which one resource limits the
//! reading. A property test checks that no record, even one that lacks most numbers, makes a
//! verdict panic or a share leave its range.

mod causes;
mod devices;
mod limits;
mod memory;
mod servers;

use super::*;
use proptest::prelude::*;
use readlab_model::sample::{Sample, TurnSeen};
use readlab_model::target::extents::Extents;
use readlab_model::target::places::{Pattern, PlacesFacts};
use readlab_model::target::tree::TreeFacts;
use readlab_model::target::{DecodedContent, TargetFacts, TargetIndex, TargetKind};
use readlab_model::trial::{Answer, CacheState, TrialIndex, Work};
use readlab_protocol::{Archive, Cache};
use readlab_record::{Fleet, Header, LimitUnit, Line, Rank, ShareMode, testing};

const FILE_BYTES: u64 = 1_000_000_000;
const NS_PER_MS: u64 = 1_000_000;

/// A reading with these wall, user and system times, without page faults and without bytes from the
/// device.
fn sample_of_ms(wall_ms: u64, user_ms: u64, system_ms: u64) -> Sample {
    Sample {
        wall_ns: wall_ms * NS_PER_MS,
        cpu_user_ns: Some(user_ms * NS_PER_MS),
        cpu_system_ns: Some(system_ms * NS_PER_MS),
        device_read_bytes: Some(0),
        minor_faults: Some(0),
        ..Sample::default()
    }
}

fn with_faults(minor_faults: u64, reading: Sample) -> Sample {
    Sample { minor_faults: Some(minor_faults), ..reading }
}

/// The same reading, with this number of bytes from the device.
fn with_device_bytes(bytes: u64, reading: Sample) -> Sample {
    Sample { device_read_bytes: Some(bytes), ..reading }
}

fn record(extents: Option<Extents>) -> Record {
    let mut record = Record::new(Header { seed: 1, ..testing::header() });
    record.add(testing::target_line(
        0,
        TargetFacts { size_bytes: FILE_BYTES, extents, ..TargetFacts::default() },
    ));
    record
}

/// Changes the target to 4096 blocks of 4 KiB in a file of 1 GB; returns the number of their bytes.
fn make_target_places(record: &mut Record) -> u64 {
    let (block_bytes, reads) = (4096, 4096);
    record.targets[TargetIndex::new(0)].size_bytes = block_bytes * reads;
    record.targets[TargetIndex::new(0)].kind = TargetKind::Places(PlacesFacts {
        pattern: Pattern::Random,
        block_bytes,
        read_count: reads,
        distinct_blocks: reads,
        file_bytes: FILE_BYTES,
    });
    block_bytes * reads
}

fn encoded_file_record() -> Record {
    record(Some(Extents { count: 8, encoded_bytes: FILE_BYTES, ..Extents::default() }))
}

/// Adds a trial with five equal samples; returns its index.
fn add(record: &mut Record, name: &str, state: CacheState, cache: Cache, reading: Sample) -> usize {
    testing::add_trial(record, name, state, cache, std::iter::repeat_n(reading, 5))
}

fn add_warm(record: &mut Record, name: &str, reading: Sample) -> usize {
    add(record, name, CacheState::Warm, Cache::Through, reading)
}

fn add_cold(record: &mut Record, name: &str, reading: Sample) -> usize {
    add(record, name, CacheState::Cold, Cache::Through, with_device_bytes(FILE_BYTES, reading))
}

fn add_direct(record: &mut Record, name: &str, reading: Sample) -> usize {
    add(record, name, CacheState::Cold, Cache::Bypass, with_device_bytes(FILE_BYTES, reading))
}

/// Changes each sample of a trial with the value at the same position.
fn change_each<T>(
    record: &mut Record,
    trial: usize,
    values: impl IntoIterator<Item = T>,
    change: impl Fn(&mut Sample, T),
) {
    let changed = |(mut sample, value): (Sample, T)| {
        change(&mut sample, value);
        sample
    };
    let samples = &mut record.trials[TrialIndex::new(trial)].samples;
    *samples = samples.iter().zip(values).map(changed).collect();
}

fn set_wall_times(record: &mut Record, trial: usize, walls_ms: [u64; 5]) {
    change_each(record, trial, walls_ms, |sample, wall_ms| sample.wall_ns = wall_ms * NS_PER_MS);
}

/// A limit of the target that does not come from a trial of the record.
fn limit_line(kind: LimitKind, name: &str, value: u64) -> Line {
    Line::Limit(Box::new(Limit {
        kind,
        name: name.to_owned(),
        target: TargetIndex::new(0),
        state: None,
        trial: None,
        threads: 1,
        unit: LimitUnit::BytesPerSecond,
        value,
        ci95: None,
        samples: vec![value],
        how_measured: String::new(),
    }))
}

/// The record of a machine with these limits: memory 20 GB/s with one thread and 32 GB/s with two,
/// copy 10 GB/s, one microsecond for a page fault, device 2.5 GB/s.
fn machine_record() -> Record {
    let mut record = record(None);
    for (name, state, reading) in [
        ("rust/resident", CacheState::Warm, sample_of_ms(50, 50, 0)),
        ("rust/resident@threads=2", CacheState::Warm, sample_of_ms(31, 60, 0)),
        ("rust/copy@buffer_bytes=131072", CacheState::Warm, sample_of_ms(100, 1, 99)),
        ("rust/faults", CacheState::Warm, with_faults(20_000, sample_of_ms(20, 0, 20))),
        (
            "rust/device@buffer_bytes=131072,depth=16",
            CacheState::Cold,
            with_device_bytes(FILE_BYTES, sample_of_ms(400, 5, 30)),
        ),
    ] {
        add(&mut record, name, state, Cache::None, reading);
    }
    record
}

fn judge_with(record: &Record, limits: &[Limit], it: &TrialRecord) -> Option<Diagnosis> {
    judge(record, limits, &SharedNoise::of_contest(record, it), it)
}

fn verdict_on(record: &Record, trial: usize) -> Diagnosis {
    judge_with(record, &limits(record), &record.trials[TrialIndex::new(trial)]).unwrap()
}

fn short_cause(record: &Record, trial: usize) -> String {
    verdict_on(record, trial).short_cause()
}

/// Checks what limits a trial, and that its sentence contains `said`.
#[track_caller]
fn assert_verdict(record: &Record, trial: usize, right: &str, said: &str) {
    let judged = verdict_on(record, trial);
    assert_eq!(judged.short_cause(), right, "{judged:?}");
    assert_sentence(&judged, said);
}

#[track_caller]
fn assert_sentence(judged: &Diagnosis, words: &str) {
    assert!(judged.sentence.contains(words), "{words} is not in: {}", judged.sentence);
}

#[test]
fn a_reading_is_limited_by_the_limit_it_reaches_or_by_the_largest_part_of_its_time() {
    let (cold, warm) = (CacheState::Cold, CacheState::Warm);
    for (name, state, reading, right, said) in [
        (
            "rust/read/avx512@buffer_bytes=262144",
            warm,
            sample_of_ms(110, 10, 99),
            "copy 91 %",
            "9.09 GB/s is 91 % of the 10.0 GB/s that rust/copy",
        ),
        // This reading is slower, but most of its time is still the copy.
        ("rust/read/memchr", warm, sample_of_ms(160, 60, 99), "copy", "copy out of the page cache"),
        ("command/wc -l", warm, sample_of_ms(150, 45, 100), "copy", "copy out of the page cache"),
        ("command/awk 'END{print NR}'", warm, sample_of_ms(3000, 2800, 150), "processing", "own code"),
        ("rust/mmap/avx512", warm, with_faults(900, sample_of_ms(55, 54, 1)), "memory 91 %", "memory"),
        // A mapping of small folios.
        (
            "rust/mmap/avx512",
            warm,
            with_faults(244_000, sample_of_ms(300, 60, 240)),
            "faults",
            "80 % page faults",
        ),
        (
            "rust/read/avx512",
            cold,
            with_device_bytes(FILE_BYTES, sample_of_ms(430, 40, 160)),
            "device 93 %",
            "the device",
        ),
        // Neither the device nor the processor works.
        (
            "rust/read/avx512",
            cold,
            sample_of_ms(5000, 30, 100),
            "latency",
            "an idle processor and an idle device",
        ),
        (
            "rust/read/avx512",
            warm,
            sample_of_ms(5000, 30, 100),
            "latency",
            "an idle processor and an idle device",
        ),
    ] {
        let mut record = machine_record();
        let read = add(&mut record, name, state, Cache::Through, reading);
        let judged = verdict_on(&record, read);
        assert!(judged.short_cause().starts_with(right), "{name}: {judged:?}");
        assert_sentence(&judged, said);
    }
}

#[test]
fn the_copy_rate_of_small_files_is_that_of_opening_them() {
    for (opens_ms, right) in [(60, Verdict::Metadata), (20, Verdict::Copy)] {
        let mut record = machine_record();
        record.targets[TargetIndex::new(0)].kind =
            TargetKind::Tree(TreeFacts { files: 20_000, ..TreeFacts::default() });
        add(
            &mut record,
            "rust/opens",
            CacheState::Warm,
            Cache::None,
            sample_of_ms(opens_ms, 1, opens_ms - 1),
        );
        let read = add_warm(&mut record, "rust/read/memchr@buffer_bytes=65536", sample_of_ms(105, 6, 99));
        assert_eq!(verdict_on(&record, read).verdict, right, "{opens_ms} ms of 100");
    }
}

#[test]
fn a_walk_is_limited_by_the_kernels_search_its_own_code_or_the_device() {
    let (warm, cold) = (CacheState::Warm, CacheState::Cold);
    for (state, reading, stops_at, said) in [
        (warm, sample_of_ms(100, 20, 75), "metadata", "the kernel's search for names and inodes"),
        (
            cold,
            with_device_bytes(8192, sample_of_ms(100, 20, 75)),
            "metadata",
            "the kernel's search for names and inodes",
        ),
        (warm, sample_of_ms(100, 80, 15), "processing", ""),
        (cold, with_device_bytes(8192, sample_of_ms(100, 5, 10)), "unknown", "the tables of its file system"),
    ] {
        let mut record = machine_record();
        let walk = add(&mut record, "rust/names-readdir", state, Cache::Through, reading);
        record.trials[TrialIndex::new(walk)].trial.work = Work::Names;
        let judged = verdict_on(&record, walk);
        assert!(judged.short_cause().starts_with(stops_at), "{state}: {judged:?}");
        assert!(judged.sentence.contains(said), "{state}: {}", judged.sentence);
        assert!(judged.limit.is_none(), "limits of bytes do not apply: {judged:?}");
    }
}

/// The record of a machine and of an archive that decodes to three times its size, at 3 GB/s at
/// most.
fn archive_record() -> Record {
    let mut record = machine_record();
    let answer = Answer { bytes: Some(3 * FILE_BYTES), ..Answer::default() };
    record.targets[TargetIndex::new(0)].decoded =
        Some(DecodedContent { archive: Archive::Gzip, digest: String::new(), answer });
    add_decoder(&mut record, "rust/decoder", Cache::None, sample_of_ms(1000, 1000, 0));
    record
}

fn add_decoder(record: &mut Record, name: &str, cache: Cache, reading: Sample) -> usize {
    let index = add(record, name, CacheState::Warm, cache, reading);
    record.trials[TrialIndex::new(index)].trial.decoded_format = Some(Archive::Gzip);
    index
}

#[test]
fn a_trial_near_the_fastest_decoder_is_limited_by_decoding() {
    let mut record = archive_record();
    let limit = limits(&record).into_iter().find(|limit| limit.kind == LimitKind::Decoding).unwrap();
    assert_eq!((limit.value, limit.unit), (3_000_000_000, LimitUnit::BytesPerSecond));
    let whole = add_decoder(&mut record, "rust/gzip-libdeflate", Cache::Through, sample_of_ms(1030, 950, 80));
    let said = "stopped by decoding: 2.91 GB/s is 97 % of the 3.00 GB/s that rust/decoder showed";
    assert_verdict(&record, whole, "decoding 97 %", said);
    for (name, reading, right, why) in [
        (
            "rust/gzip",
            sample_of_ms(1800, 1700, 100),
            Verdict::Decoding,
            "most of its time is what decoding takes",
        ),
        (
            "java/gzip",
            sample_of_ms(5000, 4900, 100),
            Verdict::Processing { faster_scan: None },
            "its own code takes longer",
        ),
    ] {
        let slower = add_decoder(&mut record, name, Cache::Through, reading);
        assert_eq!(verdict_on(&record, slower).verdict, right, "{why}");
    }
    // The decoding limit does not apply to a reading of the same file as plain bytes.
    let plain = add_warm(&mut record, "rust/read/scalar", sample_of_ms(500, 400, 99));
    assert!(verdict_on(&record, plain).limit.unwrap().kind != LimitKind::Decoding);
}

#[test]
fn two_threads_have_their_own_memory_limit() {
    let mut record = machine_record();
    let two = add_warm(&mut record, "rust/mmap/avx512@threads=2", sample_of_ms(33, 62, 1));
    assert_eq!(verdict_on(&record, two).verdict, Verdict::Memory);
    let slow = add_warm(&mut record, "rust/mmap/x@threads=2", sample_of_ms(55, 108, 1));
    assert!(matches!(verdict_on(&record, slow).verdict, Verdict::Processing { .. }));
}

#[test]
fn a_slow_scan_is_limited_by_processing_and_the_faster_scan_is_named() {
    let mut record = machine_record();
    let slow = add_warm(&mut record, "rust/mmap/scalar", sample_of_ms(500, 495, 5));
    assert_eq!(verdict_on(&record, slow).verdict, Verdict::Processing { faster_scan: None });
    add_warm(&mut record, "rust/mmap/avx2", sample_of_ms(100, 95, 5));
    add_warm(&mut record, "rust/mmap/avx512", sample_of_ms(62, 60, 2));
    let judged = verdict_on(&record, slow);
    let Verdict::Processing { faster_scan: Some(remedy) } = &judged.verdict else { panic!("{judged:?}") };
    assert_eq!((remedy.name.as_str(), remedy.speed_ratio.round()), ("rust/mmap/avx512", 8.0));
    assert_eq!(judged.short_cause(), "processing, 8.1× by scan");
}

#[test]
fn a_mixed_verdict_shows_the_shares_of_the_time() {
    let mut record = machine_record();
    let open = add_warm(&mut record, "command/cat", sample_of_ms(1000, 300, 300));
    let judged = verdict_on(&record, open);
    let Verdict::Mixed { shares } = &judged.verdict else { panic!("{judged:?}") };
    assert_eq!(shares[0], (TimePart::Waiting, 0.4));
    assert!((shares.iter().map(|(_, share)| share).sum::<f64>() - 1.0).abs() < 1e-9);
}

/// The record of a machine on which all controls take `times` as long, because they get a processor
/// for only a part of the time.
fn busy_machine_record(times: u64) -> Record {
    let mut record = machine_record();
    for control in 0..record.trials.len() {
        change_each(&mut record, control, std::iter::repeat(times), |sample, times| sample.wall_ns *= times);
    }
    record
}

#[test]
fn a_reading_that_mostly_waits_for_a_processor_is_limited_by_the_scheduler() {
    let mut record = busy_machine_record(4);
    let scan = add_warm(&mut record, "rust/mmap/scalar", sample_of_ms(1000, 240, 5));
    for (quota, words) in [(None, "others use them;"), (Some(0.25), "quota of 0.25")] {
        record.header.machine.cpu_quota = quota;
        let judged = verdict_on(&record, scan);
        let is_right = matches!(judged.verdict, Verdict::Scheduler { quota: had, .. } if had == quota);
        assert!(is_right && judged.short_cause().starts_with("scheduler 7"), "{judged:?}");
        assert_sentence(&judged, words);
    }
}

#[test]
fn waiting_for_busy_processors_is_not_called_latency() {
    // The reading gets a processor for half of the time, like every other process.
    let mut record = busy_machine_record(2);
    let scan = add_warm(&mut record, "rust/mmap/scalar", sample_of_ms(1000, 480, 5));
    assert_verdict(&record, scan, "processing", "waiting for a processor");
    let waits = add_warm(&mut record, "rust/read/x", sample_of_ms(1000, 50, 50));
    assert_eq!(verdict_on(&record, waits).verdict, Verdict::Latency);
}

#[test]
fn a_busy_machine_is_detected_by_the_control_and_without_one_by_the_kernel_s_count() {
    let kinds = [TargetKind::File, TargetKind::Tree(TreeFacts { files: 2, ..TreeFacts::default() })];
    for kind in kinds {
        let mut record = busy_machine_record(4);
        record.targets[TargetIndex::new(0)].kind = kind;
        let scan = add_warm(&mut record, "rust/mmap/scalar", sample_of_ms(1000, 240, 5));
        assert!(
            short_cause(&record, scan).starts_with("scheduler 7"),
            "{:?}",
            record.targets[TargetIndex::new(0)].kind
        );
        // The cold state has no control that only computes.
        let (wall_ns, delayed_ns) = (Some(10_000 * NS_PER_MS), Some(7000 * NS_PER_MS));
        let turn = TurnSeen { wall_ns, delayed_ns, ..TurnSeen::default() };
        let waits =
            add_cold(&mut record, "rust/read/scalar", Sample { turn, ..sample_of_ms(10_000, 2400, 50) });
        assert!(short_cause(&record, waits).starts_with("scheduler 70"), "{:?}", verdict_on(&record, waits));
    }
}

#[test]
fn threads_wait_for_each_other_if_one_thread_alone_does_not_wait() {
    let mut record = machine_record();
    let several = add_warm(&mut record, "rust/pread/x@threads=2", sample_of_ms(1000, 200, 200));
    assert_eq!(verdict_on(&record, several).verdict, Verdict::Latency, "nothing shows it");
    add_warm(&mut record, "rust/mmap/x@threads=1", sample_of_ms(500, 490, 5));
    assert_eq!(verdict_on(&record, several).verdict, Verdict::Latency, "another method shows nothing");
    add_warm(&mut record, "rust/pread/x@threads=1", sample_of_ms(500, 200, 295));
    let judged = verdict_on(&record, several);
    let alone = Remedy { name: "rust/pread/x@threads=1".to_owned(), speed_ratio: 2.0 };
    assert_eq!(
        (judged.short_cause().as_str(), judged.verdict),
        ("lock", Verdict::Lock { single_thread: alone })
    );
}

#[test]
fn missing_meters_are_reported_and_no_verdict_is_guessed() {
    let mut record = machine_record();
    let blind =
        add_warm(&mut record, "rust/read/avx512", Sample { wall_ns: 200 * NS_PER_MS, ..Sample::default() });
    let reason = "perf events are not permitted".to_owned();
    record.add(Line::Missing { trial: TrialIndex::new(blind), meter: "cpu_user_ns".into(), reason });
    assert_sentence(&verdict_on(&record, blind), "perf events are not permitted");
    let control = &record.trials[TrialIndex::new(0)];
    assert_eq!(judge_with(&record, &limits(&record), control), None);
}

#[test]
fn a_trial_that_is_not_clearly_faster_is_no_remedy() {
    let mut record = machine_record();
    let slow = add_warm(&mut record, "rust/mmap/scalar", sample_of_ms(500, 495, 5));
    let faster = add_warm(&mut record, "rust/mmap/avx2", sample_of_ms(460, 455, 5));
    set_wall_times(&mut record, faster, [460, 700, 410, 620, 450]);
    assert_verdict(&record, slow, "processing", "no other scan of this method was faster beyond doubt");
    set_wall_times(&mut record, faster, [460, 470, 410, 440, 450]);
    assert!(matches!(verdict_on(&record, slow).verdict, Verdict::Processing { faster_scan: Some(_) }));
}

#[test]
fn the_total_rate_of_several_readers_is_compared_with_the_limits() {
    let mut record = machine_record();
    let two = add_warm(&mut record, "java/BufferedReader@readers=2", sample_of_ms(110, 20, 198));
    let judged = verdict_on(&record, two);
    assert_sentence(&judged, "18.2 GB/s");
    assert_eq!(judged.verdict, Verdict::Copy, "{judged:?}");
    assert!((judged.parts.unwrap().share_of(TimePart::Copy) - 0.9).abs() < 0.01, "{judged:?}");
}

#[test]
fn ranks_and_readers_that_wait_together_do_not_hide_their_wait() {
    // Together they keep less than one of two processors busy.
    let reading = || sample_of_ms(1000, 500, 400);
    let mut readers = machine_record();
    readers.targets[TargetIndex::new(0)].reader_count = Some(4);
    let mut ranks = machine_record();
    let rank = |host: &str| Rank {
        host: host.to_owned(),
        path: "/mnt/f".to_owned(),
        start_bytes: None,
        size_bytes: FILE_BYTES / 4,
        digest: None,
        page_cache_number: 0,
    };
    ranks.fleet = Some(Fleet {
        mpi_library: String::new(),
        share: ShareMode::Split,
        ranks: Vec::from(["a", "a", "b", "b"].map(rank)),
        witness: None,
    });
    // Four readers share the two processors of one host; four ranks have the four of two hosts.
    for (mut record, waiting) in [(readers, 0.55), (ranks, 0.775)] {
        let read = add_cold(&mut record, "rust/read/avx512", reading());
        let judged = verdict_on(&record, read);
        assert!(matches!(judged.verdict, Verdict::Device { .. }), "{judged:?}");
        assert!((judged.parts.unwrap().share_of(TimePart::Waiting) - waiting).abs() < 1e-9, "{judged:?}");
    }
    // The controls, too, keep only one of two processors busy: other processes use the other one.
    let mut busy = machine_record();
    busy.targets[TargetIndex::new(0)].reader_count = Some(2);
    let scan = add_warm(&mut busy, "rust/mmap/scalar", sample_of_ms(1000, 1000, 0));
    assert_verdict(&busy, scan, "scheduler 50 %", "50 % own code, 50 % waiting for a processor");
}

/// Readings in which any meter may be missing.
fn any_reading() -> impl Strategy<Value = Sample> {
    let cpu_ns = || proptest::option::of((0u64..20_000).prop_map(|ms| ms * NS_PER_MS));
    let (bytes, faults) = (proptest::option::of(0u64..2 * FILE_BYTES), proptest::option::of(0u64..300_000));
    (1u64..10_000, cpu_ns(), cpu_ns(), bytes, faults).prop_map(
        |(wall_ms, cpu_user_ns, cpu_system_ns, device_read_bytes, minor_faults)| Sample {
            wall_ns: wall_ms * NS_PER_MS,
            cpu_user_ns,
            cpu_system_ns,
            device_read_bytes,
            minor_faults,
            ..Sample::default()
        },
    )
}

proptest! {
    #[test]
    fn parts_add_up_and_shares_stay_in_range_unless_the_verdict_says_so(
        readings in proptest::collection::vec((any_reading(), 0usize..5, any::<bool>()), 1..8),
        with_limits in any::<bool>(),
    ) {
        let mut record = if with_limits { machine_record() } else { record(None) };
        let names = ["rust/read/x", "rust/mmap/x", "rust/direct@buffer_bytes=8192", "rust/pread/x@threads=2", "command/wc -l"];
        for (reading, name, is_cold) in readings {
            let state = if is_cold { CacheState::Cold } else { CacheState::Warm };
            let cache = if name == 2 { Cache::Bypass } else { Cache::Through };
            add(&mut record, names[name], state, cache, reading);
        }
        let limits = limits(&record);
        for trial in record.trials.iter().filter(|it| !it.trial.is_control()) {
            let judged = judge_with(&record, &limits, trial).unwrap();
            prop_assert!(!judged.sentence.is_empty() && !judged.short_cause().is_empty());
            if let Some(parts) = judged.parts {
                let shares = parts.largest_first();
                prop_assert!(shares.iter().all(|(_, share)| (0.0..=1.0).contains(share)), "{parts:?}");
                prop_assert!((shares.iter().map(|(_, share)| share).sum::<f64>() - 1.0).abs() < 1e-6);
            }
            if let Some(share) = judged.share_of_limit {
                prop_assert!((0.0..=ABOVE_LIMIT_SHARE).contains(&share), "{judged:?}");
            }
        }
    }
}
