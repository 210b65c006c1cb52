//! Limits: their numbers, which limits are replaced, and which trial a limit applies to.

use super::*;
use readlab_model::target::device::Device;
use readlab_record::LocationOptions;

#[test]
fn limits_are_numbers_with_their_unit_and_spread() {
    let record = machine_record();
    let numbers: Vec<_> = limits(&record).iter().map(|limit| (limit.kind, limit.value, limit.unit)).collect();
    let (rate, cost) = (LimitUnit::BytesPerSecond, LimitUnit::Nanoseconds);
    assert_eq!(
        numbers,
        [
            (LimitKind::Memory, 20_000_000_000, rate),
            (LimitKind::Memory, 32_258_064_516, rate),
            (LimitKind::Copy, 10_000_000_000, rate),
            (LimitKind::Faults, 1000, cost),
            (LimitKind::Device, 2_500_000_000, rate),
        ]
    );
    assert!(limits(&record).iter().all(|limit| limit.samples.len() == 5 && limit.ci95.is_some()));
}

fn device_limits(record: &Record) -> Vec<(String, u64)> {
    let of_device = |limit: &Limit| limit.kind == LimitKind::Device;
    limits(record).into_iter().filter(of_device).map(|limit| (limit.name, limit.value)).collect()
}

#[test]
fn a_trial_is_never_its_own_limit() {
    let mut alone = record(None);
    let direct_alone =
        add_direct(&mut alone, "rust/direct@buffer_bytes=8192", sample_of_ms(10_500, 100, 400));
    let judged = verdict_on(&alone, direct_alone);
    assert_eq!((judged.limit.clone(), judged.short_cause().as_str()), (None, "unknown"), "{judged:?}");
    assert_sentence(&judged, "no reading past the page cache shows");
    // The control is a limit for other trials. A trial that exceeds this limit has no share,
    // because the true limit is not known.
    let wc = add_cold(&mut alone, "command/wc -l", sample_of_ms(970, 200, 300));
    let judged = verdict_on(&alone, wc);
    let (limit_kind, limit_name) = (LimitKind::Device, "rust/direct@buffer=8KiB".to_owned());
    assert_eq!(judged.verdict, Verdict::BeyondLimit { limit_kind, limit_name });
    assert_eq!((judged.limit.clone(), judged.share_of_limit), (None, None));
    assert_eq!(judged.short_cause(), "limit not known");
    let expected =
        "limit not known here: 1.03 GB/s is more than the 95.2 MB/s that rust/direct@buffer=8KiB showed";
    let is_right = judged.sentence.starts_with(expected) && !judged.sentence.contains("times");
    assert!(is_right, "{}", judged.sentence);
    // Earlier trials are compared with the new limit.
    assert_eq!(short_cause(&alone, direct_alone), "too little in flight");
}

#[test]
fn a_limit_that_a_reading_exceeds_is_replaced_and_reported() {
    let mut record = machine_record();
    let same = add_cold(&mut record, "rust/read/x", sample_of_ms(430, 40, 160));
    let control = ("rust/device@buffer=128KiB,depth=16".to_owned(), 2_500_000_000);
    assert_eq!(device_limits(&record), std::slice::from_ref(&control));
    assert_eq!(
        replaced_limit_sentences(&record, &limits(&record), TargetIndex::new(0), CacheState::Cold),
        Vec::<String>::new()
    );
    let faster = add_cold(&mut record, "rust/mmap/x", sample_of_ms(200, 40, 60));
    assert_eq!(device_limits(&record), [control, ("rust/mmap/x".to_owned(), 5_000_000_000)]);
    assert_eq!(short_cause(&record, faster), "limit not known");
    assert_eq!(verdict_on(&record, same).share_of_limit, Some(0.2 / 0.43));
    assert_eq!(
        replaced_limit_sentences(&record, &limits(&record), TargetIndex::new(0), CacheState::Cold),
        [
            "the device limit is what rust/mmap/x reached, 5.00 GB/s: rust/device@buffer=128KiB,depth=16 showed 2.50 GB/s"
        ]
    );
    // A rate a little above the limit is within its error.
    let mut record = machine_record();
    let near = add_cold(&mut record, "rust/read/x", sample_of_ms(370, 40, 160));
    assert_eq!((short_cause(&record, near).as_str(), device_limits(&record).len()), ("device 108 %", 1));
}

