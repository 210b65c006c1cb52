//! The answer: the fastest trial of each ranking, how much faster than the reference it is, and how
//! certain that is.

use super::limits;
use super::ranking::{Rank, Ranking, RankingRow, TieStatus, WhyReference};
use super::sweep::{Series, SweepView};
use super::words;
use crate::analysis::stats::Significance;
use crate::record::{Limit, LimitKind, LimitUnit};
use std::collections::BTreeMap;

/// The answer of one ranking in short.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The ranking: `Cold · newlines`.
    pub title: String,
    /// The rate of the fastest, or its time where there is no rate.
    pub figure: String,
    /// Half the interval of its median, such as `±1.2 %`.
    pub sure: Option<String>,
    /// Its name, with how many trials tie with it.
    pub who: String,
    /// Its ratio to the reference with the interval; empty where there is none.
    pub against: String,
}

impl Ranking {
    /// Whether there is anything to report: a ranking of controls alone has no answer.
    pub(super) fn says_something(&self) -> bool {
        !self.rows.is_empty() || !self.unmeasured.is_empty() || self.controls.is_empty()
    }

    /// Whether the first trial is the reference, and was not chosen as such for being the first.
    pub(super) fn is_led_by_reference(&self) -> bool {
        let own = self.reference.as_ref().filter(|it| it.why != WhyReference::Fastest);
        own.zip(self.rows.first()).is_some_and(|(reference, first)| reference.index == first.index)
    }

    /// Whether the trial with the best median is clearly slower than the reference within rounds.
    pub(super) fn is_first_slower(&self) -> bool {
        let ratio = self.rows.first().and_then(|first| first.ratio);
        ratio.and_then(|ratio| ratio.clear()) == Some(Significance::Slower)
    }

    /// How many more share the first rank: tied, undecided.
    pub(super) fn beside(&self) -> (usize, usize) {
        let count = |tie| self.rows.iter().filter(|row| row.rank == Some(Rank { place: 1, tie })).count();
        (count(TieStatus::Tied), count(TieStatus::Undecided))
    }

    /// The answer in short; `None` when nothing was measured.
    #[must_use]
    pub fn claim(&self) -> Option<Claim> {
        let first = self.rows.first()?;
        let who = match self.beside() {
            (0, 0) => first.short.clone(),
            (tied, 0) => format!("{}, tied with {tied} more", first.short),
            (0, open) => format!("{}; too few rounds to distinguish {open} more", first.short),
            (tied, open) => format!("{}, tied with {tied} more, {open} undecided", first.short),
        };
        let reference =
            self.rows.iter().find(|row| Some(row.index) == self.reference.as_ref().map(|it| it.index));
        let against = match (&first.ratio, reference) {
            (Some(ratio), Some(reference)) => format!("{} × {}", words::ratio(ratio), reference.short),
            _ if self.is_led_by_reference() => "the reference itself".to_owned(),
            _ => String::new(),
        };
        Some(Claim {
            title: self.title(),
            figure: figure(first),
            sure: words::plus_minus(&first.wall),
            who,
            against,
        })
    }

