//! Tests of which files can be targets, on real files of every kind.

use super::{Target, tree};
use readlab_model::target::TargetFacts;
use readlab_model::target::extents::Extents;
use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

/// A folder on the file system of the test programs, which is on a device and not in memory
/// (tmpfs).
pub(super) fn folder_on_device() -> tempfile::TempDir {
    tempfile::tempdir_in(std::env::current_exe().unwrap().parent().unwrap()).unwrap()
}

fn refusal_text(path: &Path) -> String {
    let error = Target::examine(path).unwrap_err().to_string();
    assert_eq!(error.lines().count(), 1, "{error}");
    error
}

/// The extents of a file, if its file system lists them.
fn extents(facts: &TargetFacts) -> Option<&Extents> {
    if facts.extents.is_none() {
        eprintln!("SKIPPED: {:?} does not tell extents", facts.filesystem);
    }
    facts.extents.as_ref()
}

#[test]
fn a_path_that_is_not_a_file_is_rejected_in_one_line_that_names_it() {
    let folder = folder_on_device();
    let at = |name: &str| folder.path().join(name);
    let mode = rustix::fs::Mode::RUSR;
    rustix::fs::mknodat(rustix::fs::CWD, at("fifo"), rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let _listener = UnixListener::bind(at("socket")).unwrap();
    symlink("nothing", at("link")).unwrap();
    for (path, expected) in [
        (at("none"), "none: no such file"),
        (at("link"), "link: a link to a file that does not exist"),
        (folder.path().to_owned(), ": a folder, not a file"),
        (at("fifo"), "fifo: a pipe, which can be read only once, not a file"),
        (at("socket"), "socket: a socket, not a file"),
        ("/dev/zero".into(), "/dev/zero: a character device, which has no size, not a file"),
        ("/proc/self/status".into(), "bytes but reading gives more"),
        ("/proc/kcore".into(), "reading gives perhaps no end"),
        (at("new\nline"), "new\\nline: no such file"),
    ] {
        if path.starts_with("/proc") && !path.exists() {
            eprintln!("SKIPPED: no {}", path.display());
            continue;
        }
        let error = refusal_text(&path);
        assert!(error.ends_with(expected) || error.contains(expected), "{error}");
    }
}

#[test]
fn a_file_that_may_not_be_read_is_refused() {
    let folder = folder_on_device();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let path = folder.path().join("secret");
    fs::write(&path, "x").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o000)).unwrap();
    let Some(found) = as_ordinary_user(move || Target::examine(&path)) else { return };
    let said = found.unwrap_err().to_string();
    assert!(said.ends_with("secret: no permission to read it"), "{said}");
}

/// Calls a function by a user who is not root; `None` with a message if that user may not write to
/// the folder of temporary files.
pub(super) fn as_ordinary_user<T: Send + 'static>(
    function: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let called = std::thread::spawn(move || {
        if rustix::process::geteuid().is_root() {
            // The kernel keeps user ids for each thread, so other threads keep theirs.
            let nobody = rustix::process::Uid::from_raw(65_534);
            rustix::thread::set_thread_res_uid(nobody, nobody, nobody).unwrap();
        }
        let may_write = tempfile::tempdir().is_ok();
        may_write.then(function)
    });
    let result = called.join().unwrap();
    if result.is_none() {
        eprintln!("SKIPPED: another user may not write to the folder of temporary files");
    }
    result
}

#[test]
fn a_url_without_a_scheme_is_refused_without_its_password() {
    let said = Target::examine(Path::new("me:hush@host/x?key=hush")).unwrap_err().to_string();
    assert_eq!(said, "…@host/x?…: no such file; a URL begins with http:// or https://");
    let said = Target::examine(Path::new("me@host/x")).unwrap_err().to_string();
    assert!(said.ends_with("me@host/x: no such file"), "{said}");
}

#[test]
fn file_names_with_any_bytes_are_preserved() {
    let folder = folder_on_device();
    for name in [&b"with space"[..], b"new\nline", b"\xff\xfe\xfd", "Übergröße".as_bytes()] {
        let path = folder.path().join(OsStr::from_bytes(name));
        fs::write(&path, "abc").unwrap();
        let target = Target::examine(&path).unwrap();
        assert_eq!(target.file(), Some(path.as_path()));
        assert_eq!(target.facts.size_bytes, 3);
        assert_eq!(target.facts.path_hex.is_some(), std::str::from_utf8(name).is_err());
        if let Some(hex) = target.facts.path_hex {
            assert!(hex.ends_with("fffefd"), "{hex}");
        }
    }
}

#[test]
fn facts_of_a_plain_file_are_all_there() {
    let folder = folder_on_device();
    let path = folder.path().join("file");
    fs::write(&path, vec![b'x'; 100_000]).unwrap();
    let facts = Target::examine(&path).unwrap().facts;
    assert!(facts.filesystem.is_some() && facts.mount.is_some(), "{facts:?}");
    let Some(extents) = extents(&facts) else { return };
    assert!(extents.count >= 1, "{extents:?}");
    if extents.encoded_bytes == 0 {
        assert_eq!(facts.expected_device_bytes(), Some(100_000), "{extents:?}");
        assert_eq!(facts.cautions, Vec::<String>::new());
    }
}

