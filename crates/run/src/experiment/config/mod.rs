//! The configuration of a run: the user's options and the suite, merged once into one value.
//!
//! An option of the user takes precedence over the suite. The only files read here are rosters, for
//! the names of languages.

use super::memory::MemoryBounds;
use super::options::{OwnCommand, SelectionOptions, UserOptions};
use super::together::ReaderGroup;
use super::{rules, template};
use crate::experiment::candidates::CandidateSearch;
use crate::experiment::planner::{PlanError, ReadableTarget, ReadableTargets, TrialSelection};
use anyhow::bail;
use readlab_catalog::language::LanguageChoice;
use readlab_catalog::roster::Roster;
use readlab_measure::plan::{Budget, Rules};
use readlab_measure::target::CacheControl;
use readlab_model::target::{CACHE_UNKNOWN_WORDS, TargetFacts};
use readlab_model::trial::{COMMAND, CacheState, Transport, TrialId, Work};
use readlab_model::units::Nanos;
use readlab_protocol::placing;
use readlab_record::{RequestedName, RunKind};
use readlab_roster::discovery::Contenders;
use readlab_suite::{NamedBy, StateChoice, Suite, SuiteEntry};
use readlab_system::memory::page_bytes;
use readlab_system::trust;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Configuration of one run: the user's options and the suite, merged.
#[derive(Debug, Clone, PartialEq)]
pub struct RunConfig {
    pub kind: RunKind,
    pub rules: Rules,
    /// The cache states that are measured for a target on this machine.
    pub states: StateChoice,
    /// Bounds on memory; with them the state pressed is measured beside the cache states.
    pub memory_bounds: MemoryBounds,
    /// The user's option that demands a cache state, such as `--state`; `None` if no option does.
    pub state_option: Option<&'static str>,
    /// The work on the bytes; `None` if it depends on the content.
    pub work: Option<Work>,
    pub entries: Vec<SuiteEntry>,
    pub reference: Option<TrialId>,
    /// The languages that take part; controls, commands and the reference always do.
    pub languages: LanguageChoice,
    /// Path of the suite, if it is a user's file.
    pub suite_file: Option<PathBuf>,
    /// The names that the user gave on the command line or in a user's suite file.
    pub requested_names: Vec<RequestedName>,
    /// The user's options, with `{}` in place of the target's name in commands. Options that a suite
    /// can also set are merged into the fields above.
    pub user: UserOptions,
}

impl RunConfig {
    pub fn merge(kind: RunKind, suite: Suite, mut user: UserOptions) -> anyhow::Result<RunConfig> {
        user.inspection.check()?;
        let selection = &user.selection;
        let languages =
            LanguageChoice::parse(&selection.languages, &Roster::with_user_rosters(&selection.rosters)?)?;
        user.selection = template::with_placeholders(user.selection, &user.targets)?;
        let (sampling, selection) = (&user.sampling, &user.selection);
        let rules = rules::merge_rules(&suite, sampling, &user.memory_bounds)?;
        let requested_names = user_requests(&suite, selection, &languages);
        let reference = selection.reference.clone().or(suite.reference);
        let mut entries = suite.entries;
        // A reference that is no other trial takes part, too, so its command is checked as well.
        // Identifiers are compared, because the user may give the short name that reports show.
        let id = |name: &str| name.parse::<TrialId>().ok();
        let own = selection.commands.iter().map(OwnCommand::trial_name);
        let known: Vec<_> =
            own.chain(entries.iter().map(|it| it.trial.clone())).map(|name| id(&name)).collect();
        let other_reference = reference.iter().filter(|name| !known.contains(&id(name)));
        check_commands(&entries, other_reference, &user.targets)?;
        if let Some(file) = suite.own_file.as_deref()
            && entries.iter().any(|entry| is_command(&entry.trial))
        {
            trust::check(file)?;
        }
        entries.retain(|entry| user.takes_all_trials || !entry.only_with_all);
        for entry in &mut entries {
            entry.files_max = entry.files_max.filter(|_| !user.takes_all_trials);
            entry.work = entry.work.filter(|_| selection.work.is_none());
            if suite.own_file.is_none() {
                entry.named_by = NamedBy::Suite;
            }
        }
        let work = selection.work.or(suite.work);
        check_works(&entries, work)?;
        let memory = match user.memory_bounds.is_given() {
            true => user.memory_bounds.clone(),
            false => MemoryBounds::new(suite.memory_bounds, user.memory_bounds.is_shared)?,
        };
        if suite.read_ahead_bytes.is_some() && !memory.is_given() {
            bail!("read_ahead_bytes of the suite is for bounds on memory, and none is given: memory");
        }
        if let Some(bytes) = suite.read_ahead_bytes.filter(|bytes| !bytes.is_multiple_of(page_bytes())) {
            bail!("read_ahead_bytes of the suite is {bytes}, which is no number of pages");
        }
        let states = sampling.state.unwrap_or(suite.state);
        let memory = MemoryBounds {
            read_ahead_bytes: suite.read_ahead_bytes,
            is_optional: memory.is_given()
                && !user.memory_bounds.is_given()
                && states != StateChoice::Pressed
                && kind != RunKind::Tune,
            ..memory
        };
        if states == StateChoice::Pressed && !memory.is_given() {
            bail!("--state pressed is about bounds on memory, and none is given: --memory");
        }
        let state_option = match (sampling.drop_caches, sampling.state) {
            (true, _) => Some("--drop-caches"),
            (false, Some(_)) => Some("--state"),
            (false, None) => None,
        };
        Ok(RunConfig {
            kind,
            rules,
            states,
            memory_bounds: memory,
            state_option,
            work,
            entries,
            reference: reference.map(|name| TrialId::parse_written(&name)).transpose()?,
            languages,
            suite_file: suite.own_file,
            requested_names,
            user,
        })
    }

