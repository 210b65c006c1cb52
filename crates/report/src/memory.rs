//! Methods under bounds on memory: the rate of each method and the 99th percentile of its single
//! reads in the cold state, under each bound, and in the warm state; the bounds between which the
//! rate of a method falls, and between which the fastest method changes. In sentences, as tables
//! and for the JSON export.

use super::document::Column;
use super::groups;
use super::name::{ShortNames, target_names};
use super::ranking::{Pieces, Ranking};
use super::table::{Cell, Table};
use super::words::{self, Number};
use readlab_analysis::latency::Quantile;
use readlab_analysis::memory::{
    Cliff, Crossing, FastestMethod, LevelRatio, MemoryContest, MemoryCurve, MemoryLevel, MemoryPoint,
};
use readlab_analysis::stats::{Interval, IntervalRule, Ratio, Significance};
use readlab_analysis::verdict::{Diagnosis, Verdict};
use readlab_catalog::language::Languages;
use readlab_model::target::TargetFacts;
use readlab_model::trial::{CacheState, Transport, TrialId, TrialIndex, Work};
use readlab_protocol::Archive;
use readlab_record::Record;
use schemars::JsonSchema;
use serde::Serialize;

/// The methods of one contest, ordered by the index of their trials.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryView {
    /// The work, and what distinguishes the contest from others of the record, such as
    /// `newlines · out of the zip`.
    pub title: String,
    /// The levels of memory at which at least one method was measured, from the least.
    pub levels: Vec<MemoryLevel>,
    pub methods: Vec<MemoryMethod>,
    /// The change of the fastest method from little to much memory; `None` if no change is shown.
    pub crossing: Option<MethodsCrossing>,
    /// Sentences on the fastest methods, on the largest fall of a rate, on how much memory is
    /// enough, and on the methods that memory limits.
    pub sentences: Vec<String>,
}

/// One method of a contest.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryMethod {
    pub id: TrialId,
    /// The shortest name that no other trial of the record has.
    pub short_name: String,
    pub language: String,
    pub points: Vec<MethodPoint>,
    pub cliff: Option<Cliff>,
    /// Whether the method is the fastest at some level.
    pub is_fastest_somewhere: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct MethodPoint {
    pub level: MemoryLevel,
    /// Bytes per second.
    pub bytes_per_s: f64,
    pub interval: Option<Interval>,
    pub p99: Option<Quantile>,
    /// The share of the bytes that a reading of blocks finds in the page cache, at least.
    pub hit_share: Option<f64>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct MethodsCrossing {
    /// The neighbouring levels between which the fastest method changes.
    pub levels: [MemoryLevel; 2],
    /// The memory at which the rates of both methods are equal, divided by the working set; `None`
    /// if it is not known.
    pub crossing_share: Option<f64>,
}

/// A table that has one row for each method and one column for each level. To add a table, add a
/// line to [`TABLES`].
struct LevelTable {
    title: &'static str,
    /// The number of a point; `None` where it was not measured.
    number: fn(&MethodPoint) -> Option<Number>,
    /// Whether the table also has a column for the step at which the rate falls most.
    has_cliff: bool,
}

/// The tables, for the terminal, Markdown and the page.
const TABLES: [LevelTable; 3] = [
    LevelTable {
        title: "rate by memory",
        number: |point| Some(Number::rate(point.bytes_per_s)),
        has_cliff: true,
    },
    LevelTable {
        title: "p99 of single reads by memory",
        number: |point| Some(Number::time(point.p99.as_ref()?.latency_ns)),
        has_cliff: false,
    },
    LevelTable {
        title: "hits by memory",
        number: |point| point.hit_share.map(Number::percent),
        has_cliff: false,
    },
];

impl MemoryView {
    pub(super) fn all(record: &Record, rankings: &[Ranking]) -> Vec<MemoryView> {
        let (names, languages) = (ShortNames::for_record(record), Languages::of_record(record));
        let point = |it: &MemoryPoint| {
            let &MemoryPoint { level, rate, interval, hit_share, .. } = it;
            MethodPoint { level, bytes_per_s: rate, interval, p99: it.p99.clone(), hit_share }
        };
        let view = |contest: &MemoryContest| {
            let method = |curve: &MemoryCurve| MemoryMethod {
                id: curve.trial().id.clone(),
                short_name: names.short_name(curve.trial()),
                language: languages.language_of(curve.trial().contender()).to_owned(),
                points: curve.points.iter().map(point).collect(),
                cliff: curve.cliff,
                is_fastest_somewhere: is_ever_fastest(contest, curve),
            };
            let points = contest.curves.iter().flat_map(|curve| &curve.points);
            let mut levels: Vec<MemoryLevel> = points.map(|point| point.level).collect();
            levels.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
            levels.dedup();
            let crossing = contest.crossing.as_ref();
            MemoryView {
                title: contest_title(record, contest),
                levels,
                methods: contest.curves.iter().map(method).collect(),
                crossing: crossing
                    .map(|it| MethodsCrossing { levels: it.between_levels, crossing_share: it.equal_share }),
                sentences: [sentences(contest), memory_limit_sentences(contest, rankings)].concat(),
            }
        };
        MemoryContest::all(record).iter().map(view).collect()
    }

    /// All sentences, one in each line.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        self.sentences.iter().map(|sentence| format!("memory: {}: {sentence}", self.title))
    }

    /// The tables with their titles. A table without any number is left out.
    pub(super) fn tables(&self) -> Vec<(String, Table)> {
        let titled = |it: &LevelTable| Some((format!("{} · {}", it.title, self.title), self.table(it)?));
        TABLES.iter().filter_map(titled).collect()
    }

    fn table(&self, it: &LevelTable) -> Option<Table> {
        let has_number = |point: &MethodPoint| (it.number)(point).is_some();
        let has_any = |method: &&MemoryMethod| method.points.iter().any(has_number);
        let columns = [Column::text("method")]
            .into_iter()
            .chain(self.levels.iter().map(|level| Column::number(&level_words(*level))))
            .chain(it.has_cliff.then(|| Column::text("falls most")));
        let row = |method: &MemoryMethod| {
            let number_at = |level: &MemoryLevel| {
                let point = method.points.iter().find(|point| point.level == *level);
                Cell::number(point.and_then(it.number))
            };
            let cliff = method.cliff.as_ref().map_or_else(|| words::NONE.to_owned(), cliff_words);
            let name = Cell::Name(method.id.to_string(), String::new());
            let numbers = self.levels.iter().map(number_at);
            let cliff = it.has_cliff.then(|| Cell::text(cliff));
            [name].into_iter().chain(numbers).chain(cliff).collect::<Vec<Cell>>()
        };
        Table::with_content(columns, self.methods.iter().filter(has_any).map(row))
    }
}

