//! The figures of one side: of a machine of a published table, or of a record. Finds the number of
//! a claim's quantity among these figures.

use super::claim::Quantity;
use super::metric::Metric;
use super::operand::Operand;
use super::{answer::Estimate, sweep};
use readlab_analysis::compare::{Case, Center, Figure, Measure, SHEET_FACT, Side};
use readlab_analysis::stats::{Interval, float};
use readlab_analysis::verdict;
use readlab_model::trial::{CacheState, Transport};
use readlab_record::{LimitKind, LimitUnit, Record, RunKind};
use readlab_suite::published;

/// The name that claims use for the best rate of the drive: its data sheet in a publication, the
/// control of the device in a record.
pub(super) const DRIVE_NAME: &str = "the drive";

/// The name of the fact that says how many bytes a published file occupies on its drive. A cold
/// reading reads that many bytes from the device.
const STORED_FACT: &str = "stored_bytes";

/// The name of the side whose figures come from a record.
pub const RECORD_SIDE_NAME: &str = "here";

#[derive(Debug, Clone)]
pub(super) struct Dataset<'a> {
    side: Side,
    /// The record; `None` for a published table.
    record: Option<&'a Record>,
}

/// Why a side has no figure for a quantity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum MissingFigure {
    #[error("{0} did not take part")]
    Absent(String),
    #[error("its tables do not have {0}")]
    NotPublished(String),
    #[error("{trial} has no reading: {why}")]
    Unmeasured { trial: String, why: String },
    #[error("{0}")]
    NoNumber(String),
}

impl<'a> Dataset<'a> {
    /// The machines of a publication; empty where the name is unknown.
    pub(super) fn of_publication(name: &str) -> Vec<Dataset<'static>> {
        let sides = published::sides(name).unwrap_or_default();
        sides.into_iter().map(|side| Dataset { side, record: None }).collect()
    }

    pub(super) fn of_record(record: &'a Record) -> Dataset<'a> {
        let side = Side::of_record(record, RECORD_SIDE_NAME, "");
        Dataset { side, record: Some(record) }
    }

    pub(super) fn is_record(&self) -> bool {
        self.record.is_some()
    }

    /// The name of the machine, or `here`.
    pub(super) fn name(&self) -> &str {
        &self.side.name
    }

    #[cfg(test)]
    pub(super) fn cases(&self) -> &[Case] {
        &self.side.cases
    }

    /// A fact of the machine that is a number.
    pub(super) fn fact_number(&self, name: &str) -> Option<f64> {
        self.side.facts.get(name)?.as_f64()
    }

    /// A fact of the machine that is a string.
    pub(super) fn fact_text(&self, name: &str) -> Option<&str> {
        self.side.facts.get(name)?.as_str()
    }

    pub(super) fn operand(&self, quantity: &Quantity) -> Result<Operand, MissingFigure> {
        match self.record {
            _ if quantity.trial == DRIVE_NAME => self.drive_rate(),
            None => self.table_operand(quantity),
            Some(record) if record.header.kind == RunKind::Sweep => sweep::series_operand(record, quantity),
            Some(_) => self.trial_operand(quantity),
        }
    }

    /// Whether the cache state of every case is known.
    pub(super) fn has_known_states(&self) -> bool {
        self.side.cases.iter().all(has_known_state)
    }

    /// The size of the target of a trial.
    pub(super) fn size_bytes(&self, quantity: &Quantity) -> Option<u64> {
        self.case(quantity).ok()?.key.size_bytes
    }

    fn drive_rate(&self) -> Result<Operand, MissingFigure> {
        let Some(record) = self.record else {
            let sheet = self.fact_number(SHEET_FACT).map(Operand::exact);
            return sheet
                .ok_or_else(|| MissingFigure::NoNumber("no data sheet of the drive is known".to_owned()));
        };
        let limits = verdict::limits(record);
        let of_device = |kind, unit| (kind, unit) == (LimitKind::Device, LimitUnit::BytesPerSecond);
        let best = limits.iter().filter(|it| of_device(it.kind, it.unit)).max_by_key(|it| it.value);
        let limit =
            best.ok_or_else(|| MissingFigure::NoNumber("no control measured the drive".to_owned()))?;
        let ends = limit.ci95.map(|[low, high]| Interval { low: float(low), high: float(high) });
        Ok(Operand::Single(Estimate::with_ends(float(limit.value), ends)))
    }

    fn table_operand(&self, quantity: &Quantity) -> Result<Operand, MissingFigure> {
        let metric = quantity.published_metric.unwrap_or(quantity.metric);
        if quantity.size_range_bytes.is_some() && quantity.published_metric.is_none() {
            return Err(MissingFigure::NoNumber("its tables do not list single sizes".to_owned()));
        }
        let case = self.case(quantity)?;
        let not_published =
            || MissingFigure::NoNumber(format!("its tables have no {} of {}", metric.name(), quantity.trial));
        let stored = || self.fact_number(STORED_FACT).filter(|_| metric == Metric::Measure(Measure::Device));
        let stored = || stored().map(|bytes| Operand::Single(Estimate::without_interval(bytes)));
        metric_operand(case, metric).or_else(stored).ok_or_else(not_published)
    }

    fn trial_operand(&self, quantity: &Quantity) -> Result<Operand, MissingFigure> {
        let (case, Quantity { trial, metric, .. }) = (self.case(quantity)?, quantity);
        let unmeasured = |why: String| Err(MissingFigure::Unmeasured { trial: trial.clone(), why });
        if let Some(outcome) = &case.why_unmeasured {
            let why = outcome.reason().unwrap_or("no reading counts");
            return unmeasured(format!("{}: {why}", outcome.word()));
        }
        if case.figures.is_empty() {
            return unmeasured("the run ended before its first one".to_owned());
        }
        let lack = || MissingFigure::NoNumber(format!("{} of {trial} was not metered", metric.name()));
        metric_operand(case, *metric).ok_or_else(lack)
    }

    /// The case that a quantity names. The name may fit several cases: it may be the label of one
    /// and the name of another's trial, and both may be read from a file or a server, in several
    /// states and under several bounds on memory. The choice prefers a case with readings, then the
    /// case with this label, then a file to a server, then cold to warm. In a published table,
    /// bounds on memory and unknown cache states are not compared.
    fn case(&self, quantity: &Quantity) -> Result<&Case, MissingFigure> {
        let is_meant = |case: &&Case| {
            let is_unknown = self.record.is_none() && !has_known_state(case);
            let state = is_unknown || quantity.state.is_none() || case.key.state == quantity.state;
            let memory = self.record.is_none()
                || quantity.memory.is_none()
                || case.key.memory_bound == quantity.memory;
            state && memory && case.names.contains(&quantity.trial)
        };
        let found = self.side.cases.iter().filter(is_meant).min_by_key(|case| {
            let over = case.key.transport.unwrap_or_default() == Transport::Http;
            let warm = case.key.state == Some(CacheState::Warm);
            (case.figures.is_empty(), case.name != quantity.trial, over, warm)
        });
        found.ok_or_else(|| match (self.record, quantity.state) {
            (None, _) => MissingFigure::NotPublished(quantity.trial.clone()),
            (Some(_), Some(state)) => {
                let memory = quantity.memory.map_or_else(String::new, |bound| format!(", memory={bound}"));
                MissingFigure::Absent(format!("{} ({state}{memory})", quantity.trial))
            }
            (Some(_), None) => MissingFigure::Absent(quantity.trial.clone()),
        })
    }
}

