//! The section on inspected readings: histograms of read calls, their numbers, and links to flame
//! graphs.
//!
//! A flame graph is a separate file beside the record, because it contains a script to zoom and
//! search, and a page embeds no foreign content.

use super::super::charts::{self, Chart, Histogram};
use super::super::inside::{InspectedTrial, share_in_calls, summary_words};
use super::super::page::Page;
use super::super::svg::Quantity;
use super::super::table::Cell;
use super::super::words::{Number, capitalized, unbroken};
use super::table::{Column, TableRow, table};
use super::{Section, figures, folded, item, titled_list};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use readlab_model::trial::CacheState;
use readlab_record::{Distribution, Trace};
use readlab_system::markup::{Element, element, text_element};

/// The characters that are percent-encoded in a link: all except letters, digits and these.
const ENCODED_IN_LINK: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// The section; `None` if no reading was inspected.
pub(super) fn section(page: &Page) -> Option<Section> {
    let blind = InspectedTrial::notes_on_missing_parts(&page.inspected_trials);
    let content = figures(inside_charts(page)).into_iter().chain(numbers_table(page));
    let content = content.chain(without_calls(page)).chain(flame_graphs(page));
    let content = content.chain(titled_list("What this does not show", blind.iter().map(item)));
    let lead = "From untimed readings in separate processes: inspection costs time, so no other number of this page comes from them.";
    Section::with_content("inside", "Inside a reading", lead, content)
}

/// Charts of the latencies and sizes of read calls, for each state of the cache.
pub(super) fn inside_charts(page: &Page) -> Vec<Chart> {
    let states = [CacheState::Cold, CacheState::Warm, CacheState::Pressed, CacheState::Unknown];
    let both = states.into_iter().flat_map(|state| {
        let traced: Vec<(&InspectedTrial, &Trace)> =
            traces(page).filter(|(it, trace)| it.state == state && trace.reason.is_none()).collect();
        let chart = |quantity, what: &str, slug: &str, of: fn(&Trace) -> Distribution| {
            let rows: Vec<Histogram> =
                traced.iter().map(|&(it, trace)| Histogram { label: it.into(), spread: of(trace) }).collect();
            let title = format!("{}: {what}", capitalized(&state.to_string()));
            charts::histogram_chart(&rows, quantity, title, format!("{slug}-{state}"))
        };
        let brought = "bytes of each read call that brought any";
        [
            chart(Quantity::Time, "how long read calls took", "latencies", |trace| trace.latency_ns.clone()),
            chart(Quantity::Size, brought, "sizes-of-calls", |trace| trace.nonempty_returned_bytes.clone()),
        ]
    });
    both.flatten().collect()
}

fn traces(page: &Page) -> impl Iterator<Item = (&InspectedTrial, &Trace)> {
    page.inspected_trials.iter().filter_map(|it| Some((it, it.trace.as_ref()?)))
}

/// A table of the numbers of the trials that made read calls.
fn numbers_table(page: &Page) -> Option<Element> {
    let titles =
        ["calls", "empty", "asked", "got", "p50", "p90", "p99", "longest", "sequential", "of the time"];
    let columns = ["method", "state"].map(Column::text).into_iter().chain(titles.map(Column::number));
    let selected = traces(page).filter(|(_, trace)| trace.reason.is_none());
    let rows: Vec<TableRow> = selected.map(|(it, trace)| TableRow::new(it, "", cells(it, trace))).collect();
    let caption = "Read calls of one reading: how many, how many brought nothing, bytes at the median, latencies, the share that goes on where the one before ended, and the share of the reading's time that its threads spent in them";
    (!rows.is_empty()).then(|| folded("Read calls: the numbers", [table(caption, columns, rows)], false))
}

fn cells(it: &InspectedTrial, trace: &Trace) -> Vec<Cell> {
    let latency = &trace.latency_ns;
    let numbers = [
        Some(Number::grouped(trace.read_call_count())),
        Some(Number::grouped(trace.empty_read_count())),
        Some(Number::bytes(trace.requested_bytes.p50)),
        Some(Number::bytes(trace.nonempty_returned_bytes.p50)),
        Some(Number::time(latency.p50)),
        Some(Number::time(latency.p90)),
        Some(Number::time(latency.p99)),
        Some(Number::time(latency.most)),
        trace.sequential_share().map(Number::percent),
        share_in_calls(trace).map(Number::percent),
    ];
    let state = Cell::text(it.state.to_string());
    [state].into_iter().chain(numbers.map(Cell::number)).collect()
}

/// The trials that made no read calls, with the reason.
fn without_calls(page: &Page) -> impl Iterator<Item = Element> {
    let selected = traces(page).filter_map(|(it, trace)| Some((it, trace.reason.as_ref()?)));
    let line = |(it, reason): (&InspectedTrial, &String)| {
        item(format!("{}: {reason}", it.title())).set("title", &it.name)
    };
    titled_list("Without read calls", selected.map(line))
}

/// A link to each flame graph, with the functions in which most samples were taken.
fn flame_graphs(page: &Page) -> impl Iterator<Item = Element> {
    let line = |it: &InspectedTrial| {
        let graph = it.flame_graph.as_ref()?;
        Some(match &graph.picture_path {
            Some(file) => {
                let link = text_element("a", &it.title()).set("href", href(file));
                let blind =
                    graph.blind_spots.iter().fold(String::new(), |text, note| format!("{text}; {note}"));
                element("li").with(link).text(&unbroken(&format!(": {}{blind}", summary_words(graph))))
            }
            None => item(format!("{}: {}", it.title(), it.flame_line()?)),
        })
    };
    titled_list("Flame graphs", page.inspected_trials.iter().filter_map(line))
}

/// A path as the address of a link, relative to the page's folder or absolute. The result never has
/// a scheme or a host.
fn href(path: &str) -> String {
    let encoded = utf8_percent_encode(path, ENCODED_IN_LINK).to_string();
    if path.starts_with("//") {
        format!("./{}", encoded.trim_start_matches('/'))
    } else if path.starts_with('/') {
        encoded
    } else {
        format!("./{encoded}")
    }
}

#[cfg(test)]
mod tests {
    use super::href;

    #[test]
    fn a_link_address_is_always_a_path() {
        for (path, link) in [
            ("flamegraphs/warm-1.svg", "./flamegraphs/warm-1.svg"),
            ("/data/a b.svg", "/data/a%20b.svg"),
            ("javascript:alert(1)", "./javascript%3Aalert%281%29"),
            ("//example.org/x.svg", "./example.org/x.svg"),
            ("\"><script>", "./%22%3E%3Cscript%3E"),
        ] {
            assert_eq!(href(path), link);
        }
    }
}
