//! The planner: resolves suites and globs into the trials of a plan for this machine.
//!
//! Trials that cannot take part are not dropped: a contender without a receipt becomes a warning in
//! the record, a trial without a method, scan or parameter gets an outcome.

mod location;
mod names;
mod resolve;
mod selection;

pub use location::LocationPlan;
pub(super) use location::OptionsWithoutEffect;
use location::PlanOption;
pub use names::MethodPattern;
pub(super) use names::{mark_first_named, planned_reference};
use readlab_catalog::language::LanguageChoice;
use readlab_measure::plan::{Plan, PlannedTrial, Rules};
use readlab_model::corpus::FileForm;
use readlab_model::trial::{
    COMMAND, CacheState, MethodId, NearestNames, Params, Transport, TrialError, TrialId, TrialIndex, Work,
};
use readlab_model::units::Bytes;
use readlab_protocol::{Archive, Cache, MethodLine, ParamLine, Reads};
use readlab_record::{LimitKind, Outcome, Trial};
use readlab_roster::discovery::Contenders;
use readlab_roster::methods::{Contender, ResolveError, ResolvedMethod};
use readlab_suite::{NamedBy, SuiteEntry};
use readlab_targets::target::tree::WalkDifference;
pub(super) use resolve::{ResolvedTrial, resolve};
use selection::TrialSpec;
pub use selection::{ReadableTarget, ReadableTargets, TargetForm, TrialSelection};
use std::collections::{BTreeMap, BTreeSet};

/// A method with one of its scans, and a form of the target that it could read.
struct MatchedMethod {
    id: MethodId,
    form: TargetForm,
    /// Whether the method can read the form, and the target has it.
    is_readable: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error(transparent)]
    Trial(#[from] TrialError),
    #[error("{0}")]
    Glob(#[from] globset::Error),
    #[error("no method matches {0} (`readlab list` shows all)")]
    NoMatch(String),
    #[error("no trial matches --reference '{name}' ({nearest})")]
    NoReference { name: String, nearest: NearestNames },
    #[error("no method of this search takes {0} (`readlab list` shows all parameters and their ranges)")]
    NothingToSet(Params),
    #[error("--merge: no method that is raced merges ranges (`readlab list` shows all)")]
    NothingMerges,
    #[error("--param {setting}: {why} (`readlab list` shows all)")]
    NoParam { setting: Params, why: String },
    #[error(
        "no method matches {glob} here: {id} does {known}, and {work} is done with the bytes (--work; without it newlines for text, else sum)"
    )]
    OtherWork { glob: String, id: MethodId, work: Work, known: String },
    #[error("no method matches {glob} here: --language leaves {id} out")]
    OtherLanguage { glob: String, id: MethodId },
    #[error("--reference '{0}': no command of this run is called so; -c '{1}' adds it")]
    NoCommand(TrialId, String),
    #[error("none of the methods that match {0} reads what is raced (`readlab list` shows what each reads)")]
    OtherTarget(String),
    #[error("no method matches {glob}: {reason}")]
    Absent { glob: String, reason: String },
}

/// Every method of the selected languages, with every scan that the method offers for the work, in
/// each form of the target that the method reads.
fn methods_with_scans(contenders: &Contenders, selection: &TrialSelection) -> Vec<MatchedMethod> {
    let mut ids = Vec::new();
    let asked = contenders.present().iter();
    for contender in asked.filter(|it| selection.languages.admits(&it.receipt.contender)) {
        for method in contender.methods.iter().filter(|method| method.method != "*") {
            for (form, is_readable) in selection.forms_of(method) {
                let scans = scans_for(&contender.receipt.contender, method, selection.work(form));
                ids.extend(scans.into_iter().map(|id| MatchedMethod { id, form, is_readable }));
            }
        }
    }
    ids
}

/// A method with each scan that it offers for a work, the best first.
pub(super) fn scans_for(contender: &str, method: &MethodLine, work: Work) -> Vec<MethodId> {
    let scans = method.scans.get(work.word()).into_iter().flatten();
    let id = |scan: &String| MethodId {
        contender: contender.to_owned(),
        method: method.method.clone(),
        scan: (scan != "-").then(|| scan.clone()),
    };
    scans.map(id).collect()
}

