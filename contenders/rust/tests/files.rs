//! Tests that every method that reads the files of a list or a folder gives the answer of the
//! simplest code, and the proof of each file. Anything else, such as a link, is not read.

use crate::conformance::awkward_settings;
use crate::naive;
use crate::turns::read_twice;
use readlab_protocol::{FileList, FileProof, Reads};
use readlab_rust::method::{Method, registry};
use readlab_rust::{Answer, Reading, Work};
use rustix::io::ReadWriteFlags;
use std::ffi::OsStr;
use std::fs;
use std::io::IoSliceMut;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Files of awkward sizes in nested folders, with other things that must be skipped, and the list
/// of the files.
struct Tree {
    _home: TempDir,
    folder: PathBuf,
    list: PathBuf,
    contents: Vec<Vec<u8>>,
}

impl Tree {
    fn new() -> Tree {
        let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let (folder, list) = (home.path().join("tree"), home.path().join("list"));
        fs::create_dir_all(folder.join("deep/er")).unwrap();
        fs::create_dir(folder.join("empty")).unwrap();
        let sizes = [0, 1, 511, 512, 4095, 4096, 4097, 65_535, 65_536, 65_537, 200_000];
        let (mut contents, mut paths) = (Vec::new(), Vec::new());
        for (index, size) in sizes.into_iter().enumerate() {
            let place = ["", "deep", "deep/er"][index % 3];
            let path = folder.join(place).join(OsStr::from_bytes(format!("f {index}\n").as_bytes()));
            let content: Vec<u8> =
                (0..size).map(|at| if at % 41 == 7 { b'\n' } else { (at * 31 + index) as u8 }).collect();
            fs::write(&path, &content).unwrap();
            paths.extend_from_slice(path.as_os_str().as_bytes());
            paths.push(0);
            contents.push(content);
        }
        fs::write(&list, paths).unwrap();
        std::os::unix::fs::symlink(&folder, folder.join("loop")).unwrap();
        std::os::unix::fs::symlink(&list, folder.join("link to a file")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            folder.join("pipe"),
            rustix::fs::FileType::Fifo,
            0o600.into(),
            0,
        )
        .unwrap();
        Tree { _home: home, folder, list, contents }
    }

    /// The correct answer for a work, with the proof of each file.
    fn truth(&self, work: Work) -> Answer {
        let (mut proof, mut bytes, mut value_of_all) = (FileProof::default(), 0, 0);
        for content in &self.contents {
            let value = naive::value(content, work);
            proof.add(content.len() as u64, value);
            bytes += content.len() as u64;
            value_of_all += value;
        }
        Answer { files: Some(proof), ..naive::answer(work, bytes, value_of_all) }
    }
}

/// The methods that read the bytes of several files.
fn methods() -> impl Iterator<Item = &'static Method> {
    let reads_several = |method: &&Method| {
        (method.lists || method.reads == Reads::Folder) && !method.scans(Work::Newlines).is_empty()
    };
    registry::ALL
        .iter()
        .filter(reads_several)
        .filter(|method| !["null", "opens", "copy", "files-device"].contains(&method.name))
}

/// The answer of a reading that must not fail; `None` if this machine lacks what the method needs.
fn read(method: &Method, scan: &str, work: Work, target: &Path, set: &[(&str, u64)]) -> Option<Answer> {
    let reading = Reading::new(method.name, scan, work, target, set.iter().copied());
    let is_list = method.reads != Reads::Folder;
    let reading = reading.and_then(|it| if is_list { it.list() } else { Ok(it) });
    let answer = read_twice(method.name, reading)?;
    Some(answer.unwrap_or_else(|error| panic!("{}: {error:?}", method.name)))
}

fn target<'t>(method: &Method, tree: &'t Tree) -> &'t Path {
    if method.reads == Reads::Folder { &tree.folder } else { &tree.list }
}

#[test]
fn every_method_reads_every_file_once_and_nothing_else() {
    let tree = Tree::new();
    for method in methods() {
        for work in Work::OF_BYTES {
            for scan in method.scans(work) {
                if let Some(answer) = read(method, scan, work, target(method, &tree), &[]) {
                    assert_eq!(answer, tree.truth(work), "{}/{scan} {work}", method.name);
                }
            }
        }
    }
}

