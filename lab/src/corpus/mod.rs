//! Deterministic files to read, and the truth about any file.
//!
//! A file is written under a temporary name and gets its own when it is whole; beside it lies a
//! note with its recipe and digest. What has no note is not ours: it is neither used nor removed.
//! Nothing here knows how files are raced.

pub mod archive;
pub mod oracle;
pub mod recipe;

use crate::target::shown;
use crate::units::Bytes;
use etcetera::BaseStrategy;
use readlab_protocol::Archive;
use recipe::{Recipe, VERSION};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::Xxh3;

/// A deterministic file that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Corpus {
    /// Where.
    pub path: PathBuf,
    /// What it holds.
    pub recipe: Recipe,
    /// How many bytes it takes: of an archive, those of the archive.
    pub size_bytes: u64,
    /// XXH3 of the content, 64 bits, hexadecimal.
    pub digest: String,
    /// Whether it was there before.
    pub reused: bool,
}

/// The note beside a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Note {
    made_by: String,
    version: u32,
    recipe: Recipe,
    digest: String,
    /// Size of the zip, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    zip_bytes: Option<u64>,
    /// Size of the gzip, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    gzip_bytes: Option<u64>,
}

/// Why a deterministic file is not there.
#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    /// The user has no folder of caches.
    #[error("no folder for test files is known: {0}")]
    NoHome(etcetera::HomeDirError),
    /// The file system is too full.
    #[error("{}: {} are needed and {} are free", shown(.folder), Bytes(*.needed_bytes), Bytes(*.free_bytes))]
    NoSpace {
        /// Where it was to be.
        folder: PathBuf,
        /// Its size and the margin.
        needed_bytes: u64,
        /// What the file system has for ordinary users.
        free_bytes: u64,
    },
    /// Something else has this name.
    #[error("{}: exists and was not made by readlab; remove it or choose another folder", shown(.0))]
    NotOurs(PathBuf),
    /// A call failed.
    #[error("{}: {cause}", shown(.path))]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
}

const MADE_BY: &str = "readlab corpus";
const NOTE_SUFFIX: &str = ".readlab.json";
/// Names of files that are being written.
const PART_PREFIX: &str = ".readlab-";
const PART_SUFFIX: &str = ".part";
/// Marks a folder that was made here, so that it goes with its last file.
const FOLDER_MARK: &str = ".readlab-folder";
/// Left free beside a tenth of what is written: notes, records, and the tables of the file system.
const MARGIN_BYTES: u64 = 16 << 20;

/// Where test files belong unless the user names a folder: within the user's caches, as they can be
/// made again.
///
/// # Errors
/// If the user has no home folder.
pub fn default_folder() -> Result<PathBuf, CorpusError> {
    let places = etcetera::choose_base_strategy().map_err(CorpusError::NoHome)?;
    Ok(places.cache_dir().join("readlab").join("corpus"))
}

/// The file of this recipe in `folder`, made unless it is there and its content has the digest of
/// its note.
///
/// # Errors
/// If there is no space, the name is taken by something not made here, or a call fails. Nothing is
/// left behind then.
pub fn make(folder: &Path, recipe: Recipe) -> Result<Corpus, CorpusError> {
    make_folder(folder)?;
    let path = folder.join(recipe.file_name());
    if let Some(made) = made_before(&path, recipe)? {
        return Ok(made);
    }
    check_space(folder, recipe.size_bytes)?;
    let (part, digest) = write(folder, recipe)?;
    keep(folder, path, part, Note::of(recipe, digest))
}

/// How the bytes of a file lie on the device: in an archive, or as they are.
pub type Form = Option<Archive>;

/// The same in every form, in the order that is asked for; the space is looked at for all of them
/// before any is made.
///
/// # Errors
/// As for [`make`].
pub fn make_forms(folder: &Path, recipe: Recipe, forms: &[Form]) -> Result<Vec<(Form, Corpus)>, CorpusError> {
    make_folder(folder)?;
    let there = |form: Form| {
        let path = folder.join(file_name(recipe, form));
        path.metadata().map_or(0, |meta| meta.len())
    };
    // An archive is taken to be as large as what it holds: no more is certain before it is made.
    let needed_bytes: u64 = forms.iter().map(|&form| recipe.size_bytes.saturating_sub(there(form))).sum();
    if forms.iter().any(|&form| there(form) == 0) {
        check_space(folder, needed_bytes)?;
    }
    let make_form = |&form: &Form| match form {
        None => Ok((form, make(folder, recipe)?)),
        Some(archive) => Ok((form, make_archive(folder, recipe, archive)?)),
    };
    forms.iter().map(make_form).collect()
}

/// The folder, with a mark in it unless it was there before: only what was made here is ever
/// removed.
fn make_folder(folder: &Path) -> Result<(), CorpusError> {
    if folder.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(folder).map_err(at(folder))?;
    fs::write(folder.join(FOLDER_MARK), MADE_BY).map_err(at(folder))
}

