//! Advice: which of the measured trials to use, how much faster it is, what cheaper trial gives
//! most of that, and the code. Advice only uses differences that are statistically clear; of the
//! trials that tie it prefers the simplest.
//!
//! The snippet of a method says what the method needs ([`crate::contender::snippet`]). A method
//! without a snippet counts as the least simple.

mod sentence;

use super::ranking::{Ranking, RankingRow, TieStatus, WhyReference};
use super::words;
use crate::analysis::stats::{self, Bootstrap, Ratio, Significance};
use crate::contender::snippet::{self, Snippet};
use crate::record::{Record, TrialRecord};
use std::collections::BTreeSet;

/// The advice that follows from one ranking.
#[derive(Debug, Clone, PartialEq)]
pub struct Advice {
    /// Index of the ranking among those of the record.
    pub ranking: usize,
    /// The condition for which it holds: `warm`, `cold over http`.
    pub condition: String,
    /// All of the advice in one sentence.
    pub sentence: String,
    /// Number of the trial to use; `None` where nothing can be advised.
    pub uses: Option<usize>,
    /// Name of the trial to use.
    pub name: String,
    /// The names of the trials that tie with it.
    pub tied: Vec<String>,
    /// The baseline that it is faster than.
    pub against: Option<Against>,
    /// A trial that needs less and is faster than the baseline, too.
    pub cheaper: Option<Cheaper>,
    /// Code that reads with this method.
    pub code: Vec<Snippet>,
}

/// The baseline and the ratio to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Against {
    /// Name of the baseline.
    pub name: String,
    /// How many times as fast as the baseline the advised trial is.
    pub ratio: Ratio,
}

/// A trial that needs less.
#[derive(Debug, Clone, PartialEq)]
pub struct Cheaper {
    /// Number of the trial.
    pub index: usize,
    /// Its name.
    pub name: String,
    /// How many times as fast as the baseline it is.
    pub ratio: Ratio,
    /// What it does not need.
    pub without: Vec<&'static str>,
}

/// A row of the ranking with its trial.
struct MeasuredTrial<'a> {
    row: &'a RankingRow,
    trial: &'a TrialRecord,
}

impl MeasuredTrial<'_> {
    /// What a program needs in order to read with this method; `None` without a snippet.
    fn needs(&self) -> Option<BTreeSet<&'static str>> {
        let mut needs = snippet::needs(&self.trial.trial.id.method)?;
        needs.extend((self.param("threads") > 1).then_some("several threads"));
        Some(needs)
    }

    fn param(&self, name: &str) -> u64 {
        self.trial.trial.params.0.get(name).copied().unwrap_or(1)
    }

    /// The order of simplicity: fewest needs, then fewest threads, fewest reads in flight, smallest
    /// buffers, fewest settings.
    fn complexity(&self) -> impl Ord + use<> {
        let sizes = ["buffer_bytes", "buffer_chars", "chunk_bytes"];
        let buffer: u64 = sizes.iter().map(|name| self.param(name)).sum();
        let trial = &self.trial.trial;
        let set = trial.id.params.0.values().filter(|value| **value > 0).count();
        let needs = self.needs().map_or(usize::MAX, |needs| needs.len());
        (needs, self.param("threads"), self.param("depth"), self.param("buffers"), buffer, set, trial.index)
    }

    fn is(&self, other: &MeasuredTrial) -> bool {
        self.row.index == other.row.index
    }
}

/// The measured trials of a ranking, with their ratios.
struct AdviceCandidates<'a> {
    ranking: &'a Ranking,
    /// In the order of their medians.
    rows: Vec<MeasuredTrial<'a>>,
    bootstrap: Bootstrap,
}

