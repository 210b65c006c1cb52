//! The rules of the house as tests: who may know whom, a head comment in every file, the open
//! section of the changelog.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The rooms of the lab from the ground up, and which of those below it each may use. A room that
/// is not listed is an error here.
const ROOMS: [(&str, &[&str]); 21] = [
    ("units", &[]),
    ("trial", &["units"]),
    ("linux", &["units"]),
    ("terminal", &["linux"]),
    ("markup", &["terminal"]),
    ("machine", &["linux", "units"]),
    ("folder", &["linux", "terminal", "units"]),
    ("target", &["folder", "linux", "machine", "terminal", "trial", "units"]),
    ("corpus", &["linux", "target", "trial", "units"]),
    ("record", &["folder", "linux", "machine", "target", "trial", "units"]),
    ("contender", &["linux", "machine", "record", "target", "terminal", "trial", "units"]),
    ("analysis", &["record", "target", "trial", "units"]),
    ("suite", &["analysis", "corpus", "record", "terminal", "trial", "units"]),
    ("claims", &["analysis", "record", "suite", "terminal", "trial", "units"]),
    (
        "measure",
        &[
            "analysis",
            "contender",
            "corpus",
            "folder",
            "linux",
            "machine",
            "markup",
            "record",
            "target",
            "trial",
            "units",
        ],
    ),
    ("verify", &["contender", "corpus", "linux", "measure", "record", "target", "trial"]),
    ("fleet", &["contender", "linux", "measure", "record", "terminal", "trial", "units"]),
    ("live", &["analysis", "linux", "measure", "record", "target", "terminal", "trial", "units"]),
    (
        "experiment",
        &[
            "analysis",
            "contender",
            "corpus",
            "fleet",
            "folder",
            "linux",
            "live",
            "machine",
            "measure",
            "record",
            "suite",
            "target",
            "terminal",
            "trial",
            "units",
        ],
    ),
    (
        "report",
        &["analysis", "claims", "contender", "markup", "record", "target", "terminal", "trial", "units"],
    ),
    (
        "commands",
        &[
            "analysis",
            "claims",
            "contender",
            "corpus",
            "experiment",
            "fleet",
            "folder",
            "linux",
            "live",
            "machine",
            "measure",
            "record",
            "report",
            "suite",
            "target",
            "terminal",
            "trial",
            "units",
            "verify",
        ],
    ),
];

/// What only `linux` may contain: system calls, and the files through which the kernel is read.
const OF_LINUX: [&str; 6] = ["libc::", "procfs::", "rustix::", "signal_hook::", "\"/proc", "\"/sys"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the lab lives in the workspace").to_owned()
}

/// Every Rust file below a folder, by path from the folder.
fn sources(folder: &str) -> BTreeMap<String, String> {
    let folder = root().join(folder);
    let mut found = BTreeMap::new();
    let mut open = vec![folder.clone()];
    while let Some(dir) = open.pop() {
        for path in fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let name = path.strip_prefix(&folder).unwrap().to_string_lossy().into_owned();
                found.insert(name, fs::read_to_string(&path).unwrap());
            }
        }
    }
    assert!(!found.is_empty(), "{} holds sources", folder.display());
    found
}

/// The lines of a file that are no comments.
fn code(source: &str) -> impl Iterator<Item = &str> {
    source.lines().filter(|line| !line.trim_start().starts_with("//"))
}

/// The room a file belongs to: `measure/cache.rs` and `measure.rs` are both `measure`.
fn room(file: &str) -> &str {
    file.split('/').next().unwrap().trim_end_matches(".rs")
}

/// The rooms that a file names, through `crate::`.
fn rooms_used(source: &str) -> Vec<String> {
    let after = code(source).flat_map(|line| line.split("crate::").skip(1));
    let name =
        |part: &str| part.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or("").to_owned();
    after.map(name).collect()
}

#[test]
fn the_rooms_lie_above_each_other() {
    for (at, (room, may_use)) in ROOMS.iter().enumerate() {
        let below: Vec<&str> = ROOMS[..at].iter().map(|(name, _)| *name).collect();
        assert!(may_use.iter().all(|used| below.contains(used)), "{room} uses a room that is not below it");
    }
}

