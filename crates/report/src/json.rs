//! The export for programs: everything in the record and everything computed from it, in one JSON
//! document.
//!
//! Times are integers in nanoseconds, sizes in bytes. What could not be measured is `null`, and
//! `missing` of the same trial says why, by the field's name. The words are those of the record.

use super::advice::{Advice, AdvisedTrial, LanguageAdvice};
use super::archives::ArchiveRatio;
use super::break_even::BreakEven;
use super::claims::json_value;
use super::escaped::{self, Document};
use super::ranking::{Ranking, RankingRow, Reference};
use super::sweep::SweepView;
use super::{file_cost, fleet, readers, scaling};
use readlab_analysis::stats::{SharedRatio, whole};
use readlab_analysis::verdict::{self, Diagnosis};
use readlab_claims::{self as claims, JudgedClaims};
use readlab_model::sample::Meter;
use readlab_model::target::{CACHE_UNKNOWN, TargetFacts};
use readlab_model::trial::{CacheState, Work};
use readlab_protocol::Archive;
use readlab_record::{Limit, Outcome, Record, RunKind, Samples, TrialRecord};
use readlab_roster::snippet::Snippet;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::{self, Write};

const SCHEMA: &str = "readlab.export";
const VERSION: u32 = 1;

/// All of the document; its trials are made one by one while they are written.
#[derive(Serialize)]
struct Content<'a> {
    #[serde(flatten)]
    fields: Value,
    trials: TrialList<'a>,
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
        "advice": Advice::all(record, &rankings).iter().map(|it| advice(&rankings[it.ranking], it)).collect::<Vec<Value>>(),
        "fills": record.fills,
        "proofs": rankings.iter().map(proof).collect::<Vec<Value>>(),
        "sweep": SweepView::from_record(record),
        "warnings": record.warnings,
        "resumed": record.resumed,
        "end": record.end.map(|(reason, wall_ns)| json!({ "reason": reason, "wall_ns": wall_ns })),
        "missing": missing_of_run(record, &limits),
    });
    let lists = [
        ("archives", json!(ArchiveRatio::all(record, &rankings))),
        ("break_even", json!(BreakEven::all(&rankings))),
        ("scaling", scaling::json_values(record).into()),
        ("readers", readers::json_values(record).into()),
        ("per_file", file_cost::json_values(record).into()),
        ("claims", judged.iter().map(json_value).collect()),
    ];
    let is_filled = |list: &Value| list.as_array().is_none_or(|list| !list.is_empty());
    add_known(&mut fields, lists.map(|(name, list)| (name, Some(list).filter(is_filled))));
    let fleet = record.fleet.as_ref().map(|fleet| fleet::json_value(fleet, record));
    add_known(&mut fields, [("fleet", fleet)]);
    let content = Content { fields, trials: TrialList { record, rankings } };
    escaped::write(&Document { schema: SCHEMA, version: VERSION, content }, out)
}

