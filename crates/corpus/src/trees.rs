//! Deterministic trees of files that are read as a whole. File sizes are distributed as in source
//! code, in collections of pictures, or in the shards of a data set.
//!
//! A tree is written under a temporary name and renamed when it is complete, with a note beside it
//! as for files. Every number comes from xoshiro256++ by integer arithmetic alone.

use super::note::{MADE_BY, NOTE_SUFFIX, give_name, note_path};
use super::pieces::Pieces;
use super::tree_truth::truth_of_files;
use super::{
    CleanReport, CorpusError, PART_PREFIX, PART_SUFFIX, check_space, create_part_file, io_error_at,
    make_folder, names_in,
};
use clap::ValueEnum;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use readlab_model::corpus::{CorpusKind, Recipe};
use readlab_model::units::Bytes;
use readlab_system::{filesystem, interrupt};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::ops::Bound;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// The version of the generator. A tree of another version counts as another tree.
const VERSION: u32 = 1;

/// Largest number of files in a tree.
pub const FILES_MAX: u64 = 10_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum TreeKind {
    /// Text files of a few kilobytes in many nested folders, like source code
    Source,
    /// Files of a few megabytes, like pictures
    Pictures,
    /// Large files of nearly one size in one folder, like the shards of a data set
    Shards,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeRecipe {
    pub kind: TreeKind,
    /// Number of files.
    #[serde(rename = "files")]
    pub file_count: u64,
    pub seed: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CorpusTree {
    pub path: PathBuf,
    pub recipe: TreeRecipe,
    pub size_bytes: u64,
    pub digest: String,
    pub was_reused: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TreeNote {
    made_by: String,
    tree_version: u32,
    tree: TreeRecipe,
    size_bytes: u64,
    digest: String,
}

readlab_model::worded! { TreeKind { Source = "source", Pictures = "pictures", Shards = "shards" } }

impl TreeKind {
    /// The deciles of the file sizes, in bytes, from the smallest to the largest file; between two
    /// deciles all sizes are equally likely. Modelled on source trees (median about 5 kB, a few
    /// files a hundred times as large), photographs of phones, and shards of 16 MB.
    fn size_deciles_bytes(self) -> [u64; 11] {
        match self {
            TreeKind::Source => [0, 250, 800, 1_700, 3_100, 5_000, 7_800, 12_000, 19_000, 34_000, 400_000],
            TreeKind::Pictures => [
                150_000, 900_000, 1_400_000, 1_900_000, 2_300_000, 2_800_000, 3_300_000, 3_900_000,
                4_700_000, 5_900_000, 11_000_000,
            ],
            TreeKind::Shards => [
                14_000_000, 15_500_000, 15_700_000, 15_800_000, 15_900_000, 16_000_000, 16_100_000,
                16_200_000, 16_300_000, 16_500_000, 18_000_000,
            ],
        }
    }

    fn file_recipe(self, size_bytes: u64, seed: u64) -> Recipe {
        let kind = if self == TreeKind::Source { CorpusKind::Lines } else { CorpusKind::Random };
        Recipe { kind, size_bytes, seed }
    }

    /// The path of a file in the tree. Source code has two levels of twenty folders with twenty
    /// files each, pictures have folders of five hundred files, and shards one folder.
    fn file_path(self, index: u64) -> PathBuf {
        match self {
            TreeKind::Source => {
                let folder = index / 20;
                format!("m{:04}/p{:02}/f{:02}.txt", folder / 20, folder % 20, index % 20).into()
            }
            TreeKind::Pictures => format!("{:04}/{:03}.bin", index / 500, index % 500).into(),
            TreeKind::Shards => format!("shard-{index:06}.bin").into(),
        }
    }
}

impl TreeRecipe {
    /// A folder name that states every part of the recipe, for example `source-20000files-seed1`.
    pub fn folder_name(&self) -> String {
        format!("{}-{}files-seed{}", self.kind.word(), self.file_count, self.seed)
    }

    /// Parses the recipe in the temporary name of a tree; `None` if it is not such a name.
    fn from_part_name(name: &str) -> Option<TreeRecipe> {
        let (named, _) = name.strip_prefix(PART_PREFIX)?.strip_suffix(PART_SUFFIX)?.rsplit_once('-')?;
        let (kind, rest) = named.split_once('-')?;
        let (files, seed) = rest.split_once("files-seed")?;
        let kind = TreeKind::value_variants().iter().find(|it| it.word() == kind)?;
        let files = files.parse().ok().filter(|&files| files <= FILES_MAX)?;
        Some(TreeRecipe { kind: *kind, file_count: files, seed: seed.parse().ok()? })
    }

    fn file_sizes_bytes(&self) -> impl Iterator<Item = u64> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        let deciles = self.kind.size_deciles_bytes();
        (0..self.file_count).map(move |_| {
            let drawn = random.next_u64();
            let tenth = usize::try_from(drawn % 10).expect("below ten");
            let (low, high) = (deciles[tenth], deciles[tenth + 1]);
            low + (drawn >> 8) % (high - low)
        })
    }

    /// Writes all files below a folder; returns their total size.
    fn write(&self, folder: &Path) -> io::Result<u64> {
        let mut whole = 0;
        let mut piece = Vec::new();
        for (index, size_bytes) in (0_u64..).zip(self.file_sizes_bytes()) {
            let path = folder.join(self.kind.file_path(index));
            fs::create_dir_all(path.parent().unwrap_or(folder))?;
            let mut file = File::create_new(&path)?;
            let mut pieces = Pieces::new(self.kind.file_recipe(size_bytes, self.seed.wrapping_add(index)));
            while size_bytes > 0 && pieces.next_into(&mut piece) {
                file.write_all(&piece)?;
            }
            whole += size_bytes;
        }
        Ok(whole)
    }
}

/// The tree of this recipe in `folder`. It is made unless it exists and its files have the digest
/// in its note.
pub fn make(folder: &Path, recipe: TreeRecipe) -> Result<CorpusTree, CorpusError> {
    let path = folder.join(recipe.folder_name());
    if path.symlink_metadata().is_ok() {
        let is_this = |note: &TreeNote| (note.tree_version, note.tree) == (VERSION, recipe);
        return match TreeNote::beside(&path).filter(is_this) {
            Some(note) if content_digest(&path)? == note.digest => Ok(note.into_tree(path, true)),
            _ => Err(CorpusError::NotOurs(path)),
        };
    }
    check_space(folder, recipe.file_sizes_bytes().map(|bytes| bytes.next_multiple_of(4096)).sum())?;
    make_folder(folder)?;
    // The name contains the recipe. If this run is killed, `remove_incomplete_tree` needs it to tell
    // readlab's files from others.
    let prefix = format!("{PART_PREFIX}{}-", recipe.folder_name());
    let part = tempfile::Builder::new().prefix(&prefix).suffix(PART_SUFFIX).tempdir_in(folder);
    let part = part.map_err(io_error_at(folder))?;
    // The lock shows other runs that the tree is being written.
    let lock = File::open(part.path()).map_err(io_error_at(part.path()))?;
    lock.try_lock().map_err(|cause| io_error_at(part.path())(cause.into()))?;
    let size_bytes = recipe.write(part.path()).map_err(io_error_at(part.path()))?;
    filesystem::sync(part.path(), &interrupt::check).map_err(io_error_at(part.path()))?;
    let note = TreeNote {
        made_by: MADE_BY.to_owned(),
        tree_version: VERSION,
        tree: recipe,
        size_bytes,
        digest: content_digest(part.path())?,
    };
    note.write(folder, &path)?;
    fs::rename(part.path(), &path).map_err(io_error_at(&path))?;
    // The folder was renamed, so it must not be removed under its temporary name.
    let _ = part.keep();
    Ok(note.into_tree(path, false))
}

/// The trees that readlab made in `folder`, sorted by name. Their contents are not read.
pub fn list(folder: &Path) -> Result<Vec<CorpusTree>, CorpusError> {
    let mut found = Vec::new();
    for name in names_in(folder)? {
        let Some(name) = name.strip_suffix(NOTE_SUFFIX) else { continue };
        let path = folder.join(name);
        let Some(note) = TreeNote::beside(&path) else { continue };
        if note.tree.folder_name() == name && path.is_dir() {
            found.push(note.into_tree(path, true));
        }
    }
    Ok(found)
}

/// Removes the trees that readlab made, with their notes. Other files in these trees stay, and are
/// returned.
pub(super) fn clean(folder: &Path) -> Result<CleanReport, CorpusError> {
    let mut cleaned = CleanReport::default();
    for tree in list(folder)? {
        let kept = remove_files(&tree.path, &tree.recipe, None).map_err(io_error_at(&tree.path))?;
        // Files that are left of a tree without a note belong to the user.
        let note = note_path(&tree.path);
        fs::remove_file(&note).map_err(io_error_at(&note))?;
        cleaned.removed.extend(kept.is_empty().then_some(tree.path).into_iter().chain([note]));
        cleaned.kept.extend(kept);
    }
    Ok(cleaned)
}

/// Removes the files of a tree that a killed run left incomplete; returns files that readlab did
/// not write.
pub(super) fn remove_incomplete_tree(part: &Path) -> io::Result<Vec<PathBuf>> {
    let name = part.file_name().unwrap_or_default().to_string_lossy();
    let Some(recipe) = TreeRecipe::from_part_name(&name) else { return Ok(vec![part.to_owned()]) };
    let mut paths = (0..recipe.file_count).rev().map(|index| part.join(recipe.kind.file_path(index)));
    // Files are written in order, so only the last existing file may be incomplete.
    let last = paths.find(|path| path.symlink_metadata().is_ok());
    remove_files(part, &recipe, last.as_deref())
}

/// Removes the files of a recipe, and folders that become empty. The file `unfinished` is also
/// removed if it is shorter than in the recipe. Returns the paths that are left; a folder that
/// contains no file of the tree is one path.
fn remove_files(root: &Path, recipe: &TreeRecipe, unfinished: Option<&Path>) -> io::Result<Vec<PathBuf>> {
    let sizes = (0_u64..).zip(recipe.file_sizes_bytes());
    let made: BTreeMap<PathBuf, u64> =
        sizes.map(|(index, size)| (root.join(recipe.kind.file_path(index)), size)).collect();
    let is_made = |path: &Path, size: u64| {
        made.get(path).is_some_and(|&whole| size == whole || size < whole && unfinished == Some(path))
    };
    let below = |folder: &Path| {
        let after = (Bound::Included(folder), Bound::Unbounded);
        made.range::<Path, _>(after).next().is_some_and(|(path, _)| path.starts_with(folder))
    };
    let (mut kept, mut folders) = (Vec::new(), Vec::new());
    let mut walk = WalkDir::new(root).sort_by_file_name().into_iter();
    while let Some(entry) = walk.next() {
        let entry = entry?;
        if entry.file_type().is_dir() && below(entry.path()) {
            folders.push(entry.into_path());
            continue;
        }
        let size = entry.file_type().is_file().then(|| entry.metadata()).transpose()?.map(|meta| meta.len());
        if size.is_some_and(|size| is_made(entry.path(), size)) {
            fs::remove_file(entry.path())?;
            continue;
        }
        if entry.file_type().is_dir() {
            walk.skip_current_dir();
        }
        kept.push(entry.into_path());
    }
    // Deep folders come before the folders that contain them.
    for folder in folders.iter().rev() {
        if !kept.iter().any(|path| path.starts_with(folder)) {
            fs::remove_dir(folder)?;
        }
    }
    Ok(kept)
}

fn content_digest(folder: &Path) -> Result<String, CorpusError> {
    let files = WalkDir::new(folder).into_iter().filter(|entry| {
        let is_file = |entry: &walkdir::DirEntry| entry.file_type().is_file();
        entry.as_ref().map_or(true, is_file)
    });
    let paths = files.map(|entry| entry.map(walkdir::DirEntry::into_path));
    Ok(truth_of_files(paths, &|_| Ok(())).map_err(io_error_at(folder))?.digest)
}

impl TreeNote {
    fn beside(path: &Path) -> Option<TreeNote> {
        let text = fs::read(note_path(path)).ok()?;
        serde_json::from_slice::<TreeNote>(&text).ok().filter(|note| note.made_by == MADE_BY)
    }

    fn write(&self, folder: &Path, path: &Path) -> Result<(), CorpusError> {
        let note = note_path(path);
        let mut part = create_part_file(folder)?;
        let text = serde_json::to_string(self).expect("a note holds only strings and integers");
        writeln!(part, "{text}").map_err(io_error_at(&note))?;
        give_name(part, note)
    }

    fn into_tree(self, path: PathBuf, was_reused: bool) -> CorpusTree {
        let TreeNote { tree: recipe, size_bytes, digest, .. } = self;
        CorpusTree { path, recipe, size_bytes, digest, was_reused }
    }
}

impl std::fmt::Display for CorpusTree {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let files = self.recipe.file_count;
        write!(f, "{}  {files} files of {}  {}", self.path.display(), Bytes(self.size_bytes), self.digest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipe(kind: TreeKind, files: u64) -> TreeRecipe {
        TreeRecipe { kind, file_count: files, seed: 1 }
    }

    #[test]
    fn a_tree_is_deterministic_and_is_made_once() {
        let home = tempfile::tempdir().unwrap();
        let made = make(home.path(), recipe(TreeKind::Source, 45)).unwrap();
        assert_eq!(made.digest, "f95dcc70de4fd3bd", "a change of its bytes needs a new version");
        let files = WalkDir::new(&made.path).into_iter().flatten().filter(|it| it.file_type().is_file());
        assert_eq!(files.count(), 45);
        assert!(made.path.join("m0000/p02/f04.txt").exists() && !made.was_reused);
        let again = make(home.path(), recipe(TreeKind::Source, 45)).unwrap();
        assert_eq!((again.was_reused, &again.digest), (true, &made.digest));
        assert_eq!(list(home.path()).unwrap(), [CorpusTree { was_reused: true, ..made.clone() }]);
        fs::write(made.path.join("m0000/p00/f00.txt"), "changed").unwrap();
        assert!(matches!(make(home.path(), made.recipe), Err(CorpusError::NotOurs(_))));
        fs::remove_file(made.path.join("m0000/p00/f00.txt")).unwrap();
        let removed = super::super::clean(home.path()).unwrap().removed;
        assert_eq!(removed, [made.path.clone(), note_path(&made.path)]);
        assert!(list(home.path()).unwrap().is_empty() && home.path().exists());
    }

    #[test]
    fn a_tree_that_readlab_did_not_make_is_neither_used_nor_removed() {
        let home = tempfile::tempdir().unwrap();
        let foreign = home.path().join(recipe(TreeKind::Source, 2).folder_name());
        fs::create_dir(&foreign).unwrap();
        assert!(matches!(make(home.path(), recipe(TreeKind::Source, 2)), Err(CorpusError::NotOurs(_))));
        assert_eq!(super::super::clean(home.path()).unwrap(), CleanReport::default());
        assert!(foreign.exists());
    }

    #[test]
    fn files_that_others_add_to_a_tree_stay_and_are_reported() {
        let home = tempfile::tempdir().unwrap();
        let tree = make(home.path(), recipe(TreeKind::Source, 45)).unwrap();
        let mine = ["m0000/p01/a note of mine", "m0000/p02/f04.txt", "own"].map(|name| tree.path.join(name));
        fs::write(&mine[0], "x").unwrap();
        // A file of the tree whose content was changed.
        fs::write(&mine[1], "changed").unwrap();
        fs::create_dir_all(mine[2].join("deep")).unwrap();
        fs::write(mine[2].join("deep/file"), "x").unwrap();
        let cleaned = super::super::clean(home.path()).unwrap();
        assert_eq!((cleaned.removed, cleaned.kept.as_slice()), (vec![note_path(&tree.path)], &mine[..]));
        let left = WalkDir::new(&tree.path).into_iter().flatten().filter(|it| it.file_type().is_file());
        assert_eq!(left.count(), 3);
        assert!(!tree.path.join("m0000/p00").exists() && mine[2].join("deep/file").exists());
        assert_eq!(super::super::clean(home.path()).unwrap(), CleanReport::default());
    }

    #[test]
    fn incomplete_trees_of_killed_runs_are_removed_but_not_those_of_running_ones() {
        let home = tempfile::tempdir().unwrap();
        let part = |name: &str| home.path().join(format!("{PART_PREFIX}{name}{PART_SUFFIX}"));
        fs::create_dir_all(part("source-45files-seed1-left").join("m0000")).unwrap();
        fs::create_dir(part("written")).unwrap();
        let lock = File::open(part("written")).unwrap();
        lock.try_lock().unwrap();
        let removed = super::super::clean(home.path()).unwrap().removed;
        assert_eq!(removed, [part("source-45files-seed1-left")]);
        assert!(part("written").exists());
    }

    #[test]
    fn files_that_others_add_to_an_incomplete_tree_stay_and_are_reported() {
        let home = tempfile::tempdir().unwrap();
        let tree = make(home.path(), recipe(TreeKind::Source, 45)).unwrap();
        let name = format!("{PART_PREFIX}{}-x1Y2z3{PART_SUFFIX}", tree.recipe.folder_name());
        let part = home.path().join(name);
        fs::rename(&tree.path, &part).unwrap();
        fs::remove_file(note_path(&tree.path)).unwrap();
        // The run was killed while it wrote the last existing file.
        fs::remove_file(part.join("m0000/p02/f04.txt")).unwrap();
        fs::write(part.join("m0000/p02/f03.txt"), "x").unwrap();
        let mine = ["m0000/p00/f00.txt", "m0000/p01/mine", "own"].map(|name| part.join(name));
        fs::write(&mine[0], "changed").unwrap();
        fs::write(&mine[1], "x").unwrap();
        fs::create_dir(&mine[2]).unwrap();
        let other = home.path().join(format!("{PART_PREFIX}other{PART_SUFFIX}"));
        fs::create_dir(&other).unwrap();
        fs::write(other.join("mine"), "x").unwrap();
        let cleaned = super::super::clean(home.path()).unwrap();
        let kept = [other.clone()].into_iter().chain(mine);
        assert_eq!((cleaned.removed, cleaned.kept), (Vec::new(), kept.collect()));
        let left = WalkDir::new(&part).into_iter().flatten().filter(|it| it.file_type().is_file());
        assert_eq!((left.count(), other.join("mine").exists()), (2, true));
        assert!(!part.join("m0000/p02").exists());
    }

    #[test]
    fn the_temporary_name_of_a_tree_contains_its_recipe() {
        let of = |kind| recipe(kind, FILES_MAX);
        for recipe in [TreeKind::Source, TreeKind::Pictures, TreeKind::Shards].map(of) {
            let name = format!("{PART_PREFIX}{}-aB3{PART_SUFFIX}", recipe.folder_name());
            assert_eq!(TreeRecipe::from_part_name(&name), Some(recipe));
        }
        for other in ["source-45files-seed1", "source-10000001files-seed1-x", "x-1files-seed1-x", "x"] {
            assert_eq!(
                TreeRecipe::from_part_name(&format!("{PART_PREFIX}{other}{PART_SUFFIX}")),
                None,
                "{other}"
            );
        }
    }

    #[test]
    fn file_sizes_follow_the_deciles_of_the_kind() {
        let sizes = |kind| -> Vec<u64> {
            let mut sizes: Vec<u64> = recipe(kind, 2000).file_sizes_bytes().collect();
            sizes.sort_unstable();
            sizes
        };
        let median = |kind| sizes(kind)[1000];
        assert!((4_000..6_500).contains(&median(TreeKind::Source)), "{}", median(TreeKind::Source));
        assert!((2_500_000..3_200_000).contains(&median(TreeKind::Pictures)));
        assert!((15_900_000..16_100_000).contains(&median(TreeKind::Shards)));
        assert!(sizes(TreeKind::Source)[1999] > 200_000);
    }
}
