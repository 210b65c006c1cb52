//! From what the user selected to a plan for this machine: suites and globs become trials with a
//! contender each.
//!
//! Whoever cannot take part is not dropped: a contender without a receipt is a caution, a trial
//! without a method, scan or parameter is an outcome, and both are told.

mod pattern;
mod selection;

use crate::contender::discovery::Contenders;
use crate::contender::methods::{ResolveError, ResolvedMethod};
use crate::corpus::Form;
use crate::measure::plan::{Plan, Planned, Rules};
use crate::record::{LimitKind, Outcome, Trial};
use crate::trial::{CacheState, MethodId, Params, Transport, TrialError, TrialId, Work};
pub use pattern::MethodPattern;
use readlab_protocol::Cache;
use selection::TrialSpec;
pub use selection::{ReadableTarget, ReadableTargets, Selection, TargetForm, with_all};
use std::collections::{BTreeMap, BTreeSet};

/// A method with one of its scans, on something that it could read.
struct Matched {
    id: MethodId,
    shape: TargetForm,
    /// Whether the method can read it, and it is there.
    is_there: bool,
}

/// Why a selection makes no plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
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

/// Every method with every scan that it offers for what is done with what it reads.
fn every_id(contenders: &Contenders, selection: &Selection) -> Vec<Matched> {
    let mut ids = Vec::new();
    for contender in contenders.present() {
        for method in contender.methods.iter().filter(|method| method.method != "*") {
            for (shape, is_there) in selection.shapes_of(method) {
                for scan in method.scans.get(selection.work(shape).word()).into_iter().flatten() {
                    let scan = (scan != "-").then(|| scan.clone());
                    let contender = contender.receipt.contender.clone();
                    let id = MethodId { contender, method: method.method.clone(), scan };
                    ids.push(Matched { id, shape, is_there });
                }
            }
        }
    }
    ids
}

/// Why a glob matches nothing: its contender may not be there.
pub(super) fn no_match(contenders: &Contenders, glob: &str) -> PlanError {
    let absent = contenders.absent().iter().find(|(name, _)| glob.split('/').next() == Some(name.as_str()));
    absent.map_or_else(
        || PlanError::NoMatch(glob.to_owned()),
        |(_, reason)| PlanError::Absent { glob: glob.to_owned(), reason: reason.clone() },
    )
}

/// The plan for one target and its forms.
///
/// # Errors
/// If a name or glob is misspelled, or nothing matches.
pub fn plan(
    contenders: &Contenders,
    selection: &Selection,
    states: &[CacheState],
    rules: Rules,
) -> Result<Plan, PlanError> {
    let mut plan = Plan { trials: Vec::new(), absent: Vec::new(), states: states.to_vec(), rules };
    let entries = if selection.globs.is_empty() {
        selection.named().collect::<Result<Vec<_>, _>>()?
    } else {
        matching(contenders, selection)?
    };
    for &state in states {
        let mut seen = BTreeSet::new();
        for entry in &entries {
            if !contenders.absent().contains_key(&entry.id.method.contender) {
                let id = with_params(contenders, &entry.id, &selection.params);
                let named = TrialSpec { id, shape: selection.shape(contenders, entry), ..entry.clone() };
                add(&mut plan, contenders, &mut seen, (&named, selection, state));
            }
        }
    }
    Ok(plan)
}

/// Every method and scan that one of the globs matches, then the controls and commands of the
/// selection.
fn matching(contenders: &Contenders, selection: &Selection) -> Result<Vec<TrialSpec>, PlanError> {
    let mut ids = Vec::new();
    for glob in &selection.globs {
        // Commands stay with every glob; one that is about them alone asks for no method beside
        // them.
        if selection.has_command(glob) {
            continue;
        }
        let pattern = MethodPattern::parse(glob)?;
        let matched: Vec<Matched> = every_id(contenders, selection)
            .into_iter()
            .filter(|it| !contenders.is_control(&it.id) && pattern.matches(&it.id))
            .collect();
        if matched.is_empty() && selection.has_command_like(&pattern) {
            continue;
        }
        if matched.is_empty() {
            return Err(no_match(contenders, glob));
        }
        let meant = meant(matched, pattern.is_name);
        if meant.is_empty() {
            return Err(PlanError::OtherTarget(glob.clone()));
        }
        ids.extend(meant.into_iter().map(|it| selection.like_named(it.id, pattern.params.clone(), it.shape)));
    }
    // An archive is decoded only for somebody who was asked for.
    let forms: BTreeSet<Form> = ids.iter().map(|named| named.shape.form).chain([None]).collect();
    let mut kept = Vec::new();
    for entry in selection.named() {
        let entry = entry?;
        let stays =
            contenders.is_control(&entry.id.method) || entry.id.method.contender == crate::trial::COMMAND;
        if stays && forms.contains(&entry.shape.form) {
            kept.push(entry);
        }
    }
    kept.extend(ids);
    Ok(kept)
}

