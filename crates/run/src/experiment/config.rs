//! The configuration of a run: the user's options and the suite, merged once into one value.
//!
//! An option of the user takes precedence over the suite. Nothing here reads a file, asks the
//! system for anything, or knows the command line.

use super::rules;
use crate::experiment::candidates::Candidates;
use crate::experiment::planner::{PlanError, ReadableTargets, Selection};
use crate::experiment::template::check_line;
use crate::experiment::together::Readers;
use anyhow::bail;
use readlab_measure::plan::Rules;
use readlab_model::target::CACHE_UNKNOWN;
use readlab_model::target::ServerOptions;
use readlab_model::target::TargetFacts;
use readlab_model::trial::{COMMAND, CacheState, Params, Transport, TrialId, Work};
use readlab_model::units::Nanos;
use readlab_protocol::placing;
use readlab_record::{CommandRules, Requested, RunKind};
use readlab_roster::discovery::Contenders;
use readlab_roster::language::LanguageChoice;
use readlab_suite::parameter_space::Space;
use readlab_suite::{Entry, NamedBy, States, Suite};
use std::path::PathBuf;

/// The user's options of an experiment. `None` leaves the decision to the suite.
#[derive(Debug, Clone, PartialEq)]
pub struct UserOptions {
    /// How long and how often.
    pub sampling: SamplingConfig,
    pub trials: TrialOptions,
    /// What is recorded about the inside of contenders.
    pub inspect: InspectConfig,
    /// The settings to search; `None` where every trial is measured.
    pub space: Option<Space>,
    /// How servers are reached and trusted.
    pub server: ServerOptions,
    /// Whether only warnings and errors are printed.
    pub quiet: bool,
}

/// How long and how often the user wants trials to be read.
#[derive(Debug, Clone, PartialEq)]
pub struct SamplingConfig {
    /// Untimed readings after each start of a contender.
    pub warmup: u32,
    /// Exactly this many timed readings.
    pub runs: Option<u32>,
    /// At least this many; `None` for the usual number.
    pub min_runs: Option<u32>,
    /// At most this many; `None` for the usual number.
    pub max_runs: Option<u32>,
    /// Time of timed readings of one trial.
    pub max_time: Option<Nanos>,
    /// Time of the whole run.
    pub budget: Option<Nanos>,
    /// Half the interval of the median, as a share of the median, at which a trial stops.
    pub precision: f64,
    /// A trial of a race that is slower than the fastest by this share is as good; 0: none is.
    pub indifference: f64,
    /// Fills of the cache over which warm readings are spread.
    pub fills: u32,
    /// States of the page cache.
    pub state: Option<States>,
    /// Seed of every shuffle.
    pub seed: u64,
    /// Whether the caches of the whole machine are dropped before each cold reading.
    pub drop_caches: bool,
    /// Whether a block device may be a target.
    pub allow_device: bool,
}

/// Which trials the user wants.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TrialOptions {
    /// Names or globs of methods.
    pub methods: Vec<String>,
    /// Settings for every method that has them.
    pub params: Params,
    /// Commands, with `{}` for the path.
    pub commands: Vec<OwnCommand>,
    /// Whether the commands decode the archive that the target is.
    pub commands_decode: bool,
    /// What is done with the bytes.
    pub work: Option<Work>,
    /// The trial against which ratios are made.
    pub reference: Option<String>,
    pub languages: LanguageChoice,
    /// Whether the trials take part that a suite keeps for this.
    pub all: bool,
    /// Roster files with further contenders.
    pub rosters: Vec<PathBuf>,
    /// The processes that read at the same time.
    pub readers: Readers,
    /// Whether the files of a tree are raced in groups by size, too.
    pub per_file: bool,
}

/// A command of the user's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnCommand {
    /// The line, with `{}` for the path.
    pub line: String,
    /// What is asked of it.
    pub rules: CommandRules,
}

impl OwnCommand {
    pub fn trial(&self) -> String {
        format!("{COMMAND}/{}", self.line)
    }
}

