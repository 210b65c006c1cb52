//! Values of a method's parameters that change how it shares out the bytes.

use readlab_protocol::MethodLine;

/// The files that are read with settings: few bytes, because a buffer may have one.
pub(super) const CASES: [&str; 5] = ["empty", "one-byte", "no-final-newline", "4097-bytes", "8193-bytes"];

/// A number that shares no factor with sizes and counts.
const ODD: u64 = 7;

/// Bytes of a buffer with which megabytes are read in thousands of calls, not in millions.
const SMALL_BUFFER_BYTES: u64 = 512;

/// What is read with the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Load {
    Kilobytes,
    Megabytes,
}

/// The smallest value of each parameter, and an odd one; both but the default.
pub(super) fn for_load(method: &MethodLine, load: Load) -> Vec<String> {
    let values = method.params.iter().flat_map(|param| {
        let is_size = param.name.ends_with("_bytes");
        let wanted = match load {
            Load::Megabytes if is_size => [SMALL_BUFFER_BYTES, SMALL_BUFFER_BYTES],
            _ => [u64::from(is_size), ODD],
        };
        let mut values = wanted.map(|value| value.clamp(param.min, param.max)).to_vec();
        values.dedup();
        values.retain(|value| *value != param.default);
        values.into_iter().map(|value| format!("{}={value}", param.name))
    });
    values.collect()
}
