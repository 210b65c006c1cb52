//! The results of a verification, for each method.

use super::CheckGroup;
use super::check::{CheckResult, Fault};
use readlab_record::Receipt;
use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    Ok,
    /// The first violation.
    Failed {
        request: String,
        reason: String,
        /// A shell command that repeats the violation.
        repeat: String,
    },
    /// The method does not work on this machine.
    Unavailable {
        reason: String,
    },
    /// The method was not tested, for this reason.
    NotVerified {
        reason: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MethodReport {
    /// The method's name; `(protocol)` for the checks that do not depend on a method.
    pub method: String,
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Number of sessions without a violation.
    pub sessions: u32,
    /// Number of right answers.
    pub answers: u32,
    /// What was not tested of the method, with the reasons.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// The number of the check that found the first violation.
    #[serde(skip)]
    pub(super) fault_at: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ContenderReport {
    /// The contender's name in the roster.
    pub contender: String,
    /// The contender's receipt; `None` if it did not start, or sent no hello.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receipt: Option<Receipt>,
    /// Why no method was tested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub methods: Vec<MethodReport>,
}

impl From<&CheckGroup<'_>> for MethodReport {
    fn from(subject: &CheckGroup) -> MethodReport {
        let of_all = MethodReport::of_all_methods(subject.verdict.clone().unwrap_or(Verdict::Ok));
        match &subject.method {
            Some(method) => MethodReport { method: method.method.clone(), ..of_all },
            None => of_all,
        }
    }
}

/// The name of the report on checks that do not depend on a method.
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

    /// True for the report on checks that do not depend on a method.
    pub fn is_of_all_methods(&self) -> bool {
        self.method == ALL_METHODS
    }

    /// Adds the result of a check; of several violations the one of the first check is kept.
    pub(super) fn take(&mut self, number: usize, outcome: CheckResult) {
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
    fn every_verdict_is_serialized_with_the_name_of_its_method() {
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
