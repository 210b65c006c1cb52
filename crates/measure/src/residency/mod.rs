//! How much of a file is in the page cache, by the best means that reports the truth here.
//!
//! cachestat(2) counts exactly, and counts dirty pages too. mincore(2) counts exactly for those who
//! own the file or may write it; to all others it reports "all resident" whatever is true, so it is
//! not used then. What is left is to probe single pages with `preadv2(RWF_NOWAIT)`: a share from
//! probes is an estimate and is marked as one. On overlayfs only mincore sees the pages, which
//! belong to the file underneath; cachestat would report "none" whatever is true.
//!
//! [`super::cache`] makes the cache warm or cold.

use readlab_protocol::Part;
use readlab_system::file_status::{DeviceNumber, FileKind, FileStatus};
use readlab_system::memory::page_bytes;
use readlab_system::page_cache;
use readlab_system::terminal::printable::display_path;
use readlab_targets::target::filesystem::{Backing, Filesystem};
use readlab_targets::target::size_of;
use std::fmt;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Most pages that are probed, spread evenly, the first and the last among them.
const PROBES: u64 = 128;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Means {
    /// cachestat(2): every page counted, dirty ones too. Since Linux 6.5.
    Cachestat,
    Mincore,
    /// `preadv2(RWF_NOWAIT)` of one byte on pages spread evenly: an estimate.
    Probe,
}

/// What the page cache held of a file at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResidencyProof {
    pub means: Means,
    /// Pages that the file has, or its part.
    pub file_pages: u64,
    /// Pages that were checked: all, unless they were probed.
    pub pages: u64,
    /// Those of them that were in the page cache.
    pub resident: u64,
    /// Pages that wait to be written to the device; `None` where the means does not count them.
    pub dirty: Option<u64>,
}

#[derive(Debug, thiserror::Error)]
pub enum ResidencyError {
    #[error("{}: {call}: {cause}", display_path(.path))]
    Io { path: PathBuf, call: &'static str, cause: io::Error },
    #[error("{}: the page cache cannot be inspected here: {reason}", display_path(.path))]
    Unknown { path: PathBuf, reason: &'static str },
}

/// The file system of a device on which cachestat(2) counts the pages of a file: of others there
/// it need not be found out again.
#[derive(Debug, Clone, Copy)]
pub struct CountedDevice {
    device: DeviceNumber,
    filesystem: Filesystem,
}

/// A file whose pages in the page cache can be counted, any number of times.
#[derive(Debug)]
pub struct Residency {
    pub(super) path: PathBuf,
    /// What it was when it was opened, of one that is looked at once and not examined again.
    opened: Option<FileStatus>,
    /// A description of its own: the probe switches its readahead off.
    pub(super) file: File,
    /// The part whose pages are counted; `None` for all of it.
    pub(super) part: Option<Part>,
    pub(super) filesystem: Filesystem,
    means: Means,
}

impl ResidencyProof {
    /// Share of the file's pages that are in the page cache, 0 to 1; exactly 0 or 1 only when none
    /// or all of the pages checked are. `None` for an empty file, which has no pages.
    #[expect(clippy::cast_precision_loss, reason = "no file has 2^53 pages")]
    pub fn share(&self) -> Option<f64> {
        (self.pages > 0).then(|| self.resident as f64 / self.pages as f64)
    }

    pub fn is_cold(&self) -> bool {
        self.resident == 0
    }

    pub fn is_warm(&self) -> bool {
        self.resident == self.pages
    }

    pub fn is_estimate(&self) -> bool {
        self.pages < self.file_pages
    }

    /// What is true of both files together, by the weaker of the two means.
    pub fn and(&self, other: &ResidencyProof) -> ResidencyProof {
        let is_weaker = other.means == Means::Probe || self.means == Means::Cachestat;
        ResidencyProof {
            means: if is_weaker { other.means } else { self.means },
            file_pages: self.file_pages + other.file_pages,
            pages: self.pages + other.pages,
            resident: self.resident + other.resident,
            dirty: self.dirty.zip(other.dirty).map(|(one, two)| one + two),
        }
    }
}

impl fmt::Display for ResidencyProof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_estimate() { "probed pages" } else { "pages" };
        write!(f, "{} of {} {kind} resident", self.resident, self.pages)
    }
}

