//! The export for programs: the whole record and everything computed from it, in one JSON document.
//!
//! Times are integers in nanoseconds, sizes in bytes. What could not be measured is `null`, and the
//! field `missing` of the same trial gives the reason by the field's name. States, works and
//! outcomes have the same words as in the record.

use super::advice::Advice;
use super::archives::ArchiveRatio;
use super::break_even::BreakEven;
use super::escaped::{self, Document};
use super::file_cost::FileCostExport;
use super::fleet::FleetExport;
use super::locations::LocationsExport;
use super::memory::MemoryExport;
use super::ranking::{Rank, Ranking, RankingRow, Reference, StateProof};
use super::readers::ReadersRow;
use super::scaling::ScalingExport;
use super::search::SearchView;
use super::settings::SettingEffectExport;
use super::sweep::SweepView;
use readlab_analysis::latency::LatencySummary;
use readlab_analysis::stats::{FillSpread, IntervalRule, SharedRatio, Significance, Summary, whole};
use readlab_analysis::verdict::{self, TimeParts, Verdict};
use readlab_claims::{self as claims, JudgedClaims};
use readlab_model::sample::Meter;
use readlab_model::target::places::{PlacesFacts, RangesFacts};
use readlab_model::target::{TargetFacts, TargetIndex, Targets};
use readlab_model::trial::{Answer, CacheState, Params, Transport, TrialId, TrialIndex, Work};
use readlab_protocol::{Archive, Cache};
use readlab_record::{
    CommandRules, EndReason, Fill, FlameGraph, Limit, LimitKind, LimitUnit, Outcome, Prediction, Receipt,
    Record, Resumption, RunKind, Samples, SideEffects, Stopped, Trace, TrialRecord, UntimedCount, WarmedUp,
};
use readlab_system::machine::Machine;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::{self, Write};

const SCHEMA_NAME: &str = "readlab.export";
const SCHEMA_VERSION: u32 = 1;

/// The content of the document. Its trials are serialized one by one while it is written.
#[derive(Serialize, JsonSchema)]
struct Content<'a> {
    #[serde(flatten)]
    #[schemars(with = "RunExport<'a>")]
    fields: Value,
    #[schemars(with = "Vec<OneTrial<'a>>")]
    trials: TrialList<'a>,
}

struct TrialList<'a> {
    record: &'a Record,
    rankings: Vec<Ranking>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Trial")]
struct OneTrial<'a> {
    #[serde(flatten)]
    #[schemars(with = "TrialExport<'a>")]
    fields: Value,
    samples: &'a Samples,
    /// The readings of a search, which decided what is measured. No number is computed from them.
    #[serde(rename = "searched")]
    search_samples: &'a Samples,
}

/// The data on the run, its targets, and all trials together.
#[derive(Serialize, JsonSchema)]
struct RunExport<'a> {
    #[serde(rename = "lab")]
    lab_version: &'a str,
    /// The commit that the lab was built from.
    revision: &'a str,
    verb: RunKind,
    /// The command line that repeats the run, as a list of words.
    command: &'a [String],
    /// Start of the run, RFC 3339 in UTC.
    started: &'a str,
    seed: u64,
    machine: &'a Machine,
    targets: &'a Targets<TargetFacts>,
    /// For each target, what makes its cold readings look faster than the device.
    #[serde(rename = "what_gives")]
    cold_speed_explanations: Vec<Vec<String>>,
    contenders: &'a [Receipt],
    limits: Option<&'a [Limit]>,
    searches: Vec<SearchExport<'a>>,
    advice: Vec<AdviceExport<'a>>,
    fills: &'a [Fill],
    proofs: Vec<ProofExport>,
    sweep: Option<SweepView>,
    warnings: &'a [String],
    resumed: &'a [Resumption],
    end: Option<EndExport>,
    /// Why a field is `null`, by the field's name.
    #[serde(rename = "missing")]
    reasons_for_null: BTreeMap<&'static str, &'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    archives: Vec<ArchiveRatio>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    break_even: Vec<BreakEven>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    scaling: Vec<ScalingExport>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    readers: Vec<ReadersRow>,
    /// Methods under bounds on memory, one element for each work and target.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "memory")]
    memory_contests: Vec<MemoryExport<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    settings: Vec<SettingEffectExport<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "per_file")]
    file_costs: Vec<FileCostExport>,
    /// The targets as places of the same content, each compared with the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    locations: Option<LocationsExport<'a>>,
    #[serde(skip_serializing_if = "<[JudgedClaims]>::is_empty")]
    claims: &'a [JudgedClaims],
    #[serde(skip_serializing_if = "Option::is_none")]
    fleet: Option<FleetExport<'a>>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "End")]
