//! `readlab race TARGET…`: races every available method on the user's own file or on all files of a
//! folder, cold and warm, or on a URL or an object of an S3 store.

use super::memory::MemoryOptions;
use super::options::{
    CompressedOptions, MetadataState, OutputOptions, PartOptions, PlacesOptions, ServerFlags, TreeOptions,
    transport,
};
use super::output;
use super::own_commands::CommandOptions;
use super::settings::SettingOptions;
use anyhow::{bail, ensure};
use clap::Args;
use readlab_model::trial::{Transport, Work};
use readlab_record::{LocationOptions, RunKind};
use readlab_run::experiment::config::RunConfig;
use readlab_run::experiment::memory::MemoryBounds;
use readlab_run::experiment::options::{
    InspectOptions, SamplingOptions, SelectionOptions, UserOptions, parse_share_or_zero,
};
use readlab_run::experiment::target_spec::{TargetSpec, TargetSpecs};
use readlab_run::experiment::together::ReaderGroup;
use readlab_suite::{StateChoice, Suite};
use readlab_system::folder::own_paths::OwnPaths;
use readlab_system::terminal::printable::display_path;
use readlab_targets::target::secret;
use readlab_targets::target::source::is_remote;
use readlab_targets::target::tree::{ListSource, TreeRequest};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct RaceArgs {
    /// The files, folders, URLs (http://, https://) or objects (s3://BUCKET/KEY) to read; all files
    /// of a folder are read. Several targets take part in every round, and those with the same
    /// content as the first are compared with it
    #[arg(required_unless_present_any = ["resume", "files_from"], value_name = "TARGET")]
    pub targets: Vec<PathBuf>,
    /// Race several targets one after the other, each in a separate run
    #[arg(long, conflicts_with = "same_content")]
    pub apart: bool,
    /// Compare all targets with the first, even if readlab cannot see that their content is the
    /// same, such as a log that has grown since it was copied
    #[arg(long)]
    pub same_content: bool,
    /// Read the files over HTTP from readlab's own server on 127.0.0.1
    #[arg(long)]
    pub http: bool,
    /// Read the files as objects of an S3 store, readlab's own server on 127.0.0.1
    #[arg(long, conflicts_with = "http")]
    pub s3: bool,
    #[command(flatten)]
    pub tree: TreeOptions,
    #[command(flatten)]
    pub part: PartOptions,
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
    #[arg(long, value_name = "RECORD", conflicts_with_all = ["targets", "apart", "same_content", "TreeOptions", "PartOptions", "PlacesOptions", "CompressedOptions", "http", "s3", "readers", "copies", "MemoryOptions", "memory_shared", "SettingOptions", "ServerFlags", "SamplingOptions", "indifference", "SelectionOptions", "CommandOptions", "InspectOptions", "output"])]
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
    pub memory: MemoryOptions,
    /// Let all readers that read at the same time share one control group, instead of one for each
    #[arg(long, requires = "memory", help_heading = "Memory")]
    pub memory_shared: bool,
    #[command(flatten)]
    pub setting: SettingOptions,
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

    fn target_count(&self) -> usize {
        self.targets.len() + usize::from(self.tree.files_from.is_some())
    }
}

pub fn run(args: &RaceArgs) -> anyhow::Result<ExitCode> {
    let output = args.output_options();
    if let Some(record) = &args.resume {
        return output::resume(RunKind::Race, record, &output);
    }
    let suite = if args.readers.len() > 1 { Suite::scale() } else { Suite::race() };
    let config = race_config(args, suite)?;
    let runs = target_specs_of_runs(args, transport(args.http, args.s3), config.rules.seed)?;
    output::run(&config, &runs, &output)
}

/// The targets of each run: all targets in one run, or each in a separate run.
fn target_specs_of_runs(args: &RaceArgs, over: Transport, seed: u64) -> anyhow::Result<Vec<TargetSpecs>> {
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
    args.part.check_targets(&args.targets, args.compressed.dictionary.is_some(), args.selection.work)?;
    if let (Some(option), Some(list)) = (args.part.part_option(), &args.tree.files_from) {
        bail!("{}: a list of files, and {option} reads a part of one file", display_path(list));
    }
    let places = args.places.places_request(seed);
    if places.is_some() {
        check_places(args, over)?;
    }
    let part = args.part.file_part()?;
    let order = args.tree.order.unwrap_or_default();
    let outputs = args.output.output.iter().chain(args.inspect.flamegraph.iter().flatten());
    let own = OwnPaths::of_run(outputs.map(PathBuf::as_path)).with_replaced(&args.output.export_files());
    let follows_links = args.tree.follow;
    let tree = |source| {
        let own_paths = own.clone();
        TargetSpec::of_tree(TreeRequest {
            order,
            seed,
            follows_links,
            own_paths,
            ..TreeRequest::by_name(source)
        })
    };
    let target = |word: &PathBuf| match (word.is_dir(), places) {
        (true, _) => tree(ListSource::Folder(word.clone())),
        (false, None) => part.restrict_target(TargetSpec::plain(word, over)),
        (false, Some(places)) => TargetSpec::plain(word, over).at_places(places),
    };
    let listed = args.tree.files_from.iter().map(|list| tree(ListSource::named_list(list)));
    let dictionary = args.compressed.dictionary.as_deref();
    let specs = args.targets.iter().map(target).chain(listed).map(|spec| spec.decoded_with(dictionary));
    Ok(if compared_locations(args)?.is_some() {
        vec![specs.collect()]
    } else {
        specs.map(|spec| vec![spec]).collect()
    })
}

