//! Where the path of the raced file may stand in a command line. It is an argument of a program
//! that reads it. Nowhere may it be the program, since the raced file is never run; and nowhere may
//! its bytes be the text of a program, since anybody can name a file `$(rm x)`.

mod written;

use crate::command_line::{PLACE, commands, has_place, is_assignment};

/// Programs that read the files that are their operands, and do nothing else to them: at their end
/// a path is safe that the user did not place.
const READERS: [&str; 45] = [
    "wc",
    "cat",
    "tac",
    "nl",
    "head",
    "tail",
    "cut",
    "paste",
    "rev",
    "fold",
    "fmt",
    "expand",
    "od",
    "hexdump",
    "strings",
    "file",
    "stat",
    "ls",
    "du",
    "cmp",
    "diff",
    "comm",
    "join",
    "grep",
    "egrep",
    "fgrep",
    "zgrep",
    "rg",
    "cksum",
    "sum",
    "md5sum",
    "sha1sum",
    "sha224sum",
    "sha256sum",
    "sha384sum",
    "sha512sum",
    "b2sum",
    "zcat",
    "bzcat",
    "xzcat",
    "zstdcat",
    "lz4cat",
    "echo",
    "true",
    "false",
];

/// Other programs to which all their words are data.
const TAKE_DATA: [&str; 27] = [
    "printf", "test", "[", "cp", "mv", "ln", "rm", "mkdir", "rmdir", "touch", "chmod", "truncate", "install",
    "tee", "dd", "uniq", "sort", "tr", "gzip", "gunzip", "pigz", "zstd", "xz", "bzip2", "lz4", "brotli",
    "unzip",
];

/// Options of those whose value is a program.
const RUN: [&str; 3] = ["--pre", "--hostname-bin", "--compress-program"];

/// Programs that run the program among their words: the letters of their options that have a value
/// in the next word, and how many words come before the program.
const WRAPPERS: [(&str, &str, usize); 46] = [
    ("env", "uC", 0),
    ("nice", "n", 0),
    ("ionice", "cnpPu", 0),
    ("chrt", "TPD", 1),
    ("taskset", "", 1),
    ("numactl", "CNmpil", 0),
    ("nohup", "", 0),
    ("setsid", "", 0),
    ("stdbuf", "ioe", 0),
    ("unbuffer", "", 0),
    ("time", "fo", 0),
    ("timeout", "ks", 1),
    ("exec", "a", 0),
    ("command", "", 0),
    ("builtin", "", 0),
    ("busybox", "", 0),
    ("toybox", "", 0),
    ("sudo", "ugChpRrTtUD", 0),
    ("doas", "uC", 0),
    ("chroot", "", 1),
    ("unshare", "RwSG", 0),
    ("nsenter", "tSG", 0),
    ("setpriv", "", 0),
    ("prlimit", "o", 0),
    ("choom", "n", 0),
    ("cgexec", "g", 0),
    ("flock", "wE", 1),
    ("faketime", "f", 1),
    ("xargs", "IiLnPdEas", 0),
    ("strace", "eopsuaSPIbEOX", 0),
    ("ltrace", "eopsuanl", 0),
    ("valgrind", "", 0),
    ("catchsegv", "", 0),
    ("linux32", "", 0),
    ("linux64", "", 0),
    ("eatmydata", "", 0),
    ("proxychains", "f", 0),
    ("coproc", "", 0),
    ("!", "", 0),
    ("{", "", 0),
    ("if", "", 0),
    ("then", "", 0),
    ("else", "", 0),
    ("while", "", 0),
    ("until", "", 0),
    ("do", "", 0),
];

/// Long options of those, of which the value is the next word.
const VALUED: [&str; 17] = [
    "--unset",
    "--chdir",
    "--adjustment",
    "--class",
    "--classdata",
    "--signal",
    "--kill-after",
    "--input",
    "--output",
    "--error",
    "--format",
    "--user",
    "--group",
    "--rcfile",
    "--init-file",
    "--require",
    "--assign",
];

/// Programs and words of the shell to which any of their words may be the text of a program.
const EVALUATE: [&str; 7] = ["eval", "trap", "ssh", "watch", "parallel", "tmux", "screen"];

/// Long options of interpreters before the text of a program.
const TEXT_OPTIONS: [&str; 6] =
    ["--command", "--eval", "--execute", "--expression", "--print", "--split-string"];

