//! Looks for a cache below everything that can be seen: places of the file that this run has not read yet are read past the page
//! cache, each twice, and the second time is laid beside the first.
//!
//! Untimed as far as the run is concerned, a second at most, and before anything else reads the file: whoever reads it whole would
//! fill such a cache first. The second reading of one place comes after the first of the next, so that what drifts falls out of the
//! quotient and a device's own readahead is not asked about. Where the interval holds 1, nothing is claimed.

use super::cache::PageCache;
use super::residency::blocks_fetched;
use crate::stats::{Bootstrap, Observation, median};
use crate::target::Target;
use crate::target::hidden_cache::{HiddenCache, NotProbed, Times};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rustix::fs::OFlags;
use rustix::mm::{MapFlags, ProtFlags};
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

/// Places that are read, all but the first and the last of them twice.
const PLACES: usize = 14;

/// Below so many pairs nothing is told.
const PLACES_MIN: usize = 6;

/// Bytes of one place.
const PLACE_BYTES: usize = 1 << 20;

/// Each place lies in a stretch of its own of at least this length.
const STRETCH_BYTES: u64 = 2 << 20;

/// The smallest file in which there are enough places.
pub const FILE_BYTES_MIN: u64 = STRETCH_BYTES * PLACES as u64;

/// Time of the whole probe.
pub const PROBE_TIME: Duration = Duration::from_secs(1);

/// The interval must begin here for a cache to be claimed: what is read again is seldom slower, and a little is no cache.
const CLEARLY: f64 = 1.25;

/// Bytes of a block by which the kernel counts what a thread fetched.
const COUNTED_BLOCK_BYTES: u64 = 512;

/// How places are read: for real, or by a script in tests.
pub trait Places {
    /// Reads the place that begins at this byte from what lies below the page cache; the time it took.
    ///
    /// # Errors
    /// If it cannot be read so.
    fn read(&mut self, offset: u64) -> io::Result<Duration>;
}

/// Probes the file of a target that nothing in this run has read yet.
#[must_use]
pub fn probe(target: &Target, cache: &PageCache, seed: u64) -> HiddenCache {
    let facts = &target.facts;
    let not = |why| HiddenCache::NotProbed { why };
    let Some(path) = target.file().filter(|_| facts.size_bytes >= FILE_BYTES_MIN) else {
        return not(NotProbed::SmallFile);
    };
    if facts.cold_above().is_some() {
        return not(NotProbed::KnownCache);
    }
    // A device has no extents, and lies on itself.
    let has_extents = facts.filesystem.as_deref() != Some("block device");
    if has_extents && facts.expected_device_bytes() != Some(facts.size_bytes) {
        return not(NotProbed::NotPlain);
    }
    // For what is dirty is written back by the first reading and not by the second. Pages that stay all the same answer no direct read.
    let _ = cache.evict();
    match DirectPlaces::open(path, cache) {
        Ok(mut places) => measure(&mut places, &offsets(facts.size_bytes, seed), seed),
        Err(cause) => not(NotProbed::NoDirectReads { cause: cause.to_string() }),
    }
}

/// Reads the places in this order, and judges. The first wakes the device and the last parts the two readings of the one before it:
/// these are read once.
fn measure(places: &mut dyn Places, offsets: &[u64], seed: u64) -> HiddenCache {
    let begun = Instant::now();
    let (mut firsts, mut pairs) = (Vec::new(), Vec::new());
    for (at, &offset) in offsets.iter().enumerate() {
        let step = places.read(offset).and_then(|first| {
            let before = at.checked_sub(1).filter(|&before| before > 0).map(|before| offsets[before]);
            let second = before.map(|offset| places.read(offset)).transpose()?;
            Ok((first, second))
        });
        let (first, second) = match step {
            Ok(times) => times,
            Err(cause) => {
                let cause = cause.to_string();
                return HiddenCache::NotProbed { why: NotProbed::NoDirectReads { cause } };
            }
        };
        firsts.push(first);
        pairs.extend(second.map(|second| (firsts[at - 1], second)));
        if begun.elapsed() > PROBE_TIME {
            break;
        }
    }
    judge(&pairs, seed)
}

