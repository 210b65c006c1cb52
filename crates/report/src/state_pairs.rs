//! The methods that were read both cold and warm: the same trial in two rankings of a target and
//! work.

use super::answer::figure;
use super::ranking::{Ranking, RankingRow};
use readlab_model::trial::CacheState;
use readlab_model::units::Throughput;

/// The pairs of one target, archive and work.
#[derive(Debug)]
pub(super) struct StatePairs<'a> {
    /// The title, such as `From cold to warm · newlines`.
    pub(super) title: String,
    /// Whether the values are rates. Otherwise they are wall times.
    pub(super) by_rate: bool,
    /// The pairs, in the order of the warm ranking.
    pub(super) pairs: Vec<StatePair<'a>>,
}

#[derive(Debug)]
pub(super) struct StatePair<'a> {
    pub(super) cold: &'a RankingRow,
    pub(super) warm: &'a RankingRow,
    /// The cold and the warm value: bytes per second, or nanoseconds.
    pub(super) values: [f64; 2],
}

impl<'a> StatePairs<'a> {
    /// All pairs of a record: one group for each warm ranking for which there is a cold one.
    pub(super) fn all(rankings: &'a [Ranking]) -> Vec<StatePairs<'a>> {
        let warm = rankings.iter().filter(|it| it.state == CacheState::Warm);
        let pairs = warm.filter_map(|warm| {
            let of = |it: &Ranking| (it.target, it.decodes, it.work);
            let cold = rankings.iter().find(|it| it.state == CacheState::Cold && of(it) == of(warm))?;
            StatePairs::match_rows(cold, warm)
        });
        pairs.collect()
    }

    fn match_rows(cold: &'a Ranking, warm: &'a Ranking) -> Option<StatePairs<'a>> {
        let both =
            warm.rows.iter().filter_map(|row| Some((cold.rows.iter().find(|it| it.name == row.name)?, row)));
        let both: Vec<(&RankingRow, &RankingRow)> = both.collect();
        let has_rates = |(cold, warm): &(&RankingRow, &RankingRow)| {
            cold.throughput.is_some() && warm.throughput.is_some()
        };
        let by_rate = both.iter().all(has_rates);
        let title = warm.title();
        let rest = title.split_once(" · ").map_or("", |(_, rest)| rest);
        let pair =
            |(cold, warm)| StatePair { cold, warm, values: [value(cold, by_rate), value(warm, by_rate)] };
        (!both.is_empty()).then(|| StatePairs {
            title: format!("From cold to warm · {rest}{}", warm.distinction),
            by_rate,
            pairs: both.into_iter().map(pair).collect(),
        })
    }
}

impl StatePair<'_> {
    /// How many times as fast the warm reading is as the cold one.
    pub(super) fn gain(&self) -> f64 {
        let [cold, warm] = [self.cold, self.warm].map(|row| row.wall.median.max(1) as f64);
        cold / warm
    }

    /// The cold and the warm value in words, such as `549 MB/s to 8.92 GB/s`.
    pub(super) fn words(&self) -> String {
        let [cold, warm] = [self.cold, self.warm].map(figure);
        format!("{cold} to {warm}")
    }
}

fn value(row: &RankingRow, by_rate: bool) -> f64 {
    match row.throughput.filter(|_| by_rate) {
        Some(Throughput(rate)) => rate,
        None => row.wall.median as f64,
    }
}
