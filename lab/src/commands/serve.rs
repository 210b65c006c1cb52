//! `readlab serve FILE`: readlab as the loopback server of one file, in a process of its own. The
//! lab starts it for races over HTTP, and with `--s3` for races of objects. What it answers is in
//! [`crate::contender::server`].

use crate::contender::server::listening;
use crate::target::{check_answers, shown};
use anyhow::Context;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `readlab serve`.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Serve it as the one object of an S3 store
    #[arg(long)]
    pub s3: bool,
    /// The file to serve
    pub file: PathBuf,
}

/// Prints where the file is and serves until standard input ends.
///
/// # Errors
/// If the file cannot be opened, or there is no port to listen on.
pub fn run(args: &ServeArgs) -> anyhow::Result<ExitCode> {
    check_answers(&args.file)?;
    let serve = if args.s3 { listening::serve_s3 } else { listening::serve };
    serve(&args.file).with_context(|| shown(&args.file))?;
    Ok(ExitCode::SUCCESS)
}