struct EndExport {
    reason: EndReason,
    wall_ns: u64,
}

/// What was proven about the cache over a ranking's samples.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Proof")]
struct ProofExport {
    #[serde(flatten)]
    proof: StateProof,
    /// Index of the target.
    target: TargetIndex,
    work: Work,
    state: CacheState,
    #[serde(rename = "decodes")]
    archive: Option<Archive>,
}

/// The size of a search; its readings are in the trials, as `searched`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Search")]
struct SearchExport<'a> {
    #[serde(flatten)]
    search: SearchView,
    target: &'a str,
    work: Work,
    state: CacheState,
}

/// A trial without its readings. The reasons for fields that are `null` are in `missing`.
#[derive(Serialize, JsonSchema)]
struct TrialExport<'a> {
    index: TrialIndex,
    id: &'a TrialId,
    /// The label that a suite gives the trial.
    label: Option<&'a str>,
    contender: &'a str,
    method: &'a str,
    scan: Option<&'a str>,
    /// Every parameter in force, defaults included, with units in the names.
    params: &'a Params,
    /// The path or URL of the target.
    target: Option<&'a str>,
    work: Work,
    state: CacheState,
    over: Option<Transport>,
    cache: Cache,
    #[serde(rename = "decodes")]
    archive: Option<Archive>,
    /// The outcome: `measured`, `refused`, `failed`, `unavailable` or `ruled out`.
    outcome: Option<&'a str>,
    reason: Option<&'a str>,
    answer: Option<Answer>,
    rank: Option<Rank>,
    bytes_in: Option<u64>,
    bytes_out: Option<u64>,
    #[serde(rename = "bytes_ratio")]
    decoding_ratio: Option<f64>,
    /// Share of the target that a command reads. It is only given for commands whose output is not
    /// counted, and if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    share_read: Option<f64>,
    throughput_bytes_per_s: Option<u64>,
    #[serde(rename = "throughput_in_bytes_per_s")]
    encoded_bytes_per_s: Option<u64>,
    #[schemars(schema_with = "metrics_schema")]
    summary: Option<BTreeMap<&'static str, Option<MetricSummary<'a>>>>,
    ratio: Option<RatioExport<'a>>,
    #[serde(rename = "fills")]
    fill_spread: Option<&'a FillSpread>,
    limit: Option<NearestLimit<'a>>,
    share_of_limit: Option<f64>,
    verdict: Option<VerdictExport<'a>>,
    warmups: &'a [WarmedUp],
    /// Counts from untimed runs.
    counts: &'a BTreeMap<String, UntimedCount>,
    flame_graph: Option<&'a FlameGraph>,
    trace: Option<&'a Trace>,
    /// Why a field is `null`, by the field's name.
    #[serde(rename = "missing")]
    reasons_for_null: BTreeMap<String, String>,
    rejected: Vec<Rejection<'a>>,
    /// The caches that still hold the target when it is cold.
    #[serde(skip_serializing_if = "Option::is_none")]
    cold_above: Option<String>,
    /// The settings of the system under which the trial is read, such as `read-ahead=4MiB`.
    #[serde(skip_serializing_if = "Option::is_none")]
    settings: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "files")]
    file_count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    files_per_s: Option<Option<u64>>,
    /// Number of names below the folder, if the work finds names.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "names")]
    name_count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    names_per_s: Option<Option<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    places: Option<&'a PlacesFacts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ranges: Option<&'a RangesFacts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reads_per_s: Option<Option<u64>>,
    /// The ratio of the bytes that were read to the useful bytes, if a part of the file is read: in
    /// the cold and the pressed state the bytes that the device read, in the warm state the bytes
    /// that the reads requested, and of ranges from a server the bytes of its answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    amplification: Option<f64>,
    /// Bytes from the device divided by the bytes that a pressed reading needs.
    #[serde(rename = "reread", skip_serializing_if = "Option::is_none")]
    reread_ratio: Option<f64>,
    /// The share of the bytes that a pressed reading of blocks finds in the page cache, at least.
    #[serde(skip_serializing_if = "Option::is_none")]
    hit_share: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latency: Option<Option<&'a LatencySummary>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    predicted: Option<Prediction>,
    #[serde(skip_serializing_if = "CommandRules::is_default")]
    command: &'a CommandRules,
    #[serde(skip_serializing_if = "SideEffects::is_empty")]
    #[serde(rename = "conduct")]
    side_effects: &'a SideEffects,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<Stopped>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count_runs: Option<&'a BTreeMap<String, Vec<u64>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count_summary: Option<BTreeMap<&'a str, MetricSummary<'a>>>,
}

