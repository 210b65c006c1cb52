//! Checks of a machine, and of a target on it, for properties that distort or improve measurements.
//! The checks judge facts that were collected elsewhere.

mod checks;

use readlab_measure::busy::BusyProcess;
use readlab_measure::rights::Rights;
use readlab_model::target::TargetFacts;
use readlab_model::target::device::IoQuota;
use readlab_system::machine::Machine;

/// Effect of a finding on the numbers, in the order of printing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FindingLevel {
    /// The property makes numbers wrong, or noisier than necessary.
    Spoils,
    /// The property limits the possible measurements or conclusions.
    Note,
    /// The property makes numbers better.
    Helps,
}

/// A property of this machine that matters for measurements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub level: FindingLevel,
    /// The property, in a few words.
    pub property: String,
    /// Effect of the property on numbers.
    pub effect: String,
    /// The command or step that removes the effect; `None` if there is none.
    pub remedy: Option<String>,
}

/// The facts that the checks judge.
#[derive(Debug, Clone, Copy)]
pub struct CheckupFacts<'a> {
    pub machine: &'a Machine,
    /// The target on this machine; `None` if the user named none.
    pub target: Option<&'a TargetFacts>,
    /// Which meters this user may use.
    pub rights: &'a Rights,
    /// Read quotas of this process's control groups.
    pub io_quotas: &'a [IoQuota],
    /// Other processes that use the processors, the busiest first.
    pub busy_processes: &'a [BusyProcess],
}

pub fn judge(facts: &CheckupFacts) -> Vec<Finding> {
    let mut findings: Vec<Finding> = checks::ALL_CHECKS.iter().flat_map(|check| check(facts)).collect();
    sort_by_level(&mut findings);
    findings
}

/// Sorts findings into the order of printing; findings of the same level keep their order.
pub fn sort_by_level(findings: &mut [Finding]) {
    findings.sort_by_key(|finding| finding.level);
}

#[cfg(test)]
mod tests;
