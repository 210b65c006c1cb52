//! Which trials of a plan the user named: where time is short, they come first.

use super::MethodPattern;
use super::reference::is_meant;
use readlab_measure::plan::Plan;
use readlab_model::trial::{COMMAND, TrialId};
use readlab_record::Requested;
use readlab_roster::language::Languages;
use readlab_roster::roster::Roster;

/// Marks the first trial of a plan in each state of each thing that the user named.
pub(in crate::experiment) fn name_first(plan: &mut Plan, named: &[Requested]) {
    for state in plan.states.clone() {
        for name in named {
            let mut of_state = plan.trials.iter_mut().filter(|it| it.trial.state == state);
            let first = of_state.find(|it| !it.trial.is_control() && is_named(&it.trial.id, name));
            first.into_iter().for_each(|it| it.is_first_named = true);
        }
    }
}

/// Whether a name of the user's means a trial, among others perhaps.
fn is_named(id: &TrialId, name: &Requested) -> bool {
    let is_it = |name: &str| TrialId::parse_written(name).is_ok_and(|name| is_meant(&name, id));
    match name {
        Requested::Command(words) => is_it(&format!("{COMMAND}/{words}")),
        Requested::Method(glob) if id.method.contender != COMMAND => {
            MethodPattern::parse(glob).is_ok_and(|pattern| pattern.matches_trial(id))
        }
        Requested::Method(name) | Requested::Reference(name) | Requested::Trial(name) => is_it(name),
        Requested::Contender(name) => id.method.contender == *name,
        Requested::Language(name) => {
            Languages::of_roster(&Roster::built_in()).language_of(&id.method.contender) == name
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_is_named_by_its_command_its_method_or_its_language() {
        let is_it = |id: &str, name: Requested| is_named(&id.parse().unwrap(), &name);
        let text = str::to_owned;
        assert!(is_it("rust/mmap/avx2", Requested::Method(text("rust/mmap/*"))));
        assert!(is_it("rust/mmap/avx2", Requested::Method(text("rust/mmap"))));
        assert!(!is_it("c/mmap", Requested::Method(text("rust/mmap"))));
        assert!(is_it("command/wc -l", Requested::Command(text("wc -l {}"))));
        assert!(!is_it("command/wc -c", Requested::Command(text("wc -l {}"))));
        assert!(is_it("python/read", Requested::Language(text("Python"))));
        assert!(is_it("mine/read", Requested::Contender(text("mine"))));
    }
}
