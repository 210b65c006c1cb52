//! The methods `io_uring` and `io_uring-vectored`: reads through a ring, one or many in flight,
//! through the page cache or past it.
//!
//! This file has the two methods, their settings, and the check that the kernel allows a ring.
//! `readlab_auto::in_flight` does the reads. With more than one read in flight, reads complete in
//! any order, so the work `lines` is not offered.

use super::direct::DirectFile;
use super::{Fault, Feeding, Method, Reader};
use crate::consumer::Consumer;
use crate::scan::Visit;
use crate::segments::Segments;
use crate::setting::{Param, SettingError, Settings};
use crate::source::Source;
use readlab_auto::ReadError;
use readlab_auto::in_flight::{self, InFlight, Job, Order, Plan, Registered};
use readlab_protocol::{Answer, Cache};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsFd;

const BUFFER: Param = Param::new("buffer_bytes", 128 << 10, 512, 1 << 30);
const DEPTH: Param = Param::new("depth", 8, 1, 4096);
const DIRECT: Param = Param::switch("direct");
const REGISTERED: Param = Param::switch("registered");
/// The value 0 means the depth, rounded up to a power of two as the kernel does.
const RING: Param = Param::new("ring", 0, 0, 32_768);

const VECTOR_BUFFER: Param = Param::new("buffer_bytes", 8 << 10, 512, 1 << 26);
/// The kernel accepts at most 1024 buffers in one read (IOV_MAX).
const VECTOR_BUFFERS: Param = Param::new("buffers", 32, 1, 1024);
const VECTOR_DEPTH: Param = Param::new("depth", 1, 1, 4096);

pub(super) const IO_URING: Method = Method {
    name: "io_uring",
    about: "reads of one buffer each in an io_uring, `depth` of them in flight",
    cache: Cache::ByParam,
    feeding: Feeding::AnyOrder,
    parts: true,
    params: &[BUFFER, DEPTH, DIRECT, REGISTERED, RING],
    build: |settings| {
        let (depth, entries) = settle(settings, &DEPTH)?;
        let plan = Plan {
            buffer_bytes: settings.size(&BUFFER),
            buffers: 1,
            depth,
            entries,
            vectored: false,
            registered: if settings.is_on(&REGISTERED) { Registered::Yes } else { Registered::No },
        };
        Ok(Box::new(Ring { plan, direct: settings.is_on(&DIRECT), threads: 1, span_bytes: None }))
    },
    available,
    ..Method::DEFAULT
};

pub(super) const IO_URING_VECTORED: Method = Method {
    name: "io_uring-vectored",
    about: "readv into several buffers each in an io_uring, `depth` of them in flight",
    cache: Cache::ByParam,
    feeding: Feeding::AnyOrder,
    parts: true,
    params: &[VECTOR_BUFFER, VECTOR_BUFFERS, VECTOR_DEPTH, DIRECT, RING],
    build: |settings| {
        let (depth, entries) = settle(settings, &VECTOR_DEPTH)?;
        let plan = Plan {
            buffer_bytes: settings.size(&VECTOR_BUFFER),
            buffers: settings.size(&VECTOR_BUFFERS),
            depth,
            entries,
            vectored: true,
            registered: Registered::No,
        };
        Ok(Box::new(Ring { plan, direct: settings.is_on(&DIRECT), threads: 1, span_bytes: None }))
    },
    available,
    ..Method::DEFAULT
};

/// Depth and size of the ring, which must have an entry for each read in flight.
fn settle(settings: &mut Settings, depth: &Param) -> Result<(usize, u32), SettingError> {
    let depth = settings.get(depth);
    if settings.get(&RING) == 0 {
        settings.settle(&RING, depth.next_power_of_two());
    }
    let entries = settings.get(&RING);
    if entries < depth {
        return Err(SettingError::Conflict(format!("ring must be at least depth ({depth}), got {entries}")));
    }
    Ok((depth as usize, entries as u32))
}

