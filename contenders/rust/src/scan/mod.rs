//! The list of scans, and the choice at run time by the features of the processor.
//!
//! A scan gets one slice at a time and does not access files. [`crate::Consumer`] keeps the state
//! between slices. The tests below compare each scan with the simplest loop for all lengths and
//! alignments.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod crates;
#[cfg(target_arch = "x86_64")]
pub(crate) mod levels;
mod lines;
#[cfg(target_arch = "x86_64")]
mod pages;
mod portable;
#[cfg(target_arch = "x86_64")]
mod published;

pub use lines::LineFinder;

use readlab_protocol::Work;

/// A method of visiting bytes for one work.
#[derive(Debug)]
pub struct Scan {
    /// Name of the scan, unique within its work.
    pub name: &'static str,
    pub work: Work,
    pub visit: Visit,
    /// Whether this processor can run the scan.
    available: fn() -> bool,
}

/// The function that a scan calls for each piece of a file.
#[derive(Debug, Clone, Copy)]
pub enum Visit {
    /// The bytes are not visited.
    Nothing,
    /// Reads one byte of every page, so that a mapped page is really read.
    Touch(fn(&[u8])),
    /// Counts the bytes equal to 0x0A.
    Newlines(fn(&[u8]) -> u64),
    /// Sums the bytes, wrapping.
    Sum(fn(&[u8]) -> u8),
    /// Finds every line as a slice. A line that the end of a piece cuts is kept in the finder.
    Lines(fn(&mut LineFinder, &[u8])),
}

/// Every scan of this architecture, best first within each work. Last are the scans that only show
/// what published code or other compiler settings achieve.
pub static ALL: &[Scan] = &[
    #[cfg(target_arch = "x86_64")]
    Scan::new("avx512-pages", Visit::Newlines(avx512::newlines_pages)).only_where(avx512::detected),
    #[cfg(target_arch = "x86_64")]
    Scan::new("avx2-pages", Visit::Newlines(avx2::newlines_pages)).only_where(avx2::detected),
    #[cfg(target_arch = "x86_64")]
    Scan::new("avx512", Visit::Newlines(avx512::newlines)).only_where(avx512::detected),
    #[cfg(target_arch = "x86_64")]
    Scan::new("avx2", Visit::Newlines(avx2::newlines)).only_where(avx2::detected),
    Scan::new("bytecount", Visit::Newlines(crates::newlines_bytecount)),
    Scan::new("memchr", Visit::Newlines(crates::newlines_memchr)),
    Scan::new("iterator", Visit::Newlines(portable::newlines_iterator)),
    Scan::new("scalar", Visit::Newlines(portable::newlines_scalar)),
    #[cfg(target_arch = "x86_64")]
    Scan::new("avx512-published", Visit::Newlines(published::newlines_avx512)).only_where(avx512::detected),
    #[cfg(target_arch = "x86_64")]
    Scan::new("avx2-published", Visit::Newlines(published::newlines_avx2))
        .only_where(published::avx2_detected),
    #[cfg(target_arch = "x86_64")]
    Scan::new("iterator-native", Visit::Newlines(levels::newlines_native)),
    #[cfg(not(target_arch = "x86_64"))]
    Scan::new("iterator-native", Visit::Newlines(portable::newlines_iterator)),
    #[cfg(target_arch = "x86_64")]
    Scan::new("iterator-v4", Visit::Newlines(levels::newlines_v4)).only_where(levels::has_v4),
    #[cfg(target_arch = "x86_64")]
    Scan::new("iterator-v3", Visit::Newlines(levels::newlines_v3)).only_where(levels::has_v3),
    #[cfg(target_arch = "x86_64")]
    Scan::new("iterator-v2", Visit::Newlines(levels::newlines_v2)).only_where(levels::has_v2),
    Scan::new("memchr", Visit::Lines(lines::memchr)),
    Scan::new("scalar", Visit::Lines(lines::scalar)),
    #[cfg(target_arch = "x86_64")]
    Scan::new("avx512-pages", Visit::Sum(avx512::sum_pages)).only_where(avx512::detected),
    #[cfg(target_arch = "x86_64")]
    Scan::new("avx2-pages", Visit::Sum(avx2::sum_pages)).only_where(avx2::detected),
    #[cfg(target_arch = "x86_64")]
    Scan::new("avx512", Visit::Sum(avx512::sum)).only_where(avx512::detected),
    #[cfg(target_arch = "x86_64")]
    Scan::new("avx2", Visit::Sum(avx2::sum)).only_where(avx2::detected),
    Scan::new("iterator", Visit::Sum(portable::sum_iterator)),
    Scan::new("scalar", Visit::Sum(portable::sum_scalar)),
    Scan::new("touch", Visit::Touch(portable::touch)),
];

impl Scan {
    /// A scan that every processor can run.
    const fn new(name: &'static str, visit: Visit) -> Scan {
        let work = match visit {
            Visit::Nothing | Visit::Touch(_) => Work::Discard,
            Visit::Newlines(_) => Work::Newlines,
            Visit::Sum(_) => Work::Sum,
            Visit::Lines(_) => Work::Lines,
        };
        Scan { name, work, visit, available: || true }
    }

    #[cfg(target_arch = "x86_64")]
    const fn only_where(self, available: fn() -> bool) -> Scan {
        Scan { available, ..self }
    }

    /// Whether this processor has the instructions.
    pub fn is_available(&self) -> bool {
        (self.available)()
    }
}

