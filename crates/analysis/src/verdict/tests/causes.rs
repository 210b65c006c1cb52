//! Verdicts that must name the true cause of a slow reading, where it resembles another one: new
//! memory that looks like a mapping, a quota that looks like a slow device, read-ahead that looks
//! like a slow device, a decoder in the kernel.

use super::*;
use readlab_model::sample::{DeliveryMeter, TurnSeen};
use readlab_model::target::TargetKind;
use readlab_model::target::device::{Device, IoQuota, ReadAhead};
use readlab_model::target::layers::{Layer, LayerKind};
use readlab_model::target::places::RangesFacts;
use readlab_model::target::setting::SettingValue;
use readlab_model::units::Throughput;

/// Makes all bytes of the trial pass through read calls, in a process with this peak memory.
fn make_trial_use_read_calls(record: &mut Record, trial: usize, peak_rss_bytes: u64) {
    change_each(record, trial, std::iter::repeat(peak_rss_bytes), |sample, peak_rss_bytes| {
        sample.turn.delivered = Some(DeliveryMeter::Calls);
        sample.peak_rss_bytes = Some(peak_rss_bytes);
    });
}

#[test]
fn page_faults_of_a_buffer_allocated_by_each_reading_are_not_those_of_a_mapping() {
    // The copy into one small buffer takes 100 ms; this copy takes 300 ms.
    for (faults, peak_rss_bytes) in [(FILE_BYTES / 4096, 5 << 20), (FILE_BYTES >> 21, FILE_BYTES)] {
        let mut record = machine_record();
        let whole =
            add_warm(&mut record, "rust/fs-read/memchr", with_faults(faults, sample_of_ms(380, 60, 310)));
        assert_ne!(short_cause(&record, whole), "new memory", "what it does is not known");
        make_trial_use_read_calls(&mut record, whole, peak_rss_bytes);
        assert_verdict(&record, whole, "new memory", "use one buffer again; of its time 55 % new memory");
        let read = add_warm(&mut record, "rust/read/memchr@buffer_bytes=131072", sample_of_ms(160, 60, 99));
        make_trial_use_read_calls(&mut record, read, 3 << 20);
        let said = "again: rust/read/memchr@buffer=128KiB does, and is 2.4 times as fast;";
        assert_verdict(&record, whole, "new memory", said);
        assert_eq!(verdict_on(&record, read).verdict, Verdict::Copy);
    }
}

/// A reading of the processor alone, with these wall, user and system times and page faults.
fn sample_of_us(wall_us: u64, user_us: u64, system_us: u64, minor_faults: u64) -> Sample {
    Sample {
        wall_ns: wall_us * 1000,
        cpu_user_ns: Some(user_us * 1000),
        cpu_system_ns: Some(system_us * 1000),
        device_read_bytes: Some(0),
        minor_faults: Some(minor_faults),
        ..Sample::default()
    }
}

/// The record of a target of this size, with a copy control of this CPU time and one microsecond
/// for a page fault.
fn record_with_copy(size_bytes: u64, copy_us: u64) -> Record {
    let mut record = record(None);
    record.targets[TargetIndex::new(0)].size_bytes = size_bytes;
    let copy = sample_of_us(copy_us, 0, copy_us, 0);
    for (name, reading) in [("rust/copy", copy), ("rust/faults", sample_of_us(1000, 0, 1000, 1000))] {
        add(&mut record, name, CacheState::Warm, Cache::None, reading);
    }
    record
}

#[test]
fn page_faults_of_buffers_and_of_the_process_are_neither_new_memory_nor_a_mapping() {
    // As measured: 500 ranges with 8.19 MB, in processes that hold 10 MiB before they read.
    let size_bytes = 8_192_000;
    let mut record = record_with_copy(size_bytes, 546);
    record.targets[TargetIndex::new(0)].ranges = Some(RangesFacts {
        list_path: "/data/list".to_owned(),
        is_sorted: false,
        read_count: 500,
        shortest_bytes: 16_384,
        longest_bytes: 16_384,
        repeated_bytes: 0,
        pages_bytes: size_bytes,
        file_bytes: 67_108_864,
    });
    let mut add_reading = |name: &str, percent_read: u64, reading: Sample| {
        let read_bytes = Some(size_bytes * percent_read / 100);
        add_warm(&mut record, name, Sample { read_bytes, ..reading })
    };
    let single = add_reading("rust/places-pread/memchr", 100, sample_of_us(1050, 305, 745, 82));
    let merged = add_reading("rust/places-preadv/memchr", 340, sample_of_us(2710, 0, 2710, 146));
    let large = sample_of_us(53_900, 1880, 50_800, 15_986);
    let large = add_reading("rust/places-preadv/memchr@merge_bytes=1048576", 795, large);
    let ring = add_reading("rust/places-io_uring/memchr", 100, sample_of_us(1450, 0, 1450, 142));
    for (trial, peak_rss_bytes) in [(single, 10_590_000), (merged, 10_490_000), (large, 75_600_000)] {
        make_trial_use_read_calls(&mut record, trial, peak_rss_bytes);
    }
    assert_verdict(
        &record,
        single,
        "copy 52 %",
        "of its time 52 % copy, 29 % own code, 19 % other kernel work",
    );
    // Merged reads also copy the bytes between the ranges.
    assert_verdict(&record, merged, "copy 20 %", "of its time 69 % copy, 31 % other kernel work");
    assert_verdict(&record, large, "new memory", "of its time 86 % new memory, 8 % copy");
    // A ring maps nothing.
    let words = "of its time 62 % other kernel work, 38 % copy";
    assert_verdict(&record, ring, "mixed, 62 % other kernel work", words);
}

