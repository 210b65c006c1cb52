//! A suite: a list of trials with their labels and rules, as a TOML file. Published experiments and
//! the trials of a race are suite files, and users write their own.
//!
//! Here is the content of the file; `readlab_run::experiment::planner` makes a plan from it.

pub mod parameter_space;
pub mod published;

use readlab_model::corpus::{Form, Recipe};
use readlab_model::trial::{Transport, Work};
use readlab_record::{CommandRules, Focus, Start};
use readlab_system::terminal::printable::toml_cause;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const BUILT_IN: [(&str, &str); 8] = [
    ("race", include_str!("../carried/suites/race.toml")),
    ("newlines", include_str!("../carried/suites/newlines.toml")),
    ("byte-stream", include_str!("../carried/suites/byte-stream.toml")),
    ("zip-lines", include_str!("../carried/suites/zip-lines.toml")),
    ("limits", include_str!("../carried/suites/limits.toml")),
    ("tune", include_str!("../carried/suites/tune.toml")),
    ("commands", include_str!("../carried/suites/commands.toml")),
    ("scale", include_str!("../carried/suites/scale.toml")),
];

/// The controls that take part in every suite, unless it says `controls = false`.
const CONTROLS: &str = include_str!("../carried/suites/controls.toml");

/// Untimed runs that count, for a suite in full: from this number on a 90th percentile is shown.
const FULL_COUNTS: u32 = 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Controls {
    trial: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    pub name: String,
    /// The question that it answers, in one or two sentences.
    pub about: String,
    /// What is done with the bytes; absent: newlines for text, sum for anything else.
    pub work: Option<Work>,
    /// The states of the cache: `cold`, `warm` or `both`.
    #[serde(default)]
    pub state: States,
    /// What it reads when the user names no target.
    pub corpus: Option<Recipe>,
    /// The same in the size of the publication, if that is too large for everyday use.
    pub full: Option<Recipe>,
    /// The trial against which ratios are made.
    pub reference: Option<String>,
    /// Timed readings at least, if the suite has a rule of its own.
    pub min_runs: Option<u32>,
    /// Timed readings at most, if the suite has a rule of its own.
    pub max_runs: Option<u32>,
    /// Time of timed readings at most for each trial, such as `30s`.
    pub max_time: Option<String>,
    /// Time that the whole run aims at, such as `8m`.
    pub budget: Option<String>,
    /// Untimed runs in which is counted what contenders do inside.
    pub counts: Option<u32>,
    #[serde(default)]
    pub focus: Focus,
    /// Whether it is run as it was published: in the size of the publication, and every trial with
    /// its most readings or its most time.
    #[serde(skip)]
    pub is_full: bool,
    /// The user's own file that it is, if it is one: then the user named each of its trials.
    #[serde(skip)]
    pub own_file: Option<PathBuf>,
    #[serde(default = "yes")]
    pub controls: bool,
    /// Its trials in the order of the file, after the controls that it does not name itself.
    #[serde(rename = "trial")]
    pub entries: Vec<Entry>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum NamedBy {
    /// The user, on the command line or in a suite of their own.
    #[default]
    User,
    /// A suite that readlab carries.
    Suite,
}

/// One trial of a suite.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Whether it is a control that the suite itself does not name.
    #[serde(skip)]
    pub is_added: bool,
    #[serde(skip)]
    pub named_by: NamedBy,
    /// Its name, such as `rust/mmap/avx2`; the value `all` is the number of processors.
    pub trial: String,
    pub label: Option<String>,
    /// What is done with the bytes, if it is not what the suite says.
    pub work: Option<Work>,
    /// The works that it can do, for a command that always answers the same. Empty: any.
    #[serde(default)]
    pub answers: Vec<Work>,
    /// The archive whose content it reads, such as `zip`: the corpus in that form, or a target that
    /// is one. Without: the bytes as they are, unless its method decodes.
    #[serde(default, rename = "target")]
    pub form: Form,
    /// Over which transport its bytes come: from the file itself, or from a server.
    #[serde(default)]
    pub over: Transport,
    #[serde(default)]
    pub start: Start,
    /// What is asked of a command as it is; its work is then `output`.
    #[serde(default)]
    pub command: CommandRules,
    /// Whether it is a command that decodes a zstd with the dictionary that the variable
    /// `READLAB_DICTIONARY` names: it takes part only where there is one, and other commands of
    /// archives only where there is none.
    #[serde(default, rename = "dictionary")]
    pub has_dictionary: bool,
    /// Whether it takes part in a race only with `--all`, in another suite only with `--full`.
    #[serde(default)]
    pub only_with_all: bool,
    /// Of a tree of more files it takes part only with `--all`, too.
    pub files_max: Option<u64>,
    /// Its name in the publication, if that is another.
    pub published: Option<String>,
}

