//! Tests that every method that reads places of a file gives the answer of the simplest code, with
//! the proof of each block, and times every read once.

use crate::files::{evict, is_cached};
use crate::naive;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use readlab_protocol::{BlockBytes, BlockProof, Cache, Places, Reads};
use readlab_rust::method::{Method, registry};
use readlab_rust::{Answer, ReadError, Reading, Work};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A file with a list of places. Some places occur twice, and the last block ends at the end of the
/// file.
struct Blocks {
    _home: TempDir,
    list: PathBuf,
    content: Vec<u8>,
    places: Places,
}

impl Blocks {
    fn new(block_bytes: u64, offsets: &[u64]) -> Blocks {
        Blocks::with_sizes(BlockBytes::Same(block_bytes), offsets)
    }

    /// Blocks of different lengths.
    fn with_ranges(blocks: &[(u64, u64)]) -> Blocks {
        let (offsets, lengths): (Vec<u64>, Vec<u64>) = blocks.iter().copied().unzip();
        Blocks::with_sizes(BlockBytes::Each(lengths), &offsets)
    }

    fn with_sizes(block_bytes: BlockBytes, offsets: &[u64]) -> Blocks {
        let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let (file, list) = (home.path().join("f"), home.path().join("places"));
        let content: Vec<u8> =
            (0..64 * 1024_u32).map(|at| if at % 41 == 7 { b'\n' } else { (at / 11) as u8 }).collect();
        fs::write(&file, &content).unwrap();
        let places = Places { file, block_bytes, offsets: offsets.to_vec() };
        fs::write(&list, places.to_bytes()).unwrap();
        Blocks { _home: home, list, content, places }
    }

    /// The correct answer for a work, with the proof of each block.
    fn truth(&self, work: Work) -> Answer {
        let (mut proof, mut value_of_all, mut bytes) = (BlockProof::default(), 0, 0);
        for number in 0..self.places.offsets.len() {
            let range = self.places.range_of(number);
            let value = naive::value(&self.content[range.start as usize..range.end as usize], work);
            proof = proof.merge(BlockProof::from_block(number as u64, value));
            value_of_all += value;
            bytes += range.end - range.start;
        }
        Answer { blocks: Some(proof), ..naive::answer(work, bytes, value_of_all) }
    }
}

fn methods() -> impl Iterator<Item = &'static Method> {
    let of_places = registry::ALL.iter().filter(|method| method.reads == Reads::Places);
    of_places.filter(|method| method.available().is_ok())
}

/// Settings at the ends of their ranges, as far as a test can reach, with the switches on.
fn settings(method: &Method) -> Vec<Vec<(&'static str, u64)>> {
    let named = |value: fn(u64, u64) -> u64| {
        method.params.iter().map(|it| (it.name, value(it.min, it.max.min(7)))).collect::<Vec<_>>()
    };
    vec![Vec::new(), named(|min, _| min), named(|_, max| max)]
}

fn read(reading: &mut Reading) -> Result<Answer, ReadError> {
    reading.prepare()?;
    let answer = reading.read();
    reading.release();
    answer
}

#[test]
fn every_block_is_read_proven_and_timed_once() {
    let blocks = Blocks::new(4096, &[8192, 0, 61_440, 8192, 4096, 20_480, 0, 32_768]);
    let mut read_by_some = 0;
    for method in methods().filter(|method| method.cache != Cache::None) {
        for (work, given) in [Work::Newlines, Work::Sum, Work::Discard]
            .iter()
            .flat_map(|work| settings(method).into_iter().map(move |given| (*work, given)))
        {
            for scan in method.scans(work) {
                let name = format!("{} {scan} {work} {given:?}", method.name);
                let reading = Reading::new(method.name, scan, work, &blocks.list, given.iter().copied());
                let mut reading = reading.unwrap_or_else(|error| panic!("{name}: {error}"));
                match read(&mut reading) {
                    Ok(answer) => assert_eq!(answer, blocks.truth(work), "{name}"),
                    Err(ReadError::Unavailable(reason)) => {
                        eprintln!("SKIPPED: {name}: {reason}");
                        continue;
                    }
                    Err(error) => panic!("{name}: {error}"),
                }
                let latencies = reading.take_latencies().expect("it times reads");
                assert_eq!(latencies.count(), blocks.places.offsets.len() as u64, "{name}");
                assert!(reading.take_latencies().is_none(), "{name}: they are taken once");
                read_by_some += 1;
            }
        }
    }
    assert!(read_by_some > 20);
}

