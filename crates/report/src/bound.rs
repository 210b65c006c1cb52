//! The limits that are drawn with a ranking: the machine's best rates in the state of its readings.

use readlab_model::trial::CacheState;
use readlab_model::units::Throughput;
use readlab_protocol::Archive;
use readlab_record::{Limit, LimitKind, LimitUnit};

/// A rate that the readings of a ranking are compared with.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    /// What has this rate, such as `memory, 2 threads`.
    pub name: String,
    /// How fast it was at best.
    pub rate: Throughput,
}

impl Bound {
    /// The fastest of each kind that has a rate, slowest first: the device for cold readings,
    /// memory and the kernel's copy for warm ones; for what comes out of an archive the decoder, in
    /// whichever state it was measured.
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
                let rounds = decodes.is_some() || limit.state.is_none_or(|it| it == state);
                let here = limit.target == target && rounds;
                limit.kind == kind && here && limit.unit == LimitUnit::BytesPerSecond
            };
            limits.iter().filter(fits).max_by_key(|limit| limit.value).map(Bound::from_limit)
        };
        let mut bounds: Vec<Bound> = kinds.iter().filter_map(best).collect();
        bounds.sort_by(|a, b| a.rate.0.total_cmp(&b.rate.0));
        bounds
    }

    #[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
    fn from_limit(limit: &Limit) -> Bound {
        let threads = if limit.threads > 1 { format!(", {} threads", limit.threads) } else { String::new() };
        Bound { name: format!("{}{threads}", limit.kind.word()), rate: Throughput(limit.value as f64) }
    }
}
