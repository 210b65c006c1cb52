//! What is read: one file, or what a server gives under a URL, and everything about it that can make a read look faster
//! or slower than it is.
//!
//! Found out once before measuring; [`identity::Identity`] of a file and [`web::Version`] of a URL are looked at again
//! around every sample, so that a target which changes under the readers is noticed. A file is opened read-only, always,
//! and never in a way that could wait.

pub mod caution;
pub mod device;
pub mod extents;
pub mod filesystem;
pub mod hidden_cache;
pub mod http;
pub mod identity;
pub mod layers;
mod path;
pub mod url;
pub mod web;

use crate::terminal::printable::printable;
use crate::trial::{Answer, Transport};
use device::{Device, Mount};
use extents::Extents;
use filesystem::{Backing, Filesystem};
use hidden_cache::HiddenCache;
use layers::{Chain, Evictable, Layer, System};
pub use path::without_parents;
use readlab_protocol::Archive;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::fs::{self, File, FileType, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use url::{Url, UrlError};
use web::Version;

/// A target that may be raced: it exists, has a size, and can be opened as often as needed.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// Where its bytes come from.
    pub place: Place,
    /// What was found out about it.
    pub facts: TargetFacts,
    /// The files below it whose pages are evicted for a cold reading, the nearest first.
    pub evictable: Evictable,
}

/// Where the bytes of a target come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A file that contenders open, by its absolute path.
    File(PathBuf),
    /// A file that readlab's own server reads for contenders.
    Served {
        /// Its absolute path.
        file: PathBuf,
        /// Where the server gives it.
        url: Url,
    },
    /// Somebody else's server.
    Web {
        /// What it is asked for.
        url: Url,
        /// What it said of it before measuring; `None` where it answers no HEAD.
        version: Option<Version>,
    },
}

/// Whose server gives a target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "server", rename_all = "snake_case")]
pub enum Http {
    /// Readlab's own, on the loopback interface, in a process of its own.
    Own,
    /// Somebody else's: nobody here can tell what it has in its cache.
    Foreign {
        /// What it calls itself.
        software: Option<String>,
        /// Its name for the content.
        etag: Option<String>,
        /// When the content was changed, in its words.
        last_modified: Option<String>,
    },
}

/// What was found out about a target before measuring.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TargetFacts {
    /// Its path, or the URL of somebody else's server; bytes that are not UTF-8 are written as U+FFFD.
    pub path: String,
    /// Its path as hexadecimal bytes, where it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
    /// Its size.
    pub size_bytes: u64,
    /// The file system's type, such as `ext4`; an unknown one by its number, in hexadecimal.
    pub filesystem: Option<String>,
    /// The device it lives on, such as `/dev/vda`, and the mount point.
    pub mount: Option<String>,
    /// The block device underneath; `None` where there is none, or none is known.
    #[serde(default)]
    pub device: Option<Device>,
    /// What its bytes pass through, its own file system first; empty in records of before that was found out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<Layer>,
    /// Whether a cache lies below everything that can be seen; `None` where nothing was to be made cold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden_cache: Option<HiddenCache>,
    /// How its extents lie on the device; `None` where the file system does not tell.
    pub extents: Option<Extents>,
    /// Digest of its content (XXH3, 64 bits, hexadecimal).
    pub digest: Option<String>,
    /// The right answer, by the plainest code in the house.
    pub answer: Option<Answer>,
    /// What comes out of it, where trials read that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decoded: Option<Decoded>,
    /// What a reader of the numbers should know about this target.
    pub cautions: Vec<String>,
    /// Whose server gives it; `None` for a file that contenders open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<Http>,
}

/// What comes out of an archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decoded {
    /// What it is.
    pub archive: Archive,
    /// Digest of what comes out (XXH3, 64 bits, hexadecimal).
    pub digest: String,
    /// The right answer about what comes out.
    pub answer: Answer,
}

/// What may be a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accept {
    /// Regular files.
    Files,
    /// Block devices too.
    Devices,
}

