//! Before anything reads a target: whether a cache lies below everything that can be seen. Once a file system, and only where
//! something is to be made cold. A sweep's files must not be read before their time, so there a file of readlab's own is probed
//! ([`Unread`]).

use super::asked::Asked;
use crate::measure::hidden_cache::{PROBE_TIME, probe};
use crate::measure::plan::{Budget, Rules};
use crate::measure::subject::Ground;
use crate::progress::Recorder;
use crate::target::Target;
use crate::target::hidden_cache::{HiddenCache, NotProbed};
use crate::trial::CacheState;
use crate::units::Nanos;
use std::collections::BTreeSet;
use std::time::Duration;

/// A probe may take this share of the time that the user gave, at most: one part in so many.
const PART_OF_BUDGET: u32 = 10;

/// Probes each file system of the targets.
pub(super) fn hidden_caches(
    asked: &Asked,
    targets: &mut [Target],
    grounds: &[Ground],
    (rules, recorder): (&Rules, &Recorder),
) {
    let mut probed = BTreeSet::new();
    for (target, ground) in targets.iter_mut().zip(grounds) {
        let Ground::File { cache, .. } = ground else { continue };
        let is_cold = asked.states(&target.facts).contains(&CacheState::Cold);
        if !is_cold || !probed.insert((target.facts.filesystem.clone(), target.facts.mount.clone())) {
            continue;
        }
        let found = if is_short(rules) {
            HiddenCache::NotProbed { why: NotProbed::ShortBudget }
        } else {
            recorder.note(format!("reading parts of {} twice, for a cache below", target.facts.path));
            probe(target, cache, rules.seed)
        };
        target.facts.hidden_cache = Some(found);
    }
}

/// Whether the probe would take too much of the time that the user gave: to the run, or to a trial, which may be the only one.
fn is_short(rules: &Rules) -> bool {
    let is_short = |time: Nanos| Duration::from(time) < PROBE_TIME * PART_OF_BUDGET;
    is_short(rules.max_time) || matches!(rules.budget, Budget::Firm(time) if is_short(time))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_takes_a_tenth_of_the_user_s_time_at_most() {
        let with = |budget| Rules { budget, ..Rules::one_reading(0) };
        assert!(is_short(&with(Budget::Firm(Nanos(9_999_999_999)))));
        assert!(!is_short(&with(Budget::Firm(Nanos(10_000_000_000)))));
        assert!(!is_short(&with(Budget::Advised(Nanos(1)))));
    }

    #[test]
    fn a_trial_with_little_time_is_not_kept_waiting_by_a_probe() {
        let with = |max_time| Rules { max_time, ..Rules::one_reading(0) };
        assert!(is_short(&with(Nanos(1))) && is_short(&with(Nanos(9_999_999_999))));
        assert!(!is_short(&with(Nanos(10_000_000_000))));
        let both = Rules { budget: Budget::Firm(Nanos(60_000_000_000)), ..with(Nanos(500_000_000)) };
        assert!(is_short(&both), "either time counts");
    }
}
