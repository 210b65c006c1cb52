//! The answer: the fastest trial of each ranking, how much faster than the reference it is, and how
//! certain that is; and the baseline of all ratios of a record.

use super::groups;
use super::limits;
use super::ranking::{Ranking, RankingRow, Reference};
use super::sweep::{Series, SweepView};
use super::words;
use readlab_analysis::stats::Significance;
use readlab_model::trial::COMMAND;
use readlab_record::{Limit, LimitKind, LimitUnit};
use std::collections::BTreeMap;

impl Ranking {
    /// False only for a ranking of controls alone, which has no answer.
    pub(super) fn has_reportable_result(&self) -> bool {
        !self.rows.is_empty() || !self.unmeasured.is_empty() || self.controls.is_empty()
    }

    /// Whether the fastest trial is the reference, and was named or chosen as such before the run.
    pub(super) fn is_led_by_reference(&self) -> bool {
        let first = self.rows.first().map(|row| row.index);
        self.has_chosen_reference() && self.reference.as_ref().map(|it| it.index) == first
    }

    /// Whether the trial with the best median is clearly slower than the reference within rounds.
    pub(super) fn is_best_median_slower(&self) -> bool {
        let ratio = self.rows.first().and_then(|first| first.ratio_to_reference);
        ratio.and_then(|ratio| ratio.significance()) == Some(Significance::Slower)
    }

    /// Number of other trials that share the first rank.
    pub(super) fn tied_count(&self) -> usize {
        self.rows.iter().filter(|row| row.is_first()).count().saturating_sub(1)
    }

    /// The words for trials that may be the fastest but have no rank, because they were read in one
    /// round; `None` if no trial is in this situation.
    pub(super) fn unranked_words(&self) -> Option<String> {
        let others = match self.unranked_before_first().count().checked_sub(1)? {
            0 => String::new(),
            others => format!(" for this and {others} more"),
        };
        Some(format!("no rank: 1 more round is needed{others}"))
    }

    fn answer_clause(&self) -> String {
        let Some(first) = self.rows.first() else {
            return format!("{}, nothing was measured", self.full_condition());
        };
        let (state, name, figure) = (self.full_condition(), short_name(first), rate_or_time_words(first));
        let itself = if self.is_led_by_reference() { ", the reference itself," } else { "" };
        let clause = match (self.unranked_words(), self.tied_count()) {
            _ if self.rows.len() == 1 => return format!("{state}, {name} reads it at {figure}"),
            (Some(open), _) => return format!("{state}, {name} has the best median, {figure}, but {open}"),
            (None, 0) if self.is_best_median_slower() => {
                format!("{state}, {name} has the best median, {figure}")
            }
            (None, 0) => format!("{state}, {name}{itself} is the fastest at {figure}"),
            (None, tied) => {
                format!("{state}, {name}{itself} ties for the fastest with {tied} more at {figure}")
            }
        };
        let Some((ratio, reference)) = first.ratio_to_reference.zip(self.reference_row()) else {
            return clause;
        };
        let (times, than) = (words::ratio_words(ratio), short_name(reference));
        match ratio.significance() {
            Some(Significance::Faster) | None => format!("{clause}, {times} times as fast as {than}"),
            Some(Significance::Slower) => {
                format!("{clause}, but is slower than {than} within rounds, {times} times as fast")
            }
            // The reference is one of the tied trials.
            Some(Significance::Tie) => clause,
        }
    }
}

pub(super) fn sentence_of_rankings(rankings: &[Ranking]) -> String {
    if rankings.iter().all(|ranking| ranking.rows.is_empty()) {
        return "Nothing was measured.".to_owned();
    }
    let clauses: Vec<_> =
        rankings.iter().filter(|it| it.has_reportable_result()).map(Ranking::answer_clause).collect();
    words::capitalized(&clauses.join("; ")) + "."
}

/// The answer of a record that holds only limits: the best limit of each kind.
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
    let parts = best.iter().map(|(kind, it)| format!("{} {}", kind.word(), limits::value_text(it, it.value)));
    format!("At best: {}.", parts.collect::<Vec<_>>().join(", "))
}

pub(super) fn sentence_of_sweep(view: &SweepView) -> String {
    let part = |series: &Series| {
        let above = if series.facts.cold_above.is_some() { " (cold above a cache)" } else { "" };
        let rate = series.rate().map_or_else(|| "no rate".to_owned(), |(rate, _)| rate.to_string());
        format!("{}{above} {rate}", series.name)
    };
    let parts: Vec<String> = view.series.iter().map(part).collect();
    if parts.is_empty() {
        return "Nothing was measured.".to_owned();
    }
    format!("By the slope of time on size: {}.", parts.join(", "))
}

/// The name of a row. If the name is long, its parameters are left out; the page shows these
/// elsewhere.
fn short_name(row: &RankingRow) -> &str {
    const LETTERS_MAX: usize = 32;
    let short = row.short_name.as_str();
    if short.chars().count() <= LETTERS_MAX { short } else { short.split(" · ").next().unwrap_or(short) }
}

/// The median rate with its uncertainty, or the median time for a row without a rate.
pub(super) fn rate_or_time_words(row: &RankingRow) -> String {
    let rate = row.throughput.map(|rate| words::rate_with_half_width(rate, &row.wall));
    rate.unwrap_or_else(|| words::time_with_half_width(&row.wall))
}

/// The line `ratios are to wc -l (code that others wrote)`. If rankings have different references,
/// the line names each reference with its rankings. `None` if no ranked trial was measured.
pub(super) fn baseline_words(rankings: &[Ranking]) -> Option<String> {
    let of_ranking = |it: &Ranking| Some((reference_words(it.reference.as_ref()?), it.full_condition()));
    let parts: Vec<String> = match &groups::by_key(rankings.iter().filter_map(of_ranking))[..] {
        [] => return None,
        [(one, _)] => vec![one.clone()],
        all => {
            all.iter().map(|(words, conditions)| format!("{}: {words}", conditions.join(" and "))).collect()
        }
    };
    Some(format!("ratios are to {}", parts.join("; ")))
}

fn reference_words(reference: &Reference) -> String {
    let name = &reference.name;
    // A command is shown as it is typed, without the prefix of its contender.
    let name = name.strip_prefix(COMMAND).and_then(|rest| rest.strip_prefix('/')).unwrap_or(name);
    format!("{name} ({})", reference.why.words())
}
