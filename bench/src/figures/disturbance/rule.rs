//! A rule that repeats a turn because its contender waited for a processor, on simulated races of
//! two trials: what the rule does to the interval of their ratio, and to the ratio.
//!
//! readlab has no such rule; this simulation, and races that are read again under the rule, are
//! why. A neighbour comes and goes. While it is there it takes the processor for a slice, gives it
//! back for a slice, and what it leaves in the caches makes work take longer, which no meter sees.
//! Both kinds of race take the same time: a repetition costs a later round.

use crate::pairs::{self, PairRatio};
use readlab_analysis::stats::count;

/// When a turn is repeated.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rule {
    Never,
    /// Above this share of the turn.
    Share(f64),
    /// Above so many milliseconds.
    Milliseconds(f64),
}

/// At most so many tries of a turn; the last one counts in any case.
const TRIES: u32 = 4;

/// A turn's time, and its contender's wait for a processor, in any one unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Waited {
    pub(super) wall: f64,
    pub(super) wait: f64,
}

impl Rule {
    fn repeats(self, turn: Waited) -> bool {
        match self {
            Rule::Never => false,
            Rule::Share(most) => turn.wait > most * turn.wall,
            Rule::Milliseconds(most) => turn.wait > most,
        }
    }

    pub(super) fn accept(self, mut turn: impl FnMut() -> Option<Waited>) -> Option<Waited> {
        let mut last = None;
        for _ in 0..TRIES {
            last = Some(turn()?);
            if !last.is_some_and(|turn| self.repeats(turn)) {
                break;
            }
        }
        last
    }
}

/// Two trials, and what is different between them. Times in milliseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Case {
    pub(super) name: &'static str,
    /// Work of the first and of the second trial.
    pub(super) work: [f64; 2],
    /// What the meter shows of the waits of the first trial: it does not see those of a command,
    /// and it counts threads that wait for each other.
    pub(super) seen: Seen,
}

/// What the meter shows of the waits of a trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Seen {
    /// Its waits for the neighbour.
    Waits,
    Nothing,
    /// This share of its time besides.
    OwnThreads(f64),
}

/// Mean time for which the neighbour is there, and for which it is not.
const NEIGHBOUR: [f64; 2] = [300.0, 600.0];
/// What the neighbour takes and gives back in turns.
const SLICE: f64 = 4.0;
/// How much longer work takes while the neighbour is there.
const COLDER: f64 = 1.1;
/// Standard deviation of the logarithm of a time without a neighbour.
const NOISE: f64 = 0.02;
/// Time between two turns, for other trials, evictions and proofs.
const BETWEEN: f64 = 50.0;

/// A machine with a neighbour that comes and goes.
struct Machine {
    random: Random,
    now: f64,
    is_there: bool,
    until: f64,
}

impl Machine {
    fn new(seed: u64) -> Machine {
        Machine { random: Random(seed), now: 0.0, is_there: true, until: 0.0 }
    }

    /// Time passes until `end`, at which the neighbour may have come or gone.
    fn pass(&mut self, end: f64) {
        self.now = end;
        while self.until <= self.now {
            self.is_there = !self.is_there;
            let mean = NEIGHBOUR[usize::from(!self.is_there)];
            self.until += -mean * self.random.share().ln();
        }
    }

    /// A turn with this much work.
    fn turn(&mut self, work: f64, seen: Seen) -> Waited {
        self.pass(self.now + BETWEEN);
        let start = self.now;
        let mut left = work * (NOISE * self.random.normal()).exp();
        let mut wait = 0.0;
        // Where in its slice the neighbour is when the turn begins.
        let mut slice_left = SLICE * self.random.share();
        let mut has_processor = !self.is_there || self.random.share() < 0.5;
        while left > 0.0 {
            has_processor |= !self.is_there;
            let pace = if self.is_there { COLDER } else { 1.0 };
            let needed = if has_processor { left * pace } else { f64::INFINITY };
            let step = needed.min(slice_left).min(self.until - self.now);
            if has_processor {
                left = if step == needed { 0.0 } else { left - step / pace };
            } else {
                wait += step;
            }
            slice_left -= step;
            if slice_left <= 0.0 {
                slice_left = SLICE;
                has_processor = !has_processor;
            }
            self.pass(self.now + step);
        }
        let wall = self.now - start;
        match seen {
            Seen::Waits => Waited { wall, wait },
            Seen::Nothing => Waited { wall, wait: 0.0 },
            Seen::OwnThreads(share) => Waited { wall, wait: wait + wall * share * 2.0 * self.random.share() },
        }
    }
}

/// What many simulated races found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Found {
    /// Median of the half-widths of the intervals, as a share of the ratio.
    pub(super) half_width: f64,
    /// How far the ratio is off in the median race, as a share of the ratio.
    pub(super) bias: f64,
    /// Share of the intervals that hold the true ratio.
    pub(super) coverage: f64,
    /// Turns for each that counts.
    pub(super) tries: f64,
}

