//! One line of the report: a figure, its promise, its measurement, and whether the promise is kept.

use crate::lab::Revision;
use readlab_analysis::stats::Interval;
use serde::Serialize;

/// One line of the report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Row {
    /// What was measured.
    pub(crate) figure: String,
    /// The promise, in words; `None` for a number without one.
    pub(crate) target: Option<String>,
    /// What was found, in words.
    pub(crate) measured: String,
    /// Whether the promise is kept; `None` without a promise or a measurement.
    pub(crate) ok: Option<bool>,
    /// The number itself, unrounded; `None` where nothing could be measured.
    pub(crate) value: Option<f64>,
    /// Its 95 % interval, if there is one.
    pub(crate) ci95: Option<Interval>,
}

impl Row {
    /// A number with a promise.
    pub(crate) fn judged(
        figure: impl Into<String>,
        target: &str,
        value: f64,
        ok: bool,
        measured: String,
    ) -> Row {
        let (figure, target) = (figure.into(), Some(target.to_owned()));
        Row { figure, target, measured, ok: Some(ok), value: Some(value), ci95: None }
    }

    /// A number without one.
    pub(crate) fn unjudged(figure: impl Into<String>, value: f64, measured: String) -> Row {
        Row { figure: figure.into(), target: None, measured, ok: None, value: Some(value), ci95: None }
    }

    /// The same with its interval.
    pub(crate) fn with(self, ci95: Option<Interval>) -> Row {
        Row { ci95, ..self }
    }

    /// The same for this revision: of an older one it is a number without a promise.
    pub(crate) fn for_revision(self, revision: Revision) -> Row {
        match revision {
            Revision::Now => self,
            Revision::Before => {
                Row { figure: format!("before: {}", self.figure), target: None, ok: None, ..self }
            }
        }
    }

    /// No number, and why.
    pub(crate) fn failed(figure: impl Into<String>, why: &anyhow::Error) -> Row {
        let measured = format!("not measured: {why:#}");
        Row { figure: figure.into(), target: None, measured, ok: None, value: None, ci95: None }
    }

    /// The first word of its line.
    pub(crate) fn mark(&self) -> &'static str {
        match (self.ok, self.value) {
            (Some(true), _) => "met",
            (Some(false), _) => "MISSED",
            (None, Some(_)) => "noted",
            (None, None) => "ABSENT",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_revision_promises_nothing() {
        let row = Row::judged("time", "at most 1 s", 2.0, false, "2 s".to_owned());
        assert_eq!(row.clone().for_revision(Revision::Now), row);
        let before = row.for_revision(Revision::Before);
        assert_eq!(
            (before.mark(), before.figure.as_str(), before.value),
            ("noted", "before: time", Some(2.0))
        );
        let failed = Row::failed("time", &anyhow::anyhow!("it is not there"));
        assert_eq!(failed.for_revision(Revision::Before).mark(), "ABSENT");
    }
}
