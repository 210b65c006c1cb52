//! Makes text safe to show on a terminal or a page. No character in a file name, a contender's
//! message or a record can break a line, move the cursor, change colours, or change the reading
//! direction. Quoting for HTML, CSV and Markdown is in `readlab_report`.

use std::path::Path;

/// The text with control characters escaped, such as `\n` and `\u{1b}`.
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unprintable(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// A path on one line: control characters are escaped, bytes that are not UTF-8 become U+FFFD.
pub fn display_path(path: &Path) -> String {
    printable(&path.to_string_lossy())
}

/// True if a terminal acts on the character instead of showing it: a control character, or one of
/// Unicode's format characters that are invisible or change the reading direction.
pub fn is_unprintable(c: char) -> bool {
    let is_format =
        matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    c.is_control() || is_format
}

/// The error of a TOML text in one line: its position, its cause, and the line where it is.
pub fn toml_cause(text: &str, error: &toml::de::Error) -> String {
    let cause = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
    match error.span() {
        Some(span) => cause_with_position(text, span.start, &cause),
        None => cause,
    }
}

/// An error at the byte offset `at` of a text in one line: its position, its cause, and the line
/// where it is.
pub fn cause_with_position(text: &str, at: usize, cause: &str) -> String {
    if !text.is_char_boundary(at) {
        return cause.to_owned();
    }
    let before = &text[..at];
    let begin = before.rfind('\n').map_or(0, |end| end + 1);
    let line = text[begin..].lines().next().unwrap_or_default().trim();
    let (number, column) = (before.matches('\n').count() + 1, before[begin..].chars().count() + 1);
    let quoted = if line.is_empty() { String::new() } else { format!(", in `{line}`") };
    format!("line {number}, column {column}: {cause}{quoted}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_toml_error_is_one_line_with_position_and_cause() {
        let said = |text: &str| toml_cause(text, &toml::from_str::<toml::Table>(text).unwrap_err());
        assert_eq!(
            said("a = 1\nb = 2\n  é = 2"),
            "line 3, column 3: invalid unquoted key, expected letters, numbers, `-`, `_`, in `é = 2`"
        );
        let all = ["a = [1,", "\n\n[[x]", "a = 1\na = 2\n", "a = \"\n\"", "", "a", "= 1"];
        for text in all.into_iter().filter(|text| toml::from_str::<toml::Table>(text).is_err()) {
            assert!(!said(text).contains('\n') && said(text).starts_with("line "), "{}", said(text));
        }
    }

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(
            printable("a\u{1b}[31m\nb\u{202e}c\u{9b}2J\u{7f}"),
            "a\\u{1b}[31m\\nb\\u{202e}c\\u{9b}2J\\u{7f}"
        );
        assert_eq!(printable("größe <b> 'q'"), "größe <b> 'q'");
    }
}
