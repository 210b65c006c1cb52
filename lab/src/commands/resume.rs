//! `--resume RECORD` of `race` and `suite`: a run that was cut short goes on by the plan that its
//! record begins with.
//!
//! What must be as it was is looked at here, and whatever is not refuses the run before anything is
//! changed: the lab, the target, the contenders. How rounds go on lives in
//! [`crate::measure::round`].

use super::compare::path_of;
use super::deadline::Deadline;
use super::expected_answers::ExpectedAnswers;
use super::outcome::exit_code;
use super::output::{exportable, progress_shown, save};
use super::prepare::truth;
use super::run::told;
use super::target_spec::{TargetSpec, serve};
use crate::commands::options::OutputOptions;
use crate::contender::discovery::Contenders;
use crate::contender::roster::Roster;
use crate::experiment::planner::TargetForm;
use crate::experiment::recorder::Recorder;
use crate::folder::scratch;
use crate::linux::interrupt;
use crate::machine::{self, Machine};
use crate::measure::cache::Eviction;
use crate::measure::interface::Sink;
use crate::measure::plan::{Plan, Planned};
use crate::measure::rights;
use crate::measure::round::{self, ResumeState};
use crate::measure::sampler::{FlameGraphPaths, InspectPlan, ProcessSampler};
use crate::measure::target::CacheControl;
use crate::record::history::History;
use crate::record::{
    EndReason, Header, Line, Record, RecordWriter, ResumePlan, Resumption, RunKind, TargetRef, Trial,
};
use crate::target::{Accept, Target, TargetFacts, shown, without_parents};
use crate::terminal::notice;
use crate::trial::{COMMAND, MethodId, TrialId};
use anyhow::{Context, anyhow, bail, ensure};
use jiff::Timestamp;
use rustix::process::geteuid;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Goes on with the run of this record.
pub(super) fn run(kind: RunKind, name: &str, giving: &OutputOptions) -> anyhow::Result<ExitCode> {
    interrupt::listen().context("cannot listen for Ctrl-C")?;
    scratch::tell_left();
    match go_on(kind, name, giving) {
        Err(_) if interrupt::requested() => Ok(ExitCode::from(interrupt::EXIT_CODE)),
        done => {
            let record = done?;
            let requested = record.header.agenda.as_ref().map_or(&[][..], |agenda| &agenda.requested);
            Ok(ExitCode::from(exit_code(&record, requested)))
        }
    }
}

fn go_on(kind: RunKind, name: &str, giving: &OutputOptions) -> anyhow::Result<Record> {
    exportable(giving)?;
    let path = path_of(History::of_user().as_ref(), name)?;
    // It names the programs that are started: who may write it must not be somebody else.
    let owner = path.metadata().with_context(|| shown(&path))?.uid();
    ensure!(owner == geteuid().as_raw(), "{}: belongs to another user", shown(&path));
    // From here on nobody else writes it.
    let writer = RecordWriter::reopen(&path)?;
    let mut record = Record::read(&path)?;
    let earlier = elapsed(&record, &path)?;
    let agenda = agenda(kind, &record).with_context(|| shown(&path))?;
    let begun = Instant::now();
    let deadline = Deadline::of_resuming(&agenda.rules, begun, earlier);
    if agenda.drop_caches {
        rights::drop_caches().map_err(|reason| anyhow!("--drop-caches: {reason}"))?;
    }
    let (shapes, mut targets) = targets(&agenda, &record.targets)?;
    let servers = serve(&shapes, &mut targets)?;
    let grounds = grounds(&agenda, &targets)?;
    let contenders = contenders(&agenda, &record, giving)?;
    let plan = plan(&agenda, &contenders)?;
    let mut recorder = Recorder::of(writer, progress_shown(giving));
    let found = found(&agenda, (&mut targets, &record.targets), (&recorder, &deadline))?;
    save(giving, &path)?;
    for line in [Line::Resumed(resumption(&plan, &record, earlier)?)]
        .into_iter()
        .chain(restart(&agenda, &record.header))
    {
        recorder.append(line.clone())?;
        record.add(line);
    }
    recorder.follow(&plan);
    let subjects = targets.iter().zip(&found).zip(grounds).enumerate();
    let subjects =
        subjects.map(|(index, ((target, found), ground))| found.subject((index, target), ground)).collect();
    let mut hired = ProcessSampler::new(&plan, &contenders, subjects)
        .looking(looks(&agenda, &path)?)
        .after(earlier + begun.elapsed());
    let ended = round::resume(&plan, &record, (&mut hired, &mut recorder));
    drop(hired);
    drop(servers);
    told(giving, recorder, ended)
}

