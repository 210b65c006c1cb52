//! The files of a tree, and the order in which they are read.

use crate::enumeration::enumeration;
use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TreeFacts {
    pub files: u64,
    /// The number of folders that contain the files; 0 if a list named the files.
    pub folders: u64,
    pub largest_bytes: u64,
    /// Size of files that the tree already contains under another name. Their bytes are read from
    /// the device only once.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub repeated_bytes: u64,
    /// The order in which methods that do not walk the tree read the files.
    pub order: TreeOrder,
    /// True if a list named the files. The target's path is then the path of the list, or `-`.
    pub is_listed: bool,
    /// Number of repeated paths in the list; each path is read once.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub duplicates: u64,
    /// Entries of the folder or the list that are not read.
    pub skipped: SkippedEntries,
    /// True if symbolic links below the folder were followed.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub follows_links: bool,
    /// Folders below the target in which readlab writes; they are not read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "own")]
    pub own_folders: Vec<String>,
    /// True if names and inodes were also evicted before cold readings.
    pub is_metadata_cold: bool,
    /// The size group that this target consists of, if the tree is also raced by size groups;
    /// `None` for all files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<SizeGroup>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename = "Skipped")]
pub struct SkippedEntries {
    /// Symbolic links, whatever they point to.
    pub links: u64,
    pub pipes: u64,
    pub sockets: u64,
    pub devices: u64,
    /// Folders that a list names.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub folders: u64,
    /// Names of a list that name nothing, and files that were removed while the tree was examined.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub missing: u64,
    /// Files and folders that cannot be read: the user may not, their file system is gone, or their
    /// path is too long.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub unreadable: u64,
    /// Files on another file system than the files that are read.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub other_filesystem: u64,
}

impl SkippedEntries {
    /// The counts of links, pipes, sockets and devices in words, such as `2 links and 1 pipe`; `None`
    /// if there are none.
    pub fn words(&self) -> Option<String> {
        count_words(&[
            (self.links, "link", "links"),
            (self.pipes, "pipe", "pipes"),
            (self.sockets, "socket", "sockets"),
            (self.devices, "device", "devices"),
        ])
    }

    /// The counts of all other entries in words; `None` if there are none.
    pub fn left_out_words(&self) -> Option<String> {
        count_words(&[
            (self.folders, "folder of the list", "folders of the list"),
            (self.missing, "name without a file", "names without a file"),
            (self.unreadable, "file or folder that cannot be read", "files or folders that cannot be read"),
            (self.other_filesystem, "file on another file system", "files on another file system"),
        ])
    }

    /// True if a contender that walks the folder would read other files than the list has, or fail.
    pub fn changes_walks(&self) -> bool {
        self.unreadable + self.other_filesystem > 0
    }

    /// The end of a sentence that states how to read what links point to.
    pub fn link_hint(&self, follows_links: bool) -> &'static str {
        match (self.links, follows_links) {
            (0, _) => "",
            (_, true) => " (links that lead nowhere, or back to a folder above them)",
            (_, false) => " (--follow reads what links lead to)",
        }
    }

    /// The end of a sentence that states that there are no files. It names what was found instead.
    pub fn words_instead_of_files(&self, follows_links: bool) -> String {
        let way_out = self.link_hint(follows_links);
        let kinds = self.words().map(|words| format!("{words}{way_out}"));
        let all: Vec<String> = kinds.into_iter().chain(self.left_out_words()).collect();
        if all.is_empty() { String::new() } else { format!(", only {}", all.join(", ")) }
    }
}

/// Counts in words, each with its noun for one and for several; `None` if all counts are 0.
fn count_words(counts: &[(u64, &str, &str)]) -> Option<String> {
    let counts = counts.iter().filter(|(count, ..)| *count > 0);
    let words: Vec<String> = counts
        .map(|(count, one, several)| format!("{count} {}", if *count == 1 { one } else { several }))
        .collect();
    (!words.is_empty()).then(|| enumeration(&words, "and"))
}

/// The order in which the files of a tree are read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum TreeOrder {
    /// As the file system lists each folder, or as the list has them
    #[default]
    Directory,
    /// By name within each folder
    Name,
    /// By the number of the inode
    Inode,
    /// Shuffled by the seed
    Shuffled,
}

crate::worded! { TreeOrder { Directory = "directory", Name = "name", Inode = "inode", Shuffled = "shuffled" } }

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SizeGroup {
    /// The third with the smallest files.
    Smallest,
    /// The files between the smallest and the largest third.
    Middle,
    /// The third with the largest files.
    Largest,
}

impl SizeGroup {
    pub fn words(self) -> &'static str {
        match self {
            SizeGroup::Smallest => "smallest third of its files",
            SizeGroup::Middle => "middle third of its files",
            SizeGroup::Largest => "largest third of its files",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_entries_are_counted_in_words() {
        let skipped =
            |links, pipes, sockets| SkippedEntries { links, pipes, sockets, ..SkippedEntries::default() };
        assert_eq!(skipped(0, 0, 0).words(), None);
        assert_eq!(skipped(1, 0, 0).words().unwrap(), "1 link");
        assert_eq!(skipped(2, 1, 3).words().unwrap(), "2 links, 1 pipe and 3 sockets");
        let odd = SkippedEntries { folders: 2, missing: 1, unreadable: 1, ..skipped(0, 1, 0) };
        assert_eq!(odd.words().unwrap(), "1 pipe");
        let left_out =
            "2 folders of the list, 1 name without a file and 1 file or folder that cannot be read";
        assert_eq!(odd.left_out_words().unwrap(), left_out);
        assert_eq!(odd.words_instead_of_files(false), format!(", only 1 pipe, {left_out}"));
        assert!(odd.changes_walks() && !skipped(1, 1, 1).changes_walks());
    }
}
