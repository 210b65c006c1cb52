//! The results of inspecting untimed readings, as lines for every format: flame graphs and traces
//! of read calls.

use super::name::ShortNames;
use super::words::{grouped, percent, plural};
use readlab_catalog::language::Languages;
use readlab_model::trial::{CacheState, TrialIndex};
use readlab_model::units::{Bytes, Nanos};
use readlab_record::{FlameGraph, HotSpot, Record, Trace};
use std::collections::BTreeSet;

#[derive(Debug, Clone, PartialEq)]
pub struct InspectedTrial {
    pub trial: TrialIndex,
    pub language: String,
    pub name: String,
    /// The shortest name of the trial that no other trial of the record has.
    pub short_name: String,
    pub state: CacheState,
    /// The flame graph of CPU time; `None` where not requested.
    pub flame_graph: Option<FlameGraph>,
    /// The trace of read calls; `None` where not requested.
    pub trace: Option<Trace>,
}

impl InspectedTrial {
    /// The results of every inspected trial, in the order of trial indices.
    pub fn all(record: &Record) -> Vec<InspectedTrial> {
        let (names, languages) = (ShortNames::for_record(record), Languages::of_record(record));
        let looked = record.trials.iter().filter(|it| it.flame_graph.is_some() || it.trace.is_some());
        let mut all: Vec<InspectedTrial> = looked
            .map(|it| InspectedTrial {
                trial: it.trial.index,
                language: languages.language_of(it.trial.contender()).to_owned(),
                name: record.trial_name(&it.trial),
                short_name: names.short_name(&it.trial),
                state: it.trial.state,
                flame_graph: it.flame_graph.clone(),
                trace: it.trace.clone(),
            })
            .collect();
        all.sort_by_key(|it| it.trial);
        all
    }

    pub fn title(&self) -> String {
        format!("{}, {}", self.name, self.state)
    }

    /// The summary of the flame graph, or why there is none; `None` where not requested.
    pub fn flame_line(&self) -> Option<String> {
        let graph = self.flame_graph.as_ref()?;
        Some(match (&graph.picture_path, &graph.why_no_picture) {
            (Some(file), _) => format!("flame graph {file}: {}", summary_words(graph)),
            (None, reason) => {
                format!("no flame graph: {}", reason.as_deref().unwrap_or("no reason was recorded"))
            }
        })
    }

    /// The summary of the trace, or why there is none; `None` where not requested.
    pub fn trace_line(&self) -> Option<String> {
        let trace = self.trace.as_ref()?;
        Some(match &trace.reason {
            Some(reason) => format!("calls: {reason}"),
            None => format!("calls: {}", call_words(trace)),
        })
    }

    /// What flame graphs and traces do not show: each fact once.
    pub fn notes_on_missing_parts(all: &[InspectedTrial]) -> Vec<String> {
        let graphs = || all.iter().filter_map(|it| it.flame_graph.as_ref());
        let traces = all.iter().filter_map(|it| it.trace.as_ref());
        let mended = graphs().flat_map(|graph| &graph.blind_spots).filter(|note| note.contains('`')).cloned();
        let mut notes: BTreeSet<String> = mended.collect();
        if graphs().next().is_some() {
            notes.insert(
                "a flame graph shows time on processors: waiting for a device or for others is not in it"
                    .to_owned(),
            );
        }
        notes.extend(traces.map(|trace| format!("calls: {}", trace.how_traced)));
        notes.into_iter().collect()
    }
}

/// The number of samples, and the functions in which most of them were taken.
pub(super) fn summary_words(graph: &FlameGraph) -> String {
    let hot = |spot: &HotSpot| format!("{} {}", spot.name, percent(spot.share));
    let hottest: Vec<String> = graph.hottest.iter().map(hot).collect();
    let readings = plural(usize::try_from(graph.readings).unwrap_or(usize::MAX), "reading");
    format!("{} samples in {readings}; most in {}", grouped(graph.sample_count), hottest.join(", "))
}

/// The share of the time of all threads that was spent in read calls; `None` if that time is 0.
pub(super) fn share_in_calls(trace: &Trace) -> Option<f64> {
    let all_ns = trace.wall_ns.saturating_mul(trace.threads);
    (all_ns > 0).then(|| trace.in_calls_ns as f64 / all_ns as f64)
}

fn call_words(trace: &Trace) -> String {
    let made: Vec<String> =
        trace.call_counts.iter().map(|(name, n)| format!("{} {name}", grouped(*n))).collect();
    let (requested, got, latency) =
        (&trace.requested_bytes, &trace.nonempty_returned_bytes, &trace.latency_ns);
    let [p50, p90, p99, most] = [latency.p50, latency.p90, latency.p99, latency.most].map(Nanos);
    let mut parts = vec![
        made.join(", "),
        format!("{} in all", Bytes(trace.bytes)),
        format!("{} asked for and {} got at the median", Bytes(requested.p50), Bytes(got.p50)),
        format!("{p50} at the median, {p90} at 90 %, {p99} at 99 %, {most} at most"),
    ];
    parts.extend(trace.sequential_share().map(|share| {
        format!("{} go on where the one before of their thread ended{}", percent(share), jump_words(trace))
    }));
    let threads = match trace.threads {
        0 | 1 => "the reading's time".to_owned(),
        threads => format!("the time of {threads} threads"),
    };
    parts.extend(share_in_calls(trace).map(|share| format!("{} of {threads} in them", percent(share))));
    if trace.unrecorded > 0 {
        parts.push(format!("{} more were not kept", grouped(trace.unrecorded)));
    }
    parts.join("; ")
}

/// The number of read calls that jump ahead or back, with their median distance; empty if none do.
fn jump_words(trace: &Trace) -> String {
    let jump = |way: &str, spread: &readlab_record::Distribution| {
        (spread.n > 0).then(|| format!("{} {way} by {}", grouped(spread.n), Bytes(spread.p50)))
    };
    let jumps = [jump("jump ahead", &trace.ahead_bytes), jump("jump back", &trace.back_bytes)];
    let jumps: Vec<String> = jumps.into_iter().flatten().collect();
    if jumps.is_empty() { String::new() } else { format!(" ({})", jumps.join(", ")) }
}