impl<'a> AdviceCandidates<'a> {
    fn of(record: &'a Record, ranking: &'a Ranking) -> AdviceCandidates<'a> {
        let trial = |row: &RankingRow| record.trials.iter().find(|it| it.trial.index == row.index);
        let measured = |row: &'a RankingRow| Some(MeasuredTrial { row, trial: trial(row)? });
        let rows = ranking.rows.iter().filter_map(measured).collect();
        AdviceCandidates { ranking, rows, bootstrap: Bootstrap::new(record.header.seed) }
    }

    /// How many times as fast as the base a trial is; `None` for the base itself, and where no
    /// round holds both.
    fn ratio(&self, base: &MeasuredTrial, it: &MeasuredTrial) -> Option<Ratio> {
        if base.is(it) {
            return None;
        }
        stats::ratio(&base.trial.samples, &it.trial.samples, self.bootstrap)
    }

    fn significance(&self, base: &MeasuredTrial, it: &MeasuredTrial) -> Option<Significance> {
        self.ratio(base, it)?.clear()
    }

    fn is_faster(&self, it: &MeasuredTrial, than: &MeasuredTrial) -> bool {
        self.significance(than, it) == Some(Significance::Faster)
    }

    /// Whether no measured trial is clearly faster.
    fn is_unbeaten(&self, it: &MeasuredTrial) -> bool {
        let mut before = self.rows.iter().take_while(|other| !other.is(it));
        !before.any(|other| self.is_faster(other, it))
    }

    /// The simplest of these than which no measured trial is clearly faster.
    fn simplest<'c>(&self, mut among: Vec<&'c MeasuredTrial<'a>>) -> Option<&'c MeasuredTrial<'a>> {
        among.sort_by_key(|it| it.complexity());
        among.into_iter().find(|it| self.is_unbeaten(it))
    }

    /// The trial that ratios of the ranking are computed against.
    fn reference(&self) -> Option<&MeasuredTrial<'a>> {
        let reference = self.ranking.reference.as_ref()?;
        self.rows.iter().find(|it| it.row.index == reference.index)
    }

    /// Why the reference was chosen; `None` where nothing was measured.
    fn why_reference(&self) -> Option<WhyReference> {
        self.ranking.reference.as_ref().map(|it| it.why)
    }

    /// The trial that the advised one is compared with: the one that the user named, else the
    /// slowest of what programs in its language usually do, else the reference of the ranking.
    fn baseline(&self, used: &MeasuredTrial) -> Option<&MeasuredTrial<'a>> {
        let named = self.reference().filter(|_| self.why_reference() == Some(WhyReference::TrialSpec));
        let usual = |it: &&MeasuredTrial| {
            let method = &it.trial.trial.id.method;
            method.contender == used.trial.trial.contender() && snippet::is_usual(method)
        };
        named.or_else(|| self.rows.iter().rfind(usual)).or_else(|| self.reference())
    }

    /// The trial that needs the least, of those that need less than the advised one and are clearly
    /// faster than the baseline.
    fn cheaper(&self, used: &MeasuredTrial, base: &MeasuredTrial) -> Option<SimplerTrial<'_, 'a>> {
        let all = used.needs()?;
        let steps = self.rows.iter().filter_map(|measured| {
            let needs = measured.needs()?;
            let needs_less = needs.len() < all.len() && needs.is_subset(&all);
            let ratio = self.ratio(base, measured).filter(|_| needs_less)?;
            let without = all.difference(&needs).copied().collect();
            (ratio.clear() == Some(Significance::Faster)).then_some(SimplerTrial { measured, ratio, without })
        });
        steps.min_by_key(|step| all.len() - step.without.len())
    }

    /// The decision: the simplest of the fastest, if it is clearly faster than its baseline; else
    /// the baseline, if no other trial is clearly faster than that. A trial that is clearly slower
    /// than another is never kept.
    fn decide<'c>(&'c self, used: &'c MeasuredTrial<'a>) -> Decision<'c, 'a> {
        let Some(base) = self.baseline(used).filter(|base| !base.is(used)) else { return self.itself(used) };
        let ratio = self.ratio(base, used);
        if let Some(ratio) = ratio.filter(|ratio| ratio.clear() == Some(Significance::Faster)) {
            return Decision { used, why: Why::Faster { base, ratio, is_simplest: true } };
        }
        if self.is_unbeaten(base) {
            return Decision { used: base, why: Why::Kept { instead: used, ratio } };
        }
        let faster = self.rows.iter().filter(|it| self.is_faster(it, base)).collect();
        let better = self.simplest(faster).and_then(|it| Some((it, self.ratio(base, it)?)));
        match better {
            Some((better, ratio)) => {
                Decision { used: better, why: Why::Faster { base, ratio, is_simplest: false } }
            }
            // Every trial that beats the base is beaten in turn; the fastest is not.
            None => self.itself(used),
        }
    }

    fn itself<'c>(&self, used: &'c MeasuredTrial<'a>) -> Decision<'c, 'a> {
        let reference = self.reference().filter(|_| self.why_reference() != Some(WhyReference::Fastest));
        let is_reference = reference.is_some_and(|reference| reference.is(used));
        Decision { used, why: Why::Itself { is_reference } }
    }

    /// The names of the first trials that tie with this one.
    fn ties(&self, used: &MeasuredTrial) -> Vec<String> {
        let firsts = self.rows.iter().filter(|it| it.row.is_first());
        let ties = firsts.filter(|it| self.significance(used, it) == Some(Significance::Tie));
        ties.map(|it| it.row.name.clone()).collect()
    }
}

