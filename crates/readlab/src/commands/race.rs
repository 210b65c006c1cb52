//! `readlab race TARGET…`: races every available method on the user's own file or on all files of a
//! folder, cold and warm, or on a URL or an object of an S3 store.

use super::options::{
    CompressedOptions, MetadataState, OutputOptions, PlacesOptions, ServerFlags, TreeOptions, transport,
};
use super::output;
use super::own_commands::CommandOptions;
use anyhow::{bail, ensure};
use clap::Args;
use readlab_model::trial::{Transport, Work};
use readlab_record::RunKind;
use readlab_run::experiment::config::RunConfig;
use readlab_run::experiment::options::{
    InspectOptions, SamplingOptions, SelectionOptions, UserOptions, parse_share_or_zero,
};
use readlab_run::experiment::target_spec::{TargetSpec, TargetSpecs};
use readlab_run::experiment::together::ReaderGroup;
use readlab_suite::Suite;
use readlab_system::folder::own_paths::OwnPaths;
use readlab_system::terminal::printable::display_path;
use readlab_targets::target::secret;
use readlab_targets::target::source::is_remote;
use readlab_targets::target::tree::{ListSource, TreeRequest};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct RaceArgs {
    /// The files, folders, URLs (http://, https://) or objects (s3://BUCKET/KEY) to read; each is a
    /// separate race, and of a folder all files are read
    #[arg(required_unless_present_any = ["resume", "files_from"], value_name = "TARGET")]
    pub targets: Vec<PathBuf>,
    /// Read the files over HTTP from readlab's own server on 127.0.0.1
    #[arg(long)]
    pub http: bool,
    /// Read the files as objects of an S3 store, readlab's own server on 127.0.0.1
    #[arg(long, conflicts_with = "http")]
    pub s3: bool,
    #[command(flatten)]
    pub tree: TreeOptions,
    #[command(flatten)]
    pub places: PlacesOptions,
    #[command(flatten)]
    pub compressed: CompressedOptions,
    /// Number of processes of each contender or command that read the file at the same time.
    /// Several numbers, separated by commas, all take part in every round and show how the rate
    /// grows, from which number on more readers add nothing, and the rate of each reader
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=256))]
    pub readers: Vec<u32>,
    /// Make a separate copy of the file for each reader but the first, below this folder, which
    /// must be on the same file system; the copies are removed at the end
    #[arg(long, value_name = "FOLDER", requires = "readers")]
    pub copies: Option<PathBuf>,
    /// Race all trials, not only the usual and the best methods of each language, and list every
    /// row; with --method or --resume, only list every row
    #[arg(long)]
    pub all: bool,
    /// Resume an interrupted run with the plan in its record: the record's path, `last`, or a name
    /// given with --save
    #[arg(long, value_name = "RECORD", conflicts_with_all = ["targets", "TreeOptions", "PlacesOptions", "CompressedOptions", "http", "s3", "readers", "copies", "ServerFlags", "SamplingOptions", "indifference", "SelectionOptions", "CommandOptions", "InspectOptions", "output"])]
    pub resume: Option<String>,
    #[command(flatten)]
    pub sampling: SamplingOptions,
    /// Stop the race when one trial is left that is the fastest, or within this share of it; with 0
    /// every difference matters
    #[arg(
        long,
        value_name = "SHARE",
        default_value = "10%",
        value_parser = parse_share_or_zero,
        help_heading = "Measuring"
    )]
    pub indifference: f64,
    #[command(flatten)]
    pub selection: SelectionOptions,
    #[command(flatten)]
    pub own: CommandOptions,
    #[command(flatten)]
    pub server: ServerFlags,
    #[command(flatten)]
    pub inspect: InspectOptions,
    #[command(flatten)]
    pub output: OutputOptions,
}

impl RaceArgs {
    /// The output options; with --all, every row is listed.
    pub(super) fn output_options(&self) -> OutputOptions {
        OutputOptions { lists_all: self.all, ..self.output.clone() }
    }
}

pub fn run(args: &RaceArgs) -> anyhow::Result<ExitCode> {
    let output = args.output_options();
    if let Some(record) = &args.resume {
        return output::resume(RunKind::Race, record, &output);
    }
    let suite = if args.readers.len() > 1 { Suite::scale() } else { Suite::race() };
    let config = config_of(args, suite)?;
    let runs = runs_of(args, transport(args.http, args.s3), config.rules.seed)?;
    output::run(&config, &runs, &output)
}

