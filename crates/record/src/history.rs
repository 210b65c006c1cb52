//! The history: the user's records in the data folder, and the names given with `--save`.
//!
//! The history is in files that the user can see: `runs/` holds a folder for each run, and `names/`
//! a symbolic link for each name, to the folder of its record. There is no index and no other
//! state. If a name is given again, its link moves; no record is ever overwritten.

use crate::file::lock_record;
use crate::{LINE_BYTES_MAX, Record, RecordError};
use readlab_system::folder::earlier_output::is_replaceable;
use readlab_system::folder::{self, FLAME_GRAPHS, FolderError, RECORD, RECORD_DRAFT, REPORT};
use readlab_system::markup;
use readlab_system::terminal::printable::display_path;
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The name of the newest run. It cannot be given with `--save`.
const NEWEST_RUN_NAME: &str = "last";

/// A name that the user gives to a record with `--save`: letters, digits, `-`, `_` and `.`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SaveName(String);

impl SaveName {
    /// The name with a suffix of letters, digits and `-`.
    pub fn with_suffix(&self, more: &str) -> SaveName {
        SaveName(format!("{}{more}", self.0))
    }
}

impl fmt::Display for SaveName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for SaveName {
    type Err = String;

    fn from_str(text: &str) -> Result<SaveName, String> {
        let fits = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
        if text.is_empty() || text.starts_with(['.', '-']) || !text.chars().all(fits) {
            return Err(
                "a name has letters, digits, '-', '_' and '.', and begins with a letter or digit".to_owned()
            );
        }
        if text == NEWEST_RUN_NAME {
            Err(format!("'{NEWEST_RUN_NAME}' is the newest run"))
        } else {
            Ok(SaveName(text.to_owned()))
        }
    }
}

#[derive(Debug, Clone)]
pub struct History {
    runs_folder: PathBuf,
    names_folder: PathBuf,
}

#[derive(Debug)]
pub struct HistoryEntry {
    pub folder: PathBuf,
    pub names: Vec<String>,
    /// Number of newer runs; `None` for a record that was saved outside the data folder.
    pub newer_runs: Option<usize>,
    /// The record, or the reason why it cannot be read.
    pub record: Result<Record, RecordError>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RemovableItem {
    Run(PathBuf),
    Name { name: String, folder: PathBuf },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RemovedItem {
    /// The record, its page and its folder.
    Run(PathBuf),
    /// Only the name, because the record is outside the data folder.
    Name(PathBuf),
}

#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    #[error("{name}: no record of this name and no such file{}", suggestion_words(.near))]
    NotFound { name: String, near: Vec<String> },
    #[error("{name}: there are {runs} runs in {folder}")]
    TooFew { name: String, runs: usize, folder: PathBuf },
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error("{}: is no file of the run, so nothing was removed; move it elsewhere first", display_path(.0))]
    ForeignFile(PathBuf),
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error("{path}: {cause}")]
    Io { path: PathBuf, cause: io::Error },
}

impl HistoryError {
    fn io(path: &Path) -> impl Fn(io::Error) -> HistoryError {
        move |cause| HistoryError::Io { path: path.to_owned(), cause }
    }
}

fn suggestion_words(near: &[String]) -> String {
    if near.is_empty() { String::new() } else { format!("; near it: {}", near.join(", ")) }
}

impl History {
    pub fn of_user() -> Result<History, HistoryError> {
        let runs = folder::runs_folder()?;
        let names = runs.with_file_name("names");
        Ok(History { runs_folder: runs, names_folder: names })
    }

    /// All runs, the newest first; records outside the data folder come last.
    pub fn entries(&self) -> Result<Vec<HistoryEntry>, HistoryError> {
        let (runs, mut names) = (self.runs()?, self.names()?);
        let mut entries = Vec::new();
        for (newer_runs, folder) in runs.into_iter().enumerate() {
            let (own, others) = names.into_iter().partition(|(_, to)| is_same_folder(to, &folder));
            names = others;
            entries.push(history_entry(folder, own, Some(newer_runs)));
        }
        while let Some((_, folder)) = names.first().cloned() {
            let (own, others) = names.into_iter().partition(|(_, to)| is_same_folder(to, &folder));
            names = others;
            entries.push(history_entry(folder, own, None));
        }
        Ok(entries)
    }

