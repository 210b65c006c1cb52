//! The figures, one file each, with their promise, measurement and result. [`ALL`] lists them.

mod auto;
mod axes;
mod beside_fio;
mod beside_hyperfine;
mod build;
mod decide;
mod falsely_refused;
mod fidelity;
mod floor;
mod gate;
mod intervals;
mod power;
mod pressed;
mod same;
mod state;
mod test_times;
mod tune;
mod tune_seeds;

use crate::cases;
use crate::programs::Programs;
use crate::row::Row;

pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// Minutes that the figure takes on two processors, roughly.
    pub(crate) minutes: u32,
    pub(crate) measure: fn(&Programs) -> anyhow::Result<Vec<Row>>,
}

/// Every figure of the whole bench, in the order of the report.
#[rustfmt::skip]
pub(crate) const ALL: &[Figure] = &[
    Figure { name: "fidelity", about: fidelity::ABOUT, minutes: 4, measure: fidelity::measure },
    Figure { name: "floor", about: floor::ABOUT, minutes: 3, measure: floor::measure },
    Figure { name: "state", about: state::ABOUT, minutes: 2, measure: state::measure },
    Figure { name: "falsely-refused", about: falsely_refused::ABOUT, minutes: 2, measure: falsely_refused::measure },
    Figure { name: cases::FIGURE, about: cases::ABOUT, minutes: 11, measure: cases::measure },
    Figure { name: "same", about: same::ABOUT, minutes: 4, measure: same::measure },
    Figure { name: "power", about: power::ABOUT, minutes: 5, measure: power::measure },
    Figure { name: "intervals", about: intervals::ABOUT, minutes: 3, measure: intervals::measure },
    Figure { name: "axes", about: axes::ABOUT, minutes: 6, measure: axes::measure },
    Figure { name: "pressed", about: pressed::ABOUT, minutes: 8, measure: pressed::measure },
    Figure { name: "decide", about: decide::ABOUT, minutes: 10, measure: decide::measure },
    Figure { name: "gate", about: gate::ABOUT, minutes: 3, measure: gate::measure },
    Figure { name: "auto", about: auto::ABOUT, minutes: 7, measure: auto::measure },
    Figure { name: "tune", about: tune::ABOUT, minutes: 7, measure: tune::measure },
    Figure { name: "beside-hyperfine", about: beside_hyperfine::ABOUT, minutes: 4, measure: beside_hyperfine::measure },
    Figure { name: "beside-fio", about: beside_fio::ABOUT, minutes: 4, measure: beside_fio::measure },
    Figure { name: "build", about: build::ABOUT, minutes: 3, measure: build::measure },
    Figure { name: "test-times", about: test_times::ABOUT, minutes: 4, measure: test_times::measure },
];

/// Figures that take too long for the whole bench. They are measured if they are named.
#[rustfmt::skip]
pub(crate) const ONLY_BY_NAME: &[Figure] = &[
    Figure { name: "tune-seeds", about: tune_seeds::ABOUT, minutes: 22, measure: tune_seeds::measure },
];
