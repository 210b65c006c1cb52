//! The placeholders in the commands of a roster, such as `{sources}`, and what two of them stand
//! for everywhere: readlab's own program and the folder of toolchains.

use super::sources;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Where the lab looks for toolchains that are not on the PATH.
const TOOLCHAINS_VARIABLE: &str = "READLAB_TOOLCHAINS";

pub(super) fn own_program() -> OsString {
    std::env::current_exe().map_or_else(|_| "readlab".into(), PathBuf::into_os_string)
}

/// The checkout in which this program was built.
const CHECKOUT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The folder of toolchains that are not on the PATH: as the environment says; of a program that is
/// still in the checkout in which it was built, that of the checkout; else among the user's caches.
pub(super) fn toolchains() -> PathBuf {
    if let Some(named) = std::env::var_os(TOOLCHAINS_VARIABLE) {
        return named.into();
    }
    let checkout = Path::new(CHECKOUT).canonicalize().ok();
    let checkout = checkout.filter(|checkout| Path::new(&own_program()).starts_with(checkout));
    checkout.unwrap_or_else(|| sources::cache_folder().unwrap_or_default()).join("toolchains")
}

/// The word with every place replaced by its value.
pub(super) fn fill(word: &str, places: &[(&str, OsString)]) -> OsString {
    let mut filled = OsString::new();
    let mut rest = word;
    let next = |rest: &str| {
        let found = places.iter().filter_map(|(name, value)| Some((rest.find(name)?, name.len(), value)));
        found.min_by_key(|(at, _, _)| *at)
    };
    while let Some((at, length, value)) = next(rest) {
        filled.push(&rest[..at]);
        filled.push(value);
        rest = &rest[at + length..];
    }
    filled.push(rest);
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_filled_wherever_they_stand() {
        let places = [("{build}", OsString::from("/b")), ("{sources}", OsString::from("/s"))];
        assert_eq!(fill("{sources}/x:{build}:{other}", &places), "/s/x:/b:{other}");
        assert_eq!(fill("plain", &places), "plain");
    }
}