    /// The path of the record that `last`, `last~N`, a saved name, a run's folder or a path means.
    pub fn find(&self, name: &str) -> Result<PathBuf, HistoryError> {
        if let Some(back) = count_of_newer_runs(name) {
            let mut runs = self.runs()?;
            let too_few = HistoryError::TooFew {
                name: name.to_owned(),
                runs: runs.len(),
                folder: self.runs_folder.clone(),
            };
            return if back < runs.len() { Ok(runs.swap_remove(back).join(RECORD)) } else { Err(too_few) };
        }
        if let Some((_, folder)) = self.names()?.into_iter().find(|(own, _)| own == name) {
            return Ok(folder.join(RECORD));
        }
        let run = self.runs_folder.join(name);
        let path = if name.contains('/') || !run.is_dir() { Path::new(name) } else { &run };
        if path.is_dir() {
            return Ok(path.join(RECORD));
        }
        if path.exists() { Ok(path.to_owned()) } else { Err(self.not_found(name)?) }
    }

    /// Gives a record a name; a record that had the name loses it.
    pub fn save(&self, name: &SaveName, record: &Path) -> Result<(), HistoryError> {
        let io = HistoryError::io;
        let folder = record.parent().unwrap_or(Path::new("."));
        let folder = folder.canonicalize().map_err(io(folder))?;
        fs::create_dir_all(&self.names_folder).map_err(io(&self.names_folder))?;
        let link = self.names_folder.join(name.to_string());
        // The new link is made under another name and then renamed, so that the name always exists,
        // even if the lab is killed.
        let moving = self.names_folder.join(format!(".{name}"));
        if moving.is_symlink() {
            fs::remove_file(&moving).map_err(io(&moving))?;
        }
        std::os::unix::fs::symlink(folder, &moving).map_err(io(&moving))?;
        fs::rename(&moving, &link).map_err(|cause| {
            // The temporary link is not a saved name; the next `save` of this name replaces it.
            let _ = fs::remove_file(&moving);
            io(&link)(cause)
        })
    }

    /// The runs and names that these names mean. A run that several names mean is listed once. A run
    /// that a lab is writing, or that has a file of the user's, is an error.
    pub fn all_removable(&self, names: &[String]) -> Result<Vec<RemovableItem>, HistoryError> {
        let mut all = Vec::new();
        for name in names {
            let what = self.removable_item(name)?;
            if let RemovableItem::Run(folder) = &what {
                open_locked_record(folder)?;
                own_files(folder)?;
            }
            if !all.contains(&what) {
                all.push(what);
            }
        }
        Ok(all)
    }

    fn removable_item(&self, name: &str) -> Result<RemovableItem, HistoryError> {
        let known = count_of_newer_runs(name).is_some()
            || self.names()?.iter().any(|(own, _)| own == name)
            || (!name.contains('/') && self.runs_folder.join(name).is_dir());
        if !known {
            return Err(self.not_found(name)?);
        }
        let record = self.find(name)?;
        let folder = record.parent().unwrap_or(Path::new(".")).to_owned();
        let own = self.runs()?.into_iter().find(|run| is_same_folder(run, &folder));
        Ok(own.map_or_else(|| RemovableItem::Name { name: name.to_owned(), folder }, RemovableItem::Run))
    }

