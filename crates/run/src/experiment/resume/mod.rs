//! Resumes an interrupted run with the plan in its record's header.
//!
//! Readlab, the targets and the contenders must be the same as before; this is checked here, and a
//! difference refuses the run before anything is changed. [`readlab_measure::round`] decides which
//! round comes next.

mod fleet;

use super::deadline::{ASKING_STEP, COPYING_STEP, Deadline};
use super::header_lines::OpeningLines;
use super::planner::{self, resolve};
use super::recorder::Recorder;
use super::target_spec::{ExaminationOptions, ExaminedTarget, SplitReader, TargetSpec, check_drop_caches};
use super::targets::{ExpectedAnswers, OpenTarget, split_known_targets, start_servers};
use super::together::{ArrangedTargets, ReaderGroup};
use super::{Experiment, Procedure, Rounds, header_lines, participants};
use crate::live::LiveView;
use anyhow::{Context, anyhow, bail, ensure};
pub use fleet::SharedRunFacts;
use jiff::Timestamp;
use readlab_catalog::roster::{Roster, RosterEntry};
use readlab_measure::cache::EvictionScope;
use readlab_measure::plan::{Plan, PlannedTrial};
use readlab_measure::round::{self, ResumeState};
use readlab_measure::sampler::{FlameGraphPaths, InspectPlan};
use readlab_measure::target::CacheControl;
use readlab_model::target::{TargetFacts, TargetIndex, Targets};
use readlab_model::trial::{COMMAND, CacheState, TrialId};
use readlab_record::{EndReason, Header, Line, Record, RecordWriter, ResumePlan, Resumption, RunKind, Trial};
use readlab_roster::discovery::{Contenders, Participation};
use readlab_suite::{NamedBy, Suite};
use readlab_system::machine::{self, Machine};
use readlab_system::terminal::printable::display_path;
use readlab_system::trust;
use readlab_targets::target::absolute_without_dot_dot;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant, SystemTime};

/// The record of an interrupted run that may be resumed here.
#[derive(Debug)]
pub struct InterruptedRun {
    record: Record,
    resume_plan: ResumePlan,
    /// The folder of the record.
    record_folder: PathBuf,
    /// Time that the run had taken when it was interrupted.
    earlier_elapsed: Duration,
    /// Which rank of a fleet this is, if each rank reads a part of the file; `None` if whole files
    /// are read.
    split_reader: Option<SplitReader>,
}

impl InterruptedRun {
    /// Opens the record of a run of this kind, and locks it against other readlab processes.
    pub fn open(kind: RunKind, path: &Path) -> anyhow::Result<(InterruptedRun, RecordWriter)> {
        let writer = RecordWriter::reopen(path)?;
        let (record, written) = writer.read_back()?;
        let earlier_elapsed = elapsed_before(&record, written).with_context(|| display_path(path))?;
        let resume_plan = checked_resume_plan(kind, &record).with_context(|| display_path(path))?;
        // The commands of a record that another user may write to would run with this user's
        // rights. The plan is examined, because it decides which commands run; the trial lines of
        // the record may differ from it.
        if resume_plan.trials.iter().any(|trial| trial.contender() == COMMAND) {
            trust::check(path)?;
        }
        let folder = path.parent().unwrap_or(Path::new(".")).to_owned();
        Ok((
            InterruptedRun {
                record,
                resume_plan,
                record_folder: folder,
                earlier_elapsed,
                split_reader: None,
            },
            writer,
        ))
    }
}