    /// The answer as a clause of a sentence.
    fn clause(&self) -> String {
        let Some(first) = self.rows.first() else {
            return format!("{}, nothing was measured", self.full_condition());
        };
        let (state, name, figure) = (self.full_condition(), brief(first), figure(first));
        let itself = if self.is_led_by_reference() { ", the reference itself," } else { "" };
        let clause = match self.beside() {
            _ if self.rows.len() == 1 => return format!("{state}, {name} reads it at {figure}"),
            (0, 0) if self.is_first_slower() => format!("{state}, {name} has the best median, {figure}"),
            (0, 0) => format!("{state}, {name}{itself} is the fastest at {figure}"),
            (tied, 0) => format!("{state}, {name}{itself} ties for the fastest with {tied} more at {figure}"),
            (tied, open) => {
                let more = tied + open;
                format!(
                    "{state}, {name} has the best median, {figure}, but {more} more are not clearly different"
                )
            }
        };
        let reference =
            self.rows.iter().find(|row| Some(row.index) == self.reference.as_ref().map(|it| it.index));
        let Some((ratio, reference)) = first.ratio.zip(reference) else { return clause };
        let (times, than) = (words::factor(ratio.estimate), brief(reference));
        match ratio.clear() {
            Some(Significance::Faster) => format!("{clause}, {times} times as fast as {than}"),
            Some(Significance::Slower) => {
                format!("{clause}, but is slower than {than} within rounds, {times} times as fast")
            }
            // The reference is among those that tie.
            Some(Significance::Tie) => clause,
            None if self.beside() == (0, 0) => {
                format!("{clause}; too few rounds to say how many times as fast as {than}")
            }
            None => clause,
        }
    }
}

/// The answer of all rankings in one sentence.
pub(super) fn sentence(rankings: &[Ranking]) -> String {
    if rankings.iter().all(|ranking| ranking.rows.is_empty()) {
        return "Nothing was measured.".to_owned();
    }
    let clauses: Vec<String> =
        rankings.iter().filter(|it| it.says_something()).map(Ranking::clause).collect();
    words::capital(&clauses.join("; ")) + "."
}

/// The answer of a record of nothing but limits: the best of each kind.
pub(super) fn sentence_of_limits(limits: &[Limit]) -> String {
    let mut best: BTreeMap<LimitKind, &Limit> = BTreeMap::new();
    for limit in limits {
        let slower = |had: &&Limit| match limit.unit {
            LimitUnit::BytesPerSecond => had.value < limit.value,
            LimitUnit::Nanoseconds => had.value > limit.value,
        };
        if best.get(&limit.kind).is_none_or(slower) {
            best.insert(limit.kind, limit);
        }
    }
    let parts =
        best.iter().map(|(kind, limit)| format!("{} {}", kind.word(), limits::shown(limit, limit.value)));
    format!("At best: {}.", parts.collect::<Vec<_>>().join(", "))
}

/// The answer of a sweep in one sentence.
pub(super) fn sentence_of_sweep(view: &SweepView) -> String {
    let above =
        |series: &Series| if series.known.cold_above.is_some() { " (cold above a cache)" } else { "" };
    let parts = view.series.iter().map(|series| match series.rate() {
        Some((rate, _)) => format!("{}{} {rate}", series.name, above(series)),
        None => format!("{}{} no rate", series.name, above(series)),
    });
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() {
        return "Nothing was measured.".to_owned();
    }
    format!("By the slope of time on size: {}.", parts.join(", "))
}

/// What a sweep says of each way of writing and reading.
pub(super) fn claims_of_sweep(view: &SweepView) -> Vec<Claim> {
    let claim = |series: &Series| {
        let (rate, ends) = series.rate()?;
        Some(Claim {
            title: match (series.is_write, series.known.cold_above.is_some()) {
                (true, _) => "Writes",
                (false, true) => "Reads · cold above a cache",
                (false, false) => "Reads",
            }
            .to_owned(),
            figure: rate.to_string(),
            sure: ends.map(|[low, high]| format!("[{low}, {high}]")),
            who: series.name.clone(),
            against: format!("median rate of the files {}", series.median_rate()),
        })
    };
    view.series.iter().filter_map(claim).collect()
}

/// The name without its settings where they would make the sentence long. The page shows the full
/// name, too.
fn brief(row: &RankingRow) -> &str {
    const LETTERS: usize = 32;
    let short = row.short.as_str();
    if short.chars().count() <= LETTERS { short } else { short.split(" · ").next().unwrap_or(short) }
}

/// The rate, or where there is none the time.
fn figure(row: &RankingRow) -> String {
    if row.throughput.is_some() { words::rate(row.throughput) } else { words::time(&row.wall) }
}
