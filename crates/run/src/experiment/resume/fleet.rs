//! Resumes the run of a fleet. Rank 0 has the record, and sends the other ranks what they need to
//! prepare the same plan on their own files. [`readlab_fleet::agreement`] checks that the hosts are
//! the same as before.

use super::InterruptedRun;
use crate::experiment::target_spec::SplitReader;
use anyhow::{Context, ensure};
use readlab_record::{Fleet, Line, Record, RunKind, ShareMode};
use serde::{Deserialize, Serialize};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What all ranks must know about an interrupted run.
#[derive(Debug, Serialize, Deserialize)]
pub struct SharedRunFacts {
    /// The first lines of the record: header, targets, contenders and fleet.
    lines: Vec<Line>,
    /// Time that the run had taken when it was interrupted.
    #[serde(rename = "earlier")]
    earlier_elapsed: Duration,
}

impl InterruptedRun {
    /// Refuses the run of a fleet, which must be resumed on all of its hosts.
    pub fn refuse_fleet(self) -> anyhow::Result<InterruptedRun> {
        ensure!(
            self.record.fleet.is_none(),
            "it is of a fleet: start `readlab fleet race --resume` on its hosts"
        );
        Ok(self)
    }

    pub fn fleet(&self) -> anyhow::Result<&Fleet> {
        self.record.fleet.as_ref().context("it is not of a fleet: readlab race --resume")
    }

    pub fn shared_facts(&self) -> SharedRunFacts {
        let record = &self.record;
        let targets = record.targets.numbered();
        let targets = targets.map(|(index, facts)| Line::Target { index, facts: Box::new(facts.clone()) });
        let contenders = record.contenders.iter().cloned().map(Line::Contender);
        let fleet = record.fleet.iter().map(|fleet| Line::Fleet(Box::new(fleet.clone())));
        let header = [Line::Header(Box::new(record.header.clone()))];
        SharedRunFacts {
            lines: header.into_iter().chain(targets).chain(contenders).chain(fleet).collect(),
            earlier_elapsed: self.earlier_elapsed,
        }
    }

    /// The run as this rank resumes it, on its own file.
    pub fn for_rank(mut self, rank: u32) -> anyhow::Result<InterruptedRun> {
        let fleet = self.fleet()?;
        let (share, ranks) = (fleet.share, fleet.ranks.len());
        let own = fleet.ranks.get(rank as usize).with_context(|| format!("it had {ranks} ranks"))?.clone();
        let readers = u32::try_from(ranks).ok().and_then(NonZero::new).context("it had no ranks")?;
        self.split_reader =
            (share == ShareMode::Split).then_some(SplitReader { reader_number: rank, reader_count: readers });
        for facts in self.record.targets.iter_mut() {
            (facts.path, facts.path_hex) = (own.path.clone(), None);
            facts.digest.clone_from(&own.digest);
            // The record has the decoded content of rank 0's file. The digest of the archive shows
            // whether the file of another rank is unchanged.
            facts.decoded = None;
        }
        if rank > 0 {
            self.resume_plan.targets.iter_mut().for_each(|target| target.identity = None);
        }
        Ok(self)
    }
}

impl SharedRunFacts {
    pub fn for_rank(self, rank: u32) -> anyhow::Result<InterruptedRun> {
        let mut lines = self.lines.into_iter();
        let Some(Line::Header(header)) = lines.next() else { unreachable!("a header comes first") };
        let mut record = Record::new(*header);
        lines.for_each(|line| record.add(line));
        let resume_plan = super::checked_resume_plan(RunKind::Race, &record)?;
        // Only rank 0 draws flame graphs.
        let folder = PathBuf::from(Path::new("."));
        let run = InterruptedRun {
            record,
            resume_plan,
            record_folder: folder,
            earlier_elapsed: self.earlier_elapsed,
            split_reader: None,
        };
        run.for_rank(rank)
    }
}
