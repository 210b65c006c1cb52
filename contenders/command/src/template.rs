//! Templates of commands: turns the command line that a user typed into the arguments that are
//! executed, for any path.
//!
//! A plain command is executed without a shell, so that only its own time is measured. A command
//! that needs a feature of a shell is given to `sh`, which receives the path as an argument. No
//! byte of a file's name is ever parsed as syntax.

use crate::counted::{self, CountedUnit};
use crate::programs;
use readlab_protocol::LIST_VARIABLE;
use readlab_protocol::command_line::{self, LIST_PLACE, PLACE};
use readlab_protocol::placing::{self, PlacingError};
use readlab_protocol::quoting::{QuotedChar, quoted_chars};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;

/// Characters that a shell interprets outside quotes, besides those that split words.
const SHELL_ONLY: &str = "|&;<>()$`\\*?[#~!\n";

/// A command line with a placeholder for the path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Template {
    words: Words,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Words {
    Plain(Vec<String>),
    Shell(String),
}

/// The reason why a command line cannot be executed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TemplateError {
    /// The command line is empty.
    #[error("the command is empty")]
    Empty,
    #[error("'{0}': a quote is not closed")]
    Quote(String),
    /// The path would be executed.
    #[error(transparent)]
    Placing(#[from] PlacingError),
}

impl Template {
    /// Makes a template for a shell, whatever the line contains.
    pub(crate) fn for_shell(text: &str) -> Result<Template, PlacingError> {
        placing::check(text)?;
        Ok(Template { words: Words::Shell(command_line::script(text)) })
    }

    /// Parses a command line, where `{}` is the placeholder for the path.
    pub(crate) fn parse(text: &str) -> Result<Template, TemplateError> {
        if needs_shell(text) {
            return Ok(Template::for_shell(text)?);
        }
        placing::check(text)?;
        let words = shell_words::split(text).map_err(|_| TemplateError::Quote(text.to_owned()))?;
        if words.is_empty() { Err(TemplateError::Empty) } else { Ok(Template { words: Words::Plain(words) }) }
    }

    /// The programs that the command starts, as far as they are certain without executing it.
    pub(crate) fn programs(&self) -> Vec<&str> {
        match &self.words {
            Words::Plain(words) => words.first().map(String::as_str).into_iter().collect(),
            Words::Shell(script) => [&["sh"], &programs::programs_of_script(script)[..]].concat(),
        }
    }

    /// What the command counts, if it is a known program.
    pub(crate) fn counted(&self) -> Option<CountedUnit> {
        match &self.words {
            Words::Plain(words) => counted::counted_by_words(words),
            Words::Shell(script) => counted::counted_by_script(script),
        }
    }

    /// The program and its arguments for one path.
    pub(crate) fn command(&self, path: &OsStr) -> Vec<OsString> {
        match &self.words {
            Words::Plain(words) => {
                let list = std::env::var_os(LIST_VARIABLE).unwrap_or_default();
                words.iter().map(|word| fill_placeholders(word, path, &list)).collect()
            }
            Words::Shell(script) => {
                vec!["sh".into(), "-c".into(), script.into(), "sh".into(), path.to_owned()]
            }
        }
    }
}

/// Refuses a line in which `perl` would run the name of the target or of a file in the list.
pub(crate) fn check_names(line: &str, target: &OsStr) -> Result<(), PlacingError> {
    placing::check_names(line, || {
        let list = std::env::var_os(LIST_VARIABLE).and_then(|list| std::fs::read(list).ok());
        let list = list.unwrap_or_default();
        let listed = list.split(|&byte| byte == 0).map(|name| OsString::from_vec(name.to_vec()));
        listed.chain([target.to_owned()]).collect()
    })
}

fn fill_placeholders(word: &str, path: &OsStr, list: &OsStr) -> OsString {
    let mut placed = OsString::new();
    for (at, part) in word.split(PLACE).enumerate() {
        if at > 0 {
            placed.push(path);
        }
        for (at, part) in part.split(LIST_PLACE).enumerate() {
            if at > 0 {
                placed.push(list);
            }
            placed.push(part);
        }
    }
    placed
}

