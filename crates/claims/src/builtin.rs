//! The claims that come with readlab, by name, and those that a record answers.

use super::claim::{AnsweredBy, ClaimsFile};
use super::file::{self, ClaimsError};
use super::judge::{JudgedClaims, judge};
use readlab_record::{Record, RunKind};

/// The files of the folder `published/claims/`, each under the name that it has within.
const BUILT_IN: [(&str, &str); 4] = [
    ("newlines", include_str!("../carried/published/claims/newlines.toml")),
    ("byte-stream", include_str!("../carried/published/claims/byte-stream.toml")),
    ("sizes", include_str!("../carried/published/claims/sizes.toml")),
    ("zip-lines", include_str!("../carried/published/claims/zip-lines.toml")),
];

/// The names of all claims.
pub fn names() -> Vec<&'static str> {
    BUILT_IN.iter().map(|(name, _)| *name).collect()
}

pub fn find(name: &str) -> Result<ClaimsFile, ClaimsError> {
    let found = BUILT_IN.iter().find(|(known, _)| *known == name);
    let (_, text) =
        found.ok_or_else(|| ClaimsError::Unknown { name: name.to_owned(), known: names().join(", ") })?;
    Ok(file::parse(text).expect("the built-in claims are checked by a test"))
}

/// The claims that a record answers: those of its suite, or those about sweeps.
pub fn of_record(record: &Record) -> Vec<ClaimsFile> {
    let all = names().into_iter().filter_map(|name| find(name).ok());
    all.filter(|file| answers(record, &file.answered_by)).collect()
}

/// The claims that a record answers, judged by it.
pub fn judged_by(record: &Record) -> Vec<JudgedClaims> {
    of_record(record).iter().map(|file| judge(file, Some(record))).collect()
}

fn answers(record: &Record, by: &AnsweredBy) -> bool {
    let header = &record.header;
    match by {
        // The command names the suite; what else it names are files and values of options.
        AnsweredBy::Suite(name) => header.kind == RunKind::Suite && header.command.contains(name),
        AnsweredBy::Sweep => header.kind == RunKind::Sweep,
        AnsweredBy::Anything => true,
    }
}