impl Experiment {
    pub fn from_record(
        interrupted: InterruptedRun,
        recorder: &Recorder,
        quiet: bool,
    ) -> anyhow::Result<Experiment> {
        let InterruptedRun { mut record, resume_plan, record_folder: folder, earlier_elapsed, split_reader } =
            interrupted;
        let begun = Instant::now();
        if resume_plan.may_drop_caches {
            check_drop_caches()?;
        }
        let mut examined = examine(&resume_plan, &record.targets, split_reader)?;
        let servers = start_servers(&mut examined, &resume_plan.server)?;
        let mut targets = open_same_targets(&resume_plan, examined)?;
        let contenders = same_contenders(&resume_plan, &record, recorder.live(), quiet)?;
        let mut plan = resumed_plan(&resume_plan, &contenders)?;
        record.header.reference.iter().for_each(|reference| plan.set_baseline(reference));
        planner::mark_first_named(&mut plan, &resume_plan.requested_names);
        let deadline = Deadline::for_resumed_reading(&resume_plan.rules, begun, earlier_elapsed);
        let copying = Deadline::for_step(COPYING_STEP, &resume_plan.rules, begun);
        let same = RepeatedReading {
            resume_plan: &resume_plan,
            recorded_targets: &record.targets,
            deadline,
            recorder,
        };
        let expected = same.read_all_targets(&mut targets)?;
        let (targets, caches) = split_known_targets(targets, expected);
        let (reader_group, eviction) =
            (ReaderGroup::of_record(&record), EvictionScope::of_run(resume_plan.may_drop_caches));
        let mut arranged =
            reader_group.arrange(plan, targets, caches, None, eviction, &|_| copying.check())?;
        if record.targets.iter().any(TargetFacts::is_size_group) {
            let deadline = Deadline::for_resumed_reading(&resume_plan.rules, begun, earlier_elapsed);
            arranged = arranged.with_size_groups(resume_plan.may_drop_caches, &deadline, recorder)?;
        }
        // The record already has the facts of its targets.
        let ArrangedTargets { targets, cache_controls: caches, plan, .. } = arranged;
        let resumed = Line::Resumed(new_resumption(&plan, &record, earlier_elapsed)?);
        let lines: Vec<Line> =
            [resumed].into_iter().chain(restart_warning(&resume_plan, &record.header)).collect();
        lines.iter().cloned().for_each(|line| record.add(line));
        Ok(Experiment {
            kind: record.header.kind,
            opening: OpeningLines::Resumed(lines),
            targets,
            cache_controls: caches,
            servers,
            contenders: Rc::new(contenders),
            plan,
            procedure: Procedure::Rounds(Rounds::Resumed(Box::new(record))),
            inspect_plan: inspect_plan(&resume_plan, &folder)?,
            requested_names: resume_plan.requested_names,
            reader_group,
            setting_control: None,
            memory_control: None,
            begun,
            earlier_elapsed,
        })
    }
}

/// The plan that a record contains; an error if the run cannot be resumed with this readlab.
fn checked_resume_plan(kind: RunKind, record: &Record) -> anyhow::Result<ResumePlan> {
    let header = &record.header;
    match record.end.map(|(reason, _)| reason) {
        Some(EndReason::Settled) => {
            bail!("nothing is left to do: every trial reached its precision or its limit")
        }
        Some(EndReason::Budget) => bail!("nothing is left to do: the time for the whole run was used up"),
        Some(EndReason::TargetChanged) => bail!("it ended because its target changed: begin anew"),
        Some(EndReason::CommandFailed) => bail!("it ended because a command beside it failed: begin anew"),
        Some(EndReason::Interrupted | EndReason::RankLost) | None => {}
    }
    let Some(plan) = &header.resume_plan else {
        if record.fleet.is_some() {
            bail!("a fleet goes on only where all ranks always read, and their names are not hidden");
        }
        bail!("it holds no plan to go on by: it is one of `{}`", header.kind);
    };
    ensure!(header.kind == kind, "it is one of `{0}`: readlab {0} --resume", header.kind);
    let has_settings = record.targets.iter().any(|facts| !facts.settings.is_empty());
    ensure!(
        !has_settings,
        "its settings of the system are not in force any more: begin anew; readlab report shows what it holds"
    );
    let has_bounds = record.targets.iter().any(|facts| facts.memory_bound.is_some());
    ensure!(!has_bounds, "its bounds on memory are made only when it begins: begin anew");
    let (lab, revision) = (env!("CARGO_PKG_VERSION"), env!("READLAB_REVISION"));
    ensure!(
        (header.lab_version.as_str(), header.revision.as_str()) == (lab, revision),
        "it was begun by readlab {} ({}), and this is {lab} ({revision}): begin anew",
        header.lab_version,
        header.revision
    );
    // The record has a target for each number of readers, and one for each size group of a tree.
    let groups = record.targets.iter().filter(|facts| facts.is_size_group()).count();
    let targets = groups + ReaderGroup::of_record(record).reader_counts().len().max(plan.targets.len());
    let is_complete = record.targets.len() == targets
        && !plan.targets.is_empty()
        && plan.trials.iter().all(|trial| plan.targets.get(trial.target).is_some());
    ensure!(is_complete, "nothing was begun: begin anew");
    check_folder(plan)?;
    Ok(plan.clone())
}

