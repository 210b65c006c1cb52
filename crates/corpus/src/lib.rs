//! The corpus: deterministic files to read, and the true answers about any file.
//!
//! A file is written under a temporary name and renamed when it is complete. A note beside it has
//! its recipe and digest. A file without a note was not made by readlab, and is neither used nor
//! removed. This crate does not know how files are raced.

pub mod archive;
pub mod block_truth;
mod compressed;
pub mod line_ends;
pub mod names_truth;
mod note;
pub mod oracle;
pub mod pieces;
pub mod products;
mod tar_files;
pub mod tree_truth;
pub mod trees;

use etcetera::BaseStrategy;
use note::{CorpusNote, MADE_BY, NOTE_SUFFIX, note_path};
use pieces::Pieces;
use readlab_model::corpus::{FileForm, Recipe};
use readlab_model::units::Bytes;
use readlab_protocol::Archive;
use readlab_system::filesystem::free_bytes;
use readlab_system::terminal::printable::display_path;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::Xxh3;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Corpus {
    pub path: PathBuf,
    pub recipe: Recipe,
    /// Size of the file, in bytes; for an archive the compressed size.
    pub size_bytes: u64,
    /// XXH3 of the content, 64 bits, hexadecimal.
    pub digest: String,
    pub was_reused: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    #[error("no folder for test files is known: {0}")]
    NoHome(etcetera::HomeDirError),
    #[error("{}: {} are needed and {} are free", display_path(.folder), Bytes(*.needed_bytes), Bytes(*.free_bytes))]
    NoSpace {
        folder: PathBuf,
        /// The size of the files plus the margin.
        needed_bytes: u64,
        /// Bytes of the file system that ordinary users can still write.
        free_bytes: u64,
    },
    #[error("{}: exists, and has no note of readlab or another content than its note says; remove it or choose another folder", display_path(.0))]
    NotOurs(PathBuf),
    #[error("{}: {cause}", display_path(.path))]
    Io { path: PathBuf, cause: io::Error },
}

/// Prefix and suffix of the names of files that are being written.
const PART_PREFIX: &str = ".readlab-";
const PART_SUFFIX: &str = ".part";
/// Name of the file that marks a folder that readlab created, so that the folder is removed with
/// its last file.
const FOLDER_MARK_NAME: &str = ".readlab-folder";
/// Space that must stay free in addition to a tenth of the written bytes, for notes, records and
/// tables of the file system.
const MARGIN_BYTES: u64 = 16 << 20;

/// The default folder of test files. It is in the user's cache folder, because the files can be
/// made again.
pub fn default_folder() -> Result<PathBuf, CorpusError> {
    let places = etcetera::choose_base_strategy().map_err(CorpusError::NoHome)?;
    Ok(places.cache_dir().join("readlab").join("corpus"))
}

/// The file of this recipe in `folder`. The file and the folder are made unless they exist. A file
/// whose content differs from its note is an error. `check` is called before each piece is written;
/// its error ends the writing, and the written part is removed.
pub fn make_file(
    folder: &Path,
    recipe: Recipe,
    check: impl FnMut() -> io::Result<()>,
) -> Result<Corpus, CorpusError> {
    let path = folder.join(recipe.file_name());
    if let Some(made) = existing_file(&path, recipe)? {
        return Ok(made);
    }
    check_space(folder, recipe.size_bytes)?;
    make_folder(folder)?;
    let (part, digest) = write_part_file(folder, recipe, check)?;
    persist_file(folder, path, part, CorpusNote::new(recipe, digest))
}

/// Makes the files of this recipe in these forms, and returns them in the same order. The free space
/// for all of them is checked first.
pub fn make_forms(
    folder: &Path,
    recipe: Recipe,
    forms: &[FileForm],
) -> Result<Vec<(FileForm, Corpus)>, CorpusError> {
    // The size of an archive is not known before it is made, so the size of its content is used.
    let needed_bytes: u64 = forms
        .iter()
        .map(|&form| recipe.size_bytes.saturating_sub(existing_file_bytes(folder, recipe, form)))
        .sum();
    if forms.iter().any(|&form| existing_file_bytes(folder, recipe, form) == 0) {
        check_space(folder, needed_bytes)?;
    }
    make_folder(folder)?;
    let mut made = Vec::new();
    for &form in forms {
        let corpus = match form {
            None => make_file(folder, recipe, || Ok(()))?,
            Some(archive) => make_archive(folder, recipe, archive)?,
        };
        made.push((form, corpus));
    }
    Ok(made)
}

