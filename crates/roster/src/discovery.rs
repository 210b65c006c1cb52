//! The contenders of a roster that run on this machine, with their receipts and methods, and for
//! each of the others the reason why it does not run.
//!
//! The planner of an experiment decides which of their methods are measured.

use super::build::{Build, BuildDir, BuildError, command_line, fill_places};
use super::methods::Contender;
use super::session::{START_TIMEOUT, Session, SessionError};
use readlab_catalog::roster::{Roster, RosterEntry};
use readlab_model::trial::MethodId;
use readlab_protocol::{Cache, MethodLine};
use readlab_record::Receipt;
use readlab_system::program::CommandLine;
use readlab_targets::target::tree::processors;
use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::thread;
use std::time::Duration;

/// Contenders that answered, with their receipts, and the reasons of those that did not.
#[derive(Debug, Default)]
pub struct Contenders {
    contenders: Vec<Contender>,
    absent: BTreeMap<String, String>,
}

/// Whether a contender takes part in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Participation {
    LeftOut,
    /// As it was built; if it was not, it is absent.
    AsBuilt,
    /// It is built first, unless it is.
    Built,
}

/// What is done to find out which contenders can take part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiscoveryStep<'a> {
    /// The contender of this name is built.
    Building(&'a str),
    /// So many contenders are asked for their methods.
    Querying(usize),
}

impl Contenders {
    /// Queries the contenders of the roster that `is_selected` accepts. Builds nothing.
    pub fn discover(roster: &Roster, is_selected: impl Fn(&str) -> bool) -> Contenders {
        let selected: Vec<_> = roster.entries.iter().filter(|entry| is_selected(&entry.name)).collect();
        let mut found = Contenders::default();
        found.query(&selected);
        found
    }

    /// The same, but first builds those that are to be built. Calls `about_to` before each step.
    pub fn build_and_discover(
        roster: &Roster,
        participation: impl Fn(&RosterEntry) -> Participation,
        about_to: impl Fn(DiscoveryStep),
    ) -> Contenders {
        let mut found = Contenders::default();
        let entries = roster.entries.iter().map(|entry| (entry, participation(entry)));
        let mut ready = Vec::new();
        for (entry, how) in entries.filter(|(_, how)| *how != Participation::LeftOut) {
            let built = match how {
                Participation::Built => entry.build_once(|| about_to(DiscoveryStep::Building(&entry.name))),
                Participation::AsBuilt | Participation::LeftOut => Ok(()),
            };
            match built {
                Ok(()) => ready.push(entry),
                Err(error) => found.mark_unavailable(entry, error.to_string()),
            }
        }
        about_to(DiscoveryStep::Querying(ready.len()));
        found.query(&ready);
        found
    }

    /// Queries as many at once as there are processors: some runtimes take tenths of a second to
    /// start.
    fn query(&mut self, entries: &[&RosterEntry]) {
        for some in entries.chunks(processors()) {
            let answers: Vec<_> = thread::scope(|scope| {
                let asked: Vec<_> = some.iter().map(|entry| scope.spawn(|| entry.query())).collect();
                asked.into_iter().map(|it| it.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
            });
            some.iter().zip(answers).for_each(|(entry, answer)| self.take(entry, answer));
        }
    }

    fn take(&mut self, entry: &RosterEntry, answer: Result<Contender, SessionError>) {
        match answer {
            Ok(contender) => self.contenders.push(contender),
            Err(error @ (SessionError::Unavailable(_) | SessionError::NotStarted { .. })) => {
                self.mark_unavailable(entry, error.to_string())
            }
            // Its dependencies are there, so the hint would not help.
            Err(error) => {
                self.absent.insert(entry.name.clone(), error.to_string());
            }
        }
    }

    /// Records the reason, with the roster's hint how to get what is missing.
    fn mark_unavailable(&mut self, entry: &RosterEntry, reason: String) {
        let reason = entry.hint().map_or(reason.clone(), |hint| format!("{reason}; {hint}"));
        self.absent.insert(entry.name.clone(), reason);
    }

    pub fn present(&self) -> &[Contender] {
        &self.contenders
    }

    /// The names of the others, each with the reason.
    pub fn absent(&self) -> &BTreeMap<String, String> {
        &self.absent
    }

    pub fn contender(&self, name: &str) -> Option<&Contender> {
        self.contenders.iter().find(|contender| contender.receipt.contender == name)
    }

    pub fn method(&self, id: &MethodId) -> Option<&MethodLine> {
        self.contender(&id.contender)?.methods.iter().find(|method| method.method == id.method)
    }

    pub fn is_control(&self, id: &MethodId) -> bool {
        self.method(id).is_some_and(|method| method.cache == Cache::None)
    }
}

/// What a contender says of itself, and what it needs.
pub trait Query {
    /// Starts the contender and asks for its receipt and its methods.
    fn query(&self) -> Result<Contender, SessionError> {
        self.query_within(START_TIMEOUT)
    }