#[test]
fn page_faults_of_a_command_s_start_are_neither_new_memory_nor_a_mapping() {
    let mut record = record_with_copy(13_000_000, 1360);
    let counts = add_warm(&mut record, "command/wc -l", sample_of_us(4000, 600, 3400, 103));
    make_trial_use_read_calls(&mut record, counts, 2 << 20);
    let words = "of its time 51 % other kernel work, 34 % copy, 15 % own code";
    assert_verdict(&record, counts, "mixed, 51 % other kernel work", words);
    let stops_early = add_warm(&mut record, "command/tail -n 5", sample_of_us(600, 100, 500, 103));
    let words = "of its time 83 % other kernel work, 17 % own code";
    assert_verdict(&record, stops_early, "mixed, 83 % other kernel work", words);
    // A program that holds the whole of a large file makes new memory.
    let mut record = record_with_copy(FILE_BYTES, 100_000);
    let reading = sample_of_us(380_000, 60_000, 310_000, 1000 + FILE_BYTES / 4096);
    let holds = add_warm(&mut record, "command/python3 -c 'open(\"f\").read()'", reading);
    make_trial_use_read_calls(&mut record, holds, FILE_BYTES);
    assert_verdict(&record, holds, "new memory", "use one buffer again; of its time 55 % new memory");
}

#[test]
fn a_mapping_that_is_not_told_from_the_process_copies_nothing() {
    for (name, size_bytes, copy_us, faults) in
        [("command/rg -c x", 1_000_000_000, 100_000, 15_500), ("rust/mmap/memchr", 8 << 20, 800, 128)]
    {
        let mut record = record_with_copy(size_bytes, copy_us);
        let reading = sample_of_us(copy_us * 6 / 5, copy_us / 10, copy_us, faults);
        let trial = add_warm(&mut record, name, reading);
        let cause = short_cause(&record, trial);
        assert!(cause.contains("other kernel work"), "{name}: {cause}");
        make_trial_use_read_calls(&mut record, trial, 5 << 20);
        let cause = short_cause(&record, trial);
        assert!(cause.starts_with("copy"), "{name}: {cause}");
    }
}

#[test]
fn a_mapping_with_few_or_uncounted_page_faults_copies_nothing() {
    let mut record = record_with_copy(FILE_BYTES, 100_000);
    let mut add_reading = |name: &str, minor_faults, peak_rss_bytes| {
        let reading = sample_of_us(120_000, 10_000, 110_000, 0);
        add_warm(&mut record, name, Sample { minor_faults, peak_rss_bytes, ..reading })
    };
    let huge_pages = add_reading("rust/mmap/memchr", Some(FILE_BYTES >> 21), Some(FILE_BYTES + (4 << 20)));
    let uncounted = add_reading("java/MappedByteBuffer", None, Some(40 << 20));
    let ring = add_reading("rust/io_uring/memchr", Some(100), Some(4 << 20));
    let large_buffers = "rust/io_uring/memchr@buffer_bytes=1073741824";
    let large_ring = add_reading(large_buffers, Some(100), Some((1 << 30) + (4 << 20)));
    for trial in [huge_pages, uncounted] {
        let judged = verdict_on(&record, trial);
        assert!(judged.short_cause().contains("other kernel work"), "{judged:?}");
        assert_eq!(judged.limit, None, "the copy is no limit of a mapping");
    }
    for trial in [ring, large_ring] {
        let cause = short_cause(&record, trial);
        assert!(cause.starts_with("copy"), "a ring copies into its buffers: {cause}");
    }
}

#[test]
fn a_command_that_reads_a_part_has_the_rate_and_the_copy_of_that_part() {
    let mut record = record_with_copy(FILE_BYTES, 100_000);
    let device = Device { name: "vda".into(), read_ahead_bytes: Some(128 << 10), ..Device::default() };
    record.targets[TargetIndex::new(0)].device = Some(device);
    let add_command = |record: &mut Record, name: &str, state, device_bytes, resident_share, reading| {
        let reading = with_device_bytes(device_bytes, reading);
        let trial = add(record, name, state, Cache::Through, reading);
        record.trials[TrialIndex::new(trial)].trial.work = Work::Output;
        change_each(record, trial, [resident_share; 5], |sample, share| sample.resident_after = Some(share));
        trial
    };
    // The copy of the whole file takes 100 ms.
    for percent in [78, 20] {
        let (copy_ms, wall_ms) = (percent, percent + 10);
        let name = format!("command/dd count={percent}");
        let (share, bytes) = (percent as f64 / 100.0, FILE_BYTES / 100 * percent);
        add_command(&mut record, &name, CacheState::Cold, bytes, share, sample_of_ms(900, 10, 90));
        let reading = sample_of_ms(wall_ms, 5, copy_ms + 5);
        let dd = add_command(&mut record, &name, CacheState::Warm, 0, 1.0, reading);
        let judged = verdict_on(&record, dd);
        assert_eq!((judged.short_cause().as_str(), &judged.limit), ("copy", &None), "{judged:?}");
        let copied = judged.parts.unwrap().share_of(TimePart::Copy);
        assert!((copied - copy_ms as f64 / wall_ms as f64).abs() < 1e-6, "{judged:?}");
        let rate = Throughput(bytes as f64 * 1e9 / (wall_ms * NS_PER_MS) as f64);
        assert_sentence(&judged, &format!("out of the page cache: {rate}; of its time"));
    }
    // Nothing shows which part this command reads.
    let reading = sample_of_ms(110, 5, 105);
    let unknown = add_command(&mut record, "command/dd", CacheState::Warm, 0, 1.0, reading);
    assert_verdict(
        &record,
        unknown,
        "copy",
        "out of the page cache: at a rate that is not known; of its time",
    );
}

#[test]
fn reading_an_archive_as_bytes_is_no_remedy_for_decoding_it() {
    let mut record = archive_record();
    let meters = with_faults(FILE_BYTES / 4096, sample_of_ms(4000, 600, 3300));
    let whole = add_decoder(&mut record, "rust/gzip-whole/memchr", Cache::Through, meters);
    let plain = add_warm(&mut record, "rust/read/memchr@buffer_bytes=131072", sample_of_ms(160, 60, 99));
    make_trial_use_read_calls(&mut record, whole, FILE_BYTES);
    make_trial_use_read_calls(&mut record, plain, 3 << 20);
    assert_verdict(&record, whole, "new memory", "use one buffer again; of its time 80 % new memory");
}

