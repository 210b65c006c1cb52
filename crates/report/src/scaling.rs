//! How rates grow with the number of ranks or readers, in words, as a table and for the JSON
//! export.

use super::words::{self, Number};
use readlab_analysis::scaling::{Gain, Growth, LawPoint, Scaling, ScalingLimit, ScalingPoint, Unit};
use readlab_analysis::stats::{Interval, LAW_ROUNDS_MIN, READER_COUNTS_MIN, float};
use readlab_catalog::language::Languages;
use readlab_model::trial::{CacheState, TrialId};
use readlab_model::units::Throughput;
use readlab_record::Record;
use schemars::JsonSchema;
use serde::Serialize;

/// The rates of one method with different numbers of ranks or readers.
#[derive(Debug, Clone, PartialEq)]
pub struct ScalingView {
    /// The state of the cache and the name of the trial, such as `Cold, rust/read`.
    pub name: String,
    pub language: String,
    pub scaling: Scaling,
    /// Sentences on the gain, on what limits it, and on the law.
    pub lines: Vec<String>,
}

impl ScalingView {
    pub fn all(record: &Record) -> Vec<ScalingView> {
        let languages = Languages::of_record(record);
        let view = |scaling: Scaling| {
            let language = languages.language_of(&scaling.id.method.contender).to_owned();
            let bound = scaling.memory_bound.map_or_else(String::new, |bound| format!("+memory={bound}"));
            let name = words::state_and_id(scaling.state, &format!("{}{bound}", scaling.id));
            let gain = scaling.gain().map(|gain| format!("scaling: {name}: {}", gain_words(&scaling, &gain)));
            let words_of = |limited| format!("verdict: {name}: {}", limit_words(&limited, scaling.unit));
            let limited = scaling.limit.map(words_of);
            let saturated = saturated_words(&scaling).map(|it| format!("saturation: {name}: {it}"));
            let law = format!("law: {name}: {}", law_words(&scaling));
            let lines = gain.into_iter().chain(saturated).chain(limited).chain([law]).collect();
            ScalingView { name, language, scaling, lines }
        };
        Scaling::all(record).into_iter().map(view).collect()
    }

    /// A row for each measured number of ranks, and for twice the largest: the number, the measured
    /// rate, and the rate by the law.
    pub(super) fn rows(&self) -> Vec<[Option<Number>; 3]> {
        let row = |count, measured, law: Option<LawPoint>| {
            [Some(Number::count(count)), measured, law.map(law_rate_number)]
        };
        let points = self.scaling.points.iter();
        let measured = points
            .map(|it| row(it.count, Some(rate_number(it.rate, it.interval)), self.scaling.law_at(it.count)));
        let beyond = farthest_law_point(&self.scaling).map(|it| row(it.count, None, Some(it)));
        measured.chain(beyond).collect()
    }
}

/// The rate by the law at the largest number of ranks or readers for which it is extrapolated.
fn farthest_law_point(scaling: &Scaling) -> Option<LawPoint> {
    scaling.law_at(scaling.largest_predicted_count()?)
}

/// The sentence on the gain of the method with the highest rate; `None` if only one number of ranks
/// or readers was measured.
pub(super) fn sentence(views: &[ScalingView]) -> Option<String> {
    let last = |view: &&ScalingView| view.scaling.points.last().map_or(0.0, |point| point.rate);
    let best = views.iter().max_by(|a, b| last(a).total_cmp(&last(b)))?;
    let gain = best.scaling.gain()?;
    Some(format!("{}: {}.", best.name, gain_words(&best.scaling, &gain)))
}

/// The rates of one method with different numbers of ranks or readers, as the JSON export has them.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Scaling")]
pub(super) struct ScalingExport {
    trial: TrialId,
    state: CacheState,
    /// The unit: `rank` or `reader`.
    unit: &'static str,
    /// The bound on memory of each reader, such as `50%`.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<String>,
    points: Vec<ScalingPoint>,
    law: Option<LawExport>,
    /// What limits the method: `processors`, `shared`, `each_host` or `not_told`.
    #[serde(rename = "limited")]
    limit: Option<&'static str>,
    #[serde(rename = "saturated_at")]
    saturation_count: Option<u64>,
}

/// The law fitted to the rates.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ScalingLaw")]
struct LawExport {
    bytes_per_second_of_one: f64,
    contention: f64,
    contention_ci95: [f64; 2],
    coherence: f64,
    coherence_ci95: [f64; 2],
    /// The number of ranks or readers with the highest rate.
    #[serde(rename = "peak")]
    peak_count: Option<f64>,
    predicted: Vec<PredictedRate>,
}

