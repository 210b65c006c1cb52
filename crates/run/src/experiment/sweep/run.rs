//! Runs a sweep: writes the files, writes them back and evicts them, and makes each method read
//! each file once.
//!
//! [`readlab_measure::sequence`] defines the order of the readings.

use super::config::{ReadingOrder, SweepConfig, WARM_UP_BYTES_MAX};
use super::unread::CacheProbeFile;
use super::{SweepError, SweepFolder, WrittenFile, named_recipes, write};
use crate::experiment::header_lines::{NewRecord, OpeningLines};
use crate::experiment::planner::{self, PlanError, ReadableTarget, TrialSelection};
use crate::experiment::recorder::Recorder;
use crate::experiment::together::ReaderGroup;
use crate::experiment::{Experiment, Procedure, header_lines, participants};
use anyhow::Context;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use readlab_catalog::roster::Roster;
use readlab_corpus::oracle::Truth;
use readlab_measure::interface::Sink;
use readlab_measure::plan::{Plan, Rules};
use readlab_measure::sampler::{InspectPlan, ProcessSampler};
use readlab_measure::sequence;
use readlab_measure::target::SweepTarget;
use readlab_measure::warm_up_file::WarmUpFile;
use readlab_model::corpus::{CorpusKind, Recipe};
use readlab_model::target::hidden_cache::{HiddenCache, NotProbed};
use readlab_model::target::{TargetIndex, Targets};
use readlab_model::trial::CacheState;
use readlab_model::units::Nanos;
use readlab_record::{EndReason, Line, RunKind, WriteWay};
use readlab_roster::discovery::Contenders;
use readlab_suite::SuiteEntry;
use readlab_system::interrupt;
use readlab_system::terminal::printable::display_path;
use readlab_targets::target::{Target, absolute_without_dot_dot};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Seed of the warm-up file. It differs from likely seeds of a sweep, so that no file of a sweep
/// holds the same random bytes.
const WARM_UP_SEED: u64 = 0x7761_726d_2d75_70ff;

/// The record's warning for a sweep whose files are read before they are timed.
const PRIMED_WARNING: &str = "--primed: each file was read once, untimed, before its cold reading: caches below the file \
    system held it, so \"cold\" is cold above them";

/// A sweep that is ready to be executed.
#[derive(Debug)]
pub struct Sweep {
    config: SweepConfig,
    folder: SweepFolder,
    /// Folder in which readlab may write files of its own.
    own_files_folder: PathBuf,
    begun: Instant,
}

/// The contenders, the plan and the folder of a sweep, prepared before it has a record.
#[derive(Debug)]
pub struct PreparedSweep {
    contenders: Contenders,
    plan: Plan,
    folder: SweepFolder,
}

impl PreparedSweep {
    /// Finds the contenders, plans the trials of each file, and opens or creates the folder. All
    /// errors in the user's options are found here. `None` if the user wants to stop.
    pub fn prepare(config: &SweepConfig) -> anyhow::Result<Option<PreparedSweep>> {
        let names = config.trial_names();
        let contenders = Contenders::discover(&Roster::built_in(), |name| {
            names.iter().any(|trial| participants::is_trial_of(trial, name))
        });
        let plan = plan_for_one_file(config, &contenders)?;
        let folder = open_or_make_folder(config)?;
        Ok(folder.map(|folder| PreparedSweep { contenders, plan, folder }))
    }
}

impl Experiment {
    pub fn of_sweep(config: &SweepConfig, prepared: PreparedSweep, record_folder: &Path) -> Experiment {
        let PreparedSweep { contenders, plan, folder } = prepared;
        // Nothing is written into a folder that is only read.
        let own_files_folder = if config.read_only { record_folder } else { &config.dir }.to_owned();
        let begun = Instant::now();
        let header = header_lines::new_header(RunKind::Sweep, config.seed, None, Vec::new(), None);
        Experiment {
            kind: RunKind::Sweep,
            opening: OpeningLines::New(Box::new(NewRecord {
                header,
                targets: Targets::default(),
                other_lines: Vec::new(),
            })),
            targets: Targets::default(),
            cache_controls: Vec::new(),
            servers: Vec::new(),
            contenders: Rc::new(contenders),
            plan,
            procedure: Procedure::Sweep(Box::new(Sweep {
                config: config.clone(),
                folder,
                own_files_folder,
                begun,
            })),
            inspect_plan: InspectPlan::default(),
            requested_names: config.requested_names(),
            reader_group: ReaderGroup::One,
            setting_control: None,
            memory_control: None,
            begun,
            earlier_elapsed: Duration::ZERO,
        }
    }
}

