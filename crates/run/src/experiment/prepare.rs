//! Prepares an experiment from its configuration: serves and opens targets, finds expected answers,
//! plans trials.

use super::affordable::{self, TimePrediction};
use super::config::RunConfig;
use super::deadline::{COPYING_STEP, Deadline};
use super::header_lines::{NewRecord, OpeningLines};
use super::options::InspectOptions;
use super::probe::probe_hidden_caches;
use super::recorder::Recorder;
use super::target_spec::ExaminedTargets;
use super::targets::{ExpectedAnswers, OpenTarget, split_known_targets, start_servers};
use super::together::{ArrangedTargets, ReaderGroup};
use super::{Experiment, Procedure, Rounds, header_lines, memory, participants, references};
use crate::experiment::planner::{
    self, LocationPlan, OptionsWithoutEffect, PlanError, ReadableTarget, ReadableTargets, TargetForm,
};
use anyhow::{Context, bail};
use readlab_measure::cache::EvictionScope;
use readlab_measure::inspect::profile;
use readlab_measure::plan::{Plan, PlannedTrial};
use readlab_measure::sampler::{FlameGraphPaths, InspectPlan};
use readlab_measure::search::SearchPlan;
use readlab_model::target::content::SameContentProof;
use readlab_model::target::{TargetFacts, TargetIndex};
use readlab_model::trial::{CacheState, Transport, TrialId, Work};
use readlab_protocol::Archive;
use readlab_record::{Header, ReferenceCandidate};
use readlab_roster::discovery::Contenders;
use readlab_system::clock;
use readlab_system::folder::FLAME_GRAPHS;
use readlab_system::machine::memory::MachineMemory;
use readlab_system::memory::is_swap_on;
use readlab_system::terminal::printable::display_path;
use readlab_targets::target::{absolute_without_dot_dot, caution};
use std::cell::OnceCell;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

