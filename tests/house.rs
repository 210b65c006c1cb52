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
    ("folder", &["linux", "terminal", "units"]),
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

/// What only `linux` may contain: system calls, and the files through which the kernel is read.
const OF_LINUX: [&str; 6] = ["libc::", "procfs::", "rustix::", "signal_hook::", "\"/proc", "\"/sys"];

/// Files outside `linux` that still call the kernel, or have unsafe code. The list only gets shorter.
const STILL_CALL_THE_KERNEL: [&str; 26] = [
    "contender/launcher.rs",
    "contender/leftovers.rs",
    "contender/process.rs",
    "contender/running.rs",
    "contender/scheduling.rs",
    "contender/supervisor.rs",
    "measure/busy.rs",
    "measure/cache.rs",
    "measure/counts/mod.rs",
    "measure/counts/preload.rs",
    "measure/counts/tracepoint.rs",
    "measure/hidden_cache/mod.rs",
    "measure/holders.rs",
    "measure/inspect/profile/mappings.rs",
    "measure/inspect/profile/sampling.rs",
    "measure/inspect/profile/symbols.rs",
    "measure/inspect/profile/unwind.rs",
    "measure/inspect/trace/pages.rs",
    "measure/meters/lab_self.rs",
    "measure/meters/mod.rs",
    "measure/meters/tests.rs",
    "measure/meters/whole.rs",
    "measure/next_layer.rs",
    "measure/residency.rs",
    "measure/rights.rs",
    "measure/session_pool.rs",
];

/// A test with the source of an unsafe program in a string.
const SOURCE_IN_STRING: &str = "measure/counts/tests.rs";

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

/// Whether a file may contain unsafe code: those of `linux`, and libraries that are preloaded into
/// contenders, which are no part of the lab's process.
fn may_be_unsafe(file: &str) -> bool {
    room(file) == "linux" || file.split('/').any(|folder| folder == "interpose")
}

#[test]
fn only_linux_and_preloaded_libraries_have_unsafe_code() {
    for (file, source) in sources("lab/src") {
        if file == SOURCE_IN_STRING {
            continue;
        }
        let has_unsafe = code(&source).any(|line| line.contains("unsafe {") || line.contains("unsafe fn"));
        let may = may_be_unsafe(&file) || STILL_CALL_THE_KERNEL.contains(&file.as_str());
        assert!(!has_unsafe || may, "{file} has unsafe code");
    }
}

#[test]
fn only_linux_calls_the_kernel() {
    let files = sources("lab/src").into_iter().filter(|(file, _)| !may_be_unsafe(file));
    let mut callers: Vec<String> =
        files.filter(|(_, source)| calls_the_kernel(source)).map(|(file, _)| file).collect();
    for file in STILL_CALL_THE_KERNEL {
        let at = callers.iter().position(|caller| caller == file);
        let at = at.unwrap_or_else(|| panic!("{file} no longer calls the kernel: remove it from the list"));
        callers.remove(at);
    }
    assert!(callers.is_empty(), "only linux may call the kernel: {callers:#?}");
}

fn calls_the_kernel(source: &str) -> bool {
    code(source).any(|line| OF_LINUX.iter().any(|word| line.contains(word)))
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
