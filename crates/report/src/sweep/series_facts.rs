//! Facts about a series of reads besides its times: the caches that still hold cold files, the
//! proofs of its samples, and what its contender did beyond reading. Series of writes have no such
//! facts.

use crate::ranking::StateProof;
use crate::words;
use readlab_catalog::language::Languages;
use readlab_model::target::{TargetFacts, layers};
use readlab_model::trial::{CacheState, Transport};
use readlab_model::units::Bytes;
use readlab_record::{Record, SideEffects, TrialRecord};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct SeriesFacts {
    /// The language of the contender; empty for writes.
    #[serde(skip)]
    pub language: String,
    /// The caches that still hold the files when they are cold, by name; `None` if no lower cache
    /// is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cold_above: Option<String>,
    /// What was proven about the files; `None` for writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<StateProof>,
    /// What the contender did beyond reading.
    #[serde(skip_serializing_if = "SideEffects::is_empty")]
    #[serde(rename = "conduct")]
    pub side_effects: SideEffects,
}

impl SeriesFacts {
    /// The facts of each series, by the name of its method.
    pub(super) fn all(record: &Record) -> BTreeMap<String, SeriesFacts> {
        let languages = Languages::of_record(record);
        let mut named: BTreeMap<String, Vec<&TrialRecord>> = BTreeMap::new();
        for it in record.trials.iter() {
            named.entry(it.trial.id.to_string()).or_default().push(it);
        }
        let known = |(name, trials): (String, Vec<&TrialRecord>)| {
            (name, SeriesFacts::from_trials(record, &trials, &languages))
        };
        named.into_iter().map(known).collect()
    }

    fn from_trials(record: &Record, trials: &[&TrialRecord], languages: &Languages) -> SeriesFacts {
        let facts = |it: &TrialRecord| record.target_of(&it.trial);
        let measured = || trials.iter().copied().filter(|it| it.is_measured());
        let cold = measured().filter(|it| it.trial.state == CacheState::Cold);
        let sized = measured().map(|it| (it, facts(it).map(|facts| Bytes(facts.size_bytes))));
        let mut conduct = SideEffects::default();
        trials.iter().for_each(|it| conduct.add(&it.conduct));
        let language = trials.first().map_or("", |it| languages.language_of(it.trial.contender())).to_owned();
        SeriesFacts {
            language,
            cold_above: first_and_count_of_others(cold.filter_map(|it| facts(it)?.unevictable_cache_names())),
            proof: Some(StateProof::from_trials(sized)),
            side_effects: conduct,
        }
    }

    pub fn proof_line(&self) -> Option<String> {
        Some(format!("proof: {}", self.proof.as_ref()?.words(Transport::File)))
    }
}

/// Facts about the layers below the files of a sweep, all of which are in one folder: the meaning
/// of cold, the chain of layers, and whether hidden caches were probed.
pub(super) fn layer_lines(record: &Record) -> Vec<String> {
    let is_cold = record.trials.iter().any(|it| it.is_measured() && it.trial.state == CacheState::Cold);
    let targets = || record.targets.iter().filter(|_| is_cold);
    let above = first_and_count_of_others(targets().filter_map(TargetFacts::unevictable_cache_names));
    let chain = first_and_count_of_others(targets().filter_map(|facts| layers::words(&facts.layers)));
    let not_probed = targets().filter_map(|facts| facts.hidden_cache.as_ref()?.not_probed_sentence());
    let above = above.map(|cache| format!("cold above: {cache}"));
    let chain = chain.map(|chain| format!("layers: {chain}"));
    above.into_iter().chain(chain).chain(not_probed).collect()
}

/// The first fact, with the number of other facts; `None` without facts. Several facts occur on an
/// overlay, where each file may have its own layers.
fn first_and_count_of_others(said: impl Iterator<Item = String>) -> Option<String> {
    let all: BTreeSet<String> = said.collect();
    let first = all.first()?;
    let more = all.len() - 1;
    Some(if more == 0 { first.clone() } else { format!("{first} (and {})", words::plural(more, "other")) })
}

/// What contenders did beyond reading: a line for each side effect, with the mark of its series.
pub(super) fn side_effect_lines(known: &BTreeMap<String, SeriesFacts>) -> Vec<String> {
    let facts = |(name, known): (&String, &SeriesFacts)| {
        let said = known.side_effects.words();
        said.into_iter().map(|what| format!("{name}{}: {what}", words::CONDUCT_MARK)).collect::<Vec<_>>()
    };
    known.iter().flat_map(facts).collect()
}
