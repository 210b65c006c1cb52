//! `readlab tune TARGET`: finds the fastest method, buffer, depth and threads with a fraction of
//! the readings that measuring all of them would take. Shows which settings to use, how certain
//! that is, and the code for them.

use super::options::{CompressedOptions, OutputOptions, ServerFlags, transport};
use super::output;
use clap::Args;
use readlab_analysis::stats::EXHAUSTIVE_READINGS;
use readlab_analysis::verdict;
use readlab_model::trial::{TrialIndex, Work};
use readlab_model::units::Nanos;
use readlab_record::{Record, RunKind};
use readlab_report::Ranking;
use readlab_run::experiment::config::RunConfig;
use readlab_run::experiment::options::{
    InspectOptions, SamplingOptions, SelectionOptions, UserOptions, seed_of_now,
};
use readlab_run::experiment::target_spec::TargetSpec;
use readlab_run::experiment::together::ReaderGroup;
use readlab_suite::parameter_space::Space;
use readlab_suite::{StateChoice, Suite};
use readlab_system::interrupt;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct TuneArgs {
    /// The file, URL (http://, https://) or object (s3://BUCKET/KEY) to read
    #[arg(value_name = "TARGET")]
    pub target: PathBuf,
    /// Read the file as an object of an S3 store, readlab's own server on 127.0.0.1
    #[arg(long)]
    pub s3: bool,
    /// Methods to search, for example 'rust/mmap' or 'java/*'; may be repeated [default: the
    /// methods that have settings, of contender rust or of the languages]
    #[arg(long = "method", value_name = "GLOB", help_heading = "Searching")]
    pub methods: Vec<String>,
    /// Only these languages, for example rust,python, beside the reference; may be repeated
    #[arg(long = "language", value_name = "LANGUAGE,…", value_delimiter = ',', help_heading = "Searching")]
    pub languages: Vec<String>,
    /// Settings to search, as ranges that double or lists, for example
    /// buffer=4KiB..8MiB,depth=1..64,threads=1..all,direct=0|1 [default: buffers of 16 KiB to 4
    /// MiB, depths of 1 to 64, threads up to the number of processors, and switches]
    #[arg(long, value_name = "SPACE", help_heading = "Searching")]
    pub space: Option<Space>,
    /// State of the page cache when the clock starts [default: both; unknown for a URL]
    #[arg(long, value_name = "STATE", help_heading = "Searching")]
    pub state: Option<StateChoice>,
    /// What each trial does with the bytes [default: newlines for text, else sum]
    #[arg(long, value_name = "WORK", help_heading = "Searching")]
    pub work: Option<Work>,
    /// The trial to which the best is compared [default: Rust's BufReader with its default buffer]
    #[arg(long, value_name = "TRIAL", help_heading = "Searching")]
    pub reference: Option<String>,
    /// Afterwards, race the best method of each state with this number of processes that read at
    /// the same time, to show from which number on more readers add nothing. Numbers separated by
    /// commas, for example 1,2,4,8; the search and the race get half of --budget each
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=256), help_heading = "Searching", conflicts_with_all = ["export_json", "export_csv", "export_markdown", "claims"])]
    pub readers: Vec<u32>,
    /// Time for the whole run; the search takes at most seven tenths of it
    #[arg(long, value_name = "TIME", default_value = "5m", help_heading = "Searching")]
    pub budget: Nanos,
    /// Seed of every shuffle; always recorded
    #[arg(long, value_name = "N", help_heading = "Searching", default_value_t = seed_of_now(), hide_default_value = true)]
    pub seed: u64,
    /// Also drop the caches of the whole machine before each cold reading (root only)
    #[arg(long, help_heading = "Searching")]
    pub drop_caches: bool,
    /// Allow a block device as the target; readlab only reads it
    #[arg(long, help_heading = "Searching")]
    pub allow_device: bool,
    /// A roster file with more contenders, like contenders/roster.toml; may be repeated
    #[arg(long = "roster", value_name = "FILE", help_heading = "Searching")]
    pub rosters: Vec<PathBuf>,
    #[command(flatten)]
    pub compressed: CompressedOptions,
    #[command(flatten)]
    pub server: ServerFlags,
    #[command(flatten)]
    pub inspect: InspectOptions,
    #[command(flatten)]
    pub output: OutputOptions,
    /// List every row of the rankings, those that tie with others too
    #[arg(long, help_heading = "Output")]
    pub all: bool,
}