/// What the user wants to know about the inside of contenders.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InspectConfig {
    /// Flame graphs, in this folder or beside the record.
    pub flame_graphs: Option<Option<PathBuf>>,
    /// Traces of the read calls.
    pub trace: bool,
}

/// What one run does: the user's options and the suite, merged.
#[derive(Debug, Clone, PartialEq)]
pub struct RunConfig {
    /// Which command begins it.
    pub kind: RunKind,
    /// When to stop.
    pub rules: Rules,
    /// The time of one trial, if the user set it. It also limits the reading that finds the right
    /// answer.
    pub trial_time: Option<Nanos>,
    /// The states of the cache of a target on this machine.
    pub states: States,
    /// The user's option that demands a state, if there is one.
    pub state_option: Option<&'static str>,
    /// Whether the caches of the whole machine are dropped before each cold reading.
    pub drop_caches: bool,
    /// Whether a block device may be a target.
    pub allow_device: bool,
    /// What is done with the bytes; `None` where that depends on the content.
    pub work: Option<Work>,
    /// The trials of the suite.
    pub entries: Vec<Entry>,
    /// The user's commands.
    pub commands: Vec<OwnCommand>,
    /// Whether the user's commands decode the archive that the target is.
    pub commands_decode: bool,
    /// Names or globs of methods. If there are any, only these, the controls and commands run.
    pub methods: Vec<String>,
    /// Settings for every method that has them.
    pub params: Params,
    /// The trial against which ratios are made.
    pub reference: Option<TrialId>,
    /// The languages that take part, beside the controls, the commands and the reference.
    pub languages: LanguageChoice,
    /// The settings to search; `None` where every trial is measured.
    pub space: Option<Space>,
    /// Roster files with further contenders.
    pub rosters: Vec<PathBuf>,
    /// The suite, if it is a file of the user.
    pub suite_file: Option<PathBuf>,
    /// The processes that read at the same time.
    pub readers: Readers,
    /// Whether the files of a tree are raced in groups by size, too.
    pub per_file: bool,
    /// What the user named on the command line or in a suite file of their own.
    pub named: Vec<Requested>,
    /// What is recorded about the inside of contenders.
    pub inspect: InspectConfig,
    /// How servers are reached and trusted.
    pub server: ServerOptions,
    /// Whether only warnings and errors are printed.
    pub quiet: bool,
}

impl Default for SamplingConfig {
    fn default() -> SamplingConfig {
        SamplingConfig {
            warmup: 1,
            runs: None,
            min_runs: None,
            max_runs: None,
            max_time: None,
            budget: None,
            precision: 0.01,
            indifference: 0.1,
            fills: 10,
            state: None,
            seed: 0,
            drop_caches: false,
            allow_device: false,
        }
    }
}

impl RunConfig {
    /// Merges the user's options with a suite.
    pub fn merge(kind: RunKind, suite: Suite, user: UserOptions) -> anyhow::Result<RunConfig> {
        let UserOptions { sampling, trials, inspect, space, server, quiet } = user;
        let rules = rules::rules(&suite, &sampling)?;
        let named = named(&suite, &trials);
        let reference = trials.reference.or(suite.reference);
        let mut entries = suite.entries;
        // It takes part, too. Where it is one of the others, it may have the short name of reports.
        let id = |name: &str| name.parse::<TrialId>().ok();
        let own = trials.commands.iter().map(OwnCommand::trial);
        let known: Vec<_> =
            own.chain(entries.iter().map(|it| it.trial.clone())).map(|name| id(&name)).collect();
        check_commands(&entries, reference.iter().filter(|name| !known.contains(&id(name))))?;
        entries.retain(|entry| trials.all || !entry.only_with_all);
        if trials.all {
            entries.iter_mut().for_each(|entry| entry.files_max = None);
        }
        if suite.own_file.is_none() {
            entries.iter_mut().for_each(|entry| entry.named_by = NamedBy::Suite);
        }
        if trials.work.is_some() {
            entries.iter_mut().for_each(|entry| entry.work = None);
        }
        let state_option = match (sampling.drop_caches, sampling.state) {
            (true, _) => Some("--drop-caches"),
            (false, Some(_)) => Some("--state"),
            (false, None) => None,
        };
        Ok(RunConfig {
            kind,
            rules,
            trial_time: sampling.max_time,
            states: sampling.state.unwrap_or(suite.state),
            state_option,
            drop_caches: sampling.drop_caches,
            allow_device: sampling.allow_device,
            work: trials.work.or(suite.work),
            entries,
            commands: trials.commands,
            commands_decode: trials.commands_decode,
            methods: trials.methods,
            params: trials.params,
            reference: reference.map(|name| TrialId::parse_written(&name)).transpose()?,
            languages: trials.languages,
            space,
            rosters: trials.rosters,
            suite_file: suite.own_file,
            readers: trials.readers,
            per_file: trials.per_file,
            named,
            inspect,
            server,
            quiet,
        })
    }