/// Why a glob matches nothing: its contender is absent, or the methods that it matches do other
/// work or belong to another language.
pub(super) fn no_match_error(
    contenders: &Contenders,
    glob: &str,
    languages: &LanguageChoice,
    work: Work,
) -> PlanError {
    let glob = glob.to_owned();
    let absent = contenders.absent().iter().find(|(name, _)| glob.split('/').next() == Some(name.as_str()));
    if let Some((_, reason)) = absent {
        return PlanError::Absent { glob, reason: reason.clone() };
    }
    let Ok(pattern) = MethodPattern::parse(&glob) else { return PlanError::NoMatch(glob) };
    let Some((id, line)) = offered_methods(contenders).find(|(id, _)| pattern.matches(id)) else {
        return PlanError::NoMatch(glob);
    };
    if !languages.admits(&id.contender) {
        return PlanError::OtherLanguage { glob, id };
    }
    let does = |(_, scans): &(&String, &Vec<String>)| match &id.scan {
        Some(scan) => scans.contains(scan),
        None => !scans.is_empty(),
    };
    let known: Vec<&str> = line.scans.iter().filter(does).map(|(work, _)| work.as_str()).collect();
    // A method that does the work is left out for another reason.
    if known.contains(&work.word()) {
        return PlanError::NoMatch(glob);
    }
    PlanError::OtherWork { glob, work, known: known.join(" or "), id }
}

/// Every method with every scan that it offers for any work, and its description.
fn offered_methods(contenders: &Contenders) -> impl Iterator<Item = (MethodId, &MethodLine)> {
    contenders.present().iter().flat_map(|contender| {
        let named = contender.methods.iter().filter(|method| method.method != "*");
        named.flat_map(move |line| every_scan(contender, line).map(move |id| (id, line)))
    })
}

/// A method with each scan that it offers for any work.
fn every_scan(contender: &Contender, line: &MethodLine) -> impl Iterator<Item = MethodId> {
    let scans: BTreeSet<Option<String>> =
        line.scans.values().flatten().map(|scan| (scan != "-").then(|| scan.clone())).collect();
    let (contender, method) = (contender.receipt.contender.clone(), line.method.clone());
    scans.into_iter().map(move |scan| MethodId { contender: contender.clone(), method: method.clone(), scan })
}

/// The plan of targets for which trials are planned together.
pub fn plan(
    contenders: &Contenders,
    selection: &TrialSelection,
    states: &[CacheState],
    rules: Rules,
) -> Result<Plan, PlanError> {
    let mut planner = Planner::new(contenders, selection, states, rules);
    let planned = planner.add_trials();
    // An option without effect is refused before a later error.
    planner.options_without_effect.refuse_first()?;
    planned.map(|()| planner.plan)
}

/// The plan of one of several locations.
pub fn plan_location(
    contenders: &Contenders,
    selection: &TrialSelection,
    states: &[CacheState],
    rules: Rules,
) -> Result<LocationPlan, PlanError> {
    let mut planner = Planner::new(contenders, selection, states, rules);
    planner.add_trials()?;
    Ok(LocationPlan { plan: planner.plan, options_without_effect: planner.options_without_effect })
}

/// The methods that can read the target. If no method can, the methods that a name without a glob
/// matches, and decoders of other archives; their outcomes say why they cannot.
fn select_readable_or_named(mut matched: Vec<MatchedMethod>, by_name: bool) -> Vec<MatchedMethod> {
    let none_can = matched.iter().all(|it| !it.is_readable);
    matched.retain(|it| it.is_readable || none_can && (by_name || it.form.archive.is_some()));
    matched
}

/// The trials of a named method that does other work than the requested one; their outcomes say so.
/// A glob gives no such trials.
fn specs_for_other_work(
    contenders: &Contenders,
    selection: &TrialSelection,
    pattern: &MethodPattern,
) -> Vec<TrialSpec> {
    let is_named = |id: &MethodId| pattern.is_name && !contenders.is_control(id) && pattern.matches(id);
    let spec = |(id, line): (MethodId, &MethodLine)| {
        let (form, _) = selection.forms_of(line).into_iter().next()?;
        Some(TrialSpec::new(TrialId::new(id, &pattern.params), form))
    };
    offered_methods(contenders).filter(|(id, _)| is_named(id)).filter_map(spec).collect()
}