/// Why a path is no target. Each says so in one line, whatever characters the path has.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// There is nothing.
    #[error("{}: no such file", shown(.0))]
    NotFound(PathBuf),
    /// A link leads nowhere.
    #[error("{}: a link to a file that does not exist", shown(.0))]
    DanglingLink(PathBuf),
    /// The file may not be read, or a folder above it not be entered.
    #[error("{}: no permission to read it", shown(.0))]
    Denied(PathBuf),
    /// It is something else than a file.
    #[error("{}: {kind}, not a file", shown(.path))]
    NotAFile {
        /// Its path.
        path: PathBuf,
        /// What it is.
        kind: &'static str,
    },
    /// It gives other bytes than its size says, as files of /proc and /sys do.
    #[error("{}: its size is {size_bytes} bytes but reading gives {read}: the kernel makes it up while it is read", shown(.path))]
    NoTrueSize {
        /// Its path.
        path: PathBuf,
        /// Its size by fstat(2).
        size_bytes: u64,
        /// What reading gave.
        read: &'static str,
    },
    /// It cannot be looked at or opened.
    #[error("{}: {cause}", shown(.path))]
    Io {
        /// Its path.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// It is no URL that may be raced.
    #[error(transparent)]
    Url(#[from] UrlError),
    /// Its server does not give it.
    #[error("{url}: {cause}")]
    Web {
        /// What was asked for.
        url: Url,
        /// What came instead.
        cause: http::HttpError,
    },
}

/// A path on one line: what a terminal would obey is escaped, bytes that are not UTF-8 become U+FFFD.
#[must_use]
pub fn shown(path: &Path) -> String {
    printable(&path.to_string_lossy())
}

impl Target {
    /// Finds everything out about a file but its digest and answer, which take a whole reading ([`crate::corpus`]).
    ///
    /// # Errors
    /// If there is no file that can be read again and again; nothing that could block is opened to find that out.
    pub fn examine(path: &Path) -> Result<Target, TargetError> {
        Target::examine_as(path, Accept::Files)
    }

    /// The same, for files or for devices too.
    ///
    /// # Errors
    /// As for [`Target::examine`].
    pub fn examine_as(path: &Path, accept: Accept) -> Result<Target, TargetError> {
        let io = |cause| TargetError::Io { path: path.to_owned(), cause };
        let path = &path::nameable(path).map_err(io)?;
        let meta = fs::metadata(path).map_err(|cause| refusal(path, cause))?;
        acceptable(path, meta.file_type(), accept)?;
        let file = open(path)?;
        // Asked again of what was opened: the name may have changed hands.
        let meta = file.metadata().map_err(io)?;
        acceptable(path, meta.file_type(), accept)?;
        let size_bytes = size_of(&file).map_err(io)?;
        let filesystem = Filesystem::of(&file).map_err(io)?;
        true_size(path, &file, size_bytes, filesystem)?;
        let (facts, evictable) = facts(path, (&file, size_bytes), &meta, filesystem);
        Ok(Target { place: Place::File(path.clone()), facts, evictable })
    }

    /// From now on our own server gives the file under `url`; what is no file stays as it is.
    pub fn serve(&mut self, url: Url) {
        if let Place::File(file) = &self.place {
            self.place = Place::Served { file: file.clone(), url };
            self.facts.http = Some(Http::Own);
        }
    }

    /// The file of this machine in which its bytes lie; `None` where somebody else's server has them.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        match &self.place {
            Place::File(file) | Place::Served { file, .. } => Some(file),
            Place::Web { .. } => None,
        }
    }

    /// The word by which a contender is told what to read.
    #[must_use]
    pub fn word(&self) -> &OsStr {
        match &self.place {
            Place::File(file) => file.as_os_str(),
            Place::Served { url, .. } | Place::Web { url, .. } => OsStr::new(url.as_str()),
        }
    }
}

impl TargetFacts {
    /// Its path or URL, byte for byte.
    #[must_use]
    pub fn place(&self) -> PathBuf {
        let bytes = self.path_hex.as_deref().and_then(unhex);
        bytes.map_or_else(|| PathBuf::from(&self.path), |bytes| PathBuf::from(OsString::from_vec(bytes)))
    }

    /// Transport what its bytes come to a contender.
    #[must_use]
    pub fn over(&self) -> Transport {
        if self.http.is_some() { Transport::Http } else { Transport::File }
    }

    /// Whether nobody here can tell what its server has in its cache.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        matches!(self.http, Some(Http::Foreign { .. }))
    }

    /// The bytes that a trial brings from it: those that come out for one that decodes. Records of before the two were told
    /// apart have the answer about what comes out in the place of that about the file.
    #[must_use]
    pub fn bytes_out(&self, decodes: Option<Archive>) -> u64 {
        let decoded = self.decoded.as_ref().filter(|_| decodes.is_some());
        let answer = decoded.map(|decoded| decoded.answer).or(self.answer);
        answer.and_then(|answer| answer.bytes).unwrap_or(self.size_bytes)
    }

    /// The caches below that stay when it is made cold, by name; `None` where none is known.
    #[must_use]
    pub fn cold_above(&self) -> Option<String> {
        layers::cold_above(&self.layers)
    }

    /// The least that a cold read of the whole file must fetch from the device; `None` where that is not known. Holes,
    /// unwritten and inline bytes cost nothing; encoded ones at least nothing.
    #[must_use]
    pub fn expected_device_bytes(&self) -> Option<u64> {
        self.extents.as_ref().map(|extents| extents.least_device_bytes(self.size_bytes))
    }
}