#[test]
fn ranges_of_any_length_are_read_proven_and_timed_apart_and_merged() {
    let end = 64 * 1024;
    // Ranges that touch, have gaps, contain each other or end with the file.
    let ranges =
        [(8192, 100), (8292, 50), (9000, 4096), (0, 1), (end - 1, 1), (8200, 20), (4095, 2), (0, end)];
    let blocks = Blocks::with_ranges(&ranges);
    let mut merged = 0;
    for method in methods() {
        let takes_merge = method.params.iter().any(|param| param.name == "merge_bytes");
        for merge in [0, 1, 4096].into_iter().filter(|merge| *merge == 0 || takes_merge) {
            let given: Vec<(&str, u64)> = takes_merge.then_some(("merge_bytes", merge)).into_iter().collect();
            for direct in [0, 1].into_iter().filter(|direct| *direct == 0 || method.cache == Cache::ByParam) {
                let given = given.iter().copied().chain((direct == 1).then_some(("direct", 1)));
                let name = format!("{} merge={merge} direct={direct}", method.name);
                let scan = method.scans(Work::Sum)[0];
                let mut reading = Reading::new(method.name, scan, Work::Sum, &blocks.list, given).unwrap();
                match read(&mut reading) {
                    // A control proves no answer.
                    Ok(answer) if method.cache == Cache::None => assert_eq!(answer.sum, None, "{name}"),
                    Ok(answer) => assert_eq!(answer, blocks.truth(Work::Sum), "{name}"),
                    Err(ReadError::Unavailable(reason)) => {
                        eprintln!("SKIPPED: {name}: {reason}");
                        continue;
                    }
                    Err(error) => panic!("{name}: {error}"),
                }
                assert_eq!(reading.take_latencies().unwrap().count(), ranges.len() as u64, "{name}");
                merged += usize::from(merge > 0);
            }
        }
    }
    assert!(merged >= 8, "pread, preadv, ahead and the ring by two gaps each");
}

#[test]
fn a_sample_counts_the_bytes_that_merged_reads_requested() {
    let blocks = Blocks::with_ranges(&[(0, 10), (30, 10), (5000, 10)]);
    for (merge, right) in [(0, 30), (20, 40 + 10), (5000, 5010)] {
        let given = [("merge_bytes", merge)];
        let mut reading = Reading::new("places-pread", "-", Work::Discard, &blocks.list, given).unwrap();
        reading.prepare().unwrap();
        let sample = reading.sample().unwrap();
        assert_eq!((sample.read_bytes, sample.bytes), (Some(right), Some(30)), "merge={merge}");
    }
    let mut mapped = Reading::new("places-mmap", "touch", Work::Discard, &blocks.list, []).unwrap();
    mapped.prepare().unwrap();
    assert_eq!(mapped.sample().unwrap().read_bytes, None, "the kernel decides what it fetches");
}

#[test]
fn a_place_beyond_the_end_fails_with_the_file_and_the_byte_and_also_if_it_is_merged() {
    for (blocks, merge, end) in [
        (Blocks::new(4096, &[0, 65_536]), None, "at byte 65536"),
        (Blocks::with_ranges(&[(0, 10), (65_530, 7)]), Some(("merge_bytes", 1 << 20)), ""),
    ] {
        for method in methods().filter(|method| method.cache != Cache::None) {
            let takes_merge = method.params.iter().any(|param| param.name == "merge_bytes");
            let (scan, given) = (method.scans(Work::Sum)[0], merge.filter(|_| takes_merge));
            let mut reading = Reading::new(method.name, scan, Work::Sum, &blocks.list, given).unwrap();
            match read(&mut reading) {
                Err(ReadError::Unavailable(reason)) => eprintln!("SKIPPED: {}: {reason}", method.name),
                Err(error) => {
                    let (text, file) = (error.to_string(), blocks.places.file.display().to_string());
                    assert!(text.starts_with(&file) && text.ends_with(end), "{}: {text}", method.name);
                }
                Ok(_) => panic!("{}: it read beyond the end", method.name),
            }
        }
    }
}

