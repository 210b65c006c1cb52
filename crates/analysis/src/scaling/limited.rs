//! What limits a way of reading by many, hosts or readers of one, by how its rate grows with them
//! and how busy processors are.
//!
//! Three cases are told apart: those that read work or wait for a processor all the time; twice as
//! many get no more, so they share what limits them; twice as many get twice as much with idle
//! processors, so each waits for something of its own. Each is told only if a whole 95 % interval
//! over rounds says so.

use super::{count_of, gain};
use crate::noise::SharedNoise;
use crate::rounds::interval_of_mean;
use crate::stats::{Interval, float};
use readlab_model::sample::Sample;
use readlab_record::{Record, TrialRecord};

/// From this share of the time on, a processor is busy all the time.
const BUSY_MIN: f64 = 0.85;

/// Less than this part of what more hosts would give at best is no growth.
const GROWTH_NONE: f64 = 0.15;

/// More than this part of it is growth without a limit that is shared.
const GROWTH_WHOLE: f64 = 0.85;

/// What limits a way of reading.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limited {
    /// The processors of each host: the share of the time that each reading thread works, or waits
    /// for a processor.
    Processors(Interval),
    /// What the hosts share: the server, the store, or the network to it.
    Shared(Growth),
    /// Something of each host, such as its link, or the time that each answer takes.
    EachHost(Growth),
    /// It cannot be told.
    NotTold(Growth),
}

/// What more ranks gave.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Growth {
    /// The most ranks.
    pub to: u64,
    /// At most half as many.
    pub from: u64,
    /// How many times the rate.
    pub factor: Interval,
}

impl Growth {
    /// The part of what so many more ranks give at best, from 0 to 1.
    fn part(&self) -> Interval {
        let best = float(self.to) / float(self.from) - 1.0;
        self.factor.map(|factor| (factor - 1.0) / best)
    }
}

/// Of the trials of one way of reading, by rising numbers of ranks; `None` with too few of them, or of
/// rounds.
pub(super) fn limited(record: &Record, cells: &[&TrialRecord], noise: &SharedNoise) -> Option<Limited> {
    let ranks = |at: usize| count_of(record, cells[at]).unwrap_or(1);
    let last = cells.len().checked_sub(1)?;
    let half = (0..last).rev().find(|&at| ranks(at) * 2 <= ranks(last))?;
    let factor = gain(noise, cells[half], cells[last])?;
    let growth = Growth { to: ranks(last), from: ranks(half), factor };
    let busy = interval_of_mean(&busy_shares(cells[last], ranks(last)));
    if let Some(busy) = busy.filter(|it| it.low >= BUSY_MIN) {
        return Some(Limited::Processors(busy));
    }
    let part = growth.part();
    Some(match busy {
        Some(_) if part.high <= GROWTH_NONE => Limited::Shared(growth),
        Some(busy) if part.low >= GROWTH_WHOLE && busy.high < BUSY_MIN => Limited::EachHost(growth),
        _ => Limited::NotTold(growth),
    })
}

/// The share of the time that each reading thread of each rank worked or waited for a processor, by
/// reading.
fn busy_shares(it: &TrialRecord, ranks: u64) -> Vec<f64> {
    let workers = float(it.trial.threads().saturating_mul(ranks).max(1));
    let share = |sample: Sample| {
        let cpu_ns = sample.cpu_user_ns?.saturating_add(sample.cpu_system_ns?);
        let cpu_ns = cpu_ns.saturating_add(sample.turn.delayed_ns.unwrap_or(0));
        Some(float(cpu_ns) / (float(sample.wall_ns.max(1)) * workers))
    };
    it.samples.iter().filter_map(share).collect()
}
