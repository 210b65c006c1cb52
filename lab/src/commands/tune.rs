//! `readlab tune TARGET`: which method, buffer, depth and threads are the fastest, in a fraction of
//! the readings that measuring them all would take; what to use, how sure that is, and the code for
//! it.

use super::run;
use super::run_config::RunConfig;
use super::target_spec::TargetSpec;
use crate::analysis::stats::EXHAUSTIVE_READINGS;
use crate::commands::options::{InspectOptions, OutputOptions, SamplingOptions, SelectionOptions};
use crate::record::RunKind;
use crate::suite::parameter_space::Space;
use crate::suite::{States, Suite};
use crate::trial::{Params, Transport, Work};
use crate::units::Nanos;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `readlab tune`.
#[derive(Debug, Args)]
pub struct TuneArgs {
    /// The file to read
    #[arg(value_name = "TARGET")]
    pub target: PathBuf,
    /// Methods to search, such as 'rust/mmap' or 'java/*'; may be repeated [default: those of
    /// contender rust with settings]
    #[arg(long = "method", value_name = "GLOB", help_heading = "Searching")]
    pub methods: Vec<String>,
    /// Settings to search: ranges that double, and lists, such as
    /// buffer=4KiB..8MiB,depth=1..64,threads=1..all,direct=0|1 [default: buffers of 16 KiB to 4
    /// MiB, depths of 1 to 64, threads up to the processors, and switches]
    #[arg(long, value_name = "SPACE", help_heading = "Searching")]
    pub space: Option<Space>,
    /// State of the page cache when the clock starts [default: both; of a URL, unknown]
    #[arg(long, value_name = "STATE", help_heading = "Searching")]
    pub state: Option<States>,
    /// What is done with the bytes [default: newlines for text, sum for anything else]
    #[arg(long, value_name = "WORK", help_heading = "Searching")]
    pub work: Option<Work>,
    /// The trial against which the best is held [default: Rust's BufReader as it comes]
    #[arg(long, value_name = "TRIAL", help_heading = "Searching")]
    pub reference: Option<String>,
    /// Time for the whole run; the search takes at most seven tenths of it
    #[arg(long, value_name = "TIME", default_value = "5m", help_heading = "Searching")]
    pub budget: Nanos,
    /// Seed of every shuffle; recorded in any case
    #[arg(long, value_name = "N", help_heading = "Searching")]
    pub seed: Option<u64>,
    /// As root: also drop the caches of the whole machine before each cold reading
    #[arg(long, help_heading = "Searching")]
    pub drop_caches: bool,
    /// Let a block device be the target; like every target, it is only ever read
    #[arg(long, help_heading = "Searching")]
    pub allow_device: bool,
    /// A roster with further contenders, as in contenders/roster.toml; may be repeated
    #[arg(long = "roster", value_name = "FILE", help_heading = "Searching")]
    pub rosters: Vec<PathBuf>,
    /// What is looked at inside.
    #[command(flatten)]
    pub looking: InspectOptions,
    /// What is shown and kept.
    #[command(flatten)]
    pub giving: OutputOptions,
}

/// Searches, measures the best afresh, and advises.
///
/// # Errors
/// If the target cannot be read, no method matches, or the record cannot be written.
pub fn run(args: &TuneArgs) -> anyhow::Result<ExitCode> {
    let (suite, space) = (Suite::find("tune")?, args.space.clone().unwrap_or_else(Space::usual));
    let asked = RunConfig {
        kind: RunKind::Tune,
        suite: &suite,
        space: Some(&space),
        measuring: &args.measuring(),
        choosing: &args.choosing(),
        looking: &args.looking,
        giving: &args.giving,
    };
    run::each(&asked, &[vec![TargetSpec::plain(&args.target, Transport::File)]])
}

impl TuneArgs {
    /// The rules of the fresh measurement: each of the chosen once in each of ten rounds, each
    /// round on a fill of its own.
    fn measuring(&self) -> SamplingOptions {
        let readings = u32::try_from(EXHAUSTIVE_READINGS).expect("ten");
        SamplingOptions {
            warmup: 1,
            runs: Some(readings),
            min_runs: readings,
            max_runs: readings,
            max_time: Some(Nanos(u64::MAX)),
            budget: Some(self.budget),
            precision: 0.01,
            fills: readings,
            state: self.state,
            seed: self.seed,
            drop_caches: self.drop_caches,
            allow_device: self.allow_device,
        }
    }

    fn choosing(&self) -> SelectionOptions {
        SelectionOptions {
            methods: self.methods.clone(),
            params: Params::default(),
            commands: Vec::new(),
            work: self.work,
            reference: self.reference.clone(),
            rosters: self.rosters.clone(),
        }
    }
}
