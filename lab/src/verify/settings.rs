//! Values of a method's parameters that change how it shares out the bytes.

use super::check::{Fault, Outcome, ReadWords};
use readlab_protocol::MethodLine;

/// The files that are read with settings: few bytes, because a buffer may have one.
pub(super) const CASES: [&str; 6] =
    ["empty", "one-byte", "no-final-newline", "4097-bytes", "8193-bytes", "lines-of-many-lengths"];

/// A number that shares no factor with sizes and counts.
const ODD: u64 = 7;

/// The smallest value of each parameter, and an odd one; both but the default.
pub(super) fn of(method: &MethodLine) -> Vec<String> {
    // With more readers than one the answers are of several readings.
    let params = method.params.iter().filter(|param| param.name != "readers");
    let values = params.flat_map(|param| {
        let small = param.min.max(u64::from(param.name.ends_with("_bytes")));
        let mut values = vec![small.min(param.max), ODD.clamp(param.min, param.max)];
        values.dedup();
        values.retain(|value| *value != param.default);
        values.into_iter().map(|value| format!("{}={value}", param.name))
    });
    values.collect()
}

/// A setting within its bounds may still be refused, for example one that a device does not take,
/// if the reason names it.
pub(super) fn or_refused(words: &ReadWords, outcome: Outcome) -> Outcome {
    let is_named = |fault: &Fault| {
        words.settings.iter().any(|setting| {
            let name = setting.split('=').next().unwrap_or_default();
            fault.reason.to_lowercase().contains(&name.to_lowercase())
        })
    };
    match outcome {
        Err(fault) if is_named(&fault) => Ok(0),
        other => other,
    }
}
