//! Text as a terminal or a page may show it: nothing in it breaks a line, moves a cursor, colours,
//! or turns the direction of reading, whatever a file is called, a contender said or a record
//! holds. Quotes of HTML, CSV and Markdown are in [`crate::report`].

/// The text with every character that would be obeyed instead of shown written out, such as `\n`
/// and `\u{1b}`.
#[must_use]
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_obeyed(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Whether a terminal would obey the character instead of showing it: a control character, or one
/// of Unicode's format characters that turn the direction of reading or are invisible.
#[must_use]
pub fn is_obeyed(c: char) -> bool {
    let turns =
        matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    c.is_control() || turns
}

/// What is wrong with a TOML file in one line: where, the cause, and the line of the file that it
/// is about.
#[must_use]
pub fn toml_cause(text: &str, error: &toml::de::Error) -> String {
    let cause = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
    let Some(at) = error.span().map(|span| span.start).filter(|&at| text.is_char_boundary(at)) else {
        return cause;
    };
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
    fn a_toml_error_is_one_line_with_its_place_and_cause() {
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
    fn what_a_terminal_would_obey_is_written_out() {
        assert_eq!(
            printable("a\u{1b}[31m\nb\u{202e}c\u{9b}2J\u{7f}"),
            "a\\u{1b}[31m\\nb\\u{202e}c\\u{9b}2J\\u{7f}"
        );
        assert_eq!(printable("größe <b> 'q'"), "größe <b> 'q'");
    }
}