/// The work, the decoded archive, the name of the target if the record has several files, the
/// pieces in which the target is read, and the number of readers.
fn contest_title(record: &Record, contest: &MemoryContest) -> String {
    let trial = contest.curves[0].trial();
    let first = record.targets.first().map(|facts| &facts.path);
    let is_one = record.targets.iter().all(|facts| Some(&facts.path) == first);
    let name = target_names(&record.targets).get(trial.target).cloned().filter(|_| !is_one);
    let archive = trial.decoded_format.map(|archive| format!("out of the {archive}"));
    let facts = record.target_of(trial);
    let pieces = facts.and_then(|facts| Pieces::from_facts(facts, trial.work)).map(Pieces::words);
    let together = facts.and_then(|facts| facts.concurrent_readers());
    let together = together.map(|count| words::plural(count as usize, "reader"));
    let parts = [Some(trial.work.to_string()), archive, name, pieces, together];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// A level as the heading of a column, such as `cold`, `50 %` or `warm`.
pub(super) fn level_words(level: MemoryLevel) -> String {
    match level {
        MemoryLevel::Cold => CacheState::Cold.to_string(),
        MemoryLevel::Share(share) => share_words(share),
        MemoryLevel::Warm => CacheState::Warm.to_string(),
    }
}

/// A share in percent, with one decimal if it is no whole number.
pub(super) fn share_words(share: f64) -> String {
    let percent = share * 100.0;
    let decimals = usize::from((percent - percent.round()).abs() >= 0.05);
    format!("{percent:.decimals$} %")
}

/// A level in a sentence, such as `with memory for 50 % of the working set`.
fn level_phrase(level: MemoryLevel) -> String {
    match level {
        MemoryLevel::Share(share) => format!("with memory for {} of the working set", share_words(share)),
        MemoryLevel::Cold | MemoryLevel::Warm => level_words(level),
    }
}

/// The words `5.00 [4.97, 5.03] × from 100 % to 50 %`.
fn cliff_words(cliff: &Cliff) -> String {
    let [below, above] = cliff.between_levels.map(level_words);
    format!("{} × from {above} to {below}", words::ratio_words(cliff.ratio))
}

fn sentences(contest: &MemoryContest) -> Vec<String> {
    let fastest = fastest_sentence(contest);
    let deepest = contest.curves.iter().filter_map(|curve| Some((curve, curve.cliff.as_ref()?)));
    let deepest = deepest.max_by(|a, b| a.1.ratio.estimate.total_cmp(&b.1.ratio.estimate));
    let deepest = deepest.map(|(curve, cliff)| {
        let [below, above] = cliff.between_levels.map(level_phrase);
        let (name, times) = (&curve.trial().id, words::ratio_words(cliff.ratio));
        format!("{name} falls most: {above} it is {times} times as fast as {below}")
    });
    let none = || "no method falls by a third or more beyond doubt, from one level to the next".to_owned();
    let enough = contest.curves.iter().filter(|curve| is_ever_fastest(contest, curve)).filter_map(|curve| {
        let share = curve.enough_memory?.share()?;
        let (name, share) = (&curve.trial().id, share_words(share));
        Some(format!("{name}: beyond memory for {share} of the working set, more adds less than 5 %"))
    });
    fastest.into_iter().chain([deepest.unwrap_or_else(none)]).chain(enough).collect()
}

/// A sentence for each kind of verdict by which memory limits a pressed reading. The sentence has
/// the first method with such a verdict, the least bound at which the method has it, the verdict's
/// advice, and the number of further methods. The verdict of a ranking does not say this, because
/// it is on the fastest method of the ranking, which memory may not limit.
fn memory_limit_sentences(contest: &MemoryContest, rankings: &[Ranking]) -> Vec<String> {
    let diagnosis = |point: &MemoryPoint| {
        let row = rankings.iter().find_map(|ranking| ranking.row(point.trial.trial.index))?;
        row.diagnosis.as_ref().filter(|it| is_memory_verdict(&it.verdict))
    };
    let stopped = contest.curves.iter().filter_map(|curve| {
        let mut pressed = curve.points.iter().filter(|point| point.level.is_pressed());
        pressed.find_map(|point| Some((curve, point.level, diagnosis(point)?)))
    });
    let kinds = groups::by_key(stopped.map(|it| (std::mem::discriminant(&it.2.verdict), it)));
    let sentence = |methods: Vec<(&MemoryCurve, MemoryLevel, &Diagnosis)>| {
        let (curve, level, diagnosis) = methods[0];
        let more = match methods.len() - 1 {
            0 => String::new(),
            more => format!("; {} too", words::plural(more, "more method")),
        };
        format!("{} {}: {}{more}", curve.trial().id, level_phrase(level), diagnosis.sentence)
    };
    kinds.into_iter().map(|(_, methods)| sentence(methods)).collect()
}

fn is_memory_verdict(verdict: &Verdict) -> bool {
    matches!(
        verdict,
        Verdict::MemoryBound { .. }
            | Verdict::Thrash { .. }
            | Verdict::Reclaim { .. }
            | Verdict::ReadAhead { .. }
    )
}

fn is_ever_fastest(contest: &MemoryContest, curve: &MemoryCurve) -> bool {
    contest.fastest_methods.iter().any(|it| it.trial.trial.id == curve.trial().id)
}

/// The sentence on the fastest method with little and with much memory; `None` if only one method
/// was measured.
fn fastest_sentence(contest: &MemoryContest) -> Option<String> {
    if let Some(crossing) = &contest.crossing {
        return Some(crossing_sentence(crossing));
    }
    let (first, last) = (contest.fastest_methods.first()?, contest.fastest_methods.last()?);
    let is_one = contest.fastest_methods.iter().all(|it| it.trial.trial.id == first.trial.trial.id);
    let unclear: Vec<String> =
        contest.fastest_methods.iter().filter(|it| !it.is_clear()).map(|it| level_words(it.level)).collect();
    let name = |it: &FastestMethod| it.trial.trial.id.to_string();
    Some(match (is_one, unclear.is_empty()) {
        (true, true) => format!("{} is the fastest at every memory", name(first)),
        (true, false) => {
            let levels = unclear.join(", ");
            format!("{} has the best median at every memory, but not beyond doubt: {levels}", name(first))
        }
        (false, _) if first.trial.trial.id == last.trial.trial.id => {
            let is_other = |it: &&FastestMethod| it.trial.trial.id != first.trial.trial.id;
            let others: Vec<&FastestMethod> = contest.fastest_methods.iter().filter(is_other).collect();
            let doubt = match others.iter().any(|it| it.is_clear()) {
                true => "",
                false => "; that another overtakes it is not beyond doubt",
            };
            let others: Vec<String> =
                others.iter().map(|it| format!("{} {}", name(it), level_phrase(it.level))).collect();
            let ends = [first, last].map(|it| level_phrase(it.level)).join(" and ");
            format!("{} has the best median {ends}, {}{doubt}", name(first), others.join(", "))
        }
        (false, _) => format!(
            "{} has the best median {}, {} {}; that one overtakes the other is not beyond doubt",
            name(first),
            level_phrase(first.level),
            name(last),
            level_phrase(last.level)
        ),
    })
}

/// The words
/// `rust/direct is faster up to memory for 50 % of the working set, rust/mmap from 100 % on`, and
/// how many times as fast the latter is at both ends of the curve.
fn crossing_sentence(crossing: &Crossing) -> String {
    let [less, more] =
        [crossing.trial_with_less_memory, crossing.trial_with_more_memory].map(|it| &it.trial.id);
    let [below, above] = crossing.between_levels;
    let below = match below {
        MemoryLevel::Share(share) => format!("up to memory for {} of the working set", share_words(share)),
        MemoryLevel::Cold | MemoryLevel::Warm => level_words(below),
    };
    let above = match above {
        MemoryLevel::Share(share) => format!("from {} on", share_words(share)),
        MemoryLevel::Cold | MemoryLevel::Warm => level_words(above),
    };
    let near = crossing.equal_share.map(|share| format!("; they cross near {}", share_words(share)));
    let times = |it: &LevelRatio| format!("{} {}", words::ratio_words(it.ratio), level_words(it.level));
    let ends = crossing.ratios.first().zip(crossing.ratios.last());
    let ends =
        ends.map(|(least, most)| format!("; {more} is {} and {} times as fast", times(least), times(most)));
    let (near, ends) = (near.unwrap_or_default(), ends.unwrap_or_default());
    format!("{less} is faster {below}, {more} {above}{near}{ends}")
}

/// The methods of one contest, as the JSON export has them.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "MemoryContest")]
pub(super) struct MemoryExport<'a> {
    target: &'a str,
    over: Option<Transport>,
    work: Work,
    #[serde(rename = "decodes")]
    archive: Option<Archive>,
    curves: Vec<CurveExport<'a>>,
    /// The fastest method at each level of memory, from the least.
    fastest: Vec<FastestExport>,
    /// Two methods of which one is faster with little memory and the other with much.
    crossing: Option<CrossingExport<'a>>,
}