/// The size of the file of this recipe and form; 0 if it does not exist.
fn existing_file_bytes(folder: &Path, recipe: Recipe, form: FileForm) -> u64 {
    folder.join(file_name(recipe, form)).metadata().map_or(0, |meta| meta.len())
}

/// Creates the folder and a mark in it, unless the folder exists. Only marked folders are ever
/// removed.
fn make_folder(folder: &Path) -> Result<(), CorpusError> {
    if folder.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(folder).map_err(io_error_at(folder))?;
    fs::write(folder.join(FOLDER_MARK_NAME), MADE_BY).map_err(io_error_at(folder))
}

/// Removes the mark of a folder that readlab created, and then the folder if it is empty. Returns
/// whether the folder was removed.
fn remove_folder(folder: &Path) -> Result<bool, CorpusError> {
    let mark = folder.join(FOLDER_MARK_NAME);
    if fs::read(&mark).is_err() {
        return Ok(false);
    }
    fs::remove_file(&mark).map_err(io_error_at(&mark))?;
    // This fails if the folder still contains other files, as intended.
    Ok(fs::remove_dir(folder).is_ok())
}

/// The archive of this recipe; it is made unless it exists and is intact.
fn make_archive(folder: &Path, recipe: Recipe, archive: Archive) -> Result<Corpus, CorpusError> {
    let path = folder.join(file_name(recipe, Some(archive)));
    if let Some(made) = existing_file(&path, recipe)? {
        return Ok(made);
    }
    let part = create_part_file(folder)?;
    archive::write(&recipe, archive, part.as_file()).map_err(io_error_at(&path))?;
    part.as_file().sync_all().map_err(io_error_at(folder))?;
    let truth = oracle::truth_of_file(part.path()).map_err(io_error_at(&path))?;
    let note = CorpusNote::new(recipe, truth.digest).for_archive(archive, truth.answer.bytes);
    persist_file(folder, path, part, note)
}

fn file_name(recipe: Recipe, form: FileForm) -> String {
    match form {
        None => recipe.file_name(),
        Some(archive) => format!("{}.{}", recipe.file_name(), archive.suffix()),
    }
}

/// The existing file; `None` if there is none, or if its note is of another version or recipe. A
/// file that differs from its note belongs to the user, which is an error.
fn existing_file(path: &Path, recipe: Recipe) -> Result<Option<Corpus>, CorpusError> {
    if path.symlink_metadata().is_err() {
        return Ok(None);
    }
    let not_ours = || CorpusError::NotOurs(path.to_owned());
    let note = CorpusNote::beside(path).ok_or_else(not_ours)?;
    if !is_intact(path, &note)? {
        return Err(not_ours());
    }
    // A file of an earlier version of the recipe is replaced.
    let same = note.version == recipe.kind.version() && note.recipe == recipe;
    Ok(same.then(|| note.into_corpus(path.to_owned(), true)))
}

/// Gives a complete file its final name.
fn persist_file(
    folder: &Path,
    path: PathBuf,
    part: tempfile::NamedTempFile,
    note: CorpusNote,
) -> Result<Corpus, CorpusError> {
    // The note is written first, because a file without a note would never be used or removed.
    note.write(folder, &path)?;
    part.persist(&path).map_err(|error| CorpusError::Io { path: path.clone(), cause: error.error })?;
    Ok(note.into_corpus(path, false))
}

/// The files that readlab made in `folder`, sorted by name. Their contents are not read.
pub fn list_files(folder: &Path) -> Result<Vec<Corpus>, CorpusError> {
    let mut found = Vec::new();
    for name in names_in(folder)? {
        let Some(name) = name.strip_suffix(NOTE_SUFFIX) else { continue };
        let path = folder.join(name);
        let Some(note) = CorpusNote::beside(&path) else { continue };
        let size = path.symlink_metadata().ok().filter(fs::Metadata::is_file).map(|meta| meta.len());
        if note.file_name() == name && size == Some(note.file_bytes()) {
            found.push(note.into_corpus(path, true));
        }
    }
    Ok(found)
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct CleanReport {
    pub removed: Vec<PathBuf>,
    /// Files that other programs added to or changed in trees that readlab made, including
    /// incomplete trees.
    pub kept: Vec<PathBuf>,
}

/// Removes the files that readlab made, with their notes, and incomplete files of killed runs.
/// Everything else in the folder stays. The folder stays too, unless readlab created it and it is
/// empty.
pub fn clean(folder: &Path) -> Result<CleanReport, CorpusError> {
    let CleanReport { mut removed, mut kept } = trees::clean(folder)?;
    let remove = |path: PathBuf| fs::remove_file(&path).map_err(io_error_at(&path)).map(|()| path);
    for corpus in list_files(folder)? {
        let note = note_path(&corpus.path);
        removed.push(remove(corpus.path)?);
        removed.push(remove(note)?);
    }
    for name in names_in(folder)? {
        let path = folder.join(&name);
        let data = name.strip_suffix(NOTE_SUFFIX).map(|data| folder.join(data));
        let abandoned = match data {
            Some(data) => CorpusNote::beside(&data).is_some() && data.symlink_metadata().is_err(),
            None => name.starts_with(PART_PREFIX) && name.ends_with(PART_SUFFIX) && is_abandoned(&path),
        };
        if !abandoned {
            continue;
        }
        if path.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
            let left = trees::remove_incomplete_tree(&path).map_err(io_error_at(&path))?;
            removed.extend(left.is_empty().then_some(path));
            kept.extend(left);
        } else {
            removed.push(remove(path)?);
        }
    }
    if remove_folder(folder)? {
        removed.push(folder.to_owned());
    }
    Ok(CleanReport { removed, kept })
}

