//! Divides the files of a tree into groups by size. Each group is raced as a tree. The times of
//! groups with different file sizes separate the cost of a file from the cost of a byte.

use super::list::{ListSource, ListWriter};
use super::{Tree, TreeRequest};
use crate::target::{Target, TargetError};
use readlab_model::target::TargetFacts;
use readlab_model::target::tree::{SizeGroup, TreeOrder};
use readlab_system::folder::scratch::ScratchFolder;
use std::fs;

/// The groups; each has about the same number of files.
const SIZE_GROUPS: [SizeGroup; 3] = [SizeGroup::Smallest, SizeGroup::Middle, SizeGroup::Largest];

const GROUP_FILES_MIN: usize = 2;

/// Least ratio of the size of the last group to the size of the first group. With a smaller ratio
/// the cost of a file and the cost of its bytes cannot be separated.
const SIZE_RATIO_MIN: u64 = 2;

impl Target {
    /// The size groups of a tree, the group with the smallest files first; empty for other targets.
    pub fn size_groups(&self) -> Result<Vec<Target>, TargetError> {
        let (Some(tree), Some(facts)) = (self.tree(), self.facts.tree()) else { return Ok(Vec::new()) };
        let groups = tree.group_numbers(&self.facts.path)?;
        let temporary = std::env::temp_dir();
        let scratch = ScratchFolder::make(&temporary, "groups").map_err(TargetError::io(&temporary))?;
        let lists = SIZE_GROUPS.map(|group| scratch.path().join(group.words()));
        let mut writers = lists.clone().map(ListWriter::create).into_iter().collect::<Result<Vec<_>, _>>()?;
        for (path, group) in tree.paths()?.zip(&groups) {
            writers[usize::from(*group)].add(&path?)?;
        }
        writers.into_iter().try_for_each(|writer| writer.finish().map(drop))?;
        let of = |(group, list): (SizeGroup, &std::path::PathBuf)| {
            // This order keeps the order of the list.
            let order = TreeOrder::Directory;
            let request = TreeRequest { order, ..TreeRequest::by_name(ListSource::List(list.clone())) };
            let mut target = Target::examine_tree(&request)?;
            target.facts = TargetFacts {
                path: format!("{} ({})", self.facts.path, group.words()),
                path_hex: None,
                ..target.facts
            };
            if let Some(own) = target.facts.tree_mut() {
                (own.order, own.group) = (facts.order, Some(group));
            }
            Ok(target)
        };
        SIZE_GROUPS.into_iter().zip(&lists).map(of).collect()
    }
}

impl Tree {
    /// The group number of each file, in the order of the files.
    fn group_numbers(&self, name: &str) -> Result<Vec<u8>, TargetError> {
        let mut sizes = Vec::with_capacity(self.len());
        for (index, path) in (0_u32..).zip(self.paths()?) {
            let path = path?;
            sizes.push((fs::metadata(&path).map_err(TargetError::io(&path))?.len(), index));
        }
        sizes.sort_unstable();
        let count = sizes.len();
        let group_of = |rank: usize| u8::try_from(rank * SIZE_GROUPS.len() / count).expect("one of three");
        let size_of = |group: u8| -> u64 {
            let of_group = sizes.iter().enumerate().filter(|(rank, _)| group_of(*rank) == group);
            of_group.map(|(_, (size, _))| size).sum()
        };
        let refuse = |why: &str| Err(TargetError::Refused(format!("{name}: {why}")));
        if count < GROUP_FILES_MIN * SIZE_GROUPS.len() {
            return refuse("too few files to be grouped by size");
        }
        if size_of(2) < SIZE_RATIO_MIN * size_of(0).max(1) {
            return refuse(
                "its files are of nearly one size, so that what a file costs cannot be told from what its bytes cost",
            );
        }
        let mut groups = vec![0; count];
        for (rank, (_, index)) in sizes.iter().enumerate() {
            groups[*index as usize] = group_of(rank);
        }
        Ok(groups)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree_of_sizes(sizes: &[usize]) -> (tempfile::TempDir, Target) {
        let folder = tempfile::tempdir().unwrap();
        for (index, size) in sizes.iter().enumerate() {
            fs::write(folder.path().join(format!("{index:02}")), "x".repeat(*size)).unwrap();
        }
        let source = ListSource::Folder(folder.path().to_owned());
        (folder, Target::examine_tree(&TreeRequest::by_name(source)).unwrap())
    }

    fn names(target: &Target) -> Vec<String> {
        let name = |path: Result<std::path::PathBuf, TargetError>| {
            path.unwrap().file_name().unwrap().to_str().unwrap().to_owned()
        };
        target.tree().unwrap().paths().unwrap().map(name).collect()
    }

    #[test]
    fn each_file_is_in_the_group_of_its_size_and_order_is_kept() {
        let (_folder, target) = tree_of_sizes(&[900, 1, 30, 2, 800, 40, 3, 20]);
        let groups = target.size_groups().unwrap();
        let found: Vec<Vec<String>> = groups.iter().map(names).collect();
        assert_eq!(found, [vec!["01", "03", "06"], vec!["02", "05", "07"], vec!["00", "04"]]);
        assert_eq!(groups.iter().map(|it| it.facts.size_bytes).collect::<Vec<_>>(), [6, 90, 1700]);
        let facts = groups[2].facts.tree().unwrap();
        assert_eq!((facts.group, facts.order), (Some(SizeGroup::Largest), TreeOrder::Name));
        assert!(groups[2].facts.path.ends_with(" (largest third of its files)"));
    }

    #[test]
    fn too_few_files_and_files_of_one_size_have_no_groups() {
        let why = |sizes: &[usize]| tree_of_sizes(sizes).1.size_groups().unwrap_err().to_string();
        assert!(why(&[1, 2, 3, 4, 500]).ends_with("too few files to be grouped by size"));
        assert!(why(&[100, 101, 102, 103, 104, 190]).contains("of nearly one size"));
        assert!(why(&[0; 6]).contains("of nearly one size"));
    }
}