/// A level of memory for the page cache.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "MemoryLevel")]
struct LevelExport {
    state: CacheState,
    /// The bound divided by the working set; `null` in the cold and the warm state.
    share: Option<f64>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "MemoryCurve")]
struct CurveExport<'a> {
    id: &'a TrialId,
    points: Vec<PointExport>,
    /// The step between two neighbouring points at which the rate changes most.
    cliff: Option<CliffExport>,
    /// The least bound, divided by the working set, from which greater bounds add at most 5 %.
    enough_share: Option<f64>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "MemoryPoint")]
struct PointExport {
    trial: TrialIndex,
    #[serde(flatten)]
    level: LevelExport,
    /// The bound on the page cache of one control group.
    cache_bytes: Option<u64>,
    bytes_per_second: f64,
    ci95: Option<[f64; 2]>,
    #[serde(rename = "interval")]
    interval_rule: Option<IntervalRule>,
    p99: Option<Quantile>,
    /// Bytes from the device divided by the bytes that a reading needs.
    device_share: Option<f64>,
    /// The share of the bytes that a reading of blocks finds in the page cache, at least.
    hit_share: Option<f64>,
    resident_share: Option<f64>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "MemoryCliff")]
struct CliffExport {
    below: LevelExport,
    above: LevelExport,
    /// How many times as fast the method is above the step as below.
    #[serde(rename = "times")]
    ratio: SpeedRatioExport,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "MemoryTimes")]
