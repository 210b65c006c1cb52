//! The trials that ratios may refer to, chosen before anything is measured: the one that the user
//! or the suite names; else the user's own commands and programs; else independent code; else the
//! usual methods, of the first requested language first.

use super::config::RunConfig;
use super::options::OwnCommand;
use readlab_catalog::language::{LanguageChoice, Languages};
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
    let (commands, languages) = (config.user.selection.commands.clone(), config.languages.clone());
    ReferenceOptions { named, commands, languages }.candidates_among(&read)
}

/// Options of the user and the suite that affect the choice of the reference.
struct ReferenceOptions {
    named: Option<TrialId>,
    commands: Vec<OwnCommand>,
    languages: LanguageChoice,
}

impl ReferenceOptions {
    fn candidates_among(self, read: &[TrialId]) -> Vec<ReferenceCandidate> {
        let built_in = Roster::built_in();
        let ids = |fits: &dyn Fn(&TrialId) -> bool| -> Vec<TrialId> {
            read.iter().filter(|id| fits(id)).cloned().collect()
        };
        let commands = self.commands.iter();
        let commands = commands.filter_map(|command| command.trial().parse().ok());
        let own: Vec<TrialId> = commands.filter(|id| read.contains(id)).collect();
        let programs = ids(&|id| built_in.entry(&id.method.contender).is_none());
        let independent = ids(&|id| INDEPENDENT_READERS.contains(&id.to_string().as_str()));
        let usual = self.usual_methods(&built_in, read);
        let mut all = CandidateList::default();
        all.add(self.named, ReferenceReason::Named);
        all.add(own, ReferenceReason::Own);
        all.add(programs, ReferenceReason::Own);
        all.add(independent, ReferenceReason::Independent);
        all.add(usual, ReferenceReason::Usual);
        all.0
    }

    /// The usual methods: of the requested languages in their order, then of the language with the
    /// most trials.
    fn usual_methods(&self, roster: &Roster, read: &[TrialId]) -> Vec<TrialId> {
        let languages = Languages::of_roster(roster);
        let language = |id: &TrialId| languages.language_of(&id.method.contender).to_owned();
        let all: Vec<String> = read.iter().map(language).collect();
        let usual = read.iter().filter(|id| snippet::is_usual(&id.method));
        let mut usual: Vec<TrialId> = usual.cloned().collect();
        usual.sort_by_cached_key(|id| {
            let own = language(id);
            let asked = self.languages.names().iter().position(|name| *name == own).unwrap_or(usize::MAX);
            (asked, Reverse(all.iter().filter(|it| **it == own).count()), own)
        });
        usual
    }
}

/// Candidates in order, without duplicates.
#[derive(Default)]
struct CandidateList(Vec<ReferenceCandidate>);

impl CandidateList {
    fn add(&mut self, trials: impl IntoIterator<Item = TrialId>, why: ReferenceReason) {
        for trial in trials {
            if !self.0.iter().any(|had| had.trial == trial) {
                self.0.push(ReferenceCandidate { trial, why });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let asked = ReferenceOptions {
                named: named.map(|name| name.parse().unwrap()),
                commands: commands.iter().map(|line| OwnCommand::without_rules(line)).collect(),
                languages: LanguageChoice::parse(&words, &Roster::built_in()).unwrap(),
            };
            asked.candidates_among(&planned).into_iter().map(|it| it.trial.to_string()).collect()
        };
        let wc = "command/wc -l";
        assert_eq!(order(None, &[], &[]), ["mine/fast", wc, "rust/lines", "python/lines"]);
        assert_eq!(order(None, &[], &["python"]), ["mine/fast", wc, "python/lines", "rust/lines"]);
        assert_eq!(order(None, &["cat {} | wc -l", "wc -l {}"], &[])[..2], ["command/cat {} | wc -l", wc]);
        assert_eq!(order(Some("rust/read"), &["wc -l"], &[])[..3], ["rust/read", wc, "mine/fast"]);
        assert_eq!(order(None, &["not planned"], &[])[0], "mine/fast");
    }
}