/// Removes a folder that was made here, and leaves no mark where something else is in it.
fn remove_folder(folder: &Path) -> Result<bool, CorpusError> {
    let mark = folder.join(FOLDER_MARK);
    if fs::read(&mark).is_err() {
        return Ok(false);
    }
    fs::remove_file(&mark).map_err(at(&mark))?;
    // Fails where it holds something else, and that is well.
    Ok(fs::remove_dir(folder).is_ok())
}

/// The archive of this recipe, made unless it is there and intact.
fn make_archive(folder: &Path, recipe: Recipe, archive: Archive) -> Result<Corpus, CorpusError> {
    let path = folder.join(file_name(recipe, Some(archive)));
    if let Some(made) = made_before(&path, recipe)? {
        return Ok(made);
    }
    let part = begin(folder)?;
    archive::write(&recipe, archive, part.as_file()).map_err(at(&path))?;
    part.as_file().sync_all().map_err(at(folder))?;
    let truth = oracle::truth(part.path()).map_err(at(&path))?;
    let note = Note::of(recipe, truth.digest).archived(archive, truth.answer.bytes);
    keep(folder, path, part, note)
}

fn file_name(recipe: Recipe, form: Form) -> String {
    match form {
        None => recipe.file_name(),
        Some(Archive::Zip) => format!("{}.zip", recipe.file_name()),
        Some(Archive::Gzip) => format!("{}.gz", recipe.file_name()),
    }
}

/// The file that is there with this recipe's note and intact.
fn made_before(path: &Path, recipe: Recipe) -> Result<Option<Corpus>, CorpusError> {
    if path.symlink_metadata().is_err() {
        return Ok(None);
    }
    let Some(note) = Note::beside(path) else { return Err(CorpusError::NotOurs(path.to_owned())) };
    let same = note.version == VERSION && note.recipe == recipe && intact(path, &note)?;
    Ok(same.then(|| note.corpus(path.to_owned(), true)))
}

/// Gives a finished file its name.
fn keep(
    folder: &Path,
    path: PathBuf,
    part: tempfile::NamedTempFile,
    note: Note,
) -> Result<Corpus, CorpusError> {
    // The note comes first: a file without one would never be touched again.
    note.write(folder, &path)?;
    part.persist(&path).map_err(|error| CorpusError::Io { path: path.clone(), cause: error.error })?;
    Ok(note.corpus(path, false))
}

/// The files made here that are in `folder`, by name. Contents are not read.
///
/// # Errors
/// If the folder cannot be read; one that does not exist has no files.
pub fn list(folder: &Path) -> Result<Vec<Corpus>, CorpusError> {
    let mut found = Vec::new();
    for name in names(folder)? {
        let Some(name) = name.strip_suffix(NOTE_SUFFIX) else { continue };
        let path = folder.join(name);
        let Some(note) = Note::beside(&path) else { continue };
        let size = path.symlink_metadata().ok().filter(fs::Metadata::is_file).map(|meta| meta.len());
        if note.file_name() == name && size == Some(note.size_bytes()) {
            found.push(note.corpus(path, true));
        }
    }
    Ok(found)
}

/// Removes the files made here with their notes, and what a killed run left unfinished. Whatever
/// else is in the folder stays, and so does the folder unless it was made here and is empty then.
/// Returns the paths that were removed.
///
/// # Errors
/// If something cannot be removed.
pub fn clean(folder: &Path) -> Result<Vec<PathBuf>, CorpusError> {
    let mut removed = Vec::new();
    let mut remove = |path: PathBuf| {
        fs::remove_file(&path).map_err(at(&path))?;
        removed.push(path);
        Ok(())
    };
    for corpus in list(folder)? {
        remove(corpus.path.clone())?;
        remove(note_path(&corpus.path))?;
    }
    for name in names(folder)? {
        let path = folder.join(&name);
        let data = name.strip_suffix(NOTE_SUFFIX).map(|data| folder.join(data));
        let forsaken = match data {
            Some(data) => Note::beside(&data).is_some() && data.symlink_metadata().is_err(),
            None => name.starts_with(PART_PREFIX) && name.ends_with(PART_SUFFIX) && nobody_writes(&path),
        };
        if forsaken {
            remove(path)?;
        }
    }
    if remove_folder(folder)? {
        removed.push(folder.to_owned());
    }
    Ok(removed)
}

impl Note {
    fn of(recipe: Recipe, digest: String) -> Note {
        Note {
            made_by: MADE_BY.to_owned(),
            version: VERSION,
            recipe,
            digest,
            zip_bytes: None,
            gzip_bytes: None,
        }
    }

