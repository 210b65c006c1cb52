//! The figures, one file each: the promise, its measurement, its result. [`ALL`] is the list of
//! them.

mod auto;
mod beside_hyperfine;
mod build;
mod decide;
mod decoders;
mod device;
mod disturbance;
mod falsely_refused;
mod fastest;
mod fidelity;
mod fio;
mod fleet;
mod fleet_hosts;
mod fleet_limits;
mod floor;
mod gate;
mod intervals;
mod languages;
mod large;
mod left_out;
mod memory;
mod objects;
mod page;
mod places;
mod power;
mod program;
mod readers;
mod same;
mod small_file;
mod soak;
mod state;
mod suite_intervals;
mod suites;
mod test_times;
mod trees;
mod tune;
mod verdicts;
mod wake_up;

use crate::programs::Programs;
use crate::row::Row;

/// One group of promises.
pub(crate) struct Figure {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// What it measures, in one line.
    pub(crate) about: &'static str,
    pub(crate) measure: fn(&Programs) -> anyhow::Result<Vec<Row>>,
}

/// Every figure, in the order of the report.
pub(crate) const ALL: &[Figure] = &[
    Figure { name: "fidelity", about: fidelity::ABOUT, measure: fidelity::measure },
    Figure { name: "small-file", about: small_file::ABOUT, measure: small_file::measure },
    Figure { name: "floor", about: floor::ABOUT, measure: floor::measure },
    Figure { name: "state", about: state::ABOUT, measure: state::measure },
    Figure { name: "fastest", about: fastest::ABOUT, measure: fastest::measure },
    Figure { name: "auto", about: auto::ABOUT, measure: auto::measure },
    Figure { name: "tune", about: tune::ABOUT, measure: tune::measure },
    Figure { name: "tune-objects", about: tune::ABOUT_OBJECTS, measure: tune::measure_objects },
    Figure { name: "languages", about: languages::ABOUT, measure: languages::measure },
    Figure { name: "fio", about: fio::ABOUT, measure: fio::measure },
    Figure { name: "device", about: device::ABOUT, measure: device::measure },
    Figure { name: "page", about: page::ABOUT, measure: page::measure },
    Figure { name: "program", about: program::ABOUT, measure: program::measure },
    Figure { name: "build", about: build::ABOUT, measure: build::measure },
    Figure { name: "test-times", about: test_times::ABOUT, measure: test_times::measure },
    Figure { name: "left-out", about: left_out::ABOUT, measure: left_out::measure },
    Figure { name: "falsely-refused", about: falsely_refused::ABOUT, measure: falsely_refused::measure },
    Figure { name: "disturbance", about: disturbance::ABOUT, measure: disturbance::measure },
    Figure { name: "verdicts", about: verdicts::ABOUT, measure: verdicts::measure },
    Figure { name: "same", about: same::ABOUT, measure: same::measure },
    Figure { name: "power", about: power::ABOUT, measure: power::measure },
    Figure { name: "beside-hyperfine", about: beside_hyperfine::ABOUT, measure: beside_hyperfine::measure },
    Figure { name: "decide", about: decide::ABOUT, measure: decide::measure },
    Figure { name: "suite-intervals", about: suite_intervals::ABOUT, measure: suite_intervals::measure },
    Figure { name: "suites", about: suites::ABOUT, measure: suites::measure },
    Figure { name: "gate", about: gate::ABOUT, measure: gate::measure },
    Figure { name: "intervals", about: intervals::ABOUT, measure: intervals::measure },
    Figure { name: "large", about: large::ABOUT, measure: large::measure },
    Figure { name: "memory", about: memory::ABOUT, measure: memory::measure },
    Figure { name: "fleet", about: fleet::ABOUT, measure: fleet::measure },
    Figure { name: "fleet-hosts", about: fleet_hosts::ABOUT, measure: fleet_hosts::measure },
    Figure { name: "fleet-limits", about: fleet_limits::ABOUT, measure: fleet_limits::measure },
    Figure { name: "objects", about: objects::ABOUT, measure: objects::measure },
    Figure { name: "places", about: places::ABOUT, measure: places::measure },
    Figure { name: "decoders", about: decoders::ABOUT, measure: decoders::measure },
    Figure { name: "trees", about: trees::ABOUT, measure: trees::measure },
    Figure { name: "readers", about: readers::ABOUT, measure: readers::measure },
    Figure { name: "soak", about: soak::ABOUT, measure: soak::measure },
    Figure { name: "wake-up", about: wake_up::ABOUT, measure: wake_up::measure },
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn figures_have_names_of_their_own() {
        let names: BTreeSet<&str> = ALL.iter().map(|figure| figure.name).collect();
        assert_eq!(names.len(), ALL.len());
        assert!(ALL.iter().all(|figure| !figure.about.is_empty()));
    }
}
