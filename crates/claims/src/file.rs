//! A claims file: a TOML file with the claims of one publication. Every error names the line and
//! what was expected there.

use super::claim::ClaimsFile;
use super::line::FileLines;
use readlab_system::terminal::printable::{cause_at, toml_cause};
use std::io;
use std::path::{Path, PathBuf};

/// Why there are no claims.
#[derive(Debug, thiserror::Error)]
pub enum ClaimsError {
    /// The file cannot be read.
    #[error("{path}: {cause}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        cause: io::Error,
    },
    /// The file holds no claims, or a wrong expression.
    #[error("{path}: {cause}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Where and why.
        cause: String,
    },
    /// No claims have this name.
    #[error("{name}: no claims of this name and no record (claims: {known})")]
    Unknown { name: String, known: String },
}

/// A user's own claims.
pub fn read(path: &Path) -> Result<ClaimsFile, ClaimsError> {
    let text = std::fs::read_to_string(path)
        .map_err(|cause| ClaimsError::Unreadable { path: path.to_owned(), cause })?;
    parse(&text).map_err(|cause| ClaimsError::Malformed { path: path.to_owned(), cause })
}

pub fn parse(text: &str) -> Result<ClaimsFile, String> {
    let lines: FileLines = toml::from_str(text).map_err(|error| toml_cause(text, &error))?;
    lines.claims().map_err(|wrong| cause_at(text, wrong.at, &wrong.cause))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "name = \"mine\"\nsource = \"me\"\n[[claim]]\nsays = \"a\"\nwhere = \"b\"\n";

    fn cause(lines: &str) -> String {
        parse(&format!("{HEAD}{lines}")).unwrap_err()
    }

    #[test]
    fn a_wrong_expression_is_an_error_with_its_line_and_what_was_expected() {
        for (lines, line, expected) in [
            ("kind = \"rato\"", 6, "expected one of `ratio`, `share`"),
            ("kind = \"ratio\"\nat_least = 2", 6, "kind 'ratio' has no 'pairs', expected pairs"),
            ("kind = \"order\"\ntrials = [\"a\"]", 7, "expected 2 trials or more"),
            (
                "kind = \"order\"\ntrials = [\"a\", \"b\"]\nat_least = 1",
                8,
                "'at_least' does not belong to kind 'order'",
            ),
            (
                "kind = \"value\"\nmetric = \"walk\"\ntrials = [\"a\"]",
                7,
                "unknown metric 'walk', expected one of wall",
            ),
            ("kind = \"value\"\nmetric = \"wall\"\ntrials = [\"a\"]", 6, "expected at_least or at_most"),
            (
                "kind = \"value\"\nmetric = \"wall\"\ntrials = [\"a\"]\nat_least = 2\nat_most = 1",
                10,
                "expected a higher number",
            ),
            (
                "kind = \"value\"\nmetric = \"rate\"\ntrials = [\"a\"]\nat_least = 2\nsizes = \"1MB\"",
                10,
                "expected 100kB..1MB",
            ),
            ("kind = \"value\"\nat_least = \"two\"", 7, "expected f64"),
            ("kind = \"ratio\"\npairs = []\nat_least = 2", 7, "expected pairs such as"),
            ("kind = \"ratio\"\nparis = []\nat_least = 2", 7, "unknown field `paris`, expected one of"),
            (
                "kind = \"slope\"\ntrials = [\"a\"]\nover = \"f\"\nwithin = 0.5\nat_most = 0",
                9,
                "expected a factor above 1",
            ),
        ] {
            let cause = cause(lines);
            assert!(cause.starts_with(&format!("line {line}, column ")), "{lines}: {cause}");
            assert!(cause.contains(expected) && !cause.contains('\n'), "{lines}: {cause}");
        }
    }
}
