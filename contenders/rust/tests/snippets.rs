//! Tests that the snippets in advice compile with the crates that they name, and count correctly on
//! files of awkward sizes.
#![allow(unreachable_pub, dead_code, reason = "a snippet is code of somebody else's program")]

use crate::{forms, server};
use readlab_protocol::Archive;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::{fs, iter};

#[path = "../snippets/auto.rs"]
mod auto;
#[path = "../snippets/auto-safe.rs"]
mod auto_safe;
#[path = "../snippets/brotli.rs"]
mod brotli_stream;
#[path = "../snippets/buffered.rs"]
mod buffered;
#[path = "../snippets/bzip2.rs"]
mod bzip2_stream;
#[path = "../snippets/direct.rs"]
mod direct;
#[path = "../snippets/dontcache.rs"]
mod dontcache;
#[path = "../snippets/files-ahead.rs"]
mod files_ahead;
#[path = "../snippets/files-auto.rs"]
mod files_auto;
#[path = "../snippets/files-io_uring.rs"]
mod files_io_uring;
#[path = "../snippets/files-threads.rs"]
mod files_threads;
#[path = "../snippets/fs-read.rs"]
mod fs_read;
#[path = "../snippets/gzip.rs"]
mod gzip;
#[path = "../snippets/gzip-blocks.rs"]
mod gzip_blocks;
#[path = "../snippets/gzip-libdeflate.rs"]
mod gzip_libdeflate;
#[path = "../snippets/http.rs"]
mod http;
#[path = "../snippets/http-multirange.rs"]
mod http_multirange;
#[path = "../snippets/http-ranged.rs"]
mod http_ranged;
#[path = "../snippets/http-ranges.rs"]
mod http_ranges;
#[path = "../snippets/io_uring.rs"]
mod io_uring_read;
#[path = "../snippets/io_uring-vectored.rs"]
mod io_uring_vectored;
#[path = "../snippets/lines.rs"]
mod lines;
#[path = "../snippets/lz4.rs"]
mod lz4_stream;
#[path = "../snippets/mmap.rs"]
mod mmap;
#[path = "../snippets/names-getdents.rs"]
mod names_getdents;
#[path = "../snippets/names-readdir.rs"]
mod names_readdir;
#[path = "../snippets/names-threads.rs"]
mod names_threads;
#[path = "../snippets/places-ahead.rs"]
mod places_ahead;
#[path = "../snippets/places-direct.rs"]
mod places_direct;
#[path = "../snippets/places-io_uring.rs"]
mod places_io_uring;
#[path = "../snippets/places-mmap.rs"]
mod places_mmap;
#[path = "../snippets/places-pread.rs"]
mod places_pread;
#[path = "../snippets/places-preadv.rs"]
mod places_preadv;
#[path = "../snippets/pread.rs"]
mod pread;
#[path = "../snippets/read.rs"]
mod read;
#[path = "../snippets/read-ahead.rs"]
mod read_ahead;
#[path = "../snippets/read_line.rs"]
mod read_line;
#[path = "../snippets/read_to_string.rs"]
mod read_to_string;
#[path = "../snippets/read_until.rs"]
mod read_until;
#[path = "../snippets/snappy.rs"]
mod snappy_stream;
#[path = "../snippets/split.rs"]
mod split;
#[path = "../snippets/stat-io_uring.rs"]
mod stat_io_uring;
#[path = "../snippets/stat-readdir.rs"]
mod stat_readdir;
#[path = "../snippets/stat-threads.rs"]
mod stat_threads;
#[path = "../snippets/vectored.rs"]
mod vectored;
#[path = "../snippets/walk.rs"]
mod walk;
#[path = "../snippets/walk-inode.rs"]
mod walk_inode;
#[path = "../snippets/walk-sorted.rs"]
mod walk_sorted;
#[path = "../snippets/whole.rs"]
mod whole;
#[path = "../snippets/xz.rs"]
mod xz_stream;
#[path = "../snippets/zip.rs"]
mod zip;
#[path = "../snippets/zip-libdeflate.rs"]
mod zip_libdeflate;
#[path = "../snippets/zstd-frames.rs"]
mod zstd_frames;
#[path = "../snippets/zstd.rs"]
mod zstd_stream;

