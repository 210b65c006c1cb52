//! A share of cases: how many of them were so, in words, as a number, and with the interval that so
//! few cases leave.

use crate::row::Row;
use readlab_analysis::stats::Interval;

/// How many of the cases were so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Share {
    hits: usize,
    cases: usize,
}

/// The 97.5 % quantile of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

impl Share {
    /// One more case.
    pub(crate) fn count(&mut self, is_so: bool) {
        self.cases += 1;
        self.hits += usize::from(is_so);
    }

    /// With the cases of another.
    pub(crate) fn with(self, other: Share) -> Share {
        Share { hits: self.hits + other.hits, cases: self.cases + other.cases }
    }

    /// As a number from 0 to 1; not a number without a case.
    #[expect(clippy::cast_precision_loss, reason = "a few thousand cases")]
    pub(crate) fn value(self) -> f64 {
        self.hits as f64 / self.cases as f64
    }

    /// `24 of 40 (60 %)`.
    pub(crate) fn words(self) -> String {
        let Share { hits, cases } = self;
        if cases == 0 {
            "no case".to_owned()
        } else {
            format!("{hits} of {cases} ({:.0} %)", self.value() * 100.0)
        }
    }

    /// The 95 % interval of the share behind it (Wilson, 1927); `None` without a case.
    #[expect(clippy::cast_precision_loss, reason = "a few thousand cases")]
    pub(crate) fn ci95(self) -> Option<Interval> {
        if self.cases == 0 {
            return None;
        }
        let (n, p) = (self.cases as f64, self.value());
        let scale = 1.0 + Z * Z / n;
        let middle = (p + Z * Z / (2.0 * n)) / scale;
        let half = Z / scale * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
        Some(Interval { low: (middle - half).max(0.0), high: (middle + half).min(1.0) })
    }

    /// A row that promises at least this share.
    pub(crate) fn at_least(self, figure: impl Into<String>, least: f64) -> Row {
        let target = format!("at least {:.0} %", least * 100.0);
        self.row(figure, &target, self.value() >= least)
    }

    /// A row that promises at most this share.
    pub(crate) fn at_most(self, figure: impl Into<String>, most: f64) -> Row {
        let target = format!("at most {:.0} %", most * 100.0);
        self.row(figure, &target, self.value() <= most)
    }

    /// A row without a promise.
    pub(crate) fn noted(self, figure: impl Into<String>) -> Row {
        Row::unjudged(figure, self.value(), self.words()).with(self.ci95())
    }

    fn row(self, figure: impl Into<String>, target: &str, is_kept: bool) -> Row {
        Row::judged(figure, target, self.value(), is_kept, self.words()).with(self.ci95())
    }
}

impl FromIterator<bool> for Share {
    fn from_iter<I: IntoIterator<Item = bool>>(cases: I) -> Share {
        let mut share = Share::default();
        cases.into_iter().for_each(|is_so| share.count(is_so));
        share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(hits: usize, cases: usize) -> Share {
        (0..cases).map(|case| case < hits).collect()
    }

    #[test]
    fn the_interval_is_wilsons() {
        // Newcombe, Statistics in Medicine 17 (1998), table I: 81 of 263 and 0 of 20.
        for (hits, cases, low, high) in [(81, 263, 0.2553, 0.3662), (0, 20, 0.0, 0.1611)] {
            let found = share(hits, cases).ci95().unwrap();
            assert!((found.low - low).abs() < 5e-5 && (found.high - high).abs() < 5e-5, "{found:?}");
        }
        assert_eq!(share(0, 0).ci95(), None);
    }

    #[test]
    fn a_promise_is_kept_up_to_its_bound_and_never_without_a_case() {
        assert_eq!(share(1, 20).at_most("x", 0.05).ok, Some(true));
        assert_eq!(share(2, 20).at_most("x", 0.05).ok, Some(false));
        assert_eq!(share(16, 20).at_least("x", 0.8).ok, Some(true));
        assert_eq!(share(15, 20).at_least("x", 0.8).ok, Some(false));
        assert_eq!(
            (share(0, 0).at_most("x", 0.05).ok, share(0, 0).at_least("x", 0.0).ok),
            (Some(false), Some(false))
        );
        assert_eq!(share(24, 40).words(), "24 of 40 (60 %)");
    }
}
