//! A tree: the files below a folder, or the files that a list names. One reading reads all of them.
//!
//! The files are found once before measuring, ordered and written to a list in a folder of
//! readlab's own. Contenders and the lab read this list, so a million paths need not stay in
//! memory. `walk` decides which files belong to a tree, `left_out` counts what is not read, and
//! `list` orders the files; `facts` has what a record keeps. `readlab_measure::tree_cache` controls
//! the cache of all files.

mod facts;
mod left_out;
mod list;
mod size_groups;
mod walk;

use super::extents;
use super::filesystem::{Backing, Filesystem};
use super::layers::{LayerChain, LayerGroup};
use super::source::ReadRequest;
use super::{Place, Target, TargetError, with_storage_facts};
pub use facts::cautions_of_reading;
use left_out::{EntryFailure, LeftOutEntries};
pub use list::{ListSource, ListedPaths};
use readlab_model::target::extents::Extents;
use readlab_model::target::identity::Identity;
use readlab_model::target::tree::{TreeFacts, TreeOrder};
use readlab_model::target::{TargetFacts, TargetKind};
use readlab_protocol::{LIST_VARIABLE, Reads};
use readlab_system::file_status::{self, DeviceNumber, FileKind, FileStatus};
use readlab_system::folder::own_paths::{OwnPaths, OwnPlace};
use readlab_system::folder::scratch::ScratchFolder;
use readlab_system::open_file;
use readlab_system::process::FileId;
use readlab_system::system_root::SystemRoot;
use readlab_system::terminal::printable::display_path;
use readlab_system::visit::{processor_count, visit};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::iter::Skip;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeRequest {
    pub source: ListSource,
    pub order: TreeOrder,
    /// Seed of the random numbers for the order `Shuffled`.
    pub seed: u64,
    pub follows_links: bool,
    /// Files and folders that readlab writes; they do not belong to the tree.
    pub own_paths: OwnPaths,
    /// True if the race finds names and reads no file. Files are then not opened and may be on any
    /// file system, and a folder that has only folders is accepted.
    pub only_finds_names: bool,
}

impl TreeRequest {
    /// The request that finds all files of this source, ordered by name.
    pub fn by_name(source: ListSource) -> TreeRequest {
        let (order, own) = (TreeOrder::Name, OwnPaths::default());
        TreeRequest { source, order, seed: 0, follows_links: false, own_paths: own, only_finds_names: false }
    }
}

/// The files of a tree, in order.
#[derive(Debug, PartialEq, Eq)]
pub struct Tree {
    folder: Option<PathBuf>,
    /// The folder that holds the list of files and the list of folders.
    scratch: ScratchFolder,
    /// A digest of the identity of each file, in the order of the list.
    file_identity_digests: Vec<u64>,
    /// Digests of each folder; `None` for a folder whose entries cannot be listed.
    folder_digests: Vec<Option<FolderDigests>>,
    /// Files and folders inside the tree that readlab writes.
    own_paths: OwnPaths,
    /// Why contenders that walk the folder would find other files; `None` if they find the same.
    walk_difference: Option<WalkDifference>,
}

/// Why a walk of the folder finds other files than the list has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WalkDifference {
    /// A list named the files.
    Listed,
    /// The lab followed symbolic links.
    FollowedLinks,
    /// The list leaves out files that readlab writes in the folder.
    OwnFilesLeftOut,
    /// The list leaves out files on another file system, or what cannot be read.
    EntriesLeftOut,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// Position of the file in the list, from 0.
    pub index: usize,
    pub why: String,
}

/// The file system whose files are read. Files on others are left out, because the files of a tree
/// share cache and device.
struct TreeFilesystem {
    device: DeviceNumber,
    mount_id: Option<u64>,
}

impl TreeFilesystem {
    fn of_path(path: &Path) -> io::Result<TreeFilesystem> {
        let device = FileStatus::of_path(path)?.device;
        Ok(TreeFilesystem { device, mount_id: file_status::mount_id(path) })
    }

    /// True if a file with this path and device number is on the file system. Layers of an overlay
    /// and subvolumes of btrfs have different device numbers within one mount.
    fn has(&self, path: &Path, device: DeviceNumber) -> bool {
        self.device == device || self.mount_id.is_some() && self.mount_id == file_status::mount_id(path)
    }
}