#[derive(Serialize, JsonSchema)]
struct MetricSummary<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    /// The rule of the interval of the median.
    #[serde(rename = "interval")]
    interval_rule: Option<IntervalRule>,
}

/// How many times as fast as the reference the trial is.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Ratio")]
struct RatioExport<'a> {
    #[serde(flatten)]
    factor: SharedRatio,
    /// Name of the reference.
    reference: &'a str,
    #[serde(rename = "clear")]
    significance: Option<Significance>,
    /// Number of rounds that hold both trials.
    pairs: usize,
}

/// The limit that a trial comes nearest to.
#[derive(Serialize, JsonSchema)]
struct NearestLimit<'a> {
    kind: LimitKind,
    name: &'a str,
    value: u64,
    unit: LimitUnit,
}

/// The verdict: what limits a trial.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Judgement")]
struct VerdictExport<'a> {
    #[serde(rename = "is")]
    verdict: &'a Verdict,
    /// The verdict in a few words, as in tables.
    stops_at: String,
    sentence: &'a str,
    parts: Option<TimeParts>,
}

/// A reading whose cache state could not be proven.
#[derive(Serialize, JsonSchema)]
struct Rejection<'a> {
    round: u32,
    reason: &'a str,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Advice")]
struct AdviceExport<'a> {
    /// The path or URL of the target.
    target: &'a str,
    work: Work,
    state: CacheState,
    #[serde(flatten)]
    advice: &'a Advice,
    /// The caches that still hold the target when it is cold.
    #[serde(skip_serializing_if = "Option::is_none")]
    cold_above: Option<&'a str>,
}

/// Writes the document, indented, with a newline at its end.
pub fn write_json(record: &Record, out: &mut dyn Write) -> io::Result<()> {
    write_json_with_claims(record, &claims::judge_built_in(record), out)
}