    /// The same, with the time that it may take to answer.
    fn query_within(&self, patience: Duration) -> Result<Contender, SessionError>;

    /// How a user gets what the contender needs, with the folders of this machine filled in.
    fn hint(&self) -> Option<String>;
}

impl Query for RosterEntry {
    fn query_within(&self, patience: Duration) -> Result<Contender, SessionError> {
        let place = BuildDir::for_entry(self).map_err(unavailable)?;
        if let Some(place) = place.as_ref().filter(|place| !place.is_built(self)) {
            let missing = self.missing(place).map(unavailable);
            return Err(missing.unwrap_or_else(|| SessionError::NotBuilt(self.name.clone())));
        }
        let command = command_line(self, &self.run, place.as_ref()).map_err(unavailable)?;
        match receipt_and_methods(self, &command, patience) {
            Ok((mut receipt, methods)) => {
                receipt.language = self.language.clone().filter(|_| self.home.is_some());
                Ok(Contender { command, receipt, methods, warmup: self.warmup, collects: self.collects })
            }
            Err(SessionError::Interrupted) => Err(SessionError::Interrupted),
            Err(error) => Err(place.and_then(|place| self.missing(&place)).map_or(error, unavailable)),
        }
    }

    fn hint(&self) -> Option<String> {
        let place = BuildDir::for_entry(self).ok().flatten();
        let hint = fill_places(self.hint.as_ref()?, place.as_ref());
        Some(hint.to_string_lossy().into_owned())
    }
}

fn receipt_and_methods(
    entry: &RosterEntry,
    command: &CommandLine,
    patience: Duration,
) -> Result<(Receipt, Vec<MethodLine>), SessionError> {
    let mut listing = command.clone();
    listing.args.push("methods".into());
    let mut session = Session::launch_within(&entry.name, &listing, patience)?.hello()?;
    let methods = session.methods()?;
    Ok((session.receipt, methods))
}

fn unavailable(error: BuildError) -> SessionError {
    SessionError::Unavailable(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_takes_part_as_it_was_built_is_not_built() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("roster.toml");
        let entry = "[[contender]]\nname = 'x'\nabout = 'x'\nsources = '.'\nbuild = [['mkdir', 'build']]\nrun = ['x']\n";
        fs::write(&path, entry).unwrap();
        let roster = Roster::load(&path).unwrap();
        let found = |how| Contenders::build_and_discover(&roster, |_| how, |_| {});
        assert!(found(Participation::LeftOut).absent().is_empty());
        let as_built = found(Participation::AsBuilt);
        assert_eq!(as_built.absent()["x"], "not built yet: `readlab build x` builds it");
        assert!(!folder.path().join("build").exists());
        assert!(!found(Participation::Built).absent()["x"].starts_with("not built"));
        assert!(folder.path().join("build").exists());
    }
}
