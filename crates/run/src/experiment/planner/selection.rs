//! What the user and the suite select: trials by name, globs, settings, and what there is to read.
//! Which contenders take part is found out in [`super::Contenders`].

use super::MethodPattern;
use readlab_catalog::language::LanguageChoice;
use readlab_model::corpus::Form;
use readlab_model::trial::{COMMAND, MethodId, Params, Transport, TrialError, TrialId, Work};
use readlab_protocol::{Archive, MethodLine};
use readlab_roster::discovery::Contenders;
use readlab_suite::Entry;
use readlab_targets::target::tree::OtherWalk;
use std::collections::{BTreeMap, BTreeSet};

/// What is selected, before it is resolved against what contenders offer.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Trials by name, with labels.
    pub entries: Vec<Entry>,
    /// If there are any, only the methods and scans that one of these matches take part, and the
    /// controls and commands among the entries.
    pub globs: Vec<String>,
    pub params: Params,
    pub readable: ReadableTargets,
    /// The reference that the user named. It takes part, whatever else is selected.
    pub reference: Option<TrialId>,
    /// The languages that take part, beside the controls, the commands and the reference.
    pub languages: LanguageChoice,
    /// Whether an entry that cannot read the target is reported with the reason, or left out.
    pub reports_unreadable: bool,
}

/// The form in which trials read a target.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct TargetForm {
    /// The archive that is decoded, if there is one.
    pub archive: Form,
    /// Over which transport the bytes come. Archives are decoded from files only.
    pub over: Transport,
}

/// What trials may read of the targets.
pub type ReadableTargets = BTreeMap<TargetForm, ReadableTarget>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadableTarget {
    pub target: usize,
    /// What is done with the bytes unless a trial says otherwise.
    pub work: Work,
    pub is_part: bool,
    /// Whether it is a zstd that is decoded with a dictionary.
    pub has_dictionary: bool,
    /// Whether its server speaks with encryption only.
    pub is_encrypted: bool,
    pub has_ranges: bool,
    /// Why a walk of a tree's folder finds other files than those that are read, if so.
    pub other_walk: Option<OtherWalk>,
    pub files: u64,
    pub broken: Option<String>,
}

impl ReadableTarget {
    /// All bytes of a target that can be read.
    pub fn plain(target: usize, work: Work) -> ReadableTarget {
        ReadableTarget {
            target,
            work,
            is_part: false,
            has_dictionary: false,
            is_encrypted: false,
            has_ranges: true,
            other_walk: None,
            files: 1,
            broken: None,
        }
    }

    /// The bytes of a single file as they are.
    pub fn of_bytes(work: Work) -> ReadableTargets {
        ReadableTargets::from([(TargetForm::default(), ReadableTarget::plain(0, work))])
    }
}

/// One trial by name, before it is resolved against what its contender offers.
#[derive(Debug, Clone)]
pub(super) struct TrialSpec {
    pub(super) id: TrialId,
    pub(super) form: TargetForm,
    /// What a suite says of it beside its name and its form.
    pub(super) entry: Entry,
    /// Whether it is reported with the reason, or left out, if it cannot read the target.
    pub(super) is_reported: bool,
}

impl TrialSpec {
    /// A trial of which nothing but its name is said.
    pub(super) fn new(id: TrialId, form: TargetForm) -> TrialSpec {
        TrialSpec { id, form, entry: Entry::default(), is_reported: true }
    }
}

impl Selection {
    pub(super) fn admits(&self, contenders: &Contenders, id: &MethodId) -> bool {
        id.contender == COMMAND || contenders.is_control(id) || self.languages.admits(&id.contender)
    }

    /// What is done with what a trial reads.
    pub(super) fn work(&self, form: TargetForm) -> Work {
        let readable = self.readable.get(&form).or_else(|| self.readable.values().next());
        readable.map_or(Work::Sum, |readable| readable.work)
    }

    pub(super) fn overs(&self) -> BTreeSet<Transport> {
        self.readable.keys().map(|form| form.over).collect()
    }

    /// The forms that a method can read here, each with `true`. If there is none: one form for each
    /// transport, with `false`.
    pub(super) fn forms_of(&self, method: &MethodLine) -> Vec<(TargetForm, bool)> {
        let overs = self.overs();
        let archives: Vec<Form> = match &method.decodes[..] {
            [] => vec![None],
            decoded => decoded.iter().copied().map(Some).collect(),
        };
        let forms = |over: Transport| archives.iter().map(move |&archive| TargetForm { archive, over });
        let suited = overs.iter().filter(|over| over.suits(method)).flat_map(|&over| forms(over));
        let here: Vec<_> =
            suited.filter(|form| self.readable.contains_key(form)).map(|form| (form, true)).collect();
        if here.is_empty() {
            return overs.iter().map(|&over| (TargetForm { archive: archives[0], over }, false)).collect();
        }
        here
    }

    /// What an entry reads: the archive that it names, else the one that its method decodes.
    pub(super) fn form_of(&self, contenders: &Contenders, entry: &TrialSpec) -> TargetForm {
        let over = entry.form.over;
        let decoded = || {
            let decodes = &contenders.method(&entry.id.method)?.decodes;
            let is_there = |archive: &&Archive| {
                self.readable.contains_key(&TargetForm { archive: Some(**archive), over })
            };
            decodes.iter().find(is_there).or(decodes.first()).copied()
        };
        TargetForm { archive: entry.form.archive.or_else(decoded), over }
    }

    /// Its trials by name, without those that read over a transport which no target has: methods
    /// that read URLs for a file, and methods that read files for a URL.
    pub(super) fn named(&self) -> impl Iterator<Item = Result<TrialSpec, TrialError>> {
        let overs = self.overs();
        self.entries.iter().filter(move |entry| overs.contains(&entry.over)).map(|entry| self.name(entry))
    }

    /// Whether one of the commands has this name. A `{}` in the name is the place of the path.
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
        let form = TargetForm { archive: entry.form, over: entry.over };
        Ok(TrialSpec { id, form, entry: entry.clone(), is_reported: self.reports_unreadable })
    }

    /// A method that a glob matched. If an entry names it too, the work and the form are those of
    /// the entry.
    pub(super) fn like_named(&self, method: MethodId, params: Params, form: TargetForm) -> TrialSpec {
        let mut entries = self.named().filter_map(Result::ok);
        let same = |entry: &TrialSpec| {
            let names = (&entry.id.method.contender, &entry.id.method.method);
            names == (&method.contender, &method.method)
                && entry.form.over == form.over
                && (entry.form.archive == form.archive || form.archive.is_none())
        };
        let (work, form) = entries.find(same).map_or((None, form), |named| (named.entry.work, named.form));
        let entry = Entry { work, ..Entry::default() };
        TrialSpec { entry, ..TrialSpec::new(TrialId::new(method, &params), form) }
    }
}
