//! The rules of the house as tests: who may know whom, a head comment in every file, the open
//! section of the changelog.

mod functions;

use functions::{functions, tuple_elements};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The rooms of the lab from the ground up, and which of those below it each may use. A room that
/// is not listed is an error here.
const ROOMS: [(&str, &[&str]); 20] = [
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

#[test]
fn only_linux_has_unsafe_code() {
    for (file, source) in sources("lab/src").iter().filter(|(file, _)| room(file) != "linux") {
        let has_unsafe = code(source).any(|line| line.contains("unsafe {") || line.contains("unsafe fn"));
        assert!(!has_unsafe, "{file} has unsafe code");
    }
}

#[test]
fn only_linux_calls_the_kernel() {
    for (file, source) in sources("lab/src").iter().filter(|(file, _)| room(file) != "linux") {
        assert!(!calls_the_kernel(source), "{file} calls the kernel");
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

/// A file has at most so many lines,
const FILE_LINES_MAX: usize = 400;

/// a body of a function so many,
const BODY_LINES_MAX: usize = 60;

/// half of the bodies so many,
const BODY_LINES_MEDIAN_MAX: usize = 10;

/// and a line of comment so many columns.
const COMMENT_COLUMNS_MAX: usize = 100;

/// Every file that breaks the rules for lengths, widths and parameters, with what is wrong with it.
fn breaches() -> BTreeMap<String, Vec<String>> {
    let mut breaches: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for folder in SOURCES {
        for (file, source) in sources(folder) {
            let found = breaches_of(&source, folder == "lab/src");
            if !found.is_empty() {
                breaches.insert(format!("{folder}/{file}"), found);
            }
        }
    }
    breaches
}

fn breaches_of(source: &str, is_of_lab: bool) -> Vec<String> {
    let mut breaches = Vec::new();
    let lines = source.lines().count();
    if lines > FILE_LINES_MAX {
        breaches.push(format!("it has {lines} lines"));
    }
    let wide = source.lines().filter(|line| is_wide_comment(line)).count();
    if wide > 0 {
        breaches.push(format!("{wide} of its comments are wider than {COMMENT_COLUMNS_MAX} columns"));
    }
    for function in functions(source) {
        let name = &function.name;
        if function.body_lines > BODY_LINES_MAX {
            breaches.push(format!("the body of {name} has {} lines", function.body_lines));
        }
        for param in function.params.iter().filter(|param| is_of_lab && is_of_unlike_things(param)) {
            breaches.push(format!("{name} takes a tuple of unlike things: {param}"));
        }
    }
    breaches
}

/// Whether a parameter is a tuple whose elements are of different types.
fn is_of_unlike_things(param: &str) -> bool {
    tuple_elements(param).iter().collect::<BTreeSet<_>>().len() > 1
}

#[test]
fn files_functions_and_comments_keep_their_lengths_and_no_parameter_is_a_tuple_of_unlike_things() {
    let breaches = breaches();
    assert!(breaches.is_empty(), "{breaches:#?}");
}

#[test]
fn half_of_the_functions_of_the_lab_are_very_short() {
    let mut lines: Vec<usize> = Vec::new();
    for source in sources("lab/src").values() {
        lines.extend(functions(source).iter().map(|function| function.body_lines));
    }
    lines.sort_unstable();
    let median = lines[lines.len() / 2];
    assert!(median <= BODY_LINES_MEDIAN_MAX, "the median body has {median} lines");
}

/// Whether a line is a comment beyond its width; a row of a table cannot be wrapped.
fn is_wide_comment(line: &str) -> bool {
    let line_start = line.trim_start();
    line_start.starts_with("//")
        && !line_start.starts_with("//! |")
        && line.chars().count() > COMMENT_COLUMNS_MAX
}

#[test]
fn the_scanner_sees_functions_as_they_are() {
    let source = r#"
        fn one(it: (usize, &str), (a, b): (u32, u32)) -> bool {
            // A comment with { in it.
            it.1 == "}\"" || a == '{' as u32

        }
        trait T { fn declared(&self); }
        fn generic<F: Fn(u8) -> u8>(&self, f: F, pairs: &[(u8, String)], m: Option<(u8, String)>) {}
        type P = fn (u8, String);
    "#;
    let found = functions(source);
    let names: Vec<&str> = found.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["one", "generic"]);
    assert_eq!((found[0].body_lines, found[1].body_lines), (1, 0));
    let unlike = |params: &[String]| params.iter().map(|it| is_of_unlike_things(it)).collect::<Vec<_>>();
    assert_eq!(unlike(&found[0].params), [true, false]);
    assert_eq!(unlike(&found[1].params), [false, false, false, true]);
}