struct ExaminedFile {
    status: FileStatus,
    extents: Option<Extents>,
    /// `None` for an empty file, and for a file that was not opened.
    layer_group: Option<LayerGroup>,
}

impl ExaminedFile {
    /// Opens a file as contenders will; `None` if it is on another file system. `backings` are those
    /// of the devices so far: a server or a program is asked once, and not for each file.
    fn open(
        path: &Path,
        filesystem: Option<&TreeFilesystem>,
        backings: &mut BTreeMap<DeviceNumber, Option<Backing>>,
    ) -> io::Result<Option<ExaminedFile>> {
        let device = FileStatus::of_path(path)?.device;
        if filesystem.is_some_and(|filesystem| !filesystem.has(path, device)) {
            return Ok(None);
        }
        let file = open_file::open_without_waiting(path)?;
        let status = FileStatus::read(&file)?;
        let layer_group = (status.size_bytes > 0).then(|| {
            let read = || Filesystem::read(&file).ok().map(|filesystem| filesystem.backing);
            LayerGroup::of_file(&file, &status, *backings.entry(status.device).or_insert_with(read))
        });
        Ok(Some(ExaminedFile { status, extents: extents::read(&file).ok(), layer_group }))
    }

    /// Examines a file without opening it.
    fn by_status(path: &Path) -> io::Result<ExaminedFile> {
        Ok(ExaminedFile { status: FileStatus::of_path(path)?, extents: None, layer_group: None })
    }
}

impl Target {
    /// Finds the files of a tree, and collects the facts about them except digest and answer.
    pub fn examine_tree(request: &TreeRequest) -> Result<Target, TargetError> {
        let (tree, mut found) = Tree::find(request)?;
        let mut stored = std::mem::take(&mut found.files_of_layer_groups);
        if stored.is_empty() {
            stored.push(tree.folder_or_first_parent()?);
        }
        let place = &stored[0];
        let io = TargetError::io(place);
        let file = open_file::open_without_waiting(place).map_err(&io)?;
        let status = FileStatus::read(&file).map_err(&io)?;
        let filesystem = Filesystem::read(&file).map_err(&io)?;
        let real = fs::canonicalize(place).map_err(&io)?;
        let facts = TargetFacts {
            size_bytes: found.size_bytes,
            cautions: found.cautions(filesystem, &tree.own_paths),
            extents: found.extents,
            kind: TargetKind::Tree(found.facts),
            ..TargetFacts::with_path(request.source.path())
        };
        let chain = LayerChain::walk_all(&SystemRoot::default(), &stored);
        let (facts, evictable) = with_storage_facts(facts, chain, &real, &status, filesystem);
        Ok(Target { place: Place::Tree(Arc::new(tree)), part: None, copies: None, facts, evictable })
    }
}

struct FoundFiles {
    /// The sum of the sizes of all files.
    size_bytes: u64,
    extents: Option<Extents>,
    facts: TreeFacts,
    left_out: LeftOutEntries,
    /// The first file of each group of layers; none if all files are empty, or if only names are
    /// found. A folder has other layers than its files: an overlay shows files of several layers, and
    /// a FUSE program passes files to the kernel.
    files_of_layer_groups: Vec<PathBuf>,
}

impl Tree {
    /// Finds the files, orders them and examines each.
    fn find(request: &TreeRequest) -> Result<(Tree, FoundFiles), TargetError> {
        let temporary = std::env::temp_dir();
        let scratch = ScratchFolder::make(&temporary, "files").map_err(TargetError::io(&temporary))?;
        let mut names = list::TreeListsWriter::create(scratch.path())?;
        let walked = match &request.source {
            ListSource::Folder(folder) => walk::walk(folder, request, &mut names)?,
            source @ (ListSource::List(_) | ListSource::StandardInput) => {
                walk::read_list(source, &mut names)?
            }
        };
        names.finish(request.order, request.seed)?;
        let folder = matches!(request.source, ListSource::Folder(_)).then(|| walked.source_path.clone());
        let own = walked.own_paths.clone();
        let mut tree = Tree {
            folder,
            scratch,
            file_identity_digests: Vec::new(),
            folder_digests: Vec::new(),
            own_paths: own,
            walk_difference: None,
        };
        let found = tree.examine_files(walked, request)?;
        tree.walk_difference = tree.difference_of_walks(&found.facts);
        Ok((tree, found))
    }

