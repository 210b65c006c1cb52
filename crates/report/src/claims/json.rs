//! Claims for programs: every number that was found, with its interval.

use super::super::escaped::{self, Document};
use readlab_analysis::compare::Unit;
use readlab_analysis::stats::IntervalRule;
use readlab_claims::{Answer, Bounds, Estimate, Found, JudgedClaim, JudgedClaims, Shown, Verdict};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::json;

const SCHEMA: &str = "readlab.claims";
const VERSION: u32 = 1;

#[derive(Serialize, JsonSchema)]
struct Content<'a> {
    claims: Vec<ClaimsExport<'a>>,
}

/// The claims of one publication.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Claims")]
pub(crate) struct ClaimsExport<'a> {
    name: &'a str,
    /// The publication in one line.
    source: &'a str,
    claims: Vec<ClaimExport<'a>>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Claim")]
struct ClaimExport<'a> {
    says: &'a str,
    /// The part of the publication that says it.
    #[serde(rename = "where")]
    place: &'a str,
    /// The open question that it may answer.
    question: Option<&'a str>,
    bounds: Bounds,
    by_its_own_figures: AnswerExport<'a>,
    /// By a record.
    here: Option<AnswerExport<'a>>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ClaimAnswer")]
struct AnswerExport<'a> {
    verdict: VerdictWord,
    /// Why it cannot be told.
    why: Option<&'a str>,
    found: Option<FoundExport<'a>>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ClaimVerdict")]
enum VerdictWord {
    Holds,
    DoesNotHold,
    CannotBeTold,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Found")]
enum FoundExport<'a> {
    Numbers {
        /// `times`, `share`, `nanoseconds`, `bytes`, `bytes_per_second`, `count`, or
        /// `nanoseconds_per_byte_per_` and a fact of the machine.
        unit: String,
        numbers: Vec<NumberExport<'a>>,
    },
    /// Pairs of an order.
    Pairs { in_order: usize, reversed: usize, pairs: usize },
    /// Ranks that differ between machines.
    Ranks { differ: usize, ranks: usize },
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Number")]
struct NumberExport<'a> {
    /// The trials that it is about.
    trials: &'a str,
    /// The machine, or the record.
    machine: &'a str,
    value: f64,
    ci95: Option<[f64; 2]>,
    interval: Option<IntervalRule>,
}

pub fn claims_json(all: &[JudgedClaims]) -> String {
    let content = json!(Content { claims: all.iter().map(ClaimsExport::new).collect() });
    escaped::text(&Document { schema: SCHEMA, version: VERSION, content })
}

pub(crate) fn schema(generator: SchemaGenerator) -> Schema {
    escaped::schema::<Content>(generator, SCHEMA, VERSION)
}

pub fn is_claims_json(head: &str) -> bool {
    escaped::is_document(head, SCHEMA)
}

impl ClaimsExport<'_> {
    pub(crate) fn new(judged: &JudgedClaims) -> ClaimsExport<'_> {
        ClaimsExport {
            name: &judged.name,
            source: &judged.source,
            claims: judged.claims.iter().map(claim).collect(),
        }
    }
}

fn claim(it: &JudgedClaim) -> ClaimExport<'_> {
    ClaimExport {
        says: &it.claim.says,
        place: &it.claim.place,
        question: it.claim.question.as_deref(),
        bounds: it.claim.bounds,
        by_its_own_figures: answer(&it.own),
        here: it.here.as_ref().map(answer),
    }
}

fn answer(it: &Answer) -> AnswerExport<'_> {
    let (verdict, why) = match &it.verdict {
        Verdict::Holds => (VerdictWord::Holds, None),
        Verdict::DoesNotHold => (VerdictWord::DoesNotHold, None),
        Verdict::CannotBeTold(why) => (VerdictWord::CannotBeTold, Some(why.as_str())),
    };
    AnswerExport { verdict, why, found: found(&it.shown) }
}

fn found(shown: &Shown) -> Option<FoundExport<'_>> {
    Some(match shown {
        Shown::Nothing => return None,
        Shown::Times(found) => numbers("times", found),
        Shown::Shares(found) => numbers("share", found),
        Shown::Values(unit, found) => numbers(word(*unit), found),
        Shown::PerFact(fact, found) => numbers(format!("nanoseconds_per_byte_per_{fact}"), found),
        Shown::Pairs { kept, reversed, of } => {
            FoundExport::Pairs { in_order: *kept, reversed: *reversed, pairs: *of }
        }
        Shown::Ranks { differ, of } => FoundExport::Ranks { differ: *differ, ranks: *of },
    })
}

fn numbers(unit: impl Into<String>, found: &[Found]) -> FoundExport<'_> {
    FoundExport::Numbers { unit: unit.into(), numbers: found.iter().map(number).collect() }
}

fn number(it: &Found) -> NumberExport<'_> {
    let Estimate { value, ci95, rule } = it.estimate;
    NumberExport {
        trials: &it.trials,
        machine: &it.side,
        value,
        ci95: ci95.map(|ends| [ends.low, ends.high]),
        interval: rule,
    }
}

fn word(unit: Unit) -> &'static str {
    match unit {
        Unit::Nanoseconds => "nanoseconds",
        Unit::Bytes => "bytes",
        Unit::BytesPerSecond => "bytes_per_second",
        Unit::Count => "count",
    }
}
