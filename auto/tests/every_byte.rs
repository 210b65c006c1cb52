//! Tests that every method delivers every byte of a file once and at its offset, whatever part of
//! the file is cached, and tests the events that end a reading early.

use proptest::prelude::*;
use readlab_auto::{Auto, Strategy, Visitor};
use rustix::fs::Advice;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::num::NonZero;
use std::ops::{ControlFlow, Range};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::NamedTempFile;

const MIB: usize = 1 << 20;

pub(crate) fn content(len: usize) -> Vec<u8> {
    (0..len as u64).map(|i| (i.wrapping_mul(0x9E37_79B9) >> 13) as u8).collect()
}

/// A file of this size, synced to its device, so that its pages can be evicted.
fn file(len: usize) -> (NamedTempFile, Vec<u8>) {
    let bytes = content(len);
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

/// The options with which a file is opened: the number of threads, and whether the file may be
/// mapped.
#[derive(Debug, Clone, Copy)]
struct OpenOptions {
    threads: usize,
    maps: bool,
}

const OPEN_OPTIONS: [OpenOptions; 4] = [
    OpenOptions { threads: 1, maps: false },
    OpenOptions { threads: 3, maps: false },
    OpenOptions { threads: 1, maps: true },
    OpenOptions { threads: 3, maps: true },
];

impl OpenOptions {
    fn open(self, path: &Path) -> Auto {
        let auto = Auto::open(path).unwrap().threads(NonZero::new(self.threads).unwrap());
        // SAFETY: the files of these tests do not change during a reading.
        if self.maps { unsafe { auto.mapping() } } else { auto }
    }
}

/// The bytes of the file as a visitor in order sees them.
fn bytes_from_front(auto: &Auto) -> Vec<u8> {
    let (mut seen, mut next) = (Vec::new(), None);
    let count = auto
        .for_each(|at, piece| {
            assert_eq!(next.unwrap_or(at), at, "in order, without a gap");
            next = Some(at + piece.len() as u64);
            seen.extend_from_slice(piece);
        })
        .unwrap();
    assert_eq!(count, seen.len() as u64);
    seen
}

/// The bytes of the file, joined from the pieces that visitors of several threads saw.
fn bytes_by_threads(auto: &Auto) -> Vec<u8> {
    #[derive(Default)]
    struct Pieces(BTreeMap<u64, Vec<u8>>);
    impl Visitor for Pieces {
        fn visit(&mut self, at: u64, piece: &[u8]) -> ControlFlow<()> {
            assert!(self.0.insert(at, piece.to_vec()).is_none());
            ControlFlow::Continue(())
        }
    }
    let visitors = auto.par_visit(Pieces::default).unwrap();
    let pieces: BTreeMap<u64, Vec<u8>> = visitors.into_iter().flat_map(|visitor| visitor.0).collect();
    let mut next = None;
    pieces.into_iter().fold(Vec::new(), |mut whole, (at, piece)| {
        assert_eq!(next.unwrap_or(at), at, "a gap, or bytes brought twice");
        next = Some(at + piece.len() as u64);
        whole.extend(piece);
        whole
    })
}

/// The bytes of the file, joined from results that are taken in order.
fn bytes_in_order(auto: &Auto) -> Vec<u8> {
    let mut whole = Vec::new();
    let take = |piece: Vec<u8>| {
        whole.extend(piece);
        ControlFlow::<()>::Continue(())
    };
    assert_eq!(auto.par_map(|_, piece| piece.to_vec(), take).unwrap(), None);
    whole
}

fn bytes_to_end(auto: &Auto) -> Vec<u8> {
    let mut bytes = b"before".to_vec();
    let count = auto.read_to_end(&mut bytes).unwrap();
    assert!(bytes.starts_with(b"before") && bytes.len() == count + 6);
    bytes.split_off(6)
}

fn bytes_by_reader(auto: &Auto) -> Vec<u8> {
    let mut bytes = Vec::new();
    auto.reader().unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

/// Every method that takes all bytes.
const TAKERS: [fn(&Auto) -> Vec<u8>; 5] =
    [bytes_from_front, bytes_by_threads, bytes_in_order, bytes_to_end, bytes_by_reader];

#[test]
fn every_byte_is_seen_once_at_sizes_around_the_limits_of_strategies() {
    for len in [0, 1, 65_535, 65_536, 65_537, MIB - 1, 8 * MIB, 8 * MIB + 1, 9 * MIB + 513] {
        let (file, bytes) = file(len);
        for is_cached in [true, false] {
            for (options, taker) in
                OPEN_OPTIONS.iter().flat_map(|options| TAKERS.map(|taker| (options, taker)))
            {
                if !is_cached && len > 0 {
                    evict(&file, 0..len);
                }
                assert!(taker(&options.open(file.path())) == bytes, "{len} cached {is_cached} {options:?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn every_byte_is_seen_once_whatever_part_is_cached_and_whatever_range_is_read(
        holes in proptest::collection::vec((0usize..12 * MIB, 1usize..4 * MIB), 1..6),
        rest in 0usize..5000,
        range in proptest::option::of((0usize..13 * MIB, 0usize..13 * MIB)),
    ) {
        let len = 12 * MIB + rest;
        let (file, bytes) = file(len);
        for (options, taker) in OPEN_OPTIONS.iter().flat_map(|options| TAKERS.map(|taker| (options, taker))) {
            for &(start, hole) in &holes {
                evict(&file, start..len.min(start + hole));
            }
            let mut auto = options.open(file.path());
            let mut right = &bytes[..];
            if let Some((start, more)) = range {
                let end = start + more;
                auto = auto.range(start as u64..end as u64);
                right = &bytes[start.min(len)..end.min(len)];
            }
            prop_assert!(taker(&auto) == right, "{options:?}");
        }
    }
}

/// Every set of options for opening a path.
const OPENERS: [fn(&Path) -> Auto; 4] = [
    |path| Auto::open(path).unwrap(),
    |path| Auto::from_file(File::open(path).unwrap()),
    |path| Auto::from_fd(File::open(path).unwrap()).unwrap(),
    // SAFETY: the files of these tests do not change during a reading.
    |path| unsafe { Auto::open(path).unwrap().mapping() },
];

/// The lines of the file, each with its line end. The last line may have none.
fn bytes_by_lines(auto: &Auto) -> Vec<Vec<u8>> {
    let mut lines = auto.lines().unwrap();
    std::iter::from_fn(|| lines.next_line().unwrap().map(<[u8]>::to_vec)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn a_range_is_read_alike_whether_the_size_is_known_or_not(
        start in prop_oneof![0_u64..3000, Just(u64::MAX), Just(u64::MAX - 1)],
        end in prop_oneof![0_u64..3000, Just(u64::MAX), Just(u64::MAX - 1)],
    ) {
        // A file of the kernel, whose size is 0 and which never changes, and a copy with a size.
        let unknown = Path::new("/proc/self/limits");
        let bytes = std::fs::read(unknown).unwrap();
        let mut known = NamedTempFile::new().unwrap();
        known.write_all(&bytes).unwrap();
        let place = |at: u64| usize::try_from(at).unwrap().min(bytes.len());
        let right = &bytes[place(start).min(place(end))..place(end)];
        let mut lines: Vec<&[u8]> = right.split(|byte| *byte == b'\n').collect();
        // An empty text after the last line end is no line.
        lines.pop_if(|last| last.is_empty());
        for (open, path) in OPENERS.iter().flat_map(|open| [(open, unknown), (open, known.path())]) {
            for taker in TAKERS {
                prop_assert!(taker(&open(path).range(start..end)) == right, "{}", path.display());
            }
            prop_assert_eq!(bytes_by_lines(&open(path).range(start..end)), &lines[..], "{}", path.display());
        }
    }

    #[test]
    fn a_pipe_is_read_whole_however_it_was_written(
        pieces in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 1..3000), 0..12),
    ) {
        for taker in TAKERS {
            let (from, mut to) = std::io::pipe().unwrap();
            let auto = Auto::from_fd(&from).unwrap();
            let seen = std::thread::scope(|scope| {
                scope.spawn(|| {
                    pieces.iter().for_each(|piece| to.write_all(piece).unwrap());
                    drop(to);
                });
                taker(&auto)
            });
            prop_assert!(seen == pieces.concat());
        }
    }
}

#[test]
fn the_strategy_is_reported_and_follows_the_cache() {
    let (file, bytes) = file(9 * MIB);
    let (careful, mapping) = (OPEN_OPTIONS[0].open(file.path()), OPEN_OPTIONS[2].open(file.path()));
    std::fs::read(file.path()).unwrap();
    assert_eq!(mapping.strategy().unwrap(), Strategy::Mapped);
    assert_eq!(careful.strategy().unwrap(), Strategy::Copied);
    evict(&file, 0..bytes.len());
    match careful.strategy().unwrap() {
        Strategy::InFlight => {}
        other => {
            eprintln!("SKIPPED: {other:?}: no io_uring, or no file system that reads past the cache, here")
        }
    }
}

#[test]
fn the_strategy_for_a_part_follows_what_is_cached_of_that_part() {
    let (file, bytes) = file(20 * MIB);
    let of_part = || {
        let part = OPEN_OPTIONS[0].open(file.path()).range(4 * MIB as u64..14 * MIB as u64);
        part.strategy().unwrap()
    };
    evict(&file, 0..bytes.len());
    if of_part() != Strategy::InFlight {
        eprintln!("SKIPPED: no io_uring, or no file system that reads past the cache, here");
        return;
    }
    let reader = File::open(file.path()).unwrap();
    rustix::fs::fadvise(&reader, 0, None, Advice::Random).unwrap();
    reader.read_exact_at(&mut vec![0; 10 * MIB], 4 * MIB as u64).unwrap();
    assert_eq!(of_part(), Strategy::Copied);
}

#[test]
#[ignore = "it needs a process with few open files, which the next test starts"]
fn every_byte_is_seen_once_with_few_open_files() {
    let (file, bytes) = file(9 * MIB);
    let auto = OPEN_OPTIONS[1].open(file.path());
    evict(&file, 0..bytes.len());
    let strategy = auto.strategy().unwrap();
    if strategy != Strategy::InFlight {
        eprintln!("SKIPPED: {strategy:?}: no io_uring, or no file system that reads past the cache, here");
        return;
    }
    // With one open file more, the file can be opened past the cache; with two, one thread of three
    // has a ring.
    for free in 0..6 {
        evict(&file, 0..bytes.len());
        let mut held: Vec<File> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
        held.truncate(held.len() - free);
        assert!(bytes_by_threads(&auto) == bytes, "{free} more open files");
    }
}

#[test]
fn a_thread_for_which_the_kernel_makes_no_ring_reads_through_the_page_cache() {
    // The limit of open files is that of a whole process.
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "ulimit -n 64 && exec \"$@\"", "sh"]).arg(std::env::current_exe().unwrap());
    let test = "every_byte::every_byte_is_seen_once_with_few_open_files";
    let output = shell.args(["--exact", test, "--ignored", "--nocapture"]).output().unwrap();
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    err.lines().filter(|line| line.starts_with("SKIPPED")).for_each(|line| eprintln!("{line}"));
    assert!(output.status.success() && out.contains("1 passed"), "{out}{err}");
}

#[test]
fn a_break_ends_every_method_and_returns_its_value() {
    let (file, bytes) = file(9 * MIB);
    for is_cached in [true, false] {
        for options in OPEN_OPTIONS {
            if !is_cached {
                evict(&file, 0..bytes.len());
            }
            let auto = options.open(file.path());
            let mut pieces = 0;
            let broke = auto.visit(|at, _| {
                pieces += 1;
                if at > 0 || pieces > 1 {
                    panic!("visited after a break")
                }
                ControlFlow::Break("enough")
            });
            assert_eq!(broke.unwrap(), ControlFlow::Break("enough"));
            let seen = AtomicUsize::new(0);
            let visitor = || {
                |_: u64, piece: &[u8]| {
                    seen.fetch_add(piece.len(), Ordering::Relaxed);
                    ControlFlow::Break(())
                }
            };
            assert!(auto.par_visit(visitor).unwrap().len() <= 3);
            assert!(seen.into_inner() < bytes.len() || options.maps && options.threads == 1, "{options:?}");
            let broke = auto.par_map(
                |at, _| at,
                |at| if at > 0 { ControlFlow::Break(at) } else { ControlFlow::Continue(()) },
            );
            assert!(broke.unwrap().is_none_or(|at| at > 0));
        }
    }
}

#[test]
fn a_file_without_a_size_is_read_to_its_end() {
    for taker in TAKERS {
        let status = taker(&Auto::open("/proc/self/status").unwrap());
        assert!(status.starts_with(b"Name:"), "{}", String::from_utf8_lossy(&status));
        let (from, mut to) = std::io::pipe().unwrap();
        let writer = std::thread::spawn(move || to.write_all(&[7; 200_000]).unwrap());
        assert_eq!(taker(&Auto::from_fd(&from).unwrap()), [7; 200_000]);
        writer.join().unwrap();
    }
    let (from, _to) = std::io::pipe().unwrap();
    let error = Auto::from_fd(&from).unwrap().range(1..2).for_each(|_, _| {}).unwrap_err();
    assert_eq!(error.cause().kind(), ErrorKind::Unsupported);
}

#[test]
fn the_position_of_a_file_does_not_matter_and_does_not_change() {
    let (mut file, bytes) = file(100_000);
    file.as_file_mut().seek(SeekFrom::Start(7)).unwrap();
    let auto = Auto::from_fd(file.as_file()).unwrap();
    for taker in TAKERS {
        assert!(taker(&auto) == bytes);
    }
    assert_eq!(file.as_file_mut().stream_position().unwrap(), 7);
}

#[test]
fn an_unmapped_file_that_becomes_shorter_ends_at_its_new_size() {
    let (file, bytes) = file(2 * MIB);
    let auto = OPEN_OPTIONS[0].open(file.path());
    let mut seen = 0;
    auto.for_each(|_, piece| {
        seen += piece.len();
        file.as_file().set_len(MIB as u64).unwrap();
    })
    .unwrap();
    assert!(seen >= MIB && seen < bytes.len(), "{seen}");
}

#[test]
fn lines_have_no_ends_and_may_cross_every_buffer() {
    for ends in ["", "\n"] {
        let lines: Vec<String> = (0..60_000_u32).map(|n| "x".repeat((n % 37) as usize)).collect();
        let mut file = NamedTempFile::new().unwrap();
        write!(file, "{}{ends}", lines.join("\n")).unwrap();
        let auto = Auto::open(file.path()).unwrap();
        let mut found = auto.lines().unwrap();
        for line in &lines {
            let next = found.next_line().unwrap();
            // An empty last line without a line end does not count.
            assert_eq!(next.unwrap_or_default(), line.as_bytes());
        }
        assert_eq!(found.next_line().unwrap(), None);
    }
    let file = NamedTempFile::new().unwrap();
    assert_eq!(Auto::open(file.path()).unwrap().lines().unwrap().next_line().unwrap(), None);
}

#[test]
fn an_unreadable_path_is_an_error() {
    assert_eq!(Auto::open("/nowhere/at-all").unwrap_err().kind(), ErrorKind::NotFound);
    let error = Auto::open("/proc").unwrap().for_each(|_, _| {}).unwrap_err();
    assert_eq!(error.cause().kind(), ErrorKind::IsADirectory);
    let error = Auto::open("/proc/self/mem").unwrap().for_each(|_, _| {}).unwrap_err();
    assert_eq!(error.offset(), Some(0), "{error}");
}

#[cfg(feature = "rayon")]
#[test]
fn a_rayon_pool_reads_every_byte_once_even_with_one_thread() {
    let (file, bytes) = file(11 * MIB + 3);
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let auto = Auto::open(file.path()).unwrap().in_rayon();
        evict(&file, 2 * MIB..7 * MIB);
        assert!(
            pool.install(|| bytes_by_threads(&auto)) == bytes,
            "{threads} threads, called within the pool"
        );
        assert!(pool.install(|| bytes_in_order(&auto)) == bytes);
        let on_pool = AtomicUsize::new(0);
        let visitor = || {
            |_: u64, piece: &[u8]| {
                on_pool.fetch_add(
                    piece.len() * usize::from(rayon::current_thread_index().is_some()),
                    Ordering::Relaxed,
                );
                ControlFlow::Continue(())
            }
        };
        pool.install(|| auto.par_visit(visitor)).unwrap();
        assert_eq!(on_pool.into_inner(), bytes.len(), "no thread of another pool reads");
    }
}