    fn archived(self, archive: Archive, bytes: Option<u64>) -> Note {
        match archive {
            Archive::Zip => Note { zip_bytes: bytes, ..self },
            Archive::Gzip => Note { gzip_bytes: bytes, ..self },
        }
    }

    /// The file that it stands beside.
    fn corpus(self, path: PathBuf, reused: bool) -> Corpus {
        let size_bytes = self.size_bytes();
        Corpus { path, recipe: self.recipe, size_bytes, digest: self.digest, reused }
    }

    fn form(&self) -> Form {
        let zip = self.zip_bytes.map(|_| Archive::Zip);
        zip.or(self.gzip_bytes.map(|_| Archive::Gzip))
    }

    /// The name that its file must have.
    fn file_name(&self) -> String {
        file_name(self.recipe, self.form())
    }

    fn size_bytes(&self) -> u64 {
        self.zip_bytes.or(self.gzip_bytes).unwrap_or(self.recipe.size_bytes)
    }

    /// The note beside a file, if there is one of ours.
    fn beside(path: &Path) -> Option<Note> {
        let text = fs::read(note_path(path)).ok()?;
        let note: Note = serde_json::from_slice(&text).ok()?;
        (note.made_by == MADE_BY).then_some(note)
    }

    fn write(&self, folder: &Path, path: &Path) -> Result<(), CorpusError> {
        let mut part = begin(folder)?;
        let text = serde_json::to_vec(self).expect("a note holds only strings and numbers");
        part.write_all(&text).map_err(at(folder))?;
        let path = note_path(path);
        part.persist(&path).map_err(|error| CorpusError::Io { path, cause: error.error })?;
        Ok(())
    }
}

fn note_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(NOTE_SUFFIX);
    name.into()
}

/// Whether the file has the size and the content that its note says.
fn intact(path: &Path, note: &Note) -> Result<bool, CorpusError> {
    let meta = path.symlink_metadata().map_err(at(path))?;
    Ok(meta.is_file()
        && meta.len() == note.size_bytes()
        && oracle::truth(path).map_err(at(path))?.digest == note.digest)
}

/// Refuses where the file system would be full afterwards.
fn check_space(folder: &Path, size_bytes: u64) -> Result<(), CorpusError> {
    let found = rustix::fs::statvfs(folder).map_err(|cause| at(folder)(cause.into()))?;
    let free_bytes = found.f_bavail.saturating_mul(found.f_frsize);
    let needed_bytes = size_bytes.saturating_add(size_bytes / 10).saturating_add(MARGIN_BYTES);
    if free_bytes < needed_bytes {
        return Err(CorpusError::NoSpace { folder: folder.to_owned(), needed_bytes, free_bytes });
    }
    Ok(())
}

/// A file under a temporary name, removed unless it gets its own. Its lock tells others that it is
/// being written.
fn begin(folder: &Path) -> Result<tempfile::NamedTempFile, CorpusError> {
    let mut builder = tempfile::Builder::new();
    // Readable for others, as files that programs write commonly are; the umask still applies.
    builder.permissions(fs::Permissions::from_mode(0o644));
    let part = builder.prefix(PART_PREFIX).suffix(PART_SUFFIX).tempfile_in(folder).map_err(at(folder))?;
    flock(part.as_file(), FlockOperation::NonBlockingLockExclusive)
        .map_err(|cause| at(part.path())(cause.into()))?;
    Ok(part)
}

/// Whether a temporary file's writer is gone.
fn nobody_writes(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok())
}

/// Writes the content down to the device; the digest is made on the way.
fn write(folder: &Path, recipe: Recipe) -> Result<(tempfile::NamedTempFile, String), CorpusError> {
    let mut part = begin(folder)?;
    let mut pieces = recipe.pieces();
    let mut digest = Xxh3::new();
    let mut piece = Vec::new();
    while pieces.next_into(&mut piece) {
        part.write_all(&piece).map_err(at(folder))?;
        digest.update(&piece);
    }
    part.as_file().sync_all().map_err(at(folder))?;
    Ok((part, format!("{:016x}", digest.digest())))
}

/// Names in a folder that are UTF-8, as ours are, sorted; none if it does not exist.
fn names(folder: &Path) -> Result<Vec<String>, CorpusError> {
    let entries = match fs::read_dir(folder) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(at(folder))?,
    };
    let mut names = Vec::new();
    for entry in entries {
        names.extend(entry.map_err(at(folder))?.file_name().into_string().ok());
    }
    names.sort();
    Ok(names)
}

/// Names the path in an error.
fn at(path: &Path) -> impl FnOnce(io::Error) -> CorpusError {
    move |cause| CorpusError::Io { path: path.to_owned(), cause }
}

#[cfg(test)]
mod tests {
    use super::recipe::CorpusKind;
    use super::*;

