//! Resolves names: the methods that a `--method` option matches, the trials that the user named,
//! and the reference. The reference is found among the trials of a plan or else added to them; if
//! neither works, it is an error that lists the nearest names.

use super::{PlanError, PlanOption, Planner, TrialSpec, methods_with_scans};
use globset::{Glob, GlobSet, GlobSetBuilder};
use readlab_catalog::language::Languages;
use readlab_catalog::roster::Roster;
use readlab_measure::plan::Plan;
use readlab_model::trial::{COMMAND, CacheState, MethodId, NearestNames, Params, SplitName, TrialId};
use readlab_record::RequestedName;
use readlab_roster::methods::ResolveError;
use std::collections::BTreeSet;

/// The reference as the plan names it, with the planned scan and settings.
pub(in crate::experiment) fn planned_reference(reference: &TrialId, plan: &Plan) -> TrialId {
    let ids = || plan.trials.iter().map(|planned| &planned.trial.id);
    let exact = ids().find(|id| *id == reference);
    let meant = exact.or_else(|| ids().find(|id| name_matches(reference, id)));
    let found = meant.or_else(|| ids().find(|id| id.method == reference.method));
    found.unwrap_or(reference).clone()
}

/// Whether a name means this trial. The name may lack the scan or some of the settings.
pub(super) fn name_matches(name: &TrialId, id: &TrialId) -> bool {
    let (named, method) = (&name.method, &id.method);
    (&named.contender, &named.method) == (&method.contender, &method.method)
        && (named.scan.is_none() || named.scan == method.scan)
        && name.params.0.iter().all(|(key, value)| id.params.0.get(key) == Some(value))
}

impl Planner<'_> {
    /// Adds a trial of the reference that the user named, unless the plan has one. The trial may be
    /// absent for a reason. If no contender offers the method, the option has no effect. A command
    /// is never added, because a misspelled one would be run.
    pub(super) fn add_reference(&mut self, state: CacheState) -> Result<(), PlanError> {
        let Some(reference) = &self.selection.reference else { return Ok(()) };
        let measured = self.plan.trials.iter().map(|planned| &planned.trial);
        let mut planned = measured.chain(self.plan.absent_trials.iter().map(|(trial, _)| trial));
        let is_there = planned.any(|trial| trial.state == state && name_matches(reference, &trial.id));
        let is_absent = self.contenders.absent().contains_key(&reference.method.contender);
        if is_there || is_absent {
            return Ok(());
        }
        let is_command = reference.method.contender == COMMAND;
        let method = self.contenders.method(&reference.method).filter(|_| !is_command);
        let form = method.and_then(|method| self.selection.forms_of(method).into_iter().next());
        let Some((form, _)) = form else {
            let why = self.no_reference_error(reference);
            self.options_without_effect.add(PlanOption::Reference, why);
            return Ok(());
        };
        let spec = TrialSpec::new(reference.clone(), form);
        let work = self.selection.work(form);
        match self.resolve(&spec, work, self.selection.readable.get(&form)) {
            Err(
                ResolveError::UnknownMethod { .. }
                | ResolveError::NoScan { .. }
                | ResolveError::NoScanChoice { .. }
                | ResolveError::NoContender(_),
            ) => {
                let why = self.no_reference_error(reference);
                self.options_without_effect.add(PlanOption::Reference, why);
            }
            Err(ResolveError::Params(error)) => return Err(error.into()),
            Err(ResolveError::NoWork { .. } | ResolveError::Unavailable(_)) | Ok(_) => {}
        }
        self.add_trial(&spec, state);
        Ok(())
    }

    /// The error for a reference that no trial is called by, with the nearest names. If the
    /// reference has no scan, names are compared without their scans.
    fn no_reference_error(&self, reference: &TrialId) -> PlanError {
        let has_command = self.plan.trials.iter().any(|planned| planned.trial.contender() == COMMAND);
        if reference.method.contender == COMMAND && !has_command {
            return PlanError::NoCommand(reference.clone(), reference.method.method.clone());
        }
        let planned = self.plan.trials.iter().map(|planned| planned.trial.id.method.clone());
        let offered = methods_with_scans(self.contenders, self.selection).into_iter().map(|it| it.id);
        let read = planned.chain(offered).filter(|id| !self.contenders.is_control(id));
        let named =
            |id: MethodId| MethodId { scan: id.scan.filter(|_| reference.method.scan.is_some()), ..id };
        let nearest = NearestNames::find(&reference.method.to_string(), read.map(|id| named(id).to_string()));
        PlanError::NoReference { name: reference.to_string(), nearest }
    }
}

