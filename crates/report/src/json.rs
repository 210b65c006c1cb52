//! The export for programs: everything in the record and everything computed from it, in one JSON
//! document.
//!
//! Times are integers in nanoseconds, sizes in bytes. What could not be measured is `null`, and
//! `missing` of the same trial says why, by the field's name. The words are those of the record.

use super::advice::{Advice, export};
use super::claims::json_value;
use super::escaped::{self, Document};
use super::missing::missing;
use super::ranking::{Ranking, RankingRow, TieStatus};
use super::sweep::SweepView;
use super::{ArchiveRatio, BreakEven, file_cost, fleet, readers, scaling};
use readlab_analysis::stats::whole;
use readlab_analysis::verdict::{self, Diagnosis};
use readlab_claims::{self as claims, JudgedClaims};
use readlab_model::sample::Meter;
use readlab_model::target::TargetFacts;
use readlab_model::trial::CacheState;
use readlab_protocol::Archive;
use readlab_record::{Limit, Record, RunKind, Samples, TrialRecord};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Name of the format.
pub const EXPORT_SCHEMA: &str = "readlab.export";
/// Version of the format.
pub const EXPORT_VERSION: u32 = 1;

const NO_LIMITS: &str = "no control of this record measures a limit";

/// All of the document; its trials are made one by one while they are written.
#[derive(Serialize)]
struct Content<'a> {
    #[serde(flatten)]
    fields: Value,
    trials: TrialList<'a>,
}

/// The row of a trial, with its ranking.
struct Ranked<'a> {
    ranking: &'a Ranking,
    row: &'a RankingRow,
}

impl<'a> Ranked<'a> {
    /// `None` for a trial without samples.
    fn find(rankings: &'a [Ranking], it: &TrialRecord) -> Option<Ranked<'a>> {
        rankings.iter().find_map(|ranking| {
            let mut rows = ranking.rows.iter().chain(&ranking.controls);
            Some(Ranked { ranking, row: rows.find(|row| row.index == it.trial.index)? })
        })
    }
}

struct TrialList<'a> {
    record: &'a Record,
    rankings: Vec<Ranking>,
}

#[derive(Serialize)]
struct OneTrial<'a> {
    #[serde(flatten)]
    fields: Value,
    samples: &'a Samples,
    searched: &'a Samples,
}

/// Writes the document, indented, with a newline at its end.
pub fn json(record: &Record, out: &mut dyn Write) -> io::Result<()> {
    json_with(record, &claims::judged_by(record), out)
}

/// The same with these claims instead of those of publications.
pub fn json_with(record: &Record, judged: &[JudgedClaims], out: &mut dyn Write) -> io::Result<()> {
    let limits = verdict::limits(record);
    let rankings = Ranking::all(record, &limits);
    let header = &record.header;
    let mut fields = json!({
        "lab": header.lab,
        "revision": header.revision,
        "verb": header.kind,
        "command": header.command,
        "started": header.started,
        "seed": header.seed,
        "machine": header.machine,
        "targets": record.targets,
        "what_gives": (0..record.targets.len()).map(|target| verdict::explain_device_bytes(record, target)).collect::<Vec<_>>(),
        "contenders": record.contenders,
        "limits": Some(&limits).filter(|limits| !limits.is_empty()),
        "searches": rankings.iter().filter_map(search).collect::<Vec<Value>>(),
        "advice": Advice::all(record, &rankings).iter().map(|it| export::advice(&rankings[it.ranking], it)).collect::<Vec<Value>>(),
        "fills": record.fills,
        "proofs": rankings.iter().map(proof).collect::<Vec<Value>>(),
        "sweep": SweepView::from_record(record),
        "warnings": record.warnings,
        "resumed": record.resumed,
        "end": record.end.map(|(reason, wall_ns)| json!({ "reason": reason, "wall_ns": wall_ns })),
        "missing": missing_of_run(record, &limits),
    });
    if let Some(fleet) = &record.fleet {
        fields["fleet"] = fleet::json_value(fleet, record);
    }
    let lists = [
        ("archives", json!(ArchiveRatio::all(record, &rankings))),
        ("break_even", json!(BreakEven::all(&rankings))),
        ("scaling", scaling::json_values(record).into()),
        ("readers", readers::json_values(record).into()),
        ("per_file", file_cost::json_values(record).into()),
        ("claims", judged.iter().map(json_value).collect()),
    ];
    let is_empty = |list: &Value| list.as_array().is_some_and(Vec::is_empty);
    lists.into_iter().filter(|(_, list)| !is_empty(list)).for_each(|(name, list)| fields[name] = list);
    let content = Content { fields, trials: TrialList { record, rankings } };
    escaped::write(&Document { schema: EXPORT_SCHEMA, version: EXPORT_VERSION, content }, out)
}