    const RECIPE: Recipe = Recipe { kind: CorpusKind::Lines, size_bytes: 100_000, seed: 1 };

    #[test]
    fn a_file_is_made_once_used_again_and_mended_when_broken() {
        let folder = tempfile::tempdir().unwrap();
        let made = make(folder.path(), RECIPE).unwrap();
        assert!(!made.reused);
        assert_eq!(oracle::truth(&made.path).unwrap().digest, made.digest);
        let again = make(folder.path(), RECIPE).unwrap();
        assert_eq!(again, Corpus { reused: true, ..made.clone() });

        let mut broken = fs::read(&made.path).unwrap();
        broken[50_000] ^= 1;
        fs::write(&made.path, broken).unwrap();
        assert_eq!(make(folder.path(), RECIPE).unwrap(), made);
        assert_eq!(oracle::truth(&made.path).unwrap().digest, made.digest);
    }

    #[test]
    fn cleaning_removes_what_was_made_here_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let made = make(folder.path(), RECIPE).unwrap();
        make(folder.path(), Recipe { kind: CorpusKind::A, ..RECIPE }).unwrap();
        let mine = folder.path().join("lines-1000-seed1.txt");
        fs::write(&mine, "mine").unwrap();
        fs::write(folder.path().join("other.readlab.json"), "{}").unwrap();
        let forsaken = folder.path().join(".readlab-x.part");
        fs::write(&forsaken, "").unwrap();
        let written = begin(folder.path()).unwrap();

        let listed: Vec<PathBuf> =
            list(folder.path()).unwrap().into_iter().map(|corpus| corpus.path).collect();
        assert_eq!(listed, [folder.path().join("a-100000.bin"), made.path.clone()]);
        let removed = clean(folder.path()).unwrap();
        assert_eq!(removed.len(), 5, "{removed:?}");
        assert!(removed.contains(&forsaken) && !made.path.exists());
        let left = names(folder.path()).unwrap();
        assert!(mine.exists() && written.path().exists() && left.len() == 3, "{left:?}");
    }

    #[test]
    fn only_a_folder_that_was_made_here_goes_with_its_last_file() {
        let parent = tempfile::tempdir().unwrap();
        let (own, mine) = (parent.path().join("own"), parent.path().join("mine"));
        fs::create_dir(&mine).unwrap();
        for folder in [&own, &mine] {
            make(folder, RECIPE).unwrap();
            clean(folder).unwrap();
        }
        assert!(!own.exists() && mine.exists());
        make(&own, RECIPE).unwrap();
        fs::write(own.join("a note of mine"), "x").unwrap();
        clean(&own).unwrap();
        assert_eq!(names(&own).unwrap(), ["a note of mine"]);
    }

    #[test]
    fn an_archive_is_listed_with_the_size_that_it_has() {
        let folder = tempfile::tempdir().unwrap();
        let forms = [None, Some(Archive::Zip), Some(Archive::Gzip)];
        let made = make_forms(folder.path(), RECIPE, &forms).unwrap();
        for corpus in list(folder.path()).unwrap().iter().chain(made.iter().map(|(_, corpus)| corpus)) {
            assert_eq!(corpus.size_bytes, corpus.path.metadata().unwrap().len(), "{corpus:?}");
        }
    }

    #[test]
    fn every_form_is_made_once_listed_and_cleaned() {
        let folder = tempfile::tempdir().unwrap();
        let forms = [None, Some(Archive::Zip), Some(Archive::Gzip)];
        let made = make_forms(folder.path(), RECIPE, &forms).unwrap();
        assert!(made.iter().all(|(_, corpus)| !corpus.reused));
        let again = make_forms(folder.path(), RECIPE, &forms).unwrap();
        assert!(again.iter().all(|(_, corpus)| corpus.reused));
        assert_eq!(list(folder.path()).unwrap().len(), 3);
        assert_eq!(clean(folder.path()).unwrap().len(), 6);
    }

    #[test]
    fn a_name_that_is_taken_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(RECIPE.file_name());
        fs::write(&path, "mine").unwrap();
        assert!(matches!(make(folder.path(), RECIPE), Err(CorpusError::NotOurs(_))));
        assert_eq!(fs::read(&path).unwrap(), b"mine");
    }

    #[test]
    fn no_more_is_written_than_fits_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let huge = Recipe { size_bytes: 1 << 62, ..RECIPE };
        let error = make(folder.path(), huge).unwrap_err();
        assert!(matches!(error, CorpusError::NoSpace { .. }), "{error}");
        assert_eq!(names(folder.path()).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn a_folder_that_does_not_exist_is_empty() {
        let folder = tempfile::tempdir().unwrap().path().join("none");
        assert_eq!(list(&folder).unwrap(), []);
        assert_eq!(clean(&folder).unwrap(), Vec::<PathBuf>::new());
    }
}