/// The plan of a record whose run may go on here.
fn agenda(kind: RunKind, record: &Record) -> anyhow::Result<ResumePlan> {
    let header = &record.header;
    match record.end.map(|(reason, _)| reason) {
        Some(EndReason::Settled) => {
            bail!("nothing is left to do: every trial reached its precision or its limit")
        }
        Some(EndReason::Budget) => bail!("nothing is left to do: the time for the whole run was used up"),
        Some(EndReason::TargetChanged) => bail!("it ended because its target changed: begin anew"),
        Some(EndReason::Interrupted) | None => {}
    }
    let Some(agenda) = &header.agenda else {
        bail!("it holds no plan to go on by: it is one of `{}`, or of an earlier readlab", header.kind);
    };
    ensure!(header.kind == kind, "it is one of `{0}`: readlab {0} --resume", header.kind);
    let (lab, revision) = (env!("CARGO_PKG_VERSION"), env!("READLAB_REVISION"));
    ensure!(
        (header.lab.as_str(), header.revision.as_str()) == (lab, revision),
        "it was begun by readlab {} ({}), and this is {lab} ({revision}): begin anew",
        header.lab,
        header.revision
    );
    let mut read = agenda.trials.iter().map(|trial| trial.target);
    let begun =
        record.targets.len() == agenda.targets.len() && read.all(|target| target < agenda.targets.len());
    ensure!(begun && !agenda.targets.is_empty(), "nothing was begun: begin anew");
    let folder = std::env::current_dir()?;
    let from_here = agenda.rosters.is_empty() && agenda.trials.iter().all(|trial| trial.contender != COMMAND);
    ensure!(
        from_here || Path::new(&agenda.folder) == folder,
        "it was begun in {}, from where its commands are seen: go there",
        agenda.folder
    );
    Ok(agenda.clone())
}

/// Time that the run had taken when it was cut short: by its last line, or from where it began or
/// went on to the last writing.
fn elapsed(record: &Record, path: &Path) -> anyhow::Result<Duration> {
    if let Some((_, wall_ns)) = record.end {
        return Ok(Duration::from_nanos(wall_ns));
    }
    let (from, earlier_ns) = match record.resumed.last() {
        Some(last) => (&last.at, last.elapsed_ns),
        None => (&record.header.started, 0),
    };
    let begun: Timestamp = from.parse().with_context(|| format!("{}: {from}", shown(path)))?;
    let written = Timestamp::try_from(path.metadata()?.modified()?)?;
    // A clock that was set back tells nothing.
    let since = Duration::try_from(written.duration_since(begun)).unwrap_or_default();
    Ok(Duration::from_nanos(earlier_ns) + since)
}

/// The targets as they are now.
fn targets(agenda: &ResumePlan, before: &[TargetFacts]) -> anyhow::Result<(Vec<TargetForm>, Vec<Target>)> {
    let accept = if agenda.allow_device { Accept::Devices } else { Accept::Files };
    let deadline = Deadline::of_asking(&agenda.rules);
    let again =
        |(facts, aim): (&TargetFacts, &TargetRef)| TargetSpec::again(facts, aim).examine(accept, &deadline);
    let targets = before.iter().zip(&agenda.targets).map(again).collect::<anyhow::Result<Vec<_>>>()?;
    Ok(targets.into_iter().unzip())
}

/// What the states of the targets rest on, if these are the files that they were. Rights and links
/// may have changed meanwhile; and after a new start of the machine a device may have another
/// number.
fn grounds(agenda: &ResumePlan, targets: &[Target]) -> anyhow::Result<Vec<CacheControl>> {
    let eviction = if agenda.drop_caches { Eviction::OfSystem } else { Eviction::OfFile };
    let mut grounds = Vec::new();
    for (target, aim) in targets.iter().zip(&agenda.targets) {
        let ground = CacheControl::of(target, eviction)?;
        if let (Some(before), Some(mut now)) = (aim.identity, ground.identity()) {
            now.ctime = before.ctime;
            if machine::boot() != agenda.boot {
                now.dev = before.dev;
            }
            if let Some(change) = before.change(&now) {
                bail!("{} {change} since the run was cut short: begin anew", target.facts.path);
            }
        }
        grounds.push(ground);
    }
    Ok(grounds)
}

/// What is true of the targets, if it is what it was.
fn found(
    agenda: &ResumePlan,
    (targets, before): (&mut [Target], &[TargetFacts]),
    (recorder, deadline): (&Recorder, &Deadline),
) -> anyhow::Result<Vec<ExpectedAnswers>> {
    let mut all = Vec::<ExpectedAnswers>::new();
    for ((target, before), aim) in targets.iter_mut().zip(before).zip(&agenda.targets) {
        recorder.note(format!("reading {} once for the right answer", target.facts.path));
        let truth = truth(target, deadline)?;
        let is_same = before.digest.as_ref() == Some(&truth.digest) && before.http == target.facts.http;
        ensure!(
            is_same,
            "{}: is not what it was before the run was cut short: begin anew",
            target.facts.path
        );
        target.facts.answer = Some(truth.answer);
        target.facts.decoded = before.decoded.clone();
        let decoded = aim.form.and_then(|_| Some(all.first()?.truth.clone()));
        all.push(ExpectedAnswers { truth, decoded });
    }
    // What comes out of the user's own archive; the archives of a suite are made of the first
    // target.
    let mine = |trial: &Trial| trial.target == 0 && agenda.targets[0].form.is_none();
    let decodes = agenda.trials.iter().filter(|trial| mine(trial)).find_map(|trial| trial.decodes);
    if let (Some(archive), [target, ..], [found, ..]) = (decodes, targets, &mut all[..]) {
        recorder.note(format!("decoding {} once for the right answer", target.facts.path));
        let content = found.decode(target, archive, deadline);
        let digest =
            content.map_err(|reason| anyhow::anyhow!("{}: {reason}", before[0].path))?.digest.clone();
        let was = before[0].decoded.as_ref().map(|decoded| &decoded.digest);
        ensure!(was == Some(&digest), "{}: what comes out is not what it was: begin anew", before[0].path);
    }
    Ok(all)
}

