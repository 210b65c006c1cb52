//! Advice for each language: its usual method, its best method, the ratio of the two, and what the
//! best one needs.

use super::super::groups;
use super::super::words;
use super::candidates::{AdviceCandidates, MeasuredTrial};
use readlab_analysis::stats::{SharedRatio, Significance};
use readlab_catalog::snippet::Snippet;
use readlab_model::trial::TrialIndex;
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LanguageAdvice {
    pub language: String,
    // `None` if no usual method was measured.
    /// The usual method of programs in this language.
    pub usual: Option<AdvisedTrial>,
    #[serde(rename = "usual_is")]
    pub usual_standing: Option<UsualWay>,
    // The usual method, if it is the fastest or is clearly faster than the fastest within rounds.
    // Otherwise the simplest of the trials that tie for the fastest of the language and are clearly
    // faster than the usual method; if there is none, the fastest.
    pub best: AdvisedTrial,
    // `None` if no usual method was measured, if the usual method is the best one, or if no round
    // holds both trials. The interval is corrected for the selection of the best trial by its
    // speed.
    /// How many times as fast as the usual method the best one is.
    #[serde(rename = "times")]
    pub ratio: Option<SharedRatio>,
    /// What the best method needs of a program.
    pub needs: Vec<&'static str>,
    pub code: Vec<Snippet>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UsualWay {
    TheSame,
    /// The best method has a lower median, but its interval does not show that it is faster.
    NotToldApart,
    Slower,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "TrialName")]
pub struct AdvisedTrial {
    #[serde(rename = "trial")]
    pub index: TrialIndex,
    #[serde(rename = "id")]
    pub name: String,
}

impl AdvisedTrial {
    fn from_measured(measured: &MeasuredTrial) -> AdvisedTrial {
        AdvisedTrial { index: measured.row.index, name: measured.row.name.clone() }
    }
}

impl LanguageAdvice {
    /// The advice for every measured language, the language of the fastest trial first. A language
    /// in which only the baseline was measured gets no advice.
    pub(super) fn all(candidates: &AdviceCandidates) -> Vec<LanguageAdvice> {
        let languages = groups::by_key(candidates.trials.iter().map(|it| (&it.row.language, it)));
        let is_baseline =
            |it: &MeasuredTrial| candidates.baseline().is_some_and(|base| base.is_same_trial(it));
        let advised = languages.iter().filter(|(_, rows)| rows.len() > 1 || !is_baseline(rows[0]));
        advised.map(|(_, rows)| LanguageAdvice::decide(candidates, rows)).collect()
    }

    fn decide(candidates: &AdviceCandidates, rows: &[&MeasuredTrial]) -> LanguageAdvice {
        // A trial that was read in one round may look fast by chance.
        let fastest = rows.iter().find(|it| it.row.rank.is_some()).copied().unwrap_or(rows[0]);
        // Trials are in the order of the suite, where the most usual one comes first.
        let usual = rows.iter().filter(|it| it.is_usual()).min_by_key(|it| it.row.index).copied();
        let others = rows.len() - 1;
        let to_usual = |it: &MeasuredTrial| candidates.ratio_of_chosen(usual?, it, others);
        let clear = |it: &MeasuredTrial| to_usual(it)?.significance();
        let is_tied = |it: &&MeasuredTrial| match candidates.significance(fastest, it) {
            Some(Significance::Tie | Significance::Faster) => true,
            Some(Significance::Slower) | None => it.is_same_trial(fastest),
        };
        let is_progress = |it: &&MeasuredTrial| usual.is_none() || clear(it) == Some(Significance::Faster);
        let better = rows.iter().copied().filter(is_tied).filter(is_progress).collect();
        let best = match usual {
            Some(usual) if usual.is_same_trial(fastest) || clear(fastest) == Some(Significance::Slower) => {
                usual
            }
            _ => candidates.find_simplest(better).unwrap_or(fastest),
        };
        let usual_is = |usual: &MeasuredTrial| match clear(best) {
            _ if usual.is_same_trial(best) => UsualWay::TheSame,
            Some(Significance::Faster) => UsualWay::Slower,
            _ => UsualWay::NotToldApart,
        };
        LanguageAdvice {
            language: best.row.language.clone(),
            usual: usual.map(AdvisedTrial::from_measured),
            usual_standing: usual.map(usual_is),
            best: AdvisedTrial::from_measured(best),
            ratio: to_usual(best),
            needs: best.needs().unwrap_or_default().into_iter().collect(),
            code: best.snippets(),
        }
    }

    /// The best method compared with the usual one, in words.
    pub fn words(&self) -> String {
        let times = || self.ratio.map_or_else(|| "no round holds both".to_owned(), words::ratio_words);
        match self.usual_standing {
            None => "its usual way was not measured".to_owned(),
            Some(UsualWay::TheSame) => "the same as its usual way".to_owned(),
            Some(UsualWay::NotToldApart) => format!("not told apart from its usual way ({})", times()),
            Some(UsualWay::Slower) => format!("{} × its usual way, which is slower", times()),
        }
    }
}
