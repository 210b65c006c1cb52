//! Checks before any timing which programs a command line needs, and which of them are missing.
//!
//! A shell that lacks one program of a pipeline prints an error and continues. The answer is then
//! wrong or missing, and no number shows why. The needed programs are the first words of the
//! commands. Words that only the shell can resolve (a variable, a function, a keyword) are not
//! checked.

use readlab_protocol::command_line::{commands, is_assignment};
use readlab_protocol::quoting::word_ranges;
use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The packages of Debian and Ubuntu that contain programs which read files.
const PACKAGES: [(&str, &str); 24] = [
    ("wc", "coreutils"),
    ("cat", "coreutils"),
    ("dd", "coreutils"),
    ("awk", "mawk"),
    ("unzip", "unzip"),
    ("gzip", "gzip"),
    ("zcat", "gzip"),
    ("zgrep", "gzip"),
    ("pigz", "pigz"),
    ("zstd", "zstd"),
    ("zstdcat", "zstd"),
    ("lz4", "lz4"),
    ("xz", "xz-utils"),
    ("xzcat", "xz-utils"),
    ("bzip2", "bzip2"),
    ("bzcat", "bzip2"),
    ("lbzip2", "lbzip2"),
    ("brotli", "brotli"),
    ("bsdtar", "libarchive-tools"),
    ("rg", "ripgrep"),
    ("fd", "fd-find"),
    ("fdfind", "fd-find"),
    ("curl", "curl"),
    ("fio", "fio"),
];

/// Words at the begin of a command that are no program, or that a shell executes itself.
const SHELL_WORDS: [&str; 46] = [
    "!", "{", "}", "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac",
    "in", "function", ".", ":", "[", "alias", "break", "cd", "command", "echo", "eval", "exec", "exit",
    "export", "read", "set", "test", "trap", "wait", "continue", "getopts", "hash", "jobs", "local",
    "readonly", "return", "shift", "type", "ulimit", "umask", "unset",
];

/// Letters of the options of `xargs` whose value is the next word, and such long options.
const XARGS_LETTERS: &str = "IJLRnPdEas";
const XARGS_WORDS: [&str; 6] =
    ["--arg-file", "--delimiter", "--max-args", "--max-chars", "--max-procs", "--process-slot-var"];

/// The reason why a command line cannot work here: a program that is not on the PATH, with a hint
/// how to install it; `None` if all programs exist.
pub(crate) fn missing<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let absent = names.into_iter().find(|name| !can_be_started(OsStr::new(name), env::var_os("PATH")))?;
    if absent.contains('/') {
        return Some(format!("{absent}: no such program"));
    }
    let package = PACKAGES.iter().find(|(name, _)| *name == absent);
    Some(package.map_or_else(
        || format!("{absent}: not on the PATH; install it, or write where the program lies"),
        |(_, package)| format!("{absent}: not on the PATH; on Debian and Ubuntu, apt-get install {package}"),
    ))
}