fn yes() -> bool {
    true
}

/// Which states of the cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum States {
    /// Nothing of the file in the page cache.
    Cold,
    /// All of it.
    Warm,
    /// First cold, then warm.
    #[default]
    Both,
}

#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    #[error("{name}: no suite of this name and no such file (suites: {known})")]
    Unknown { name: String, known: String },
    #[error("{path}: {cause}")]
    Malformed { path: PathBuf, cause: String },
}

impl Suite {
    pub fn names() -> Vec<&'static str> {
        BUILT_IN.iter().map(|(name, _)| *name).collect()
    }

    pub fn race() -> Suite {
        Suite::find("race").expect("the built-in suites are checked by a test")
    }

    /// The suite of a race of commands as they are: nothing but what shows the limits.
    pub fn commands() -> Suite {
        Suite::find("commands").expect("the built-in suites are checked by a test")
    }

    /// The suite of `readlab fleet scale`: few trials, each read by every number of ranks.
    pub fn scale() -> Suite {
        Suite::find("scale").expect("the built-in suites are checked by a test")
    }

    /// A built-in suite by name, or any by its file's path.
    pub fn find(name: &str) -> Result<Suite, SuiteError> {
        let path = Path::new(name);
        if let Some((_, text)) = BUILT_IN.iter().find(|(built_in, _)| *built_in == name) {
            return Suite::parse(path, text);
        }
        let text = std::fs::read_to_string(path)
            .map_err(|_| SuiteError::Unknown { name: name.to_owned(), known: Suite::names().join(", ") })?;
        Ok(Suite { own_file: Some(path.to_owned()), ..Suite::parse(path, &text)? })
    }

    /// A suite from its text. An error names `path`.
    pub fn parse(path: &Path, text: &str) -> Result<Suite, SuiteError> {
        let suite: Result<Suite, _> = toml::from_str(text);
        suite
            .map(Suite::with_controls)
            .map_err(|error| SuiteError::Malformed { path: path.to_owned(), cause: toml_cause(text, &error) })
    }

    /// Adds the controls that it lacks. A control with all threads is left out if every trial has
    /// one thread, and a control of an archive if no trial reads such an archive.
    fn with_controls(mut self) -> Suite {
        if !self.controls {
            return self;
        }
        let controls: Controls =
            toml::from_str(CONTROLS).expect("the file of the controls is checked by a test");
        let has_several = |entry: &Entry| ["threads=", "readers="].iter().any(|it| entry.trial.contains(it));
        let several = self.entries.iter().any(has_several);
        let forms = self.forms();
        let is_named = |control: &Entry| {
            let place = |it: &Entry| (it.trial.clone(), it.over, it.form);
            self.entries.iter().any(|it| place(it) == place(control))
        };
        let is_lacking = |control: &Entry| {
            (several || !has_several(control)) && forms.contains(&control.form) && !is_named(control)
        };
        let lacking = controls.trial.into_iter().filter(is_lacking);
        let mut entries: Vec<Entry> = lacking.map(|entry| Entry { is_added: true, ..entry }).collect();
        entries.append(&mut self.entries);
        Suite { entries, ..self }
    }

    /// The suite as it was published, instead of in a size and a time for everyday use.
    pub fn in_full(self) -> Suite {
        let counts = self.counts.unwrap_or(1).max(FULL_COUNTS);
        let entries = self.entries.into_iter().map(|entry| Entry { only_with_all: false, ..entry }).collect();
        Suite { is_full: true, corpus: self.full.or(self.corpus), counts: Some(counts), entries, ..self }
    }

    pub fn reads_over_http(&self) -> bool {
        self.entries.iter().any(|entry| entry.over == Transport::Http)
    }

    /// The forms of the corpus that its trials read; the plain one always comes first.
    pub fn forms(&self) -> Vec<Form> {
        let read: BTreeSet<Form> = self.entries.iter().map(|entry| entry.form).chain([None]).collect();
        read.into_iter().collect()
    }
}

