//! The scan `iterator`, compiled for each level of x86-64: v2 (SSE4.2), v3 (AVX2), v4 (AVX-512).
//!
//! The contender is compiled for every x86-64 processor, so its own `iterator` may only use SSE2. A
//! program that is compiled for the processor on which it runs gets the code of that processor's
//! level. These scans show that code without a compiler. `iterator-native` uses the highest level
//! that the processor has.
//!
//! The scan `scalar` has no variants by level, because it loads byte by byte, which no level
//! changes. METHOD.md shows the gain of each level.

use super::portable;
use std::fmt;

/// A level of the x86-64 instruction set, in rising order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Baseline,
    V2,
    V3,
    V4,
}

impl Level {
    /// The highest level that the processor has. The standard library caches what it detects.
    pub(crate) fn of_processor() -> Level {
        let (v2, v3, v4) = (v2_detected(), v3_detected(), v4_detected());
        match (v2, v3, v4) {
            (true, true, true) => Level::V4,
            (true, true, false) => Level::V3,
            (true, false, _) => Level::V2,
            (false, ..) => Level::Baseline,
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Level::Baseline => "x86-64",
            Level::V2 => "x86-64-v2",
            Level::V3 => "x86-64-v3",
            Level::V4 => "x86-64-v4",
        })
    }
}

/// Defines the scan of one level from the features that the level adds to the one below, and the
/// check that the processor has them.
macro_rules! level {
    ($level:expr, $has:ident, $detected:ident, $newlines:ident, $compiled:ident, [$($feature:tt),+], $enabled:literal) => {
        /// Whether the processor has all features of this level.
        pub(super) fn $has() -> bool {
            Level::of_processor() >= $level
        }

        /// Whether the processor has the features that this level adds.
        fn $detected() -> bool {
            $(is_x86_feature_detected!($feature))&&+
        }

        /// Counts newlines with plain iterator code, compiled for this level.
        pub(super) fn $newlines(bytes: &[u8]) -> u64 {
            assert!($has(), "a level is offered only where the processor has it");
            // SAFETY: the processor has the features, as just asserted.
            unsafe { $compiled(bytes) }
        }

        #[target_feature(enable = $enabled)]
        fn $compiled(bytes: &[u8]) -> u64 {
            portable::newlines_iterator(bytes)
        }
    };
}

level!(
    Level::V2,
    has_v2,
    v2_detected,
    newlines_v2,
    compiled_v2,
    ["popcnt", "sse3", "ssse3", "sse4.1", "sse4.2"],
    "popcnt,sse3,ssse3,sse4.1,sse4.2"
);
level!(
    Level::V3,
    has_v3,
    v3_detected,
    newlines_v3,
    compiled_v3,
    ["avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "lzcnt", "movbe"],
    "popcnt,sse4.2,avx,avx2,bmi1,bmi2,f16c,fma,lzcnt,movbe"
);
level!(
    Level::V4,
    has_v4,
    v4_detected,
    newlines_v4,
    compiled_v4,
    ["avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"],
    "popcnt,avx2,bmi1,bmi2,f16c,fma,lzcnt,movbe,avx512f,avx512bw,avx512cd,avx512dq,avx512vl"
);

/// Counts newlines with the code of the processor's highest level.
pub(super) fn newlines_native(bytes: &[u8]) -> u64 {
    match Level::of_processor() {
        Level::Baseline => portable::newlines_iterator(bytes),
        Level::V2 => newlines_v2(bytes),
        Level::V3 => newlines_v3(bytes),
        Level::V4 => newlines_v4(bytes),
    }
}
