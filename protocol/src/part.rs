//! A part of a target: the words that ask for it, and their meaning.
//!
//! Methods that can read a part say so in their `method` line. Which parts there are is decided by
//! the lab.

use std::ops::Range;

/// The name of the word with the first byte.
const START: &str = "start_bytes";
/// The name of the word with the number of bytes.
const LENGTH: &str = "length_bytes";

/// Some bytes of a target that follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// How many bytes are before it.
    pub start_bytes: u64,
    /// How many it has.
    pub length_bytes: u64,
}

impl Part {
    /// From the first byte to the one after the last.
    #[must_use]
    pub fn range(self) -> Range<u64> {
        self.start_bytes..self.start_bytes.saturating_add(self.length_bytes)
    }

    /// The words that ask for it.
    #[must_use]
    pub fn words(self) -> [String; 2] {
        [format!("{START}={}", self.start_bytes), format!("{LENGTH}={}", self.length_bytes)]
    }

    /// The part that settings ask for, which are taken out of them.
    ///
    /// # Errors
    /// If only one of the two words is there.
    pub(crate) fn take_from(settings: &mut Vec<(&str, u64)>) -> Result<Option<Part>, String> {
        let mut take = |name| {
            let at = settings.iter().position(|(word, _)| *word == name)?;
            Some(settings.remove(at).1)
        };
        match (take(START), take(LENGTH)) {
            (None, None) => Ok(None),
            (Some(start_bytes), Some(length_bytes)) => Ok(Some(Part { start_bytes, length_bytes })),
            _ => Err(format!("a part needs both {START} and {LENGTH}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_two_words_and_nothing_of_it_stays_among_the_settings() {
        let part = Part { start_bytes: 4096, length_bytes: 10 };
        assert_eq!(part.range(), 4096..4106);
        let words = part.words();
        let setting = |word: &'static str, value| (word, value);
        let mut settings =
            vec![setting("length_bytes", 10), setting("depth", 2), setting("start_bytes", 4096)];
        assert_eq!(Part::take_from(&mut settings), Ok(Some(part)));
        assert_eq!(
            (settings, words.join(" ")),
            (vec![("depth", 2)], "start_bytes=4096 length_bytes=10".into())
        );
        assert_eq!(Part::take_from(&mut Vec::new()), Ok(None));
        assert!(Part::take_from(&mut vec![("start_bytes", 1)]).is_err());
    }
}
