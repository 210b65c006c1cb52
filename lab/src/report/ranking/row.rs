//! One measured trial, and its place.

use super::super::chart_reading::{self, ChartReading};
use super::super::name::Names;
use super::proof::{Range, device_shares};
use crate::analysis::stats::{self, Bootstrap, FillSpread, Ratio, Summary};
use crate::analysis::verdict::Diagnosis;
use crate::record::{Count, Metric, TrialRecord};
use crate::trial::{CacheState, MethodId, Params};
use crate::units::{Bytes, Nanos, Throughput};
use std::collections::BTreeMap;

/// One measured trial.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Number of the trial.
    pub index: usize,
    /// Its name.
    pub name: String,
    /// Its name as short as it may be beside the others of this record.
    pub short: String,
    /// Name that a suite gives it.
    pub label: Option<String>,
    /// Who reads and how.
    pub method: MethodId,
    /// Every parameter in force.
    pub params: Params,
    /// Where it stands; `None` for a control.
    pub place: Option<Place>,
    /// Wall time.
    pub wall: Summary,
    /// The bytes that one reading brings, by all its readers together; `None` for a control and for
    /// a target of no bytes.
    pub bytes: Option<Bytes>,
    /// Those bytes over the median wall time.
    pub throughput: Option<Throughput>,
    /// The bytes that go in, those of the target itself, over the median wall time; `None` where
    /// nothing is decoded.
    pub rate_in: Option<Throughput>,
    /// Every metric that some sample holds, the wall time among them.
    pub summaries: BTreeMap<Metric, Summary>,
    /// The readings one by one.
    pub readings: Vec<ChartReading>,
    /// Processors in use on average: CPU time over wall time, the median over the samples that hold
    /// both.
    pub cores: Option<f64>,
    /// Counts from untimed runs.
    pub counts: BTreeMap<String, Count>,
    /// Why a meter could not be read, by its name in files.
    pub missing: BTreeMap<String, String>,
    /// Times as fast as the reference; `None` for the reference itself, and where no round holds
    /// both.
    pub ratio: Option<Ratio>,
    /// Whether it goes to the device even when the file is cached.
    pub bypasses_cache: bool,
    /// Bytes from the device over the target's size, lowest and highest sample.
    pub device_share: Option<Range>,
    /// How far fills lie apart; `None` when cold, and with one fill.
    pub fills: Option<FillSpread>,
    /// Readings thrown away because their state could not be proven.
    pub rejected: usize,
    /// Whether it did more than read, of which a caution tells.
    pub has_conduct: bool,
    /// Whether the run was cut short before this trial was done.
    pub cut_short: bool,
    /// What stops it, with its nearest limit and the reasons; `None` for a control.
    pub judgement: Option<Diagnosis>,
}

/// A place in the ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// From 1; those that cannot be told apart share it.
    pub rank: usize,
    /// How it stands to the first of its rank.
    pub standing: TieStatus,
}

/// How a trial stands to the first of its rank, by their ratio within rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TieStatus {
    /// It is the first.
    First,
    /// The interval of their ratio holds 1.
    Tied,
    /// Too few rounds hold both to say.
    Undecided,
}

impl Place {
    /// `1`; `1=` when tied, `1?` when undecided.
    #[must_use]
    pub fn word(self) -> String {
        match self.standing {
            TieStatus::First => self.rank.to_string(),
            TieStatus::Tied => format!("{}=", self.rank),
            TieStatus::Undecided => format!("{}?", self.rank),
        }
    }
}

impl Row {
    /// Summarises a trial; `None` without samples.
    pub(super) fn of(
        trial: &TrialRecord,
        names: &Names,
        ((size, bytes_out), bootstrap): ((Option<Bytes>, Option<Bytes>), Bootstrap),
    ) -> Option<Row> {
        let summarise = |metric| Some((metric, stats::summary(&trial.samples, metric, bootstrap)?));
        let summaries: BTreeMap<Metric, Summary> = Metric::ALL.into_iter().filter_map(summarise).collect();
        let wall = summaries.get(&Metric::WallNs)?.clone();
        let by_all = |size: Bytes| Bytes(size.0.saturating_mul(trial.trial.readers()));
        let bytes = bytes_out.filter(|size| size.0 > 0 && !trial.trial.is_control()).map(by_all);
        let read = bytes.filter(|_| wall.median > 0);
        Some(Row {
            index: trial.trial.index,
            name: trial.trial.id.to_string(),
            short: names.short(&trial.trial),
            label: trial.trial.label.clone(),
            method: trial.trial.id.method.clone(),
            params: trial.trial.params.clone(),
            place: None,
            bytes,
            throughput: read.map(|size| Throughput::of(size, Nanos(wall.median))),
            rate_in: size
                .filter(|_| read.is_some() && trial.trial.decodes.is_some())
                .map(|size| Throughput::of(by_all(size), Nanos(wall.median))),
            wall,
            summaries,
            readings: trial.samples.iter().map(ChartReading::of).collect(),
            cores: chart_reading::cores(&trial.samples),
            counts: trial.counts.clone(),
            missing: trial.missing.clone(),
            ratio: None,
            bypasses_cache: trial.trial.bypasses_cache(),
            device_share: Range::over(device_shares(trial, size)),
            fills: stats::fill_spread(&trial.samples).filter(|_| trial.trial.state == CacheState::Warm),
            rejected: trial.rejected.len(),
            has_conduct: !trial.conduct.is_plain(),
            cut_short: trial.outcome.is_none(),
            judgement: None,
        })
    }
}
