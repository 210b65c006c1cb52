//! Counts the pages of a file in the page cache, by the best means that reports true values here.
//!
//! cachestat(2) counts exactly, and counts dirty pages too. mincore(2) counts exactly for users who
//! own the file or may write it. To all others it reports every page as resident, so it is not used
//! then. The last means is to probe single pages with `preadv2(RWF_NOWAIT)`; a share from probes is
//! marked as an estimate. On overlayfs only mincore sees the pages, which belong to the file of the
//! lower layer; cachestat would always report none.
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

/// Largest number of probed pages. They are spread evenly and include the first and the last page.
const PROBES_MAX: u64 = 128;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResidencyMeans {
    /// Counts every page in one call, dirty pages too: cachestat(2), since Linux 6.5.
    Count,
    /// Lists which pages of a mapping are in memory: mincore(2).
    Map,
    /// `preadv2(RWF_NOWAIT)` of one byte on pages spread evenly: an estimate.
    Probe,
    /// Lookups of names in memory alone, instead of pages ([`crate::names_cache`]).
    Lookup,
}

/// Residency of a file in the page cache at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResidencyProof {
    pub means: ResidencyMeans,
    /// Number of pages of the file, or of the part that is the target.
    pub file_pages: u64,
    /// Pages that were checked: all pages, or only the probed ones.
    pub checked_pages: u64,
    /// Checked pages that were in the page cache.
    pub resident_pages: u64,
    /// Dirty pages; `None` if the means does not count them.
    pub dirty_pages: Option<u64>,
}

#[derive(Debug, thiserror::Error)]
pub enum ResidencyError {
    #[error("{}: {call}: {cause}", display_path(.path))]
    Io { path: PathBuf, call: &'static str, cause: io::Error },
    #[error(
        "{}: the page cache cannot be inspected here: {reason}; its owner, root, or a reader of a copy elsewhere can",
        display_path(.path)
    )]
    Unknown { path: PathBuf, reason: &'static str },
}

/// A device on which cachestat(2) counts the pages of a file, and its file system. For other files
/// on this device, the means and the file system are not examined again.
#[derive(Debug, Clone, Copy)]
pub struct CountedDevice {
    device: DeviceNumber,
    filesystem: Filesystem,
}

/// A file whose resident pages can be counted repeatedly.
#[derive(Debug)]
pub struct ResidencyProver {
    pub(super) path: PathBuf,
    /// Status of the file when it was opened; only for a file that is checked once.
    status_at_open: Option<FileStatus>,
    /// A separate file description, because the probe disables its readahead.
    pub(super) file: File,
    /// The part whose pages are counted; `None` for the whole file.
    pub(super) part: Option<Part>,
    pub(super) filesystem: Filesystem,
    means: ResidencyMeans,
}

impl ResidencyProof {
    /// Share of the file's pages that are in the page cache, 0 to 1. Exactly 0 or 1 only if none or
    /// all of the checked pages are resident. `None` for an empty file, which has no pages.
    pub fn resident_share(&self) -> Option<f64> {
        (self.checked_pages > 0).then(|| self.resident_pages as f64 / self.checked_pages as f64)
    }

    /// Bytes of the checked pages that were in the page cache.
    pub fn resident_bytes(&self) -> u64 {
        self.resident_pages.saturating_mul(page_bytes())
    }

    pub fn is_cold(&self) -> bool {
        self.resident_pages == 0
    }

    pub fn is_warm(&self) -> bool {
        self.resident_pages == self.checked_pages
    }

    pub fn is_estimate(&self) -> bool {
        self.checked_pages < self.file_pages
    }

    /// The sum of the proofs of two files; its means is the weaker of the two.
    pub fn combined_with(&self, other: &ResidencyProof) -> ResidencyProof {
        let is_weaker = other.means == ResidencyMeans::Probe || self.means == ResidencyMeans::Count;
        ResidencyProof {
            means: if is_weaker { other.means } else { self.means },
            file_pages: self.file_pages + other.file_pages,
            checked_pages: self.checked_pages + other.checked_pages,
            resident_pages: self.resident_pages + other.resident_pages,
            dirty_pages: self.dirty_pages.zip(other.dirty_pages).map(|(one, two)| one + two),
        }
    }
}

