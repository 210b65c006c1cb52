//! `readlab race TARGET…`: every available way of reading on the user's own file, cold and warm, or
//! on a URL.

use super::options::{InspectOptions, OutputOptions, SamplingOptions, SelectionOptions};
use super::output;
use crate::experiment::config::{RunConfig, TrialOptions, UserOptions};
use crate::experiment::target_spec::TargetSpec;
use crate::record::RunKind;
use crate::suite::Suite;
use crate::trial::Transport;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `readlab race`.
#[derive(Debug, Args)]
pub struct RaceArgs {
    /// The files or http:// URLs to read; each is a separate race
    #[arg(required_unless_present = "resume", value_name = "TARGET")]
    pub targets: Vec<PathBuf>,
    /// Read the files over HTTP from readlab's own server on 127.0.0.1
    #[arg(long)]
    pub http: bool,
    /// Race the whole line-up, not only the usual and the best ways of each language, and list
    /// every row; with --method or --resume it only lists every row
    #[arg(long)]
    pub all: bool,
    /// Continue a run that was cut short, by the plan in its record: the record's path, `last`,
    /// or a name given with --save
    #[arg(long, value_name = "RECORD", conflicts_with_all = ["targets", "http", "SamplingOptions", "SelectionOptions", "InspectOptions", "output"])]
    pub resume: Option<String>,
    /// How many readings, and how long.
    #[command(flatten)]
    pub sampling: SamplingOptions,
    /// What takes part.
    #[command(flatten)]
    pub selection: SelectionOptions,
    /// What is recorded about the inside of contenders.
    #[command(flatten)]
    pub inspect: InspectOptions,
    /// What is shown and saved.
    #[command(flatten)]
    pub output: OutputOptions,
}

/// Races each target in turn.
///
/// # Errors
/// If a target cannot be raced or the record cannot be written.
pub fn run(args: &RaceArgs) -> anyhow::Result<ExitCode> {
    let output = OutputOptions { lists_all: args.all, ..args.output.clone() };
    if let Some(record) = &args.resume {
        return output::resume(RunKind::Race, record, &output);
    }
    let user = UserOptions {
        sampling: args.sampling.values(),
        trials: TrialOptions { all: args.all, ..args.selection.values(&args.targets)? },
        inspect: args.inspect.values(),
        space: None,
        quiet: args.output.quiet,
    };
    let config = RunConfig::merge(RunKind::Race, Suite::race(), user)?;
    let over = if args.http { Transport::Http } else { Transport::File };
    let runs: Vec<_> = args.targets.iter().map(|word| vec![TargetSpec::plain(word, over)]).collect();
    output::run(&config, &runs, &output)
}