pub fn is_json(head: &str) -> bool {
    escaped::is_document(head, SCHEMA)
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

fn proof(ranking: &Ranking) -> Value {
    let mut proof = json!(ranking.proof);
    proof["target"] = json!(ranking.target);
    proof["work"] = json!(ranking.work);
    proof["state"] = json!(ranking.state);
    proof["decodes"] = json!(ranking.decodes);
    proof
}

fn missing_of_run(record: &Record, limits: &[Limit]) -> BTreeMap<&'static str, &'static str> {
    let all = [
        ("limits", limits.is_empty(), "no control of this record measures a limit"),
        ("sweep", record.header.kind != RunKind::Sweep, "the record is not one of a sweep"),
        ("end", record.end.is_none(), "the run was cut short"),
    ];
    all.into_iter().filter(|(_, is_missing, _)| *is_missing).map(|(field, _, why)| (field, why)).collect()
}

fn trial(record: &Record, it: &TrialRecord, rankings: &[Ranking]) -> Value {
    let ranked = rankings.iter().find_map(|ranking| {
        let mut rows = ranking.rows.iter().chain(&ranking.controls);
        Some((ranking, rows.find(|row| row.index == it.trial.index)?))
    });
    // A trial without samples has none.
    let row = ranked.map(|(_, row)| row);
    let reference = ranked.and_then(|(ranking, _)| ranking.reference.as_ref());
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
        "rank": row.and_then(|row| row.rank),
        "bytes_in": read_whole.map(|target| trial.bytes_in(target)),
        "bytes_out": read_whole.map(|target| trial.bytes_out(target)),
        "bytes_ratio": target.and_then(|target| decoding_ratio(target, trial.decodes)),
        "throughput_bytes_per_s": row.and_then(|row| row.throughput).map(|rate| whole(rate.0)),
        "throughput_in_bytes_per_s": row.and_then(|row| row.rate_in).map(|rate| whole(rate.0)),
        "summary": row.map(summary),
        "ratio": row.zip(reference).and_then(|(row, reference)| ratio(row, reference)),
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
        "missing": missing(it, row, reference),
        "rejected": it.rejected.iter().map(|(round, reason)| json!({ "round": round, "reason": reason })).collect::<Vec<Value>>(),
    });
    let cold = target.filter(|_| trial.state == CacheState::Cold);
    let tree = target.and_then(TargetFacts::tree);
    let places = target.and_then(TargetFacts::places);
    let pieces_per_s = || json!(row.and_then(|row| row.pieces_per_s).map(whole));
    // What a single untimed run counted is in `counts`.
    let again = row.filter(|_| it.count_runs.values().any(|runs| runs.len() > 1));
    let optional = [
        ("cold_above", cold.and_then(TargetFacts::cold_above).map(Value::from)),
        ("files", tree.map(|tree| json!(tree.files))),
        ("files_per_s", tree.map(|_| pieces_per_s())),
        ("places", places.map(|places| json!(places))),
        ("reads_per_s", places.map(|_| pieces_per_s())),
        ("latency", places.map(|_| json!(row.and_then(|row| row.latency.as_ref())))),
        ("predicted", it.outcome.as_ref().and_then(Outcome::prediction).map(|it| json!(it))),
        ("command", (!trial.command.is_default()).then(|| json!(trial.command))),
        ("conduct", (!it.conduct.is_plain()).then(|| json!(it.conduct))),
        ("stopped", it.stopped.map(|stopped| json!(stopped))),
        ("count_runs", again.map(|_| json!(it.count_runs))),
        ("count_summary", again.map(|row| json!(row.count_summaries))),
    ];
    add_known(&mut fields, optional);
    fields
}

