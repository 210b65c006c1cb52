//! The limits of a record: what was done, how fast at best, how sure that is, in a table; and those
//! that are drawn with a ranking.

use super::grid::{Grid, left, right};
use super::words::NONE;
use readlab_analysis::stats::float;
use readlab_model::trial::CacheState;
use readlab_model::units::{Nanos, Throughput};
use readlab_protocol::Archive;
use readlab_record::{Limit, LimitKind, LimitUnit};

/// Aligned lines, one for each limit; kinds in the order of their words, the fastest of each first.
pub(super) fn table(limits: &[Limit]) -> Vec<String> {
    let mut limits: Vec<&Limit> = limits.iter().collect();
    limits.sort_by_key(|limit| (limit.kind, std::cmp::Reverse(speed(limit))));
    let titles = ["limit", "at best", "±95 %", "lowest", "highest", "measured by", "rounds"];
    let mut grid = Grid::new(titles.map(left), false);
    let mut kind = None;
    for limit in limits {
        let word = if kind == Some(limit.kind) { "" } else { limit.kind.word() };
        kind = Some(limit.kind);
        let end = |value: Option<&u64>| value.map_or_else(|| NONE.to_owned(), |value| shown(limit, *value));
        grid.row([
            left(word),
            right(&shown(limit, limit.value)),
            right(&sure(limit)),
            right(&end(limit.samples.iter().min())),
            right(&end(limit.samples.iter().max())),
            left(&limit.name),
            left(&limit.state.map_or_else(|| NONE.to_owned(), |state| state.to_string())),
        ]);
    }
    grid.lines()
}

/// A number that grows with speed.
fn speed(limit: &Limit) -> u64 {
    match limit.unit {
        LimitUnit::BytesPerSecond => limit.value,
        LimitUnit::Nanoseconds => u64::MAX - limit.value,
    }
}

pub(super) fn shown(limit: &Limit, value: u64) -> String {
    match limit.unit {
        LimitUnit::BytesPerSecond => Throughput(float(value)).to_string(),
        LimitUnit::Nanoseconds => Nanos(value).to_string(),
    }
}

/// Half the interval of the median over the median.
pub(super) fn sure(limit: &Limit) -> String {
    limit.ci95.map_or_else(
        || NONE.to_owned(),
        |[low, high]| format!("±{:.1} %", 50.0 * float(high - low) / float(limit.value.max(1))),
    )
}

/// A rate that the readings of a ranking are compared with.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    /// What has this rate, such as `memory, 2 threads`.
    pub name: String,
    pub rate: Throughput,
}

impl Bound {
    /// The fastest of each kind that has a rate, slowest first: the device for cold readings, memory
    /// and the kernel's copy for warm ones; out of an archive the decoder, measured in either state.
    pub(super) fn all(
        limits: &[Limit],
        target: usize,
        state: CacheState,
        decodes: Option<Archive>,
    ) -> Vec<Bound> {
        let kinds: &[LimitKind] = match (decodes, state) {
            (Some(_), _) => &[LimitKind::Decoding],
            (None, CacheState::Cold) => &[LimitKind::Device],
            (None, CacheState::Warm) => &[LimitKind::Copy, LimitKind::Memory],
            (None, CacheState::Unknown) => &[],
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