#[test]
fn holes_and_reserved_extents_are_reported_and_not_expected_from_the_device() {
    let folder = folder_on_device();
    let path = folder.path().join("sparse");
    let file = File::create(&path).unwrap();
    file.write_all_at(&[b'x'; 65_536], 1 << 20).unwrap();
    file.set_len(4 << 20).unwrap();
    let reserved = rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 2 << 20, 65_536).is_ok();
    let facts = Target::examine(&path).unwrap().facts;
    let Some(extents) = extents(&facts) else { return };
    if !reserved || extents.encoded_bytes > 0 {
        eprintln!("SKIPPED: {:?} reserves no extents or compresses them", facts.filesystem);
        return;
    }
    assert_eq!((extents.hole_bytes, extents.unwritten_bytes), ((4 << 20) - 131_072, 65_536), "{extents:?}");
    assert_eq!(facts.expected_device_bytes(), Some(65_536));
    assert!(facts.cautions.iter().any(|text| text.contains("holes")), "{:?}", facts.cautions);
    assert!(facts.cautions.iter().any(|text| text.contains("reserved")), "{:?}", facts.cautions);
}

#[test]
fn all_extents_are_counted_if_one_call_does_not_return_them_all() {
    let folder = folder_on_device();
    let path = folder.path().join("comb");
    let file = File::create(&path).unwrap();
    for tooth in 0..600 {
        file.write_all_at(&[b'x'; 4096], tooth * 65_536).unwrap();
    }
    let facts = Target::examine(&path).unwrap().facts;
    let Some(extents) = extents(&facts) else { return };
    if extents.encoded_bytes + extents.inline_bytes > 0 {
        eprintln!("SKIPPED: {:?} compresses", facts.filesystem);
        return;
    }
    assert_eq!((extents.count, extents.hole_bytes), (600, 599 * (65_536 - 4096)));
}

#[test]
fn a_file_in_memory_and_an_empty_one_come_with_cautions() {
    let Ok(file) = tempfile::NamedTempFile::new_in("/dev/shm") else {
        eprintln!("SKIPPED: no folder /dev/shm to write to");
        return;
    };
    let facts = Target::examine(file.path()).unwrap().facts;
    assert_eq!(facts.filesystem.as_deref(), Some("tmpfs"));
    assert!(facts.cautions.iter().any(|text| text.contains("cannot be cold")), "{:?}", facts.cautions);
    assert!(facts.cautions.iter().any(|text| text.contains("empty")), "{:?}", facts.cautions);
}

#[test]
fn a_path_with_parents_or_links_is_shown_as_its_real_location() {
    let folder = folder_on_device();
    let real = folder.path().canonicalize().unwrap();
    let at = |name: &str| real.join(name);
    fs::create_dir_all(at("a/b")).unwrap();
    fs::write(at("a/f"), "inner").unwrap();
    fs::write(at("f"), "out").unwrap();
    symlink(at("a/b"), at("v")).unwrap();
    symlink("/dev/fd", at("fds")).unwrap();
    let place = |path: &Path| {
        let target = Target::examine(path).unwrap();
        assert_eq!(target.file(), Some(Path::new(&target.facts.path)));
        target.facts.path
    };
    // `v` leads to `a/b`, whose parent folder has another `f` than the folder of `v`.
    for (path, expected) in [("v/../f", "a/f"), ("a/b/../../f", "f"), ("a/../v/../f", "a/f"), ("f", "f")] {
        assert_eq!(place(&at(path)), at(expected).to_str().unwrap(), "{path}");
    }
    symlink(at("f"), at("link")).unwrap();
    assert_eq!(place(&at("link")), at("link").to_str().unwrap(), "a link's own name is its name");
    let file = File::open(at("f")).unwrap();
    let number = std::os::fd::AsRawFd::as_raw_fd(&file);
    symlink(format!("/proc/self/fd/{number}"), at("own")).unwrap();
    // A name that means another file in every process is replaced by the file's path.
    let of_process =
        ["/proc/self/fd", "/dev/../proc/self/fd"].map(|it| Path::new(it).join(number.to_string()));
    for path in [at(&format!("fds/{number}")), at("own")].into_iter().chain(of_process) {
        assert_eq!(place(&path), at("f").to_str().unwrap(), "{}", path.display());
    }
    assert!(refusal_text(&at("gone/../f")).ends_with("gone/../f: no such file"));
}

#[test]
fn a_folder_has_the_same_facts_about_what_stores_it_as_its_file() {
    let folder = folder_on_device();
    let path = folder.path().join("file");
    fs::write(&path, "a line\n").unwrap();
    let of_file = Target::examine(&path).unwrap().facts;
    let source = tree::ListSource::Folder(folder.path().to_owned());
    let of_folder = Target::examine_tree(&tree::TreeRequest::by_name(source)).unwrap().facts;
    let storage =
        |facts: TargetFacts| (facts.filesystem, facts.mount, facts.device, facts.io_quotas, facts.layers);
    assert_eq!(storage(of_folder), storage(of_file));
}
