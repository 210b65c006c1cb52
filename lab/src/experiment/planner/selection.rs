//! What to race, before it is known who can: entries of a suite, globs, settings, and what there is
//! to read in which shape. Who can take part is asked in [`super::Contenders`].

use super::MethodPattern;
use crate::contender::discovery::Contenders;
use crate::corpus::Form;
use crate::suite::Entry;
use crate::trial::{COMMAND, MethodId, Params, Transport, TrialError, TrialId, Work};
use readlab_protocol::{Archive, MethodLine};
use std::collections::{BTreeMap, BTreeSet};

/// What to race, before it is known who can.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Trials by name, with labels.
    pub entries: Vec<Entry>,
    /// If any: the line-up is every method and scan whose name one of these matches, and the
    /// controls.
    pub globs: Vec<String>,
    /// Settings for every method that has them.
    pub params: Params,
    /// What there is to read.
    pub views: ReadableTargets,
    /// Whether the entries were asked for by name: then those that cannot read this target are
    /// told.
    pub told: bool,
}

/// What trials may read: in what form, over what it comes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct TargetForm {
    /// The archive that is decoded for it, if one is.
    pub form: Form,
    /// Over what the bytes come; archives are decoded from files only.
    pub over: Transport,
}

/// What trials may read of the targets.
pub type ReadableTargets = BTreeMap<TargetForm, ReadableTarget>;

/// Something to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadableTarget {
    /// Number of the target.
    pub target: usize,
    /// What is done with the bytes unless a trial says otherwise.
    pub work: Work,
    /// Why it cannot be read, if so.
    pub broken: Option<String>,
}

impl ReadableTarget {
    /// The bytes of a single file as they are.
    #[must_use]
    pub fn of_bytes(work: Work) -> ReadableTargets {
        ReadableTargets::from([(TargetForm::default(), ReadableTarget { target: 0, work, broken: None })])
    }
}

/// One trial by name, before it is known who can.
#[derive(Debug, Clone)]
pub(super) struct TrialSpec {
    pub(super) label: Option<String>,
    pub(super) id: TrialId,
    pub(super) work: Option<Work>,
    pub(super) shape: TargetForm,
    pub(super) answers: Vec<Work>,
    /// Whether its absence is told where the target is no such archive.
    pub(super) told: bool,
}

impl Selection {
    /// What is done with what a trial reads.
    pub(super) fn work(&self, shape: TargetForm) -> Work {
        let view = self.views.get(&shape).or_else(|| self.views.values().next());
        view.map_or(Work::Sum, |view| view.work)
    }

    /// Over what the bytes of the targets come, each once.
    pub(super) fn overs(&self) -> BTreeSet<Transport> {
        self.views.keys().map(|shape| shape.over).collect()
    }

    /// What a method can read here. If there is nothing, what it could if it decodes, and else what
    /// there is.
    pub(super) fn shapes_of(&self, method: &MethodLine) -> Vec<(TargetForm, bool)> {
        let overs = self.overs();
        let forms: Vec<Form> = match &method.decodes[..] {
            [] => vec![None],
            archives => archives.iter().copied().map(Some).collect(),
        };
        let shapes = |over: Transport| forms.iter().map(move |&form| TargetForm { form, over });
        let suited = overs.iter().filter(|over| over.suits(method.reads)).flat_map(|&over| shapes(over));
        let here: Vec<_> =
            suited.filter(|shape| self.views.contains_key(shape)).map(|shape| (shape, true)).collect();
        if here.is_empty() {
            return overs.iter().map(|&over| (TargetForm { form: forms[0], over }, false)).collect();
        }
        here
    }

    /// What an entry reads: the archive that it names, else the one that its method decodes.
    pub(super) fn shape(&self, contenders: &Contenders, entry: &TrialSpec) -> TargetForm {
        let over = entry.shape.over;
        let decoded = || {
            let decodes = &contenders.method(&entry.id.method)?.decodes;
            let is_there =
                |archive: &&Archive| self.views.contains_key(&TargetForm { form: Some(**archive), over });
            decodes.iter().find(is_there).or(decodes.first()).copied()
        };
        TargetForm { form: entry.shape.form.or_else(decoded), over }
    }

    /// Its trials by name, without those whose bytes would come over what no target is reached by:
    /// a file has no line-up of methods that read URLs, and a URL none of those that read files.
    pub(super) fn named(&self) -> impl Iterator<Item = Result<TrialSpec, TrialError>> {
        let overs = self.overs();
        self.entries.iter().filter(move |entry| overs.contains(&entry.over)).map(|entry| self.name(entry))
    }

    /// Whether one of the commands of the user or of the line-up has this name; a `{}` in it is the
    /// place of the path.
    pub(super) fn has_command(&self, name: &str) -> bool {
        name.parse::<TrialId>().is_ok_and(|named| self.commands().any(|id| id == named.method))
    }

    /// Whether the pattern matches one of those commands.
    pub(super) fn has_command_like(&self, pattern: &MethodPattern) -> bool {
        self.commands().any(|id| pattern.matches(&id))
    }

    fn commands(&self) -> impl Iterator<Item = MethodId> {
        let named = self.named().filter_map(Result::ok).map(|entry| entry.id.method);
        named.filter(|id| id.contender == COMMAND)
    }

    /// A suite's entry as a trial's name.
    pub(super) fn name(&self, entry: &Entry) -> Result<TrialSpec, TrialError> {
        let id = TrialId::parse_written(&entry.trial)?;
        let (label, answers) = (entry.label.clone(), entry.answers.clone());
        let shape = TargetForm { form: entry.form, over: entry.over };
        Ok(TrialSpec { label, id, work: entry.work, shape, answers, told: self.told })
    }

    /// A method that a glob matched; where the suite names it too, with the work and the form that
    /// it has there.
    pub(super) fn like_named(&self, method: MethodId, params: Params, shape: TargetForm) -> TrialSpec {
        let mut entries = self.named().filter_map(Result::ok);
        let same = |entry: &TrialSpec| {
            let names = (&entry.id.method.contender, &entry.id.method.method);
            names == (&method.contender, &method.method)
                && entry.shape.over == shape.over
                && (entry.shape.form == shape.form || shape.form.is_none())
        };
        let (work, shape) = entries.find(same).map_or((None, shape), |entry| (entry.work, entry.shape));
        let (label, answers) = (None, Vec::new());
        TrialSpec { label, id: TrialId::new(method, &params), work, shape, answers, told: true }
    }
}
