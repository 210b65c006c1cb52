//! The text sections of the page: the answer with the machine, the advice, the limits, the trials
//! that could not be measured, and how the rest was measured.

use super::super::advice::Advice;
use super::super::answer::Claim;
use super::super::html::{Element, element, words};
use super::super::limits::{shown, sure};
use super::super::method::{MEANINGS, MissingMetric};
use super::super::page::Page;
use super::super::ranking::Unmeasured;
use super::super::sweep::Series;
use super::super::words::{NONE, Number, unbroken};
use super::Section;
use super::table::{ColumnKind, TableCell, table};
use crate::record::Limit;

/// The top of the page: the answer in one sentence, the fastest of each state, the machine.
pub(super) fn answer(page: &Page) -> Element {
    let mut about = element("dl").class("about");
    for (name, texts) in [
        ("Read", page.target_titles.clone()),
        ("Machine", vec![page.machine.clone()]),
        ("Begun", vec![super::super::words::moment(&page.started)]),
    ] {
        about = about.with(words("dt", name)).all(texts.iter().map(|text| words("dd", text)));
    }
    let claims = page.claims.iter().map(claim);
    element("section")
        .set("id", "answer")
        .set("aria-labelledby", "answer-heading")
        .with(words("h1", &unbroken(&page.answer)).set("id", "answer-heading"))
        .with(element("div").class("claims").all(claims))
        .with(about)
        .all(cautions(page))
}

fn claim(claim: &Claim) -> Element {
    let figure = words("p", &unbroken(&claim.figure)).class("figure");
    let figure = match &claim.sure {
        Some(sure) => figure.text(" ").with(words("small", &unbroken(sure))),
        None => figure,
    };
    let card = element("div").class("claim").with(words("p", &claim.title).class("where")).with(figure);
    let card = card.with(words("p", &claim.who).class("who"));
    if claim.against.is_empty() {
        card
    } else {
        card.with(words("p", &unbroken(&claim.against)).class("against"))
    }
}

fn cautions(page: &Page) -> Option<Element> {
    let list = element("ul").all(page.cautions.iter().map(|caution| words("li", caution)));
    let aside = element("aside").class("cautions").set("aria-label", "Warnings");
    (!page.cautions.is_empty()).then(|| aside.with(words("h2", "Before you trust this")).with(list))
}

/// The sections at the end.
pub(super) fn all(page: &Page) -> Vec<Section> {
    [limits(page), unmeasured(page), Some(method(page))].into_iter().flatten().collect()
}

/// What to use, and the code for it.
pub(super) fn advice(page: &Page) -> Option<Section> {
    let one = |advice: &Advice| {
        let title = words("p", &unbroken(&format!("{}.", super::super::words::capital(&advice.sentence))));
        let code = advice.code.iter().map(|it| {
            let label = format!("Code in {}", it.language);
            let block = element("pre").class("code").set("tabindex", 0).set("aria-label", &label);
            block.with(element("code").lines(&it.code))
        });
        let code: Vec<Element> = code.collect();
        let folds =
            (!code.is_empty()).then(|| super::folded(&format!("The code: {}", advice.name), code, false));
        element("div").class("advice").with(title).all(folds)
    };
    let content: Vec<Element> = page.advice.iter().map(one).collect();
    let lead = "What to use, how much faster it is, and what needs less. Advice only uses differences that are statistically clear.";
    (!content.is_empty()).then_some(Section { slug: "advice", title: "Advice", lead, content })
}

/// What stops the fastest, and what the machine does at best.
fn limits(page: &Page) -> Option<Section> {
    let lines = page.rankings.iter().flat_map(|ranking| {
        let explanations = ranking.explanations.iter().map(|line| format!("explanation: {line}"));
        let title = ranking.title();
        ranking.verdict_line().into_iter().chain(explanations).map(move |line| format!("{title}: {line}"))
    });
    let mut content = list("What stops the fastest", lines.collect());
    if !page.limits.is_empty() {
        content.push(limits_table(&page.limits));
    }
    let lead = "The best rates and costs of what readings need: memory, the kernel's copy, page faults, system calls, the device.";
    (!content.is_empty()).then_some(Section { slug: "limits", title: "Limits", lead, content })
}

