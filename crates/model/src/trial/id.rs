//! The name of a trial: contender, method, scan and settings in one spelling, all parsed here.

use super::Params;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MethodId {
    /// The contender's name in the roster; `command` for a command of the user.
    pub contender: String,
    /// The method: how bytes are read. For a command this is the command with `{}` for the path.
    pub method: String,
    /// The scan: how bytes are visited.
    pub scan: Option<String>,
}

/// A trial's name: method and settings, without the work and the cache state.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
#[schemars(with = "String")]
pub struct TrialId {
    pub method: MethodId,
    /// The settings that the name states, defaults not included, under the names that parsing
    /// gives, such as `buffer` for `buffer_chars`.
    pub params: Params,
}

/// A trial name or glob as users write it, split at its `@`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitName<'a> {
    /// `contender/method`, `contender/method/scan`, or a glob over these.
    pub path: &'a str,
    pub params: Params,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TrialError {
    #[error(
        "'{0}' is not a trial: expected contender/method, contender/method/scan, and perhaps @key=value,…"
    )]
    Malformed(String),
    #[error("'{name}': parameter {key}: {cause}")]
    InvalidValue { name: String, key: String, cause: String },
    #[error("{method} has no parameter '{key}' (it has: {known})")]
    UnknownParam { method: String, key: String, known: String },
    #[error("{method}: {key} must be from {min} to {max}, got {value}")]
    OutOfRange { method: String, key: String, value: u64, min: u64, max: u64 },
}

/// The contender whose methods are commands.
pub const COMMAND: &str = "command";

impl MethodId {
    /// A method that runs a command line of the user.
    pub fn command(template: &str) -> MethodId {
        MethodId { contender: COMMAND.to_owned(), method: template.to_owned(), scan: None }
    }
}

impl fmt::Display for MethodId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Parsing adds a path at the end if the command has none, so a path at the end is omitted
        // here.
        let short =
            self.method.strip_suffix(" {}").filter(|it| self.contender == COMMAND && !it.contains("{}"));
        let method = short.unwrap_or(&self.method);
        match &self.scan {
            Some(scan) => f.pad(&format!("{}/{method}/{scan}", self.contender)),
            None => f.pad(&format!("{}/{method}", self.contender)),
        }
    }
}

impl TrialId {
    /// The trial name of a method with these settings. Parsing the spelled name gives the same
    /// value.
    pub fn new(method: MethodId, params: &Params) -> TrialId {
        TrialId { method, params: params.with_parsed_names() }
    }

    /// Parses a name that a user wrote: the value `all` of a setting becomes the number of
    /// processors.
    pub fn parse_written(text: &str) -> Result<TrialId, TrialError> {
        match split_settings(text) {
            // The text of a command belongs to the user and is not changed.
            _ if text.starts_with(&format!("{COMMAND}/")) => text.parse(),
            (path, "") => path.parse(),
            (path, settings) => format!("{path}@{}", with_cpu_count(settings)).parse(),
        }
    }
}

impl SplitName<'_> {
    /// Splits a name or glob that a user wrote: the value `all` of a setting becomes the number of
    /// processors.
    pub fn parse(text: &str) -> Result<SplitName<'_>, TrialError> {
        let (path, settings) = split_settings(text);
        Ok(SplitName { path, params: with_cpu_count(settings).parse()? })
    }
}

/// Splits a name into the part before its settings and the settings.
fn split_settings(name: &str) -> (&str, &str) {
    name.split_once('@').unwrap_or((name, ""))
}