    fn difference_of_walks(&self, facts: &TreeFacts) -> Option<WalkDifference> {
        match &self.folder {
            None => Some(WalkDifference::Listed),
            Some(_) if facts.follows_links => Some(WalkDifference::FollowedLinks),
            Some(folder) if self.own_paths.has_any_below(folder) => Some(WalkDifference::OwnFilesLeftOut),
            Some(_) => facts.skipped.changes_walks().then_some(WalkDifference::EntriesLeftOut),
        }
    }

    /// Examines every file, removes those that are left out from the list, and stores a digest of the
    /// identity of each other file, which later shows changes.
    fn examine_files(
        &mut self,
        walked: walk::WalkResult,
        request: &TreeRequest,
    ) -> Result<FoundFiles, TargetError> {
        let (facts, source_path) = (walked.facts(request), walked.source_path);
        let extents = Some(Extents::default());
        let (left_out, files_of_layer_groups) = (walked.left_out, Vec::new());
        let mut found = FoundFiles { size_bytes: 0, extents, facts, left_out, files_of_layer_groups };
        let filesystem = if request.only_finds_names { None } else { self.filesystem_to_read()? };
        let list = self.list_path();
        let mut kept = list::ListWriter::create(list.with_extension("kept"))?;
        let (mut seen, mut layer_groups) = (BTreeSet::new(), BTreeSet::new());
        let mut backings = BTreeMap::new();
        for path in self.paths()? {
            let path = path?;
            let examined = match request.only_finds_names {
                true => ExaminedFile::by_status(&path).map(Some),
                false => ExaminedFile::open(&path, filesystem.as_ref(), &mut backings),
            };
            let file = match examined {
                Ok(Some(file)) => file,
                Ok(None) => {
                    found.left_out.add_from_other_filesystem(&path);
                    continue;
                }
                Err(cause) => {
                    found.left_out.add_failed(&path, cause)?;
                    continue;
                }
            };
            let status = file.status;
            super::check_kind(&path, status.kind, super::AcceptedKinds::Files)?;
            kept.add(&path)?;
            // Hard links, symbolic links of a list and bind mounts give a file several names.
            let is_repeated = !seen.insert((status.device, status.inode));
            if file.layer_group.is_some_and(|group| layer_groups.insert(group)) {
                found.files_of_layer_groups.push(path);
            }
            found.add(file, is_repeated);
            self.file_identity_digests.push(identity_digest(&Identity::from(status)));
        }
        fs::rename(kept.finish()?, &list).map_err(TargetError::io(&list))?;
        found.facts.skipped = found.left_out.counts;
        // The folder itself is one of the folders.
        let is_accepted = found.facts.files > 0 || request.only_finds_names && found.facts.folders > 1;
        if !is_accepted {
            let instead = found.left_out.words_instead_of_files(request.follows_links);
            return Err(TargetError::about(&source_path, format!("no file in it{instead}")));
        }
        let digests = |path: Result<PathBuf, TargetError>| FolderDigests::of(&path?, &self.own_paths);
        self.folder_digests = self.folder_paths()?.map(digests).collect::<Result<_, _>>()?;
        Ok(found)
    }

    /// The file system whose files are read: that of the folder, or of the first file if the folder's
    /// own has no file. `None` if no file can be examined.
    fn filesystem_to_read(&self) -> Result<Option<TreeFilesystem>, TargetError> {
        let of_folder = match &self.folder {
            Some(folder) => Some(TreeFilesystem::of_path(folder).map_err(TargetError::io(folder))?),
            None => None,
        };
        let mut first = None;
        for path in self.paths()? {
            let path = path?;
            let Ok(status) = FileStatus::of_path(&path) else { continue };
            if of_folder.as_ref().is_some_and(|filesystem| filesystem.has(&path, status.device)) {
                return Ok(of_folder);
            }
            first = first.or_else(|| TreeFilesystem::of_path(&path).ok());
            if of_folder.is_none() && first.is_some() {
                break;
            }
        }
        Ok(first)
    }

    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The path of the list of all files, in which a zero byte ends each path.
    pub fn list_path(&self) -> PathBuf {
        list::file_list_path(self.scratch.path())
    }

    pub fn folder_or_list_path(&self) -> PathBuf {
        self.folder().map_or_else(|| self.list_path(), Path::to_owned)
    }

