//! The source of a reading: a file or a URL, or a part of it, and perhaps a dictionary for a zstd.
//!
//! A file is opened anew for every reading, and is positioned at the first byte of the part. The
//! methods decide how the bytes are read. A dictionary is in memory before the first reading, as in
//! programs that use one for many files. Each reading makes decoders with it.

use crate::method::Fault;
use readlab_protocol::{Part, Places, remote};
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
    /// The ranges of a URL that are read; `None` if it is read whole.
    ranges: Option<Places>,
    dictionary: Option<Vec<u8>>,
}

impl Source {
    pub(crate) fn whole(path: &Path) -> Source {
        Source { path: path.to_owned(), part: None, ranges: None, dictionary: None }
    }

    /// Changes the source to another file, which is read whole. Memory is allocated only if its
    /// path is longer.
    pub(crate) fn set_file(&mut self, path: &Path) {
        self.path.as_mut_os_string().clear();
        self.path.push(path);
        self.part = None;
    }

    pub(crate) fn part(self, part: Part) -> Source {
        Source { part: Some(part), ..self }
    }

    pub(crate) fn with_ranges(self, ranges: Option<Places>) -> Source {
        Source { ranges, ..self }
    }

    pub(crate) fn ranges(&self) -> Option<&Places> {
        self.ranges.as_ref()
    }

    /// Sets the dictionary for decoding.
    pub(crate) fn dictionary(self, dictionary: Option<Vec<u8>>) -> Source {
        Source { dictionary, ..self }
    }

    pub(crate) fn decoder_dictionary(&self) -> io::Result<Option<DecoderDictionary<'static>>> {
        self.dictionary.as_deref().map(DecoderDictionary::try_copy).transpose()
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The target for messages. A URL has no query here, because the query may be a secret.
    pub(crate) fn shown(&self) -> &Path {
        match self.url() {
            Some(url) => Path::new(remote::url_without_query(url)),
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

    /// Opens the file at the first byte that is read.
    pub(crate) fn open(&self) -> io::Result<File> {
        let mut file = File::open(&self.path)?;
        self.seek_to_start(&mut file)?;
        Ok(file)
    }

    /// Opens the file as a stream that ends with the part.
    pub(crate) fn stream(&self) -> io::Result<Take<File>> {
        Ok(self.open()?.take(self.length_max()))
    }

    /// The largest number of bytes that are read.
    pub(crate) fn length_max(&self) -> u64 {
        self.part.map_or(u64::MAX, |part| part.length_bytes)
    }

    /// Moves the position of an open file to the first byte that is read.
    pub(crate) fn seek_to_start(&self, file: &mut File) -> io::Result<()> {
        match self.part {
            Some(part) => file.seek(SeekFrom::Start(part.start_bytes)).map(drop),
            None => Ok(()),
        }
    }

    /// The range of the open file that is read, as far as the file goes.
    pub(crate) fn range_in(&self, file: &File) -> io::Result<Range<u64>> {
        let size_bytes = size_of(file)?;
        let range = self.part.map_or(0..size_bytes, Part::range);
        Ok(range.start.min(size_bytes)..range.end.min(size_bytes))
    }

    /// The length of that range, if it fits the address space.
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

/// The size of a file. For a block device, fstat(2) reports 0, so the position of its end is used.
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
