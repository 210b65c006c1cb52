//! `readlab sweep DIR`: files of many sizes are written, settled, evicted and read again; rate by
//! size, the straight line through time on size, and what leaves it.

use super::options::OutputOptions;
use super::output;
use crate::corpus::recipe::CorpusKind;
use crate::experiment::sweep::config::{Order, SweepConfig};
use crate::experiment::sweep::sizes::Sizes;
use crate::record::WriteWay;
use crate::trial::Work;
use crate::units::Bytes;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `readlab sweep`.
#[derive(Debug, Args)]
pub struct SweepArgs {
    /// Where the files are written, in a folder that is removed at the end; with --read-only, a
    /// folder that was kept
    pub dir: PathBuf,
    /// Sizes: a list, or ranges in steps of 1, 2 and 5, such as 10kB,1MB or 10kB..2GB [default: 14
    /// from 10 kB to 2 GB]
    #[arg(long, value_name = "SIZES")]
    pub sizes: Option<Sizes>,
    /// Files of each size, written by cycling through the sizes
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: u32,
    /// What the files hold: a is the byte 0x41; random is for devices that compress or remove
    /// duplicates
    #[arg(long, value_name = "KIND", default_value = "a")]
    pub fill: CorpusKind,
    /// How the files are written
    #[arg(long, value_name = "WAY", default_value = "plain")]
    pub write: WriteWay,
    /// The order of reading
    #[arg(long, value_name = "ORDER", default_value = "directory")]
    pub order: Order,
    /// Methods that read; may be repeated [default: read, direct and dontcache of contender rust]
    #[arg(long = "method", value_name = "TRIAL")]
    pub methods: Vec<String>,
    /// What is done with the bytes
    #[arg(long, value_name = "WORK", default_value = "discard")]
    pub work: Work,
    /// Refuse to write more than this
    #[arg(long, value_name = "SIZE")]
    pub max_bytes: Option<Bytes>,
    /// Keep the files, to be read again with --read-only, perhaps after a restart
    #[arg(long)]
    pub keep: bool,
    /// Write nothing: read a folder that was kept
    #[arg(long, conflicts_with_all = ["sizes", "repeat", "fill", "write", "max_bytes", "keep"])]
    pub read_only: bool,
    /// Seed of contents and shuffles; recorded in any case
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// What is shown and saved.
    #[command(flatten)]
    pub output: OutputOptions,
}

/// Writes the files, reads them, and shows what was found.
///
/// # Errors
/// If the folder cannot be used, a method is misspelled, or the record cannot be written.
pub fn run(args: &SweepArgs) -> anyhow::Result<ExitCode> {
    output::run_sweep(&args.config(), &args.output)
}

impl SweepArgs {
    fn config(&self) -> SweepConfig {
        SweepConfig {
            dir: self.dir.clone(),
            sizes: self.sizes.clone(),
            repeat: self.repeat,
            fill: self.fill,
            write: self.write,
            order: self.order,
            methods: self.methods.clone(),
            work: self.work,
            max_bytes: self.max_bytes.map(|bytes| bytes.0),
            keep: self.keep,
            read_only: self.read_only,
            seed: self.seed,
        }
    }
}