impl Sweep {
    /// Writes and reads the files. The folder is removed at the end in any case, unless it is kept.
    pub(in crate::experiment) fn execute(
        mut self,
        contenders: &Contenders,
        methods: Plan,
        recorder: &mut Recorder,
    ) -> anyhow::Result<EndReason> {
        let reason = self.write_and_read(contenders, methods, recorder)?;
        recorder.append(Line::End { reason, wall_ns: Nanos::from(self.begun.elapsed()).0 })?;
        Ok(reason)
    }

    fn write_and_read(
        &mut self,
        contenders: &Contenders,
        methods: Plan,
        recorder: &mut Recorder,
    ) -> anyhow::Result<EndReason> {
        let Sweep { config, folder, own_files_folder, .. } = self;
        let sweep_bytes = if config.read_only { 0 } else { config.written_bytes() };
        let allowed_bytes = config.max_bytes.map(|bytes| bytes.0);
        let probe_file =
            CacheProbeFile::write([own_files_folder.as_path(), folder.path()], sweep_bytes, allowed_bytes);
        if !config.read_only && !write_all(config, folder, recorder)? {
            return Ok(EndReason::Interrupted);
        }
        let hidden_cache = probe_hidden_cache(probe_file, config.seed, recorder);
        let targets = record_files(folder, hidden_cache, recorder)?;
        let own = make_warm_up_file(own_files_folder, folder);
        if let Err(error) = &own {
            recorder
                .append(header_lines::warning_line(format!("contenders are not warmed up: {error:#}")))?;
        }
        let warm_up_file = own.as_ref().ok().map(|(_, warm_up_file)| warm_up_file);
        match write::write_back(folder) {
            Err(SweepError::Interrupted) => return Ok(EndReason::Interrupted),
            written => written?,
        }
        if config.keep {
            keep_files(config, folder, recorder)?;
        }
        header_lines::absence_warnings(contenders).try_for_each(|line| recorder.append(line))?;
        let plan = plan_for_all_files(config, folder, methods)?;
        recorder.display().expect_trials(&plan);
        let mut sampler = ProcessSampler::for_single_reads(&plan, contenders, &targets, warm_up_file);
        if config.primed {
            recorder.append(header_lines::warning_line(PRIMED_WARNING.to_owned()))?;
            sampler = sampler.with_priming();
        }
        let end = sequence::run(&plan, &mut sampler, recorder)?;
        drop(sampler);
        // The content is checked after the readings, because checking it fills every cache that a
        // restart emptied.
        if config.read_only && end == EndReason::Settled {
            return check_content(folder, recorder);
        }
        Ok(end)
    }
}

/// Keeps the files in their folder, and reports how to read them again.
fn keep_files(config: &SweepConfig, folder: &mut SweepFolder, recorder: &mut Recorder) -> anyhow::Result<()> {
    folder.keep()?;
    let (path, again) = (display_path(folder.path()), config.command_to_read_again(folder.path()));
    let text = format!("the files were kept in {path}; to read them again: {again}");
    Ok(recorder.append(header_lines::warning_line(text))?)
}

fn check_content(folder: &SweepFolder, recorder: &Recorder) -> anyhow::Result<EndReason> {
    recorder.display().show_activity("comparing contents with what was written");
    match folder.check_content() {
        Ok(()) => Ok(EndReason::Settled),
        Err(SweepError::Interrupted) => Ok(EndReason::Interrupted),
        Err(error) => Err(error.into()),
    }
}

fn open_or_make_folder(config: &SweepConfig) -> anyhow::Result<Option<SweepFolder>> {
    let dir = absolute_without_dot_dot(&config.dir).with_context(|| display_path(&config.dir))?;
    if config.read_only {
        return Ok(Some(SweepFolder::open_kept_folder(&dir)?));
    }
    let folder = SweepFolder::make(&dir, config.written_bytes(), config.max_bytes.map(|bytes| bytes.0))?;
    Ok((!interrupt::is_stop_requested()).then_some(folder))
}