#[expect(clippy::cast_precision_loss, reason = "only sorted by")]
fn limits_table(limits: &[Limit]) -> Element {
    let columns = [
        ("measured by", ColumnKind::Text),
        ("limit", ColumnKind::Text),
        ("at best", ColumnKind::Number),
        ("±95 %", ColumnKind::Text),
        ("threads", ColumnKind::Number),
        ("rounds", ColumnKind::Text),
        ("how", ColumnKind::Text),
    ];
    let row = |it: &Limit| {
        vec![
            TableCell::text(it.name.clone()),
            TableCell::text(it.kind.word()),
            TableCell::number(Some(Number::new(shown(it, it.value), it.value as f64))),
            TableCell::text(sure(it)),
            TableCell::number(Some(Number::new(it.threads.to_string(), it.threads as f64))),
            TableCell::text(it.state.map_or_else(|| NONE.to_owned(), |state| state.to_string())),
            TableCell::text(it.how.clone()),
        ]
    };
    let caption = "Medians, in the rounds of the readings that are held against them";
    table(caption, &columns, limits.iter().map(row).collect())
}

fn unmeasured(page: &Page) -> Option<Section> {
    let tables = page.rankings.iter().filter(|ranking| !ranking.unmeasured.is_empty()).map(|ranking| {
        let columns =
            [("method", ColumnKind::Text), ("outcome", ColumnKind::Text), ("why", ColumnKind::Text)];
        let row = |it: &Unmeasured| {
            vec![
                TableCell::name(&it.short, &it.name),
                TableCell::text(it.outcome),
                TableCell::text(it.reason.clone()),
            ]
        };
        table(&ranking.title(), &columns, ranking.unmeasured.iter().map(row).collect())
    });
    let mut content: Vec<Element> = tables.collect();
    let of_sweep = page.sweep.iter().flat_map(|view| &view.unmeasured).map(|line| words("li", line));
    let of_sweep: Vec<Element> = of_sweep.collect();
    if !of_sweep.is_empty() {
        content.push(element("ul").class("lines").all(of_sweep));
    }
    let lead = "Refused: it answered wrongly, or its state could not be proven. Failed: it crashed, hung or could not read. Unavailable: it cannot work here.";
    (!content.is_empty()).then_some(Section { slug: "unmeasured", title: "Not measured", lead, content })
}

fn method(page: &Page) -> Section {
    let mut content = vec![
        element("pre")
            .class("command")
            .set("tabindex", 0)
            .set("aria-label", "The command that repeats this")
            .with(words("code", &page.command)),
    ];
    let proven = page.rankings.iter().filter(|ranking| !ranking.rows.is_empty()).flat_map(|ranking| {
        let search = ranking.search.map(|search| search.line());
        let lines = [Some(ranking.proof_line()), ranking.reference_line(), ranking.fills_line(), search];
        let title = ranking.title();
        let lines = lines.into_iter().flatten().chain(ranking.below.clone());
        lines.map(move |line| format!("{title}: {line}"))
    });
    let of_series = |series: &Series| Some(format!("{}: {}", series.name, series.known.proof_line()?));
    let of_sweep = page.sweep.iter().flat_map(|view| {
        view.series.iter().filter_map(of_series).chain(view.below.iter().cloned()).collect::<Vec<_>>()
    });
    content.extend(list("What was proven", proven.chain(of_sweep).collect()));
    let controls = page.rankings.iter().flat_map(|ranking| {
        let title = ranking.title();
        ranking
            .controls
            .iter()
            .map(move |it| format!("{title}: {} takes {}", it.short, super::super::words::time(&it.wall)))
    });
    content.extend(list("Controls: what the lab, and memory without any file, take", controls.collect()));
    content.extend(lacks("Readings that were thrown away", &page.rejected));
    content.extend(lacks("Meters that could not be read", &page.missing));
    content.extend(list("How it was measured", MEANINGS.map(str::to_owned).to_vec()));
    content.extend(list("Who took part", page.contenders.clone()));
    Section {
        slug: "method",
        title: "How it was measured",
        lead: "The command that repeats this run:",
        content,
    }
}

fn list(title: &str, lines: Vec<String>) -> Vec<Element> {
    if lines.is_empty() {
        return Vec::new();
    }
    vec![
        words("h3", title),
        element("ul").class("lines").all(lines.iter().map(|line| words("li", &unbroken(line)))),
    ]
}

fn lacks(title: &str, lacks: &[MissingMetric]) -> Vec<Element> {
    list(title, lacks.iter().map(|it| format!("{} ({}): {}", it.what, it.extent, it.reason)).collect())
}
