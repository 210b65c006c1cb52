//! `readlab race TARGET…`: every available way of reading on the user's own file, cold and warm, or
//! on a URL.

use super::run_config::RunConfig;
use super::target_spec::TargetSpec;
use super::{resume, run, template};
use crate::commands::options::{InspectOptions, OutputOptions, SamplingOptions, SelectionOptions};
use crate::record::RunKind;
use crate::suite::Suite;
use crate::trial::Transport;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `readlab race`.
#[derive(Debug, Args)]
pub struct RaceArgs {
    /// The files or http:// URLs to read; each gets a race of its own
    #[arg(required_unless_present = "resume", value_name = "TARGET")]
    pub targets: Vec<PathBuf>,
    /// Read the files over http, from a server of readlab's own on 127.0.0.1
    #[arg(long)]
    pub http: bool,
    /// Go on with a run that was cut short, by its own plan: its record's path, `last`, or a name
    /// given with --save
    #[arg(long, value_name = "RECORD", conflicts_with_all = ["targets", "http", "Measuring", "Choosing", "Looking", "output"])]
    pub resume: Option<String>,
    /// How long and how often.
    #[command(flatten)]
    pub measuring: SamplingOptions,
    /// What takes part.
    #[command(flatten)]
    pub choosing: SelectionOptions,
    /// What is looked at inside.
    #[command(flatten)]
    pub looking: InspectOptions,
    /// What is shown and kept.
    #[command(flatten)]
    pub giving: OutputOptions,
}

/// Races each target in turn.
///
/// # Errors
/// If a target cannot be raced or the record cannot be written.
pub fn run(args: &RaceArgs) -> anyhow::Result<ExitCode> {
    if let Some(record) = &args.resume {
        return resume::run(RunKind::Race, record, &args.giving);
    }
    let suite = Suite::race();
    let choosing = template::placed(&args.choosing, &args.targets)?;
    let asked = RunConfig {
        kind: RunKind::Race,
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
