//! How often what limits several that read together is told, where the limit was made.

use crate::row::Row;
use anyhow::Context;
use readlab_analysis::scaling::{Limited, Scaling};
use readlab_record::Record;

/// Verdicts on made limits.
pub(crate) struct Told {
    right: usize,
    wrong: usize,
    repeats: usize,
}

impl Told {
    /// What so many records say of the trial of this name, of which one verdict is right.
    pub(crate) fn count(
        repeats: usize,
        trial: &str,
        is_right: impl Fn(Limited) -> bool,
        record: impl Fn() -> anyhow::Result<Record>,
    ) -> anyhow::Result<Told> {
        let (mut right, mut wrong) = (0, 0);
        for _ in 0..repeats {
            let scaling = Scaling::all(&record()?);
            let limited = scaling.iter().find(|it| it.id.to_string() == trial).and_then(|it| it.limited);
            match limited.context("it tells nothing")? {
                told if is_right(told) => right += 1,
                Limited::NotTold(_) => {}
                _ => wrong += 1,
            }
        }
        Ok(Told { right, wrong, repeats })
    }

    /// It as a row, where at least so many of so many must be right.
    pub(crate) fn row(&self, figure: &str, least: usize, of: usize) -> anyhow::Result<Row> {
        let &Told { right, wrong, repeats } = self;
        let unknown = repeats - right - wrong;
        let words = format!("right in {right}, not told in {unknown}, wrong in {wrong} of {repeats}");
        let ok = right * of >= repeats * least;
        let target = format!("right in {least} of {of}");
        Ok(Row::judged(figure, &target, f64::from(u32::try_from(right)?), ok, words))
    }
}
