//! What `readlab verify` found about contenders, for each method, and its export as JSON.

use super::escaped::{self, Document};
use readlab_record::Receipt;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;

const SCHEMA_NAME: &str = "readlab.verification";
const SCHEMA_VERSION: u32 = 1;

#[derive(Serialize, JsonSchema)]
struct Content<'a> {
    contenders: &'a [ContenderReport],
}

/// A violation of the protocol by a contender.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Fault {
    /// The request in words, for example `newlines of no-final-newline`.
    pub request: String,
    pub reason: String,
    /// A shell command that repeats the violation.
    #[serde(rename = "repeat")]
    pub repeat_command: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    Ok,
    /// The violation that the first failing check found.
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

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
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
    /// The number of the first check that found a violation; `None` without a violation.
    #[serde(skip)]
    fault_check_number: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ContenderReport {
    /// The contender's name in the roster.
    pub contender: String,
    /// The contender's receipt; `None` if it did not start, or sent no hello.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receipt: Option<Receipt>,
    /// Why no method was tested; `None` if methods were tested.
    #[serde(rename = "reason", skip_serializing_if = "Option::is_none")]
    pub why_untested: Option<String>,
    pub methods: Vec<MethodReport>,
}

/// The name of the report on checks that do not depend on a method.
const ALL_METHODS: &str = "(protocol)";

impl MethodReport {
    pub fn of_method(method: &str, verdict: Verdict) -> MethodReport {
        let (method, left_out) = (method.to_owned(), Vec::new());
        MethodReport { method, verdict, sessions: 0, answers: 0, left_out, fault_check_number: None }
    }

    pub fn of_all_methods(verdict: Verdict) -> MethodReport {
        MethodReport::of_method(ALL_METHODS, verdict)
    }

    /// True for the report on checks that do not depend on a method.
    pub fn is_of_all_methods(&self) -> bool {
        self.method == ALL_METHODS
    }

    /// Adds the result of the check with this number: the count of right answers, or a violation.
    /// The report keeps the violation of the check with the lowest number.
    pub fn add_check(&mut self, number: usize, outcome: Result<u32, Fault>) {
        match outcome {
            Ok(answers) => {
                self.sessions += 1;
                self.answers += answers;
            }
            Err(fault) if self.fault_check_number.is_none_or(|first| number < first) => {
                self.fault_check_number = Some(number);
                self.verdict = Verdict::Failed(fault);
            }
            Err(_) => {}
        }
    }
}

pub fn json(contenders: &[ContenderReport]) -> String {
    escaped::json_text(&Document {
        schema: SCHEMA_NAME,
        version: SCHEMA_VERSION,
        content: Content { contenders },
    })
}

pub(super) fn schema(generator: SchemaGenerator) -> Schema {
    escaped::schema::<Content>(generator, SCHEMA_NAME, SCHEMA_VERSION)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verdict_is_serialized_with_the_name_of_its_method() {
        let words = |word: &str| word.to_owned();
        let fault =
            Fault { request: words("newlines"), reason: words("wrong"), repeat_command: words("again") };
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
