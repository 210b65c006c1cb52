//! The counting library on the lab's side: given to a process through its environment, read through
//! a shared page. The library itself is `linux/preload/libraries/counting.rs`.

use readlab_record::Count;
use readlab_system::preload::{COUNTING, PreloadedLibrary, SharedMemory, Variable};
use std::collections::BTreeMap;

/// Size of the shared page.
const PAGE_BYTES: u64 = 4096;
const SLOTS: usize = 9;

const HOW_MALLOCS: &str = "calls of malloc, calloc, realloc, memalign, aligned_alloc and posix_memalign, by the process \
     and its children, seen by a preloaded library";
const HOW_HOOKS: &str = "through the Swift runtime's hook variables, set by a preloaded library";
const HOW_SYMBOLS: &str =
    "calls of the Swift runtime's public symbols from outside it, seen by a preloaded library";

/// Where Swift's retains and releases are counted. The two ways give different numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArcWay {
    /// In the runtime's hook variables, which see calls from within the runtime too.
    Hooks,
    /// At the public symbols, in front of the runtime.
    Symbols,
}

impl ArcWay {
    /// The way that works with a runtime, by the first `Swift X.Y` in its receipt: hooks exist and
    /// work up to 6.2; 6.3 crashes on Linux once they are set (swiftlang/swift pull request 89796
    /// mends 6.4), so from there on, and where the version is unknown, the public symbols are
    /// counted.
    pub fn for_runtime(receipt: &str) -> ArcWay {
        let version = receipt.to_ascii_lowercase();
        let version = version.split("swift").skip(1).find_map(|rest| {
            let rest = rest.trim_start_matches([' ', '-']).trim_start_matches("version ");
            let mut numbers = rest.split(|c: char| !c.is_ascii_digit());
            Some((numbers.next()?.parse::<u32>().ok()?, numbers.next()?.parse::<u32>().ok()?))
        });
        match version {
            Some(version) if version < (6, 3) => ArcWay::Hooks,
            _ => ArcWay::Symbols,
        }
    }
}

/// The library and its page, for one process and its children.
#[derive(Debug)]
pub(super) struct Preload {
    library: PreloadedLibrary,
    page: SharedMemory,
    arc: ArcWay,
}

/// The counts in the page; the order is that of `slot` in the library.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CountPage([u64; SLOTS]);

impl CountPage {
    /// Programs that have started with the library in them.
    pub(super) fn processes(&self) -> u64 {
        self.0[0]
    }
    fn own_allocator(&self) -> u64 {
        self.0[1]
    }
    fn swift(&self) -> u64 {
        self.0[2]
    }
    fn swift_hooks(&self) -> u64 {
        self.0[3]
    }
    fn mallocs(&self) -> u64 {
        self.0[4]
    }
    /// Retains and releases by one way.
    fn arc(&self, way: ArcWay) -> [u64; 2] {
        match way {
            ArcWay::Symbols => [self.0[5], self.0[6]],
            ArcWay::Hooks => [self.0[7], self.0[8]],
        }
    }
}

impl Preload {
    /// Puts the library and an empty page into memory.
    pub(super) fn prepare(arc: ArcWay) -> Result<Preload, String> {
        if COUNTING.is_empty() {
            return Err("this readlab was built without its counting library".to_owned());
        }
        let library = PreloadedLibrary::new("readlab-counting", COUNTING)
            .map_err(|cause| format!("counting library: {cause}"))?;
        let page = SharedMemory::zeroed("readlab-counts", PAGE_BYTES)
            .map_err(|cause| format!("page of counts: {cause}"))?;
        Ok(Preload { library, page, arc })
    }

    /// What the process must find in its environment.
    pub(super) fn env(&self) -> Vec<Variable> {
        let mut env = vec![self.library.variable(), self.page.variable("READLAB_COUNT_PAGE")];
        if self.arc == ArcWay::Hooks {
            env.push(("READLAB_COUNT_HOOKS".into(), "1".into()));
        }
        env
    }

    /// The counts in the page now.
    pub(super) fn read(&self) -> std::io::Result<CountPage> {
        let mut bytes = [0; SLOTS * 8];
        self.page.read(&mut bytes, 0)?;
        let mut page = CountPage::default();
        for (slot, bytes) in page.0.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *slot = u64::from_ne_bytes(*bytes);
        }
        Ok(page)
    }

    /// What was counted since an earlier reading of the page.
    pub(super) fn counts(&self, began: &CountPage) -> BTreeMap<String, Count> {
        let page = match self.read() {
            Ok(page) => page,
            Err(cause) => return no_mallocs(&format!("page of counts: {cause}")),
        };
        if page.processes() == 0 {
            return no_mallocs(
                "the counting library was not loaded: the program is linked statically, or its loader takes none",
            );
        }
        let mut counts = BTreeMap::new();
        if page.own_allocator() > 0 {
            counts = no_mallocs("the program brings an allocator of its own, in front of any library");
        } else {
            let value = Some(page.mallocs() - began.mallocs());
            counts.insert("mallocs".to_owned(), Count { value, how: HOW_MALLOCS.to_owned() });
        }
        counts.extend(arc_counts(&page, began));
        counts
    }
}

/// Swift's two counts, where the process has Swift in it.
fn arc_counts(page: &CountPage, began: &CountPage) -> BTreeMap<String, Count> {
    if page.swift() == 0 {
        return BTreeMap::new();
    }
    let (way, how) = match page.swift_hooks() {
        0 => (ArcWay::Symbols, HOW_SYMBOLS),
        _ => (ArcWay::Hooks, HOW_HOOKS),
    };
    let passed = page.arc(way).into_iter().zip(began.arc(way)).map(|(now, then)| now - then);
    let count = |value| Count { value: Some(value), how: how.to_owned() };
    ["retains", "releases"].into_iter().map(str::to_owned).zip(passed.map(count)).collect()
}

/// An allocation count that is missing, with the reason.
pub(super) fn no_mallocs(why: &str) -> BTreeMap<String, Count> {
    BTreeMap::from([("mallocs".to_owned(), Count { value: None, how: why.to_owned() })])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_are_set_only_in_runtimes_that_work_with_them() {
        for (receipt, way) in [
            ("Swift 6.0.3, -O", ArcWay::Hooks),
            ("Swift version 5.10 (swift-5.10-RELEASE)", ArcWay::Hooks),
            ("swiftlang 1, Swift version 6.2.1", ArcWay::Hooks),
            ("Swift 6.3", ArcWay::Symbols),
            ("swift 7", ArcWay::Symbols),
            ("rustc 1.95.0, release", ArcWay::Symbols),
            ("", ArcWay::Symbols),
        ] {
            assert_eq!(ArcWay::for_runtime(receipt), way, "{receipt:?}");
        }
    }
}
