//! The places where readlab writes while it measures: they are no part of a folder that is raced.

use super::{FLAME_GRAPHS, RECORD, RECORD_DRAFT, REPORT, output_file, runs, scratch};
use std::fs;
use std::path::{Path, PathBuf};

/// Whole paths of files and folders.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnPlaces(Vec<PathBuf>);

impl OwnPlaces {
    /// Those of a run that writes into these folders, and into the user's own for data and caches.
    pub fn of_run<'p>(outputs: impl IntoIterator<Item = &'p Path>) -> OwnPlaces {
        use etcetera::BaseStrategy;
        let data = runs().ok().and_then(|runs| runs.parent().map(Path::to_owned));
        let cache = etcetera::choose_base_strategy().ok().map(|base| base.cache_dir().join("readlab"));
        OwnPlaces::at(data.into_iter().chain(cache).chain(outputs.into_iter().flat_map(in_output)))
            .with_streams()
    }

    /// And the files that standard output and standard error go to.
    #[must_use]
    pub fn with_streams(mut self) -> OwnPlaces {
        for path in output_file::streams() {
            if !self.0.contains(&path) {
                self.0.push(path);
            }
        }
        self
    }

    pub fn at(paths: impl IntoIterator<Item = PathBuf>) -> OwnPlaces {
        OwnPlaces(paths.into_iter().filter_map(|path| real(&path)).collect())
    }

    /// Those below a folder, whose path has no links.
    pub fn below(&self, folder: &Path) -> OwnPlaces {
        OwnPlaces(self.0.iter().filter(|place| place.starts_with(folder)).cloned().collect())
    }

    pub fn paths(&self) -> &[PathBuf] {
        &self.0
    }

    /// Whether there are any below a folder, scratch folders included.
    pub fn reach(&self, folder: &Path) -> bool {
        !self.below(folder).0.is_empty() || scratch::is_below(folder)
    }

    /// Whether a file or a folder is one of them, or a scratch folder of this process.
    pub fn has(&self, path: &Path) -> bool {
        self.0.iter().any(|place| place == path) || scratch::is_own(path)
    }

    /// Whether one of them is or will be in this folder, and not in one below it.
    pub fn are_in(&self, folder: &Path) -> bool {
        self.0.iter().any(|place| place.parent() == Some(folder)) || scratch::is_parent(folder)
    }
}

/// What a run writes into its output folder: all of one that it makes, else what it adds.
fn in_output(folder: &Path) -> Vec<PathBuf> {
    let is_new = fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none());
    match is_new {
        true => vec![folder.to_owned()],
        false => [RECORD, RECORD_DRAFT, REPORT, FLAME_GRAPHS].map(|name| folder.join(name)).into(),
    }
}

/// A path without links, as far as there is something.
fn real(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    let (real, there) = path.ancestors().find_map(|it| Some((fs::canonicalize(it).ok()?, it)))?;
    let rest = path.strip_prefix(there).ok()?;
    Some(if rest.as_os_str().is_empty() { real } else { real.join(rest) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_folder_is_own_if_it_is_new_and_else_what_is_added_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        let (new, used) = (root.join("new/run"), root.join("used"));
        fs::create_dir(&used).unwrap();
        fs::write(used.join("data"), "x").unwrap();
        let places = OwnPlaces::of_run([new.as_path()]).below(&root);
        assert!(places.has(&new) && places.are_in(&root.join("new")) && !places.are_in(&root));
        let places = OwnPlaces::of_run([used.as_path()]).below(&root);
        assert!(!places.has(&used) && !places.has(&used.join("data")));
        assert!(places.has(&used.join(RECORD)) && places.has(&used.join(REPORT)));
    }

    #[test]
    fn a_place_is_known_by_its_path_without_links() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        fs::create_dir(root.join("real")).unwrap();
        std::os::unix::fs::symlink(root.join("real"), root.join("link")).unwrap();
        let places = OwnPlaces::at([root.join("link/later")]);
        assert_eq!(places.paths(), [root.join("real/later")]);
    }

    #[test]
    fn scratch_folders_of_this_process_are_own_wherever_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let scratch = scratch::Scratch::make(folder.path(), "files").unwrap();
        let places = OwnPlaces::default();
        assert!(places.has(scratch.path()));
        assert!(!places.has(&folder.path().join("readlab-files-1-2")), "of another process");
        let temporary = fs::canonicalize(std::env::temp_dir()).unwrap();
        assert!(places.are_in(&temporary) && places.reach(&temporary));
        assert!(!places.reach(folder.path()));
    }
}
