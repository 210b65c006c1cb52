//! What a reading reads: a file or a URL, or a part of a file; a zstd perhaps with a dictionary.
//!
//! A file is opened anew for every reading, and a part begins where its first byte is. How the
//! bytes are read is up to the methods. A dictionary is in memory before the first reading, as in
//! programs that use one for many files; decoders are made with it by each reading.

use crate::method::Fault;
use readlab_protocol::{Part, remote};
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Take};
use std::ops::Range;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use zstd::dict::DecoderDictionary;

/// A target, or a part of one.
pub(crate) struct Source {
    path: PathBuf,
    part: Option<Part>,
    dictionary: Option<Vec<u8>>,
}

impl Source {
    /// All of a target.
    pub(crate) fn whole(path: &Path) -> Source {
        Source { path: path.to_owned(), part: None, dictionary: None }
    }

    /// From now on another file, which is read whole. Nothing is allocated unless its path is
    /// longer.
    pub(crate) fn lead_to(&mut self, path: &Path) {
        self.path.as_mut_os_string().clear();
        self.path.push(path);
        self.part = None;
    }

    pub(crate) fn part(self, part: Part) -> Source {
        Source { part: Some(part), ..self }
    }

    /// Decoded with this dictionary.
    pub(crate) fn dictionary(self, dictionary: Option<Vec<u8>>) -> Source {
        Source { dictionary, ..self }
    }

    /// The dictionary, ready for decoders.
    pub(crate) fn decoder_dictionary(&self) -> io::Result<Option<DecoderDictionary<'static>>> {
        self.dictionary.as_deref().map(DecoderDictionary::try_copy).transpose()
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The target for messages: the query of a URL may be a secret.
    pub(crate) fn shown(&self) -> &Path {
        match self.url() {
            Some(url) => Path::new(remote::shown(url)),
            None => &self.path,
        }
    }

    /// The target, if it is a URL.
    pub(crate) fn url(&self) -> Option<&str> {
        let begins = |url: &&str| url.starts_with("http://") || url.starts_with("https://");
        self.path.to_str().filter(begins)
    }

    pub(crate) fn as_part(&self) -> Option<Part> {
        self.part
    }

    /// The file, open at the first byte that is read.
    pub(crate) fn open(&self) -> io::Result<File> {
        let mut file = File::open(&self.path)?;
        self.seek_to_start(&mut file)?;
        Ok(file)
    }

    /// The same, with an end where the part ends.
    pub(crate) fn stream(&self) -> io::Result<Take<File>> {
        Ok(self.open()?.take(self.length_max()))
    }

    /// The most bytes that are read.
    pub(crate) fn length_max(&self) -> u64 {
        self.part.map_or(u64::MAX, |part| part.length_bytes)
    }

    /// Puts the position of an open file at the first byte that is read.
    pub(crate) fn seek_to_start(&self, file: &mut File) -> io::Result<()> {
        match self.part {
            Some(part) => file.seek(SeekFrom::Start(part.start_bytes)).map(drop),
            None => Ok(()),
        }
    }

    /// The bytes of the open file that are read, as far as it goes.
    pub(crate) fn range_in(&self, file: &File) -> io::Result<Range<u64>> {
        let size_bytes = size_of(file)?;
        let range = self.part.map_or(0..size_bytes, Part::range);
        Ok(range.start.min(size_bytes)..range.end.min(size_bytes))
    }

    /// How many these are, where they fit the address space.
    pub(crate) fn length_in(&self, file: &File) -> Result<usize, Fault> {
        let range = self.range_in(file)?;
        Ok(usize::try_from(range.end - range.start).map_err(io::Error::other)?)
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("path", &self.shown()).field("part", &self.part).finish()
    }
}

/// The size of a file. For a block device, whose size in fstat(2) is 0, it is the position of its
/// end.
fn size_of(mut file: &File) -> io::Result<u64> {
    let meta = file.metadata()?;
    if !meta.file_type().is_block_device() {
        return Ok(meta.len());
    }
    let at = file.stream_position()?;
    let size_bytes = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(at))?;
    Ok(size_bytes)
}