/// A program that takes the text of a program.
struct Interpreter {
    /// Its names, without their versions.
    names: &'static [&'static str],
    /// The letters of its options before the text.
    text: &'static str,
    /// Those with another value.
    valued: &'static str,
    /// Whether its first operand is the text where no option has it.
    takes_operand: bool,
}

const fn interpreter(
    names: &'static [&'static str],
    text: &'static str,
    valued: &'static str,
    takes_operand: bool,
) -> Interpreter {
    Interpreter { names, text, valued, takes_operand }
}

/// The last one is any program that only the shell knows.
const INTERPRETERS: [Interpreter; 12] = [
    interpreter(&["sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish"], "c", "oO", false),
    interpreter(&["python", "pypy"], "c", "WXQ", false),
    interpreter(&["perl"], "eE", "I", false),
    interpreter(&["ruby"], "e", "rIC", false),
    interpreter(&["node", "bun", "deno", "nodejs"], "ep", "r", false),
    interpreter(&["php"], "rRBE", "cdz", false),
    interpreter(&["lua", "luajit"], "e", "l", false),
    interpreter(
        &["Rscript", "R", "julia", "groovy", "scala", "elixir", "guile", "osascript"],
        "eEc",
        "",
        false,
    ),
    interpreter(&["awk", "gawk", "mawk", "nawk"], "e", "Fvf", true),
    interpreter(&["sed", "gsed"], "e", "fl", true),
    interpreter(&["su", "runuser", "script"], "c", "sgGw", false),
    interpreter(&[], "ceErp", "", false),
];

/// Stands for a `$` or a backquote outside of quotes in a split command, by which a word may vanish.
const EXPANSION: char = '\u{1}';

/// The same within double quotes.
const QUOTED_EXPANSION: char = '\u{2}';

/// Stands for a `<` outside of quotes.
const REDIRECTION: char = '\u{3}';

/// Stands for a `{` that is escaped.
const ESCAPED: char = '\u{4}';

/// Stands for a `>` outside of quotes.
const WRITING: char = '\u{5}';

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
    /// It would be the program where a variable is empty.
    #[error(
        "'{0}': the file itself would be run as a program where the variable before it is empty; write ${{NAME:?}}, which ends the command then"
    )]
    Vanishing(String),
    /// It has no place, and its end may be that of a program.
    #[error("'{0}' names no file; write {{}} where the path belongs, behind the program that reads it")]
    NoPlace(String),
    /// The place is one of another program.
    #[error(
        "'{0}': {{}} is the raced file here, also behind {1}, which has a {{}} of its own; write that one as \\{{\\}}"
    )]
    OfAnother(String, String),
    /// The file would be another one afterwards.
    #[error(
        "'{0}': this writes to the raced file, which must stay as it is; write to another one, for example {{}}.out"
    )]
    Writes(String),
}

/// The line with a place for the path: one without gets it at its end, if that is an operand of a
/// program that is known to read its operands.
///
/// # Errors
/// If the path would be run, or might be.
pub fn completed(line: &str) -> Result<String, PlacingError> {
    if has_place(line) {
        return check(line).map(|()| line.to_owned());
    }
    let (command, comment) = line.split_at(comment_at(line).unwrap_or(line.len()));
    let last = commands(command).last().map_or_else(Vec::new, |last| words(last));
    let program = program(&last);
    let (is_reader, runs_next) = (READERS.contains(&name(program.first())), is_option_to_run(program.last()));
    if !is_reader || runs_next {
        return Err(PlacingError::NoPlace(line.to_owned()));
    }
    let comment = if comment.is_empty() { String::new() } else { format!(" {comment}") };
    Ok(format!("{} {PLACE}{comment}", command.trim_end()))
}

/// Refuses a line in which the path would be run, as a program or as a part of its text, or written
/// to.
///
/// # Errors
/// If it would.
pub fn check(line: &str) -> Result<(), PlacingError> {
    let words = commands(line).into_iter().map(words);
    words
        .filter(|words| words.iter().any(|word| has_place(word)))
        .try_for_each(|words| Command { line, words: &words }.check())?;
    // In double quotes a shell runs what is between these.
    let text = line.split('"').skip(1).step_by(2);
    let runs = |quoted: &str| has_place(quoted) && quoted.contains(['`', '(']);
    if text.into_iter().any(runs) {
        return Err(PlacingError::Script(line.to_owned()));
    }
    if written::writes_to_path(line) { Err(PlacingError::Writes(line.to_owned())) } else { Ok(()) }
}

