//! `readlab serve FILE`: readlab as the loopback server of one file, in a process of its own. The
//! lab starts it for races over HTTP. What it answers is in [`crate::contender::server`].

use crate::contender::server::answers;
use crate::target::shown;
use anyhow::Context;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `readlab serve`.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// The file to serve
    pub file: PathBuf,
}

/// Prints the URL and serves until standard input ends.
///
/// # Errors
/// If the file cannot be opened, or there is no port to listen on.
pub fn run(args: &ServeArgs) -> anyhow::Result<ExitCode> {
    answers::serve(&args.file).with_context(|| shown(&args.file))?;
    Ok(ExitCode::SUCCESS)
}