/// What pairs of times, first and second, allow one to say.
fn judge(pairs: &[(Duration, Duration)], seed: u64) -> HiddenCache {
    let slow = HiddenCache::NotProbed { why: NotProbed::SlowDevice };
    if pairs.len() < PLACES_MIN {
        return slow;
    }
    let log = |time: &Duration| time.as_secs_f64().max(1e-9).ln();
    let logs: Vec<Observation> = (0_u32..)
        .zip(pairs)
        .map(|(at, (first, second))| Observation { value: log(first) - log(second), fill: at, round: at })
        .collect();
    let estimate = median(logs.iter().map(|it| it.value));
    let Some((estimate, ends)) = estimate.zip(Bootstrap::new(seed).median_interval(&logs)) else {
        return slow;
    };
    let times = Times {
        estimate: estimate.exp(),
        ci95: [ends.low.exp(), ends.high.exp()],
        pairs: pairs.len() as u64,
    };
    if times.ci95[0] > CLEARLY { HiddenCache::Seen(times) } else { HiddenCache::NoneSeen(times) }
}

/// Where the places begin: one in each of as many equal stretches, somewhere in it, in shuffled order.
fn offsets(size_bytes: u64, seed: u64) -> Vec<u64> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let count = PLACES as u64;
    let stretch = size_bytes / count;
    let place = PLACE_BYTES as u64;
    let mut offsets: Vec<u64> = (0..count)
        .map(|nth| {
            let room = (stretch - place) / place;
            (nth * stretch).next_multiple_of(4096) + random.next_u64() % room.max(1) * place
        })
        .collect();
    for last in (1..offsets.len()).rev() {
        let other = random.next_u64() % (last as u64 + 1);
        offsets.swap(last, usize::try_from(other).unwrap_or(0));
    }
    offsets
}

/// Places read with `O_DIRECT` into memory that is there.
struct DirectPlaces<'a> {
    file: File,
    cache: &'a PageCache,
    buffer: Pages,
}

/// Memory on a page's bound, as direct reads want it, touched before it is used.
struct Pages(*mut u8);

impl Pages {
    fn new() -> io::Result<Pages> {
        // SAFETY: a new mapping at an address that the kernel chooses; nothing else refers to it.
        let start = unsafe {
            rustix::mm::mmap_anonymous(
                std::ptr::null_mut(),
                PLACE_BYTES,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE | MapFlags::POPULATE,
            )
        }?;
        Ok(Pages(start.cast()))
    }

    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the mapping is PLACE_BYTES long, readable and writable, lives as long as `self`, and is lent only through it.
        unsafe { std::slice::from_raw_parts_mut(self.0, PLACE_BYTES) }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: made in `new` with this address and length, and nothing borrows from it any more. That it fails cannot be mended.
        let _ = unsafe { rustix::mm::munmap(self.0.cast(), PLACE_BYTES) };
    }
}

impl DirectPlaces<'_> {
    fn open<'a>(path: &Path, cache: &'a PageCache) -> io::Result<DirectPlaces<'a>> {
        let file = File::options().read(true).custom_flags(OFlags::DIRECT.bits().cast_signed()).open(path)?;
        Ok(DirectPlaces { file, cache, buffer: Pages::new()? })
    }
}

impl Places for DirectPlaces<'_> {
    fn read(&mut self, offset: u64) -> io::Result<Duration> {
        // What can be seen below is evicted, so that only what cannot be seen is left to answer.
        self.cache.evict_below().map_err(io::Error::other)?;
        let fetched = blocks_fetched();
        let begun = Instant::now();
        self.file.read_exact_at(self.buffer.bytes(), offset)?;
        let time = begun.elapsed();
        let blocks = u64::try_from(blocks_fetched() - fetched).unwrap_or(0);
        if blocks.saturating_mul(COUNTED_BLOCK_BYTES) < PLACE_BYTES as u64 {
            return Err(io::Error::other("not all that was read came from the device"));
        }
        Ok(time)
    }
}

#[cfg(test)]
mod tests;
