//! The frames of a flame graph with their places: one for each function under each of its callers,
//! as wide as the samples that it was seen in.

use crate::inspect::profile::folded::{Folded, Origin};

/// The name of the frame that holds all others.
const ALL: &str = "all";

/// One rectangle of a flame graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frame<'a> {
    pub(super) name: &'a str,
    pub(super) origin: Origin,
    /// How many frames call it.
    pub(super) depth: usize,
    /// The number of its first sample, in the order of the stacks.
    pub(super) first: u64,
    pub(super) samples: u64,
}

/// A frame whose last sample is not reached yet.
struct Open<'a> {
    function: &'a str,
    first: u64,
}

/// The frames of all stacks, callers after those they call. Stacks are sorted, so that a frame's
/// samples lie side by side.
pub(super) fn frames(folded: &Folded) -> Vec<Frame<'_>> {
    let (mut frames, mut open, mut at) = (Vec::new(), Vec::<Open>::new(), 0);
    for (stack, times) in folded.stacks() {
        let common =
            open.iter().zip(stack).take_while(|(open, function)| open.function == **function).count();
        close(&mut open, common, at, &mut frames);
        open.extend(stack[common..].iter().map(|function| Open { function, first: at }));
        at += times;
    }
    close(&mut open, 0, at, &mut frames);
    frames.push(Frame { name: ALL, origin: Origin::Program, depth: 0, first: 0, samples: at });
    frames
}

/// Closes all open frames but the outermost `kept`.
fn close<'a>(open: &mut Vec<Open<'a>>, kept: usize, at: u64, frames: &mut Vec<Frame<'a>>) {
    while open.len() > kept {
        let Some(Open { function, first }) = open.pop() else { break };
        let (name, origin) = Origin::classify(function);
        frames.push(Frame { name, origin, depth: open.len() + 1, first, samples: at - first });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(folded: &Folded) -> Vec<String> {
        let frames = frames(folded);
        frames.iter().map(|it| format!("{} {} {}+{}", it.depth, it.name, it.first, it.samples)).collect()
    }

    #[test]
    fn a_function_is_as_wide_as_its_samples_under_each_caller() {
        let mut folded = Folded::default();
        folded.add(["main", "read", "copy_[k]"], 6);
        folded.add(["main", "read"], 1);
        folded.add(["main", "scan"], 2);
        folded.add(["other", "read"], 1);
        let expected = [
            "3 copy 1+6",
            "2 read 0+7",
            "2 scan 7+2",
            "1 main 0+9",
            "2 read 9+1",
            "1 other 9+1",
            "0 all 0+10",
        ];
        assert_eq!(shown(&folded), expected);
        assert_eq!(frames(&folded)[0].origin, Origin::Kernel);
    }

    #[test]
    fn no_stacks_are_one_frame_without_samples() {
        assert_eq!(shown(&Folded::default()), ["0 all 0+0"]);
    }

    proptest! {
        #[test]
        fn every_frame_lies_within_its_caller(
            stacks in prop::collection::vec((prop::collection::vec("[abc]", 1..6), 1_u64..9), 1..20),
        ) {
            let mut folded = Folded::default();
            stacks.iter().for_each(|(stack, times)| folded.add(stack, *times));
            let frames = frames(&folded);
            for frame in frames.iter().filter(|frame| frame.depth > 0) {
                let holds = |caller: &Frame| {
                    let ends = [caller, frame].map(|it| it.first + it.samples);
                    caller.depth + 1 == frame.depth && caller.first <= frame.first && ends[1] <= ends[0]
                };
                prop_assert_eq!(frames.iter().filter(|caller| holds(caller)).count(), 1);
            }
        }
    }
}
