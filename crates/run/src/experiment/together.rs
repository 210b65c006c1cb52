//! The shape of an experiment: one process reads, or several together, by turns in different numbers:
//! processes on this host ([`Readers`]), or ranks of a fleet. It is known before the record begins.
//!
//! What they read together is a target of the record for each number; to what measures it is one
//! target, which every one of them reads.

use super::Experiment;
use super::targets::KnownTarget;
use anyhow::ensure;
use readlab_measure::cache::Eviction;
use readlab_measure::plan::{Plan, Planned};
use readlab_measure::target::CacheControl;
use readlab_model::target::TargetFacts;
use readlab_model::trial::{Answer, TrialIndex};
use readlab_record::{Record, joint_answer};
use readlab_targets::target::Target;
use readlab_targets::target::copies::{Copies, CopyCheck};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Who reads at the same time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Shape {
    /// One process.
    #[default]
    One,
    Readers(Readers),
    /// Ranks of a fleet: so many by turns, or always all where there are no numbers.
    Ranks(BTreeSet<u32>),
}

/// The readers of this host that read at the same time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Readers {
    /// How many they are, by turns.
    counts: BTreeSet<u32>,
    /// The folder in which each but the first gets a copy of its own; `None` where all read the one
    /// file.
    copies_in: Option<PathBuf>,
}

/// What is measured, in the shape of the run.
pub(super) struct Arranged {
    pub(super) targets: Vec<KnownTarget>,
    /// What the cache state of each rests on.
    pub(super) caches: Vec<CacheControl>,
    /// What the record says of each of its targets.
    pub(super) facts: Vec<TargetFacts>,
    pub(super) plan: Plan,
}

impl Shape {
    /// So many processes of this host, by turns; one always if there are no numbers.
    pub fn of_readers(counts: impl IntoIterator<Item = u32>, copies_in: Option<PathBuf>) -> Shape {
        let counts: BTreeSet<u32> = counts.into_iter().collect();
        if counts.is_empty() { Shape::One } else { Shape::Readers(Readers { counts, copies_in }) }
    }

    pub(super) fn of_record(record: &Record) -> Shape {
        if record.fleet.is_some() {
            return Shape::Ranks(BTreeSet::new());
        }
        let copies_in = record.targets.iter().find_map(|facts| facts.copies_in.as_ref()).map(PathBuf::from);
        Shape::of_readers(record.targets.iter().filter_map(|facts| facts.readers), copies_in)
    }

    /// How many read each target of the record together; empty where it is always the same number.
    pub(super) fn counts(&self) -> Vec<u32> {
        match self {
            Shape::One => Vec::new(),
            Shape::Readers(Readers { counts, .. }) | Shape::Ranks(counts) => counts.iter().copied().collect(),
        }
    }

    /// Gives the plan and its targets this shape; copies are made.
    pub(super) fn arrange(
        &self,
        plan: Plan,
        targets: Vec<KnownTarget>,
        caches: Vec<CacheControl>,
        eviction: Eviction,
        check: CopyCheck,
    ) -> anyhow::Result<Arranged> {
        let is_one = targets.len() == 1;
        ensure!(is_one || !matches!(self, Shape::Readers(_)), "--readers is for one target that is raced");
        let counts = self.counts();
        let read_by: fn(&TargetFacts, u32) -> TargetFacts = match self {
            Shape::Readers(Readers { copies_in: Some(folder), .. }) => {
                drop(caches);
                return with_copies(plan, &targets[0], &counts, folder, eviction, check);
            }
            Shape::Readers(_) => joint,
            Shape::Ranks(_) if !counts.is_empty() => {
                |facts: &TargetFacts, ranks| TargetFacts { ranks: Some(ranks), ..facts.clone() }
            }
            Shape::One | Shape::Ranks(_) => {
                let facts = targets.iter().map(|known| known.target.facts.clone()).collect();
                return Ok(Arranged { targets, caches, facts, plan });
            }
        };
        let own = targets.iter().map(|known| &known.target.facts);
        let facts = own.flat_map(|facts| counts.iter().map(move |&count| read_by(facts, count))).collect();
        Ok(Arranged { targets, caches, facts, plan: plan_on_each(plan, counts.len()) })
    }
}

/// A target for each of these numbers of readers: the file and its copies.
fn with_copies(
    plan: Plan,
    known: &KnownTarget,
    counts: &[u32],
    folder: &Path,
    eviction: Eviction,
    check: CopyCheck,
) -> anyhow::Result<Arranged> {
    let KnownTarget { target, expected } = known;
    let file = target.file().expect("the command line accepts copies of files only");
    let most = counts.iter().max().copied().unwrap_or(1);
    let all = Copies::make(file, folder, most - 1, check)?;
    let copies_in = Some(std::path::absolute(folder)?.to_string_lossy().into_owned());
    let (mut targets, mut caches, mut facts) = (Vec::new(), Vec::new(), Vec::new());
    for &readers in counts {
        let copies = all.for_readers(readers)?;
        let extents = copies.all.facts.extents.clone();
        facts.push(TargetFacts { copies_in: copies_in.clone(), extents, ..joint(&target.facts, readers) });
        let target = Target { copies: Some(copies), ..target.clone() };
        caches.push(CacheControl::open(&target, eviction)?);
        targets.push(KnownTarget { target, expected: expected.clone() });
    }
    Ok(Arranged { targets, caches, facts, plan: plan_on_each(plan, counts.len()) })
}

/// Each trial as one on each of so many targets.
fn plan_on_each(plan: Plan, targets: usize) -> Plan {
    let on_each = |planned: &Planned| (0..targets).map(|target| planned.on(target)).collect::<Vec<_>>();
    let mut plan = Plan { trials: plan.trials.iter().flat_map(on_each).collect(), ..plan };
    plan.number();
    plan
}

impl Experiment {
    /// How many processes read together for each trial, by number; empty where one does always.
    pub(super) fn readers(&self) -> BTreeMap<TrialIndex, u32> {
        let Shape::Readers(_) = &self.shape else { return BTreeMap::new() };
        let counts = self.shape.counts();
        let trials = self.plan.trials.iter().map(|planned| &planned.trial);
        trials.filter_map(|trial| Some((trial.index, *counts.get(trial.target)?))).collect()
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
