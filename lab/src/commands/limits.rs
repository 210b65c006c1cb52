//! `readlab limits [DIR|FILE]`: what memory, the kernel's copy, page faults, system calls and the
//! device do at best.

use super::run;
use super::run_config::RunConfig;
use super::target_spec::TargetSpec;
use crate::commands::options::{InspectOptions, OutputOptions, SamplingOptions, SelectionOptions};
use crate::corpus;
use crate::corpus::recipe::{CorpusKind, Recipe};
use crate::folder::scratch::Scratch;
use crate::linux::interrupt;
use crate::record::RunKind;
use crate::suite::Suite;
use crate::target;
use crate::trial::{Params, Transport, Work};
use crate::units::Bytes;
use anyhow::Context;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `readlab limits`.
#[derive(Debug, Args)]
pub struct LimitsArgs {
    /// A folder, in which a file is made and removed again; or a file, which is only read
    #[arg(value_name = "DIR|FILE", default_value = ".")]
    pub place: PathBuf,
    /// Size of the file that is made in a folder
    #[arg(long, value_name = "SIZE", default_value = "256MiB")]
    pub size: Bytes,
    /// How long and how often.
    #[command(flatten)]
    pub measuring: SamplingOptions,
    /// What is shown and kept.
    #[command(flatten)]
    pub giving: OutputOptions,
}

/// Measures the limits of a place.
///
/// # Errors
/// If there is no space, the file cannot be made or read, or the record cannot be written.
pub fn run(args: &LimitsArgs) -> anyhow::Result<ExitCode> {
    let suite = Suite::find("limits")?;
    let choosing = SelectionOptions {
        methods: Vec::new(),
        params: Params::default(),
        commands: Vec::new(),
        work: Some(Work::Newlines),
        reference: None,
        rosters: Vec::new(),
    };
    let asked = RunConfig {
        kind: RunKind::Limits,
        suite: &suite,
        space: None,
        measuring: &args.measuring,
        choosing: &choosing,
        looking: &InspectOptions::default(),
        giving: &args.giving,
    };
    if !args.place.is_dir() {
        return run::each(&asked, &[vec![TargetSpec::plain(&args.place, Transport::File)]]);
    }
    // From here on Ctrl-C is an ordinary return, so that the folder is removed.
    interrupt::listen().context("cannot listen for Ctrl-C")?;
    let place = || target::shown(&args.place);
    let folder = Scratch::make(&args.place, "limits").with_context(place)?;
    // Bytes that no file system can compress: then what is asked of the device is what it gives.
    let recipe = Recipe { kind: CorpusKind::Random, size_bytes: args.size.0, seed: 1 };
    let made = corpus::make(folder.path(), recipe)?;
    run::each(&asked, &[vec![TargetSpec::plain(&made.path, Transport::File)]])
}
