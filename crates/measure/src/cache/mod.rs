//! Makes a file cold or warm, and proves it. A state that cannot be proven is an error with the
//! reason.
//!
//! Cold: dirty pages are written back, then the file's pages are evicted, which needs only the
//! right to read the file. Warm: the standard fill evicts the file and reads it once. A resident
//! file is not enough: the kernel chooses folio sizes by the pattern of the reads that bring the
//! pages, and mappings of small folios fault more often. Readlab makes either state only in this
//! way, and opens the file only for reading.

use super::residency::{ResidencyError, ResidencyMeans, ResidencyProof, ResidencyProver};
use readlab_corpus::oracle::error_at_byte;
use readlab_model::target::layers::{self, LayerKind};
use readlab_model::units::{Bytes, Nanos};
use readlab_protocol::Part;
use readlab_system::file_status::is_dax;
use readlab_system::machine::memory::MachineMemory;
use readlab_system::memory::page_bytes;
use readlab_system::page_cache;
use readlab_system::system_root::SystemRoot;
use readlab_system::terminal::printable::display_path;
use readlab_targets::target::filesystem::{Backing, Filesystem};
use readlab_targets::target::layers::LayerChain;
use readlab_targets::target::part::open_part;
use readlab_targets::target::{Target, TargetError};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Size of the buffer of the standard fill. Programs that copy files commonly use 128 KiB, and
/// kernels begin with a readahead window of this size. A larger buffer makes smaller folios,
/// because each read beyond the readahead window restarts readahead.
const FILL_BUFFER_BYTES: usize = 128 * 1024;

/// Description of the standard fill for the record.
pub const STANDARD_FILL: &str = "evicted, then read once from start to end with read(2) into one buffer of \
                                 128 KiB, no advice given, by a file description of its own";

/// Description of a fill before which pages could not be evicted.
pub const FILL_WITHOUT_EVICTION: &str = "not evicted, for another program keeps pages of it in memory, then read once from start to end \
                             with read(2) into one buffer of 128 KiB, no advice given, by a file description of its own";

/// Description of a fill that reads only files of which pages were evicted since the last fill.
pub const FILL_OF_EVICTED_FILES: &str = "as before, but only the files of which pages were evicted since then: each evicted as a whole, then read";

/// Number of tries to evict, with doubling pauses from [`FIRST_PAUSE`]. The kernel skips pages
/// under writeback or readahead; they can be evicted a little later.
const EVICTION_TRIES: u32 = 7;
const FIRST_PAUSE: Duration = Duration::from_millis(1);

/// Scope of the eviction that makes a file cold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EvictionScope {
    /// This file's pages: `posix_fadvise(DONTNEED)`. Every user may do this.
    OfFile,
    /// This file's pages, then every clean page, dentry and inode of the system:
    /// `/proc/sys/vm/drop_caches`. Only root may do this, and all other programs become slower.
    OfSystem,
}

