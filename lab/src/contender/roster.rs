//! The roster: who may take part and how each is started. Contenders are data; the lab knows none
//! of them by name.
//!
//! The built-in roster is `contenders/roster.toml`; a user's own file in the same form is added
//! with `--roster`. A contender takes part when it shows its receipt; one that does not is
//! unavailable with the reason.

use crate::contender::build::Workplace;
use crate::contender::session::{Session, SessionError};
use crate::linux::program::CommandLine;
use crate::record::Receipt;
use crate::terminal::printable::toml_cause;
use crate::trial::{MethodId, Params, TrialError, Work};
use readlab_protocol::MethodLine;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The contenders that come with readlab.
const BUILT_IN: &str = include_str!("../../../contenders/roster.toml");

/// A roster file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Roster {
    /// Its contenders, in the order of the file.
    #[serde(default, rename = "contender")]
    pub entries: Vec<Entry>,
}

/// One contender in a roster.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Its name, the first part of a trial's name.
    pub name: String,
    /// What it is, in one sentence.
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
    /// Commands that succeed where what it needs is there. They are asked before it is built, and
    /// when starting failed, to say why.
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
    /// How a user gets what it needs, in one sentence.
    #[serde(default)]
    pub hint: Option<String>,
    /// The folder of the user's roster that it stands in; `None` for those that come with readlab.
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

/// Why a roster cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RosterError {
    /// The file cannot be read.
    #[error("{path}: {cause}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
    /// The file is no roster.
    #[error("{path}: {cause}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Where and why.
        cause: String,
    },
}

/// Why a trial's name leads to no method.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// The contender lists no such method.
    #[error("{contender} has no method '{method}' (it has: {known})")]
    Unknown {
        /// The contender.
        contender: String,
        /// The method that was asked for.
        method: String,
        /// Those that exist.
        known: String,
    },
    /// The method can do this work, but not with this scan.
    #[error("{method}: no scan '{scan}' for {work} here (there are: {known})")]
    NoScan {
        /// The method.
        method: String,
        /// The scan that was asked for.
        scan: String,
        /// The work.
        work: Work,
        /// Those that exist.
        known: String,
    },
    /// The method cannot do this work, with no scan.
    #[error("{method}: no {work} here (it does: {known})")]
    NoWork {
        /// The method.
        method: String,
        /// The work.
        work: Work,
        /// The works that it can do, each with its scans.
        known: String,
    },
    /// The roster has no such contender.
    #[error("no contender '{0}' in the roster")]
    NoContender(String),
    /// The contender says that the method does not work on this machine.
    #[error("{0}")]
    Unavailable(String),
    /// A parameter is wrong.
    #[error(transparent)]
    Params(#[from] TrialError),
}

/// A contender that showed its receipt, with what it offers.
#[derive(Debug, Clone)]
pub struct Contender {
    /// The command that starts it.
    command: CommandLine,
    /// Who it is.
    pub receipt: Receipt,
    /// What it offers, in its own order.
    pub methods: Vec<MethodLine>,
    /// What is done before its timed readings.
    pub warmup: Warmup,
    /// Whether it collects garbage after the last reading of a turn and before it answers.
    pub collects: bool,
}

/// A contender's method chosen by a trial's name: scan decided, parameters spelled out and within
/// bounds.
#[derive(Debug, Clone, PartialEq)]
pub struct ResolvedMethod {
    /// With the scan that will be used.
    pub id: MethodId,
    /// As they were given.
    pub params: Params,
    /// What the contender says of it.
    pub method: MethodLine,
}

/// A method that stands for every name: what the `command` contender offers.
const ANY_METHOD: &str = "*";

/// Stands for "no scan" on the wire.
const NO_SCAN: &str = "-";

impl Roster {
    /// The contenders that come with readlab.
    #[must_use]
    pub fn built_in() -> Roster {
        toml::from_str(BUILT_IN).expect("the built-in roster is checked by a test")
    }

    /// Reads a user's roster.
    ///
    /// # Errors
    /// If the file cannot be read or is no roster.
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
    ///
    /// # Errors
    /// If a roster cannot be read.
    pub fn with(rosters: &[PathBuf]) -> Result<Roster, RosterError> {
        let mut roster = Roster::built_in();
        for path in rosters {
            roster.entries.extend(Roster::load(path)?.entries);
        }
        Ok(roster)
    }

    /// The entry of this name.
    #[must_use]
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }
}

impl Entry {
    /// Asks the contender for its receipt and its methods.
    ///
    /// # Errors
    /// If it is not built, does not start or breaks the contract.
    pub fn take_part(&self) -> Result<Contender, SessionError> {
        let unavailable = |error: super::build::BuildError| SessionError::Unavailable(error.to_string());
        let place = Workplace::of(self).map_err(unavailable)?;
        if let Some(place) = place.as_ref().filter(|place| !place.is_built(self)) {
            let missing = self.missing(place).map(unavailable);
            return Err(missing.unwrap_or_else(|| SessionError::NotBuilt(self.name.clone())));
        }
        let command = self.line(&self.run, place.as_ref());
        let mut asked = command.clone();
        asked.args.push("methods".into());
        match self.introduce(&asked) {
            Ok((receipt, methods)) => {
                Ok(Contender { command, receipt, methods, warmup: self.warmup, collects: self.collects })
            }
            Err(SessionError::Interrupted) => Err(SessionError::Interrupted),
            Err(breach) => Err(place.and_then(|place| self.missing(&place)).map_or(breach, unavailable)),
        }
    }