    /// Removes a run of the data folder with all its names, or only the name of a record outside
    /// the data folder.
    pub fn remove(&self, what: RemovableItem) -> Result<RemovedItem, HistoryError> {
        let remove = |path: PathBuf| match fs::remove_file(&path) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(HistoryError::Io { path, cause }),
            _ => Ok(()),
        };
        let folder = match what {
            RemovableItem::Name { name, folder } => {
                remove(self.names_folder.join(name))?;
                return Ok(RemovedItem::Name(folder));
            }
            RemovableItem::Run(folder) => folder,
        };
        // A lab cannot continue the run while its files are removed.
        let record = open_locked_record(&folder)?;
        let (files, folders) = own_files(&folder)?;
        for (link, _) in self.names()?.into_iter().filter(|(_, to)| is_same_folder(to, &folder)) {
            remove(self.names_folder.join(link))?;
        }
        files.into_iter().try_for_each(remove)?;
        // NFS keeps a file in its folder, under another name, until it is closed.
        drop(record);
        for folder in folders.iter().chain([&folder]) {
            remove_folder(folder).map_err(HistoryError::io(folder))?;
        }
        Ok(RemovedItem::Run(folder))
    }

    /// The folders of all runs, the newest first, by the start time in their records.
    fn runs(&self) -> Result<Vec<PathBuf>, HistoryError> {
        let mut runs = entries_of(&self.runs_folder)?;
        // An older readlab left an empty record, because it named records before they had a header.
        runs.retain(|path| path.join(RECORD).metadata().is_ok_and(|meta| meta.len() > 0));
        runs.sort_by_key(|path| (start_time(path), path.clone()));
        runs.reverse();
        Ok(runs)
    }

    /// All saved names with the folders that they link to.
    fn names(&self) -> Result<Vec<(String, PathBuf)>, HistoryError> {
        let mut names = Vec::new();
        let is_name = |path: &PathBuf| !path.file_name().is_some_and(|it| it.as_bytes().starts_with(b"."));
        for path in entries_of(&self.names_folder)?.into_iter().filter(is_name) {
            let to = fs::read_link(&path).map_err(HistoryError::io(&path))?;
            names.extend(path.file_name().map(|name| (name.to_string_lossy().into_owned(), to)));
        }
        names.sort();
        Ok(names)
    }

    /// The error for an unknown name, with known names that are similar.
    fn not_found(&self, name: &str) -> Result<HistoryError, HistoryError> {
        const SIMILARITY_MIN: f64 = 0.8;
        const SUGGESTIONS_MAX: usize = 3;
        let runs = self.runs()?.into_iter();
        let runs = runs.filter_map(|run| Some(run.file_name()?.to_string_lossy().into_owned()));
        let all =
            self.names()?.into_iter().map(|(name, _)| name).chain([NEWEST_RUN_NAME.to_owned()]).chain(runs);
        let mut near: Vec<(f64, String)> =
            all.map(|other| (strsim::jaro_winkler(name, &other), other)).collect();
        near.retain(|(likeness, _)| *likeness >= SIMILARITY_MIN);
        near.sort_by(|a, b| b.0.total_cmp(&a.0));
        let near = near.into_iter().take(SUGGESTIONS_MAX).map(|(_, name)| name).collect();
        Ok(HistoryError::NotFound { name: name.to_owned(), near })
    }
}

/// The number of runs after the one that `last` or `last~N` means; `None` for any other name.
fn count_of_newer_runs(name: &str) -> Option<usize> {
    match name.strip_prefix(NEWEST_RUN_NAME)? {
        "" => Some(0),
        rest => rest.strip_prefix('~')?.parse().ok(),
    }
}

/// The start time of a run, from the first line of its record, because folder names do not order
/// runs of one second. `None`, which sorts as the oldest, if the record states no time.
fn start_time(folder: &Path) -> Option<jiff::Timestamp> {
    use std::io::{BufRead, Read};
    let mut line = String::new();
    let read = fs::File::open(folder.join(RECORD))
        .and_then(|file| io::BufReader::new(file.take(LINE_BYTES_MAX)).read_line(&mut line));
    let header: Option<serde_json::Value> = read.ok().and_then(|_| serde_json::from_str(&line).ok());
    header?["started"].as_str()?.parse().ok()
}

fn history_entry(folder: PathBuf, names: Vec<(String, PathBuf)>, newer_runs: Option<usize>) -> HistoryEntry {
    let record = Record::read(&folder.join(RECORD));
    HistoryEntry { folder, names: names.into_iter().map(|(name, _)| name).collect(), newer_runs, record }
}

