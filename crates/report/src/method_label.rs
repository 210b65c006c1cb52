//! A method where it is shown: its names, and its language, which decides its colour.
//!
//! Rows of tables and charts carry the number of their trial, by which the filter of the page finds
//! them.

use super::inside::Inside;
use super::ranking::RankingRow;
use readlab_model::trial::TrialIndex;

/// How a row names its method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MethodLabel<'a> {
    pub(super) trial: TrialIndex,
    /// Its shortest name that no other trial of the record has.
    pub(super) short: &'a str,
    /// Its whole name.
    pub(super) name: &'a str,
    /// Its language: `Rust`, `commands`.
    pub(super) language: &'a str,
}

impl<'a> From<&'a RankingRow> for MethodLabel<'a> {
    fn from(row: &'a RankingRow) -> MethodLabel<'a> {
        MethodLabel { trial: row.index, short: &row.short, name: &row.name, language: &row.language }
    }
}

impl<'a> From<&'a Inside> for MethodLabel<'a> {
    fn from(it: &'a Inside) -> MethodLabel<'a> {
        MethodLabel { trial: it.trial, short: &it.short, name: &it.name, language: &it.language }
    }
}
