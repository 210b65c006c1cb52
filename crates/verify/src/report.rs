//! What was found, for each method.

use super::Subject;
use super::check::{Fault, Outcome};
use readlab_record::Receipt;
use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    Ok,
    /// The first thing that was not.
    Failed {
        request: String,
        reason: String,
        /// A line for a shell that repeats it.
        repeat: String,
    },
    /// It does not work on this machine.
    Unavailable {
        reason: String,
    },
    /// It is not tested, and why.
    NotVerified {
        reason: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MethodReport {
    /// Its name; `(protocol)` for what all methods share.
    pub method: String,
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Sessions that were right.
    pub sessions: u32,
    /// Answers that were right.
    pub answers: u32,
    /// What of it was not tested, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// The number of the check of the first fault.
    #[serde(skip)]
    pub(super) fault_at: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ContenderReport {
    /// Its name in the roster.
    pub contender: String,
    /// Its receipt; `None` if it did not start, or said no hello.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receipt: Option<Receipt>,
    /// Why nothing of it was tested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub methods: Vec<MethodReport>,
}

impl From<&Subject<'_>> for MethodReport {
    fn from(subject: &Subject) -> MethodReport {
        let of_all = MethodReport::of_all_methods(subject.verdict.clone().unwrap_or(Verdict::Ok));
        match &subject.method {
            Some(method) => MethodReport { method: method.method.clone(), ..of_all },
            None => of_all,
        }
    }
}

/// Stands for a method in the report of what all methods share.
const ALL_METHODS: &str = "(protocol)";

impl MethodReport {
    pub fn of_all_methods(verdict: Verdict) -> MethodReport {
        MethodReport {
            method: ALL_METHODS.to_owned(),
            verdict,
            sessions: 0,
            answers: 0,
            left_out: Vec::new(),
            fault_at: None,
        }
    }

    /// Whether it is about what all methods share.
    pub fn is_of_all_methods(&self) -> bool {
        self.method == ALL_METHODS
    }

    /// Adds what the check of this number found; of several faults the first check's stays.
    pub(super) fn take(&mut self, number: usize, outcome: Outcome) {
        match outcome {
            Ok(answers) => {
                self.sessions += 1;
                self.answers += answers;
            }
            Err(Fault { request, reason, repeat }) if self.fault_at.is_none_or(|first| number < first) => {
                self.fault_at = Some(number);
                self.verdict = Verdict::Failed { request, reason, repeat };
            }
            Err(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verdict_can_be_written_beside_the_name_of_its_method() {
        let words = |word: &str| word.to_owned();
        let failed =
            Verdict::Failed { request: words("newlines"), reason: words("wrong"), repeat: words("again") };
        for (verdict, written) in [
            (Verdict::Ok, r#""verdict":"ok""#),
            (failed, r#""verdict":"failed","request":"newlines","reason":"wrong","repeat":"again""#),
            (
                Verdict::Unavailable { reason: words("no ring") },
                r#""verdict":"unavailable","reason":"no ring""#,
            ),
            (
                Verdict::NotVerified { reason: words("a control") },
                r#""verdict":"not_verified","reason":"a control""#,
            ),
        ] {
            let report = MethodReport { method: words("read"), ..MethodReport::of_all_methods(verdict) };
            let text = serde_json::to_string(&report).unwrap();
            assert_eq!(text, format!(r#"{{"method":"read",{written},"sessions":0,"answers":0}}"#));
        }
    }
}