/// True if the file has the size and the digest in its note.
fn is_intact(path: &Path, note: &CorpusNote) -> Result<bool, CorpusError> {
    let meta = path.symlink_metadata().map_err(io_error_at(path))?;
    Ok(meta.is_file()
        && meta.len() == note.file_bytes()
        && oracle::truth_of_file(path).map_err(io_error_at(path))?.digest == note.digest)
}

fn check_space(folder: &Path, size_bytes: u64) -> Result<(), CorpusError> {
    // If the folder does not exist yet, the space is that of its nearest existing parent.
    let existing = folder.ancestors().find(|it| it.is_dir()).unwrap_or(Path::new("."));
    let free_bytes = free_bytes(existing).map_err(io_error_at(existing))?;
    let needed_bytes = size_bytes.saturating_add(size_bytes / 10).saturating_add(MARGIN_BYTES);
    if free_bytes < needed_bytes {
        return Err(CorpusError::NoSpace { folder: folder.to_owned(), needed_bytes, free_bytes });
    }
    Ok(())
}

/// Creates a file under a temporary name, which is removed unless it is renamed. A lock on the file
/// shows other runs that it is being written.
fn create_part_file(folder: &Path) -> Result<tempfile::NamedTempFile, CorpusError> {
    let mut builder = tempfile::Builder::new();
    // Readable for other users, like files of most programs; the umask still applies.
    builder.permissions(fs::Permissions::from_mode(0o644));
    let part =
        builder.prefix(PART_PREFIX).suffix(PART_SUFFIX).tempfile_in(folder).map_err(io_error_at(folder))?;
    part.as_file().try_lock().map_err(|cause| io_error_at(part.path())(cause.into()))?;
    Ok(part)
}

/// True if no run is writing the temporary file any more.
fn is_abandoned(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| file.try_lock().is_ok())
}

/// Writes the content to a temporary file and syncs it; also returns the digest of the content.
/// `check` is called before each piece.
fn write_part_file(
    folder: &Path,
    recipe: Recipe,
    mut check: impl FnMut() -> io::Result<()>,
) -> Result<(tempfile::NamedTempFile, String), CorpusError> {
    let mut part = create_part_file(folder)?;
    let mut pieces = Pieces::new(recipe);
    let mut digest = Xxh3::new();
    let mut piece = Vec::new();
    while pieces.next_into(&mut piece) {
        check().map_err(io_error_at(folder))?;
        part.write_all(&piece).map_err(io_error_at(folder))?;
        digest.update(&piece);
    }
    part.as_file().sync_all().map_err(io_error_at(folder))?;
    Ok((part, format!("{:016x}", digest.digest())))
}

/// The names in a folder, sorted; empty if the folder does not exist. Names that are not UTF-8 are
/// left out, because readlab makes no such names.
fn names_in(folder: &Path) -> Result<Vec<String>, CorpusError> {
    let entries = match fs::read_dir(folder) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(io_error_at(folder))?,
    };
    let mut names = Vec::new();
    for entry in entries {
        names.extend(entry.map_err(io_error_at(folder))?.file_name().into_string().ok());
    }
    names.sort();
    Ok(names)
}

fn io_error_at(path: &Path) -> impl FnOnce(io::Error) -> CorpusError {
    move |cause| CorpusError::Io { path: path.to_owned(), cause }
}

#[cfg(test)]
mod tests;
