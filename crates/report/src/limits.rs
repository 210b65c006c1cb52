//! The limits of a record as a table: how each was measured, its best rate, and the uncertainty.
//! Also the limits that are drawn with a ranking.

use super::grid::{Grid, left_cell, right_cell};
use super::words::NONE;
use readlab_analysis::stats::float;
use readlab_model::target::TargetIndex;
use readlab_model::trial::CacheState;
use readlab_model::units::{Nanos, Throughput};
use readlab_protocol::Archive;
use readlab_record::{Limit, LimitKind, LimitUnit};

/// The lines of a table with a row for each limit, sorted by kind and then from the fastest to the
/// slowest.
pub(super) fn table(limits: &[Limit]) -> Vec<String> {
    let mut limits: Vec<&Limit> = limits.iter().collect();
    limits.sort_by_key(|limit| (limit.kind, std::cmp::Reverse(comparable_speed(limit))));
    let titles = ["limit", "at best", "±95 %", "lowest", "highest", "measured by", "rounds"];
    let mut grid = Grid::new(titles.map(left_cell), false);
    let mut kind = None;
    for limit in limits {
        let word = if kind == Some(limit.kind) { "" } else { limit.kind.word() };
        kind = Some(limit.kind);
        let end =
            |value: Option<&u64>| value.map_or_else(|| NONE.to_owned(), |value| value_text(limit, *value));
        grid.add_row([
            left_cell(word),
            right_cell(&value_text(limit, limit.value)),
            right_cell(&uncertainty_words(limit)),
            right_cell(&end(limit.samples.iter().min())),
            right_cell(&end(limit.samples.iter().max())),
            left_cell(&limit.name),
            left_cell(&limit.state.map_or_else(|| NONE.to_owned(), |state| state.to_string())),
        ]);
    }
    grid.lines()
}

/// A number that orders limits of one kind: larger for a faster limit.
fn comparable_speed(limit: &Limit) -> u64 {
    match limit.unit {
        LimitUnit::BytesPerSecond => limit.value,
        LimitUnit::Nanoseconds => u64::MAX - limit.value,
    }
}

pub(super) fn value_text(limit: &Limit, value: u64) -> String {
    match limit.unit {
        LimitUnit::BytesPerSecond => Throughput(float(value)).to_string(),
        LimitUnit::Nanoseconds => Nanos(value).to_string(),
    }
}

/// Half the interval of the median divided by the median.
pub(super) fn uncertainty_words(limit: &Limit) -> String {
    limit.ci95.map_or_else(
        || NONE.to_owned(),
        |[low, high]| format!("±{:.1} %", 50.0 * float(high - low) / float(limit.value.max(1))),
    )
}

/// A limit that is a rate, with which the readings of a ranking are compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    /// The name of the limit, such as `memory, 2 threads`.
    pub name: String,
    pub rate: Throughput,
}

impl Bound {
    /// The fastest rate of each kind of limit, slowest kind first. Cold readings are compared with
    /// the device, warm readings with memory and the kernel's copy, and readings of an archive with
    /// the decoder, measured in either state. Pressed readings are compared with no limit, because
    /// they come partly from memory and partly from the device.
    pub(super) fn all(
        limits: &[Limit],
        target: TargetIndex,
        state: CacheState,
        decodes: Option<Archive>,
    ) -> Vec<Bound> {
        let kinds: &[LimitKind] = match (decodes, state) {
            (Some(_), _) => &[LimitKind::Decoding],
            (None, CacheState::Cold) => &[LimitKind::Device],
            (None, CacheState::Warm) => &[LimitKind::Copy, LimitKind::Memory],
            (None, CacheState::Pressed | CacheState::Unknown) => &[],
        };
        let best = |&kind: &LimitKind| {
            let fits = |limit: &&Limit| {
                let is_of_state = decodes.is_some() || limit.state.is_none_or(|it| it == state);
                let is_rate = limit.unit == LimitUnit::BytesPerSecond;
                limit.kind == kind && limit.target == target && is_of_state && is_rate
            };
            limits.iter().filter(fits).max_by_key(|limit| limit.value).map(Bound::from_limit)
        };
        let mut bounds: Vec<Bound> = kinds.iter().filter_map(best).collect();
        bounds.sort_by(|a, b| a.rate.0.total_cmp(&b.rate.0));
        bounds
    }

    fn from_limit(limit: &Limit) -> Bound {
        let threads = if limit.threads > 1 { format!(", {} threads", limit.threads) } else { String::new() };
        Bound { name: format!("{}{threads}", limit.kind.word()), rate: Throughput(float(limit.value)) }
    }
}
