//! `readlab limits [DIR|FILE]`: what memory, the kernel's copy, page faults, system calls and the
//! device do at best.

use super::options::{OutputOptions, SamplingOptions};
use super::output;
use crate::corpus;
use crate::corpus::recipe::{CorpusKind, Recipe};
use crate::experiment::config::{InspectConfig, RunConfig, TrialOptions, UserOptions};
use crate::experiment::target_spec::TargetSpec;
use crate::folder::scratch::Scratch;
use crate::linux::interrupt;
use crate::record::RunKind;
use crate::suite::Suite;
use crate::target::shown;
use crate::target::source::ServerOptions;
use crate::trial::{Transport, Work};
use crate::units::Bytes;
use anyhow::Context;
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Arguments of `readlab limits`.
#[derive(Debug, Args)]
pub struct LimitsArgs {
    /// A folder, in which readlab makes a file and removes it again; or a file, which readlab only
    /// reads
    #[arg(value_name = "DIR|FILE", default_value = ".")]
    pub place: PathBuf,
    /// Size of the file made in a folder
    #[arg(long, value_name = "SIZE", default_value = "256MiB")]
    pub size: Bytes,
    /// How many readings, and how long.
    #[command(flatten)]
    pub sampling: SamplingOptions,
    /// What is shown and saved.
    #[command(flatten)]
    pub output: OutputOptions,
}

/// Measures the limits of a place.
///
/// # Errors
/// If there is no space, the file cannot be made or read, or the record cannot be written.
pub fn run(args: &LimitsArgs) -> anyhow::Result<ExitCode> {
    let user = UserOptions {
        sampling: args.sampling.values(),
        trials: TrialOptions { work: Some(Work::Newlines), ..TrialOptions::default() },
        inspect: InspectConfig::default(),
        space: None,
        server: ServerOptions::default(),
        quiet: args.output.quiet,
    };
    let config = RunConfig::merge(RunKind::Limits, Suite::find("limits")?, user)?;
    let on =
        |file: &Path| output::run(&config, &[vec![TargetSpec::plain(file, Transport::File)]], &args.output);
    if !args.place.is_dir() {
        return on(&args.place);
    }
    // From here on Ctrl-C is an ordinary return, so that the folder is removed.
    interrupt::listen().context("cannot listen for Ctrl-C")?;
    let folder = Scratch::make(&args.place, "limits").with_context(|| shown(&args.place))?;
    // Random bytes, which no file system can compress: the device reads as many as are read here.
    let recipe = Recipe { kind: CorpusKind::Random, size_bytes: args.size.0, seed: 1 };
    on(&corpus::make(folder.path(), recipe)?.path)
}
