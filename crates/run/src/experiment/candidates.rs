//! The candidates of a search: every setting of the searched methods, each with the fastest scan
//! that its contender offers here. If that scan needs more than the language's standard library,
//! the fastest scan that needs no more is a candidate, too.

use crate::experiment::planner::{PlanError, ReadableTarget, no_match_error, scans_for};
use globset::Glob;
use readlab_catalog::language::LanguageChoice;
use readlab_catalog::snippet::needs_only_language;
use readlab_model::trial::{MethodId, Params, SplitName, Transport, TrialId, Work};
use readlab_protocol::{Cache, MethodLine};
use readlab_roster::discovery::Contenders;
use readlab_suite::parameter_space::ParameterSpace;
use std::collections::{BTreeMap, BTreeSet};

/// The contenders whose methods are searched if none is named.
const DEFAULT_CONTENDERS: [&str; 2] = ["rust", "rust-objects"];

/// Everything by which candidates are chosen: the contenders, the parameter space, the languages,
/// and the target with its transport.
#[derive(Clone, Copy)]
pub struct CandidateSearch<'a> {
    pub contenders: &'a Contenders,
    pub space: &'a ParameterSpace,
    pub languages: &'a LanguageChoice,
    pub readable: &'a ReadableTarget,
    pub over: Transport,
}

impl CandidateSearch<'_> {
    /// The candidates among the methods and scans that match one of the globs. Without globs: among
    /// the methods with settings that belong to the selected languages, or to the default
    /// contenders if no language is selected. Settings after an `@` in a glob stay fixed.
    pub fn find(self, globs: &[String]) -> Result<Vec<TrialId>, PlanError> {
        let mut found = CandidateSet::new(self.space);
        if globs.is_empty() {
            self.add_default_methods(&mut found)?;
        }
        for glob in globs {
            let before = found.ids.len();
            self.add_matching_methods(glob, &mut found)?;
            if found.ids.len() == before {
                return Err(no_match_error(self.contenders, glob, self.languages, self.readable.work));
            }
        }
        let is_set = |(name, value): &(&str, u64)| {
            found.searched_values.contains(&(Params::short_name(name).to_owned(), *value))
        };
        match self.space.user_named_values().find(|named| !is_set(named)) {
            Some((name, value)) => {
                Err(PlanError::NothingToSet(Params(BTreeMap::from([(name.to_owned(), value)]))))
            }
            None => Ok(found.ids),
        }
    }

    /// Adds the methods that are searched if none is named.
    fn add_default_methods(self, found: &mut CandidateSet) -> Result<(), PlanError> {
        let is_asked = |contender: &str| match self.languages.names() {
            [] => DEFAULT_CONTENDERS.contains(&contender),
            _ => self.languages.admits(contender),
        };
        let of_usual = self.offered_methods().filter(|(contender, _)| is_asked(contender));
        for (contender, method) in of_usual.filter(|(_, method)| self.space.sets_any_of(method)) {
            for id in best_scans(contender, method, self.readable.work) {
                found.add(&id, method, &Params::default())?;
            }
        }
        Ok(())
    }

    fn add_matching_methods(self, glob: &str, found: &mut CandidateSet) -> Result<(), PlanError> {
        let SplitName { path, params: kept } = SplitName::parse(glob)?;
        let matcher = Glob::new(path)?.compile_matcher();
        let asked = self.offered_methods().filter(|(contender, _)| self.languages.admits(contender));
        for (contender, method) in asked {
            let ids = if matcher.is_match(format!("{contender}/{}", method.method)) {
                best_scans(contender, method, self.readable.work)
            } else {
                let mut ids = scans_for(contender, method, self.readable.work);
                ids.retain(|id| matcher.is_match(id.to_string()));
                ids
            };
            for id in ids {
                found.add(&id, method, &kept)?;
            }
        }
        Ok(())
    }
}

impl<'a> CandidateSearch<'a> {
    /// Every method that can read the target, with its contender's name.
    fn offered_methods(self) -> impl Iterator<Item = (&'a str, &'a MethodLine)> {
        self.contenders.present().iter().flat_map(move |contender| {
            // A search compares methods of reading bytes, not of decoding archives.
            let reads_bytes = move |line: &&MethodLine| {
                line.cache != Cache::None
                    && line.decodes.is_empty()
                    && self.over.suits(line)
                    && (line.parts || !self.readable.is_part)
                    && line.ranges == self.readable.has_only_ranges_read
            };
            let methods = contender.methods.iter().filter(reads_bytes).filter(|line| line.method != "*");
            methods.map(|method| (contender.receipt.contender.as_str(), method))
        })
    }
}

/// Candidates in the order in which they were found, without duplicates.
struct CandidateSet<'a> {
    space: &'a ParameterSpace,
    ids: Vec<TrialId>,
    seen_ids: BTreeSet<TrialId>,
    /// The values that the space sets in some method, each with the short name of its parameter.
    searched_values: BTreeSet<(String, u64)>,
}

impl CandidateSet<'_> {
    fn new(space: &ParameterSpace) -> CandidateSet<'_> {
        CandidateSet { space, ids: Vec::new(), seen_ids: BTreeSet::new(), searched_values: BTreeSet::new() }
    }

    /// Adds a method with each of its settings in the space. The settings `kept` stay fixed.
    fn add(&mut self, method: &MethodId, line: &MethodLine, kept: &Params) -> Result<(), PlanError> {
        let kept = kept.resolve(line)?;
        let settable = self.space.settable_values(line);
        self.searched_values.extend(settable.map(|(name, value)| (name.to_owned(), value)));
        // A method that is unavailable here is reported once, and not for each of its settings.
        let is_listed_once = line.unavailable.is_some() && kept.0.is_empty();
        let settings = if is_listed_once { vec![Params::default()] } else { self.space.settings(line) };
        for mut params in settings {
            params.0.extend(kept.0.clone());
            let id = TrialId::new(method.clone(), &params);
            if self.seen_ids.insert(id.clone()) {
                self.ids.push(id);
            }
        }
        Ok(())
    }
}

/// The method with its best scan. If that scan needs more than the language, also with the best
/// scan that needs no more.
fn best_scans(contender: &str, method: &MethodLine, work: Work) -> Vec<MethodId> {
    let all = scans_for(contender, method, work);
    let best = all.first().cloned();
    let easy = all.into_iter().find(needs_only_language);
    let mut chosen: Vec<MethodId> = best.into_iter().chain(easy).collect();
    chosen.dedup();
    chosen
}