/// How several targets are compared; `None` if each run has only one target.
fn compared_locations(args: &RaceArgs) -> anyhow::Result<Option<LocationOptions>> {
    if args.target_count() < 2 || args.apart {
        return Ok(None);
    }
    for (option, is_given) in [("--readers", !args.readers.is_empty()), ("--per-file", args.tree.per_file)] {
        ensure!(!is_given, "{option}: several targets only with --apart");
    }
    // Two paths that lead to one file, by `.` or a link, would compare the file with itself.
    let real_paths: Vec<PathBuf> =
        args.targets.iter().map(|word| word.canonicalize().unwrap_or_else(|_| word.clone())).collect();
    let mut words = args.targets.iter().enumerate();
    if let Some((_, word)) = words.find(|(index, _)| real_paths[..*index].contains(&real_paths[*index])) {
        let word = secret::redact_url(&display_path(word));
        bail!("{word}: named twice, and targets are compared with each other; --apart races it twice");
    }
    Ok(Some(LocationOptions { asserts_same_content: args.same_content }))
}

/// Refuses a target to which an option does not apply.
fn check_targets(args: &RaceArgs, is_allowed: impl Fn(&Path) -> bool, why: &str) -> anyhow::Result<()> {
    if let Some(other) = args.targets.iter().find(|word| !is_allowed(word)) {
        let is_missing = !is_remote(other) && !other.try_exists().unwrap_or(true);
        ensure!(!is_missing, "{}: no such file", display_path(other));
        bail!("{}: {why}, and this is none", secret::redact_url(&display_path(other)));
    }
    Ok(())
}

/// Refuses targets that have no blocks to read.
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
        if let Some(option) = args.part.part_option() {
            bail!("--copies: not with {option}");
        }
    }
    let settings_group = args.setting.reader_group()?;
    if settings_group.is_some() {
        ensure!(
            args.readers.is_empty() && !args.tree.per_file,
            "--setting: not with --readers or --per-file"
        );
    }
    let readers_group = || ReaderGroup::of_readers(args.readers.iter().copied(), args.copies.clone());
    Ok(settings_group.unwrap_or_else(readers_group))
}

/// The bounds on memory. Refuses bounds together with several targets, size groups or settings,
/// which are compared already, and bounds for servers, which have memory of their own.
fn memory_bounds(args: &RaceArgs) -> anyhow::Result<MemoryBounds> {
    let bounds = args.memory.bounds(args.memory_shared)?;
    let several = args.target_count() > 1 && !args.apart;
    for (option, is_given) in [
        ("--http", args.http),
        ("--s3", args.s3),
        ("--per-file", args.tree.per_file),
        ("--setting", args.setting.is_given()),
        ("several targets without --apart", several),
    ] {
        ensure!(!(bounds.is_given() && is_given), "--memory: not with {option}");
    }
    Ok(bounds)
}

/// Whether a target is neither a folder nor on a server.
fn is_file(word: &Path) -> bool {
    !word.is_dir() && !is_remote(word)
}

/// Refuses a work that does not suit the check of the output.
fn check_work(args: &RaceArgs) -> anyhow::Result<()> {
    let work = args.selection.work;
    let is_count = args.own.has_count_check(work);
    match work {
        Some(Work::Part) if is_count => {
            bail!(
                "--work part: --check count looks at a number, and that of a part is not known: --check none or same"
            )
        }
        Some(Work::Part) if args.selection.commands.is_empty() => {
            bail!("--work part is about commands: -c 'head -n 10 {{}}'")
        }
        Some(Work::Part) | None => Ok(()),
        Some(work) if work.finds_names() => check_options_of_names(args, work),
        Some(_) if is_count => Ok(()),
        Some(_) => {
            bail!(
                "--work is what a number counts, and --check {} looks at no number",
                args.own.value_of_check(work)
            )
        }
    }
}

/// Refuses targets and options that have no meaning in a race that finds names and reads no file.
fn check_options_of_names(args: &RaceArgs, work: Work) -> anyhow::Result<()> {
    check_targets(args, Path::is_dir, &format!("--work {work} is about what is below a folder"))?;
    for (option, is_given) in [
        ("--files-from", args.tree.files_from.is_some()),
        ("--follow", args.tree.follow),
        ("--per-file", args.tree.per_file),
        ("--order", args.tree.order.is_some()),
        ("--readers", !args.readers.is_empty()),
        ("--pattern", args.places.pattern.is_some()),
        ("--range", args.part.range.is_some()),
        ("--ranges", args.part.ranges.is_some()),
        ("--memory", args.memory.is_given()),
    ] {
        ensure!(!is_given, "{option}: --work {work} finds the names of a folder and reads no file");
    }
    let asks_for_cold = matches!(args.sampling.state, Some(StateChoice::Cold | StateChoice::Both));
    if asks_for_cold && !drops_caches(args) {
        bail!(
            "--work {work}: names and inodes are cold only with --metadata cold, for which root drops the caches of the machine"
        );
    }
    Ok(())
}