pub fn run(args: &TuneArgs) -> anyhow::Result<ExitCode> {
    let space = Some(args.space.clone().unwrap_or_else(Space::default_space));
    let config =
        RunConfig::merge(RunKind::Tune, Suite::find("tune")?, UserOptions { space, ..args.options() })?;
    let output = OutputOptions { lists_all: args.all, ..args.output.clone() };
    let target = TargetSpec::plain(&args.target, transport(false, args.s3));
    let runs = [vec![target.decoded_with(args.compressed.dictionary.as_deref())]];
    output::until_interrupted(|| {
        let mut ends = output::run_each(&config, &runs, &output)?;
        if let (Some(end), false) = (ends.first(), args.readers.is_empty() || interrupt::requested()) {
            let best = fastest_trials(&Record::read(&end.record)?);
            if !best.is_empty() {
                ends.extend(output::run_each(&args.readers_config(best)?, &runs, &readers_output(&output))?);
            }
        }
        Ok(output::worst_exit_code(&ends))
    })
}

/// The fastest trial of each cache state.
fn fastest_trials(record: &Record) -> BTreeSet<String> {
    let rankings = Ranking::all(record, &verdict::limits(record));
    let id = |index: TrialIndex| record.trial(index).map(|it| it.trial.id.to_string());
    rankings.iter().filter_map(|ranking| id(ranking.rows.first()?.index)).collect()
}

/// Output options of the race of readers: a folder below that of the search, and a name derived
/// from it.
fn readers_output(output: &OutputOptions) -> OutputOptions {
    OutputOptions {
        output: output.output.as_ref().map(|folder| folder.join("readers")),
        save: output.save.as_ref().map(|name| name.and("-readers")),
        ..output.clone()
    }
}

impl TuneArgs {
    /// Options of the search and of the fresh measurement, in which each chosen trial is read once
    /// in each of ten rounds, and each round follows a separate fill.
    fn options(&self) -> UserOptions {
        let readings = u32::try_from(EXHAUSTIVE_READINGS).expect("ten");
        let sampling = SamplingOptions {
            runs: Some(readings),
            max_time: Some(Nanos(u64::MAX)),
            budget: Some(Nanos(if self.readers.is_empty() { self.budget.0 } else { self.budget.0 / 2 })),
            fills: readings,
            state: self.state,
            seed: self.seed,
            drop_caches: self.drop_caches,
            allow_device: self.allow_device,
            ..SamplingOptions::default()
        };
        let selection = SelectionOptions {
            methods: self.methods.clone(),
            work: self.work,
            reference: self.reference.clone(),
            languages: self.languages.clone(),
            rosters: self.rosters.clone(),
            ..SelectionOptions::default()
        };
        UserOptions {
            sampling,
            selection,
            inspect: self.inspect.clone(),
            server: self.server.server_options(),
            quiet: self.output.quiet,
            ..UserOptions::default()
        }
    }

    /// The configuration of the race of different numbers of readers.
    fn readers_config(&self, methods: BTreeSet<String>) -> anyhow::Result<RunConfig> {
        let (user, fills) = (self.options(), SamplingOptions::default().fills);
        let user = UserOptions {
            sampling: SamplingOptions { runs: None, max_time: None, fills, ..user.sampling },
            selection: SelectionOptions { methods: methods.into_iter().collect(), ..user.selection },
            shape: ReaderGroup::of_readers(self.readers.iter().copied(), None),
            ..user
        };
        RunConfig::merge(RunKind::Race, Suite::scale(), user)
    }
}