/// Opens the record of a run, which no lab can write until the file is closed. A lab that is writing
/// it already is an error.
fn open_locked_record(folder: &Path) -> Result<fs::File, HistoryError> {
    let path = folder.join(RECORD);
    let file = fs::File::open(&path).map_err(HistoryError::io(&path))?;
    lock_record(&path, &file)?;
    Ok(file)
}

fn is_same_folder(one: &Path, other: &Path) -> bool {
    one == other || one.canonicalize().ok().zip(other.canonicalize().ok()).is_some_and(|(a, b)| a == b)
}

/// The entries of a folder; none if the folder does not exist.
fn entries_of(folder: &Path) -> Result<Vec<PathBuf>, HistoryError> {
    let error = HistoryError::io(folder);
    let entries = match fs::read_dir(folder) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(&error)?,
    };
    entries.map(|entry| entry.map(|entry| entry.path()).map_err(&error)).collect()
}

/// The files of a run in its folder, the record last, and the folders inside. Any other file, such
/// as a page or picture that readlab did not make, belongs to the user and is an error.
fn own_files(folder: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>), HistoryError> {
    let graphs = folder.join(FLAME_GRAPHS);
    let pictures = if graphs.is_dir() { entries_of(&graphs)? } else { Vec::new() };
    let is_made = |path: &Path, is_output| is_replaceable(path, is_output).unwrap_or(false);
    let is_picture = |path: &PathBuf| is_made(path, markup::is_own_picture);
    let own = [RECORD, RECORD_DRAFT, REPORT].map(|name| folder.join(name));
    let is_page = |path: &Path| is_made(path, markup::is_own_page);
    let is_own = |path: &PathBuf| match path.file_name().is_some_and(|name| name == REPORT) {
        true => is_page(path),
        false => own.contains(path) || *path == graphs,
    };
    let mut strange = entries_of(folder)?.into_iter().filter(|path| !is_own(path));
    if let Some(path) = strange.next().or(pictures.iter().find(|path| !is_picture(path)).cloned()) {
        return Err(HistoryError::ForeignFile(path));
    }
    let folders = if graphs.is_dir() { vec![graphs] } else { Vec::new() };
    Ok((pictures.into_iter().chain(own.into_iter().rev()).collect(), folders))
}