#[test]
fn a_random_mapping_that_fetches_unrequested_bytes_is_limited_by_read_ahead() {
    let mut record = machine_record();
    let asked_bytes = make_target_places(&mut record);
    let fetched = |times, wall_ms| with_device_bytes(times * asked_bytes, sample_of_ms(wall_ms, 30, 100));
    let mapped =
        add(&mut record, "rust/places-mmap/avx2", CacheState::Cold, Cache::Through, fetched(29, 2000));
    let stop = "read-ahead, 29× the bytes";
    assert_verdict(&record, mapped, stop, "29.0 times the bytes of its reads");
    assert_verdict(&record, mapped, stop, "madvise(MADV_RANDOM) turns it off");
    // A reading without page faults that wait for the device, as in a ring, maps nothing, though no
    // meter shows its read calls.
    for (major_faults, advice) in
        [(4096, "madvise(MADV_RANDOM) turns it off"), (0, "posix_fadvise(POSIX_FADV_RANDOM) turns it off")]
    {
        change_each(&mut record, mapped, [major_faults; 5], |sample, count| {
            sample.major_faults = Some(count)
        });
        assert_verdict(&record, mapped, stop, advice);
    }
    change_each(&mut record, mapped, [(); 5], |sample, ()| sample.major_faults = None);
    // A reading by read calls turns read-ahead off with another system call. Another reading that
    // fetches less is the remedy.
    make_trial_use_read_calls(&mut record, mapped, 1 << 20);
    assert_verdict(&record, mapped, stop, "posix_fadvise(POSIX_FADV_RANDOM)");
    let (random, less) = ("rust/places-mmap/avx2@random=1", fetched(1, 400));
    let random = add(&mut record, random, CacheState::Cold, Cache::Through, less);
    assert_verdict(&record, mapped, stop, "@random=1, which fetches less, is 5.0 times as fast");
    assert!(!short_cause(&record, random).contains("read-ahead"));
}

#[test]
fn whole_extents_of_an_encoded_file_are_not_called_read_ahead() {
    let encoded = |encoded_bytes| Some(Extents { count: 8, encoded_bytes, ..Extents::default() });
    let is_encoded = "100 % of the file is stored encoded";
    let may_be = "it reads whole blocks of its own, which may be compressed";
    let read_ahead = "read-ahead, 11× the bytes";
    for (filesystem, extents, busy_percent, right, said) in [
        ("btrfs", encoded(FILE_BYTES), 80, "decoding or device", is_encoded),
        ("btrfs", encoded(FILE_BYTES), 12, "decoding", is_encoded),
        // More bytes than those of all blocks, but few of the file.
        ("btrfs", encoded(FILE_BYTES / 50), 80, read_ahead, "POSIX_FADV_RANDOM"),
        // Nothing shows whether this file is compressed.
        ("squashfs", None, 80, "decoding or device", may_be),
        ("squashfs", None, 12, "decoding or device", may_be),
        ("erofs", encoded(0), 80, read_ahead, "POSIX_FADV_RANDOM"),
        ("ext4", None, 80, read_ahead, "POSIX_FADV_RANDOM"),
    ] {
        for has_limit in [false, true] {
            let mut record = record(extents.clone());
            let asked_bytes = make_target_places(&mut record);
            record.targets[TargetIndex::new(0)].filesystem = Some(filesystem.to_owned());
            if has_limit {
                record.add(limit_line(LimitKind::Device, "fio", 2_000_000_000));
            }
            // A compressed extent for each block.
            let reading = with_device_bytes(11 * asked_bytes, sample_of_ms(2000, 30, 100));
            let read = add(&mut record, "rust/places-pread/avx2", CacheState::Cold, Cache::Through, reading);
            make_trial_use_read_calls(&mut record, read, 1 << 20);
            change_each(&mut record, read, [busy_percent; 5], |sample, percent| {
                sample.turn.wall_ns = Some(sample.wall_ns);
                sample.turn.device_busy_ns = Some(sample.wall_ns * percent / 100);
            });
            assert_verdict(&record, read, right, said);
        }
    }
    // The kernel decodes within the read calls.
    for (filesystem, right) in [("squashfs", "decoding or device"), ("ext4", "mixed, 80 % other kernel work")]
    {
        let mut record = record(None);
        let asked_bytes = make_target_places(&mut record);
        record.targets[TargetIndex::new(0)].filesystem = Some(filesystem.to_owned());
        let reading = with_device_bytes(11 * asked_bytes, sample_of_ms(2000, 30, 1600));
        let read = add(&mut record, "rust/places-pread/avx2", CacheState::Cold, Cache::Through, reading);
        assert_eq!(short_cause(&record, read), right, "{filesystem}");
    }
}

#[test]
fn read_ahead_of_ranges_is_judged_by_their_pages_and_by_the_bytes_between_merged_ones() {
    let useful_bytes: u64 = 1 << 20;
    let stop_of_repeats = |repeated_bytes: u64, pages_bytes: u64, read_bytes: u64| {
        let mut record = machine_record();
        record.targets[TargetIndex::new(0)].size_bytes = useful_bytes + repeated_bytes;
        record.targets[TargetIndex::new(0)].ranges = Some(RangesFacts {
            list_path: "/data/list".to_owned(),
            is_sorted: false,
            read_count: 16_384,
            shortest_bytes: 1,
            longest_bytes: 64 << 10,
            repeated_bytes,
            pages_bytes,
            file_bytes: FILE_BYTES,
        });
        let read_bytes = Some(read_bytes);
        let fetched =
            Sample { read_bytes, ..with_device_bytes(29 * useful_bytes, sample_of_ms(2000, 30, 100)) };
        let read = add(&mut record, "rust/places-pread/avx2", CacheState::Cold, Cache::Through, fetched);
        short_cause(&record, read)
    };
    let stop = |pages_bytes, read_bytes| stop_of_repeats(0, pages_bytes, read_bytes);
    let read_ahead = "read-ahead, 29× the bytes";
    // Alone, a range of the mean length takes two pages, which are 128 times its bytes.
    assert_eq!(stop(useful_bytes, useful_bytes), read_ahead, "adjacent ranges");
    assert!(!stop(15 * useful_bytes, useful_bytes).contains("read-ahead"), "a page for each range");
    assert!(!stop(useful_bytes, 15 * useful_bytes).contains("read-ahead"), "merged ranges");
    // Of ranges that overlap, the record has only how many of their bytes are repeated.
    let stop = |repeated: u64, read: u64| {
        stop_of_repeats(repeated * useful_bytes, useful_bytes, read * useful_bytes)
    };
    assert_eq!(stop(14, 15), read_ahead, "each range is read by itself");
    assert!(!stop(20, 15).contains("read-ahead"), "one read brings the ranges that overlap");
    assert!(!stop(10, 16).contains("read-ahead"), "several reads of an unsorted list overlap");
    assert_eq!(stop(20, 14), read_ahead, "the device brings twice what the merged reads request");
}