/// Whether a file that begins like this is such a document.
pub fn is_json(head: &str) -> bool {
    escaped::is_document(head, EXPORT_SCHEMA)
}

impl Serialize for TrialList<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let samples = |it| OneTrial {
            fields: trial(self.record, it, &self.rankings),
            samples: &it.samples,
            searched: &it.searched,
        };
        serializer.collect_seq(self.record.trials.iter().map(samples))
    }
}

/// What was proven of the cache over the samples of one ranking.
fn proof(ranking: &Ranking) -> Value {
    let mut proof = json!(ranking.proof);
    proof["target"] = json!(ranking.target);
    proof["work"] = json!(ranking.work);
    proof["state"] = json!(ranking.state);
    proof["decodes"] = json!(ranking.decodes);
    proof
}

fn missing_of_run(record: &Record, limits: &[Limit]) -> BTreeMap<&'static str, &'static str> {
    let mut missing = BTreeMap::new();
    if limits.is_empty() {
        missing.insert("limits", NO_LIMITS);
    }
    if record.header.kind != RunKind::Sweep {
        missing.insert("sweep", "the record is not one of a sweep");
    }
    if record.end.is_none() {
        missing.insert("end", "the run was cut short");
    }
    missing
}

fn trial(record: &Record, it: &TrialRecord, rankings: &[Ranking]) -> Value {
    let ranked = Ranked::find(rankings, it);
    let row = ranked.as_ref().map(|ranked| ranked.row);
    let judged = row.and_then(|row| row.diagnosis.as_ref());
    let trial = &it.trial;
    let target = record.targets.get(trial.target);
    let read_whole = record.read_whole(it);
    let mut fields = json!({
        "index": trial.index,
        "id": trial.id,
        "label": trial.label,
        "contender": trial.contender(),
        "method": trial.method(),
        "scan": trial.scan(),
        "params": trial.params,
        "target": target.map(|target| &target.path),
        "work": trial.work,
        "state": trial.state,
        "over": target.map(TargetFacts::transport),
        "cache": trial.cache,
        "decodes": trial.decodes,
        "outcome": it.outcome.as_ref().map(|outcome| outcome.word()),
        "reason": it.outcome.as_ref().and_then(|outcome| outcome.reason()),
        "answer": it.samples.iter().next().map(|sample| sample.answer),
        "rank": row.and_then(|row| row.rank).map(|rank| json!({
            "place": rank.place,
            "standing": match rank.tie {
                TieStatus::First => "first",
                TieStatus::Tied => "tied",
            },
        })),
        "bytes_in": read_whole.map(|target| trial.bytes_in(target)),
        "bytes_out": read_whole.map(|target| trial.bytes_out(target)),
        "bytes_ratio": target.and_then(|target| decoding_ratio(target, trial.decodes)),
        "throughput_bytes_per_s": row.and_then(|row| row.throughput).map(|rate| whole(rate.0)),
        "throughput_in_bytes_per_s": row.and_then(|row| row.rate_in).map(|rate| whole(rate.0)),
        "summary": row.map(summary),
        "ratio": ranked.as_ref().and_then(ratio),
        "fills": row.and_then(|row| row.fills.as_ref()),
        "limit": judged.and_then(|it| it.limit.as_ref()).map(|limit| json!({
            "kind": limit.kind,
            "name": limit.name,
            "value": limit.value,
            "unit": limit.unit,
        })),
        "share_of_limit": judged.and_then(|it| it.share_of_limit),
        "verdict": judged.map(verdict_of),
        "warmups": it.warmups,
        "counts": it.counts,
        "flame_graph": it.flame_graph,
        "trace": it.trace,
        "missing": missing(it, row, ranked.as_ref().and_then(|ranked| ranked.ranking.reference.as_ref())),
        "rejected": it.rejected.iter().map(|(round, reason)| json!({ "round": round, "reason": reason })).collect::<Vec<Value>>(),
    });
    add_about_target(&mut fields, trial.state, target, row);
    add_exceptional(&mut fields, it);
    if let Some(stopped) = it.stopped {
        fields["stopped"] = json!(stopped);
    }
    add_count_runs(&mut fields, it, row);
    fields
}

