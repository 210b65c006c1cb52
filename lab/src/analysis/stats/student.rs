//! The quantile of Student's t that a 95 % interval takes.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// From so many degrees of freedom on, the expansion is right to six digits; the search of the
/// library, which takes milliseconds there, would be the slowest part of a summary.
const EXPANSION_FROM: f64 = 18.0;

/// The 97.5 % quantile for these degrees of freedom, at least one. Large ones by the expansion
/// 26.7.5 of Abramowitz & Stegun, *Handbook of Mathematical Functions* (1964).
pub(super) fn student_t(freedom: f64) -> f64 {
    if freedom < EXPANSION_FROM {
        let t = StudentsT::new(0.0, 1.0, freedom.max(1.0)).expect("the freedom is at least one");
        return t.inverse_cdf(0.975);
    }
    let z = 1.959_963_984_540_054_f64;
    let terms = [
        (z.powi(3) + z) / 4.0,
        (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0,
        (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0,
        (79.0 * z.powi(9) + 776.0 * z.powi(7) + 1482.0 * z.powi(5) - 1920.0 * z.powi(3) - 945.0 * z)
            / 92_160.0,
    ];
    terms.iter().rfold(0.0, |sum, term| (sum + term) / freedom) + z
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_printed_tables() {
        for (freedom, t) in [
            (1.0, 12.706),
            (2.0, 4.303),
            (4.0, 2.776),
            (9.0, 2.262),
            (30.0, 2.042),
            (120.0, 1.980),
            (1e9, 1.960),
        ] {
            assert!((student_t(freedom) - t).abs() < 5.1e-4, "{freedom}: {}", student_t(freedom));
        }
    }

    #[test]
    fn the_expansion_agrees_with_the_library() {
        for freedom in [18.0, 25.0, 60.0, 400.0] {
            let library = StudentsT::new(0.0, 1.0, freedom).unwrap().inverse_cdf(0.975);
            assert!((student_t(freedom) - library).abs() < 2e-6, "{freedom}: {library}");
        }
    }
}
