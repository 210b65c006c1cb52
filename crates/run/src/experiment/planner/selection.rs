//! The selection of the user and the suite: trials by name, globs, settings, and readable forms of
//! the targets. [`super::Contenders`] decides which contenders take part.

use super::{MethodPattern, reads_extent};
use readlab_catalog::language::LanguageChoice;
use readlab_model::corpus::FileForm;
use readlab_model::target::TargetIndex;
use readlab_model::trial::{COMMAND, MethodId, Params, Transport, TrialError, TrialId, Work};
use readlab_protocol::{Archive, MethodLine};
use readlab_roster::discovery::Contenders;
use readlab_suite::{NamedBy, SuiteEntry};
use readlab_targets::target::tree::WalkDifference;
use std::collections::{BTreeMap, BTreeSet};

/// The selection before it is resolved against the contenders' methods.
#[derive(Debug, Clone, Default)]
pub struct TrialSelection {
    /// Trials by name, with labels.
    pub entries: Vec<SuiteEntry>,
    /// If not empty, only methods and scans that match one of these take part, and the controls and
    /// commands among the entries.
    pub globs: Vec<String>,
    pub params: Params,
    /// The gaps in bytes up to which ranges are merged. Each method that merges ranges takes part
    /// with each gap.
    pub merge_gaps_bytes: Vec<u64>,
    pub readable: ReadableTargets,
    /// The reference that the user named. It always takes part.
    pub reference: Option<TrialId>,
    /// The languages that take part; controls, commands and the reference always do.
    pub languages: LanguageChoice,
    /// Whether an entry that cannot read the target is reported with the reason, instead of being
    /// left out.
    pub reports_unreadable: bool,
}

/// The form in which trials read a target.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct TargetForm {
    /// The archive that is decoded; `None` if the bytes are read as they are.
    pub archive: FileForm,
    /// Transport of the bytes. Archives are decoded from files only.
    pub over: Transport,
}

/// The forms of the targets that trials may read.
pub type ReadableTargets = BTreeMap<TargetForm, ReadableTarget>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadableTarget {
    /// The number of the target in the record.
    pub target_index: TargetIndex,
    /// The work on the bytes, unless a trial names another.
    pub work: Work,
    /// Whether only a part of the file is read.
    pub is_part: bool,
    /// Whether only the ranges of a list are read from a server.
    pub has_only_ranges_read: bool,
    /// Whether the target is a zstd archive that needs a dictionary.
    pub has_dictionary: bool,
    /// Whether the target's server accepts only encrypted connections.
    pub is_encrypted: bool,
    /// Whether the target's server answers requests for ranges; true for files.
    pub answers_ranges: bool,
    /// Why walking the folder of a tree would find other files than the tree has; `None` if it
    /// would find the same files.
    pub other_walk: Option<WalkDifference>,
    pub file_count: u64,
    /// Why no trial can read the target; `None` if trials can.
    pub unreadable_reason: Option<String>,
}

impl ReadableTarget {
    /// A target whose bytes are all read as they are.
    pub fn plain(target_index: TargetIndex, work: Work) -> ReadableTarget {
        ReadableTarget {
            target_index,
            work,
            is_part: false,
            has_only_ranges_read: false,
            has_dictionary: false,
            is_encrypted: false,
            answers_ranges: true,
            other_walk: None,
            file_count: 1,
            unreadable_reason: None,
        }
    }

    /// The bytes of a single file, not decoded.
    pub fn single_file(work: Work) -> ReadableTargets {
        ReadableTargets::from([(TargetForm::default(), ReadableTarget::plain(TargetIndex::new(0), work))])
    }
}

/// One trial by name, before it is resolved against its contender's methods.
#[derive(Debug, Clone)]
pub(super) struct TrialSpec {
    pub(super) id: TrialId,
    pub(super) form: TargetForm,
    pub(super) entry: SuiteEntry,
    /// Whether a trial that cannot read the target is reported with the reason, instead of being
    /// left out.
    pub(super) is_reported_if_unreadable: bool,
}

impl TrialSpec {
    /// A trial without a suite's entry.
    pub(super) fn new(id: TrialId, form: TargetForm) -> TrialSpec {
        TrialSpec { id, form, entry: SuiteEntry::default(), is_reported_if_unreadable: true }
    }
}

impl TrialSelection {
    pub(super) fn admits(&self, contenders: &Contenders, id: &MethodId) -> bool {
        id.contender == COMMAND || contenders.is_control(id) || self.languages.admits(&id.contender)
    }

