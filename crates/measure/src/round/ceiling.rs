//! The ceiling: the rate beyond which a window cannot be true, that of visiting bytes in memory.
//! The controls of the same rounds measure it; what is done with a trial beyond it is decided in
//! [`super::refutation`].
//!
//! The window of a control that waited for a processor is too long. So the CPU time of each of its
//! readings, divided by its threads, counts if it is less than the window.

use readlab_model::sample::Sample;
use readlab_record::Trial;

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

/// The shortest time in which a control visited the bytes; `None` before one did.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Ceiling {
    visit_ns: Option<u64>,
}

impl Ceiling {
    /// Learns from the turn of a control that proves to have visited the bytes.
    pub(super) fn raise(&mut self, trial: &Trial, samples: &[Sample]) {
        if trial.is_control() && samples.iter().all(|sample| sample.answer.proves(trial.work, &sample.answer))
        {
            let fastest = samples.iter().map(|sample| undisturbed_ns(trial, sample)).min();
            self.visit_ns = self.visit_ns.into_iter().chain(fastest).min();
        }
    }

    /// Why this window cannot be true: it is shorter than visiting the bytes in memory.
    pub(super) fn beyond(self, trial: &Trial, fastest_ns: u64) -> Option<String> {
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

/// The time of a control's reading without waiting for a processor.
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
