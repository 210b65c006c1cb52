//! Names of trials: short names, in which the parts that all trials of a record share are left out,
//! and labels of rows. Names of targets: the ends of their paths.

use super::inside::InspectedTrial;
use super::ranking::RankingRow;
use readlab_model::target::{TargetFacts, Targets};
use readlab_model::trial::{COMMAND, TrialIndex};
use readlab_record::{Record, Trial};
use std::collections::{BTreeMap, BTreeSet};

/// The rules for short names of the trials of one record.
pub(super) struct ShortNames {
    /// Whether short names include the contender: the record has several contenders besides
    /// commands.
    includes_contender: bool,
    /// Short names that would name more than one trial.
    ambiguous: BTreeSet<String>,
}

impl ShortNames {
    pub(super) fn for_record(record: &Record) -> ShortNames {
        let trials = || record.trials.iter().map(|it| &it.trial);
        let programs: BTreeSet<&str> = trials().map(Trial::contender).filter(|it| *it != COMMAND).collect();
        let includes_contender = programs.len() > 1;
        let mut owners: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for trial in trials() {
            owners.entry(shortened_name(trial, includes_contender)).or_default().insert(trial.id.to_string());
        }
        let ambiguous = owners.into_iter().filter(|(_, ids)| ids.len() > 1).map(|(short, _)| short);
        ShortNames { includes_contender, ambiguous: ambiguous.collect() }
    }

    /// The short name, such as `mmap avx512 · threads=2`, or the label of a suite; the full name if
    /// the short one is ambiguous.
    pub(super) fn short_name(&self, trial: &Trial) -> String {
        let short = shortened_name(trial, self.includes_contender);
        if self.ambiguous.contains(&short) { trial.id.to_string() } else { short }
    }
}

fn shortened_name(trial: &Trial, includes_contender: bool) -> String {
    if let Some(label) = &trial.label {
        return label.clone();
    }
    let method = &trial.id.method;
    if method.contender == COMMAND {
        return method.method.trim_end_matches(" {}").to_owned();
    }
    let mut words: Vec<&str> = Vec::new();
    words.extend(includes_contender.then_some(method.contender.as_str()));
    words.push(&method.method);
    words.extend(method.scan.as_deref());
    let name = words.join(" ");
    let params = trial.id.params.to_string();
    if params.is_empty() { name } else { format!("{name} · {}", params.replace(',', " · ")) }
}

/// Short names of targets: the ends of their paths. A name has as many folders before the file name
/// as are needed to distinguish different targets.
pub fn target_names(targets: &Targets<TargetFacts>) -> Targets<String> {
    let paths = || targets.iter().map(|facts| facts.path.as_str());
    let different: BTreeSet<&str> = paths().collect();
    let mut names = BTreeMap::<&str, &str>::new();
    for parts in 1..=paths().map(|path| path.split('/').count()).max().unwrap_or_default() {
        let mut owners = BTreeMap::<&str, usize>::new();
        different.iter().for_each(|path| *owners.entry(last_parts_of(path, parts)).or_default() += 1);
        for &path in &different {
            let end = last_parts_of(path, parts);
            if owners[end] == 1 {
                names.entry(path).or_insert(end);
            }
        }
        if names.len() == different.len() {
            break;
        }
    }
    paths().map(|path| names.get(path).copied().unwrap_or(path).to_owned()).collect()
}

/// The last `parts` parts of a path; the whole path if it has fewer, or if all of them are empty.
fn last_parts_of(path: &str, parts: usize) -> &str {
    let trimmed = path.trim_end_matches('/');
    let begin = trimmed.rmatch_indices('/').nth(parts - 1).map_or(0, |(at, _)| at + 1);
    if trimmed.is_empty() { path } else { &trimmed[begin..] }
}

/// The label of a method's row in a table or chart. The filter of the page finds rows by the index
/// of the trial, and the language sets the colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MethodLabel<'a> {
    pub(super) trial: TrialIndex,
    /// The shortest name that no other trial of the record has.
    pub(super) short_name: &'a str,
    pub(super) name: &'a str,
    pub(super) language: &'a str,
}

impl<'a> From<&'a RankingRow> for MethodLabel<'a> {
    fn from(row: &'a RankingRow) -> MethodLabel<'a> {
        MethodLabel {
            trial: row.index,
            short_name: &row.short_name,
            name: &row.name,
            language: &row.language,
        }
    }
}

impl<'a> From<&'a InspectedTrial> for MethodLabel<'a> {
    fn from(it: &'a InspectedTrial) -> MethodLabel<'a> {
        MethodLabel { trial: it.trial, short_name: &it.short_name, name: &it.name, language: &it.language }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn target_names_are_the_shortest_distinct_ends_of_their_paths() {
        for (paths, names) in [
            (&["/data/f.txt"][..], &["f.txt"][..]),
            (&["/data/f.txt", "/data/f.zip"], &["f.txt", "f.zip"]),
            (&["/ext4/f.txt", "/overlay/f.txt", "/g"], &["ext4/f.txt", "overlay/f.txt", "g"]),
            (&["/a/x/f", "/b/x/f", "/b/y/f"], &["a/x/f", "b/x/f", "y/f"]),
            (&["f", "/data/f"], &["f", "data/f"]),
            (&["/data/f", "/data/f"], &["f", "f"]),
            (&["pictures/", "pictures.tar", "/"], &["pictures", "pictures.tar", "/"]),
        ] {
            let targets: Targets<TargetFacts> =
                paths.iter().map(|path| TargetFacts::with_path(Path::new(path))).collect();
            let found: Vec<String> = target_names(&targets).into_iter().collect();
            assert_eq!(found, names, "{paths:?}");
        }
    }
}
