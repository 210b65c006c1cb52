//! The order in which the files of a tree are read.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use readlab_model::target::tree::TreeOrder;

/// A file while its place is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    /// Where its path begins.
    pub(super) at: u64,
    pub(super) inode: u64,
}

/// Puts files in order; whether they may have another now. Those of a folder were walked by
/// name already.
pub(super) fn arrange(order: TreeOrder, entries: &mut [Entry], seed: u64) -> bool {
    match order {
        TreeOrder::Directory | TreeOrder::Name => return false,
        TreeOrder::Inode => entries.sort_by_key(|entry| entry.inode),
        TreeOrder::Shuffled => entries.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed)),
    }
    true
}
