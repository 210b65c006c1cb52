//! When a run looks at its readings while they come, and at which error it may stop a trial.
//!
//! A trial that is compared with the leader again and again would be found slower by chance sooner
//! or later. So every look has an error of its own, and together they spend what the run may spend
//! (Lan & DeMets, *Discrete Sequential Boundaries for Clinical Trials*, Biometrika 70, 1983). The
//! interval at that error is a repeated confidence interval (Jennison & Turnbull, *Interim
//! Analyses: The Repeated Confidence Interval Approach*, Journal of the Royal Statistical Society B
//! 51, 1989).
//!
//! The errors are those with which simulated races of 8 and of 30 identical trials find at most 5 %
//! of the trials slower than the first ([`crate::SharedVariance::against_first`]) after all looks.

use crate::interval::Confidence;

/// Up to so many rounds the margins of [`crate::stops`] decide, and nothing else.
pub(crate) const QUALIFYING_ROUNDS: u32 = 5;

/// The first look.
const FIRST_ROUNDS: u32 = 8;

/// The error of the first look: the smallest that eight pairs can reach.
const FIRST_ERROR: f64 = 0.0065;

/// The error of every other look.
const LATER_ERROR: f64 = 0.002;

/// The confidence of the look after so many rounds; `None` if there is none. Each look comes after
/// half as many rounds more than the one before: 8, 12, 18, 27, 40, 60 and so on.
pub(crate) fn look_after(rounds: u32) -> Option<Confidence> {
    let mut look = FIRST_ROUNDS;
    while look < rounds {
        look += look / 2;
    }
    let error = if look == FIRST_ROUNDS { FIRST_ERROR } else { LATER_ERROR };
    (look == rounds).then(|| Confidence::with_error(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_come_ever_later() {
        let looks: Vec<u32> = (0..100).filter(|rounds| look_after(*rounds).is_some()).collect();
        assert_eq!(looks, [8, 12, 18, 27, 40, 60, 90]);
    }

    #[test]
    fn the_looks_of_sixty_rounds_spend_less_than_two_percent() {
        let spent: f64 = (0..=60).filter_map(look_after).map(Confidence::error).sum();
        assert!(spent < 0.02, "{spent}");
    }
}
