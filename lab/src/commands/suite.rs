//! `readlab suite NAME|FILE.toml`: a published experiment, or the user's own definition.

use super::options::{InspectOptions, OutputOptions, SamplingOptions, SelectionOptions};
use super::output;
use crate::corpus;
use crate::experiment::config::{RunConfig, UserOptions};
use crate::experiment::target_spec::{TargetSpec, TargetSpecs};
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
    /// The files or http:// URLs to read [default: the suite's own corpus, made if it is missing]
    #[arg(value_name = "TARGET")]
    pub targets: Vec<PathBuf>,
    /// Use the corpus in the size of the publication
    #[arg(long, conflicts_with = "targets")]
    pub full: bool,
    /// Continue a run that was cut short, by the plan in its record: the record's path, `last`,
    /// or a name given with --save
    #[arg(long, value_name = "RECORD", conflicts_with_all = ["suite", "targets", "full", "SamplingOptions", "SelectionOptions", "InspectOptions", "output"])]
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

/// Runs the suite on its corpus or on the user's files.
///
/// # Errors
/// If there is no such suite, its corpus cannot be made, a target cannot be read, or the record
/// cannot be written.
pub fn run(args: &SuiteArgs) -> anyhow::Result<ExitCode> {
    if let Some(record) = &args.resume {
        return output::resume(RunKind::Suite, record, &args.output);
    }
    let suite = Suite::find(args.suite.as_deref().context("no suite is named")?)?;
    let user = UserOptions {
        sampling: args.sampling.values(),
        trials: args.selection.values(&args.targets)?,
        inspect: args.inspect.values(),
        space: None,
        quiet: args.output.quiet,
    };
    let config = RunConfig::merge(RunKind::Suite, suite.clone(), user)?;
    let runs = if args.targets.is_empty() {
        vec![args.corpus(&suite)?]
    } else {
        args.targets.iter().map(|word| plain(&suite, word)).collect()
    };
    output::run(&config, &runs, &args.output)
}

impl SuiteArgs {
    /// The corpus of the suite in each form that its trials read, made if it is not there.
    fn corpus(&self, suite: &Suite) -> anyhow::Result<TargetSpecs> {
        let recipe = if self.full {
            suite.full.with_context(|| format!("{}: the suite knows no other size", suite.name))?
        } else {
            suite.corpus.with_context(|| format!("{}: the suite has no corpus: name a target", suite.name))?
        };
        if !self.output.quiet {
            notice::show(format!("making sure of the corpus: {}", recipe.file_name()));
        }
        let made = corpus::make_forms(&corpus::default_folder()?, recipe, &suite.forms())?;
        let mut specs: TargetSpecs =
            made.iter().map(|(form, corpus)| TargetSpec::of_form(*form, &corpus.path)).collect();
        if suite.reads_over_http() {
            specs.extend(made.first().map(|(_, plain)| TargetSpec::plain(&plain.path, Transport::Http)));
        }
        Ok(specs)
    }
}

/// One target of the user's: a URL; or a file, and the same file over HTTP if the suite reads it
/// so.
fn plain(suite: &Suite, word: &Path) -> TargetSpecs {
    let served = suite.reads_over_http() && !url::is_url(word.as_os_str());
    let overs = [Some(Transport::File), served.then_some(Transport::Http)];
    overs.into_iter().flatten().map(|over| TargetSpec::plain(word, over)).collect()
}
