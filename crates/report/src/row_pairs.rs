//! Pairs of rows with the same method, which was read cold and warm, at two locations, or under two
//! settings of the system.

use super::answer::rate_or_time_words;
use super::ranking::{Ranking, RankingRow};
use super::words::Number;
use readlab_model::trial::CacheState;
use readlab_model::units::Throughput;

/// Pairs of rows: each pair has the same method under two conditions.
#[derive(Debug)]
pub(super) struct RowPairs<'a> {
    /// The title, such as `From cold to warm · newlines`.
    pub(super) title: String,
    /// Names of the first and the second row of each pair, such as cold and warm.
    pub(super) end_names: [String; 2],
    /// Whether the values are rates. Otherwise they are wall times.
    pub(super) has_rates: bool,
    pub(super) pairs: Vec<RowPair<'a>>,
}

#[derive(Debug)]
pub(super) struct RowPair<'a> {
    pub(super) first_row: &'a RankingRow,
    pub(super) second_row: &'a RankingRow,
    /// The values of both rows: bytes per second, or nanoseconds.
    pub(super) values: [f64; 2],
}

impl<'a> RowPairs<'a> {
    /// The methods that were read both cold and warm: one group for each warm ranking that has a
    /// cold counterpart, with rows in the order of the warm ranking.
    pub(super) fn cold_and_warm(rankings: &'a [Ranking]) -> Vec<RowPairs<'a>> {
        let warm = rankings.iter().filter(|it| it.state == CacheState::Warm);
        let pairs = warm.filter_map(|warm| {
            let of = |it: &Ranking| (it.target, it.archive, it.work);
            let cold = rankings.iter().find(|it| it.state == CacheState::Cold && of(it) == of(warm))?;
            let same = |row: &'a RankingRow| Some([cold.rows.iter().find(|it| it.name == row.name)?, row]);
            let title = warm.title();
            let rest = title.split_once(" · ").map_or("", |(_, rest)| rest);
            let title = format!("From cold to warm · {rest}{}", warm.distinction);
            let ends = [CacheState::Cold, CacheState::Warm].map(|state| state.to_string());
            RowPairs::from_rows(title, ends, warm.rows.iter().filter_map(same).collect())
        });
        pairs.collect()
    }

    /// The pairs with their values; `None` if there is no pair.
    pub(super) fn from_rows(
        title: String,
        end_names: [String; 2],
        both: Vec<[&'a RankingRow; 2]>,
    ) -> Option<RowPairs<'a>> {
        let has_rates = both.iter().flatten().all(|row| row.throughput.is_some());
        let pair = |both: [&'a RankingRow; 2]| {
            let [from, to] = both;
            RowPair {
                first_row: from,
                second_row: to,
                values: both.map(|row| compared_value(row, has_rates)),
            }
        };
        let pairs: Vec<RowPair> = both.into_iter().map(pair).collect();
        (!pairs.is_empty()).then_some(RowPairs { title, end_names, has_rates, pairs })
    }
}

impl RowPair<'_> {
    /// How many times as fast the second row is as the first, by their medians.
    pub(super) fn speedup(&self) -> f64 {
        let [from, to] = [self.first_row, self.second_row].map(|row| row.wall.median.max(1) as f64);
        from / to
    }

    pub(super) fn numbers(&self) -> [Number; 2] {
        let [from, to] = self.values;
        [
            Number::new(rate_or_time_words(self.first_row), from),
            Number::new(rate_or_time_words(self.second_row), to),
        ]
    }

    /// Both values in words, such as `549 MB/s to 8.92 GB/s`.
    pub(super) fn words(&self) -> String {
        let [from, to] = [self.first_row, self.second_row].map(rate_or_time_words);
        format!("{from} to {to}")
    }
}

fn compared_value(row: &RankingRow, has_rates: bool) -> f64 {
    match row.throughput.filter(|_| has_rates) {
        Some(Throughput(rate)) => rate,
        None => row.wall.median as f64,
    }
}
