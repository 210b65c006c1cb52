//! The question: which way of reading, with which parameters, for which work, from which state of
//! the cache.
//!
//! One spelling of a trial's name serves Rust, TOML, JSON, the command line and the page:
//! `rust/io_uring/avx2@buffer=128KiB,depth=16`. Nothing here knows how anything is read or
//! measured.

mod answer;

pub use answer::Answer;

use crate::units::Bytes;
use readlab_protocol::{MethodLine, Reads};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// What is done with the bytes.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// Count the bytes equal to 0x0A.
    Newlines,
    /// Make or find every line, and count them.
    Lines,
    /// Wrapping sum of all bytes in one byte.
    Sum,
    /// Bring the bytes and do nothing with them.
    Discard,
}

/// Where the file's bytes are when the clock starts.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "snake_case")]
pub enum CacheState {
    /// None of them in the page cache.
    Cold,
    /// All of them in the page cache, put there by the standard fill.
    Warm,
    /// Nobody here can tell: they are behind somebody else's server, with caches of its own.
    Unknown,
}

/// Over what the bytes of a target come to a contender.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// A file that it opens.
    #[default]
    File,
    /// A server that it asks.
    Http,
}

/// Who reads and how: contender, method and, where the contender lets one choose, scan.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MethodId {
    /// The contender's name in the roster; `command` for a command of the user's.
    pub contender: String,
    /// How bytes are brought; for a command, the command with `{}` for the path.
    pub method: String,
    /// How bytes are visited.
    pub scan: Option<String>,
}

/// Settings of a method by name; the names carry their units once resolved (`buffer_bytes`), always
/// integers.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Params(pub BTreeMap<String, u64>);

/// A trial's name: method and parameters. Work and cache state stand beside it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TrialId {
    /// Who reads and how.
    pub method: MethodId,
    /// With which settings; only those that were given, until resolved against the method.
    pub params: Params,
}

/// Why a name is not a trial.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TrialError {
    /// Not `contender/method[/scan][@key=value,…]`.
    #[error(
        "'{0}' is not a trial: expected contender/method, contender/method/scan, and perhaps @key=value,…"
    )]
    Shape(String),
    /// A parameter's value is no integer or size.
    #[error("'{name}': parameter {key}: {cause}")]
    Value {
        /// The whole name.
        name: String,
        /// The parameter.
        key: String,
        /// What is wrong with it.
        cause: String,
    },
    /// The method has no such parameter.
    #[error("{method} has no parameter '{key}' (it has: {known})")]
    UnknownParam {
        /// The method.
        method: String,
        /// The parameter that was given.
        key: String,
        /// Those that exist.
        known: String,
    },
    /// The value is outside what the method takes.
    #[error("{method}: {key} must be from {min} to {max}, got {value}")]
    OutOfRange {
        /// The method.
        method: String,
        /// The parameter.
        key: String,
        /// What was given.
        value: u64,
        /// Smallest value.
        min: u64,
        /// Largest value.
        max: u64,
    },
}

impl Work {
    /// The word used in names, files and on the wire.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Work::Newlines => "newlines",
            Work::Lines => "lines",
            Work::Sum => "sum",
            Work::Discard => "discard",
        }
    }

    /// Whether every byte must be looked at, so that no honest rate lies above that of memory.
    #[must_use]
    pub fn touches_bytes(self) -> bool {
        self != Work::Discard
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

impl fmt::Display for CacheState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            CacheState::Cold => "cold",
            CacheState::Warm => "warm",
            CacheState::Unknown => "unknown",
        })
    }
}

impl Transport {
    /// The word used in suites and exports.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Transport::File => "file",
            Transport::Http => "http",
        }
    }

    /// Whether a method that reads these can be pointed at such a target.
    #[must_use]
    pub fn suits(self, reads: Reads) -> bool {
        match self {
            Transport::File => reads != Reads::Url,
            Transport::Http => reads != Reads::File,
        }
    }
}

