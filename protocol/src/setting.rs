//! Parameters of methods: named integers within ranges, spelled with their unit.

use crate::ParamLine;
use std::collections::BTreeMap;

/// One parameter of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Param {
    /// Name of the parameter with its unit, such as `buffer_bytes`.
    pub name: &'static str,
    /// Value if none is given.
    pub default: u64,
    /// Smallest value.
    pub min: u64,
    /// Largest value.
    pub max: u64,
}

/// The value of every parameter of one method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings(BTreeMap<&'static str, u64>);

/// The reason why settings are refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// The method has no such parameter.
    #[error("no parameter '{name}' (known: {known})")]
    Unknown {
        /// The name that was given.
        name: String,
        /// The names of the parameters that exist.
        known: String,
    },
    /// The value is outside the range.
    #[error("{name} must be from {} to {}, got {value}", .param.min, .param.max, name = .param.name)]
    OutOfRange {
        /// The parameter whose value is wrong.
        param: Param,
        /// The value that was given.
        value: u64,
    },
    /// The same parameter came twice.
    #[error("{0} is given twice")]
    Repeated(&'static str),
    /// Two values exclude each other.
    #[error("{0}")]
    Conflict(String),
}

impl From<&Param> for ParamLine {
    fn from(param: &Param) -> ParamLine {
        let Param { name, default, min, max } = *param;
        ParamLine { name: name.to_owned(), default, min, max }
    }
}

impl Param {
    /// Makes a parameter with its name, its default, its smallest and its largest value.
    #[must_use]
    pub const fn new(name: &'static str, default: u64, min: u64, max: u64) -> Param {
        Param { name, default, min, max }
    }

    /// Makes a switch: 0 or 1, off by default.
    #[must_use]
    pub const fn switch(name: &'static str) -> Param {
        Param::new(name, 0, 0, 1)
    }
}

impl Settings {
    /// Checks the given settings against the parameters, and fills in the defaults.
    ///
    /// # Errors
    /// If a name is unknown or comes twice, or a value is outside its range.
    pub fn resolve<'a>(
        params: &[Param],
        given: impl IntoIterator<Item = (&'a str, u64)>,
    ) -> Result<Settings, SettingError> {
        let mut settings = BTreeMap::new();
        for (name, value) in given {
            let param =
                params.iter().find(|param| param.name == name).ok_or_else(|| unknown(params, name))?;
            if value < param.min || value > param.max {
                return Err(SettingError::OutOfRange { param: *param, value });
            }
            if settings.insert(param.name, value).is_some() {
                return Err(SettingError::Repeated(param.name));
            }
        }
        for param in params {
            settings.entry(param.name).or_insert(param.default);
        }
        Ok(Settings(settings))
    }

    /// The value of a parameter.
    ///
    /// # Panics
    /// If the method does not list the parameter. This is a mistake in its declaration, which a
    /// test of the list finds.
    #[must_use]
    pub fn get(&self, param: &Param) -> u64 {
        *self.0.get(param.name).expect("a method asks only for parameters that it lists")
    }

    /// The value of a parameter that counts things in memory.
    ///
    /// # Panics
    /// As [`Settings::get`], and if the value exceeds the address space.
    #[must_use]
    pub fn size(&self, param: &Param) -> usize {
        usize::try_from(self.get(param)).expect("ranges of sizes end far below the address space")
    }

    /// Whether a switch is on.
    ///
    /// # Panics
    /// As [`Settings::get`].
    #[must_use]
    pub fn is_on(&self, param: &Param) -> bool {
        self.get(param) != 0
    }

    /// Sets a value that follows from other values.
    pub fn settle(&mut self, param: &Param, value: u64) {
        self.0.insert(param.name, value);
    }

    /// Every parameter by its name and value.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.0.iter().map(|(name, value)| (*name, *value))
    }

    /// The settings in the form of the message `ready`.
    #[must_use]
    pub fn params(&self) -> BTreeMap<String, u64> {
        self.iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

fn unknown(params: &[Param], name: &str) -> SettingError {
    let known: Vec<&str> = params.iter().map(|param| param.name).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    SettingError::Unknown { name: name.to_owned(), known }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMS: &[Param] = &[Param::new("buffer_bytes", 4096, 1, 8192), Param::switch("direct")];

    #[test]
    fn a_parameter_that_is_not_given_has_its_default() {
        let settings = Settings::resolve(PARAMS, [("direct", 1)]).unwrap();
        assert_eq!((settings.size(&PARAMS[0]), settings.is_on(&PARAMS[1])), (4096, true));
        assert_eq!(settings.iter().collect::<Vec<_>>(), [("buffer_bytes", 4096), ("direct", 1)]);
    }

    #[test]
    fn an_unknown_out_of_range_or_repeated_setting_is_refused_by_name() {
        for (given, text) in [
            (vec![("depth", 1)], "no parameter 'depth' (known: buffer_bytes, direct)"),
            (vec![("buffer_bytes", 0)], "buffer_bytes must be from 1 to 8192, got 0"),
            (vec![("buffer_bytes", 8193)], "buffer_bytes must be from 1 to 8192, got 8193"),
            (vec![("direct", 0), ("direct", 1)], "direct is given twice"),
        ] {
            assert_eq!(Settings::resolve(PARAMS, given).unwrap_err().to_string(), text);
        }
    }
}
