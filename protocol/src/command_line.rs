//! Command lines with a placeholder for the path, as the `command` contender and the lab parse
//! them. [`super::placing`] checks the position of the placeholder.

use crate::LIST_VARIABLE;

/// The placeholder for the path in a command line.
pub const PLACE: &str = "{}";

/// The placeholder for the list, where many files are read.
pub const LIST_PLACE: &str = "{list}";

/// Translates a line into a script for `sh`, which gets the path as `$1`.
#[must_use]
pub fn script(line: &str) -> String {
    let (mut script, mut quote, mut rest) = (String::new(), None, line);
    while let Some(c) = rest.chars().next() {
        let place = [(PLACE, "1"), (LIST_PLACE, LIST_VARIABLE)].into_iter().find(|it| rest.starts_with(it.0));
        if let Some((place, variable)) = place {
            script += &match quote {
                None => format!("\"${variable}\""),
                Some('"') => format!("${{{variable}}}"),
                Some(_) => format!("'\"${variable}\"'"),
            };
            rest = &rest[place.len()..];
            continue;
        }
        let mut length = c.len_utf8();
        match (quote, c) {
            (None | Some('"'), '\\') => length += rest[1..].chars().next().map_or(0, char::len_utf8),
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            _ => {}
        }
        script += &rest[..length];
        rest = &rest[length..];
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
    let (mut found, mut quote, mut escaped) = (Vec::new(), None, false);
    for (at, c) in script.char_indices() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (None | Some('"'), '\\') => escaped = true,
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            // `>&` and `<&` join streams, and `>|` overwrites a file. None of them ends a command.
            (None, '&' | '|') if script[..at].ends_with(['<', '>']) => {}
            (None, '|' | '&' | ';' | '(' | ')' | '\n') => found.push((at, c)),
            _ => {}
        }
    }
    found
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
        assert_eq!(printed("printf %s 'x={}'.tmp"), format!("x={hostile}.tmp"));
    }
}
