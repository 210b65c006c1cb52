//! Probes for a cache below every cache that readlab can see. It reads places of the file that this
//! run has not read yet, each twice and past the page cache, and compares the times of both
//! readings.
//!
//! The probe is no part of a timed round, takes about a second at most, and runs before anything
//! else reads the file, because a full read would fill a hidden cache. The second reading of a
//! place comes after the first reading of the next place. Thus drift cancels in the ratio, and the
//! device's own readahead has no effect.

use super::cache::{PageCache, TargetCache};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use readlab_analysis::stats::{Confidence, Observation, median, median_interval};
use readlab_model::target::hidden_cache::{HiddenCache, NotProbed, SecondReadingRatio};
use readlab_system::direct_read::DirectFile;
use readlab_system::page_cache::bytes_fetched_by_thread;
use readlab_targets::target::Target;
use std::io;
use std::time::{Duration, Instant};

/// Number of places that are read. All except the first and the last are read twice.
const PLACE_COUNT: usize = 14;

/// Smallest number of pairs of readings that gives a result.
const PAIRS_MIN: usize = 6;

const PLACE_BYTES: usize = 1 << 20;

/// Each place is in a separate stretch of the file. A stretch has at least this length.
const STRETCH_BYTES_MIN: u64 = 2 << 20;

/// Size of the smallest file that has enough places.
pub const PROBED_FILE_BYTES_MIN: u64 = STRETCH_BYTES_MIN * PLACE_COUNT as u64;

pub const PROBE_TIME_MAX: Duration = Duration::from_secs(1);

/// A cache is claimed only if the whole interval of the ratio of the first to the second time is
/// above this: a slightly faster second reading proves no cache.
const CLAIMED_RATIO_MIN: f64 = 1.25;

/// Probes the file of a target that nothing in this run has read yet.
pub fn probe_hidden_cache(target: &Target, cache: &PageCache, seed: u64) -> HiddenCache {
    let facts = &target.facts;
    let Some(path) = target.file().filter(|_| facts.size_bytes >= PROBED_FILE_BYTES_MIN) else {
        return not_probed(NotProbed::SmallFile);
    };
    if facts.unevictable_cache_names().is_some() {
        return not_probed(NotProbed::KnownCache);
    }
    // A block device has no extents: all its bytes are on the device.
    let has_extents = facts.filesystem.as_deref() != Some("block device");
    if has_extents && facts.expected_device_bytes() != Some(facts.size_bytes) {
        return not_probed(NotProbed::NotPlain);
    }
    // Dirty pages would be written back by the first reading and not by the second. Where pages
    // cannot be evicted, a direct read gets no answer from the device.
    let _ = cache.evict();
    match DirectFile::open(path, PLACE_BYTES) {
        Ok(mut file) => {
            let start = target.part.map_or(0, |part| part.start_bytes);
            let offsets: Vec<u64> =
                place_offsets(facts.size_bytes, seed).iter().map(|at| start + at).collect();
            measure_places(|offset| time_reading_of_place(&mut file, cache, offset), &offsets)
        }
        Err(cause) => no_direct_reads(&cause),
    }
}

/// Reads the places at these offsets in this order, and compares the times; `read` reads one place
/// and returns its time. The first and the last place are read only once: the first wakes the
/// device, and the last separates the two readings of the place before it.
fn measure_places(mut read: impl FnMut(u64) -> io::Result<Duration>, offsets: &[u64]) -> HiddenCache {
    let begun = Instant::now();
    let (mut firsts, mut pairs) = (Vec::new(), Vec::new());
    for (at, &offset) in offsets.iter().enumerate() {
        let step = read(offset).and_then(|first| {
            let before = at.checked_sub(1).filter(|&before| before > 0).map(|before| offsets[before]);
            let second = before.map(&mut read).transpose()?;
            Ok((first, second))
        });
        let (first, second) = match step {
            Ok(times) => times,
            Err(cause) => return no_direct_reads(&cause),
        };
        firsts.push(first);
        pairs.extend(second.map(|second| (firsts[at - 1], second)));
        if begun.elapsed() > PROBE_TIME_MAX {
            break;
        }
    }
    hidden_cache_from_pairs(&pairs)
}

fn not_probed(why: NotProbed) -> HiddenCache {
    HiddenCache::NotProbed { why }
}

fn no_direct_reads(cause: &io::Error) -> HiddenCache {
    not_probed(NotProbed::NoDirectReads { cause: cause.to_string() })
}

fn hidden_cache_from_pairs(pairs: &[(Duration, Duration)]) -> HiddenCache {
    let slow = not_probed(NotProbed::SlowDevice);
    if pairs.len() < PAIRS_MIN {
        return slow;
    }
    let log = |time: &Duration| time.as_secs_f64().max(1e-9).ln();
    let logs: Vec<Observation> = (0_u32..)
        .zip(pairs)
        .map(|(at, (first, second))| Observation { value: log(first) - log(second), fill: at, round: at })
        .collect();
    let estimate = median(logs.iter().map(|it| it.value));
    let Some((estimate, ends)) = estimate.zip(median_interval(&logs, Confidence::REPORTED)) else {
        return slow;
    };
    let (ci95, pairs) = ([ends.low.exp(), ends.high.exp()], pairs.len() as u64);
    let times = SecondReadingRatio { estimate: estimate.exp(), ci95, pairs };
    if times.ci95[0] > CLAIMED_RATIO_MIN { HiddenCache::Seen(times) } else { HiddenCache::NoneSeen(times) }
}

/// Start offsets of the places in shuffled order: the file is split into equal stretches, and each
/// stretch holds one place at a random position.
fn place_offsets(size_bytes: u64, seed: u64) -> Vec<u64> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (count, place) = (PLACE_COUNT as u64, PLACE_BYTES as u64);
    let stretch = size_bytes / count;
    let room = ((stretch - place) / place).max(1);
    let begin = |nth: u64| (nth * stretch).next_multiple_of(4096) + random.next_u64() % room * place;
    let mut offsets: Vec<u64> = (0..count).map(begin).collect();
    for last in (1..offsets.len()).rev() {
        let other = random.next_u64() % (last as u64 + 1);
        offsets.swap(last, usize::try_from(other).unwrap_or(0));
    }
    offsets
}

/// Reads a place past the page cache; returns the duration of the reading.
fn time_reading_of_place(file: &mut DirectFile, cache: &PageCache, offset: u64) -> io::Result<Duration> {
    // Evict the caches below that readlab can see, so that only hidden caches can answer.
    cache.evict_files_below().map_err(io::Error::other)?;
    let before = bytes_fetched_by_thread();
    let begun = Instant::now();
    file.read(offset)?;
    let time = begun.elapsed();
    if bytes_fetched_by_thread().saturating_sub(before) < PLACE_BYTES as u64 {
        return Err(io::Error::other("not all that was read came from the device"));
    }
    Ok(time)
}

#[cfg(test)]
mod tests;