impl Residency {
    /// Opens the file read-only and chooses the means: the first that reports the truth here.
    pub fn open(path: &Path) -> Result<Residency, ResidencyError> {
        Residency::from_file(path, opened(path)?)
    }

    fn from_file(path: &Path, file: File) -> Result<Residency, ResidencyError> {
        let filesystem = Filesystem::read(&file).map_err(failed(path, "fstatfs"))?;
        if filesystem.backing == Backing::Stacked {
            return Residency::open_stacked(path, file, filesystem);
        }
        if filesystem.backing == Backing::Program && page_cache::mincore_is_true_of_fuse(&file) {
            return Residency::with(path, file, filesystem, Means::Mincore);
        }
        let counted = page_cache::count(&file, &(0..1)).map_err(failed(path, "cachestat"))?;
        let means = if counted.is_some() {
            Means::Cachestat
        } else if page_cache::mincore_is_true(&file, path) {
            Means::Mincore
        } else {
            Means::Probe
        };
        Residency::with(path, file, filesystem, means)
    }

    /// One of many files, of which each is looked at once: on a device that is known
    /// it takes the fewest calls.
    pub fn open_once(path: &Path, known: Option<CountedDevice>) -> Result<Residency, ResidencyError> {
        let Some(CountedDevice { device, filesystem }) = known else { return Residency::open(path) };
        let file = opened(path)?;
        let status = FileStatus::read(&file).map_err(failed(path, "fstat"))?;
        if status.device != device || status.kind != FileKind::Regular {
            return Residency::from_file(path, file);
        }
        let of_device = Residency::with(path, file, filesystem, Means::Cachestat)?;
        Ok(Residency { opened: Some(status), ..of_device })
    }

    /// What is known of its device then; `None` if its pages are not counted by cachestat(2).
    pub fn counted_device(&self) -> io::Result<Option<CountedDevice>> {
        let device = self.status()?.device;
        let filesystem = self.filesystem;
        Ok((self.means == Means::Cachestat).then_some(CountedDevice { device, filesystem }))
    }

    /// Its status: that at opening, of one that is looked at once.
    pub fn status(&self) -> io::Result<FileStatus> {
        self.opened.map_or_else(|| FileStatus::read(&self.file), Ok)
    }

    /// The right to write does not count here: mincore(2) asks about the file underneath.
    fn open_stacked(path: &Path, file: File, filesystem: Filesystem) -> Result<Residency, ResidencyError> {
        if page_cache::mincore_is_true_below(&file) {
            return Residency::with(path, file, filesystem, Means::Mincore);
        }
        let reason = "the file system is a stack of others, and mincore reports it only to the file's owner";
        Err(ResidencyError::Unknown { path: path.to_owned(), reason })
    }

    /// By a given means, whether or not a better one exists.
    fn with(
        path: &Path,
        file: File,
        filesystem: Filesystem,
        means: Means,
    ) -> Result<Residency, ResidencyError> {
        if means == Means::Probe {
            // A probe that misses makes the kernel read ahead; without this it would fetch far more
            // than one page.
            page_cache::disable_readahead(&file).map_err(failed(path, "posix_fadvise"))?;
        }
        Ok(Residency { path: path.to_owned(), opened: None, file, part: None, filesystem, means })
    }

    /// For a part of the file, which begins at a page.
    pub fn of_part(self, part: Option<Part>) -> Residency {
        Residency { part, ..self }
    }

