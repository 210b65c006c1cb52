//! Tests that every method × scan × work over files of awkward sizes gives the answer of the
//! simplest code.

use crate::naive;
use readlab_protocol::{Part, Reads};
use readlab_rust::method::{Feeding, Method, registry};
use readlab_rust::{Answer, ReadError, Reading, RequestError, Work};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The largest block in which any method works by default when files are small.
const BLOCK: usize = 4096;

/// The files, on the file system of this crate. `/tmp` may be in memory, where `O_DIRECT` is
/// refused.
fn files() -> (TempDir, Vec<(PathBuf, Vec<u8>)>) {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let text = |len: usize| -> Vec<u8> {
        let line = b"every line of this file is a little different: ";
        (0..len).map(|i| if i % 61 == 60 { b'\n' } else { line[(i * 7 + i / 61) % line.len()] }).collect()
    };
    let mut unterminated = text(3 * 61);
    unterminated.extend(b"no newline at the end");
    let mut long_line = vec![b'x'; 300_000];
    long_line.extend(b"\nshort\n\n");
    let binary = (0..70_001u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let contents = [
        vec![],
        vec![b'x'],
        vec![b'\n'],
        text(BLOCK - 1),
        text(BLOCK),
        text(BLOCK + 1),
        unterminated,
        vec![b'\n'; 10_000],
        long_line,
        binary,
        text((3 << 20) + 17),
    ];
    let named = contents.into_iter().enumerate().map(|(i, bytes)| {
        let path = dir.path().join(format!("file {i}"));
        fs::write(&path, &bytes).unwrap();
        (path, bytes)
    });
    let files = named.collect();
    (dir, files)
}

fn oracle(bytes: &[u8]) -> Answer {
    Answer {
        bytes: Some(bytes.len() as u64),
        newlines: Some(naive::value(bytes, Work::Newlines)),
        lines: Some(naive::value(bytes, Work::Lines)),
        sum: Some(naive::value(bytes, Work::Sum) as u8),
        ..Answer::default()
    }
}

/// Parameters by their names.
type GivenSettings<'a> = &'a [(&'a str, u64)];

/// Checks that known numbers equal the correct answer, and that the number of the work is known.
fn assert_proves(answer: Answer, work: Work, truth: Answer, what: &str) {
    let agrees = |mine: Option<u64>, theirs: Option<u64>| mine.is_none() || mine == theirs;
    assert!(
        agrees(answer.bytes, truth.bytes)
            && agrees(answer.newlines, truth.newlines)
            && agrees(answer.lines, truth.lines)
            && agrees(answer.sum.map(u64::from), truth.sum.map(u64::from)),
        "{what}: {answer:?} instead of {truth:?}"
    );
    let proof = match work {
        Work::Newlines => answer.newlines.or(answer.lines),
        Work::Lines => answer.lines,
        Work::Sum => answer.sum.map(u64::from),
        Work::Discard => answer.bytes,
        Work::Names | Work::Stat => None,
    };
    assert!(proof.is_some(), "{what}: {answer:?} proves nothing");
}

/// Reads twice, as one turn; `None` with a message if this machine lacks a feature.
fn read(method: &Method, scan: &str, work: Work, path: &Path, settings: GivenSettings<'_>) -> Option<Answer> {
    let what = format!("{}/{scan} {work} {settings:?} {}", method.name, path.display());
    read_as(&what, Reading::new(method.name, scan, work, path, settings.iter().copied()))
}

/// Reads twice with a reading that was made; `None` with a message if this machine lacks a feature.
fn read_as(what: &str, made: Result<Reading, RequestError>) -> Option<Answer> {
    let mut reading = match made {
        Ok(reading) => reading,
        Err(RequestError::Unavailable(reason)) => {
            eprintln!("SKIPPED: {what}: {reason}");
            return None;
        }
        Err(error) => panic!("{what}: {error}"),
    };
    reading.prepare().unwrap();
    let answers = [reading.read(), reading.read()];
    reading.release();
    match answers {
        [Ok(first), Ok(second)] => {
            assert_eq!(first, second, "{what}");
            Some(first)
        }
        [Err(ReadError::Unavailable(reason)), _] => {
            eprintln!("SKIPPED: {what}: {reason}");
            None
        }
        failed => panic!("{what}: {failed:?}"),
    }
}

/// Whether a method visits the bytes of any file. Methods for URLs are tested with a server, and
/// methods for archives, lists and folders have other tests.
fn reads(method: &Method) -> bool {
    let reads_files = matches!(method.reads, Reads::File | Reads::Both);
    !["null", "syscall"].contains(&method.name) && reads_files && method.decodes.is_empty()
}

/// The number that a method proves for a work. A control that visits no byte proves the number of
/// bytes.
fn proven(method: &Method, work: Work) -> Work {
    if ["copy", "faults", "device"].contains(&method.name) { Work::Discard } else { work }
}

/// Whether a method refuses bytes that are no text.
fn needs_text(method: &Method) -> bool {
    method.name == "read_to_string"
}

/// Checks one method with some settings for every scan, work and file.
fn check(method: &Method, settings: GivenSettings<'_>, files: &[(PathBuf, Vec<u8>)]) {
    for work in Work::OF_BYTES {
        for scan in method.scans(work) {
            let suits = |bytes: &[u8]| !needs_text(method) || str::from_utf8(bytes).is_ok();
            for (path, bytes) in files.iter().filter(|(_, bytes)| suits(bytes)) {
                let what = format!("{}/{scan} {work} {settings:?} of {} bytes", method.name, bytes.len());
                if let Some(answer) = read(method, scan, work, path, settings) {
                    assert_proves(answer, proven(method, work), oracle(bytes), &what);
                }
            }
        }
    }
}

#[test]
fn every_method_answers_correctly_with_its_defaults() {
    let (_dir, files) = files();
    for method in registry::ALL.iter().filter(|method| reads(method)) {
        check(method, &[], &files);
    }
}

/// Settings that cut small files into several pieces, for the parameters that the method has. Each
/// method that reads past the page cache accepts these buffers.
pub(crate) fn awkward_settings(method: &Method) -> Vec<(&'static str, u64)> {
    let awkward = [
        ("ahead", 3),
        ("ahead_bytes", 8192),
        ("buffer_bytes", 8192),
        ("buffers", 3),
        ("depth", 3),
        ("segment_bytes", 8192),
        ("threads", 3),
    ];
    let has = |name: &str| method.params.iter().any(|param| param.name == name);
    awkward.into_iter().filter(|(name, _)| has(name)).collect()
}

#[test]
fn every_method_answers_correctly_with_settings_that_cut_the_files_awkwardly() {
    let (_dir, files) = files();
    // The largest file is omitted, because pieces of a few bytes would make it slow.
    let files = &files[..files.len() - 1];
    for method in registry::ALL.iter().filter(|method| reads(method)) {
        check(method, &awkward_settings(method), files);
    }
    // Switches, and pieces of a size that not every method can read.
    let settings: &[(&str, GivenSettings<'_>)] = &[
        ("lines", &[("buffer_bytes", 7)]),
        ("read_line", &[("buffer_bytes", 7)]),
        ("split", &[("buffer_bytes", 7)]),
        ("read_until", &[("buffer_bytes", 7)]),
        ("buffered", &[("buffer_bytes", 61)]),
        ("read", &[("buffer_bytes", 1000)]),
        ("read-ahead", &[("ahead_bytes", 5000), ("buffer_bytes", 1000)]),
        ("pread", &[("buffer_bytes", 1000), ("segment_bytes", 5000), ("threads", 3)]),
        ("vectored", &[("buffer_bytes", 100), ("buffers", 3)]),
        ("vectored", &[("buffer_bytes", 100), ("buffers", 3), ("separate", 1)]),
        ("mmap", &[("segment_bytes", 4096), ("threads", 4)]),
        ("mmap", &[("populate", 1), ("sequential", 1), ("threads", 2)]),
        ("resident", &[("segment_bytes", 4096), ("threads", 4)]),
        ("copy", &[("buffer_bytes", 4096), ("segment_bytes", 5000), ("threads", 3)]),
        ("device", &[("buffer_bytes", 4096), ("depth", 3), ("threads", 2)]),
        ("io_uring", &[("buffer_bytes", 1000), ("depth", 5), ("ring", 64)]),
        ("io_uring", &[("buffer_bytes", 4096), ("depth", 4), ("registered", 1)]),
        ("io_uring", &[("buffer_bytes", 4096), ("depth", 4), ("direct", 1)]),
        ("io_uring", &[("buffer_bytes", 8192), ("depth", 3), ("direct", 1), ("registered", 1)]),
        ("io_uring-vectored", &[("buffer_bytes", 700), ("buffers", 3), ("depth", 2)]),
        ("io_uring-vectored", &[("buffer_bytes", 4096), ("buffers", 3), ("depth", 2), ("direct", 1)]),
    ];
    for (method, settings) in settings {
        check(registry::find(method).unwrap(), settings, files);
    }
}

#[test]
fn every_method_for_parts_reads_each_part_and_nothing_else() {
    let (_dir, files) = files();
    for method in registry::ALL.iter().filter(|method| reads(method) && method.parts) {
        let cut = awkward_settings(method);
        for (settings, (path, bytes)) in
            [&[][..], &cut].into_iter().flat_map(|it| files.iter().map(move |file| (it, file)))
        {
            for part in parts(bytes.len() as u64) {
                let work = if method.scans(Work::Newlines).is_empty() { Work::Sum } else { Work::Newlines };
                let scan = method.scans(work)[0];
                let what = format!("{}/{scan} {settings:?} {part:?} of {} bytes", method.name, bytes.len());
                let made = Reading::new(method.name, scan, work, path, settings.iter().copied());
                if let Some(answer) = read_as(&what, made.and_then(|reading| reading.part(part))) {
                    let end = part.range().end.min(bytes.len() as u64) as usize;
                    let truth = oracle(&bytes[end.min(part.start_bytes as usize)..end]);
                    assert_proves(answer, proven(method, work), truth, &what);
                }
            }
        }
    }
}

/// The first page, the bytes after it, and a piece in the middle that reaches beyond the end of
/// small files and ends within a block.
fn parts(size_bytes: u64) -> [Part; 3] {
    let part = |start_bytes, length_bytes| Part { start_bytes, length_bytes };
    let block = BLOCK as u64;
    [part(0, block), part(block, size_bytes.saturating_sub(block)), part(2 * block, 5 * block + 100)]
}

#[test]
fn a_method_that_reads_whole_files_only_refuses_a_part() {
    let reading = Reading::new("lines", "-", Work::Lines, Path::new("x"), []).unwrap();
    let error = reading.part(Part { start_bytes: 0, length_bytes: 1 }).unwrap_err();
    assert_eq!(error.to_string(), "lines reads no part of a file");
}

#[test]
fn the_settings_of_the_newline_article_are_possible() {
    let (_dir, files) = files();
    let (path, bytes) = files.last().unwrap();
    let newlines: &[(&str, &str, GivenSettings<'_>)] = &[
        ("lines", "-", &[("buffer_bytes", 16 << 10)]),
        ("buffered", "iterator", &[("buffer_bytes", 64 << 10)]),
        ("direct", "iterator", &[("buffer_bytes", 8 << 10)]),
        ("mmap", "iterator", &[]),
        ("mmap", "iterator-native", &[]),
        ("mmap", "avx2-published", &[]),
        ("mmap", "avx512-published", &[]),
        ("vectored", "iterator", &[("buffer_bytes", 8 << 10), ("buffers", 16), ("separate", 1)]),
        ("vectored", "iterator", &[("buffer_bytes", 64 << 10), ("buffers", 64), ("separate", 1)]),
        ("io_uring", "iterator", &[("buffer_bytes", 4 << 10), ("depth", 1), ("ring", 8)]),
        (
            "io_uring-vectored",
            "iterator",
            &[("buffer_bytes", 8 << 10), ("buffers", 32), ("depth", 1), ("ring", 32)],
        ),
    ];
    for (method, scan, settings) in newlines {
        let answer = read(registry::find(method).unwrap(), scan, Work::Newlines, path, settings);
        if let Some(answer) = answer {
            assert_proves(answer, Work::Newlines, oracle(bytes), method);
        }
    }
}

#[test]
fn the_control_null_does_nothing_and_proves_nothing() {
    let null = registry::find("null").unwrap();
    let nowhere = Path::new("/nonexistent/file");
    assert_eq!(read(null, "-", Work::Sum, nowhere, &[]), Some(Answer::default()));
}

#[test]
fn bytes_that_are_no_text_are_refused_by_methods_that_make_text() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = dir.path().join("f");
    fs::write(&path, b"one\n\xff\n").unwrap();
    for method in registry::ALL.iter().filter(|method| needs_text(method)) {
        let mut reading = Reading::new(method.name, "-", Work::Lines, &path, []).unwrap();
        let error = reading.prepare().and_then(|()| reading.read()).unwrap_err().to_string();
        assert!(error.ends_with("stream did not contain valid UTF-8"), "{error}");
    }
}

#[test]
fn a_refused_method_or_scan_is_answered_with_the_offered_ones() {
    for (method, scan, work, settings, text) in [
        ("sendfile", "-", Work::Sum, vec![], "no method 'sendfile' (known: null, resident, copy"),
        ("read", "-", Work::Newlines, vec![], "read has no scan '-' for newlines (it has: "),
        ("read", "md5", Work::Sum, vec![], "read has no scan 'md5' for sum (it has: "),
        ("lines", "scalar", Work::Newlines, vec![], "lines has no scan 'scalar' for newlines (it has: -)"),
        ("pread", "memchr", Work::Lines, vec![], "pread has no scan 'memchr' for lines (it has: none)"),
        ("read", "scalar", Work::Sum, vec![("depth", 1)], "read: no parameter 'depth' (known: buffer_bytes)"),
        ("mmap", "touch", Work::Discard, vec![("threads", 0)], "mmap: threads must be from 1 to 1024, got 0"),
    ] {
        let error = Reading::new(method, scan, work, Path::new("x"), settings).unwrap_err().to_string();
        assert!(error.starts_with(text), "{error}");
    }
}

/// Whether a method reads the bytes of files. Methods of names do not.
fn reads_bytes(method: &Method) -> bool {
    Work::OF_BYTES.iter().any(|work| !method.scans(*work).is_empty())
}

#[test]
fn only_methods_that_keep_the_order_find_lines() {
    for method in registry::ALL {
        assert_eq!(
            method.scans(Work::Lines).is_empty(),
            method.feeding == Feeding::AnyOrder || method.reads == Reads::Places || !reads_bytes(method),
            "{}",
            method.name
        );
    }
}
