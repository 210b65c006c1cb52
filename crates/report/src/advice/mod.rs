//! Advice: which of the measured trials to use, how much faster than the baseline it is, which
//! cheaper trial is nearly as good, and the code; also for each language. Advice only uses
//! differences that are statistically clear. Of the trials that tie, it prefers the simplest in the
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
use readlab_catalog::snippet::Snippet;
use readlab_model::trial::TrialIndex;
use readlab_record::Record;
use schemars::JsonSchema;
use serde::Serialize;

// `advised_trial` and `advised_name` are `None` if nothing can be advised.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Advice {
    /// Index of the ranking among those of the record.
    #[serde(skip)]
    pub ranking_index: usize,
    /// The condition for which the advice holds: `warm`, `cold over http`.
    #[serde(skip)]
    pub condition: String,
    pub sentence: String,
    /// Whether to keep or to use the trial.
    #[serde(skip)]
    pub action: Option<AdvisedAction>,
    /// Index of the trial to use.
    #[serde(rename = "trial")]
    pub advised_trial: Option<TrialIndex>,
    #[serde(rename = "id")]
    pub advised_name: Option<String>,
    /// Names of the trials that tie with the advised one.
    pub tied: Vec<String>,
    #[serde(rename = "against")]
    pub slower_baseline: Option<SlowerBaseline>,
    pub cheaper: Option<CheaperTrial>,
    pub code: Vec<Snippet>,
    // Fastest first.
    pub by_language: Vec<LanguageAdvice>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdvisedAction {
    /// The trial is the baseline, which programs use already.
    Keep,
    /// The trial is better than the baseline, or there is no baseline.
    Use,
}

readlab_model::worded! { AdvisedAction { Keep = "keep", Use = "use" } }

/// The baseline that is slower than the advised trial.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Against")]
pub struct SlowerBaseline {
    #[serde(rename = "id")]
    pub name: String,
    #[serde(rename = "times")]
    pub ratio: SharedRatio,
}

/// A trial in the same language that needs less than the advised one and is also faster than the
/// baseline.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Cheaper")]
pub struct CheaperTrial {
    #[serde(rename = "trial")]
    pub index: TrialIndex,
    #[serde(rename = "id")]
    pub name: String,
    // How many times as fast as the baseline the trial is.
    #[serde(rename = "times")]
    pub ratio: SharedRatio,
    /// The needs of the advised trial that this trial does not have.
    #[serde(rename = "without")]
    pub spared_needs: Vec<&'static str>,
}

struct Decision<'c, 'a> {
    advised: &'c MeasuredTrial<'a>,
    why: AdviceReason<'c, 'a>,
}

enum AdviceReason<'c, 'a> {
    /// The advised trial is compared with no baseline: it is the baseline, or there is none, or
    /// each trial that is clearly faster than the baseline is clearly slower than another trial.
    NoComparison { is_reference: bool },
    /// The baseline was read in one round, so the ratio to the baseline has no interval.
    Open { baseline: &'c MeasuredTrial<'a> },
    /// The advised trial is clearly faster than the baseline.
    Faster { base: &'c MeasuredTrial<'a>, ratio: SharedRatio },
    /// The baseline is advised, because the trial with the best median is not clearly faster.
    Kept { instead: &'c MeasuredTrial<'a>, ratio: Option<SharedRatio> },
}

impl AdviceReason<'_, '_> {
    fn action(&self) -> AdvisedAction {
        match self {
            AdviceReason::NoComparison { is_reference: true } | AdviceReason::Kept { .. } => {
                AdvisedAction::Keep
            }
            AdviceReason::NoComparison { is_reference: false }
            | AdviceReason::Open { .. }
            | AdviceReason::Faster { .. } => AdvisedAction::Use,
        }
    }
}

