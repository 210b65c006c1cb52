//! The number of names of each kind below a folder, which proves a walk that reads no byte of a file.

/// The number of names of each kind below a folder, without the folder itself. Links are counted and
/// not followed. A file with several names counts once for each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NameCounts {
    /// Names of regular files.
    pub files: u64,
    /// Names of folders.
    pub folders: u64,
    /// Symbolic links.
    pub links: u64,
    /// Everything else: pipes, sockets, devices.
    pub others: u64,
}

impl NameCounts {
    /// The sums over both counts.
    #[must_use]
    pub fn merge(self, other: NameCounts) -> NameCounts {
        NameCounts {
            files: self.files + other.files,
            folders: self.folders + other.folders,
            links: self.links + other.links,
            others: self.others + other.others,
        }
    }
}