/// Adds the settings for all methods to a trial, as far as its method has these parameters. They
/// replace settings of a suite of readlab, and none that the user named for this trial.
fn with_general_params(contenders: &Contenders, spec: &TrialSpec, general: &Params) -> TrialId {
    let mut merged = spec.id.clone();
    let Some(method) = contenders.method(&spec.id.method) else { return merged };
    let own = spec.id.params.0.keys().filter(|_| spec.entry.named_by == NamedBy::User);
    let own: BTreeSet<&str> = own.map(|name| Params::short_name(name)).collect();
    for (key, &value) in general.0.iter().filter(|(key, _)| !own.contains(Params::short_name(key))) {
        let one = Params(BTreeMap::from([(key.clone(), value)]));
        if let Ok(resolved) = one.resolve(method) {
            merged.params.0.extend(resolved.0);
        }
    }
    merged
}

/// Name of the parameter of methods that merge ranges.
const MERGE_PARAMETER: &str = "merge_bytes";

/// The parameter with which a method merges ranges; `None` if the method merges none.
fn merge_param(method: &MethodLine) -> Option<&ParamLine> {
    method.params.iter().find(|param| param.name == MERGE_PARAMETER)
}

/// One trial for each gap up to which ranges are merged. The trial stays as it is if its method
/// merges no ranges, or if its name contains a gap.
fn with_merge_gaps(contenders: &Contenders, id: TrialId, gaps: &[u64]) -> Vec<TrialId> {
    let is_set =
        id.params.0.keys().any(|name| Params::short_name(name) == Params::short_name(MERGE_PARAMETER));
    let method = contenders.method(&id.method).filter(|_| !is_set);
    let Some(param) = method.and_then(merge_param).filter(|_| !gaps.is_empty()) else { return vec![id] };
    let with = |&gap: &u64| {
        let mut merging = id.clone();
        merging.params.0.extend((gap != param.default).then(|| (MERGE_PARAMETER.to_owned(), gap)));
        merging
    };
    gaps.iter().map(with).collect()
}

struct Planner<'a> {
    contenders: &'a Contenders,
    selection: &'a TrialSelection,
    plan: Plan,
    /// The trials without a label that the current state already has.
    seen_unlabelled: BTreeSet<(TrialId, Work, TargetForm)>,
    options_without_effect: OptionsWithoutEffect,
}

impl<'a> Planner<'a> {
    fn new(
        contenders: &'a Contenders,
        selection: &'a TrialSelection,
        states: &[CacheState],
        rules: Rules,
    ) -> Planner<'a> {
        let plan = Plan { trials: Vec::new(), absent_trials: Vec::new(), states: states.to_vec(), rules };
        Planner {
            contenders,
            selection,
            plan,
            seen_unlabelled: BTreeSet::new(),
            options_without_effect: OptionsWithoutEffect::default(),
        }
    }
}

