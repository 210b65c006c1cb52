//! Values of a method's parameters that change how the method divides the bytes.

use readlab_protocol::MethodLine;

/// The files that are read with settings. They are small, because a buffer may have one byte.
pub(super) const SETTING_CASES: [&str; 5] =
    ["empty", "one-byte", "no-final-newline", "4097-bytes", "8193-bytes"];

/// An odd value, with which parts and buffers do not end at multiples of a power of two.
const ODD_VALUE: u64 = 7;

/// A buffer size with which megabytes are read in thousands of calls, not millions.
const SMALL_BUFFER_BYTES: u64 = 512;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DataAmount {
    Kilobytes,
    Megabytes,
}

/// The settings `name=value` that are tested: for each parameter the smallest value and an odd one,
/// or only a small buffer if megabytes are read. Defaults are left out.
pub(super) fn settings_for(method: &MethodLine, load: DataAmount) -> Vec<String> {
    let values = method.params.iter().flat_map(|param| {
        let is_size = param.name.ends_with("_bytes");
        let wanted = match load {
            DataAmount::Megabytes if is_size => [SMALL_BUFFER_BYTES, SMALL_BUFFER_BYTES],
            _ => [u64::from(is_size), ODD_VALUE],
        };
        let mut values = wanted.map(|value| value.clamp(param.min, param.max)).to_vec();
        values.dedup();
        values.retain(|value| *value != param.default);
        values.into_iter().map(|value| format!("{}={value}", param.name))
    });
    values.collect()
}