#[derive(Serialize, JsonSchema)]
struct PredictedRate {
    count: u64,
    bytes_per_second: f64,
    ci95: [f64; 2],
}

impl ScalingExport {
    pub(super) fn all(record: &Record) -> Vec<ScalingExport> {
        Scaling::all(record).into_iter().map(ScalingExport::new).collect()
    }

    fn new(it: Scaling) -> ScalingExport {
        let ends = |it: Interval| [it.low, it.high];
        let predicted = it.law_points(64).into_iter().map(|point| PredictedRate {
            count: point.count,
            bytes_per_second: point.rate,
            ci95: ends(point.interval),
        });
        let law = it.law.as_ref().map(|fitted| LawExport {
            bytes_per_second_of_one: fitted.law.rate_of_one,
            contention: fitted.law.contention,
            contention_ci95: ends(fitted.contention_interval()),
            coherence: fitted.law.coherence,
            coherence_ci95: ends(fitted.coherence_interval()),
            peak_count: fitted.law.peak_readers(),
            predicted: predicted.collect(),
        });
        ScalingExport {
            points: it.points,
            law,
            limit: it.limit.as_ref().map(limit_word),
            saturation_count: it.saturation_count,
            state: it.state,
            unit: it.unit.word(),
            memory: it.memory_bound.map(|bound| bound.to_string()),
            trial: it.id,
        }
    }
}

fn gain_words(scaling: &Scaling, gain: &Gain) -> String {
    let rate = scaling.points.last().map_or_else(String::new, |point| Throughput(point.rate).to_string());
    let unit = scaling.unit;
    let from = words::plural(usize::try_from(gain.from_count).unwrap_or(usize::MAX), unit.word());
    format!(
        "{} {} read {rate} together, {} times what {from} read{}: {:.0} % of perfect scaling",
        gain.to_count,
        unit.plural(),
        words::factor(gain.factor),
        if gain.from_count == 1 { "s" } else { "" },
        gain.share_of_perfect * 100.0
    )
}

/// The words on the number of readers from which more readers add nothing; `None` for ranks,
/// because users rarely want to reduce the number of hosts.
fn saturated_words(scaling: &Scaling) -> Option<String> {
    if scaling.unit == Unit::Rank {
        return None;
    }
    let most = scaling.points.last()?.count;
    let who = match scaling.saturation_count {
        None => return Some(format!("not shown up to {most} readers")),
        Some(1) => "one reader saturates it".to_owned(),
        Some(count) => format!("{count} readers saturate it"),
    };
    Some(format!("{who}: up to {most} add less than 5 %, by their whole intervals"))
}

fn limit_words(limited: &ScalingLimit, unit: Unit) -> String {
    let grown = |growth: &Growth| {
        let (Growth { from_count: from, to_count: to, factor }, plural) = (growth, unit.plural());
        format!("{to} {plural} read [{:.2}, {:.2}] times what {from} read", factor.low, factor.high)
    };
    match (limited, unit) {
        (ScalingLimit::Processors(busy), unit) => {
            let whose = if unit == Unit::Rank { "the processors of each host" } else { "the processors" };
            format!("{whose}: busy [{:.2}, {:.2}] of the time", busy.low, busy.high)
        }
        (ScalingLimit::Shared(growth), Unit::Rank) => {
            format!("what the hosts share, the server, its store or the network to it: {}", grown(growth))
        }
        (ScalingLimit::Shared(growth), Unit::Reader) => {
            format!("what the readers share, with idle processors: the device or a lock: {}", grown(growth))
        }
        (ScalingLimit::EachHost(growth), Unit::Rank) => format!(
            "nothing that the hosts share: {}; each waits, for its own link or for answers, with idle processors",
            grown(growth)
        ),
        (ScalingLimit::EachHost(growth), Unit::Reader) => format!(
            "nothing that the readers share: {}; each waits for its own requests, with idle processors",
            grown(growth)
        ),
        (ScalingLimit::Undecided(growth), _) => format!("what stops it cannot be told: {}", grown(growth)),
    }
}

