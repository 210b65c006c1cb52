//! How much of a file is in the page cache, by the best means that tells the truth here.
//!
//! cachestat(2) counts exactly, and counts dirty pages too. mincore(2) counts exactly for those who
//! own the file or may write it; for all others it says "all resident" whatever is true, so it is
//! never asked then. What is left is to ask single pages with `preadv2(RWF_NOWAIT)`: a share from
//! probes is an estimate and says so. On overlayfs only mincore sees the pages, which belong to the
//! file underneath; cachestat would say "none" whatever is true.
//!
//! Making the cache warm or cold is not done here; see [`super::cache`].

use crate::target::filesystem::{Backing, Filesystem};
use crate::target::{shown, size_of};
use rustix::fs::{Access, Advice, AtFlags, CWD};
use rustix::io::{Errno, ReadWriteFlags};
use std::ffi::c_long;
use std::fmt;
use std::fs::File;
use std::io::{self, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Most pages that one look asks by probes, spread evenly, the first and the last among them.
const PROBES: u64 = 128;

/// Part of a file that mincore(2) is asked about at once: its answer takes a byte a page.
const WINDOW_BYTES: u64 = 1 << 30;

/// How residency is found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Means {
    /// cachestat(2): every page counted, dirty ones too. Since Linux 6.5.
    Cachestat,
    /// mincore(2): every page counted.
    Mincore,
    /// `preadv2(RWF_NOWAIT)` of one byte on pages spread evenly: an estimate.
    Probe,
}

/// What a look at the page cache found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResidencyProof {
    /// How it was found out.
    pub means: Means,
    /// Pages that the file has.
    pub file_pages: u64,
    /// Pages that were looked at: all, unless they were probed.
    pub pages: u64,
    /// Those of them that were in the page cache.
    pub resident: u64,
    /// Pages that wait to be written to the device; `None` where the means does not tell.
    pub dirty: Option<u64>,
}

/// Why residency cannot be told.
#[derive(Debug, thiserror::Error)]
pub enum ResidencyError {
    /// A call failed.
    #[error("{}: {call}: {cause}", shown(.path))]
    Io {
        /// The file.
        path: PathBuf,
        /// The call.
        call: &'static str,
        /// What the system said.
        cause: io::Error,
    },
    /// None of the means works on this file.
    #[error("{}: nobody here tells what is in the page cache: {reason}", shown(.path))]
    Untold {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: &'static str,
    },
}

/// A file whose pages in the page cache can be counted, any number of times.
#[derive(Debug)]
pub struct Residency {
    path: PathBuf,
    /// A description of its own: the probe switches its readahead off.
    file: File,
    means: Means,
}

impl Means {
    /// In words, for records and pages.
    #[must_use]
    pub fn how(self) -> &'static str {
        match self {
            Means::Cachestat => "cachestat: every page counted",
            Means::Mincore => "mincore: every page counted",
            Means::Probe => {
                "preadv2 with RWF_NOWAIT on pages spread evenly: an estimate; the device reads those \
                 that are missing"
            }
        }
    }
}

impl ResidencyProof {
    /// Share of the file's pages that are in the page cache, 0 to 1; exactly 0 or 1 only when none
    /// or all of the pages looked at are. `None` for an empty file, which has no pages.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "no file has 2^53 pages")]
    pub fn share(&self) -> Option<f64> {
        (self.pages > 0).then(|| self.resident as f64 / self.pages as f64)
    }

    /// Whether none of the pages looked at is in the page cache.
    #[must_use]
    pub fn is_cold(&self) -> bool {
        self.resident == 0
    }

    /// Whether all of the pages looked at are in the page cache.
    #[must_use]
    pub fn is_warm(&self) -> bool {
        self.resident == self.pages
    }

    /// Whether only some of the pages were looked at.
    #[must_use]
    pub fn is_estimate(&self) -> bool {
        self.pages < self.file_pages
    }

    /// How it was found out, in words.
    #[must_use]
    pub fn how(&self) -> &'static str {
        self.means.how()
    }
}

impl fmt::Display for ResidencyProof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_estimate() { "probed pages" } else { "pages" };
        write!(f, "{} of {} {kind} resident", self.resident, self.pages)
    }
}

