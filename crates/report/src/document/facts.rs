//! The text sections at the end of the page: the limits, the trials that could not be measured, and
//! how the rest was measured.

use super::super::limits::{shown, sure};
use super::super::method::{MEANINGS, MissingMetric};
use super::super::page::Page;
use super::super::ranking::Unmeasured;
use super::super::sweep::Series;
use super::super::words::{NONE, Number, unbroken};
use super::Section;
use super::table::{Column, TableCell, table};
use readlab_record::Limit;
use readlab_system::markup::{Element, element, words};

/// The sections at the end.
pub(super) fn all(page: &Page) -> Vec<Section> {
    [limits(page), unmeasured(page), Some(method(page))].into_iter().flatten().collect()
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
        Column::text("measured by"),
        Column::text("limit"),
        Column::number("at best"),
        Column::text("±95 %"),
        Column::number("threads"),
        Column::text("rounds"),
        Column::text("how"),
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
    table(caption, columns, limits.iter().map(row))
}

fn unmeasured(page: &Page) -> Option<Section> {
    let tables = page.rankings.iter().filter(|ranking| !ranking.unmeasured.is_empty()).map(|ranking| {
        let columns = [Column::text("method"), Column::text("outcome"), Column::text("why")];
        let row = |it: &Unmeasured| {
            vec![
                TableCell::name(&it.short, &it.name),
                TableCell::text(it.outcome),
                TableCell::text(it.reason.clone()),
            ]
        };
        table(&ranking.title(), columns, ranking.unmeasured.iter().map(row))
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
        let lines = lines.into_iter().flatten().chain(ranking.stops_by_trial()).chain(ranking.below.clone());
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
    content.extend(list("Commands as they are", page.commands.clone()));
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
