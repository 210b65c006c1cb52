//! Verdicts on cold readings: what the device, a cache above it and the file's extents decide.

use super::*;
use readlab_model::target::TargetKind;
use readlab_model::target::device::ReadAhead;
use readlab_model::target::places::{Pattern, PlacesFacts};

#[test]
fn a_device_that_delivers_in_bursts_is_still_the_limit() {
    // The rate is four fifths of the limit: the reading counts as at the limit only because the
    // intervals overlap.
    for (walls_ms, right) in [([500; 5], "too little in flight"), ([380, 620, 500, 390, 610], "device 80 %")]
    {
        let mut record = machine_record();
        let read = add_cold(&mut record, "rust/read/avx512", sample_of_ms(500, 40, 160));
        set_wall_times(&mut record, read, walls_ms);
        assert_eq!(short_cause(&record, read), right);
    }
}

#[test]
fn small_blocks_and_a_shallow_queue_are_distinguished_by_the_faster_trial() {
    let mut record = machine_record();
    let small =
        add_direct(&mut record, "rust/direct/iterator@buffer_bytes=8192", sample_of_ms(3000, 200, 400));
    let Verdict::Device { device_use: pace } = verdict_on(&record, small).verdict else { panic!() };
    assert_eq!(pace, DeviceUse::TooLittle { read_ahead: None, remedy: None });
    add_direct(&mut record, "rust/direct/avx512@buffer_bytes=1048576", sample_of_ms(600, 20, 40));
    let shallow =
        add_direct(&mut record, "rust/io_uring/x@buffer_bytes=131072,depth=1", sample_of_ms(1200, 40, 80));
    assert_verdict(&record, small, "small blocks", "5.0 times");
    // Here a deeper queue is three times as fast, and a larger block only twice.
    assert_eq!(short_cause(&record, shallow), "shallow depth");
}

#[test]
fn bytes_that_the_kernel_fetches_around_blocks_count_for_the_device() {
    let judged = |fetched: u64, wall_ms| {
        let mut record = machine_record();
        let (pattern, file_bytes) = (Pattern::Stride { blocks: Some(3) }, 4 * FILE_BYTES);
        record.targets[TargetIndex::new(0)].kind = TargetKind::Places(PlacesFacts {
            pattern,
            block_bytes: 4096,
            read_count: FILE_BYTES / 4096,
            distinct_blocks: FILE_BYTES / 4096,
            file_bytes,
        });
        let reading = with_device_bytes(fetched, sample_of_ms(wall_ms, 40, 160));
        let read = add(&mut record, "rust/places-pread", CacheState::Cold, Cache::Through, reading);
        let judged = verdict_on(&record, read);
        (judged.short_cause(), judged.sentence, limits(&record).len())
    };
    // One and a half times the requested bytes, at nine tenths of the device's rate.
    let (stops_at, sentence, of_machine) = judged(FILE_BYTES * 3 / 2, 645);
    assert_eq!(stops_at, "device 93 %", "{sentence}");
    assert!(sentence.contains("2.33 GB/s is 93 % of the 2.50 GB/s that rust/device"), "{sentence}");
    assert!(sentence.ends_with("; the kernel fetched 1.5 times the bytes that were asked for"), "{sentence}");
    // Reads that are larger than those of the control are faster, and say nothing about the limit
    // at the control's block size.
    let (stops_at, sentence, limits) = judged(FILE_BYTES * 19 / 10, 250);
    assert_eq!((stops_at.as_str(), limits), ("device", of_machine), "{sentence}");
    assert!(sentence.contains("7.60 GB/s is more than the 2.50 GB/s that rust/device"), "{sentence}");
    // At the limit and beyond it, most bytes that the device reads were not requested.
    for (times, wall_ms) in [(3, 1290), (20, 2000)] {
        let (stops_at, sentence, limits) = judged(FILE_BYTES * times, wall_ms);
        assert_eq!((stops_at, limits), (format!("read-ahead, {times}× the bytes"), of_machine), "{sentence}");
        assert!(sentence.contains("madvise(MADV_RANDOM) turns it off"), "{sentence}");
    }
    let (stops_at, sentence, _) = judged(FILE_BYTES, 1075);
    assert_eq!(stops_at, "too little in flight", "{sentence}");
    assert!(!sentence.contains("fetched"), "{sentence}");
}

