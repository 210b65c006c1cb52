//! `readlab tune TARGET`: finds the fastest method, buffer, depth and threads with a fraction of
//! the readings that measuring all of them would take. Shows which settings to use, how certain
//! that is, and the code for them.

use super::memory::MemoryOptions;
use super::options::{CompressedOptions, OutputOptions, PartOptions, ServerFlags, transport};
use super::output;
use super::settings::SettingOptions;
use anyhow::{bail, ensure};
use clap::Args;
use readlab_analysis::stats::EXHAUSTIVE_READINGS_PER_CANDIDATE;
use readlab_analysis::verdict;
use readlab_model::trial::{TrialId, Work};
use readlab_model::units::Nanos;
use readlab_record::{Outcome, Record, RunKind, TrialRecord};
use readlab_report::Ranking;
use readlab_run::experiment::config::RunConfig;
use readlab_run::experiment::options::{
    InspectOptions, SamplingOptions, SelectionOptions, UserOptions, time_seed,
};
use readlab_run::experiment::target_spec::{TargetSpec, examine_all, try_settings};
use readlab_run::experiment::together::ReaderGroup;
use readlab_suite::parameter_space::ParameterSpace;
use readlab_suite::{StateChoice, Suite};
use readlab_system::interrupt;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;

/// Largest number of methods of each cache state that are raced under settings of the system after
/// the search. Several are raced, because the fastest method under the current values need not be
/// the fastest under others.
const METHODS_UNDER_SETTINGS_MAX: usize = 4;

#[derive(Debug, Args)]
pub struct TuneArgs {
    /// The file, URL (http://, https://) or object (s3://BUCKET/KEY) to read
    #[arg(value_name = "TARGET")]
    pub target: PathBuf,
    /// Read the file as an object of an S3 store, readlab's own server on 127.0.0.1
    #[arg(long)]
    pub s3: bool,
    /// Methods to search, for example 'rust/mmap' or 'java/*'; may be repeated [default: the
    /// methods that have settings, of contenders rust and rust-objects or of the languages]
    #[arg(long = "method", value_name = "GLOB", help_heading = "Searching")]
    pub methods: Vec<String>,
    /// Only these languages, for example rust,python, beside the reference; may be repeated
    #[arg(long = "language", value_name = "LANGUAGE,…", value_delimiter = ',', help_heading = "Searching")]
    pub languages: Vec<String>,
    /// Settings to search, as ranges that double or lists, for example
    /// buffer=4KiB..8MiB,depth=1..64,threads=1..all,direct=0|1 [default: buffers of 16 KiB to 4
    /// MiB, depths of 1 to 64, threads up to the number of processors, and switches]
    #[arg(long, value_name = "SPACE", help_heading = "Searching")]
    pub space: Option<ParameterSpace>,
    /// State of the page cache when the clock starts [default: both; unknown for a URL]
    #[arg(long, value_name = "STATE", help_heading = "Searching")]
    pub state: Option<StateChoice>,
    /// What each trial does with the bytes [default: newlines for text, else sum]
    #[arg(long, value_name = "WORK", help_heading = "Searching")]
    pub work: Option<Work>,
    /// The trial to which the best is compared [default: Rust's BufReader with its default buffer;
    /// for a URL or object, the usual way of a language, if it is searched]
    #[arg(long, value_name = "TRIAL", help_heading = "Searching")]
    pub reference: Option<String>,
    /// Afterwards, race the best method of each state with this number of processes that read at
    /// the same time, to show from which number on more readers add nothing. Numbers separated by
    /// commas, for example 1,2,4,8; the search and the race get half of --budget each
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=256), help_heading = "Searching", conflicts_with_all = ["export_json", "export_csv", "export_markdown", "claims"])]
    pub readers: Vec<u32>,
    // Options of the race after the search.
    #[command(flatten)]
    pub setting: SettingOptions,
    #[command(flatten)]
    pub memory: MemoryOptions,
    /// Time for the whole run; the search takes at most seven tenths of it
    #[arg(long, value_name = "TIME", default_value = "5m", help_heading = "Searching")]
    pub budget: Nanos,
    /// Seed of every shuffle; always recorded
    #[arg(long, value_name = "N", help_heading = "Searching", default_value_t = time_seed(), hide_default_value = true)]
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
    pub part: PartOptions,
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
    if let Some(work) = args.work.filter(|work| work.finds_names() || work.may_read_part()) {
        bail!("--work {work}: tune searches for the fastest way to read all bytes");
    }
    let space = args.space.clone().unwrap_or_else(ParameterSpace::default_space);
    let space = Some(space.with_values("merge_bytes", args.part.merge_gaps_bytes()));
    args.check_memory()?;
    let config = RunConfig::merge(
        RunKind::Tune,
        Suite::find("tune")?,
        UserOptions { space, ..args.search_options()? },
    )?;
    let output = OutputOptions { lists_all: args.all, ..args.output.clone() };
    let (over, dictionary) = (transport(false, args.s3), args.compressed.dictionary.as_deref());
    args.part.check_targets(std::slice::from_ref(&args.target), dictionary.is_some(), args.work)?;
    let after = args.reader_group_after_search()?;
    let target = args.part.file_part()?.restrict_target(TargetSpec::plain(&args.target, over));
    let runs = [vec![target.decoded_with(dictionary)]];
    if let Some(reader_group @ ReaderGroup::Settings(_)) = &after {
        // Values that cannot be set are refused before the search, not after it.
        let config = args.config_after_search(BTreeSet::new(), reader_group.clone())?;
        try_settings(&config, &mut examine_all(&config, &runs)?)?;
    }
    output::run_until_interrupted(|| {
        let mut ends = output::run_each(&config, &runs, &output)?;
        if let (Some(end), Some(reader_group), false) = (ends.first(), after, interrupt::is_stop_requested())
        {
            let best =
                best_trials(&Record::read(&end.record_path)?, method_count_after_search(&reader_group));
            if !best.is_empty() {
                let output = output_after_search(&output, &reader_group);
                ends.extend(output::run_each(
                    &args.config_after_search(best, reader_group)?,
                    &runs,
                    &output,
                )?);
            }
        }
        Ok(output::worst_exit_code(&ends))
    })
}