/// Whether the caches of the machine are dropped before each cold reading, so that names and inodes
/// are cold, too.
fn drops_caches(args: &RaceArgs) -> bool {
    args.sampling.drop_caches || args.tree.metadata == Some(MetadataState::Cold)
}

/// The configuration of a race with these options. `suite` has the trials if the work is on bytes.
/// If the output of the user's commands is no number, only commands are raced. If the work finds
/// names, another suite has the trials.
pub(super) fn race_config(args: &RaceArgs, suite: Suite) -> anyhow::Result<RunConfig> {
    let work = args.selection.work;
    let commands = args.own.expanded_commands(&args.selection.commands, work)?;
    let is_count = args.own.has_count_check(work);
    check_work(args)?;
    let mut selection = SelectionOptions { commands, ..args.selection.clone() };
    selection.params.0.extend(args.places.depth_params().0);
    let names_suite = work.and_then(Suite::for_name_work);
    // Names can only be made cold by dropping the caches.
    let states = names_suite.as_ref().filter(|_| drops_caches(args)).map(|_| StateChoice::Both);
    let user = UserOptions {
        targets: args.targets.clone(),
        sampling: SamplingOptions {
            indifference: args.indifference,
            drop_caches: drops_caches(args),
            state: args.sampling.state.or(states),
            ..args.sampling.clone()
        },
        selection,
        merge_gaps_bytes: args.part.merge_gaps_bytes(),
        takes_all_trials: args.all,
        has_decoding_commands: args.own.commands_decode,
        reader_group: reader_group(args)?,
        memory_bounds: memory_bounds(args)?,
        locations: compared_locations(args)?,
        races_size_groups: args.tree.per_file,
        inspection: args.inspect.clone(),
        space: None,
        server: args.server.server_options(),
        is_quiet: args.output.quiet,
    };
    let bytes_suite = || if is_count { suite } else { Suite::commands() };
    let suite = names_suite.unwrap_or_else(bytes_suite);
    RunConfig::merge(RunKind::Race, suite, user)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Command, FromArgMatches};

    /// The options of these words, separated by spaces.
    fn race_args(words: &str) -> Result<RaceArgs, clap::Error> {
        let matches = RaceArgs::augment_args(Command::new("race")).try_get_matches_from(words.split(' '));
        RaceArgs::from_arg_matches(&matches?)
    }

    fn reader_group_of(words: &str) -> anyhow::Result<ReaderGroup> {
        reader_group(&race_args(words)?)
    }

    fn bounds_of(words: &str) -> anyhow::Result<MemoryBounds> {
        memory_bounds(&race_args(words)?)
    }

    #[test]
    fn bounds_on_memory_are_for_one_target_that_contenders_open() {
        let bounds = bounds_of("race f --memory 25%,50%,1GiB").unwrap();
        let shown: Vec<String> = bounds.bounds.iter().map(ToString::to_string).collect();
        assert_eq!((shown, bounds.is_shared), (["25%", "50%", "1GiB"].map(str::to_owned).to_vec(), false));
        assert!(bounds_of("race f --readers 2 --memory 50% --memory-shared").unwrap().is_shared);
        assert!(bounds_of("race f g --apart --memory 50%").is_ok());
        assert!(!bounds_of("race f --http").unwrap().is_given());
        for (words, why) in [
            ("race f --http --memory 50%", "--memory: not with --http"),
            ("race f g --memory 50%", "--memory: not with several targets without --apart"),
            ("race d --per-file --memory 50%", "--memory: not with --per-file"),
            ("race f --setting scheduler --memory 50%", "--memory: not with --setting"),
            ("race f --memory 50%,50%", "--memory: 50% is given twice"),
        ] {
            assert_eq!(bounds_of(words).unwrap_err().to_string(), why, "{words}");
        }
        assert!(bounds_of("race f --memory half").unwrap_err().to_string().contains("bounds no memory"));
    }

    #[test]
    fn settings_are_raced_for_one_target_or_several_without_readers() {
        for words in [
            "race f --setting scheduler",
            "race --files-from l --setting scheduler",
            "race f g --setting scheduler",
            "race f g --apart --setting scheduler",
            "race f g --setting-command x=1,2 --apply {x}",
        ] {
            assert!(matches!(reader_group_of(words), Ok(ReaderGroup::Settings(_))), "{words}");
        }
        let why = "--setting: not with --readers or --per-file";
        for words in ["race f --readers 2 --setting scheduler", "race d --per-file --setting scheduler"] {
            assert_eq!(reader_group_of(words).unwrap_err().to_string(), why, "{words}");
        }
    }
}
