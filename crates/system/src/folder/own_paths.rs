//! The files and folders in which readlab writes while it measures. They are not part of a folder
//! that is raced.

use super::output_file::{self, OutputFile};
use super::{FLAME_GRAPHS, RECORD, RECORD_DRAFT, REPORT, runs_folder, scratch};
use crate::terminal::printable::display_path;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// Absolute paths of files and folders.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnPaths(Vec<PathBuf>);

impl OwnPaths {
    /// The paths of a run that writes into these output folders, and the folders in which readlab
    /// keeps its data and its cache for this user.
    pub fn of_run<'p>(outputs: impl IntoIterator<Item = &'p Path>) -> OwnPaths {
        let of_user = data_folder().into_iter().chain(cache_folder());
        OwnPaths::of_paths(of_user.chain(outputs.into_iter().flat_map(paths_in_output))).with_streams()
    }

    /// Adds the files to which standard output and standard error go.
    #[must_use]
    pub fn with_streams(self) -> OwnPaths {
        self.with_paths(output_file::standard_stream_files())
    }

    /// Adds the earlier outputs that these outputs replace after the run. An output that replaces no
    /// file is not added, because it does not exist yet when the folder is read.
    #[must_use]
    pub fn with_replaced(self, outputs: &[OutputFile]) -> OwnPaths {
        let replaced = outputs.iter().filter(|output| output.replaces_earlier());
        self.with_paths(replaced.filter_map(|output| resolve_links(output.file)))
    }

    fn with_paths(mut self, paths: impl IntoIterator<Item = PathBuf>) -> OwnPaths {
        for path in paths {
            if !self.0.contains(&path) {
                self.0.push(path);
            }
        }
        self
    }

    pub fn of_paths(paths: impl IntoIterator<Item = PathBuf>) -> OwnPaths {
        OwnPaths(paths.into_iter().filter_map(|path| resolve_links(&path)).collect())
    }

    pub fn below(&self, folder: &Path) -> OwnPaths {
        OwnPaths(self.0.iter().filter(|place| place.starts_with(folder)).cloned().collect())
    }

    pub fn paths(&self) -> &[PathBuf] {
        &self.0
    }

    /// True if readlab writes below a folder, scratch folders included.
    pub fn has_any_below(&self, folder: &Path) -> bool {
        !self.places_below(folder).is_empty()
    }

    /// Where readlab writes below a folder, scratch folders included.
    pub fn places_below(&self, folder: &Path) -> Vec<OwnPlace> {
        let own = self.below(folder).0.into_iter().map(OwnPlace::of_path);
        let of_runtimes = scratch::runtime_files_folder_below(folder);
        let temporary =
            scratch::temporary_folder_below(folder).filter(|path| of_runtimes.as_ref() != Some(path));
        own.chain(temporary.map(|path| OwnPlace { path, moved_by: Some("TMPDIR") }))
            .chain(of_runtimes.map(|path| OwnPlace { path, moved_by: None }))
            .collect()
    }

    /// True if the path is one of readlab's own paths, a scratch folder of this process, or a file
    /// that a runtime writes ([`scratch::perf_map_of`]).
    pub fn has(&self, path: &Path) -> bool {
        self.0.iter().any(|place| place == path) || scratch::is_own_or_perf_map(path)
    }

    /// True if an own path is or will be directly in this folder.
    pub fn has_any_directly_in(&self, folder: &Path) -> bool {
        self.0.iter().any(|place| place.parent() == Some(folder)) || scratch::may_exist_directly_in(folder)
    }
}

/// A file or folder in which readlab writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnPlace {
    pub path: PathBuf,
    /// The option or the variable that makes readlab write elsewhere; `None` if there is none.
    pub moved_by: Option<&'static str>,
}

impl OwnPlace {
    fn of_path(path: PathBuf) -> OwnPlace {
        let is = |own: Option<PathBuf>| own.and_then(|own| resolve_links(&own)).as_ref() == Some(&path);
        let moved_by = if is(data_folder()) {
            "XDG_DATA_HOME"
        } else if is(cache_folder()) {
            "XDG_CACHE_HOME"
        } else if output_file::standard_stream_files().contains(&path) {
            "another file for standard output and error"
        } else {
            "the option that names it, such as --output"
        };
        OwnPlace { path, moved_by: Some(moved_by) }
    }
}

impl fmt::Display for OwnPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = display_path(&self.path);
        match self.moved_by {
            Some(by) => write!(f, "{path} (elsewhere by {by})"),
            None => write!(f, "{path} (always)"),
        }
    }
}

/// The folder in which readlab keeps records and notes for this user.
fn data_folder() -> Option<PathBuf> {
    runs_folder().ok().and_then(|runs| runs.parent().map(Path::to_owned))
}

