//! `readlab sweep DIR`: files of many sizes are written, settled, evicted and read again; rate by
//! size, the straight line through time on size, and what leaves it.

use super::options::OutputOptions;
use super::output;
use clap::Args;
use readlab_run::experiment::sweep::config::SweepConfig;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct SweepArgs {
    #[command(flatten)]
    pub config: SweepConfig,
    #[command(flatten)]
    pub output: OutputOptions,
}

pub fn run(args: &SweepArgs) -> anyhow::Result<ExitCode> {
    output::run_sweep(&args.config, &args.output)
}
