//! The scheduling of a thread by the kernel: policy, priority, niceness, processors. It only reads;
//! the callers decide.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How a thread is scheduled.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scheduling {
    /// Its policy.
    pub policy: Policy,
    /// Its priority under a real-time policy, 0 under others.
    pub priority: u32,
    /// Its niceness, from -20 to 19.
    pub nice: i32,
    /// The processors on which it may run, in order.
    pub processors: Vec<u32>,
}

/// A scheduling policy, by its name in sched(7).
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Policy {
    /// The usual one.
    #[serde(rename = "SCHED_OTHER")]
    Other,
    /// Real time, first in, first out.
    #[serde(rename = "SCHED_FIFO")]
    Fifo,
    /// Real time, in turns.
    #[serde(rename = "SCHED_RR")]
    RoundRobin,
    /// The usual one for work that does not wait.
    #[serde(rename = "SCHED_BATCH")]
    Batch,
    /// Only when no other thread is ready to run.
    #[serde(rename = "SCHED_IDLE")]
    Idle,
    /// Real time by deadlines.
    #[serde(rename = "SCHED_DEADLINE")]
    Deadline,
    /// By a program loaded into the kernel.
    #[serde(rename = "SCHED_EXT")]
    Ext,
    /// One that is younger than this code.
    #[serde(rename = "unknown")]
    Unknown,
}

impl Policy {
    /// The policy of this number (`linux/sched.h`).
    fn of_number(number: u32) -> Policy {
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
        f.write_str(match self {
            Policy::Other => "SCHED_OTHER",
            Policy::Fifo => "SCHED_FIFO",
            Policy::RoundRobin => "SCHED_RR",
            Policy::Batch => "SCHED_BATCH",
            Policy::Idle => "SCHED_IDLE",
            Policy::Deadline => "SCHED_DEADLINE",
            Policy::Ext => "SCHED_EXT",
            Policy::Unknown => "an unknown scheduling policy",
        })
    }
}

impl Scheduling {
    /// From the text of /proc/PID/stat or /proc/PID/task/TID/stat, which an ended process that was
    /// not reaped still has.
    #[must_use]
    pub fn from_stat(stat: &str, processors: Vec<u32>) -> Option<Scheduling> {
        // The name before the last parenthesis may hold anything; proc_pid_stat(5) counts from 1,
        // and the name is the second.
        let fields: Vec<&str> = stat.get(stat.rfind(')')? + 1..)?.split_ascii_whitespace().collect();
        let field = |number: usize| fields.get(number - 3);
        Some(Scheduling {
            policy: Policy::of_number(field(41)?.parse().ok()?),
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
    fn fields_are_found_behind_a_name_that_holds_anything() {
        let stat = "7 (a) b (c) S 1 7 7 0 -1 4194560 9 0 0 0 0 0 0 0 20 -5 1 0 100 4096 10 1844 1 1 0 0 0 0 0 0 0 0 0 0 17 1 3 2 0 0 0";
        let found = Scheduling::from_stat(stat, vec![1]).unwrap();
        let right = Scheduling { policy: Policy::RoundRobin, priority: 3, nice: -5, processors: vec![1] };
        assert_eq!(found, right);
        assert!(Scheduling::from_stat("7 (a) S 1", Vec::new()).is_none());
        assert!(Scheduling::from_stat("", Vec::new()).is_none());
    }

    #[test]
    fn a_policy_is_written_as_it_is_called() {
        for number in 0..9 {
            let policy = Policy::of_number(number);
            if policy != Policy::Unknown {
                assert_eq!(serde_json::to_value(policy).unwrap(), policy.to_string());
            }
        }
    }
}