pub fn write_json_with_claims(
    record: &Record,
    judged: &[JudgedClaims],
    out: &mut dyn Write,
) -> io::Result<()> {
    let limits = verdict::limits(record);
    let rankings = Ranking::all(record, &limits);
    let all_advice = Advice::all(record, &rankings);
    let header = &record.header;
    let fields = json!(RunExport {
        lab_version: &header.lab_version,
        revision: &header.revision,
        verb: header.kind,
        command: &header.command,
        started: &header.started,
        seed: header.seed,
        machine: &header.machine,
        targets: &record.targets,
        cold_speed_explanations: record
            .targets
            .indices()
            .map(|target| verdict::device_bytes_sentences(record, target))
            .collect(),
        contenders: &record.contenders,
        limits: Some(&limits[..]).filter(|limits| !limits.is_empty()),
        searches: rankings.iter().filter_map(search_export).collect(),
        advice: all_advice.iter().map(|it| advice_export(&rankings[it.ranking_index], it)).collect(),
        fills: &record.fills,
        proofs: rankings.iter().map(proof_export).collect(),
        sweep: SweepView::from_record(record),
        warnings: &record.warnings,
        resumed: &record.resumptions,
        end: record.end.map(|(reason, wall_ns)| EndExport { reason, wall_ns }),
        reasons_for_null: run_reasons_for_null(record, &limits),
        archives: ArchiveRatio::all(record, &rankings),
        break_even: BreakEven::all(&rankings),
        scaling: ScalingExport::all(record),
        readers: ReadersRow::all(record),
        memory_contests: MemoryExport::all(record),
        settings: SettingEffectExport::all(record),
        file_costs: FileCostExport::all(record),
        locations: LocationsExport::from_record(record),
        claims: judged,
        fleet: record.fleet.as_ref().map(|fleet| FleetExport::new(fleet, record)),
    });
    let content = Content { fields, trials: TrialList { record, rankings } };
    escaped::write(&Document { schema: SCHEMA_NAME, version: SCHEMA_VERSION, content }, out)
}

pub(super) fn schema(generator: SchemaGenerator) -> Schema {
    escaped::schema::<Content>(generator, SCHEMA_NAME, SCHEMA_VERSION)
}

pub fn is_own_json(head: &str) -> bool {
    escaped::is_document(head, SCHEMA_NAME)
}

impl Serialize for TrialList<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let samples = |it| OneTrial {
            fields: json!(trial_export(self.record, it, &self.rankings)),
            samples: &it.samples,
            search_samples: &it.search_samples,
        };
        serializer.collect_seq(self.record.trials.iter().map(samples))
    }
}

fn proof_export(ranking: &Ranking) -> ProofExport {
    let Ranking { proof, target, work, state, archive: decodes, .. } = *ranking;
    ProofExport { proof, target, work, state, archive: decodes }
}

fn run_reasons_for_null(record: &Record, limits: &[Limit]) -> BTreeMap<&'static str, &'static str> {
    let all = [
        ("limits", limits.is_empty(), "no control of this record measures a limit"),
        ("sweep", record.header.kind != RunKind::Sweep, "the record is not one of a sweep"),
        ("end", record.end.is_none(), "the run was cut short"),
    ];
    all.into_iter().filter(|(_, is_missing, _)| *is_missing).map(|(field, _, why)| (field, why)).collect()
}

