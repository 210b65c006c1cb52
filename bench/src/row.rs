//! One line of the report: a figure, its promise, its measurement, and whether the promise is kept.

use readlab::analysis::stats::Interval;
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
