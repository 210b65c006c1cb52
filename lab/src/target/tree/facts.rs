//! What a record keeps about the files of a tree.

use super::list::INPUT;
use super::order::TreeOrder;
use super::size_groups::SizeGroup;
use super::{Found, ListSource, TreeRequest};
use crate::folder::own_places::OwnPlaces;
use crate::target::filesystem::Filesystem;
use crate::target::{caution, shown};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Facts about the files of a tree.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeFacts {
    pub files: u64,
    /// The folders in which they are; 0 if a list named them.
    pub folders: u64,
    pub largest_bytes: u64,
    /// Bytes of files that have another name in the tree: a device is asked for them once.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub repeated_bytes: u64,
    /// The order in which they are read by methods that do not walk.
    pub order: TreeOrder,
    /// Whether a list named them, whose path or `-` is that of the target.
    pub is_listed: bool,
    /// Paths that the list had more than once; each is read once.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub duplicates: u64,
    /// What in the folder is not read.
    pub skipped: Skipped,
    /// Whether links below the folder were followed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub follows_links: bool,
    /// Where readlab writes below the folder, which is not read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own: Vec<String>,
    /// Whether names and inodes were cold before cold readings, too.
    pub is_metadata_cold: bool,
    /// Which of the files it has, where the tree is raced by groups, too; `None` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<SizeGroup>,
}

/// What in a folder is no file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// Symbolic links, wherever they lead.
    pub links: u64,
    pub pipes: u64,
    pub sockets: u64,
    pub devices: u64,
}

impl Skipped {
    /// In words, such as `2 links and 1 pipe`; `None` if nothing was skipped.
    pub fn words(&self) -> Option<String> {
        let counted =
            [(self.links, "link"), (self.pipes, "pipe"), (self.sockets, "socket"), (self.devices, "device")];
        let words = counted.iter().filter(|(count, _)| *count > 0);
        let words: Vec<String> = words
            .map(|(count, noun)| format!("{count} {noun}{}", if *count == 1 { "" } else { "s" }))
            .collect();
        let (last, others) = words.split_last()?;
        Some(if others.is_empty() { last.clone() } else { format!("{} and {last}", others.join(", ")) })
    }

    /// How what is behind links is read, as the end of a sentence.
    fn way_out(&self, follows_links: bool) -> &'static str {
        match (self.links, follows_links) {
            (0, _) => "",
            (_, true) => " (links that lead nowhere, or back to a folder above them)",
            (_, false) => " (--follow reads what links lead to)",
        }
    }

    /// What is there instead of files, as the end of a sentence that says there are none.
    pub(super) fn words_of_none(&self, follows_links: bool) -> String {
        let way_out = self.way_out(follows_links);
        self.words().map_or_else(String::new, |words| format!(", only {words}{way_out}"))
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl TreeFacts {
    /// The request that finds these files again, at the same place.
    pub fn request(&self, place: &Path, seed: u64) -> TreeRequest {
        let place = place.to_owned();
        let source = match self.is_listed {
            false => ListSource::Folder(place),
            true if place.as_os_str() == INPUT => ListSource::Input,
            true => ListSource::List(place),
        };
        let own = OwnPlaces::at(self.own.iter().map(PathBuf::from));
        TreeRequest { source, order: self.order, seed, follows_links: self.follows_links, own }
    }
}

impl Found {
    pub(super) fn into_facts(self, request: &TreeRequest) -> TreeFacts {
        TreeFacts {
            files: self.files,
            folders: self.folders,
            largest_bytes: self.largest_bytes,
            repeated_bytes: self.repeated_bytes,
            order: request.order,
            is_listed: !matches!(request.source, ListSource::Folder(_)),
            duplicates: self.duplicates,
            skipped: self.skipped,
            follows_links: request.follows_links,
            own: self.own.paths().iter().map(|path| path.to_string_lossy().into_owned()).collect(),
            is_metadata_cold: false,
            group: None,
        }
    }

    /// What a reader of the numbers should know.
    pub(super) fn cautions(&self, filesystem: Filesystem, request: &TreeRequest) -> Vec<String> {
        let mut cautions = caution::of_files(self.bytes, filesystem, self.extents.as_ref());
        let way_out = self.skipped.way_out(request.follows_links);
        let skipped = self.skipped.words();
        cautions.extend(skipped.map(|words| format!("Not read, for they are no files: {words}{way_out}.")));
        let own: Vec<String> = self.own.paths().iter().map(|path| shown(path)).collect();
        if !own.is_empty() {
            cautions.push(format!("Not read, for readlab writes there: {}.", own.join(", ")));
        }
        if self.duplicates > 0 {
            cautions.push(format!(
                "The list names files more than once: {} names were left out.",
                self.duplicates
            ));
        }
        if self.repeated_bytes > 0 {
            cautions.push(
                "Some files have several names in the tree: the second reading of one finds its pages in the cache."
                    .to_owned(),
            );
        }
        cautions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_skipped_is_counted_in_words() {
        let skipped = |links, pipes, sockets| Skipped { links, pipes, sockets, devices: 0 };
        assert_eq!(skipped(0, 0, 0).words(), None);
        assert_eq!(skipped(1, 0, 0).words().unwrap(), "1 link");
        assert_eq!(skipped(2, 1, 3).words().unwrap(), "2 links, 1 pipe and 3 sockets");
    }
}
