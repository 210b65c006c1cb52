//! The measured trials of a ranking as candidates for advice: what each needs, how simple it is,
//! and which are clearly faster than others.

use super::super::ranking::{Pieces, Ranking, RankingRow};
use readlab_analysis::stats::{SharedRatio, Significance};
use readlab_catalog::snippet::{self, Snippet};
use readlab_record::{Record, TrialRecord};
use std::collections::BTreeSet;

pub(super) struct MeasuredTrial<'a> {
    pub(super) row: &'a RankingRow,
    pub(super) trial: &'a TrialRecord,
}

impl MeasuredTrial<'_> {
    /// What a program needs to read with this method; `None` for a method without a snippet.
    pub(super) fn needs(&self) -> Option<BTreeSet<&'static str>> {
        let mut needs = snippet::method_needs(&self.row.method)?;
        needs.extend((self.param_or_one("threads") > 1).then_some("several threads"));
        Some(needs)
    }

    /// The code for the method of the trial; empty for ranges of a list, because all snippets read
    /// blocks of one size.
    pub(super) fn snippets(&self) -> Vec<Snippet> {
        match self.row.pieces {
            Some(Pieces::Ranges(_)) => Vec::new(),
            _ => snippet::snippets_of_method(&self.row.method, &self.row.params),
        }
    }

    /// The value of a parameter, or 1 if the trial does not have the parameter.
    pub(super) fn param_or_one(&self, name: &str) -> u64 {
        self.row.params.0.get(name).copied().unwrap_or(1)
    }

    /// Whether this is the usual method of programs in its language.
    pub(super) fn is_usual(&self) -> bool {
        snippet::is_usual(&self.row.method)
    }

    /// A key that sorts the simplest trial first: trials with code, then the fewest unsafe parts,
    /// then the shortest code, then the fewest needs, threads, reads in flight, buffers, bytes of
    /// buffers, and settings.
    fn complexity(&self) -> impl Ord + use<> {
        let sizes = ["buffer_bytes", "buffer_chars", "chunk_bytes"];
        let buffer: u64 = sizes.iter().map(|name| self.param_or_one(name)).sum();
        let trial = &self.trial.trial;
        let set = trial.id.params.0.values().filter(|value| **value > 0).count();
        let code = snippet::code_extent(&self.row.method);
        let needs = self.needs().map_or(usize::MAX, |needs| needs.len());
        (
            code.is_none(),
            code,
            needs,
            self.param_or_one("threads"),
            self.param_or_one("depth"),
            self.param_or_one("buffers"),
            buffer,
            set,
            trial.index,
        )
    }

    pub(super) fn is_same_trial(&self, other: &MeasuredTrial) -> bool {
        self.row.index == other.row.index
    }

    pub(super) fn shares_language_with(&self, other: &MeasuredTrial) -> bool {
        self.row.language == other.row.language
    }
}

pub(super) struct AdviceCandidates<'a> {
    pub(super) ranking: &'a Ranking,
    /// The trials in the order of their medians.
    pub(super) trials: Vec<MeasuredTrial<'a>>,
}

impl<'a> AdviceCandidates<'a> {
    pub(super) fn from_ranking(record: &'a Record, ranking: &'a Ranking) -> AdviceCandidates<'a> {
        let trial = |row: &RankingRow| record.trial(row.index);
        let measured = |row: &'a RankingRow| Some(MeasuredTrial { row, trial: trial(row)? });
        let trials = ranking.rows.iter().filter_map(measured).collect();
        AdviceCandidates { ranking, trials }
    }

    /// How many times as fast as the base a trial is; `None` for the base itself, and if no round
    /// holds both trials.
    pub(super) fn ratio(&self, base: &MeasuredTrial, it: &MeasuredTrial) -> Option<SharedRatio> {
        self.ranking.noise.ratio(it.row.index, base.row.index).filter(|_| !it.is_same_trial(base))
    }

    /// The ratio as in `ratio`, with an interval that is corrected for a choice: the trial was
    /// chosen as the fastest of itself and `others` more trials.
    pub(super) fn ratio_of_chosen(
        &self,
        base: &MeasuredTrial,
        it: &MeasuredTrial,
        others: usize,
    ) -> Option<SharedRatio> {
        let ratio = self.ranking.noise.ratio_of_chosen(it.row.index, base.row.index, others);
        ratio.filter(|_| !it.is_same_trial(base))
    }

    pub(super) fn significance(&self, base: &MeasuredTrial, it: &MeasuredTrial) -> Option<Significance> {
        self.ratio(base, it)?.significance()
    }

    pub(super) fn is_faster(&self, it: &MeasuredTrial, than: &MeasuredTrial) -> bool {
        self.significance(than, it) == Some(Significance::Faster)
    }

    /// Whether no trial that `is_rival` accepts is clearly faster.
    pub(super) fn is_unbeaten(&self, it: &MeasuredTrial, is_rival: impl Fn(&MeasuredTrial) -> bool) -> bool {
        let before = self.trials.iter().take_while(|other| !other.is_same_trial(it));
        !before.filter(|other| is_rival(other)).any(|other| self.is_faster(other, it))
    }

    /// The simplest of these trials, without those for which a trial in the same language is
    /// clearly faster. A usual method counts as simpler than all others.
    pub(super) fn find_simplest<'c>(
        &self,
        mut among: Vec<&'c MeasuredTrial<'a>>,
    ) -> Option<&'c MeasuredTrial<'a>> {
        among.sort_by_key(|it| (!it.is_usual(), it.complexity()));
        among.into_iter().find(|it| self.is_unbeaten(it, |rival| rival.shares_language_with(it)))
    }

    /// The reference of the ranking; `None` if it was not chosen before the run.
    pub(super) fn baseline(&self) -> Option<&MeasuredTrial<'a>> {
        let reference = self.ranking.reference_row().filter(|_| self.ranking.has_chosen_reference())?;
        self.trials.iter().find(|it| it.row.index == reference.index)
    }

    /// The names of the trials of the first rank that tie with the advised trial.
    pub(super) fn tied_names(&self, used: &MeasuredTrial) -> Vec<String> {
        let firsts = self.trials.iter().filter(|it| it.row.is_first());
        let ties = firsts.filter(|it| self.significance(used, it) == Some(Significance::Tie));
        ties.map(|it| it.row.name.clone()).collect()
    }

    /// The trial with the fewest needs, among the trials that are in the language of the advised
    /// trial, need less, and are clearly faster than the baseline.
    pub(super) fn find_simpler(
        &self,
        used: &MeasuredTrial,
        base: &MeasuredTrial,
    ) -> Option<SimplerTrial<'_, 'a>> {
        let all = used.needs()?;
        let rivals = self.trials.iter().filter(|it| it.shares_language_with(used));
        let steps = rivals.filter_map(|measured| {
            let needs = measured.needs()?;
            let needs_less = needs.len() < all.len() && needs.is_subset(&all);
            let ratio = self.ratio(base, measured).filter(|_| needs_less)?;
            let without = all.difference(&needs).copied().collect();
            (ratio.significance() == Some(Significance::Faster)).then_some(SimplerTrial {
                measured,
                ratio,
                spared_needs: without,
            })
        });
        steps.min_by_key(|step| all.len() - step.spared_needs.len())
    }
}

/// A trial that needs less than the advised trial.
pub(super) struct SimplerTrial<'c, 'a> {
    pub(super) measured: &'c MeasuredTrial<'a>,
    pub(super) ratio: SharedRatio,
    pub(super) spared_needs: Vec<&'static str>,
}
