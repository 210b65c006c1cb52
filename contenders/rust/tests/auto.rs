//! Tests of `auto`: it delivers every byte once and at its offset, whatever part of the file is
//! cached.

use proptest::prelude::*;
use readlab_rust::{Auto, Strategy};
use rustix::fs::Advice;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::num::NonZero;
use std::ops::Range;
use std::path::Path;
use tempfile::NamedTempFile;

const MIB: usize = 1 << 20;

/// A file of this size, synced to its device, so that its pages can be evicted.
fn file(len: usize) -> (NamedTempFile, Vec<u8>) {
    let bytes: Vec<u8> = (0..len as u64).map(|i| (i.wrapping_mul(0x9E37_79B9) >> 13) as u8).collect();
    let mut file = NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    file.write_all(&bytes).unwrap();
    file.as_file().sync_all().unwrap();
    (file, bytes)
}

fn evict(file: &NamedTempFile, range: Range<usize>) {
    let file = File::open(file.path()).unwrap();
    rustix::fs::fadvise(&file, range.start as u64, NonZero::new(range.len() as u64), Advice::DontNeed)
        .unwrap();
}

fn autos() -> [Auto; 4] {
    let one = Auto::new().threads(NonZero::<usize>::MIN);
    let three = Auto::new().threads(NonZero::new(3).unwrap());
    // SAFETY: the files of these tests do not change during a reading.
    unsafe { [one, three, one.mapping(), three.mapping()] }
}

/// The file as a sink in order sees it.
fn from_front(auto: Auto, path: &Path) -> Vec<u8> {
    let mut seen = Vec::new();
    let count = auto
        .read(path, |at: u64, piece: &[u8]| {
            assert_eq!(at, seen.len() as u64);
            seen.extend_from_slice(piece);
        })
        .unwrap();
    assert_eq!(count, seen.len() as u64);
    seen
}

/// The file put together from what sinks of several threads saw.
fn in_pieces(auto: Auto, path: &Path) -> Vec<u8> {
    #[derive(Default)]
    struct Pieces(BTreeMap<u64, Vec<u8>>);
    impl readlab_rust::Sink for Pieces {
        fn take(&mut self, at: u64, piece: &[u8]) {
            assert!(self.0.insert(at, piece.to_vec()).is_none());
        }
    }
    let sinks = auto.read_parallel(path, Pieces::default).unwrap();
    let pieces: BTreeMap<u64, Vec<u8>> = sinks.into_iter().flat_map(|sink| sink.0).collect();
    pieces.into_iter().fold(Vec::new(), |mut whole, (at, piece)| {
        assert_eq!(at, whole.len() as u64, "a gap, or bytes brought twice");
        whole.extend(piece);
        whole
    })
}

#[test]
fn every_byte_once_at_every_size_around_which_the_way_changes() {
    for len in [0, 1, 65_535, 65_536, 65_537, MIB - 1, 8 * MIB, 8 * MIB + 1, 9 * MIB + 513] {
        let (file, bytes) = file(len);
        for cached in [true, false] {
            for auto in autos() {
                if !cached && len > 0 {
                    evict(&file, 0..len);
                }
                assert!(from_front(auto, file.path()) == bytes, "{len} cached {cached} {auto:?}");
                if !cached && len > 0 {
                    evict(&file, 0..len);
                }
                assert!(in_pieces(auto, file.path()) == bytes, "{len} cached {cached} {auto:?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn every_byte_once_whatever_part_is_cached(
        holes in proptest::collection::vec((0usize..12 * MIB, 1usize..4 * MIB), 1..6),
        rest in 0usize..5000,
    ) {
        let len = 12 * MIB + rest;
        let (file, bytes) = file(len);
        for auto in autos() {
            for reader in [from_front, in_pieces] {
                for &(start, hole) in &holes {
                    evict(&file, start..len.min(start + hole));
                }
                prop_assert!(reader(auto, file.path()) == bytes);
            }
        }
    }
}

#[test]
fn the_strategy_is_reported_and_follows_the_cache() {
    let (file, bytes) = file(9 * MIB);
    // SAFETY: the file does not change during the reading.
    let (careful, mapping) = (Auto::new(), unsafe { Auto::new().mapping() });
    from_front(careful, file.path());
    std::fs::read(file.path()).unwrap();
    assert_eq!(mapping.strategy(file.path()).unwrap(), Strategy::Mapped);
    assert_eq!(careful.strategy(file.path()).unwrap(), Strategy::Copied);
    evict(&file, 0..bytes.len());
    match careful.strategy(file.path()).unwrap() {
        Strategy::InFlight => {}
        other => {
            eprintln!("SKIPPED: {other}: no io_uring, or no file system that reads past the cache, here")
        }
    }
}

#[test]
fn what_has_no_size_is_read_all_the_same() {
    let seen = from_front(Auto::new(), Path::new("/proc/self/status"));
    assert!(seen.starts_with(b"Name:"));
}

#[test]
fn an_error_names_the_file() {
    for path in ["/nowhere/at-all", "/proc"] {
        let error = Auto::new().read(Path::new(path), |_: u64, _: &[u8]| {}).unwrap_err();
        assert!(error.to_string().contains(path), "{error}");
    }
}