/// Removes an empty folder. Of a folder that the user moved, the name is a link to it, and both are
/// removed.
fn remove_folder(folder: &Path) -> io::Result<()> {
    if !folder.is_symlink() {
        return fs::remove_dir(folder);
    }
    fs::remove_dir(folder.canonicalize()?)?;
    fs::remove_file(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A history with runs of these names, the oldest first, and its folder.
    fn history(runs: &[&str]) -> (tempfile::TempDir, History) {
        let home = tempfile::tempdir().unwrap();
        let history =
            History { runs_folder: home.path().join("runs"), names_folder: home.path().join("names") };
        for (nth, run) in runs.iter().enumerate() {
            fs::create_dir_all(history.runs_folder.join(run)).unwrap();
            fs::write(
                history.runs_folder.join(run).join(RECORD),
                format!("{{\"started\":\"2024-01-01T00:00:0{nth}Z\"}}\n"),
            )
            .unwrap();
        }
        (home, history)
    }

    #[test]
    fn records_are_found_by_age_by_name_by_folder_and_by_path() {
        let (home, history) = history(&["z", "a"]);
        let record = |run: &str| history.runs_folder.join(run).join(RECORD);
        assert_eq!(history.find("last").unwrap(), record("a"));
        assert_eq!(history.find("last~1").unwrap(), record("z"));
        assert!(history.find("last~2").unwrap_err().to_string().starts_with("last~2: there are 2 runs in "));
        history.save(&"baseline".parse().unwrap(), &record("z")).unwrap();
        assert!(is_same_folder(&history.find("baseline").unwrap(), &record("z")));
        history.save(&"baseline".parse().unwrap(), &record("a")).unwrap();
        assert!(is_same_folder(&history.find("baseline").unwrap(), &record("a")), "a name moves");
        assert_eq!(history.find("z").unwrap(), record("z"));
        let path = home.path().join("x.jsonl");
        fs::write(&path, "").unwrap();
        assert_eq!(history.find(path.to_str().unwrap()).unwrap(), path);
        let error = history.find("basline").unwrap_err().to_string();
        assert!(error.ends_with("; near it: baseline"), "{error}");
    }

    #[test]
    fn the_last_run_is_the_latest_in_any_time_format() {
        let (_home, history) = history(&["a", "b", "c"]);
        let times = ["2026-01-01T00:00:05.5Z", "2026-01-01T00:00:05Z", "2026-01-01T01:00:04+01:00"];
        for (run, time) in ["a", "b", "c"].iter().zip(times) {
            fs::write(history.runs_folder.join(run).join(RECORD), format!("{{\"started\":\"{time}\"}}\n"))
                .unwrap();
        }
        let order = ["last", "last~1", "last~2"].map(|name| history.find(name).unwrap());
        assert_eq!(order, ["a", "b", "c"].map(|run| history.runs_folder.join(run).join(RECORD)));
    }

    #[test]
    fn empty_records_are_not_runs_and_temporary_links_are_not_names() {
        let (_home, history) = history(&["one", "two"]);
        fs::write(history.runs_folder.join("two").join(RECORD), "").unwrap();
        assert_eq!(history.find("last").unwrap(), history.runs_folder.join("one").join(RECORD));
        history.save(&"mine".parse().unwrap(), &history.runs_folder.join("one").join(RECORD)).unwrap();
        // A lab that is killed between its two system calls leaves this link.
        std::os::unix::fs::symlink("nowhere", history.names_folder.join(".mine")).unwrap();
        assert_eq!(history.names().unwrap().len(), 1);
        history.save(&"mine".parse().unwrap(), &history.runs_folder.join("one").join(RECORD)).unwrap();
        assert_eq!(entries_of(&history.names_folder).unwrap(), [history.names_folder.join("mine")]);
    }

    #[test]
    fn removing_a_run_removes_its_names_and_nothing_else() {
        let (home, history) = history(&["one", "two"]);
        let elsewhere = home.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        fs::write(elsewhere.join(RECORD), "{}").unwrap();
        history.save(&"mine".parse().unwrap(), &elsewhere.join(RECORD)).unwrap();
        history.save(&"first".parse().unwrap(), &history.runs_folder.join("one").join(RECORD)).unwrap();
        assert_eq!(history.entries().unwrap().len(), 3);
        let remove = |name: &str| history.remove(history.removable_item(name)?);
        assert!(matches!(remove("first"), Ok(RemovedItem::Run(_))));
        assert!(!history.runs_folder.join("one").exists() && history.runs_folder.join("two").exists());
        assert!(matches!(remove("mine"), Ok(RemovedItem::Name(_))));
        assert!(elsewhere.join(RECORD).exists());
        assert_eq!(history.names().unwrap(), []);
        assert!(matches!(remove(elsewhere.to_str().unwrap()), Err(HistoryError::NotFound { .. })));
    }

    #[test]
    fn a_run_that_is_named_several_times_is_removed_once() {
        let (_home, history) = history(&["one", "two"]);
        history.save(&"mine".parse().unwrap(), &history.runs_folder.join("two").join(RECORD)).unwrap();
        let names = ["last", "mine", "last", "two", "one"].map(str::to_owned);
        let all = history.all_removable(&names).unwrap();
        let runs = ["two", "one"].map(|run| RemovableItem::Run(history.runs_folder.join(run)));
        assert_eq!(all, runs);
        all.into_iter().for_each(|it| drop(history.remove(it).unwrap()));
        assert_eq!(history.runs().unwrap(), <[PathBuf; 0]>::default());
    }

    #[test]
    fn a_run_that_a_lab_is_writing_is_not_removed() {
        let (_home, history) = history(&["one", "two"]);
        let record = history.runs_folder.join("two").join(RECORD);
        let writer = crate::RecordWriter::reopen(&record).unwrap();
        let named = history.all_removable(&["one", "last"].map(str::to_owned));
        assert!(
            matches!(named, Err(HistoryError::Record(RecordError::InUse(path))) if path == record),
            "nothing is removed before all names are checked"
        );
        let remove = || history.remove(RemovableItem::Run(history.runs_folder.join("two")));
        let refused = remove().unwrap_err().to_string();
        assert_eq!(refused, format!("{}: another readlab is writing it", record.display()));
        assert!(record.exists());
        drop(writer);
        remove().unwrap();
        assert!(!record.exists());
    }

    #[test]
    fn a_run_with_flame_graphs_is_removed_completely_and_one_with_user_files_is_not() {
        let (_home, history) = history(&["one", "two"]);
        let [one, two] = ["one", "two"].map(|run| history.runs_folder.join(run));
        for run in [&one, &two] {
            fs::create_dir(run.join(FLAME_GRAPHS)).unwrap();
            let picture = run.join(FLAME_GRAPHS).join("warm-01-x.svg");
            fs::write(picture, markup::picture(markup::element("svg"))).unwrap();
            fs::write(run.join(REPORT), markup::page(markup::element("html"))).unwrap();
        }
        fs::write(two.join("notes.txt"), "mine").unwrap();
        let remove = |name: &str| history.remove(history.removable_item(name)?);
        assert!(matches!(remove("one"), Ok(RemovedItem::Run(_))));
        assert!(!one.exists());
        assert!(
            matches!(remove("two"), Err(HistoryError::ForeignFile(path)) if path == two.join("notes.txt"))
        );
        fs::remove_file(two.join("notes.txt")).unwrap();
        for file in [two.join(REPORT), two.join(FLAME_GRAPHS).join("warm-01-x.svg")] {
            let made = fs::read(&file).unwrap();
            fs::write(&file, "<html>the user's").unwrap();
            assert!(matches!(remove("two"), Err(HistoryError::ForeignFile(path)) if path == file));
            fs::write(&file, made).unwrap();
        }
        assert_eq!(entries_of(&two).unwrap().len(), 3);
        assert_eq!(entries_of(&two.join(FLAME_GRAPHS)).unwrap().len(), 1);
    }

    #[test]
    fn no_run_is_removed_if_another_of_them_has_a_file_of_the_user() {
        let (_home, history) = history(&["one", "two"]);
        let notes = history.runs_folder.join("two/notes.txt");
        fs::write(&notes, "mine").unwrap();
        let named = history.all_removable(&["one", "two"].map(str::to_owned));
        assert!(matches!(named, Err(HistoryError::ForeignFile(path)) if path == notes));
    }

    #[test]
    fn a_run_that_the_user_moved_is_removed_with_the_links_to_its_folders() {
        let (home, history) = history(&["one", "two"]);
        for (run, moved) in [("one", "one"), ("two", "two/flamegraphs")] {
            let graphs = history.runs_folder.join(run).join(FLAME_GRAPHS);
            fs::create_dir(&graphs).unwrap();
            fs::write(graphs.join("x.svg"), markup::picture(markup::element("svg"))).unwrap();
            let (place, link) = (home.path().join("moved"), history.runs_folder.join(moved));
            fs::rename(&link, &place).unwrap();
            std::os::unix::fs::symlink(&place, &link).unwrap();
            history.remove(history.removable_item(run).unwrap()).unwrap();
            assert!(!place.exists() && !link.is_symlink(), "{run}");
        }
        assert_eq!(entries_of(&history.runs_folder).unwrap(), <[PathBuf; 0]>::default());
    }

    #[test]
    fn names_that_mean_something_else_are_refused() {
        for wrong in ["", "last", "a/b", ".", "..", "-x", "last~1", "published:x", "a b"] {
            assert!(wrong.parse::<SaveName>().is_err(), "{wrong}");
        }
        assert!("v1.2_base-line".parse::<SaveName>().is_ok());
    }
}
