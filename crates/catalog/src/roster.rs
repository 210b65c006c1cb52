//! The roster: the contenders that can be measured and the commands that build and start each.
//! Contenders are data; the lab knows none of them by name.
//!
//! The built-in roster is `contenders/roster.toml`; a user's own file in the same form is added
//! with `--roster`. This file only reads rosters; the crate `roster` builds and starts contenders,
//! and asks them for their methods.

use readlab_system::terminal::printable::toml_cause;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const BUILT_IN: &str = include_str!("../carried/contenders/roster.toml");

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Roster {
    #[serde(default, rename = "contender")]
    pub entries: Vec<RosterEntry>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RosterEntry {
    /// Its name, the first part of a trial's name.
    pub name: String,
    pub about: String,
    /// The folder of its sources, if it must be built: one that readlab carries, or, in a user's
    /// roster, a folder seen from the roster's. `{sources}` in the commands below; `{build}` is its
    /// folder `build`.
    #[serde(default)]
    pub sources: Option<String>,
    /// The commands that build it, run in `{sources}` one after the other; none where the sources
    /// run as they are.
    #[serde(default)]
    pub build: Vec<Vec<String>>,
    /// Commands that succeed where its dependencies are installed. They run before it is built, and
    /// to explain why it did not start.
    #[serde(default)]
    pub dependency: Vec<Vec<String>>,
    /// The command that starts it, before the words of the protocol. `{self}` is readlab's own
    /// program.
    pub run: Vec<String>,
    /// Added to the environment when it is built and when it runs.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// What is done before its timed readings.
    #[serde(default)]
    pub warmup: Warmup,
    /// Whether it collects garbage after the last reading of a turn and before it answers.
    #[serde(default)]
    pub collects: bool,
    /// Whether it only requests from servers: it takes no part, and is not built, where files are
    /// read.
    #[serde(default)]
    pub asks_servers: bool,
    /// Whether it is built for a run only if the user names it; a run of everything takes it as it
    /// was built.
    #[serde(default)]
    pub on_request: bool,
    /// The language of its programs, as reports name it; its own name if it is left out.
    #[serde(default)]
    pub language: Option<String>,
    /// How a user gets what it needs, in one sentence.
    #[serde(default)]
    pub hint: Option<String>,
    /// The folder of the user's roster; `None` for contenders that come with readlab.
    #[serde(skip)]
    pub home: Option<PathBuf>,
}

/// How a contender becomes ready for timed readings each time it is started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub enum Warmup {
    /// As many untimed readings as the rules say.
    #[default]
    #[serde(rename = "readings")]
    Readings,
    /// Until its readings stay at one level, as those of a runtime that compiles while it runs do
    /// after a while.
    #[serde(rename = "until steady")]
    UntilSteady,
}

#[derive(Debug, thiserror::Error)]
pub enum RosterError {
    #[error("{path}: {cause}")]
    Io { path: PathBuf, cause: std::io::Error },
    #[error("{path}: {cause}")]
    Malformed { path: PathBuf, cause: String },
    #[error("{path}: contender {name:?}: readlab or another roster has one of that name")]
    NameTaken { path: PathBuf, name: String },
}

impl Roster {
    pub fn built_in() -> Roster {
        toml::from_str(BUILT_IN).expect("the built-in roster is checked by a test")
    }

    pub fn load(path: &Path) -> Result<Roster, RosterError> {
        let text = std::fs::read_to_string(path)
            .map_err(|cause| RosterError::Io { path: path.to_owned(), cause })?;
        let mut roster: Roster = toml::from_str(&text).map_err(|error| RosterError::Malformed {
            path: path.to_owned(),
            cause: toml_cause(&text, &error),
        })?;
        let home = path.parent().unwrap_or(Path::new(""));
        roster.entries.iter_mut().for_each(|entry| entry.home = Some(home.to_owned()));
        Ok(roster)
    }

    /// The built-in contenders and those of the user's rosters.
    pub fn with(rosters: &[PathBuf]) -> Result<Roster, RosterError> {
        let mut roster = Roster::built_in();
        for path in rosters {
            for entry in Roster::load(path)?.entries {
                if roster.entry(&entry.name).is_some() {
                    return Err(RosterError::NameTaken { path: path.clone(), name: entry.name });
                }
                roster.entries.push(entry);
            }
        }
        Ok(roster)
    }

    pub fn entry(&self, name: &str) -> Option<&RosterEntry> {
        self.entries.iter().find(|entry| entry.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_name_that_is_taken_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let entry = |name: &str| format!("[[contender]]\nname = \"{name}\"\nabout = \"a\"\nrun = [\"a\"]\n");
        std::fs::write(file.path(), entry("mine")).unwrap();
        assert!(Roster::with(&[file.path().to_owned()]).is_ok());
        for twice in [entry("python"), entry("mine") + &entry("mine")] {
            std::fs::write(file.path(), twice).unwrap();
            let refused = Roster::with(&[file.path().to_owned()]).unwrap_err().to_string();
            assert!(refused.ends_with("readlab or another roster has one of that name"), "{refused}");
        }
    }

    #[test]
    fn the_built_in_roster_is_whole() {
        let roster = Roster::built_in();
        let names: BTreeSet<_> = roster.entries.iter().map(|entry| &entry.name).collect();
        assert_eq!(names.len(), roster.entries.len(), "names are unique");
        for entry in &roster.entries {
            assert!(!entry.run.is_empty() && !entry.about.is_empty(), "{}", entry.name);
        }
        assert!(roster.entry("rust").is_some() && roster.entry("command").is_some());
    }
}