/// Adds what each of several untimed runs counted; what a single one counted is in `counts`.
fn add_count_runs(fields: &mut Value, it: &TrialRecord, row: Option<&RankingRow>) {
    if let Some(row) = row.filter(|_| it.count_runs.values().any(|runs| runs.len() > 1)) {
        fields["count_runs"] = json!(it.count_runs);
        fields["count_summary"] = json!(row.count_summaries);
    }
}

/// Adds what was asked of a command as it is, and what a contender did beside reading, if anything.
fn add_exceptional(fields: &mut Value, it: &TrialRecord) {
    if !it.trial.command.is_default() {
        fields["command"] = json!(it.trial.command);
    }
    if !it.conduct.is_plain() {
        fields["conduct"] = json!(it.conduct);
    }
}

/// Adds the cache that keeps the target when it is made cold, if one is known.
pub(super) fn add_cold_above(fields: &mut Value, cold_above: Option<String>) {
    if let Some(cache) = cold_above {
        fields["cold_above"] = cache.into();
    }
}

/// Adds what only some targets have: a cache below, many files, and places.
fn add_about_target(
    fields: &mut Value,
    state: CacheState,
    target: Option<&TargetFacts>,
    row: Option<&RankingRow>,
) {
    let cold = target.filter(|_| state == CacheState::Cold);
    add_cold_above(fields, cold.and_then(TargetFacts::cold_above));
    if let Some(tree) = target.and_then(|target| target.tree()) {
        fields["files"] = tree.files.into();
        fields["files_per_s"] = row.and_then(|row| row.pieces_per_s).map(whole).into();
    }
    if let Some(places) = target.and_then(|target| target.places()) {
        fields["places"] = json!(places);
        fields["reads_per_s"] = row.and_then(|row| row.pieces_per_s).map(whole).into();
        fields["latency"] = json!(row.and_then(|row| row.latency.as_ref()));
    }
}

/// The size of a search; its readings are in the trials, as `searched`.
fn search(ranking: &Ranking) -> Option<Value> {
    let search = ranking.search?;
    Some(json!({
        "target": ranking.path,
        "work": ranking.work,
        "state": ranking.state,
        "settings": search.settings,
        "rungs": search.rungs,
        "readings_searched": search.searched,
        "readings_fresh": search.fresh,
        "readings_exhaustive": search.exhaustive,
    }))
}

/// Bytes out over bytes in; `None` where nothing is decoded, and for an archive of no bytes.
#[expect(clippy::cast_precision_loss, reason = "a ratio of sizes")]
fn decoding_ratio(target: &TargetFacts, decodes: Option<Archive>) -> Option<f64> {
    let is_there = decodes.is_some() && target.size_bytes > 0;
    is_there.then(|| target.bytes_out(decodes) as f64 / target.size_bytes as f64)
}

/// The verdict, its sentence, and how the time divides.
fn verdict_of(judged: &Diagnosis) -> Value {
    json!({
        "is": judged.verdict,
        "stops_at": judged.stops_at(),
        "sentence": judged.sentence,
        "parts": judged.parts,
    })
}

/// One object a metric, `null` where no sample holds it. That of the wall time says by which rule
/// its interval was made.
fn summary(row: &RankingRow) -> Value {
    let metrics = Meter::summarised();
    let is_shown = |metric: &Meter| !metric.is_of_requests() || row.summaries.contains_key(metric);
    let mut fields: Map<String, Value> = metrics
        .filter(is_shown)
        .map(|metric| (metric.name().to_owned(), json!(row.summaries.get(&metric))))
        .collect();
    if let Some(Value::Object(wall)) = fields.get_mut(Meter::WallNs.name()) {
        wall.insert("interval".to_owned(), json!(row.interval));
    }
    fields.into()
}

fn ratio(ranked: &Ranked) -> Option<Value> {
    let (ratio, reference) = (ranked.row.ratio?, ranked.ranking.reference.as_ref()?);
    Some(json!({
        "reference": reference.name,
        "estimate": ratio.estimate,
        "ci95": ratio.ci95.map(|it| [it.ends.low, it.ends.high]),
        "interval": ratio.ci95.map(|it| it.rule),
        "clear": ratio.clear(),
        "pairs": ratio.pairs,
    }))
}
