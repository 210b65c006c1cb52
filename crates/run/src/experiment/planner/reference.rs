//! The reference that the user named: found among the trials of a plan, else added to them, else an
//! error with the names that are nearest.

use super::{PlanError, Planner, TargetForm, TrialSpec, every_id};
use readlab_measure::plan::Plan;
use readlab_model::trial::{COMMAND, CacheState, MethodId, NearestNames, TrialId};
use readlab_roster::methods::ResolveError;

/// The reference as the plan names it: with the scan and the settings that were decided.
pub(in crate::experiment) fn as_planned(reference: &TrialId, plan: &Plan) -> TrialId {
    let ids = || plan.trials.iter().map(|planned| &planned.trial.id);
    let exact = ids().find(|id| *id == reference);
    let meant = exact.or_else(|| ids().find(|id| is_meant(reference, id)));
    let found = meant.or_else(|| ids().find(|id| id.method == reference.method));
    found.unwrap_or(reference).clone()
}

/// Whether a name without its scan or some of its settings means this trial.
pub(super) fn is_meant(name: &TrialId, id: &TrialId) -> bool {
    let (named, method) = (&name.method, &id.method);
    (&named.contender, &named.method) == (&method.contender, &method.method)
        && (named.scan.is_none() || named.scan == method.scan)
        && name.params.0.iter().all(|(key, value)| id.params.0.get(key) == Some(value))
}

impl Planner<'_> {
    /// Adds the reference that the user named, unless the plan has it. A command is not added: a
    /// misspelled one would be run.
    pub(super) fn add_reference(&mut self, state: CacheState) -> Result<(), PlanError> {
        let Some(reference) = &self.selection.reference else { return Ok(()) };
        let measured = self.plan.trials.iter().map(|planned| &planned.trial);
        let mut planned = measured.chain(self.plan.absent.iter().map(|(trial, _)| trial));
        let is_there = planned.any(|trial| trial.state == state && is_meant(reference, &trial.id));
        let is_absent = self.contenders.absent().contains_key(&reference.method.contender);
        if is_there || is_absent {
            return Ok(());
        }
        let forms: Vec<TargetForm> = match self.contenders.method(&reference.method) {
            Some(method) => self.selection.forms_of(method).into_iter().map(|(form, _)| form).collect(),
            None => Vec::new(),
        };
        let (Some(&form), false) = (forms.first(), reference.method.contender == COMMAND) else {
            return Err(self.no_reference(reference));
        };
        let spec = TrialSpec::new(reference.clone(), form);
        let work = self.selection.work(form);
        match self.resolve(&spec, work, self.selection.readable.get(&form)) {
            Err(
                ResolveError::Unknown { .. }
                | ResolveError::NoScan { .. }
                | ResolveError::NoChoice { .. }
                | ResolveError::NoContender(_),
            ) => Err(self.no_reference(reference)),
            Err(ResolveError::Params(error)) => Err(error.into()),
            Err(ResolveError::NoWork { .. } | ResolveError::Unavailable(_)) | Ok(_) => {
                self.add(&spec, state);
                Ok(())
            }
        }
    }

    /// The error that nothing is called like this. A name without a scan is compared with names
    /// without theirs.
    fn no_reference(&self, reference: &TrialId) -> PlanError {
        let has_command = self.plan.trials.iter().any(|planned| planned.trial.contender() == COMMAND);
        if reference.method.contender == COMMAND && !has_command {
            return PlanError::NoCommand(reference.clone(), reference.method.method.clone());
        }
        let planned = self.plan.trials.iter().map(|planned| planned.trial.id.method.clone());
        let offered = every_id(self.contenders, self.selection).into_iter().map(|it| it.id);
        let read = planned.chain(offered).filter(|id| !self.contenders.is_control(id));
        let named =
            |id: MethodId| MethodId { scan: id.scan.filter(|_| reference.method.scan.is_some()), ..id };
        let nearest = NearestNames::find(&reference.method.to_string(), read.map(|id| named(id).to_string()));
        PlanError::NoReference { name: reference.to_string(), nearest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_means_the_trials_that_have_its_scan_and_its_settings() {
        let is_meant = |name: &str, id: &str| is_meant(&name.parse().unwrap(), &id.parse().unwrap());
        assert!(is_meant("rust/read", "rust/read/avx2@buffer=64KiB"));
        assert!(is_meant("rust/read@buffer=64KiB", "rust/read/avx2@buffer=64KiB,threads=2"));
        assert!(!is_meant("rust/read@buffer=1MiB", "rust/read/avx2@buffer=64KiB"));
        assert!(!is_meant("rust/read/memchr", "rust/read/avx2") && !is_meant("rust/read", "c/read"));
    }
}
