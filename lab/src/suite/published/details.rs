//! Details of published numbers that only some tables have: how often and how far readings
//! scattered, and the fixed cost of a file.

use super::{NumberColumn, Publication, RowFields, index};
use serde::Deserialize;
use std::collections::BTreeMap;

/// What a detail is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DetailKind {
    /// Standard deviation of the wall time, in nanoseconds.
    WallSd,
    /// How many readings there were.
    Runs,
    /// Time at size 0 of the line through time on size, in nanoseconds.
    FixedCost,
}

/// A column with details.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DetailColumn {
    kind: DetailKind,
    column: String,
    #[serde(default = "super::one")]
    factor: f64,
}

/// A detail of one case on one machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Detail {
    /// The machine.
    pub side: String,
    /// The case.
    pub case: String,
    /// What it is.
    pub kind: DetailKind,
    /// The number.
    pub value: f64,
}

/// All details of a publication, by its name without the prefix; none where the name is unknown.
#[must_use]
pub fn details(name: &str) -> Vec<Detail> {
    let publication = index().into_iter().find(|it| it.name == name);
    publication.map(|it| it.details()).unwrap_or_default()
}

impl Publication {
    fn details(&self) -> Vec<Detail> {
        let rows = self.rows();
        rows.iter().flat_map(|row| self.detail.iter().filter_map(|column| self.detail(column, row))).collect()
    }

    /// `None` for an empty field, and for one that holds words.
    fn detail(&self, column: &DetailColumn, row: &RowFields) -> Option<Detail> {
        let value: f64 = row.get(&column.column)?.parse().ok()?;
        let number: &NumberColumn = self.number.first()?;
        Some(Detail {
            side: self.side_name(number, row),
            case: row.get(&self.case)?.clone(),
            kind: column.kind,
            value: value * column.factor,
        })
    }
}

/// The details of one machine by case.
#[must_use]
pub fn by_case(details: &[Detail], side: &str, kind: DetailKind) -> BTreeMap<String, f64> {
    let of_side = details.iter().filter(|it| it.side == side && it.kind == kind);
    of_side.map(|it| (it.case.clone(), it.value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_are_those_of_the_tables() {
        let all = details("zip-lines");
        let sd = by_case(&all, "M920", DetailKind::WallSd);
        assert!(
            (sd["zip"] - 351.7e6).abs() < 1.0
                && !sd.contains_key("buffer 8192, 2 threads each reading the file")
        );
        assert_eq!(by_case(&all, "M920", DetailKind::Runs)["zip"], 10.0);
        let fixed = by_case(&details("ssd-sizes"), "iMac Pro (T2)", DetailKind::FixedCost);
        assert!((fixed["read"] - 40_000.0).abs() < 1.0, "{fixed:?}");
        assert!(by_case(&details("ssd-sizes"), "Mac mini (M1)", DetailKind::FixedCost).is_empty());
        assert!(details("nothing").is_empty());
    }
}
