//! Why fields of a trial in the JSON document are `null`: each has a reason, by its name.

use super::ranking::{RankingRow, Reference};
use readlab_model::sample::Meter;
use readlab_model::target::CACHE_UNKNOWN;
use readlab_model::trial::{CacheState, Work};
use readlab_record::TrialRecord;
use std::collections::BTreeMap;

/// Why fields about decoding are `null` where a trial reads the bytes of its target as they are.
const UNDECODED: [(&str, &str); 3] = [
    ("decodes", "it reads the bytes of the target as they are"),
    ("bytes_ratio", "nothing is decoded"),
    ("throughput_in_bytes_per_s", "nothing is decoded: the bytes that go in are those of the throughput"),
];

fn undecoded(it: &TrialRecord) -> impl Iterator<Item = (String, String)> {
    let fields = UNDECODED.iter().filter(|_| it.trial.decodes.is_none());
    fields.map(|(field, why)| ((*field).to_owned(), (*why).to_owned()))
}

/// Why a command that is taken as it is has no rate.
const UNPROVEN_BYTES: &str = "its output does not prove that it read the whole target, and no cold reading shows it: it may have read a part";

/// The fields that are computed from samples.
const FROM_SAMPLES: [&str; 6] =
    ["summary", "rank", "ratio", "throughput_bytes_per_s", "throughput_in_bytes_per_s", "fills"];

/// Why fields are `null` that do not depend on a ranking.
fn of_the_run(it: &TrialRecord) -> impl Iterator<Item = (String, String)> {
    let why = [
        (
            "flame_graph",
            it.flame_graph.is_none(),
            "only a measured trial has one, with --flamegraph, where samples may be taken",
        ),
        ("trace", it.trace.is_none(), "only a measured trial has one, with --trace"),
        ("state", it.trial.state == CacheState::Unknown, CACHE_UNKNOWN),
        ("outcome", it.outcome.is_none(), "the run was cut short before this trial was done"),
        ("answer", it.samples.is_empty(), "no sample stands"),
    ];
    why.into_iter()
        .filter(|(_, is_null, _)| *is_null)
        .map(|(field, _, why)| (field.to_owned(), why.to_owned()))
}

/// Why a trial has no rate, and which fields are `null` for it.
fn without_rate(it: &TrialRecord) -> (&'static str, &'static [&'static str]) {
    match it.trial.work {
        Work::Output => (
            UNPROVEN_BYTES,
            &["throughput_bytes_per_s", "throughput_in_bytes_per_s", "bytes_in", "bytes_out"],
        ),
        _ => (
            "a control, or a target of no known bytes",
            &["throughput_bytes_per_s", "throughput_in_bytes_per_s"],
        ),
    }
}

/// Why fields are `null`, by their names.
pub(super) fn missing(
    it: &TrialRecord,
    row: Option<&RankingRow>,
    reference: Option<&Reference>,
) -> BTreeMap<String, String> {
    let mut missing = row.map_or_else(|| it.missing.clone(), |row| row.missing.clone());
    missing.extend(undecoded(it));
    missing.extend(of_the_run(it));
    let mut explain = |field: &str, why: &str| {
        missing.entry(field.to_owned()).or_insert_with(|| why.to_owned());
    };
    let judged = row.and_then(|row| row.diagnosis.as_ref());
    if judged.is_none() {
        explain("verdict", "a control, or a trial whose samples do not stand");
    }
    if judged.is_none_or(|it| it.limit.is_none()) {
        for field in ["limit", "share_of_limit"] {
            explain(field, "no limit of this record applies to it");
        }
    } else if judged.is_some_and(|it| it.share_of_limit.is_none()) {
        explain("share_of_limit", "it cannot be told from the limit, and its median is higher");
    }
    let Some(row) = row else {
        FROM_SAMPLES.iter().for_each(|field| explain(field, "its samples are not told, as its outcome says"));
        return missing;
    };
    for metric in Meter::summarised().filter(|metric| !metric.is_of_requests()) {
        if !row.summaries.contains_key(&metric) {
            explain(metric.name(), "no sample holds it and no reason was recorded");
        }
    }
    if row.wall.median_ci95.is_none() {
        let why = match row.wall.n {
            1 => "a single reading",
            _ => "a single round",
        };
        ["median_ci95", "interval"].iter().for_each(|field| explain(field, why));
    }
    if row.wall.sd.is_none() {
        explain("sd", "a single sample");
    }
    if row.throughput.is_none() {
        let (why, fields) = without_rate(it);
        fields.iter().for_each(|field| explain(field, why));
    }
    if row.fills.is_none() {
        explain("fills", "not warm, or a single fill");
    }
    if row.rank.is_none() {
        let is_control = it.trial.is_control();
        let why =
            if is_control { "a control: it stands outside the ranking" } else { "1 more round is needed" };
        explain("rank", why);
    }
    match (row.ratio, reference) {
        (Some(ratio), _) if ratio.ci95.is_none() => {
            ["ratio.ci95", "ratio.interval"]
                .iter()
                .for_each(|field| explain(field, "a single round holds both"));
        }
        (Some(_), _) => {}
        (None, Some(reference)) if reference.index == row.index => explain("ratio", "it is the reference"),
        (None, _) => explain("ratio", "no round holds both it and the reference"),
    }
    missing
}