struct SpeedRatioExport {
    estimate: f64,
    ci95: Option<[f64; 2]>,
    /// The rule of the interval; of two medians, `null` where their intervals have different rules.
    #[serde(rename = "interval")]
    interval_rule: Option<IntervalRule>,
    #[serde(rename = "clear")]
    significance: Option<Significance>,
    /// Number of rounds that hold both trials; 0 where the ratio is that of two medians.
    pairs: usize,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "MemoryFastest")]
struct FastestExport {
    #[serde(flatten)]
    level: LevelExport,
    trial: TrialIndex,
    /// How many times as fast the fastest method is as the second.
    #[serde(rename = "times_second")]
    ratio_to_second: Option<SpeedRatioExport>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "MemoryCrossing")]
struct CrossingExport<'a> {
    #[serde(rename = "with_less")]
    faster_with_less: &'a TrialId,
    #[serde(rename = "with_more")]
    faster_with_more: &'a TrialId,
    below: LevelExport,
    above: LevelExport,
    #[serde(rename = "near_share")]
    crossing_share: Option<f64>,
    ratios: Vec<LevelRatioExport>,
}

/// How many times as fast the method that is faster with much memory is as the other one.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "MemoryRatio")]
struct LevelRatioExport {
    #[serde(flatten)]
    level: LevelExport,
    #[serde(rename = "times")]
    ratio: SpeedRatioExport,
}

