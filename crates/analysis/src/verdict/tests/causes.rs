//! Verdicts that name what makes a reading slow, and not what it looks like: memory of its own that
//! looks like a mapping, a quota that looks like a device, read-ahead that looks like a slow
//! device, a decoder in the kernel.

use super::*;
use readlab_model::sample::{Delivered, TurnSeen};
use readlab_model::target::TargetKind;
use readlab_model::target::device::{Device, IoQuota, ReadAhead};
use readlab_model::target::places::{Pattern, PlacesFacts};

fn change(record: &mut Record, trial: usize, change: impl Fn(&mut Sample)) {
    let samples = &mut record.trials[TrialIndex::new(trial)].samples;
    let changed = |mut sample: Sample| {
        change(&mut sample);
        sample
    };
    *samples = samples.iter().map(changed).collect();
}

/// All bytes of the trial passed through read calls, into a process that held so much.
fn by_calls(record: &mut Record, trial: usize, peak_rss_bytes: u64) {
    change(record, trial, |sample| {
        sample.turn.delivered = Some(Delivered::Calls);
        sample.peak_rss_bytes = Some(peak_rss_bytes);
    });
}

#[test]
fn faults_of_a_buffer_that_each_reading_makes_are_no_mapping() {
    // The copy into one small buffer takes 100 ms; this one takes 300.
    for (faults, peak_rss_bytes) in [(SIZE / 4096, 5 << 20), (SIZE >> 21, SIZE)] {
        let mut record = machine();
        let meters = MeterValues { minor_faults: Some(faults), ..cpu(380, 60, 310) };
        let whole = warm(&mut record, "rust/fs-read/memchr", meters);
        assert_ne!(verdict_on(&record, whole).stops_at(), "new memory", "what it does is not known");
        by_calls(&mut record, whole, peak_rss_bytes);
        let judged = verdict_on(&record, whole);
        assert_eq!(judged.verdict, Verdict::NewMemory { reuse: None }, "{judged:?}");
        assert_eq!(judged.stops_at(), "new memory");
        assert!(judged.sentence.contains("use one buffer again; of its time 55 % new memory"), "{judged:?}");
        let read = warm(&mut record, "rust/read/memchr@buffer_bytes=131072", cpu(160, 60, 99));
        by_calls(&mut record, read, 3 << 20);
        let judged = verdict_on(&record, whole);
        let said = "again: rust/read/memchr@buffer=128KiB does, and is 2.4 times as fast;";
        assert!(judged.sentence.contains(said), "{}", judged.sentence);
        assert_eq!(verdict_on(&record, read).verdict, Verdict::Copy);
    }
}

/// 4096 blocks of 4 KiB in a file of a gigabyte.
fn of_places(record: &mut Record) -> u64 {
    let (block_bytes, reads) = (4096, 4096);
    record.targets[0].size_bytes = block_bytes * reads;
    record.targets[0].kind = TargetKind::Places(PlacesFacts {
        pattern: Pattern::Random,
        block_bytes,
        reads,
        distinct: reads,
        file_bytes: SIZE,
    });
    block_bytes * reads
}

#[test]
fn a_mapping_at_random_that_fetches_what_nobody_asked_for_is_stopped_by_that() {
    let mut record = machine();
    let asked_bytes = of_places(&mut record);
    let fetched = |times| MeterValues { device_bytes: Some(times * asked_bytes), ..cpu(2000, 30, 100) };
    let mapped = add(&mut record, "rust/places-mmap/avx2", CacheState::Cold, Cache::Through, fetched(29));
    let judged = verdict_on(&record, mapped);
    assert_eq!(judged.stops_at(), "read-ahead, 29× the bytes", "{judged:?}");
    assert!(judged.sentence.contains("29.0 times the bytes of its reads"), "{}", judged.sentence);
    assert!(judged.sentence.contains("madvise(MADV_RANDOM) turns it off"), "{}", judged.sentence);
    // Who reads by calls asks otherwise; another reading that fetches less is the remedy.
    by_calls(&mut record, mapped, 1 << 20);
    assert!(verdict_on(&record, mapped).sentence.contains("posix_fadvise(POSIX_FADV_RANDOM)"));
    let less = MeterValues { wall_ms: 400, ..fetched(1) };
    let random = add(&mut record, "rust/places-mmap/avx2@random=1", CacheState::Cold, Cache::Through, less);
    let sentence = verdict_on(&record, mapped).sentence;
    assert!(sentence.contains("@random=1, which fetches less, is 5.0 times as fast"), "{sentence}");
    assert!(!verdict_on(&record, random).stops_at().contains("read-ahead"));
}