impl Residency {
    /// Opens the file read-only and chooses the means: the first that tells the truth here.
    ///
    /// # Errors
    /// If the file cannot be opened, or if none of the means works on it.
    pub fn open(path: &Path) -> Result<Residency, ResidencyError> {
        let io = |call, cause| ResidencyError::Io { path: path.to_owned(), call, cause };
        let file = File::open(path).map_err(|cause| io("open", cause))?;
        let filesystem = Filesystem::of(&file).map_err(|cause| io("fstatfs", cause))?;
        if filesystem.backing == Backing::Stacked {
            return Residency::open_stacked(path, file);
        }
        let means = match cachestat(file.as_fd(), 1) {
            Ok(_) => Means::Cachestat,
            // Kernels before 6.5, file systems without it, files of others, sandboxes.
            Err(Errno::NOSYS | Errno::OPNOTSUPP | Errno::PERM) if owns(&file) || may_write(path) => {
                Means::Mincore
            }
            Err(Errno::NOSYS | Errno::OPNOTSUPP | Errno::PERM) => Means::Probe,
            Err(cause) => return Err(io("cachestat", cause.into())),
        };
        Residency::with(path, file, means)
    }

    /// The right to write does not count here: it is the file underneath that mincore(2) asks
    /// about.
    fn open_stacked(path: &Path, file: File) -> Result<Residency, ResidencyError> {
        if owns(&file) || rustix::process::geteuid().is_root() {
            Residency::with(path, file, Means::Mincore)
        } else {
            let reason =
                "the file system is a stack of others, and mincore tells it only to the file's owner";
            Err(ResidencyError::Untold { path: path.to_owned(), reason })
        }
    }

    /// The same by a given means, whether or not a better one exists.
    fn with(path: &Path, file: File, means: Means) -> Result<Residency, ResidencyError> {
        if means == Means::Probe {
            // A probe that misses makes the kernel read ahead; without this it would fetch far more
            // than one page.
            rustix::fs::fadvise(&file, 0, None, Advice::Random).map_err(|cause| ResidencyError::Io {
                path: path.to_owned(),
                call: "posix_fadvise",
                cause: cause.into(),
            })?;
        }
        Ok(Residency { path: path.to_owned(), file, means })
    }

    /// How this file's residency is found out.
    #[must_use]
    pub fn means(&self) -> Means {
        self.means
    }

    /// The file, open for reading.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Counts the file's pages in the page cache now. Leaves the cache as it was: pages that a
    /// probe made the kernel fetch are evicted again.
    ///
    /// # Errors
    /// If a call fails, or if the file system does not know reads that do not wait.
    pub fn share(&self) -> Result<ResidencyProof, ResidencyError> {
        let io = |call, cause| ResidencyError::Io { path: self.path.clone(), call, cause };
        let size = size_of(&self.file).map_err(|cause| io("fstat", cause))?;
        let file_pages = size.div_ceil(page_bytes());
        let empty =
            ResidencyProof { means: self.means, file_pages, pages: file_pages, resident: 0, dirty: None };
        if size == 0 {
            return Ok(empty);
        }
        match self.means {
            Means::Cachestat => {
                let found =
                    cachestat(self.file.as_fd(), size).map_err(|cause| io("cachestat", cause.into()))?;
                let dirty = Some(found.nr_dirty + found.nr_writeback);
                // The file may have grown since its size was read; a share above one helps nobody.
                Ok(ResidencyProof { resident: found.nr_cache.min(file_pages), dirty, ..empty })
            }
            Means::Mincore => {
                let resident =
                    mincore(self.file.as_fd(), size).map_err(|cause| io("mincore", cause.into()))?;
                Ok(ResidencyProof { resident, ..empty })
            }
            Means::Probe => self.probe(file_pages),
        }
    }

