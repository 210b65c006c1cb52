//! A target: one file, blocks of one file, a tree of files or a URL, and all its properties
//! that can make a reading seem faster or slower than it is.
//!
//! The facts are collected once before measuring. A file's
//! [`readlab_model::target::identity::Identity`] or a URL's [`web::ContentVersion`] is compared around
//! every sample to detect a change. Files are opened read-only, and opening a file never waits.

pub mod caution;
pub mod copies;
pub mod device;
pub mod dictionary;
mod error;
pub mod extents;
pub mod filesystem;
pub mod http;
pub mod layers;
pub mod part;
mod path;
pub mod places;
pub mod s3;
pub mod secret;
pub mod source;
pub mod tree;
pub mod url;
pub mod web;

use copies::Copies;
use device::DeviceFacts;
pub use error::TargetError;
use error::{refusal, refusal_of_word};
use filesystem::{Backing, Filesystem};
use layers::{EvictableFiles, LayerChain};
pub use path::absolute_without_dot_dot;
use places::FilePlaces;
use readlab_model::target::dictionary::Dictionary;
use readlab_model::target::layers::io_quotas;
use readlab_model::target::range::{FileRange, RangeFacts};
use readlab_model::target::{Http, ServerOptions, TargetFacts, TargetKind};
use readlab_model::units::Bytes;
use readlab_protocol::{Archive, Part, Reads};
pub use readlab_system::file_status::size_bytes as size_of;
use readlab_system::file_status::{FileKind, FileStatus};
use readlab_system::io_quota;
use readlab_system::mounts::{self, Mount};
use readlab_system::open_file;
use readlab_system::process::FileId;
use readlab_system::silent::{self, ResponseProbe};
use readlab_system::system_root::SystemRoot;
use s3::PresignError;
use source::{ReadRequest, Source};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tree::Tree;
use web::RemoteTarget;