/// Those who can read what there is. Where there are none, those whom a name asks for, and decoders
/// of other archives: then the outcome tells.
fn meant(mut matched: Vec<Matched>, by_name: bool) -> Vec<Matched> {
    let nobody = matched.iter().all(|it| !it.is_there);
    matched.retain(|it| it.is_there || nobody && (by_name || it.shape.form.is_some()));
    matched
}

/// The general settings, where the method has them; its own go first.
fn with_params(contenders: &Contenders, id: &TrialId, general: &Params) -> TrialId {
    let mut merged = id.clone();
    let Some(method) = contenders.method(&id.method) else { return merged };
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
    contenders: &Contenders,
    seen: &mut BTreeSet<(TrialId, Work, TargetForm)>,
    (named, selection, state): (&TrialSpec, &Selection, CacheState),
) {
    let view = selection.views.get(&named.shape);
    if view.is_none() && !named.told {
        return;
    }
    let index = plan.trials.len() + plan.absent.len();
    let (label, id) = (named.label.clone(), &named.id);
    let work = named.work.unwrap_or_else(|| selection.work(named.shape));
    let choice = match (contenders.contender(&id.method.contender), unread(contenders, (named, work), view)) {
        (None, _) => Err(ResolveError::NoContender(id.method.contender.clone())),
        (_, Some(reason)) => Err(ResolveError::Unavailable(reason)),
        (Some(contender), None) => {
            contender.choose(&id.method, &id.params, work).and_then(|it| suits(it, named.shape.over))
        }
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
        params: id.params.clone(),
        target: view.map_or(0, |view| view.target),
        work,
        state,
        cache: known.map_or(Cache::Through, |choice| choice.method.cache),
        decodes: named.shape.form,
        id,
    };
    match choice {
        Ok(_) if state == CacheState::Warm && trial.bypasses_cache() => absent_when_warm(plan, trial),
        Ok(_) if is_measured_elsewhere(plan, &trial) => {}
        Ok(choice) => {
            let contender = contenders.contender(trial.contender());
            let warmup = contender.map(|contender| contender.warmup).unwrap_or_default();
            let collects = contender.is_some_and(|contender| contender.collects);
            plan.trials.push(Planned { trial, choice, warmup, collects });
        }
        Err(error) => {
            let outcome = Outcome::Unavailable { reason: error.to_string() };
            plan.absent.push((trial, outcome));
        }
    }
}

/// The choice, if its method can be pointed at such a target.
fn suits(choice: ResolvedMethod, over: Transport) -> Result<ResolvedMethod, ResolveError> {
    if over.suits(choice.method.reads) {
        return Ok(choice);
    }
    let what = match over {
        Transport::File => "it reads URLs, and the target is a file (`readlab race --http` serves it)",
        Transport::Http => "it reads files, and the target is a URL",
    };
    Err(ResolveError::Unavailable(what.to_owned()))
}

/// Why a trial cannot read what there is, or not for this work.
fn unread(
    contenders: &Contenders,
    (named, work): (&TrialSpec, Work),
    view: Option<&ReadableTarget>,
) -> Option<String> {
    let TargetForm { form, over } = named.shape;
    let archive = form.map(|archive| archive.word()).unwrap_or_default();
    let decodes = contenders.method(&named.id.method).map_or(&[][..], |method| &method.decodes);
    match view {
        None if over == Transport::Http => {
            Some(format!("it reads what comes out of a {archive}, and only files are decoded"))
        }
        None => Some(format!("it reads what comes out of a {archive}, and the target is none")),
        Some(ReadableTarget { broken: Some(reason), .. }) => Some(reason.clone()),
        Some(_) if form.is_some_and(|it| !decodes.is_empty() && !decodes.contains(&it)) => {
            Some(format!("it does not decode a {archive}"))
        }
        Some(_) if !named.answers.is_empty() && !named.answers.contains(&work) => {
            let words: Vec<&str> = named.answers.iter().map(|work| work.word()).collect();
            Some(format!("it answers {}, and never {work}", words.join(" or ")))
        }
        Some(_) => None,
    }
}

/// A limit is measured in one state: the device's among the cold, those of cached files among the
/// warm, unless only the cold are raced.
fn is_measured_elsewhere(plan: &Plan, trial: &Trial) -> bool {
    match trial.limit() {
        Some(LimitKind::Device) => trial.state == CacheState::Warm,
        Some(LimitKind::Copy | LimitKind::Faults | LimitKind::Syscall | LimitKind::Decoding) => {
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
