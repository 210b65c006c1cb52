//! The effects of settings of the system on trials: the time of a trial under the settings that
//! were found at the start, divided by its time under other settings, within the rounds that hold
//! both.
//!
//! The trials of a state share their noise under all settings, because the same machine read all of
//! them in the same rounds.

use super::noise::SharedNoise;
use super::stats::{SharedRatio, Significance};
use readlab_model::target::TargetFacts;
use readlab_model::trial::{CacheState, Work};
use readlab_protocol::Archive;
use readlab_record::{Record, TrialRecord};
use std::collections::BTreeMap;

/// A trial under settings of the system, at least one of which differs from that found at the
/// start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SettingEffect<'a> {
    pub trial: &'a TrialRecord,
    pub target: &'a TargetFacts,
    /// The same trial under the settings that were found.
    pub trial_with_initial_settings: &'a TrialRecord,
    pub target_with_initial_settings: &'a TargetFacts,
    /// How many times as fast the trial is as `trial_with_initial_settings`.
    pub ratio: SharedRatio,
}

impl SettingEffect<'_> {
    /// Faster, slower or a tie; `None` with a single round.
    pub fn significance(&self) -> Option<Significance> {
        self.ratio.significance()
    }
}

/// The effects on all measured trials under settings other than those found at the start, in the
/// order of the record.
pub fn setting_effects(record: &Record) -> Vec<SettingEffect<'_>> {
    effects_on_wanted(record, |_| true)
}

/// The effects on the trials that `is_wanted` accepts; it gets the trial under the settings that
/// were found.
pub(crate) fn effects_on_wanted<'a>(
    record: &'a Record,
    is_wanted: impl Fn(&TrialRecord) -> bool,
) -> Vec<SettingEffect<'a>> {
    let is_read = |it: &&TrialRecord| it.is_measured() && !it.trial.is_control();
    let measured: Vec<&TrialRecord> = record.trials.iter().filter(is_read).collect();
    let place =
        |it: &TrialRecord| record.target_of(&it.trial).map(|facts| (facts.exact_path(), facts.transport()));
    let condition_and_place = |it: &TrialRecord| (condition(it), place(it));
    // The estimate of the noise takes long, and trials of one place in the same condition share it.
    let mut noises = BTreeMap::new();
    let effect = |it: &'a TrialRecord| {
        let target = record.target_of(&it.trial).filter(|facts| !facts.has_initial_settings())?;
        let found =
            find_under_initial_settings(record, &measured, it, target).filter(|found| is_wanted(found))?;
        let found_target = record.target_of(&found.trial)?;
        // One of several devices may have had the raced value already at the start.
        if target.settings_words() == found_target.settings_words() {
            return None;
        }
        let own = condition_and_place(it);
        let noise = noises.entry(own.clone()).or_insert_with(|| {
            SharedNoise::from_trials(
                measured.iter().copied().filter(|other| condition_and_place(other) == own),
            )
        });
        let ratio = noise.ratio(it.trial.index, found.trial.index)?;
        Some(SettingEffect {
            trial: it,
            target,
            trial_with_initial_settings: found,
            target_with_initial_settings: found_target,
            ratio,
        })
    };
    measured.iter().copied().filter_map(effect).collect()
}

/// What trials must have in common to share their noise.
fn condition(it: &TrialRecord) -> (CacheState, Work, Option<Archive>) {
    (it.trial.state, it.trial.work, it.trial.decoded_format)
}

/// The same trial as one on this target, under the settings that were found.
fn find_under_initial_settings<'a>(
    record: &Record,
    measured: &[&'a TrialRecord],
    it: &TrialRecord,
    target: &TargetFacts,
) -> Option<&'a TrialRecord> {
    let is_same_place = |facts: &TargetFacts| {
        let place = |facts: &TargetFacts| (facts.exact_path(), facts.transport());
        facts.has_initial_settings() && place(facts) == place(target)
    };
    let is_found = |other: &&TrialRecord| {
        let (one, own) = (&other.trial, &it.trial);
        let is_same_way =
            (&one.id, &one.label, one.start_session) == (&own.id, &own.label, own.start_session);
        is_same_way && condition(other) == condition(it) && record.target_of(one).is_some_and(is_same_place)
    };
    measured.iter().copied().find(is_found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::median_wall_ns;
    use readlab_model::sample::Sample;
    use readlab_model::target::TargetIndex;
    use readlab_model::target::setting::SettingValue;
    use readlab_model::trial::TrialIndex;
    use readlab_protocol::Cache;
    use readlab_record::testing;

    /// A record of two methods, each under a read-ahead of 128 KiB, which was found, and of 4 MiB.
    /// Every round takes longer than the one before. The second method is slower under 4 MiB.
    fn record_under_two_values() -> Record {
        let mut record = Record::new(testing::header());
        for (index, (value, is_found)) in [("128KiB", true), ("4MiB", false)].into_iter().enumerate() {
            let (name, value) = ("read-ahead".to_owned(), value.to_owned());
            let settings = vec![SettingValue { name, value, is_initial: is_found, is_read_back: true }];
            let facts = TargetFacts { path: "/f".to_owned(), settings, ..TargetFacts::default() };
            record.add(testing::target_line(index, facts));
        }
        let trials = [("rust/a", 0, 300), ("rust/a", 1, 100), ("rust/b", 0, 100), ("rust/b", 1, 125)];
        for (name, target, factor) in trials {
            let reading =
                |round: u64| Sample { wall_ns: factor * (1_000 + 100 * round), ..Sample::default() };
            let (state, readings) = (CacheState::Cold, (0..6).map(reading));
            let added = testing::add_trial(&mut record, name, state, Cache::Through, readings);
            record.trials[TrialIndex::new(added)].trial.target = TargetIndex::new(target);
        }
        record
    }

    #[test]
    fn each_trial_is_compared_with_itself_under_the_found_settings() {
        let record = record_under_two_values();
        let effects = setting_effects(&record);
        let shown: Vec<(String, u64, Option<Significance>)> = effects
            .iter()
            .map(|it| {
                (
                    it.trial.trial.id.to_string(),
                    u64::from(it.trial_with_initial_settings.trial.index),
                    it.significance(),
                )
            })
            .collect();
        let (faster, slower) = (Some(Significance::Faster), Some(Significance::Slower));
        assert_eq!(shown, [("rust/a".to_owned(), 0, faster), ("rust/b".to_owned(), 2, slower)]);
        assert!((effects[0].ratio.estimate - 3.0).abs() < 1e-9);
        assert!((effects[1].ratio.estimate - 0.8).abs() < 1e-9);
        assert_eq!(effects[0].target.settings_words().unwrap(), "read-ahead=4MiB");
        assert_eq!(median_wall_ns(effects[0].trial), Some(125_000.0));
    }

    #[test]
    fn without_settings_there_are_no_effects() {
        let mut record = record_under_two_values();
        record.targets.iter_mut().for_each(|facts| facts.settings.clear());
        assert!(setting_effects(&record).is_empty());
    }
}
