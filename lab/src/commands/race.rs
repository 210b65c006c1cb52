//! `readlab race TARGET…`: every available way of reading on the user's own file, cold and warm, or
//! on a URL.

use super::run_config::RunConfig;
use super::target_spec::TargetSpec;
use super::{resume, run, template};
use crate::commands::options::{InspectOptions, OutputOptions, SamplingOptions, SelectionOptions};
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
    /// Continue a run that was cut short, by the plan in its record: the record's path, `last`, or
    /// a name given with --save
    #[arg(long, value_name = "RECORD", conflicts_with_all = ["targets", "http", "Measuring", "Choosing", "Looking", "output"])]
    pub resume: Option<String>,
    /// How many readings, and how long.
    #[command(flatten)]
    pub measuring: SamplingOptions,
    /// Which trials take part.
    #[command(flatten)]
    pub choosing: SelectionOptions,
    /// What is inspected.
    #[command(flatten)]
    pub looking: InspectOptions,
    /// What a run prints and writes.
    #[command(flatten)]
    pub giving: OutputOptions,
}

/// Races each target in turn.
///
/// # Errors
/// If a target cannot be raced or the record cannot be written.
pub fn run(args: &RaceArgs) -> anyhow::Result<ExitCode> {
    if let Some(record) = &args.resume {
        return resume::run("race", record, &args.giving);
    }
    let suite = Suite::race();
    let choosing = template::placed(&args.choosing, &args.targets)?;
    let asked = RunConfig {
        verb: "race",
        suite: &suite,
        space: None,
        measuring: &args.measuring,
        choosing: &choosing,
        looking: &args.looking,
        giving: &args.giving,
    };
    let over = if args.http { Transport::Http } else { Transport::File };
    let goals: Vec<_> = args.targets.iter().map(|word| vec![TargetSpec::plain(word, over)]).collect();
    run::each(&asked, &goals)
}
