//! One line of the report: a figure, its promise, its measurement, and whether the promise is kept.
//! Rows become a table for people, and JSON with unrounded numbers.

use crate::programs::Revision;
use readlab_analysis::stats::{self, Interval};
use readlab_system::machine::Machine;
use serde_json::json;
use std::fmt::Write;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) figure: String,
    /// The promise; `None` for a number without one.
    pub(crate) target: Option<String>,
    /// The finding, in words.
    pub(crate) measured: String,
    /// Whether the promise is kept; `None` without a promise or a measurement.
    pub(crate) ok: Option<bool>,
    /// The number itself, unrounded; `None` if nothing could be measured.
    pub(crate) value: Option<f64>,
    pub(crate) ci95: Option<Interval>,
}

impl Row {
    pub(crate) fn judged(
        figure: impl Into<String>,
        target: impl Into<String>,
        value: f64,
        ok: bool,
        measured: impl Into<String>,
    ) -> Row {
        let (target, ok) = (Some(target.into()), Some(ok));
        Row { target, ok, ..Row::unjudged(figure, value, measured) }
    }

    pub(crate) fn unjudged(figure: impl Into<String>, value: f64, measured: impl Into<String>) -> Row {
        let (figure, measured) = (figure.into(), measured.into());
        Row { figure, target: None, measured, ok: None, value: Some(value), ci95: None }
    }

    /// The median of some times, with the promise that it is at most `most`.
    pub(crate) fn judged_seconds(figure: impl Into<String>, most: Option<f64>, seconds: &[f64]) -> Row {
        let Some(median) = stats::median(seconds.iter().copied()) else {
            return Row::failed(figure, &anyhow::anyhow!("it never came"));
        };
        let each: Vec<String> = seconds.iter().map(|it| format!("{it:.1}")).collect();
        let mut measured = format!("{median:.1} s");
        if seconds.len() > 1 {
            let _ = write!(measured, " (of {})", each.join(", "));
        }
        match most {
            Some(most) => {
                Row::judged(figure, format!("at most {most:.0} s"), median, median <= most, measured)
            }
            None => Row::unjudged(figure, median, measured),
        }
    }

    pub(crate) fn failed(figure: impl Into<String>, why: &anyhow::Error) -> Row {
        let measured = format!("not measured: {why:#}");
        Row { figure: figure.into(), target: None, measured, ok: None, value: None, ci95: None }
    }

    pub(crate) fn or_failed(figure: impl Into<String>, found: anyhow::Result<Row>) -> Row {
        found.unwrap_or_else(|error| Row::failed(figure, &error))
    }

    pub(crate) fn all_or_failed(figure: impl Into<String>, found: anyhow::Result<Vec<Row>>) -> Vec<Row> {
        found.unwrap_or_else(|error| vec![Row::failed(figure, &error)])
    }

    pub(crate) fn with_interval(self, ci95: Option<Interval>) -> Row {
        Row { ci95, ..self }
    }

    /// Adds words to the finding.
    pub(crate) fn and(mut self, words: &str) -> Row {
        self.measured.push_str(words);
        self
    }

    /// The row for this revision. For an older revision it is a number without a promise.
    pub(crate) fn for_revision(self, revision: Revision) -> Row {
        match revision {
            Revision::Now => self,
            Revision::Before => {
                Row { figure: format!("before: {}", self.figure), target: None, ok: None, ..self }
            }
        }
    }

    fn mark(&self) -> &'static str {
        match (self.ok, self.value) {
            (Some(true), _) => "met",
            (Some(false), _) => "MISSED",
            (None, Some(_)) => "noted",
            (None, None) => "ABSENT",
        }
    }
}

pub(crate) fn table(about: &str, rows: &[Row]) -> String {
    let target = |row: &Row| row.target.clone().unwrap_or_else(|| "–".to_owned());
    let width =
        |text: &dyn Fn(&Row) -> String| rows.iter().map(|row| text(row).chars().count()).max().unwrap_or(0);
    let (name_width, target_width) = (width(&|row| row.figure.clone()), width(&target));
    let mut text = format!("\n{about}\n");
    for row in rows {
        let (mark, figure, target, measured) = (row.mark(), &row.figure, target(row), &row.measured);
        // Writing into a String cannot fail.
        let _ = writeln!(text, "  {mark:<6}  {figure:<name_width$}  {target:<target_width$}  {measured}");
    }
    text
}

pub(crate) fn summary(rows: &[(&str, Row)]) -> String {
    let count = |mark: &str| rows.iter().filter(|(_, row)| row.mark() == mark).count();
    let (met, missed, noted, absent) = (count("met"), count("MISSED"), count("noted"), count("ABSENT"));
    format!("\n{met} met, {missed} missed, {noted} noted, {absent} could not be measured")
}