#[test]
fn a_used_up_processor_quota_is_not_called_latency() {
    let mut record = machine_record();
    record.header.machine.cpu_count = 2;
    let scan = add_warm(&mut record, "rust/pread/memchr@threads=2", sample_of_ms(500, 45, 50));
    let throttle = |record: &mut Record, percent: u64| {
        change_each(record, scan, [percent; 5], |sample, percent| {
            let (wall_ns, throttled_ns) = (Some(sample.wall_ns * 2), Some(sample.wall_ns * percent / 50));
            sample.turn = TurnSeen { wall_ns, throttled_ns, ..TurnSeen::default() };
        });
    };
    assert_eq!(verdict_on(&record, scan).verdict, Verdict::Latency, "nothing shows it");
    // The control groups around a container are not visible: then only the throttled time decides.
    for (percent, right) in [(40, "latency"), (70, "processor quota"), (150, "processor quota")] {
        throttle(&mut record, percent);
        assert_eq!(short_cause(&record, scan), right, "{percent} %, over both processors");
    }
    record.header.machine.cpu_quota = Some(0.2);
    throttle(&mut record, 70);
    let said = "stopped by its quota of processors: it uses 95 % of that, and the control groups were throttled for 35 %";
    assert_verdict(&record, scan, "processor quota 95 %", said);
    assert_verdict(&record, scan, "processor quota 95 %", "35 % waiting for a processor");
    throttle(&mut record, 5);
    assert_eq!(verdict_on(&record, scan).verdict, Verdict::Latency, "hardly ever");
}

#[test]
fn readings_shorter_than_the_period_of_a_quota_are_limited_by_the_quota() {
    let mut record = machine_record();
    record.header.machine.cpu_count = 2;
    record.header.machine.cpu_quota = Some(0.2);
    // Measured wall and throttled times. Most readings fall between two pauses; one uses three
    // times its share, and no reading uses its whole quota. Of the other readings, three in five
    // are never throttled.
    for (name, reading, times_ms, right) in [
        (
            "rust/files-threads/memchr@threads=4",
            sample_of_ms(80, 5, 7),
            [(82, 59), (85, 61), (70, 52), (15, 0), (84, 59)],
            "processor quota 73 %",
        ),
        (
            "rust/files-auto/memchr",
            sample_of_ms(23, 6, 8),
            [(23, 0), (26, 0), (23, 0), (82, 60), (69, 45)],
            "processor quota 100 %",
        ),
    ] {
        let files = add_warm(&mut record, name, reading);
        change_each(&mut record, files, times_ms, |sample, (wall_ms, throttled_ms)| {
            sample.wall_ns = wall_ms * NS_PER_MS;
            let (wall_ns, throttled_ns) = (Some(sample.wall_ns), Some(throttled_ms * NS_PER_MS));
            sample.turn = TurnSeen { wall_ns, throttled_ns, ..TurnSeen::default() };
        });
        let said = right.replace("processor quota", "it uses").replace(" %", " % of that");
        assert_verdict(&record, files, right, &said);
    }
}

pub(super) fn io_quota(bytes_per_s: Option<u64>, reads_per_s: Option<u64>) -> IoQuota {
    let setting = "blkio.throttle.read_bps_device".to_owned();
    IoQuota { device: "vda".to_owned(), bytes_per_s, reads_per_s, setting }
}

#[test]
fn a_reading_at_the_rate_of_an_io_quota_is_not_limited_by_the_device() {
    let mut record = machine_record();
    let read = add_cold(&mut record, "rust/read/avx2", sample_of_ms(430, 40, 160));
    let other = add_cold(&mut record, "rust/mmap/avx2", sample_of_ms(2000, 40, 160));
    record.targets[TargetIndex::new(0)].io_quotas =
        vec![io_quota(Some(2_400_000_000), None), io_quota(Some(9 << 40), None)];
    let said = "a quota of its control group, 2.33 GB/s is 97 % of the 2.40 GB/s of vda (blkio.throttle.read_bps_device)";
    assert_verdict(&record, read, "I/O quota 97 %", said);
    assert!(matches!(verdict_on(&record, other).verdict, Verdict::Device { .. }), "it gets 0.5 GB/s");
    // After a pause, a quota grants a little more.
    record.targets[TargetIndex::new(0)].io_quotas = vec![io_quota(Some(2_000_000_000), None)];
    assert_verdict(&record, read, "I/O quota 100 %", "2.33 GB/s is all of the 2.00 GB/s");
}

#[test]
fn a_quota_of_bytes_near_the_rate_of_a_busy_processor_is_not_the_limit() {
    // At four fifths of the quota, only a reading that waits is held back.
    for (user_ms, right) in [(2300, "processing"), (300, "I/O quota 80 %")] {
        let mut record = machine_record();
        let digest = add_cold(&mut record, "command/sha256sum", sample_of_ms(2500, user_ms, 150));
        record.targets[TargetIndex::new(0)].io_quotas = vec![io_quota(Some(500_000_000), None)];
        assert_eq!(short_cause(&record, digest), right, "{user_ms} ms of its own code");
    }
}