#[cfg(target_arch = "x86_64")]
#[path = "../snippets/scan/avx2.rs"]
mod scan_avx2;
#[cfg(target_arch = "x86_64")]
#[path = "../snippets/scan/avx2-pages.rs"]
mod scan_avx2_pages;
#[cfg(target_arch = "x86_64")]
#[path = "../snippets/scan/avx2-published.rs"]
mod scan_avx2_published;
#[cfg(target_arch = "x86_64")]
#[path = "../snippets/scan/avx512.rs"]
mod scan_avx512;
#[cfg(target_arch = "x86_64")]
#[path = "../snippets/scan/avx512-pages.rs"]
mod scan_avx512_pages;
#[cfg(target_arch = "x86_64")]
#[path = "../snippets/scan/avx512-published.rs"]
mod scan_avx512_published;
#[path = "../snippets/scan/bytecount.rs"]
mod scan_bytecount;
#[path = "../snippets/scan/iterator.rs"]
mod scan_iterator;
#[path = "../snippets/scan/iterator-native.rs"]
mod scan_iterator_native;
#[path = "../snippets/scan/iterator-v2.rs"]
mod scan_iterator_v2;
#[path = "../snippets/scan/iterator-v3.rs"]
mod scan_iterator_v3;
#[path = "../snippets/scan/iterator-v4.rs"]
mod scan_iterator_v4;
#[path = "../snippets/scan/memchr.rs"]
mod scan_memchr;
#[path = "../snippets/scan/scalar.rs"]
mod scan_scalar;

/// The type of a snippet that reads a file. It fails on a machine that lacks a feature.
type Total = fn(&Path) -> io::Result<u64>;

const TOTALS: &[(&str, Total)] = &[
    ("auto", |path| auto::total(path, naive).map_err(io::Error::other)),
    ("auto-safe", |path| auto_safe::total(path, naive).map_err(io::Error::other)),
    ("lines", lines::lines),
    ("read_line", read_line::lines),
    ("split", split::lines),
    ("read_until", read_until::lines),
    ("read_to_string", read_to_string::lines),
    ("fs-read", |path| fs_read::total(path, naive)),
    ("buffered", |path| buffered::total(path, naive)),
    ("read", |path| read::total(path, naive)),
    ("dontcache", |path| dontcache::total(path, naive)),
    ("read-ahead", |path| read_ahead::total(path, naive)),
    ("whole", |path| whole::total(path, naive)),
    ("pread", |path| pread::total(path, naive)),
    ("vectored", |path| vectored::total(path, naive)),
    ("direct", |path| direct::total(path, naive)),
    ("mmap", |path| mmap::total(path, naive)),
    ("io_uring", |path| io_uring_read::total(path, naive)),
    ("io_uring-vectored", |path| io_uring_vectored::total(path, naive)),
];

/// Snippets that read the files of a folder, by a list of them or by a walk.
const TREES: &[(&str, Total)] = &[
    ("files-ahead", |folder| files_ahead::total(&listed(folder), naive)),
    ("files-auto", |folder| files_auto::total(&listed(folder), naive).map_err(io::Error::other)),
    ("files-io_uring", |folder| files_io_uring::total(&listed(folder), naive)),
    ("files-threads", |folder| files_threads::total(&listed(folder), naive)),
    ("walk", |folder| walk::total(folder, naive)),
    ("walk-inode", |folder| walk_inode::total(folder, naive)),
    ("walk-sorted", |folder| walk_sorted::total(folder, naive)),
];

/// The snippets that count the names below a folder.
const NAMES: &[(&str, Total)] = &[
    ("names-getdents", names_getdents::total),
    ("names-readdir", names_readdir::total),
    ("names-threads", names_threads::total),
];