#[test]
fn a_quota_of_processors_that_is_used_up_is_no_latency() {
    let mut record = machine();
    record.header.machine.cpus = 2;
    let scan = warm(&mut record, "rust/pread/memchr@threads=2", cpu(500, 45, 50));
    let throttle = |record: &mut Record, percent: u64| {
        change(record, scan, |sample| {
            let (wall_ns, throttled_ns) = (Some(sample.wall_ns * 2), Some(sample.wall_ns * percent / 50));
            sample.turn = TurnSeen { wall_ns, throttled_ns, ..TurnSeen::default() };
        });
    };
    assert_eq!(verdict_on(&record, scan).verdict, Verdict::Latency, "nothing shows it");
    // The groups around a container are not visible: then time alone decides.
    for (percent, right) in [(40, "latency"), (70, "processor quota"), (150, "processor quota")] {
        throttle(&mut record, percent);
        assert_eq!(verdict_on(&record, scan).stops_at(), right, "{percent} %, over both processors");
    }
    record.header.machine.cpu_quota = Some(0.2);
    throttle(&mut record, 70);
    let judged = verdict_on(&record, scan);
    assert_eq!(judged.stops_at(), "processor quota 95 %", "{judged:?}");
    let said = "stopped by its quota of processors: it uses 95 % of that, and the control groups were throttled for 35 %";
    assert!(judged.sentence.starts_with(said), "{}", judged.sentence);
    assert!(judged.sentence.contains("35 % waiting for a processor"), "{}", judged.sentence);
    throttle(&mut record, 5);
    assert_eq!(verdict_on(&record, scan).verdict, Verdict::Latency, "hardly ever");
}

#[test]
fn readings_shorter_than_the_period_of_a_quota_are_stopped_by_it() {
    let mut record = machine();
    record.header.machine.cpus = 2;
    record.header.machine.cpu_quota = Some(0.2);
    let times = |record: &mut Record, scan, each: [(u64, u64); 5]| {
        let samples = &mut record.trials[TrialIndex::new(scan)].samples;
        let timed = |(mut sample, (wall_ms, throttled_ms)): (Sample, (u64, u64))| {
            sample.wall_ns = wall_ms * 1_000_000;
            let (wall_ns, throttled_ns) = (Some(sample.wall_ns), Some(throttled_ms * 1_000_000));
            sample.turn = TurnSeen { wall_ns, throttled_ns, ..TurnSeen::default() };
            sample
        };
        *samples = samples.iter().zip(each).map(timed).collect();
    };
    // As measured: most fall between two pauses, one uses three times its share, none all of it.
    let files = warm(&mut record, "rust/files-threads/memchr@threads=4", cpu(80, 5, 7));
    times(&mut record, files, [(82, 59), (85, 61), (70, 52), (15, 0), (84, 59)]);
    let judged = verdict_on(&record, files);
    assert_eq!(judged.stops_at(), "processor quota 73 %", "{judged:?}");
    // Three of five never stop.
    let burst = warm(&mut record, "rust/files-auto/memchr", cpu(23, 6, 8));
    times(&mut record, burst, [(23, 0), (26, 0), (23, 0), (82, 60), (69, 45)]);
    let judged = verdict_on(&record, burst);
    assert_eq!(judged.stops_at(), "processor quota 100 %", "{judged:?}");
    assert!(judged.sentence.contains("it uses 100 % of that"), "{}", judged.sentence);
}

