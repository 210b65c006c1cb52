//! The claims of publications as text. Each publication has a table: for each claim the answer by
//! the publication's own figures, the answer by a record, and the verdict. The formats are
//! Markdown, aligned text for a terminal, a section of a page, and JSON with all numbers and their
//! intervals.

use super::document::{Column, Section};
use super::escaped::{self, Document};
use super::markdown::{escape_markup, marked_text};
use super::table::{Cell, Table};
use super::terminal::Style;
use super::words::{self, NONE, capitalized, unbroken};
use readlab_analysis::stats::Ratio;
use readlab_claims::{
    Answer, ClaimNumber, Estimate, JudgedClaim, JudgedClaims, RECORD_SIDE_NAME, ShownNumbers, Verdict,
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::json;

const SCHEMA_NAME: &str = "readlab.claims";
const SCHEMA_VERSION: u32 = 1;

#[derive(Serialize, JsonSchema)]
struct Content<'a> {
    claims: &'a [JudgedClaims],
}

fn title(judged: &JudgedClaims) -> String {
    format!("claims of {}", judged.publication)
}

fn cells(it: &JudgedClaim) -> Vec<String> {
    let question = it.claim.question.as_ref().map_or_else(String::new, |question| format!("{question} "));
    let claim = format!("{question}{} ({})", it.claim.statement, it.claim.passage);
    match &it.record_answer {
        None => vec![claim, numbers_text(&it.own_answer.shown), verdict_words(&it.own_answer)],
        Some(here) => {
            vec![claim, own_answer_words(&it.own_answer), numbers_text(&here.shown), verdict_words(here)]
        }
    }
}

/// The answer by the publication's own figures, with its verdict.
fn own_answer_words(answer: &Answer) -> String {
    match answer.shown {
        ShownNumbers::Nothing => verdict_words(answer),
        _ => format!("{}: {}", numbers_text(&answer.shown), verdict_words(answer)),
    }
}

/// The verdict. If several numbers contradict the claim, it names the one that contradicts most.
fn verdict_words(answer: &Answer) -> String {
    match (&answer.verdict, &answer.farthest_beyond) {
        (Verdict::Holds, _) => "holds".to_owned(),
        (Verdict::DoesNotHold, None) => "does not hold".to_owned(),
        (Verdict::DoesNotHold, Some(found)) => {
            let of = if found.side == RECORD_SIDE_NAME { String::new() } else { format!(", {}", found.side) };
            format!("does not hold: {}{of}: {}", found.trials, numbers_text(&answer.shown.with_only(found)))
        }
        (Verdict::Undecided(why), _) => format!("cannot be told: {why}"),
    }
}

/// The number of an answer. Of several numbers, only the lowest and the highest are shown.
fn numbers_text(shown: &ShownNumbers) -> String {
    match shown {
        ShownNumbers::Nothing => NONE.to_owned(),
        ShownNumbers::Times(found) => format!("{} ×", range_text(found, ratio_text)),
        ShownNumbers::Shares(found) => range_text(found, |it| estimate_with_ends(it, words::percent)),
        ShownNumbers::Values(unit, found) => {
            range_text(found, |it| estimate_with_ends(it, |number| words::value_in_unit(*unit, number)))
        }
        ShownNumbers::PerFact(fact, found) => {
            let number = |number| words::signed(number, |number| format!("{number:.1}"));
            format!("{} ns/B for each unit of {fact}", range_text(found, |it| estimate_with_ends(it, number)))
        }
        ShownNumbers::Pairs { in_order, reversed, total } => {
            let reversed =
                if *reversed == 0 { String::new() } else { format!(", {reversed} the other way round") };
            format!("{in_order} of {} in this order{reversed}", words::plural(*total, "pair"))
        }
        ShownNumbers::Ranks { differing, total } => {
            format!("{differing} of {} differ", words::plural(*total, "rank"))
        }
    }
}

fn range_text(found: &[ClaimNumber], text: impl Fn(&Estimate) -> String) -> String {
    let by_value = |a: &&ClaimNumber, b: &&ClaimNumber| a.estimate.value.total_cmp(&b.estimate.value);
    let ends = found.iter().min_by(by_value).zip(found.iter().max_by(by_value));
    let Some((low, high)) = ends else { return NONE.to_owned() };
    let (low, high) = (text(&low.estimate), text(&high.estimate));
    if low == high { low } else { format!("{low} to {high}") }
}

