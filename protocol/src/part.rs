//! A part of a target: the settings that request it, and their meaning.
//!
//! Methods that can read a part say so in their `method` line. The lab decides which parts are
//! read.

use crate::files::take_setting;
use std::ops::Range;

/// The name of the setting with the first byte.
const START_SETTING: &str = "start_bytes";
/// The name of the setting with the number of bytes.
const LENGTH_SETTING: &str = "length_bytes";

/// A range of consecutive bytes of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Number of bytes before the part.
    pub start_bytes: u64,
    /// Length of the part, in bytes.
    pub length_bytes: u64,
}

impl Part {
    /// The range from the first byte of the part to the one after its last.
    #[must_use]
    pub fn range(self) -> Range<u64> {
        self.start_bytes..self.start_bytes.saturating_add(self.length_bytes)
    }

    /// The settings that request the part.
    #[must_use]
    pub fn words(self) -> [String; 2] {
        [format!("{START_SETTING}={}", self.start_bytes), format!("{LENGTH_SETTING}={}", self.length_bytes)]
    }

    /// The part that the settings request. Its two settings are removed from them.
    ///
    /// # Errors
    /// If only one of the two settings is present.
    pub(crate) fn take_from(settings: &mut Vec<(&str, u64)>) -> Result<Option<Part>, String> {
        match (take_setting(settings, START_SETTING), take_setting(settings, LENGTH_SETTING)) {
            (None, None) => Ok(None),
            (Some(start_bytes), Some(length_bytes)) => Ok(Some(Part { start_bytes, length_bytes })),
            _ => Err(format!("a part needs both {START_SETTING} and {LENGTH_SETTING}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_two_settings_that_are_removed_from_the_settings() {
        let part = Part { start_bytes: 4096, length_bytes: 10 };
        assert_eq!(part.range(), 4096..4106);
        let words = part.words();
        let mut settings = vec![("length_bytes", 10), ("depth", 2), ("start_bytes", 4096)];
        assert_eq!(Part::take_from(&mut settings), Ok(Some(part)));
        assert_eq!(
            (settings, words.join(" ")),
            (vec![("depth", 2)], "start_bytes=4096 length_bytes=10".into())
        );
        assert_eq!(Part::take_from(&mut Vec::new()), Ok(None));
        assert!(Part::take_from(&mut vec![("start_bytes", 1)]).is_err());
    }
}