impl States {
    /// The states themselves, in the order in which they are measured.
    pub fn list(self) -> Vec<readlab_model::trial::CacheState> {
        use readlab_model::trial::CacheState::{Cold, Warm};
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
    use std::collections::BTreeMap;

    #[test]
    fn every_built_in_suite_is_whole() {
        for name in Suite::names() {
            let suite = Suite::find(name).unwrap();
            assert_eq!(suite.name, name);
            let labels: BTreeSet<_> =
                suite.entries.iter().map(|e| (&e.label, &e.trial, e.over, e.form)).collect();
            assert!(suite.entries.iter().all(|entry| {
                entry.trial.replace("=all", "=2").parse::<readlab_model::trial::TrialId>().is_ok()
            }));
            assert_eq!(labels.len(), suite.entries.len(), "{name}: entries are unique");
        }
    }

    fn trials(text: &str) -> Vec<String> {
        let head = "name = \"x\"\nabout = \"\"\n";
        let suite = Suite::parse(Path::new("x.toml"), &format!("{head}{text}")).unwrap();
        suite.entries.into_iter().map(|entry| entry.trial).collect()
    }

    #[test]
    fn every_suite_has_the_controls_unless_it_refuses_them() {
        let device = "rust/device@buffer=128KiB,depth=16";
        let single = ["rust/null", "rust/resident", "rust/copy", "rust/faults", device];
        let own = |trial: &str| format!("[[trial]]\ntrial = \"{trial}\"\n");
        assert_eq!(trials(&own("command/wc -l")), [&single[..], &["command/wc -l"]].concat());
        assert_eq!(trials(&format!("controls = false\n{}", own("command/wc -l"))), ["command/wc -l"]);
        let several = trials(&own("java/BufferedReader@readers=2"));
        for control in ["rust/resident@threads=all", "rust/copy@threads=all"] {
            assert!(several.iter().any(|it| it == control), "{several:?}");
        }
        let gzip = trials(&format!("{}target = \"gzip\"\n", own("rust/gzip")));
        assert_eq!(gzip.iter().filter(|it| *it == "rust/decoder").count(), 1, "{gzip:?}");
        // What it names itself stays where it is, with the work that it has there.
        let expected = ["rust/null", "rust/resident", "rust/faults", device, "rust/copy"];
        assert_eq!(trials(&own("rust/copy")), expected);
        for name in Suite::names() {
            let suite = Suite::find(name).unwrap();
            assert!(suite.entries.iter().any(|it| it.trial.starts_with("rust/device@")), "{name}");
        }
    }

    #[test]
    fn the_default_race_has_three_ways_of_each_language_and_about_ten_of_rust() {
        let race = Suite::race();
        let read = |entry: &&Entry| {
            let is_plain = entry.over == Transport::File && entry.form.is_none();
            is_plain && !entry.is_added && !entry.only_with_all
        };
        let mut ways: BTreeMap<&str, usize> = BTreeMap::new();
        for entry in race.entries.iter().filter(read) {
            *ways.entry(entry.trial.split('/').next().unwrap()).or_default() += 1;
        }
        for language in ["c", "go", "java", "node", "python", "swift"] {
            assert_eq!(ways[language], 3, "{language}");
        }
        assert!((9..=12).contains(&ways["rust"]), "{ways:?}");
        assert!(race.entries.iter().filter(|entry| entry.only_with_all).count() > 30);
    }

    #[test]
    fn a_full_suite_has_its_published_size_and_the_trials_that_take_long() {
        let newlines = Suite::find("newlines").unwrap().in_full();
        assert_eq!(newlines.corpus.map(|corpus| corpus.size_bytes), Some(22_000_000_000));
        let stream = Suite::find("byte-stream").unwrap();
        let usual = stream.clone();
        let full = stream.in_full();
        let taking_part = |suite: &Suite| suite.entries.iter().filter(|it| !it.only_with_all).count();
        assert_eq!((full.corpus, taking_part(&full)), (usual.corpus, full.entries.len()));
        assert!(taking_part(&usual) < full.entries.len());
        assert!(full.is_full && !usual.is_full && full.counts > usual.counts);
    }

    #[test]
    fn an_unknown_suite_is_an_error_that_lists_the_known() {
        let error = Suite::find("no-such-suite").unwrap_err().to_string();
        assert!(error.contains("newlines"), "{error}");
    }
}