#[test]
fn a_trial_whose_interval_overlaps_a_limit_is_at_the_limit_and_has_no_share_above_1() {
    let mut record = machine_record();
    let device = record.trials.iter().position(|it| it.trial.method() == "device").unwrap();
    set_wall_times(&mut record, device, [200, 700, 400, 230, 600]);
    let read = add_cold(&mut record, "rust/read/x", sample_of_ms(300, 40, 160));
    set_wall_times(&mut record, read, [250, 500, 300, 220, 480]);
    let judged = verdict_on(&record, read);
    assert_eq!((judged.short_cause().as_str(), judged.share_of_limit), ("device", None), "{judged:?}");
    let expected = "stopped by the device: 3.33 GB/s cannot be told from the 2.50 GB/s that rust/device";
    assert!(judged.sentence.starts_with(expected), "{}", judged.sentence);
    assert_eq!(device_limits(&record).len(), 1, "it beats nothing beyond doubt");
}

#[test]
fn the_better_rate_of_a_control_measured_twice_is_the_limit() {
    let again = |value| {
        let mut record = machine_record();
        let control = record.trials.iter().find(|it| it.trial.method() == "device").unwrap();
        let first =
            limits(&record).into_iter().find(|limit| limit.trial == Some(control.trial.index)).unwrap();
        record.add(Line::Limit(Box::new(Limit { value, ..first })));
        device_limits(&record).into_iter().map(|(_, value)| value).collect::<Vec<_>>()
    };
    assert_eq!((again(4_000_000_000), again(1_000_000_000)), (vec![4_000_000_000], vec![2_500_000_000]));
}

#[test]
fn each_trial_is_judged_by_the_limits_of_its_own_place() {
    let mut record = machine_record();
    record.header.locations = Some(LocationOptions::default());
    let on_device = |name: &str| TargetFacts {
        size_bytes: FILE_BYTES,
        mount: Some(format!("/dev/{name} on /{name}")),
        device: Some(Device { name: name.to_owned(), ..Device::default() }),
        ..TargetFacts::default()
    };
    record.targets[TargetIndex::new(0)] = on_device("vda");
    // No control reads the last two places. One of them is on the mount of the second place.
    for (index, name) in [(1, "vdb"), (2, "vdb"), (3, "vdc")] {
        record.add(testing::target_line(index, on_device(name)));
    }
    let mut add_at = |target: usize, name: &str, state: CacheState, cache: Cache, reading: Sample| {
        let trial = add(&mut record, name, state, cache, reading);
        record.trials[TrialIndex::new(trial)].trial.target = TargetIndex::new(target);
        trial
    };
    let (cold, warm) = (CacheState::Cold, CacheState::Warm);
    let slower_device = with_device_bytes(FILE_BYTES, sample_of_ms(2000, 5, 30));
    add_at(1, "rust/device@buffer_bytes=131072,depth=16", cold, Cache::None, slower_device);
    add_at(1, "rust/copy@buffer_bytes=131072", warm, Cache::None, sample_of_ms(400, 4, 396));
    let cold_readings = [0, 1, 2, 3].map(|target| {
        let reading = with_device_bytes(FILE_BYTES, sample_of_ms(2100, 40, 160));
        add_at(target, "rust/read/avx512", cold, Cache::Through, reading)
    });
    let warm_readings = [0, 1]
        .map(|target| add_at(target, "rust/read/memchr", warm, Cache::Through, sample_of_ms(440, 40, 396)));
    let of_devices: Vec<(TargetIndex, u64)> = limits(&record)
        .iter()
        .filter(|limit| limit.kind == LimitKind::Device)
        .map(|limit| (limit.target, limit.value))
        .collect();
    let right = [(0, 2_500_000_000), (1, 500_000_000)];
    assert_eq!(of_devices, right.map(|(target, value)| (TargetIndex::new(target), value)));
    assert_eq!(
        cold_readings.map(|trial| short_cause(&record, trial)),
        ["too little in flight", "device 95 %", "device 95 %", "unknown"]
    );
    assert_sentence(
        &verdict_on(&record, cold_readings[0]),
        "476 MB/s is 19 % of the 2.50 GB/s that rust/device",
    );
    assert_sentence(
        &verdict_on(&record, cold_readings[1]),
        "476 MB/s is 95 % of the 500 MB/s that rust/device",
    );
    // The copy takes most of the time at the second place alone.
    assert!(matches!(verdict_on(&record, warm_readings[0]).verdict, Verdict::Mixed { .. }));
    assert_eq!(short_cause(&record, warm_readings[1]), "copy 91 %");
}
