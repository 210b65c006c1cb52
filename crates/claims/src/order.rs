//! Judges claims about orders: whether numbers rise as claimed, and whether their order is the same
//! on all machines.

use super::answer::{Answer, ClaimNumber, ShownNumbers, Verdict};
use super::bounds::{Bounds, Position};
use super::claim::Quantity;
use super::figures::{Dataset, MissingFigure};
use super::operand::Operand;

#[derive(Debug, Default)]
struct PairCount {
    in_order: usize,
    reversed: usize,
    /// Number of pairs that tie, or that have no interval.
    unclear: usize,
    missing_reasons: Vec<String>,
    /// The reversed pair with the lowest ratio; `None` if no pair is reversed.
    most_reversed: Option<ClaimNumber>,
}

impl PairCount {
    /// Counts a pair whose second number should be higher.
    fn add(&mut self, side: &Dataset, pair: [&Quantity; 2], operands: [&Result<Operand, MissingFigure>; 2]) {
        let (lower, higher) = match operands {
            [Ok(lower), Ok(higher)] => (lower, higher),
            [Err(lack), _] | [_, Err(lack)] => return self.add_missing_reason(lack.to_string()),
        };
        let estimate = higher.divided_by(lower);
        match Bounds::ABOVE_ONE.position_of(&estimate, side.is_record()) {
            Position::Inside => self.in_order += 1,
            Position::Straddling => self.unclear += 1,
            Position::Outside => {
                self.reversed += 1;
                let trials = format!("{} / {}", pair[1].trial, pair[0].trial);
                let side = side.name().to_owned();
                let is_more = |it: &ClaimNumber| estimate.value < it.estimate.value;
                if self.most_reversed.as_ref().is_none_or(is_more) {
                    self.most_reversed = Some(ClaimNumber { trials, side, estimate });
                }
            }
        }
    }

    fn add_missing_reason(&mut self, why: String) {
        if !self.missing_reasons.contains(&why) {
            self.missing_reasons.push(why);
        }
    }

    fn answer(self) -> Answer {
        let total = self.in_order + self.reversed + self.unclear;
        let verdict = match (self.reversed, self.missing_reasons.first(), self.unclear) {
            (1.., ..) => Verdict::DoesNotHold,
            (0, Some(why), _) => Verdict::Undecided(why.clone()),
            (0, None, 0) if total > 0 => Verdict::Holds,
            (0, None, 0) => Verdict::Undecided("nothing was compared".to_owned()),
            (0, None, unclear) => {
                Verdict::Undecided(format!("{unclear} of {total} pairs tie or have no interval"))
            }
        };
        let shown = ShownNumbers::Pairs { in_order: self.in_order, reversed: self.reversed, total };
        let shown = if total == 0 { ShownNumbers::Nothing } else { shown };
        Answer { shown, verdict, farthest_beyond: self.most_reversed }
    }
}

/// Judges whether each number is less than the next, on every side.
pub(super) fn judge_rising(sides: &[Dataset], all: &[Quantity]) -> Answer {
    let mut count = PairCount::default();
    for side in sides {
        for pair in all.windows(2) {
            let pair = [&pair[0], &pair[1]];
            count.add(side, pair, pair.map(|it| side.operand(it)).each_ref());
        }
    }
    count.answer()
}

/// Judges whether all machines have the same order, and counts the ranks that differ between the
/// first machine and any other.
pub(super) fn judge_same_on_all_machines(machines: &[Dataset], all: &[Quantity]) -> Answer {
    let ranks: Vec<Vec<usize>> = machines.iter().filter_map(|side| ranks(side, all)).collect();
    let Some((first, others)) = ranks.split_first().filter(|(_, others)| !others.is_empty()) else {
        return Answer::undecided("its tables have these of one machine only");
    };
    let differ = |at: usize| others.iter().any(|other| other[at] != first[at]);
    let differing = (0..all.len()).filter(|&at| differ(at)).count();
    let verdict = if differing == 0 { Verdict::Holds } else { Verdict::DoesNotHold };
    Answer { shown: ShownNumbers::Ranks { differing, total: all.len() }, verdict, farthest_beyond: None }
}

/// The rank of each quantity; `None` if a quantity has no number. Equal numbers are ranked in the
/// order of the list.
fn ranks(side: &Dataset, all: &[Quantity]) -> Option<Vec<usize>> {
    let values = point_estimates(side, all)?;
    let rank = |at: usize| {
        let is_before = |other: usize| (values[other], other) < (values[at], at);
        (0..all.len()).filter(|&other| is_before(other)).count()
    };
    Some((0..all.len()).map(rank).collect())
}

fn point_estimates(side: &Dataset, all: &[Quantity]) -> Option<Vec<f64>> {
    all.iter().map(|it| Some(side.operand(it).ok()?.estimate().value)).collect()
}

/// Judges, pair by pair, whether a record has the order of the first machine. Pairs that tie on the
/// first machine are left out.
pub(super) fn judge_order_of_record(machine: Option<&Dataset>, here: &Dataset, all: &[Quantity]) -> Answer {
    let Some(published) = machine.and_then(|machine| point_estimates(machine, all)) else {
        return Answer::undecided("no published order is known");
    };
    let operands: Vec<_> = all.iter().map(|it| here.operand(it)).collect();
    let mut count = PairCount::default();
    for lower in 0..all.len() {
        for higher in (0..all.len()).filter(|&higher| published[lower] < published[higher]) {
            count.add(here, [&all[lower], &all[higher]], [&operands[lower], &operands[higher]]);
        }
    }
    count.answer()
}
