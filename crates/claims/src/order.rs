//! Judges claims about orders: whether numbers rise as claimed, and whether their order is the same
//! on all machines.

use super::answer::{Answer, ClaimNumber, ShownNumbers, Verdict};
use super::bounds::{Bounds, Position};
use super::claim::Quantity;
use super::figures::{Dataset, MissingFigure};
use super::operand::Operand;

#[derive(Debug, Default)]
struct PairCount {
    kept: usize,
    reversed: usize,
    /// Ties, and pairs without an interval.
    unclear: usize,
    lacks: Vec<String>,
    /// The reversed pair with the lowest ratio.
    most_reversed: Option<ClaimNumber>,
}

impl PairCount {
    /// Counts a pair whose second number should be higher.
    fn add(&mut self, side: &Dataset, pair: [&Quantity; 2], operands: [&Result<Operand, MissingFigure>; 2]) {
        let (lower, higher) = match operands {
            [Ok(lower), Ok(higher)] => (lower, higher),
            [Err(lack), _] | [_, Err(lack)] => return self.add_missing_reason(lack.to_string()),
        };
        let estimate = higher.over(lower);
        match Bounds::ABOVE_ONE.position_of(&estimate, side.is_record()) {
            Position::Inside => self.kept += 1,
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
        if !self.lacks.contains(&why) {
            self.lacks.push(why);
        }
    }

    fn answer(self) -> Answer {
        let of = self.kept + self.reversed + self.unclear;
        let verdict = match (self.reversed, self.lacks.first(), self.unclear) {
            (1.., ..) => Verdict::DoesNotHold,
            (0, Some(why), _) => Verdict::CannotBeTold(why.clone()),
            (0, None, 0) if of > 0 => Verdict::Holds,
            (0, None, 0) => Verdict::CannotBeTold("nothing was compared".to_owned()),
            (0, None, unclear) => {
                Verdict::CannotBeTold(format!("{unclear} of {of} pairs tie or have no interval"))
            }
        };
        let shown = ShownNumbers::Pairs { kept: self.kept, reversed: self.reversed, of };
        let shown = if of == 0 { ShownNumbers::Nothing } else { shown };
        Answer { shown, verdict, beyond: self.most_reversed }
    }
}

/// Whether each number is less than the next, on every side.
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

/// The number of ranks that differ between the first machine and any other.
pub(super) fn judge_same_on_all(machines: &[Dataset], all: &[Quantity]) -> Answer {
    let ranks: Vec<Vec<usize>> = machines.iter().filter_map(|side| ranks(side, all)).collect();
    let Some((first, others)) = ranks.split_first().filter(|(_, others)| !others.is_empty()) else {
        return Answer::undecided("its tables have these of one machine only");
    };
    let differ = |at: usize| others.iter().any(|other| other[at] != first[at]);
    let differ = (0..all.len()).filter(|&at| differ(at)).count();
    let verdict = if differ == 0 { Verdict::Holds } else { Verdict::DoesNotHold };
    Answer { shown: ShownNumbers::Ranks { differ, of: all.len() }, verdict, beyond: None }
}

/// The rank of each quantity; `None` if a quantity has no number. Equal numbers are ranked in the
/// order of the list.
fn ranks(side: &Dataset, all: &[Quantity]) -> Option<Vec<usize>> {
    let values = values(side, all)?;
    let rank = |at: usize| {
        let is_before = |other: usize| (values[other], other) < (values[at], at);
        (0..all.len()).filter(|&other| is_before(other)).count()
    };
    Some((0..all.len()).map(rank).collect())
}

fn values(side: &Dataset, all: &[Quantity]) -> Option<Vec<f64>> {
    all.iter().map(|it| Some(side.operand(it).ok()?.estimate().value)).collect()
}

/// Whether a record has the order of the first machine, pair by pair. Pairs that tie on the first
/// machine are left out.
pub(super) fn judge_same_here(machine: Option<&Dataset>, here: &Dataset, all: &[Quantity]) -> Answer {
    let Some(published) = machine.and_then(|machine| values(machine, all)) else {
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