    /// Its receipt and its methods, from a program started with `methods`.
    fn introduce(&self, asked: &CommandLine) -> Result<(Receipt, Vec<MethodLine>), SessionError> {
        let mut session = Session::start(&self.name, asked)?;
        let methods = session.methods()?;
        Ok((session.receipt, methods))
    }

    /// How a user gets what it needs, with the folders of this machine in it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let place = Workplace::of(self).ok().flatten();
        let filled = |hint: &String| self.fill(hint, place.as_ref()).to_string_lossy().into_owned();
        self.hint.as_ref().map(filled)
    }
}

impl Contender {
    /// The method that a name asks for, with the best scan for the work where the name leaves it
    /// open.
    ///
    /// # Errors
    /// If there is no such method, scan or parameter, or the contender says it does not work here.
    pub fn choose(&self, id: &MethodId, params: &Params, work: Work) -> Result<ResolvedMethod, ResolveError> {
        let named = |name: &str| self.methods.iter().find(|method| method.method == name);
        let method =
            named(&id.method).or_else(|| named(ANY_METHOD)).ok_or_else(|| self.unknown(&id.method))?;
        if let Some(reason) = &method.unavailable {
            return Err(ResolveError::Unavailable(reason.clone()));
        }
        let offered = method.scans.get(work.word()).map_or(&[][..], Vec::as_slice);
        let fits = |scan: &&String| id.scan.as_ref().is_none_or(|wanted| wanted == *scan);
        let scan = offered.iter().find(fits).ok_or_else(|| no_scan(id, method, work))?;
        let scan = (scan != NO_SCAN).then(|| scan.clone());
        let id = MethodId { scan, ..id.clone() };
        Ok(ResolvedMethod { id, params: params.resolve(method)?, method: method.clone() })
    }

    fn unknown(&self, method: &str) -> ResolveError {
        let known: Vec<&str> = self.methods.iter().map(|method| method.method.as_str()).collect();
        ResolveError::Unknown {
            contender: self.receipt.contender.clone(),
            method: method.to_owned(),
            known: known.join(", "),
        }
    }

    /// The command that starts a session for one choice.
    #[must_use]
    pub fn read_command(&self, choice: &ResolvedMethod, work: Work, target: &OsStr) -> CommandLine {
        let mut command = self.command.clone();
        let scan = choice.id.scan.as_deref().unwrap_or(NO_SCAN);
        command.args.extend(["read", &choice.id.method, scan, work.word()].map(OsString::from));
        command.args.push(target.to_owned());
        command.args.extend(choice.params.0.iter().map(|(name, value)| format!("{name}={value}").into()));
        command
    }
}

/// Why a method has no scan for this work: it has others, or it does other work.
fn no_scan(id: &MethodId, line: &MethodLine, work: Work) -> ResolveError {
    let method = format!("{}/{}", id.contender, id.method);
    let offered = line.scans.get(work.word()).map_or(&[][..], Vec::as_slice);
    if let (Some(scan), [_, ..]) = (&id.scan, offered) {
        let known = offered.join(", ").replace(NO_SCAN, "none to choose");
        return ResolveError::NoScan { method, scan: scan.clone(), work, known };
    }
    let done = line.scans.iter().filter(|(_, scans)| !scans.is_empty());
    let told = |(work, scans): (&String, &Vec<String>)| match scans.as_slice() {
        [only] if only == NO_SCAN => work.clone(),
        scans => format!("{work} with {}", scans.join(", ")),
    };
    let known: Vec<String> = done.map(told).collect();
    let known = if known.is_empty() { "nothing".to_owned() } else { known.join("; ") };
    ResolveError::NoWork { method, work, known }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// A contender with one method, and what it says of works and scans.
    fn offering(scans: &[(&str, &[&str])]) -> Contender {
        let listed = |(work, scans): &(&str, &[&str])| {
            ((*work).to_owned(), scans.iter().map(|scan| (*scan).to_owned()).collect())
        };
        let method = MethodLine {
            method: "m".into(),
            scans: scans.iter().map(listed).collect(),
            params: Vec::new(),
            about: String::new(),
            cache: readlab_protocol::Cache::Through,
            reads: readlab_protocol::Reads::File,
            decodes: Vec::new(),
            unavailable: None,
        };
        let command = CommandLine { program: "x".into(), args: Vec::new(), env: Vec::new() };
        let receipt = Receipt { contender: "x".into(), version: "1".into(), runtime: String::new() };
        Contender { command, receipt, methods: vec![method], warmup: Warmup::default(), collects: false }
    }

    #[test]
    fn a_scan_or_work_that_is_not_there_is_told_with_those_that_are() {
        let contender = offering(&[("newlines", &["avx2", "scalar"]), ("lines", &["-"]), ("sum", &[])]);
        let why = |name: &str, work| {
            let id: crate::trial::TrialId = name.parse().unwrap();
            contender.choose(&id.method, &id.params, work).unwrap_err().to_string()
        };
        assert_eq!(
            why("x/m/simd", Work::Newlines),
            "x/m: no scan 'simd' for newlines here (there are: avx2, scalar)"
        );
        let nothing = "x/m: no discard here (it does: lines; newlines with avx2, scalar)";
        assert_eq!(why("x/m", Work::Discard), nothing);
        assert_eq!(why("x/m/avx2", Work::Discard), nothing);
        assert_eq!(
            why("x/m/avx2", Work::Lines),
            "x/m: no scan 'avx2' for lines here (there are: none to choose)"
        );
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