/// The contender whose methods are commands.
pub const COMMAND: &str = "command";

impl MethodId {
    /// A method that is a command line of the user's.
    #[must_use]
    pub fn command(template: &str) -> MethodId {
        MethodId { contender: COMMAND.to_owned(), method: template.to_owned(), scan: None }
    }
}

impl fmt::Display for MethodId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What is left out is what reading the name adds: a path at the end, if that is the only
        // one.
        let short =
            self.method.strip_suffix(" {}").filter(|it| self.contender == COMMAND && !it.contains("{}"));
        let method = short.unwrap_or(&self.method);
        match &self.scan {
            Some(scan) => f.pad(&format!("{}/{method}/{scan}", self.contender)),
            None => f.pad(&format!("{}/{method}", self.contender)),
        }
    }
}

/// The suffix that a parameter's name carries for its unit, cut off where people read it.
const UNIT_SUFFIXES: [&str; 2] = ["_bytes", "_chars"];

impl Params {
    /// `buffer_bytes` as people write it: `buffer`.
    pub(crate) fn short(name: &str) -> &str {
        let mut short = name;
        while let Some(shorter) = UNIT_SUFFIXES.iter().find_map(|suffix| short.strip_suffix(suffix)) {
            short = shorter;
        }
        short
    }

    /// Spells the names out against what the method declares, and checks the ranges. Defaults are
    /// not filled in: the contender says at its start what is in force.
    ///
    /// # Errors
    /// If a parameter is unknown to the method or out of its range.
    pub fn resolve(&self, method: &MethodLine) -> Result<Params, TrialError> {
        let mut resolved = BTreeMap::new();
        for (key, &value) in &self.0 {
            let declared =
                method.params.iter().find(|param| Params::short(&param.name) == Params::short(key));
            let Some(param) = declared else {
                let known: Vec<&str> = method.params.iter().map(|param| Params::short(&param.name)).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                return Err(TrialError::UnknownParam {
                    method: method.method.clone(),
                    key: key.clone(),
                    known,
                });
            };
            if value < param.min || value > param.max {
                return Err(TrialError::OutOfRange {
                    method: method.method.clone(),
                    key: key.clone(),
                    value,
                    min: param.min,
                    max: param.max,
                });
            }
            resolved.insert(param.name.clone(), value);
        }
        Ok(Params(resolved))
    }
}

impl fmt::Display for Params {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spelled = self.0.iter().map(|(name, &value)| match name.strip_suffix("_bytes") {
            Some(short) if Bytes(value).exact().ends_with('B') => format!("{short}={}", Bytes(value).exact()),
            Some(short) => format!("{short}={value}B"),
            None => format!("{}={value}", Params::short(name)),
        });
        f.pad(&spelled.collect::<Vec<_>>().join(","))
    }
}

impl FromStr for Params {
    type Err = TrialError;

    /// `buffer=128KiB,depth=16`. A value with a unit of size makes the name one of bytes.
    fn from_str(text: &str) -> Result<Params, TrialError> {
        let mut params = BTreeMap::new();
        for pair in text.split(',').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').ok_or_else(|| TrialError::Shape(text.to_owned()))?;
            let (key, value) = (key.trim(), value.trim());
            let short = Params::short(key);
            if short.is_empty() || !short.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-') {
                return Err(TrialError::Shape(text.to_owned()));
            }
            let bytes: Bytes = value.parse().map_err(|cause: crate::units::UnitError| TrialError::Value {
                name: text.to_owned(),
                key: key.to_owned(),
                cause: cause.to_string(),
            })?;
            let of_bytes = key.ends_with("_bytes") || value.ends_with(|c: char| c.is_ascii_alphabetic());
            let name = if of_bytes { format!("{short}_bytes") } else { short.to_owned() };
            params.insert(name, bytes.0);
        }
        Ok(Params(params))
    }
}

impl fmt::Display for TrialId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.params.0.is_empty() {
            return self.method.fmt(f);
        }
        f.pad(&format!("{}@{}", self.method, self.params))
    }
}