/// The scans for one work, best first, whether or not this processor can run them.
pub fn for_work(work: Work) -> impl Iterator<Item = &'static Scan> {
    ALL.iter().filter(move |scan| scan.work == work)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Answer, Consumer};
    use std::collections::BTreeSet;

    /// The widest register of any scan, times the registers of one step.
    const STEP_BYTES: usize = 256;

    /// Under Miri each case takes thousands of times as long, so only one of this number of lengths
    /// and starts is tried.
    const STRIDE: usize = if cfg!(miri) { 167 } else { 1 };

    /// The offset and the number of page groups of the slices to test. Under Miri one case.
    const GROUPS: &[(usize, usize)] =
        if cfg!(miri) { &[(1, 1)] } else { &[(0, 1), (1, 1), (31, 2), (63, 3)] };

    /// The answer that a scan must give, by the simplest code.
    fn oracle(work: Work, bytes: &[u8]) -> Answer {
        let (mut newlines, mut sum) = (0, 0u64);
        for &byte in bytes {
            sum += u64::from(byte);
            if byte == b'\n' {
                newlines += 1;
            }
        }
        let open = u64::from(bytes.last().is_some_and(|&last| last != b'\n'));
        Answer {
            bytes: Some(bytes.len() as u64),
            newlines: (work == Work::Newlines).then_some(newlines),
            lines: (work == Work::Lines).then_some(newlines + open),
            sum: (work == Work::Sum).then_some((sum % 256) as u8),
            ..Answer::default()
        }
    }

    fn answer(scan: &Scan, bytes: &[u8]) -> Answer {
        let mut consumer = Consumer::new(scan.visit);
        consumer.feed(bytes);
        consumer.finish()
    }

    /// Bytes in which newlines, their neighbours and high bits are frequent.
    fn bytes(count: usize) -> Vec<u8> {
        (0..count).map(|i| [b'\n', 0x0b, 0x8a, 0xff, b'x', b'\n', 0][(i * i + i / 7) % 7]).collect()
    }

    fn available() -> impl Iterator<Item = &'static Scan> {
        ALL.iter().filter(|scan| {
            if !scan.is_available() {
                eprintln!("SKIPPED: scan {} for {}: this processor lacks it", scan.name, scan.work);
            }
            scan.is_available()
        })
    }

    #[test]
    fn every_scan_answers_correctly_for_all_lengths_and_alignments() {
        let bytes = bytes(STEP_BYTES * 3 + 64);
        for scan in available() {
            for start in (0..64).step_by(STRIDE.min(21)) {
                for len in (0..=STEP_BYTES * 3).step_by(STRIDE) {
                    let slice = &bytes[start..start + len];
                    let name = scan.name;
                    assert_eq!(answer(scan, slice), oracle(scan.work, slice), "{name} {start}+{len}");
                }
            }
        }
    }

    #[test]
    fn every_scan_answers_correctly_around_multiples_of_its_step() {
        // Groups of pages are too long for all lengths. Only lengths around whole groups are tried.
        const GROUP_BYTES: usize = 4 * 4096;
        let bytes = bytes(GROUP_BYTES * 3 + STEP_BYTES + 64);
        for scan in available() {
            for &(start, groups) in GROUPS {
                let lengths = (groups * GROUP_BYTES - 65)..=(groups * GROUP_BYTES + STEP_BYTES);
                for len in lengths.step_by(STRIDE) {
                    let slice = &bytes[start..start + len];
                    let name = scan.name;
                    assert_eq!(answer(scan, slice), oracle(scan.work, slice), "{name} {start}+{len}");
                }
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "a lane that overflows is no undefined behaviour")]
    fn narrow_counters_do_not_overflow() {
        // The length exceeds 255 steps of the widest scan, and every byte counts.
        for byte in [b'\n', 0xff] {
            let bytes = vec![byte; STEP_BYTES * 255 * 2 + 77];
            for scan in available() {
                assert_eq!(answer(scan, &bytes), oracle(scan.work, &bytes), "{} of {byte}", scan.name);
            }
        }
    }

    #[test]
    fn names_are_unique_within_a_work_and_each_work_has_a_scan() {
        for work in Work::OF_BYTES {
            let names: Vec<&str> = for_work(work).map(|scan| scan.name).collect();
            assert!(!names.is_empty(), "{work}");
            assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{work}: {names:?}");
            assert!(for_work(work).any(Scan::is_available), "{work}");
        }
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn scans_of_levels_are_offered_from_their_level_on() {
        use levels::Level;
        let is_offered =
            |name: &str| for_work(Work::Newlines).any(|scan| scan.name == name && scan.is_available());
        for (name, level) in [
            ("iterator-native", Level::Baseline),
            ("iterator-v2", Level::V2),
            ("iterator-v3", Level::V3),
            ("iterator-v4", Level::V4),
        ] {
            assert_eq!(is_offered(name), Level::of_processor() >= level, "{name}");
        }
    }

    #[test]
    fn the_default_scan_is_never_a_demonstration() {
        let shown = |name: &str| name.ends_with("-published") || name.starts_with("iterator-");
        for work in Work::OF_BYTES {
            let names: Vec<&str> = for_work(work).map(|scan| scan.name).collect();
            let first = names.iter().position(|name| shown(name)).unwrap_or(names.len());
            assert!(names[first..].iter().all(|name| shown(name)) && first > 0, "{work}: {names:?}");
        }
    }
}
