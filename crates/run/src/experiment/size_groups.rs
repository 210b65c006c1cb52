//! An experiment on a tree whose files are also raced in groups by size: each method that reads
//! lists has a trial for each group. [`readlab_analysis::file_cost`] fits the cost of a file from
//! these trials.

use super::deadline::Deadline;
use super::recorder::Recorder;
use super::target_spec::ExaminedTarget;
use super::targets::{OpenTarget, split_known_targets};
use super::together::ArrangedTargets;
use crate::experiment::planner::TargetForm;
use anyhow::ensure;
use readlab_measure::plan::PlannedTrial;
use readlab_model::target::TargetIndex;
use readlab_model::trial::{COMMAND, Transport};
use readlab_protocol::Reads;

impl ArrangedTargets {
    /// Adds the size groups as targets, and trials of the methods that read lists on them.
    pub(super) fn with_size_groups(
        mut self,
        drop_caches: bool,
        deadline: &Deadline,
        recorder: &Recorder,
    ) -> anyhow::Result<ArrangedTargets> {
        let is_tree = self.targets.len() == 1 && self.targets.iter().all(|it| it.target.tree().is_some());
        ensure!(is_tree, "--per-file is for one folder or list");
        let form = TargetForm { archive: None, over: Transport::Tree };
        let (mut opened, mut expected) = (Vec::new(), Vec::new());
        let whole = &self.targets[TargetIndex::new(0)];
        let groups = whole.target.size_groups()?;
        // Only where nothing is compared with the answers, some of the files were read.
        let is_compared = whole.expected.truth.is_whole;
        let uncompared_time = (!is_compared).then(|| deadline.uncompared_reading_time(groups.len()));
        for target in groups {
            let mut open = OpenTarget::open(ExaminedTarget { form, target }, drop_caches, false)?;
            expected.push(open.read_once(None, uncompared_time, deadline, recorder)?);
            opened.push(open);
        }
        let (targets, caches) = split_known_targets(opened, expected);
        self.facts.extend(targets.iter().map(|known| known.target.facts.clone()));
        self.targets.extend(targets);
        self.cache_controls.extend(caches);
        self.add_size_group_trials();
        Ok(self)
    }

    /// Adds, for each trial that reads a list, a trial on each group.
    fn add_size_group_trials(&mut self) {
        let reads_list = |planned: &&PlannedTrial| {
            let walks = matches!(planned.resolved_method.method.reads, Reads::Folder | Reads::Both);
            !walks && !planned.trial.is_control() && planned.trial.contender() != COMMAND
        };
        let listed: Vec<PlannedTrial> = self.plan.trials.iter().filter(reads_list).cloned().collect();
        let groups = self.targets.indices().skip(1);
        self.plan.trials.extend(groups.flat_map(|target| listed.iter().map(move |it| it.on_target(target))));
        self.plan.number_trials();
    }
}