/// Marks, for each thing that the user named, the first trial of a plan on each target in each
/// state.
pub(in crate::experiment) fn mark_first_named(plan: &mut Plan, named: &[RequestedName]) {
    let of_trials = plan.trials.iter().map(|it| (it.trial.state, it.trial.target));
    for condition in of_trials.collect::<BTreeSet<_>>() {
        for name in named {
            let mut here = plan.trials.iter_mut().filter(|it| (it.trial.state, it.trial.target) == condition);
            let first = here.find(|it| !it.trial.is_control() && request_means_trial(&it.trial.id, name));
            first.into_iter().for_each(|it| it.is_first_named = true);
        }
    }
}

/// Whether something that the user requested means a trial, possibly beside other trials.
fn request_means_trial(id: &TrialId, name: &RequestedName) -> bool {
    let is_it = |name: &str| TrialId::parse_written(name).is_ok_and(|name| name_matches(&name, id));
    match name {
        RequestedName::Command(words) => is_it(&format!("{COMMAND}/{words}")),
        RequestedName::Method(glob) if id.method.contender != COMMAND => {
            MethodPattern::parse(glob).is_ok_and(|pattern| pattern.matches_trial(id))
        }
        RequestedName::Method(name) | RequestedName::Reference(name) | RequestedName::Trial(name) => {
            is_it(name)
        }
        RequestedName::Contender(name) => id.method.contender == *name,
        RequestedName::Language(name) => {
            Languages::of_roster(&Roster::built_in()).language_of(&id.method.contender) == name
        }
    }
}

/// A name or a glob with its settings.
#[derive(Debug, Clone)]
pub struct MethodPattern {
    globs: GlobSet,
    pub(super) params: Params,
    /// Whether the pattern is a name, without any character of a glob.
    pub(super) is_name: bool,
}

impl MethodPattern {
    pub fn parse(text: &str) -> Result<MethodPattern, PlanError> {
        let SplitName { path: pattern, params } = SplitName::parse(text)?;
        // The pattern itself and, if it names a method without a scan, every scan of the method.
        let mut set = GlobSetBuilder::new();
        set.add(Glob::new(pattern)?);
        set.add(Glob::new(&format!("{pattern}/*"))?);
        let is_name = !pattern.contains(['*', '?', '[', '{']);
        Ok(MethodPattern { globs: set.build()?, params, is_name })
    }

    pub fn matches(&self, id: &MethodId) -> bool {
        self.globs.is_match(id.to_string())
    }

    pub fn matches_trial(&self, id: &TrialId) -> bool {
        let has = |(key, value): (&String, &u64)| {
            id.params
                .0
                .iter()
                .any(|(name, own)| Params::short_name(name) == Params::short_name(key) && own == value)
        };
        self.matches(&id.method) && self.params.0.iter().all(has)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_means_all_trials_with_its_scan_and_its_settings() {
        let name_matches = |name: &str, id: &str| name_matches(&name.parse().unwrap(), &id.parse().unwrap());
        assert!(name_matches("rust/read", "rust/read/avx2@buffer=64KiB"));
        assert!(name_matches("rust/read@buffer=64KiB", "rust/read/avx2@buffer=64KiB,threads=2"));
        assert!(!name_matches("rust/read@buffer=1MiB", "rust/read/avx2@buffer=64KiB"));
        assert!(!name_matches("rust/read/memchr", "rust/read/avx2") && !name_matches("rust/read", "c/read"));
    }

    #[test]
    fn a_trial_is_named_by_its_command_its_method_or_its_language() {
        let is_it = |id: &str, name: RequestedName| request_means_trial(&id.parse().unwrap(), &name);
        let text = str::to_owned;
        assert!(is_it("rust/mmap/avx2", RequestedName::Method(text("rust/mmap/*"))));
        assert!(is_it("rust/mmap/avx2", RequestedName::Method(text("rust/mmap"))));
        assert!(!is_it("c/mmap", RequestedName::Method(text("rust/mmap"))));
        assert!(is_it("command/wc -l", RequestedName::Command(text("wc -l {}"))));
        assert!(!is_it("command/wc -c", RequestedName::Command(text("wc -l {}"))));
        assert!(is_it("python/read", RequestedName::Language(text("Python"))));
        assert!(is_it("mine/read", RequestedName::Contender(text("mine"))));
    }

    #[test]
    fn a_name_matches_its_scans_and_settings_must_agree_in_any_unit() {
        for (pattern, trial, is_match) in [
            ("rust/mmap", "rust/mmap/avx2@threads=2", true),
            ("rust/mmap@threads=2", "rust/mmap/avx2@threads=2,populate=1", true),
            ("rust/mmap@threads=4", "rust/mmap/avx2@threads=2", false),
            ("rust/{read,mmap}/*", "rust/read/scalar", true),
            ("rust/read", "rust/readv/scalar", false),
            ("rust/read@buffer=64KiB", "rust/read/scalar@buffer_bytes=65536", true),
        ] {
            let found = MethodPattern::parse(pattern).unwrap().matches_trial(&trial.parse().unwrap());
            assert_eq!(found, is_match, "{pattern} {trial}");
        }
    }
}