fn quota(bytes_per_s: Option<u64>, reads_per_s: Option<u64>) -> IoQuota {
    let setting = "blkio.throttle.read_bps_device".to_owned();
    IoQuota { device: "vda".to_owned(), bytes_per_s, reads_per_s, setting }
}

#[test]
fn a_device_that_gives_what_a_quota_grants_is_not_what_stops_a_reading() {
    let mut record = machine();
    let read = cold(&mut record, "rust/read/avx2", cpu(430, 40, 160));
    let other = cold(&mut record, "rust/mmap/avx2", cpu(2000, 40, 160));
    record.targets[0].io_quotas = vec![quota(Some(2_400_000_000), None), quota(Some(9 << 40), None)];
    let judged = verdict_on(&record, read);
    assert_eq!(judged.stops_at(), "I/O quota 97 %", "{judged:?}");
    let said = "a quota of its control group, 2.33 GB/s is 97 % of the 2.40 GB/s of vda (blkio.throttle.read_bps_device)";
    assert!(judged.sentence.contains(said), "{}", judged.sentence);
    assert!(matches!(verdict_on(&record, other).verdict, Verdict::Device { .. }), "it gets 0.5 GB/s");
    // A quota grants a little more after a pause.
    record.targets[0].io_quotas = vec![quota(Some(2_000_000_000), None)];
    let judged = verdict_on(&record, read);
    assert_eq!(judged.stops_at(), "I/O quota 100 %", "{judged:?}");
    assert!(judged.sentence.contains("2.33 GB/s is all of the 2.00 GB/s"), "{}", judged.sentence);
}

#[test]
fn a_quota_of_reads_is_blamed_only_where_it_can_be_what_limits() {
    for (reads_per_s, right) in [(4_000, "I/O quota"), (1_000_000, "device 93 %")] {
        let mut record = machine();
        let read = cold(&mut record, "rust/read/avx2", cpu(430, 40, 160));
        record.targets[0].io_quotas = vec![quota(None, Some(reads_per_s))];
        assert_eq!(verdict_on(&record, read).stops_at(), right, "{reads_per_s} reads/s");
    }
    // Of places it is known how many are read.
    for (reads_per_s, right) in [(2_100, "I/O quota 98 %"), (20_000, "unknown")] {
        let mut record = record(None);
        let asked_bytes = of_places(&mut record);
        let meters = MeterValues { device_bytes: Some(asked_bytes), ..cpu(2000, 30, 100) };
        let read = add(&mut record, "rust/places-pread/avx2", CacheState::Cold, Cache::Through, meters);
        record.targets[0].io_quotas = vec![quota(None, Some(reads_per_s))];
        assert_eq!(verdict_on(&record, read).stops_at(), right, "{reads_per_s} reads/s");
    }
}

#[test]
fn read_ahead_that_somebody_set_short_is_named() {
    let mut record = machine();
    let mapped = cold(&mut record, "rust/mmap/avx2", cpu(2000, 40, 160));
    let setting = "/sys/class/bdi/0:45/read_ahead_kb".to_owned();
    let own = |bytes| Some(ReadAhead { bytes, setting: setting.clone() });
    let (short, usual) = (16 << 10, 128 << 10);
    for (of_device, of_filesystem, set_by) in [
        (short, None, Some("blockdev --setra 256 /dev/vda")),
        (usual, None, None),
        // The file system's own decides.
        (usual, own(short), Some("echo 128 >/sys/class/bdi/0:45/read_ahead_kb")),
        (short, own(usual), None),
    ] {
        let device = Device { name: "vda".into(), read_ahead_bytes: Some(of_device), ..Device::default() };
        record.targets[0].device = Some(device);
        record.targets[0].own_read_ahead = of_filesystem;
        let judged = verdict_on(&record, mapped);
        let Some(set_by) = set_by else {
            assert_eq!(judged.stops_at(), "too little in flight", "{judged:?}");
            continue;
        };
        assert_eq!(judged.stops_at(), "short read-ahead", "{judged:?}");
        let said = format!("the kernel reads ahead 16.0 KiB at a time, less than usual: {set_by} sets it;");
        assert!(judged.sentence.contains(&said), "{}", judged.sentence);
    }
    // Of a folder, where another way is faster, by the size of its files.
    record.targets[0].own_read_ahead = own(short);
    cold(&mut record, "rust/uring", cpu(400, 40, 160));
    for (files, words) in [(8, "short read-ahead"), (SIZE / 4096, "shallow depth")] {
        record.targets[0].kind = TargetKind::Tree(TreeFacts { files, ..TreeFacts::default() });
        assert_eq!(verdict_on(&record, mapped).stops_at(), words, "{files} files");
    }
}

