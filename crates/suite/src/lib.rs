//! A suite: a TOML file with a list of trials, their labels and rules. Published experiments and
//! the trials of a race are suite files, and users can write their own.
//!
//! This module holds the content of the file; `readlab_run::experiment::planner` makes a plan from
//! it.

pub mod parameter_space;
pub mod published;

use readlab_model::corpus::{FileForm, Recipe};
use readlab_model::target::memory::MemoryBound;
use readlab_model::target::places::Pattern;
use readlab_model::trial::{MethodId, Transport, TrialId, Work};
use readlab_record::{CommandRules, Focus, StartMode};
use readlab_system::terminal::printable::toml_cause;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const BUILT_IN_SUITES: [(&str, &str); 11] = [
    ("race", include_str!("../carried/suites/race.toml")),
    ("newlines", include_str!("../carried/suites/newlines.toml")),
    ("byte-stream", include_str!("../carried/suites/byte-stream.toml")),
    ("zip-lines", include_str!("../carried/suites/zip-lines.toml")),
    ("larger-than-memory", include_str!("../carried/suites/larger-than-memory.toml")),
    ("limits", include_str!("../carried/suites/limits.toml")),
    ("tune", include_str!("../carried/suites/tune.toml")),
    ("commands", include_str!("../carried/suites/commands.toml")),
    ("scale", include_str!("../carried/suites/scale.toml")),
    ("names", include_str!("../carried/suites/names.toml")),
    ("stat", include_str!("../carried/suites/stat.toml")),
];

/// The controls that take part in every suite that does not set `controls = false`.
const CONTROLS_TOML: &str = include_str!("../carried/suites/controls.toml");

/// Least number of untimed counting runs of a full suite: fewer runs show no 90th percentile.
const FULL_SUITE_COUNTING_RUNS_MIN: u32 = 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ControlsFile {
    #[serde(rename = "trial")]
    entries: Vec<SuiteEntry>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    pub name: String,
    /// The question that the suite answers, in one or two sentences.
    pub about: String,
    /// The work on the bytes; if absent, newlines for text and sum for anything else.
    pub work: Option<Work>,
    /// The cache states: `cold`, `warm` or `both`; `pressed` if trials are read only under the
    /// bounds of `memory`.
    #[serde(default)]
    pub state: StateChoice,
    /// The corpus that is read if the user names no target.
    pub corpus: Option<Recipe>,
    /// The corpus in its published size; `None` if `corpus` has that size.
    #[serde(rename = "full")]
    pub full_corpus: Option<Recipe>,
    /// The trial to which ratios refer.
    pub reference: Option<String>,
    /// Bounds on memory, such as `50%`, under which the trials are read in addition to the cache
    /// states.
    #[serde(default)]
    #[serde(rename = "memory")]
    pub memory_bounds: Vec<MemoryBound>,
    /// The read-ahead of the targets while the suite runs under bounds on memory, if the user may
    /// set it; it is restored at the end.
    pub read_ahead_bytes: Option<u64>,
    /// The blocks that trials with `over = "places"` read; with `None`, no target has blocks to
    /// read.
    pub places: Option<SuitePlaces>,
    /// Minimum number of timed readings of a trial, if the suite sets one.
    pub min_runs: Option<u32>,
    /// Maximum number of timed readings of a trial, if the suite sets one.
    pub max_runs: Option<u32>,
    /// Maximum total time of the timed readings of a trial, such as `30s`.
    pub max_time: Option<String>,
    /// Advised time of the whole run, such as `8m`.
    pub budget: Option<String>,
    /// Number of untimed runs in which calls, allocations and the like are counted.
    #[serde(rename = "counts")]
    pub counting_runs: Option<u32>,
    #[serde(default)]
    pub focus: Focus,
    /// Whether the suite runs as published: with the corpus in its published size, and each trial
    /// up to its maximum number of readings or its maximum time.
    #[serde(skip)]
    pub is_full: bool,
    /// Path of the suite's file if a user wrote it; `None` for a built-in suite. The trials of such
    /// a file count as named by the user.
    #[serde(skip)]
    pub own_file: Option<PathBuf>,
    #[serde(default = "default_true")]
    #[serde(rename = "controls")]
    pub has_controls: bool,
    /// The trials in the order of the file, after the added controls.
    #[serde(rename = "trial")]
    pub entries: Vec<SuiteEntry>,
}

