//! Converts between the clocks of this rank and of rank 0, by comparisons of both clocks between
//! rounds.
//!
//! Two comparisons give the rate at which the clocks drift apart. A time is converted with the last
//! offset and that rate. The error bound of a converted time consists of the bound of the last
//! comparison and the possible error of the drift.

use super::message::ClockOffset;
use readlab_record::RankClock;

/// Largest possible drift, used after only one comparison; quartz clocks drift less.
const DRIFT_MAX_PPM: u64 = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ClockComparison {
    /// Time of the comparison by this rank's clock.
    compared_at_ns: u64,
    offset: ClockOffset,
}

impl ClockComparison {
    /// Largest error of the offset.
    fn error_bound_ns(self) -> u64 {
        self.offset.error_bound_ns.unsigned_abs()
    }
}

/// Converts times between this rank's clock and that of rank 0, by the last two comparisons.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ClockConverter {
    last: Option<ClockComparison>,
    previous: Option<ClockComparison>,
}

impl ClockConverter {
    /// Adds a comparison that was made at this time of this rank's clock.
    pub fn add_comparison(&mut self, compared_at_ns: u64, offset: ClockOffset) {
        self.previous = self.last.replace(ClockComparison { compared_at_ns, offset });
    }

    /// Converts a time of this rank to the clock of rank 0.
    pub fn to_leader_ns(&self, own_ns: u64) -> u64 {
        own_ns.saturating_add_signed(self.offset_at_ns(own_ns))
    }

    /// Converts a time of rank 0 to the clock of this rank.
    pub fn to_own_ns(&self, leader_ns: u64) -> u64 {
        let by = |offset_ns: i64| leader_ns.saturating_add_signed(-offset_ns);
        let rough_ns = by(self.last.map_or(0, |it| it.offset.offset_ns));
        // The offset depends on this rank's time, which is only known with the offset. Two steps of
        // the iteration are exact enough.
        by(self.offset_at_ns(by(self.offset_at_ns(rough_ns))))
    }

    /// Largest error of a converted time.
    pub fn error_bound_ns(&self, own_ns: u64) -> u64 {
        let Some(last) = self.last else { return 0 };
        let age_ns = own_ns.abs_diff(last.compared_at_ns);
        let of_drift_ns = match self.previous.filter(|previous| previous.compared_at_ns < last.compared_at_ns)
        {
            // Both comparisons may be wrong in opposite directions.
            Some(previous) => {
                let span_ns = last.compared_at_ns - previous.compared_at_ns;
                let wrong_ns = u128::from(last.error_bound_ns()) + u128::from(previous.error_bound_ns());
                u64::try_from(wrong_ns * u128::from(age_ns) / u128::from(span_ns)).unwrap_or(u64::MAX)
            }
            None => age_ns / (1_000_000 / DRIFT_MAX_PPM),
        };
        last.error_bound_ns().saturating_add(of_drift_ns)
    }

    /// The clock's entry in the record.
    pub fn rank_clock(&self) -> RankClock {
        let ClockOffset { offset_ns, error_bound_ns: bound_ns } =
            self.last.map(|it| it.offset).unwrap_or_default();
        RankClock { offset_ns, error_bound_ns: bound_ns.unsigned_abs(), drift_ppm: self.drift_ratio() * 1e6 }
    }

    /// Increase of the offset in nanoseconds for each nanosecond of this rank's clock.
    fn drift_ratio(&self) -> f64 {
        let (Some(last), Some(previous)) = (self.last, self.previous) else { return 0.0 };
        let span_ns = last.compared_at_ns.saturating_sub(previous.compared_at_ns);
        let grown_ns = last.offset.offset_ns - previous.offset.offset_ns;
        if span_ns == 0 { 0.0 } else { grown_ns as f64 / span_ns as f64 }
    }

    fn offset_at_ns(&self, own_ns: u64) -> i64 {
        let Some(last) = self.last else { return 0 };
        let age_ns = own_ns as f64 - last.compared_at_ns as f64;
        last.offset.offset_ns + (age_ns * self.drift_ratio()).round() as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECOND_NS: u64 = 1_000_000_000;

    #[test]
    fn without_a_comparison_both_clocks_are_equal() {
        let clock = ClockConverter::default();
        assert_eq!((clock.to_leader_ns(5), clock.to_own_ns(5), clock.error_bound_ns(5)), (5, 5, 0));
    }

    #[test]
    fn the_bound_grows_with_the_age_of_the_comparison() {
        let mut clock = ClockConverter::default();
        clock.add_comparison(SECOND_NS, ClockOffset { offset_ns: 7, error_bound_ns: 100 });
        assert_eq!((clock.error_bound_ns(SECOND_NS), clock.error_bound_ns(2 * SECOND_NS)), (100, 100_100));
        clock.add_comparison(2 * SECOND_NS, ClockOffset { offset_ns: 7, error_bound_ns: 100 });
        assert_eq!(
            clock.error_bound_ns(4 * SECOND_NS),
            500,
            "two comparisons tell the drift to 200 ns a second"
        );
    }

    proptest! {
        /// For a rank whose clock is off by up to 1,000 seconds and drifts by up to 50 ppm, a time
        /// is converted to within its bound in both directions.
        #[test]
        fn a_converted_time_is_right_within_its_bound(
            offset_s in -1000_i64..1000,
            drift_ppm in -50_i64..50,
            wrong in prop::collection::vec(-20_000_i64..20_000, 2),
            later_ms in 0_u64..5_000,
        ) {
            let leader_of = |own: u64| {
                let drifted = i64::try_from(i128::from(own) * i128::from(drift_ppm) / 1_000_000).unwrap();
                own.saturating_add_signed(offset_s * 1_000_000_000 + drifted)
            };
            let mut clock = ClockConverter::default();
            let starts = [2_000 * SECOND_NS, 2_010 * SECOND_NS];
            for (at_ns, wrong_ns) in starts.into_iter().zip(&wrong) {
                let offset_ns = i64::try_from(leader_of(at_ns)).unwrap() - i64::try_from(at_ns).unwrap();
                clock.add_comparison(at_ns, ClockOffset { offset_ns: offset_ns + wrong_ns, error_bound_ns: 20_000 });
            }
            let own_ns = starts[1] + later_ms * 1_000_000;
            let bound_ns = clock.error_bound_ns(own_ns);
            prop_assert!(bound_ns <= 50_000, "{bound_ns}");
            prop_assert!(clock.to_leader_ns(own_ns).abs_diff(leader_of(own_ns)) <= bound_ns + 2);
            prop_assert!(clock.to_own_ns(clock.to_leader_ns(own_ns)).abs_diff(own_ns) <= 2);
        }
    }
}
