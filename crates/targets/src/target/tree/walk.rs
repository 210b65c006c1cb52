//! Finds the files of a tree below a folder, or by the names of a list. Symbolic links below a
//! folder are followed only if the user requests it, and never in a loop; a file may then be read
//! under several names. The names of a list may be symbolic links.

use super::TreeRequest;
use super::left_out::LeftOutEntries;
use super::list::{ListSource, TreeListsWriter};
use crate::target::{TargetError, check_filesystems_respond, check_responses_to, path, refusal};
use readlab_model::target::tree::TreeOrder;
use readlab_system::file_status::{self, FileKind, FileStatus};
use readlab_system::folder::own_paths::OwnPaths;
use readlab_system::mounts::Mount;
use readlab_system::silent::ResponseProbe;
use readlab_system::system_root::SystemRoot;
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use walkdir::{DirEntryExt, WalkDir};
use xxhash_rust::xxh3::xxh3_64;

/// Number of names in a list whose file systems are checked together, by one child process.
const NAMES_PER_CHECK: usize = 4096;

pub(super) struct WalkResult {
    pub(super) source_path: PathBuf,
    pub(super) folder_count: u64,
    pub(super) duplicate_count: u64,
    pub(super) left_out: LeftOutEntries,
    /// Files and folders inside the tree that readlab writes; they are left out.
    pub(super) own_paths: OwnPaths,
}

pub(super) fn walk(
    folder: &Path,
    request: &TreeRequest,
    names: &mut TreeListsWriter,
) -> Result<WalkResult, TargetError> {
    // Contenders differ in whether they follow the folder's name if it is a symbolic link, so the
    // link is resolved here.
    let folder = fs::canonicalize(folder).map_err(|cause| refusal(folder, cause))?;
    let own = request.own_paths.below(&folder);
    // The walk opens a folder before it reports it, so mount points are checked first.
    let points = Mount::points_below(&SystemRoot::default(), &folder);
    check_filesystems_respond(&points.iter().map(PathBuf::as_path).collect::<Vec<_>>())?;
    let mut first_files = BTreeMap::new();
    let mut walked = WalkResult {
        source_path: folder.clone(),
        folder_count: 0,
        duplicate_count: 0,
        left_out: LeftOutEntries::default(),
        own_paths: own.clone(),
    };
    let mut walk = WalkDir::new(&folder).follow_links(request.follows_links);
    if request.order == TreeOrder::Name {
        walk = walk.sort_by_file_name();
    }
    for entry in walk.into_iter().filter_entry(|entry| !own.has(entry.path())) {
        let entry = match entry {
            Err(error) if is_dangling_or_cyclic(&error) => {
                walked.left_out.counts.links += 1;
                continue;
            }
            Err(error) if is_about_entry_below(&folder, &error) => {
                let path = error.path().unwrap_or(&folder).to_owned();
                walked.left_out.add_failed(&path, error.into())?;
                continue;
            }
            entry => entry.map_err(|error| walk_error(&folder, error))?,
        };
        let kind = entry.file_type();
        if kind.is_file() {
            names.add(entry.path(), entry.ino())?;
            if let Some(point) = points.iter().rev().find(|point| entry.path().starts_with(point)) {
                first_files.entry(point).or_insert_with(|| entry.path().to_owned());
            }
        } else if kind.is_dir() {
            walked.folder_count += 1;
            names.add_folder(entry.path())?;
        } else if entry.path_is_symlink() {
            walked.left_out.counts.links += 1;
        } else if kind.is_fifo() {
            walked.left_out.counts.pipes += 1;
        } else if kind.is_socket() {
            walked.left_out.counts.sockets += 1;
        } else {
            walked.left_out.counts.devices += 1;
        }
    }
    // The file systems of these files are compared next, and the files are opened.
    check_responses_to(
        &first_files.values().map(PathBuf::as_path).collect::<Vec<_>>(),
        ResponseProbe::Status,
    )?;
    Ok(walked)
}

/// True if the error is about a symbolic link to nothing, to itself, or to a folder that contains the
/// link.
fn is_dangling_or_cyclic(error: &walkdir::Error) -> bool {
    let leads_nowhere =
        |cause: &io::Error| cause.kind() == io::ErrorKind::NotFound || file_status::is_link_loop(cause);
    error.loop_ancestor().is_some()
        || error.io_error().is_some_and(leads_nowhere) && error.path().is_some_and(Path::is_symlink)
}