/// How the blocks of a target that trials read are picked.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuitePlaces {
    pub pattern: Pattern,
    pub block_bytes: u64,
    /// Number of blocks that one reading reads; if absent, as many as the file has.
    #[serde(rename = "reads")]
    pub blocks_per_reading: Option<u64>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum NamedBy {
    /// The user, on the command line or in a user's suite file.
    #[default]
    User,
    /// A suite that readlab carries.
    Suite,
}

/// One trial of a suite.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteEntry {
    /// Whether readlab added the entry as a control that the suite itself does not name.
    #[serde(skip)]
    pub is_added_control: bool,
    #[serde(skip)]
    pub named_by: NamedBy,
    /// The trial's name, such as `rust/mmap/avx2`. A parameter with the value `all`, as in
    /// `rust/pread@threads=all`, has the number of processors.
    pub trial: String,
    pub label: Option<String>,
    /// The work on the bytes, if it differs from the suite's.
    pub work: Option<Work>,
    /// The works that a command with a fixed kind of answer can do; empty if it can do any work.
    #[serde(default)]
    #[serde(rename = "answers")]
    pub possible_works: Vec<Work>,
    /// The archive whose content the trial reads, such as `zip`: the corpus in that form, or a
    /// target that is such an archive. If absent: the bytes without decoding, unless the trial's
    /// method decodes.
    #[serde(default, rename = "target")]
    pub form: FileForm,
    /// Transport of the bytes: from the file itself, or from a server.
    #[serde(default)]
    pub over: Transport,
    #[serde(default)]
    pub start: StartMode,
    /// The check and the hooks of a user's own command. If the check does not count the output, the
    /// work that is asked of the command is `output`.
    #[serde(default)]
    pub command: CommandRules,
    /// Whether the trial is a command that decodes a zstd archive with the dictionary that the
    /// variable `READLAB_DICTIONARY` names. A command with this flag takes part only if there is a
    /// dictionary, and other commands for archives only if there is none.
    #[serde(default, rename = "dictionary")]
    pub needs_dictionary: bool,
    /// Whether the trial takes part in a race only with `--all`, and in another suite only with
    /// `--full`.
    #[serde(default)]
    pub only_with_all: bool,
    /// Largest number of files of a tree for which the trial takes part without `--all`.
    pub files_max: Option<u64>,
    /// The trial's name in the publication, if it differs.
    #[serde(rename = "published")]
    pub published_name: Option<String>,
}

fn default_true() -> bool {
    true
}

/// Selection of cache states.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum StateChoice {
    /// Nothing of the file in the page cache.
    Cold,
    /// All of the file in the page cache.
    Warm,
    /// First cold, then warm.
    #[default]
    Both,
    /// Neither: only under the bounds of --memory.
    Pressed,
}

#[derive(Debug, thiserror::Error)]
#[error("{name}: {cause}")]
pub struct SuiteError {
    /// The name of a built-in suite, or the path of a suite's file.
    name: String,
    cause: String,
}