    /// Asks pages spread evenly whether they can be read without waiting.
    fn probe(&self, file_pages: u64) -> Result<ResidencyProof, ResidencyError> {
        let io = |call, cause| ResidencyError::Io { path: self.path.clone(), call, cause };
        let probes = file_pages.min(PROBES);
        let mut missing = Vec::new();
        for probe in 0..probes {
            let offset = evenly(probe, probes, file_pages) * page_bytes();
            let mut byte = [0];
            let slices = &mut [IoSliceMut::new(&mut byte)];
            let before = blocks_fetched();
            match rustix::io::preadv2(&self.file, slices, offset, ReadWriteFlags::NOWAIT) {
                Ok(_) if blocks_fetched() == before => {}
                // The device was faster than the look: the page is there now, because it was asked
                // for.
                Ok(_) => missing.push(offset),
                Err(Errno::AGAIN) => missing.push(offset),
                Err(Errno::OPNOTSUPP | Errno::NOSYS) => {
                    return Err(ResidencyError::Untold {
                        path: self.path.clone(),
                        reason: "cachestat and mincore tell it only to those who may write the file, and the file system \
                                 has no reads that do not wait",
                    });
                }
                Err(cause) => return Err(io("preadv2", cause.into())),
            }
        }
        for &offset in &missing {
            // The kernel began to fetch this page when it was found missing. A page that is still
            // being fetched cannot be evicted, so it is waited for first.
            self.file.read_at(&mut [0], offset).map_err(|cause| io("pread", cause))?;
            rustix::fs::fadvise(&self.file, offset, page_bytes().try_into().ok(), Advice::DontNeed)
                .map_err(|cause| io("posix_fadvise", cause.into()))?;
        }
        let resident = probes - missing.len() as u64;
        Ok(ResidencyProof { means: Means::Probe, file_pages, pages: probes, resident, dirty: None })
    }
}

/// Blocks that this thread has had fetched from devices, as the kernel accounts them when it asks
/// for them.
pub(super) fn blocks_fetched() -> c_long {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the structure has the size and alignment that the call fills, and zeros are a value
    // of it even if it fails, which for a thread's own usage it cannot.
    unsafe {
        libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
        usage.assume_init().ru_inblock
    }
}

/// Page number of probe `nth` of `probes`, so that the first asks the first page and the last the
/// last.
fn evenly(nth: u64, probes: u64, pages: u64) -> u64 {
    let page = u128::from(nth) * u128::from(pages - 1) / u128::from((probes - 1).max(1));
    u64::try_from(page).expect("a page number is below the number of pages")
}

/// Size of a page of the page cache.
fn page_bytes() -> u64 {
    rustix::param::page_size() as u64
}

/// Whether this process owns the file. mincore(2) counts for the owner and for those who may write
/// the file, and says "all" to others (`can_do_mincore` in the kernel's mm/mincore.c).
fn owns(file: &File) -> bool {
    file.metadata().is_ok_and(|meta| meta.uid() == rustix::process::geteuid().as_raw())
}

/// Whether this process might open the file for writing.
fn may_write(path: &Path) -> bool {
    rustix::fs::accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS).is_ok()
}

/// `struct cachestat` of the kernel's include/uapi/linux/mman.h, in pages.
#[repr(C)]
#[derive(Default)]
struct CacheStat {
    nr_cache: u64,
    nr_dirty: u64,
    nr_writeback: u64,
    nr_evicted: u64,
    nr_recently_evicted: u64,
}

/// Its number, the same on every architecture that Rust's standard library supports.
const SYS_CACHESTAT: c_long = 451;

/// cachestat(2) on the first `len` bytes. The length is given rather than left at 0, "to the end":
/// the last folio may reach beyond the end of the file.
fn cachestat(file: BorrowedFd<'_>, len: u64) -> Result<CacheStat, Errno> {
    let range = [0_u64, len];
    let mut found = CacheStat::default();
    // SAFETY: `range` has the layout of `struct cachestat_range` (two 64-bit integers, offset and
    // length) and is only read; `found` has the layout of `struct cachestat` and is written only
    // within its size; both outlive the call.
    let failed =
        unsafe { libc::syscall(SYS_CACHESTAT, file.as_raw_fd(), range.as_ptr(), &raw mut found, 0) } != 0;
    if failed { Err(last_errno()) } else { Ok(found) }
}

/// mincore(2) over the whole file, window by window: how many pages are resident.
fn mincore(file: BorrowedFd<'_>, size: u64) -> Result<u64, Errno> {
    use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
    let mut resident = 0;
    for offset in (0..size).step_by(usize::try_from(WINDOW_BYTES).expect("a window fits the address space")) {
        let len = usize::try_from(WINDOW_BYTES.min(size - offset)).expect("a window fits the address space");
        let mut pages = vec![0_u8; len.div_ceil(rustix::param::page_size())];
        // SAFETY: a new mapping at an address that the kernel chooses; nothing in this program
        // refers to it but the calls below, and it is never touched, so a file that shrinks
        // meanwhile raises no signal.
        let window =
            unsafe { mmap(std::ptr::null_mut(), len, ProtFlags::READ, MapFlags::SHARED, file, offset) }?;
        // SAFETY: the mapping is `len` bytes long, and `pages` has room for a byte for each of its
        // pages.
        let failed = unsafe { libc::mincore(window, len, pages.as_mut_ptr()) } != 0;
        let cause = last_errno();
        // SAFETY: the mapping was made above with this address and length, and nothing refers to it
        // any more.
        unsafe { munmap(window, len) }?;
        if failed {
            return Err(cause);
        }
        resident += pages.iter().filter(|&&page| page & 1 == 1).count() as u64;
    }
    Ok(resident)
}

