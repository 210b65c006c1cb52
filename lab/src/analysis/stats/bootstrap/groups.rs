//! The groups of observations that a bootstrap draws, and the median of what was drawn.

use super::{GROUPS_MAX, Observation};

/// Sorted values, each in one group; groups are numbered from 0 without gaps.
pub(super) struct Groups {
    pub(super) members: Vec<Member>,
    pub(super) sizes: Vec<usize>,
}

/// A value and the number of its group.
pub(super) struct Member {
    pub(super) value: f64,
    pub(super) group: usize,
}

impl Groups {
    /// Every observation by itself, numbered by place: so the interval of the negated values is the
    /// negated interval.
    pub(super) fn singles(sorted: &[Observation]) -> Groups {
        let mut by_place: Vec<usize> = (0..sorted.len()).collect();
        by_place.sort_by_key(|&index| (sorted[index].fill, sorted[index].round));
        let mut members: Vec<Member> = sorted.iter().map(|o| Member { value: o.value, group: 0 }).collect();
        for (group, &index) in by_place.iter().enumerate() {
            members[index].group = group;
        }
        Groups { members, sizes: vec![1; sorted.len()] }
    }

    /// Those of one fill together; `None` if there is only one.
    pub(super) fn fills(sorted: &[Observation]) -> Option<Groups> {
        Groups::by(sorted, |o| o.fill)
    }

    /// Those of one round together; `None` if there is only one.
    pub(super) fn rounds(sorted: &[Observation]) -> Option<Groups> {
        Groups::by(sorted, |o| o.round)
    }

    fn by(sorted: &[Observation], key: impl Fn(&Observation) -> u32) -> Option<Groups> {
        let mut keys: Vec<u32> = sorted.iter().map(&key).collect();
        keys.sort_unstable();
        keys.dedup();
        let mut sizes = vec![0; keys.len()];
        let member = |o| {
            let group = keys.binary_search(&key(o)).expect("the keys are those of the observations");
            sizes[group] += 1;
            Member { value: o.value, group }
        };
        let members = sorted.iter().map(member).collect();
        (keys.len() > 1).then_some(Groups { members, sizes })
    }

    /// The same with neighbours together, so that there are no more than [`GROUPS_MAX`].
    pub(super) fn fewer(mut self) -> Groups {
        let count = self.sizes.len();
        let fewer = count.min(GROUPS_MAX);
        let mut sizes = vec![0; fewer];
        for member in &mut self.members {
            member.group = member.group * fewer / count;
            sizes[member.group] += 1;
        }
        Groups { sizes, ..self }
    }

    /// The median of all values, each counted as often as its group was drawn; `total` of them in
    /// all. Members that are known to be below the median may be skipped.
    pub(super) fn median(&self, drawn: &[usize], total: usize, skipped: Skipped) -> f64 {
        let (lower, upper) = ((total - 1) / 2, total / 2);
        let (mut low, mut seen) = (None, skipped.drawn);
        for member in &self.members[skipped.members..] {
            seen += drawn[member.group];
            if low.is_none() && seen > lower {
                low = Some(member.value);
            }
            if let (Some(low), true) = (low, seen > upper) {
                return f64::midpoint(low, member.value);
            }
        }
        unreachable!("the total counts every drawn member")
    }
}

/// The first members in order, which need no comparison.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Skipped {
    /// How many members.
    pub(super) members: usize,
    /// How many drawn values these are.
    pub(super) drawn: usize,
}

/// How many members of each group are below places that are evenly spread over all members, so that
/// a resample need not look at every member.
pub(super) struct Ladder {
    /// Members from one place to the next.
    pub(super) step: usize,
    groups: usize,
    /// For each place, the number of each group's members below it.
    pub(super) below: Vec<u32>,
}

impl Ladder {
    /// Places.
    pub(super) const RUNGS: usize = 1_000;

    pub(super) fn of(groups: &Groups) -> Ladder {
        let (step, count) = (groups.members.len().div_ceil(Ladder::RUNGS), groups.sizes.len());
        let (mut seen, mut below) = (vec![0; count], Vec::with_capacity(Ladder::RUNGS * count));
        for members in groups.members.chunks(step) {
            below.extend_from_slice(&seen);
            members.iter().for_each(|member| seen[member.group] += 1);
        }
        Ladder { step, groups: count, below }
    }

    /// The members below the last place with at most `rank` drawn values below it.
    pub(super) fn below(&self, drawn: &[usize], rank: usize) -> Skipped {
        let weigh = |rung: usize| {
            let of_rung = &self.below[rung * self.groups..][..self.groups];
            of_rung.iter().zip(drawn).map(|(&below, &times)| below as usize * times).sum::<usize>()
        };
        let (mut low, mut high) = (0, self.below.len() / self.groups);
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            if weigh(middle) <= rank { low = middle } else { high = middle }
        }
        Skipped { members: low * self.step, drawn: weigh(low) }
    }
}