#[test]
fn a_quota_of_reads_is_not_blamed_for_a_device_that_is_busy() {
    for (busy_percent, right) in [(98, "device 94 %"), (30, "I/O quota")] {
        let mut record = record(None);
        // A disk that gives 200 MB/s: 66 kB for each of 3000 reads a second.
        record.add(limit_line(LimitKind::Device, "fio", 213_000_000));
        let read = add_cold(&mut record, "rust/read/avx2", sample_of_ms(5000, 40, 160));
        change_each(&mut record, read, [busy_percent; 5], |sample, percent| {
            sample.turn.wall_ns = Some(sample.wall_ns);
            sample.turn.device_busy_ns = Some(sample.wall_ns * percent / 100);
        });
        record.targets[TargetIndex::new(0)].io_quotas = vec![io_quota(None, Some(3000))];
        assert_eq!(short_cause(&record, read), right, "the device is busy for {busy_percent} %");
    }
    // For places, too.
    for (busy_percent, is_blamed) in [(98, false), (30, true)] {
        let mut record = record(None);
        let reading = with_device_bytes(make_target_places(&mut record), sample_of_ms(2000, 30, 100));
        let read = add(&mut record, "rust/places-pread/avx2", CacheState::Cold, Cache::Through, reading);
        change_each(&mut record, read, [busy_percent; 5], |sample, percent| {
            sample.turn.wall_ns = Some(sample.wall_ns);
            sample.turn.device_busy_ns = Some(sample.wall_ns * percent / 100);
        });
        record.targets[TargetIndex::new(0)].io_quotas = vec![io_quota(None, Some(2_100))];
        let cause = short_cause(&record, read);
        assert_eq!(cause.starts_with("I/O quota"), is_blamed, "busy for {busy_percent} %: {cause}");
    }
}

#[test]
fn a_quota_of_reads_is_blamed_only_where_it_can_be_the_limit() {
    for (reads_per_s, right) in [(4_000, "I/O quota"), (1_000_000, "device 93 %")] {
        let mut record = machine_record();
        let read = add_cold(&mut record, "rust/read/avx2", sample_of_ms(430, 40, 160));
        record.targets[TargetIndex::new(0)].io_quotas = vec![io_quota(None, Some(reads_per_s))];
        assert_eq!(short_cause(&record, read), right, "{reads_per_s} reads/s");
    }
    // For places, the number of reads is known.
    for (reads_per_s, right) in [(2_100, "I/O quota 98 %"), (20_000, "unknown")] {
        let mut record = record(None);
        let reading = with_device_bytes(make_target_places(&mut record), sample_of_ms(2000, 30, 100));
        let read = add(&mut record, "rust/places-pread/avx2", CacheState::Cold, Cache::Through, reading);
        record.targets[TargetIndex::new(0)].io_quotas = vec![io_quota(None, Some(reads_per_s))];
        assert_eq!(short_cause(&record, read), right, "{reads_per_s} reads/s");
    }
}

#[test]
fn a_quota_of_reads_is_named_also_if_each_read_brings_more_than_its_block() {
    // Each read brings one and a half blocks, or each page fault of a mapping brings 16. The
    // control is under the same quota and brings blocks.
    for (name, half_blocks) in [("rust/places-pread/avx2", 3), ("rust/places-mmap/avx2", 32)] {
        for (reads_per_s, busy_percent, is_above_cache, is_blamed) in [
            (Some(2_100), 30, false, true),
            (Some(2_100), 98, false, false),
            (Some(2_100), 30, true, false),
            (Some(20_000), 30, false, false),
            (None, 30, false, false),
        ] {
            for has_limit in [true, false] {
                let mut record = record(None);
                let asked_bytes = make_target_places(&mut record);
                if has_limit {
                    record.add(limit_line(LimitKind::Device, "rust/places-device", asked_bytes / 2));
                }
                let reading = with_device_bytes(half_blocks * asked_bytes / 2, sample_of_ms(2000, 30, 100));
                let read = add(&mut record, name, CacheState::Cold, Cache::Through, reading);
                change_each(&mut record, read, [busy_percent; 5], |sample, percent| {
                    sample.turn.wall_ns = Some(sample.wall_ns);
                    sample.turn.device_busy_ns = Some(sample.wall_ns * percent / 100);
                });
                record.targets[TargetIndex::new(0)].io_quotas = vec![io_quota(None, reads_per_s)];
                if is_above_cache {
                    devices::put_above_a_cache(&mut record);
                }
                let right = match (is_blamed, half_blocks, has_limit && !is_above_cache) {
                    (true, ..) => "I/O quota 98 %",
                    (false, 32, _) => "read-ahead, 16× the bytes",
                    (false, _, true) => "device",
                    (false, _, false) => "unknown",
                };
                let cause = short_cause(&record, read);
                assert_eq!(cause, right, "{name}: {reads_per_s:?} reads/s, busy for {busy_percent} %");
            }
        }
    }
}