impl Planner<'_> {
    /// Adds the trials of the selection and its reference in every state.
    fn add_trials(&mut self) -> Result<(), PlanError> {
        let (contenders, selection) = (self.contenders, self.selection);
        let specs = if selection.globs.is_empty() {
            let named = selection.entry_specs().chain(selection.specs_without_target());
            named.collect::<Result<Vec<_>, _>>()?
        } else {
            self.matching_specs()?
        };
        for state in self.plan.states.clone() {
            self.seen_unlabelled.clear();
            for spec in &specs {
                if self.may_take_part(&spec.id.method) {
                    let id = with_general_params(contenders, spec, &selection.params);
                    let form = selection.form_of(contenders, spec);
                    for id in with_merge_gaps(contenders, id, &selection.merge_gaps_bytes) {
                        self.add_trial(&TrialSpec { id, form, ..spec.clone() }, state);
                    }
                }
            }
            self.add_reference(state)?;
        }
        let merges = self.planned_methods().any(|it| merge_param(&it.resolved_method.method).is_some());
        if !selection.merge_gaps_bytes.is_empty() && !merges {
            self.options_without_effect.add(PlanOption::Merge, PlanError::NothingMerges);
        }
        for (name, &value) in &selection.params.0 {
            if !self.param_has_effect(name, value) {
                let why = self.param_error(name, value);
                self.options_without_effect.add(PlanOption::Param(name.clone()), why);
            }
        }
        Ok(())
    }

    /// The controls and commands of the selection, then every method and scan that matches one of
    /// the globs.
    fn matching_specs(&mut self) -> Result<Vec<TrialSpec>, PlanError> {
        let (contenders, selection) = (self.contenders, self.selection);
        let mut specs = Vec::new();
        for glob in &selection.globs {
            // Commands take part with every glob. A glob that only names commands selects no
            // method.
            if selection.has_command(glob) {
                continue;
            }
            let pattern = MethodPattern::parse(glob)?;
            let matched: Vec<MatchedMethod> = methods_with_scans(contenders, selection)
                .into_iter()
                .filter(|it| !contenders.is_control(&it.id) && pattern.matches(&it.id))
                .collect();
            if matched.is_empty() && selection.has_command_like(&pattern) {
                continue;
            }
            if matched.is_empty() {
                let work = selection.work(TargetForm::default());
                let why = no_match_error(contenders, glob, &selection.languages, work);
                self.options_without_effect.add(PlanOption::Method(glob.clone()), why);
                specs.extend(specs_for_other_work(contenders, selection, &pattern));
                continue;
            }
            let readable_or_named = select_readable_or_named(matched, pattern.is_name);
            if readable_or_named.is_empty() {
                let why = PlanError::OtherTarget(glob.clone());
                self.options_without_effect.add(PlanOption::Method(glob.clone()), why);
            }
            specs.extend(
                readable_or_named
                    .into_iter()
                    .map(|it| selection.spec_like_entry(it.id, pattern.params.clone(), it.form)),
            );
        }
        // A control that decodes an archive takes part only beside a method that decodes it.
        let forms: BTreeSet<FileForm> = specs.iter().map(|named| named.form.archive).chain([None]).collect();
        let mut kept = Vec::new();
        for entry in selection.entry_specs() {
            let entry = entry?;
            let stays = contenders.is_control(&entry.id.method) || entry.id.method.contender == COMMAND;
            if stays && forms.contains(&entry.form.archive) {
                kept.push(entry);
            }
        }
        kept.extend(specs);
        Ok(kept)
    }

    /// Whether a setting for every method applies to a planned trial that is no control.
    fn param_has_effect(&self, name: &str, value: u64) -> bool {
        let names = self.names_of_setting(name, value);
        let is_it = |(own, set): (&String, &u64)| names.contains(&Params::short_name(own)) && *set == value;
        self.planned_methods().any(|it| it.trial.params.0.iter().any(is_it))
    }

    /// The parameters of which a method has one if it takes a setting. `--depth` sets both `depth`
    /// and `threads`, and a method that reads places has only one of the two.
    fn names_of_setting<'a>(&self, name: &'a str, value: u64) -> Vec<&'a str> {
        const DEPTH_NAMES: [&str; 2] = ["depth", "threads"];
        let set = |name: &&str| self.selection.params.0.get(*name) == Some(&value);
        let reads_places = self.planned_methods().any(|it| it.resolved_method.method.reads == Reads::Places);
        if reads_places && DEPTH_NAMES.contains(&name) && DEPTH_NAMES.iter().all(set) {
            DEPTH_NAMES.to_vec()
        } else {
            vec![Params::short_name(name)]
        }
    }

    fn planned_methods(&self) -> impl Iterator<Item = &PlannedTrial> {
        self.plan.trials.iter().filter(|it| !it.trial.is_control())
    }

    /// Why no trial takes a setting: no method has it, the value is outside the ranges that the
    /// methods take, or each trial has its own value.
    fn param_error(&self, name: &str, value: u64) -> PlanError {
        let all = self.planned_methods().flat_map(|it| &it.resolved_method.method.params);
        let names = self.names_of_setting(name, value);
        let ranges: BTreeSet<(u64, u64)> = all
            .filter(|param| names.contains(&Params::short_name(&param.name)))
            .map(|param| (param.min, param.max))
            .collect();
        let is_of_bytes = name.ends_with("_bytes");
        let shown = |value: u64| if is_of_bytes { Bytes(value).exact_text() } else { value.to_string() };
        let short = Params::short_name(name);
        let is_in_range = ranges.iter().any(|&(min, max)| (min..=max).contains(&value));
        let ranges: Vec<String> =
            ranges.iter().map(|&(min, max)| format!("{} to {}", shown(min), shown(max))).collect();
        let why = match &ranges[..] {
            [] => format!("no method that is raced has {short} to set"),
            _ if is_in_range => format!("the methods that take it have their own {short} behind an @"),
            ranges => format!("the methods that are raced take {short} of {}", ranges.join(", or ")),
        };
        PlanError::NoParam { setting: Params(BTreeMap::from([(name.to_owned(), value)])), why }
    }

    /// Whether the contender of a method is present and its language is selected.
    fn may_take_part(&self, id: &MethodId) -> bool {
        !self.contenders.absent().contains_key(&id.contender) && self.selection.admits(self.contenders, id)
    }

    /// Adds one trial, or the reason why it cannot run. Adds no duplicates, and no trials that a
    /// suite has for other targets.
    fn add_trial(&mut self, spec: &TrialSpec, state: CacheState) {
        let readable = self.selection.readable.get(&spec.form);
        if !spec.is_reported_if_unreadable
            && readable.is_none_or(|readable| is_for_other_dictionary(spec, readable))
        {
            return;
        }
        if readable.is_some_and(|readable| self.is_suite_method_for_other_extent(spec, readable)) {
            return;
        }
        let work = spec.entry.work.unwrap_or_else(|| self.selection.work(spec.form));
        let resolved = self.resolve(spec, work, readable);
        let id = match &resolved {
            Ok(resolved) => TrialId::new(resolved.choice.id.clone(), &resolved.choice.params),
            Err(_) => spec.id.clone(),
        };
        if spec.entry.label.is_none() && !self.seen_unlabelled.insert((id.clone(), work, spec.form)) {
            return;
        }
        let choice = resolved.as_ref().ok().map(|resolved| &resolved.choice);
        let trial = Trial {
            index: TrialIndex::new(self.plan.trials.len() + self.plan.absent_trials.len()),
            label: spec.entry.label.clone(),
            params: choice.map_or_else(|| id.params.clone(), |choice| choice.params.clone()),
            target: readable.map_or_else(|| self.selection.first_target(), |readable| readable.target_index),
            work,
            state,
            cache: choice.map_or(Cache::Through, |choice| choice.method.cache),
            decoded_format: spec.form.archive,
            start_session: spec.entry.start,
            command_rules: spec.entry.command.clone(),
            id,
        };
        match resolved {
            Ok(_) if state == CacheState::Warm && trial.bypasses_cache() => {
                report_bypass_if_only_warm(&mut self.plan, trial);
            }
            Ok(_) if is_measured_in_other_state(&self.plan, &trial) => {}
            Ok(resolved) => self.plan.trials.push(resolved.planned_trial(trial, spec.entry.named_by)),
            Err(error) => {
                let outcome = Outcome::Unavailable { reason: error.to_string() };
                self.plan.absent_trials.push((trial, outcome));
            }
        }
    }

    /// Whether the trial is a suite's and its method reads ranges of a server's content where the
    /// whole content is raced, or the whole content where ranges are raced.
    fn is_suite_method_for_other_extent(&self, spec: &TrialSpec, readable: &ReadableTarget) -> bool {
        let method = self.contenders.method(&spec.id.method);
        let reads_it = method.is_none_or(|method| reads_extent(method, spec.form.over, readable));
        spec.entry.named_by == NamedBy::Suite && !reads_it
    }

    fn resolve(
        &self,
        spec: &TrialSpec,
        work: Work,
        readable: Option<&ReadableTarget>,
    ) -> Result<ResolvedTrial, ResolveError> {
        // The contenders of other transports are not started.
        if !self.selection.transports().contains(&spec.form.over) {
            return Err(ResolveError::Unavailable(no_target_words(spec.form.over).to_owned()));
        }
        if self.contenders.contender(&spec.id.method.contender).is_none() {
            return Err(ResolveError::NoContender(spec.id.method.contender.clone()));
        }
        let readable = self.readable_by(spec, work, readable).map_err(ResolveError::Unavailable)?;
        let requested = spec.entry.command.requested_work(work);
        let resolved = resolve(self.contenders, &spec.id.method, &spec.id.params, requested)?;
        check_can_read(&resolved.choice, spec.form.over, readable)?;
        Ok(resolved)
    }

    /// The target, or why a trial cannot read it or cannot do this work on it.
    fn readable_by<'t>(
        &self,
        spec: &TrialSpec,
        work: Work,
        readable: Option<&'t ReadableTarget>,
    ) -> Result<&'t ReadableTarget, String> {
        let TargetForm { archive, over } = spec.form;
        let noun = archive.map(Archive::noun).unwrap_or_default();
        let decodes = self.contenders.method(&spec.id.method).map_or(&[][..], |method| &method.decodes);
        let SuiteEntry { possible_works: answers, needs_dictionary: has_dictionary, files_max, .. } =
            &spec.entry;
        let Some(readable) = readable else {
            let why = if over == Transport::File { "the target is none" } else { "only files are decoded" };
            return Err(format!("it reads what comes out of {noun}, and {why}"));
        };
        if let Some(reason) = &readable.unreadable_reason {
            return Err(reason.clone());
        }
        if is_for_other_dictionary(spec, readable) {
            return Err(match has_dictionary {
                true => "it decodes with a dictionary, and --dictionary names none".to_owned(),
                false => "it decodes without a dictionary".to_owned(),
            });
        }
        if archive.is_some_and(|it| !decodes.is_empty() && !decodes.contains(&it)) {
            return Err(format!("it does not decode {noun}"));
        }
        if !answers.is_empty() && !answers.contains(&work) {
            let words: Vec<&str> = answers.iter().map(|work| work.word()).collect();
            return Err(format!("it answers {}, and never {work}", words.join(" or ")));
        }
        match *files_max {
            Some(most) if readable.file_count > most => {
                Err(format!("of more than {most} files only with --all, or if its method is named"))
            }
            _ => Ok(readable),
        }
    }
}