/// A target that can be raced: it exists, has a size, and can be opened repeatedly.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    pub place: Place,
    /// The part of the file that is read; the facts have the size of this part. `None` for the
    /// whole file.
    pub part: Option<Part>,
    /// Copies of the file, if each of several readers reads its own copy.
    pub copies: Option<Copies>,
    pub facts: TargetFacts,
    /// The files below the target whose pages are evicted for a cold reading, from the nearest
    /// layer downwards.
    pub evictable: EvictableFiles,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A file that contenders open by its absolute path.
    File(PathBuf),
    /// A file that contenders read from readlab's own server.
    Served {
        file: PathBuf,
        /// The content that contenders request from the server.
        remote: Box<RemoteTarget>,
    },
    /// The content of a URL or an object on another server.
    Web(Box<RemoteTarget>),
    /// Many files that contenders open.
    Tree(Arc<Tree>),
    /// Blocks at several places of a file that contenders open.
    Blocks(Arc<FilePlaces>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AcceptedKinds {
    /// Only regular files.
    Files,
    /// Regular files and block devices.
    FilesAndBlockDevices,
}

/// How long a file system may take for its first response.
pub const RESPONSE_TIME_MAX: Duration = Duration::from_secs(10);

/// An error if the file system of one of these paths does not respond within
/// [`RESPONSE_TIME_MAX`]. Without this check readlab itself would wait for it.
pub fn check_filesystems_respond(words: &[&Path]) -> Result<(), TargetError> {
    check_responses_to(words, ResponseProbe::Bytes)
}

/// True if the run may read from a file system that may stop responding: one that contains a path
/// among these words, or is mounted below such a path. If `is_more_read`, the run reads other files
/// too, so every such file system of this machine counts.
pub fn named_files_may_cease_to_answer(words: &[PathBuf], is_more_read: bool) -> bool {
    let all = Mount::all(&SystemRoot::default()).into_iter();
    let unsure = all.filter(|mount| filesystem::kind_may_cease_to_answer(&mount.kind));
    let points: Vec<PathBuf> = unsure.map(|mount| mount.point).collect();
    !points.is_empty() && (is_more_read || words.iter().any(|word| mounts::leads_to(word, &points)))
}

fn check_responses_to(words: &[&Path], probe: ResponseProbe) -> Result<(), TargetError> {
    match silent::first_unresponsive_index(words, probe, RESPONSE_TIME_MAX) {
        Some(at) => Err(TargetError::no_answer(words[at])),
        None => Ok(()),
    }
}

/// The files whose file systems respond. Files in the folder of a file that does not respond are
/// left out too.
pub fn responsive_files(mut files: Vec<PathBuf>) -> Vec<PathBuf> {
    loop {
        let names: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
        let Some(at) = silent::first_unresponsive_index(&names, ResponseProbe::Status, RESPONSE_TIME_MAX)
        else {
            return files;
        };
        let folder = files[at].parent().map(Path::to_owned);
        files.retain(|file| file.parent() != folder.as_deref());
    }
}

/// The folders of programs whose file systems respond: each is asked for the program `sh`.
pub fn responsive_folders(folders: &[PathBuf]) -> Vec<PathBuf> {
    let programs = responsive_files(folders.iter().map(|folder| folder.join("sh")).collect());
    programs.iter().filter_map(|program| Some(program.parent()?.to_owned())).collect()
}

impl Target {
    /// Collects the facts about a file except digest and answer, which need a whole read
    /// ([`readlab_corpus`]).
    pub fn examine(path: &Path) -> Result<Target, TargetError> {
        Target::examine_accepting(path, AcceptedKinds::Files)
    }

    pub fn examine_accepting(path: &Path, accept: AcceptedKinds) -> Result<Target, TargetError> {
        let word = path;
        let path = &path::stable_path(word).map_err(TargetError::io(word))?;
        let io = TargetError::io(word);
        let named = fs::metadata(path).map_err(|cause| refusal_of_word(word, path, cause))?;
        check_kind(path, FileStatus::from(&named).kind, accept)?;
        let file = open_file::open_without_waiting(path).map_err(|cause| refusal(path, cause))?;
        // The open file is checked again, because its name may mean another file by now.
        let status = FileStatus::read(&file).map_err(&io)?;
        check_kind(path, status.kind, accept)?;
        let size_bytes = size_of(&file).map_err(&io)?;
        let filesystem = Filesystem::read(&file).map_err(&io)?;
        check_size(path, &file, size_bytes, filesystem)?;
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.clone());
        let extents = extents::read(&file).ok();
        let cautions = caution::cautions_of_file(&file, size_bytes, filesystem, extents.as_ref());
        let facts = TargetFacts { size_bytes, cautions, extents, ..TargetFacts::with_path(path) };
        let chain = LayerChain::walk(&SystemRoot::default(), &real, &file);
        let (facts, evictable) = with_storage_facts(facts, chain, &real, &status, filesystem);
        Ok(Target { place: Place::File(path.clone()), part: None, copies: None, facts, evictable })
    }

    /// Restricts the target to the part of one of several readers.
    pub fn restrict_to_part_of_reader(
        &mut self,
        reader: u32,
        readers: NonZero<u32>,
    ) -> Result<(), TargetError> {
        let Place::File(path) = &self.place else { return Ok(()) };
        let size_bytes = self.facts.size_bytes;
        let too_small = || {
            let size = Bytes(size_bytes).binary_text();
            TargetError::about(path, format!("{size} is too small to be split by {readers}"))
        };
        let part = part::part_of_reader(size_bytes, reader, readers).ok_or_else(too_small)?;
        self.restrict_to_part(part)
    }

    /// Restricts the target to a range. In a file, the range is extended to the beginning of its
    /// first page, because contenders can only map whole pages. Another server must declare the
    /// size of the content, and that it answers requests for ranges.
    pub fn restrict_to_range(&mut self, range: FileRange) -> Result<(), TargetError> {
        let file_bytes = self.facts.size_bytes;
        let Some(path) = self.path_for_ranges()? else { return Ok(()) };
        let asked =
            range.bytes_in_file(file_bytes).filter(|asked| asked.end <= file_bytes && !asked.is_empty());
        let outside = || {
            let has = format!("it has {file_bytes} bytes, and a range has at least one");
            TargetError::about(&path, format!("--range {range} is not within it: {has}"))
        };
        let asked = asked.ok_or_else(outside)?;
        let part = match self.place {
            Place::File(_) => part::part_from_page_start(&asked),
            _ => Part { start_bytes: asked.start, length_bytes: asked.end - asked.start },
        };
        let before_bytes = asked.start - part.start_bytes;
        if before_bytes > 0 {
            self.facts.cautions.push(format!(
                "--range {range} is read from byte {}, where a page begins, {before_bytes} bytes before it begins: they count \
                 for no rate",
                part.start_bytes
            ));
        }
        let Part { start_bytes, length_bytes } = part;
        self.facts.range = Some(RangeFacts { start_bytes, length_bytes, before_bytes, file_bytes });
        self.restrict_to_part(part)
    }

    /// The file of which ranges can be read, or the name of such content on another server; `None`
    /// for other targets.
    fn path_for_ranges(&self) -> Result<Option<PathBuf>, TargetError> {
        match &self.place {
            Place::File(path) => Ok(Some(path.clone())),
            Place::Web(remote) if remote.has_range_support && self.facts.size_bytes > 0 => {
                Ok(Some(self.name().into()))
            }
            Place::Web(remote) => Err(TargetError::Refused(format!(
                "{}: --range and --ranges need a server that declares the size of the content (Content-Length) and that it \
                 answers requests for ranges (Accept-Ranges)",
                remote.source
            ))),
            Place::Tree(_) | Place::Blocks(_) | Place::Served { .. } => Ok(None),
        }
    }

    pub fn restrict_to_recorded_range(&mut self, range: RangeFacts) -> Result<(), TargetError> {
        let RangeFacts { start_bytes, length_bytes, .. } = range;
        self.facts.range = Some(range);
        self.restrict_to_part(Part { start_bytes, length_bytes })
    }

    fn restrict_to_part(&mut self, part: Part) -> Result<(), TargetError> {
        match &self.place {
            Place::File(path) => {
                let file = open_file::open_without_waiting(path).map_err(|cause| refusal(path, cause))?;
                self.facts.extents = extents::read_range(&file, part.range()).ok();
            }
            Place::Web(_) => {}
            Place::Tree(_) | Place::Blocks(_) | Place::Served { .. } => return Ok(()),
        }
        self.facts.size_bytes = part.length_bytes;
        self.part = Some(part);
        Ok(())
    }

    /// Sets the dictionary with which the target is decoded; an error if the target is not a zstd.
    pub fn set_dictionary(&mut self, dictionary: &Path) -> Result<(), TargetError> {
        let no_zstd = |path: &Path| TargetError::about(path, "--dictionary decodes a zstd, and this is none");
        let Some(path) = self.file() else { return Err(no_zstd(Path::new(&self.name()))) };
        let mut head = Vec::new();
        let file = open_file::open_without_waiting(path).map_err(|cause| refusal(path, cause))?;
        let read = file.take(FORMAT_HEAD_BYTES).read_to_end(&mut head);
        read.map_err(TargetError::io(path))?;
        if Archive::by_magic(&head) != Some(Archive::Zstd) {
            return Err(no_zstd(path));
        }
        self.facts.dictionary = Some(dictionary::examine(dictionary)?);
        Ok(())
    }

    /// Makes contenders request a file, or the ranges of one, from readlab's own server. Targets on
    /// other servers stay unchanged.
    pub fn use_own_server(&mut self, source: Source, options: &ServerOptions) -> Result<(), TargetError> {
        let (file, ranges) = match &self.place {
            Place::File(file) => (file.clone(), None),
            Place::Blocks(blocks) => (blocks.file().to_owned(), Some(Arc::clone(blocks))),
            Place::Tree(_) | Place::Served { .. } | Place::Web(_) => return Ok(()),
        };
        self.facts.kind = TargetKind::from_server(Http::Own, source.store_facts());
        let mut remote = RemoteTarget::on_own_server(source, options)?;
        remote.ranges = ranges;
        self.place = Place::Served { file, remote: Box::new(remote) };
        Ok(())
    }

    /// The blocks that are read; `None` if the whole target is read.
    pub fn blocks(&self) -> Option<&Arc<FilePlaces>> {
        match &self.place {
            Place::Blocks(blocks) => Some(blocks),
            _ => self.remote()?.ranges.as_ref(),
        }
    }

    pub fn remote(&self) -> Option<&RemoteTarget> {
        match &self.place {
            Place::File(_) | Place::Tree(_) | Place::Blocks(_) => None,
            Place::Served { remote, .. } | Place::Web(remote) => Some(remote),
        }
    }

    pub fn is_encrypted(&self) -> bool {
        self.remote().is_some_and(|remote| remote.source.is_encrypted())
    }

    /// The file of this machine that holds the target's bytes; `None` for a URL on another server
    /// and for a tree.
    pub fn file(&self) -> Option<&Path> {
        match &self.place {
            Place::File(file) | Place::Served { file, .. } => Some(file),
            Place::Blocks(blocks) => Some(blocks.file()),
            Place::Web(_) | Place::Tree(_) => None,
        }
    }

    /// The files of this machine that hold the target's bytes; for a tree only the files with one
    /// of these names.
    pub fn backing_files(&self, tree_names: &BTreeSet<OsString>) -> Result<BTreeSet<FileId>, TargetError> {
        let tree = self
            .tree()
            .filter(|_| !tree_names.is_empty())
            .map(|tree| tree.files_with_names(tree_names))
            .transpose()?;
        let facts = self.facts.local_files();
        let below = self.evictable.iter().chain(&facts).map(PathBuf::as_path);
        let files = self.file().into_iter().chain(below).filter_map(FileId::at);
        Ok(tree.into_iter().flatten().chain(files).collect())
    }

    pub fn tree(&self) -> Option<&Arc<Tree>> {
        match &self.place {
            Place::Tree(tree) => Some(tree),
            _ => None,
        }
    }

    /// The target's name for messages and for commands outside the measurement: a path, a URL or an
    /// object, without secrets.
    pub fn name(&self) -> OsString {
        match &self.place {
            Place::File(file) => file.clone().into_os_string(),
            Place::Blocks(blocks) => blocks.file().as_os_str().to_owned(),
            Place::Served { remote, .. } | Place::Web(remote) => remote.source.to_string().into(),
            Place::Tree(tree) => tree.folder_or_list_path().into_os_string(),
        }
    }

    /// The request that a contender gets for a method that accepts this kind of target.
    pub fn request(&self, reads: Reads) -> Result<ReadRequest, PresignError> {
        match &self.place {
            Place::File(file) => Ok(self.file_request(file)),
            Place::Served { remote, .. } | Place::Web(remote) => remote.request(reads),
            Place::Tree(tree) => Ok(tree.request(reads)),
            Place::Blocks(blocks) => Ok(blocks.request()),
        }
    }

    /// The request that one of several readers gets. `reader` is its number, from 0. If there are
    /// copies, the request names the reader's own copy.
    pub fn request_of_reader(&self, reader: usize, reads: Reads) -> Result<ReadRequest, PresignError> {
        let own = self.copies.as_ref().and_then(|copies| copies.path_of_reader(reader));
        own.map_or_else(|| self.request(reads), |copy| Ok(self.file_request(copy)))
    }

    fn file_request(&self, file: &Path) -> ReadRequest {
        let env = self.facts.dictionary.iter().map(Dictionary::environment_variable).collect();
        ReadRequest { word: file.as_os_str().to_owned(), env, ..ReadRequest::default() }
    }
}

