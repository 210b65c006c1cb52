//! The order in which the files of a tree are read.

use clap::ValueEnum;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use std::fmt;

/// An order of files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
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

/// A file while its place is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    /// Where its path begins.
    pub(super) at: u64,
    pub(super) inode: u64,
}

impl TreeOrder {
    /// Puts files in order; whether they may have another now. Those of a folder were walked by
    /// name already.
    pub(super) fn arrange(self, entries: &mut [Entry], seed: u64) -> bool {
        match self {
            TreeOrder::Directory | TreeOrder::Name => return false,
            TreeOrder::Inode => entries.sort_by_key(|entry| entry.inode),
            TreeOrder::Shuffled => entries.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed)),
        }
        true
    }
}

impl fmt::Display for TreeOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            TreeOrder::Directory => "directory",
            TreeOrder::Name => "name",
            TreeOrder::Inode => "inode",
            TreeOrder::Shuffled => "shuffled",
        })
    }
}