#[test]
fn settings_that_cut_the_files_awkwardly_change_nothing() {
    let tree = Tree::new();
    let check = |method: &Method, scan: &str, set: &[(&str, u64)]| {
        if let Some(answer) = read(method, scan, Work::Newlines, target(method, &tree), set) {
            assert_eq!(answer, tree.truth(Work::Newlines), "{} {set:?}", method.name);
        }
    };
    for method in methods() {
        check(method, method.scans(Work::Newlines)[0], &awkward_settings(method));
    }
    for (name, set) in [
        ("read", &[("buffer_bytes", 512)][..]),
        ("files-threads", &[("buffer_bytes", 100), ("threads", 5)]),
        ("files-ahead", &[("ahead", 1), ("buffer_bytes", 4096)]),
        ("files-ahead", &[("ahead", 100), ("buffer_bytes", 4096)]),
        ("files-io_uring", &[("buffer_bytes", 512), ("depth", 1)]),
        ("files-io_uring", &[("buffer_bytes", 4096), ("depth", 3)]),
        ("files-io_uring", &[("buffer_bytes", 65_536), ("depth", 512)]),
        ("files-io_uring", &[("buffer_bytes", 4096), ("depth", 3), ("direct", 1)]),
        ("walk", &[("buffer_bytes", 4096)]),
    ] {
        check(registry::find(name).unwrap(), "memchr", set);
    }
}

/// Removes the pages of a file from the page cache, as far as its file system allows it.
pub(crate) fn evict(path: &Path) {
    let file = fs::File::open(path).unwrap();
    file.sync_all().unwrap();
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
}

/// Whether the page at this offset of a file is in the page cache. If it is not, the kernel may fetch
/// it.
pub(crate) fn is_cached(path: &Path, offset: u64) -> bool {
    let (file, mut byte) = (fs::File::open(path).unwrap(), [0]);
    let mut buffers = [IoSliceMut::new(&mut byte)];
    rustix::io::preadv2(&file, &mut buffers, offset, ReadWriteFlags::NOWAIT).is_ok()
}

#[test]
fn the_control_copy_finds_the_files_in_the_page_cache() {
    let tree = Tree::new();
    let files: Vec<PathBuf> = FileList::read(&tree.list).unwrap().iter().map(Path::to_owned).collect();
    let full = || files.iter().filter(|path| path.metadata().unwrap().len() > 0);
    full().for_each(|path| evict(path));
    if full().any(|path| is_cached(path, 0)) {
        return eprintln!("SKIPPED: files stay in the page cache here");
    }
    let copy = Reading::new("copy", "-", Work::Sum, &tree.list, []).and_then(Reading::list);
    copy.unwrap().prepare().unwrap();
    assert!(full().all(|path| is_cached(path, 0)), "it would copy from the device");
}

#[test]
fn the_device_control_of_files_reads_past_the_cache_and_proves_nothing() {
    let tree = Tree::new();
    let method = registry::find("files-device").unwrap();
    for set in [&[][..], &[("buffer_bytes", 4096), ("depth", 1)], &[("depth", 4096)]] {
        if let Some(answer) = read(method, "-", Work::Sum, &tree.list, set) {
            assert_eq!(answer, Answer::default(), "{set:?}");
        }
    }
}

#[test]
fn a_missing_file_is_named() {
    let tree = Tree::new();
    let gone = tree.folder.join("deep").join("f 4\n");
    fs::remove_file(&gone).unwrap();
    let of_lists = methods().filter(|method| method.reads != Reads::Folder);
    for method in of_lists.chain(["opens", "copy", "files-device"].map(|name| registry::find(name).unwrap()))
    {
        let scan = method.scans(Work::Sum)[0];
        let reading = Reading::new(method.name, scan, Work::Sum, &tree.list, []);
        let Ok(mut reading) = reading.and_then(Reading::list) else { continue };
        let error = reading.prepare().and_then(|()| reading.read().map(drop)).unwrap_err();
        let expected = format!("{}: No such file or directory", gone.display());
        assert!(error.to_string().starts_with(&expected), "{}: {error}", method.name);
    }
}

#[test]
fn an_empty_list_and_an_empty_folder_have_no_answer() {
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let list = home.path().join("list");
    fs::write(&list, "").unwrap();
    fs::create_dir(home.path().join("folder")).unwrap();
    for method in methods() {
        let target = if method.reads == Reads::Folder { home.path().join("folder") } else { list.clone() };
        let answer = read(method, method.scans(Work::Sum)[0], Work::Sum, &target, &[]);
        assert!(answer.is_none_or(|answer| answer == Answer::default()), "{}: {answer:?}", method.name);
    }
}

#[test]
fn a_method_of_single_files_refuses_a_list_and_a_broken_list_is_named() {
    let reading = Reading::new("lines", "-", Work::Lines, Path::new("x"), []).unwrap();
    assert_eq!(reading.list().unwrap_err().to_string(), "lines reads no list of files");
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let list = home.path().join("list");
    fs::write(&list, "no zero byte").unwrap();
    let reading = Reading::new("read", "scalar", Work::Sum, &list, []).unwrap();
    let error = reading.list().unwrap_err().to_string();
    assert!(error.starts_with(&format!("{}: a list of files has", list.display())), "{error}");
}
