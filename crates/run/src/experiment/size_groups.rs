//! An experiment on a tree whose files are also raced in groups by size: each method of lists has a
//! trial for each group, from which what a file costs is fitted ([`readlab_analysis::file_cost`]).

use super::Experiment;
use super::deadline::Deadline;
use super::recorder::Recorder;
use super::target_spec::ExaminedTarget;
use super::targets::{OpenTarget, known};
use crate::experiment::planner::TargetForm;
use anyhow::ensure;
use readlab_measure::plan::Planned;
use readlab_model::target::TargetFacts;
use readlab_model::trial::{COMMAND, Transport};
use readlab_protocol::Reads;
use readlab_record::Line;
use std::ops::Range;

impl Experiment {
    /// Has the methods of lists read the groups, too.
    pub(super) fn add_size_groups(
        &mut self,
        drop_caches: bool,
        deadline: &Deadline,
        recorder: &Recorder,
    ) -> anyhow::Result<()> {
        let is_tree = self.targets.len() == 1 && self.targets[0].target.tree().is_some();
        ensure!(is_tree, "--per-file is for one folder or list");
        let form = TargetForm { archive: None, over: Transport::Tree };
        let (mut opened, mut expected) = (Vec::new(), Vec::new());
        for target in self.targets[0].target.size_groups()? {
            let mut open = OpenTarget::open(ExaminedTarget { form, target }, drop_caches)?;
            expected.push(open.read_once(None, deadline, recorder)?);
            opened.push(open);
        }
        let (targets, caches) = known(opened, expected);
        let first = self.targets.len();
        self.introduce_groups(targets.iter().map(|known| known.target.facts.clone()).collect());
        self.targets.extend(targets);
        self.caches.extend(caches);
        self.plan_groups(first..self.targets.len());
        Ok(())
    }

    /// Adds them to the lines that come before anything is measured, unless the record has them.
    fn introduce_groups(&mut self, facts: Vec<TargetFacts>) {
        let is_target = |line: &Line| matches!(line, Line::Target { .. });
        let Some(last) = self.header_lines.iter().rposition(is_target) else { return };
        let lines = (1..).zip(facts).map(|(index, facts)| Line::Target { index, facts: Box::new(facts) });
        let rest = self.header_lines.split_off(last + 1);
        self.header_lines.extend(lines.chain(rest));
    }

    /// Adds a trial on each group for each trial that reads a list.
    fn plan_groups(&mut self, groups: Range<usize>) {
        let reads_list = |planned: &&Planned| {
            let walks = matches!(planned.choice.method.reads, Reads::Folder | Reads::Both);
            !walks && !planned.trial.is_control() && planned.trial.contender() != COMMAND
        };
        let listed: Vec<Planned> = self.plan.trials.iter().filter(reads_list).cloned().collect();
        self.plan.trials.extend(groups.flat_map(|target| listed.iter().map(move |it| it.on(target))));
        self.plan.number();
    }
}