    /// The request that a contender gets: the folder for a method that walks and for a command,
    /// otherwise the list. A tree that a list names has no folder, so they get the list too.
    pub fn request(&self, reads: Reads) -> ReadRequest {
        let list = self.list_path();
        let walks = matches!(reads, Reads::Folder | Reads::Both);
        let word = self.folder.as_deref().filter(|_| walks).unwrap_or(&list).as_os_str().to_owned();
        let env = vec![(LIST_VARIABLE.into(), list.into_os_string())];
        ReadRequest { word, env, ..ReadRequest::default() }
    }

    /// Where readlab writes below the folder.
    pub fn own_places(&self) -> Vec<OwnPlace> {
        self.folder.as_deref().map_or_else(Vec::new, |folder| self.own_paths.places_below(folder))
    }

    /// Why contenders that walk the folder would find other files; `None` if they find the same.
    pub fn walk_difference(&self) -> Option<WalkDifference> {
        self.walk_difference
    }

    pub fn len(&self) -> usize {
        self.file_identity_digests.len()
    }

    pub fn is_empty(&self) -> bool {
        self.file_identity_digests.is_empty()
    }

    pub fn paths(&self) -> Result<ListedPaths, TargetError> {
        ListedPaths::open(&self.list_path())
    }

    /// The files with one of these names.
    pub fn files_with_names(&self, names: &BTreeSet<OsString>) -> Result<BTreeSet<FileId>, TargetError> {
        let is_named = |path: &PathBuf| path.file_name().is_some_and(|name| names.contains(name));
        let mut found = BTreeSet::new();
        for path in self.paths()? {
            found.extend(Some(path?).filter(is_named).and_then(|path| FileId::at(&path)));
        }
        Ok(found)
    }

    /// The number and the paths of the names whose lookups show whether names are in memory: the
    /// files, or the folders in the tree if there is no file.
    pub fn names_to_look_up(&self) -> Result<(usize, Skip<ListedPaths>), TargetError> {
        let (count, paths, first) = match self.is_empty() {
            false => (self.len(), self.paths()?, 0),
            // The folder itself comes first.
            true => (self.folder_digests.len().saturating_sub(1), self.folder_paths()?, 1),
        };
        Ok((count, paths.skip(first)))
    }

    /// The folder of the tree, or the folder of the first file in a list.
    fn folder_or_first_parent(&self) -> Result<PathBuf, TargetError> {
        if let Some(folder) = &self.folder {
            return Ok(folder.clone());
        }
        let nothing = || TargetError::about(&self.list_path(), "no file in it");
        let first = self.paths()?.next().ok_or_else(nothing)??;
        Ok(first.parent().unwrap_or(&first).to_owned())
    }

    fn folder_paths(&self) -> Result<ListedPaths, TargetError> {
        ListedPaths::open(&list::folder_list_path(self.scratch.path()))
    }

    /// The first change of a file or folder since the tree was examined, with its name; `None` if
    /// there is none. A list that can no longer be read also counts as a change.
    pub fn change(&self) -> Option<String> {
        self.change_of_files()
            .unwrap_or_else(|error| Some(error.to_string()))
            .or_else(|| self.change_of_folders())
    }

    fn change_of_files(&self) -> Result<Option<String>, TargetError> {
        let change = |number: usize, path: &Path| {
            Ok::<_, TargetError>(match Identity::of_path(path) {
                Ok(now) => self.change_of_file(number, path, &now),
                Err(cause) => Some(ChangedFile {
                    index: number,
                    why: format!("changed: {}: {cause}", display_path(path)),
                }),
            })
        };
        let changed = visit(self.paths()?, processor_count(), change, ChangedFile::first)?.flatten();
        Ok(changed.map(|changed| changed.why))
    }

    /// The change of the file at this position; `None` if it has not changed.
    pub fn change_of_file(&self, number: usize, path: &Path, now: &Identity) -> Option<ChangedFile> {
        let is_same = self.file_identity_digests.get(number) == Some(&identity_digest(now));
        (!is_same).then(|| ChangedFile {
            index: number,
            why: format!("changed: {} is not what it was", display_path(path)),
        })
    }

    /// The first change of a folder since the tree was examined, with its name; `None` if there is
    /// none. A list of folders that can no longer be read also counts as a change.
    pub fn change_of_folders(&self) -> Option<String> {
        self.folder_change().unwrap_or_else(|error| Some(error.to_string()))
    }