/// The text `6.81`, or `6.81 [6.70, 6.92]`.
fn ratio_text(it: &Estimate) -> String {
    if it.ci95.is_none() {
        return words::factor(it.value);
    }
    words::ratio_words(Ratio { estimate: it.value, ci95: it.ci95, rule: it.rule, pairs: 0 })
}

fn estimate_with_ends(it: &Estimate, number: impl Fn(f64) -> String) -> String {
    words::with_ends(it.value, it.ci95.filter(|ends| ends.low < ends.high), number)
}

pub fn claims_json(all: &[JudgedClaims]) -> String {
    escaped::json_text(&Document {
        schema: SCHEMA_NAME,
        version: SCHEMA_VERSION,
        content: json!(Content { claims: all }),
    })
}

pub(super) fn schema(generator: SchemaGenerator) -> Schema {
    escaped::schema::<Content>(generator, SCHEMA_NAME, SCHEMA_VERSION)
}

pub fn is_claims_json(head: &str) -> bool {
    escaped::is_document(head, SCHEMA_NAME)
}

pub fn claims_markdown(all: &[JudgedClaims]) -> String {
    marked_text(&markdown_tables(all))
}

pub(crate) fn markdown_tables(all: &[JudgedClaims]) -> Vec<String> {
    let one = |it: &JudgedClaims| {
        format!("### {}\n\n{}", escape_markup(&title(it)), table(it, str::to_owned).markdown())
    };
    all.iter().map(one).collect()
}

pub fn claims_terminal(all: &[JudgedClaims], style: Style) -> String {
    let lines = terminal_lines(all, style).into_iter().skip(1);
    lines.chain([String::new()]).collect::<Vec<_>>().join("\n")
}

/// The lines of the tables, each table after an empty line.
pub(crate) fn terminal_lines(all: &[JudgedClaims], style: Style) -> Vec<String> {
    all.iter().flat_map(|it| table(it, str::to_owned).titled_lines(&title(it), style)).collect()
}

pub(crate) fn section(all: &[JudgedClaims]) -> Option<Section> {
    let lead = "What publications claim and ask, by the figures that they published and by this run. A claim holds, or does not hold, where whole 95 % intervals say so.";
    // Keeps a factor with its sign, and numbers with their units, on one line.
    let kept = |cell: &str| unbroken(cell).replace(" ×", "\u{a0}×");
    let tables = all.iter().map(|it| table(it, kept).element(&capitalized(&title(it))));
    Section::with_content("claims", "Published claims", lead, tables)
}

fn table(judged: &JudgedClaims, shown: fn(&str) -> String) -> Table {
    let here = judged.claims.iter().any(|it| it.record_answer.is_some()).then_some("here");
    let titles = ["claim", "by its own figures"].into_iter().chain(here).chain(["verdict"]);
    let columns = titles.map(Column::text).collect();
    let row = |it: &JudgedClaim| cells(it).iter().map(|cell| Cell::Text(shown(cell))).collect();
    Table { columns, rows: judged.claims.iter().map(row).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_analysis::compare::Unit;
    use readlab_analysis::stats::Interval;

    fn claim_number(value: f64, ci95: Option<(f64, f64)>) -> ClaimNumber {
        let ci95 = ci95.map(|(low, high)| Interval { low, high });
        ClaimNumber {
            trials: "a / b".into(),
            side: "m".into(),
            estimate: Estimate { value, ci95, rule: None, round_count: None },
        }
    }

    #[test]
    fn several_numbers_are_shown_by_their_ends() {
        let bare = [claim_number(6.807, None), claim_number(19.97, None), claim_number(10.2, None)].to_vec();
        let times = vec![claim_number(-2e6, None), claim_number(3e3, None)];
        for (found, text) in [
            (ShownNumbers::Times(bare), "6.81 to 20.0 ×"),
            (ShownNumbers::Times(vec![claim_number(2.0, Some((1.9, 2.1)))]), "2.00 [1.90, 2.10] ×"),
            (ShownNumbers::Shares(vec![claim_number(0.5, Some((0.25, 0.75)))]), "50.0 % [25.0 %, 75.0 %]"),
            (ShownNumbers::Values(Unit::Nanoseconds, times), "−2.00 ms to 3.00 µs"),
            (
                ShownNumbers::Pairs { in_order: 8, reversed: 1, total: 9 },
                "8 of 9 pairs in this order, 1 the other way round",
            ),
            (ShownNumbers::Ranks { differing: 7, total: 14 }, "7 of 14 ranks differ"),
            (ShownNumbers::Nothing, NONE),
        ] {
            assert_eq!(numbers_text(&found), text);
        }
    }
}