    /// The bytes whose pages are counted, as far as the file goes.
    pub fn range(&self) -> io::Result<Range<u64>> {
        let size_bytes = self.opened.map_or_else(|| size_of(&self.file), |opened| Ok(opened.size_bytes))?;
        let range = self.part.map_or(0..size_bytes, Part::range);
        Ok(range.start.min(size_bytes)..range.end.min(size_bytes))
    }

    /// Counts the file's pages in the page cache now. Leaves the cache as it was: pages that a
    /// probe made the kernel fetch are evicted again.
    pub fn share(&self) -> Result<ResidencyProof, ResidencyError> {
        let range = self.range().map_err(failed(&self.path, "fstat"))?;
        let file_pages = (range.end - range.start).div_ceil(page_bytes());
        let empty =
            ResidencyProof { means: self.means, file_pages, pages: file_pages, resident: 0, dirty: None };
        if range.is_empty() {
            return Ok(empty);
        }
        match self.means {
            Means::Cachestat => {
                let counted = page_cache::count(&self.file, &range);
                let Some(counted) = counted.map_err(failed(&self.path, "cachestat"))? else {
                    return self.share_by_other_means();
                };
                // The file may have grown since its size was read: a share above 1 means nothing.
                let resident = counted.resident.min(file_pages);
                Ok(ResidencyProof { resident, dirty: Some(counted.dirty), ..empty })
            }
            Means::Mincore => {
                let whole = page_cache::count_by_mincore(&self.file, range.clone())
                    .map_err(failed(&self.path, "mincore"))?;
                // Pages on their way into memory are counted by cachestat(2) alone, and those of a
                // file that FUSE passes on by mincore(2) alone.
                let counted = page_cache::count(&self.file, &range).ok().flatten();
                let resident = counted.map_or(whole, |counted| counted.resident.max(whole)).min(file_pages);
                Ok(ResidencyProof { resident, ..empty })
            }
            Means::Probe => self.probe(range.start, file_pages),
        }
    }

    /// Where cachestat(2) counts for others on this device, but not for this file: some kernels
    /// count only for those who may write it.
    fn share_by_other_means(&self) -> Result<ResidencyProof, ResidencyError> {
        let again = Residency::open(&self.path)?.of_part(self.part);
        if again.means == Means::Cachestat {
            return Err(self.unknown("the kernel stopped counting its pages with cachestat"));
        }
        again.share()
    }

    /// Checks pages spread evenly for whether they can be read without waiting.
    fn probe(&self, start: u64, file_pages: u64) -> Result<ResidencyProof, ResidencyError> {
        let pages = file_pages.min(PROBES);
        let offset = |nth| start + evenly(nth, pages, file_pages) * page_bytes();
        let offsets: Vec<u64> = (0..pages).map(offset).collect();
        let resident = page_cache::probe(&self.file, &offsets).map_err(failed(&self.path, "preadv2"))?;
        let Some(resident) = resident else {
            return Err(self.unknown(
                "cachestat and mincore report it only to those who may write the file, and the file system has \
                 no reads that do not wait",
            ));
        };
        Ok(ResidencyProof { means: Means::Probe, file_pages, pages, resident, dirty: None })
    }

    fn unknown(&self, reason: &'static str) -> ResidencyError {
        ResidencyError::Unknown { path: self.path.clone(), reason }
    }
}

fn opened(path: &Path) -> Result<File, ResidencyError> {
    File::open(path).map_err(failed(path, "open"))
}

fn failed(path: &Path, call: &'static str) -> impl FnOnce(io::Error) -> ResidencyError {
    move |cause| ResidencyError::Io { path: path.to_owned(), call, cause }
}

/// Page number of probe `nth` of `probes`, so that the first is the first page and the last the
/// last.
fn evenly(nth: u64, probes: u64, pages: u64) -> u64 {
    let page = u128::from(nth) * u128::from(pages - 1) / u128::from((probes - 1).max(1));
    u64::try_from(page).expect("a page number is below the number of pages")
}

#[cfg(test)]
mod tests;
