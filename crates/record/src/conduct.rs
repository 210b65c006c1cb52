//! What a contender does besides reading: processes that it leaves behind, and a scheduling policy
//! that it sets for itself.

use readlab_protocol::{Policy, Scheduling};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Processes that were still running after the readings that started them; the lab ended them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftBehind {
    pub processes: u64,
    /// Number of readings that left the processes behind, untimed readings included.
    pub readings: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OwnScheduling {
    #[serde(rename = "ran")]
    pub own_scheduling: Scheduling,
    /// The scheduling with which the lab started the contender.
    #[serde(rename = "given")]
    pub given_scheduling: Scheduling,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SideEffects {
    #[serde(skip_serializing_if = "LeftBehind::is_nothing")]
    pub left_behind: LeftBehind,
    /// The schedulings that the contender gave itself; equal ones once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scheduling: Vec<OwnScheduling>,
}

impl LeftBehind {
    fn is_nothing(&self) -> bool {
        self.processes == 0
    }

    pub(super) fn add(&mut self, more: LeftBehind) {
        self.processes = self.processes.saturating_add(more.processes);
        self.readings = self.readings.saturating_add(more.readings);
    }
}

impl SideEffects {
    /// Adds the side effects of another part of the run. Equal schedulings are kept once.
    pub fn add(&mut self, more: &SideEffects) {
        self.left_behind.add(more.left_behind);
        let new = more.scheduling.iter().filter(|it| !self.scheduling.contains(it));
        let new: Vec<OwnScheduling> = new.cloned().collect();
        self.scheduling.extend(new);
    }

    pub fn is_empty(&self) -> bool {
        *self == SideEffects::default()
    }

    pub fn words(&self) -> Vec<String> {
        let left = (!self.left_behind.is_nothing()).then(|| self.left_behind.to_string());
        left.into_iter().chain(self.scheduling.iter().map(OwnScheduling::to_string)).collect()
    }
}

impl fmt::Display for LeftBehind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LeftBehind { processes, readings } = *self;
        let count =
            |count: u64| if count == 1 { "1 process".to_owned() } else { format!("{count} processes") };
        match (processes, readings) {
            (_, 0 | 1) => write!(f, "left {} behind after a reading: ended", count(processes)),
            _ if processes % readings == 0 => {
                write!(
                    f,
                    "left {} behind after each of {readings} readings: ended",
                    count(processes / readings)
                )
            }
            _ => write!(f, "left {} behind after {readings} readings: ended", count(processes)),
        }
    }
}

impl fmt::Display for OwnScheduling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OwnScheduling { own_scheduling: ran, given_scheduling: given } = self;
        let mut parts = Vec::new();
        if (ran.policy, ran.priority) != (given.policy, given.priority) {
            parts.push(match ran.policy {
                Policy::Fifo | Policy::RoundRobin => format!("with {} {}", ran.policy, ran.priority),
                policy => format!("with {policy}"),
            });
        }
        if ran.nice != given.nice {
            parts.push(format!("at nice {}", ran.nice));
        }
        if ran.processors != given.processors {
            let within = ran.processors.iter().all(|cpu| given.processors.contains(cpu));
            parts.push(if within {
                format!("on {} of {} processors", ran.processors.len(), given.processors.len())
            } else {
                format!("on {} processors that it was not given", ran.processors.len())
            });
        }
        write!(f, "ran {} by its own doing", parts.join(" and "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_left_behind_are_shown_per_reading_if_each_reading_left_the_same_number() {
        let text = |processes, readings| LeftBehind { processes, readings }.to_string();
        assert_eq!(text(12, 12), "left 1 process behind after each of 12 readings: ended");
        assert_eq!(text(24, 12), "left 2 processes behind after each of 12 readings: ended");
        assert_eq!(text(13, 12), "left 13 processes behind after 12 readings: ended");
        assert_eq!(text(1, 1), "left 1 process behind after a reading: ended");
        assert!(SideEffects::default().words().is_empty() && SideEffects::default().is_empty());
    }

    #[test]
    fn only_changed_scheduling_is_shown() {
        let given = Scheduling { policy: Policy::Other, priority: 0, nice: 0, processors: vec![0, 1] };
        let text = |ran| OwnScheduling { own_scheduling: ran, given_scheduling: given.clone() }.to_string();
        let fifo = Scheduling { policy: Policy::Fifo, priority: 1, ..given.clone() };
        assert_eq!(text(fifo), "ran with SCHED_FIFO 1 by its own doing");
        let batch = Scheduling { policy: Policy::Batch, nice: -5, ..given.clone() };
        assert_eq!(text(batch), "ran with SCHED_BATCH and at nice -5 by its own doing");
        let one = Scheduling { processors: vec![1], ..given.clone() };
        assert_eq!(text(one), "ran on 1 of 2 processors by its own doing");
        let others = Scheduling { processors: vec![2, 3], ..given.clone() };
        assert_eq!(text(others), "ran on 2 processors that it was not given by its own doing");
    }
}