/// The snippets that add up the sizes of the files below a folder, without opening one.
const SIZES: &[(&str, Total)] = &[
    ("stat-io_uring", stat_io_uring::total),
    ("stat-readdir", stat_readdir::total),
    ("stat-threads", stat_threads::total),
];

fn listed(folder: &Path) -> Vec<PathBuf> {
    walkdir::WalkDir::new(folder)
        .into_iter()
        .map(Result::unwrap)
        .filter(|entry| entry.file_type().is_file())
        .map(walkdir::DirEntry::into_path)
        .collect()
}

/// The type of a snippet that reads blocks of a file.
type TotalOfBlocks = fn(&Path, &[u64]) -> io::Result<u64>;

/// Snippets that read blocks at places.
const BLOCKS: &[(&str, TotalOfBlocks)] = &[
    ("places-ahead", |path, offsets| places_ahead::total(path, offsets, naive)),
    ("places-direct", |path, offsets| places_direct::total(path, offsets, naive)),
    ("places-io_uring", |path, offsets| places_io_uring::total(path, offsets, naive)),
    ("places-mmap", |path, offsets| places_mmap::total(path, offsets, naive)),
    ("places-pread", |path, offsets| places_pread::total(path, offsets, naive)),
    ("places-preadv", |path, offsets| places_preadv::total(path, offsets, naive)),
];

/// Snippets that decode an archive.
const DECODERS: &[(&str, Archive, Total)] = &[
    ("gzip", Archive::Gzip, |path| gzip::total(path, naive)),
    ("gzip-libdeflate", Archive::Gzip, |path| gzip_libdeflate::total(path, naive)),
    ("gzip-blocks", Archive::Gzip, |path| gzip_blocks::total(path, naive)),
    ("zstd-frames", Archive::Zstd, |path| zstd_frames::total(path, naive)),
    ("zstd", Archive::Zstd, |path| zstd_stream::total(path, naive)),
    ("lz4", Archive::Lz4, |path| lz4_stream::total(path, naive)),
    ("xz", Archive::Xz, |path| xz_stream::total(path, naive)),
    ("bzip2", Archive::Bzip2, |path| bzip2_stream::total(path, naive)),
    ("snappy", Archive::Snappy, |path| snappy_stream::total(path, naive)),
    ("brotli", Archive::Brotli, |path| brotli_stream::total(path, naive)),
    ("zip", Archive::Zip, |path| zip::total(path, naive)),
    ("zip-libdeflate", Archive::Zip, |path| zip_libdeflate::total(path, naive)),
];

/// The type of a snippet that reads a URL.
type TotalOfUrl = fn(&str) -> io::Result<u64>;

/// Snippets that read a URL.
const URLS: &[(&str, TotalOfUrl)] =
    &[("http", |url| http::total(url, naive)), ("http-ranged", |url| http_ranged::total(url, naive))];

/// The type of a snippet that reads ranges of a URL.
type TotalOfRanges = fn(&str, &[Range<u64>]) -> io::Result<u64>;

/// Snippets that read ranges of a URL.
const RANGES: &[(&str, TotalOfRanges)] = &[
    ("http-multirange", |url, ranges| http_multirange::total(url, ranges, naive)),
    ("http-ranges", |url, ranges| http_ranges::total(url, ranges, naive)),
];

type Newlines = fn(&[u8]) -> u64;

const SCANS: &[(&str, Newlines)] = &[
    ("scalar", scan_scalar::newlines),
    ("iterator", scan_iterator::newlines),
    ("memchr", scan_memchr::newlines),
    ("bytecount", scan_bytecount::newlines),
    #[cfg(target_arch = "x86_64")]
    ("avx2", scan_avx2::newlines),
    #[cfg(target_arch = "x86_64")]
    ("avx2-pages", scan_avx2_pages::newlines),
    #[cfg(target_arch = "x86_64")]
    ("avx512", scan_avx512::newlines),
    #[cfg(target_arch = "x86_64")]
    ("avx512-pages", scan_avx512_pages::newlines),
    #[cfg(target_arch = "x86_64")]
    ("avx2-published", scan_avx2_published::newlines),
    #[cfg(target_arch = "x86_64")]
    ("avx512-published", scan_avx512_published::newlines),
    ("iterator-native", scan_iterator_native::newlines),
    ("iterator-v2", scan_iterator_v2::newlines),
    ("iterator-v3", scan_iterator_v3::newlines),
    ("iterator-v4", scan_iterator_v4::newlines),
];