impl fmt::Display for ResidencyProof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.means {
            ResidencyMeans::Lookup => "names",
            _ if self.is_estimate() => "probed pages",
            _ => "pages",
        };
        write!(f, "{} of {} {kind} resident", self.resident_pages, self.checked_pages)
    }
}

impl ResidencyProver {
    /// Opens the file read-only and chooses the first means that reports true values here.
    pub fn open(path: &Path) -> Result<ResidencyProver, ResidencyError> {
        ResidencyProver::from_file(path, open_file(path)?)
    }

    fn from_file(path: &Path, file: File) -> Result<ResidencyProver, ResidencyError> {
        let filesystem = Filesystem::read(&file).map_err(call_failed(path, "fstatfs"))?;
        let is_counted = || page_cache::count_by_cachestat(&file, &(0..1)).map(|counted| counted.is_some());
        let means = match filesystem.backing {
            // A user who may only write the file cannot use mincore(2) here, because it checks the
            // lower file.
            Backing::Stacked if page_cache::mincore_is_true_of_lower_file(&file) => ResidencyMeans::Map,
            Backing::Stacked => {
                let reason =
                    "the file system is a stack of others, and mincore reports it only to the file's owner";
                return Err(ResidencyError::Unknown { path: path.to_owned(), reason });
            }
            Backing::Program if page_cache::mincore_is_true_of_fuse(&file) => ResidencyMeans::Map,
            _ if is_counted().map_err(call_failed(path, "cachestat"))? => ResidencyMeans::Count,
            _ if page_cache::mincore_is_true(&file, path) => ResidencyMeans::Map,
            _ => ResidencyMeans::Probe,
        };
        ResidencyProver::open_with_means(path, file, filesystem, means)
    }

    /// Opens one of many files, each of which is checked once. On a known device this needs fewer
    /// system calls.
    pub fn open_for_one_check(
        path: &Path,
        known: Option<CountedDevice>,
    ) -> Result<ResidencyProver, ResidencyError> {
        let Some(CountedDevice { device, filesystem }) = known else { return ResidencyProver::open(path) };
        let file = open_file(path)?;
        let status = FileStatus::read(&file).map_err(call_failed(path, "fstat"))?;
        if status.device != device || status.kind != FileKind::Regular {
            return ResidencyProver::from_file(path, file);
        }
        let of_device = ResidencyProver::open_with_means(path, file, filesystem, ResidencyMeans::Count)?;
        Ok(ResidencyProver { status_at_open: Some(status), ..of_device })
    }

    /// The file's device, so that other files there can be opened faster; `None` if cachestat(2)
    /// does not count the file's pages.
    pub fn counted_device(&self) -> io::Result<Option<CountedDevice>> {
        let device = self.status()?.device;
        let filesystem = self.filesystem;
        Ok((self.means == ResidencyMeans::Count).then_some(CountedDevice { device, filesystem }))
    }

    /// The status of the file; for a file that is checked once, the status when it was opened.
    pub fn status(&self) -> io::Result<FileStatus> {
        self.status_at_open.map_or_else(|| FileStatus::read(&self.file), Ok)
    }

    /// Opens a file with a given means, even if a better means exists.
    fn open_with_means(
        path: &Path,
        file: File,
        filesystem: Filesystem,
        means: ResidencyMeans,
    ) -> Result<ResidencyProver, ResidencyError> {
        if means == ResidencyMeans::Probe {
            // A probe of a page that is not resident makes the kernel read ahead; with readahead
            // enabled it would fetch far more than one page.
            page_cache::disable_readahead(&file).map_err(call_failed(path, "posix_fadvise"))?;
        }
        Ok(ResidencyProver {
            path: path.to_owned(),
            status_at_open: None,
            file,
            part: None,
            filesystem,
            means,
        })
    }

    /// Counts only a part of the file, which begins at a page boundary.
    pub fn limited_to_part(self, part: Option<Part>) -> ResidencyProver {
        ResidencyProver { part, ..self }
    }

    /// The byte range whose pages are counted, cut at the end of the file.
    pub fn range(&self) -> io::Result<Range<u64>> {
        let size_bytes =
            self.status_at_open.map_or_else(|| size_of(&self.file), |opened| Ok(opened.size_bytes))?;
        let range = self.part.map_or(0..size_bytes, Part::range);
        Ok(range.start.min(size_bytes)..range.end.min(size_bytes))
    }

