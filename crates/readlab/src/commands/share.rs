//! `readlab share SHARE`: a share as `--fail-over` reads it, for scripts that compare ratios
//! themselves. The GitHub action does, so that one parser says what `5%` and `0.05` are.

use super::options;
use clap::Args;
use std::io::Write;
use std::process::ExitCode;

/// Arguments of `readlab share`.
#[derive(Debug, Args)]
pub struct ShareArgs {
    /// The share, as `--fail-over` takes it
    #[arg(value_name = "SHARE", value_parser = options::share, allow_hyphen_values = true)]
    pub share: f64,
}

/// Prints it as a number between 0 and 1.
///
/// # Errors
/// If standard output cannot be written.
pub fn run(args: &ShareArgs) -> anyhow::Result<ExitCode> {
    writeln!(std::io::stdout(), "{}", args.share)?;
    Ok(ExitCode::SUCCESS)
}
