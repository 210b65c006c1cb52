//! Checks of a machine, and of a target on it, for what distorts or improves measurements. They
//! judge facts that were found out elsewhere. Each judges one thing; they are in the order of their
//! importance.

mod checks;

use readlab_measure::busy::Busy;
use readlab_measure::rights::Rights;
use readlab_model::target::TargetFacts;
use readlab_model::target::device::IoQuota;
use readlab_system::machine::Machine;

/// What a finding means for the numbers, in the order of printing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Makes numbers wrong, or noisier than they need be.
    Spoils,
    /// Limits what can be measured or said.
    Note,
    /// Makes numbers better.
    Helps,
}

/// One thing about this machine that matters for measurements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub level: Level,
    /// What was found, in a few words.
    pub what: String,
    /// What it does to numbers.
    pub why: String,
    /// The command or step that fixes it, if there is one.
    pub mend: Option<String>,
}

/// All that is judged.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    pub machine: &'a Machine,
    /// What is to be read, if anything is.
    pub target: Option<&'a TargetFacts>,
    /// What metering is possible.
    pub rights: &'a Rights,
    /// The quotas of reads of this process's control groups.
    pub io_quotas: &'a [IoQuota],
    /// The other processes that use the processors, the busiest first.
    pub busy: &'a [Busy],
}

pub fn judge(facts: &Facts) -> Vec<Finding> {
    let mut findings: Vec<Finding> = checks::ALL.iter().flat_map(|check| check(facts)).collect();
    sort(&mut findings);
    findings
}

/// Sorts findings into the order of printing. Equal ones keep their order.
pub fn sort(findings: &mut [Finding]) {
    findings.sort_by_key(|finding| finding.level);
}

#[cfg(test)]
mod tests;
