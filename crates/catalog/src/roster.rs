//! The roster: the contenders that can be measured, and the commands that build and start them.
//! Contenders are data; the lab knows none of them by name.
//!
//! The built-in roster is `contenders/roster.toml`; `--roster` adds a file of the user in the same
//! format. This file only reads rosters; the crate `roster` builds and starts contenders, and asks
//! them for their methods.

use readlab_system::terminal::printable::toml_cause;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const BUILT_IN_ROSTER: &str = include_str!("../carried/contenders/roster.toml");

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Roster {
    #[serde(default, rename = "contender")]
    pub entries: Vec<RosterEntry>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RosterEntry {
    /// The contender's name, which is the first part of the name of a trial.
    pub name: String,
    pub about: String,
    /// The folder of the sources, if the contender must be built: an embedded folder or, in a
    /// user's roster, a folder relative to the roster. In the commands below, `{sources}` is this
    /// folder and `{build}` its subfolder `build`.
    #[serde(default)]
    pub sources: Option<String>,
    /// The commands that build the contender, run one after another in `{sources}`; none if the
    /// sources run without a build.
    #[serde(default)]
    pub build: Vec<Vec<String>>,
    /// Commands that succeed if the contender's dependencies are installed. They run before a
    /// build, and to explain why the contender did not start.
    #[serde(default)]
    #[serde(rename = "dependency")]
    pub dependency_checks: Vec<Vec<String>>,
    /// The command that starts the contender; the words of the protocol follow it. `{self}` is
    /// readlab's own program.
    pub run: Vec<String>,
    /// Environment variables for building and running the contender.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// How the contender warms up before its timed readings.
    #[serde(default)]
    pub warmup: Warmup,
    /// True if the contender collects garbage after the last reading of a turn, before it answers.
    #[serde(default)]
    #[serde(rename = "collects")]
    pub collects_garbage: bool,
    /// True if the contender only reads from servers. It is neither built nor used for targets that
    /// are files.
    #[serde(default)]
    #[serde(rename = "asks_servers")]
    pub is_server_only: bool,
    /// True if the contender is built for a run only if the user names it. A run of all contenders
    /// uses it if it is already built.
    #[serde(default)]
    #[serde(rename = "on_request")]
    pub is_built_on_request: bool,
    /// The language of the contender's programs, as reports name it; by default the contender's
    /// name.
    #[serde(default)]
    pub language: Option<String>,
    /// One sentence on how a user can install what the contender needs.
    #[serde(default)]
    pub hint: Option<String>,
    /// The user's roster; `None` for contenders that come with readlab.
    #[serde(skip)]
    pub roster_path: Option<PathBuf>,
}

/// How a contender warms up after each start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub enum Warmup {
    /// A fixed number of untimed readings, which the plan of the run states.
    #[default]
    #[serde(rename = "readings")]
    Readings,
    /// Untimed readings until the times stay at one level, for runtimes that compile while they
    /// run.
    #[serde(rename = "until steady")]
    UntilSteady,
}

#[derive(Debug, thiserror::Error)]
#[error("{path}: {cause}")]
pub struct RosterError {
    path: PathBuf,
    cause: String,
}

impl Roster {
    pub fn built_in() -> Roster {
        toml::from_str(BUILT_IN_ROSTER).expect("the built-in roster is checked by a test")
    }

    pub fn load(path: &Path) -> Result<Roster, RosterError> {
        let refused = |cause: String| RosterError { path: path.to_owned(), cause };
        let text = std::fs::read_to_string(path).map_err(|cause| refused(cause.to_string()))?;
        let mut roster: Roster = toml::from_str(&text).map_err(|error| refused(toml_cause(&text, &error)))?;
        roster.entries.iter_mut().for_each(|entry| entry.roster_path = Some(path.to_owned()));
        Ok(roster)
    }

    /// The built-in contenders and the contenders of the user's rosters.
    pub fn with_user_rosters(rosters: &[PathBuf]) -> Result<Roster, RosterError> {
        let mut roster = Roster::built_in();
        for path in rosters {
            for entry in Roster::load(path)?.entries {
                let name = &entry.name;
                if roster.entry(name).is_some() {
                    let cause = format!("contender {name:?}: readlab or another roster has one of that name");
                    return Err(RosterError { path: path.clone(), cause });
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
    fn a_contender_name_that_is_already_used_is_rejected() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let entry = |name: &str| format!("[[contender]]\nname = \"{name}\"\nabout = \"a\"\nrun = [\"a\"]\n");
        std::fs::write(file.path(), entry("mine")).unwrap();
        assert!(Roster::with_user_rosters(&[file.path().to_owned()]).is_ok());
        for twice in [entry("python"), entry("mine") + &entry("mine")] {
            std::fs::write(file.path(), twice).unwrap();
            let refused = Roster::with_user_rosters(&[file.path().to_owned()]).unwrap_err().to_string();
            assert!(refused.ends_with("readlab or another roster has one of that name"), "{refused}");
        }
    }

    #[test]
    fn the_built_in_roster_is_complete() {
        let roster = Roster::built_in();
        let names: BTreeSet<_> = roster.entries.iter().map(|entry| &entry.name).collect();
        assert_eq!(names.len(), roster.entries.len(), "names are unique");
        for entry in &roster.entries {
            assert!(!entry.run.is_empty() && !entry.about.is_empty(), "{}", entry.name);
        }
        assert!(roster.entry("rust").is_some() && roster.entry("command").is_some());
    }
}
