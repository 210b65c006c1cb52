//! Verdicts on pressed readings: a bound that is too small, a mapping that thrashes, reclaim, and
//! readings that the bound does not limit.

use super::*;
use readlab_model::sample::DeliveryMeter;
use readlab_model::target::memory::{MemoryBound, MemoryFacts};

/// Adds a copy of the first target under a bound on memory; returns the number of the copy.
fn add_target_under_bound(record: &mut Record, bound: &str) -> TargetIndex {
    let bound: MemoryBound = bound.parse().unwrap();
    let memory = MemoryFacts {
        bound,
        cache_bytes: bound.in_bytes(FILE_BYTES),
        working_set_bytes: FILE_BYTES,
        is_shared: false,
    };
    let target = record.targets.len();
    let facts = TargetFacts { memory_bound: Some(memory), ..record.targets[TargetIndex::new(0)].clone() };
    record.add(testing::target_line(target, facts));
    TargetIndex::new(target)
}

/// Adds a pressed trial with five equal samples; returns its index.
fn add_pressed(record: &mut Record, name: &str, target: TargetIndex, reading: Sample) -> usize {
    let cache = if name.contains("direct") { Cache::Bypass } else { Cache::Through };
    let index = add(record, name, CacheState::Pressed, cache, reading);
    record.trials[TrialIndex::new(index)].trial.target = target;
    index
}

/// A record with a target that is read with memory for half of the file, and that target's index.
fn record_bounded_to_half() -> (Record, TargetIndex) {
    let mut record = machine_record();
    let half = add_target_under_bound(&mut record, "50%");
    (record, half)
}

fn slow_reading() -> Sample {
    with_device_bytes(FILE_BYTES * 51 / 100, sample_of_ms(2000, 40, 160))
}

#[test]
fn a_reading_that_waits_for_bytes_it_had_before_is_limited_by_the_bound() {
    let (mut record, half) = record_bounded_to_half();
    let read = add_pressed(&mut record, "rust/read/avx2", half, slow_reading());
    let stop = "memory bound, 51 % again";
    let said = "51 % of the working set comes from the device again in each reading, with memory for 50 % of it; \
                a greater bound (--memory) shows how much memory helps; O_DIRECT with";
    assert_verdict(&record, read, stop, said);
    assert_sentence(&verdict_on(&record, read), "of its time 90 % waiting");
    let direct = with_device_bytes(FILE_BYTES, sample_of_ms(500, 5, 30));
    add_pressed(&mut record, "rust/direct@buffer_bytes=1048576", half, direct);
    assert_verdict(
        &record,
        read,
        stop,
        "rust/direct@buffer=1MiB, under the same bound, is 4.0 times as fast",
    );
    // A greater bound that does not help is not advised.
    for (bound, wall_ms) in [("90%", 2000), ("100%", 200)] {
        let target = add_target_under_bound(&mut record, bound);
        let reading = with_device_bytes(0, sample_of_ms(wall_ms, 40, 100));
        add_pressed(&mut record, "rust/read/avx2", target, reading);
        if wall_ms == 2000 {
            let said = "50 % of it; no greater bound of this run makes it faster by more than 5 % beyond doubt; O_DIRECT";
            assert_verdict(&record, read, stop, said);
        }
    }
    let said =
        "50 % of it; with memory for 100 % of the working set (1.00 GB) it is 10.0 times as fast; O_DIRECT";
    assert_verdict(&record, read, stop, said);
}

#[test]
fn a_reading_that_the_bound_does_not_slow_has_the_limits_of_the_file() {
    let (mut record, half) = record_bounded_to_half();
    let cached = add_pressed(&mut record, "rust/read/avx512", half, sample_of_ms(110, 10, 99));
    assert_verdict(&record, cached, "copy 91 %", "9.09 GB/s is 91 % of the 10.0 GB/s that rust/copy");
    let direct = with_device_bytes(FILE_BYTES, sample_of_ms(430, 5, 30));
    let direct = add_pressed(&mut record, "rust/direct@buffer_bytes=1048576", half, direct);
    assert_verdict(&record, direct, "device 93 %", "2.33 GB/s is 93 % of the 2.50 GB/s that rust/device");
    // The processor is busy while bytes come from the device again.
    let slow_scan = with_device_bytes(FILE_BYTES / 2, sample_of_ms(1000, 900, 60));
    let slow_scan = add_pressed(&mut record, "rust/read/scalar", half, slow_scan);
    assert!(
        short_cause(&record, slow_scan).starts_with("processing"),
        "{:?}",
        verdict_on(&record, slow_scan)
    );
    // A method that leaves nothing in memory is not helped by more memory.
    let dropped = add_pressed(&mut record, "rust/dontcache", half, slow_reading());
    change_each(&mut record, dropped, [0.0; 5], |sample, share| sample.resident_after = Some(share));
    let judged = verdict_on(&record, dropped);
    assert!(matches!(judged.verdict, Verdict::Device { .. }), "{judged:?}");
}

