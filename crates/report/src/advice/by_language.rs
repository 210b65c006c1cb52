//! Advice for each language: its usual way of reading, its best way, how much faster that is, and
//! what it needs.

use super::candidates::{AdviceCandidates, MeasuredTrial};
use readlab_analysis::stats::{Ratio, Significance};
use readlab_model::trial::TrialIndex;
use readlab_roster::snippet::{self, Snippet};

#[derive(Debug, Clone, PartialEq)]
pub struct LanguageAdvice {
    /// Its name: `Rust`, `commands`.
    pub language: String,
    /// What programs in it usually do; `None` where no such trial was measured.
    pub usual: Option<AdvisedTrial>,
    /// The simplest of the trials that tie for its fastest.
    pub best: AdvisedTrial,
    /// How many times as fast as the usual way the best is; `None` where they are the same.
    pub ratio: Option<Ratio>,
    /// What the best needs of a program, such as unsafe code.
    pub needs: Vec<&'static str>,
    /// Code that reads in the best way.
    pub code: Vec<Snippet>,
}

/// A trial that advice names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdvisedTrial {
    pub index: TrialIndex,
    pub name: String,
}

impl AdvisedTrial {
    fn from_measured(measured: &MeasuredTrial) -> AdvisedTrial {
        AdvisedTrial { index: measured.row.index, name: measured.row.name.clone() }
    }
}

impl LanguageAdvice {
    /// The advice for every language with a ranked trial, the language of the fastest first. A
    /// language of which only the baseline was measured has none.
    pub(super) fn all(candidates: &AdviceCandidates) -> Vec<LanguageAdvice> {
        let mut all: Vec<LanguageAdvice> = Vec::new();
        for fastest in &candidates.rows {
            if all.iter().any(|it| it.language == fastest.row.language) {
                continue;
            }
            let rows: Vec<_> = candidates.rows.iter().filter(|it| it.is_of_language_of(fastest)).collect();
            let is_baseline = candidates.baseline().is_some_and(|base| base.is(fastest));
            if rows.len() > 1 || !is_baseline {
                all.push(LanguageAdvice::decide(candidates, fastest, &rows));
            }
        }
        all
    }

    /// From the trials of one language, fastest first.
    fn decide(
        candidates: &AdviceCandidates,
        fastest: &MeasuredTrial,
        rows: &[&MeasuredTrial],
    ) -> LanguageAdvice {
        let is_tied = |it: &&&MeasuredTrial| match candidates.significance(fastest, it) {
            Some(Significance::Tie | Significance::Faster) => true,
            Some(Significance::Slower) | None => it.is(fastest),
        };
        // The order of a record is the order of the suite, where the most usual comes first.
        let usual = rows.iter().filter(|it| it.is_usual()).min_by_key(|it| it.row.index);
        let tied = || rows.iter().filter(is_tied).copied();
        let is_progress =
            |it: &&MeasuredTrial| usual.is_none_or(|usual| usual.is(it) || candidates.is_faster(it, usual));
        let simplest = candidates.simplest(tied().filter(is_progress).collect());
        let best = simplest.unwrap_or(fastest);
        LanguageAdvice {
            language: best.row.language.clone(),
            usual: usual.map(|it| AdvisedTrial::from_measured(it)),
            best: AdvisedTrial::from_measured(best),
            ratio: usual.and_then(|usual| candidates.ratio(usual, best)),
            needs: best.needs().unwrap_or_default().into_iter().collect(),
            code: snippet::code(&best.row.method, &best.row.params),
        }
    }
}
