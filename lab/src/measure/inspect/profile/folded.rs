//! Folded stacks: one a line, frames from outermost to innermost with `;` between them, and the
//! count behind. Flame graphs are drawn from them.

use std::collections::BTreeMap;

/// Marks a frame of the kernel, one that was inlined, and one that a runtime compiled, as the
/// drawing knows them.
pub(super) const KERNEL: &str = "_[k]";
/// See [`KERNEL`].
pub(super) const INLINED: &str = "_[i]";
/// See [`KERNEL`].
pub(super) const COMPILED: &str = "_[j]";

/// Replaces a semicolon in a name, for example in `[u8; 16]`, where a semicolon would end the
/// frame: a character for private use, which the drawing turns back.
pub(super) const SEMICOLON: &str = "\u{e03b}";

/// Stacks of names, outermost first, with how often each was seen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Folded(BTreeMap<Vec<String>, u64>);

/// Something that was on top of stacks, and its share of all samples.
#[derive(Debug, Clone, PartialEq)]
pub struct Hot {
    /// The function.
    pub name: String,
    /// 0 to 1.
    pub share: f64,
}

impl Folded {
    /// Counts a stack.
    pub fn add(&mut self, stack: impl IntoIterator<Item = impl AsRef<str>>, times: u64) {
        let mut frames: Vec<String> = stack.into_iter().map(|name| plain(name.as_ref())).collect();
        if let Some(last) = frames.last_mut() {
            *last = not_a_count(last);
        }
        *self.0.entry(frames).or_default() += times;
    }

    /// How many samples there are.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.0.values().sum()
    }

    /// One stack a line, sorted; a semicolon within a name is `SEMICOLON`.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let frame = |name: &String| name.replace(';', SEMICOLON);
        let stack = |frames: &[String]| frames.iter().map(frame).collect::<Vec<_>>().join(";");
        self.0.iter().map(|(frames, times)| format!("{} {times}", stack(frames))).collect()
    }

    /// The functions with the most samples, the hottest first.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "shares of some thousand samples")]
    pub fn hottest(&self, most: usize) -> Vec<Hot> {
        let mut by_name = BTreeMap::<&str, u64>::new();
        for (frames, times) in &self.0 {
            let name = frames.last().map_or("", |last| unmarked(last));
            *by_name.entry(name).or_default() += times;
        }
        let mut hottest: Vec<(&str, u64)> = by_name.into_iter().collect();
        hottest.sort_by_key(|&(name, times)| (std::cmp::Reverse(times), name));
        let all = self.samples().max(1) as f64;
        let hot = |(name, times): (&str, u64)| Hot { name: name.to_owned(), share: times as f64 / all };
        hottest.into_iter().take(most).map(hot).collect()
    }
}

/// A name without the mark of what it is.
fn unmarked(name: &str) -> &str {
    [KERNEL, INLINED, COMPILED].iter().find_map(|mark| name.strip_suffix(mark)).unwrap_or(name)
}

/// A name without line breaks and control characters. Names come from programs and may contain
/// anything.
fn plain(name: &str) -> String {
    let shown = |c: char| match c {
        // Not characters of XML.
        '\u{fffe}' | '\u{ffff}' => "\u{fffd}".to_owned(),
        c if c.is_control() => c.escape_unicode().to_string(),
        c => c.to_string(),
    };
    let name: String = name.trim().chars().map(shown).collect();
    match name.as_str() {
        "" => "?".to_owned(),
        // A line that begins so would be a comment.
        rest if rest.starts_with('#') => format!("\u{a0}{rest}"),
        _ => name,
    }
}

/// A name whose last word is a number would make two counts of a line; it gets a blank that does
/// not part words.
fn not_a_count(name: &str) -> String {
    match name.rsplit_once(' ') {
        Some((front, last)) if last.parse::<f64>().is_ok() => format!("{front}\u{a0}{last}"),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_stacks_are_counted_together_and_lines_are_sorted() {
        let mut folded = Folded::default();
        folded.add(["main", "read"], 2);
        folded.add(["main"], 1);
        folded.add(["main", "read"], 3);
        assert_eq!(folded.lines(), ["main 1", "main;read 5"]);
        assert_eq!(folded.samples(), 6);
    }

    #[test]
    fn the_hottest_functions_are_those_on_top_of_the_stacks() {
        let mut folded = Folded::default();
        folded.add(["a", "main", "copy_[k]"], 6);
        folded.add(["b", "main", "copy_[k]"], 1);
        folded.add(["a", "main", "count_[i]"], 2);
        folded.add(["a", "main"], 1);
        let hottest = folded.hottest(2);
        assert_eq!(hottest.iter().map(|hot| hot.name.as_str()).collect::<Vec<_>>(), ["copy", "count"]);
        assert!((hottest[0].share - 0.7).abs() < 1e-9 && (hottest[1].share - 0.2).abs() < 1e-9);
        assert!(Folded::default().hottest(3).is_empty());
    }

    #[test]
    fn no_name_can_end_a_frame_or_a_line_or_look_like_a_count() {
        let mut folded = Folded::default();
        folded.add(["# a", "x;y\nz\u{1b}", "", "operator 42"], 7);
        let lines = folded.lines();
        assert_eq!(lines.len(), 1);
        let (stack, count) = lines[0].rsplit_once(' ').unwrap();
        assert_eq!((count, stack.split(';').count()), ("7", 4), "{stack}");
        assert!(!stack.starts_with('#') && !stack.contains(char::is_control));
        assert!(stack.ends_with("operator\u{a0}42"), "{stack}");
    }
}
