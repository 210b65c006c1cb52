//! Verdicts that name what makes a reading slow, and not what it looks like: memory of its own that
//! looks like a mapping, a quota that looks like a device, read-ahead that looks like a slow
//! device, a decoder in the kernel.

use super::*;
use readlab_model::sample::{Delivered, TurnSeen};
use readlab_model::target::TargetKind;
use readlab_model::target::device::{Device, IoQuota, ReadAhead};
use readlab_model::target::places::{Pattern, PlacesFacts};

/// All bytes of the trial passed through read calls, into a process that held so much.
fn by_calls(record: &mut Record, trial: usize, peak_rss_bytes: u64) {
    change_each(record, trial, std::iter::repeat(peak_rss_bytes), |sample, peak_rss_bytes| {
        sample.turn.delivered = Some(Delivered::Calls);
        sample.peak_rss_bytes = Some(peak_rss_bytes);
    });
}

#[test]
fn faults_of_a_buffer_that_each_reading_makes_are_no_mapping() {
    // The copy into one small buffer takes 100 ms; this one takes 300.
    for (faults, peak_rss_bytes) in [(SIZE / 4096, 5 << 20), (SIZE >> 21, SIZE)] {
        let mut record = machine();
        let whole = warm(&mut record, "rust/fs-read/memchr", faulting(faults, cpu(380, 60, 310)));
        assert_ne!(stops_at(&record, whole), "new memory", "what it does is not known");
        by_calls(&mut record, whole, peak_rss_bytes);
        told(&record, whole, "new memory", "use one buffer again; of its time 55 % new memory");
        let read = warm(&mut record, "rust/read/memchr@buffer_bytes=131072", cpu(160, 60, 99));
        by_calls(&mut record, read, 3 << 20);
        let said = "again: rust/read/memchr@buffer=128KiB does, and is 2.4 times as fast;";
        told(&record, whole, "new memory", said);
        assert_eq!(verdict_on(&record, read).verdict, Verdict::Copy);
    }
}

#[test]
fn a_reading_of_an_archive_s_bytes_is_no_remedy_for_one_that_decodes_it() {
    let mut record = archive();
    let meters = faulting(SIZE / 4096, cpu(4000, 600, 3300));
    let whole = decoding(&mut record, "rust/gzip-whole/memchr", Cache::Through, meters);
    let plain = warm(&mut record, "rust/read/memchr@buffer_bytes=131072", cpu(160, 60, 99));
    by_calls(&mut record, whole, SIZE);
    by_calls(&mut record, plain, 3 << 20);
    told(&record, whole, "new memory", "use one buffer again; of its time 80 % new memory");
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
    let fetched = |times, wall_ms| fetching(times * asked_bytes, cpu(wall_ms, 30, 100));
    let mapped =
        add(&mut record, "rust/places-mmap/avx2", CacheState::Cold, Cache::Through, fetched(29, 2000));
    let stop = "read-ahead, 29× the bytes";
    told(&record, mapped, stop, "29.0 times the bytes of its reads");
    told(&record, mapped, stop, "madvise(MADV_RANDOM) turns it off");
    // Who reads by calls asks otherwise; another reading that fetches less is the remedy.
    by_calls(&mut record, mapped, 1 << 20);
    told(&record, mapped, stop, "posix_fadvise(POSIX_FADV_RANDOM)");
    let (random, less) = ("rust/places-mmap/avx2@random=1", fetched(1, 400));
    let random = add(&mut record, random, CacheState::Cold, Cache::Through, less);
    told(&record, mapped, stop, "@random=1, which fetches less, is 5.0 times as fast");
    assert!(!stops_at(&record, random).contains("read-ahead"));
}