/// Number of bytes at the beginning of a file that show its format.
const FORMAT_HEAD_BYTES: u64 = 64 << 10;

/// Rejects everything except regular files, and block devices if they are accepted.
fn check_kind(path: &Path, found: FileKind, accept: AcceptedKinds) -> Result<(), TargetError> {
    let kind = match found {
        FileKind::Regular => return Ok(()),
        FileKind::BlockDevice(_) if accept == AcceptedKinds::FilesAndBlockDevices => return Ok(()),
        FileKind::BlockDevice(_) => "a block device (--allow-device reads it)",
        FileKind::Folder => "a folder",
        FileKind::Pipe => "a pipe, which can be read only once",
        FileKind::Socket => "a socket",
        FileKind::CharacterDevice => "a character device, which has no size",
        FileKind::Other => "something unknown",
    };
    Err(TargetError::about(path, format!("{kind}, not a file")))
}

/// Largest size of a file that is read to check whether its size is right.
const CHECK_BYTES_MAX: u64 = 16 << 20;

/// Rejects files whose size is not the number of bytes that reading returns. Only files of size 0
/// and files that the kernel generates are read for this check.
fn check_size(path: &Path, file: &File, size_bytes: u64, filesystem: Filesystem) -> Result<(), TargetError> {
    if size_bytes > 0 && filesystem.backing != Backing::Kernel {
        return Ok(());
    }
    let refuse = |read: &str| {
        let sizes = format!("its size is {size_bytes} bytes but reading gives {read}");
        Err(TargetError::about(path, format!("{sizes}: the kernel makes it up while it is read")))
    };
    if size_bytes > CHECK_BYTES_MAX {
        return refuse("perhaps no end");
    }
    let given = io::copy(&mut file.take(size_bytes + 1), &mut io::sink());
    match given.map_err(TargetError::io(path))? {
        read if read > size_bytes => refuse("more"),
        read if read < size_bytes => refuse("less"),
        _ => Ok(()),
    }
}

/// Adds the facts about the storage of a file, or of a tree with this file; also returns the files in
/// the layers below that are evicted too.
fn with_storage_facts(
    mut facts: TargetFacts,
    LayerChain { layers, evictable, device_facts }: LayerChain,
    real: &Path,
    status: &FileStatus,
    filesystem: Filesystem,
) -> (TargetFacts, EvictableFiles) {
    let DeviceFacts { device, own_read_ahead } = device_facts.unwrap_or_default();
    facts.cautions.extend(readlab_model::target::layers::cautions(&layers));
    let facts = TargetFacts {
        filesystem: Some(filesystem.to_string()),
        mount: mount(real, status).as_ref().map(device::mount_words),
        own_read_ahead,
        device,
        io_quotas: io_quotas(&layers, io_quota::all()),
        layers,
        ..facts
    };
    (facts, evictable)
}

/// The mount of a file; `None` for a block device, whose bytes are on no mount.
fn mount(real: &Path, status: &FileStatus) -> Option<Mount> {
    match status.kind {
        FileKind::BlockDevice(_) => None,
        _ => Mount::find(&SystemRoot::default(), real, status.device),
    }
}

#[cfg(test)]
mod tests;
