//! What a readlab finds in a record, read from its JSON export: ranks, ratios and their intervals.
//! Only fields that every revision writes are read, so that an older program can be compared.

use readlab_analysis::stats::{Interval, Significance};
use readlab_model::trial::TrialIndex;
use serde::Deserialize;
use serde::de::IgnoredAny;

/// The results of a record.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Export {
    /// Every trial, controls included.
    pub(crate) trials: Vec<ExportedTrial>,
}

/// The results of a trial.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct ExportedTrial {
    /// Its number in the record.
    pub(crate) index: TrialIndex,
    pub(crate) id: String,
    #[serde(flatten)]
    pub(crate) ranking: RankingKey,
    cache: String,
    /// `None` without samples.
    summary: Option<IgnoredAny>,
    /// Its rank; `None` for a control, and where there are too few rounds.
    pub(crate) rank: Option<ExportedRank>,
    /// How it compares with the reference.
    pub(crate) ratio: Option<ExportedRatio>,
}

/// What the trials of one ranking have in common.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct RankingKey {
    pub(crate) state: String,
    target: Option<String>,
    work: String,
    decodes: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct ExportedRank {
    /// From 1; trials that tie share it.
    pub(crate) place: usize,
    /// How it compares with the first of its rank.
    pub(crate) standing: Standing,
}

/// How a trial compares with the first of its rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Standing {
    First,
    /// No difference is shown.
    Tied,
    /// There are too few rounds to say.
    Undecided,
}

/// A ratio to the reference: above 1, the trial is faster.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct ExportedRatio {
    pub(crate) reference: String,
    /// How many times as fast.
    pub(crate) estimate: f64,
    ci95: Option<[f64; 2]>,
}

impl Export {
    /// Reads the document.
    pub(crate) fn parse(json: &[u8]) -> serde_json::Result<Export> {
        serde_json::from_slice(json)
    }

    /// The trials that were measured, without controls.
    pub(crate) fn measured(&self) -> impl Iterator<Item = &ExportedTrial> {
        self.trials.iter().filter(|trial| trial.cache != "none" && trial.summary.is_some())
    }

    /// The trial that ratios of another are against.
    pub(crate) fn reference_of(&self, trial: &ExportedTrial) -> Option<&ExportedTrial> {
        let name = &trial.ratio.as_ref()?.reference;
        self.measured().find(|it| it.id == *name && it.ranking == trial.ranking)
    }
}

impl ExportedTrial {
    /// The interval of its ratio.
    pub(crate) fn interval(&self) -> Option<Interval> {
        self.ratio.as_ref().and_then(ExportedRatio::interval)
    }

    /// The interval of its ratio to the trial of this name.
    pub(crate) fn interval_against(&self, reference: &str) -> Option<Interval> {
        let ratio = self.ratio.as_ref().filter(|ratio| ratio.reference == reference);
        ratio.and_then(ExportedRatio::interval)
    }

    /// What the interval of its ratio shows; `None` where there is none.
    pub(crate) fn significance(&self) -> Option<Significance> {
        self.interval().map(Significance::from_interval)
    }
}

impl ExportedRatio {
    fn interval(&self) -> Option<Interval> {
        self.ci95.map(|[low, high]| Interval { low, high })
    }
}

/// Half the width of a ratio's interval, as a share: 0.05 for an interval from 1 ÷ 1.05 to 1.05.
pub(crate) fn half_width(ratio: Interval) -> f64 {
    (ratio.high / ratio.low).sqrt() - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXPORT: &str = r#"{"schema":"readlab.export","trials":[
        {"index":0,"id":"rust/null","state":"warm","target":"/f","work":"newlines","decodes":null,"cache":"none","summary":{},"rank":null,"ratio":null},
        {"index":1,"id":"rust/read","state":"warm","target":"/f","work":"newlines","decodes":null,"cache":"through","summary":{},
         "rank":{"place":1,"standing":"first"},"ratio":{"reference":"rust/lines","estimate":2.0,"ci95":[1.9,2.1],"clear":"faster","pairs":9}},
        {"index":2,"id":"rust/lines","state":"cold","target":"/f","work":"newlines","decodes":null,"cache":"through","summary":{},"rank":null,"ratio":null},
        {"index":3,"id":"rust/lines","state":"warm","target":"/f","work":"newlines","decodes":null,"cache":"through","summary":{},
         "rank":{"place":2,"standing":"tied"},"ratio":null},
        {"index":4,"id":"rust/mmap","state":"warm","target":"/f","work":"newlines","decodes":null,"cache":"through","summary":null,"rank":null,"ratio":null}]}"#;

    #[test]
    fn a_reference_is_one_of_the_same_ranking() {
        let export = Export::parse(EXPORT.as_bytes()).unwrap();
        let measured: Vec<TrialIndex> = export.measured().map(|trial| trial.index).collect();
        assert_eq!(measured, [1, 2, 3].map(TrialIndex::new), "neither a control nor what has no samples");
        assert_eq!(export.reference_of(&export.trials[1]).unwrap().index, TrialIndex::new(3));
        assert_eq!(export.reference_of(&export.trials[3]), None);
        assert_eq!(export.trials[1].significance(), Some(Significance::Faster));
        assert_eq!(export.trials[2].significance(), None);
    }

    #[test]
    fn half_a_width_is_the_same_for_a_ratio_and_its_inverse() {
        let of = |low, high| half_width(Interval { low, high });
        assert!((of(1.0 / 1.05, 1.05) - 0.05).abs() < 1e-12);
        assert!((of(2.0, 3.0) - of(1.0 / 3.0, 0.5)).abs() < 1e-12);
    }
}