/// Whether the cache state of a case is known.
fn has_known_state(case: &Case) -> bool {
    case.key.state.is_some_and(|state| state != CacheState::Unknown)
}

fn metric_operand(case: &Case, metric: Metric) -> Option<Operand> {
    let measure = match metric {
        Metric::Measure(measure) => measure,
        Metric::Size => return read_bytes_operand(case),
        Metric::FixedCost => Measure::Fixed,
    };
    let figure = case.figures.get(&measure)?;
    Some(match figure {
        Figure::Value { value, .. } => {
            Operand::Single(Estimate::with_ends(*value, figure.cell(Center::Median).ci95))
        }
        Figure::Samples(observations) => Operand::Readings {
            round_group: case.key.state.map(|state| state.to_string()).unwrap_or_default(),
            observations: observations.clone(),
            noise: case.noise.get(&measure).cloned(),
        },
    })
}

fn read_bytes_operand(case: &Case) -> Option<Operand> {
    let bytes = float(case.key.size_bytes?) * float(case.key.reader_count.unwrap_or(1));
    Some(Operand::exact(bytes))
}

/// Time per byte in nanoseconds, from a rate in bytes per second.
pub(super) fn ns_per_byte(rate: f64) -> f64 {
    1e9 / rate.max(f64::MIN_POSITIVE)
}

/// The quantity with the rate as its metric.
pub(super) fn with_rate_metric(quantity: &Quantity) -> Quantity {
    Quantity { metric: Metric::Measure(Measure::Rate), ..quantity.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stored_size_of_a_published_file_is_what_the_device_was_read_for() {
        let mut figures = Dataset::of_publication("newlines").swap_remove(0);
        figures.side.facts.insert(STORED_FACT.to_owned(), 5_300_000_000_u64.into());
        let number = |metric| {
            let (trial, published_metric) = ("Mmap".to_owned(), None);
            let quantity = Quantity {
                trial,
                metric,
                published_metric,
                state: None,
                memory: None,
                size_range_bytes: None,
            };
            figures.operand(&quantity).map(|operand| operand.estimate().value)
        };
        assert_eq!(number(Metric::Measure(Measure::Device)), Ok(5.3e9));
        assert_eq!(number(Metric::Size), Ok(22e9));
        assert!(number(Metric::Measure(Measure::Peak)).is_err());
    }
}
