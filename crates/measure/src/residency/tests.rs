//! Tests of the means: all agree on cold, warm and partly cached files.

use super::*;
use crate::testing::disk_file;
use std::fs;
use std::os::unix::fs::FileExt;
use tempfile::TempDir;

const PAGE_MEANS: [ResidencyMeans; 3] = [ResidencyMeans::Count, ResidencyMeans::Map, ResidencyMeans::Probe];

/// An evicted file of `pages` pages and one byte; `None` where the file system has no device.
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

fn residency_by(means: ResidencyMeans, path: &Path) -> ResidencyProver {
    let file = File::open(path).unwrap();
    let filesystem = Filesystem::read(&file).unwrap();
    ResidencyProver::open_with_means(path, file, filesystem, means).unwrap()
}

fn proof_by(means: ResidencyMeans, path: &Path) -> ResidencyProof {
    residency_by(means, path).prove().unwrap()
}

#[test]
fn all_means_agree_on_a_cold_and_on_a_warm_file() {
    let Some((_folder, path)) = cold_file(300) else { return };
    let shares = || {
        PAGE_MEANS.map(|means| proof_by(means, &path)).map(|proof| (proof.resident_share(), proof.file_pages))
    };
    assert_eq!(shares(), [(Some(0.0), 301); 3]);
    fs::read(&path).unwrap();
    assert_eq!(shares(), [(Some(1.0), 301); 3]);
}

#[test]
fn a_file_opened_once_is_counted_like_a_file_opened_alone() {
    let Some((_folder, path)) = cold_file(20) else { return };
    fs::read(&path).unwrap();
    let alone = ResidencyProver::open(&path).unwrap();
    let known = alone.counted_device().unwrap();
    let once = ResidencyProver::open_for_one_check(&path, known).unwrap();
    let is_counted = once.means == ResidencyMeans::Count;
    assert_eq!(is_counted, once.status_at_open.is_some(), "where cachestat counts, by fewer calls");
    assert_eq!(once.prove().unwrap(), alone.prove().unwrap());
    let other = |known: CountedDevice| CountedDevice { device: DeviceNumber(known.device.0 + 1), ..known };
    let elsewhere = ResidencyProver::open_for_one_check(&path, known.map(other)).unwrap();
    assert_eq!(elsewhere.status_at_open, None, "another device is examined");
    assert_eq!(elsewhere.prove().unwrap(), alone.prove().unwrap());
}

#[test]
fn only_pages_of_the_part_are_counted() {
    let Some((_folder, path)) = cold_file(300) else { return };
    read_page(&path, 100);
    let (page, cases) = (page_bytes(), [(0, 100, 0), (100, 1, 1), (101, 400, 0), (50, 100, 1)]);
    for (means, (start, length, resident)) in
        PAGE_MEANS.into_iter().flat_map(|it| cases.map(|case| (it, case)))
    {
        let part = Part { start_bytes: start * page, length_bytes: length * page };
        let proof = residency_by(means, &path).limited_to_part(Some(part)).prove().unwrap();
        assert_eq!(proof.file_pages, length.min(301 - start), "{means:?} {part:?}");
        assert!(proof.resident_pages == resident || proof.is_estimate(), "{means:?} {part:?}: {proof}");
    }
}

#[test]
fn a_probe_leaves_a_cold_file_cold() {
    let Some((_folder, path)) = cold_file(1000) else { return };
    let probe = proof_by(ResidencyMeans::Probe, &path);
    assert!(probe.is_cold() && probe.is_estimate() && probe.checked_pages == PROBES_MAX, "{probe:?}");
    assert_eq!(proof_by(ResidencyMeans::Map, &path).resident_pages, 0);
}

#[test]
fn one_page_of_many_is_counted_and_is_neither_cold_nor_warm() {
    let Some((_folder, path)) = cold_file(300) else { return };
    read_page(&path, 0);
    for means in PAGE_MEANS {
        let proof = proof_by(means, &path);
        assert_eq!(proof.resident_pages, 1, "{means:?}");
        assert!(!proof.is_cold() && !proof.is_warm());
    }
}

#[test]
fn only_cachestat_counts_dirty_pages() {
    let Some((_folder, path)) = cold_file(10) else { return };
    // The kernel may write a page back at any moment, and does so when another program calls sync.
    let dirty = (0..100).any(|_| {
        fs::write(&path, [b'y'; 10]).unwrap();
        let proof = proof_by(ResidencyMeans::Count, &path);
        assert_eq!(proof.file_pages, 1);
        proof.dirty_pages == Some(1)
    });
    assert!(dirty, "a page that was just written");
    assert_eq!(proof_by(ResidencyMeans::Map, &path).dirty_pages, None);
}

#[test]
fn probes_are_spread_from_the_first_page_to_the_last() {
    let spread = |probes, pages| (0..probes).map(|nth| probed_page(nth, probes, pages)).collect::<Vec<_>>();
    assert_eq!(spread(1, 1), [0]);
    assert_eq!(spread(3, 3), [0, 1, 2]);
    assert_eq!(spread(3, 101), [0, 50, 100]);
    assert_eq!(probed_page(127, 128, 1 << 40), (1 << 40) - 1);
}
