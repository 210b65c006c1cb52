//! Deterministic files in an archive: the same archive for the same recipe, whenever it is made, by one version of the compressor.

use super::recipe::Recipe;
use serde::{Deserialize, Serialize};
use std::io::{self, Seek, Write};
use zip::write::SimpleFileOptions;

/// How the bytes of a file lie on the device.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// As they are.
    #[default]
    Plain,
    /// As the only entry of a zip, deflated.
    Zip,
}

impl Form {
    /// The word used in suites.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Form::Plain => "plain",
            Form::Zip => "zip",
        }
    }
}

/// Writes a zip with the content of a recipe as its only entry; no time and no owner is in it. Sizes beyond 4 GiB take
/// zip64.
pub(super) fn zip(recipe: &Recipe, out: impl Write + Seek) -> io::Result<()> {
    let mut archive = zip::ZipWriter::new(out);
    let large = recipe.size_bytes > u64::from(u32::MAX / 2);
    let options = SimpleFileOptions::DEFAULT.large_file(large).unix_permissions(0o644);
    archive.start_file(recipe.file_name(), options)?;
    let (mut pieces, mut piece) = (recipe.pieces(), Vec::new());
    while pieces.next_into(&mut piece) {
        archive.write_all(&piece)?;
    }
    archive.finish()?.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::recipe::CorpusKind;
    use std::io::{Cursor, Read};

    const RECIPE: Recipe = Recipe { kind: CorpusKind::Gdelt, size_bytes: 300_000, seed: 1 };

    fn zipped() -> Vec<u8> {
        let mut out = Cursor::new(Vec::new());
        zip(&RECIPE, &mut out).unwrap();
        out.into_inner()
    }

    #[test]
    fn an_archive_is_the_same_each_time_and_holds_the_recipe() {
        let archive = zipped();
        assert_eq!(archive, zipped());
        assert!(archive.len() < 200_000, "it is compressed");
        let mut archive = zip::ZipArchive::new(Cursor::new(archive)).unwrap();
        let (mut content, mut expected, mut pieces) = (Vec::new(), Vec::new(), RECIPE.pieces());
        archive.by_index(0).unwrap().read_to_end(&mut content).unwrap();
        pieces.next_into(&mut expected);
        assert_eq!(content, expected);
    }
}
