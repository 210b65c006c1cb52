//! A suite: a list of trials with their labels and rules, as a TOML file. Published experiments and the default line-up
//! of a race are such files; so is anybody's own.
//!
//! Only what the file says lives here; [`crate::measure::lineup`] turns it into a plan for this machine.

use crate::corpus::Form;
use crate::corpus::recipe::Recipe;
use crate::printable::toml_cause;
use crate::trial::{Over, Work};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The suites that come with readlab, by name.
const BUILT_IN: [(&str, &str); 6] = [
    ("race", include_str!("../../suites/race.toml")),
    ("newlines", include_str!("../../suites/newlines.toml")),
    ("byte-stream", include_str!("../../suites/byte-stream.toml")),
    ("zip-lines", include_str!("../../suites/zip-lines.toml")),
    ("limits", include_str!("../../suites/limits.toml")),
    ("tune", include_str!("../../suites/tune.toml")),
];

/// A suite file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// Its name.
    pub name: String,
    /// What it asks, in one or two sentences.
    pub about: String,
    /// What is done with the bytes; absent: newlines for text, sum for anything else.
    #[serde(default)]
    pub work: Option<Work>,
    /// The states of the cache: `cold`, `warm` or `both`.
    #[serde(default)]
    pub state: States,
    /// What it reads when the user names no target.
    #[serde(default)]
    pub corpus: Option<Recipe>,
    /// The same in the size of the publication, where that is too large for every day.
    #[serde(default)]
    pub full: Option<Recipe>,
    /// The trial against which ratios are made.
    #[serde(default)]
    pub reference: Option<String>,
    /// Timed readings at least, if the suite has a rule of its own.
    #[serde(default)]
    pub min_runs: Option<u32>,
    /// Timed readings at most, if the suite has a rule of its own.
    #[serde(default)]
    pub max_runs: Option<u32>,
    /// Time of timed readings at most for each trial, such as `30s`.
    #[serde(default)]
    pub max_time: Option<String>,
    /// Time that the whole run aims at, such as `8m`.
    #[serde(default)]
    pub budget: Option<String>,
    /// The published results that belong to it, such as `linux-newlines`.
    #[serde(default)]
    pub published: Option<String>,
    /// Whether it is a file of the user's own, who then asked for each of its trials.
    #[serde(skip)]
    pub is_own_file: bool,
    /// Its trials, in the order of its tables.
    #[serde(rename = "trial")]
    pub entries: Vec<Entry>,
}

/// One trial of a suite.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Its name, such as `rust/mmap/avx2`; the value `all` of a parameter stands for the number of processors.
    pub trial: String,
    /// What the suite calls it.
    #[serde(default)]
    pub label: Option<String>,
    /// What is done with the bytes, if it is not what the suite says.
    #[serde(default)]
    pub work: Option<Work>,
    /// The works that it can do, for a command that always answers the same; without, any.
    #[serde(default)]
    pub answers: Vec<Work>,
    /// The archive whose content it reads, such as `zip`: the corpus in that form, or a target that is one. Without, bytes
    /// as they lie, unless its method says that it decodes.
    #[serde(default, rename = "target")]
    pub form: Form,
    /// Over what its bytes come: the file itself, or a server.
    #[serde(default)]
    pub over: Over,
    /// What the publication calls it, where that is something else.
    #[serde(default)]
    pub published: Option<String>,
}

/// Which states of the cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum States {
    /// Nothing of the file in the page cache.
    Cold,
    /// All of it.
    Warm,
    /// First the one, then the other.
    #[default]
    Both,
}

/// Why there is no such suite.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// Neither a built-in name nor a file.
    #[error("{name}: no suite of this name and no such file (suites: {known})")]
    Unknown {
        /// What was asked for.
        name: String,
        /// The built-in names.
        known: String,
    },
    /// The file is no suite.
    #[error("{path}: {cause}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Where and why.
        cause: String,
    },
}

impl Suite {
    /// The names of the built-in suites.
    #[must_use]
    pub fn names() -> Vec<&'static str> {
        BUILT_IN.iter().map(|(name, _)| *name).collect()
    }

    /// The default line-up of a race.
    #[must_use]
    pub fn race() -> Suite {
        Suite::find("race").expect("the built-in suites are checked by a test")
    }

    /// A built-in suite by name, or any by its file's path.
    ///
    /// # Errors
    /// If there is none, or the file is no suite.
    pub fn find(name: &str) -> Result<Suite, SuiteError> {
        let path = Path::new(name);
        if let Some((_, text)) = BUILT_IN.iter().find(|(built_in, _)| *built_in == name) {
            return Suite::parse(path, text);
        }
        let text = std::fs::read_to_string(path)
            .map_err(|_| SuiteError::Unknown { name: name.to_owned(), known: Suite::names().join(", ") })?;
        Ok(Suite { is_own_file: true, ..Suite::parse(path, &text)? })
    }

    /// A suite from its text; `path` is named where it is none.
    ///
    /// # Errors
    /// If it is no suite.
    pub fn parse(path: &Path, text: &str) -> Result<Suite, SuiteError> {
        toml::from_str(text)
            .map_err(|error| SuiteError::Malformed { path: path.to_owned(), cause: toml_cause(text, &error) })
    }
}

impl Suite {
    /// Whether some of its trials read over http.
    #[must_use]
    pub fn reads_over_http(&self) -> bool {
        self.entries.iter().any(|entry| entry.over == Over::Http)
    }

    /// The forms of the corpus that its trials read; the plain one is the first in any case.
    #[must_use]
    pub fn forms(&self) -> Vec<Form> {
        let read: BTreeSet<Form> = self.entries.iter().map(|entry| entry.form).chain([None]).collect();
        read.into_iter().collect()
    }
}

impl States {
    /// The states themselves, in the order in which they are measured.
    #[must_use]
    pub fn list(self) -> Vec<crate::trial::CacheState> {
        use crate::trial::CacheState::{Cold, Warm};
        match self {
            States::Cold => vec![Cold],
            States::Warm => vec![Warm],
            States::Both => vec![Cold, Warm],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_suite_is_whole() {
        for name in Suite::names() {
            let suite = Suite::find(name).unwrap();
            assert_eq!(suite.name, name);
            let labels: BTreeSet<_> =
                suite.entries.iter().map(|e| (&e.label, &e.trial, e.over, e.form)).collect();
            assert!(
                suite.entries.iter().all(|entry| entry
                    .trial
                    .replace("=all", "=2")
                    .parse::<crate::trial::TrialId>()
                    .is_ok())
            );
            assert_eq!(labels.len(), suite.entries.len(), "{name}: entries are unique");
        }
    }

    #[test]
    fn an_unknown_suite_is_an_error_that_lists_the_known() {
        let error = Suite::find("no-such-suite").unwrap_err().to_string();
        assert!(error.contains("newlines"), "{error}");
    }
}