#[test]
fn a_mapping_that_brings_more_than_it_reads_thrashes() {
    let mut record = machine_record();
    let asked_bytes = make_target_places(&mut record);
    let half = add_target_under_bound(&mut record, "50%");
    // Half of the blocks are in memory, which is a small share of the file.
    record.targets[half].memory_bound.as_mut().unwrap().working_set_bytes = asked_bytes;
    let resident_after = Some(asked_bytes as f64 / FILE_BYTES as f64 / 2.0);
    let fetched = |times, wall_ms| Sample {
        major_faults: Some(asked_bytes / 4096),
        resident_after,
        ..with_device_bytes(times * asked_bytes, sample_of_ms(wall_ms, 30, 100))
    };
    let mapped = add_pressed(&mut record, "rust/places-mmap/avx2", half, fetched(20, 2000));
    let stop = "thrash, 20× the bytes";
    let said = "its 4096 major page faults bring 20.0 times the bytes that it reads";
    assert_verdict(&record, mapped, stop, said);
    assert_verdict(&record, mapped, stop, "madvise(MADV_RANDOM) or O_DIRECT brings no more than the blocks;");
    let random = add_pressed(&mut record, "rust/places-mmap/avx2@random=1", half, fetched(1, 400));
    assert_verdict(&record, mapped, stop, "@random=1, which fetches less, is 5.0 times as fast");
    assert_verdict(&record, random, "memory bound, 100 % again", "O_DIRECT brings no more than the blocks");
    // The file system brings the extents of encoded blocks as a whole.
    let mut encoded = record.clone();
    let extents = Extents { count: 8, encoded_bytes: FILE_BYTES, ..Extents::default() };
    encoded.targets[half].extents = Some(extents);
    assert_verdict(&encoded, mapped, "decoding or device", "100 % of the file is stored encoded");
    // Read calls have no page faults that wait; the kernel reads ahead for them.
    let calls = add_pressed(&mut record, "rust/places-pread/avx2", half, fetched(20, 2000));
    change_each(&mut record, calls, [DeliveryMeter::Calls; 5], |sample, delivered| {
        sample.major_faults = Some(0);
        sample.turn.delivered = Some(delivered);
    });
    assert_verdict(&record, calls, "read-ahead, 20× the bytes", "posix_fadvise(POSIX_FADV_RANDOM)");
}

#[test]
fn time_in_the_kernel_while_a_task_waits_for_memory_is_reclaim() {
    for is_of_group in [true, false] {
        let (mut record, half) = record_bounded_to_half();
        let reading = with_device_bytes(FILE_BYTES, sample_of_ms(1000, 100, 850));
        let read = add_pressed(&mut record, "rust/read/avx2", half, reading);
        assert!(!short_cause(&record, read).contains("reclaim"), "nothing shows it");
        change_each(&mut record, read, [600; 5], |sample, stalled_ms| {
            let stalled_ns = Some(stalled_ms * NS_PER_MS);
            sample.turn.wall_ns = Some(sample.wall_ns);
            sample.pages_scanned = Some(2 * FILE_BYTES / 4096);
            match is_of_group {
                true => sample.memory_stall_ns = stalled_ns,
                false => sample.turn.memory_pressure_ns = stalled_ns,
            }
        });
        let said = "up to 60 % of its time: 2.0 pages are examined for each page that comes from the device";
        assert_verdict(&record, read, "reclaim 60 %", said);
        // Most of the wait for memory may be a wait for the device.
        change_each(&mut record, read, [5000; 5], |sample, wall_ms| {
            sample.wall_ns = wall_ms * NS_PER_MS;
            sample.turn.wall_ns = Some(sample.wall_ns);
            sample.device_read_bytes = Some(FILE_BYTES);
        });
        assert_verdict(&record, read, "memory bound, 100 % again", "with memory for 50 % of it");
    }
}