#[test]
fn every_room_uses_only_the_rooms_that_it_may() {
    let allowed: BTreeMap<_, _> = ROOMS.into_iter().collect();
    for (file, source) in sources("lab/src") {
        let own = room(&file);
        if ["main", "lib"].contains(&own) {
            continue;
        }
        let may_use =
            allowed.get(own).unwrap_or_else(|| panic!("{file}: the room '{own}' is not in the list"));
        for used in rooms_used(&source) {
            assert!(used == own || may_use.contains(&used.as_str()), "{file} may not use '{used}'");
        }
    }
}

#[test]
fn the_lab_reaches_ways_of_reading_only_through_the_one_door() {
    for (file, source) in sources("lab/src") {
        let knows = source.contains("readlab_rust") || source.contains("readlab_command");
        assert!(!knows || file == "commands/contender.rs", "{file} knows a way of reading");
    }
}

#[test]
fn every_file_says_at_its_head_what_lives_there() {
    for folder in SOURCES {
        for (file, source) in sources(folder) {
            assert!(source.starts_with("//! "), "{folder}/{file} has no head comment");
        }
    }
}

/// The files of other rooms; tests of a boundary may cross it.
fn outside_linux() -> impl Iterator<Item = (String, String)> {
    let is_test = |file: &str| file.ends_with("/tests.rs") || file.contains("/tests/");
    sources("lab/src").into_iter().filter(move |(file, _)| room(file) != "linux" && !is_test(file))
}

#[test]
fn only_linux_has_unsafe_code() {
    for (file, source) in outside_linux() {
        let has_unsafe = code(&source).any(|line| line.contains("unsafe {") || line.contains("unsafe fn"));
        assert!(!has_unsafe, "{file} has unsafe code");
    }
}

#[test]
fn only_linux_calls_the_kernel() {
    for (file, source) in outside_linux() {
        assert!(!calls_the_kernel(&source), "{file} calls the kernel");
    }
}

fn calls_the_kernel(source: &str) -> bool {
    code(source).any(|line| OF_LINUX.iter().any(|word| line.contains(word)))
}

#[test]
fn the_changelog_has_an_open_section() {
    let changelog = fs::read_to_string(root().join("CHANGELOG.md")).unwrap();
    assert!(changelog.lines().any(|line| line == "## Unreleased"));
}

/// The paths below `lab/src` and `crates` that a document names.
fn source_paths(document: &str) -> Vec<&str> {
    let is_of_path = |c: char| c.is_ascii_alphanumeric() || "/_.-".contains(c);
    let starts = |folder| document.match_indices(folder).map(|(at, _)| &document[at..]);
    let starts = starts("lab/src/").chain(starts("crates/"));
    let path = |rest: &'_ str| rest.find(|c| !is_of_path(c)).unwrap_or(rest.len());
    starts.map(|rest| rest[..path(rest)].trim_end_matches('.')).collect()
}

#[test]
fn every_source_that_a_document_names_exists() {
    let mut named = 0;
    for document in ["CONTRIBUTING.md", "METHOD.md", "README.md", "REFERENCE.md"] {
        let text = fs::read_to_string(root().join(document)).unwrap();
        for path in source_paths(&text) {
            assert!(root().join(path).exists(), "{document} names {path}, which does not exist");
            named += 1;
        }
    }
    assert!(named > 0, "CONTRIBUTING.md names the places of important code");
    let text = "`lab/src/units.rs`: and crates/stats/.";
    assert_eq!(source_paths(text), ["lab/src/units.rs", "crates/stats/"]);
}

#[test]
fn nothing_is_left_for_later() {
    for (file, source) in sources("lab/src") {
        for word in [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")] {
            assert!(!source.contains(word), "{file} has a {word}");
        }
    }
}

/// The folders with our Rust files.
const SOURCES: [&str; 9] = [
    "lab/src",
    "crates/stats/src",
    "protocol/src",
    "auto/src",
    "contenders/rust/src",
    "contenders/command/src",
    "harness/src",
    "bench/src",
    "tests",
];
