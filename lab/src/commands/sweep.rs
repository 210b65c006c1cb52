//! `readlab sweep DIR`: files of many sizes are written, settled, evicted and read again; rate by
//! size, the straight line through time on size, and what leaves it.

use super::outcome::exit_code;
use super::{output, run};
use crate::commands::options::OutputOptions;
use crate::contender::discovery::Contenders;
use crate::contender::roster::Roster;
use crate::corpus::oracle::Truth;
use crate::corpus::recipe::{CorpusKind, Recipe};
use crate::experiment::planner::{self, ReadableTarget, Selection};
use crate::experiment::recorder::Recorder;
use crate::experiment::sweep::sizes::{PUBLISHED, Sizes};
use crate::experiment::sweep::{self, SweepFolder, WrittenFile, write};
use crate::folder::RunFolder;
use crate::folder::scratch;
use crate::linux::interrupt;
use crate::measure::interface::Sink;
use crate::measure::pass::{self, SweepRead, SweepTarget, WarmUp};
use crate::measure::plan::{Plan, Rules};
use crate::record::{EndReason, Line, Record, Requested, RunKind, WriteWay};
use crate::suite::Entry;
use crate::target::{Target, shown, without_parents};
use crate::trial::{CacheState, Work};
use crate::units::{Bytes, Nanos};
use anyhow::Context;
use clap::{Args, ValueEnum};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// Arguments of `readlab sweep`.
#[derive(Debug, Args)]
pub struct SweepArgs {
    /// Where the files are written, in a folder that is removed at the end; with --read-only, a
    /// folder that was kept
    pub dir: PathBuf,
    /// Sizes: a list, or ranges in steps of 1, 2 and 5, such as 10kB,1MB or 10kB..2GB [default: 14
    /// from 10 kB to 2 GB]
    #[arg(long, value_name = "SIZES")]
    pub sizes: Option<Sizes>,
    /// Files of each size, written by cycling through the sizes
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: u32,
    /// What the files hold: a is the byte 0x41; random is for devices that compress or remove
    /// duplicates
    #[arg(long, value_name = "KIND", default_value = "a")]
    pub fill: CorpusKind,
    /// How the files are written
    #[arg(long, value_name = "WAY", default_value = "plain")]
    pub write: WriteWay,
    /// The order of reading
    #[arg(long, value_name = "ORDER", default_value = "directory")]
    pub order: Order,
    /// Methods that read; may be repeated [default: read, direct and dontcache of contender rust]
    #[arg(long = "method", value_name = "TRIAL")]
    pub methods: Vec<String>,
    /// What is done with the bytes
    #[arg(long, value_name = "WORK", default_value = "discard")]
    pub work: Work,
    /// Refuse to write more than this
    #[arg(long, value_name = "SIZE")]
    pub max_bytes: Option<Bytes>,
    /// Keep the files, to be read again with --read-only, perhaps after a restart
    #[arg(long)]
    pub keep: bool,
    /// Write nothing: read a folder that was kept
    #[arg(long, conflicts_with_all = ["sizes", "repeat", "fill", "write", "max_bytes", "keep"])]
    pub read_only: bool,
    /// Seed of contents and shuffles; recorded in any case
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// What is shown and kept.
    #[command(flatten)]
    pub giving: OutputOptions,
}

/// The order in which files are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Order {
    /// As the folder lists them.
    Directory,
    /// Shuffled by the seed.
    Shuffled,
    /// By name, which is the order of writing.
    Name,
}

/// The methods that read unless others are named.
const METHODS: [&str; 3] =
    ["rust/read@buffer=128KiB", "rust/direct@buffer=1MiB", "rust/dontcache@buffer=128KiB"];

/// Size of the file on which contenders are warmed up, unless all files of the sweep are smaller.
const OWN_BYTES_MAX: u64 = 1 << 20;

/// Its seed: no file of a sweep holds the same random bytes by chance.
const OWN_SEED: u64 = 0x7761_726d_2d75_70ff;

/// Writes, settles, reads, tells.
///
/// # Errors
/// If the folder cannot be used, a method is misspelled, or the record cannot be written.
pub fn run(args: &SweepArgs) -> anyhow::Result<ExitCode> {
    interrupt::listen().context("cannot listen for Ctrl-C")?;
    scratch::tell_left();
    let contenders = Contenders::discover(&Roster::built_in(), |name| {
        names(args).iter().any(|trial| trial.starts_with(&format!("{name}/")))
    });
    output::exportable(&args.giving)?;
    let plan = plan(args, &contenders)?;
    // All that the user may have got wrong is known before there is a record.
    let Some(folder) = open_or_make(args)? else { return Ok(ExitCode::from(interrupt::EXIT_CODE)) };
    let run_folder = RunFolder::make(args.giving.output.as_deref())?;
    let mut recorder = begin(args, &run_folder).inspect_err(|_| run_folder.abandon())?;
    let start = Instant::now();
    let end = sweep(args, folder, (&contenders, plan), (&run_folder, &mut recorder))?;
    recorder.append(Line::End { reason: end, wall_ns: Nanos::from(start.elapsed()).0 })?;
    let path = recorder.finish();
    let record = Record::read(&path)?;
    output::show(&args.giving, &record, &path)?;
    let requested: Vec<Requested> = args.methods.iter().cloned().map(Requested::Method).collect();
    Ok(ExitCode::from(exit_code(&record, &requested)))
}