    fn folder_change(&self) -> Result<Option<String>, TargetError> {
        for (path, before) in self.folder_paths()?.zip(&self.folder_digests) {
            let path = path?;
            let is_unchanged = |before: &FolderDigests| before.are_those_of(&path, &self.own_paths);
            if !before.as_ref().is_none_or(|before| is_unchanged(before).unwrap_or(false)) {
                let name = display_path(&path);
                return Ok(Some(format!("changed: {name}: files were added, removed or renamed")));
            }
        }
        Ok(None)
    }
}

impl ChangedFile {
    /// The change of the file that comes first in the list.
    pub fn first(one: Option<ChangedFile>, other: Option<ChangedFile>) -> Option<ChangedFile> {
        one.into_iter().chain(other).min_by_key(|changed| changed.index)
    }
}

impl FoundFiles {
    /// Adds a file. The bytes of a file with several names are stored once, so its extents count once.
    fn add(&mut self, file: ExaminedFile, is_repeated: bool) {
        let size_bytes = file.status.size_bytes;
        self.facts.files += 1;
        self.size_bytes += size_bytes;
        self.facts.largest_bytes = self.facts.largest_bytes.max(size_bytes);
        if is_repeated {
            self.facts.repeated_bytes += size_bytes;
        } else {
            self.extents = self.extents.take().zip(file.extents).map(|(all, one)| all.sum_with(&one));
        }
    }
}

fn identity_digest(identity: &Identity) -> u64 {
    let Identity { dev, ino, size_bytes, mtime, ctime } = *identity;
    let words = [dev, ino, size_bytes, mtime.0 as u64, mtime.1 as u64, ctime.0 as u64, ctime.1 as u64];
    xxh3_64(&words.map(u64::to_le_bytes).concat())
}

/// Digests that show whether a folder has the same entries as when it was examined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FolderDigests {
    /// A digest of the inode number and the modification time, which changes with the entries.
    with_time: u64,
    /// A digest of the inode number and the entries, without those that readlab writes.
    with_entries: u64,
}

impl FolderDigests {
    /// The digests of a folder; `None` if its entries cannot be listed, or if it was removed after
    /// the walk.
    fn of(path: &Path, own: &OwnPaths) -> Result<Option<FolderDigests>, TargetError> {
        let read = FileStatus::of_path(path).and_then(|status| {
            let with_entries = digest_with_entries(path, &status, own)?;
            Ok(FolderDigests { with_time: digest_with_time(&status), with_entries })
        });
        match read {
            Ok(digests) => Ok(Some(digests)),
            Err(cause) if EntryFailure::from_error(&cause).is_some() => Ok(None),
            Err(cause) => Err(TargetError::about(path, cause)),
        }
    }

    /// True if the folder still has these digests. The entries are only listed if the time differs.
    /// An entry that came and went again, such as the lock file of `git status`, is no change.
    fn are_those_of(&self, path: &Path, own: &OwnPaths) -> io::Result<bool> {
        let status = FileStatus::of_path(path)?;
        Ok(self.with_time == digest_with_time(&status)
            || self.with_entries == digest_with_entries(path, &status, own)?)
    }
}

fn digest_with_time(folder: &FileStatus) -> u64 {
    let (seconds, nanos) = folder.content_change_time;
    let is_folder = u64::from(folder.kind == FileKind::Folder);
    let words = [folder.device.0, folder.inode, seconds as u64, nanos as u64, is_folder];
    xxh3_64(&words.map(u64::to_le_bytes).concat())
}

/// The digest does not depend on the order of the entries.
fn digest_with_entries(path: &Path, folder: &FileStatus, own: &OwnPaths) -> io::Result<u64> {
    let mut entries_digest = 0_u64;
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if !own.has(&entry.path()) {
            let (name, kind) = (entry.file_name(), entry.file_type()?);
            let kind = [kind.is_file(), kind.is_dir(), kind.is_symlink()].map(u8::from);
            entries_digest = entries_digest.wrapping_add(xxh3_64(&[name.as_bytes(), &kind[..]].concat()));
        }
    }
    Ok(xxh3_64(&[folder.device.0, folder.inode, entries_digest].map(u64::to_le_bytes).concat()))
}