fn can_be_started(name: &OsStr, path: Option<OsString>) -> bool {
    let can_start = |file: &Path| {
        file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    if name.as_encoded_bytes().contains(&b'/') {
        return can_start(Path::new(name));
    }
    path.is_none_or(|path| env::split_paths(&path).any(|folder| can_start(&folder.join(name))))
}

/// The first word of each command of a line for a shell, if it is plainly the name of a program. A
/// relative path is left out behind a change of the folder, because only the shell knows where it
/// leads.
pub(crate) fn programs_of_script(script: &str) -> Vec<&str> {
    let commands = commands(script);
    let change = commands.iter().position(|command| changes_folder(command)).unwrap_or(commands.len());
    let is_known = |at: usize, name: &str| at < change || name.starts_with('/') || !name.contains('/');
    let (mut named, mut start) = (Vec::new(), 0);
    for (at, command) in commands.iter().enumerate() {
        let before = &script[..start];
        // A character of one byte ends each command.
        start += command.len() + 1;
        // What is behind a substitution is no program, and what is behind `;;` is a pattern.
        if before.ends_with(')') || before.trim_end().ends_with(";;") {
            continue;
        }
        let names = [program_of_command(command), program_of_xargs(command)];
        named.extend(names.into_iter().flatten().filter(|name| is_known(at, name)));
    }
    named
}

fn changes_folder(command: &str) -> bool {
    command.split_whitespace().next().is_some_and(|word| ["cd", "pushd", "popd"].contains(&word))
}

/// The program that xargs starts: the first word that is no option and no value of one.
fn program_of_xargs(command: &str) -> Option<&str> {
    program_of_command(command).filter(|name| *name == "xargs")?;
    let (_, options) = command.split_once("xargs")?;
    let mut words = written_words(options).into_iter();
    while let Some(word) = words.next() {
        let Some(letters) = word.strip_prefix('-') else { return program_of_command(word) };
        let valued = letters.find(|c: char| XARGS_LETTERS.contains(c));
        let ends_in_valued = !letters.starts_with('-') && valued.is_some_and(|at| at + 1 == letters.len());
        if ends_in_valued || XARGS_WORDS.contains(&word) {
            words.next();
        }
    }
    None
}

/// The words of a command as they are written, with their quotes.
fn written_words(command: &str) -> Vec<&str> {
    word_ranges(command, char::is_whitespace).into_iter().map(|word| &command[word]).collect()
}

/// The name of the program that a command starts; `None` if only the shell can resolve it.
fn program_of_command(command: &str) -> Option<&str> {
    let mut words = written_words(command).into_iter();
    while let Some(word) = words.next() {
        let assigns = is_assignment(word);
        let redirects = word.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(['<', '>']);
        if redirects && word.ends_with(['<', '>', '&', '|']) {
            // The next word is the file of the redirection.
            words.next();
        }
        if assigns || redirects {
            continue;
        }
        let is_plain =
            word.chars().all(|c| c.is_ascii_alphanumeric() || "/._+-".contains(c) || !c.is_ascii());
        return (is_plain && !SHELL_WORDS.contains(&word)).then_some(word);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_of_a_pipeline_is_checked() {
        for (script, programs) in [
            ("unzip -p \"$1\" | wc -l", vec!["unzip", "wc"]),
            ("wc -l < \"$1\"", vec!["wc"]),
            ("< \"$1\" wc -l", vec!["wc"]),
            ("<\"$1\" wc -l 2>&1 | sort", vec!["wc", "sort"]),
            ("LC_ALL=C grep -c 'a|b;c' \"$1\" && true || ./own", vec!["grep", "true", "./own"]),
            ("(cat \"$1\"; echo x) | tr a \"|\"", vec!["cat", "tr"]),
            ("xargs -0 cat < \"$1\" | wc -l", vec!["xargs", "cat", "wc"]),
            ("xargs < \"$1\"", vec!["xargs"]),
            ("for x in 1 2; do $x; done", vec![]),
            ("xargs -0 -n 1 -rP 4 cat < \"$1\"", vec!["xargs", "cat"]),
            ("xargs --max-procs 4 -I% cat % < \"$1\"", vec!["xargs", "cat"]),
            ("OPTIONS='-a -b -c' ./own \"$1\"", vec!["./own"]),
            ("ulimit -n 9; pigz -p $(nproc) -d -c \"$1\"", vec!["pigz", "nproc"]),
            ("case $1 in a) cat \"$1\";; plain) wc;; esac | tr a b", vec!["tr"]),
            ("echo \\| wc; \"quoted\" x", vec![]),
            ("./a && cd base && ./b \"$1\" | /bin/wc | sort", vec!["./a", "/bin/wc", "sort"]),
        ] {
            assert_eq!(programs_of_script(script), programs, "{script}");
        }
    }

    #[test]
    fn a_missing_program_is_named_with_its_package() {
        assert_eq!(missing(["sh", "/bin/sh"]), None);
        assert_eq!(missing(["sh", "no/such/program"]), Some("no/such/program: no such program".into()));
        let said = missing(["sh", "no-such-program"]).unwrap();
        assert!(said.starts_with("no-such-program: not on the PATH; "), "{said}");
        assert!(!can_be_started(OsStr::new("sh"), Some("/nowhere".into())));
    }

    #[test]
    fn a_folder_and_a_file_that_may_not_be_executed_are_no_programs() {
        assert!(
            !can_be_started(OsStr::new("/tmp"), None) && !can_be_started(OsStr::new("/etc/passwd"), None)
        );
    }
}