/// Why a path could not be looked at or opened.
fn refusal(path: &Path, cause: io::Error) -> TargetError {
    let path = path.to_owned();
    match cause.kind() {
        io::ErrorKind::NotFound if path.is_symlink() => TargetError::DanglingLink(path),
        io::ErrorKind::NotFound => TargetError::NotFound(path),
        io::ErrorKind::PermissionDenied => TargetError::Denied(path),
        _ => TargetError::Io { path, cause },
    }
}

/// The size of a file, in bytes; of a block device, which fstat(2) says is empty, where its end is.
///
/// # Errors
/// If the system does not tell.
pub fn size_of(mut file: &File) -> io::Result<u64> {
    let meta = file.metadata()?;
    if !meta.file_type().is_block_device() {
        return Ok(meta.size());
    }
    let size_bytes = file.seek(SeekFrom::End(0))?;
    file.rewind()?;
    Ok(size_bytes)
}

/// Refuses all that is no regular file, and no device where devices are allowed.
fn acceptable(path: &Path, found: FileType, accept: Accept) -> Result<(), TargetError> {
    let kind = if found.is_file() || found.is_block_device() && accept == Accept::Devices {
        return Ok(());
    } else if found.is_dir() {
        "a folder"
    } else if found.is_fifo() {
        "a pipe, which can be read only once"
    } else if found.is_socket() {
        "a socket"
    } else if found.is_char_device() {
        "a character device, which has no size"
    } else if found.is_block_device() {
        "a block device (--allow-device reads it)"
    } else {
        "something unknown"
    };
    Err(TargetError::NotAFile { path: path.to_owned(), kind })
}

/// Opens read-only; if the name became a pipe meanwhile, without waiting for its other end.
fn open(path: &Path) -> Result<File, TargetError> {
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    File::options().read(true).custom_flags(flags).open(path).map_err(|cause| refusal(path, cause))
}

/// The most that is read to see whether a file of the kernel's has the size it says.
const TRIAL_BYTES: u64 = 16 << 20;

/// Refuses files whose size is not what reading gives. Only those that say they are empty, and those that the kernel
/// makes up, are read.
fn true_size(path: &Path, file: &File, size_bytes: u64, filesystem: Filesystem) -> Result<(), TargetError> {
    if size_bytes > 0 && filesystem.backing != Backing::Kernel {
        return Ok(());
    }
    let refuse = |read| Err(TargetError::NoTrueSize { path: path.to_owned(), size_bytes, read });
    if size_bytes > TRIAL_BYTES {
        return refuse("perhaps no end");
    }
    let given = io::copy(&mut file.take(size_bytes + 1), &mut io::sink());
    match given.map_err(|cause| TargetError::Io { path: path.to_owned(), cause })? {
        read if read > size_bytes => refuse("more"),
        read if read < size_bytes => refuse("less"),
        _ => Ok(()),
    }
}

fn facts(
    path: &Path,
    (file, size_bytes): (&File, u64),
    meta: &Metadata,
    filesystem: Filesystem,
) -> (TargetFacts, Evictable) {
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let itself = meta.file_type().is_block_device();
    let mount = if itself { None } else { Mount::of(&real, meta.dev()) };
    let device = Device::under(mount.as_ref(), if itself { meta.rdev() } else { meta.dev() });
    let extents = Extents::of(file).ok();
    let bytes = path.as_os_str().as_bytes();
    let Chain { layers, evictable } = System::default().chain(&real, file);
    let mut cautions = caution::all(file, size_bytes, filesystem, extents.as_ref());
    cautions.extend(layers::cautions(&layers));
    let facts = TargetFacts {
        path: path.to_string_lossy().into_owned(),
        path_hex: std::str::from_utf8(bytes).is_err().then(|| hex(bytes)),
        size_bytes,
        filesystem: Some(filesystem.to_string()),
        mount: mount.map(|mount| mount.to_string()),
        device,
        layers,
        hidden_cache: None,
        cautions,
        extents,
        digest: None,
        answer: None,
        http: None,
        decoded: None,
    };
    (facts, evictable)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a String takes everything");
        text
    })
}

/// The bytes that two hexadecimal digits each stand for; `None` where they are no such digits.
fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    text.as_bytes().chunks(2).map(|pair| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?)).collect()
}
