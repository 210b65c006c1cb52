//! The tracing library on the lab's side: given to a process through its environment, read through
//! shared pages.
//! The library itself is `linux/preload/libraries/tracing.rs`.

use readlab_system::preload::{PreloadedLibrary, SharedMemory, TRACING, Variable};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The largest number of calls; pages that are not used cost nothing.
const ROOM: u64 = 1 << 20;
/// Words at the front: device, inode, room, processes, calls.
const HEAD_WORDS: usize = 8;
const CALLS_AT: usize = 4;
const CALL_WORDS: usize = 8;
const PAGES_BYTES: u64 = (HEAD_WORDS as u64 + ROOM * CALL_WORDS as u64) * 8;

/// What was called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Read,
    Pread,
    Readv,
    Preadv,
    Mmap,
}

impl Kind {
    /// In the order of the library's numbers, which begin at one.
    const ALL: [Kind; 5] = [Kind::Read, Kind::Pread, Kind::Readv, Kind::Preadv, Kind::Mmap];

    pub(super) fn word(self) -> &'static str {
        match self {
            Kind::Read => "read",
            Kind::Pread => "pread",
            Kind::Readv => "readv",
            Kind::Preadv => "preadv",
            Kind::Mmap => "mmap",
        }
    }
}

/// One call about the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) kind: Kind,
    pub(super) thread: u64,
    /// By the monotonic clock.
    pub(super) start_ns: u64,
    pub(super) wall_ns: u64,
    pub(super) offset: u64,
    pub(super) requested_bytes: u64,
    /// Bytes, or a negative number where it failed; of a mapping, its address.
    pub(super) got: i64,
}

/// The content of the pages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Written {
    /// Programs that have started with the library in them.
    pub(super) processes: u64,
    /// Calls that were made, those without room included.
    pub(super) made: u64,
    /// The calls, in the order in which they ended.
    pub(super) calls: Vec<Call>,
}

/// Library and pages for one process and its children, about one file.
#[derive(Debug)]
pub(super) struct TracePages {
    library: PreloadedLibrary,
    pages: SharedMemory,
}

impl TracePages {
    /// Puts the library and empty pages into memory.
    pub(super) fn prepare(file: &Path) -> Result<TracePages, String> {
        if TRACING.is_empty() {
            return Err("this readlab was built without its tracing library".to_owned());
        }
        let facts = file.metadata().map_err(|cause| format!("{}: {cause}", file.display()))?;
        let head = [facts.dev(), facts.ino(), ROOM].map(u64::to_ne_bytes).concat();
        let prepared = || -> io::Result<TracePages> {
            let library = PreloadedLibrary::new("readlab-tracing", TRACING)?;
            let pages = SharedMemory::zeroed("readlab-calls", PAGES_BYTES)?;
            pages.write(&head, 0)?;
            Ok(TracePages { library, pages })
        };
        prepared().map_err(|cause| format!("tracing library: {cause}"))
    }

    /// What the process must find in its environment.
    pub(super) fn env(&self) -> Vec<Variable> {
        vec![self.library.variable(), self.pages.variable("READLAB_TRACE_PAGES")]
    }

    /// Discards all calls so far. No program may be calling meanwhile.
    pub(super) fn forget(&self) -> Result<(), String> {
        let forgotten = self
            .pages
            .erase(HEAD_WORDS as u64 * 8..PAGES_BYTES)
            .and_then(|()| self.pages.write(&0_u64.to_ne_bytes(), CALLS_AT as u64 * 8));
        forgotten.map_err(|cause| format!("pages of calls: {cause}"))
    }

    /// Everything in the pages now.
    pub(super) fn read(&self) -> Result<Written, String> {
        let broken = |cause: io::Error| format!("pages of calls: {cause}");
        let mut head = [0; HEAD_WORDS * 8];
        self.pages.read(&mut head, 0).map_err(broken)?;
        let made = words(&head)[CALLS_AT];
        let kept = usize::try_from(made.min(ROOM)).expect("at most a million calls");
        let mut bytes = vec![0; kept * CALL_WORDS * 8];
        self.pages.read(&mut bytes, HEAD_WORDS as u64 * 8).map_err(broken)?;
        Ok(Written { processes: words(&head)[3], made, calls: calls(&bytes) })
    }
}

fn words(bytes: &[u8]) -> Vec<u64> {
    bytes.as_chunks::<8>().0.iter().map(|word| u64::from_ne_bytes(*word)).collect()
}

/// The calls that are whole: one whose writer was killed half-way has no kind.
fn calls(bytes: &[u8]) -> Vec<Call> {
    let call = |fields: &[u64]| {
        let kind = usize::try_from(fields[0]).ok()?.checked_sub(1)?;
        Some(Call {
            kind: *Kind::ALL.get(kind)?,
            thread: fields[1],
            start_ns: fields[2],
            wall_ns: fields[3],
            offset: fields[4],
            requested_bytes: fields[5],
            got: fields[6].cast_signed(),
        })
    };
    words(bytes).chunks_exact(CALL_WORDS).filter_map(call).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_are_not_whole_are_left_out() {
        let whole = [2, 77, 1000, 50, 4096, 8192, 4096, 0];
        let failed = [1, 77, 1000, 50, 4096, 8192, (-1_i64).cast_unsigned(), 0];
        let [mut half, mut unknown] = [whole, whole];
        (half[0], unknown[0]) = (0, 9);
        let bytes: Vec<u8> = [whole, half, unknown, failed]
            .concat()
            .iter()
            .flat_map(|word: &u64| word.to_ne_bytes())
            .collect();
        let calls = calls(&bytes);
        let pread = Call {
            kind: Kind::Pread,
            thread: 77,
            start_ns: 1000,
            wall_ns: 50,
            offset: 4096,
            requested_bytes: 8192,
            got: 4096,
        };
        assert_eq!(calls, [pread, Call { kind: Kind::Read, got: -1, ..pread }]);
    }
}
