//! Claims for programs, with all numbers and their intervals.

use super::super::escaped::{self, Document};
use readlab_analysis::compare::Unit;
use readlab_analysis::stats::IntervalRule;
use readlab_claims::{
    Answer, Bounds, ClaimNumber, Estimate, JudgedClaim, JudgedClaims, ShownNumbers, Verdict,
};
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
    /// The publication, in one line.
    source: &'a str,
    claims: Vec<ClaimExport<'a>>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Claim")]
struct ClaimExport<'a> {
    says: &'a str,
    /// The part of the publication that contains the claim.
    #[serde(rename = "where")]
    place: &'a str,
    /// The open question that the claim may answer.
    question: Option<&'a str>,
    bounds: Bounds,
    by_its_own_figures: AnswerExport<'a>,
    /// The answer by a record.
    here: Option<AnswerExport<'a>>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ClaimAnswer")]
struct AnswerExport<'a> {
    verdict: VerdictWord,
    /// Why the claim cannot be decided.
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
    /// Counts of the pairs of an order.
    Pairs { in_order: usize, reversed: usize, pairs: usize },
    /// The number of ranks that differ between machines.
    Ranks { differ: usize, ranks: usize },
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Number")]
struct NumberExport<'a> {
    /// The trials that the number is about.
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

fn found(shown: &ShownNumbers) -> Option<FoundExport<'_>> {
    Some(match shown {
        ShownNumbers::Nothing => return None,
        ShownNumbers::Times(found) => numbers("times", found),
        ShownNumbers::Shares(found) => numbers("share", found),
        ShownNumbers::Values(unit, found) => numbers(word(*unit), found),
        ShownNumbers::PerFact(fact, found) => numbers(format!("nanoseconds_per_byte_per_{fact}"), found),
        ShownNumbers::Pairs { kept, reversed, of } => {
            FoundExport::Pairs { in_order: *kept, reversed: *reversed, pairs: *of }
        }
        ShownNumbers::Ranks { differ, of } => FoundExport::Ranks { differ: *differ, ranks: *of },
    })
}

fn numbers(unit: impl Into<String>, found: &[ClaimNumber]) -> FoundExport<'_> {
    FoundExport::Numbers { unit: unit.into(), numbers: found.iter().map(number).collect() }
}

fn number(it: &ClaimNumber) -> NumberExport<'_> {
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