/// Number of methods of each cache state in the race after the search.
fn method_count_after_search(reader_group: &ReaderGroup) -> usize {
    if matches!(reader_group, ReaderGroup::Settings(_)) { METHODS_UNDER_SETTINGS_MAX } else { 1 }
}

/// The best trial of each of the best methods, for each cache state in which trials were measured.
fn best_trials(record: &Record, methods: usize) -> BTreeSet<String> {
    let rankings = Ranking::all(record, &verdict::limits(record));
    let measured = rankings.iter().filter(|ranking| !ranking.rows.is_empty());
    measured.flat_map(|ranking| best_trials_of_ranking(record, ranking, methods)).collect()
}

/// The best trials of different methods: first trials that were measured afresh, then trials that
/// only the search read.
fn best_trials_of_ranking(record: &Record, ranking: &Ranking, methods: usize) -> Vec<String> {
    let mut searched: Vec<_> = ranking.searched.iter().collect();
    searched.sort_by_key(|row| row.wall.median);
    let mut best: Vec<&TrialId> = Vec::new();
    for row in ranking.rows.iter().chain(searched) {
        let is_right =
            |it: &&TrialRecord| it.is_accepted() || matches!(it.outcome, Some(Outcome::RuledOut { .. }));
        let Some(it) = record.trial(row.index).filter(is_right) else { continue };
        let id = &it.trial.id;
        let is_same = |other: &&TrialId| {
            (&other.method.contender, &other.method.method) == (&id.method.contender, &id.method.method)
        };
        if best.len() < methods && !best.iter().any(is_same) {
            best.push(id);
        }
    }
    best.into_iter().map(TrialId::to_string).collect()
}

/// Output options of the race after the search: a folder below that of the search, and a name
/// derived from it.
fn output_after_search(output: &OutputOptions, reader_group: &ReaderGroup) -> OutputOptions {
    let word = if matches!(reader_group, ReaderGroup::Settings(_)) { "settings" } else { "readers" };
    OutputOptions {
        output: output.output.as_ref().map(|folder| folder.join(word)),
        save: output.save.as_ref().map(|name| name.with_suffix(&format!("-{word}"))),
        ..output.clone()
    }
}