#[test]
fn a_quota_of_processors_that_is_used_up_is_no_latency() {
    let mut record = machine();
    record.header.machine.cpus = 2;
    let scan = warm(&mut record, "rust/pread/memchr@threads=2", cpu(500, 45, 50));
    let throttle = |record: &mut Record, percent: u64| {
        change_each(record, scan, [percent; 5], |sample, percent| {
            let (wall_ns, throttled_ns) = (Some(sample.wall_ns * 2), Some(sample.wall_ns * percent / 50));
            sample.turn = TurnSeen { wall_ns, throttled_ns, ..TurnSeen::default() };
        });
    };
    assert_eq!(verdict_on(&record, scan).verdict, Verdict::Latency, "nothing shows it");
    // The groups around a container are not visible: then time alone decides.
    for (percent, right) in [(40, "latency"), (70, "processor quota"), (150, "processor quota")] {
        throttle(&mut record, percent);
        assert_eq!(stops_at(&record, scan), right, "{percent} %, over both processors");
    }
    record.header.machine.cpu_quota = Some(0.2);
    throttle(&mut record, 70);
    let said = "stopped by its quota of processors: it uses 95 % of that, and the control groups were throttled for 35 %";
    told(&record, scan, "processor quota 95 %", said);
    told(&record, scan, "processor quota 95 %", "35 % waiting for a processor");
    throttle(&mut record, 5);
    assert_eq!(verdict_on(&record, scan).verdict, Verdict::Latency, "hardly ever");
}

#[test]
fn readings_shorter_than_the_period_of_a_quota_are_stopped_by_it() {
    let mut record = machine();
    record.header.machine.cpus = 2;
    record.header.machine.cpu_quota = Some(0.2);
    // As measured, walls and throttled times. Most fall between two pauses, one uses three times its
    // share, none all of it; of the others, three of five never stop.
    for (name, reading, times_ms, right) in [
        (
            "rust/files-threads/memchr@threads=4",
            cpu(80, 5, 7),
            [(82, 59), (85, 61), (70, 52), (15, 0), (84, 59)],
            "processor quota 73 %",
        ),
        (
            "rust/files-auto/memchr",
            cpu(23, 6, 8),
            [(23, 0), (26, 0), (23, 0), (82, 60), (69, 45)],
            "processor quota 100 %",
        ),
    ] {
        let files = warm(&mut record, name, reading);
        change_each(&mut record, files, times_ms, |sample, (wall_ms, throttled_ms)| {
            sample.wall_ns = wall_ms * MS;
            let (wall_ns, throttled_ns) = (Some(sample.wall_ns), Some(throttled_ms * MS));
            sample.turn = TurnSeen { wall_ns, throttled_ns, ..TurnSeen::default() };
        });
        let said = right.replace("processor quota", "it uses").replace(" %", " % of that");
        told(&record, files, right, &said);
    }
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
    let said = "a quota of its control group, 2.33 GB/s is 97 % of the 2.40 GB/s of vda (blkio.throttle.read_bps_device)";
    told(&record, read, "I/O quota 97 %", said);
    assert!(matches!(verdict_on(&record, other).verdict, Verdict::Device { .. }), "it gets 0.5 GB/s");
    // A quota grants a little more after a pause.
    record.targets[0].io_quotas = vec![quota(Some(2_000_000_000), None)];
    told(&record, read, "I/O quota 100 %", "2.33 GB/s is all of the 2.00 GB/s");
}

#[test]
fn a_quota_of_reads_is_blamed_only_where_it_can_be_what_limits() {
    for (reads_per_s, right) in [(4_000, "I/O quota"), (1_000_000, "device 93 %")] {
        let mut record = machine();
        let read = cold(&mut record, "rust/read/avx2", cpu(430, 40, 160));
        record.targets[0].io_quotas = vec![quota(None, Some(reads_per_s))];
        assert_eq!(stops_at(&record, read), right, "{reads_per_s} reads/s");
    }
    // Of places it is known how many are read.
    for (reads_per_s, right) in [(2_100, "I/O quota 98 %"), (20_000, "unknown")] {
        let mut record = record(None);
        let reading = fetching(of_places(&mut record), cpu(2000, 30, 100));
        let read = add(&mut record, "rust/places-pread/avx2", CacheState::Cold, Cache::Through, reading);
        record.targets[0].io_quotas = vec![quota(None, Some(reads_per_s))];
        assert_eq!(stops_at(&record, read), right, "{reads_per_s} reads/s");
    }
}

