//! The metrics of claims: the measures of comparisons, and those that only claims need.

use readlab_analysis::compare::{Measure, Unit};
use serde::Deserialize;

/// One number of a trial or of a series of a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub enum Metric {
    /// A measure that records and publications hold.
    Measure(Measure),
    /// The size of the target, in bytes.
    Size,
    /// The intercept at size 0 of the line through time against size, in nanoseconds.
    FixedCost,
}

const SIZE_WORD: &str = "size";
const FIXED_COST_WORD: &str = "fixed";

impl Metric {
    /// Wall time, the default metric.
    pub const WALL: Metric = Metric::Measure(Measure::Wall);

    pub fn name(self) -> &'static str {
        match self {
            Metric::Measure(Measure::Wall) => "wall time",
            Metric::Measure(Measure::Cpu) => "CPU time",
            Metric::Measure(Measure::Peak) => "peak of memory",
            Metric::Measure(Measure::Device) => "bytes from the device",
            Metric::Measure(Measure::Slope) => "rate by the slope",
            Metric::Measure(Measure::Most) => "highest rate",
            Metric::Measure(measure) => measure.word(),
            Metric::Size => SIZE_WORD,
            Metric::FixedCost => "fixed cost",
        }
    }

    pub fn unit(self) -> Unit {
        match self {
            Metric::Measure(measure) => measure.unit(),
            Metric::Size => Unit::Bytes,
            Metric::FixedCost => Unit::Nanoseconds,
        }
    }
}

impl TryFrom<String> for Metric {
    type Error = String;

    fn try_from(word: String) -> Result<Metric, String> {
        match word.as_str() {
            SIZE_WORD => Ok(Metric::Size),
            FIXED_COST_WORD => Ok(Metric::FixedCost),
            _ => word.parse().map(Metric::Measure).map_err(|_| {
                let measures = <Measure as clap::ValueEnum>::value_variants().iter().map(|it| it.word());
                let known: Vec<&str> = measures.chain([SIZE_WORD, FIXED_COST_WORD]).collect();
                format!("unknown metric '{word}', expected one of {}", known.join(", "))
            }),
        }
    }
}
