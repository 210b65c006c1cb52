//! From what the user selected to a plan for this machine: suites and globs become trials with a contender each.
//!
//! Whoever cannot take part is not dropped: a contender without a receipt is a caution, a trial without a method,
//! scan or parameter is an outcome, and both are told.

use super::plan::{Plan, Planned, Rules};
use crate::contender::roster::{self, Choice, Contender, NoMethod, Roster};
use crate::contender::session::Breach;
use crate::corpus::archive::Form;
use crate::record::{LimitKind, Outcome, Trial};
use crate::suite::Entry;
use crate::trial::{CacheState, MethodId, Over, Params, TrialError, TrialId, Work};
use globset::{Glob, GlobSet, GlobSetBuilder};
use readlab_protocol::{Cache, MethodLine};
use std::collections::{BTreeMap, BTreeSet};

/// Everybody who could take part: contenders with their receipts, and reasons where there is none.
#[derive(Debug, Default)]
pub struct Field {
    contenders: Vec<Contender>,
    absent: BTreeMap<String, String>,
}

/// What to race, before it is known who can.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Trials by name, with labels.
    pub entries: Vec<Entry>,
    /// If any: the line-up is every method and scan whose name one of these matches, and the controls.
    pub globs: Vec<String>,
    /// Settings for every method that has them.
    pub params: Params,
    /// What each target is, by its number; none is one plain file.
    pub targets: Vec<Shape>,
}

/// What a target is to the trials that read it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shape {
    /// How its bytes lie.
    pub form: Form,
    /// Over what they come.
    pub over: Over,
}

/// One trial by name, before it is known who can.
#[derive(Debug, Clone)]
struct Named {
    label: Option<String>,
    id: TrialId,
    work: Option<Work>,
    shape: Shape,
}