impl Experiment {
    pub fn prepare(
        config: &RunConfig,
        contenders: &Rc<Contenders>,
        examined: ExaminedTargets,
        recorder: &Recorder,
    ) -> anyhow::Result<Experiment> {
        // The time of the run includes examining and reading the targets, but not building
        // contenders.
        let now = Instant::now();
        let begun = now.checked_sub(examined.examination_time).unwrap_or(now);
        let config = &config.for_target_count(examined.targets.len());
        let (user, drop_caches) = (&config.user, config.user.sampling.drop_caches);
        let ExaminedTargets { targets: mut examined, setting_control: settings, .. } = examined;
        let servers = start_servers(&mut examined, &user.server)?;
        let open = |target| OpenTarget::open(target, drop_caches, config.finds_names());
        let mut targets = examined.into_iter().map(open).collect::<anyhow::Result<Vec<_>>>()?;
        targets.iter().try_for_each(|it| config.check_provable(&it.cache_control))?;
        // Hidden caches are probed before the first full reading, which would fill them.
        probe_hidden_caches(config, &mut targets, recorder);
        let deadline = Deadline::for_first_reading(config, begun);
        let uncompared_time =
            config.compares_no_answer().then(|| deadline.uncompared_reading_time(targets.len()));
        let reading = FirstReading { deadline, uncompared_time, recorder };
        let (reads, cpu_ns) = (Instant::now(), clock::process_cpu_ns());
        let mut expected = reading.read_all_targets(&mut targets)?;
        // Only the reading shows whether the kernel keeps names.
        targets.iter().try_for_each(|it| config.check_provable(&it.cache_control))?;
        let count = u32::try_from(targets.len().max(1)).unwrap_or(u32::MAX);
        let cpu = Duration::from_nanos(clock::process_cpu_ns().saturating_sub(cpu_ns)) / count;
        let elapsed = reads.elapsed();
        // Of a target whose answer nothing is compared with, only a part was read.
        let wholes = expected.iter().map(|it| Duration::from_nanos(it.truth.wall_ns)).sum::<Duration>();
        let whole = elapsed.max(wholes);
        let (wall, cpu) = (whole / count, cpu.mul_f64(whole.div_duration_f64(elapsed).max(1.0)));
        let planned = reading.plan(config, contenders, &mut targets, &mut expected)?;
        let PlannedRun { mut plan, mut rounds, reference, reference_candidates } = planned;
        let undecoded = undecoded_archive(config, &targets, &expected)
            .and_then(|(path, archive)| undecoded_archive_warning(path, archive, &plan));
        planner::mark_first_named(&mut plan, &participants::requested_names(config));
        let (inspect, warning) = inspect_plan(&user.inspection, recorder.path())?;
        let predicted = TimePrediction {
            wall,
            cpu,
            run_elapsed: begun.elapsed(),
            has_inspection: inspect.has_inspections(),
        };
        let left_out = match (&mut rounds, &user.reader_group) {
            // The ranks of a fleet must plan alike, but each would predict another time.
            (_, ReaderGroup::Ranks(_)) | (Rounds::Resumed(_), _) => None,
            (Rounds::All, _) => affordable::fit_plan_to_time(&mut plan, config, predicted),
            (Rounds::Search(tuning), _) => {
                // The search has its own plan of the same trials.
                affordable::fit_search_to_time(&mut tuning.plan, config, predicted);
                affordable::fit_search_to_time(&mut plan, config, predicted)
            }
        };
        let resume_plan = header_lines::new_resume_plan(config, &plan, &targets, &inspect);
        let header = header_lines::new_header(
            config.kind,
            plan.rules.seed,
            reference,
            reference_candidates,
            resume_plan,
        );
        let header = Header { locations: user.locations, ..header };
        let participants = header_lines::participant_lines(contenders, &plan).into_iter();
        let sizes_bytes: Vec<u64> = targets.iter().map(|it| it.target.facts.cached_bytes()).collect();
        // Names in memory take none of the page cache.
        let is_cached = plan.states.contains(&CacheState::Warm) && !config.finds_names();
        let must_fit = user.locations.is_some() && is_cached;
        let too_large = || caution::joint_memory_caution(&sizes_bytes, &MachineMemory::read());
        let too_large = must_fit.then(too_large).flatten();
        let warnings = left_out.into_iter().chain(undecoded).chain(too_large).map(header_lines::warning_line);
        let mut other_lines: Vec<_> = participants.chain(warning).chain(warnings).collect();
        let (targets, caches) = split_known_targets(targets, expected);
        let (eviction, copying) =
            (EvictionScope::of_run(drop_caches), Deadline::for_step(COPYING_STEP, &config.rules, begun));
        let mut arranged =
            user.reader_group.arrange(plan, targets, caches, settings, eviction, &|_| copying.check())?;
        if user.races_size_groups {
            let deadline = Deadline::for_first_reading(config, begun);
            arranged = arranged.with_size_groups(drop_caches, &deadline, recorder)?;
        }
        let is_search = matches!(rounds, Rounds::Search(_));
        let (arranged, memory) = memory::arrange_bounds(arranged, &config.memory_bounds, is_search)?;
        if memory.is_some() {
            let swap = memory::swap_warning(&config.memory_bounds, is_swap_on());
            let each = memory::readers_warning(&config.memory_bounds, &user.reader_group);
            other_lines.extend(swap.into_iter().chain(each).map(header_lines::warning_line));
        }
        let ArrangedTargets { targets, cache_controls: caches, facts, plan, setting_control: settings } =
            arranged;
        Ok(Experiment {
            kind: config.kind,
            opening: OpeningLines::New(Box::new(NewRecord { header, targets: facts, other_lines })),
            targets,
            cache_controls: caches,
            servers,
            contenders: Rc::clone(contenders),
            plan,
            procedure: Procedure::Rounds(rounds),
            inspect_plan: inspect,
            requested_names: participants::requested_names(config),
            reader_group: user.reader_group.clone(),
            setting_control: settings,
            memory_control: memory,
            begun,
            earlier_elapsed: Duration::ZERO,
        })
    }
}

/// The trials to measure, and how they are measured.
struct PlannedRun {
    plan: Plan,
    rounds: Rounds,
    reference: Option<TrialId>,
    /// Trials that ratios may refer to, best first.
    reference_candidates: Vec<ReferenceCandidate>,
}

