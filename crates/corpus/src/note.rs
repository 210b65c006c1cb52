//! The note beside a deterministic file: its recipe and digest.

use super::{Corpus, CorpusError, create_part_file, file_name, io_error_at};
use readlab_model::corpus::{FileForm, Recipe};
use readlab_protocol::Archive;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// The value of `made_by` in each note that readlab writes.
pub(super) const MADE_BY: &str = "readlab corpus";

const NOTE_BYTES_MAX: u64 = 1 << 20;

/// The suffix that is appended to the name of a file to get the name of its note.
pub(super) const NOTE_SUFFIX: &str = ".readlab.json";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CorpusNote {
    made_by: String,
    pub(super) version: u32,
    pub(super) recipe: Recipe,
    pub(super) digest: String,
    /// The size of the file, if it is a zip.
    #[serde(skip_serializing_if = "Option::is_none")]
    zip_bytes: Option<u64>,
    /// The size of the file, if it is a gzip.
    #[serde(skip_serializing_if = "Option::is_none")]
    gzip_bytes: Option<u64>,
    /// The kind of archive, if it is neither zip nor gzip.
    #[serde(skip_serializing_if = "Option::is_none")]
    archive: Option<Archive>,
    /// The size of the file, if `archive` is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    archive_bytes: Option<u64>,
}

impl CorpusNote {
    pub(super) fn new(recipe: Recipe, digest: String) -> CorpusNote {
        CorpusNote {
            made_by: MADE_BY.to_owned(),
            version: recipe.kind.version(),
            recipe,
            digest,
            zip_bytes: None,
            gzip_bytes: None,
            archive: None,
            archive_bytes: None,
        }
    }

    /// The note of an archive of this kind and size, whose content has the recipe of this note.
    pub(super) fn for_archive(self, archive: Archive, bytes: Option<u64>) -> CorpusNote {
        match archive {
            Archive::Zip => CorpusNote { zip_bytes: bytes, ..self },
            Archive::Gzip => CorpusNote { gzip_bytes: bytes, ..self },
            other => CorpusNote { archive: Some(other), archive_bytes: bytes, ..self },
        }
    }

    pub(super) fn into_corpus(self, path: PathBuf, was_reused: bool) -> Corpus {
        let size_bytes = self.file_bytes();
        Corpus { path, recipe: self.recipe, size_bytes, digest: self.digest, was_reused }
    }

    fn form(&self) -> FileForm {
        let zip = self.zip_bytes.map(|_| Archive::Zip);
        zip.or(self.gzip_bytes.map(|_| Archive::Gzip)).or(self.archive)
    }

    pub(super) fn file_name(&self) -> String {
        file_name(self.recipe, self.form())
    }

    /// The size that the file beside the note must have.
    pub(super) fn file_bytes(&self) -> u64 {
        self.zip_bytes.or(self.gzip_bytes).or(self.archive_bytes).unwrap_or(self.recipe.size_bytes)
    }

    /// The note of a file; `None` if the file has no note of readlab.
    pub(super) fn beside(path: &Path) -> Option<CorpusNote> {
        let text = fs::read(note_path(path)).ok()?;
        let note: CorpusNote = serde_json::from_slice(&text).ok()?;
        (note.made_by == MADE_BY).then_some(note)
    }

    pub(super) fn write(&self, folder: &Path, path: &Path) -> Result<(), CorpusError> {
        let mut part = create_part_file(folder)?;
        let text = serde_json::to_vec(self).expect("a note holds only strings and numbers");
        part.write_all(&text).map_err(io_error_at(folder))?;
        give_name(part, note_path(path))
    }
}

/// Gives a complete note its final name. Only an earlier note is replaced.
pub(super) fn give_name(note: NamedTempFile, path: PathBuf) -> Result<(), CorpusError> {
    if path.symlink_metadata().is_ok() && !is_note(&path) {
        return Err(CorpusError::NotOurs(path));
    }
    note.persist(&path).map_err(|error| CorpusError::Io { path, cause: error.error })?;
    Ok(())
}

fn is_note(path: &Path) -> bool {
    // A note is short. Another file with this name may be a pipe, or too large for memory.
    let is_short = path.symlink_metadata().is_ok_and(|it| it.is_file() && it.len() < NOTE_BYTES_MAX);
    let text = if is_short { fs::read(path).unwrap_or_default() } else { Vec::new() };
    serde_json::from_slice::<serde_json::Value>(&text).is_ok_and(|note| note["made_by"] == MADE_BY)
}

/// The path of the note that belongs to a file.
pub(super) fn note_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(NOTE_SUFFIX);
    name.into()
}
