//! Bounds on numbers that can be true, learned from the controls of one state: the highest rate of
//! visiting bytes in memory, the time that an answer takes, and the CPU time that a visit costs.
//!
//! The bounds are here, in [`super::unaccounted`] and in [`readlab_record::VisitCost`];
//! [`super::refutation`] handles trials beyond a bound.

use super::trial_progress::{TrialProgress, TurnCpu};
use super::unaccounted::{CollectsGarbage, NULL_TURNS_MIN, ReplyOverhead, is_null_control};
use crate::plan::Plan;
use readlab_model::sample::Sample;
use readlab_model::trial::{COMMAND, CacheState};
use readlab_record::{Trial, VisitCost};
use std::collections::BTreeMap;

/// A trial is refused if at least this many of its turns cannot have touched the bytes.
const UNTOUCHED_TURNS_MIN: usize = 2;

/// A rate counts as possible up to this multiple of the best rate at which a control visited bytes
/// in memory. The rate of the control is measured, too: a busy machine can halve it, and the
/// last-level cache can serve a small file faster than memory. A loop that a compiler optimised
/// away is hundreds of times faster.
const CEILING_FACTOR: f64 = 3.0;

/// Why the windows cannot be true if one of them is 0 ns; `None` otherwise. Only the window of a
/// control may be too short for a coarse clock.
pub(super) fn why_window_is_zero(trial: &Trial, samples: &[Sample]) -> Option<String> {
    let is_one = !trial.is_control() && samples.iter().any(|sample| sample.wall_ns == 0);
    is_one.then(|| "it claims a window of 0 ns: its clock stood still".to_owned())
}

/// The highest plausible rate of a window: the rate of visiting bytes in memory.
#[derive(Default)]
struct VisitingCeiling {
    /// Shortest time in which a control visited the bytes, by the number of bytes. Targets of one
    /// run may differ in size; visiting more bytes takes at least as long.
    visit_ns: BTreeMap<u64, u64>,
}

impl VisitingCeiling {
    /// Learns from a turn of a control, if its answers prove that it visited the bytes.
    fn learn_from_control(&mut self, trial: &Trial, bytes: u64, samples: &[Sample]) {
        if trial.is_control() && samples.iter().all(|sample| sample.answer.proves(trial.work, &sample.answer))
        {
            let fastest = samples.iter().map(|sample| undisturbed_ns(trial, sample)).min();
            if let Some(fastest_ns) = fastest {
                let visit_ns = self.visit_ns.entry(bytes).or_insert(fastest_ns);
                *visit_ns = fastest_ns.min(*visit_ns);
            }
        }
    }

    /// Why this window cannot be true, if it is shorter than visiting the bytes in memory.
    fn violation(&self, trial: &Trial, bytes: u64, fastest_ns: u64) -> Option<String> {
        if trial.is_control() || !trial.work.touches_bytes() {
            return None;
        }
        let ceiling_ns = self.visit_ns.range(..=bytes).map(|(_, visit_ns)| *visit_ns).max()?;
        let is_too_short = (fastest_ns as f64) * CEILING_FACTOR < ceiling_ns as f64;
        is_too_short.then(|| {
            format!("a window of {fastest_ns} ns is shorter than visiting the bytes in memory took: {ceiling_ns} ns")
        })
    }
}

/// A control's reading without the time that it waited for a processor: its CPU time divided by its
/// threads, if that is less than the window.
fn undisturbed_ns(trial: &Trial, sample: &Sample) -> u64 {
    let threads = trial.params.0.get("threads").copied().unwrap_or(1).max(1);
    let cpu_ns =
        sample.cpu_user_ns.zip(sample.cpu_system_ns).map(|(user, system)| user.saturating_add(system));
    // If the kernel counts CPU time in ticks, a short reading shows none.
    match cpu_ns.filter(|&ns| ns > 0) {
        Some(cpu_ns) => sample.wall_ns.min((cpu_ns / threads).max(1)),
        None => sample.wall_ns,
    }
}

/// Bounds on the numbers of trials, learned from the controls of one state.
#[derive(Default)]
pub(super) struct PlausibilityBounds {
    ceiling: VisitingCeiling,
    reply_overhead: ReplyOverhead,
    visit_cost: VisitCost,
}

