//! The works that can be done with the bytes of files or with their names and inodes, and the answer
//! that proves a work.

use crate::{BlockProof, FileProof, NameCounts, SampleLine};
use std::fmt;
use std::str::FromStr;

/// What is done with the bytes of files, or with their names and inodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Work {
    /// Count the bytes equal to 0x0A.
    Newlines,
    /// Find or make every line, and count them; an unterminated last line counts.
    Lines,
    /// The wrapping sum of all bytes in one byte.
    Sum,
    /// Read the bytes and do nothing with them.
    Discard,
    /// Find every name below a folder, and count the names by kind.
    Names,
    /// Find every name below a folder, and request its status (size and times).
    Stat,
}

/// The error for a word that names no work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown work '{0}' (known: newlines, lines, sum, discard, names, stat)")]
pub struct UnknownWork(String);

/// Proof of work. A number that a method cannot know is `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Answer {
    /// Number of bytes that were read; for [`Work::Stat`] the sum of the sizes of all regular files.
    pub bytes: Option<u64>,
    /// Number of bytes equal to 0x0A.
    pub newlines: Option<u64>,
    /// Number of lines, an unterminated last one included.
    pub lines: Option<u64>,
    /// Wrapping sum of all bytes.
    pub sum: Option<u8>,
    /// Proof of the files that were read, if the target has several.
    pub files: Option<FileProof>,
    /// Proof of the blocks that were read, if the target is a list of places.
    pub blocks: Option<BlockProof>,
    /// Number of names that were found, for [`Work::Names`] and [`Work::Stat`].
    pub names: Option<NameCounts>,
}

impl Work {
    /// Every work, in the order of the documents.
    pub const ALL: [Work; 6] =
        [Work::Newlines, Work::Lines, Work::Sum, Work::Discard, Work::Names, Work::Stat];

    /// The works that read the bytes of files.
    pub const OF_BYTES: [Work; 4] = [Work::Newlines, Work::Lines, Work::Sum, Work::Discard];

    /// The works that find names and read no byte of a file.
    pub const OF_NAMES: [Work; 2] = [Work::Names, Work::Stat];

    /// The word for the work in the protocol.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Work::Newlines => "newlines",
            Work::Lines => "lines",
            Work::Sum => "sum",
            Work::Discard => "discard",
            Work::Names => "names",
            Work::Stat => "stat",
        }
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

impl FromStr for Work {
    type Err = UnknownWork;

    fn from_str(word: &str) -> Result<Work, UnknownWork> {
        Work::ALL.into_iter().find(|work| work.word() == word).ok_or_else(|| UnknownWork(word.to_owned()))
    }
}

impl From<Answer> for SampleLine {
    /// A sample without its times.
    fn from(answer: Answer) -> SampleLine {
        let products = answer.files.map(|proof| proof.products);
        let files = answer.files.map(|proof| proof.files);
        let named = |of: fn(NameCounts) -> u64| answer.names.map(of);
        SampleLine {
            bytes: answer.bytes,
            newlines: answer.newlines,
            lines: answer.lines,
            sum: answer.sum.map(u64::from),
            files: files.or(named(|names| names.files)),
            folders: named(|names| names.folders),
            links: named(|names| names.links),
            others: named(|names| names.others),
            blocks: answer.blocks.map(|proof| proof.blocks),
            products: products.or(answer.blocks.map(|proof| proof.products)),
            ..SampleLine::default()
        }
    }
}

impl Answer {
    /// The answer of a whole file, merged from the answers of its parts. Without parts, nothing is
    /// known.
    #[must_use]
    pub fn of_parts(parts: Vec<Answer>) -> Answer {
        parts.into_iter().reduce(Answer::merge).unwrap_or_default()
    }

    /// The answer of two parts of one file together. A number that one part does not know is
    /// unknown.
    #[must_use]
    pub fn merge(self, other: Answer) -> Answer {
        let add = |one: Option<u64>, two: Option<u64>| Some(one? + two?);
        Answer {
            bytes: add(self.bytes, other.bytes),
            newlines: add(self.newlines, other.newlines),
            lines: add(self.lines, other.lines),
            sum: self.sum.zip(other.sum).map(|(one, two)| one.wrapping_add(two)),
            files: self.files.zip(other.files).map(|(one, two)| one.merge(two)),
            blocks: self.blocks.zip(other.blocks).map(|(one, two)| one.merge(two)),
            names: self.names.zip(other.names).map(|(one, two)| one.merge(two)),
        }
    }

    /// Makes this answer that of one file of several.
    #[must_use]
    pub fn of_file(self) -> Answer {
        let mut proof = FileProof::default();
        proof.add(self.bytes.unwrap_or_default(), self.value());
        Answer { files: Some(proof), ..self }
    }

    /// The number that the work counted, or else the bytes. [`FileProof`] and [`BlockProof`]
    /// contain this value.
    #[must_use]
    pub fn value(&self) -> u64 {
        let value = self.newlines.or(self.lines).or(self.sum.map(u64::from)).or(self.bytes);
        value.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_work_parses_back_from_its_word() {
        for work in Work::ALL {
            assert_eq!(work.to_string().parse(), Ok(work));
        }
        assert!("count".parse::<Work>().is_err());
    }

    #[test]
    fn every_work_reads_bytes_or_finds_names() {
        assert_eq!([&Work::OF_BYTES[..], &Work::OF_NAMES].concat(), Work::ALL);
    }

    #[test]
    fn names_add_up_by_kind_and_become_fields_of_a_sample() {
        let names = |files, folders| NameCounts { files, folders, ..NameCounts::default() };
        let answer = |names, bytes| Answer { names: Some(names), bytes: Some(bytes), ..Answer::default() };
        let both = answer(names(3, 1), 10).merge(answer(NameCounts { links: 2, ..names(4, 0) }, 5));
        let sample = SampleLine::from(both);
        assert_eq!(
            (sample.files, sample.folders, sample.links, sample.others),
            (Some(7), Some(1), Some(2), Some(0))
        );
        assert_eq!((sample.bytes, sample.products), (Some(15), None));
    }

    #[test]
    fn answers_of_files_add_up_and_prove_each_file() {
        let file = |bytes, newlines| {
            Answer { bytes: Some(bytes), newlines: Some(newlines), ..Answer::default() }.of_file()
        };
        let both = file(10, 2).merge(file(0, 0));
        assert_eq!((both.bytes, both.newlines), (Some(10), Some(2)));
        assert_eq!(both.files, Some(FileProof { files: 2, products: 11 * 3 + 1 }));
    }

    #[test]
    fn answers_of_parts_add_up_and_the_sum_wraps() {
        let one = Answer { bytes: Some(2), sum: Some(200), ..Answer::default() };
        let two = Answer { bytes: Some(3), sum: Some(100), ..Answer::default() };
        assert_eq!(one.merge(two), Answer { bytes: Some(5), sum: Some(44), ..Answer::default() });
        assert_eq!(one.merge(Answer::default()), Answer::default());
    }
}