impl FromStr for TrialId {
    type Err = TrialError;

    fn from_str(name: &str) -> Result<TrialId, TrialError> {
        let shape = || TrialError::Shape(name.to_owned());
        if let Some(template) = name.strip_prefix("command/") {
            let template =
                if template.contains("{}") { template.to_owned() } else { format!("{template} {{}}") };
            return Ok(TrialId { method: MethodId::command(&template), params: Params::default() });
        }
        let (path, params) = name.split_once('@').unwrap_or((name, ""));
        let parts: Vec<&str> = path.split('/').collect();
        let (contender, method, scan) = match parts[..] {
            [contender, method] => (contender, method, None),
            [contender, method, scan] => (contender, method, Some(scan)),
            _ => return Err(shape()),
        };
        if [contender, method].contains(&"") || scan == Some("") {
            return Err(shape());
        }
        let method = MethodId {
            contender: contender.to_owned(),
            method: method.to_owned(),
            scan: scan.map(str::to_owned),
        };
        Ok(TrialId { method, params: params.parse()? })
    }
}

impl Serialize for TrialId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TrialId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<TrialId, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_protocol::{Cache, ParamLine};

    fn id(name: &str) -> TrialId {
        name.parse().unwrap()
    }

    #[test]
    fn a_name_reads_back_as_it_is_spelled() {
        for name in [
            "rust/mmap",
            "rust/mmap/avx512",
            "rust/io_uring/scalar@buffer=128KiB,depth=16",
            "rust/read@buffer=1000B",
            "java/BufferedReader@buffer=8192",
            "command/wc -l",
            "command/grep -c '' {} /dev/null",
        ] {
            assert_eq!(id(name).to_string(), name);
        }
        for (written, spelled) in [
            ("java/lines@buffer_chars=8192", "java/lines@buffer=8192"),
            ("rust/read@buffer_bytes=8192", "rust/read@buffer=8KiB"),
            ("rust/read@buffer_chars_bytes=1", "rust/read@buffer=1B"),
        ] {
            assert_eq!((id(written).to_string().as_str(), id(spelled)), (spelled, id(written)));
        }
    }

    #[test]
    fn a_command_is_split_from_its_path_only_at_the_end() {
        assert_eq!(id("command/wc -l").method.method, "wc -l {}");
        assert_eq!(id("command/wc -l {}"), id("command/wc -l"));
        assert_eq!(id("command/cmp {} {}").to_string(), "command/cmp {} {}");
    }

    #[test]
    fn misspelled_names_are_refused() {
        for name in [
            "",
            "rust",
            "rust/",
            "/mmap",
            "rust/mmap/",
            "a/b/c/d",
            "rust/mmap@depth",
            "rust/mmap@depth=x",
            "rust/mmap@=1",
            "rust/mmap@_bytes=1",
            "rust/mmap@de\rpth=1",
        ] {
            assert!(name.parse::<TrialId>().is_err(), "{name:?}");
        }
    }

    #[test]
    fn parameters_are_spelled_out_and_bounded_by_the_method() {
        let method = MethodLine {
            method: "read".into(),
            scans: BTreeMap::new(),
            params: vec![ParamLine { name: "buffer_bytes".into(), default: 65_536, min: 1, max: 1 << 30 }],
            about: String::new(),
            cache: Cache::Through,
            reads: Reads::File,
            decodes: Vec::new(),
            unavailable: None,
        };
        let resolved = "buffer=8k".parse::<Params>().unwrap().resolve(&method).unwrap();
        assert_eq!(resolved.0, BTreeMap::from([("buffer_bytes".to_owned(), 8192)]));
        assert_eq!(resolved.to_string(), "buffer=8KiB");
        assert!("depth=1".parse::<Params>().unwrap().resolve(&method).is_err());
        assert!("buffer=0".parse::<Params>().unwrap().resolve(&method).is_err());
    }
}
