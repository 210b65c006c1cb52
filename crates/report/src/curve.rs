//! How the rate of a method depends on one of its parameters, with all others equal.

use super::ranking::{Ranking, RankingRow};
use readlab_model::trial::{CacheState, Params, TrialIndex};
use readlab_model::units::{Nanos, Throughput};
use std::collections::{BTreeMap, BTreeSet};

/// With fewer settings, there is no curve.
const SETTINGS_MIN: usize = 3;

/// The rates of one method over the values of one parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    pub state: CacheState,
    /// The state with the transport, in words.
    pub condition: String,
    /// The method with the parameters that do not change, such as `io_uring avx2 · buffer=128KiB`.
    pub method: String,
    /// The usual name of the parameter, such as `buffer`.
    pub parameter: String,
    pub language: String,
    pub trials: Vec<TrialIndex>,
    /// Whether the readings come from a search, in which settings that were dropped early have few
    /// readings.
    pub is_from_search: bool,
    /// One point for each value, in rising order.
    pub points: Vec<CurvePoint>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CurvePoint {
    pub value: u64,
    /// The value with its unit, as a user types it, such as `64KiB`.
    pub spelled_value: String,
    /// The rate at the median wall time.
    pub rate: Throughput,
    /// Rates at the ends of the median's interval, lower first; `None` without an interval.
    pub interval: Option<[Throughput; 2]>,
}

impl Curve {
    /// All curves with enough settings. Of the curves of a search, only those that contain the best
    /// setting of a method.
    pub fn all(ranking: &Ranking) -> Vec<Curve> {
        let mut curves = Curve::by_parameter(ranking, &ranking.rows, false);
        curves.extend(Curve::by_parameter(ranking, &ranking.searched, true));
        curves
    }

    fn by_parameter(ranking: &Ranking, rows: &[RankingRow], searched: bool) -> Vec<Curve> {
        let best = best_of_methods(rows);
        let mut groups: BTreeMap<(String, &str), Vec<&RankingRow>> = BTreeMap::new();
        for row in rows.iter().filter(|row| row.throughput.is_some()) {
            for parameter in row.params.0.keys() {
                let mut others = row.params.clone();
                others.0.remove(parameter);
                let same = format!("{}@{:?}", row.method, others.0);
                groups.entry((same, parameter)).or_default().push(row);
            }
        }
        let is_shown = |rows: &[&RankingRow]| !searched || rows.iter().any(|row| best.contains(&row.index));
        let enough = groups.into_iter().filter(|(_, rows)| rows.len() >= SETTINGS_MIN && is_shown(rows));
        let curve = |((_, parameter), rows)| {
            Some(Curve { is_from_search: searched, ..Curve::from_rows(ranking, parameter, rows)? })
        };
        enough.filter_map(curve).collect()
    }

    fn from_rows(ranking: &Ranking, parameter: &str, mut rows: Vec<&RankingRow>) -> Option<Curve> {
        rows.sort_by_key(|row| row.params.0.get(parameter).copied());
        rows.dedup_by_key(|row| row.params.0.get(parameter).copied());
        let points: Vec<_> = rows.iter().filter_map(|row| CurvePoint::from_row(parameter, row)).collect();
        let first = rows.first().filter(|_| points.len() >= SETTINGS_MIN)?;
        let word = Params::short_name(parameter).to_owned();
        let kept = first.short_name.split(" · ").filter(|part| !part.starts_with(&format!("{word}=")));
        let method = kept.collect::<Vec<_>>().join(" · ");
        let condition = ranking.full_condition();
        Some(Curve {
            state: ranking.state,
            condition,
            method,
            parameter: word,
            language: first.language.clone(),
            trials: rows.iter().map(|row| row.index).collect(),
            is_from_search: false,
            points,
        })
    }
}

/// The best trial of each method and scan: the trial with the most readings, and among equals the
/// fastest. A search reads the best settings most often.
fn best_of_methods(rows: &[RankingRow]) -> BTreeSet<TrialIndex> {
    let mut best: BTreeMap<String, &RankingRow> = BTreeMap::new();
    for row in rows {
        let order = |row: &RankingRow| (std::cmp::Reverse(row.wall.n), row.wall.median);
        let had = best.entry(row.method.to_string()).or_insert(row);
        if order(row) < order(had) {
            *had = row;
        }
    }
    best.into_values().map(|row| row.index).collect()
}

impl CurvePoint {
    fn from_row(parameter: &str, row: &RankingRow) -> Option<CurvePoint> {
        let value = *row.params.0.get(parameter)?;
        let spelled = Params(BTreeMap::from([(parameter.to_owned(), value)])).to_string();
        let rate_at = |wall_ns| Some(Throughput::per(row.delivered_bytes?, Nanos(wall_ns)));
        let ends = row.wall.median_ci95.and_then(|[low, high]| Some([rate_at(high)?, rate_at(low)?]));
        Some(CurvePoint {
            value,
            spelled_value: spelled
                .split_once('=')
                .map_or_else(|| value.to_string(), |(_, text)| text.to_owned()),
            rate: row.throughput?,
            interval: ends.filter(|ends| ends.iter().all(|end| end.0.is_finite())),
        })
    }
}
