//! The text sections: the warnings, and at the end of the page the limits, the trials that could
//! not be measured, and how the other trials were measured.

use super::super::how_measured::{METHOD_NOTES, MeasurementGap};
use super::super::limits::{uncertainty_words, value_text};
use super::super::page::Page;
use super::super::ranking::UnmeasuredLine;
use super::super::sweep::Series;
use super::super::table::Cell;
use super::super::warning::WarningGroup;
use super::super::words::{NONE, Number, plural, time, unbroken};
use super::table::{Column, table};
use super::{Section, folded, item, list, titled_list};
use readlab_analysis::stats::float;
use readlab_record::Limit;
use readlab_system::markup::{Element, element, text_element};

/// The warnings: each cause once, with its extent and its folded cases; `None` without warnings.
pub(super) fn warnings(page: &Page) -> Option<Section> {
    let causes = element("div").class("cautions").with_all(page.warnings.iter().map(cause));
    let lead = "What to know before you trust these numbers, by cause.";
    Section::with_content("warnings", "Warnings", lead, (!page.warnings.is_empty()).then_some(causes))
}

fn cause(group: &WarningGroup) -> Element {
    if group.lines.is_empty() {
        return text_element("p", &unbroken(&group.title()));
    }
    let title = format!("{} ({})", group.title(), plural(group.lines.len(), "line"));
    folded(&unbroken(&title), list(group.lines.iter().map(item)), false)
}

pub(super) fn closing_sections(page: &Page) -> Vec<Section> {
    [limits(page), unmeasured(page), Some(how_measured(page))].into_iter().flatten().collect()
}

/// What limits the fastest trial, and the best rates of the machine.
fn limits(page: &Page) -> Option<Section> {
    let lines = page.rankings.iter().flat_map(|ranking| {
        let explanations = ranking.explanations.iter().map(|line| format!("explanation: {line}"));
        let title = ranking.title();
        ranking.verdict_line().into_iter().chain(explanations).map(move |line| format!("{title}: {line}"))
    });
    let table = (!page.limits.is_empty()).then(|| limits_table(&page.limits));
    let lead = "The best rates and costs of what readings need: memory, the kernel's copy, page faults, system calls, the device.";
    let content = titled_list("What stops the fastest", lines.map(item)).chain(table);
    Section::with_content("limits", "Limits", lead, content)
}

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
            Cell::text(&it.name),
            Cell::text(it.kind.word()),
            Cell::number(Number::new(value_text(it, it.value), float(it.value))),
            Cell::text(uncertainty_words(it)),
            Cell::number(Number::count(it.threads)),
            Cell::text(it.state.map_or_else(|| NONE.to_owned(), |state| state.to_string())),
            Cell::text(&it.how_measured),
        ]
    };
    let caption = "Medians, in the rounds of the readings that are held against them";
    table(caption, columns, limits.iter().map(row))
}

fn unmeasured(page: &Page) -> Option<Section> {
    let tables = page.rankings.iter().filter(|ranking| !ranking.unmeasured.is_empty()).map(|ranking| {
        let row = |it: &UnmeasuredLine| {
            let name = Cell::Short(it.short_name.clone(), it.name.clone());
            vec![name, Cell::text(it.outcome), Cell::text(&it.reason)]
        };
        let columns = ["method", "outcome", "why"].map(Column::text);
        table(&ranking.title(), columns, ranking.unmeasured.iter().map(row))
    });
    let of_sweep = page.sweep.iter().flat_map(|view| &view.unmeasured).map(|line| text_element("li", line));
    let lead = "Refused: it answered wrongly, or its state could not be proven. Failed: it crashed, hung or could not read. Unavailable: it cannot work here.";
    Section::with_content("unmeasured", "Not measured", lead, tables.chain(list(of_sweep)))
}

fn how_measured(page: &Page) -> Section {
    let mut content = vec![
        element("pre")
            .class("command")
            .set("tabindex", 0)
            .set("aria-label", "The command that repeats this")
            .with(text_element("code", &page.command)),
    ];
    let proven = page.rankings.iter().filter(|ranking| !ranking.rows.is_empty()).flat_map(|ranking| {
        let search = ranking.search.map(|search| search.line());
        let lines = [Some(ranking.proof_line()), ranking.reference_line(), ranking.fills_line(), search];
        let title = ranking.title();
        let lines =
            lines.into_iter().flatten().chain(ranking.stops_by_trial()).chain(ranking.layer_lines.clone());
        lines.map(move |line| format!("{title}: {line}"))
    });
    let of_series = |series: &Series| Some(format!("{}: {}", series.name, series.facts.proof_line()?));
    let of_sweep = page.sweep.iter().flat_map(|view| {
        view.series.iter().filter_map(of_series).chain(view.layer_lines.iter().cloned()).collect::<Vec<_>>()
    });
    let controls = page.rankings.iter().flat_map(|ranking| {
        let title = ranking.title();
        let rows = ranking.controls.iter();
        rows.map(move |it| format!("{title}: {} takes {}", it.short_name, time(&it.wall)))
    });
    let lack = |it: &MeasurementGap| format!("{} ({}): {}", it.subject, it.extent, it.why_missing);
    for (title, lines) in [
        ("What was proven", proven.chain(of_sweep).collect::<Vec<String>>()),
        ("Controls: what the lab, and memory without any file, take", controls.collect()),
        ("Readings that were thrown away", page.rejected_readings.iter().map(lack).collect()),
        ("Meters that could not be read", page.missing_meters.iter().map(lack).collect()),
        ("How it was measured", METHOD_NOTES.map(str::to_owned).to_vec()),
        ("Who took part", page.contender_lines.clone()),
        ("Commands as they are", page.command_options.clone()),
    ] {
        content.extend(titled_list(title, lines.iter().map(item)));
    }
    Section {
        slug: "method",
        title: "How it was measured",
        lead: "The command that repeats this run:",
        content,
    }
}