/// What limits the method, as a word of the JSON export.
fn limit_word(limited: &ScalingLimit) -> &'static str {
    match limited {
        ScalingLimit::Processors(_) => "processors",
        ScalingLimit::Shared(_) => "shared",
        ScalingLimit::EachHost(_) => "each_host",
        ScalingLimit::Undecided(_) => "not_told",
    }
}

fn law_words(scaling: &Scaling) -> String {
    let Some(fitted) = &scaling.law else {
        return format!(
            "none fitted: that takes {READER_COUNTS_MIN} numbers of {} and {LAW_ROUNDS_MIN} rounds",
            scaling.unit.plural()
        );
    };
    let range = |value, interval| words::with_ends(value, Some(interval), |value| format!("{value:.3}"));
    let contention = range(fitted.law.contention, fitted.contention_interval());
    let coherence = range(fitted.law.coherence, fitted.coherence_interval());
    let beyond = farthest_law_point(scaling).map_or_else(String::new, |point| {
        format!("; {} {} would read {}", point.count, scaling.unit.plural(), law_rate_number(point).text)
    });
    let most = scaling.points.last().map_or(0, |point| point.count);
    let peak = fitted.law.peak_readers().filter(|peak| *peak <= float(most) * 2.0);
    let peak = peak.map_or_else(String::new, |peak| format!("; the most is at {peak:.0}"));
    format!("contention {contention}, coherence {coherence}{beyond}{peak}")
}

fn law_rate_number(point: LawPoint) -> Number {
    rate_number(point.rate, Some(point.interval))
}