impl PlannedRun {
    fn new(config: &RunConfig, mut plan: Plan, targets: usize, candidates: &[TrialId]) -> PlannedRun {
        let reference = config.reference.as_ref().map(|name| planner::planned_reference(name, &plan));
        reference.iter().for_each(|reference| plan.set_baseline(reference));
        let reference_candidates = references::candidates(config, reference.clone(), &plan);
        if config.user.space.is_none() {
            return PlannedRun { plan, rounds: Rounds::All, reference, reference_candidates };
        }
        // A search numbers its candidates, so the trials are repeated under the bounds before it is
        // planned.
        let bounds = config.memory_bounds.bounds.len();
        let plan = if bounds == 0 { plan } else { memory::plan_under_bounds(plan, targets, bounds) };
        let tuning = SearchPlan::new(plan, candidates, reference.as_ref());
        let plan = tuning.plan.clone();
        PlannedRun { plan, rounds: Rounds::Search(Box::new(tuning)), reference, reference_candidates }
    }
}

/// Targets for which trials are planned together: the forms of one target, or a single location.
#[derive(Debug, Clone, Copy, Default)]
struct TargetGroup<'a> {
    /// The number of the group's first target in the record.
    first_index: TargetIndex,
    /// The first location; `None` if this group is the first location, or if there are no
    /// locations.
    first_location: Option<FirstLocation<'a>>,
}

/// The first of several locations. The default work depends on whether the content is text, and all
/// locations with the same content need the same work. So the first location decides the work of a
/// location that has the content in another form, such as a tar, which is never text itself.
#[derive(Debug, Clone, Copy)]
struct FirstLocation<'a> {
    facts: &'a TargetFacts,
    is_text: bool,
    /// Whether the user asserts that all locations have the same content.
    is_same_content_asserted: bool,
}

impl FirstLocation<'_> {
    /// Whether the content of another location counts as text; `None` if this location does not
    /// decide that.
    fn is_other_text(&self, facts: &TargetFacts, decodes: Option<Archive>) -> Option<bool> {
        // `is_text` is about the decoded content, if there is one.
        let first_decodes = self.facts.decoded.as_ref().map(|decoded| decoded.archive);
        let both = self.facts.content(first_decodes).zip(facts.content(decodes));
        let same_by = both.and_then(|(first, own)| own.same_content_proof(&first));
        let is_other_form = matches!(same_by, Some(SameContentProof::Answers | SameContentProof::TarFiles));
        (self.is_same_content_asserted || is_other_form).then_some(self.is_text)
    }
}

/// Everything from which the plan of a group of targets is made.
struct PlanInputs<'a> {
    config: &'a RunConfig,
    contenders: &'a Contenders,
    group: TargetGroup<'a>,
    readable: ReadableTargets,
    states: Vec<CacheState>,
    candidates: Vec<TrialId>,
}