#[test]
fn read_ahead_that_uses_up_a_quota_of_bytes_is_named_with_its_remedy() {
    let mut record = record(None);
    let asked_bytes = make_target_places(&mut record);
    let fetched = |half_blocks: u64, wall_ms| {
        with_device_bytes(half_blocks * asked_bytes / 2, sample_of_ms(wall_ms, 30, 100))
    };
    let add_cold =
        |record: &mut Record, name, reading| add(record, name, CacheState::Cold, Cache::Through, reading);
    let mapped = add_cold(&mut record, "rust/places-mmap/avx2", fetched(32, 2000));
    record.targets[TargetIndex::new(0)].io_quotas = vec![io_quota(Some(134_000_000), None)];
    let said = "134 MB/s is all of the 134 MB/s of vda (blkio.throttle.read_bps_device); read-ahead that nobody asked for \
                uses up 16.0 times the bytes of its reads; madvise(MADV_RANDOM) turns it off; of its time";
    assert_verdict(&record, mapped, "I/O quota 100 %", said);
    add_cold(&mut record, "rust/places-mmap/avx2@random=1", fetched(2, 400));
    let said =
        "turns it off; rust/places-mmap/avx2@random=1, which fetches less, is 5.0 times as fast; of its time";
    assert_verdict(&record, mapped, "I/O quota 100 %", said);
    let exported = |record: &Record| serde_json::to_value(verdict_on(record, mapped).verdict).unwrap();
    let read_ahead = exported(&record)["read_ahead"].clone();
    assert_eq!(read_ahead["times"].as_f64(), Some(16.0));
    assert_eq!(read_ahead["is_mapped"].as_bool(), Some(true));
    assert_eq!(read_ahead["remedy"]["name"], "rust/places-mmap/avx2@random=1");
    // Without the quota, the verdict itself has these fields.
    let quotas = std::mem::take(&mut record.targets[TargetIndex::new(0)].io_quotas);
    let mut verdict = exported(&record);
    let kind = verdict.as_object_mut().unwrap().remove("kind").unwrap();
    assert_eq!((kind.as_str(), verdict), (Some("read_ahead"), read_ahead));
    record.targets[TargetIndex::new(0)].io_quotas = quotas;
    // Whole pages around the blocks are no read-ahead, but use up the quota as well.
    let pages = add_cold(&mut record, "rust/places-pread/avx2", fetched(3, 190));
    let said = "of vda (blkio.throttle.read_bps_device); the kernel fetched 1.5 times the bytes that were asked for;";
    assert_verdict(&record, pages, "I/O quota 99 %", said);
}

#[test]
fn of_a_setting_with_two_quotas_the_one_that_limits_the_reading_is_named() {
    for (bytes_per_s, reads_per_s, said) in [
        (9 << 40, 2_100, "it gets 98 % of the 2100 reads/s of vda"),
        (8_600_000, 900_000, "8.39 MB/s is 98 % of the 8.60 MB/s of vda"),
    ] {
        let mut record = record(None);
        let reading = with_device_bytes(make_target_places(&mut record), sample_of_ms(2000, 30, 100));
        let read = add(&mut record, "rust/places-pread/avx2", CacheState::Cold, Cache::Through, reading);
        record.targets[TargetIndex::new(0)].io_quotas = vec![io_quota(Some(bytes_per_s), Some(reads_per_s))];
        assert_verdict(&record, read, "I/O quota 98 %", said);
    }
}

#[test]
fn a_quota_of_reads_is_named_for_a_folder_if_each_file_is_a_read() {
    let extents = |count, inline_bytes| Some(Extents { count, inline_bytes, ..Extents::default() });
    for (files, file_bytes, extents, repeated_bytes, reads_per_s, right) in [
        (2_000, 8 << 10, extents(2_000, 0), 0, 500, "I/O quota 100 %"),
        // Half of the files are empty.
        (4_000, 4 << 10, extents(2_000, 0), 0, 500, "I/O quota 100 %"),
        (2_000, 8 << 10, extents(2_000, 0), 0, 5_000, "device 100 %"),
        (2_000, 8 << 10, extents(2_000, 0), 0, 50, "device 100 %"),
        // Files may be in the tables of the file system, share a block, or have the same bytes.
        (2_000, 8 << 10, extents(2_000, 1_000), 0, 500, "device 100 %"),
        (2_000, 8 << 10, None, 0, 500, "device 100 %"),
        (2_000, 8 << 10, extents(2_000, 0), 8 << 20, 500, "device 100 %"),
        // Each file takes several reads.
        (200, 1 << 20, extents(200, 0), 0, 500, "I/O quota"),
    ] {
        let mut record = record(None);
        let size_bytes = files * file_bytes;
        let target = &mut record.targets[TargetIndex::new(0)];
        target.size_bytes = size_bytes;
        target.extents = extents;
        target.kind = TargetKind::Tree(TreeFacts { files, repeated_bytes, ..TreeFacts::default() });
        target.io_quotas = vec![io_quota(None, Some(reads_per_s))];
        // The control is under the same quota.
        record.add(limit_line(LimitKind::Device, "rust/files-device", size_bytes / 4));
        let reading = with_device_bytes(size_bytes, sample_of_ms(4000, 30, 100));
        let read = add(&mut record, "rust/read/avx2", CacheState::Cold, Cache::Through, reading);
        assert_eq!(short_cause(&record, read), right, "{files} files, {reads_per_s} reads/s");
    }
}

#[test]
fn a_place_that_is_read_again_counts_for_a_quota_of_reads_only_past_the_page_cache() {
    for (cache, device_share, reads_per_s, right) in [
        (Cache::Through, 2, 1_050, "I/O quota 98 %"),
        (Cache::Through, 2, 2_100, "unknown"),
        (Cache::Bypass, 1, 2_100, "I/O quota 98 %"),
    ] {
        let mut record = record(None);
        let asked_bytes = make_target_places(&mut record);
        let TargetKind::Places(places) = &mut record.targets[TargetIndex::new(0)].kind else { panic!() };
        places.distinct_blocks /= 2;
        let reading = with_device_bytes(asked_bytes / device_share, sample_of_ms(2000, 30, 100));
        let read = add(&mut record, "rust/places-io_uring/avx2", CacheState::Cold, cache, reading);
        record.targets[TargetIndex::new(0)].io_quotas = vec![io_quota(None, Some(reads_per_s))];
        assert_eq!(short_cause(&record, read), right, "{cache:?}: {reads_per_s} reads/s");
    }
}