/// What the last call of libc failed with.
fn last_errno() -> Errno {
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of `pages` pages and one byte in the build folder, which is seldom on tmpfs; evicted.
    fn cold_file(pages: usize) -> Option<tempfile::NamedTempFile> {
        let program = std::env::current_exe().unwrap();
        let file = tempfile::NamedTempFile::new_in(program.parent().unwrap()).unwrap();
        let backing = Filesystem::of(file.as_file()).unwrap().backing;
        if backing != Backing::Device {
            eprintln!(
                "SKIPPED: the build folder is on a file system without a device of its own ({backing:?})"
            );
            return None;
        }
        std::fs::write(file.path(), vec![b'x'; pages * rustix::param::page_size() + 1]).unwrap();
        file.as_file().sync_all().unwrap();
        rustix::fs::fadvise(file.as_file(), 0, None, Advice::DontNeed).unwrap();
        Some(file)
    }

    fn by(means: Means, path: &Path) -> ResidencyProof {
        Residency::with(path, File::open(path).unwrap(), means).unwrap().share().unwrap()
    }

    #[test]
    fn all_means_agree_on_a_cold_and_on_a_warm_file() {
        let Some(file) = cold_file(300) else { return };
        let means = [Means::Mincore, Means::Probe, Means::Cachestat];
        for means in means {
            let proof = by(means, file.path());
            assert_eq!((proof.share(), proof.file_pages), (Some(0.0), 301), "{means:?}");
        }
        std::fs::read(file.path()).unwrap();
        for means in means {
            assert_eq!(by(means, file.path()).share(), Some(1.0), "{means:?}");
        }
    }

    #[test]
    fn a_probe_leaves_a_cold_file_cold() {
        let Some(file) = cold_file(1000) else { return };
        let probe = by(Means::Probe, file.path());
        assert!(probe.is_cold() && probe.is_estimate() && probe.pages == PROBES, "{probe:?}");
        assert_eq!(by(Means::Mincore, file.path()).resident, 0);
    }

    #[test]
    fn one_page_of_many_is_counted_and_is_neither_cold_nor_warm() {
        let Some(file) = cold_file(300) else { return };
        let reader = File::open(file.path()).unwrap();
        rustix::fs::fadvise(&reader, 0, None, Advice::Random).unwrap();
        reader.read_at(&mut [0], 0).unwrap();
        for means in [Means::Cachestat, Means::Mincore, Means::Probe] {
            let proof = by(means, file.path());
            assert_eq!(proof.resident, 1, "{means:?}");
            assert!(!proof.is_cold() && !proof.is_warm());
        }
    }

    #[test]
    fn dirty_pages_are_counted_where_the_means_tells() {
        let Some(file) = cold_file(10) else { return };
        // The kernel may write a page back at any moment, and does so when others sync.
        let dirty = (0..100).any(|_| {
            std::fs::write(file.path(), [b'y'; 10]).unwrap();
            let proof = by(Means::Cachestat, file.path());
            assert_eq!(proof.file_pages, 1);
            proof.dirty == Some(1)
        });
        assert!(dirty, "a page that was just written");
        assert_eq!(by(Means::Mincore, file.path()).dirty, None);
    }

    #[test]
    fn an_empty_file_has_no_share() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let proof = Residency::open(file.path()).unwrap().share().unwrap();
        assert_eq!(proof.share(), None);
    }

    #[test]
    fn probes_are_spread_from_the_first_page_to_the_last() {
        let spread = |probes, pages| (0..probes).map(|nth| evenly(nth, probes, pages)).collect::<Vec<_>>();
        assert_eq!(spread(1, 1), [0]);
        assert_eq!(spread(3, 3), [0, 1, 2]);
        assert_eq!(spread(3, 101), [0, 50, 100]);
        assert_eq!(evenly(127, 128, 1 << 40), (1 << 40) - 1);
    }
}