/// A trial that needs less than the advised one.
struct SimplerTrial<'c, 'a> {
    measured: &'c MeasuredTrial<'a>,
    ratio: Ratio,
    without: Vec<&'static str>,
}

/// The advised trial and the reason.
struct Decision<'c, 'a> {
    used: &'c MeasuredTrial<'a>,
    why: Why<'c, 'a>,
}

/// Why a trial is advised.
enum Why<'c, 'a> {
    /// It is the baseline itself, or there is no baseline.
    Itself { is_reference: bool },
    /// It is clearly faster than the baseline; not always the simplest of those that tie with it.
    Faster { base: &'c MeasuredTrial<'a>, ratio: Ratio, is_simplest: bool },
    /// It is the baseline, as the other trial is not clearly faster.
    Kept { instead: &'c MeasuredTrial<'a>, ratio: Option<Ratio> },
}

impl Advice {
    /// The advice from all rankings of a record, in their order.
    pub(super) fn all(record: &Record, rankings: &[Ranking]) -> Vec<Advice> {
        let mut all = Vec::new();
        for (index, ranking) in rankings.iter().enumerate() {
            all.extend(Advice::of(&AdviceCandidates::of(record, ranking), index));
        }
        all
    }

    /// `None` where fewer than two trials were measured.
    fn of(candidates: &AdviceCandidates, ranking: usize) -> Option<Advice> {
        let first: Vec<&MeasuredTrial> = candidates.rows.iter().filter(|it| it.row.is_first()).collect();
        let fastest = *first.first().filter(|_| candidates.rows.len() > 1)?;
        let condition = candidates.ranking.full_condition();
        let is_undecided =
            |it: &&&MeasuredTrial| it.row.rank.is_some_and(|rank| rank.tie == TieStatus::Undecided);
        let undecided = first.iter().filter(is_undecided).count();
        if undecided > 0 {
            return Some(Advice::none(ranking, condition, undecided));
        }
        let Decision { used, why } = candidates.decide(candidates.simplest(first).unwrap_or(fastest));
        let (mut against, mut step) = (None, None);
        if let Why::Faster { base, ratio, .. } = &why {
            against = Some(Against { name: base.row.name.clone(), ratio: *ratio });
            step = candidates.cheaper(used, base);
        }
        let tied = candidates.ties(used);
        let sentence = sentence::of(used, &why, tied.len(), step.as_ref());
        Some(Advice {
            ranking,
            sentence: format!("{condition}: {sentence}"),
            condition,
            uses: Some(used.row.index),
            name: used.row.name.clone(),
            tied,
            against,
            cheaper: step.map(SimplerTrial::into_cheaper),
            code: snippet::code(&used.trial.trial.id.method, &used.trial.trial.params),
        })
    }

    /// That nothing can be advised.
    fn none(ranking: usize, condition: String, undecided: usize) -> Advice {
        let sentence = format!(
            "{condition}: no advice, as {} cannot be told from the fastest with so few rounds",
            words::plural(undecided, "more trial")
        );
        Advice {
            ranking,
            condition,
            sentence,
            uses: None,
            name: String::new(),
            tied: Vec::new(),
            against: None,
            cheaper: None,
            code: Vec::new(),
        }
    }
}

impl SimplerTrial<'_, '_> {
    fn into_cheaper(self) -> Cheaper {
        let RankingRow { index, name, .. } = self.measured.row;
        Cheaper { index: *index, name: name.clone(), ratio: self.ratio, without: self.without }
    }
}