impl<'a> MemoryExport<'a> {
    pub(super) fn all(record: &'a Record) -> Vec<MemoryExport<'a>> {
        let fastest = |it: &FastestMethod| FastestExport {
            level: LevelExport::from(it.level),
            trial: it.trial.trial.index,
            ratio_to_second: it.ratio_to_second.map(SpeedRatioExport::from),
        };
        let export = |contest: &MemoryContest<'a>| {
            let trial = contest.curves[0].trial();
            let target = record.target_of(trial);
            MemoryExport {
                target: target.map_or("", |facts| &facts.path),
                over: target.map(TargetFacts::transport),
                work: trial.work,
                archive: trial.decoded_format,
                curves: contest.curves.iter().map(CurveExport::new).collect(),
                fastest: contest.fastest_methods.iter().map(fastest).collect(),
                crossing: contest.crossing.as_ref().map(CrossingExport::new),
            }
        };
        MemoryContest::all(record).iter().map(export).collect()
    }
}

impl<'a> CurveExport<'a> {
    fn new(curve: &MemoryCurve<'a>) -> CurveExport<'a> {
        CurveExport {
            id: &curve.trial().id,
            points: curve.points.iter().map(PointExport::new).collect(),
            cliff: curve.cliff.map(|it| {
                let [below, above] = it.between_levels.map(LevelExport::from);
                CliffExport { below, above, ratio: SpeedRatioExport::from(it.ratio) }
            }),
            enough_share: curve.enough_memory.and_then(MemoryLevel::share),
        }
    }
}

impl PointExport {
    fn new(it: &MemoryPoint) -> PointExport {
        PointExport {
            trial: it.trial.trial.index,
            level: LevelExport::from(it.level),
            cache_bytes: it.target.memory_bound.as_ref().map(|memory| memory.cache_bytes),
            bytes_per_second: it.rate,
            ci95: it.interval.map(|ends| [ends.low, ends.high]),
            interval_rule: it.rule,
            p99: it.p99.clone(),
            device_share: it.device_share,
            hit_share: it.hit_share,
            resident_share: it.resident_share,
        }
    }
}

impl<'a> CrossingExport<'a> {
    fn new(it: &Crossing<'a>) -> CrossingExport<'a> {
        let [below, above] = it.between_levels.map(LevelExport::from);
        let ratio = |it: &LevelRatio| LevelRatioExport {
            level: LevelExport::from(it.level),
            ratio: SpeedRatioExport::from(it.ratio),
        };
        CrossingExport {
            faster_with_less: &it.trial_with_less_memory.trial.id,
            faster_with_more: &it.trial_with_more_memory.trial.id,
            below,
            above,
            crossing_share: it.equal_share,
            ratios: it.ratios.iter().map(ratio).collect(),
        }
    }
}

impl From<MemoryLevel> for LevelExport {
    fn from(level: MemoryLevel) -> LevelExport {
        match level {
            MemoryLevel::Cold => LevelExport { state: CacheState::Cold, share: None },
            MemoryLevel::Share(share) => LevelExport { state: CacheState::Pressed, share: Some(share) },
            MemoryLevel::Warm => LevelExport { state: CacheState::Warm, share: None },
        }
    }
}

impl From<Ratio> for SpeedRatioExport {
    fn from(ratio: Ratio) -> SpeedRatioExport {
        SpeedRatioExport {
            estimate: ratio.estimate,
            ci95: ratio.ci95.map(|ends| [ends.low, ends.high]),
            interval_rule: ratio.rule,
            significance: ratio.significance(),
            pairs: ratio.pairs,
        }
    }
}
