//! The rate beyond which a window cannot be true: that of visiting bytes which are in memory already. The controls of
//! the same rounds measure it; what is done with a trial beyond it is decided by [`super::Run`].

use crate::record::{Sample, Trial};

/// A rate is believed up to this multiple of the best rate at which any control visited bytes already in memory: the
/// ceiling is itself a measurement, which a busy machine has been seen to halve, and the last-level cache can serve a
/// small file faster than memory does. A loop that a compiler removed is faster by hundreds.
const CEILING_SLACK: f64 = 3.0;

/// Why these windows cannot be true: bringing bytes takes time. What a control does may be too short for a coarse clock.
pub(in crate::measure) fn stood_still(trial: &Trial, samples: &[Sample]) -> Option<String> {
    let is_one = !trial.is_control() && samples.iter().any(|sample| sample.wall_ns == 0);
    is_one.then(|| "it claims a window of 0 ns: its clock stood still".to_owned())
}

/// The shortest window in which a control visited the bytes; nobody is beyond it before there is one.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::measure) struct Ceiling {
    wall_ns: Option<u64>,
}

impl Ceiling {
    /// Learns from a turn, if it is that of a control that proves to have visited the bytes.
    pub(super) fn raise(&mut self, trial: &Trial, samples: &[Sample]) {
        if trial.is_control() && samples.iter().all(|sample| sample.answer.proves(trial.work, &sample.answer))
        {
            let fastest = samples.iter().map(|sample| sample.wall_ns).min();
            self.wall_ns = self.wall_ns.into_iter().chain(fastest).min();
        }
    }

    /// Why this window cannot be true: shorter than visiting bytes that are already in memory.
    pub(super) fn beyond(self, trial: &Trial, fastest_ns: u64) -> Option<String> {
        if trial.is_control() || !trial.work.touches_bytes() {
            return None;
        }
        let ceiling_ns = self.wall_ns?;
        #[expect(clippy::cast_precision_loss, reason = "compared with a slack of half")]
        let beyond = (fastest_ns as f64) * CEILING_SLACK < ceiling_ns as f64;
        beyond.then(|| {
            format!("a window of {fastest_ns} ns is shorter than visiting the bytes in memory took: {ceiling_ns} ns")
        })
    }
}
