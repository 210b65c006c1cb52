//! The candidates of a search: every setting of the methods that are searched, each with the
//! fastest scan that its contender offers here; and where a method needs nothing beyond its
//! language, with the fastest scan that needs nothing either.

use crate::experiment::planner::{PlanError, no_match, scans_for};
use globset::Glob;
use readlab_catalog::language::LanguageChoice;
use readlab_catalog::snippet::is_easy;
use readlab_model::trial::{MethodId, Params, SplitName, Transport, TrialId, Work};
use readlab_protocol::{Cache, MethodLine};
use readlab_roster::discovery::Contenders;
use readlab_suite::parameter_space::Space;
use std::collections::BTreeSet;

/// The contenders whose methods are searched when none is named.
const USUAL: [&str; 2] = ["rust", "rust-objects"];

/// Where candidates are searched.
#[derive(Clone, Copy)]
pub struct Candidates<'a> {
    pub contenders: &'a Contenders,
    pub space: &'a Space,
    pub languages: &'a LanguageChoice,
    pub work: Work,
    pub over: Transport,
}

impl Candidates<'_> {
    /// Every candidate among the methods and scans that one of the globs matches; without globs,
    /// among the methods that have settings, of the languages that were asked for, else of the Rust
    /// contender. Settings behind an `@` are kept
    /// as they are.
    pub fn find(self, globs: &[String]) -> Result<Vec<TrialId>, PlanError> {
        let mut found = CandidateSet::new(self.space);
        if globs.is_empty() {
            self.usual(&mut found);
        }
        for glob in globs {
            let before = found.ids.len();
            self.matching(glob, &mut found)?;
            if found.ids.len() == before {
                return Err(no_match(self.contenders, glob, self.languages, self.work));
            }
        }
        let is_set = |name: &&str| found.set.contains(Params::short(name));
        match self.space.names_given().find(|name| !is_set(name)) {
            Some(name) => Err(PlanError::NothingToSet(name.to_owned())),
            None => Ok(found.ids),
        }
    }

    /// Adds the methods that are searched when none is named.
    fn usual(self, found: &mut CandidateSet) {
        let is_asked = |contender: &str| match self.languages.names() {
            [] => USUAL.contains(&contender),
            _ => self.languages.admits(contender),
        };
        let of_usual = self.offered().filter(|(contender, _)| is_asked(contender));
        for (contender, method) in of_usual.filter(|(_, method)| self.space.tunes(method)) {
            for id in scans(contender, method, self.work) {
                found.add(&id, method);
            }
        }
    }

    fn matching(self, glob: &str, found: &mut CandidateSet) -> Result<(), PlanError> {
        let SplitName { path, params: kept } = SplitName::parse(glob)?;
        let matcher = Glob::new(path)?.compile_matcher();
        let asked = self.offered().filter(|(contender, _)| self.languages.admits(contender));
        for (contender, method) in asked {
            let ids = if matcher.is_match(format!("{contender}/{}", method.method)) {
                scans(contender, method, self.work)
            } else {
                let mut ids = scans_for(contender, method, self.work);
                ids.retain(|id| matcher.is_match(id.to_string()));
                ids
            };
            for id in ids {
                found.add_keeping(&id, method, &kept)?;
            }
        }
        Ok(())
    }
}

impl<'a> Candidates<'a> {
    /// Every method that reads what there is, with its contender's name.
    fn offered(self) -> impl Iterator<Item = (&'a str, &'a MethodLine)> {
        self.contenders.present().iter().flat_map(move |contender| {
            // What is searched is how bytes are read, not what comes out of an archive.
            let reads_bytes = move |line: &&MethodLine| {
                line.cache != Cache::None && line.decodes.is_empty() && self.over.suits(line)
            };
            let methods = contender.methods.iter().filter(reads_bytes).filter(|line| line.method != "*");
            methods.map(|method| (contender.receipt.contender.as_str(), method))
        })
    }
}

/// Candidates in the order in which they were found, each once.
struct CandidateSet<'a> {
    space: &'a Space,
    ids: Vec<TrialId>,
    seen: BTreeSet<TrialId>,
    /// The short names of what is set.
    set: BTreeSet<String>,
}

impl CandidateSet<'_> {
    fn new(space: &Space) -> CandidateSet<'_> {
        CandidateSet { space, ids: Vec::new(), seen: BTreeSet::new(), set: BTreeSet::new() }
    }

    fn add(&mut self, method: &MethodId, line: &MethodLine) {
        self.set.extend(self.space.set_of(line).map(str::to_owned));
        // One that cannot work here is reported once, and not for each of its settings.
        let is_available = line.unavailable.is_none();
        let settings = if is_available { self.space.settings(line) } else { vec![Params::default()] };
        self.extend(method, settings);
    }

    fn add_keeping(&mut self, method: &MethodId, line: &MethodLine, kept: &Params) -> Result<(), PlanError> {
        if kept.0.is_empty() {
            self.add(method, line);
            return Ok(());
        }
        let kept = kept.resolve(line)?;
        self.set.extend(self.space.set_of(line).map(str::to_owned));
        let mut settings = self.space.settings(line);
        settings.iter_mut().for_each(|setting| setting.0.extend(kept.0.clone()));
        self.extend(method, settings);
        Ok(())
    }

    fn extend(&mut self, method: &MethodId, settings: Vec<Params>) {
        for params in settings {
            let id = TrialId::new(method.clone(), &params);
            if self.seen.insert(id.clone()) {
                self.ids.push(id);
            }
        }
    }
}

/// The method with its best scan; and if it is easy to have but not with that one, with the best
/// that is.
fn scans(contender: &str, method: &MethodLine, work: Work) -> Vec<MethodId> {
    let all = scans_for(contender, method, work);
    let best = all.first().cloned();
    let easy = all.into_iter().find(is_easy);
    let mut chosen: Vec<MethodId> = best.into_iter().chain(easy).collect();
    chosen.dedup();
    chosen
}