/// Whether the line contains shell syntax outside quotes. Within double quotes `$` and backquotes
/// are still syntax.
fn needs_shell(text: &str) -> bool {
    let is_syntax = |it: QuotedChar| match it.quote {
        None => SHELL_ONLY.contains(it.c),
        Some(quote) => quote == '"' && "$`\\".contains(it.c),
    };
    if quoted_chars(text).any(is_syntax) {
        return true;
    }
    // `NAME=value command` sets a variable, which only a shell can do.
    text.split_whitespace().next().is_some_and(|first| first.contains('='))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt;

    fn command(text: &str, path: &[u8]) -> Vec<OsString> {
        Template::parse(text).unwrap().command(OsStr::from_bytes(path))
    }

    #[test]
    fn a_plain_command_is_executed_unchanged() {
        assert_eq!(command("wc -l {}", b"/a b"), ["wc", "-l", "/a b"]);
        assert_eq!(command("grep -c '' {}", b"f"), ["grep", "-c", "", "f"]);
        assert_eq!(command("dd if={} bs=1M", b"f"), ["dd", "if=f", "bs=1M"]);
        assert_eq!(command("awk 'END{print NR}' {}", b"f"), ["awk", "END{print NR}", "f"]);
    }

    #[test]
    fn a_line_with_shell_syntax_goes_to_sh_with_the_path_as_an_argument() {
        for text in
            ["cat {} | wc -l", "wc -l < {}", "wc -l {}; true", "wc -l \"$HOME\" {}", "LC_ALL=C wc -l {}"]
        {
            assert_eq!(command(text, b"f")[..2], ["sh", "-c"], "{text}");
        }
        let hostile = b"/tmp/$(touch x); 'y\"\n\xff";
        let words = command("wc -l < {}", hostile);
        assert_eq!(words[..4], ["sh", "-c", "wc -l < \"$1\"", "sh"]);
        assert_eq!(words[4].as_bytes(), hostile);
    }

    #[test]
    fn a_shell_gets_a_list_as_one_word_and_a_plain_command_within_a_word() {
        let words = command("xargs -0 cat < {list} | wc -l", b"/folder");
        assert_eq!(words[..3], ["sh", "-c", "xargs -0 cat < \"$READLAB_LIST\" | wc -l"]);
        let placed = fill_placeholders("--files0-from={list}", OsStr::new("/f"), OsStr::new("/l"));
        assert_eq!(placed, "--files0-from=/l");
        assert_eq!(fill_placeholders("{}:{list}:{}", OsStr::new("/f"), OsStr::new("/l")), "/f:/l:/f");
    }

    #[test]
    fn the_programs_of_a_pipeline_are_known_if_they_are_plain_words() {
        let programs = |text| Template::parse(text).unwrap().programs().join(" ");
        assert_eq!(programs("curl -s {} | wc -l"), "sh curl wc");
        assert_eq!(programs("grep '|x' {} | wc -l"), "sh grep wc");
        assert_eq!(programs("A=1 b {} || (c) | $d"), "sh b c");
        assert_eq!(programs("wc -l {}"), "wc", "without a shell");
    }

    #[test]
    fn a_name_that_perl_would_run_is_refused() {
        let checked = |line: &str, target: &str| check_names(line, OsStr::new(target));
        let line = "perl -ne 'END{print $.}' {}";
        assert!(matches!(checked(line, "x;touch PWNED|"), Err(PlacingError::PerlOpen(..))));
        assert_eq!(checked(line, "x"), Ok(()));
        assert_eq!(checked("perl -ne 'END{print $.}' < {}", "x;touch PWNED|"), Ok(()));
    }

    #[test]
    fn a_line_that_cannot_be_executed_is_reported() {
        assert_eq!(Template::parse("  "), Err(TemplateError::Empty));
        assert_eq!(Template::parse("wc '"), Err(TemplateError::Quote("wc '".into())));
        // The text of a here-document has no program that could be missing.
        let said = Template::parse("wc -l <<EOF {}\nx\nEOF").unwrap_err().to_string();
        assert!(said.contains("a here-document may have the file's name"), "{said}");
    }
}
