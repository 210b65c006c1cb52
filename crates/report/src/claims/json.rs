//! Claims for programs: every number that was found, with its interval.

use super::super::escaped::{self, Document};
use readlab_analysis::compare::Unit;
use readlab_claims::{Answer, Estimate, Found, JudgedClaim, JudgedClaims, Shown, Verdict};
use serde_json::{Value, json};

const SCHEMA: &str = "readlab.claims";
const VERSION: u32 = 1;

pub fn claims_json(all: &[JudgedClaims]) -> String {
    let claims: Vec<Value> = all.iter().map(value).collect();
    let content = json!({ "claims": claims });
    escaped::text(&Document { schema: SCHEMA, version: VERSION, content })
}

pub fn is_claims_json(head: &str) -> bool {
    escaped::is_document(head, SCHEMA)
}

pub(crate) fn value(judged: &JudgedClaims) -> Value {
    json!({
        "name": judged.name,
        "source": judged.source,
        "claims": judged.claims.iter().map(claim).collect::<Vec<Value>>(),
    })
}

fn claim(it: &JudgedClaim) -> Value {
    json!({
        "says": it.claim.says,
        "where": it.claim.place,
        "question": it.claim.question,
        "bounds": it.claim.bounds,
        "by_its_own_figures": answer(&it.own),
        "here": it.here.as_ref().map(answer),
    })
}

fn answer(it: &Answer) -> Value {
    let (verdict, why) = match &it.verdict {
        Verdict::Holds => ("holds", None),
        Verdict::DoesNotHold => ("does_not_hold", None),
        Verdict::CannotBeTold(why) => ("cannot_be_told", Some(why)),
    };
    json!({ "verdict": verdict, "why": why, "found": found(&it.shown) })
}

fn found(shown: &Shown) -> Value {
    let numbers = |unit: &str, found: &[Found]| json!({ "unit": unit, "numbers": found.iter().map(number).collect::<Vec<Value>>() });
    match shown {
        Shown::Nothing => Value::Null,
        Shown::Times(found) => numbers("times", found),
        Shown::Shares(found) => numbers("share", found),
        Shown::Values(unit, found) => numbers(word(*unit), found),
        Shown::PerFact(fact, found) => numbers(&format!("nanoseconds_per_byte_per_{fact}"), found),
        Shown::Pairs { kept, reversed, of } => json!({ "in_order": kept, "reversed": reversed, "pairs": of }),
        Shown::Ranks { differ, of } => json!({ "differ": differ, "ranks": of }),
    }
}

fn number(it: &Found) -> Value {
    let Estimate { value, ci95, rule } = it.estimate;
    json!({
        "trials": it.trials,
        "machine": it.side,
        "value": value,
        "ci95": ci95.map(|ends| [ends.low, ends.high]),
        "interval": rule,
    })
}

fn word(unit: Unit) -> &'static str {
    match unit {
        Unit::Nanoseconds => "nanoseconds",
        Unit::Bytes => "bytes",
        Unit::BytesPerSecond => "bytes_per_second",
        Unit::Count => "count",
    }
}
