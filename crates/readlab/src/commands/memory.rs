//! Options of bounds on memory under which trials are read.

use clap::Args;
use readlab_model::target::memory::MemoryBound;
use readlab_run::experiment::memory::MemoryBounds;

/// Options that bound the memory of contenders.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Memory")]
pub struct MemoryOptions {
    /// Also read in control groups whose page cache is bounded: to a size, or to a share of what is
    /// read, for example 25%,50%,200%. Root, or a user with a delegated group: systemd-run --user
    /// --scope --property=Delegate=yes readlab …
    #[arg(long, value_name = "SIZE|SHARE,…", value_delimiter = ',')]
    pub memory: Vec<MemoryBound>,
}

impl MemoryOptions {
    pub(super) fn is_given(&self) -> bool {
        !self.memory.is_empty()
    }

    pub(super) fn bounds(&self, is_shared: bool) -> anyhow::Result<MemoryBounds> {
        MemoryBounds::new(self.memory.clone(), is_shared)
    }
}
