//! An experiment in which several read together, by turns in different numbers: processes on this
//! host ([`Readers`]), or ranks of a fleet.
//!
//! What they read together is a target of the record for each number; to what measures it is one
//! target, which every one of them reads.

use super::targets::KnownTarget;
use super::{Experiment, Procedure, Rounds};
use anyhow::ensure;
use readlab_measure::cache::Eviction;
use readlab_measure::plan::Plan;
use readlab_measure::target::CacheControl;
use readlab_model::target::TargetFacts;
use readlab_model::trial::{Answer, TrialIndex};
use readlab_record::{Line, joint_answer};
use readlab_targets::target::Target;
use readlab_targets::target::copies::{Copies, CopyCheck};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The readers of this host that read at the same time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Readers {
    /// How many they are, by turns; one always if there are none.
    pub counts: BTreeSet<u32>,
    /// The folder in which each but the first gets a copy of its own; `None` where all read the one
    /// file.
    pub copies_in: Option<PathBuf>,
}

impl Readers {
    pub(super) fn of_record(targets: &[TargetFacts]) -> Readers {
        let copies_in = targets.iter().find_map(|facts| facts.copies_in.as_ref()).map(PathBuf::from);
        Readers { counts: targets.iter().filter_map(|facts| facts.readers).collect(), copies_in }
    }
}

impl Experiment {
    /// Has these numbers of processes read at the same time, by turns.
    pub(super) fn read_together(
        &mut self,
        readers: &Readers,
        eviction: Eviction,
        check: CopyCheck,
    ) -> anyhow::Result<()> {
        let Readers { counts, copies_in } = readers;
        let is_race = matches!(self.procedure, Procedure::Rounds(Rounds::All));
        ensure!(is_race && self.targets.len() == 1, "--readers is for one target that is raced");
        match copies_in {
            Some(folder) => self.copy_for_each(counts, folder, eviction, check)?,
            None => self.target_for_each(counts, joint),
        }
        self.reader_counts = counts.iter().copied().collect();
        Ok(())
    }

    /// Makes the target one of the file and its copies for each of these numbers.
    fn copy_for_each(
        &mut self,
        counts: &BTreeSet<u32>,
        folder: &Path,
        eviction: Eviction,
        check: CopyCheck,
    ) -> anyhow::Result<()> {
        let KnownTarget { target, expected } = self.targets.remove(0);
        self.caches.clear();
        let file = target.file().expect("the command line accepts copies of files only");
        let most = counts.last().copied().unwrap_or(1);
        let all = Copies::make(file, folder, most - 1, check)?;
        let mut extents = BTreeMap::new();
        for &readers in counts {
            let copies = all.for_readers(readers)?;
            extents.insert(readers, copies.all.facts.extents.clone());
            let target = Target { copies: Some(copies), ..target.clone() };
            self.caches.push(CacheControl::open(&target, eviction)?);
            self.targets.push(KnownTarget { target, expected: expected.clone() });
        }
        let copies_in = Some(std::path::absolute(folder)?.to_string_lossy().into_owned());
        self.target_for_each(counts, |facts, readers| {
            let extents = extents.get(&readers).cloned().flatten();
            TargetFacts { copies_in: copies_in.clone(), extents, ..joint(facts, readers) }
        });
        Ok(())
    }

    /// How many processes read together for each trial, by number; empty where one does always.
    pub(super) fn readers(&self) -> BTreeMap<TrialIndex, u32> {
        let trials = self.plan.trials.iter().map(|planned| &planned.trial);
        let readers = |target: usize| self.reader_counts.get(target).copied();
        trials.filter_map(|trial| Some((trial.index, readers(trial.target)?))).collect()
    }

    /// Makes the target one for each of these numbers, and each trial one for each target.
    pub(super) fn target_for_each(
        &mut self,
        counts: &BTreeSet<u32>,
        read_by: impl Fn(&TargetFacts, u32) -> TargetFacts,
    ) {
        let trials = std::mem::take(&mut self.plan.trials);
        let scaled = trials.iter().flat_map(|planned| (0..counts.len()).map(|target| planned.on(target)));
        self.plan.trials = scaled.collect();
        self.plan.number();
        let lines = std::mem::take(&mut self.header_lines).into_iter();
        self.header_lines = lines
            .flat_map(|line| match line {
                Line::Target { facts, .. } => {
                    let target =
                        |(index, &count)| Line::Target { index, facts: Box::new(read_by(&facts, count)) };
                    counts.iter().enumerate().map(target).collect()
                }
                line => vec![line],
            })
            .collect();
    }
}

/// The plan as it is followed by what reads one target.
pub(super) fn of_one_target(plan: &Plan) -> Plan {
    let mut own = plan.clone();
    own.trials.iter_mut().for_each(|planned| planned.trial.target = 0);
    own
}

/// The facts of a target that `readers` processes read whole, each of them.
fn joint(facts: &TargetFacts, readers: u32) -> TargetFacts {
    let answer = |answer: Answer| joint_answer(std::iter::repeat_n(answer, readers as usize));
    let mut joint = TargetFacts { readers: Some(readers), ..facts.clone() };
    joint.size_bytes = facts.size_bytes.saturating_mul(u64::from(readers));
    joint.answer = facts.answer.map(answer);
    if let Some(decoded) = &mut joint.decoded {
        decoded.answer = answer(decoded.answer);
    }
    // They are of one reading, and a cold turn brings each byte from the device once.
    joint.extents = None;
    joint
}
