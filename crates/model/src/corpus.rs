//! Deterministic files: their content, and the archive format in which it is stored.

use crate::units::Bytes;
use readlab_protocol::Archive;
use serde::{Deserialize, Serialize};

/// The archive format in which a file is stored; `None` for a plain file.
pub type FileForm = Option<Archive>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum CorpusKind {
    /// Text of lines of 60 to 160 bytes, 110 on average, as in the newline experiment.
    Lines,
    /// Uniform random bytes, as in the byte-stream experiment.
    Random,
    /// The byte 0x41 only, as in the experiment on file sizes.
    A,
    /// Rows of 17 columns like those of the GDELT 1.0 reduced event file, as in the zip experiment.
    Gdelt,
}

/// Everything on which the content of a deterministic file depends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipe {
    pub kind: CorpusKind,
    /// Size of the file, in bytes. Text is cut there, and its last byte is a newline.
    pub size_bytes: u64,
    /// Seed of the generator: files of different seeds differ. [`CorpusKind::A`] ignores it.
    pub seed: u64,
}

crate::worded! { CorpusKind { Lines = "lines", Random = "random", A = "a", Gdelt = "gdelt" } }

impl CorpusKind {
    /// Version of the generator for this kind of file. A file made by another version counts as
    /// another file.
    pub fn version(self) -> u32 {
        match self {
            CorpusKind::Lines | CorpusKind::Random | CorpusKind::A => 1,
            CorpusKind::Gdelt => 2,
        }
    }

    fn extension(self) -> &'static str {
        match self {
            CorpusKind::Lines => "txt",
            CorpusKind::Random | CorpusKind::A => "bin",
            CorpusKind::Gdelt => "tsv",
        }
    }

    pub fn is_text(self) -> bool {
        matches!(self, CorpusKind::Lines | CorpusKind::Gdelt)
    }
}

impl Recipe {
    /// A file name that states every part of the recipe, for example `lines-256MiB-seed1.txt`.
    pub fn file_name(&self) -> String {
        let (kind, size) = (self.kind.word(), Bytes(self.size_bytes).exact_text());
        match self.kind {
            CorpusKind::A => format!("{kind}-{size}.{}", self.kind.extension()),
            _ => format!("{kind}-{size}-seed{}.{}", self.seed, self.kind.extension()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_name_states_the_whole_recipe() {
        let recipe = Recipe { kind: CorpusKind::Lines, size_bytes: 256 << 20, seed: 1 };
        assert_eq!(recipe.file_name(), "lines-256MiB-seed1.txt");
        assert_eq!(Recipe { kind: CorpusKind::A, size_bytes: 10_000, seed: 9 }.file_name(), "a-10000.bin");
    }
}
