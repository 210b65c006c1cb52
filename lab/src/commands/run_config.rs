//! What the user asked for, and what follows from it and from the suite: rules, contenders, trials,
//! states, the work. The command line's word goes before the suite's.

use crate::commands::options::{InspectOptions, OutputOptions, SamplingOptions, SelectionOptions};
use crate::contender::discovery::Contenders;
use crate::contender::roster::Roster;
use crate::experiment::candidates::candidates;
use crate::experiment::planner::{PlanError, ReadableTargets, Selection, TargetForm};
use crate::folder::{FLAME_GRAPHS, RunFolder};
use crate::machine;
use crate::measure::cache::Eviction;
use crate::measure::inspect::profile;
use crate::measure::plan::{Budget, Plan, Rules};
use crate::measure::rights;
use crate::measure::sampler::{FlameGraphPaths, InspectPlan};
use crate::measure::target::CacheControl;
use crate::record::{Requested, ResumePlan, RunKind, TargetRef};
use crate::suite::parameter_space::Space;
use crate::suite::{Entry, Suite};
use crate::target::web::CACHE_UNKNOWN;
use crate::target::{TargetFacts, shown, without_parents};
use crate::terminal::notice;
use crate::trial::{CacheState, Transport, TrialId, Work};
use crate::units::Nanos;
use anyhow::{Context, anyhow, bail};
use std::path::{Path, PathBuf};

/// What the user asked for.
pub(super) struct RunConfig<'a> {
    pub(super) kind: RunKind,
    pub(super) suite: &'a Suite,
    /// The space to search; `None` where every trial is measured.
    pub(super) space: Option<&'a Space>,
    pub(super) measuring: &'a SamplingOptions,
    pub(super) choosing: &'a SelectionOptions,
    pub(super) looking: &'a InspectOptions,
    pub(super) giving: &'a OutputOptions,
}