impl TuneArgs {
    /// The options of the search and of the fresh measurement after it. The fresh measurement reads
    /// each chosen trial once in each of ten rounds, and each round follows a separate fill.
    fn search_options(&self) -> anyhow::Result<UserOptions> {
        let readings = u32::try_from(EXHAUSTIVE_READINGS_PER_CANDIDATE).expect("ten");
        let sampling = SamplingOptions {
            runs: Some(readings),
            max_time: Some(Nanos(u64::MAX)),
            budget: Some(Nanos(if self.has_race_after_search() { self.budget.0 / 2 } else { self.budget.0 })),
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
        Ok(UserOptions {
            sampling,
            selection,
            memory_bounds: self.memory.bounds(false)?,
            inspection: self.inspect.clone(),
            server: self.server.server_options(),
            is_quiet: self.output.quiet,
            ..UserOptions::default()
        })
    }

    /// Refuses several bounds on memory, because a search is under one; a bound together with a race
    /// after the search; and a bound for readlab's own S3 server.
    fn check_memory(&self) -> anyhow::Result<()> {
        ensure!(
            self.memory.memory.len() <= 1,
            "--memory: a search is under one bound; readlab race compares several"
        );
        ensure!(
            !(self.memory.is_given() && self.has_race_after_search()),
            "--memory: not with --readers or --setting, which race after the search"
        );
        ensure!(!(self.memory.is_given() && self.s3), "--memory: not with --s3");
        Ok(())
    }

    fn has_race_after_search(&self) -> bool {
        !self.readers.is_empty() || self.setting.is_given()
    }

    /// The group of readers of the race after the search; `None` if there is none.
    fn reader_group_after_search(&self) -> anyhow::Result<Option<ReaderGroup>> {
        let OutputOptions { export_json, export_csv, export_markdown, claims, .. } = &self.output;
        let is_written_once =
            [export_json, export_csv, export_markdown, claims].iter().any(|it| it.is_some());
        ensure!(
            !self.setting.is_given() || self.readers.is_empty() && !is_written_once,
            "--setting: not with --readers, --claims or exports, as the search and the race under settings are two runs"
        );
        let readers = || ReaderGroup::of_readers(self.readers.iter().copied(), None);
        Ok(self.setting.reader_group()?.or_else(|| (!self.readers.is_empty()).then(readers)))
    }

    /// The configuration of the race of the best methods after the search: with different numbers
    /// of readers, or under settings of the system.
    fn config_after_search(
        &self,
        methods: BTreeSet<String>,
        reader_group: ReaderGroup,
    ) -> anyhow::Result<RunConfig> {
        let (user, fills) = (self.search_options()?, SamplingOptions::default().fills);
        let user = UserOptions {
            sampling: SamplingOptions { runs: None, max_time: None, fills, ..user.sampling },
            selection: SelectionOptions { methods: methods.into_iter().collect(), ..user.selection },
            reader_group,
            ..user
        };
        RunConfig::merge(RunKind::Race, Suite::scale(), user)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_model::sample::Sample;
    use readlab_model::target::TargetFacts;
    use readlab_model::trial::{CacheState, TrialIndex};
    use readlab_protocol::Cache;
    use readlab_record::{Header, testing};

    #[test]
    fn the_best_trial_of_each_of_the_best_methods_is_raced_after_the_search() {
        let mut record = Record::new(Header { kind: RunKind::Tune, ..testing::header() });
        record.add(testing::target_line(0, TargetFacts { size_bytes: 1 << 20, ..TargetFacts::default() }));
        let reading = |ms: u64, round: u32| Sample { wall_ns: ms * 1_000_000, round, ..Sample::default() };
        for (name, ms) in [("rust/read@buffer_bytes=65536", 5), ("rust/read@buffer_bytes=131072", 6)] {
            let readings = (0..3).map(|round| reading(ms, round));
            testing::add_trial(&mut record, name, CacheState::Warm, Cache::Through, readings);
        }
        // The search alone read these trials.
        for (name, ms) in [("rust/pread@depth=2", 9), ("rust/pread@depth=4", 8), ("rust/mmap", 7)] {
            let none = std::iter::empty();
            let index = testing::add_trial(&mut record, name, CacheState::Warm, Cache::Through, none);
            let searched = (0..3).map(|round| Sample { rung: Some(0), ..reading(ms, round) });
            record.trials[TrialIndex::new(index)].search_samples = searched.collect();
        }
        let ids = |indexes: &[usize]| -> BTreeSet<String> {
            indexes.iter().map(|at| record.trials[TrialIndex::new(*at)].trial.id.to_string()).collect()
        };
        assert_eq!(best_trials(&record, 1), ids(&[0]));
        assert_eq!(best_trials(&record, 2), ids(&[0, 4]));
        assert_eq!(best_trials(&record, METHODS_UNDER_SETTINGS_MAX), ids(&[0, 3, 4]));
    }
}