/// Adds the fields that only some have.
fn add_known(fields: &mut Value, optional: impl IntoIterator<Item = (&'static str, Option<Value>)>) {
    for (name, value) in optional.into_iter().filter_map(|(name, value)| Some((name, value?))) {
        fields[name] = value;
    }
}

/// The size of a search; its readings are in the trials, as `searched`.
fn search(ranking: &Ranking) -> Option<Value> {
    let mut fields = json!(ranking.search?);
    fields["target"] = json!(ranking.path);
    fields["work"] = json!(ranking.work);
    fields["state"] = json!(ranking.state);
    Some(fields)
}

/// Bytes out over bytes in; `None` where nothing is decoded, and for an archive of no bytes.
fn decoding_ratio(target: &TargetFacts, decodes: Option<Archive>) -> Option<f64> {
    let is_there = decodes.is_some() && target.size_bytes > 0;
    is_there.then(|| target.bytes_out(decodes) as f64 / target.size_bytes as f64)
}

fn verdict_of(judged: &Diagnosis) -> Value {
    json!({
        "is": judged.verdict,
        "stops_at": judged.stops_at(),
        "sentence": judged.sentence,
        "parts": judged.parts,
    })
}

/// One object a metric, `null` where no sample holds it. That of the wall time has its interval's rule.
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

fn ratio(row: &RankingRow, reference: &Reference) -> Option<Value> {
    let ratio = row.ratio?;
    let mut fields = times(&ratio);
    fields["reference"] = json!(reference.name);
    fields["clear"] = json!(ratio.clear());
    fields["pairs"] = json!(ratio.pairs);
    Some(fields)
}

/// How many times as fast, with the interval and its rule.
fn times(ratio: &SharedRatio) -> Value {
    json!({
        "estimate": ratio.estimate,
        "ci95": ratio.ci95.map(|it| [it.ends.low, it.ends.high]),
        "interval": ratio.ci95.map(|it| it.rule),
    })
}

fn advice(ranking: &Ranking, advice: &Advice) -> Value {
    let mut fields = json!({
        "target": ranking.path,
        "work": ranking.work,
        "state": ranking.state,
        "sentence": advice.sentence,
        "trial": advice.uses,
        "id": advice.uses.map(|_| &advice.name),
        "tied": advice.tied,
        "against": advice.against.as_ref().map(|it| json!({ "id": it.name, "times": times(&it.ratio) })),
        "cheaper": advice.cheaper.as_ref().map(|it| json!({
            "trial": it.index,
            "id": it.name,
            "times": times(&it.ratio),
            "without": it.without,
        })),
        "code": code(&advice.code),
        "by_language": advice.by_language.iter().map(advice_for_language).collect::<Vec<Value>>(),
    });
    add_known(&mut fields, [("cold_above", ranking.cold_above.clone().map(Value::from))]);
    fields
}

fn advice_for_language(advice: &LanguageAdvice) -> Value {
    let trial = |it: &AdvisedTrial| json!({ "trial": it.index, "id": it.name });
    json!({
        "language": advice.language,
        "usual": advice.usual.as_ref().map(trial),
        "usual_is": advice.usual_is,
        "best": trial(&advice.best),
        "times": advice.ratio.as_ref().map(times),
        "needs": advice.needs,
        "code": code(&advice.code),
    })
}

fn code(snippets: &[Snippet]) -> Value {
    snippets.iter().map(|it| json!({ "language": it.language, "code": it.code })).collect()
}

/// Why a command that is taken as it is has no rate.
const UNPROVEN_BYTES: &str = "its output does not prove that it read the whole target, and no cold reading shows it: it may have read a part";

/// The fields that are computed from samples.
const FROM_SAMPLES: [&str; 6] =
    ["summary", "rank", "ratio", "throughput_bytes_per_s", "throughput_in_bytes_per_s", "fills"];

/// Why fields are `null`, by their names; of several reasons the first.
fn missing(
    it: &TrialRecord,
    row: Option<&RankingRow>,
    reference: Option<&Reference>,
) -> BTreeMap<String, String> {
    let mut missing = row.map_or_else(|| it.missing.clone(), |row| row.missing.clone());
    let mut explain = |is_null: bool, fields: &[&str], why: &str| {
        for field in fields.iter().filter(|_| is_null) {
            missing.entry((*field).to_owned()).or_insert_with(|| why.to_owned());
        }
    };
    let is_undecoded = it.trial.decodes.is_none();
    explain(is_undecoded, &["decodes"], "it reads the bytes of the target as they are");
    explain(is_undecoded, &["bytes_ratio"], "nothing is decoded");
    let same = "nothing is decoded: the bytes that go in are those of the throughput";
    explain(is_undecoded, &["throughput_in_bytes_per_s"], same);
    let no_graph = "only a measured trial has one, with --flamegraph, where samples may be taken";
    explain(it.flame_graph.is_none(), &["flame_graph"], no_graph);
    explain(it.trace.is_none(), &["trace"], "only a measured trial has one, with --trace");
    explain(it.trial.state == CacheState::Unknown, &["state"], CACHE_UNKNOWN);
    explain(it.outcome.is_none(), &["outcome"], "the run was cut short before this trial was done");
    explain(it.samples.is_empty(), &["answer"], "no sample stands");
    let judged = row.and_then(|row| row.diagnosis.as_ref());
    explain(judged.is_none(), &["verdict"], "a control, or a trial whose samples do not stand");
    let no_limit = judged.is_none_or(|it| it.limit.is_none());
    explain(no_limit, &["limit", "share_of_limit"], "no limit of this record applies to it");
    let no_share = judged.is_some_and(|it| it.share_of_limit.is_none());
    explain(no_share, &["share_of_limit"], "it cannot be told from the limit, and its median is higher");
    let Some(row) = row else {
        explain(true, &FROM_SAMPLES, "its samples are not told, as its outcome says");
        return missing;
    };
    for metric in Meter::summarised().filter(|metric| !metric.is_of_requests()) {
        let why = "no sample holds it and no reason was recorded";
        explain(!row.summaries.contains_key(&metric), &[metric.name()], why);
    }
    let why = if row.wall.n == 1 { "a single reading" } else { "a single round" };
    explain(row.wall.median_ci95.is_none(), &["median_ci95", "interval"], why);
    explain(row.wall.sd.is_none(), &["sd"], "a single sample");
    let (why, sizes): (&str, &[&str]) = match it.trial.work {
        Work::Output => (UNPROVEN_BYTES, &["bytes_in", "bytes_out"]),
        _ => ("a control, or a target of no known bytes", &[]),
    };
    let no_rate = row.throughput.is_none();
    explain(no_rate, &["throughput_bytes_per_s", "throughput_in_bytes_per_s"], why);
    explain(no_rate, sizes, why);
    explain(row.fills.is_none(), &["fills"], "not warm, or a single fill");
    let is_control = it.trial.is_control();
    let why = if is_control { "a control: it stands outside the ranking" } else { "1 more round is needed" };
    explain(row.rank.is_none(), &["rank"], why);
    let no_ends = row.ratio.is_some_and(|ratio| ratio.ci95.is_none());
    explain(no_ends, &["ratio.ci95", "ratio.interval"], "a single round holds both");
    let is_reference = reference.is_some_and(|reference| reference.index == row.index);
    let why = if is_reference { "it is the reference" } else { "no round holds both it and the reference" };
    explain(row.ratio.is_none(), &["ratio"], why);
    missing
}
