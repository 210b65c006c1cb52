//! The readers of an experiment: one process, or several numbers of readers, each of which reads
//! every trial in every round. The readers are processes of this host ([`Readers`]) or ranks of a
//! fleet. One process may also read under different settings of the system ([`super::settings`]).
//! The group of readers is known before the record begins.
//!
//! The record has a target for each number of readers, or for each combination of settings. The
//! sampler has only one target, which every reader reads.

use super::Experiment;
use super::settings::{RacedSetting, arrange_settings};
use super::targets::KnownTarget;
use anyhow::{Context, ensure};
use readlab_measure::cache::EvictionScope;
use readlab_measure::plan::{Plan, PlannedTrial};
use readlab_measure::settings::SettingControl;
use readlab_measure::target::CacheControl;
use readlab_model::target::{TargetFacts, TargetIndex, Targets};
use readlab_model::trial::{Answer, TrialIndex};
use readlab_record::{Record, joint_answer};
use readlab_targets::target::Target;
use readlab_targets::target::copies::{Copies, CopyCheck};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Which processes read at the same time, or under which settings one process reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ReaderGroup {
    /// One process reads.
    #[default]
    One,
    Readers(Readers),
    /// The ranks of a fleet. Each turn is read by one of these numbers of ranks, or by all ranks if
    /// the set is empty.
    Ranks(BTreeSet<u32>),
    /// One process, under each combination of the values of these settings of the system.
    Settings(Vec<RacedSetting>),
}

/// Processes of this host that read at the same time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Readers {
    /// The numbers of readers. Each trial is read with each of these numbers in every round.
    counts: BTreeSet<u32>,
    /// The folder in which each reader but the first gets a copy of the file; `None` if all read
    /// the same file.
    copies_folder: Option<PathBuf>,
}

/// The targets and the plan of the experiment, arranged for its group of readers.
pub(super) struct ArrangedTargets {
    pub(super) targets: Targets<KnownTarget>,
    pub(super) cache_controls: Vec<CacheControl>,
    /// The record's facts about each of its targets.
    pub(super) facts: Targets<TargetFacts>,
    pub(super) plan: Plan,
    /// The control of the settings of the system; `None` if the run races no values of settings.
    pub(super) setting_control: Option<SettingControl>,
}

impl ReaderGroup {
    /// Groups of processes of this host, one of each of these sizes; always one process if there are
    /// no sizes.
    pub fn of_readers(counts: impl IntoIterator<Item = u32>, copies_folder: Option<PathBuf>) -> ReaderGroup {
        let counts: BTreeSet<u32> = counts.into_iter().collect();
        if counts.is_empty() {
            ReaderGroup::One
        } else {
            ReaderGroup::Readers(Readers { counts, copies_folder })
        }
    }

    pub(super) fn of_record(record: &Record) -> ReaderGroup {
        if record.fleet.is_some() {
            return ReaderGroup::Ranks(BTreeSet::new());
        }
        let copies_folder =
            record.targets.iter().find_map(|facts| facts.copies_folder.as_ref()).map(PathBuf::from);
        ReaderGroup::of_readers(record.targets.iter().filter_map(|facts| facts.reader_count), copies_folder)
    }

    /// Number of readers of each target of the record; empty if it is always the same.
    pub(super) fn reader_counts(&self) -> Targets<u32> {
        match self {
            ReaderGroup::One | ReaderGroup::Settings(_) => Targets::default(),
            ReaderGroup::Readers(Readers { counts, .. }) | ReaderGroup::Ranks(counts) => {
                counts.iter().copied().collect()
            }
        }
    }

    /// The largest number of readers that read the same file at the same time; `None` if it is 1.
    pub(super) fn max_readers_of_one_file(&self) -> Option<u32> {
        let ReaderGroup::Readers(Readers { counts, copies_folder: None }) = self else { return None };
        counts.last().copied().filter(|count| *count > 1)
    }

    /// Arranges the plan and its targets for this group, and makes copies if needed. `settings` is
    /// the control of the settings that are raced.
    pub(super) fn arrange(
        &self,
        plan: Plan,
        targets: Targets<KnownTarget>,
        caches: Vec<CacheControl>,
        settings: Option<SettingControl>,
        eviction: EvictionScope,
        check: CopyCheck,
    ) -> anyhow::Result<ArrangedTargets> {
        let is_one = targets.len() == 1;
        ensure!(
            is_one || !matches!(self, ReaderGroup::Readers(_)),
            "--readers is for one target that is raced"
        );
        let counts = self.reader_counts();
        let read_by: fn(&TargetFacts, u32) -> TargetFacts = match self {
            ReaderGroup::Readers(Readers { copies_folder: Some(folder), .. }) => {
                drop(caches);
                return arrange_copies(plan, &targets[TargetIndex::new(0)], &counts, folder, eviction, check);
            }
            ReaderGroup::Readers(_) => joint_facts,
            ReaderGroup::Ranks(_) if !counts.is_empty() => {
                |facts: &TargetFacts, ranks| TargetFacts { rank_count: Some(ranks), ..facts.clone() }
            }
            ReaderGroup::One | ReaderGroup::Ranks(_) => {
                let facts = targets.iter().map(|known| known.target.facts.clone()).collect();
                return Ok(ArrangedTargets {
                    targets,
                    cache_controls: caches,
                    facts,
                    plan,
                    setting_control: None,
                });
            }
            ReaderGroup::Settings(raced) => {
                let control = settings.context("the values of settings are tried before the run")?;
                return Ok(arrange_settings(plan, targets, caches, raced, control));
            }
        };
        let own = targets.iter().map(|known| &known.target.facts);
        let facts = own.flat_map(|facts| counts.iter().map(move |&count| read_by(facts, count))).collect();
        let plan = repeat_on_targets(plan, counts.len());
        Ok(ArrangedTargets { targets, cache_controls: caches, facts, plan, setting_control: None })
    }
}

