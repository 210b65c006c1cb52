//! Names of trials: short ones, without what all trials of a record share, and labels of rows.

use super::inside::Inside;
use super::ranking::RankingRow;
use readlab_model::trial::{COMMAND, TrialIndex};
use readlab_record::{Record, Trial};
use std::collections::{BTreeMap, BTreeSet};

/// The rules for short names of the trials of one record.
pub(super) struct ShortNames {
    /// Whether short names include the contender, because several contenders have programs of their
    /// own.
    contenders: bool,
    /// Short names that would name more than one trial.
    ambiguous: BTreeSet<String>,
}

impl ShortNames {
    pub(super) fn for_record(record: &Record) -> ShortNames {
        let trials = || record.trials.iter().map(|it| &it.trial);
        let programs: BTreeSet<&str> = trials().map(Trial::contender).filter(|it| *it != COMMAND).collect();
        let contenders = programs.len() > 1;
        let mut owners: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for trial in trials() {
            owners.entry(shortened(trial, contenders)).or_default().insert(trial.id.to_string());
        }
        let ambiguous = owners.into_iter().filter(|(_, ids)| ids.len() > 1).map(|(short, _)| short);
        ShortNames { contenders, ambiguous: ambiguous.collect() }
    }

    /// The short name, such as `mmap avx512 · threads=2`, or the label of a suite; the full name if
    /// the short one is ambiguous.
    pub(super) fn short(&self, trial: &Trial) -> String {
        let short = shortened(trial, self.contenders);
        if self.ambiguous.contains(&short) { trial.id.to_string() } else { short }
    }
}

fn shortened(trial: &Trial, contenders: bool) -> String {
    if let Some(label) = &trial.label {
        return label.clone();
    }
    let method = &trial.id.method;
    if method.contender == COMMAND {
        return method.method.trim_end_matches(" {}").to_owned();
    }
    let mut words: Vec<&str> = Vec::new();
    words.extend(contenders.then_some(method.contender.as_str()));
    words.push(&method.method);
    words.extend(method.scan.as_deref());
    let name = words.join(" ");
    let params = trial.id.params.to_string();
    if params.is_empty() { name } else { format!("{name} · {}", params.replace(',', " · ")) }
}

/// The label of a method's row in a table or chart. The filter of the page finds rows by the index
/// of the trial, and the language sets the colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MethodLabel<'a> {
    pub(super) trial: TrialIndex,
    /// The shortest name that no other trial of the record has.
    pub(super) short: &'a str,
    pub(super) name: &'a str,
    pub(super) language: &'a str,
}

impl<'a> From<&'a RankingRow> for MethodLabel<'a> {
    fn from(row: &'a RankingRow) -> MethodLabel<'a> {
        MethodLabel { trial: row.index, short: &row.short, name: &row.name, language: &row.language }
    }
}

impl<'a> From<&'a Inside> for MethodLabel<'a> {
    fn from(it: &'a Inside) -> MethodLabel<'a> {
        MethodLabel { trial: it.trial, short: &it.short, name: &it.name, language: &it.language }
    }
}
