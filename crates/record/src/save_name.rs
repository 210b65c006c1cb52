//! A name that the user gives a record with `--save`.

use std::fmt;
use std::str::FromStr;

/// The word for the newest run, which is no name.
pub(super) const LAST: &str = "last";

/// A name for a record: letters, digits, `-`, `_` and `.`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SaveName(String);

impl SaveName {
    /// The same with more behind it, of letters, digits and `-`.
    pub fn and(&self, more: &str) -> SaveName {
        SaveName(format!("{}{more}", self.0))
    }
}

impl fmt::Display for SaveName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for SaveName {
    type Err = String;

    fn from_str(text: &str) -> Result<SaveName, String> {
        let fits = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
        if text.is_empty() || text.starts_with(['.', '-']) || !text.chars().all(fits) {
            return Err(
                "a name has letters, digits, '-', '_' and '.', and begins with a letter or digit".to_owned()
            );
        }
        if text == LAST { Err(format!("'{LAST}' is the newest run")) } else { Ok(SaveName(text.to_owned())) }
    }
}