/// Makes a target for each of these numbers of readers: the file and its copies.
fn arrange_copies(
    plan: Plan,
    known: &KnownTarget,
    counts: &Targets<u32>,
    folder: &Path,
    eviction: EvictionScope,
    check: CopyCheck,
) -> anyhow::Result<ArrangedTargets> {
    let KnownTarget { target, expected } = known;
    let file = target.file().expect("the command line accepts copies of files only");
    let most = counts.iter().max().copied().unwrap_or(1);
    let all = Copies::make(file, folder, most - 1, check)?;
    let copies_in = Some(std::path::absolute(folder)?.to_string_lossy().into_owned());
    let (mut targets, mut caches, mut facts) = (Targets::default(), Vec::new(), Targets::default());
    for &readers in counts {
        let copies = all.for_readers(readers)?;
        let extents = copies.tree_target.facts.extents.clone();
        facts.push(TargetFacts {
            copies_folder: copies_in.clone(),
            extents,
            ..joint_facts(&target.facts, readers)
        });
        let target = Target { copies: Some(copies), ..target.clone() };
        caches.push(CacheControl::open_if_provable(&target, eviction)?);
        targets.push(KnownTarget { target, expected: expected.clone() });
    }
    let plan = repeat_on_targets(plan, counts.len());
    Ok(ArrangedTargets { targets, cache_controls: caches, facts, plan, setting_control: None })
}

/// The plan with each trial on `count` targets.
fn repeat_on_targets(plan: Plan, count: usize) -> Plan {
    repeat_trials(plan, count, |planned, number| planned.on_target(TargetIndex::new(number)))
}

/// Repeats each trial of a plan `count` times; `nth` makes the repetition with a number from 0.
pub(super) fn repeat_trials(
    plan: Plan,
    count: usize,
    nth: impl Fn(&PlannedTrial, usize) -> PlannedTrial,
) -> Plan {
    let repeated = |planned: &PlannedTrial| (0..count).map(|number| nth(planned, number)).collect::<Vec<_>>();
    let mut plan = Plan { trials: plan.trials.iter().flat_map(repeated).collect(), ..plan };
    plan.number_trials();
    plan
}

impl Experiment {
    /// The number of processes that read together, by trial; empty if all trials have one reader.
    pub(super) fn reader_counts_by_trial(&self) -> BTreeMap<TrialIndex, u32> {
        let ReaderGroup::Readers(_) = &self.reader_group else { return BTreeMap::new() };
        let counts = self.reader_group.reader_counts();
        let trials = self.plan.trials.iter().map(|planned| &planned.trial);
        // The targets of each bound on memory have the same order as the targets without a bound.
        let number = |target: TargetIndex| target.under_first_condition(counts.len().max(1));
        trials.filter_map(|trial| Some((trial.index, *counts.get(number(trial.target))?))).collect()
    }
}

/// The plan for a sampler that has only this number of targets. The record has each target several
/// times: once for each number of readers, combination of settings or bound on memory.
pub(super) fn plan_for_measured_targets(plan: &Plan, targets: usize) -> Plan {
    let mut own = plan.clone();
    own.trials.iter_mut().for_each(|it| it.trial.target = it.trial.target.under_first_condition(targets));
    own
}

/// The facts of a target that each of `readers` processes reads as a whole.
fn joint_facts(facts: &TargetFacts, readers: u32) -> TargetFacts {
    let answer = |answer: Answer| joint_answer(std::iter::repeat_n(answer, readers as usize));
    let mut joint_facts = TargetFacts { reader_count: Some(readers), ..facts.clone() };
    joint_facts.size_bytes = facts.size_bytes.saturating_mul(u64::from(readers));
    joint_facts.answer = facts.answer.map(answer);
    if let Some(decoded) = &mut joint_facts.decoded {
        decoded.answer = answer(decoded.answer);
    }
    // Extents describe one reading of the file; in a cold turn of several readers each byte comes
    // from the device only once.
    joint_facts.extents = None;
    joint_facts
}
