//! Tests every method on awkward files, with its defaults and with settings that cut the files
//! anywhere.

use crate::methods;
use readlab_protocol::contender::{Job, Method};
use readlab_protocol::serve::Refusal;
use readlab_protocol::setting::Settings;
use readlab_protocol::{Answer, Work};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

type GivenSettings = [(&'static str, u64)];

/// A folder next to the build, because a file system in memory has no direct reads.
fn folder() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap()
}

/// The answer of two readings; `None` with a message if this machine lacks a feature.
fn read(method: &str, work: Work, path: &Path, settings: &GivenSettings) -> Option<Answer> {
    match try_read(method, work, path, settings) {
        Ok(answer) => Some(answer),
        Err(Refusal::Unavailable(reason)) => {
            eprintln!("SKIPPED: {method}: {reason}");
            None
        }
        Err(why) => panic!("{method} {settings:?}: {why}"),
    }
}

/// Reads in a separate thread, because a runtime may be bound to its thread.
fn try_read(method: &str, work: Work, path: &Path, settings: &GivenSettings) -> Result<Answer, Refusal> {
    let method = methods::all().into_iter().find(|known| known.name == method).unwrap();
    let settings = Settings::resolve(&method.params, settings.iter().copied()).unwrap();
    let job = Job { work, target: path.into(), shown: String::new(), ranges: None, settings };
    std::thread::spawn(move || {
        let mut reader = (method.open)(job)?;
        let first = reader.read()?.answer;
        assert_eq!(first, reader.read()?.answer);
        Ok(first)
    })
    .join()
    .unwrap()
}

fn check(answer: &Answer, work: Work, bytes: &[u8], what: &str) {
    let newlines = bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
    let lines = newlines + u64::from(bytes.last().is_some_and(|last| *last != b'\n'));
    let sum = bytes.iter().copied().fold(0, u8::wrapping_add);
    assert!(answer.bytes.is_none_or(|it| it == bytes.len() as u64), "{what}: {answer:?}");
    assert!(answer.newlines.is_none_or(|it| it == newlines), "{what}: {answer:?}, not {newlines}");
    assert!(answer.lines.is_none_or(|it| it == lines), "{what}: {answer:?}, not {lines}");
    assert!(answer.sum.is_none_or(|it| it == sum), "{what}: {answer:?}, not {sum}");
    let proves = match work {
        Work::Newlines => answer.newlines.or(answer.lines).is_some(),
        Work::Lines => answer.lines.is_some(),
        Work::Sum => answer.sum.is_some(),
        Work::Discard => answer.bytes.is_some(),
        Work::Names | Work::Stat => false,
    };
    assert!(proves, "{what}: {answer:?} proves nothing");
}

/// Bytes without a pattern, many of them quotes, commas, carriage returns and newlines.
fn awkward(length: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let common = b"\n\r\",\0a\xff";
    (0..length)
        .map(|_| match next() {
            it if it % 3 == 0 => common[(it >> 8) as usize % common.len()],
            it => (it >> 8) as u8,
        })
        .collect()
}

fn text(length: usize) -> Vec<u8> {
    (0..length).map(|at| if at % 61 == 60 || at % 113 == 7 { b'\n' } else { b'x' }).collect()
}

/// Whether a method can be made with other settings again. Rayon has one pool a process, which the
/// first reader makes.
fn is_repeatable(method: &Method) -> bool {
    method.name != "rayon"
}

fn check_all(settings: fn(&str) -> Option<&'static GivenSettings>, contents: &[Vec<u8>]) {
    let folder = folder();
    for (number, bytes) in contents.iter().enumerate() {
        let path = folder.path().join(format!("file {number}"));
        fs::write(&path, bytes).unwrap();
        for method in methods::all().into_iter().filter(is_repeatable) {
            let Some(settings) = settings(method.name) else { continue };
            if method.name == "tokio-lines" && str::from_utf8(bytes).is_err() {
                continue;
            }
            for work in method.works {
                let what = format!("{} {} of {} bytes", method.name, work.word(), bytes.len());
                if let Some(answer) = read(method.name, *work, &path, settings) {
                    check(&answer, *work, bytes, &what);
                }
            }
        }
    }
}

#[test]
fn every_method_answers_correctly_with_its_defaults() {
    let mut long_line = vec![b'x'; 300_000];
    long_line.extend(b"\nshort\n\n");
    let sizes = [0, 1, 4095, 4096, 4097, 131_071, 131_072, 131_073, (2 << 20) + 5];
    let mut contents: Vec<Vec<u8>> = sizes.into_iter().map(text).collect();
    contents.extend([b"\n".to_vec(), vec![b'\n'; 10_000], b"\xef\xbb\xbfa\nb".to_vec(), long_line]);
    contents.extend([awkward(70_001), awkward(9)]);
    check_all(|_| Some(&[]), &contents);
}

#[test]
fn every_method_answers_correctly_with_settings_that_cut_the_files_awkwardly() {
    let contents = [text(3 * 4096 + 17), awkward(10_007), Vec::new()];
    check_all(
        |name| match name {
            "tokio-fs" => Some(&[("buffer_bytes", 100), ("max_buf_bytes", 33)]),
            "glommio-direct" => Some(&[("buffer_bytes", 4096), ("depth", 3)]),
            "memmap2" => None,
            _ => Some(&[("buffer_bytes", 61)]),
        },
        &contents,
    );
}

#[test]
fn chunks_of_rayon_are_all_visited() {
    let folder = folder();
    let path = folder.path().join("f");
    let bytes = awkward(70_001);
    fs::write(&path, &bytes).unwrap();
    let answer = read("rayon", Work::Sum, &path, &[("threads", 3), ("chunk_bytes", 1024)]).unwrap();
    check(&answer, Work::Sum, &bytes, "rayon");
}

#[test]
fn a_failure_names_its_cause() {
    let folder = folder();
    for method in methods::all().into_iter().filter(is_repeatable) {
        let work = method.works[0];
        for (path, cause) in
            [(folder.path().join("absent"), "no such file"), (folder.path().into(), "directory")]
        {
            match try_read(method.name, work, &path, &[]) {
                Err(Refusal::Failed(reason)) => {
                    assert!(reason.to_lowercase().contains(cause), "{}: {reason}", method.name);
                }
                Err(Refusal::Unavailable(reason)) => eprintln!("SKIPPED: {}: {reason}", method.name),
                Ok(answer) => panic!("{}: {answer:?}", method.name),
            }
        }
    }
}

#[test]
fn the_method_tokio_lines_refuses_bytes_that_are_no_text() {
    let folder = folder();
    let path = folder.path().join("f");
    fs::write(&path, b"one\n\xff\n").unwrap();
    let why = try_read("tokio-lines", Work::Lines, &path, &[]).unwrap_err();
    assert!(why.to_string().to_lowercase().contains("utf-8"), "{why}");
}