fn trial_export<'a>(record: &'a Record, it: &'a TrialRecord, rankings: &'a [Ranking]) -> TrialExport<'a> {
    let ranked = rankings.iter().find_map(|ranking| {
        let mut rows = ranking.rows.iter().chain(&ranking.controls);
        Some((ranking, rows.find(|row| row.index == it.trial.index)?))
    });
    // A trial without samples has no row.
    let row = ranked.map(|(_, row)| row);
    let reference = ranked.and_then(|(ranking, _)| ranking.reference.as_ref());
    let judged = row.and_then(|row| row.diagnosis.as_ref());
    let trial = &it.trial;
    let target = record.target_of(trial);
    let cold = target.filter(|_| trial.state == CacheState::Cold);
    let tree = target.and_then(TargetFacts::tree);
    let names = target.filter(|_| trial.work.finds_names()).and_then(|target| target.answer?.names);
    let blocks = target.and_then(TargetFacts::blocks);
    let pieces_per_s = row.and_then(|row| row.pieces_per_s).map(whole);
    // The count of a single untimed run is in `counts`.
    let again = row.filter(|_| it.count_runs.values().any(|runs| runs.len() > 1));
    TrialExport {
        index: trial.index,
        id: &trial.id,
        label: trial.label.as_deref(),
        contender: trial.contender(),
        method: trial.method(),
        scan: trial.scan(),
        params: &trial.params,
        target: target.map(|target| target.path.as_str()),
        work: trial.work,
        state: trial.state,
        over: target.map(TargetFacts::transport),
        cache: trial.cache,
        archive: trial.decoded_format,
        outcome: it.outcome.as_ref().map(Outcome::word),
        reason: it.outcome.as_ref().and_then(Outcome::reason),
        answer: it.samples.iter().next().map(|sample| sample.answer),
        rank: row.and_then(|row| row.rank),
        bytes_in: record.bytes_in(it),
        bytes_out: record.bytes_out(it),
        decoding_ratio: target
            .filter(|target| trial.is_delivery_known(target))
            .and_then(|target| decoding_ratio(target, trial.decoded_format)),
        share_read: row.and_then(|row| row.share_read),
        throughput_bytes_per_s: row.and_then(|row| row.throughput).map(|rate| whole(rate.0)),
        encoded_bytes_per_s: row.and_then(|row| row.encoded_rate).map(|rate| whole(rate.0)),
        summary: row.map(metric_summaries),
        ratio: row.zip(reference).and_then(|(row, reference)| ratio_export(row, reference)),
        fill_spread: row.and_then(|row| row.fill_spread.as_ref()),
        limit: judged.and_then(|it| it.limit.as_ref()).map(|limit| NearestLimit {
            kind: limit.kind,
            name: &limit.name,
            value: limit.value,
            unit: limit.unit,
        }),
        share_of_limit: judged.and_then(|it| it.share_of_limit),
        verdict: judged.map(|it| VerdictExport {
            verdict: &it.verdict,
            stops_at: it.short_cause(),
            sentence: &it.sentence,
            parts: it.parts,
        }),
        warmups: &it.warmups,
        counts: &it.counts,
        flame_graph: it.flame_graph.as_ref(),
        trace: it.trace.as_ref(),
        reasons_for_null: reasons_for_null(it, target, row, reference),
        rejected: it
            .rejected_readings
            .iter()
            .map(|(round, reason)| Rejection { round: *round, reason })
            .collect(),
        cold_above: cold.and_then(TargetFacts::unevictable_cache_names),
        settings: target.and_then(TargetFacts::settings_words),
        file_count: tree.map(|tree| tree.files),
        files_per_s: tree.filter(|_| !trial.work.finds_names()).map(|_| pieces_per_s),
        name_count: names,
        names_per_s: names.map(|_| pieces_per_s),
        places: target.and_then(TargetFacts::places),
        ranges: target.and_then(|target| target.ranges.as_ref()),
        reads_per_s: blocks.map(|_| pieces_per_s),
        amplification: row.and_then(|row| row.amplification),
        reread_ratio: row.and_then(|row| row.reread_ratio),
        hit_share: row.and_then(|row| row.hit_share),
        latency: blocks.map(|_| row.and_then(|row| row.latency.as_ref())),
        predicted: it.outcome.as_ref().and_then(Outcome::prediction),
        command: &trial.command_rules,
        side_effects: &it.conduct,
        stopped: it.stopped,
        count_runs: again.map(|_| &it.count_runs),
        count_summary: again.map(count_summary),
    }
}

fn search_export(ranking: &Ranking) -> Option<SearchExport<'_>> {
    let Ranking { work, state, .. } = *ranking;
    Some(SearchExport { search: ranking.search?, target: &ranking.path, work, state })
}

/// Decoded bytes divided by encoded bytes; `None` where nothing is decoded, and for an empty
/// archive.
fn decoding_ratio(target: &TargetFacts, decodes: Option<Archive>) -> Option<f64> {
    let is_there = decodes.is_some() && target.size_bytes > 0;
    is_there.then(|| target.bytes_out(decodes) as f64 / target.size_bytes as f64)
}

