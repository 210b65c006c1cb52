//! The short names of trials: without what all trials of a record have in common.

use readlab_model::trial::COMMAND;
use readlab_record::{Record, Trial};
use std::collections::{BTreeMap, BTreeSet};

/// How the trials of one record are called where there is little room.
pub(super) struct ShortNames {
    /// Whether contenders must be named, as there are several in programs of their own.
    contenders: bool,
    /// Short names that more than one trial would have.
    ambiguous: BTreeSet<String>,
}

impl ShortNames {
    /// From all trials of a record.
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

    /// `mmap avx512 · threads=2`; a suite's own label where there is one; the whole name where that
    /// would name two trials.
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
