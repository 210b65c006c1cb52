//! Command lines with a place for the path, as the `command` contender and the lab read them, and
//! where the path may stand in one. It reaches programs as an argument, or as a part of
//! one that is plainly a file's name; nowhere may its bytes be read as the text of a program, since
//! anybody can name a file `$(rm x)`.

use crate::LIST_VARIABLE;

/// The place of the path in a command line.
pub const PLACE: &str = "{}";

/// The place of the list, where many files are read.
pub const LIST_PLACE: &str = "{list}";

/// Programs that take the text of a program after a flag, without their version.
const INTERPRETERS: [&str; 20] = [
    "sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "busybox", "python", "perl", "ruby", "node",
    "bun", "php", "lua", "Rscript", "su", "runuser", "ssh",
];

/// Commands of the shell whose words are the text of a program.
const EVALUATE: [&str; 2] = ["eval", "trap"];

/// Why the path cannot stand where it does.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlacingError {
    /// It would be a part of a program's text.
    #[error(
        "'{0}': {{}} is within a script, where the file's name would be code; hand it over as an argument: sh -c 'cat \"$1\" | wc -l' sh {{}}"
    )]
    Script(String),
    /// It would be the program.
    #[error("'{0}': the file itself would be run as a program; name the program that reads {{}}")]
    Program(String),
}

/// Refuses a line in which the path would be run, as a program or as a part of its text.
///
/// # Errors
/// If it would.
pub fn check(line: &str) -> Result<(), PlacingError> {
    let script = || PlacingError::Script(line.to_owned());
    for command in commands(line) {
        let words = shell_words::split(command).unwrap_or_else(|_| vec![command.to_owned()]);
        let program = (0..words.len()).find(|&at| !is_assignment(&words[at]) && !is_redirected(&words, at));
        let program = program.map_or("", |at| words[at].as_str());
        if has_place(program) {
            return Err(PlacingError::Program(line.to_owned()));
        }
        let name = program.rsplit('/').next().unwrap_or_default();
        let evaluates = EVALUATE.contains(&name);
        for (at, word) in words.iter().enumerate().filter(|(_, word)| has_place(word)) {
            let takes_text = at > 0 && interprets(name) && is_text_flag(&words[at - 1]);
            if evaluates || takes_text || !is_name(word) {
                return Err(script());
            }
        }
    }
    // In double quotes a shell runs what is between these.
    let text = line.split('"').skip(1).step_by(2);
    let runs = |quoted: &str| has_place(quoted) && quoted.contains(['`', '(']);
    if text.into_iter().any(runs) { Err(script()) } else { Ok(()) }
}

/// The line for `sh`, to which the path is `$1`.
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

/// The commands of a line, split at the operators outside of quotes.
#[must_use]
pub fn commands(script: &str) -> Vec<&str> {
    let (mut found, mut quote, mut from, mut escaped) = (Vec::new(), None, 0, false);
    for (at, c) in script.char_indices() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (None | Some('"'), '\\') => escaped = true,
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            // `>&` and `<&` join streams, and `>|` writes over a file: nothing ends there.
            (None, '&' | '|') if script[..at].ends_with(['<', '>']) => {}
            (None, '|' | '&' | ';' | '(' | ')' | '\n') => {
                found.push(&script[from..at]);
                from = at + c.len_utf8();
            }
            _ => {}
        }
    }
    found.push(&script[from..]);
    found
}

/// Whether a text has a place for the path or for the list.
#[must_use]
pub fn has_place(word: &str) -> bool {
    word.contains(PLACE) || word.contains(LIST_PLACE)
}

/// Whether a word of a line sets a variable of the shell.
#[must_use]
pub fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// Whether the word is a redirection or the file of one: the program comes after it.
fn is_redirected(words: &[String], at: usize) -> bool {
    words[at].contains(['<', '>']) || at > 0 && words[at - 1].ends_with(['<', '>'])
}

fn interprets(name: &str) -> bool {
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    INTERPRETERS.contains(&name) || EVALUATE.contains(&name)
}

/// Whether a flag such as `-c` or `-lc` takes the text of a program.
fn is_text_flag(flag: &str) -> bool {
    ["--command", "--eval", "--execute"].contains(&flag)
        || flag.strip_prefix('-').is_some_and(|letters| {
            letters.chars().all(char::is_alphanumeric) && letters.ends_with(['c', 'e', 'E', 'r', 'p'])
        })
}

/// Whether a word is plainly the name of a file: the place alone, behind a folder or the name of an
/// option, and before an extension.
fn is_name(word: &str) -> bool {
    let word = word.replace(LIST_PLACE, PLACE);
    let parts: Vec<&str> = word.split(PLACE).collect();
    let [first, between @ .., last] = parts.as_slice() else { return true };
    let is_plain = |part: &str| part.chars().all(|c| c.is_alphanumeric() || "._-/:,=@%+~<>&${}".contains(c));
    let is_start = first.is_empty()
        || first.ends_with(['=', '/', ':', ',', '@', '<', '>'])
        || first.strip_prefix('-').is_some_and(|flag| !is_text_flag(first) && !flag.contains('/'));
    let is_script =
        first.starts_with(|c: char| c.is_ascii_lowercase()) && first.ends_with('/') && last.contains('/');
    let is_end = last.chars().all(|c| c.is_alphanumeric() || "._-+~:,=/".contains(c));
    is_start && is_end && !is_script && is_plain(first) && between.iter().all(|part| is_plain(part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn the_path_is_an_argument_or_a_part_of_a_files_name() {
        for line in [
            "wc -l {}",
            "wc -l '{}'",
            "cat \"{}\" | wc -l",
            "cat '{}' | wc -l",
            "rm -f \"{}.tmp\"",
            "dd if={} bs=1M",
            "dd 'if={}' | wc -c",
            "wc -l < {}",
            "<{} wc -l",
            "wc -l <{}",
            "LC_ALL=C grep -c x {}",
            "tar -xf{}",
            "curl -s file://{} | wc -l",
            "cp {} /tmp/{}.copy",
            "wc -l --files0-from={list}",
            "cmp {}:{}",
            "sh -c 'cat \"$1\" | wc -l' sh {}",
            "xargs -0 cat < {list} | wc -l",
            "grep -c '' {} || :",
            "awk 'END{print NR}' {}",
            "(cat {}; echo x) | wc -l",
        ] {
            assert_eq!(check(line), Ok(()), "{line}");
        }
    }

    #[test]
    fn the_path_is_no_text_of_a_program() {
        for line in [
            "sh -c 'cat {} | wc -l'",
            "sh -c \"cat {} | wc -l\"",
            "bash -c {}",
            "/bin/sh -lc {}",
            "python3.11 -c {}",
            "perl -e {}",
            "eval {}",
            "eval cat {}",
            "sed 's/{}//' x",
            "sed s/{}/x/ y",
            "awk 'BEGIN{while((getline l < \"{}\")>0)n++;print n}'",
            "python3 -c 'print(open(\"{}\").read())'",
            "echo \"$(cat {})\"",
            "echo \"`cat {}`\" x",
            "perl -e{}",
            "true; sh -c 'cat {}'",
        ] {
            assert!(matches!(check(line), Err(PlacingError::Script(_))), "{line}");
        }
        for line in ["{}", "'{}'", "{} -x", "LC_ALL=C {}", "true | {}", "./{}", "true && {} x"] {
            assert!(matches!(check(line), Err(PlacingError::Program(_))), "{line}");
        }
    }

    #[test]
    fn a_shell_gets_every_byte_of_the_name_wherever_it_stands() {
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
