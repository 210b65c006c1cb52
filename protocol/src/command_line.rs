//! Command lines with a placeholder for the path, as the `command` contender and the lab parse
//! them. [`super::placing`] checks the position of the placeholder.

use crate::LIST_VARIABLE;
use crate::quoting::{QuotedChar, quoted_chars};

/// The placeholder for the path in a command line.
pub const PLACE: &str = "{}";

/// The placeholder for the list, where many files are read.
pub const LIST_PLACE: &str = "{list}";

/// Translates a line into a script for `sh`, which gets the path as `$1`.
#[must_use]
pub fn script(line: &str) -> String {
    let (mut script, mut end_of_place) = (String::new(), 0);
    for it in quoted_chars(line) {
        if it.at < end_of_place {
            continue;
        }
        let rest = &line[it.at..];
        let mut places = [(PLACE, "1"), (LIST_PLACE, LIST_VARIABLE)].into_iter();
        let Some((place, variable)) = places.find(|(place, _)| !it.is_escaped && rest.starts_with(*place))
        else {
            script.push(it.c);
            continue;
        };
        script += &match it.quote {
            None => format!("\"${variable}\""),
            Some('"') => format!("${{{variable}}}"),
            Some(_) => format!("'\"${variable}\"'"),
        };
        end_of_place = it.at + place.len();
    }
    script
}

/// The commands of a line, which is split at the operators outside quotes.
#[must_use]
pub fn commands(script: &str) -> Vec<&str> {
    let (mut found, mut from) = (Vec::new(), 0);
    for (at, operator) in operators(script) {
        found.push(&script[from..at]);
        from = at + operator.len_utf8();
    }
    found.push(&script[from..]);
    found
}

/// The characters outside quotes that end commands, with their offsets.
pub(crate) fn operators(script: &str) -> Vec<(usize, char)> {
    let ends_command = |it: &QuotedChar| match it.c {
        // `>&` and `<&` join streams, and `>|` overwrites a file. None of them ends a command.
        '&' | '|' => !script[..it.at].ends_with(['<', '>']),
        c => ";()\n".contains(c),
    };
    let outside = quoted_chars(script).filter(QuotedChar::is_outside);
    outside.filter(ends_command).map(|it| (it.at, it.c)).collect()
}

/// Whether a text contains a placeholder for the path or for the list.
#[must_use]
pub fn has_place(word: &str) -> bool {
    word.contains(PLACE) || word.contains(LIST_PLACE)
}

/// Whether a word of a line sets a shell variable.
#[must_use]
pub fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_shell_gets_every_byte_of_the_path_at_every_placeholder() {
        let hostile = "a b'c\"d$(touch PWNED)`touch PWNED`;*\n{}";
        let printed = |line: &str| {
            let out = Command::new("sh").args(["-c", &script(line), "sh", hostile]).output().unwrap();
            String::from_utf8(out.stdout).unwrap()
        };
        for line in
            ["printf %s {}", "printf %s \"{}\"", "printf %s '{}'", "printf %s \"\\\"\" >&2; printf %s {}"]
        {
            assert_eq!(printed(line), hostile, "{line}");
        }
        assert_eq!(printed("printf %s \"{}.tmp\""), format!("{hostile}.tmp"));
        assert_eq!(printed("printf %s \"$(printf %s {})\""), hostile);
        assert_eq!(printed("printf %s \"$(printf %s \"{}\")\""), hostile);
        assert_eq!(printed("printf %s 'x={}'.tmp"), format!("x={hostile}.tmp"));
    }
}
