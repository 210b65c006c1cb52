//! `readlab suite NAME|FILE.toml`: a published experiment, or the user's own definition.

use super::run_config::RunConfig;
use super::target_spec::{TargetSpec, TargetSpecs};
use super::{resume, run, template};
use crate::commands::options::{InspectOptions, OutputOptions, SamplingOptions, SelectionOptions};
use crate::corpus;
use crate::record::RunKind;
use crate::suite::Suite;
use crate::target::url;
use crate::terminal::notice;
use crate::trial::Transport;
use anyhow::Context;
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Arguments of `readlab suite`.
#[derive(Debug, Args)]
pub struct SuiteArgs {
    /// A built-in suite or a file
    #[arg(required_unless_present = "resume", value_name = "NAME|FILE.toml")]
    pub suite: Option<String>,
    /// The files or http:// URLs to read [default: the suite's own corpus, made when needed]
    #[arg(value_name = "TARGET")]
    pub targets: Vec<PathBuf>,
    /// The corpus in the size of the publication
    #[arg(long, conflicts_with = "targets")]
    pub full: bool,
    /// Go on with a run that was cut short, by its own plan: its record's path, `last`, or a name
    /// given with --save
    #[arg(long, value_name = "RECORD", conflicts_with_all = ["suite", "targets", "full", "Measuring", "Choosing", "Looking", "output"])]
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

/// Runs the suite on its corpus or on the user's files.
///
/// # Errors
/// If there is no such suite, its corpus cannot be made, a target cannot be read, or the record
/// cannot be written.
pub fn run(args: &SuiteArgs) -> anyhow::Result<ExitCode> {
    let suite = match (&args.resume, &args.suite) {
        (Some(record), _) => return resume::run(RunKind::Suite, record, &args.giving),
        (None, name) => Suite::find(name.as_deref().context("no suite is named")?)?,
    };
    let choosing = template::placed(&args.choosing, &args.targets)?;
    let asked = RunConfig {
        kind: RunKind::Suite,
        suite: &suite,
        space: None,
        measuring: &args.measuring,
        choosing: &choosing,
        looking: &args.looking,
        giving: &args.giving,
    };
    if !args.targets.is_empty() {
        let goals: Vec<TargetSpecs> = args.targets.iter().map(|word| plain(&suite, word)).collect();
        return run::each(&asked, &goals);
    }
    let recipe = if args.full {
        suite.full.with_context(|| format!("{}: the suite knows no other size", suite.name))?
    } else {
        suite.corpus.with_context(|| format!("{}: the suite has no corpus: name a target", suite.name))?
    };
    if !args.giving.quiet {
        notice::tell(format!("making sure of the corpus: {}", recipe.file_name()));
    }
    let made = corpus::make_forms(&corpus::default_folder()?, recipe, &suite.forms())?;
    let mut goal: TargetSpecs =
        made.iter().map(|(form, corpus)| TargetSpec::form(*form, &corpus.path)).collect();
    if suite.reads_over_http() {
        goal.extend(made.first().map(|(_, plain)| TargetSpec::plain(&plain.path, Transport::Http)));
    }
    run::each(&asked, &[goal])
}

/// One target of the user's: a file, and where the suite asks for it the same file over http; or a
/// URL.
fn plain(suite: &Suite, word: &Path) -> TargetSpecs {
    let served = suite.reads_over_http() && !url::is_url(word.as_os_str());
    let overs = [Some(Transport::File), served.then_some(Transport::Http)];
    overs.into_iter().flatten().map(|over| TargetSpec::plain(word, over)).collect()
}