/// One command of a line.
struct Command<'a> {
    line: &'a str,
    words: &'a [String],
}

impl Command<'_> {
    fn check(&self) -> Result<(), PlacingError> {
        let words = program(self.words);
        self.check_program(words)?;
        self.check_own_places()?;
        let (name, operands) = (name(words.first()), words.get(1..).unwrap_or_default());
        if READERS.contains(&name) || TAKE_DATA.contains(&name) {
            let runs = |pair: &[String]| is_option_to_run(pair.first()) && has_place(&pair[1]);
            let is_run = operands.windows(2).any(runs);
            return if is_run { Err(PlacingError::Program(self.line.to_owned())) } else { Ok(()) };
        }
        let evaluates = EVALUATE.contains(&name) || splits_text(self.words);
        let interpreter = interpreter_of(words.first());
        let texts = interpreter.map_or_else(Vec::new, |interpreter| interpreter.texts(words));
        for (at, word) in words.iter().enumerate().filter(|(_, word)| has_place(word)) {
            if evaluates || texts.contains(&at) || !is_name(word) {
                return Err(PlacingError::Script(self.line.to_owned()));
            }
        }
        // A program that is not known may run the one among its words.
        if interpreter.is_some() {
            return Ok(());
        }
        let inner = |word: &String| {
            interpreter_of(Some(word)).is_some_and(|it| !it.names.is_empty()) || EVALUATE.contains(&&**word)
        };
        match operands.iter().position(inner) {
            Some(at) => Command { line: self.line, words: &operands[at..] }.check(),
            None => Ok(()),
        }
    }

    /// Refuses the path as the program, also where words before it may vanish.
    fn check_program(&self, words: &[String]) -> Result<(), PlacingError> {
        let is_path = |word: &String| has_place(word) || is_argument(word);
        match words.iter().find(|word| !may_vanish(word)) {
            Some(word) if words.first() == Some(word) && is_path(word) => {
                Err(PlacingError::Program(self.line.to_owned()))
            }
            Some(word) if is_path(word) => Err(PlacingError::Vanishing(self.line.to_owned())),
            _ => Ok(()),
        }
    }

    /// Refuses a place where the program has one of its own.
    fn check_own_places(&self) -> Result<(), PlacingError> {
        for (at, word) in self.words.iter().enumerate() {
            let begins = |(of, program): (usize, &String)| match name(Some(program)) {
                "find" => ["-exec", "-execdir", "-ok", "-okdir"].contains(&word.as_str()),
                "fd" | "fdfind" => ["-x", "-X", "--exec", "--exec-batch"].contains(&word.as_str()),
                "xargs" => {
                    let is_own = self.words[of + 1..at].iter().all(|word| word.starts_with('-'));
                    is_own && (word.starts_with("-I") || word.starts_with("--replace"))
                }
                _ => false,
            };
            let begins = self.words[..at].iter().enumerate().any(begins);
            if begins && self.words[at..].iter().any(|word| has_place(word)) {
                return Err(PlacingError::OfAnother(self.line.to_owned(), word.replace(PLACE, "")));
            }
        }
        Ok(())
    }
}

impl Interpreter {
    /// Which words are the text of a program; the first is the interpreter.
    fn texts(&self, words: &[String]) -> Vec<usize> {
        let (mut texts, mut at, mut operand_is_text) = (Vec::new(), 1, self.takes_operand);
        while let Some(word) = words.get(at) {
            let option = word.split('=').next().unwrap_or_default();
            match word.strip_prefix('-').or(word.strip_prefix('+')) {
                Some("") | None => {
                    if operand_is_text {
                        texts.push(at);
                    }
                    // What follows is for the script, unless this is a user.
                    if !self.names.contains(&"su") {
                        break;
                    }
                }
                Some("-") => {}
                Some(_) if TEXT_OPTIONS.contains(&option) => {
                    operand_is_text = false;
                    texts.extend([at, at + 1]);
                    at += usize::from(option == word);
                }
                Some(_) if VALUED.contains(&word.as_str()) => at += 1,
                Some(long) if long.starts_with('-') => {}
                Some(letters) => {
                    let letters: Vec<char> = letters.chars().take_while(|c| c.is_alphanumeric()).collect();
                    let found =
                        letters.iter().position(|&c| self.text.contains(c) || self.valued.contains(c));
                    let is_whole = word.chars().count() == letters.len() + 1;
                    let ends = |of: &str| is_whole && letters.last().is_some_and(|&c| of.contains(c));
                    match found.map(|found| letters[found]) {
                        // A shell takes the first operand, whatever options are between.
                        Some('c') if self.names.contains(&"sh") => operand_is_text = true,
                        Some(c) if self.text.contains(c) => {
                            operand_is_text = false;
                            let next = usize::from(ends(self.text));
                            texts.extend([at, at + next]);
                            at += next;
                        }
                        Some(c) => {
                            operand_is_text &= c != 'f';
                            at += usize::from(ends(self.valued));
                        }
                        None => {}
                    }
                }
            }
            at += 1;
        }
        texts
    }
}