pub(crate) fn json(rows: &[(&str, Row)]) -> String {
    let row = |(group, row): &(&str, Row)| {
        let Row { figure, target, measured, ok, value, ci95 } = row;
        json!({ "group": group, "figure": figure, "target": target, "measured": measured, "ok": ok, "value": value, "ci95": ci95 })
    };
    let rows: Vec<_> = rows.iter().map(row).collect();
    let document =
        json!({ "schema": "readlab.figures", "version": 1, "machine": Machine::probe(), "rows": rows });
    format!("{document:#}\n")
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Share {
    hits: usize,
    cases: usize,
}

/// The 97.5 % quantile of the normal distribution.
const NORMAL_QUANTILE: f64 = 1.959_963_984_540_054;

impl Share {
    pub(crate) fn count(&mut self, is_so: bool) {
        self.cases += 1;
        self.hits += usize::from(is_so);
    }

    pub(crate) fn plus(self, other: Share) -> Share {
        Share { hits: self.hits + other.hits, cases: self.cases + other.cases }
    }

    /// The share, from 0 to 1; NaN without a case.
    pub(crate) fn value(self) -> f64 {
        stats::count_as_float(self.hits) / stats::count_as_float(self.cases)
    }

    /// The share as text, such as `24 of 40 (60 %)`.
    pub(crate) fn words(self) -> String {
        let Share { hits, cases } = self;
        if cases == 0 {
            "no case".to_owned()
        } else {
            format!("{hits} of {cases} ({:.0} %)", self.value() * 100.0)
        }
    }

    /// The 95 % interval of the true share (Wilson, 1927); `None` without a case.
    fn ci95(self) -> Option<Interval> {
        if self.cases == 0 {
            return None;
        }
        let (n, p) = (stats::count_as_float(self.cases), self.value());
        let scale = 1.0 + NORMAL_QUANTILE * NORMAL_QUANTILE / n;
        let middle = (p + NORMAL_QUANTILE * NORMAL_QUANTILE / (2.0 * n)) / scale;
        let half = NORMAL_QUANTILE / scale
            * (p * (1.0 - p) / n + NORMAL_QUANTILE * NORMAL_QUANTILE / (4.0 * n * n)).sqrt();
        Some(Interval { low: (middle - half).max(0.0), high: (middle + half).min(1.0) })
    }

    pub(crate) fn row_at_least(self, figure: impl Into<String>, least: f64) -> Row {
        let target = format!("at least {:.0} %", least * 100.0);
        Row::judged(figure, target, self.value(), self.value() >= least, self.words())
            .with_interval(self.ci95())
    }

    pub(crate) fn row_at_most(self, figure: impl Into<String>, most: f64) -> Row {
        let target = format!("at most {:.0} %", most * 100.0);
        Row::judged(figure, target, self.value(), self.value() <= most, self.words())
            .with_interval(self.ci95())
    }

    pub(crate) fn unjudged_row(self, figure: impl Into<String>) -> Row {
        Row::unjudged(figure, self.value(), self.words()).with_interval(self.ci95())
    }
}

impl FromIterator<bool> for Share {
    fn from_iter<I: IntoIterator<Item = bool>>(cases: I) -> Share {
        let mut share = Share::default();
        cases.into_iter().for_each(|is_so| share.count(is_so));
        share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_revision_promises_nothing() {
        let row = Row::judged("time", "at most 1 s", 2.0, false, "2 s");
        assert_eq!(row.clone().for_revision(Revision::Now), row);
        let before = row.for_revision(Revision::Before);
        assert_eq!(
            (before.mark(), before.figure.as_str(), before.value),
            ("noted", "before: time", Some(2.0))
        );
        let failed = Row::failed("time", &anyhow::anyhow!("it is not there"));
        assert_eq!(failed.for_revision(Revision::Before).mark(), "ABSENT");
    }

    #[test]
    fn a_time_is_judged_by_its_median_and_never_without_one() {
        let row = |seconds: &[f64]| Row::judged_seconds("x", Some(10.0), seconds);
        assert_eq!((row(&[9.0, 10.0, 40.0]).ok, row(&[9.0, 10.1, 11.0]).ok), (Some(true), Some(false)));
        assert_eq!(row(&[]).mark(), "ABSENT");
    }

    fn share(hits: usize, cases: usize) -> Share {
        (0..cases).map(|case| case < hits).collect()
    }

    #[test]
    fn the_interval_of_a_share_is_wilsons() {
        // From Newcombe, Statistics in Medicine 17 (1998), table I: 81 of 263 and 0 of 20.
        for (hits, cases, low, high) in [(81, 263, 0.2553, 0.3662), (0, 20, 0.0, 0.1611)] {
            let found = share(hits, cases).ci95().unwrap();
            assert!((found.low - low).abs() < 5e-5 && (found.high - high).abs() < 5e-5, "{found:?}");
        }
        assert_eq!(share(0, 0).ci95(), None);
    }

    #[test]
    fn a_promise_holds_up_to_its_bound_and_never_without_a_case() {
        assert_eq!(
            (share(1, 20).row_at_most("x", 0.05).ok, share(2, 20).row_at_most("x", 0.05).ok),
            (Some(true), Some(false))
        );
        assert_eq!(
            (share(16, 20).row_at_least("x", 0.8).ok, share(15, 20).row_at_least("x", 0.8).ok),
            (Some(true), Some(false))
        );
        assert_eq!(
            (share(0, 0).row_at_most("x", 0.05).ok, share(0, 0).row_at_least("x", 0.0).ok),
            (Some(false), Some(false))
        );
        assert_eq!(share(24, 40).words(), "24 of 40 (60 %)");
    }
}
