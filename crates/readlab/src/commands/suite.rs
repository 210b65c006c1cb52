//! `readlab suite NAME|FILE.toml`: a published experiment, or the user's own definition.

use super::memory::MemoryOptions;
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
use readlab_targets::target::places::PlacesRequest;
use readlab_targets::target::source::is_remote;
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
    /// Run the published experiment: the corpus in its published size, and each trial up to its
    /// maximum number of readings or its maximum time
    #[arg(long, conflicts_with = "targets")]
    pub full: bool,
    /// Size of the suite's own corpus, for example 1GiB
    #[arg(long, value_name = "SIZE", conflicts_with = "targets", value_parser = parse_corpus_size)]
    pub size: Option<Bytes>,
    /// Resume an interrupted run with the plan in its record: the record's path, `last`, or a name
    /// given with --save
    #[arg(long, value_name = "RECORD", conflicts_with_all = ["suite", "targets", "full", "size", "ServerFlags", "SamplingOptions", "SelectionOptions", "MemoryOptions", "InspectOptions", "output"])]
    pub resume: Option<String>,
    #[command(flatten)]
    pub sampling: SamplingOptions,
    #[command(flatten)]
    pub selection: SelectionOptions,
    #[command(flatten)]
    pub memory: MemoryOptions,
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
    let suite = args.chosen_suite()?;
    let memory_bounds = args.memory.bounds(false)?;
    if suite.is_full && !args.output.quiet {
        let longest = LongestRun::of_suite(&suite, &args.sampling, &memory_bounds)?;
        notice::show(format!("--full: {longest}"));
    }
    let user = UserOptions {
        targets: args.targets.clone(),
        sampling: args.sampling.clone(),
        selection: args.selection.clone(),
        memory_bounds,
        inspection: args.inspect.clone(),
        server: args.server.server_options(),
        is_quiet: args.output.quiet,
        ..UserOptions::default()
    };
    let config = RunConfig::merge(RunKind::Suite, suite.clone(), user)?;
    let seed = config.rules.seed;
    let runs = if args.targets.is_empty() {
        vec![args.make_corpus(&suite, seed)?]
    } else {
        args.targets.iter().map(|word| user_target_specs(&suite, word, seed)).collect()
    };
    output::run(&config, &runs, &args.output)
}

/// Number of untimed counting runs if percentiles are shown.
const COUNTING_RUNS_FOR_PERCENTILES: u32 = 5;

fn parse_corpus_size(text: &str) -> Result<Bytes, String> {
    let size: Bytes = text.parse().map_err(|error: UnitError| error.to_string())?;
    if size.0 == 0 { Err("a corpus has at least one byte".to_owned()) } else { Ok(size) }
}

impl SuiteArgs {
    /// The suite, with the corpus size that the user requested, in full or for everyday use.
    fn chosen_suite(&self) -> anyhow::Result<Suite> {
        let suite = Suite::find(self.suite.as_deref().context("no suite is named")?)?;
        let mut suite = if self.full { suite.as_published() } else { suite };
        if let (Some(size), Some(corpus)) = (self.size, &mut suite.corpus) {
            corpus.size_bytes = size.0;
        }
        if self.output.percentiles {
            suite.counting_runs = Some(suite.counting_runs.unwrap_or(COUNTING_RUNS_FOR_PERCENTILES));
        }
        Ok(suite)
    }

    /// Makes the corpus of the suite in each form that its trials read, unless it exists. `seed`
    /// picks the places of blocks.
    fn make_corpus(&self, suite: &Suite, seed: u64) -> anyhow::Result<TargetSpecs> {
        let recipe = suite
            .corpus
            .with_context(|| format!("{}: the suite has no corpus: name a target", suite.name))?;
        if !self.output.quiet {
            notice::show(format!("making sure of the corpus: {}", recipe.file_name()));
        }
        let made = readlab_corpus::make_forms(&readlab_corpus::default_folder()?, recipe, &suite.forms())?;
        let mut specs: TargetSpecs =
            made.iter().map(|(form, corpus)| TargetSpec::file_in_form(*form, &corpus.path)).collect();
        if let Some((_, plain)) = made.first() {
            specs.extend(served_targets(suite, &plain.path));
            specs.extend(blocks_target(suite, &plain.path, seed));
        }
        Ok(specs)
    }
}

/// The targets for one word of the user: the file, URL or object itself; the file from readlab's
/// own server, if trials of the suite read from servers; and its blocks, if the suite reads blocks.
fn user_target_specs(suite: &Suite, word: &Path, seed: u64) -> TargetSpecs {
    let mut specs = vec![TargetSpec::plain(word, Transport::File)];
    if !is_remote(word) {
        specs.extend(served_targets(suite, word));
    }
    specs.extend(blocks_target(suite, word, seed));
    specs
}

/// A file over each transport by which trials of the suite read from a server.
fn served_targets(suite: &Suite, file: &Path) -> impl Iterator<Item = TargetSpec> {
    suite.server_transports().into_iter().map(move |over| TargetSpec::plain(file, over))
}

/// The blocks of a file that the suite reads; `None` if it reads none, or if the file does not
/// exist.
fn blocks_target(suite: &Suite, file: &Path, seed: u64) -> Option<TargetSpec> {
    let places = suite.places_read()?;
    let file_bytes = std::fs::metadata(file).ok().filter(std::fs::Metadata::is_file)?.len();
    let (pattern, block_bytes, reads) = (places.pattern, places.block_bytes, places.block_count(file_bytes));
    let request = PlacesRequest { pattern, block_bytes, read_count: reads, seed };
    Some(TargetSpec::plain(file, Transport::File).at_places(request))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_or_an_object_is_one_target_and_a_file_is_served_too() {
        let trial = |over: &str| format!("[[trial]]\ntrial = 'rust/http'\nover = '{over}'\n");
        for (trials, served) in [(trial("http"), 1), (trial("s3"), 1), (trial("http") + &trial("s3"), 2)] {
            let suite = Suite::parse(Path::new("x.toml"), &format!("name = 'x'\nabout = ''\n{trials}"));
            let suite = suite.unwrap();
            for (word, count) in [("https://h/f", 1), ("s3://bucket/key", 1), ("/f", 1 + served)] {
                assert_eq!(user_target_specs(&suite, Path::new(word), 1).len(), count, "{word}: {trials}");
            }
        }
    }
}
