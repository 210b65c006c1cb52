//! The trials that ratios may refer to, chosen before anything is measured. The best is the trial
//! that the user or the suite names; then come the user's own commands and programs, independent
//! code, and the usual methods, those of the first requested language first.

use super::config::RunConfig;
use super::options::OwnCommand;
use readlab_catalog::language::Languages;
use readlab_catalog::roster::Roster;
use readlab_catalog::snippet;
use readlab_measure::plan::Plan;
use readlab_model::trial::TrialId;
use readlab_record::{INDEPENDENT_READERS, ReferenceCandidate, ReferenceReason};
use std::cmp::Reverse;

/// The candidates among the trials of a plan, best first, without duplicates.
pub(super) fn candidates(config: &RunConfig, named: Option<TrialId>, plan: &Plan) -> Vec<ReferenceCandidate> {
    let read = plan.trials.iter().map(|planned| &planned.trial).filter(|trial| !trial.is_control());
    let read: Vec<TrialId> = read.map(|trial| trial.id.clone()).collect();
    candidates_among(&read, named, &config.user.selection.commands, config.languages.names())
}

/// The candidates among the trials that are read, for a user who has these commands and requests
/// these languages.
fn candidates_among(
    read: &[TrialId],
    named: Option<TrialId>,
    commands: &[OwnCommand],
    asked: &[String],
) -> Vec<ReferenceCandidate> {
    let built_in = Roster::built_in();
    let ids = |fits: &dyn Fn(&TrialId) -> bool| -> Vec<TrialId> {
        read.iter().filter(|id| fits(id)).cloned().collect()
    };
    let commands = commands.iter().filter_map(|command| command.trial_name().parse().ok());
    let own: Vec<TrialId> = commands.filter(|id| read.contains(id)).collect();
    let programs = ids(&|id| built_in.entry(&id.method.contender).is_none());
    let independent = ids(&|id| INDEPENDENT_READERS.contains(&id.to_string().as_str()));
    let mut all: Vec<ReferenceCandidate> = Vec::new();
    let mut add = |trials: Vec<TrialId>, why: ReferenceReason| {
        for trial in trials {
            if !all.iter().any(|had| had.trial == trial) {
                all.push(ReferenceCandidate { trial, why });
            }
        }
    };
    add(named.into_iter().collect(), ReferenceReason::Named);
    add(own, ReferenceReason::Own);
    add(programs, ReferenceReason::Own);
    add(independent, ReferenceReason::Independent);
    add(usual_methods(&built_in, read, asked), ReferenceReason::Usual);
    all
}

/// The usual methods: of the requested languages in their order, then of the language with the
/// most trials.
fn usual_methods(roster: &Roster, read: &[TrialId], asked: &[String]) -> Vec<TrialId> {
    let languages = Languages::of_roster(roster);
    let language = |id: &TrialId| languages.language_of(&id.method.contender).to_owned();
    let all: Vec<String> = read.iter().map(language).collect();
    let usual = read.iter().filter(|id| snippet::is_usual(&id.method));
    let mut usual: Vec<TrialId> = usual.cloned().collect();
    usual.sort_by_cached_key(|id| {
        let own = language(id);
        let asked = asked.iter().position(|name| *name == own).unwrap_or(usize::MAX);
        (asked, Reverse(all.iter().filter(|it| **it == own).count()), own)
    });
    usual
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_catalog::language::LanguageChoice;

    fn ids(names: &[&str]) -> Vec<TrialId> {
        names.iter().map(|name| name.parse().unwrap()).collect()
    }

    #[test]
    fn the_named_trial_comes_first_then_the_users_own_then_independent_code_then_usual_methods() {
        let order = |named: Option<&str>, commands: &[&str], languages: &[&str]| -> Vec<String> {
            let planned = ids(&[
                "command/wc -l",
                "rust/mmap",
                "python/lines",
                "rust/lines",
                "mine/fast",
                "command/cat {} | wc -l",
                "rust/read",
            ]);
            let words: Vec<String> = languages.iter().map(|&word| word.to_owned()).collect();
            let asked = LanguageChoice::parse(&words, &Roster::built_in()).unwrap();
            let commands: Vec<_> = commands.iter().map(|line| OwnCommand::without_rules(line)).collect();
            let named = named.map(|name| name.parse().unwrap());
            let found = candidates_among(&planned, named, &commands, asked.names());
            found.into_iter().map(|it| it.trial.to_string()).collect()
        };
        let wc = "command/wc -l";
        assert_eq!(order(None, &[], &[]), ["mine/fast", wc, "rust/lines", "python/lines"]);
        assert_eq!(order(None, &[], &["python"]), ["mine/fast", wc, "python/lines", "rust/lines"]);
        assert_eq!(order(None, &["cat {} | wc -l", "wc -l {}"], &[])[..2], ["command/cat {} | wc -l", wc]);
        assert_eq!(order(Some("rust/read"), &["wc -l"], &[])[..3], ["rust/read", wc, "mine/fast"]);
        assert_eq!(order(None, &["not planned"], &[])[0], "mine/fast");
    }
}