/// The words of a command as a shell splits them, without assignments before the program and
/// without redirections; what a shell would do to them is marked.
fn words(command: &str) -> Vec<String> {
    let marked = marked(command);
    let split = shell_words::split(&marked).unwrap_or_else(|_| vec![marked.clone()]);
    let (mut words, mut is_file): (Vec<String>, bool) = (Vec::new(), false);
    for word in split {
        if std::mem::take(&mut is_file) {
            continue;
        }
        let Some((before, after)) = word.split_once([REDIRECTION, WRITING]) else {
            if !words.is_empty() || !is_assignment(&word) {
                words.push(word);
            }
            continue;
        };
        is_file = after.trim_start_matches([REDIRECTION, WRITING, '&', '|']).is_empty();
        if !before.chars().all(|c| c.is_ascii_digit()) {
            words.push(before.to_owned());
        }
    }
    words
}

/// A command with marks for what a shell sees outside of quotes.
fn marked(command: &str) -> String {
    let (mut marked, mut quote, mut chars) = (String::new(), None, command.chars().peekable());
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, '\\') if chars.peek() == Some(&'{') => {
                chars.next();
                marked.push(ESCAPED);
            }
            (None | Some('"'), '\\') => {
                marked.push(c);
                marked.extend(chars.next());
            }
            (None, '$' | '`') => marked.push(EXPANSION),
            (Some('"'), '$' | '`') => marked.push(QUOTED_EXPANSION),
            (None, '<') => marked.push(REDIRECTION),
            (None, '>') => marked.push(WRITING),
            _ => {
                match (quote, c) {
                    (None, '\'' | '"') => quote = Some(c),
                    (Some(open), c) if c == open => quote = None,
                    _ => {}
                }
                marked.push(c);
            }
        }
    }
    marked
}

/// The words from the program on that a command runs in the end.
fn program(mut words: &[String]) -> &[String] {
    loop {
        let Some(wrapper) = WRAPPERS.iter().find(|it| it.0 == name(words.first())) else { return words };
        let (_, valued, operands) = *wrapper;
        let mut at = 1;
        while let Some(option) = words.get(at).filter(|word| word.starts_with('-')) {
            at += 1;
            if option == "--" {
                break;
            }
            let has_value = option.starts_with("--") && VALUED.contains(&option.as_str())
                || !option.starts_with("--") && option.len() > 1 && option.ends_with(|c| valued.contains(c));
            at += usize::from(has_value);
        }
        at += operands;
        while words.get(at).is_some_and(|word| is_assignment(word)) {
            at += 1;
        }
        words = words.get(at..).unwrap_or_default();
    }
}

/// The name of a program without its folder.
fn name(word: Option<&String>) -> &str {
    word.and_then(|word| word.rsplit('/').next()).unwrap_or_default()
}

/// The interpreter of this name; any, where only the shell knows the name or has left it out.
fn interpreter_of(word: Option<&String>) -> Option<&'static Interpreter> {
    let name = name(word);
    if name.contains([EXPANSION, QUOTED_EXPANSION]) || name.starts_with('-') {
        return INTERPRETERS.last();
    }
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    INTERPRETERS.iter().find(|it| it.names.contains(&name))
}

/// Whether `env` splits a text into a command.
fn splits_text(words: &[String]) -> bool {
    let is_text = |word: &String| word.starts_with("-S") || word.starts_with("--split-string");
    let env = words.iter().position(|word| name(Some(word)) == "env");
    env.is_some_and(|env| words[env..].iter().any(is_text))
}

fn is_option_to_run(word: Option<&String>) -> bool {
    word.is_some_and(|word| RUN.contains(&word.as_str()))
}

