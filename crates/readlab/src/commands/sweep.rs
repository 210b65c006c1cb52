//! `readlab sweep DIR`: files of many sizes are written, settled, evicted and read again; rate by
//! size, the straight line through time on size, and what leaves it.

use super::options::OutputOptions;
use super::output;
use clap::Args;
use readlab_model::trial::Work;
use readlab_model::units::Bytes;
use readlab_record::WriteWay;
use readlab_run::experiment::sweep::config::{Order, SweepConfig};
use readlab_run::experiment::sweep::sizes::Sizes;
use readlab_targets::corpus::recipe::CorpusKind;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `readlab sweep`.
#[derive(Debug, Args)]
pub struct SweepArgs {
    /// Folder in which a temporary folder with the files is made; with --read-only, a folder from
    /// an earlier --keep
    pub dir: PathBuf,
    /// Sizes, as a list or as ranges in steps of 1, 2 and 5, for example 10kB,1MB or 10kB..2GB
    /// [default: 14 sizes from 10 kB to 2 GB]
    #[arg(long, value_name = "SIZES")]
    pub sizes: Option<Sizes>,
    /// Number of files of each size; they are written in turns, size by size
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: u32,
    /// Content of the files; choose random for devices that compress or deduplicate
    #[arg(long, value_name = "KIND", default_value = "a")]
    pub fill: CorpusKind,
    /// How the files are written
    #[arg(long, value_name = "WAY", default_value = "plain")]
    pub write: WriteWay,
    /// The order of reading
    #[arg(long, value_name = "ORDER", default_value = "directory")]
    pub order: Order,
    /// Methods to measure; may be repeated [default: whole, read, direct and dontcache of contender
    /// rust]
    #[arg(long = "method", value_name = "TRIAL")]
    pub methods: Vec<String>,
    /// What each method does with the bytes
    #[arg(long, value_name = "WORK", default_value = "discard")]
    pub work: Work,
    /// Refuse to write more than this
    #[arg(long, value_name = "SIZE")]
    pub max_bytes: Option<Bytes>,
    /// Read each file once, untimed, right before its cold reading: caches below the file system
    /// then hold it; for comparison with a sweep without this
    #[arg(long)]
    pub primed: bool,
    /// Keep the files, for another run with --read-only, for example after a restart
    #[arg(long)]
    pub keep: bool,
    /// Write nothing; read the files of a folder from an earlier --keep
    #[arg(long, conflicts_with_all = ["sizes", "repeat", "fill", "write", "max_bytes", "keep"])]
    pub read_only: bool,
    /// Seed of contents and shuffles; always recorded
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// What a run prints and writes.
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
            primed: self.primed,
            keep: self.keep,
            read_only: self.read_only,
            seed: self.seed,
        }
    }
}
