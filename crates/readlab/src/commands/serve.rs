//! `readlab serve FILE`: readlab as the loopback server of one file, in a separate process. Readlab
//! starts it for races over HTTP, and with `--s3` for races of objects. [`readlab_roster::server`]
//! defines its responses.

use anyhow::Context;
use clap::Args;
use readlab_roster::server::listening;
use readlab_system::terminal::printable::display_path;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Serve it as the one object of an S3 store
    #[arg(long)]
    pub s3: bool,
    /// The file to serve
    pub file: PathBuf,
}

/// Prints the address of the file and serves it until standard input ends.
pub fn run(args: &ServeArgs) -> anyhow::Result<ExitCode> {
    let serve = if args.s3 { listening::serve_s3 } else { listening::serve };
    serve(&args.file).with_context(|| display_path(&args.file))?;
    Ok(ExitCode::SUCCESS)
}