/// Those who took part, if they show the receipts that they showed before.
fn contenders(agenda: &ResumePlan, record: &Record, giving: &OutputOptions) -> anyhow::Result<Contenders> {
    let rosters: Vec<PathBuf> = agenda.rosters.iter().map(PathBuf::from).collect();
    let roster = Roster::with(&rosters)?;
    let wanted = |name: &str| agenda.trials.iter().any(|trial| trial.contender == name);
    let about_to = |name: &str| {
        if !giving.quiet {
            notice::tell(format!("building the contender {name}, this once"));
        }
    };
    let contenders = Contenders::build_and_discover(&roster, wanted, about_to);
    if let Some((name, reason)) = contenders.absent().iter().next() {
        bail!("{name} took part before, and cannot now: {reason}");
    }
    for now in contenders.present().iter().map(|contender| &contender.receipt) {
        let before = record.contenders.iter().find(|before| before.contender == now.contender);
        let before = before.context("nothing was begun: begin anew")?;
        ensure!(
            before == now,
            "{} was {} ({}), and is {} ({}): begin anew",
            now.contender,
            before.version,
            before.runtime,
            now.version,
            now.runtime
        );
    }
    Ok(contenders)
}

/// The plan as it was, with the methods that carry it out now.
fn plan(agenda: &ResumePlan, contenders: &Contenders) -> anyhow::Result<Plan> {
    let trials =
        agenda.trials.iter().map(|trial| planned(trial, contenders)).collect::<anyhow::Result<Vec<_>>>()?;
    Ok(Plan { trials, absent: agenda.absent.clone(), states: agenda.states.clone(), rules: agenda.rules })
}

fn planned(trial: &Trial, contenders: &Contenders) -> anyhow::Result<Planned> {
    // A name is written for people; its parts are what was meant.
    let (contender, method) = (trial.contender.clone(), trial.method.clone());
    let method = MethodId { contender, method, scan: trial.scan.clone() };
    let id = TrialId { method, params: trial.params.clone() };
    let contender = contenders
        .contender(&trial.contender)
        .with_context(|| format!("{}: takes no part", trial.contender))?;
    let choice = contender.choose(&id.method, &id.params, trial.work).with_context(|| id.to_string())?;
    let is_same =
        (&choice.id, &choice.params) == (&id.method, &id.params) && choice.method.cache == trial.cache;
    ensure!(is_same, "{id}: its contender no longer has it as it was: begin anew");
    Ok(Planned {
        trial: Trial { id, ..trial.clone() },
        choice,
        warmup: contender.warmup,
        collects: contender.collects,
    })
}

/// What is looked at inside.
fn looks(agenda: &ResumePlan, record: &Path) -> anyhow::Result<InspectPlan> {
    let record_folder = without_parents(record.parent().unwrap_or(Path::new(".")))?;
    let pictures = |folder: &String| FlameGraphPaths { folder: PathBuf::from(folder), record_folder };
    Ok(InspectPlan { flame_graphs: agenda.flame_graphs.as_ref().map(pictures), trace: agenda.trace })
}

/// Where the run goes on.
fn resumption(plan: &Plan, record: &Record, earlier: Duration) -> anyhow::Result<Resumption> {
    let reopen = round::reopen(record);
    let next = ResumeState::of(record).next(plan, &reopen);
    let (state, round) = next.context("its plan has no state: begin anew")?;
    let elapsed_ns = u64::try_from(earlier.as_nanos()).unwrap_or(u64::MAX);
    Ok(Resumption { at: Timestamp::now().to_string(), elapsed_ns, state, round, reopen })
}

/// What readers must know if the machine was started anew, or is another.
fn restart(agenda: &ResumePlan, before: &Header) -> Option<Line> {
    if machine::boot() == agenda.boot {
        return None;
    }
    let (was, is) = (before.machine.summary(), Machine::probe().summary());
    let text = if was == is {
        "the machine was started anew while the run was cut short: where a file lies in memory, and what else runs, is not as before".to_owned()
    } else {
        format!(
            "the run was cut short on one machine and resumed on another, or as another: before {was}; since {is}"
        )
    };
    Some(Line::Warning { text })
}