impl<'a> PlanInputs<'a> {
    fn new(
        config: &'a RunConfig,
        contenders: &'a Contenders,
        group: TargetGroup<'a>,
        targets: &[OpenTarget],
        expected: &[ExpectedAnswers],
    ) -> Result<PlanInputs<'a>, PlanError> {
        let (readable, states, candidates) = (ReadableTargets::new(), Vec::new(), Vec::new());
        let mut planning = PlanInputs { config, contenders, group, readable, states, candidates };
        for (index, (target, expected)) in group.first_index.and_later().zip(targets.iter().zip(expected)) {
            let work = planning.group_work(&target.target.facts, None, expected.is_text());
            let (remote, tree) = (target.target.remote(), target.target.tree());
            let found = ReadableTarget {
                is_part: target.target.part.is_some(),
                has_only_ranges_read: remote.is_some_and(|remote| remote.ranges.is_some()),
                is_encrypted: target.target.is_encrypted(),
                answers_ranges: remote.is_none_or(|remote| remote.has_range_support),
                other_walk: tree.and_then(|tree| tree.walk_difference()),
                file_count: tree.map_or(1, |tree| tree.len() as u64),
                ..ReadableTarget::plain(index, work)
            };
            planning.readable.insert(target.form, found);
        }
        if let Some(first) = targets.first() {
            let is_provable = targets.iter().all(|it| it.cache_control.cache().is_some());
            planning.states = if is_provable { config.provable_states() } else { vec![CacheState::Unknown] };
            let over = first.form.over;
            planning.candidates = config.candidates(contenders, &planning.readable[&first.form], over)?;
        }
        Ok(planning)
    }

    /// The work on the content of a target; `is_text` says whether the content looks like text.
    fn group_work(&self, facts: &TargetFacts, decodes: Option<Archive>, is_text: bool) -> Work {
        let decided = self.group.first_location.and_then(|first| first.is_other_text(facts, decodes));
        self.config.content_work(decided.unwrap_or(is_text))
    }

    /// Adds the decoded form of the first target, if it is the user's archive. Its content counts
    /// as text until it is decoded.
    fn add_user_archive(
        &mut self,
        targets: &[OpenTarget],
        expected: &[ExpectedAnswers],
    ) -> anyhow::Result<Option<Archive>> {
        let (Some(target), Some(expected)) = (targets.first(), expected.first()) else { return Ok(None) };
        let own = user_archive(target, expected);
        if self.config.user.has_decoding_commands && own.is_none() {
            bail!("{}: --commands-decode is about an archive, and this is none", target.target.facts.path);
        }
        if let Some(archive) = own {
            self.add_content(target, archive, true, None);
        }
        Ok(own)
    }

    /// Adds the decoded content of an archive. `unreadable_reason` says why it cannot be decoded;
    /// `None` if it can.
    fn add_content(
        &mut self,
        target: &OpenTarget,
        archive: Archive,
        is_text: bool,
        unreadable_reason: Option<String>,
    ) {
        let facts = &target.target.facts;
        let work = self.group_work(facts, Some(archive), is_text);
        let has_dictionary = facts.dictionary.is_some();
        let content = ReadableTarget {
            has_dictionary,
            unreadable_reason,
            ..ReadableTarget::plain(self.group.first_index, work)
        };
        self.readable.insert(TargetForm { archive: Some(archive), over: Transport::File }, content);
    }

    fn plan(&self) -> Result<LocationPlan, PlanError> {
        let selection = self.config.selection(self.readable.clone(), &self.candidates);
        let (contenders, states, rules) = (self.contenders, &self.states, self.config.rules);
        match self.config.user.locations {
            Some(_) => planner::plan_location(contenders, &selection, states, rules),
            None => planner::plan(contenders, &selection, states, rules).map(LocationPlan::from),
        }
    }
}

/// The first reading of each target, which finds the expected answers.
struct FirstReading<'a> {
    deadline: Deadline,
    /// The longest time of a target's reading, if the run compares nothing with its answer.
    uncompared_time: Option<Duration>,
    recorder: &'a Recorder,
}

