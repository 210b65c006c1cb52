//! The trials of a search: every setting of the methods that are asked for, each with the way of
//! visiting bytes that is best here, and where a method can be had without more than the language
//! itself, with the best that needs no more either.

use crate::contender::discovery::Contenders;
use crate::contender::snippet::is_easy;
use crate::experiment::planner::{PlanError, no_match};
use crate::suite::parameter_space::Space;
use crate::trial::{MethodId, Params, SplitName, TrialId, Work};
use globset::Glob;
use readlab_protocol::{Cache, MethodLine};
use std::collections::BTreeSet;

/// The contender whose methods are searched when none is named.
const USUAL: &str = "rust";

/// Every candidate: of the methods and scans that one of the globs matches, or without any, of what
/// the Rust contender has to set. Settings behind an `@` are kept as they are.
///
/// # Errors
/// If a glob is misspelled or matches nothing.
pub fn candidates(
    contenders: &Contenders,
    globs: &[String],
    (space, work): (&Space, Work),
) -> Result<Vec<TrialId>, PlanError> {
    let mut found = CandidateSet { ids: Vec::new(), seen: BTreeSet::new(), set: BTreeSet::new() };
    if globs.is_empty() {
        for (contender, method) in offered(contenders).filter(|(contender, _)| *contender == USUAL) {
            if space.tunes(method) {
                scans(contender, method, work).into_iter().for_each(|id| found.add(id, method, space));
            }
        }
    }
    for glob in globs {
        let before = found.ids.len();
        let SplitName { path, params: kept } = SplitName::parse(glob)?;
        let matcher = Glob::new(path)?.compile_matcher();
        for (contender, method) in offered(contenders) {
            let ids = if matcher.is_match(format!("{contender}/{}", method.method)) {
                scans(contender, method, work)
            } else {
                let mut ids = every_scan(contender, method, work);
                ids.retain(|id| matcher.is_match(id.to_string()));
                ids
            };
            ids.into_iter().try_for_each(|id| found.add_keeping(id, method, (space, &kept)))?;
        }
        if found.ids.len() == before {
            return Err(no_match(contenders, glob));
        }
    }
    let is_set = |name: &&str| found.set.contains(Params::short(name));
    match space.asked_for().find(|name| !is_set(name)) {
        Some(name) => Err(PlanError::NothingToSet(name.to_owned())),
        None => Ok(found.ids),
    }
}

/// Candidates in the order in which they were found, each once.
struct CandidateSet {
    ids: Vec<TrialId>,
    seen: BTreeSet<TrialId>,
    /// The short names of what is set.
    set: BTreeSet<String>,
}

impl CandidateSet {
    fn add(&mut self, method: MethodId, line: &MethodLine, space: &Space) {
        self.set.extend(space.set_of(line).map(str::to_owned));
        // One that cannot work here is told once, and not for each of its settings.
        let settings =
            if line.unavailable.is_some() { vec![Params::default()] } else { space.settings(line) };
        self.extend(&method, settings);
    }

    fn add_keeping(
        &mut self,
        method: MethodId,
        line: &MethodLine,
        (space, kept): (&Space, &Params),
    ) -> Result<(), PlanError> {
        if kept.0.is_empty() {
            self.add(method, line, space);
            return Ok(());
        }
        let kept = kept.resolve(line)?;
        self.set.extend(space.set_of(line).map(str::to_owned));
        let mut settings = space.settings(line);
        settings.iter_mut().for_each(|setting| setting.0.extend(kept.0.clone()));
        self.extend(&method, settings);
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

/// Every method that reads, with its contender's name.
fn offered(contenders: &Contenders) -> impl Iterator<Item = (&str, &MethodLine)> {
    contenders.present().iter().flat_map(|contender| {
        // What is searched is how the bytes of a file are read, not what comes out of an archive.
        let reads_bytes = |line: &&MethodLine| line.cache != Cache::None && line.decodes.is_empty();
        let methods = contender.methods.iter().filter(reads_bytes).filter(|line| line.method != "*");
        methods.map(|method| (contender.receipt.contender.as_str(), method))
    })
}

/// The method with its best scan; and if it is easy to have but not with that one, with the best
/// that is.
fn scans(contender: &str, method: &MethodLine, work: Work) -> Vec<MethodId> {
    let all = every_scan(contender, method, work);
    let best = all.first().cloned();
    let easy = all.into_iter().find(is_easy);
    let mut chosen: Vec<MethodId> = best.into_iter().chain(easy).collect();
    chosen.dedup();
    chosen
}

fn every_scan(contender: &str, method: &MethodLine, work: Work) -> Vec<MethodId> {
    let scans = method.scans.get(work.word()).into_iter().flatten();
    let id = |scan: &String| MethodId {
        contender: contender.to_owned(),
        method: method.method.clone(),
        scan: (scan != "-").then(|| scan.clone()),
    };
    scans.map(id).collect()
}
