//! The kernel's scheduling of a thread: policy, priority, niceness, processors. This module only
//! reads it. The callers decide.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How a thread is scheduled.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scheduling {
    /// Scheduling policy of the thread.
    pub policy: Policy,
    /// Priority of the thread under a real-time policy, 0 under others.
    pub priority: u32,
    /// Niceness of the thread, from -20 to 19.
    pub nice: i32,
    /// Processors on which the thread may run, in order.
    pub processors: Vec<u32>,
}

/// A scheduling policy, by its name in sched(7).
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Policy {
    /// The default policy.
    #[serde(rename = "SCHED_OTHER")]
    Other,
    /// Real time, first in, first out.
    #[serde(rename = "SCHED_FIFO")]
    Fifo,
    /// Real time, round robin.
    #[serde(rename = "SCHED_RR")]
    RoundRobin,
    /// The default policy for batch work, which does not wait.
    #[serde(rename = "SCHED_BATCH")]
    Batch,
    /// Runs only when no other thread is ready to run.
    #[serde(rename = "SCHED_IDLE")]
    Idle,
    /// Real time by deadlines.
    #[serde(rename = "SCHED_DEADLINE")]
    Deadline,
    /// A policy of a program that was loaded into the kernel.
    #[serde(rename = "SCHED_EXT")]
    Ext,
    /// A scheduling policy newer than this code, so unknown to it.
    #[serde(rename = "unknown")]
    Unknown,
}

impl Policy {
    /// The policy of this number (`linux/sched.h`).
    fn from_number(number: u32) -> Policy {
        match number {
            0 => Policy::Other,
            1 => Policy::Fifo,
            2 => Policy::RoundRobin,
            3 => Policy::Batch,
            5 => Policy::Idle,
            6 => Policy::Deadline,
            7 => Policy::Ext,
            _ => Policy::Unknown,
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Policy::Unknown => f.pad("an unknown scheduling policy"),
            known => known.serialize(f),
        }
    }
}

impl Scheduling {
    /// Parses the text of /proc/PID/stat or /proc/PID/task/TID/stat. An ended process that was not
    /// reaped still has these files.
    #[must_use]
    pub fn from_stat(stat: &str, processors: Vec<u32>) -> Option<Scheduling> {
        // The name before the last parenthesis may contain any bytes. proc_pid_stat(5) counts
        // fields from 1, and the name is the second field.
        let fields: Vec<&str> = stat.get(stat.rfind(')')? + 1..)?.split_ascii_whitespace().collect();
        let field = |number: usize| fields.get(number - 3);
        Some(Scheduling {
            policy: Policy::from_number(field(41)?.parse().ok()?),
            priority: field(40)?.parse().ok()?,
            nice: field(19)?.parse().ok()?,
            processors,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_after_a_name_with_any_bytes() {
        let stat = "7 (a) b (c) S 1 7 7 0 -1 4194560 9 0 0 0 0 0 0 0 20 -5 1 0 100 4096 10 1844 1 1 0 0 0 0 0 0 0 0 0 0 17 1 3 2 0 0 0";
        let found = Scheduling::from_stat(stat, vec![1]).unwrap();
        let right = Scheduling { policy: Policy::RoundRobin, priority: 3, nice: -5, processors: vec![1] };
        assert_eq!(found, right);
        assert!(Scheduling::from_stat("7 (a) S 1", Vec::new()).is_none());
        assert!(Scheduling::from_stat("", Vec::new()).is_none());
    }

    #[test]
    fn a_policy_is_displayed_by_its_kernel_name() {
        let shown = [0, 1, 2, 3, 4, 5, 6, 7].map(|number| Policy::from_number(number).to_string());
        let unknown = "an unknown scheduling policy";
        let default = ["SCHED_OTHER", "SCHED_FIFO", "SCHED_RR", "SCHED_BATCH", unknown];
        assert_eq!(shown[..5], default);
        assert_eq!(shown[5..], ["SCHED_IDLE", "SCHED_DEADLINE", "SCHED_EXT"]);
    }
}