/// Puts the first target above a cache, so that its cold readings may come from the cache.
pub(super) fn put_above_a_cache(record: &mut Record) {
    let layer = r#"{"kind":"file","name":"/i","cache":{"before_cold":"remains","what":"the page cache of /i","why":""}}"#;
    record.targets[TargetIndex::new(0)].layers = vec![serde_json::from_str(layer).unwrap()];
}

#[test]
fn readings_cold_above_a_cache_are_compared_with_no_device() {
    let mut record = machine_record();
    let waits = add_cold(&mut record, "rust/read/avx512", sample_of_ms(420, 40, 80));
    let past = add_direct(&mut record, "rust/direct/avx512@buffer_bytes=1048576", sample_of_ms(420, 40, 80));
    let works = add_cold(&mut record, "rust/read/scalar", sample_of_ms(1000, 900, 90));
    assert!(matches!(verdict_on(&record, waits).verdict, Verdict::Device { .. }));
    record.add(Line::Limit(Box::new(limits(&record).pop().unwrap())));
    put_above_a_cache(&mut record);
    assert!(limits(&record).iter().all(|limit| limit.kind != LimitKind::Device), "{:?}", limits(&record));
    for trial in [waits, past, works] {
        let judged = verdict_on(&record, trial);
        assert!(!matches!(judged.verdict, Verdict::Device { .. } | Verdict::Latency), "{judged:?}");
        assert!(judged.limit.is_none_or(|limit| limit.kind != LimitKind::Device));
        let said = "for cold is cold above the page cache of /i";
        assert!(judged.sentence.ends_with(said), "{}", judged.sentence);
    }
    assert_sentence(&verdict_on(&record, waits), "waits for what lies below");
    let setting = "/sys/class/bdi/0:45/read_ahead_kb".to_owned();
    record.targets[TargetIndex::new(0)].own_read_ahead =
        Some(ReadAhead { bytes: 16 << 10, setting_path: setting });
    let said =
        "below its file system; the kernel reads ahead 16.0 KiB at a time, less than usual: echo 128 >/sys";
    assert_sentence(&verdict_on(&record, waits), said);
    let sentence = verdict_on(&record, past).sentence;
    assert!(!sentence.contains("reads ahead"), "past the page cache: {sentence}");
    assert!(matches!(verdict_on(&record, works).verdict, Verdict::Processing { .. }));
    let warm = add_warm(&mut record, "rust/read/avx512", sample_of_ms(5000, 30, 100));
    assert!(!verdict_on(&record, warm).sentence.contains("cold"));
}

#[test]
fn a_shallow_queue_on_many_files_is_reported_above_a_cache_too() {
    let mut record = machine_record();
    record.targets[TargetIndex::new(0)].kind =
        TargetKind::Tree(TreeFacts { files: 20_000, ..TreeFacts::default() });
    put_above_a_cache(&mut record);
    let alone = add_cold(&mut record, "rust/read/avx512", sample_of_ms(3000, 40, 80));
    assert!(matches!(verdict_on(&record, alone).verdict, Verdict::Unknown { .. }));
    add_cold(&mut record, "rust/files-threads/avx512@threads=2", sample_of_ms(1000, 40, 80));
    assert_eq!(short_cause(&record, alone), "shallow depth");
}

#[test]
fn a_faster_reading_of_many_files_with_no_more_in_flight_does_not_make_another_shallow() {
    for (own, rival, is_shallow) in [
        ("rust/files-threads/memchr@threads=4", "rust/files-threads/memchr@threads=16", true),
        ("rust/files-threads/memchr@threads=64", "rust/files-threads/memchr@threads=16", false),
        ("rust/files-threads/memchr@threads=16", "rust/files-threads/avx512@threads=16", false),
        ("rust/files-ahead/memchr@ahead=32", "rust/files-threads/memchr@threads=2", false),
        ("rust/read/memchr", "rust/files-ahead/memchr@ahead=32", true),
        // With 0 the method chooses the number of its threads.
        ("rust/files-auto/memchr@threads=0", "rust/files-threads/memchr@threads=16", false),
        ("rust/read/memchr", "command/cat", false),
    ] {
        let mut record = machine_record();
        record.targets[TargetIndex::new(0)].kind =
            TargetKind::Tree(TreeFacts { files: 20_000, ..TreeFacts::default() });
        let waits = add_cold(&mut record, own, sample_of_ms(3000, 40, 80));
        add_cold(&mut record, rival, sample_of_ms(1000, 40, 80));
        assert_eq!(short_cause(&record, waits) == "shallow depth", is_shallow, "{own} beside {rival}");
    }
}