/// Refuses to resume a run in another folder if its commands or rosters depend on the folder.
fn check_folder(plan: &ResumePlan) -> anyhow::Result<()> {
    let folder = std::env::current_dir()?;
    let is_anywhere =
        plan.roster_paths.is_empty() && plan.trials.iter().all(|trial| trial.contender() != COMMAND);
    ensure!(
        is_anywhere || Path::new(&plan.folder) == folder,
        "it was begun in {}, from where its commands are seen: go there",
        plan.folder
    );
    Ok(())
}

/// Time that the run had taken when it was interrupted: as the end of the record states it, or else
/// up to the last write to the record.
fn elapsed_before(record: &Record, written: SystemTime) -> anyhow::Result<Duration> {
    if let Some((_, wall_ns)) = record.end {
        return Ok(Duration::from_nanos(wall_ns));
    }
    let (from, earlier_ns) = match record.resumptions.last() {
        Some(last) => (&last.resumed_at, last.elapsed_ns),
        None => (&record.header.started, 0),
    };
    let begun: Timestamp = from.parse().with_context(|| from.clone())?;
    let written = Timestamp::try_from(written)?;
    // If the clock was set back, the time is not known.
    let since = Duration::try_from(written.duration_since(begun)).unwrap_or_default();
    Ok(Duration::from_nanos(earlier_ns) + since)
}

/// Whether the run finds names and reads no file.
fn finds_names(plan: &ResumePlan) -> bool {
    plan.trials.iter().any(|trial| trial.work.finds_names())
}

fn examine(
    plan: &ResumePlan,
    before: &Targets<TargetFacts>,
    split: Option<SplitReader>,
) -> anyhow::Result<Vec<ExaminedTarget>> {
    let deadline = Deadline::for_step(ASKING_STEP, &plan.rules, Instant::now());
    let (allow_device, server) = (plan.may_read_block_device, &plan.server);
    let examination = ExaminationOptions {
        allows_device: allow_device,
        only_finds_names: finds_names(plan),
        server,
        deadline: &deadline,
    };
    let mut targets = Vec::new();
    for (facts, target) in before.iter().zip(&plan.targets) {
        let spec = TargetSpec::of_record(facts, target, plan.rules.seed);
        let spec = split.map_or_else(|| spec.clone(), |split| spec.clone().split(split));
        targets.push(spec.examine(&examination)?);
    }
    Ok(targets)
}

/// Opens the targets, if they are the same files as before. Permissions and links may have changed
/// meanwhile, and after a restart of the machine a device may have another number.
fn open_same_targets(plan: &ResumePlan, examined: Vec<ExaminedTarget>) -> anyhow::Result<Vec<OpenTarget>> {
    let is_restarted = machine::boot_id() != plan.boot_id;
    let mut targets = Vec::new();
    for (examined, (index, before)) in examined.into_iter().zip(plan.targets.numbered()) {
        let open = OpenTarget::open(examined, plan.may_drop_caches, finds_names(plan))?;
        if let (Some(before), Some(mut now)) = (before.identity, open.cache_control.identity()) {
            now.ctime = before.ctime;
            if is_restarted {
                now.dev = before.dev;
            }
            if let Some(change) = before.change_until(&now) {
                bail!("{} {change} since the run was cut short: begin anew", open.target.facts.path);
            }
        }
        check_still_provable(plan, index, &open.cache_control)?;
        targets.push(open);
    }
    Ok(targets)
}

/// Refuses a target whose state was proven before the run was cut short, and cannot be proven now.
fn check_still_provable(plan: &ResumePlan, index: TargetIndex, control: &CacheControl) -> anyhow::Result<()> {
    let is_proven = |trial: &Trial| {
        trial.state != CacheState::Unknown && trial.target.under_first_condition(plan.targets.len()) == index
    };
    if let CacheControl::Unknown { reason, .. } = control
        && plan.trials.iter().any(is_proven)
    {
        bail!(
            "{reason}; before the run was cut short its state was proven: resume as the same user, or begin anew"
        );
    }
    Ok(())
}

