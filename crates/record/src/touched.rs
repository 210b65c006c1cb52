//! Decides from the meters of a turn whether a warm reading visited the bytes, or whether the
//! contender only repeated the answer of an earlier reading. Controls measure the cheapest visit of
//! the bytes. The measuring code decides what happens to a trial that touched nothing.

use super::Trial;
use readlab_model::sample::{DeliveryMeter, Sample};
use readlab_model::target::TargetIndex;
use std::collections::BTreeMap;

/// A reading touched the bytes if it used at least the CPU time of the cheapest visit divided by
/// this.
const VISIT_TIME_DIVISOR: u64 = 3;

/// The CPU time that answering may take beyond the visit, as a multiple of the CPU time of the
/// control that reads nothing. Programs in other languages take longer to answer.
const ANSWERING_TIME_FACTOR: u64 = 4;

/// The shortest visit that can be distinguished from no visit; the CPU time of windows is counted
/// in whole microseconds.
const VISIT_MIN_NS: u64 = 10_000;

/// The CPU time of visiting the bytes and of answering, as measured by controls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VisitCost {
    /// CPU time of the cheapest window with a visit of bytes in memory, by target.
    window_ns: BTreeMap<TargetIndex, u64>,
    /// CPU time of the cheapest window without a reading: the cost of measuring the window itself.
    empty_window_ns: Option<u64>,
    /// CPU time of the most expensive turn in which nothing was read.
    answering_ns: u64,
}

/// What the meters of a turn prove.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TouchProof {
    /// Enough bytes were seen to arrive.
    DeliveryMeter(DeliveryMeter),
    /// The turn used enough CPU time for a visit of all bytes.
    CpuTime,
    /// The reading is too short for the meters, or the meters could not be read.
    Unknown,
    /// No bytes were seen to arrive, and the CPU time is too short for a visit of the bytes.
    Nothing,
}

impl VisitCost {
    /// Learns the costs from a sample of a control; ignores other samples.
    pub fn learn(&mut self, trial: &Trial, sample: &Sample) {
        if !trial.is_control() || trial.decoded_format.is_some() {
            return;
        }
        if trial.method() == "null" {
            self.answering_ns = self.answering_ns.max(sample.turn.cpu_ns.unwrap_or(0));
            let known = self.empty_window_ns.into_iter();
            self.empty_window_ns = known.chain(cpu_ns(sample)).min();
        }
        let visited = trial.work.touches_bytes() && sample.answer.proves(trial.work, &sample.answer);
        if let Some(cpu_ns) = cpu_ns(sample).filter(|&ns| visited && ns > 0) {
            let least_ns = self.window_ns.entry(trial.target).or_insert(cpu_ns);
            *least_ns = cpu_ns.min(*least_ns);
        }
    }

    /// The least CPU time that this many readings of a trial must take; `None` if it is not known.
    pub fn least_cpu_ns(&self, trial: &Trial, readings: u32) -> Option<u64> {
        let visit_ns = self.visit_ns(trial.target).filter(|_| trial.work.touches_bytes())?;
        Some((visit_ns / VISIT_TIME_DIVISOR).saturating_mul(u64::from(readings)))
    }

    /// CPU time of the cheapest visit without the cost of the window; `None` if the visit is too
    /// short to be distinguished from no visit.
    fn visit_ns(&self, target: TargetIndex) -> Option<u64> {
        let visit_ns = self.window_ns.get(&target)?.saturating_sub(self.empty_window_ns?);
        (visit_ns >= VISIT_MIN_NS).then_some(visit_ns)
    }

    /// True if this many readings cannot have touched the bytes in this CPU time.
    pub fn is_too_short_to_visit(&self, trial: &Trial, readings: u32, cpu_ns: u64) -> bool {
        self.least_cpu_ns(trial, readings).is_some_and(|least_ns| cpu_ns < least_ns)
    }

    /// What is known about one reading of a trial.
    pub fn touch_proof(&self, trial: &Trial, sample: &Sample) -> TouchProof {
        // A command whose output is not counted may read only a part of the bytes, and a walk over
        // names reads none, so neither is judged.
        if trial.work.may_read_part() || trial.work.finds_names() {
            return TouchProof::Unknown;
        }
        if let Some(by) = sample.turn.delivered {
            return TouchProof::DeliveryMeter(by);
        }
        let least_ns = self.least_cpu_ns(trial, sample.turn_readings);
        let (Some(least_ns), Some(cpu_ns)) = (least_ns, sample.turn.cpu_ns) else {
            return TouchProof::Unknown;
        };
        let error_ns = sample.turn.cpu_error_ns.unwrap_or(0);
        let answering_ns = self.answering_ns.saturating_mul(ANSWERING_TIME_FACTOR);
        if self.is_too_short_to_visit(trial, sample.turn_readings, cpu_ns.saturating_add(error_ns)) {
            TouchProof::Nothing
        } else if cpu_ns.saturating_sub(error_ns) >= least_ns.saturating_add(answering_ns) {
            TouchProof::CpuTime
        } else {
            TouchProof::Unknown
        }
    }
}