/// Why no target can be read over this transport in a run without such a target.
fn no_target_words(over: Transport) -> &'static str {
    match over {
        Transport::File => "it reads files, and no target is one",
        Transport::Http => "no target is read over http",
        Transport::S3 => "no target is read over s3",
        Transport::Tree => "no target is a folder or a list",
        Transport::Places => "no target is a file whose places are picked (by `places` of the suite)",
    }
}

/// Whether a suite's command decodes with a dictionary although the user names none, or without one
/// although the user names one.
fn is_for_other_dictionary(spec: &TrialSpec, readable: &ReadableTarget) -> bool {
    let is_of_suite = spec.id.method.contender == COMMAND && spec.entry.named_by == NamedBy::Suite;
    is_of_suite && spec.form.archive.is_some() && spec.entry.needs_dictionary != readable.has_dictionary
}

/// Name of the parameter of methods that request byte ranges.
const PART_PARAMETER: &str = "part_bytes";

/// Whether a method reads the part of a server's content that is raced: all of it, or the ranges of
/// a list. Always true for controls, which do not read the target.
fn reads_extent(method: &MethodLine, over: Transport, readable: &ReadableTarget) -> bool {
    !over.has_server() || method.cache == Cache::None || method.ranges == readable.has_only_ranges_read
}

