//! Claims files: each is a TOML file with the claims of one publication. Some are built into
//! readlab. An error names the line and what was expected there.

use super::claim::{AnsweredBy, ClaimsFile};
use super::judge::{JudgedClaims, judge};
use super::line::ClaimsFileToml;
use readlab_record::{Record, RunKind};
use readlab_system::terminal::printable::{cause_with_position, toml_cause};
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum ClaimsError {
    #[error("{path}: {cause}")]
    Unreadable { path: PathBuf, cause: io::Error },
    #[error("{path}: {cause}")]
    Malformed { path: PathBuf, cause: String },
    #[error("{name}: no claims of this name and no record (claims: {known})")]
    Unknown { name: String, known: String },
}

pub fn read(path: &Path) -> Result<ClaimsFile, ClaimsError> {
    let text = std::fs::read_to_string(path)
        .map_err(|cause| ClaimsError::Unreadable { path: path.to_owned(), cause })?;
    parse(&text).map_err(|cause| ClaimsError::Malformed { path: path.to_owned(), cause })
}

pub fn parse(text: &str) -> Result<ClaimsFile, String> {
    let lines: ClaimsFileToml = toml::from_str(text).map_err(|error| toml_cause(text, &error))?;
    lines.into_claims_file().map_err(|wrong| cause_with_position(text, wrong.offset_bytes, &wrong.cause))
}

/// The files of the folder `published/claims/`, each with the name given in the file.
const BUILT_IN: [(&str, &str); 6] = [
    ("newlines", include_str!("../carried/published/claims/newlines.toml")),
    ("byte-stream", include_str!("../carried/published/claims/byte-stream.toml")),
    ("sizes", include_str!("../carried/published/claims/sizes.toml")),
    ("zip-lines", include_str!("../carried/published/claims/zip-lines.toml")),
    ("mmap-dbms", include_str!("../carried/published/claims/mmap-dbms.toml")),
    ("lucene-directories", include_str!("../carried/published/claims/lucene-directories.toml")),
];

pub fn built_in_names() -> Vec<&'static str> {
    BUILT_IN.iter().map(|(name, _)| *name).collect()
}

pub fn find_built_in(name: &str) -> Result<ClaimsFile, ClaimsError> {
    let found = BUILT_IN.iter().find(|(known, _)| *known == name);
    let (_, text) = found
        .ok_or_else(|| ClaimsError::Unknown { name: name.to_owned(), known: built_in_names().join(", ") })?;
    Ok(parse(text).expect("the built-in claims are checked by a test"))
}

/// The built-in claims that a record answers: those of its suite, or those about sweeps.
pub fn built_in_for_record(record: &Record) -> Vec<ClaimsFile> {
    let all = built_in_names().into_iter().filter_map(|name| find_built_in(name).ok());
    all.filter(|file| answers_claims(record, &file.answered_by)).collect()
}

pub fn judge_built_in(record: &Record) -> Vec<JudgedClaims> {
    built_in_for_record(record).iter().map(|file| judge(file, Some(record))).collect()
}

fn answers_claims(record: &Record, by: &AnsweredBy) -> bool {
    let header = &record.header;
    match by {
        // The command contains the name of the suite. Its other words are files and values of
        // options.
        AnsweredBy::Suite(name) => header.kind == RunKind::Suite && header.command.contains(name),
        AnsweredBy::Sweep => header.kind == RunKind::Sweep,
        AnsweredBy::AnyRecord => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE_HEAD: &str = "name = \"mine\"\nsource = \"me\"\n[[claim]]\nsays = \"a\"\nwhere = \"b\"\n";

    fn cause(lines: &str) -> String {
        parse(&format!("{FILE_HEAD}{lines}")).unwrap_err()
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
