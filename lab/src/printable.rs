//! Text as a terminal or a page may show it: nothing in it breaks a line, moves a cursor, colours, or turns the direction of
//! reading, whatever a file is called, a contender said or a record holds. Quotes of HTML, CSV and Markdown are in
//! [`crate::report`].

/// The text with every character that would be obeyed instead of shown written out, such as `\n` and `\u{1b}`.
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

/// Whether a terminal would obey the character instead of showing it: a control character, or one of Unicode's format
/// characters that turn the direction of reading or are invisible.
#[must_use]
pub fn is_obeyed(c: char) -> bool {
    let turns =
        matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    c.is_control() || turns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_written_out() {
        assert_eq!(
            printable("a\u{1b}[31m\nb\u{202e}c\u{9b}2J\u{7f}"),
            "a\\u{1b}[31m\\nb\\u{202e}c\\u{9b}2J\\u{7f}"
        );
        assert_eq!(printable("größe <b> 'q'"), "größe <b> 'q'");
    }
}