#[test]
fn what_the_kernel_does_beyond_the_copy_of_an_encoded_file_is_decoding() {
    let squashfs = |device_bytes, filesystem: &str| {
        let mut record = machine();
        record.targets[0].filesystem = Some(filesystem.to_owned());
        let meters = MeterValues { device_bytes: Some(device_bytes), ..cpu(2000, 60, 1800) };
        let read = add(&mut record, "rust/read/avx2", CacheState::Cold, Cache::Through, meters);
        verdict_on(&record, read)
    };
    let judged = squashfs(SIZE / 4, "squashfs");
    assert_eq!(judged.verdict, Verdict::Decoding, "{judged:?}");
    let said = "stopped by decoding, by the file system: it stores the file in fewer bytes than it has";
    assert!(judged.sentence.starts_with(said), "{}", judged.sentence);
    assert!(matches!(squashfs(SIZE, "squashfs").verdict, Verdict::Mixed { .. }), "stored as it reads");
    assert!(matches!(squashfs(SIZE / 4, "ext4").verdict, Verdict::Mixed { .. }), "it stores nothing encoded");
    let encoded = |state, times| {
        let mut record = record(Some(Extents { count: 8, encoded_bytes: SIZE, ..Extents::default() }));
        let meters = MeterValues { device_bytes: Some(SIZE / 4), ..times };
        let read = add(&mut record, "rust/read/avx2", state, Cache::Through, meters);
        verdict_on(&record, read).stops_at()
    };
    assert_eq!(encoded(CacheState::Cold, cpu(2000, 60, 1800)), "decoding");
    assert_eq!(encoded(CacheState::Cold, cpu(2000, 700, 600)), "decoding or device", "it also waits");
    assert_eq!(encoded(CacheState::Cold, cpu(2000, 1900, 60)), "processing");
    // The page cache has it decoded.
    assert_eq!(encoded(CacheState::Warm, cpu(2000, 60, 1800)), "mixed, 90 % other kernel work");
}

#[test]
fn who_waits_for_an_encoded_file_while_its_device_is_idle_waits_for_the_decoder() {
    let verdict = |percent: Option<u64>| {
        let mut record = record(Some(Extents { count: 8, encoded_bytes: SIZE, ..Extents::default() }));
        let meters = MeterValues { device_bytes: Some(SIZE / 4), ..cpu(1000, 60, 200) };
        let read = add(&mut record, "rust/read/avx2", CacheState::Cold, Cache::Through, meters);
        change(&mut record, read, |sample| {
            sample.turn.wall_ns = Some(sample.wall_ns);
            sample.turn.device_busy_ns = percent.map(|percent| sample.wall_ns * percent / 100);
        });
        verdict_on(&record, read)
    };
    let judged = verdict(Some(12));
    assert_eq!(judged.verdict, Verdict::Decoding);
    let said =
        "100 % of the file is stored encoded, and the device gives 250 MB/s, with work for 12 % of the time;";
    assert!(judged.sentence.contains(said), "{}", judged.sentence);
    for (percent, said) in [
        (Some(80), "decoding takes 94 % of the time at most, and the device had work for 80 % of the time;"),
        (None, "decoding takes 94 % of the time at most, and it is not known how long the device had work;"),
    ] {
        let judged = verdict(percent);
        assert_eq!(judged.stops_at(), "decoding or device");
        assert!(judged.sentence.contains(said), "{}", judged.sentence);
    }
}