impl PlausibilityBounds {
    /// Learns from a turn of a trial whose readings visit this number of bytes.
    pub(super) fn learn(&mut self, trial: &Trial, bytes: u64, samples: &[Sample]) {
        self.ceiling.learn_from_control(trial, bytes, samples);
        self.reply_overhead.learn(trial, samples);
        samples.iter().for_each(|sample| self.visit_cost.learn(trial, sample));
    }

    pub(super) fn is_beyond_ceiling(&self, trial: &Trial, bytes: u64, fastest_ns: u64) -> bool {
        self.ceiling.violation(trial, bytes, fastest_ns).is_some()
    }

    /// Why the results of a trial whose readings visit this number of bytes cannot be true, judged
    /// by the controls so far; `None` if they can.
    pub(super) fn why_implausible(
        &self,
        plan: &Plan,
        bytes: u64,
        progress: &TrialProgress,
    ) -> Option<String> {
        let trial = &plan.planned_trial(progress.trial).trial;
        if trial.is_control() {
            return None;
        }
        let violation =
            progress.fastest_ns.and_then(|fastest_ns| self.ceiling.violation(trial, bytes, fastest_ns));
        violation
            .or_else(|| self.why_time_left_out(plan, progress))
            .or_else(|| self.why_untouched(trial, progress))
    }

    /// Why the turns cannot be true, if the windows leave out too much of their time.
    fn why_time_left_out(&self, plan: &Plan, progress: &TrialProgress) -> Option<String> {
        let planned = plan.planned_trial(progress.trial);
        // Readlab's own clock measures the windows of a command. Between two windows readlab reaps
        // the command and prepares the next start, so time outside them is no sign of false ones.
        if planned.trial.contender() == COMMAND {
            return None;
        }
        let of_state = plan.trials.iter().filter(|other| other.trial.state == planned.trial.state);
        let has_null = of_state.into_iter().any(|other| is_null_control(&other.trial));
        if has_null && self.reply_overhead.turn_count() < NULL_TURNS_MIN {
            return None;
        }
        self.reply_overhead.refutation(&progress.turns, CollectsGarbage(planned.collects_garbage))
    }

    /// Why warm readings cannot be true, if they had too little CPU time to visit the bytes.
    fn why_untouched(&self, trial: &Trial, progress: &TrialProgress) -> Option<String> {
        if trial.state != CacheState::Warm {
            return None;
        }
        let is_too_little = |turn: &&TurnCpu| {
            self.visit_cost.is_too_short_to_visit(trial, turn.reading_count, turn.cpu_max_ns)
        };
        let untouched_turns = || progress.undelivered_turns.iter().filter(is_too_little);
        let least = untouched_turns().min_by_key(|turn| turn.cpu_max_ns)?;
        let needed_ns = self.visit_cost.least_cpu_ns(trial, least.reading_count)?;
        let (found, all) = (untouched_turns().count(), progress.turns.len());
        (found >= UNTOUCHED_TURNS_MIN.min(all)).then(|| {
            format!(
                "{found} of {all} turns cannot have touched the bytes: {} ns of CPU time are less than a third of what visiting them in memory takes, {needed_ns} ns",
                least.cpu_max_ns
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::testing::{WARM, plan, rules_for_readings};
    use readlab_model::trial::Answer;

    #[test]
    fn a_window_is_compared_with_visits_of_as_many_bytes_or_fewer() {
        let plan = plan(rules_for_readings(1), &[("resident", WARM), ("read", WARM)]);
        let (control, method) = (&plan.trials[0].trial, &plan.trials[1].trial);
        let answer = Answer { newlines: Some(1), ..Answer::default() };
        let mut plausibility = PlausibilityBounds::default();
        for (bytes, wall_ns) in [(1_000_000, 90_000), (1_000, 90), (1_000, 300)] {
            plausibility.learn(control, bytes, &[Sample { wall_ns, answer, ..Sample::default() }]);
        }
        for (bytes, fastest_ns, is_beyond) in [
            (1_000_000, 29_999, true),
            (1_000_000, 30_000, false),
            (1_000, 30, false),
            (1_000, 29, true),
            (500_000, 29, true),
            (500_000, 30, false),
            (10, 1, false),
        ] {
            assert_eq!(
                plausibility.is_beyond_ceiling(method, bytes, fastest_ns),
                is_beyond,
                "{bytes} {fastest_ns}"
            );
        }
    }
}