/// One object for each metric; `null` if no sample has a value for the metric.
fn metric_summaries(row: &RankingRow) -> BTreeMap<&'static str, Option<MetricSummary<'_>>> {
    let is_shown = |metric: &Meter| !metric.is_optional() || row.summaries.contains_key(metric);
    let summary = |metric: Meter| {
        let of_samples = row.summaries.get(&metric).map(MetricSummary::without_shared_noise);
        // From two rounds on, the interval of the wall time comes from the noise of all trials.
        let of_wall = |it| MetricSummary { interval_rule: row.interval_rule, ..it };
        (metric.name(), if metric == Meter::WallNs { of_samples.map(of_wall) } else { of_samples })
    };
    Meter::summarised().filter(is_shown).map(summary).collect()
}

fn count_summary(row: &RankingRow) -> BTreeMap<&str, MetricSummary<'_>> {
    let summary = |(kind, summary)| (String::as_str(kind), MetricSummary::without_shared_noise(summary));
    row.count_summaries.iter().map(summary).collect()
}

impl<'a> MetricSummary<'a> {
    /// The summary of readings that share no noise with other trials.
    fn without_shared_noise(summary: &'a Summary) -> MetricSummary<'a> {
        MetricSummary { summary, interval_rule: summary.median_ci95.map(|_| IntervalRule::SignTest) }
    }
}

/// The schema of the summaries of metrics. Optional metrics, such as those of requests, are not
/// required.
fn metrics_schema(generator: &mut SchemaGenerator) -> Schema {
    let metric = generator.subschema_for::<Option<MetricSummary>>().to_value();
    let properties: Map<String, Value> =
        Meter::summarised().map(|it| (it.name().to_owned(), metric.clone())).collect();
    let required = Meter::summarised().filter(|it| !it.is_optional()).map(Meter::name);
    json_schema!({
        "type": ["object", "null"],
        "properties": properties,
        "required": required.collect::<Vec<_>>(),
    })
}

fn ratio_export<'a>(row: &RankingRow, reference: &'a Reference) -> Option<RatioExport<'a>> {
    let factor = row.ratio_to_reference?;
    let (clear, pairs) = (factor.significance(), factor.unit_count);
    Some(RatioExport { factor, reference: &reference.name, significance: clear, pairs })
}

fn advice_export<'a>(ranking: &'a Ranking, advice: &'a Advice) -> AdviceExport<'a> {
    let Ranking { path: target, work, state, cold_above, .. } = ranking;
    AdviceExport { target, work: *work, state: *state, advice, cold_above: cold_above.as_deref() }
}

/// Why a command has no rate if nothing proves how many bytes it read.
const UNPROVEN_BYTES: &str = "its output does not prove that it read the whole target, and no cold reading shows what it reads: it may have read a part";

/// Why a command has no rate if it reads a part that is small compared with the read-ahead.
const PART_TOO_SMALL: &str = "the part that it reads is small beside what the kernel reads ahead, so that warm it may read less, or it is nothing";

/// Why a command that decodes has no rate if it was not decoded to its end before the race.
const UNKNOWN_CONTENT: &str = "the archive was not decoded to its end before the race, because no answer about its content is compared: the size of its content is not known";

/// Why walks over names have no rate in bytes.
const NO_BYTE_RATE: &str = "names are found, and no byte of a file is read";

/// The fields that are computed from samples.
const FIELDS_FROM_SAMPLES: [&str; 6] =
    ["summary", "rank", "ratio", "throughput_bytes_per_s", "throughput_in_bytes_per_s", "fills"];