/// Writes every file; `false` if the user wants to stop.
fn write_all(
    config: &SweepConfig,
    folder: &mut SweepFolder,
    recorder: &mut Recorder,
) -> anyhow::Result<bool> {
    let recipes = named_recipes(&config.sizes_bytes(), config.repeat, config.fill, config.seed);
    let count = recipes.len();
    for (number, (name, recipe)) in recipes.into_iter().enumerate() {
        let target = TargetIndex::new(number);
        recorder.display().show_activity(&format!("writing file {} of {count}: {name}", number + 1));
        match write::write(folder, name, recipe, config.write) {
            Ok(times) => recorder.append(Line::Write { target, way: config.write, times })?,
            Err(SweepError::Interrupted) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(true)
}

/// Probes for a hidden cache with a file that was written before the files of the sweep. If there
/// is no such file, the result says why.
fn probe_hidden_cache(
    probe_file: Result<CacheProbeFile, NotProbed>,
    seed: u64,
    recorder: &Recorder,
) -> HiddenCache {
    let probed = probe_file.and_then(|probe_file| {
        let activity = "reading parts of a file of readlab's own twice, about 1 s, for a cache below";
        recorder.display().show_activity(activity);
        probe_file.probe(seed)
    });
    probed.unwrap_or_else(|why| HiddenCache::NotProbed { why })
}

/// Records every file as a target, with its expected answers. The first target names the hidden
/// cache.
fn record_files(
    folder: &SweepFolder,
    hidden_cache: HiddenCache,
    recorder: &mut Recorder,
) -> anyhow::Result<Targets<SweepTarget>> {
    let mut targets = Targets::default();
    let mut hidden_cache = Some(hidden_cache);
    for file in &folder.files {
        let mut target = Target::examine(&folder.path().join(&file.name))?;
        target.facts.answer = Some(file.answer);
        target.facts.digest = Some(file.digest.clone());
        target.facts.hidden_cache = hidden_cache.take();
        let (index, facts) = (targets.next_index(), Box::new(target.facts.clone()));
        recorder.append(Line::Target { index, facts })?;
        targets.push(SweepTarget { truth: known_truth(file), target });
    }
    Ok(targets)
}

/// Makes readlab's own file, in a separate folder, for warming up contenders: no file of the sweep
/// may be read before its timed reading.
fn make_warm_up_file(parent: &Path, swept: &SweepFolder) -> anyhow::Result<(SweepFolder, WarmUpFile)> {
    let largest = swept.files.iter().map(|file| file.recipe.size_bytes).max().unwrap_or(0);
    let kind = swept.files.first().map_or(CorpusKind::A, |file| file.recipe.kind);
    let recipe = Recipe { kind, size_bytes: largest.min(WARM_UP_BYTES_MAX), seed: WARM_UP_SEED };
    let mut folder = SweepFolder::make(parent, recipe.size_bytes, None)?;
    write::write(&mut folder, "warm-up".to_owned(), recipe, WriteWay::Plain)?;
    let path = folder.path().join(&folder.files[0].name);
    let known = SweepTarget { target: Target::examine(&path)?, truth: known_truth(&folder.files[0]) };
    Ok((folder, WarmUpFile::new(&path, known)))
}

/// The expected answers, which are known from writing. No reading was timed for them, so the time of
/// a slow device is assumed.
fn known_truth(file: &WrittenFile) -> Truth {
    const SLOW_BYTES_PER_SECOND: u64 = 20_000_000;
    let wall_ns = file.recipe.size_bytes.saturating_mul(1_000_000_000 / SLOW_BYTES_PER_SECOND);
    Truth::new(file.answer, file.digest.clone(), Duration::from_nanos(wall_ns))
}

/// The methods that read each file, as a plan for a single file.
fn plan_for_one_file(config: &SweepConfig, contenders: &Contenders) -> Result<Plan, PlanError> {
    let entries = config.trial_names().into_iter().map(|trial| SuiteEntry { trial, ..SuiteEntry::default() });
    let selection = TrialSelection {
        entries: entries.collect(),
        readable: ReadableTarget::single_file(config.work),
        reports_unreadable: true,
        ..TrialSelection::default()
    };
    planner::plan(contenders, &selection, &[CacheState::Cold], Rules::one_reading(config.seed))
}

/// The plan for all files: one pass over the files for each method. In each pass, the method changes
/// from file to file, so that after all passes each method has read each file once.
fn plan_for_all_files(config: &SweepConfig, folder: &SweepFolder, methods: Plan) -> Result<Plan, SweepError> {
    let order = reading_order(config, folder)?;
    let passes = methods.trials.len();
    let mut trials = Vec::new();
    for pass in 0..passes {
        let turns = order.iter().enumerate();
        trials.extend(turns.map(|(at, &file)| methods.trials[(at + pass) % passes].on_target(file)));
    }
    let mut plan = Plan { trials, ..methods };
    plan.number_trials();
    Ok(plan)
}

fn reading_order(config: &SweepConfig, folder: &SweepFolder) -> Result<Vec<TargetIndex>, SweepError> {
    let mut by_name: Vec<TargetIndex> = (0..folder.files.len()).map(TargetIndex::new).collect();
    Ok(match config.order {
        ReadingOrder::Directory => {
            folder.indexes_in_directory_order()?.into_iter().map(TargetIndex::new).collect()
        }
        ReadingOrder::Name => by_name,
        ReadingOrder::Shuffled => {
            by_name.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(config.seed));
            by_name
        }
    })
}