/// The repeated first reading of each target, which finds the expected answers again and compares
/// them with those of the interrupted run.
struct RepeatedReading<'a> {
    resume_plan: &'a ResumePlan,
    recorded_targets: &'a Targets<TargetFacts>,
    deadline: Deadline,
    recorder: &'a Recorder,
}

impl RepeatedReading<'_> {
    fn read_all_targets(&self, targets: &mut [OpenTarget]) -> anyhow::Result<Vec<ExpectedAnswers>> {
        let mut all = Vec::<ExpectedAnswers>::new();
        let target_count = targets.len();
        for (target, (index, before)) in targets.iter_mut().zip(self.recorded_targets.numbered()) {
            // Without a digest, nothing was compared with the answer.
            let uncompared_time =
                before.digest.is_none().then(|| self.deadline.uncompared_reading_time(target_count));
            let expected = target.read_once(all.first(), uncompared_time, &self.deadline, self.recorder)?;
            check_still_provable(self.resume_plan, index, &target.cache_control)?;
            let facts = &target.target.facts;
            let is_same = has_same_content(before, facts) && before.http() == facts.http();
            ensure!(is_same, "{}: is not what it was before the run was cut short: begin anew", facts.path);
            ensure!(
                before.dictionary == facts.dictionary,
                "{}: its dictionary is not what it was before the run was cut short: begin anew",
                facts.path
            );
            all.push(expected);
        }
        for (index, (target, expected)) in
            TargetIndex::new(0).and_later().zip(targets.iter_mut().zip(&mut all))
        {
            self.decode_user_archive(index, target, expected)?;
        }
        Ok(all)
    }

    /// Decodes the target with this number if it is the user's own archive and trials decode it.
    /// The archives of a suite are not decoded, because they are made from the first target.
    fn decode_user_archive(
        &self,
        index: TargetIndex,
        target: &mut OpenTarget,
        expected: &mut ExpectedAnswers,
    ) -> anyhow::Result<()> {
        let is_own = self.resume_plan.targets[index].archive.is_none();
        let trials = || self.resume_plan.trials.iter().filter(move |trial| is_own && trial.target == index);
        let Some(archive) = trials().find_map(|trial| trial.decoded_format) else { return Ok(()) };
        let before = &self.recorded_targets[index];
        let proves_content = |trial: &Trial| !trial.is_control() && !trial.work.may_read_part();
        let is_compared = before.decoded.is_some() || trials().any(proves_content);
        let uncompared_time =
            (!is_compared).then(|| self.deadline.uncompared_reading_time(self.recorded_targets.len()));
        let path = &before.path;
        target
            .decode_once(
                expected,
                archive,
                uncompared_time,
                &self.deadline.for_needed_decoding(),
                self.recorder,
            )
            .map_err(|reason| anyhow!("{path}: {reason}"))?;
        let before = before.decoded.as_ref().map(|decoded| &decoded.digest);
        let now = expected.decoded_truth.as_ref().map(|content| &content.digest);
        ensure!(before.is_none() || before == now, "{path}: what comes out is not what it was: begin anew");
        Ok(())
    }
}

/// Whether the content of a target is that of the record, whose first target may be of several
/// readers. Without a digest only the size is known.
fn has_same_content(before: &TargetFacts, now: &TargetFacts) -> bool {
    match &before.digest {
        Some(digest) => now.digest.as_ref() == Some(digest),
        None => before.bytes_of_one_reader() == now.size_bytes,
    }
}

