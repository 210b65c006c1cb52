//! The configuration of a run: the user's options and the suite, merged once into one value.
//!
//! An option of the user takes precedence over the suite. Of files only rosters are read here, for the
//! names of languages.

use super::options::{OwnCommand, SelectionOptions, UserOptions};
use super::together::Shape;
use super::{rules, template};
use crate::experiment::candidates::Candidates;
use crate::experiment::planner::{PlanError, ReadableTargets, Selection};
use crate::experiment::template::check_line;
use anyhow::bail;
use readlab_catalog::language::LanguageChoice;
use readlab_catalog::roster::Roster;
use readlab_measure::plan::Rules;
use readlab_model::target::{CACHE_UNKNOWN, TargetFacts};
use readlab_model::trial::{COMMAND, CacheState, Transport, TrialId, Work};
use readlab_protocol::placing;
use readlab_record::{Requested, RunKind};
use readlab_roster::discovery::Contenders;
use readlab_suite::{Entry, NamedBy, States, Suite};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// What one run does: the user's options and the suite, merged.
#[derive(Debug, Clone, PartialEq)]
pub struct RunConfig {
    pub kind: RunKind,
    pub rules: Rules,
    /// The states of the cache of a target on this machine.
    pub states: States,
    /// The user's option that demands a state, if there is one.
    pub state_option: Option<&'static str>,
    /// What is done with the bytes; `None` where that depends on the content.
    pub work: Option<Work>,
    pub entries: Vec<Entry>,
    pub reference: Option<TrialId>,
    /// The languages that take part, beside the controls, the commands and the reference.
    pub languages: LanguageChoice,
    /// The suite, if it is a file of the user.
    pub suite_file: Option<PathBuf>,
    /// What the user named on the command line or in a suite file of their own.
    pub named: Vec<Requested>,
    /// The user's options, with `{}` in each command that names a target. What a suite can decide is
    /// decided above.
    pub user: UserOptions,
}

impl RunConfig {
    pub fn merge(kind: RunKind, suite: Suite, mut user: UserOptions) -> anyhow::Result<RunConfig> {
        user.inspect.check()?;
        let selection = &user.selection;
        let languages = LanguageChoice::parse(&selection.languages, &Roster::with(&selection.rosters)?)?;
        user.selection = template::placed(user.selection, &user.targets)?;
        let (sampling, selection) = (&user.sampling, &user.selection);
        let rules = rules::rules(&suite, sampling)?;
        let named = named(&suite, selection, &languages);
        let reference = selection.reference.clone().or(suite.reference);
        let mut entries = suite.entries;
        // It takes part, too. Where it is one of the others, it may have the short name of reports.
        let id = |name: &str| name.parse::<TrialId>().ok();
        let own = selection.commands.iter().map(OwnCommand::trial);
        let known: Vec<_> =
            own.chain(entries.iter().map(|it| it.trial.clone())).map(|name| id(&name)).collect();
        check_commands(&entries, reference.iter().filter(|name| !known.contains(&id(name))))?;
        entries.retain(|entry| user.all || !entry.only_with_all);
        for entry in &mut entries {
            entry.files_max = entry.files_max.filter(|_| !user.all);
            entry.work = entry.work.filter(|_| selection.work.is_none());
            if suite.own_file.is_none() {
                entry.named_by = NamedBy::Suite;
            }
        }
        let state_option = match (sampling.drop_caches, sampling.state) {
            (true, _) => Some("--drop-caches"),
            (false, Some(_)) => Some("--state"),
            (false, None) => None,
        };
        Ok(RunConfig {
            kind,
            rules,
            states: sampling.state.unwrap_or(suite.state),
            state_option,
            work: selection.work.or(suite.work),
            entries,
            reference: reference.map(|name| TrialId::parse_written(&name)).transpose()?,
            languages,
            suite_file: suite.own_file,
            named,
            user,
        })
    }

    /// The same for a rank of a fleet: all shuffle by the seed of rank 0, and read in these numbers
    /// by turns.
    pub fn of_rank(self, seed: u64, counts: BTreeSet<u32>) -> RunConfig {
        let rules = Rules { seed, ..self.rules };
        let user = UserOptions { shape: Shape::Ranks(counts), ..self.user };
        RunConfig { rules, user, ..self }
    }

    /// The candidates of a search; none where every trial is measured.
    pub fn candidates(
        &self,
        contenders: &Contenders,
        work: Work,
        over: Transport,
    ) -> Result<Vec<TrialId>, PlanError> {
        let Some(space) = &self.user.space else { return Ok(Vec::new()) };
        let candidates = Candidates { contenders, space, languages: &self.languages, work, over };
        candidates.find(&self.user.selection.methods)
    }