impl RunConfig<'_> {
    /// What is looked at inside, for a run of this folder; and why not all that was asked for, in
    /// one line.
    ///
    /// # Errors
    /// If there is no current folder from which a path could be told.
    pub(super) fn looks(&self, folder: &RunFolder) -> anyhow::Result<(InspectPlan, Option<String>)> {
        let mut looks = InspectPlan { flame_graphs: None, trace: self.looking.trace };
        let Some(named) = &self.looking.flamegraph else { return Ok((looks, None)) };
        if let Err(why) = profile::can_sample() {
            return Ok((looks, Some(format!("no flame graphs: {why}"))));
        }
        let whole = |path: &Path| without_parents(path).with_context(|| shown(path));
        let record_folder = whole(folder.path())?;
        let folder = named.as_deref().map_or_else(|| Ok(record_folder.join(FLAME_GRAPHS)), whole)?;
        looks.flame_graphs = Some(FlameGraphPaths { folder, record_folder });
        Ok((looks, None))
    }

    /// The user's rules, and where the user is silent, the suite's.
    pub(super) fn rules(&self) -> anyhow::Result<Rules> {
        let mut rules = self.measuring.rules();
        if let (Some(min_runs), None) = (self.suite.min_runs, self.measuring.runs) {
            rules.min_runs = min_runs;
        }
        if let (Some(max_runs), None) = (self.suite.max_runs, self.measuring.runs) {
            rules.max_runs = max_runs;
            rules.min_runs = rules.min_runs.min(max_runs);
        }
        let time =
            |text: &String, key| text.parse::<Nanos>().with_context(|| format!("{}: {key}", self.suite.name));
        if let (Some(text), None) = (&self.suite.max_time, self.measuring.max_time) {
            rules.max_time = time(text, "max_time")?;
        }
        if let (Some(text), None) = (&self.suite.budget, self.measuring.budget) {
            rules.budget = Budget::Advised(time(text, "budget")?);
        }
        Ok(rules)
    }

    pub(super) fn reference(&self) -> anyhow::Result<Option<TrialId>> {
        let named = self.choosing.reference.as_ref().or(self.suite.reference.as_ref());
        Ok(named.map(|name| name.parse()).transpose()?)
    }

    /// Everybody who is named and shows a receipt.
    pub(super) fn contenders(&self) -> anyhow::Result<Contenders> {
        let roster = Roster::with(&self.choosing.rosters)?;
        let by_glob = |name: &str| self.choosing.methods.iter().any(|glob| may_match(glob, name));
        let by_suite =
            |name: &str| self.suite.entries.iter().any(|e| e.trial.starts_with(&format!("{name}/")));
        let by_roster = |name: &str| !Roster::built_in().entries.iter().any(|entry| entry.name == name);
        let by_reference =
            |name: &str| self.choosing.reference.iter().any(|trial| trial.starts_with(&format!("{name}/")));
        // Globs are about methods: the controls and commands of the suite stay, and they need no
        // building.
        let needs_no_building = |name: &str| roster.entry(name).is_none_or(|entry| entry.sources.is_none());
        let wanted = |name: &str| {
            by_roster(name)
                || by_reference(name)
                || if self.choosing.methods.is_empty() {
                    by_suite(name)
                } else {
                    by_glob(name) || needs_no_building(name)
                }
        };
        let about_to = |name: &str| {
            if !self.giving.quiet {
                notice::tell(format!("building the contender {name}, this once"));
            }
        };
        Ok(Contenders::build_and_discover(&roster, wanted, about_to))
    }

    /// What the user asked for by name. Contenders of a roster are, unless the user's methods leave
    /// them out.
    pub(super) fn requested(&self) -> Vec<Requested> {
        let choosing = self.choosing;
        let mut requested: Vec<Requested> =
            choosing.commands.iter().cloned().map(Requested::Command).collect();
        requested.extend(choosing.methods.iter().cloned().map(Requested::Method));
        requested.extend(choosing.reference.iter().cloned().map(Requested::Reference));
        if self.suite.is_own_file && choosing.methods.is_empty() {
            let named = self.suite.entries.iter().filter(|entry| !entry.is_added);
            let trials = named.map(|entry| entry.trial.clone());
            requested.extend(trials.map(Requested::Trial));
        }
        let known = Roster::built_in();
        let rosters = Roster::with(&choosing.rosters).map(|roster| roster.entries).unwrap_or_default();
        let own = rosters.into_iter().map(|entry| entry.name).filter(|name| known.entry(name).is_none());
        let is_meant = |name: &String| choosing.methods.iter().any(|glob| may_match(glob, name));
        requested.extend(own.filter(is_meant).map(Requested::Contender));
        requested
    }

    /// What is searched, if anything is.
    pub(super) fn candidates(&self, contenders: &Contenders, work: Work) -> Result<Vec<TrialId>, PlanError> {
        let searched = |space| candidates(contenders, &self.choosing.methods, (space, work));
        self.space.map_or(Ok(Vec::new()), searched)
    }

    pub(super) fn selection(&self, views: ReadableTargets, candidates: &[TrialId]) -> Selection {
        let mut entries = self.suite.entries.clone();
        if self.choosing.work.is_some() {
            entries.iter_mut().for_each(|entry| entry.work = None);
        }
        // A command of the user's reads the first target, whatever it is.
        let over = views
            .iter()
            .find(|(_, view)| view.target == 0)
            .map_or_else(Transport::default, |(shape, _)| shape.over);
        // They come first: where time is short, contenders are started in this order.
        let commands = self.choosing.commands.iter();
        let of_user =
            commands.map(|command| Entry { trial: format!("command/{command}"), over, ..Entry::default() });
        entries.splice(0..0, of_user);
        let mut globs = self.choosing.methods.clone();
        if self.space.is_some() {
            let reference = self.choosing.reference.iter().chain(&self.suite.reference).take(1).cloned();
            let searched = candidates.iter().map(TrialId::to_string);
            entries.extend(reference.chain(searched).map(|trial| Entry { trial, over, ..Entry::default() }));
            globs.clear();
        }
        // A race takes whoever can read the target; an experiment names those it is about.
        let (params, told) = (self.choosing.params.clone(), self.kind == RunKind::Suite);
        Selection { entries, globs, params, views, told }
    }

    /// All that it takes to go on with the run if it is cut short; `None` for verbs that cannot.
    pub(super) fn agenda<'g>(
        &self,
        plan: &Plan,
        targets: impl Iterator<Item = (TargetForm, &'g CacheControl)>,
        looks: &InspectPlan,
    ) -> Option<ResumePlan> {
        let aim = |(shape, ground): (TargetForm, &'g CacheControl)| TargetRef {
            form: shape.form,
            over: shape.over,
            identity: ground.identity(),
        };
        // A path that is not UTF-8 leads nowhere when it is read back, and is told then.
        let path = |path: std::io::Result<PathBuf>| {
            path.map_or_else(|_| String::new(), |path| path.to_string_lossy().into_owned())
        };
        self.kind.is_resumable().then(|| ResumePlan {
            boot: machine::boot(),
            folder: path(std::env::current_dir()),
            targets: targets.map(aim).collect(),
            states: plan.states.clone(),
            rules: plan.rules,
            trials: plan.trials.iter().map(|planned| planned.trial.clone()).collect(),
            absent: plan.absent.clone(),
            rosters: self.choosing.rosters.iter().map(|roster| path(std::path::absolute(roster))).collect(),
            flame_graphs: looks.flame_graphs.as_ref().map(|it| it.folder.to_string_lossy().into_owned()),
            trace: looks.trace,
            drop_caches: self.measuring.drop_caches,
            allow_device: self.measuring.allow_device,
            requested: self.requested(),
        })
    }

    pub(super) fn eviction(&self) -> Eviction {
        if self.measuring.drop_caches { Eviction::OfSystem } else { Eviction::OfFile }
    }

    /// Refuses `--drop-caches` where the kernel would not let this user, before anything is
    /// measured.
    pub(super) fn can_drop_caches(&self) -> anyhow::Result<()> {
        if !self.measuring.drop_caches {
            return Ok(());
        }
        rights::drop_caches().map_err(|reason| anyhow!("--drop-caches: {reason}"))
    }

    /// Refuses a wish for a state that nobody here can make.
    pub(super) fn makes_no_state_of(&self, target: &TargetFacts) -> anyhow::Result<()> {
        let wish = if self.measuring.drop_caches { Some("--drop-caches") } else { None };
        let wish = wish.or(self.measuring.state.map(|_| "--state"));
        match wish.filter(|_| target.is_foreign()) {
            Some(wish) => bail!("{}: {CACHE_UNKNOWN}, and it cannot be made: leave {wish} out", target.path),
            None => Ok(()),
        }
    }

    /// The states in which a target is read.
    pub(super) fn states(&self, target: &TargetFacts) -> Vec<CacheState> {
        if target.is_foreign() {
            return vec![CacheState::Unknown];
        }
        self.measuring.state.unwrap_or(self.suite.state).list()
    }

    pub(super) fn work(&self, is_text: bool) -> Work {
        let by_content = if is_text { Work::Newlines } else { Work::Sum };
        self.choosing.work.or(self.suite.work).unwrap_or(by_content)
    }
}

/// Whether a glob can match a method of this contender: its first part is asked alone.
fn may_match(glob: &str, contender: &str) -> bool {
    let Some((first, _)) = glob.split_once('/') else { return true };
    globset::Glob::new(first).is_ok_and(|glob| glob.compile_matcher().is_match(contender))
}
