//! What `race`, `suite`, `tune` and `limits` share: from what is asked for to a record that is
//! saved and shown. What is asked lives in [`super::run_config`], on what in
//! [`super::target_spec`], what is given in [`super::output`].

use super::deadline::Deadline;
use super::outcome::exit_code;
use super::output::{begin, exportable, progress_shown, show};
use super::prepare::{Prepared, prepare};
use super::probe::hidden_caches;
use super::run_config::RunConfig;
use super::target_spec::{TargetSpecs, serve};
use crate::commands::options::OutputOptions;
use crate::contender::discovery::Contenders;
use crate::experiment::fio;
use crate::experiment::planner::TargetForm;
use crate::experiment::recorder::Recorder;
use crate::folder::RunFolder;
use crate::folder::scratch;
use crate::linux::interrupt;
use crate::machine::Machine;
use crate::measure::interface::Sink;
use crate::measure::plan::{Plan, Rules};
use crate::measure::round;
use crate::measure::sampler::ProcessSampler;
use crate::measure::search::{self, Tuning};
use crate::measure::target::CacheControl;
use crate::record::{EndReason, Header, Line, Record, RecordError, RunKind, SCHEMA, SCHEMA_VERSION};
use crate::target::{Accept, Target};
use crate::trial::TrialId;
use anyhow::Context;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Runs on each goal in turn; the worst end is the exit code.
pub(super) fn each(asked: &RunConfig, goals: &[TargetSpecs]) -> anyhow::Result<ExitCode> {
    interrupt::listen().context("cannot listen for Ctrl-C")?;
    scratch::tell_left();
    match in_turn(asked, goals) {
        // Whatever failed did so because the user wants to stop: asking a server, for instance.
        Err(_) if interrupt::requested() => Ok(ExitCode::from(interrupt::EXIT_CODE)),
        done => done,
    }
}

/// The targets of one run, with the time that examining them took.
struct Examined {
    targets: Vec<(TargetForm, Target)>,
    took: Duration,
}

fn in_turn(asked: &RunConfig, goals: &[TargetSpecs]) -> anyhow::Result<ExitCode> {
    let accept = if asked.measuring.allow_device { Accept::Devices } else { Accept::Files };
    let rules = asked.rules()?;
    let examine = |goal: &TargetSpecs| {
        let (begun, deadline) = (Instant::now(), Deadline::of_asking(&rules));
        let targets =
            goal.iter().map(|wanted| wanted.examine(accept, &deadline)).collect::<anyhow::Result<_>>()?;
        Ok(Examined { targets, took: begun.elapsed() })
    };
    let goals = goals.iter().map(examine).collect::<anyhow::Result<Vec<Examined>>>()?;
    let mut targets = goals.iter().flat_map(|goal| &goal.targets);
    targets.try_for_each(|(_, target)| asked.makes_no_state_of(&target.facts))?;
    let giving = asked.giving;
    asked.can_drop_caches()?;
    exportable(giving)?;
    if let Some(folder) = &giving.output {
        RunFolder::make(Some(folder))?.abandon();
    }
    if giving.save.is_some() && goals.len() > 1 {
        anyhow::bail!("--save names one record, and each of the {} targets gets one", goals.len());
    }
    let reference = asked.reference()?;
    let contenders = asked.contenders()?;
    if interrupt::requested() {
        return Ok(ExitCode::from(interrupt::EXIT_CODE));
    }
    let (mut code, requested) = (0, asked.requested());
    for goal in goals {
        let record = one(asked, &contenders, goal, (rules, reference.clone()))?;
        code = code.max(exit_code(&record, &requested));
        if code == interrupt::EXIT_CODE {
            break;
        }
    }
    Ok(ExitCode::from(code))
}

/// One target, in a folder of its own; nothing is left of a run that does not begin.
fn one(
    asked: &RunConfig,
    contenders: &Contenders,
    goal: Examined,
    rules: (Rules, Option<TrialId>),
) -> anyhow::Result<Record> {
    let folder = RunFolder::make(asked.giving.output.as_deref())?;
    in_folder(asked, contenders, goal, (rules, &folder)).inspect_err(|_| folder.abandon())
}

