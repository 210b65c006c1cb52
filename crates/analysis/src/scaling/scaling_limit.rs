//! What limits a method that several hosts or readers run at once, from the growth of the rate with
//! their number and from how busy the processors are.
//!
//! Three cases are distinguished. The processors limit if all reading threads work or wait for a
//! processor all the time. A shared resource limits if twice as many hosts reach no higher rate. A
//! resource of each host limits if twice as many reach twice the rate with idle processors. Each
//! case is reported only if a whole 95 % interval over rounds supports it.

use super::{count_of, rate_ratio};
use crate::noise::SharedNoise;
use crate::rounds::interval_of_mean;
use crate::stats::{Interval, float};
use readlab_model::sample::Sample;
use readlab_record::{Record, TrialRecord};

/// A processor that works for at least this share of the time counts as busy all the time.
const BUSY_MIN: f64 = 0.85;

/// Growth below this part of perfect growth counts as none.
const GROWTH_NONE: f64 = 0.15;

/// Growth above this part of perfect growth rules out a shared limit.
const GROWTH_WHOLE: f64 = 0.85;

/// What limits a method that several hosts or readers run at once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ScalingLimit {
    /// The processors of each host, with the share of the time for which each reading thread works
    /// or waits for a processor.
    Processors(Interval),
    /// A resource that the hosts share: the server, the store, or the network to it.
    Shared(Growth),
    /// A resource of each host, such as its link, or the latency of each answer.
    EachHost(Growth),
    /// The intervals do not decide.
    Undecided(Growth),
}

/// The growth of the rate with the number of ranks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Growth {
    /// The largest number of ranks.
    pub to: u64,
    /// The largest number that is at most half of `to`.
    pub from: u64,
    /// The rate of `to` ranks divided by that of `from` ranks.
    pub factor: Interval,
}

impl Growth {
    /// The growth as a part of perfect growth, from 0 to 1.
    fn share_of_perfect(&self) -> Interval {
        let best = float(self.to) / float(self.from) - 1.0;
        self.factor.map(|factor| (factor - 1.0) / best)
    }
}

/// What limits one method, from its trials in order of their numbers of ranks; `None` with too few
/// trials or rounds.
pub(super) fn find_limit(
    record: &Record,
    cells: &[&TrialRecord],
    noise: &SharedNoise,
) -> Option<ScalingLimit> {
    let ranks = |at: usize| count_of(record, cells[at]).unwrap_or(1);
    let last = cells.len().checked_sub(1)?;
    let half = (0..last).rev().find(|&at| ranks(at) * 2 <= ranks(last))?;
    let factor = rate_ratio(noise, cells[half], cells[last])?;
    let growth = Growth { to: ranks(last), from: ranks(half), factor };
    let busy = interval_of_mean(&busy_shares(cells[last], ranks(last)));
    if let Some(busy) = busy.filter(|it| it.low >= BUSY_MIN) {
        return Some(ScalingLimit::Processors(busy));
    }
    let part = growth.share_of_perfect();
    Some(match busy {
        Some(_) if part.high <= GROWTH_NONE => ScalingLimit::Shared(growth),
        Some(busy) if part.low >= GROWTH_WHOLE && busy.high < BUSY_MIN => ScalingLimit::EachHost(growth),
        _ => ScalingLimit::Undecided(growth),
    })
}

/// For each reading, the share of the time for which the reading threads of all ranks worked or
/// waited for a processor.
fn busy_shares(it: &TrialRecord, ranks: u64) -> Vec<f64> {
    let workers = float(it.trial.threads().saturating_mul(ranks).max(1));
    let share = |sample: Sample| {
        let cpu_ns = sample.cpu_user_ns?.saturating_add(sample.cpu_system_ns?);
        let cpu_ns = cpu_ns.saturating_add(sample.turn.delayed_ns.unwrap_or(0));
        Some(float(cpu_ns) / (float(sample.wall_ns.max(1)) * workers))
    };
    it.samples.iter().filter_map(share).collect()
}