/// Refuses a method that cannot read the target.
fn check_can_read(
    choice: &ResolvedMethod,
    over: Transport,
    readable: &ReadableTarget,
) -> Result<(), ResolveError> {
    let method = &choice.method;
    let (reads, decodes, is_suited) = (method.reads, !method.decodes.is_empty(), over.suits(method));
    let needs_ranges = method.ranges || method.params.iter().any(|param| param.name == PART_PARAMETER);
    let lacks_ranges = needs_ranges && !readable.answers_ranges;
    let other_walk = readable.other_walk.filter(|_| reads == Reads::Folder);
    let lacks_extent = !reads_extent(method, over, readable);
    let lacks_tls = readable.is_encrypted && !method.tls && reads != Reads::Object;
    let what = match over {
        _ if readable.has_dictionary && decodes && !method.dictionary => "it decodes without a dictionary",
        _ if readable.is_part && !method.parts => "it reads whole files, and only a part of one is read",
        _ if is_suited && lacks_extent && method.ranges => {
            "it reads the ranges of a list, which --ranges names, and the whole is read"
        }
        _ if is_suited && lacks_extent => {
            "it reads the whole content, and only the ranges of a list are read"
        }
        _ if is_suited && lacks_tls => "it does not read with encryption, and the server's URL is https",
        Transport::Tree if other_walk == Some(WalkDifference::Listed) => {
            "it walks a folder, and the files are from a list"
        }
        Transport::Tree if other_walk == Some(WalkDifference::FollowedLinks) => {
            "it walks the folder and follows no links"
        }
        Transport::Tree if other_walk == Some(WalkDifference::OwnFilesLeftOut) => {
            "it walks the folder, and would also read what readlab writes there"
        }
        Transport::Tree if other_walk == Some(WalkDifference::EntriesLeftOut) => {
            "it walks the folder, and some files below it are left out"
        }
        _ if is_suited && lacks_ranges => {
            "it requests ranges, and the server does not say that it answers them (Accept-Ranges)"
        }
        _ if is_suited => return Ok(()),
        _ if reads == Reads::Places => "it reads places of a file, which --pattern picks or --ranges names",
        Transport::Places => "it reads whole files, and only places of one are read",
        Transport::Tree => "it reads single files, and the target is a folder or a list",
        Transport::File if matches!(reads, Reads::List | Reads::Folder) => {
            "it reads the files of a folder or a list, and the target is a single file"
        }
        Transport::File => {
            "it reads from servers, and the target is a file (`readlab race --http` serves it)"
        }
        Transport::Http if reads == Reads::Object => "it reads objects of S3 stores, and the target is a URL",
        Transport::Http => "it reads files, and the target is a URL",
        Transport::S3 => "it reads files, and the target is an object",
    };
    Err(ResolveError::Unavailable(what.to_owned()))
}

