//! `readlab limits [DIR|FILE|URL]`: the best rates of memory, the kernel's copy, page faults,
//! system calls and the device; for a server, the rates of one and of several connections, and the
//! limits of the link, the kernel and decryption.

use super::options::{CompressedOptions, OutputOptions, ServerFlags, transport};
use super::output;
use anyhow::Context;
use clap::Args;
use readlab_model::corpus::{CorpusKind, Recipe};
use readlab_model::units::Bytes;
use readlab_record::RunKind;
use readlab_run::experiment::config::RunConfig;
use readlab_run::experiment::options::{SamplingOptions, UserOptions};
use readlab_run::experiment::target_spec::TargetSpec;
use readlab_suite::Suite;
use readlab_system::folder::scratch::ScratchFolder;
use readlab_system::interrupt;
use readlab_system::terminal::printable::display_path;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct LimitsArgs {
    /// A folder, in which readlab makes a file and removes it again; a file, which readlab only
    /// reads; or a URL (http://, https://) or object (s3://BUCKET/KEY)
    #[arg(value_name = "DIR|FILE|URL", default_value = ".")]
    pub place: PathBuf,
    /// Read the file from readlab's own server on 127.0.0.1
    #[arg(long, conflicts_with = "s3")]
    pub http: bool,
    /// Read the file as an object of an S3 store, readlab's own server on 127.0.0.1
    #[arg(long)]
    pub s3: bool,
    /// Size of the file made in a folder
    #[arg(long, value_name = "SIZE", default_value = "256MiB")]
    pub size: Bytes,
    #[command(flatten)]
    pub sampling: SamplingOptions,
    #[command(flatten)]
    pub compressed: CompressedOptions,
    #[command(flatten)]
    pub server: ServerFlags,
    #[command(flatten)]
    pub output: OutputOptions,
}

pub fn run(args: &LimitsArgs) -> anyhow::Result<ExitCode> {
    let user = UserOptions {
        sampling: args.sampling.clone(),
        server: args.server.server_options(),
        is_quiet: args.output.quiet,
        ..UserOptions::default()
    };
    let config = RunConfig::merge(RunKind::Limits, Suite::find("limits")?, user)?;
    let on = |place: &Path| {
        let target = TargetSpec::plain(place, transport(args.http, args.s3));
        let target = target.decoded_with(args.compressed.dictionary.as_deref());
        output::run(&config, &[vec![target]], &args.output)
    };
    if !args.place.is_dir() {
        return on(&args.place);
    }
    // From here on Ctrl-C only makes functions return, so that the folder is removed.
    interrupt::install_handlers().context("cannot listen for Ctrl-C")?;
    let folder = ScratchFolder::make(&args.place, "limits").with_context(|| display_path(&args.place))?;
    // The content is random, which no file system can compress, so the device reads as many bytes
    // as readlab.
    let recipe = Recipe { kind: CorpusKind::Random, size_bytes: args.size.0, seed: 1 };
    on(&readlab_corpus::make_file(folder.path(), recipe)?.path)
}
