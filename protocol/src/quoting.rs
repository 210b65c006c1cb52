//! The characters of a shell's text with the quotes around them. All that parses command lines gets
//! its characters from here.

use std::ops::Range;

/// A character of a text, with what is around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuotedChar {
    /// Offset of the character in the text.
    pub at: usize,
    /// The character.
    pub c: char,
    /// The quote that is open at the character. The quote that opens is outside, and the one that
    /// closes is inside.
    pub quote: Option<char>,
    /// Whether a backslash takes the character's meaning away.
    pub is_escaped: bool,
    /// Whether the character is in a substitution `$(…)` within double quotes, where `quote` is that
    /// of the substitution.
    pub is_substituted: bool,
}

impl QuotedChar {
    /// Whether the character is outside all quotes.
    #[must_use]
    pub fn is_outside(&self) -> bool {
        self.quote.is_none() && !self.is_escaped && !self.is_substituted
    }

    /// Whether a `$` or a backquote here is expanded.
    #[must_use]
    pub fn is_expanded(&self) -> bool {
        self.quote != Some('\'') && !self.is_escaped
    }
}

/// The characters of a text, as [`quoted_chars`] gives them.
#[derive(Debug, Clone)]
pub struct QuotedChars<'a> {
    text: &'a str,
    /// Offset of the next character.
    at: usize,
    quote: Option<char>,
    is_escaped: bool,
    /// Whether the last character is a `$` that may begin a substitution.
    follows_dollar: bool,
    /// The number of open parentheses in each substitution within double quotes, the innermost last.
    substitutions: Vec<usize>,
}

/// The characters of a text with the quotes around them.
#[must_use]
pub fn quoted_chars(text: &str) -> QuotedChars<'_> {
    QuotedChars {
        text,
        at: 0,
        quote: None,
        is_escaped: false,
        follows_dollar: false,
        substitutions: Vec::new(),
    }
}

/// The ranges of a text's words, with their quotes. Words are separated by characters outside quotes
/// for which the test holds.
#[must_use]
pub fn word_ranges(text: &str, is_separator: impl Fn(char) -> bool) -> Vec<Range<usize>> {
    let (mut words, mut begin) = (Vec::new(), None);
    for it in quoted_chars(text) {
        if it.is_outside() && is_separator(it.c) {
            words.extend(begin.take().map(|begin| begin..it.at));
        } else {
            begin.get_or_insert(it.at);
        }
    }
    words.extend(begin.map(|begin| begin..text.len()));
    words
}

impl QuotedChars<'_> {
    /// Goes on at this offset, with the quotes that are open now.
    pub(crate) fn skip_to(&mut self, at: usize) {
        self.at = at;
        (self.is_escaped, self.follows_dollar) = (false, false);
    }

    /// Opens or closes what a character without a backslash before it opens or closes.
    fn take(&mut self, c: char, follows_dollar: bool) {
        match (self.quote, c) {
            (None | Some('"'), '\\') => self.is_escaped = true,
            (Some('"'), '(') if follows_dollar => {
                self.substitutions.push(1);
                self.quote = None;
            }
            (None, '(') => self.substitutions.last_mut().into_iter().for_each(|open| *open += 1),
            (None, ')') => self.close_parenthesis(),
            (None, '\'' | '"') => self.quote = Some(c),
            (Some(open), c) if c == open => self.quote = None,
            _ => {}
        }
    }

    fn close_parenthesis(&mut self) {
        let Some(open) = self.substitutions.last_mut() else { return };
        *open -= 1;
        if *open == 0 {
            self.substitutions.pop();
            self.quote = Some('"');
        }
    }
}

impl Iterator for QuotedChars<'_> {
    type Item = QuotedChar;

    fn next(&mut self) -> Option<QuotedChar> {
        let at = self.at;
        let c = self.text[at..].chars().next()?;
        self.at += c.len_utf8();
        let is_escaped = std::mem::take(&mut self.is_escaped);
        let follows_dollar = std::mem::take(&mut self.follows_dollar);
        let is_substituted = !self.substitutions.is_empty();
        let found = QuotedChar { at, c, quote: self.quote, is_escaped, is_substituted };
        if !is_escaped {
            self.take(c, follows_dollar);
            // The second character of `$$` begins nothing.
            self.follows_dollar = c == '$' && !follows_dollar;
        }
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The characters outside all quotes.
    fn outside(text: &str) -> String {
        quoted_chars(text).filter(QuotedChar::is_outside).map(|it| it.c).collect()
    }

    #[test]
    fn quotes_and_backslashes_take_the_meaning_of_characters_away() {
        for (text, expected) in [
            ("a 'b;c' d", "a ' d"),
            ("a \"b;c\" d", "a \" d"),
            ("a\\;b \\'c", "a\\b \\c"),
            ("'it\\' x", "' x"),
            ("\"a\\\"b\" c", "\" c"),
        ] {
            assert_eq!(outside(text), expected, "{text}");
        }
    }

    #[test]
    fn a_word_keeps_its_quotes_and_the_separators_in_them() {
        let words = |text: &str| -> Vec<String> {
            word_ranges(text, char::is_whitespace).into_iter().map(|word| text[word].to_owned()).collect()
        };
        assert_eq!(words(" a 'b c'd\te \"f"), ["a", "'b c'd", "e", "\"f"]);
        assert_eq!(words("ä\\ b \"$(c d)\" '"), ["ä\\ b", "\"$(c d)\"", "'"]);
        assert_eq!(words(" "), <[&str; 0]>::default());
    }

    #[test]
    fn a_substitution_in_double_quotes_has_quotes_of_its_own() {
        for (text, expected) in [
            ("\"$(grep \"a;b\" \"$1\")\"; c", "\"; c"),
            ("\"$(a \"$(b \"c\")\" (d) ')')\" e", "\" e"),
            ("\"$((1 + (2)))\" e", "\" e"),
            // A process identifier and a parenthesis.
            ("\"$$(\" e", "\" e"),
            ("\"\\$(\" e", "\" e"),
        ] {
            assert_eq!(outside(text), expected, "{text}");
        }
        let quotes: Vec<_> =
            quoted_chars("\"$(a '$b')\"").filter(|it| it.c == '$').map(|it| it.is_expanded()).collect();
        assert_eq!(quotes, [true, false]);
    }
}