    pub(super) fn selection(&self, readable: ReadableTargets, candidates: &[TrialId]) -> Selection {
        // A command of the user's reads the first target, whatever it is.
        let first = readable.iter().find(|(_, target)| target.target == 0);
        let over = first.map_or_else(Transport::default, |(form, _)| form.over);
        let entry = |trial: String| Entry { trial, over, ..Entry::default() };
        // Commands come first: contenders are started in this order, and time may be short.
        let own = self.user.selection.commands.iter();
        let form = readable.keys().find_map(|form| form.archive).filter(|_| self.user.commands_decode);
        let commands = own.map(|own| Entry { command: own.rules.clone(), form, ..entry(own.trial()) });
        let mut entries: Vec<Entry> = commands.chain(self.entries.iter().cloned()).collect();
        if self.work == Some(Work::Output) {
            // Only commands print something; what shows the limits visits the bytes.
            let others = entries.iter_mut().filter(|entry| !is_command(&entry.trial));
            others.for_each(|entry| entry.work = Some(Work::Newlines));
        }
        let mut globs = self.user.selection.methods.clone();
        if self.user.space.is_some() {
            let searched = self.reference.iter().chain(candidates);
            entries.extend(searched.map(|trial| entry(trial.to_string())));
            globs.clear();
        }
        // A race skips the trials that cannot read the target; a suite reports them.
        let (params, reports_unreadable) = (self.user.selection.params.clone(), self.kind == RunKind::Suite);
        let is_named = self.named.iter().any(|named| matches!(named, Requested::Reference(_)));
        let reference = self.reference.clone().filter(|_| is_named);
        let languages = self.languages.clone();
        Selection { entries, globs, params, readable, reference, languages, reports_unreadable }
    }

    /// Refuses an option that demands a cache state of a target whose cache is out of reach.
    pub fn check_state_option(&self, target: &TargetFacts) -> anyhow::Result<()> {
        match self.state_option.filter(|_| target.is_foreign()) {
            Some(option) => {
                bail!("{}: {CACHE_UNKNOWN}, and it cannot be made: leave {option} out", target.path)
            }
            None => Ok(()),
        }
    }

    pub fn states_of(&self, target: &TargetFacts) -> Vec<CacheState> {
        if target.is_foreign() { vec![CacheState::Unknown] } else { self.states.list() }
    }

    pub fn work_on(&self, is_text: bool) -> Work {
        let by_content = if is_text { Work::Newlines } else { Work::Sum };
        self.work.unwrap_or(by_content)
    }
}

fn is_command(trial: &str) -> bool {
    trial.strip_prefix(COMMAND).is_some_and(|rest| rest.starts_with('/'))
}

/// Refuses commands of a suite, or one as the reference, that have a secret or would run what is
/// raced, and two that are one.
fn check_commands<'a>(
    entries: &'a [Entry],
    reference: impl Iterator<Item = &'a String>,
) -> anyhow::Result<()> {
    let commands: Vec<&Entry> = entries.iter().filter(|entry| is_command(&entry.trial)).collect();
    for name in commands.iter().map(|entry| &entry.trial).chain(reference.filter(|name| is_command(name))) {
        let line = &name[COMMAND.len() + 1..];
        check_line(line)?;
        placing::completed(line)?;
    }
    for entry in &commands {
        let own = OwnCommand { rules: entry.command.clone(), ..OwnCommand::plain("") };
        own.lines().try_for_each(|line| check_line(line))?;
    }
    let is_one = |one: &Entry, other: &Entry| {
        let same = one.trial.parse::<TrialId>().ok() == other.trial.parse().ok();
        same && Entry { trial: other.trial.clone(), command: other.command.clone(), ..one.clone() } == *other
    };
    for (at, entry) in commands.iter().enumerate() {
        if let Some(same) = commands[..at].iter().find(|other| is_one(other, entry)) {
            bail!(
                "the trials '{}' and '{}' of the suite are one, and a row is named after its command: name each, for \
                 example by a label",
                same.trial,
                entry.trial
            );
        }
    }
    Ok(())
}

/// What the user named: commands, methods, a reference, the trials of a suite file of their own.
fn named(suite: &Suite, user: &SelectionOptions, languages: &LanguageChoice) -> Vec<Requested> {
    let mut named: Vec<Requested> =
        user.commands.iter().map(|own| Requested::Command(own.line.clone())).collect();
    named.extend(user.methods.iter().cloned().map(Requested::Method));
    named.extend(user.reference.iter().cloned().map(Requested::Reference));
    named.extend(languages.names().iter().cloned().map(Requested::Language));
    if suite.own_file.is_some() && user.methods.is_empty() {
        let own = suite.entries.iter().filter(|entry| !entry.is_added);
        named.extend(own.map(|entry| Requested::Trial(entry.trial.clone())));
    }
    named
}

#[cfg(test)]
mod tests;
