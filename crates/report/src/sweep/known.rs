//! Facts about a series of readings beside its times, none about writes: the caches above which its
//! files were cold, the proofs of its samples, and what its contender did beside reading.

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
pub struct Known {
    /// The language of its contender; empty for writes.
    #[serde(skip)]
    pub language: String,
    /// The caches that stay when its files are made cold, by name; `None` where none is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cold_above: Option<String>,
    /// What was proven about its files; `None` for writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<StateProof>,
    /// What its contender did beside reading.
    #[serde(skip_serializing_if = "SideEffects::is_plain")]
    pub conduct: SideEffects,
}

impl Known {
    /// By the names of methods.
    pub(super) fn all(record: &Record) -> BTreeMap<String, Known> {
        let languages = Languages::of_record(record);
        let mut named: BTreeMap<String, Vec<&TrialRecord>> = BTreeMap::new();
        for it in record.trials.iter() {
            named.entry(it.trial.id.to_string()).or_default().push(it);
        }
        let known = |(name, trials): (String, Vec<&TrialRecord>)| {
            (name, Known::from_trials(record, &trials, &languages))
        };
        named.into_iter().map(known).collect()
    }

    fn from_trials(record: &Record, trials: &[&TrialRecord], languages: &Languages) -> Known {
        let facts = |it: &TrialRecord| record.targets.get(it.trial.target);
        let measured = || trials.iter().copied().filter(|it| it.is_measured());
        let cold = measured().filter(|it| it.trial.state == CacheState::Cold);
        let sized = measured().map(|it| (it, facts(it).map(|facts| Bytes(facts.size_bytes))));
        let mut conduct = SideEffects::default();
        trials.iter().for_each(|it| conduct.add(&it.conduct));
        let language = trials.first().map_or("", |it| languages.language_of(it.trial.contender())).to_owned();
        Known {
            language,
            cold_above: one_of(cold.filter_map(|it| facts(it)?.cold_above())),
            proof: Some(StateProof::from_trials(sized)),
            conduct,
        }
    }

    pub fn proof_line(&self) -> Option<String> {
        Some(format!("proof: {}", self.proof.as_ref()?.words(Transport::File)))
    }
}

/// Facts about the layers below the files, which are in one folder: the meaning of cold, the chain
/// of layers, and whether hidden caches were probed.
pub(super) fn below(record: &Record) -> Vec<String> {
    let is_cold = record.trials.iter().any(|it| it.is_measured() && it.trial.state == CacheState::Cold);
    let targets = || record.targets.iter().filter(|_| is_cold);
    let above = one_of(targets().filter_map(TargetFacts::cold_above));
    let chain = one_of(targets().filter_map(|facts| layers::words(&facts.layers)));
    let not_probed = targets().filter_map(|facts| facts.hidden_cache.as_ref()?.not_probed());
    let above = above.map(|cache| format!("cold above: {cache}"));
    let chain = chain.map(|chain| format!("layers: {chain}"));
    above.into_iter().chain(chain).chain(not_probed).collect()
}

/// The first fact, with the number of the others: each file of an overlay has its own layers.
fn one_of(said: impl Iterator<Item = String>) -> Option<String> {
    let all: BTreeSet<String> = said.collect();
    let first = all.first()?;
    let more = all.len() - 1;
    Some(if more == 0 { first.clone() } else { format!("{first} (and {})", words::plural(more, "other")) })
}

/// What contenders did beside reading, behind the mark that their series have.
pub(super) fn conducts(known: &BTreeMap<String, Known>) -> Vec<String> {
    let facts = |(name, known): (&String, &Known)| {
        let said = known.conduct.words();
        said.into_iter().map(|what| format!("{name}{}: {what}", words::CONDUCT_MARK)).collect::<Vec<_>>()
    };
    known.iter().flat_map(facts).collect()
}