#[test]
fn a_read_of_cached_bytes_takes_time_too() {
    let offsets: Vec<u64> = (0..400).map(|number| number * 7 % 16 * 4096).collect();
    let blocks = Blocks::new(4096, &offsets);
    for method in methods() {
        for given in [vec![], vec![("depth", 4)], vec![("batch", 3)]] {
            let is_known = |(name, _): &(&str, u64)| method.params.iter().any(|param| param.name == *name);
            if !given.iter().all(is_known) {
                continue;
            }
            let scan = method.scans(Work::Sum)[0];
            let mut reading = Reading::new(method.name, scan, Work::Sum, &blocks.list, given).unwrap();
            match read(&mut reading) {
                Err(ReadError::Unavailable(reason)) => eprintln!("SKIPPED: {}: {reason}", method.name),
                Err(error) => panic!("{}: {error}", method.name),
                Ok(_) => {
                    let bytes = STANDARD.decode(reading.take_latencies().unwrap().encoded()).unwrap();
                    let read: Histogram<u64> = Deserializer::new().deserialize(&mut &bytes[..]).unwrap();
                    assert!(read.min() > 0, "{}: a read of {} ns", method.name, read.min());
                }
            }
        }
    }
}

#[test]
fn controls_prove_no_block_and_the_null_control_reads_nothing() {
    let blocks = Blocks::new(4096, &[8192, 0]);
    for method in methods().filter(|method| method.cache == Cache::None) {
        let mut reading = Reading::new(method.name, "-", Work::Sum, &blocks.list, []).unwrap();
        match read(&mut reading) {
            Ok(answer) => assert_eq!(answer.sum, None, "{}", method.name),
            Err(ReadError::Unavailable(reason)) => eprintln!("SKIPPED: {}: {reason}", method.name),
            Err(error) => panic!("{}: {error}", method.name),
        }
    }
    fs::remove_file(&blocks.places.file).unwrap();
    let mut null = Reading::new("places-null", "-", Work::Sum, &blocks.list, []).unwrap();
    assert_eq!(read(&mut null).unwrap(), Answer::default());
}

#[test]
fn the_controls_of_copies_and_faults_find_their_blocks_in_the_page_cache() {
    let blocks = Blocks::with_ranges(&[(32_768, 10), (8192, 16_384)]);
    let (file, last_page) = (&blocks.places.file, 61_440);
    for name in ["places-copy", "places-faults"] {
        evict(file);
        if is_cached(file, last_page) {
            return eprintln!("SKIPPED: files stay in the page cache here");
        }
        let mut control = Reading::new(name, "-", Work::Sum, &blocks.list, []).unwrap();
        control.prepare().unwrap();
        assert!([8192, 20_480].iter().all(|page| is_cached(file, *page)), "{name} reads from the device");
    }
}

/// Number of page faults of this thread without a read from a device.
fn minor_faults_of_thread() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/stat").unwrap();
    // The fields after the program's name, which may have spaces; the first is the third of all.
    let (_, fields) = text.rsplit_once(')').unwrap();
    fields.split_ascii_whitespace().nth(7).unwrap().parse().unwrap()
}

#[test]
fn the_control_of_page_faults_adds_few_faults_of_its_own_to_those_of_long_blocks() {
    let block_bytes = 16 << 20;
    let blocks = Blocks::with_ranges(&[(0, block_bytes)]);
    fs::OpenOptions::new().write(true).open(&blocks.places.file).unwrap().set_len(block_bytes).unwrap();
    let mut faults = Reading::new("places-faults", "-", Work::Sum, &blocks.list, []).unwrap();
    let before = minor_faults_of_thread();
    faults.prepare().unwrap();
    let added = minor_faults_of_thread() - before;
    assert!(added < block_bytes / 4096 / 8, "{added} page faults");
}

#[test]
fn a_block_size_that_the_device_refuses_is_named() {
    let blocks = Blocks::new(100, &[0, 300]);
    let mut reading = Reading::new("places-direct", "-", Work::Discard, &blocks.list, []).unwrap();
    match read(&mut reading) {
        Err(ReadError::Unavailable(reason)) => assert!(reason.starts_with("O_DIRECT: "), "{reason}"),
        other => panic!("{other:?}"),
    }
    let mut reading = Reading::new("places-pread", "-", Work::Discard, &blocks.list, []).unwrap();
    assert_eq!(read(&mut reading).unwrap(), blocks.truth(Work::Discard));
}

#[test]
fn polling_needs_a_device() {
    let polled = Reading::new("places-io_uring", "-", Work::Discard, Path::new("/none"), [("polled", 1)]);
    assert!(polled.unwrap_err().to_string().contains("polled needs direct"));
}
