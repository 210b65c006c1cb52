//! Folded stacks: equal stacks are counted together; frames go from outermost to innermost. Flame
//! graphs are drawn from them.

use readlab_record::HotSpot;
use std::collections::BTreeMap;

// Suffixes that mark the name of a kernel frame, an inlined frame, and a frame of code that a
// runtime compiled.
pub(super) const KERNEL_MARK: &str = "_[k]";
pub(super) const INLINED_MARK: &str = "_[i]";
pub(super) const COMPILED_MARK: &str = "_[j]";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FrameOrigin {
    Kernel,
    /// A function that was inlined into its caller.
    Inlined,
    /// A function that a runtime compiled while the program ran.
    Compiled,
    /// The program or one of its libraries.
    Program,
}

/// Stacks of function names, outermost first, with the number of samples of each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoldedStacks(BTreeMap<Vec<String>, u64>);

impl FoldedStacks {
    pub fn add(&mut self, stack: impl IntoIterator<Item = impl AsRef<str>>, times: u64) {
        let frames: Vec<String> = stack.into_iter().map(|name| printable_name(name.as_ref())).collect();
        *self.0.entry(frames).or_default() += times;
    }

    pub fn sample_count(&self) -> u64 {
        self.0.values().sum()
    }

    pub(super) fn sample_count_with_frame(&self, frame: &str) -> u64 {
        let holds = |frames: &[String]| frames.iter().skip(1).any(|name| name == frame);
        self.0.iter().filter(|(frames, _)| holds(frames)).map(|(_, times)| times).sum()
    }

    /// The stacks, sorted, each with its number of samples.
    pub(super) fn stacks(&self) -> impl Iterator<Item = (&[String], u64)> {
        self.0.iter().map(|(frames, times)| (&frames[..], *times))
    }

    /// The functions that were most often on top of stacks, the hottest first.
    pub fn hottest(&self, most: usize) -> Vec<HotSpot> {
        let mut by_name = BTreeMap::<&str, u64>::new();
        for (frames, times) in &self.0 {
            let name = frames.last().map_or("", |last| FrameOrigin::classify(last).0);
            *by_name.entry(name).or_default() += times;
        }
        let mut hottest: Vec<(&str, u64)> = by_name.into_iter().collect();
        hottest.sort_by_key(|&(name, times)| (std::cmp::Reverse(times), name));
        let all = self.sample_count().max(1) as f64;
        let hot = |(name, times): (&str, u64)| HotSpot { name: name.to_owned(), share: times as f64 / all };
        hottest.into_iter().take(most).map(hot).collect()
    }
}

impl FrameOrigin {
    /// Splits the origin's mark from the name of a frame.
    pub(super) fn classify(frame: &str) -> (&str, FrameOrigin) {
        let marks = [
            (KERNEL_MARK, FrameOrigin::Kernel),
            (INLINED_MARK, FrameOrigin::Inlined),
            (COMPILED_MARK, FrameOrigin::Compiled),
        ];
        let marked = marks.iter().find_map(|(mark, origin)| Some((frame.strip_suffix(mark)?, *origin)));
        marked.unwrap_or((frame, FrameOrigin::Program))
    }
}

/// A name without line breaks and control characters. Names come from programs and may contain
/// anything.
fn printable_name(name: &str) -> String {
    let shown = |c: char| match c {
        // XML does not allow these characters.
        '\u{fffe}' | '\u{ffff}' => "\u{fffd}".to_owned(),
        c if c.is_control() => c.escape_unicode().to_string(),
        c => c.to_string(),
    };
    let name: String = name.trim().chars().map(shown).collect();
    if name.is_empty() { "?".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_stacks_are_counted_together_and_sorted() {
        let mut folded = FoldedStacks::default();
        folded.add(["main", "read"], 2);
        folded.add(["main"], 1);
        folded.add(["main", "read"], 3);
        let stacks: Vec<(String, u64)> = folded.stacks().map(|(it, times)| (it.join(";"), times)).collect();
        assert_eq!(stacks, [("main".to_owned(), 1), ("main;read".to_owned(), 5)]);
        assert_eq!(folded.sample_count(), 6);
    }

    #[test]
    fn the_hottest_functions_are_those_on_top_of_the_stacks() {
        let mut folded = FoldedStacks::default();
        folded.add(["a", "main", "copy_[k]"], 6);
        folded.add(["b", "main", "copy_[k]"], 1);
        folded.add(["a", "main", "count_[i]"], 2);
        folded.add(["a", "main"], 1);
        let hottest = folded.hottest(2);
        assert_eq!(hottest.iter().map(|hot| hot.name.as_str()).collect::<Vec<_>>(), ["copy", "count"]);
        assert!((hottest[0].share - 0.7).abs() < 1e-9 && (hottest[1].share - 0.2).abs() < 1e-9);
        assert!(FoldedStacks::default().hottest(3).is_empty());
    }

    #[test]
    fn a_name_holds_no_control_character_and_is_never_empty() {
        let mut folded = FoldedStacks::default();
        folded.add(["x;y\nz\u{1b}", "", "operator 42"], 7);
        let (stack, times) = folded.stacks().next().unwrap();
        assert_eq!((stack, times), (&["x;y\\u{a}z\\u{1b}", "?", "operator 42"].map(str::to_owned)[..], 7));
    }
}