/// Replaces the value `all` of each setting by the number of processors.
fn with_cpu_count(settings: &str) -> String {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let number = |setting: &str| match setting.strip_suffix("=all") {
        Some(name) => format!("{name}={cpus}"),
        None => setting.to_owned(),
    };
    settings.split(',').map(number).collect::<Vec<_>>().join(",")
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
        let malformed = || TrialError::Malformed(name.to_owned());
        if let Some(template) = name.strip_prefix("command/") {
            let has_place = template.contains("{}") || template.contains("{list}");
            let template = if has_place { template.to_owned() } else { format!("{template} {{}}") };
            return Ok(TrialId { method: MethodId::command(&template), params: Params::default() });
        }
        let (path, params) = split_settings(name);
        let parts: Vec<&str> = path.split('/').collect();
        let (contender, method, scan) = match parts[..] {
            [contender, method] => (contender, method, None),
            [contender, method, scan] => (contender, method, Some(scan)),
            _ => return Err(malformed()),
        };
        if [contender, method].contains(&"") || scan == Some("") {
            return Err(malformed());
        }
        let ([contender, method], scan) = ([contender, method].map(str::to_owned), scan.map(str::to_owned));
        Ok(TrialId { method: MethodId { contender, method, scan }, params: params.parse()? })
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
    use proptest::prelude::*;
    use readlab_protocol::{MethodLine, ParamLine};
    use std::collections::BTreeMap;

    fn id(name: &str) -> TrialId {
        name.parse().unwrap()
    }

    #[test]
    fn a_known_trial_name_is_parsed_back_from_its_spelling() {
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

    /// Generates every part of a name that a contender may declare.
    fn any_id() -> impl Strategy<Value = TrialId> {
        let word = "[a-z][a-zA-Z0-9_]{0,6}";
        let setting = ("[a-z][a-z0-9]{0,5}(_bytes|_chars|_chars_bytes)?", any::<u64>());
        let params = proptest::collection::btree_map(setting.0, setting.1, 0..4).prop_map(Params);
        let method = (word, "[a-zA-Z][a-zA-Z0-9_]{0,8}", proptest::option::of(word));
        let method = method.prop_filter("commands are spelled in another way", |it| it.0 != COMMAND);
        (method, params).prop_map(|((contender, method, scan), params)| {
            TrialId::new(MethodId { contender, method, scan }, &params)
        })
    }

    proptest! {
        #[test]
        fn a_trial_s_name_is_read_back_from_its_spelling(id in any_id()) {
            prop_assert_eq!(id.to_string().parse::<TrialId>().unwrap(), id);
        }

        #[test]
        fn a_command_s_name_is_read_back_from_its_spelling(begin in "[a-z]{1,8}[ -~]{0,12}", end in "[ -~]{0,6}") {
            let id = TrialId::new(MethodId::command(&format!("{begin}{{}}{end}")), &Params::default());
            prop_assert_eq!(id.to_string().parse::<TrialId>().unwrap(), id);
        }
    }

    #[test]
    fn the_value_all_becomes_the_number_of_processors() {
        let split = SplitName::parse("rust/*@threads=all,buffer=1KiB").unwrap();
        assert_eq!((split.path, split.params.0["buffer_bytes"]), ("rust/*", 1024));
        assert!(split.params.0["threads"] > 0);
        let written = TrialId::parse_written("rust/read@threads=all").unwrap();
        assert_eq!(written.params.0["threads"], split.params.0["threads"]);
    }

    #[test]
    fn the_text_of_a_command_stays_as_it_is_written() {
        for line in ["grep -c level=all {}", "./r --only=all@x=all {}", "x=all wc -l {}"] {
            let id = TrialId::parse_written(&format!("command/{line}")).unwrap();
            assert_eq!(id.method.method, line);
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
            "rust/mmap@depth=1,depth=2",
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
            params: vec![ParamLine { name: "buffer_bytes".into(), default: 65_536, min: 1, max: 1 << 30 }],
            ..MethodLine::plain("read", "")
        };
        let resolved = "buffer=8k".parse::<Params>().unwrap().resolve(&method).unwrap();
        assert_eq!(resolved.0, BTreeMap::from([("buffer_bytes".to_owned(), 8192)]));
        assert_eq!(resolved.to_string(), "buffer=8KiB");
        let refused = |text: &str| text.parse::<Params>().unwrap().resolve(&method).unwrap_err().to_string();
        assert_eq!(refused("bufer=1KiB"), "read has no parameter 'bufer' (it has: buffer)");
        assert_eq!(refused("buffer=0"), "read: buffer must be from 1 to 1073741824, got 0");
    }
}
