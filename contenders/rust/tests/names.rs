//! Tests that every method of names counts a folder with files, folders, links and a pipe correctly.

use crate::turns::read_twice;
use readlab_protocol::{NameCounts, Reads};
use readlab_rust::method::{Method, registry};
use readlab_rust::{Answer, ReadError, Reading, Work};
use rustix::fs::{CWD, FileType, mknodat};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use tempfile::TempDir;

const FILE_NAME_COUNT: u64 = 300;

/// A folder with files of different sizes in nested folders, names that are no UTF-8, links in a
/// circle, a pipe, an empty folder, and a file with two names.
fn make_tree() -> TempDir {
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let at = |name: &str| home.path().join(name);
    for folder in ["a/b/c", "d", "empty"] {
        fs::create_dir_all(at(folder)).unwrap();
    }
    for number in 1..FILE_NAME_COUNT {
        let folder = ["", "a/", "a/b/", "a/b/c/", "d/"][number as usize % 5];
        fs::write(at(&format!("{folder}f{number}\n")), vec![b'x'; number as usize]).unwrap();
    }
    fs::hard_link(at("d/f4\n"), at("a/second name of it")).unwrap();
    symlink(home.path(), at("a/loop")).unwrap();
    symlink("nowhere", at("dangling")).unwrap();
    mknodat(CWD, at("pipe"), FileType::Fifo, 0o600.into(), 0).unwrap();
    home
}

fn name_counts() -> NameCounts {
    NameCounts { files: FILE_NAME_COUNT, folders: 5, links: 2, others: 1 }
}

/// The correct answer. A file counts once for each of its names, and a file of four bytes has two.
fn right_answer(work: Work) -> Answer {
    let bytes = (1..FILE_NAME_COUNT).sum::<u64>() + 4;
    Answer { names: Some(name_counts()), bytes: (work == Work::Stat).then_some(bytes), ..Answer::default() }
}

/// The methods of names, each with its only work. The control `null` is not among them.
fn methods_of_names() -> impl Iterator<Item = (&'static Method, Work)> {
    let of_folders = || registry::ALL.iter().filter(|it| it.reads == Reads::Folder);
    let of_work =
        move |work| of_folders().filter(move |it| !it.scans(work).is_empty()).map(move |it| (it, work));
    Work::OF_NAMES.into_iter().flat_map(of_work)
}

fn read(
    method: &Method,
    work: Work,
    folder: &Path,
    set: &[(&str, u64)],
) -> Option<Result<Answer, ReadError>> {
    read_twice(method.name, Reading::new(method.name, "-", work, folder, set.iter().copied()))
}

#[test]
fn every_method_finds_every_name_once_and_follows_no_link() {
    let tree = make_tree();
    assert_eq!(methods_of_names().count(), 6);
    for (method, work) in methods_of_names() {
        assert_eq!(method.reads, Reads::Folder, "{}", method.name);
        if let Some(answer) = read(method, work, tree.path(), &[]) {
            assert_eq!(answer.unwrap(), right_answer(work), "{}", method.name);
        }
    }
}

#[test]
fn no_setting_changes_the_answer() {
    let tree = make_tree();
    for (name, set) in [
        ("names-getdents", ("buffer_bytes", 4096)),
        ("names-threads", ("threads", 1)),
        ("names-threads", ("threads", 33)),
        ("stat-threads", ("threads", 2)),
        ("stat-io_uring", ("depth", 1)),
        ("stat-io_uring", ("depth", 7)),
        ("stat-io_uring", ("depth", 4096)),
    ] {
        let (method, work) = methods_of_names().find(|(method, _)| method.name == name).unwrap();
        if let Some(answer) = read(method, work, tree.path(), &[set]) {
            assert_eq!(answer.unwrap(), right_answer(work), "{name} {set:?}");
        }
    }
}

#[test]
fn an_empty_folder_has_no_names_and_an_absent_folder_is_an_error() {
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let absent = home.path().join("absent");
    for (method, work) in methods_of_names() {
        let nothing = NameCounts::default();
        if let Some(answer) = read(method, work, home.path(), &[]) {
            assert_eq!(answer.unwrap().names, Some(nothing), "{}", method.name);
        }
        if let Some(answer) = read(method, work, &absent, &[]) {
            let error = answer.unwrap_err().to_string();
            assert!(error.starts_with(&format!("{}: No such file", absent.display())), "{error}");
        }
    }
}

#[test]
fn no_method_both_finds_names_and_reads_bytes() {
    for method in registry::ALL.iter().filter(|method| method.name != "null") {
        let does = |works: &[Work]| works.iter().any(|work| !method.scans(*work).is_empty());
        assert!(does(&Work::OF_BYTES) != does(&Work::OF_NAMES), "{}", method.name);
    }
}