    /// The candidates of a search; none where every trial is measured.
    pub fn candidates(
        &self,
        contenders: &Contenders,
        work: Work,
        over: Transport,
    ) -> Result<Vec<TrialId>, PlanError> {
        match &self.space {
            Some(space) => {
                Candidates { contenders, space, languages: &self.languages, work, over }.find(&self.methods)
            }
            None => Ok(Vec::new()),
        }
    }

    /// What the planner makes trials of.
    pub(super) fn selection(&self, readable: ReadableTargets, candidates: &[TrialId]) -> Selection {
        // A command of the user's reads the first target, whatever it is.
        let first = readable.iter().find(|(_, target)| target.target == 0);
        let over = first.map_or_else(Transport::default, |(form, _)| form.over);
        let entry = |trial: String| Entry { trial, over, ..Entry::default() };
        // Commands come first: contenders are started in this order, and time may be short.
        let own = self.commands.iter();
        let form = readable.keys().find_map(|form| form.archive).filter(|_| self.commands_decode);
        let commands = own.map(|own| Entry { command: own.rules.clone(), form, ..entry(own.trial()) });
        let mut entries: Vec<Entry> = commands.chain(self.entries.iter().cloned()).collect();
        if self.work == Some(Work::Output) {
            // Only commands print something; what shows the limits visits the bytes.
            let others = entries.iter_mut().filter(|entry| !is_command(&entry.trial));
            others.for_each(|entry| entry.work = Some(Work::Newlines));
        }
        let mut globs = self.methods.clone();
        if self.space.is_some() {
            let searched = self.reference.iter().chain(candidates);
            entries.extend(searched.map(|trial| entry(trial.to_string())));
            globs.clear();
        }
        // A race skips the trials that cannot read the target; a suite reports them.
        let (params, reports_unreadable) = (self.params.clone(), self.kind == RunKind::Suite);
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

    /// The states in which a target is read.
    pub fn states_of(&self, target: &TargetFacts) -> Vec<CacheState> {
        if target.is_foreign() { vec![CacheState::Unknown] } else { self.states.list() }
    }

    /// What is done with the bytes of a target.
    pub fn work_on(&self, is_text: bool) -> Work {
        let by_content = if is_text { Work::Newlines } else { Work::Sum };
        self.work.unwrap_or(by_content)
    }
}

/// Whether this is the name of a command's trial.
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
        let own = OwnCommand { line: String::new(), rules: entry.command.clone() };
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
fn named(suite: &Suite, trials: &TrialOptions) -> Vec<Requested> {
    let mut named: Vec<Requested> =
        trials.commands.iter().map(|own| Requested::Command(own.line.clone())).collect();
    named.extend(trials.methods.iter().cloned().map(Requested::Method));
    named.extend(trials.reference.iter().cloned().map(Requested::Reference));
    named.extend(trials.languages.names().iter().cloned().map(Requested::Language));
    if suite.own_file.is_some() && trials.methods.is_empty() {
        let own = suite.entries.iter().filter(|entry| !entry.is_added);
        named.extend(own.map(|entry| Requested::Trial(entry.trial.clone())));
    }
    named
}

#[cfg(test)]
mod tests;
