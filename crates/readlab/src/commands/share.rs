//! `readlab share SHARE`: a share as `--fail-over` parses it, for scripts that compare ratios
//! themselves. The GitHub action uses it, so that a single parser defines what `5%` and `0.05`
//! mean.

use clap::Args;
use readlab_run::experiment::options;
use std::io::Write;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct ShareArgs {
    /// The share, as `--fail-over` takes it
    #[arg(value_name = "SHARE", value_parser = options::parse_share, allow_hyphen_values = true)]
    pub share: f64,
}

pub fn run(args: &ShareArgs) -> anyhow::Result<ExitCode> {
    writeln!(std::io::stdout(), "{}", args.share)?;
    Ok(ExitCode::SUCCESS)
}