#[test]
fn read_ahead_that_somebody_set_short_is_named() {
    let mut record = machine();
    let mapped = cold(&mut record, "rust/mmap/avx2", cpu(2000, 40, 160));
    let setting = "/sys/class/bdi/0:45/read_ahead_kb".to_owned();
    let own = |bytes| Some(ReadAhead { bytes, setting: setting.clone() });
    let (short, usual) = (16 << 10, 128 << 10);
    let by = |set_by: &str| {
        let said = format!("the kernel reads ahead 16.0 KiB at a time, less than usual: {set_by} sets it;");
        ("short read-ahead", said)
    };
    let nobody = || ("too little in flight", "it asks for too little at a time".to_owned());
    for (of_device, of_filesystem, (right, said)) in [
        (short, None, by("blockdev --setra 256 /dev/vda")),
        (usual, None, nobody()),
        // The file system's own decides.
        (usual, own(short), by("echo 128 >/sys/class/bdi/0:45/read_ahead_kb")),
        (short, own(usual), nobody()),
    ] {
        let device = Device { name: "vda".into(), read_ahead_bytes: Some(of_device), ..Device::default() };
        record.targets[0].device = Some(device);
        record.targets[0].own_read_ahead = of_filesystem;
        told(&record, mapped, right, &said);
    }
    // Of a folder, where another way is faster, by the size of its files.
    record.targets[0].own_read_ahead = own(short);
    cold(&mut record, "rust/uring", cpu(400, 40, 160));
    for (files, words) in [(8, "short read-ahead"), (SIZE / 4096, "shallow depth")] {
        record.targets[0].kind = TargetKind::Tree(TreeFacts { files, ..TreeFacts::default() });
        assert_eq!(stops_at(&record, mapped), words, "{files} files");
    }
}

#[test]
fn what_the_kernel_does_beyond_the_copy_of_an_encoded_file_is_decoding() {
    let said = "stopped by decoding, by the file system: it stores the file in fewer bytes than it has";
    for (filesystem, device_bytes, said) in [
        ("squashfs", SIZE / 4, said),
        // Stored as it reads.
        ("squashfs", SIZE, "no single thing stops it"),
        // It stores nothing encoded.
        ("ext4", SIZE / 4, "no single thing stops it"),
    ] {
        let mut record = machine();
        record.targets[0].filesystem = Some(filesystem.to_owned());
        let reading = fetching(device_bytes, cpu(2000, 60, 1800));
        let read = add(&mut record, "rust/read/avx2", CacheState::Cold, Cache::Through, reading);
        says(&verdict_on(&record, read), said);
    }
    for (state, user_ms, system_ms, right) in [
        (CacheState::Cold, 60, 1800, "decoding"),
        // It also waits.
        (CacheState::Cold, 700, 600, "decoding or device"),
        (CacheState::Cold, 1900, 60, "processing"),
        // The page cache has it decoded.
        (CacheState::Warm, 60, 1800, "mixed, 90 % other kernel work"),
    ] {
        let mut record = encoded_file();
        let reading = fetching(SIZE / 4, cpu(2000, user_ms, system_ms));
        let read = add(&mut record, "rust/read/avx2", state, Cache::Through, reading);
        assert_eq!(stops_at(&record, read), right, "{state}, {user_ms} and {system_ms} ms");
    }
}

#[test]
fn who_waits_for_an_encoded_file_while_its_device_is_idle_waits_for_the_decoder() {
    for (busy_percent, right, said) in [
        (
            Some(12),
            "decoding",
            "100 % of the file is stored encoded, and the device gives 250 MB/s, with work for 12 % of the time;",
        ),
        (
            Some(80),
            "decoding or device",
            "decoding takes 94 % of the time at most, and the device had work for 80 % of the time;",
        ),
        (
            None,
            "decoding or device",
            "decoding takes 94 % of the time at most, and it is not known how long the device had work;",
        ),
    ] {
        let mut record = encoded_file();
        let reading = fetching(SIZE / 4, cpu(1000, 60, 200));
        let read = add(&mut record, "rust/read/avx2", CacheState::Cold, Cache::Through, reading);
        change_each(&mut record, read, [busy_percent; 5], |sample, percent| {
            sample.turn.wall_ns = Some(sample.wall_ns);
            sample.turn.device_busy_ns = percent.map(|percent| sample.wall_ns * percent / 100);
        });
        told(&record, read, right, said);
    }
}