fn naive(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}

/// Lines of varying length, the last one terminated.
fn text(size: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> =
        (0..size).map(|at| if at % 7 == 3 || at % 113 == 0 { b'\n' } else { b'x' }).collect();
    if let Some(last) = bytes.last_mut() {
        *last = b'\n';
    }
    bytes
}

fn files_in(folder: &str) -> Vec<String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("snippets").join(folder);
    let files =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    let mut names: Vec<String> =
        files.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

#[test]
fn every_method_and_scan_that_can_win_has_a_snippet_and_every_snippet_a_test() {
    let sorted = |names: Vec<&str>| {
        let mut names: Vec<String> = names.into_iter().map(str::to_owned).collect();
        names.sort();
        names
    };
    let tested = [TOTALS, TREES, NAMES, SIZES].into_iter().flatten().map(|(name, _)| *name);
    let tested = tested
        .chain(DECODERS.iter().map(|(name, _, _)| *name))
        .chain(BLOCKS.iter().map(|(name, _)| *name))
        .chain(URLS.iter().map(|(name, _)| *name))
        .chain(RANGES.iter().map(|(name, _)| *name));
    let tested = sorted(tested.collect());
    assert_eq!(files_in(""), tested);
    let readers = readlab_rust::method::registry::ALL
        .iter()
        .filter(|method| method.cache != readlab_protocol::Cache::None);
    assert_eq!(tested, sorted(readers.map(|method| method.name).collect()));
    let scans = files_in("scan");
    assert!(SCANS.iter().all(|(name, _)| scans.iter().any(|scan| scan == name)));
    let offered = readlab_rust::method::registry::ALL
        .iter()
        .flat_map(|method| method.scans(readlab_rust::Work::Newlines));
    assert!(offered.filter(|scan| *scan != "-").all(|scan| scans.iter().any(|known| known == scan)));
}

#[test]
fn every_method_counts_correctly() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("f");
    for size in [0, 1, 4095, 4096, 4097, 131_072, 300_001, (4 << 20) + 5, (9 << 20) + 4096] {
        let bytes = text(size);
        fs::write(&path, &bytes).unwrap();
        for (name, total) in TOTALS {
            assert_counted(name, total(&path), naive(&bytes), &format!("{size} bytes"));
        }
    }
}

#[test]
fn every_method_for_many_files_counts_correctly() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (mut right, mut sizes) = (0, 0);
    for (index, size) in (0..150_usize).zip([0, 1, 4095, 65_535, 65_536, 65_537, 200_000].into_iter().cycle())
    {
        let place = folder.path().join(["a", "a/b", "c"][index % 3]);
        fs::create_dir_all(&place).unwrap();
        fs::write(place.join(index.to_string()), text(size)).unwrap();
        right += naive(&text(size));
        sizes += size as u64;
    }
    std::os::unix::fs::symlink(folder.path(), folder.path().join("loop")).unwrap();
    for (name, total) in TREES {
        assert_counted(name, total(folder.path()), right, "150 files");
    }
    for (name, total) in NAMES {
        assert_counted(name, total(folder.path()), 150 + 3 + 1, "files, folders and a link");
    }
    for (name, total) in SIZES {
        assert_counted(name, total(folder.path()), sizes, "the sizes of 150 files");
    }
}

#[test]
fn every_method_for_places_counts_correctly() {
    const BLOCK_BYTES: usize = 4096;
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (path, bytes) = (folder.path().join("f"), text(100 * BLOCK_BYTES));
    fs::write(&path, &bytes).unwrap();
    for reads in [0, 1, 15, 16, 17, 250] {
        let offsets: Vec<u64> = (0..reads).map(|read| read * 37 % 100 * BLOCK_BYTES as u64).collect();
        let right: u64 = offsets.iter().map(|at| naive(&bytes[*at as usize..][..BLOCK_BYTES])).sum();
        for (name, total) in BLOCKS {
            assert_counted(name, total(&path, &offsets), right, &format!("{reads} places"));
        }
    }
}

