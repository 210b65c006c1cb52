//! The bounds of a claim: the values between which a number must be for the claim to hold.

use super::answer::Estimate;
use readlab_analysis::stats::Interval;
use schemars::JsonSchema;
use serde::Serialize;

/// The lowest and the highest value for which a claim holds; both are `None` for a claim about an
/// order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct Bounds {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
}

/// The position of a number relative to the bounds, as far as its interval shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// The whole interval is within the bounds.
    Inside,
    /// The whole interval is beyond a bound.
    Outside,
    /// The interval holds a bound, so the number may be inside or outside.
    Straddling,
}

impl Bounds {
    /// The bounds of orders: the ratio of a pair is more than 1.
    pub(super) const ABOVE_ONE: Bounds = Bounds { at_least: Some(1.0), at_most: None };

    fn low(&self) -> f64 {
        self.at_least.unwrap_or(f64::NEG_INFINITY)
    }

    fn high(&self) -> f64 {
        self.at_most.unwrap_or(f64::INFINITY)
    }

    /// The position of a number. A record's number without an interval counts as straddling, so it
    /// decides nothing.
    pub(super) fn position_of(&self, number: &Estimate, is_record: bool) -> Position {
        match number.ci95 {
            Some(ends) => self.position_of_interval(ends),
            None if is_record => Position::Straddling,
            None => self.position_without_interval(number.value),
        }
    }

    /// The position of a number with an interval. An interval that ends on a bound holds the bound:
    /// a tie confirms nothing.
    fn position_of_interval(&self, ends: Interval) -> Position {
        if ends.high < self.low() || ends.low > self.high() {
            Position::Outside
        } else if ends.low > self.low() && ends.high < self.high() {
            Position::Inside
        } else {
            Position::Straddling
        }
    }

    /// How far the whole interval is beyond a bound; below 0 if it is not beyond.
    pub(super) fn distance_beyond(&self, ends: Interval) -> f64 {
        (self.low() - ends.high).max(ends.low - self.high())
    }

    /// The position of a published number without an interval. A ratio of exactly 1 is a tie.
    fn position_without_interval(&self, value: f64) -> Position {
        let is_tie = [self.at_least, self.at_most].contains(&Some(1.0)) && (value - 1.0).abs() < 1e-9;
        if is_tie {
            Position::Straddling
        } else if (self.low()..=self.high()).contains(&value) {
            Position::Inside
        } else {
            Position::Outside
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tie_is_neither_inside_nor_outside() {
        let between = Bounds { at_least: Some(7.0), at_most: Some(10.0) };
        for (low, high, position) in [
            (7.1, 9.9, Position::Inside),
            (7.0, 9.9, Position::Straddling),
            (6.0, 8.0, Position::Straddling),
            (9.0, 11.0, Position::Straddling),
            (5.0, 12.0, Position::Straddling),
            (5.0, 6.9, Position::Outside),
            (10.1, 12.0, Position::Outside),
        ] {
            assert_eq!(between.position_of_interval(Interval { low, high }), position, "{low} to {high}");
        }
        let faster = Bounds::ABOVE_ONE;
        assert_eq!(faster.position_without_interval(1.0), Position::Straddling);
        assert_eq!(
            (faster.position_without_interval(1.01), faster.position_without_interval(0.99)),
            (Position::Inside, Position::Outside)
        );
        assert_eq!(between.position_without_interval(7.0), Position::Inside);
    }
}
