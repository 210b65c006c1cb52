//! Tests the rules of this repository that neither cargo nor clippy checks.

use crate::repository;
use std::collections::BTreeMap;
use std::fs;

/// Text that only the crate `system` may contain: system calls, and the files through which the
/// kernel is read.
const ONLY_IN_SYSTEM: [&str; 7] =
    ["libc::", "perf_event_open_sys::", "procfs::", "rustix::", "signal_hook::", "\"/proc", "\"/sys"];

/// Every Rust file below a folder, by path from the folder.
fn sources(folder: &str) -> BTreeMap<String, String> {
    let folder = repository::path(folder);
    let mut found = BTreeMap::new();
    let mut open = vec![folder.clone()];
    while let Some(dir) = open.pop() {
        for path in fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path()) {
            // Bundled files are linked, and are skipped here.
            if path.is_symlink() {
                continue;
            } else if path.is_dir() {
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

/// The lines of a file except comments.
fn code(source: &str) -> impl Iterator<Item = &str> {
    source.lines().filter(|line| !line.trim_start().starts_with("//"))
}

#[test]
fn only_the_program_links_the_contenders() {
    for (file, source) in sources("crates") {
        let knows = source.contains("readlab_rust") || source.contains("readlab_command");
        assert!(!knows || file == "readlab/src/commands/contender.rs", "{file} knows a way of reading");
    }
}

/// The folders with our Rust files.
const SOURCES: &str = "crates protocol/src auto/src contenders/rust/src contenders/command/src harness/src \
                       bench/src tests";

#[test]
fn every_file_begins_with_a_description() {
    for folder in SOURCES.split(' ') {
        for (file, source) in sources(folder) {
            assert!(source.starts_with("//! "), "{folder}/{file} has no head comment");
        }
    }
}

/// The folders of the crate `system` that call a kernel.
const KERNEL_FOLDERS: [&str; 3] = ["system/src/linux/", "system/src/other/", "system/src/unix/"];

/// The files of the lab's other crates, without tests, which may cross the boundary.
fn outside_system() -> impl Iterator<Item = (String, String)> {
    let is_test = |file: &str| file.ends_with("/tests.rs") || file.contains("/tests/");
    let calls_a_kernel = |file: &str| KERNEL_FOLDERS.iter().any(|folder| file.starts_with(folder));
    sources("crates").into_iter().filter(move |(file, _)| !calls_a_kernel(file) && !is_test(file))
}

#[test]
fn only_system_has_unsafe_code() {
    for (file, source) in outside_system() {
        let has_unsafe = code(&source).any(|line| line.contains("unsafe {") || line.contains("unsafe fn"));
        assert!(!has_unsafe, "{file} has unsafe code");
    }
}

#[test]
fn only_system_calls_the_kernel() {
    for (file, source) in outside_system() {
        let calls_the_kernel =
            code(&source).any(|line| ONLY_IN_SYSTEM.iter().any(|word| line.contains(word)));
        assert!(!calls_the_kernel, "{file} calls the kernel");
    }
}

#[test]
fn the_changelog_has_an_open_section() {
    let changelog = repository::text("CHANGELOG.md");
    assert!(changelog.lines().any(|line| line == "## Unreleased"));
}

/// The folders of the repository whose files are named in documents and scripts.
const NAMED_FOLDERS: &str =
    "auto/ bench/ contenders/ crates/ docs/ fleet/ harness/ packaging/ protocol/ suites/ tests/";

/// Prefixes that mean the root of the repository if an action or a script names a file there.
const ROOT_PREFIXES: [&str; 2] = ["$GITHUB_ACTION_PATH/", "$root/"];

/// The paths of the repository that a text names. If a variable or a pattern completes a path, it
/// is the path of the folder.
fn repository_paths(text: &str) -> Vec<&str> {
    let is_of_path = |c: char| c.is_ascii_alphanumeric() || "/_.-".contains(c);
    let words = text.split(|c: char| c.is_whitespace() || "\"'`()[]=,:;|".contains(c));
    let below_root = |word| ROOT_PREFIXES.iter().find_map(|root| str::strip_prefix(word, root));
    let is_of_folder = |word: &str| NAMED_FOLDERS.split(' ').any(|folder| word.starts_with(folder));
    let paths = words.filter_map(|word| below_root(word).or(Some(word).filter(|word| is_of_folder(word))));
    let whole = paths.map(|path| match path.find(|c| !is_of_path(c)) {
        Some(end) => &path[..path[..end].rfind('/').unwrap_or(0)],
        None => path.trim_end_matches('.'),
    });
    whole.filter(|path| !path.is_empty()).collect()
}

#[test]
fn every_named_path_of_the_repository_exists() {
    NAMED_FOLDERS.split(' ').for_each(|folder| assert!(repository::path(folder).is_dir(), "{folder}"));
    let entries = fs::read_dir(repository::path("packaging")).unwrap();
    let packaging = entries.map(|entry| format!("packaging/{}", entry.unwrap().file_name().display()));
    let scripts = ["action.yml", "Makefile", "docs/pictures.sh"];
    let documents = ["CONTRIBUTING.md", "METHOD.md", "README.md", "REFERENCE.md"];
    for file in packaging.chain(scripts.into_iter().chain(documents).map(str::to_owned)) {
        let text = repository::text(&file);
        // Documents also name examples, which are no files of the repository.
        let is_document = file.ends_with(".md");
        for path in repository_paths(&text) {
            let is_example = is_document && path.starts_with("contenders/");
            let exists = is_example || repository::path(path).exists();
            assert!(exists, "{file} names {path}, which does not exist");
        }
    }
    let text = "`crates/model/src/units.rs`: and crates/stats/. $GITHUB_ACTION_PATH/lab contenders/x/$a.sh";
    assert_eq!(repository_paths(text), ["crates/model/src/units.rs", "crates/stats/", "lab", "contenders/x"]);
}

#[test]
fn files_define_what_the_page_for_contributors_finds_in_them() {
    let page = repository::text("CONTRIBUTING.md").split_whitespace().collect::<Vec<_>>().join(" ");
    let parts: Vec<&str> = page.split("` in `crates/").collect();
    assert!(parts.len() > 20);
    for pair in parts.windows(2) {
        let item = pair[0].rsplit('`').next().unwrap_or_default();
        let path = pair[1].split('`').next().unwrap_or_default();
        let name = item.trim_end_matches('!').rsplit("::").next().unwrap_or_default();
        let source = repository::text(&format!("crates/{path}"));
        let kinds = ["fn", "struct", "enum", "const", "macro_rules!"];
        let is_defined = kinds.iter().any(|kind| source.contains(&format!("{kind} {name}")));
        assert!(is_defined, "crates/{path} does not define {item}");
    }
}

#[test]
fn no_file_contains_a_todo() {
    for (file, source) in sources("crates") {
        for word in [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")] {
            assert!(!source.contains(word), "{file} has a {word}");
        }
    }
}
