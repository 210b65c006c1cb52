//! The results of a verification, for each method.

use super::check::{CheckResult, Fault};
use readlab_record::Receipt;
use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    Ok,
    /// The first violation.
    Failed(Fault),
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

/// The name of the report on checks that do not depend on a method.
const ALL_METHODS: &str = "(protocol)";

impl MethodReport {
    pub(super) fn of_method(method: &str, verdict: Verdict) -> MethodReport {
        let (method, left_out) = (method.to_owned(), Vec::new());
        MethodReport { method, verdict, sessions: 0, answers: 0, left_out, fault_at: None }
    }

    pub fn of_all_methods(verdict: Verdict) -> MethodReport {
        MethodReport::of_method(ALL_METHODS, verdict)
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
            Err(fault) if self.fault_at.is_none_or(|first| number < first) => {
                self.fault_at = Some(number);
                self.verdict = Verdict::Failed(fault);
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
        let fault = Fault { request: words("newlines"), reason: words("wrong"), repeat: words("again") };
        for (verdict, written) in [
            (Verdict::Ok, r#""verdict":"ok""#),
            (
                Verdict::Failed(fault),
                r#""verdict":"failed","request":"newlines","reason":"wrong","repeat":"again""#,
            ),
            (
                Verdict::Unavailable { reason: words("no ring") },
                r#""verdict":"unavailable","reason":"no ring""#,
            ),
            (
                Verdict::NotVerified { reason: words("a control") },
                r#""verdict":"not_verified","reason":"a control""#,
            ),
        ] {
            let text = serde_json::to_string(&MethodReport::of_method("read", verdict)).unwrap();
            assert_eq!(text, format!(r#"{{"method":"read",{written},"sessions":0,"answers":0}}"#));
        }
    }
}