/// The contenders that took part, if they are the same as before.
fn same_contenders(
    plan: &ResumePlan,
    record: &Record,
    live: &LiveView,
    quiet: bool,
) -> anyhow::Result<Contenders> {
    let rosters: Vec<PathBuf> = plan.roster_paths.iter().map(PathBuf::from).collect();
    let participation = |entry: &RosterEntry| {
        let is_needed = plan.trials.iter().any(|trial| trial.contender() == entry.name);
        if is_needed { Participation::AfterBuild } else { Participation::LeftOut }
    };
    let contenders =
        participants::build_and_discover(&Roster::with_user_rosters(&rosters)?, participation, live, quiet);
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

/// The plan of the interrupted run, with the contenders' present methods.
fn resumed_plan(plan: &ResumePlan, contenders: &Contenders) -> anyhow::Result<Plan> {
    let trials = plan.trials.iter().map(|trial| planned_trial(trial, contenders));
    Ok(Plan {
        trials: trials.collect::<anyhow::Result<_>>()?,
        absent_trials: plan.absent_trials.clone(),
        states: plan.states.clone(),
        rules: plan.rules,
    })
}

fn planned_trial(trial: &Trial, contenders: &Contenders) -> anyhow::Result<PlannedTrial> {
    // The name is built from the planned method and settings, so that it means exactly these.
    let id = TrialId::new(trial.id.method.clone(), &trial.params);
    let resolved = resolve(contenders, &id.method, &trial.params, trial.requested_work())
        .with_context(|| id.to_string())?;
    let choice = &resolved.choice;
    let is_same = (&choice.id, &choice.params) == (&id.method, &trial.params);
    ensure!(
        is_same && choice.method.cache == trial.cache,
        "{id}: its contender no longer has it as it was: begin anew"
    );
    // A record does not say who named a command.
    let is_of_suite = trial.contender() == COMMAND && Suite::is_method_built_in(&id.method);
    let by = if is_of_suite { NamedBy::Suite } else { NamedBy::User };
    Ok(resolved.planned_trial(Trial { id, ..trial.clone() }, by))
}

/// The inspections of contenders that the plan asks for.
fn inspect_plan(plan: &ResumePlan, folder: &Path) -> anyhow::Result<InspectPlan> {
    let record_folder = absolute_without_dot_dot(folder)?;
    let flame_graphs = plan.flame_graph_folder.as_ref();
    let paths = flame_graphs.map(|folder| FlameGraphPaths::new(PathBuf::from(folder), record_folder));
    Ok(InspectPlan { flame_graphs: paths, takes_trace: plan.has_trace })
}

fn new_resumption(plan: &Plan, record: &Record, earlier: Duration) -> anyhow::Result<Resumption> {
    let reopen = round::trials_to_reopen(record);
    let next = ResumeState::from_record(record).next_state_and_round(plan, &reopen);
    let (state, round) = next.context("its plan has no state: begin anew")?;
    let elapsed_ns = u64::try_from(earlier.as_nanos()).unwrap_or(u64::MAX);
    Ok(Resumption {
        resumed_at: Timestamp::now().to_string(),
        elapsed_ns,
        state,
        round,
        reopened_trials: reopen,
    })
}

/// A warning if the machine was restarted or is another machine; otherwise `None`.
fn restart_warning(plan: &ResumePlan, before: &Header) -> Option<Line> {
    if machine::boot_id() == plan.boot_id {
        return None;
    }
    let (was, is) = (before.machine.summary(), Machine::probe().summary());
    Some(header_lines::warning_line(if was == is {
        "the machine was started anew while the run was cut short: where a file lies in memory, and what else runs, is not as before".to_owned()
    } else {
        format!(
            "the run was cut short on one machine and resumed on another, or as another: before {was}; since {is}"
        )
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_of_several_readers_that_was_not_read_to_its_end_is_the_same_if_its_file_has_the_same_size() {
        let of_size = |size_bytes| TargetFacts { size_bytes, ..TargetFacts::default() };
        for readers in [None, Some(1_u32), Some(3)] {
            let joint_bytes = 100 * u64::from(readers.unwrap_or(1));
            let before = TargetFacts { reader_count: readers, ..of_size(joint_bytes) };
            assert!(has_same_content(&before, &of_size(100)), "{readers:?}");
            assert!(!has_same_content(&before, &of_size(101)), "{readers:?}");
        }
    }

    #[test]
    fn a_target_with_a_digest_is_the_same_if_it_has_that_digest() {
        let with_digest =
            |digest: &str| TargetFacts { digest: Some(digest.to_owned()), ..TargetFacts::default() };
        assert!(has_same_content(&with_digest("a"), &with_digest("a")));
        for other in [with_digest("b"), TargetFacts::default()] {
            assert!(!has_same_content(&with_digest("a"), &other));
        }
    }
}