/// Why a selection makes no plan.
#[derive(Debug, thiserror::Error)]
pub enum LineupError {
    /// A name is misspelled.
    #[error(transparent)]
    Trial(#[from] TrialError),
    /// A glob is misspelled.
    #[error("{0}")]
    Glob(#[from] globset::Error),
    /// No method matches.
    #[error("no method matches {0} (`readlab list` shows all)")]
    NoMatch(String),
    /// A search is to set something that no method has, or not to such values.
    #[error("no method of this search has '{0}' to set, or takes such values (`readlab list` shows all)")]
    NothingToSet(String),
    /// Methods match, and all of them read something else.
    #[error("none of the methods that match {0} reads what is raced (`readlab list` tells which read URLs)")]
    OtherTarget(String),
    /// The methods that would match are of a contender that cannot take part.
    #[error("no method matches {glob}: {reason}")]
    Absent {
        /// The glob.
        glob: String,
        /// Who cannot take part, and why.
        reason: String,
    },
}

impl Field {
    /// Asks every contender of the roster for its receipt, or only those that `wanted` accepts. Nothing is built.
    pub fn gather(roster: &Roster, wanted: impl Fn(&str) -> bool) -> Field {
        let mut field = Field::default();
        roster.entries.iter().filter(|entry| wanted(&entry.name)).for_each(|entry| field.ask(entry));
        field
    }

    /// The same, after building those that are not built; `about_to` is told of each before it takes time.
    pub fn gather_built(roster: &Roster, wanted: impl Fn(&str) -> bool, about_to: impl Fn(&str)) -> Field {
        let mut field = Field::default();
        for entry in roster.entries.iter().filter(|entry| wanted(&entry.name)) {
            match entry.build_once(|| about_to(&entry.name)) {
                Ok(()) => field.ask(entry),
                Err(error) => field.miss(entry, error.to_string()),
            }
        }
        field
    }

    fn ask(&mut self, entry: &roster::Entry) {
        match entry.take_part() {
            Ok(contender) => self.contenders.push(contender),
            Err(breach @ Breach::NotBuilt(_)) => {
                self.absent.insert(entry.name.clone(), breach.to_string());
            }
            Err(breach) => self.miss(entry, breach.to_string()),
        }
    }

    /// Who is not there, why, and how that is mended.
    fn miss(&mut self, entry: &roster::Entry, reason: String) {
        let reason = entry.hint().map_or(reason.clone(), |hint| format!("{reason}; {hint}"));
        self.absent.insert(entry.name.clone(), reason);
    }

    /// Those who showed their receipt.
    #[must_use]
    pub fn contenders(&self) -> &[Contender] {
        &self.contenders
    }

    /// Those who did not, with the reason.
    #[must_use]
    pub fn absent(&self) -> &BTreeMap<String, String> {
        &self.absent
    }

    /// The contender of this name, if it showed its receipt.
    #[must_use]
    pub fn contender(&self, name: &str) -> Option<&Contender> {
        self.contenders.iter().find(|contender| contender.receipt.contender == name)
    }

    /// Every method with every scan that it offers for this work.
    fn every_id(&self, work: Work) -> Vec<MethodId> {
        let mut ids = Vec::new();
        for contender in &self.contenders {
            for method in contender.methods.iter().filter(|method| method.method != "*") {
                for scan in method.scans.get(work.word()).into_iter().flatten() {
                    let scan = (scan != "-").then(|| scan.clone());
                    let contender = contender.receipt.contender.clone();
                    ids.push(MethodId { contender, method: method.method.clone(), scan });
                }
            }
        }
        ids
    }

    /// Why a glob matches nothing: its contender may not be there.
    pub(super) fn no_match(&self, glob: &str) -> LineupError {
        let absent = self.absent.iter().find(|(name, _)| glob.split('/').next() == Some(name.as_str()));
        absent.map_or_else(
            || LineupError::NoMatch(glob.to_owned()),
            |(_, reason)| LineupError::Absent { glob: glob.to_owned(), reason: reason.clone() },
        )
    }

    fn is_control(&self, id: &MethodId) -> bool {
        self.method(id).is_some_and(|method| method.cache == Cache::None)
    }

    /// What its contender says of a method.
    fn method(&self, id: &MethodId) -> Option<&MethodLine> {
        self.contender(&id.contender)?.methods.iter().find(|method| method.method == id.method)
    }
}

/// The plan for one target.
///
/// # Errors
/// If a name or glob is misspelled, or nothing matches.
pub fn plan(
    field: &Field,
    selection: &Selection,
    (work, states): (Work, &[CacheState]),
    rules: Rules,
) -> Result<Plan, LineupError> {
    let mut plan = Plan { trials: Vec::new(), absent: Vec::new(), states: states.to_vec(), rules };
    let entries = if selection.globs.is_empty() {
        selection.named().collect::<Result<Vec<_>, _>>()?
    } else {
        matching(field, selection, work)?
    };
    for &state in states {
        let mut seen = BTreeSet::new();
        for entry in &entries {
            if !field.absent.contains_key(&entry.id.method.contender) {
                let id = with_params(field, &entry.id, &selection.params);
                let target = selection.target(entry.shape);
                add(&mut plan, field, &mut seen, (&Named { id, ..entry.clone() }, work, state, target));
            }
        }
    }
    Ok(plan)
}

impl Selection {
    /// The number of the target of this shape, if there is one.
    fn target(&self, shape: Shape) -> Option<usize> {
        if self.targets.is_empty() && shape == Shape::default() {
            return Some(0);
        }
        self.targets.iter().position(|&of_target| of_target == shape)
    }

    /// Over what the bytes of the targets come, each once.
    fn overs(&self) -> BTreeSet<Over> {
        if self.targets.is_empty() {
            return BTreeSet::from([Over::default()]);
        }
        self.targets.iter().map(|shape| shape.over).collect()
    }

    /// Its trials by name, without those whose bytes would come over what no target is reached by: a file has no line-up
    /// of methods that read URLs, and a URL none of those that read files.
    fn named(&self) -> impl Iterator<Item = Result<Named, TrialError>> {
        let overs = self.overs();
        self.entries.iter().filter(move |entry| overs.contains(&entry.over)).map(named)
    }

    /// A method that a glob matched; where the suite names it too, with the work and the form that it has there.
    fn like_named(&self, method: MethodId, params: Params, over: Over) -> Named {
        let mut entries = self.named().filter_map(Result::ok);
        let same = |entry: &Named| {
            (&entry.id.method.contender, &entry.id.method.method) == (&method.contender, &method.method)
                && entry.shape.over == over
        };
        let (work, form) =
            entries.find(same).map_or((None, Form::Plain), |entry| (entry.work, entry.shape.form));
        Named { label: None, id: TrialId { method, params }, work, shape: Shape { form, over } }
    }
}

/// The value `all` as the number of processors.
pub(super) fn with_all(text: &str) -> String {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    text.replace("=all", &format!("={cpus}"))
}

/// A suite's entry as a trial's name.
fn named(entry: &Entry) -> Result<Named, TrialError> {
    let id = with_all(&entry.trial).parse()?;
    let shape = Shape { form: entry.form, over: entry.over };
    Ok(Named { label: entry.label.clone(), id, work: entry.work, shape })
}

/// Every method and scan that one of the globs matches, then the controls and commands of the selection.
fn matching(field: &Field, selection: &Selection, work: Work) -> Result<Vec<Named>, LineupError> {
    let mut ids = Vec::new();
    for entry in selection.named() {
        let entry = entry?;
        if field.is_control(&entry.id.method) || entry.id.method.contender == crate::trial::COMMAND {
            ids.push(entry);
        }
    }
    for glob in &selection.globs {
        let (pattern, params) = glob.split_once('@').unwrap_or((glob, ""));
        let params: Params = with_all(params).parse()?;
        let set = glob_set(pattern)?;
        let matched = field
            .every_id(work)
            .into_iter()
            .filter(|id| !field.is_control(id) && set.is_match(id.to_string()));
        let matched: Vec<MethodId> = matched.collect();
        if matched.is_empty() {
            return Err(field.no_match(glob));
        }
        let suited = suited(field, selection, (&matched, &params), is_name(pattern));
        if suited.is_empty() {
            return Err(LineupError::OtherTarget(glob.clone()));
        }
        ids.extend(suited);
    }
    Ok(ids)
}

/// The methods over everything that they read of the targets; those that a name asks for, over what they cannot read too:
/// then the outcome tells.
fn suited(
    field: &Field,
    selection: &Selection,
    (methods, params): (&[MethodId], &Params),
    by_name: bool,
) -> Vec<Named> {
    let overs = selection.overs();
    let reads = |id: &MethodId, over: Over| field.method(id).is_some_and(|method| over.suits(method.reads));
    let mut named = Vec::new();
    for id in methods {
        let can: Vec<Over> = overs.iter().copied().filter(|&over| reads(id, over)).collect();
        let told = overs.iter().copied().filter(|_| can.is_empty() && by_name);
        let all = can.iter().copied().chain(told);
        named.extend(all.map(|over| selection.like_named(id.clone(), params.clone(), over)));
    }
    named
}

/// Whether a pattern is a name, and no pattern at all.
fn is_name(pattern: &str) -> bool {
    !pattern.contains(['*', '?', '[', '{'])
}

/// The pattern itself; and, where it names a method without its scan, every scan of it.
fn glob_set(pattern: &str) -> Result<GlobSet, globset::Error> {
    let mut set = GlobSetBuilder::new();
    set.add(Glob::new(pattern)?);
    set.add(Glob::new(&format!("{pattern}/*"))?);
    set.build()
}

/// The general settings, where the method has them; its own go first.
fn with_params(field: &Field, id: &TrialId, general: &Params) -> TrialId {
    let mut merged = id.clone();
    let Some(contender) = field.contender(&id.method.contender) else { return merged };
    let Some(method) = contender.methods.iter().find(|method| method.method == id.method.method) else {
        return merged;
    };
    for (key, &value) in &general.0 {
        let one = Params(BTreeMap::from([(key.clone(), value)]));
        if let Ok(resolved) = one.resolve(method) {
            merged.params.0.extend(resolved.0);
        }
    }
    merged
}

/// Adds one trial, or the reason why there is none. The same trial twice is one trial.
fn add(
    plan: &mut Plan,
    field: &Field,
    seen: &mut BTreeSet<(TrialId, Work, Shape)>,
    (named, work, state, target): (&Named, Work, CacheState, Option<usize>),
) {
    let index = plan.trials.len() + plan.absent.len();
    let (label, id, work) = (named.label.clone(), &named.id, named.work.unwrap_or(work));
    let choice = match field.contender(&id.method.contender) {
        Some(_) if target.is_none() => Err(NoMethod::Unavailable(format!(
            "it reads a {}, which is made of the suite's own corpus only",
            named.shape.form.word()
        ))),
        Some(contender) => {
            contender.choose(&id.method, &id.params, work).and_then(|it| suits(it, named.shape.over))
        }
        None => Err(NoMethod::NoContender(id.method.contender.clone())),
    };
    let known = choice.as_ref().ok();
    let id = known.map_or_else(
        || id.clone(),
        |choice| TrialId { method: choice.id.clone(), params: choice.params.clone() },
    );
    if label.is_none() && !seen.insert((id.clone(), work, named.shape)) {
        return;
    }
    let trial = Trial {
        index,
        label,
        contender: id.method.contender.clone(),
        method: id.method.method.clone(),
        scan: id.method.scan.clone(),
        params: id.params.clone(),
        target: target.unwrap_or(0),
        work,
        state,
        cache: known.map_or(Cache::Through, |choice| choice.method.cache),
        id,
    };
    match choice {
        Ok(_) if state == CacheState::Warm && trial.bypasses_cache() => absent_when_warm(plan, trial),
        Ok(_) if is_measured_elsewhere(plan, &trial) => {}
        Ok(choice) => {
            let warmup =
                field.contender(&trial.contender).map(|contender| contender.warmup).unwrap_or_default();
            plan.trials.push(Planned { trial, choice, warmup });
        }
        Err(error) => {
            let outcome = Outcome::Unavailable { reason: error.to_string() };
            plan.absent.push((trial, outcome));
        }
    }
}

/// The choice, if its method can be pointed at such a target.
fn suits(choice: Choice, over: Over) -> Result<Choice, NoMethod> {
    if over.suits(choice.method.reads) {
        return Ok(choice);
    }
    let what = match over {
        Over::File => "it reads URLs, and the target is a file (`readlab race --http` serves it)",
        Over::Http => "it reads files, and the target is a URL",
    };
    Err(NoMethod::Unavailable(what.to_owned()))
}

/// A limit is measured in one state: the device's among the cold, those of cached files among the warm, unless only the
/// cold are raced.
fn is_measured_elsewhere(plan: &Plan, trial: &Trial) -> bool {
    match trial.limit() {
        Some(LimitKind::Device) => trial.state == CacheState::Warm,
        Some(LimitKind::Copy | LimitKind::Faults | LimitKind::Syscall) => {
            trial.state == CacheState::Cold && plan.states.contains(&CacheState::Warm)
        }
        Some(LimitKind::Memory) | None => false,
    }
}

/// A method past the cache is judged among the cold; it is told only when the cold are not raced.
fn absent_when_warm(plan: &mut Plan, trial: Trial) {
    if !plan.states.contains(&CacheState::Cold) {
        let reason = "reads past the page cache: judged among the cold".to_owned();
        plan.absent.push((trial, Outcome::Unavailable { reason }));
    }
}