    /// Whether the race finds names and reads no file.
    pub(super) fn finds_names(&self) -> bool {
        self.work.is_some_and(Work::finds_names)
    }

    /// Whether nothing is compared with the right answers: commands may read a part, and locations
    /// and ranks, which show by their answers that their content is the same, are not raced.
    pub(super) fn compares_no_answer(&self) -> bool {
        let is_fleet = matches!(self.user.reader_group, ReaderGroup::Ranks(_));
        self.work.is_some_and(Work::may_read_part) && self.user.locations.is_none() && !is_fleet
    }

    /// The configuration of a rank of a fleet. All ranks shuffle with the seed of rank 0. Each trial
    /// is read by each of these numbers of ranks, or by all ranks if the set is empty.
    pub fn for_rank(self, seed: u64, rank_counts: BTreeSet<u32>) -> RunConfig {
        let rules = Rules { seed, ..self.rules };
        let user = UserOptions { reader_group: ReaderGroup::Ranks(rank_counts), ..self.user };
        RunConfig { rules, user, ..self }
    }

    /// The configuration for this number of targets. If the targets are raced as locations, the
    /// advised time is multiplied, so that each target has as much as it would have alone.
    pub(super) fn for_target_count(&self, count: usize) -> RunConfig {
        let mut config = self.clone();
        if let (Some(_), Budget::Advised(time)) = (self.user.locations, self.rules.budget) {
            config.rules.budget = Budget::Advised(Nanos(time.0.saturating_mul(count as u64)));
        }
        config
    }

    /// The candidates of a search; empty if every trial is measured.
    pub fn candidates(
        &self,
        contenders: &Contenders,
        readable: &ReadableTarget,
        over: Transport,
    ) -> Result<Vec<TrialId>, PlanError> {
        let Some(space) = &self.user.space else { return Ok(Vec::new()) };
        let candidates = CandidateSearch { contenders, space, languages: &self.languages, readable, over };
        candidates.find(&self.user.selection.methods)
    }

    pub(super) fn selection(&self, readable: ReadableTargets, candidates: &[TrialId]) -> TrialSelection {
        // A user's command reads the first target, whatever its transport is.
        let first = readable.iter().min_by_key(|(_, target)| target.target_index);
        let over = first.map_or_else(Transport::default, |(form, _)| form.over);
        let entry = |trial: String| SuiteEntry { trial, over, ..SuiteEntry::default() };
        // Commands come first, because contenders are started in this order and time may be short.
        let own = self.user.selection.commands.iter();
        let form = readable.keys().find_map(|form| form.archive).filter(|_| self.user.has_decoding_commands);
        let commands =
            own.map(|own| SuiteEntry { command: own.rules.clone(), form, ..entry(own.trial_name()) });
        let mut entries: Vec<SuiteEntry> = commands.chain(self.entries.iter().cloned()).collect();
        if self.work.is_some_and(Work::may_read_part) {
            // Only commands print an output. Controls that show limits count newlines instead.
            let others = entries.iter_mut().filter(|entry| !is_command(&entry.trial));
            others.for_each(|entry| entry.work = Some(Work::Newlines));
        }
        let mut globs = self.user.selection.methods.clone();
        if self.user.space.is_some() {
            let searched = self.reference.iter().chain(candidates);
            entries.extend(searched.map(|trial| entry(trial.to_string())));
            globs.clear();
        }
        // A race skips trials that cannot read the target; a suite reports them.
        let (params, reports_unreadable) = (self.user.selection.params.clone(), self.kind == RunKind::Suite);
        let is_named = self.requested_names.iter().any(|named| matches!(named, RequestedName::Reference(_)));
        let reference = self.reference.clone().filter(|_| is_named);
        let languages = self.languages.clone();
        let merge_gaps = self.user.merge_gaps_bytes.clone();
        TrialSelection {
            entries,
            globs,
            params,
            merge_gaps_bytes: merge_gaps,
            readable,
            reference,
            languages,
            reports_unreadable,
        }
    }