impl Suite {
    pub fn names() -> Vec<&'static str> {
        BUILT_IN_SUITES.iter().map(|(name, _)| *name).collect()
    }

    fn built_in(name: &str) -> Suite {
        Suite::find(name).expect("the built-in suites are checked by a test")
    }

    pub fn race() -> Suite {
        Suite::built_in("race")
    }

    /// The suite of a race of the user's own commands. It holds only the controls that measure
    /// limits.
    pub fn commands() -> Suite {
        Suite::built_in("commands")
    }

    /// The suite of a race for a work that finds names. No trial of the suite reads bytes of files.
    /// `None` for other works.
    pub fn for_name_work(work: Work) -> Option<Suite> {
        work.finds_names().then(|| Suite::built_in(work.word()))
    }

    /// The suite of `readlab fleet scale` and of a race by several numbers of readers: a few trials,
    /// each read by every number of ranks or readers.
    pub fn scale() -> Suite {
        Suite::built_in("scale")
    }

    /// Whether a built-in suite has a trial of this method.
    pub fn is_method_built_in(method: &MethodId) -> bool {
        let mut entries = Suite::names().into_iter().flat_map(|name| Suite::built_in(name).entries);
        entries.any(|entry| TrialId::parse_written(&entry.trial).is_ok_and(|id| id.method == *method))
    }

    /// Finds a built-in suite by name, or any suite by its file's path.
    pub fn find(name: &str) -> Result<Suite, SuiteError> {
        let path = Path::new(name);
        if let Some((_, text)) = BUILT_IN_SUITES.iter().find(|(built_in, _)| *built_in == name) {
            return Suite::parse(path, text);
        }
        let text = std::fs::read_to_string(path).map_err(|_| {
            let known = Suite::names().join(", ");
            let cause = format!("no suite of this name and no such file (suites: {known})");
            SuiteError { name: name.to_owned(), cause }
        })?;
        Ok(Suite { own_file: Some(path.to_owned()), ..Suite::parse(path, &text)? })
    }

    pub fn parse(path: &Path, text: &str) -> Result<Suite, SuiteError> {
        let suite: Result<Suite, _> = toml::from_str(text);
        suite
            .map(Suite::with_controls)
            .map_err(|error| SuiteError { name: path.display().to_string(), cause: toml_cause(text, &error) })
    }

    /// Adds the controls that the suite lacks. Leaves out controls with all threads if every trial
    /// has one thread, and controls of an archive if no trial reads that archive.
    fn with_controls(mut self) -> Suite {
        if !self.has_controls {
            return self;
        }
        let controls: ControlsFile =
            toml::from_str(CONTROLS_TOML).expect("the file of the controls is checked by a test");
        let has_several =
            |entry: &SuiteEntry| ["threads=", "readers="].iter().any(|it| entry.trial.contains(it));
        let several = self.entries.iter().any(has_several);
        let forms = self.forms();
        let is_named = |control: &SuiteEntry| {
            let place = |it: &SuiteEntry| (it.trial.clone(), it.over, it.form);
            self.entries.iter().any(|it| place(it) == place(control))
        };
        let is_lacking = |control: &SuiteEntry| {
            (several || !has_several(control)) && forms.contains(&control.form) && !is_named(control)
        };
        let lacking = controls.entries.into_iter().filter(is_lacking);
        let mut entries: Vec<SuiteEntry> =
            lacking.map(|entry| SuiteEntry { is_added_control: true, ..entry }).collect();
        entries.append(&mut self.entries);
        Suite { entries, ..self }
    }

    /// The suite with its published corpus and all its trials, instead of a size and a selection
    /// for everyday use.
    pub fn as_published(self) -> Suite {
        let counts = self.counting_runs.unwrap_or(1).max(FULL_SUITE_COUNTING_RUNS_MIN);
        let entries =
            self.entries.into_iter().map(|entry| SuiteEntry { only_with_all: false, ..entry }).collect();
        Suite {
            is_full: true,
            corpus: self.full_corpus.or(self.corpus),
            counting_runs: Some(counts),
            entries,
            ..self
        }
    }

    /// The transports over which trials read a file from a server.
    pub fn server_transports(&self) -> BTreeSet<Transport> {
        self.entries.iter().map(|entry| entry.over).filter(|over| over.has_server()).collect()
    }

    /// The blocks that trials read; `None` if no trial reads blocks.
    pub fn places_read(&self) -> Option<SuitePlaces> {
        self.places.filter(|_| self.entries.iter().any(|entry| entry.over == Transport::Places))
    }

    /// The forms of the corpus that the trials read; the plain form always comes first.
    pub fn forms(&self) -> Vec<FileForm> {
        let read: BTreeSet<FileForm> = self.entries.iter().map(|entry| entry.form).chain([None]).collect();
        read.into_iter().collect()
    }
}

impl SuitePlaces {
    /// Number of blocks that one reading of a file of this size reads.
    pub fn block_count(&self, file_bytes: u64) -> u64 {
        self.blocks_per_reading.unwrap_or(file_bytes / self.block_bytes.max(1)).max(1)
    }
}