fn rate_number(rate: f64, interval: Option<Interval>) -> Number {
    Number::with_ends(rate, interval, |rate| Throughput(rate).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{add_readings, announce, reading};
    use readlab_analysis::stats::IntervalRule;
    use readlab_model::sample::Sample;
    use readlab_model::target::{TargetFacts, TargetIndex};
    use readlab_record::{Fleet, ShareMode, testing};

    /// A record of one method. Each pair is a number of ranks, of which each reads 1 GB, and their
    /// total rate in GB/s.
    fn record_of_ranks(rates: &[(u32, f64)], rounds: u32) -> Record {
        busy_record(rates, rounds, 0.3)
    }

    /// As [`record_of_ranks`], with the processors of each rank busy for the share `busy` of the
    /// time.
    fn busy_record(rates: &[(u32, f64)], rounds: u32, busy: f64) -> Record {
        let mut record = Record::new(testing::header());
        record.fleet = Some(Fleet {
            mpi_library: String::new(),
            share: ShareMode::Same,
            ranks: Vec::new(),
            witness: None,
        });
        for (index, (ranks, _)) in rates.iter().enumerate() {
            let size_bytes = u64::from(*ranks) * 1_000_000_000;
            let facts = TargetFacts { rank_count: Some(*ranks), size_bytes, ..TargetFacts::default() };
            record.add(testing::target_line(index, facts));
        }
        for (index, (ranks, rate)) in rates.iter().enumerate() {
            announce(&mut record, index, "rust/read", CacheState::Cold).target = TargetIndex::new(index);
            let read = |round: u32| {
                let wall_ns = (f64::from(*ranks) / rate * 1e9) as u64 + u64::from(round);
                let cpu_ns = (f64::from(*ranks) * wall_ns as f64 * busy) as u64;
                let (cpu_user_ns, cpu_system_ns) = (Some(cpu_ns), Some(0));
                Sample { cpu_user_ns, cpu_system_ns, ..reading(index, round, wall_ns) }
            };
            add_readings(&mut record, index, (0..rounds).map(read));
        }
        record
    }

    #[test]
    fn the_gain_of_more_ranks_and_the_law_are_in_words() {
        let record = record_of_ranks(&[(1, 1.0), (2, 1.9), (3, 2.7), (4, 3.4), (8, 5.5)], 6);
        let [view] = &ScalingView::all(&record)[..] else { panic!("one way of reading") };
        assert_eq!(view.scaling.id, "rust/read".parse::<TrialId>().unwrap());
        let told = "Cold, rust/read: 8 ranks read 5.50 GB/s together, 5.50 times what 1 rank reads: 69 % of perfect scaling";
        assert_eq!(view.lines[0], format!("scaling: {told}"));
        assert!(view.lines[1].starts_with("verdict: Cold, rust/read: what stops it cannot be told: 8 ranks"));
        assert!(view.lines[2].contains("contention 0.0") && view.lines[2].contains("; 16 ranks would read "));
        assert_eq!(sentence(std::slice::from_ref(view)), Some(format!("{told}.")));
        let rows = view.rows();
        let ranks: Vec<&str> = rows.iter().map(|[count, ..]| count.as_ref().unwrap().text.as_str()).collect();
        assert_eq!(ranks, ["1", "2", "3", "4", "8", "16"]);
        assert!(rows[5][1].is_none() && rows[5][2].is_some());
    }

    #[test]
    fn fewer_than_five_numbers_of_ranks_have_no_law_and_one_number_no_scaling() {
        let few = record_of_ranks(&[(1, 1.0), (2, 1.9)], 6);
        let [view] = &ScalingView::all(&few)[..] else { panic!("one way of reading") };
        assert!(view.lines[2].ends_with("none fitted: that takes 5 numbers of ranks and 5 rounds"));
        let mut all = record_of_ranks(&[(4, 1.0)], 6);
        all.targets[TargetIndex::new(0)].rank_count = None;
        assert_eq!(ScalingView::all(&all), []);
    }

    #[test]
    fn two_and_three_rounds_have_intervals_by_the_noise_of_all_numbers_of_ranks() {
        // Locations share their noise from eight trials on.
        let mut rates = vec![(1, 1.0), (2, 1.9)];
        rates.extend((3..=8).map(|ranks| (ranks, 1.95)));
        // The share of time in which the processors are busy needs three rounds.
        for (rounds, limited) in [(2, "not_told"), (3, "shared")] {
            let scaling = &Scaling::all(&record_of_ranks(&rates, rounds))[0];
            for point in &scaling.points {
                let ends = point.interval.unwrap();
                assert_eq!(point.rule, Some(IntervalRule::SharedVariance), "{rounds} rounds: {point:?}");
                assert!(ends.low < 1.001 * point.rate && ends.high > 0.999 * point.rate, "{point:?}");
                assert!(ends.high < 1.01 * ends.low, "{rounds} rounds: {point:?}");
            }
            assert_eq!(scaling.saturation_count, Some(2), "{rounds} rounds");
            assert_eq!(scaling.limit.as_ref().map(limit_word), Some(limited), "{rounds} rounds");
        }
        let one = &Scaling::all(&record_of_ranks(&rates, 1))[0];
        assert!(one.points.iter().all(|it| it.interval.is_none() && it.rule.is_none()), "{one:?}");
        assert_eq!((one.saturation_count, one.limit), (None, None));
    }

    #[test]
    fn the_limit_of_many_hosts_follows_from_growth_and_busy_processors() {
        let told = |rates: &[(u32, f64)], busy| {
            let record = busy_record(rates, 6, busy);
            Scaling::all(&record)[0].limit.as_ref().map(limit_word)
        };
        let (flat, whole) = ([(1, 1.0), (2, 1.9), (4, 1.95)], [(1, 1.0), (2, 2.0), (4, 3.95)]);
        assert_eq!(told(&flat, 0.3), Some("shared"));
        assert_eq!(told(&whole, 0.3), Some("each_host"));
        assert_eq!(told(&whole, 0.97), Some("processors"));
        assert_eq!(told(&[(1, 1.0), (2, 1.9), (4, 2.8)], 0.3), Some("not_told"));
        assert_eq!(told(&[(3, 1.0), (4, 1.4)], 0.3), None, "none has twice the ranks of another");
    }

    #[test]
    fn the_number_of_readers_beyond_which_more_add_nothing_is_reported() {
        let told = |rates: &[(u32, f64)]| {
            let mut record = record_of_ranks(rates, 6);
            record.fleet = None;
            record.targets.iter_mut().for_each(|it| it.reader_count = it.rank_count.take());
            ScalingView::all(&record)[0].lines.clone()
        };
        let lines = told(&[(1, 1.0), (2, 1.9), (4, 1.95)]);
        let gained = "4 readers read 1.95 GB/s together, 1.95 times what 1 reader reads";
        assert!(lines[0].contains(gained), "{lines:?}");
        let two = "saturation: Cold, rust/read: 2 readers saturate it: up to 4 add less than 5 %, by their whole intervals";
        assert_eq!(lines[1], two);
        assert!(lines[2].contains("what the readers share, with idle processors"), "{lines:?}");
        assert!(told(&[(1, 1.0), (2, 1.9), (4, 3.5)])[1].ends_with("not shown up to 4 readers"));
        assert!(told(&[(1, 1.0), (2, 1.01)])[1].contains("one reader saturates it"));
    }
}
