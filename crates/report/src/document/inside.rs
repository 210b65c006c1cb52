//! The section of what was seen inside readings: histograms of read calls, their numbers, and the
//! flame graphs by link.
//!
//! A flame graph is a file of its own beside the record: it has a script to zoom and search with,
//! and a page embeds nothing.

use super::super::charts::{self, Chart, Histogram};
use super::super::inside::{Inside, in_calls, summed_up};
use super::super::page::Page;
use super::super::svg::Quantity;
use super::super::words::{self as wording, Number, capital, unbroken};
use super::Section;
use super::sections::figures;
use super::table::{Column, TableCell, TableRow, table};
use readlab_model::trial::CacheState;
use readlab_model::units::{Bytes, Nanos};
use readlab_record::{Spread, Trace};
use readlab_system::markup::{Element, element, words};

/// The section; `None` where no reading was inspected.
pub(super) fn section(page: &Page) -> Option<Section> {
    let mut content: Vec<Element> = figures(inside_charts(page)).into_iter().collect();
    content.extend(numbers(page));
    content.extend(without_calls(page));
    content.extend(flame_graphs(page));
    let blind = Inside::blind(&page.inside);
    content.extend(listed("What this does not show", blind.iter().map(|note| words("li", &unbroken(note)))));
    let lead = "From untimed readings in separate processes: inspection costs time, so no other number of this page comes from them.";
    (!page.inside.is_empty()).then_some(Section { slug: "inside", title: "Inside a reading", lead, content })
}

/// Latencies and sizes of read calls, for each state of the cache.
pub(super) fn inside_charts(page: &Page) -> Vec<Chart> {
    let states = [CacheState::Cold, CacheState::Warm, CacheState::Unknown];
    let both = states.into_iter().flat_map(|state| {
        let traced: Vec<(&Inside, &Trace)> =
            traces(page).filter(|(it, trace)| it.state == state && trace.reason.is_none()).collect();
        let chart = |quantity, what: &str, slug: &str, of: fn(&Trace) -> Spread| {
            let rows: Vec<Histogram> =
                traced.iter().map(|(it, trace)| row(it, quantity, of(trace))).collect();
            let title = format!("{}: {what}", capital(&state.to_string()));
            charts::histogram(&rows, quantity, title, format!("{slug}-{state}"))
        };
        [
            chart(Quantity::Time, "how long read calls took", "latencies", |trace| trace.latency_ns.clone()),
            chart(Quantity::Size, "bytes of each read call that brought any", "sizes-of-calls", |trace| {
                trace.brought()
            }),
        ]
    });
    both.flatten().collect()
}

fn traces(page: &Page) -> impl Iterator<Item = (&Inside, &Trace)> {
    page.inside.iter().filter_map(|it| Some((it, it.trace.as_ref()?)))
}

#[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
fn row(it: &Inside, quantity: Quantity, spread: Spread) -> Histogram<'_> {
    let value = format!("{} × {}", wording::grouped(spread.n), quantity.tick(spread.p50 as f64));
    Histogram { label: it.into(), value, spread }
}

/// The numbers of those that made read calls.
fn numbers(page: &Page) -> Option<Element> {
    let mut columns = vec![Column::text("method"), Column::text("state")];
    let titles =
        ["calls", "empty", "asked", "got", "p50", "p90", "p99", "longest", "sequential", "of the time"];
    columns.extend(titles.map(Column::number));
    let selected = traces(page).filter(|(_, trace)| trace.reason.is_none());
    let rows: Vec<TableRow> = selected.map(|(it, trace)| TableRow::new(it, "", cells(it, trace))).collect();
    let caption = "Read calls of one reading: how many, how many brought nothing, bytes at the median, latencies, the share that goes on where the one before ended, and the share of the reading's time that its threads spent in them";
    (!rows.is_empty())
        .then(|| super::folded("Read calls: the numbers", vec![table(caption, columns, rows)], false))
}

#[expect(clippy::cast_precision_loss, reason = "for sorting")]
fn cells(it: &Inside, trace: &Trace) -> Vec<TableCell> {
    let bytes = |value: u64| TableCell::number(Some(Number::new(Bytes(value).to_string(), value as f64)));
    let time = |value: u64| TableCell::number(Some(Number::new(Nanos(value).to_string(), value as f64)));
    let share = |share: Option<f64>| {
        TableCell::number(share.map(|share| Number::new(wording::percent(share), share)))
    };
    let latency = &trace.latency_ns;
    let mut cells = vec![TableCell::text(it.state.to_string())];
    cells.push(TableCell::number(Some(Number::new(wording::grouped(trace.reads()), trace.reads() as f64))));
    cells.push(TableCell::number(Some(Number::new(wording::grouped(trace.empty()), trace.empty() as f64))));
    cells.extend([bytes(trace.requested_bytes.p50), bytes(trace.brought().p50)]);
    cells.extend([latency.p50, latency.p90, latency.p99, latency.most].map(time));
    cells.extend([share(trace.sequential_share()), share(in_calls(trace))]);
    cells
}

/// Those that made no read calls, with the reason.
fn without_calls(page: &Page) -> Vec<Element> {
    let selected = traces(page).filter_map(|(it, trace)| Some((it, trace.reason.as_ref()?)));
    let line = |(it, reason): (&Inside, &String)| {
        words("li", &unbroken(&format!("{}: {reason}", it.title()))).set("title", &it.name)
    };
    listed("Without read calls", selected.map(line))
}

/// A link to each flame graph, and where its samples lay.
fn flame_graphs(page: &Page) -> Vec<Element> {
    let line = |it: &Inside| {
        let graph = it.flame_graph.as_ref()?;
        Some(match &graph.file {
            Some(file) => {
                let link = words("a", &it.title()).set("href", href(file));
                let blind = graph.blind.iter().fold(String::new(), |text, note| format!("{text}; {note}"));
                element("li").with(link).text(&unbroken(&format!(": {}{blind}", summed_up(graph))))
            }
            None => words("li", &unbroken(&format!("{}: {}", it.title(), it.flame_line()?))),
        })
    };
    listed("Flame graphs", page.inside.iter().filter_map(line))
}

fn listed(title: &str, lines: impl Iterator<Item = Element>) -> Vec<Element> {
    let lines: Vec<Element> = lines.collect();
    if lines.is_empty() {
        return Vec::new();
    }
    vec![words("h3", title), element("ul").class("lines").all(lines)]
}

/// A path as the address of a link: from the page's own folder, or the whole of it; never anything
/// else that an address may be.
fn href(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let encoded: String = path
        .bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect();
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
    fn a_link_is_a_path_and_nothing_else() {
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
