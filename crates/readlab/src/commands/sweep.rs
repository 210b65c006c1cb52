//! `readlab sweep DIR`: writes files of many sizes, writes them back, evicts and reads them. Shows
//! the rate by size, the straight line fitted through time over size, and sizes off that line.

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