fn cpu_ns(sample: &Sample) -> Option<u64> {
    Some(sample.cpu_user_ns?.saturating_add(sample.cpu_system_ns?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Line, testing};
    use readlab_model::sample::TurnSeen;
    use readlab_model::trial::{Answer, CacheState, Work};
    use readlab_protocol::Cache;

    const MS: u64 = 1_000_000;

    fn trial(name: &str, cache: Cache) -> Trial {
        let Line::Trial(trial) = testing::trial_line(0, &format!("rust/{name}"), CacheState::Warm, cache)
        else {
            panic!("a trial's line")
        };
        *trial
    }

    fn visit_cost() -> VisitCost {
        visit_cost_from(MS / 10, 3 * MS + MS / 10)
    }

    fn visit_cost_from(empty_window_ns: u64, window_ns: u64) -> VisitCost {
        let mut visit = VisitCost::default();
        for (name, cpu_ns, newlines) in [("null", empty_window_ns, None), ("resident", window_ns, Some(1))] {
            let control = trial(name, Cache::None);
            let turn = TurnSeen { cpu_ns: Some(cpu_ns), ..TurnSeen::default() };
            let answer = Answer { newlines, ..Answer::default() };
            let cpu = (Some(cpu_ns), Some(0));
            let sample =
                Sample { cpu_user_ns: cpu.0, cpu_system_ns: cpu.1, turn, answer, ..Sample::default() };
            visit.learn(&control, &sample);
        }
        visit
    }

    fn touch(cpu_ns: u64, cpu_error_ns: u64, delivered: Option<DeliveryMeter>) -> TouchProof {
        let turn = TurnSeen {
            cpu_ns: Some(cpu_ns),
            cpu_error_ns: Some(cpu_error_ns),
            delivered,
            ..TurnSeen::default()
        };
        visit_cost()
            .touch_proof(&trial("a", Cache::Through), &Sample { turn_readings: 2, turn, ..Sample::default() })
    }

    #[test]
    fn two_readings_take_two_thirds_of_a_visit_at_least() {
        assert_eq!(touch(2 * MS - 1, 0, None), TouchProof::Nothing);
        assert_eq!(touch(2 * MS, 0, None), TouchProof::Unknown, "answering alone may have taken some of it");
        assert_eq!(touch(2 * MS + 4 * MS / 10, 0, None), TouchProof::CpuTime);
    }

    #[test]
    fn the_cost_of_an_empty_window_is_not_a_visit() {
        let any = trial("a", Cache::Through);
        for window_ns in [2_000, 3_000, 12_999] {
            assert_eq!(visit_cost_from(3_000, window_ns).least_cpu_ns(&any, 65), None, "{window_ns}");
        }
        assert_eq!(visit_cost_from(3_000, 18_000).least_cpu_ns(&any, 65), Some(5_000 * 65));
    }

    #[test]
    fn cpu_time_in_clock_ticks_proves_and_refutes_less() {
        assert_eq!(touch(0, 20 * MS, None), TouchProof::Unknown);
        assert_eq!(touch(10 * MS, 20 * MS, None), TouchProof::Unknown);
        assert_eq!(touch(30 * MS, 20 * MS, None), TouchProof::CpuTime);
    }

    #[test]
    fn delivered_bytes_prove_a_touch_unless_they_may_be_only_a_part() {
        assert_eq!(touch(0, 0, Some(DeliveryMeter::Calls)), TouchProof::DeliveryMeter(DeliveryMeter::Calls));
        let turn = TurnSeen { delivered: Some(DeliveryMeter::Faults), ..TurnSeen::default() };
        let output = Trial { work: Work::Output, ..trial("a", Cache::Through) };
        assert_eq!(
            visit_cost().touch_proof(&output, &Sample { turn, ..Sample::default() }),
            TouchProof::Unknown
        );
    }

    #[test]
    fn touch_is_unknown_without_controls_or_for_work_that_need_not_visit_bytes() {
        let sample = Sample {
            turn_readings: 1,
            turn: TurnSeen { cpu_ns: Some(1), ..TurnSeen::default() },
            ..Sample::default()
        };
        let any = trial("a", Cache::Through);
        assert_eq!(VisitCost::default().touch_proof(&any, &sample), TouchProof::Unknown);
        let discard = Trial { work: Work::Discard, ..any };
        assert_eq!(visit_cost().touch_proof(&discard, &sample), TouchProof::Unknown);
    }
}