/// Why fields are `null`, by the fields' names. Of several reasons, the first one is kept.
fn reasons_for_null(
    it: &TrialRecord,
    target: Option<&TargetFacts>,
    row: Option<&RankingRow>,
    reference: Option<&Reference>,
) -> BTreeMap<String, String> {
    let mut missing = row.map_or_else(|| it.missing_meters.clone(), |row| row.missing_reasons.clone());
    let mut explain = |is_null: bool, fields: &[&str], why: &str| {
        for field in fields.iter().filter(|_| is_null) {
            missing.entry((*field).to_owned()).or_insert_with(|| why.to_owned());
        }
    };
    let is_undecoded = it.trial.decoded_format.is_none();
    explain(is_undecoded, &["decodes"], "it reads the bytes of the target as they are");
    explain(is_undecoded, &["bytes_ratio"], "nothing is decoded");
    let same = "nothing is decoded: the bytes that go in are those of the throughput";
    explain(is_undecoded, &["throughput_in_bytes_per_s"], same);
    let is_size_unknown = target.is_some_and(|target| !it.trial.is_delivery_known(target));
    let of_size = ["bytes_out", "bytes_ratio", "throughput_bytes_per_s", "throughput_in_bytes_per_s"];
    explain(is_size_unknown, &of_size, UNKNOWN_CONTENT);
    let no_graph = "only a measured trial has one, with --flamegraph, where samples may be taken";
    explain(it.flame_graph.is_none(), &["flame_graph"], no_graph);
    explain(it.trace.is_none(), &["trace"], "only a measured trial has one, with --trace");
    let over = target.map_or_else(Transport::default, TargetFacts::transport);
    explain(it.trial.state == CacheState::Unknown, &["state"], over.cache_unknown_words());
    explain(it.outcome.is_none(), &["outcome"], "the run was cut short before this trial was done");
    explain(it.samples.is_empty(), &["answer"], "no sample counts");
    let judged = row.and_then(|row| row.diagnosis.as_ref());
    explain(judged.is_none(), &["verdict"], "a control, or a trial whose samples do not stand");
    let no_limit = judged.is_none_or(|it| it.limit.is_none());
    explain(no_limit, &["limit", "share_of_limit"], "no limit of this record applies to it");
    let no_share = judged.is_some_and(|it| it.share_of_limit.is_none());
    explain(no_share, &["share_of_limit"], "it cannot be told from the limit, and its median is higher");
    let Some(row) = row else {
        explain(true, &FIELDS_FROM_SAMPLES, "its samples are not reported: see its outcome");
        return missing;
    };
    for metric in Meter::summarised().filter(|metric| !metric.is_optional()) {
        let why = "no sample holds it and no reason was recorded";
        explain(!row.summaries.contains_key(&metric), &[metric.name()], why);
    }
    let why = if row.wall.n == 1 { "a single reading" } else { "a single round" };
    explain(row.wall.median_ci95.is_none(), &["median_ci95", "interval"], why);
    explain(row.wall.sd.is_none(), &["sd"], "a single sample");
    let (why, sizes): (&str, &[&str]) = match it.trial.work {
        Work::Output | Work::Part if row.share_read.is_some_and(|share| share < 1.0) => {
            (PART_TOO_SMALL, &["bytes_in", "bytes_out"])
        }
        Work::Output | Work::Part if is_size_unknown && row.share_read == Some(1.0) => (UNKNOWN_CONTENT, &[]),
        Work::Output | Work::Part => (UNPROVEN_BYTES, &["bytes_in", "bytes_out"]),
        Work::Names | Work::Stat => (NO_BYTE_RATE, &["bytes_in", "bytes_out"]),
        _ => ("a control, or a target of no known bytes", &[]),
    };
    let no_rate = row.throughput.is_none();
    explain(no_rate, &["throughput_bytes_per_s", "throughput_in_bytes_per_s"], why);
    explain(no_rate, sizes, why);
    explain(row.fill_spread.is_none(), &["fills"], "not warm, or a single fill");
    let is_control = it.trial.is_control();
    let why = if is_control { "a control is not ranked" } else { "1 more round is needed" };
    explain(row.rank.is_none(), &["rank"], why);
    let no_ends = row.ratio_to_reference.is_some_and(|ratio| ratio.ci95.is_none());
    explain(no_ends, &["ratio.ci95", "ratio.interval"], "a single round holds both");
    let is_reference = reference.is_some_and(|reference| reference.index == row.index);
    let why = if is_reference { "it is the reference" } else { "no round holds both it and the reference" };
    explain(row.ratio_to_reference.is_none(), &["ratio"], why);
    missing
}