/// Simulates races of a case, each as long as this many rounds on a quiet machine.
pub(super) fn simulate(case: Case, rule: Rule, rounds: u32, races: u64) -> Found {
    let truth = (case.work[0] / case.work[1]).ln();
    let mut ratios = Vec::new();
    let (mut turns, mut pairs_made) = (0_u32, 0_usize);
    for race in 0..races {
        let mut machine = Machine::new(race + 1);
        let end = f64::from(rounds) * (case.work[0] + case.work[1] + 2.0 * BETWEEN);
        let mut pairs = Vec::new();
        while machine.now < end {
            let mut one = |trial: usize| {
                let seen = if trial == 0 { case.seen } else { Seen::Waits };
                rule.accept(|| {
                    turns += 1;
                    Some(machine.turn(case.work[trial], seen))
                })
            };
            pairs.extend(one(0).zip(one(1)).map(|(first, second)| (first.wall, second.wall)));
        }
        pairs_made += pairs.len();
        ratios.push(pairs::ratio(&pairs));
    }
    Found::from_ratios(&ratios, truth, f64::from(turns) / (2.0 * count(pairs_made)))
}

impl Found {
    /// From the ratios of races whose true ratio has this logarithm.
    pub(super) fn from_ratios(ratios: &[PairRatio], truth: f64, tries: f64) -> Found {
        let ends: Vec<_> = ratios.iter().filter_map(|ratio| ratio.ci95).collect();
        let holds = ends.iter().filter(|ends| ends.low.ln() <= truth && truth <= ends.high.ln()).count();
        let off: Vec<f64> = ratios.iter().map(|ratio| ratio.estimate.ln() - truth).collect();
        Found {
            half_width: half_width(ratios),
            bias: pairs::median(&off),
            coverage: count(holds) / count(ends.len()),
            tries,
        }
    }

    /// `± 3.1 %, bias +0.2 %, covers 96 %, 1.31 turns`.
    pub(super) fn words(&self) -> String {
        let Found { half_width, bias, coverage, tries } = self;
        format!(
            "± {:.1} %, bias {:+.1} %, covers {:.0} %, {tries:.2} turns a reading",
            half_width * 100.0,
            bias * 100.0,
            coverage * 100.0
        )
    }
}

/// Median of the half-widths of intervals, as a share of the ratio; a race with too few pairs for
/// one counts as infinitely wide.
pub(super) fn half_width(ratios: &[PairRatio]) -> f64 {
    let width =
        |ratio: &PairRatio| ratio.ci95.map_or(f64::INFINITY, |ends| (ends.high / ends.low).ln() / 2.0);
    pairs::median(&ratios.iter().map(width).collect::<Vec<_>>())
}

/// Numbers that look random, the same for each seed (`SplitMix64`: Steele, Lea & Flood 2014).
pub(super) struct Random(pub(super) u64);

impl Random {
    /// Above 0, up to 1.
    pub(super) fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let high = u32::try_from((bits ^ (bits >> 31)) >> 32).unwrap_or(u32::MAX);
        (f64::from(high) + 1.0) / (f64::from(u32::MAX) + 1.0)
    }

    /// Of the standard normal distribution (Box & Muller 1958).
    fn normal(&mut self) -> f64 {
        (-2.0 * self.share().ln()).sqrt() * (std::f64::consts::TAU * self.share()).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_repeated_while_it_waited_and_the_last_try_counts() {
        let turns = |waits: &[f64]| {
            let mut turns: Vec<_> = waits.iter().rev().map(|&wait| Waited { wall: 10.0, wait }).collect();
            move || turns.pop()
        };
        let accepted = |rule: Rule, waits: &[f64]| rule.accept(turns(waits)).map(|turn| turn.wait);
        assert_eq!(accepted(Rule::Never, &[9.0, 0.0]), Some(9.0));
        assert_eq!(accepted(Rule::Share(0.1), &[9.0, 1.1, 1.0, 0.0]), Some(1.0));
        assert_eq!(accepted(Rule::Milliseconds(2.0), &[9.0, 1.1, 0.0]), Some(1.1));
        assert_eq!(accepted(Rule::Share(0.1), &[9.0, 8.0, 7.0, 6.0, 0.0]), Some(6.0));
        assert_eq!(accepted(Rule::Share(0.1), &[9.0, 8.0]), None, "cut short");
    }

    #[test]
    fn a_simulated_turn_takes_its_work_and_its_waits() {
        let mut machine = Machine::new(3);
        let turns: Vec<Waited> = (0..400).map(|_| machine.turn(20.0, Seen::Waits)).collect();
        assert!(turns.iter().all(|turn| turn.wall - turn.wait > 18.0 && turn.wall - turn.wait < 24.5));
        let waited = turns.iter().filter(|turn| turn.wait > 0.0).count();
        assert!((80..240).contains(&waited), "{waited}");
        let hidden = Machine::new(3).turn(20.0, Seen::Nothing);
        assert_eq!((hidden.wall, hidden.wait), (turns[0].wall, 0.0));
    }

    #[test]
    fn identical_trials_tie_without_a_rule() {
        let case = Case { name: "identical", work: [20.0, 20.0], seen: Seen::Waits };
        let found = simulate(case, Rule::Never, 15, 40);
        assert!(found.coverage > 0.85 && found.bias.abs() < 0.02 && found.tries == 1.0, "{found:?}");
    }
}