/// True if the error is about a file or folder below this folder: one that cannot be read, or that
/// was removed during the walk, is left out. The error about a link to a folder that cannot be opened
/// has no path.
fn is_about_entry_below(folder: &Path, error: &walkdir::Error) -> bool {
    error.path().map_or(error.depth() > 0, |path| path != folder)
}

fn walk_error(folder: &Path, error: walkdir::Error) -> TargetError {
    let path = error.path().unwrap_or(folder).to_owned();
    refusal(&path, error.into())
}

/// Reads the names of a list. A zero byte ends each name if the list contains zero bytes, and
/// otherwise a newline. Repeated names are dropped, and names of no file are counted.
pub(super) fn read_list(source: &ListSource, names: &mut TreeListsWriter) -> Result<WalkResult, TargetError> {
    let place = source.path().to_owned();
    let failed = TargetError::io(source.path());
    let mut reader: Box<dyn BufRead> = match source {
        ListSource::List(list) => Box::new(BufReader::new(File::open(list).map_err(|it| refusal(list, it))?)),
        _ => Box::new(io::stdin().lock()),
    };
    // The buffer is longer than any path, so the first one holds a zero byte if the list has any.
    let end = if reader.fill_buf().map_err(&failed)?.contains(&0) { 0 } else { b'\n' };
    let (mut seen, mut duplicates, mut left_out) = (HashSet::new(), 0, LeftOutEntries::default());
    loop {
        let some = next_names(&mut *reader, end).map_err(&failed)?;
        if some.is_empty() {
            break;
        }
        check_filesystems_respond(&some.iter().map(PathBuf::as_path).collect::<Vec<_>>())?;
        for path in some {
            let path = path::stable_path(&path).map_err(|cause| refusal(&path, cause))?;
            if !seen.insert(xxh3_64(path.as_os_str().as_bytes())) {
                duplicates += 1;
                continue;
            }
            match FileStatus::of_path(&path) {
                Ok(FileStatus { kind: FileKind::Regular, inode, .. }) => names.add(&path, inode)?,
                Ok(status) => left_out.add_listed(&path, status.kind),
                Err(cause) => left_out.add_failed(&path, cause)?,
            }
        }
    }
    Ok(WalkResult {
        source_path: place,
        folder_count: 0,
        duplicate_count: duplicates,
        left_out,
        own_paths: OwnPaths::default(),
    })
}

