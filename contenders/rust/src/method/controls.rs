//! Two controls. `null` does nothing, and shows the cost of the measurement. `resident` visits
//! bytes that are already in memory, and shows the speed of the scan if delivery cost nothing.

use super::memory::{SEGMENT, THREADS};
use super::memory_check::{check_fits, kept_bytes_max};
use super::{Fault, Feeding, Method, Reader, memory};
use crate::scan::Visit;
use crate::source::Source;

use readlab_auto::buffer::Buffer;
use readlab_protocol::{Answer, Cache, Reads, Work};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

pub(super) const NULL: Method = Method {
    name: "null",
    about: "control: opens and reads nothing; its window is empty",
    reads: Reads::Both,
    // Any work can be requested, because this control does none.
    feeding: Feeding::Own(&Work::ALL),
    parts: true,
    lists: true,
    build: |_| Ok(Box::new(|_: &Source, _: Visit| Ok::<Answer, Fault>(Answer::default()))),
    ..Method::CONTROL
};

pub(super) const RESIDENT: Method = Method {
    name: "resident",
    about: "control: the bytes are in anonymous memory (2 MiB pages if available) before each turn; the window holds \
            only the scan",
    cache: Cache::None,
    feeding: Feeding::Mapped,
    parts: true,
    params: &[SEGMENT, THREADS],
    build: |settings| {
        Ok(Box::new(Resident {
            segment_bytes: settings.get(&SEGMENT),
            threads: settings.get(&THREADS),
            kept_bytes_max: kept_bytes_max(),
            loaded: None,
            identity: None,
        }))
    },
    ..Method::DEFAULT
};

struct Resident {
    segment_bytes: u64,
    threads: u64,
    /// Size limit of bytes that stay in memory between turns.
    kept_bytes_max: u64,
    loaded: Option<LoadedFile>,
    /// Identity of the file whose bytes are loaded.
    identity: Option<FileIdentity>,
}

impl Reader for Resident {
    fn prepare(&mut self, source: &Source) -> Result<(), Fault> {
        let identity = FileIdentity::at(source.path())?;
        if self.loaded.is_none() || self.identity != identity {
            self.loaded = None;
            self.loaded = Some(LoadedFile::load("resident", source)?);
            self.identity = identity;
        }
        Ok(())
    }

    fn read(&mut self, _source: &Source, visit: Visit) -> Result<Answer, Fault> {
        let loaded = self.loaded.as_ref().ok_or_else(|| io::Error::other("resident: not prepared"))?;
        memory::visit_all(loaded.bytes(), self.segment_bytes, self.threads, visit)
    }

    /// Releases the bytes, unless they are a small part of memory. Loading takes far longer than
    /// the scan.
    fn release(&mut self) {
        let may_stay =
            |it: &mut LoadedFile| self.identity.is_some() && it.bytes().len() as u64 <= self.kept_bytes_max;
        self.loaded = self.loaded.take_if(|it| may_stay(it));
    }
}

/// The attributes that change if a file is replaced or written. A device has none, because its
/// bytes change silently.
#[derive(Clone, Copy, PartialEq, Eq)]
struct FileIdentity {
    device: u64,
    inode: u64,
    size_bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl FileIdentity {
    fn at(path: &Path) -> io::Result<Option<FileIdentity>> {
        let meta = path.metadata()?;
        Ok(meta.is_file().then(|| FileIdentity {
            device: meta.dev(),
            inode: meta.ino(),
            size_bytes: meta.len(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }))
    }
}

/// A file's bytes in anonymous memory.
pub(super) struct LoadedFile {
    pages: Buffer,
    len: usize,
}

impl LoadedFile {
    /// Reads all of a file, or its part, for the method `name`.
    pub(super) fn load(name: &str, source: &Source) -> Result<LoadedFile, Fault> {
        let mut file = source.open()?;
        let size = source.length_in(&file)?;
        check_fits(name, size as u64)?;
        let mut pages = Buffer::huge(size)?;
        let mut len = 0;
        while len < size {
            match file.read(&mut pages[len..]) {
                Ok(0) => break,
                Ok(count) => len += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(cause) => return Err(Fault::at(len as u64, cause)),
            }
        }
        Ok(LoadedFile { pages, len })
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.pages[..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resident(kept_bytes_max: u64) -> Resident {
        Resident { segment_bytes: SEGMENT.default, threads: 1, kept_bytes_max, loaded: None, identity: None }
    }

    #[test]
    fn loaded_bytes_stay_until_the_file_changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        std::fs::write(&path, b"one").unwrap();
        let (mut reader, source) = (resident(5), Source::whole(&path));
        reader.prepare(&source).unwrap();
        let first = reader.loaded.as_ref().unwrap().bytes().as_ptr();
        reader.release();
        reader.prepare(&source).unwrap();
        assert_eq!(reader.loaded.as_ref().unwrap().bytes().as_ptr(), first, "it was not loaded again");
        std::fs::write(&path, b"other").unwrap();
        reader.prepare(&source).unwrap();
        assert_eq!(reader.loaded.as_ref().unwrap().bytes(), b"other");
    }

    #[test]
    fn a_large_file_leaves_the_memory_after_each_turn() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        std::fs::write(&path, b"large").unwrap();
        let (mut reader, source) = (resident(4), Source::whole(&path));
        reader.prepare(&source).unwrap();
        reader.release();
        assert!(reader.loaded.is_none());
        assert!(kept_bytes_max() > 0);
    }

    #[test]
    fn a_device_has_no_identity() {
        assert!(FileIdentity::at(Path::new("/dev/null")).unwrap().is_none());
    }
}
