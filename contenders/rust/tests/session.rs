//! Tests of whole sessions with `serve`, in memory.

use readlab_protocol::{Cache, Message, SampleLine};
use readlab_rust::serve::serve;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

/// The output of a session, and whether its exit code was 0.
fn run_session(words: &[&str], input: &str) -> (Vec<Message>, bool) {
    let mut output = Vec::new();
    let code = serve(words.iter().map(OsString::from), &mut input.as_bytes(), &mut output);
    let output = String::from_utf8(output).unwrap();
    assert!(output.ends_with('\n'));
    let messages = output.lines().map(|line| Message::parse(line).unwrap()).collect();
    (messages, code == ExitCode::SUCCESS)
}

/// A file of five bytes, one newline, and an unterminated line.
fn file(dir: &tempfile::TempDir) -> String {
    let path = dir.path().join("file");
    std::fs::write(&path, "a\nbcd").unwrap();
    path.to_str().unwrap().to_owned()
}

fn assert_hello(say: &Message) {
    match say {
        Message::Hello { protocol, contender, runtime, .. } => {
            assert_eq!((*protocol, contender.as_str()), (readlab_protocol::VERSION, "rust"));
            assert!(runtime.starts_with("rustc 1."), "{runtime}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn hello_is_one_line() {
    let (messages, well) = run_session(&["hello"], "");
    assert!(well && messages.len() == 1);
    assert_hello(&messages[0]);
}

#[test]
fn methods_lists_each_with_its_scans_best_first() {
    let (messages, well) = run_session(&["methods"], "");
    assert!(well);
    assert_hello(&messages[0]);
    let methods: Vec<_> = messages[1..]
        .iter()
        .map(|say| match say {
            Message::Method(method) => method,
            other => panic!("{other:?}"),
        })
        .collect();
    let read = methods.iter().find(|method| method.method == "read").unwrap();
    assert_eq!(read.cache, Cache::Through);
    assert_eq!(read.scans["discard"], ["-"]);
    let is_own = |scan: &&String| !scan.ends_with("-published") && !scan.starts_with("iterator-");
    assert_eq!(read.scans["newlines"].iter().rfind(is_own).unwrap(), "scalar");
    let null = methods.iter().find(|method| method.method == "null").unwrap();
    assert_eq!((null.cache, null.scans.len()), (Cache::None, 6));
}

#[test]
fn a_session_answers_each_turn_with_its_samples_and_ends_with_its_input() {
    let dir = tempfile::tempdir().unwrap();
    let words = ["read", "mmap", "scalar", "newlines", &file(&dir), "threads=2"];
    let (messages, well) = run_session(&words, "go 1 2\ngo 0 1\n");
    assert!(well);
    assert_hello(&messages[0]);
    match &messages[1] {
        Message::Ready { params } => {
            assert_eq!((params["threads"], params["populate"]), (2, 0));
        }
        other => panic!("{other:?}"),
    }
    let counts = [messages.len(), count_samples(&messages[2..4]), count_samples(&messages[5..6])];
    assert_eq!(counts, [7, 2, 1]);
    assert_eq!((&messages[4], &messages[6]), (&Message::Done { count: 2 }, &Message::Done { count: 1 }));
}

/// The number of samples among the messages. Each must have the correct answer.
fn count_samples(messages: &[Message]) -> usize {
    let right = |say: &&Message| match say {
        Message::Sample(SampleLine {
            wall_ns,
            bytes: Some(5),
            newlines: Some(1),
            lines: None,
            sum: None,
            ..
        }) => *wall_ns > 0,
        _ => false,
    };
    messages.iter().filter(right).count()
}

#[test]
fn settings_that_follow_from_others_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    let (messages, _) =
        run_session(&["read", "pread", "-", "discard", &file(&dir), "buffer_bytes=5000000"], "");
    let Message::Ready { params } = &messages[1] else { panic!("{messages:?}") };
    assert_eq!(params["segment_bytes"], 5_000_000);
}

#[test]
fn wrong_arguments_are_reported() {
    for (words, input, text) in [
        (vec!["read", "mmap"], "", "expected METHOD SCAN WORK TARGET"),
        (vec!["read", "mmap", "scalar", "count", "x"], "", "unknown work 'count'"),
        (vec!["read", "mmap", "scalar", "sum", "x", "threads"], "", "no name=integer"),
        (vec!["read", "mmap", "scalar", "sum", "x", "threads=-1"], "", "no name=integer"),
        (vec!["read", "mmap", "scalar", "sum", "x", "depth=1"], "", "no parameter 'depth'"),
        (vec!["read", "null", "-", "sum", "x"], "go 0 0\n", "expected `go LEAD COUNT`"),
        (vec!["read", "null", "-", "sum", "x"], "stop\n", "expected `go LEAD COUNT`"),
        (vec!["listen"], "", "unknown words"),
        (vec![], "", "unknown words"),
    ] {
        let (messages, well) = run_session(&words, input);
        assert!(!well);
        assert_hello(&messages[0]);
        match messages.last().unwrap() {
            Message::Failed { reason } => assert!(reason.contains(text), "{reason}"),
            other => panic!("{words:?}: {other:?}"),
        }
    }
}

#[test]
fn a_failed_reading_ends_the_session_without_samples() {
    let (messages, well) =
        run_session(&["read", "read", "scalar", "sum", "/nonexistent/file"], "go 0 3\ngo 0 3\n");
    assert!(!well);
    let [_, Message::Ready { .. }, Message::Failed { reason }] = &messages[..] else {
        panic!("{messages:?}")
    };
    assert!(reason.starts_with("/nonexistent/file: No such file"), "{reason}");
}

#[test]
fn a_feature_that_the_file_system_lacks_is_unavailable() {
    let shm = Path::new("/dev/shm");
    let Ok(file) = tempfile::NamedTempFile::new_in(shm) else {
        return eprintln!("SKIPPED: no memory file system at {}", shm.display());
    };
    let words = ["read", "direct", "scalar", "sum", file.path().to_str().unwrap()];
    let (messages, well) = run_session(&words, "go 0 1\n");
    assert!(!well);
    let Some(Message::Unavailable { reason }) = messages.last() else { panic!("{messages:?}") };
    assert!(reason.starts_with("O_DIRECT: "), "{reason}");
}

/// A lab that counts the contender's writes.
struct WriteCounter {
    writes: Vec<usize>,
}

impl Write for WriteCounter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writes.push(bytes.iter().filter(|&&byte| byte == b'\n').count());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_turn_is_reported_with_one_write_at_its_end() {
    let dir = tempfile::tempdir().unwrap();
    let words = ["read", "read", "scalar", "sum", &file(&dir)].map(OsString::from);
    let mut lab = WriteCounter { writes: Vec::new() };
    serve(words, &mut &b"go 0 5\n"[..], &mut lab);
    assert_eq!(lab.writes, [1, 1, 6]);
}
