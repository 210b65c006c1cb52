//! Text in terminal columns: its width, and shortening it to a width.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Replaces the characters that were cut out.
const ELLIPSIS: char = '…';

pub fn width(text: &str) -> usize {
    text.width()
}

/// The text; if it is wider than `columns`, its end is cut off.
pub fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let Some(room) = columns.checked_sub(1) else { return String::new() };
    let mut shown = prefix_of_width(text.chars(), room);
    shown.push(ELLIPSIS);
    shown
}

/// The text; if it is wider than `columns`, its middle is cut out, because names of trials differ
/// at both ends.
pub fn cut_middle(text: &str, columns: usize) -> String {
    cut_after(text, columns, columns / 2)
}

/// The texts with their middles cut out, each at a position where it still differs from the others,
/// if there is one.
pub fn cut_distinctly(texts: &[&str], columns: usize) -> Vec<String> {
    let cut_distinctly = |text: &str| {
        let mut ways = CUT_POSITIONS.iter().map(|parts| columns * parts / 8);
        let differs = |first: &usize| {
            let shown = cut_after(text, columns, *first);
            texts.iter().all(|other| *other == text || cut_after(other, columns, *first) != shown)
        };
        cut_after(text, columns, ways.find(differs).unwrap_or(columns / 2))
    };
    texts.iter().map(|text| cut_distinctly(text)).collect()
}

/// Positions of the cut, in eighths of the columns, the best first.
const CUT_POSITIONS: [usize; 7] = [4, 2, 6, 3, 5, 1, 7];

/// The text; if it is wider than `columns`, the part after the first `first` columns is cut out and
/// the end kept.
fn cut_after(text: &str, columns: usize, first: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let Some(room) = columns.checked_sub(1) else { return String::new() };
    let first = first.min(room);
    let end: Vec<char> = prefix_of_width(text.chars().rev(), room - first).chars().collect();
    let mut shown = prefix_of_width(text.chars(), first);
    shown.push(ELLIPSIS);
    shown.extend(end.iter().rev());
    shown
}

/// The text, padded with spaces on the right.
pub fn left_aligned(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// The text, padded with spaces on the left.
pub fn right_aligned(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

/// The first characters, as many as fit into these columns.
fn prefix_of_width(chars: impl Iterator<Item = char>, columns: usize) -> String {
    let mut taken = 0;
    chars
        .take_while(|c| {
            taken += c.width().unwrap_or(0);
            taken <= columns
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_to_its_columns_at_the_end_or_in_the_middle() {
        assert_eq!((cut("abcdef", 6).as_str(), cut("abcdef", 4).as_str()), ("abcdef", "abc…"));
        assert_eq!(cut_middle("rust/mmap/avx2@threads=2", 12), "rust/m…ads=2");
        let alike = ["a/b/1/d/e/f/g/h", "a/b/2/d/e/f/g/h", "a/b/2/d/e/f/g/h", "short"];
        assert_eq!(cut_distinctly(&alike, 8), ["a/b/1/…h", "a/b/2/…h", "a/b/2/…h", "short"]);
        for columns in 0..9 {
            for text in ["abcdefghijk", "漢字漢字漢字", "e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}"]
            {
                assert!(width(&cut(text, columns)) <= columns, "{text} in {columns}");
                assert!(width(&cut_middle(text, columns)) <= columns, "{text} in {columns}");
            }
        }
    }

    #[test]
    fn a_text_is_padded_to_its_columns() {
        assert_eq!(
            [left_aligned("漢", 4), right_aligned("ab", 4), left_aligned("abcde", 4)],
            ["漢  ", "  ab", "abcde"]
        );
    }
}