/// The folder in which readlab keeps contenders and files that it made for this user.
fn cache_folder() -> Option<PathBuf> {
    use etcetera::BaseStrategy;
    etcetera::choose_base_strategy().ok().map(|base| base.cache_dir().join("readlab"))
}

/// The paths that a run writes in its output folder: the folder itself if the run creates it,
/// otherwise the files that the run adds.
fn paths_in_output(folder: &Path) -> Vec<PathBuf> {
    let is_new = fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none());
    match is_new {
        true => vec![folder.to_owned()],
        false => [RECORD, RECORD_DRAFT, REPORT, FLAME_GRAPHS].map(|name| folder.join(name)).into(),
    }
}

fn resolve_links(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    let (real, there) = path.ancestors().find_map(|it| Some((fs::canonicalize(it).ok()?, it)))?;
    let rest = path.strip_prefix(there).ok()?;
    Some(if rest.as_os_str().is_empty() { real } else { real.join(rest) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_output_folder_is_own_and_in_an_existing_one_only_added_files_are() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        let (new, used) = (root.join("new/run"), root.join("used"));
        fs::create_dir(&used).unwrap();
        fs::write(used.join("data"), "x").unwrap();
        let places = OwnPaths::of_run([new.as_path()]).below(&root);
        assert!(
            places.has(&new)
                && places.has_any_directly_in(&root.join("new"))
                && !places.has_any_directly_in(&root)
        );
        let places = OwnPaths::of_run([used.as_path()]).below(&root);
        assert!(!places.has(&used) && !places.has(&used.join("data")));
        assert!(places.has(&used.join(RECORD)) && places.has(&used.join(REPORT)));
    }

    #[test]
    fn an_earlier_output_is_own_and_a_file_of_the_user_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        let names = ["earlier", "users", "link", "new"];
        let files = names.map(|name| root.join(name));
        fs::write(&files[0], "output").unwrap();
        fs::write(&files[1], "the user's").unwrap();
        std::os::unix::fs::symlink(&files[0], &files[2]).unwrap();
        let output =
            |file| OutputFile { option: "--export-json", file, is_earlier_output: |head| head == "output" };
        let outputs: Vec<OutputFile> = files.iter().map(|file| output(file.as_path())).collect();
        let own = OwnPaths::default().with_replaced(&outputs[1..]);
        assert!(own.paths().is_empty());
        assert_eq!(own.with_replaced(&outputs).with_replaced(&outputs).paths(), &files[..1]);
    }

    #[test]
    fn an_own_path_is_recognised_after_resolving_symbolic_links() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        fs::create_dir(root.join("real")).unwrap();
        std::os::unix::fs::symlink(root.join("real"), root.join("link")).unwrap();
        let places = OwnPaths::of_paths([root.join("link/later")]);
        assert_eq!(places.paths(), [root.join("real/later")]);
    }

    #[test]
    fn each_place_has_what_moves_it_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        let run = fs::canonicalize(folder.path()).unwrap().join("run");
        let own = OwnPaths::of_run([run.as_path()]);
        let moved_by = |path: &Path| {
            let places = own.places_below(Path::new("/"));
            places.into_iter().find(|place| place.path == path).map(|place| place.moved_by)
        };
        assert_eq!(moved_by(&run), Some(Some("the option that names it, such as --output")));
        let resolved = |path: Option<PathBuf>| resolve_links(&path.unwrap()).unwrap();
        assert_eq!(moved_by(&resolved(data_folder())), Some(Some("XDG_DATA_HOME")));
        assert_eq!(moved_by(&resolved(cache_folder())), Some(Some("XDG_CACHE_HOME")));
        assert_eq!(moved_by(Path::new("/tmp")), Some(None), "runtimes write there whatever TMPDIR is");
        let places = own.places_below(&run);
        assert_eq!(places.len(), 1, "{places:?}");
        let words = places[0].to_string();
        assert!(words.ends_with("/run (elsewhere by the option that names it, such as --output)"), "{words}");
    }

    #[test]
    fn scratch_folders_of_this_process_are_own_paths_in_any_folder() {
        let folder = tempfile::tempdir().unwrap();
        let scratch = scratch::ScratchFolder::make(folder.path(), "files").unwrap();
        let places = OwnPaths::default();
        assert!(places.has(scratch.path()));
        assert!(!places.has(&folder.path().join("readlab-files-1-2")), "of another process");
        let temporary = fs::canonicalize(std::env::temp_dir()).unwrap();
        assert!(places.has_any_directly_in(&temporary) && places.has_any_below(&temporary));
        assert!(!places.has_any_below(folder.path()));
    }
}