#[test]
fn a_url_is_counted_correctly() {
    for size in [0, 1, 300_001, (8 << 20) + 1] {
        let bytes = text(size);
        let served = bytes.clone();
        let server = server::Server::start(move |request| request.answer(&served));
        for (name, total) in URLS {
            assert_counted(name, total(&server.url), naive(&bytes), &format!("{size} bytes"));
        }
    }
}

#[test]
fn ranges_of_a_url_are_counted_correctly() {
    let bytes = text(300_001);
    let served = bytes.clone();
    let server = server::Server::start(move |request| match &request.ranges()[..] {
        [_] => request.answer(&served),
        ranges => {
            let parts: Vec<_> =
                ranges.iter().rev().map(|range| (range.clone(), &served[range.clone()])).collect();
            server::Answer::parts(&parts, served.len())
        }
    });
    for count in [0, 1, 64, 65, 200] {
        let ranges: Vec<_> = (0..count).map(|at| at * 1499..at * 1499 + 1500).collect();
        let right: u64 =
            ranges.iter().map(|range| naive(&bytes[range.start as usize..range.end as usize])).sum();
        for (name, total) in RANGES {
            assert_counted(name, total(&server.url, &ranges), right, &format!("{count} ranges"));
        }
    }
}

#[test]
fn every_decoder_counts_correctly() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for size in [1, 4096, 300_001] {
        let bytes = text(size);
        for (name, archive, total) in DECODERS {
            let path = folder.path().join(name);
            pack(&path, *archive, &bytes);
            assert_eq!(total(&path).unwrap(), naive(&bytes), "{name} of {size} bytes");
        }
    }
}

/// Writes an archive whose only content is these bytes.
fn pack(path: &Path, archive: Archive, bytes: &[u8]) {
    let packed = match archive {
        Archive::Gzip if path.ends_with("gzip-blocks") => forms::bgzf(bytes, 65_000),
        Archive::Gzip => forms::gzip(bytes),
        Archive::Zip => forms::zip(&[bytes], ::zip::write::SimpleFileOptions::default()),
        other => forms::stream(other, bytes),
    };
    fs::write(path, packed).unwrap();
}

/// Checks the count of a snippet, if this machine has the features that it needs.
fn assert_counted(name: &str, found: io::Result<u64>, right: u64, of: &str) {
    match found {
        Ok(found) => assert_eq!(found, right, "{name} of {of}"),
        Err(error) if lacks_feature(name, &error) => eprintln!("SKIPPED: {name}: {error}"),
        Err(error) => panic!("{name} of {of}: {error}"),
    }
}

/// Whether the kernel or the file system lacks a feature that the snippet needs.
fn lacks_feature(name: &str, error: &io::Error) -> bool {
    let lacking = [libc::EOPNOTSUPP, libc::ENOSYS, libc::EPERM, libc::EINVAL, libc::ENOMEM];
    let may_lack = [
        "dontcache",
        "direct",
        "files-io_uring",
        "io_uring",
        "io_uring-vectored",
        "places-direct",
        "places-io_uring",
        "stat-io_uring",
    ]
    .contains(&name);
    may_lack && error.raw_os_error().is_some_and(|code| lacking.contains(&code))
}

#[test]
fn every_scan_counts_correctly_at_every_length() {
    let bytes = text(40_000);
    let lengths = (0..300).chain([4095, 4096, 16_384, 16_385, 33_000, 39_000]).chain(iter::once(bytes.len()));
    for length in lengths {
        for (name, newlines) in SCANS {
            let part = &bytes[bytes.len() - length..];
            assert_eq!(newlines(part), naive(part), "{name} of {length} bytes");
        }
    }
}