impl<'c, 'a> Decision<'c, 'a> {
    /// Advises the simplest trial that is in the language of the fastest trial and shares the first
    /// rank, if it is clearly faster than the baseline. If not, advises the baseline, unless
    /// another trial is clearly faster. A baseline that is clearly slower than a trial is never
    /// kept.
    fn decide(candidates: &'c AdviceCandidates<'a>, fastest: &'c MeasuredTrial<'a>) -> Decision<'c, 'a> {
        let in_language = || candidates.trials.iter().filter(|it| it.shares_language_with(fastest));
        let first = in_language().filter(|it| it.row.is_first()).collect();
        let used = candidates.find_simplest(first).unwrap_or(fastest);
        let base = candidates.baseline();
        let Some(base) = base.filter(|base| !base.is_same_trial(used)) else {
            return Decision {
                advised: used,
                why: AdviceReason::NoComparison { is_reference: base.is_some() },
            };
        };
        if base.row.rank.is_none() {
            return Decision { advised: used, why: AdviceReason::Open { baseline: base } };
        }
        if let Some(decision) = Decision::if_clearly_faster(candidates, used, base) {
            return decision;
        }
        if candidates.is_unbeaten(base, |_| true) {
            let ratio = candidates.ratio(base, fastest);
            return Decision { advised: base, why: AdviceReason::Kept { instead: fastest, ratio } };
        }
        let faster: Vec<_> = in_language().filter(|it| candidates.is_faster(it, base)).collect();
        let better =
            candidates.find_simplest(faster).and_then(|it| Decision::if_clearly_faster(candidates, it, base));
        // If each trial that is clearly faster than the baseline is clearly slower than another
        // trial, the fastest trial is advised.
        better.unwrap_or(Decision { advised: used, why: AdviceReason::NoComparison { is_reference: false } })
    }

    fn if_clearly_faster(
        candidates: &AdviceCandidates,
        used: &'c MeasuredTrial<'a>,
        base: &'c MeasuredTrial<'a>,
    ) -> Option<Decision<'c, 'a>> {
        let ratio = candidates.ratio(base, used)?;
        let is_faster = ratio.significance() == Some(Significance::Faster);
        is_faster.then_some(Decision { advised: used, why: AdviceReason::Faster { base, ratio } })
    }
}

impl Advice {
    pub(super) fn all(record: &Record, rankings: &[Ranking]) -> Vec<Advice> {
        let decide = |(n, ranking)| Advice::decide(&AdviceCandidates::from_ranking(record, ranking), n);
        rankings.iter().enumerate().filter_map(decide).collect()
    }

    /// Decides on the advice for a ranking; `None` where fewer than two trials were measured.
    fn decide(candidates: &AdviceCandidates, ranking: usize) -> Option<Advice> {
        if candidates.ranking.rows.len() < 2 {
            return None;
        }
        let condition = candidates.ranking.full_condition();
        let by_language = LanguageAdvice::all(candidates);
        let open = candidates.ranking.unranked_before_first().count();
        let Some(fastest) = candidates.trials.first().filter(|_| open == 0) else {
            let need = if open == 1 { "needs" } else { "need" };
            let open = words::plural(open, "trial");
            let why = format!("{open} may be the fastest and {need} 1 more round for an interval");
            let sentence = format!("{condition}: no advice: {why}");
            return Some(Advice {
                ranking_index: ranking,
                condition,
                sentence,
                by_language,
                ..Advice::default()
            });
        };
        let Decision { advised: used, why } = Decision::decide(candidates, fastest);
        let (mut against, mut step) = (None, None);
        if let AdviceReason::Faster { base, ratio } = &why {
            against = Some(SlowerBaseline { name: base.row.name.clone(), ratio: *ratio });
            step = candidates.find_simpler(used, base);
        }
        let tied = candidates.tied_names(used);
        let sentence = sentence::advice_sentence(used, &why, fastest, tied.len(), step.as_ref());
        Some(Advice {
            ranking_index: ranking,
            action: Some(why.action()),
            sentence: format!("{condition}: {} {sentence}", why.action()),
            condition,
            advised_trial: Some(used.row.index),
            advised_name: Some(used.row.name.clone()),
            tied,
            slower_baseline: against,
            cheaper: step.map(|it| CheaperTrial {
                index: it.measured.row.index,
                name: it.measured.row.name.clone(),
                ratio: it.ratio,
                spared_needs: it.spared_needs,
            }),
            code: used.snippets(),
            by_language,
        })
    }
}