impl FirstReading<'_> {
    fn read_all_targets(&self, targets: &mut [OpenTarget]) -> anyhow::Result<Vec<ExpectedAnswers>> {
        let mut all = Vec::<ExpectedAnswers>::new();
        for target in targets {
            let expected =
                target.read_once(all.first(), self.uncompared_time, &self.deadline, self.recorder)?;
            all.push(expected);
        }
        Ok(all)
    }

    /// The plan: of all targets together, or joined from one plan for each target if the targets
    /// are locations.
    fn plan(
        &self,
        config: &RunConfig,
        contenders: &Contenders,
        targets: &mut [OpenTarget],
        expected: &mut [ExpectedAnswers],
    ) -> anyhow::Result<PlannedRun> {
        let Some(locations) = config.user.locations else {
            let planning = PlanInputs::new(config, contenders, TargetGroup::default(), targets, expected)?;
            let planning = self.with_user_archive(planning, targets, expected)?;
            return Ok(PlannedRun::new(config, planning.plan()?.plan, targets.len(), &planning.candidates));
        };
        refuse_options_without_effect(config, contenders, targets, expected)?;
        let facts = OnceCell::new();
        let (mut plans, mut first_location) = (Vec::new(), None);
        let all = TargetIndex::new(0).and_later();
        for (first_index, (target, expected)) in all.zip(targets.chunks_mut(1).zip(expected.chunks_mut(1))) {
            let path = target[0].target.facts.path.clone();
            let group = TargetGroup { first_index, first_location };
            let planning = PlanInputs::new(config, contenders, group, target, expected)?;
            let planning = self.with_user_archive(planning, target, expected)?;
            let plan = planning.plan().and_then(|plan| plan.require_readings(|id| contenders.is_control(id)));
            plans.push(plan.with_context(|| path)?);
            let (is_text, is_same_content_asserted) = (expected[0].is_text(), locations.asserts_same_content);
            // The first location is decoded by now.
            let facts = facts.get_or_init(|| target[0].target.facts.clone());
            first_location =
                first_location.or(Some(FirstLocation { facts, is_text, is_same_content_asserted }));
        }
        let joined = plans.into_iter().reduce(LocationPlan::joined_with).context("there is no target")?;
        let plan = joined.into_plan().with_context(|| targets[0].target.facts.path.clone())?;
        Ok(PlannedRun::new(config, plan, targets.len(), &[]))
    }

    /// Adds the decoded form of the first target to the planning, if it is an archive. If trials
    /// can decode the archive, these trials take part, and the archive is decoded once for the
    /// expected answers.
    fn with_user_archive<'p>(
        &self,
        mut planning: PlanInputs<'p>,
        targets: &mut [OpenTarget],
        expected: &mut [ExpectedAnswers],
    ) -> anyhow::Result<PlanInputs<'p>> {
        let Some(archive) = planning.add_user_archive(targets, expected)? else { return Ok(planning) };
        let (target, expected) = (&mut targets[0], &mut expected[0]);
        let trials = planning.plan()?.plan.trials;
        if trials.iter().any(|planned| planned.trial.decoded_format.is_some()) {
            let deadline = match has_plain_reading(&trials) {
                true => self.deadline.for_optional_decoding(),
                false => self.deadline.for_needed_decoding(),
            };
            let decoded =
                target.decode_once(expected, archive, self.uncompared_time, &deadline, self.recorder);
            let unreadable_reason = decoded.err();
            let is_text = unreadable_reason.is_some() || expected.is_text();
            planning.add_content(target, archive, is_text, unreadable_reason);
        }
        Ok(planning)
    }
}

/// Whether a trial that is no control reads without decoding.
fn has_plain_reading(trials: &[PlannedTrial]) -> bool {
    trials.iter().any(|planned| !planned.trial.is_control() && planned.trial.decoded_format.is_none())
}

/// Refuses an option that has no effect at any location, before an archive is decoded. Until then it
/// is unknown whether content is text, so it is enough if the option has an effect on text or on
/// other content.
fn refuse_options_without_effect(
    config: &RunConfig,
    contenders: &Contenders,
    targets: &[OpenTarget],
    expected: &[ExpectedAnswers],
) -> anyhow::Result<()> {
    let mut all = Vec::new();
    for (first_index, (target, expected)) in
        TargetIndex::new(0).and_later().zip(targets.chunks(1).zip(expected.chunks(1)))
    {
        let path = &target[0].target.facts.path;
        let group = TargetGroup { first_index, first_location: None };
        let mut planning = PlanInputs::new(config, contenders, group, target, expected)?;
        planning.add_user_archive(target, expected)?;
        let is_text = expected[0].is_text();
        for is_text in [is_text, !is_text] {
            let work = config.content_work(is_text);
            planning.readable.values_mut().for_each(|readable| readable.work = work);
            all.push(planning.plan().with_context(|| path.clone())?.options_without_effect);
        }
    }
    let joined = all.into_iter().reduce(OptionsWithoutEffect::joined_with).unwrap_or_default();
    joined.refuse_first().with_context(|| targets[0].target.facts.path.clone())
}

