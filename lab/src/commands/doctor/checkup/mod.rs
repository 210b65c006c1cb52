//! What of a machine, and of a target on it, helps or spoils measuring, and how to mend it:
//! judgement only, from facts that others found out. Each check looks at one thing and stands in
//! the order of its worth.

mod checks;

use crate::machine::Machine;
use crate::measure::busy::Busy;
use crate::measure::rights::Rights;
use crate::target::TargetFacts;

/// What a finding means for the numbers. The order is the one in which they are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Makes numbers wrong, or noisier than they need be.
    Spoils,
    /// Limits what can be measured or said.
    Note,
    /// Makes numbers better.
    Helps,
}

/// One thing about this machine that whoever measures on it should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What it means.
    pub level: Level,
    /// What was found, in a few words.
    pub what: String,
    /// What it does to numbers.
    pub why: String,
    /// The command or step that mends it, if any.
    pub mend: Option<String>,
}

/// All that is judged.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// The machine.
    pub machine: &'a Machine,
    /// What is to be read, if anything is.
    pub target: Option<&'a TargetFacts>,
    /// What metering is possible.
    pub rights: &'a Rights,
    /// Who else uses the processors, the busiest first.
    pub busy: &'a [Busy],
}

/// Everything there is to say, the worst first.
#[must_use]
pub fn judge(facts: &Facts) -> Vec<Finding> {
    let mut findings: Vec<Finding> = checks::ALL.iter().flat_map(|check| check(facts)).collect();
    sort(&mut findings);
    findings
}

/// Puts findings in the order in which they are told; equals stay as they stand.
pub fn sort(findings: &mut [Finding]) {
    findings.sort_by_key(|finding| finding.level);
}

#[cfg(test)]
mod tests;