    /// Counts the file's resident pages now. Leaves the cache as it was: pages that the kernel
    /// fetched because of a probe are evicted again.
    pub fn prove(&self) -> Result<ResidencyProof, ResidencyError> {
        let range = self.range().map_err(call_failed(&self.path, "fstat"))?;
        let file_pages = (range.end - range.start).div_ceil(page_bytes());
        let empty = ResidencyProof {
            means: self.means,
            file_pages,
            checked_pages: file_pages,
            resident_pages: 0,
            dirty_pages: None,
        };
        if range.is_empty() {
            return Ok(empty);
        }
        match self.means {
            ResidencyMeans::Count => {
                let counted = page_cache::count_by_cachestat(&self.file, &range);
                let Some(counted) = counted.map_err(call_failed(&self.path, "cachestat"))? else {
                    return self.prove_by_other_means();
                };
                // The file may have grown since its size was read; a share above 1 is meaningless.
                let resident = counted.resident.min(file_pages);
                Ok(ResidencyProof { resident_pages: resident, dirty_pages: Some(counted.dirty), ..empty })
            }
            ResidencyMeans::Map => {
                let whole = page_cache::count_by_mincore(&self.file, range.clone())
                    .map_err(call_failed(&self.path, "mincore"))?;
                // Only cachestat(2) counts pages that are being read into memory, and only
                // mincore(2) counts pages of a file that FUSE passes through.
                let counted = page_cache::count_by_cachestat(&self.file, &range).ok().flatten();
                let resident = counted.map_or(whole, |counted| counted.resident.max(whole)).min(file_pages);
                Ok(ResidencyProof { resident_pages: resident, ..empty })
            }
            // Lookups are only used for names, never for a file.
            ResidencyMeans::Probe | ResidencyMeans::Lookup => self.probe(range.start, file_pages),
        }
    }

    /// Proves by another means, if cachestat(2) counts pages of other files on this device but not
    /// of this file: some kernels count only for users who may write the file.
    fn prove_by_other_means(&self) -> Result<ResidencyProof, ResidencyError> {
        let again = ResidencyProver::open(&self.path)?.limited_to_part(self.part);
        if again.means == ResidencyMeans::Count {
            return Err(self.unknown_error("the kernel stopped counting its pages with cachestat"));
        }
        again.prove()
    }

    /// Probes pages spread evenly: a page is resident if it can be read without waiting.
    fn probe(&self, start: u64, file_pages: u64) -> Result<ResidencyProof, ResidencyError> {
        let pages = file_pages.min(PROBES_MAX);
        let offset = |nth| start + probed_page(nth, pages, file_pages) * page_bytes();
        let offsets: Vec<u64> = (0..pages).map(offset).collect();
        let resident = page_cache::count_by_nowait_reads(&self.file, &offsets)
            .map_err(call_failed(&self.path, "preadv2"))?;
        let Some(resident) = resident else {
            return Err(self.unknown_error(
                "cachestat and mincore report it only to those who may write the file, and the file system has \
                 no reads that do not wait",
            ));
        };
        Ok(ResidencyProof {
            means: ResidencyMeans::Probe,
            file_pages,
            checked_pages: pages,
            resident_pages: resident,
            dirty_pages: None,
        })
    }

    fn unknown_error(&self, reason: &'static str) -> ResidencyError {
        ResidencyError::Unknown { path: self.path.clone(), reason }
    }
}

fn open_file(path: &Path) -> Result<File, ResidencyError> {
    File::open(path).map_err(call_failed(path, "open"))
}

fn call_failed(path: &Path, call: &'static str) -> impl FnOnce(io::Error) -> ResidencyError {
    move |cause| ResidencyError::Io { path: path.to_owned(), call, cause }
}

/// Page number of probe `nth` of `probes`. The first probe is of the first page and the last probe
/// of the last page.
fn probed_page(nth: u64, probes: u64, pages: u64) -> u64 {
    let page = u128::from(nth) * u128::from(pages - 1) / u128::from((probes - 1).max(1));
    u64::try_from(page).expect("a page number is below the number of pages")
}

#[cfg(test)]
mod tests;