impl StateChoice {
    /// The cache states, in the order in which they are measured.
    pub fn states(self) -> Vec<readlab_model::trial::CacheState> {
        use readlab_model::trial::CacheState::{Cold, Warm};
        match self {
            StateChoice::Cold => vec![Cold],
            StateChoice::Warm => vec![Warm],
            StateChoice::Both => vec![Cold, Warm],
            StateChoice::Pressed => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn every_built_in_suite_is_complete() {
        for name in Suite::names() {
            let suite = Suite::find(name).unwrap();
            assert_eq!(suite.name, name);
            let labels: BTreeSet<_> =
                suite.entries.iter().map(|e| (&e.label, &e.trial, e.over, e.form)).collect();
            assert!(
                suite
                    .entries
                    .iter()
                    .all(|entry| { entry.trial.replace("=all", "=2").parse::<TrialId>().is_ok() })
            );
            assert_eq!(labels.len(), suite.entries.len(), "{name}: entries are unique");
        }
    }

    fn trials(text: &str) -> Vec<String> {
        let head = "name = \"x\"\nabout = \"\"\n";
        let suite = Suite::parse(Path::new("x.toml"), &format!("{head}{text}")).unwrap();
        suite.entries.into_iter().map(|entry| entry.trial).collect()
    }

    #[test]
    fn every_suite_has_the_controls_unless_it_disables_them() {
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
        // A control that the suite names keeps its place and its work.
        let expected = ["rust/null", "rust/resident", "rust/faults", device, "rust/copy"];
        assert_eq!(trials(&own("rust/copy")), expected);
        for suite in Suite::names().into_iter().map(|name| Suite::find(name).unwrap()) {
            let has_controls = suite.entries.iter().any(|it| it.trial.starts_with("rust/device@"));
            assert!(has_controls || !suite.has_controls, "{}", suite.name);
        }
    }

    #[test]
    fn the_default_race_has_three_methods_of_each_language_and_about_ten_of_rust() {
        let race = Suite::race();
        let read = |entry: &&SuiteEntry| {
            let is_plain = entry.over == Transport::File && entry.form.is_none();
            is_plain && !entry.is_added_control && !entry.only_with_all
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
    fn a_command_of_a_built_in_suite_is_told_from_another() {
        let is_built_in = |line: &str| Suite::is_method_built_in(&MethodId::command(line));
        assert!(is_built_in("wc -l {}") && is_built_in("true {}") && is_built_in("du -s {}"));
        assert!(!is_built_in("wc -l {} # mine") && !is_built_in("wc {}"));
    }

    #[test]
    fn a_full_suite_has_its_published_size_and_the_long_trials() {
        let newlines = Suite::find("newlines").unwrap().as_published();
        assert_eq!(newlines.corpus.map(|corpus| corpus.size_bytes), Some(22_000_000_000));
        let stream = Suite::find("byte-stream").unwrap();
        let usual = stream.clone();
        let full = stream.as_published();
        let taking_part = |suite: &Suite| suite.entries.iter().filter(|it| !it.only_with_all).count();
        assert_eq!((full.corpus, taking_part(&full)), (usual.corpus, full.entries.len()));
        assert!(taking_part(&usual) < full.entries.len());
        assert!(full.is_full && !usual.is_full && full.counting_runs > usual.counting_runs);
    }

    #[test]
    fn a_suite_reads_as_many_blocks_as_the_file_has_unless_it_says_how_many() {
        let suite = Suite::find("larger-than-memory").unwrap();
        let shown: Vec<String> = suite.memory_bounds.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["10%", "50%"]);
        assert_eq!(suite.read_ahead_bytes, Some(128 << 10), "the kernel's default");
        let places = suite.places_read().unwrap();
        assert_eq!(
            (places.block_count(128 << 20), places.block_count(5000), places.block_count(1)),
            (32_768, 1, 1)
        );
        let eight = SuitePlaces { blocks_per_reading: Some(8), ..places };
        assert_eq!(eight.block_count(128 << 20), 8);
        // Without a trial that reads blocks, no target has places.
        assert!(Suite { entries: Vec::new(), ..suite }.places_read().is_none());
        for suite in Suite::names().into_iter().map(|name| Suite::find(name).unwrap()) {
            let reads_blocks = suite.entries.iter().any(|entry| entry.over == Transport::Places);
            let is_of_race = ["race", "scale"].contains(&suite.name.as_str());
            assert!(!reads_blocks || suite.places.is_some() || is_of_race, "{}", suite.name);
        }
    }

    #[test]
    fn only_works_that_find_names_have_their_own_suite() {
        for work in [Work::Names, Work::Stat] {
            let suite = Suite::for_name_work(work).unwrap();
            assert_eq!((suite.work, suite.state, suite.has_controls), (Some(work), StateChoice::Warm, false));
            assert!(suite.entries.iter().all(|entry| entry.over == Transport::Tree), "{work}");
        }
        assert!(Suite::for_name_work(Work::Newlines).is_none());
    }

    #[test]
    fn an_unknown_suite_is_an_error_that_lists_known_suites() {
        let error = Suite::find("no-such-suite").unwrap_err().to_string();
        assert!(error.contains("newlines"), "{error}");
    }
}
