//! The files of a tree, and the order in which they are read.

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TreeFacts {
    pub files: u64,
    /// The number of folders that contain the files; 0 if a list named the files.
    pub folders: u64,
    pub largest_bytes: u64,
    /// Size of hard links to files that the tree already contains. Their bytes are read from the
    /// device only once.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub repeated_bytes: u64,
    /// The order in which methods that do not walk the tree read the files.
    pub order: TreeOrder,
    /// True if a list named the files. The target's path is then the path of the list, or `-`.
    pub is_listed: bool,
    /// Number of repeated paths in the list; each path is read once.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub duplicates: u64,
    /// Entries of the folder that are not read.
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
}

impl SkippedEntries {
    /// The counts in words, such as `2 links and 1 pipe`; `None` if nothing was skipped.
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
        self.words().map_or_else(String::new, |words| format!(", only {words}{way_out}"))
    }
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
        let skipped = |links, pipes, sockets| SkippedEntries { links, pipes, sockets, devices: 0 };
        assert_eq!(skipped(0, 0, 0).words(), None);
        assert_eq!(skipped(1, 0, 0).words().unwrap(), "1 link");
        assert_eq!(skipped(2, 1, 3).words().unwrap(), "2 links, 1 pipe and 3 sockets");
    }
}
