//! The probe for a hidden cache below every cache that readlab can see. It runs once for each file
//! system, before anything reads a target, and only if a target is to be made cold.
//!
//! The files of a sweep must not be read before their timed reading, so a sweep probes readlab's
//! own file (`sweep/unread.rs`).

use super::config::RunConfig;
use super::recorder::Recorder;
use super::targets::OpenTarget;
use readlab_measure::hidden_cache::{PROBE_TIME_MAX, probe_hidden_cache};
use readlab_measure::plan::{Budget, Rules};
use readlab_measure::target::CacheControl;
use readlab_model::target::hidden_cache::{HiddenCache, NotProbed};
use readlab_model::trial::CacheState;
use readlab_model::units::Nanos;
use std::collections::BTreeSet;
use std::time::Duration;

/// The probe may take at most the time that the user set for the run or a trial, divided by this.
const PROBE_TIME_DIVISOR: u32 = 10;

pub(super) fn probe_hidden_caches(config: &RunConfig, targets: &mut [OpenTarget], recorder: &Recorder) {
    let mut probed = BTreeSet::new();
    for OpenTarget { target, cache_control, .. } in targets {
        let CacheControl::File { cache, .. } = cache_control else { continue };
        let is_cold = config.provable_states().contains(&CacheState::Cold);
        if !is_cold || !probed.insert((target.facts.filesystem.clone(), target.facts.mount.clone())) {
            continue;
        }
        let found = if is_time_short(&config.rules) {
            HiddenCache::NotProbed { why: NotProbed::ShortBudget }
        } else {
            let path = &target.facts.path;
            recorder
                .display()
                .show_activity(&format!("reading parts of {path} twice, about 1 s, for a cache below"));
            probe_hidden_cache(target, cache, config.rules.seed)
        };
        target.facts.hidden_cache = Some(found);
    }
}

/// Whether the probe would take too much of the time that the user set for the run, or for a trial.
/// The time of a trial counts, because the run may have only one trial.
fn is_time_short(rules: &Rules) -> bool {
    let is_time_short = |time: Nanos| Duration::from(time) < PROBE_TIME_MAX * PROBE_TIME_DIVISOR;
    is_time_short(rules.max_time) || matches!(rules.budget, Budget::Firm(time) if is_time_short(time))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_takes_a_tenth_of_the_user_s_time_at_most() {
        let with = |budget| Rules { budget, ..Rules::one_reading(0) };
        assert!(is_time_short(&with(Budget::Firm(Nanos(9_999_999_999)))));
        assert!(!is_time_short(&with(Budget::Firm(Nanos(10_000_000_000)))));
        assert!(!is_time_short(&with(Budget::Advised(Nanos(1)))));
    }

    #[test]
    fn a_trial_with_little_time_is_not_delayed_by_a_probe() {
        let with = |max_time| Rules { max_time, ..Rules::one_reading(0) };
        assert!(is_time_short(&with(Nanos(1))) && is_time_short(&with(Nanos(9_999_999_999))));
        assert!(!is_time_short(&with(Nanos(10_000_000_000))));
        let both = Rules { budget: Budget::Firm(Nanos(60_000_000_000)), ..with(Nanos(500_000_000)) };
        assert!(is_time_short(&both), "either time counts");
    }
}