fn begin(args: &SweepArgs, folder: &RunFolder) -> anyhow::Result<Recorder> {
    let mut recorder = Recorder::begin(folder, output::progress_shown(&args.giving))?;
    recorder.append(Line::Header(Box::new(run::header(RunKind::Sweep, args.seed, None))))?;
    output::begin(&args.giving, recorder)
}

fn names(args: &SweepArgs) -> Vec<String> {
    if args.methods.is_empty() { METHODS.map(str::to_owned).to_vec() } else { args.methods.clone() }
}

/// Files and readings; the folder goes away with the end of this function, whatever happens.
fn sweep(
    args: &SweepArgs,
    mut folder: SweepFolder,
    (contenders, plan): (&Contenders, Plan),
    (run_folder, recorder): (&RunFolder, &mut Recorder),
) -> anyhow::Result<EndReason> {
    if !args.read_only && !write_all(args, &mut folder, recorder)? {
        return Ok(EndReason::Interrupted);
    }
    let waypoints = announce(&folder, recorder)?;
    // Nothing is written into a folder that is only read.
    let beside = if args.read_only { run_folder.path() } else { &args.dir };
    let own = own_file(beside, &folder);
    if let Err(error) = &own {
        recorder.append(Line::Warning { text: format!("contenders are not warmed up: {error:#}") })?;
    }
    let warm_up = own.as_ref().ok().map(|(_, warm_up)| warm_up);
    write::settle(&folder)?;
    if args.keep {
        folder.keep()?;
        let (path, again) = (shown(folder.path()), again(args, folder.path()));
        let text = format!("the files were kept in {path}; to read them again: {again}");
        recorder.append(Line::Warning { text })?;
    }
    let end = read_all(args, (&folder, &waypoints, warm_up), (contenders, plan), recorder)?;
    // Before the readings it would have warmed every cache that a restart had emptied.
    if args.read_only && end == EndReason::Settled {
        recorder.note("comparing contents with what was written".to_owned());
        match folder.check_content() {
            Ok(()) => {}
            Err(sweep::SweepError::Interrupted) => return Ok(EndReason::Interrupted),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(end)
}

/// The command that reads a kept folder again in the same way.
fn again(args: &SweepArgs, folder: &Path) -> String {
    let mut words = vec!["readlab".to_owned(), "sweep".into(), folder.to_string_lossy().into_owned()];
    words.push("--read-only".to_owned());
    words.extend(args.methods.iter().flat_map(|method| ["--method".to_owned(), method.clone()]));
    let mut with = |name: &str, value: &str| words.extend([name.to_owned(), value.to_owned()]);
    if args.work != Work::Discard {
        with("--work", args.work.word());
    }
    if let Some(order) = args.order.to_possible_value().filter(|_| args.order != Order::Directory) {
        with("--order", order.get_name());
        with("--seed", &args.seed.to_string());
    }
    shell_words::join(words)
}

fn open_or_make(args: &SweepArgs) -> anyhow::Result<Option<SweepFolder>> {
    let dir = without_parents(&args.dir).with_context(|| shown(&args.dir))?;
    if args.read_only {
        return Ok(Some(SweepFolder::kept(&dir)?));
    }
    let sizes = sizes(args);
    let total_bytes = sizes.iter().sum::<u64>().saturating_mul(u64::from(args.repeat));
    let folder = SweepFolder::make(&dir, total_bytes, args.max_bytes.map(|bytes| bytes.0))?;
    Ok((!interrupt::requested()).then_some(folder))
}

fn sizes(args: &SweepArgs) -> Vec<u64> {
    args.sizes.as_ref().map_or_else(|| PUBLISHED.to_vec(), |sizes| sizes.0.clone())
}

/// Writes every file; `false` when the user wants to stop.
fn write_all(args: &SweepArgs, folder: &mut SweepFolder, recorder: &mut Recorder) -> anyhow::Result<bool> {
    let recipes = sweep::recipes(&sizes(args), args.repeat, args.fill, args.seed);
    for (target, (name, recipe)) in recipes.into_iter().enumerate() {
        recorder.note(format!("writing {name}"));
        match write::write(folder, name, recipe, args.write) {
            Ok(times) => recorder.append(Line::Write { target, how: args.write, times })?,
            Err(sweep::SweepError::Interrupted) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(true)
}

/// Every file as a target in the record, with its truth.
fn announce(folder: &SweepFolder, recorder: &mut Recorder) -> anyhow::Result<Vec<SweepTarget>> {
    let mut waypoints = Vec::new();
    for (index, file) in folder.files.iter().enumerate() {
        let mut target = Target::examine(&folder.path().join(&file.name))?;
        target.facts.answer = Some(file.answer);
        target.facts.digest = Some(file.digest.clone());
        recorder.append(Line::Target { index, facts: Box::new(target.facts.clone()) })?;
        waypoints.push(SweepTarget { truth: truth(file), target });
    }
    Ok(waypoints)
}

/// A file of readlab's own, in a folder of its own, on which contenders are warmed up: no file of
/// the sweep is read before its timed reading.
fn own_file(parent: &Path, of: &SweepFolder) -> anyhow::Result<(SweepFolder, WarmUp)> {
    let largest = of.files.iter().map(|file| file.recipe.size_bytes).max().unwrap_or(0);
    let kind = of.files.first().map_or(CorpusKind::A, |file| file.recipe.kind);
    let recipe = Recipe { kind, size_bytes: largest.min(OWN_BYTES_MAX), seed: OWN_SEED };
    let mut folder = SweepFolder::make(parent, recipe.size_bytes, None)?;
    write::write(&mut folder, "warm-up".to_owned(), recipe, WriteWay::Plain)?;
    let path = folder.path().join(&folder.files[0].name);
    let at = SweepTarget { target: Target::examine(&path)?, truth: truth(&folder.files[0]) };
    Ok((folder, WarmUp::on(&path, at)))
}

/// What is known from writing; a slow device's time for the size stands for the plainest reading.
fn truth(file: &WrittenFile) -> Truth {
    const SLOW_BYTES_PER_SECOND: u64 = 20_000_000;
    let wall_ns = file.recipe.size_bytes.saturating_mul(1_000_000_000 / SLOW_BYTES_PER_SECOND);
    Truth { answer: file.answer, digest: file.digest.clone(), text: false, archive: None, wall_ns }
}

/// What reads each file.
fn plan(args: &SweepArgs, contenders: &Contenders) -> anyhow::Result<Plan> {
    let selection = Selection {
        entries: names(args).into_iter().map(|trial| Entry { trial, ..Entry::default() }).collect(),
        views: ReadableTarget::of_bytes(args.work),
        told: true,
        ..Selection::default()
    };
    Ok(planner::plan(contenders, &selection, &[CacheState::Cold], Rules::one_reading(args.seed))?)
}

/// As many passes as methods, the methods taking turns from file to file.
fn read_all(
    args: &SweepArgs,
    (folder, waypoints, warm_up): (&SweepFolder, &[SweepTarget], Option<&WarmUp>),
    (contenders, plan): (&Contenders, Plan),
    recorder: &mut Recorder,
) -> anyhow::Result<EndReason> {
    for (name, reason) in contenders.absent() {
        recorder.append(Line::Warning { text: format!("{name} does not take part: {reason}") })?;
    }
    recorder.follow(&plan);
    let order = order(args, folder)?;
    let methods = plan.trials.len();
    let of = u32::try_from(order.len()).context("too many files")?;
    let mut index = 0;
    for pass in 0..methods {
        for (position, &at) in order.iter().enumerate() {
            let mut planned = plan.trials[(position + pass) % methods].clone();
            (planned.trial.index, planned.trial.target) = (index, at);
            index += 1;
            let (pass, position) = (u32::try_from(pass)?, u32::try_from(position)?);
            let visit = SweepRead { at: &waypoints[at], planned, pass, position, of, warm_up };
            if let Some(end) = pass::read_one(&visit, contenders, recorder)? {
                return Ok(end);
            }
        }
    }
    for (mut trial, outcome) in plan.absent {
        trial.index = index;
        index += 1;
        recorder.append(Line::Trial(Box::new(trial.clone())))?;
        recorder.append(Line::Outcome { trial: trial.index, outcome })?;
    }
    Ok(EndReason::Settled)
}

fn order(args: &SweepArgs, folder: &SweepFolder) -> anyhow::Result<Vec<usize>> {
    let mut by_name: Vec<usize> = (0..folder.files.len()).collect();
    Ok(match args.order {
        Order::Directory => folder.in_directory_order()?,
        Order::Name => by_name,
        Order::Shuffled => {
            by_name.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(args.seed));
            by_name
        }
    })
}
