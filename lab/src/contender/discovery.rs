//! The contenders of a roster that can take part on this machine, and for each of the others the
//! reason why it cannot.
//!
//! Which of their methods are measured is decided by the planner of an experiment.

use super::roster::{self, Contender, Roster};
use super::session::SessionError;
use crate::trial::MethodId;
use readlab_protocol::{Cache, MethodLine};
use std::collections::BTreeMap;

/// Contenders that answered, with their receipts, and the reasons of those that did not.
#[derive(Debug, Default)]
pub struct Contenders {
    contenders: Vec<Contender>,
    absent: BTreeMap<String, String>,
}

impl Contenders {
    /// Asks every contender of the roster for its receipt, or only those that `wanted` accepts.
    /// Nothing is built.
    pub fn discover(roster: &Roster, wanted: impl Fn(&str) -> bool) -> Contenders {
        let mut found = Contenders::default();
        roster.entries.iter().filter(|entry| wanted(&entry.name)).for_each(|entry| found.ask(entry));
        found
    }

    /// The same, after building those that are not built; `about_to` is told of each before it
    /// takes time.
    pub fn build_and_discover(
        roster: &Roster,
        wanted: impl Fn(&str) -> bool,
        about_to: impl Fn(&str),
    ) -> Contenders {
        let mut found = Contenders::default();
        for entry in roster.entries.iter().filter(|entry| wanted(&entry.name)) {
            match entry.build_once(|| about_to(&entry.name)) {
                Ok(()) => found.ask(entry),
                Err(error) => found.mark_unavailable(entry, error.to_string()),
            }
        }
        found
    }

    fn ask(&mut self, entry: &roster::Entry) {
        match entry.take_part() {
            Ok(contender) => self.contenders.push(contender),
            Err(breach @ (SessionError::Unavailable(_) | SessionError::NotStarted { .. })) => {
                self.mark_unavailable(entry, breach.to_string())
            }
            // What it needs is there: no package mends that.
            Err(breach) => {
                self.absent.insert(entry.name.clone(), breach.to_string());
            }
        }
    }

    /// Who is not there, why, and how that is mended.
    fn mark_unavailable(&mut self, entry: &roster::Entry, reason: String) {
        let reason = entry.hint().map_or(reason.clone(), |hint| format!("{reason}; {hint}"));
        self.absent.insert(entry.name.clone(), reason);
    }

    /// Those who showed their receipt.
    #[must_use]
    pub fn present(&self) -> &[Contender] {
        &self.contenders
    }

    /// Those who did not, with the reason.
    #[must_use]
    pub fn absent(&self) -> &BTreeMap<String, String> {
        &self.absent
    }

    /// The contender of this name, if it showed its receipt.
    #[must_use]
    pub fn contender(&self, name: &str) -> Option<&Contender> {
        self.contenders.iter().find(|contender| contender.receipt.contender == name)
    }

    /// What the contender says of a method that it lists by its name.
    pub(crate) fn method(&self, id: &MethodId) -> Option<&MethodLine> {
        self.contender(&id.contender)?.methods.iter().find(|method| method.method == id.method)
    }

    pub(crate) fn is_control(&self, id: &MethodId) -> bool {
        self.method(id).is_some_and(|method| method.cache == Cache::None)
    }
}