/// One target: examined, measured, recorded, shown.
fn in_folder(
    asked: &RunConfig,
    contenders: &Contenders,
    goal: Examined,
    ((rules, reference), folder): ((Rules, Option<TrialId>), &RunFolder),
) -> anyhow::Result<Record> {
    // Building contenders, once, is in nobody's budget; what is asked and read beforehand is.
    let now = Instant::now();
    let begun = now.checked_sub(goal.took).unwrap_or(now);
    let (shapes, mut targets): (Vec<TargetForm>, Vec<Target>) = goal.targets.into_iter().unzip();
    let servers = serve(&shapes, &mut targets)?;
    let grounds = targets.iter().map(|target| CacheControl::of(target, asked.eviction()));
    let grounds = grounds.collect::<Result<Vec<_>, _>>()?;
    let recorder = Recorder::begin(folder, progress_shown(asked.giving))?;
    // Whatever reads it whole would fill a cache below.
    hidden_caches(asked, &mut targets, &grounds, (&rules, &recorder));
    let prepared = prepare(asked, contenders, (&shapes, &mut targets), (rules, &recorder, begun));
    let Prepared { found, plan, candidates } = prepared?;
    let reference = reference.map(|reference| as_planned(reference, &plan));
    let tuning = asked.space.map(|_| Tuning::of(plan.clone(), &candidates, reference.as_ref()));
    let plan = tuning.as_ref().map_or(&plan, |tuning| &tuning.plan);
    let (looks, why_not) = asked.looks(folder)?;
    let agenda = asked.agenda(plan, shapes.iter().copied().zip(&grounds), &looks);
    let header = Header { agenda, ..header(asked.kind, rules.seed, reference) };
    let recorder = introduce(recorder, contenders, (&targets, plan), header)?;
    let mut recorder = begin(asked.giving, recorder)?;
    recorder.follow(plan);
    let subjects = targets.iter().zip(&found).zip(grounds).enumerate();
    let subjects =
        subjects.map(|(index, ((target, found), ground))| found.subject((index, target), ground)).collect();
    if let Some(text) = why_not {
        recorder.append(Line::Warning { text })?;
    }
    let mut hired = ProcessSampler::new(plan, contenders, subjects).looking(looks).after(begun.elapsed());
    let ended = match &tuning {
        Some(tuning) => search::run(tuning, &mut hired, &mut recorder),
        None => round::run(plan, &mut hired, &mut recorder),
    };
    drop(hired);
    drop(servers);
    if let (true, Some(file)) = (
        asked.kind == RunKind::Limits && ended.is_ok() && !interrupt::requested(),
        targets.first().and_then(Target::file),
    ) {
        beside_fio(&mut recorder, file)?;
    }
    told(asked.giving, recorder, ended)
}

/// The record as it was written, which is shown. One that could not be written to its end, as on a
/// full disk, is shown as far as it goes.
pub(super) fn told(
    giving: &OutputOptions,
    recorder: Recorder,
    ended: Result<EndReason, RecordError>,
) -> anyhow::Result<Record> {
    let path = recorder.finish();
    let record = Record::read(&path)?;
    let shown = show(giving, &record, &path);
    ended?;
    shown?;
    Ok(record)
}

/// What fio gets from the same device at the points where ours are best; that it is not there is
/// said, and no more.
fn beside_fio(recorder: &mut Recorder, file: &Path) -> anyhow::Result<()> {
    for point in [(128 << 10, 16), (1 << 20, 8)] {
        recorder.note("fio reads the device".to_owned());
        let line = match fio::fio(file, 0, point) {
            Ok(limit) => Line::Limit(Box::new(limit)),
            Err(error) => Line::Warning { text: format!("no limit by fio: {error}") },
        };
        let failed = matches!(line, Line::Warning { .. });
        recorder.append(line)?;
        if failed {
            break;
        }
    }
    Ok(())
}

/// The lines of a record that come before any measuring.
fn introduce(
    mut recorder: Recorder,
    contenders: &Contenders,
    (targets, plan): (&[Target], &Plan),
    header: Header,
) -> anyhow::Result<Recorder> {
    let mut lines = vec![Line::Header(Box::new(header))];
    let facts =
        |(index, target): (usize, &Target)| Line::Target { index, facts: Box::new(target.facts.clone()) };
    lines.extend(targets.iter().enumerate().map(facts));
    lines.extend(
        contenders
            .absent()
            .iter()
            .map(|(name, reason)| Line::Warning { text: format!("{name} does not take part: {reason}") }),
    );
    let taking_part = |name: &str| plan.trials.iter().any(|planned| planned.trial.contender == name);
    for contender in contenders.present().iter().filter(|contender| taking_part(&contender.receipt.contender))
    {
        lines.push(Line::Contender(contender.receipt.clone()));
    }
    for line in lines {
        recorder.append(line)?;
    }
    Ok(recorder)
}

/// The first line of a record made now, on this machine, by this command.
pub(super) fn header(kind: RunKind, seed: u64, reference: Option<TrialId>) -> Header {
    Header {
        schema: SCHEMA.to_owned(),
        version: SCHEMA_VERSION,
        lab: env!("CARGO_PKG_VERSION").to_owned(),
        revision: env!("READLAB_REVISION").to_owned(),
        kind,
        command: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
        started: jiff::Timestamp::now().to_string(),
        seed,
        reference,
        machine: Machine::probe(),
        agenda: None,
    }
}

/// The reference as the plan names it: with the scan and the settings that were decided.
fn as_planned(reference: TrialId, plan: &Plan) -> TrialId {
    let mut ids = plan.trials.iter().map(|planned| &planned.trial.id);
    ids.find(|id| **id == reference || id.method == reference.method).cloned().unwrap_or(reference)
}