#[test]
fn read_ahead_below_the_default_is_named() {
    let mut record = machine_record();
    let mapped = add_cold(&mut record, "rust/mmap/avx2", sample_of_ms(2000, 40, 160));
    let setting = "/sys/class/bdi/0:45/read_ahead_kb".to_owned();
    let own = |bytes| Some(ReadAhead { bytes, setting_path: setting.clone() });
    let (short, usual) = (16 << 10, 128 << 10);
    let by = |set_by: &str| {
        let said = format!("the kernel reads ahead 16.0 KiB at a time, less than usual: {set_by} sets it;");
        ("short read-ahead", said)
    };
    let too_little = |command: &str| {
        let said = format!(
            "it asks for too little at a time: the kernel reads ahead 128 KiB for it, and {command} sets 4.00 MiB;"
        );
        ("too little in flight", said)
    };
    for (of_device, of_filesystem, (right, said)) in [
        (short, None, by("blockdev --setra 256 /dev/vda")),
        (usual, None, too_little("blockdev --setra 8192 /dev/vda")),
        // The setting of the file system decides.
        (usual, own(short), by("echo 128 >/sys/class/bdi/0:45/read_ahead_kb")),
        (short, own(usual), too_little("echo 4096 >/sys/class/bdi/0:45/read_ahead_kb")),
    ] {
        let device = Device { name: "vda".into(), read_ahead_bytes: Some(of_device), ..Device::default() };
        record.targets[TargetIndex::new(0)].device = Some(device);
        record.targets[TargetIndex::new(0)].own_read_ahead = of_filesystem;
        assert_verdict(&record, mapped, right, &said);
    }
    // A method that requests the next bytes itself does not depend on the kernel's read-ahead.
    let requests =
        add_cold(&mut record, "rust/read-ahead/avx2@ahead_bytes=4194304", sample_of_ms(2000, 40, 160));
    for of_filesystem in [short, usual] {
        record.targets[TargetIndex::new(0)].own_read_ahead = own(of_filesystem);
        let judged = verdict_on(&record, requests);
        assert_eq!(judged.short_cause(), "too little in flight", "{judged:?}");
        assert!(!judged.sentence.contains("the kernel reads ahead"), "{}", judged.sentence);
    }
    // For a folder, the size of its files decides as well, even if another method is faster.
    record.targets[TargetIndex::new(0)].own_read_ahead = own(short);
    add_cold(&mut record, "rust/files-io_uring@depth=64", sample_of_ms(400, 40, 160));
    for (files, words) in [(8, "short read-ahead"), (FILE_BYTES / 4096, "shallow depth")] {
        record.targets[TargetIndex::new(0)].kind =
            TargetKind::Tree(TreeFacts { files, ..TreeFacts::default() });
        assert_eq!(short_cause(&record, mapped), words, "{files} files");
    }
}

#[test]
fn readings_that_are_seen_to_bypass_the_cache_have_no_read_ahead_and_no_copy() {
    // The copy of the whole file takes 100 ms of the kernel's time.
    for (name, system_ms, left_share, is_estimate, uses_cache) in [
        ("command/dd bs=64k iflag=direct", 80, 0.0, false, false),
        ("command/dd bs=64k iflag=direct", 80, 0.01, false, false),
        ("command/fio --bs=4k --direct=1", 160, 0.0, false, false),
        ("command/cat", 160, 1.0, false, true),
        ("command/cat", 160, 0.0, true, true),
        ("rust/auto/avx2", 40, 0.0, false, false),
        ("rust/auto/avx2", 160, 1.0, false, true),
        // It copies, and drops what it has copied.
        ("rust/dontcache/avx2", 160, 0.0, false, true),
    ] {
        let mut record = machine_record();
        let read = add_cold(&mut record, name, sample_of_ms(2000, 40, system_ms));
        change_each(&mut record, read, [left_share; 5], |sample, share| {
            sample.resident_after = Some(share);
            sample.resident_is_estimate = is_estimate;
        });
        for (ahead_bytes, right) in [(128 << 10, "too little in flight"), (16 << 10, "short read-ahead")] {
            let device =
                Device { name: "vda".into(), read_ahead_bytes: Some(ahead_bytes), ..Device::default() };
            record.targets[TargetIndex::new(0)].device = Some(device);
            let judged = verdict_on(&record, read);
            let right = if uses_cache { right } else { "too little in flight" };
            assert_eq!(judged.short_cause(), right, "{name}, {left_share} left: {judged:?}");
            let has_read_ahead = judged.sentence.contains("the kernel reads ahead");
            let has_copy = judged.parts.unwrap().share_of(TimePart::Copy) > 0.0;
            assert_eq!((has_read_ahead, has_copy), (uses_cache, uses_cache), "{name}: {judged:?}");
        }
    }
}

/// Adds a cold trial under a read-ahead of 128 KiB, the value found at the start, and the same
/// trial under 4 MiB, which is four times as fast. Returns the index of the first.
fn add_trial_under_two_read_aheads(record: &mut Record) -> usize {
    let device =
        |bytes| Some(Device { name: "vda".into(), read_ahead_bytes: Some(bytes), ..Device::default() });
    let setting = |value: &str, is_found| SettingValue {
        name: "read-ahead".to_owned(),
        value: value.to_owned(),
        is_initial: is_found,
        is_read_back: true,
    };
    let settings = vec![setting("4MiB", false)];
    let large =
        TargetFacts { device: device(4 << 20), settings, ..record.targets[TargetIndex::new(0)].clone() };
    record.targets[TargetIndex::new(0)].device = device(128 << 10);
    record.targets[TargetIndex::new(0)].settings = vec![setting("128KiB", true)];
    let found = add_cold(record, "rust/mmap/avx2", sample_of_ms(2000, 40, 160));
    let under_large = add_cold(record, "rust/mmap/avx2", sample_of_ms(500, 40, 160));
    record.targets.push(large);
    record.trials[TrialIndex::new(under_large)].trial.target = TargetIndex::new(1);
    found
}

const LARGER_READ_AHEAD_WORDS: &str = "the kernel reads ahead 128 KiB for it, and blockdev --setra 8192 /dev/vda sets 4.00 MiB; under \
     read-ahead=4MiB it is 4.0 times as fast";

