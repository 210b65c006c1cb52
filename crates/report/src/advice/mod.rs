//! Advice: which of the measured trials to use, how much faster than the baseline it is, what
//! cheaper trial gives most of that, and the code; and the same for each language. Advice only uses
//! differences that are statistically clear; of the trials that tie it prefers the simplest in the
//! language of the fastest.
//!
//! The snippet of a method says what the method needs ([`readlab_catalog::snippet`]). A method
//! without a snippet counts as the least simple.

mod by_language;
mod candidates;
mod sentence;

pub(super) use by_language::{AdvisedTrial, LanguageAdvice, UsualWay};

use super::ranking::Ranking;
use super::words;
use candidates::{AdviceCandidates, MeasuredTrial, SimplerTrial};
use readlab_analysis::stats::{SharedRatio, Significance};
use readlab_catalog::snippet::{self, Snippet};
use readlab_model::trial::TrialIndex;
use readlab_record::Record;
use std::fmt;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Advice {
    /// Index of the ranking among those of the record.
    pub ranking: usize,
    /// The condition for which it holds: `warm`, `cold over http`.
    pub condition: String,
    pub sentence: String,
    /// What to do with the trial; `None` where nothing can be advised.
    pub deed: Option<Deed>,
    /// Number of the trial to use; `None` where nothing can be advised.
    pub uses: Option<TrialIndex>,
    pub name: String,
    /// The names of the trials that tie with it.
    pub tied: Vec<String>,
    /// The baseline that it is faster than.
    pub against: Option<Against>,
    /// A trial in the same language that needs less and is faster than the baseline, too.
    pub cheaper: Option<Cheaper>,
    pub code: Vec<Snippet>,
    /// The advice for each language, fastest first.
    pub by_language: Vec<LanguageAdvice>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    /// It is what programs do already.
    Keep,
    /// It is better than that.
    Use,
}

impl fmt::Display for Deed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Deed::Keep => "keep",
            Deed::Use => "use",
        })
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Against {
    pub name: String,
    /// How many times as fast as the baseline the advised trial is.
    pub ratio: SharedRatio,
}

/// A trial that needs less.
#[derive(Debug, Clone, PartialEq)]
pub struct Cheaper {
    pub index: TrialIndex,
    pub name: String,
    /// How many times as fast as the baseline it is.
    pub ratio: SharedRatio,
    pub without: Vec<&'static str>,
}

struct Decision<'c, 'a> {
    used: &'c MeasuredTrial<'a>,
    why: Why<'c, 'a>,
}

enum Why<'c, 'a> {
    /// It is the baseline itself, or there is no baseline.
    Itself { is_reference: bool },
    /// The baseline was read in one round, so there is no interval to compare with it.
    Open { baseline: &'c MeasuredTrial<'a> },
    /// It is clearly faster than the baseline.
    Faster { base: &'c MeasuredTrial<'a>, ratio: SharedRatio },
    /// It is the baseline, as the trial with the best median is not clearly faster.
    Kept { instead: &'c MeasuredTrial<'a>, ratio: Option<SharedRatio> },
}

impl Why<'_, '_> {
    fn deed(&self) -> Deed {
        match self {
            Why::Itself { .. } | Why::Kept { .. } => Deed::Keep,
            Why::Open { .. } | Why::Faster { .. } => Deed::Use,
        }
    }
}

impl<'c, 'a> Decision<'c, 'a> {
    /// The simplest trial in the language of the fastest that ties with it, if it is clearly faster
    /// than the baseline; else the baseline, if no other trial is clearly faster than that. A trial
    /// that is clearly slower than another is never kept.
    fn make(candidates: &'c AdviceCandidates<'a>, fastest: &'c MeasuredTrial<'a>) -> Decision<'c, 'a> {
        let in_language = || candidates.rows.iter().filter(|it| it.is_of_language_of(fastest));
        let first = in_language().filter(|it| it.row.is_first()).collect();
        let used = candidates.simplest(first).unwrap_or(fastest);
        let base = candidates.baseline();
        let Some(base) = base.filter(|base| !base.is(used)) else {
            return Decision { used, why: Why::Itself { is_reference: base.is_some() } };
        };
        if base.row.rank.is_none() {
            return Decision { used, why: Why::Open { baseline: base } };
        }
        if let Some(decision) = Decision::faster(candidates, used, base) {
            return decision;
        }
        if candidates.is_unbeaten(base, |_| true) {
            let ratio = candidates.ratio(base, fastest);
            return Decision { used: base, why: Why::Kept { instead: fastest, ratio } };
        }
        let faster: Vec<_> = in_language().filter(|it| candidates.is_faster(it, base)).collect();
        let better = candidates.simplest(faster).and_then(|it| Decision::faster(candidates, it, base));
        // If every trial that is faster than the base is beaten in turn, the fastest is not.
        better.unwrap_or(Decision { used, why: Why::Itself { is_reference: false } })
    }

    fn faster(
        candidates: &AdviceCandidates,
        used: &'c MeasuredTrial<'a>,
        base: &'c MeasuredTrial<'a>,
    ) -> Option<Decision<'c, 'a>> {
        let ratio = candidates.ratio(base, used)?;
        let is_faster = ratio.clear() == Some(Significance::Faster);
        is_faster.then_some(Decision { used, why: Why::Faster { base, ratio } })
    }
}

impl Advice {
    pub(super) fn all(record: &Record, rankings: &[Ranking]) -> Vec<Advice> {
        let decide = |(n, ranking)| Advice::decide(&AdviceCandidates::from_ranking(record, ranking), n);
        rankings.iter().enumerate().filter_map(decide).collect()
    }

    /// `None` where fewer than two trials were measured.
    fn decide(candidates: &AdviceCandidates, ranking: usize) -> Option<Advice> {
        if candidates.ranking.rows.len() < 2 {
            return None;
        }
        let condition = candidates.ranking.full_condition();
        let by_language = LanguageAdvice::all(candidates);
        let open = candidates.ranking.unranked_before_first().count();
        let Some(fastest) = candidates.rows.first().filter(|_| open == 0) else {
            let need = if open == 1 { "needs" } else { "need" };
            let open = words::plural(open, "trial");
            let why = format!("{open} may be the fastest and {need} 1 more round for an interval");
            let sentence = format!("{condition}: no advice: {why}");
            return Some(Advice { ranking, condition, sentence, by_language, ..Advice::default() });
        };
        let Decision { used, why } = Decision::make(candidates, fastest);
        let (mut against, mut step) = (None, None);
        if let Why::Faster { base, ratio } = &why {
            against = Some(Against { name: base.row.name.clone(), ratio: *ratio });
            step = candidates.cheaper(used, base);
        }
        let tied = candidates.ties(used);
        let sentence = sentence::write(used, &why, fastest, tied.len(), step.as_ref());
        Some(Advice {
            ranking,
            deed: Some(why.deed()),
            sentence: format!("{condition}: {} {sentence}", why.deed()),
            condition,
            uses: Some(used.row.index),
            name: used.row.name.clone(),
            tied,
            against,
            cheaper: step.map(|it| Cheaper {
                index: it.measured.row.index,
                name: it.measured.row.name.clone(),
                ratio: it.ratio,
                without: it.without,
            }),
            code: snippet::code(&used.row.method, &used.row.params),
            by_language,
        })
    }
}