/// The kind of archive of the user's file, by its first bytes or else by its name. `None` for
/// anything else, for a part of a file, and for archives of a suite.
fn user_archive(target: &OpenTarget, expected: &ExpectedAnswers) -> Option<Archive> {
    let is_plain_file = target.form == TargetForm { archive: None, over: Transport::File };
    let by_name = || target.target.file().and_then(Archive::by_name);
    expected.truth.archive.or_else(by_name).filter(|_| is_plain_file && target.target.part.is_none())
}

/// The inspections of contenders for a run with this record, and a warning if flame graphs were
/// requested but cannot be drawn.
fn inspect_plan(
    options: &InspectOptions,
    record: &Path,
) -> anyhow::Result<(InspectPlan, Option<readlab_record::Line>)> {
    let mut inspect = InspectPlan { flame_graphs: None, takes_trace: options.trace };
    let Some(named) = &options.flamegraph else { return Ok((inspect, None)) };
    if let Err(why) = profile::can_sample() {
        return Ok((inspect, Some(header_lines::warning_line(format!("no flame graphs: {why}")))));
    }
    let whole = |path: &Path| absolute_without_dot_dot(path).with_context(|| display_path(path));
    let record_folder = whole(record.parent().unwrap_or(Path::new(".")))?;
    let folder = named.as_deref().map_or_else(|| Ok(record_folder.join(FLAME_GRAPHS)), whole)?;
    inspect.flame_graphs = Some(FlameGraphPaths::new(folder, record_folder));
    Ok((inspect, None))
}

/// The path and the kind of an archive that several readers or ranks read by the methods of a suite,
/// not by those that the user names.
fn undecoded_archive<'t>(
    config: &RunConfig,
    targets: &'t [OpenTarget],
    expected: &[ExpectedAnswers],
) -> Option<(&'t str, Archive)> {
    let is_together = matches!(config.user.reader_group, ReaderGroup::Readers(_) | ReaderGroup::Ranks(_));
    let (target, expected) = targets.first().zip(expected.first())?;
    let archive = user_archive(target, expected)?;
    let is_chosen_by_suite = config.user.selection.methods.is_empty();
    (is_together && is_chosen_by_suite).then_some((target.target.facts.path.as_str(), archive))
}

/// A warning that no trial decodes an archive; `None` if one does, or cannot and says why.
fn undecoded_archive_warning(path: &str, archive: Archive, plan: &Plan) -> Option<String> {
    let planned = plan.trials.iter().map(|planned| &planned.trial);
    let mut all = planned.chain(plan.absent_trials.iter().map(|(trial, _)| trial));
    let is_undecoded = all.all(|trial| trial.decoded_format.is_none());
    is_undecoded.then(|| {
        format!(
            "{path}: it is {}, and every trial reads its bytes as they are, because this race has no method that \
             decodes it; name one with --method ('readlab list' shows them)",
            archive.noun()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_measure::plan::testing::{WARM, plan, rules_for_readings};
    use readlab_record::Outcome;

    #[test]
    fn decoding_is_needed_if_every_trial_but_the_controls_decodes() {
        let mut plan = plan(rules_for_readings(1), &[("gzip", WARM), ("null", WARM), ("read", WARM)]);
        plan.trials[0].trial.decoded_format = Some(Archive::Gzip);
        assert!(!has_plain_reading(&plan.trials[..2]));
        assert!(has_plain_reading(&plan.trials));
    }

    #[test]
    fn an_archive_that_no_trial_decodes_is_said_to_be_read_as_it_is() {
        let mut plan = plan(rules_for_readings(1), &[("read", WARM), ("gzip", WARM)]);
        let warning = |plan: &Plan| undecoded_archive_warning("f.gz", Archive::Gzip, plan);
        let text = warning(&plan).unwrap();
        assert!(
            text.starts_with("f.gz: it is a gzip, and every trial reads its bytes as they are"),
            "{text}"
        );
        plan.trials[1].trial.decoded_format = Some(Archive::Gzip);
        assert_eq!(warning(&plan), None);
        let decoder = plan.trials.remove(1).trial;
        plan.absent_trials.push((decoder, Outcome::Unavailable { reason: "it is torn".to_owned() }));
        assert_eq!(warning(&plan), None, "the outcome says why");
    }
}
