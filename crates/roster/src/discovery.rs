//! The contenders of a roster that run on this machine, with their versions and methods, and the
//! reasons why the other contenders do not run.
//!
//! The planner of an experiment decides which methods are measured.

use super::build::{Build, BuildDir, BuildError, command_line, fill_placeholders};
use super::methods::Contender;
use super::session::{START_TIMEOUT, Session, SessionError};
use readlab_catalog::roster::{Roster, RosterEntry};
use readlab_model::trial::MethodId;
use readlab_protocol::{Cache, MethodLine};
use readlab_record::Receipt;
use readlab_system::program::CommandLine;
use readlab_system::visit::processor_count;
use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::thread;
use std::time::Duration;

/// Contenders that answered, and the reasons why the others did not.
#[derive(Debug, Default)]
pub struct Contenders {
    contenders: Vec<Contender>,
    /// The names of the other contenders, with the reasons.
    absent: BTreeMap<String, String>,
}

/// How a contender takes part in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Participation {
    /// The contender does not take part.
    LeftOut,
    /// The contender takes part if it is already built, and is otherwise absent.
    IfBuilt,
    /// The contender is built first, unless it is already built.
    AfterBuild,
}

/// A step of the search for contenders that can take part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiscoveryStep<'a> {
    /// The contender with this name is built.
    Building(&'a str),
    /// This many contenders are asked for their methods.
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

    /// Builds the contenders whose participation is [`Participation::AfterBuild`], and queries all
    /// that take part. Calls `about_to` before each step.
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
                Participation::AfterBuild => {
                    entry.build_if_needed(|| about_to(DiscoveryStep::Building(&entry.name)))
                }
                Participation::IfBuilt | Participation::LeftOut => Ok(()),
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

    /// Queries as many contenders at once as there are processors, because some runtimes take
    /// tenths of a second to start.
    fn query(&mut self, entries: &[&RosterEntry]) {
        for some in entries.chunks(processor_count()) {
            let answers: Vec<_> = thread::scope(|scope| {
                let asked: Vec<_> = some.iter().map(|entry| scope.spawn(|| entry.query())).collect();
                asked.into_iter().map(|it| it.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
            });
            some.iter().zip(answers).for_each(|(entry, answer)| self.add_query_result(entry, answer));
        }
    }

    fn add_query_result(&mut self, entry: &RosterEntry, answer: Result<Contender, SessionError>) {
        match answer {
            Ok(contender) => self.contenders.push(contender),
            Err(error @ (SessionError::Unavailable(_) | SessionError::NotStarted { .. })) => {
                self.mark_unavailable(entry, error.to_string())
            }
            // The dependencies of a contender that started are installed, so the hint would not
            // help.
            Err(error) => {
                self.absent.insert(entry.name.clone(), error.to_string());
            }
        }
    }

    /// Records why a contender cannot run, with the roster's hint how to install what is missing.
    fn mark_unavailable(&mut self, entry: &RosterEntry, reason: String) {
        let reason = entry.hint().map_or(reason.clone(), |hint| format!("{reason}; {hint}"));
        self.absent.insert(entry.name.clone(), reason);
    }

    /// The contenders that answered.
    pub fn present(&self) -> &[Contender] {
        &self.contenders
    }

    /// The names of the contenders that did not answer, with the reasons.
    pub fn absent(&self) -> &BTreeMap<String, String> {
        &self.absent
    }

    pub fn contender(&self, name: &str) -> Option<&Contender> {
        self.contenders.iter().find(|contender| contender.receipt.contender == name)
    }

    pub fn method(&self, id: &MethodId) -> Option<&MethodLine> {
        self.contender(&id.contender)?.methods.iter().find(|method| method.method == id.method)
    }

    /// True if the method shows a limit of the machine or of readlab instead of reading a file in a
    /// way that is compared.
    pub fn is_control(&self, id: &MethodId) -> bool {
        self.method(id).is_some_and(|method| method.cache == Cache::None)
    }
}

/// Asks a contender for its version and methods.
pub trait Query {
    /// Starts the contender and asks for its version and methods.
    fn query(&self) -> Result<Contender, SessionError> {
        self.query_within(START_TIMEOUT)
    }

    /// Like `query`, with a limit on the time that the contender may take to answer.
    fn query_within(&self, time_limit: Duration) -> Result<Contender, SessionError>;

    /// How a user can install what the contender needs, with placeholders filled in for this
    /// machine.
    fn hint(&self) -> Option<String>;
}

impl Query for RosterEntry {
    fn query_within(&self, time_limit: Duration) -> Result<Contender, SessionError> {
        let place = BuildDir::for_entry(self).map_err(unavailable_error)?;
        if let Some(place) = place.as_ref().filter(|place| !place.is_built(self)) {
            let missing = self.missing_dependency(place).map(unavailable_error);
            return Err(missing.unwrap_or_else(|| SessionError::NotBuilt(self.name.clone())));
        }
        let command = command_line(self, &self.run, place.as_ref()).map_err(unavailable_error)?;
        match receipt_and_methods(self, &command, time_limit) {
            Ok((mut receipt, methods)) => {
                receipt.language = self.language.clone().filter(|_| self.roster_path.is_some());
                Ok(Contender {
                    command,
                    receipt,
                    methods,
                    warmup: self.warmup,
                    collects_garbage: self.collects_garbage,
                })
            }
            Err(SessionError::Interrupted) => Err(SessionError::Interrupted),
            Err(error) => {
                Err(place.and_then(|place| self.missing_dependency(&place)).map_or(error, unavailable_error))
            }
        }
    }

    fn hint(&self) -> Option<String> {
        let place = BuildDir::for_entry(self).ok().flatten();
        let hint = fill_placeholders(self.hint.as_ref()?, place.as_ref());
        Some(hint.to_string_lossy().into_owned())
    }
}

fn receipt_and_methods(
    entry: &RosterEntry,
    command: &CommandLine,
    time_limit: Duration,
) -> Result<(Receipt, Vec<MethodLine>), SessionError> {
    let mut listing = command.clone();
    listing.args.push("methods".into());
    let mut session = Session::launch_within(&entry.name, &listing, time_limit)?.receive_hello()?;
    let methods = session.read_methods()?;
    Ok((session.receipt, methods))
}

fn unavailable_error(error: BuildError) -> SessionError {
    SessionError::Unavailable(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_contender_that_takes_part_as_built_is_not_built() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("roster.toml");
        let entry = "[[contender]]\nname = 'x'\nabout = 'x'\nsources = '.'\nbuild = [['mkdir', 'build']]\nrun = ['x']\n";
        fs::write(&path, entry).unwrap();
        let roster = Roster::load(&path).unwrap();
        let found = |how| Contenders::build_and_discover(&roster, |_| how, |_| {});
        assert!(found(Participation::LeftOut).absent().is_empty());
        let as_built = found(Participation::IfBuilt);
        assert_eq!(as_built.absent()["x"], "not built yet: `readlab build x` builds it");
        assert!(!folder.path().join("build").exists());
        assert!(!found(Participation::AfterBuild).absent()["x"].starts_with("not built"));
        assert!(folder.path().join("build").exists());
    }
}