#[test]
fn an_encoded_file_is_limited_by_decoding_only_if_the_device_is_known_to_be_faster() {
    let mut record = encoded_file_record();
    let reading = with_device_bytes(200_000_000, sample_of_ms(1000, 60, 200));
    let read = add(&mut record, "rust/read/avx512", CacheState::Cold, Cache::Through, reading);
    add_direct(&mut record, "rust/direct@buffer_bytes=1048576", sample_of_ms(1000, 40, 80));
    assert_eq!(verdict_on(&record, read).verdict, Verdict::DecodingOrDevice { device_busy_share: None });
    record.add(limit_line(LimitKind::Device, "fio", 2_000_000_000));
    let judged = verdict_on(&record, read);
    assert_eq!(judged.verdict, Verdict::Decoding);
    assert!((judged.share_of_limit.unwrap() - 0.1).abs() < 1e-9);
    let said = device_bytes_sentences(&record, TargetIndex::new(0));
    assert!(said[0].contains("1.00 GB of 1.00 GB are stored encoded"), "{said:?}");
    let rate = "takes 200 MB to 1.00 GB from the device: its rate is up to 5.0 times";
    assert!(said[1].contains(rate), "{said:?}");
}

#[test]
fn a_device_limit_of_blocks_counts_unless_most_of_their_file_is_encoded() {
    for (encoded_bytes, is_limit) in [(FILE_BYTES / 50, true), (FILE_BYTES, false)] {
        let mut record = record(Some(Extents { count: 8, encoded_bytes, ..Extents::default() }));
        let asked_bytes = make_target_places(&mut record);
        let reading = with_device_bytes(asked_bytes, sample_of_ms(100, 5, 30));
        add(&mut record, "rust/places-device", CacheState::Cold, Cache::None, reading);
        let has_limit = limits(&record).iter().any(|limit| limit.kind == LimitKind::Device);
        assert_eq!(has_limit, is_limit, "{encoded_bytes} bytes are encoded");
    }
}

#[test]
fn holes_are_reported_and_a_plain_file_has_no_remark() {
    let holes = Extents { count: 1, hole_bytes: 600_000_000, ..Extents::default() };
    assert!(
        device_bytes_sentences(&record(Some(holes)), TargetIndex::new(0))[0]
            .contains("600 MB of 1.00 GB are in holes")
    );
    // The extents of blocks are those of their file.
    let mut blocks = encoded_file_record();
    make_target_places(&mut blocks);
    let said = "1.00 GB of 1.00 GB are stored encoded";
    assert!(device_bytes_sentences(&blocks, TargetIndex::new(0))[0].contains(said));
    let mut plain = record(Some(Extents { count: 1, ..Extents::default() }));
    add_cold(&mut plain, "rust/read", sample_of_ms(500, 10, 10));
    assert_eq!(device_bytes_sentences(&plain, TargetIndex::new(0)), Vec::<String>::new());
    let few_bytes = with_device_bytes(8192, sample_of_ms(5, 1, 1));
    let head = add(&mut plain, "command/head", CacheState::Cold, Cache::Through, few_bytes);
    assert!(
        device_bytes_sentences(&plain, TargetIndex::new(0))[0]
            .contains("takes 8.19 kB to 1.00 GB from the device")
    );
    plain.trials[TrialIndex::new(head)].trial.work = Work::Part;
    assert_eq!(
        device_bytes_sentences(&plain, TargetIndex::new(0)),
        Vec::<String>::new(),
        "a part is no target"
    );
}