    /// The work of trials that read this form.
    pub(super) fn work(&self, form: TargetForm) -> Work {
        let readable = self.readable.get(&form).or_else(|| self.readable.values().next());
        readable.map_or(Work::Sum, |readable| readable.work)
    }

    /// The first of the targets, at which trials are reported that can read none of the targets.
    pub(super) fn first_target(&self) -> TargetIndex {
        self.readable.values().map(|readable| readable.target_index).min().unwrap_or_default()
    }

    pub(super) fn transports(&self) -> BTreeSet<Transport> {
        self.readable.keys().map(|form| form.over).collect()
    }

    /// The forms that a method can read here, each with `true`. If it can read none, one form for
    /// each transport, with `false`.
    pub(super) fn forms_of(&self, method: &MethodLine) -> Vec<(TargetForm, bool)> {
        let transports = self.transports();
        let archives: Vec<FileForm> = match &method.decodes[..] {
            [] => vec![None],
            decoded => decoded.iter().copied().map(Some).collect(),
        };
        let forms = |over: Transport| archives.iter().map(move |&archive| TargetForm { archive, over });
        let suited = transports.iter().filter(|over| over.suits(method)).flat_map(|&over| forms(over));
        let is_here = |form: &TargetForm| {
            self.readable.get(form).is_some_and(|readable| reads_extent(method, form.over, readable))
        };
        let here: Vec<_> = suited.filter(is_here).map(|form| (form, true)).collect();
        if here.is_empty() {
            return transports
                .iter()
                .map(|&over| (TargetForm { archive: archives[0], over }, false))
                .collect();
        }
        here
    }

    /// The form that an entry reads: the archive that it names, or else the archive that its method
    /// decodes.
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

    /// The trials of the entries. Leaves out trials whose transport no target has: methods that
    /// read URLs for a file, and methods that read files for a URL.
    pub(super) fn entry_specs(&self) -> impl Iterator<Item = Result<TrialSpec, TrialError>> {
        let transports = self.transports();
        self.entries
            .iter()
            .filter(move |entry| transports.contains(&entry.over))
            .map(|entry| self.spec_of(entry))
    }

    /// The trials of a user's suite whose transport no target has. They are reported with the
    /// reason.
    pub(super) fn specs_without_target(&self) -> impl Iterator<Item = Result<TrialSpec, TrialError>> {
        let transports = self.transports();
        let is_reported = self.reports_unreadable;
        let is_named = |entry: &&SuiteEntry| entry.named_by == NamedBy::User && !entry.is_added_control;
        self.entries
            .iter()
            .filter(is_named)
            .filter(move |entry| is_reported && !transports.contains(&entry.over))
            .map(|entry| self.spec_of(entry))
    }

    /// Whether a command of the entries has this name. A `{}` in the name is the placeholder of the
    /// path.
    pub(super) fn has_command(&self, name: &str) -> bool {
        name.parse::<TrialId>().is_ok_and(|named| self.commands().any(|id| id == named.method))
    }

    /// Whether the pattern matches a command of the entries.
    pub(super) fn has_command_like(&self, pattern: &MethodPattern) -> bool {
        self.commands().any(|id| pattern.matches(&id))
    }

    fn commands(&self) -> impl Iterator<Item = MethodId> {
        let named = self.entry_specs().filter_map(Result::ok).map(|entry| entry.id.method);
        named.filter(|id| id.contender == COMMAND)
    }

    pub(super) fn spec_of(&self, entry: &SuiteEntry) -> Result<TrialSpec, TrialError> {
        let id = TrialId::parse_written(&entry.trial)?;
        let form = TargetForm { archive: entry.form, over: entry.over };
        Ok(TrialSpec { id, form, entry: entry.clone(), is_reported_if_unreadable: self.reports_unreadable })
    }

    /// The trial of a method that a glob matched. If an entry names the method too, it has the work
    /// and the form of the entry.
    pub(super) fn spec_like_entry(&self, method: MethodId, params: Params, form: TargetForm) -> TrialSpec {
        let mut entries = self.entry_specs().filter_map(Result::ok);
        let same = |entry: &TrialSpec| {
            let names = (&entry.id.method.contender, &entry.id.method.method);
            names == (&method.contender, &method.method)
                && entry.form.over == form.over
                && (entry.form.archive == form.archive || form.archive.is_none())
        };
        let (work, form) = entries.find(same).map_or((None, form), |named| (named.entry.work, named.form));
        let entry = SuiteEntry { work, ..SuiteEntry::default() };
        TrialSpec { entry, ..TrialSpec::new(TrialId::new(method, &params), form) }
    }
}