impl EvictionScope {
    pub fn of_run(drop_caches: bool) -> EvictionScope {
        if drop_caches { EvictionScope::OfSystem } else { EvictionScope::OfFile }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    #[error("{}: cold is impossible on {filesystem}: the file lives in memory and nowhere else", display_path(.path))]
    RamBacked {
        path: PathBuf,
        /// The name of the file system in memory.
        filesystem: String,
    },
    #[error(
        "{}: neither cold nor warm can be proven on {filesystem}: it has a cache of its own beside the page cache; a copy on another file system can be either",
        display_path(.path)
    )]
    OwnCache { path: PathBuf, filesystem: Filesystem },
    /// The page cache never holds bytes of the file.
    #[error(
        "{}: neither cold nor warm: the page cache holds nothing of a file on {filesystem}{}",
        display_path(.path),
        if filesystem.backing == Backing::Kernel { ", which the kernel makes up while it is read" } else { " with DAX" }
    )]
    Uncached { path: PathBuf, filesystem: Filesystem },
    #[error("{}: not cold, {proof} after {tries} evictions: {}", display_path(.path), why_pages_remain(proof))]
    PagesRemain { path: PathBuf, proof: ResidencyProof, tries: u32 },
    #[error(
        "{}: cannot be warm: its {} do not fit the {} of memory that there are",
        display_path(.path),
        Bytes(*size_bytes).binary_text(),
        Bytes(memory.ceiling_bytes()).binary_text()
    )]
    TooLarge { path: PathBuf, size_bytes: u64, memory: MachineMemory },
    /// The kernel evicted some pages of the file while the fill read others.
    #[error(
        "{}: not warm, {proof} after the fill: the file has {}, of memory {} are available",
        display_path(.path),
        Bytes(*size_bytes).binary_text(),
        Bytes(memory.cacheable_now_bytes()).binary_text()
    )]
    NotFilled {
        path: PathBuf,
        size_bytes: u64,
        proof: ResidencyProof,
        /// Memory before the fill.
        memory: MachineMemory,
    },
    #[error(
        "{}: cannot be warm: {filesystem} keeps nothing of it in the page cache, as it is mounted; --state cold reads it without",
        display_path(.path)
    )]
    NothingKept { path: PathBuf, filesystem: Filesystem },
    #[error(
        "{}: cannot be warm: {filesystem} drops its pages from the cache at each open, as FUSE does unless it is mounted with kernel_cache or auto_cache",
        display_path(.path)
    )]
    DroppedAtOpen { path: PathBuf, filesystem: Filesystem },
    #[error("{cause}")]
    DropCaches { cause: io::Error },
    #[error("interrupted")]
    Interrupted,
    #[error(
        "{}: its file system was still writing changed data 5 s after the end of --budget; wait until it is idle, or \
         give more time",
        display_path(.path)
    )]
    OutOfTime { path: PathBuf },
    #[error("{}: its name and inode are not cold: the kernel kept them", display_path(.path))]
    NameRemains { path: PathBuf },
    #[error(
        "{}: names and inodes are cold only where the caches of the whole machine are dropped: --metadata cold (root only)",
        display_path(.path)
    )]
    NamesNeedRoot { path: PathBuf },
    #[error("{}: not warm, {proof} after each was asked for: the kernel dropped some", display_path(.path))]
    NamesNotKept { path: PathBuf, proof: ResidencyProof },
    /// A program or a server says how long the kernel may keep names, and that is too short.
    #[error(
        "{}: names can be proven neither cold nor warm: as {filesystem} is mounted, the kernel forgets them soon",
        display_path(.path)
    )]
    NamesExpire { path: PathBuf, filesystem: Filesystem },
    #[error("{cause}")]
    ListUnreadable { cause: String },
    #[error(transparent)]
    Residency(#[from] ResidencyError),
    #[error("{}: {cause}", display_path(.path))]
    Identity { path: PathBuf, cause: io::Error },
    #[error("{}: {call}: {cause}", display_path(.path))]
    Io { path: PathBuf, call: &'static str, cause: io::Error },
}

impl CacheError {
    /// Whether the target can be read here, but in a state that nobody can prove.
    pub(super) fn leaves_state_unknown(&self) -> bool {
        matches!(
            self,
            CacheError::OwnCache { .. }
                | CacheError::NamesExpire { .. }
                | CacheError::Residency(ResidencyError::Unknown { .. })
        )
    }

    /// Whether a fill that failed may succeed the next time: something was evicted, although it
    /// fitted the memory that was available.
    pub(super) fn may_be_temporary(&self) -> bool {
        match self {
            CacheError::NotFilled { size_bytes, memory, .. } => *size_bytes <= memory.cacheable_now_bytes(),
            CacheError::NamesNotKept { .. } => true,
            _ => false,
        }
    }
}

impl From<TargetError> for CacheError {
    fn from(error: TargetError) -> CacheError {
        CacheError::ListUnreadable { cause: error.to_string() }
    }
}

fn why_pages_remain(proof: &ResidencyProof) -> &'static str {
    match proof.dirty_pages {
        Some(dirty) if dirty > 0 => "another program is writing to it",
        _ => "another program has it mapped, has locked it into memory, or is reading it",
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FillResult {
    /// Time of the sequential read, eviction not included.
    pub wall_ns: u64,
    /// Residency after the fill: all pages resident.
    pub proof: ResidencyProof,
}

/// The page cache of a target: of one file, or of many.
pub trait TargetCache: std::fmt::Debug {
    fn residency(&self) -> Result<ResidencyProof, CacheError>;

    /// Writes dirty data of the whole file system, if these keep the target from becoming cold. Gives
    /// up with [`CacheError::OutOfTime`] once `is_time_up` holds, because writing may take any time.
    fn write_file_system(&self, _is_time_up: &dyn Fn() -> bool) -> Result<(), CacheError> {
        Ok(())
    }

    /// Makes the target and the files below it cold: writes dirty pages back, evicts, and proves
    /// that no page is resident.
    ///
    /// # Errors [`CacheError::RamBacked`] and [`CacheError::Uncached`] if the file cannot be cold,
    /// [`CacheError::OwnCache`] if the cold state cannot be proven, [`CacheError::PagesRemain`] if
    /// pages stay.
    fn evict(&self) -> Result<ResidencyProof, CacheError>;

    /// Makes the target cold before a fill. Unlike [`TargetCache::evict`], it never drops the
    /// caches of the whole machine, because a warm reading also needs the contender's program in
    /// memory.
    fn evict_to_fill(&self) -> Result<ResidencyProof, CacheError>;

    /// Makes the evicted target warm by the standard fill ([`STANDARD_FILL`]), and proves that all
    /// pages are resident. Pages that could not be evicted keep the folios in which they were first
    /// read.
    fn fill_evicted(&self) -> Result<FillResult, CacheError>;

    /// Makes the target warm again after some pages were evicted: evicts each file that lost pages
    /// as a whole and fills it by the standard fill. The other files keep their folios. A file on a
    /// file system in memory is always warm, so it is only read.
    fn refill(&self) -> Result<FillResult, CacheError>;
}

#[derive(Debug)]
pub struct PageCache {
    prover: ResidencyProver,
    eviction: EvictionScope,
    /// The part that is evicted first; `None` if the whole file is evicted.
    evicted_part: Option<Part>,
    /// Files below this one, for example the image of a loop device. If their pages are resident, a
    /// reading without any page of this file still gets its bytes from memory.
    files_below: Vec<PathBuf>,
}

/// Largest number of pages of the files below that may stay resident, in percent of the target's
/// pages. A cold reading may fetch this share less from the device. These pages may belong to other
/// files in the same image, or to the metadata of its file system.
const REMAINING_PAGES_PERCENT_MAX: u64 = 1;

impl PageCache {
    pub fn open(path: &Path, eviction: EvictionScope) -> Result<PageCache, CacheError> {
        Ok(PageCache::new(ResidencyProver::open(path)?, eviction))
    }

    pub(super) fn new(residency: ResidencyProver, eviction: EvictionScope) -> PageCache {
        PageCache { prover: residency, eviction, evicted_part: None, files_below: Vec::new() }
    }

    /// Opens the file of a target; the target may be a part of the file. If the user chose a range,
    /// the whole file is evicted, because pages that the kernel read ahead after the range must not
    /// be resident before the next cold reading. If several readers each read a part, only the part
    /// is evicted, because the other readers need the rest.
    pub(super) fn open_target(
        target: &Target,
        path: &Path,
        eviction: EvictionScope,
    ) -> Result<PageCache, CacheError> {
        let residency = ResidencyProver::open(path)?.limited_to_part(target.part);
        let evicted_part = target.part.filter(|_| target.facts.range.is_none());
        Ok(PageCache { prover: residency, eviction, evicted_part, files_below: target.evictable.clone() })
    }

    /// Makes the files below cold, the nearest first: pages that one file writes back become pages
    /// of the next file below.
    pub fn evict_files_below(&self) -> Result<(), CacheError> {
        PageCache::evict_each_file_below(&self.files_below, self.size_bytes()? / page_bytes())
    }

    pub(super) fn evict_each_file_below(below: &[PathBuf], target_pages: u64) -> Result<(), CacheError> {
        let remaining = target_pages * REMAINING_PAGES_PERCENT_MAX / 100;
        // The files below are opened here and not earlier: if the state of one is unknown, only the
        // cold state cannot be proven. The target can still be made warm.
        let open = |path: &PathBuf| PageCache::open(path, EvictionScope::OfFile);
        below.iter().try_for_each(|path| open(path)?.evict_file(EvictionScope::OfFile, remaining).map(drop))
    }

    /// Makes this file cold; at most `remaining` pages may stay. The first try evicts only
    /// `evicted_part`, if there is one. Later tries evict the whole file, because a page may also
    /// hold bytes outside of the part.
    fn evict_file(&self, eviction: EvictionScope, remaining: u64) -> Result<ResidencyProof, CacheError> {
        let (path, filesystem) = (self.path(), self.prover.filesystem);
        match filesystem.backing {
            Backing::Memory => {
                return Err(CacheError::RamBacked { path, filesystem: filesystem.to_string() });
            }
            Backing::OwnCache => return Err(CacheError::OwnCache { path, filesystem }),
            other if other == Backing::Kernel || is_dax(&self.prover.file) => {
                return Err(CacheError::Uncached { path, filesystem });
            }
            _ => {}
        }
        self.write_back()?;
        let mut pause = FIRST_PAUSE;
        let mut tries = 0;
        loop {
            self.advise_eviction(self.evicted_part.filter(|_| tries == 0), eviction)?;
            tries += 1;
            let proof = self.prover.prove()?;
            // Each probed page stands for many pages, so no probed page may be resident.
            if proof.is_cold() || !proof.is_estimate() && proof.resident_pages <= remaining {
                return Ok(proof);
            }
            // The layers of a file are only searched if pages stay, because a tree has many files.
            if tries == 1
                && let Some(filesystem) = self.memory_below_overlay()
            {
                return Err(CacheError::RamBacked { path, filesystem });
            }
            if tries == EVICTION_TRIES {
                return Err(CacheError::PagesRemain { path, proof, tries });
            }
            if filesystem.backing == Backing::Program && proof.means == ResidencyMeans::Map {
                // With FUSE passthrough the pages may belong to the file behind this one.
                let paged_out = page_cache::page_out(&self.prover.file, self.size_bytes()?);
                paged_out.map_err(call_failed(&self.prover.path, "madvise"))?;
            }
            std::thread::sleep(pause);
            pause *= 2;
        }
    }

    /// The name of the file system in memory that holds the file, if an overlay shows the file.
    fn memory_below_overlay(&self) -> Option<String> {
        if self.prover.filesystem.backing != Backing::Stacked {
            return None;
        }
        let real = fs::canonicalize(&self.prover.path).ok()?;
        let chain = LayerChain::walk(&SystemRoot::default(), &real, &self.prover.file);
        let below = layers::layer_of_bytes(&chain.layers)?;
        (below.kind == LayerKind::Memory).then(|| below.name.clone())
    }

    /// The resident pages; an error if they say nothing about where a reading's bytes come from.
    pub(super) fn proof_if_provable(&self) -> Result<ResidencyProof, CacheError> {
        let (path, filesystem) = (self.path(), self.prover.filesystem);
        if filesystem.backing == Backing::OwnCache {
            return Err(CacheError::OwnCache { path, filesystem });
        }
        self.residency()
    }

    fn path(&self) -> PathBuf {
        self.prover.path.clone()
    }

    fn size_bytes(&self) -> Result<u64, CacheError> {
        let range = self.prover.range().map_err(call_failed(&self.prover.path, "fstat"))?;
        Ok(range.end - range.start)
    }

    fn checked_size_bytes(&self, memory: &MachineMemory) -> Result<u64, CacheError> {
        let size_bytes = self.size_bytes()?;
        if size_bytes > memory.ceiling_bytes() {
            return Err(CacheError::TooLarge { path: self.path(), size_bytes, memory: *memory });
        }
        Ok(size_bytes)
    }

    /// Fills a file that was evicted before; `memory` is the state of the memory before the fill.
    pub(super) fn fill_evicted_if_it_fits(&self, memory: &MachineMemory) -> Result<FillResult, CacheError> {
        let size_bytes = self.checked_size_bytes(memory)?;
        let wall_ns = self.measure_read_ns()?;
        let proof = self.prover.prove()?;
        if !proof.is_warm() {
            return Err(self.not_filled_error(size_bytes, proof, memory));
        }
        self.check_kept_at_open(&proof)?;
        Ok(FillResult { wall_ns, proof })
    }

    /// Why pages are missing after a fill. Where bytes come from a server, a program or another file
    /// system, no page at all means that reads bypass the page cache, and another fill cannot help.
    fn not_filled_error(&self, size_bytes: u64, proof: ResidencyProof, memory: &MachineMemory) -> CacheError {
        let (path, filesystem) = (self.path(), self.prover.filesystem);
        let may_bypass_cache =
            matches!(filesystem.backing, Backing::Remote | Backing::Program | Backing::Stacked);
        if may_bypass_cache && proof.is_cold() {
            return CacheError::NothingKept { path, filesystem };
        }
        CacheError::NotFilled { path, size_bytes, proof, memory: *memory }
    }

    /// Opens the file as every reader does, and checks whether opening it dropped its pages.
    fn check_kept_at_open(&self, filled: &ResidencyProof) -> Result<(), CacheError> {
        let opened = self.open_anew()?;
        let is_dropped = filled.checked_pages > 0 && self.prover.prove()?.is_cold();
        drop(opened);
        let (path, filesystem) = (self.path(), self.prover.filesystem);
        if is_dropped { Err(CacheError::DroppedAtOpen { path, filesystem }) } else { Ok(()) }
    }

    /// Writes dirty pages to the device, because dirty pages cannot be evicted. Without dirty pages
    /// nothing is written: fsync(2) makes the device flush its own cache, which takes milliseconds
    /// for each file.
    fn write_back(&self) -> Result<(), CacheError> {
        if self.prover.prove()?.dirty_pages == Some(0) {
            return Ok(());
        }
        page_cache::write_back(&self.prover.file).map_err(call_failed(&self.prover.path, "fsync"))
    }

    /// Asks the kernel once to evict the pages of a part, or of the whole file.
    fn advise_eviction(&self, part: Option<Part>, eviction: EvictionScope) -> Result<(), CacheError> {
        let file = &self.prover.file;
        part.map_or_else(|| page_cache::evict(file), |part| page_cache::evict_part(file, part))
            .map_err(call_failed(&self.prover.path, "posix_fadvise"))?;
        if eviction == EvictionScope::OfSystem {
            page_cache::evict_machine().map_err(|cause| CacheError::DropCaches { cause })?;
        }
        Ok(())
    }

    /// Reads the file once; returns the duration of the read in nanoseconds. Opens the file anew
    /// each time, so that the kernel's readahead starts afresh.
    fn measure_read_ns(&self) -> Result<u64, CacheError> {
        let mut file = self.open_anew()?;
        let mut buffer = vec![0; FILL_BUFFER_BYTES];
        let start = Instant::now();
        let mut at = 0;
        loop {
            match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => at += count as u64,
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
                Err(cause) => {
                    return Err(call_failed(&self.prover.path, "read")(error_at_byte(at, &cause)));
                }
            }
        }
        Ok(Nanos::from(start.elapsed()).0)
    }

    fn open_anew(&self) -> Result<io::Take<File>, CacheError> {
        open_part(&self.prover.path, self.prover.part).map_err(call_failed(&self.prover.path, "open"))
    }

    fn evict_with_files_below(&self, eviction: EvictionScope) -> Result<ResidencyProof, CacheError> {
        let proof = self.evict_file(eviction, 0)?;
        self.evict_files_below()?;
        Ok(proof)
    }
}

pub(super) fn call_failed(path: &Path, call: &'static str) -> impl FnOnce(io::Error) -> CacheError {
    move |cause| CacheError::Io { path: path.to_owned(), call, cause }
}

impl TargetCache for PageCache {
    fn residency(&self) -> Result<ResidencyProof, CacheError> {
        Ok(self.prover.prove()?)
    }

    fn evict(&self) -> Result<ResidencyProof, CacheError> {
        self.evict_with_files_below(self.eviction)
    }

    fn evict_to_fill(&self) -> Result<ResidencyProof, CacheError> {
        self.evict_with_files_below(EvictionScope::OfFile)
    }

    fn refill(&self) -> Result<FillResult, CacheError> {
        let memory = MachineMemory::read();
        self.checked_size_bytes(&memory)?;
        match self.evict_file(EvictionScope::OfFile, 0) {
            Ok(_) | Err(CacheError::RamBacked { .. }) => {}
            Err(error) => return Err(error),
        }
        self.fill_evicted_if_it_fits(&memory)
    }

    fn fill_evicted(&self) -> Result<FillResult, CacheError> {
        self.fill_evicted_if_it_fits(&MachineMemory::read())
    }
}

#[cfg(test)]
mod tests;