/// Whether nothing of a word may be left when the shell has expanded it.
fn may_vanish(word: &str) -> bool {
    let mut rest = word;
    while let Some(after) = rest.strip_prefix(EXPANSION) {
        rest = match after.strip_prefix('{').and_then(|it| it.split_once('}')) {
            Some((parameter, _)) if parameter.contains(":?") => return false,
            Some((_, after)) => after,
            None if after.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') => {
                after.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_')
            }
            None => after.get(1..).unwrap_or_default(),
        };
    }
    rest.is_empty() && !word.is_empty()
}

/// Whether a word is the path by the name that the shell has for it.
fn is_argument(word: &str) -> bool {
    let name = word.strip_prefix([EXPANSION, QUOTED_EXPANSION]).unwrap_or_default();
    ["1", "@", "*"].contains(&name.trim_start_matches('{').trim_end_matches('}'))
}

/// Whether a word is plainly the name of a file: the place alone, behind a folder or the name of an
/// option, and before an extension or the rest of a path.
fn is_name(word: &str) -> bool {
    let word = word.replace(crate::command_line::LIST_PLACE, PLACE);
    let parts: Vec<&str> = word.split(PLACE).collect();
    let [first, between @ .., last] = parts.as_slice() else { return true };
    let is_plain = |part: &str| {
        part.chars().all(|c| c.is_alphanumeric() || "._-/:,=@%+~<>&${}\u{1}\u{2}\u{3}\u{5}".contains(c))
    };
    let is_start = first.is_empty()
        || first.ends_with(['=', '/', ':', ',', '@'])
        || first.strip_prefix('-').is_some_and(|flag| !flag.contains('/'));
    let is_script =
        first.starts_with(|c: char| c.is_ascii_lowercase()) && first.ends_with('/') && last.contains('/');
    // Behind a folder comes the name of a file or a pattern for names.
    let is_below = first.is_empty() && last.starts_with('/');
    let is_end =
        last.chars().all(|c| c.is_alphanumeric() || "._-+~:,=/*?[]{}!^".contains(c) || is_below && c == ' ');
    is_start && is_end && !is_script && is_plain(first) && between.iter().all(|part| is_plain(part))
}

