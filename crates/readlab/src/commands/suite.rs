//! `readlab suite NAME|FILE.toml`: a published experiment, or the user's own definition.

use super::options::{OutputOptions, ServerFlags};
use super::output;
use anyhow::Context;
use clap::Args;
use readlab_model::trial::Transport;
use readlab_model::units::{Bytes, UnitError};
use readlab_record::RunKind;
use readlab_run::experiment::config::RunConfig;
use readlab_run::experiment::options::{InspectOptions, SamplingOptions, SelectionOptions, UserOptions};
use readlab_run::experiment::rules::LongestRun;
use readlab_run::experiment::target_spec::{TargetSpec, TargetSpecs};
use readlab_suite::Suite;
use readlab_system::terminal::notice;
use readlab_targets::corpus;
use readlab_targets::target::url;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct SuiteArgs {
    /// A built-in suite or a file
    #[arg(required_unless_present = "resume", value_name = "NAME|FILE.toml")]
    pub suite: Option<String>,
    /// The files, URLs or objects (s3://BUCKET/KEY) to read [default: the suite's own corpus, made
    /// if it is missing]
    #[arg(value_name = "TARGET")]
    pub targets: Vec<PathBuf>,
    /// Run it as it was published: its corpus in the size of the publication, and each trial with
    /// its most readings or its most time
    #[arg(long, conflicts_with = "targets")]
    pub full: bool,
    /// Size of the suite's own corpus, for example 1GiB
    #[arg(long, value_name = "SIZE", conflicts_with = "targets", value_parser = corpus_size)]
    pub size: Option<Bytes>,
    /// Continue a run that was cut short, by the plan in its record: the record's path, `last`,
    /// or a name given with --save
    #[arg(long, value_name = "RECORD", conflicts_with_all = ["suite", "targets", "full", "size", "ServerFlags", "SamplingOptions", "SelectionOptions", "InspectOptions", "output"])]
    pub resume: Option<String>,
    #[command(flatten)]
    pub sampling: SamplingOptions,
    #[command(flatten)]
    pub selection: SelectionOptions,
    #[command(flatten)]
    pub server: ServerFlags,
    #[command(flatten)]
    pub inspect: InspectOptions,
    #[command(flatten)]
    pub output: OutputOptions,
}

pub fn run(args: &SuiteArgs) -> anyhow::Result<ExitCode> {
    if let Some(record) = &args.resume {
        return output::resume(RunKind::Suite, record, &args.output);
    }
    let suite = args.suite()?;
    if suite.is_full && !args.output.quiet {
        notice::show(format!("--full: {}", LongestRun::of_suite(&suite, &args.sampling)?));
    }
    let user = UserOptions {
        targets: args.targets.clone(),
        sampling: args.sampling.clone(),
        selection: args.selection.clone(),
        inspect: args.inspect.clone(),
        server: args.server.values(),
        quiet: args.output.quiet,
        ..UserOptions::default()
    };
    let config = RunConfig::merge(RunKind::Suite, suite.clone(), user)?;
    let runs = if args.targets.is_empty() {
        vec![args.corpus(&suite)?]
    } else {
        args.targets.iter().map(|word| plain(&suite, word)).collect()
    };
    output::run(&config, &runs, &args.output)
}

/// Untimed runs that count where percentiles are shown.
const COUNTS_OF_PERCENTILES: u32 = 5;

/// A size of a corpus; an empty file has nothing to read.
fn corpus_size(text: &str) -> Result<Bytes, String> {
    let size: Bytes = text.parse().map_err(|error: UnitError| error.to_string())?;
    if size.0 == 0 { Err("a corpus has at least one byte".to_owned()) } else { Ok(size) }
}

impl SuiteArgs {
    /// The suite, with the size of its corpus and the extent that the user wants.
    fn suite(&self) -> anyhow::Result<Suite> {
        let suite = Suite::find(self.suite.as_deref().context("no suite is named")?)?;
        let mut suite = if self.full { suite.in_full() } else { suite };
        if let (Some(size), Some(corpus)) = (self.size, &mut suite.corpus) {
            corpus.size_bytes = size.0;
        }
        if self.output.percentiles {
            suite.counts = Some(suite.counts.unwrap_or(COUNTS_OF_PERCENTILES));
        }
        Ok(suite)
    }

    /// The corpus of the suite in each form that its trials read, made if it is not there.
    fn corpus(&self, suite: &Suite) -> anyhow::Result<TargetSpecs> {
        let recipe = suite
            .corpus
            .with_context(|| format!("{}: the suite has no corpus: name a target", suite.name))?;
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
