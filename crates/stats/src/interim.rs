//! Interim analyses: after which rounds a run compares its trials, and at which error it may stop
//! one. An interim analysis is also called a look at the data.
//!
//! A trial that is compared with the leader again and again would be found slower by chance sooner
//! or later. So every interim analysis has its own error, and together they use up the error that
//! the run may have (Lan & DeMets, *Discrete Sequential Boundaries for Clinical Trials*, Biometrika
//! 70, 1983). The interval at that error is a repeated confidence interval (Jennison & Turnbull,
//! *Interim Analyses: The Repeated Confidence Interval Approach*, Journal of the Royal Statistical
//! Society B 51, 1989).
//!
//! With these errors, simulated races of 8 and of 30 identical trials find at most 5 % of the
//! trials slower than the first ([`crate::SharedVariance::significance_against_first`]) after all
//! interim analyses.

use crate::interval::Confidence;

/// Without an indifference zone, only the margins of [`crate::find_stops`] decide up to this many
/// rounds.
pub(crate) const QUALIFYING_ROUNDS: u32 = 5;

/// Number of rounds before the first interim analysis.
const FIRST_ANALYSIS_ROUNDS: u32 = 8;

/// The error of the first interim analysis, just above 0.00625: eight pairs have no interval at a
/// smaller error.
const FIRST_ANALYSIS_ERROR: f64 = 0.0065;

/// The error of every later interim analysis.
const LATER_ANALYSES_ERROR: f64 = 0.002;

/// The confidence of the interim analysis after this many rounds; `None` if there is none. Each
/// analysis follows after half as many rounds again: 8, 12, 18, 27, 40, 60 and so on.
pub(crate) fn interim_confidence(rounds: u32) -> Option<Confidence> {
    let mut look = FIRST_ANALYSIS_ROUNDS;
    while look < rounds {
        look += look / 2;
    }
    let error = if look == FIRST_ANALYSIS_ROUNDS { FIRST_ANALYSIS_ERROR } else { LATER_ANALYSES_ERROR };
    (look == rounds).then(|| Confidence::with_error(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interim_analyses_come_at_growing_distances() {
        let looks: Vec<u32> = (0..100).filter(|rounds| interim_confidence(*rounds).is_some()).collect();
        assert_eq!(looks, [8, 12, 18, 27, 40, 60, 90]);
    }

    #[test]
    fn the_interim_analyses_of_sixty_rounds_spend_less_than_two_percent() {
        let spent: f64 = (0..=60).filter_map(interim_confidence).map(Confidence::error_probability).sum();
        assert!(spent < 0.02, "{spent}");
    }
}