/// Where a comment begins.
fn comment_at(line: &str) -> Option<usize> {
    let (mut quote, mut before) = (None, ' ');
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (None, '#') if before.is_whitespace() => return Some(at),
            (None, '\'' | '"') if before != '\\' => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            _ => {}
        }
        before = c;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

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
            "cat<{}",
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
            "awk -F , -v n=1 'END{print NR}' {}",
            "(cat {}; echo x) | wc -l",
            // What a shell does to names is not done to the path.
            "cat {}/*.log | wc -l",
            "cat \"{}\"/*.log | wc -l",
            "cat {}/{a,b} {}/[ab]*",
            "./my-reader {}/*.log {}/{a,b}",
            "cat \"{}/sub dir/x\"",
            "./my-reader \"{}/sub dir/x\"",
            "cp {} \"/tmp/my copy of {}\"",
            "grep -c '(x|y) $z' {}",
            // An option of a script is none of its interpreter.
            "python3 my.py -p {}",
            "python3 -u my.py -c {}",
            "python3 -m my -e {}",
            "sh mine -c {}",
            "perl mine.pl -e {}",
            "node --max-old-space-size=99 my.js -r {}",
            "my-reader -p {}",
            "my-reader -c{}",
            "python3 {}",
            // Programs that run another one.
            "nice -n 5 wc -l {}",
            "env -u A X=1 wc -l {}",
            "timeout -k 1 5 taskset -c 0 wc -l {}",
            "$NICE wc -l {}",
            "${READER:?} {}",
            "\"$READER\" -l {}",
            "! grep x {}",
            "time -f %e ./my-reader {}",
            "find {} -type f",
            "find {} -exec cat \\{\\} +",
            "xargs grep -I x {}",
            "if grep -q x {}; then wc -l {}; fi",
        ] {
            assert_eq!(check(line), Ok(()), "{line}");
            assert_eq!(completed(line).as_deref(), Ok(line));
        }
    }

    #[test]
    fn the_path_is_no_text_of_a_program() {
        for line in [
            "sh -c 'cat {} | wc -l'",
            "sh -c \"cat {} | wc -l\"",
            "bash -c {}",
            "bash -O extglob -ec {}",
            "sh -c -e {}",
            "/bin/sh -lc {}",
            "python3.11 -c {}",
            "python3 -W ignore -c {}",
            "perl -e {}",
            "perl -ne {}",
            "node -pe {}",
            "node --eval={}",
            "eval {}",
            "eval cat {}",
            "ssh host cat {}",
            "watch cat {}",
            "sed 's/{}//' x",
            "sed s/{}/x/ y",
            "sed -n {}",
            "awk {}",
            "awk -F , {}",
            "awk 'BEGIN{while((getline l < \"{}\")>0)n++;print n}'",
            "python3 -c 'print(open(\"{}\").read())'",
            "echo \"$(cat {})\"",
            "echo \"`cat {}`\" x",
            "perl -e{}",
            "true; sh -c 'cat {}'",
            "nice sh -c {}",
            "env X=1 bash -c 'cat {}'",
            "my-wrapper sh -c {}",
            "my-wrapper 'cat {}'",
            "$SHELL -c {}",
            "\"$SHELL\" -c {}",
            "su root -c {}",
        ] {
            assert!(matches!(check(line), Err(PlacingError::Script(_))), "{line}: {:?}", check(line));
        }
    }

    #[test]
    fn the_path_is_no_program() {
        for line in [
            "{}",
            "'{}'",
            "{} -x",
            "LC_ALL=C {}",
            "true | {}",
            "./{}",
            "true && {} x",
            "nice {}",
            "nice -n 5 {}",
            "env {}",
            "env X=1 {}",
            "env -S {}",
            "/usr/bin/env -u A {}",
            "time {}",
            "time -f %e {}",
            "taskset -c 0 {}",
            "timeout 5 {}",
            "timeout -k 1 5 nice {}",
            "nohup {}",
            "stdbuf -o0 {}",
            "exec {}",
            "! {}",
            "xargs {}",
            "if {}; then true; fi",
            ">out {}",
            "2>/dev/null {}",
            "\"$1\" {}",
            "rg --pre {} x",
            "$(cat x) {}",
        ] {
            assert!(matches!(check(line), Err(PlacingError::Program(_))), "{line}: {:?}", check(line));
        }
        for line in
            ["$UNSET {}", "$A $B {}", "${A} {}", "${A-} {}", "`true` {}", "env $UNSET {}", "$A$B {} x"]
        {
            assert!(matches!(check(line), Err(PlacingError::Vanishing(_))), "{line}: {:?}", check(line));
        }
    }

    #[test]
    fn a_place_of_another_program_is_named_with_what_to_write() {
        for line in ["find {} -exec cat {} +", "find . -exec sh -c 'cat {}' \\;", "ls | xargs -I{} cat {}"] {
            assert!(matches!(check(line), Err(PlacingError::OfAnother(..))), "{line}: {:?}", check(line));
        }
        let said = check("find {} -exec cat {} +").unwrap_err().to_string();
        assert!(
            said.ends_with("also behind -exec, which has a {} of its own; write that one as \\{\\}"),
            "{said}"
        );
    }

    #[test]
    fn only_a_program_that_reads_its_operands_gets_the_path_at_its_end() {
        for (line, right) in [
            ("wc -l", "wc -l {}"),
            ("LC_ALL=C nice -n 5 grep -c x ", "LC_ALL=C nice -n 5 grep -c x {}"),
            ("true && /usr/bin/wc -l", "true && /usr/bin/wc -l {}"),
            ("wc -l # second", "wc -l {} # second"),
            ("grep -c '#'", "grep -c '#' {}"),
        ] {
            assert_eq!(completed(line).as_deref(), Ok(right), "{line}");
        }
        for line in [
            "nice",
            "env",
            "time",
            "timeout 5",
            "taskset -c 0",
            "nohup",
            "stdbuf -o0",
            "env X=1",
            "$UNSET",
            "wc -l $(x)",
            "sh",
            "bash -x",
            "python3",
            "perl",
            "node",
            "env -S",
            ".",
            "source",
            "tclsh",
            "sed -n",
            "awk",
            "gzip",
            "sort -o",
            "rg --pre",
            "find . -exec",
            "tee",
            "wc -l |",
            "LC_ALL=C",
            "wc -l; nice",
            "./my-reader",
            "wc '",
        ] {
            assert!(
                matches!(completed(line), Err(PlacingError::NoPlace(_))),
                "{line}: {:?}",
                completed(line)
            );
        }
    }
}