/// The targets, each for a separate run.
fn runs_of(args: &RaceArgs, over: Transport, seed: u64) -> anyhow::Result<Vec<TargetSpecs>> {
    if over != Transport::File {
        if let Some(folder) = args.targets.iter().find(|word| word.is_dir()) {
            bail!("{}: a folder, and a server needs a file", display_path(folder));
        }
        if let Some(list) = &args.tree.files_from {
            bail!("{}: a list of files, and a server needs one file", display_path(list));
        }
    }
    if args.tree.per_file {
        check_targets(args, Path::is_dir, "--per-file is for the files of a folder")?;
        ensure!(args.readers.is_empty(), "--per-file: not with --readers");
    }
    let places = args.places.request(seed);
    if places.is_some() {
        check_places(args, over)?;
    }
    let order = args.tree.order.unwrap_or_default();
    let outputs = args.output.output.iter().chain(args.inspect.flamegraph.iter().flatten());
    let (follows_links, own) = (args.tree.follow, OwnPaths::of_run(outputs.map(PathBuf::as_path)));
    let tree =
        |source| TargetSpec::of_tree(TreeRequest { source, order, seed, follows_links, own: own.clone() });
    let target = |word: &PathBuf| match (word.is_dir(), places) {
        (true, _) => tree(ListSource::Folder(word.clone())),
        (false, None) => TargetSpec::plain(word, over),
        (false, Some(places)) => TargetSpec::plain(word, over).at_places(places),
    };
    let listed = args.tree.files_from.iter().map(|list| tree(ListSource::list(list)));
    let dictionary = args.compressed.dictionary.as_deref();
    let runs = args.targets.iter().map(target).chain(listed);
    Ok(runs.map(|spec| vec![spec.decoded_with(dictionary)]).collect())
}

/// Refuses a target to which an option does not apply.
fn check_targets(args: &RaceArgs, is_allowed: impl Fn(&Path) -> bool, why: &str) -> anyhow::Result<()> {
    if let Some(other) = args.targets.iter().find(|word| !is_allowed(word)) {
        bail!("{}: {why}, and this is none", secret::redact_url(&display_path(other)));
    }
    Ok(())
}

/// Refuses targets without places that could be read.
fn check_places(args: &RaceArgs, over: Transport) -> anyhow::Result<()> {
    check_targets(args, is_file, "--pattern reads places of a file")?;
    if over != Transport::File || args.tree.files_from.is_some() {
        bail!("--pattern reads places of a file: not with --http, --s3 or --files-from");
    }
    if args.selection.work == Some(Work::Lines) {
        bail!("--work lines: a line may begin before a block; --pattern reads for newlines, sum or discard");
    }
    Ok(())
}

fn reader_group(args: &RaceArgs) -> anyhow::Result<ReaderGroup> {
    if args.copies.is_some() {
        check_targets(args, is_file, "--copies are copies of a file")?;
        let is_other = args.http || args.s3 || args.tree.files_from.is_some();
        if is_other || args.places.pattern.is_some() || args.sampling.allow_device {
            bail!("--copies: not with --http, --s3, --files-from, --pattern or --allow-device");
        }
    }
    Ok(ReaderGroup::of_readers(args.readers.iter().copied(), args.copies.clone()))
}

/// Whether a target is neither a folder nor on a server.
fn is_file(word: &Path) -> bool {
    !word.is_dir() && !is_remote(word)
}

/// The configuration of a race with these options and this suite; a suite of commands is used if
/// commands are raced as they are.
pub(super) fn config_of(args: &RaceArgs, suite: Suite) -> anyhow::Result<RunConfig> {
    let commands = args.own.commands(&args.selection.commands)?;
    if !args.own.is_count() && args.selection.work.is_some() {
        bail!("--work is what a number counts, and --check {} looks at no number", args.own.check);
    }
    let mut selection = SelectionOptions { commands, ..args.selection.clone() };
    selection.params.0.extend(args.places.params().0);
    let is_cold = args.tree.metadata == Some(MetadataState::Cold);
    let user = UserOptions {
        targets: args.targets.clone(),
        sampling: SamplingOptions {
            indifference: args.indifference,
            drop_caches: args.sampling.drop_caches || is_cold,
            ..args.sampling.clone()
        },
        selection,
        all: args.all,
        commands_decode: args.own.commands_decode,
        shape: reader_group(args)?,
        per_file: args.tree.per_file,
        inspect: args.inspect.clone(),
        space: None,
        server: args.server.server_options(),
        quiet: args.output.quiet,
    };
    let suite = if args.own.is_count() { suite } else { Suite::commands() };
    RunConfig::merge(RunKind::Race, suite, user)
}