/// Whether a trial measures a limit that another state measures. The device's limit is measured in
/// the cold state, and limits of cached files in the warm state, unless only the cold state is
/// raced.
fn is_measured_in_other_state(plan: &Plan, trial: &Trial) -> bool {
    match trial.limit_kind() {
        Some(LimitKind::Device) => trial.state == CacheState::Warm,
        Some(LimitKind::Memory) | None => false,
        // The controls of these limits do not read the target itself, so its cold state is
        // irrelevant.
        Some(_) => trial.state == CacheState::Cold && plan.states.contains(&CacheState::Warm),
    }
}

/// Reports that a method bypasses the page cache, unless the cold state is raced, in which it is
/// judged.
fn report_bypass_if_only_warm(plan: &mut Plan, trial: Trial) {
    if !plan.states.contains(&CacheState::Cold) {
        let reason = "reads past the page cache: judged among the cold".to_owned();
        plan.absent_trials.push((trial, Outcome::Unavailable { reason }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_measure::plan::testing::{WARM, rules_for_readings};

    #[test]
    fn a_trial_of_a_users_suite_without_a_target_of_its_transport_is_reported() {
        let entry = |trial: &str, over, named_by| SuiteEntry {
            trial: trial.to_owned(),
            over,
            named_by,
            ..SuiteEntry::default()
        };
        let selection = TrialSelection {
            entries: vec![
                entry("mine/object", Transport::S3, NamedBy::User),
                entry("other/url", Transport::Http, NamedBy::Suite),
            ],
            readable: ReadableTarget::single_file(Work::Newlines),
            reports_unreadable: true,
            ..TrialSelection::default()
        };
        let planned = plan(&Contenders::default(), &selection, &[WARM], rules_for_readings(1)).unwrap();
        let absent = planned.absent_trials.iter();
        let absent: Vec<_> =
            absent.map(|(trial, outcome)| (trial.id.to_string(), outcome.reason())).collect();
        assert_eq!(absent, [("mine/object".to_owned(), Some("no target is read over s3"))]);
    }
}
