//! Tests of the means: all agree on cold, warm and partly cached files.

use super::*;
use crate::testing::disk_file;
use std::fs;
use std::os::unix::fs::FileExt;
use tempfile::TempDir;

const ALL: [Means; 3] = [Means::Cachestat, Means::Mincore, Means::Probe];

/// A file of `pages` pages and one byte, evicted, where it has a device of its own.
fn cold_file(pages: usize) -> Option<(TempDir, PathBuf)> {
    let content = vec![b'x'; pages * usize::try_from(page_bytes()).unwrap() + 1];
    disk_file(&content, |backing| backing == Backing::Device)
}

/// Brings one page of a file into the cache.
fn read_page(path: &Path, page: u64) {
    let reader = File::open(path).unwrap();
    page_cache::disable_readahead(&reader).unwrap();
    reader.read_at(&mut [0], page * page_bytes()).unwrap();
}

fn opened(means: Means, path: &Path) -> Residency {
    let file = File::open(path).unwrap();
    let filesystem = Filesystem::read(&file).unwrap();
    Residency::with(path, file, filesystem, means).unwrap()
}

fn by(means: Means, path: &Path) -> ResidencyProof {
    opened(means, path).share().unwrap()
}

#[test]
fn all_means_agree_on_a_cold_and_on_a_warm_file() {
    let Some((_folder, path)) = cold_file(300) else { return };
    let shares = || ALL.map(|means| by(means, &path)).map(|proof| (proof.share(), proof.file_pages));
    assert_eq!(shares(), [(Some(0.0), 301); 3]);
    fs::read(&path).unwrap();
    assert_eq!(shares(), [(Some(1.0), 301); 3]);
}

#[test]
fn one_of_many_files_is_counted_as_one_alone_is() {
    let Some((_folder, path)) = cold_file(20) else { return };
    fs::read(&path).unwrap();
    let alone = Residency::open(&path).unwrap();
    let known = alone.counted_device().unwrap();
    let once = Residency::open_once(&path, known).unwrap();
    let is_counted = once.means == Means::Cachestat;
    assert_eq!(is_counted, once.opened.is_some(), "where cachestat counts, by fewer calls");
    assert_eq!(once.share().unwrap(), alone.share().unwrap());
    let other = |known: CountedDevice| CountedDevice { device: DeviceNumber(known.device.0 + 1), ..known };
    let elsewhere = Residency::open_once(&path, known.map(other)).unwrap();
    assert_eq!(elsewhere.opened, None, "another device is examined");
    assert_eq!(elsewhere.share().unwrap(), alone.share().unwrap());
}

#[test]
fn of_a_part_only_its_own_pages_are_counted() {
    let Some((_folder, path)) = cold_file(300) else { return };
    read_page(&path, 100);
    let (page, cases) = (page_bytes(), [(0, 100, 0), (100, 1, 1), (101, 400, 0), (50, 100, 1)]);
    for (means, (start, length, resident)) in ALL.into_iter().flat_map(|it| cases.map(|case| (it, case))) {
        let part = Part { start_bytes: start * page, length_bytes: length * page };
        let proof = opened(means, &path).of_part(Some(part)).share().unwrap();
        assert_eq!(proof.file_pages, length.min(301 - start), "{means:?} {part:?}");
        assert!(proof.resident == resident || proof.is_estimate(), "{means:?} {part:?}: {proof}");
    }
}

#[test]
fn a_probe_leaves_a_cold_file_cold() {
    let Some((_folder, path)) = cold_file(1000) else { return };
    let probe = by(Means::Probe, &path);
    assert!(probe.is_cold() && probe.is_estimate() && probe.pages == PROBES, "{probe:?}");
    assert_eq!(by(Means::Mincore, &path).resident, 0);
}

#[test]
fn one_page_of_many_is_counted_and_is_neither_cold_nor_warm() {
    let Some((_folder, path)) = cold_file(300) else { return };
    read_page(&path, 0);
    for means in ALL {
        let proof = by(means, &path);
        assert_eq!(proof.resident, 1, "{means:?}");
        assert!(!proof.is_cold() && !proof.is_warm());
    }
}

#[test]
fn dirty_pages_are_counted_where_the_means_can() {
    let Some((_folder, path)) = cold_file(10) else { return };
    // The kernel may write a page back at any moment, and does so when others sync.
    let dirty = (0..100).any(|_| {
        fs::write(&path, [b'y'; 10]).unwrap();
        let proof = by(Means::Cachestat, &path);
        assert_eq!(proof.file_pages, 1);
        proof.dirty == Some(1)
    });
    assert!(dirty, "a page that was just written");
    assert_eq!(by(Means::Mincore, &path).dirty, None);
}

#[test]
fn probes_are_spread_from_the_first_page_to_the_last() {
    let spread = |probes, pages| (0..probes).map(|nth| evenly(nth, probes, pages)).collect::<Vec<_>>();
    assert_eq!(spread(1, 1), [0]);
    assert_eq!(spread(3, 3), [0, 1, 2]);
    assert_eq!(spread(3, 101), [0, 50, 100]);
    assert_eq!(evenly(127, 128, 1 << 40), (1 << 40) - 1);
}