#[test]
fn a_larger_read_ahead_that_was_raced_and_is_faster_is_named() {
    let mut record = machine_record();
    let found = add_trial_under_two_read_aheads(&mut record);
    assert_verdict(&record, found, "too little in flight", LARGER_READ_AHEAD_WORDS);
    record.targets[TargetIndex::new(1)].device = record.targets[TargetIndex::new(0)].device.clone();
    assert_verdict(&record, found, "too little in flight", "sets 4.00 MiB;");
}

#[test]
fn a_larger_read_ahead_that_was_raced_is_named_above_a_cache_and_without_a_meter_or_limit() {
    let mut above_cache = machine_record();
    let found = add_trial_under_two_read_aheads(&mut above_cache);
    devices::put_above_a_cache(&mut above_cache);
    assert_verdict(&above_cache, found, "too little in flight", LARGER_READ_AHEAD_WORDS);
    above_cache.targets[TargetIndex::new(1)].device = above_cache.targets[TargetIndex::new(0)].device.clone();
    assert_eq!(short_cause(&above_cache, found), "unknown", "no larger read-ahead was raced");
    let mut no_limit = record(None);
    let found = add_trial_under_two_read_aheads(&mut no_limit);
    assert_verdict(&no_limit, found, "too little in flight", LARGER_READ_AHEAD_WORDS);
    let mut no_meter = machine_record();
    let found = add_trial_under_two_read_aheads(&mut no_meter);
    change_each(&mut no_meter, found, [(); 5], |sample, ()| sample.device_read_bytes = None);
    assert_verdict(&no_meter, found, "too little in flight", LARGER_READ_AHEAD_WORDS);
}

#[test]
fn kernel_time_beyond_the_copy_of_an_encoded_file_is_decoding() {
    let said = "stopped by decoding, by the file system: it stores the file in fewer bytes than it has";
    for (filesystem, device_bytes, said) in [
        ("squashfs", FILE_BYTES / 4, said),
        // The file is stored as it reads.
        ("squashfs", FILE_BYTES, "no single thing stops it"),
        // The file system stores nothing encoded.
        ("ext4", FILE_BYTES / 4, "no single thing stops it"),
    ] {
        let mut record = machine_record();
        record.targets[TargetIndex::new(0)].filesystem = Some(filesystem.to_owned());
        let reading = with_device_bytes(device_bytes, sample_of_ms(2000, 60, 1800));
        let read = add(&mut record, "rust/read/avx2", CacheState::Cold, Cache::Through, reading);
        assert_sentence(&verdict_on(&record, read), said);
    }
    // An overlay shows the file.
    let mut record = machine_record();
    let target = &mut record.targets[TargetIndex::new(0)];
    target.filesystem = Some("overlay".to_owned());
    target.layers =
        [(LayerKind::Overlay, "overlay"), (LayerKind::File, "/l/f"), (LayerKind::Filesystem, "squashfs")]
            .map(|(kind, name)| Layer::new(kind, name))
            .to_vec();
    let reading = with_device_bytes(FILE_BYTES / 4, sample_of_ms(2000, 60, 1800));
    let read = add(&mut record, "rust/read/avx2", CacheState::Cold, Cache::Through, reading);
    assert_sentence(&verdict_on(&record, read), said);
    // A command that stops early needs few bytes of any file. So does a reading of blocks that
    // repeat.
    let mut record = machine_record();
    record.targets[TargetIndex::new(0)].filesystem = Some("squashfs".to_owned());
    let reading = with_device_bytes(FILE_BYTES / 4, sample_of_ms(2000, 60, 1800));
    let command = add(&mut record, "command/cat", CacheState::Cold, Cache::Through, reading);
    record.trials[TrialIndex::new(command)].trial.work = Work::Output;
    for (left_share, is_decoding) in [(1.0, true), (0.25, false)] {
        change_each(&mut record, command, [left_share; 5], |sample, share| {
            sample.resident_after = Some(share);
        });
        assert_eq!(short_cause(&record, command).starts_with("decoding"), is_decoding, "{left_share}");
    }
    record.trials[TrialIndex::new(command)].trial.work = Work::Newlines;
    assert!(short_cause(&record, command).starts_with("decoding"), "it counts all newlines");
    let (block_bytes, reads) = (4096, FILE_BYTES / 4096);
    let places = PlacesFacts {
        pattern: Pattern::Random,
        block_bytes,
        read_count: reads,
        distinct_blocks: reads / 5,
        file_bytes: FILE_BYTES,
    };
    record.targets[TargetIndex::new(0)].kind = TargetKind::Places(places);
    assert!(!short_cause(&record, command).starts_with("decoding"));
    for (state, user_ms, system_ms, right) in [
        (CacheState::Cold, 60, 1800, "decoding"),
        // The reading also waits.
        (CacheState::Cold, 700, 600, "decoding or device"),
        (CacheState::Cold, 1900, 60, "processing"),
        // The page cache holds decoded pages.
        (CacheState::Warm, 60, 1800, "mixed, 90 % other kernel work"),
    ] {
        let mut record = encoded_file_record();
        let reading = with_device_bytes(FILE_BYTES / 4, sample_of_ms(2000, user_ms, system_ms));
        let read = add(&mut record, "rust/read/avx2", state, Cache::Through, reading);
        assert_eq!(short_cause(&record, read), right, "{state}, {user_ms} and {system_ms} ms");
    }
}

#[test]
fn a_reading_that_waits_for_an_encoded_file_on_an_idle_device_is_limited_by_decoding() {
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
        let mut record = encoded_file_record();
        let reading = with_device_bytes(FILE_BYTES / 4, sample_of_ms(1000, 60, 200));
        let read = add(&mut record, "rust/read/avx2", CacheState::Cold, Cache::Through, reading);
        change_each(&mut record, read, [busy_percent; 5], |sample, percent| {
            sample.turn.wall_ns = Some(sample.wall_ns);
            sample.turn.device_busy_ns = percent.map(|percent| sample.wall_ns * percent / 100);
        });
        assert_verdict(&record, read, right, said);
    }
}