/// The next names of a list, at most [`NAMES_PER_CHECK`]; empty at the end of the list.
fn next_names(reader: &mut dyn BufRead, end: u8) -> io::Result<Vec<PathBuf>> {
    let mut names = Vec::new();
    while names.len() < NAMES_PER_CHECK {
        let mut name = Vec::new();
        if reader.read_until(end, &mut name)? == 0 {
            break;
        }
        name.pop_if(|last| *last == end);
        if !name.is_empty() {
            names.push(PathBuf::from(OsString::from_vec(name)));
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Target;
    use crate::target::tests::{as_ordinary_user, folder_on_device};
    use crate::target::tree::{FolderDigests, WalkDifference};
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, symlink};

    /// A folder with the layout of a model hub: a snapshot has symbolic links to files in another
    /// folder.
    fn hub() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in ["blobs", "snapshot"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        fs::write(folder.path().join("blobs/1"), "one\n").unwrap();
        symlink("../blobs/1", folder.path().join("snapshot/model")).unwrap();
        folder
    }

    fn examine_folder(folder: &Path, follows_links: bool) -> Result<Target, TargetError> {
        let request = TreeRequest::by_name(ListSource::Folder(folder.to_owned()));
        Target::examine_tree(&TreeRequest { follows_links, ..request })
    }

    #[test]
    fn symbolic_links_are_followed_on_request_and_otherwise_reported_with_the_option() {
        let hub = hub();
        let snapshot = hub.path().join("snapshot");
        let why = examine_folder(&snapshot, false).unwrap_err().to_string();
        assert!(why.ends_with("no file in it, only 1 link (--follow reads what links lead to)"), "{why}");
        let followed = examine_folder(&snapshot, true).unwrap();
        assert_eq!((followed.facts.size_bytes, followed.tree().unwrap().len()), (4, 1));
        assert_eq!(followed.tree().unwrap().walk_difference(), Some(WalkDifference::FollowedLinks));
        let whole = examine_folder(hub.path(), true).unwrap();
        assert_eq!((whole.facts.size_bytes, whole.tree().unwrap().len()), (8, 2), "by two names");
        assert!(whole.facts.cautions.iter().any(|it| it.contains("several names")), "{:?}", whole.facts);
        assert_eq!(whole.facts.tree().unwrap().repeated_bytes, 4);
    }

    #[test]
    fn dangling_and_cyclic_symbolic_links_are_counted() {
        let hub = hub();
        symlink("gone", hub.path().join("snapshot/dangling")).unwrap();
        symlink("..", hub.path().join("snapshot/back")).unwrap();
        symlink("itself", hub.path().join("snapshot/itself")).unwrap();
        let target = examine_folder(hub.path(), true).unwrap();
        assert_eq!(target.facts.tree().unwrap().skipped.links, 3);
        assert!(target.facts.cautions.iter().any(|it| it.contains("3 links (links that lead nowhere")));
    }

    #[test]
    fn a_link_to_itself_and_a_name_that_is_too_long_are_left_out_of_a_list() {
        let hub = hub();
        let at = |name: &str| hub.path().join(name);
        symlink("itself", at("itself")).unwrap();
        let names = [at("itself"), at(&"long".repeat(100)), at("blobs/1")];
        let lines: Vec<String> = names.iter().map(|name| name.display().to_string()).collect();
        fs::write(at("list"), lines.join("\n")).unwrap();
        let target = Target::examine_tree(&TreeRequest::by_name(ListSource::List(at("list")))).unwrap();
        let skipped = target.facts.tree().unwrap().skipped;
        assert_eq!((target.tree().unwrap().len(), skipped.missing, skipped.unreadable), (1, 1, 1));
        let caution = target.facts.cautions.iter().find(|it| it.starts_with("Left out: ")).unwrap();
        assert!(caution.ends_with("/itself."), "{caution}");
    }

    #[test]
    fn a_link_to_a_folder_that_the_user_may_not_list_is_left_out() {
        let hub = hub();
        let at = |name: &str| hub.path().join(name);
        fs::create_dir(at("closed")).unwrap();
        symlink("../closed", at("snapshot/link")).unwrap();
        for (name, mode) in [("", 0o755), ("blobs/1", 0o644), ("closed", 0)] {
            set_mode(&at(name), mode);
        }
        let folder = hub.path().to_owned();
        let Some(found) = as_ordinary_user(move || examine_folder(&folder, true)) else { return };
        set_mode(&at("closed"), 0o755);
        let target = found.unwrap();
        let unreadable = target.facts.tree().unwrap().skipped.unreadable;
        assert_eq!((target.tree().unwrap().len(), unreadable), (2, 2), "the folder and the link to it");
    }

    #[test]
    fn names_of_a_list_that_cannot_be_read_with_the_others_are_left_out_and_the_first_is_named() {
        let Ok(elsewhere) = tempfile::NamedTempFile::new_in("/dev/shm") else {
            eprintln!("SKIPPED: no folder /dev/shm to write to");
            return;
        };
        let folder = folder_on_device();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("submodule")).unwrap();
        fs::write(at("file"), "a line\n").unwrap();
        symlink("nothing", at("dangling")).unwrap();
        let names = [at("file"), at("submodule"), at("removed"), at("dangling"), elsewhere.path().to_owned()];
        let write_list = |names: &[PathBuf]| {
            let lines: Vec<String> = names.iter().map(|name| name.display().to_string()).collect();
            fs::write(at("list"), lines.join("\n")).unwrap();
            Target::examine_tree(&TreeRequest::by_name(ListSource::List(at("list"))))
        };
        let target = write_list(&names).unwrap();
        let tree = target.tree().unwrap();
        assert_eq!((target.facts.size_bytes, tree.len(), tree.change()), (7, 1, None));
        let listed: Vec<PathBuf> = tree.paths().unwrap().map(Result::unwrap).collect();
        assert_eq!(listed, names[..1]);
        let skipped = target.facts.tree().unwrap().skipped;
        assert_eq!((skipped.folders, skipped.missing, skipped.other_filesystem), (1, 2, 1));
        let caution = target.facts.cautions.iter().find(|it| it.starts_with("Left out: ")).unwrap();
        let words =
            "1 folder of the list, 2 names without a file and 1 file on another file system. The first is ";
        assert!(caution.contains(words) && caution.ends_with("/submodule."), "{caution}");
        let why = write_list(&names[2..4]).unwrap_err().to_string();
        assert!(why.contains("list: no file in it, only 2 names without a file; the first is "), "{why}");
        assert!(why.ends_with("/removed"), "{why}");
    }

    #[test]
    fn a_file_to_which_several_links_of_a_list_lead_comes_from_the_device_once() {
        let folder = folder_on_device();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("blob"), "x".repeat(100_000)).unwrap();
        let names = ["first", "second"].map(at);
        names.iter().for_each(|name| symlink("blob", name).unwrap());
        fs::write(at("list"), names.map(|name| name.display().to_string()).join("\n")).unwrap();
        let target = Target::examine_tree(&TreeRequest::by_name(ListSource::List(at("list")))).unwrap();
        assert_eq!((target.facts.size_bytes, target.tree().unwrap().len()), (200_000, 2));
        assert_eq!(target.facts.tree().unwrap().repeated_bytes, 100_000);
        assert!(target.facts.expected_device_bytes().is_none_or(|bytes| bytes <= 100_000));
    }

    #[test]
    fn the_holes_of_a_file_with_several_names_count_once() {
        let folder = folder_on_device();
        let at = |name: &str| folder.path().join(name);
        fs::File::create(at("first")).unwrap().set_len(1 << 20).unwrap();
        fs::hard_link(at("first"), at("second")).unwrap();
        let target = examine_folder(folder.path(), false).unwrap();
        assert_eq!((target.facts.size_bytes, target.facts.cached_bytes()), (2 << 20, 1 << 20));
        let Some(extents) = &target.facts.extents else {
            return eprintln!("SKIPPED: the file system of the build folder lists no extents");
        };
        assert_eq!(extents.hole_bytes, 1 << 20);
    }

    #[test]
    fn files_on_the_file_system_of_the_folder_are_read_and_if_it_has_none_those_of_another() {
        let Ok(elsewhere) = tempfile::NamedTempFile::new_in("/dev/shm") else {
            eprintln!("SKIPPED: no folder /dev/shm to write to");
            return;
        };
        let folder = folder_on_device();
        symlink(elsewhere.path(), folder.path().join("first")).unwrap();
        let target = examine_folder(folder.path(), true).unwrap();
        assert_eq!(target.facts.tree().unwrap().files, 1, "the only file");
        fs::write(folder.path().join("second"), "a line\n").unwrap();
        let target = examine_folder(folder.path(), true).unwrap();
        let facts = target.facts.tree().unwrap();
        assert_eq!((target.facts.size_bytes, facts.skipped.other_filesystem), (7, 1));
        assert!(target.facts.cautions.iter().any(|it| it.ends_with("unless it reads {list}.")));
    }

    #[test]
    fn what_the_user_may_not_read_is_left_out_and_walks_do_not_take_part() {
        let hub = hub();
        let at = |name: &str| hub.path().join(name);
        fs::create_dir(at("closed")).unwrap();
        fs::write(at("closed/inner"), "x").unwrap();
        fs::write(at("secret"), "x").unwrap();
        for (name, mode) in [("", 0o755), ("blobs/1", 0o644), ("closed", 0), ("secret", 0)] {
            set_mode(&at(name), mode);
        }
        let folder = hub.path().to_owned();
        let Some(found) = as_ordinary_user(move || examine_folder(&folder, false)) else { return };
        // An ordinary user could not remove this folder otherwise.
        set_mode(&at("closed"), 0o755);
        let target = found.unwrap();
        let tree = target.tree().unwrap();
        assert_eq!((tree.len(), target.facts.tree().unwrap().skipped.unreadable), (1, 2));
        assert_eq!(tree.walk_difference(), Some(WalkDifference::EntriesLeftOut));
        let words = "Left out: 2 files or folders that cannot be read. The first is ";
        assert!(target.facts.cautions.iter().any(|it| it.starts_with(words)), "{:?}", target.facts.cautions);
    }

    #[test]
    fn a_folder_that_is_removed_during_the_walk_is_left_out() {
        let hub = hub();
        let removed = hub.path().join("removed");
        // The walk reports this when it opens a folder that another program has removed.
        let error = WalkDir::new(&removed).into_iter().find_map(Result::err).unwrap();
        assert!(!is_about_entry_below(&removed, &error), "the folder of the race itself");
        assert!(is_about_entry_below(hub.path(), &error));
        let mut left_out = LeftOutEntries::default();
        left_out.add_failed(&removed, error.into()).unwrap();
        assert_eq!(left_out.counts.missing, 1);
        assert!(FolderDigests::of(&removed, &OwnPaths::default()).unwrap().is_none());
    }

    #[test]
    fn a_race_that_only_finds_names_opens_no_file() {
        let hub = hub();
        let at = |name: &str| hub.path().join(name);
        fs::write(at("secret"), "x").unwrap();
        set_mode(hub.path(), 0o755);
        set_mode(&at("secret"), 0);
        let request = TreeRequest::by_name(ListSource::Folder(hub.path().to_owned()));
        let request = TreeRequest { only_finds_names: true, ..request };
        let Some(found) = as_ordinary_user(move || Target::examine_tree(&request)) else { return };
        let target = found.unwrap();
        let tree = target.tree().unwrap();
        assert_eq!((tree.len(), tree.change(), tree.walk_difference()), (2, None, None));
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_symbolic_link_to_another_file_counts_as_a_change() {
        let hub = hub();
        let target = examine_folder(hub.path(), true).unwrap();
        let tree = target.tree().unwrap();
        assert_eq!(tree.change(), None);
        fs::remove_file(hub.path().join("snapshot/model")).unwrap();
        fs::write(hub.path().join("blobs/2"), "two\n").unwrap();
        symlink("../blobs/2", hub.path().join("snapshot/model")).unwrap();
        assert!(tree.change().unwrap().contains("model is not what it was"));
    }

    #[test]
    fn a_name_that_came_and_went_is_no_change_and_another_kind_of_entry_is() {
        let hub = hub();
        let snapshot = hub.path().join("snapshot");
        let target = examine_folder(hub.path(), false).unwrap();
        let change_with_other_time = || {
            File::open(&snapshot).unwrap().set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
            target.tree().unwrap().change()
        };
        assert_eq!(change_with_other_time(), None);
        fs::write(snapshot.join("index.lock"), "x").unwrap();
        assert!(change_with_other_time().unwrap().contains("snapshot: files were added, removed or renamed"));
        fs::remove_file(snapshot.join("index.lock")).unwrap();
        assert_eq!(change_with_other_time(), None);
        fs::remove_file(snapshot.join("model")).unwrap();
        fs::write(snapshot.join("model"), "a file in place of the link").unwrap();
        assert!(change_with_other_time().is_some());
    }

    #[test]
    fn folders_in_which_readlab_writes_are_left_out_and_do_not_count_as_changes() {
        let hub = hub();
        let run = hub.path().join("run");
        let request = TreeRequest::by_name(ListSource::Folder(hub.path().to_owned()));
        let own = OwnPaths::of_run([run.as_path()]);
        let target = Target::examine_tree(&TreeRequest { own_paths: own, ..request }).unwrap();
        let tree = target.tree().unwrap();
        fs::create_dir(&run).unwrap();
        fs::write(run.join("record.jsonl"), "x").unwrap();
        assert_eq!(tree.change(), None);
        assert_eq!(tree.walk_difference(), Some(WalkDifference::OwnFilesLeftOut));
        assert!(target.facts.cautions.iter().any(|it| it.starts_with("Not read, for readlab writes there:")));
        fs::write(hub.path().join("other"), "x").unwrap();
        assert!(tree.change().unwrap().contains("files were added, removed or renamed"));
    }
}
