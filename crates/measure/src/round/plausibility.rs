//! The rules by which numbers can be true, learned from the controls of one state: the ceiling of
//! visiting bytes in memory, the time that answering takes, and the CPU time that visiting costs.
//!
//! The rules live here, in [`super::unaccounted`] and in [`readlab_record::VisitCost`]; what is done
//! with a trial that breaks one, in [`super::refutation`].

use super::trial_progress::{TrialProgress, TurnCpu};
use super::unaccounted::{HasGc, NULL_TURNS_MIN, ReplyOverhead, is_null};
use crate::plan::Plan;
use readlab_model::sample::Sample;
use readlab_model::trial::{COMMAND, CacheState};
use readlab_record::{Trial, VisitCost};

/// Readings that touched no bytes before a trial is refused for them.
const UNTOUCHED_MIN: usize = 2;

/// A rate can be true up to this multiple of the best rate at which a control visited bytes in
/// memory. The ceiling is itself a measurement, which a busy machine was seen to halve, and the
/// last-level cache can serve a small file faster than memory does. A loop that a compiler removed
/// is hundreds of times faster.
const CEILING_SLACK: f64 = 3.0;

/// Why these windows cannot be true: reading takes time. Only what a control does may be too short
/// for a coarse clock.
pub(super) fn stood_still(trial: &Trial, samples: &[Sample]) -> Option<String> {
    let is_one = !trial.is_control() && samples.iter().any(|sample| sample.wall_ns == 0);
    is_one.then(|| "it claims a window of 0 ns: its clock stood still".to_owned())
}

/// The rate beyond which a window cannot be true, that of visiting bytes in memory.
#[derive(Default)]
struct Ceiling {
    /// The shortest time in which a control visited the bytes; `None` before one did.
    visit_ns: Option<u64>,
}

impl Ceiling {
    /// Learns from the turn of a control that proves to have visited the bytes.
    fn raise(&mut self, trial: &Trial, samples: &[Sample]) {
        if trial.is_control() && samples.iter().all(|sample| sample.answer.proves(trial.work, &sample.answer))
        {
            let fastest = samples.iter().map(|sample| undisturbed_ns(trial, sample)).min();
            self.visit_ns = self.visit_ns.into_iter().chain(fastest).min();
        }
    }

    /// Why this window cannot be true: it is shorter than visiting the bytes in memory.
    fn beyond(&self, trial: &Trial, fastest_ns: u64) -> Option<String> {
        if trial.is_control() || !trial.work.touches_bytes() {
            return None;
        }
        let ceiling_ns = self.visit_ns?;
        #[expect(clippy::cast_precision_loss, reason = "compared with a slack of half")]
        let beyond = (fastest_ns as f64) * CEILING_SLACK < ceiling_ns as f64;
        beyond.then(|| {
            format!("a window of {fastest_ns} ns is shorter than visiting the bytes in memory took: {ceiling_ns} ns")
        })
    }
}

/// The time of a control's reading without waiting for a processor, which makes its window too long: its
/// CPU time, divided by its threads, if that is less than the window.
fn undisturbed_ns(trial: &Trial, sample: &Sample) -> u64 {
    let threads = trial.params.0.get("threads").copied().unwrap_or(1).max(1);
    let cpu_ns =
        sample.cpu_user_ns.zip(sample.cpu_system_ns).map(|(user, system)| user.saturating_add(system));
    // If the kernel counts in ticks, a short reading shows no CPU time.
    match cpu_ns.filter(|&ns| ns > 0) {
        Some(cpu_ns) => sample.wall_ns.min((cpu_ns / threads).max(1)),
        None => sample.wall_ns,
    }
}

/// What the controls of a state have shown.
#[derive(Default)]
pub(super) struct Plausibility {
    ceiling: Ceiling,
    answering: ReplyOverhead,
    visit: VisitCost,
}

impl Plausibility {
    pub(super) fn learn(&mut self, trial: &Trial, samples: &[Sample]) {
        self.ceiling.raise(trial, samples);
        self.answering.learn(trial, samples);
        samples.iter().for_each(|sample| self.visit.learn(trial, sample));
    }

    pub(super) fn is_beyond_ceiling(&self, trial: &Trial, fastest_ns: u64) -> bool {
        self.ceiling.beyond(trial, fastest_ns).is_some()
    }

    /// Why what a trial showed so far cannot be true, as far as the controls show by now; `None` if
    /// it can.
    pub(super) fn doubt(&self, plan: &Plan, progress: &TrialProgress) -> Option<String> {
        let trial = &plan.planned(progress.trial).trial;
        if trial.is_control() {
            return None;
        }
        let beyond = progress.fastest_ns.and_then(|fastest_ns| self.ceiling.beyond(trial, fastest_ns));
        beyond.or_else(|| self.left_out(plan, progress)).or_else(|| self.untouched(trial, progress))
    }

    /// Turns of which the windows leave out too much.
    fn left_out(&self, plan: &Plan, progress: &TrialProgress) -> Option<String> {
        let planned = plan.planned(progress.trial);
        // The windows of a command are measured by readlab's own clock; starting and reaping it
        // between two readings is in no window.
        if planned.trial.contender() == COMMAND {
            return None;
        }
        let of_state = plan.trials.iter().filter(|other| other.trial.state == planned.trial.state);
        let has_null = of_state.into_iter().any(|other| is_null(&other.trial));
        if has_null && self.answering.turns() < NULL_TURNS_MIN {
            return None;
        }
        self.answering.refutes(&progress.turns, HasGc(planned.collects))
    }

    /// Warm readings for which there was too little CPU time even to visit the bytes.
    fn untouched(&self, trial: &Trial, progress: &TrialProgress) -> Option<String> {
        if trial.state != CacheState::Warm {
            return None;
        }
        let is_too_little =
            |turn: &&TurnCpu| self.visit.is_too_little(trial, turn.readings, turn.cpu_most_ns);
        let untouched = || progress.undelivered.iter().filter(is_too_little);
        let least = untouched().min_by_key(|turn| turn.cpu_most_ns)?;
        let needed_ns = self.visit.least_ns(trial, least.readings)?;
        let (found, all) = (untouched().count(), progress.turns.len());
        (found >= UNTOUCHED_MIN.min(all)).then(|| {
            format!(
                "{found} of {all} turns cannot have touched the bytes: {} ns of CPU time are less than a third of what visiting them in memory takes, {needed_ns} ns",
                least.cpu_most_ns
            )
        })
    }
}