    /// Refuses an option that demands a cache state for a target whose cache readlab cannot
    /// control.
    pub fn check_state_option(&self, target: &TargetFacts) -> anyhow::Result<()> {
        if let Some(option) = self.state_option.filter(|_| target.has_foreign_server()) {
            bail!("{}: {CACHE_UNKNOWN_WORDS}, and it cannot be made: leave {option} out", target.path);
        }
        Ok(())
    }

    /// Refuses an option that demands a cache state for a file whose state nobody can prove.
    pub(super) fn check_provable(&self, control: &CacheControl) -> anyhow::Result<()> {
        let CacheControl::Unknown { reason, .. } = control else { return Ok(()) };
        let has_bounds = self.memory_bounds.is_given() && !self.memory_bounds.is_optional;
        if let Some(option) = self.state_option.or(has_bounds.then_some("--memory")) {
            bail!("{reason}; without {option} the file is read in the state that it has");
        }
        Ok(())
    }

    /// The states that are measured of a target whose state can be proven.
    pub fn provable_states(&self) -> Vec<CacheState> {
        // A search under a bound is about this bound alone, unless the user also names a state.
        let is_alone =
            self.memory_bounds.is_given() && self.kind == RunKind::Tune && self.state_option.is_none();
        let mut states = if is_alone { Vec::new() } else { self.states.states() };
        states.extend(self.memory_bounds.is_given().then_some(CacheState::Pressed));
        states
    }

    /// The work that the user or the suite names; otherwise the default work for the content.
    pub fn content_work(&self, is_text: bool) -> Work {
        let by_content = if is_text { Work::Newlines } else { Work::Sum };
        self.work.unwrap_or(by_content)
    }
}

fn is_command(trial: &str) -> bool {
    trial.strip_prefix(COMMAND).is_some_and(|rest| rest.starts_with('/'))
}

/// Refuses commands of a suite, or a command as the reference, that must not be recorded or run,
/// and duplicates.
fn check_commands<'a>(
    entries: &'a [SuiteEntry],
    reference: impl Iterator<Item = &'a String>,
    targets: &[PathBuf],
) -> anyhow::Result<()> {
    let commands: Vec<&SuiteEntry> = entries.iter().filter(|entry| is_command(&entry.trial)).collect();
    for name in commands.iter().map(|entry| &entry.trial).chain(reference.filter(|name| is_command(name))) {
        let line = &name[COMMAND.len() + 1..];
        template::check_line(line, targets)?;
        placing::completed(line)?;
    }
    for entry in &commands {
        let own = OwnCommand { rules: entry.command.clone(), ..OwnCommand::without_rules("") };
        own.shell_lines().try_for_each(|line| template::check_line(line, targets))?;
    }
    let is_one = |one: &SuiteEntry, other: &SuiteEntry| {
        let same = one.trial.parse::<TrialId>().ok() == other.trial.parse().ok();
        same && SuiteEntry { trial: other.trial.clone(), command: other.command.clone(), ..one.clone() }
            == *other
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

/// Refuses a suite in which some trials find names and others read bytes, because their cache
/// states and right answers differ.
fn check_works(entries: &[SuiteEntry], work: Option<Work>) -> anyhow::Result<()> {
    let finds_names = work.is_some_and(Work::finds_names);
    let differs = |entry: &&SuiteEntry| entry.work.is_some_and(|own| own.finds_names() != finds_names);
    if let Some(SuiteEntry { trial, work: Some(own), .. }) = entries.iter().find(differs) {
        bail!(
            "{trial}: its work is {own}: names and stat are the work of a whole suite, and of no trial beside others"
        );
    }
    Ok(())
}

/// Names that the user gave: commands, methods, a reference, the trials of a user's suite file.
fn user_requests(suite: &Suite, user: &SelectionOptions, languages: &LanguageChoice) -> Vec<RequestedName> {
    let mut named: Vec<RequestedName> =
        user.commands.iter().map(|own| RequestedName::Command(own.line.clone())).collect();
    named.extend(user.methods.iter().cloned().map(RequestedName::Method));
    named.extend(user.reference.iter().cloned().map(RequestedName::Reference));
    named.extend(languages.names().iter().cloned().map(RequestedName::Language));
    if suite.own_file.is_some() && user.methods.is_empty() {
        let own = suite.entries.iter().filter(|entry| !entry.is_added_control);
        named.extend(own.map(|entry| RequestedName::Trial(entry.trial.clone())));
    }
    named
}

#[cfg(test)]
mod tests;
