//! Tests of the means: all agree on cold, warm and partly cached files.

use super::*;
use std::os::unix::fs::FileExt;

/// A file of `pages` pages and one byte in the build folder, which is seldom on tmpfs; evicted.
fn cold_file(pages: usize) -> Option<tempfile::NamedTempFile> {
    let program = std::env::current_exe().unwrap();
    let file = tempfile::NamedTempFile::new_in(program.parent().unwrap()).unwrap();
    let backing = Filesystem::read(file.as_file()).unwrap().backing;
    if backing != Backing::Device {
        eprintln!("SKIPPED: the build folder is on a file system without a device of its own ({backing:?})");
        return None;
    }
    std::fs::write(file.path(), vec![b'x'; pages * usize::try_from(page_bytes()).unwrap() + 1]).unwrap();
    file.as_file().sync_all().unwrap();
    page_cache::evict(file.as_file()).unwrap();
    Some(file)
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
    let Some(file) = cold_file(300) else { return };
    for means in [Means::Mincore, Means::Probe, Means::Cachestat] {
        let proof = by(means, file.path());
        assert_eq!((proof.share(), proof.file_pages), (Some(0.0), 301), "{means:?}");
    }
    std::fs::read(file.path()).unwrap();
    for means in [Means::Mincore, Means::Probe, Means::Cachestat] {
        assert_eq!(by(means, file.path()).share(), Some(1.0), "{means:?}");
    }
}

#[test]
fn one_of_many_files_is_counted_as_one_alone_is() {
    let Some(file) = cold_file(20) else { return };
    std::fs::read(file.path()).unwrap();
    let alone = Residency::open(file.path()).unwrap();
    let known = alone.counted_device().unwrap();
    let once = Residency::open_once(file.path(), known).unwrap();
    assert_eq!(
        once.means() == Means::Cachestat,
        once.opened.is_some(),
        "where cachestat counts, by fewer calls"
    );
    assert_eq!(once.share().unwrap(), alone.share().unwrap());
    let other = |known: CountedDevice| CountedDevice { device: DeviceNumber(known.device.0 + 1), ..known };
    let elsewhere = Residency::open_once(file.path(), known.map(other)).unwrap();
    assert_eq!(elsewhere.opened, None, "another device is examined");
    assert_eq!(elsewhere.share().unwrap(), alone.share().unwrap());
}

#[test]
fn of_a_part_only_its_own_pages_are_counted() {
    let Some(file) = cold_file(300) else { return };
    let reader = File::open(file.path()).unwrap();
    page_cache::disable_readahead(&reader).unwrap();
    reader.read_at(&mut [0], 100 * page_bytes()).unwrap();
    let (page, cases) = (page_bytes(), [(0, 100, 0), (100, 1, 1), (101, 400, 0), (50, 100, 1)]);
    let means = [Means::Cachestat, Means::Mincore, Means::Probe];
    for (means, (start, length, resident)) in means.into_iter().flat_map(|it| cases.map(|case| (it, case))) {
        let part = Part { start_bytes: start * page, length_bytes: length * page };
        let residency = opened(means, file.path());
        let proof = residency.of_part(Some(part)).share().unwrap();
        assert_eq!(proof.file_pages, length.min(301 - start), "{means:?} {part:?}");
        assert!(proof.resident == resident || proof.is_estimate(), "{means:?} {part:?}: {proof}");
    }
}

#[test]
fn a_probe_leaves_a_cold_file_cold() {
    let Some(file) = cold_file(1000) else { return };
    let probe = by(Means::Probe, file.path());
    assert!(probe.is_cold() && probe.is_estimate() && probe.pages == PROBES, "{probe:?}");
    assert_eq!(by(Means::Mincore, file.path()).resident, 0);
}

#[test]
fn one_page_of_many_is_counted_and_is_neither_cold_nor_warm() {
    let Some(file) = cold_file(300) else { return };
    let reader = File::open(file.path()).unwrap();
    page_cache::disable_readahead(&reader).unwrap();
    reader.read_at(&mut [0], 0).unwrap();
    for means in [Means::Cachestat, Means::Mincore, Means::Probe] {
        let proof = by(means, file.path());
        assert_eq!(proof.resident, 1, "{means:?}");
        assert!(!proof.is_cold() && !proof.is_warm());
    }
}

#[test]
fn dirty_pages_are_counted_where_the_means_can() {
    let Some(file) = cold_file(10) else { return };
    // The kernel may write a page back at any moment, and does so when others sync.
    let dirty = (0..100).any(|_| {
        std::fs::write(file.path(), [b'y'; 10]).unwrap();
        let proof = by(Means::Cachestat, file.path());
        assert_eq!(proof.file_pages, 1);
        proof.dirty == Some(1)
    });
    assert!(dirty, "a page that was just written");
    assert_eq!(by(Means::Mincore, file.path()).dirty, None);
}

#[test]
fn an_empty_file_has_no_share() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let proof = Residency::open(file.path()).unwrap().share().unwrap();
    assert_eq!(proof.share(), None);
}

#[test]
fn probes_are_spread_from_the_first_page_to_the_last() {
    let spread = |probes, pages| (0..probes).map(|nth| evenly(nth, probes, pages)).collect::<Vec<_>>();
    assert_eq!(spread(1, 1), [0]);
    assert_eq!(spread(3, 3), [0, 1, 2]);
    assert_eq!(spread(3, 101), [0, 50, 100]);
    assert_eq!(evenly(127, 128, 1 << 40), (1 << 40) - 1);
}