/// Makes the smallest possible ring, to see whether the kernel allows it.
pub(super) fn available() -> Result<(), String> {
    in_flight::Ring::new(1).map(drop).map_err(|cause| refusal(&cause))
}

pub(super) fn refusal(cause: &io::Error) -> String {
    let why = match cause.raw_os_error() {
        Some(libc::ENOSYS) => "the kernel has none",
        Some(libc::EPERM | libc::EACCES) => {
            "switched off on this machine (kernel.io_uring_disabled or a system call filter)"
        }
        Some(libc::ENOMEM) => "not enough memory that may be locked (ulimit -l)",
        Some(_) => "the kernel makes no ring",
        // This error has its own text.
        None => return cause.to_string(),
    };
    format!("io_uring: {why}: {cause}")
}

/// Reads through one ring for each thread.
pub(super) struct Ring {
    pub(super) plan: Plan,
    pub(super) direct: bool,
    pub(super) threads: u64,
    /// Number of bytes from the beginning that are read; `None` for all.
    pub(super) span_bytes: Option<u64>,
}

impl Reader for Ring {
    fn read(&mut self, source: &Source, visit: Visit) -> Result<Answer, Fault> {
        let (file, range, block_bytes) = self.open(source)?;
        let end = self.span_bytes.map_or(range.end, |span| range.end.min(range.start.saturating_add(span)));
        let segments = Segments::new(range.start..end, (self.plan.buffer_bytes * self.plan.buffers) as u64);
        let parts = segments.run_on_threads(self.threads, |segments| {
            let ring = in_flight::Ring::new(self.plan.entries)
                .map_err(|cause| Fault::Unavailable(refusal(&cause)))?;
            let mut consumer = Consumer::new(visit);
            let mut jobs = || {
                let (file, fallback) = (file.as_fd(), None);
                segments.take().map(|range| Job { range, file, block_bytes, fallback })
            };
            let count = usize::try_from(segments.count()).unwrap_or(usize::MAX);
            let reads =
                InFlight::prepare(ring, &self.plan, count).map_err(|error| self.not_prepared(error))?;
            let _ = reads.run(Order::Any, &mut jobs, &mut consumer, None)?;
            Ok(consumer.finish())
        })?;
        Ok(Answer::of_parts(parts))
    }
}

impl Ring {
    /// The fault for an error of the preparation. Buffers that cannot be registered are an
    /// unavailable feature, if registration was requested.
    fn not_prepared(&self, error: ReadError) -> Fault {
        match self.plan.registered {
            Registered::Yes => Fault::Unavailable(error.to_string()),
            Registered::No | Registered::IfAllowed => error.into(),
        }
    }

    /// Opens the file. Returns it with the range that is read and the block size. Lengths must be
    /// multiples of the block size, which is 1 if any length is allowed.
    fn open(&self, source: &Source) -> Result<(File, Range<u64>, u64), Fault> {
        if self.direct {
            let direct = DirectFile::open(source)?;
            direct.check_buffer_size(self.plan.buffer_bytes)?;
            return Ok((direct.file, direct.range, direct.block_bytes));
        }
        let file = File::open(source.path())?;
        let range = source.range_in(&file)?;
        Ok((file, range, 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ring_follows_the_depth_and_may_not_be_smaller() {
        let settled = |given: &[(&str, u64)]| {
            let mut settings = Settings::resolve(IO_URING.params, given.iter().copied()).unwrap();
            settle(&mut settings, &DEPTH).map(|(_, entries)| entries)
        };
        assert_eq!(settled(&[("depth", 5)]), Ok(8));
        assert_eq!(settled(&[("depth", 1), ("ring", 8)]), Ok(8));
        let error = settled(&[("depth", 9), ("ring", 8)]).unwrap_err();
        assert_eq!(error.to_string(), "ring must be at least depth (9), got 8");
    }

    #[test]
    fn a_refusal_names_the_cause() {
        for (code, word) in [(libc::EPERM, "io_uring_disabled"), (libc::ENOSYS, "kernel has none")] {
            assert!(refusal(&io::Error::from_raw_os_error(code)).contains(word));
        }
    }
}
