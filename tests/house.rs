//! The rules of the house as tests: who may know whom, a head comment in every file, the open
//! section of the changelog.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The rooms of the lab from the ground up, and which of those below it each may use. A room that is
/// not listed is an error here.
const ROOMS: [(&str, &[&str]); 16] = [
    ("units", &[]),
    ("terminal", &[]),
    ("trial", &["units"]),
    ("linux", &["units"]),
    ("machine", &["linux", "units"]),
    ("folder", &["terminal", "units"]),
    ("target", &["linux", "machine", "terminal", "trial", "units"]),
    ("corpus", &["linux", "target", "trial", "units"]),
    ("record", &["folder", "linux", "machine", "target", "trial", "units"]),
    ("contender", &["linux", "machine", "record", "target", "terminal", "trial", "units"]),
    ("analysis", &["record", "target", "trial", "units"]),
    ("suite", &["analysis", "corpus", "terminal", "trial", "units"]),
    (
        "measure",
        &[
            "analysis",
            "contender",
            "corpus",
            "folder",
            "linux",
            "machine",
            "record",
            "target",
            "trial",
            "units",
        ],
    ),
    (
        "experiment",
        &[
            "analysis",
            "contender",
            "corpus",
            "folder",
            "linux",
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
    ("report", &["analysis", "contender", "record", "target", "terminal", "trial", "units"]),
    (
        "commands",
        &[
            "analysis",
            "contender",
            "corpus",
            "experiment",
            "folder",
            "linux",
            "machine",
            "measure",
            "record",
            "report",
            "suite",
            "target",
            "terminal",
            "trial",
            "units",
        ],
    ),
];

/// The rooms of the lab that may hold unsafe code: where the kernel or the processor is spoken to.
const MAY_BE_UNSAFE: [&str; 6] =
    ["contender/launcher.rs", "contender/supervisor.rs", "linux/", "machine/", "measure/", "target/"];

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
    for folder in
        ["lab/src", "protocol/src", "contenders/rust/src", "contenders/command/src", "bench/src", "tests"]
    {
        for (file, source) in sources(folder) {
            assert!(source.starts_with("//! "), "{folder}/{file} has no head comment");
        }
    }
}

#[test]
fn unsafe_code_of_the_lab_lives_only_where_the_kernel_is_spoken_to() {
    for (file, source) in sources("lab/src") {
        let has_unsafe = code(&source).any(|line| line.contains("unsafe {") || line.contains("unsafe fn"));
        assert!(
            !has_unsafe || MAY_BE_UNSAFE.iter().any(|place| file.starts_with(place)),
            "{file} has unsafe code"
        );
    }
}

#[test]
fn the_changelog_has_an_open_section() {
    let changelog = fs::read_to_string(root().join("CHANGELOG.md")).unwrap();
    assert!(changelog.lines().any(|line| line == "## Unreleased"));
}

#[test]
fn nothing_is_left_for_later() {
    for (file, source) in sources("lab/src") {
        for word in [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")] {
            assert!(!source.contains(word), "{file} has a {word}");
        }
    }
}
