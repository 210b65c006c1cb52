//! The settings of a method.

use super::TrialError;
use crate::units::Bytes;
use readlab_protocol::MethodLine;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Settings of a method by name. Values are integers; resolved names state units (`buffer_bytes`).
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Params(pub BTreeMap<String, u64>);

/// The suffixes of parameter names that state the unit. Displayed names omit them.
const UNIT_SUFFIXES: [&str; 2] = ["_bytes", "_chars"];

impl Params {
    /// A parameter name without its unit: `buffer` for `buffer_bytes`.
    pub fn short_name(name: &str) -> &str {
        let mut short = name;
        while let Some(shorter) = UNIT_SUFFIXES.iter().find_map(|suffix| short.strip_suffix(suffix)) {
            short = shorter;
        }
        short
    }

    /// Memory of the buffers that the settings declare.
    pub fn buffers_bytes(&self) -> u64 {
        let setting = |name: &str| self.0.get(name).copied();
        let buffers = ["buffers", "depth", "threads"].into_iter().filter_map(setting);
        buffers.fold(setting("buffer_bytes").unwrap_or(0), u64::saturating_mul)
    }

    /// The settings under the names that they have after they were displayed and parsed:
    /// `buffer_chars` becomes `buffer`.
    pub(super) fn with_parsed_names(&self) -> Params {
        let spelled = |name: &String| match name.ends_with("_bytes") {
            true => format!("{}_bytes", Params::short_name(name)),
            false => Params::short_name(name).to_owned(),
        };
        Params(self.0.iter().map(|(name, &value)| (spelled(name), value)).collect())
    }

    /// Replaces the names by the names that the method declares, and checks the ranges. Defaults
    /// are not added: the contender reports the values in force when it starts.
    pub fn resolve(&self, method: &MethodLine) -> Result<Params, TrialError> {
        let mut resolved = BTreeMap::new();
        for (key, &value) in &self.0 {
            let declared =
                method.params.iter().find(|param| Params::short_name(&param.name) == Params::short_name(key));
            let Some(param) = declared else {
                let known: Vec<&str> =
                    method.params.iter().map(|param| Params::short_name(&param.name)).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                let (method, key) = (method.method.clone(), Params::short_name(key).to_owned());
                return Err(TrialError::UnknownParam { method, key, known });
            };
            let (min, max) = (param.min, param.max);
            if !(min..=max).contains(&value) {
                let (method, key) = (method.method.clone(), Params::short_name(key).to_owned());
                return Err(TrialError::OutOfRange { method, key, value, min, max });
            }
            resolved.insert(param.name.clone(), value);
        }
        Ok(Params(resolved))
    }
}

impl fmt::Display for Params {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spelled = self.0.iter().map(|(name, &value)| match name.strip_suffix("_bytes") {
            Some(short) if Bytes(value).exact_text().ends_with('B') => {
                format!("{short}={}", Bytes(value).exact_text())
            }
            Some(short) => format!("{short}={value}B"),
            None => format!("{}={value}", Params::short_name(name)),
        });
        f.pad(&spelled.collect::<Vec<_>>().join(","))
    }
}

impl FromStr for Params {
    type Err = TrialError;

    /// Parses `buffer=128KiB,depth=16`. A value with a unit of size gives the name the suffix
    /// `_bytes`.
    fn from_str(text: &str) -> Result<Params, TrialError> {
        let mut params = BTreeMap::new();
        for pair in text.split(',').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').ok_or_else(|| TrialError::Malformed(text.to_owned()))?;
            let (key, value) = (key.trim(), value.trim());
            let short = Params::short_name(key);
            if short.is_empty() || !short.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-') {
                return Err(TrialError::Malformed(text.to_owned()));
            }
            let wrong = |cause: String| TrialError::InvalidValue {
                name: text.to_owned(),
                key: key.to_owned(),
                cause,
            };
            let bytes: Bytes =
                value.parse().map_err(|cause: crate::units::UnitError| wrong(cause.to_string()))?;
            let of_bytes = key.ends_with("_bytes") || value.ends_with(|c: char| c.is_ascii_alphabetic());
            let name = if of_bytes { format!("{short}_bytes") } else { short.to_owned() };
            if params.insert(name, bytes.0).is_some() {
                return Err(wrong("it is given twice".to_owned()));
            }
        }
        Ok(Params(params))
    }
}
