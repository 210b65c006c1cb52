//! Checks where the path of the raced file is in a command line. It must be an argument of a
//! program that reads it. It may nowhere be the program, because the raced file is never run. Its
//! bytes may nowhere be the text of a program, because a file can have a name like `$(rm x)`. The
//! same rules apply to the scripts of shells within the line, and to the commands that `xargs`,
//! `find` and `fd` make of the names that they get.

mod arguments;
mod built;
mod output;
mod parameters;
mod substituted;
mod written;

use crate::command_line::{LIST_PLACE, PLACE, commands, has_place, is_assignment, operators};
use crate::quoting::quoted_chars;
use built::BuiltCommand;
use parameters::PathVariable;
use std::ffi::{OsStr, OsString};
use substituted::WholeCommand;

/// Programs that read the files among their operands and do nothing else to them. A path may safely
/// be added after their last operand.
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

/// Other programs that treat all their words as data.
const DATA_PROGRAMS: [&str; 38] = [
    "printf",
    "test",
    "[",
    "cp",
    "mv",
    "ln",
    "rm",
    "mkdir",
    "rmdir",
    "touch",
    "chmod",
    "truncate",
    "install",
    "tee",
    "dd",
    "uniq",
    "sort",
    "tr",
    "gzip",
    "gunzip",
    "pigz",
    "zstd",
    "xz",
    "bzip2",
    "lz4",
    "brotli",
    "unzip",
    "bat",
    "batcat",
    "pygmentize",
    "ag",
    "ack",
    "ug",
    "ugrep",
    "xsv",
    "bzgrep",
    "xzgrep",
    "zstdgrep",
];

/// Options of the programs above whose value is a program to run.
const OPTIONS_THAT_RUN: [&str; 5] = ["--pre", "--hostname-bin", "--compress-program", "--pager", "--filter"];

/// Programs that run the program among their words: their name, the letters of their options whose
/// value is the next word, and the number of operands before the program.
const WRAPPERS: [(&str, &str, usize); 49] = [
    ("env", "uC", 0),
    ("nice", "n", 0),
    ("ionice", "cnpPu", 0),
    ("chrt", "TPD", 1),
    ("taskset", "", 1),
    ("numactl", "CNmpi", 0),
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
    ("faketime", "", 1),
    ("xargs", "IJLRnPdEas", 0),
    ("strace", "eopsuaSPIbEOX", 0),
    ("ltrace", "eopsuanl", 0),
    ("valgrind", "", 0),
    ("catchsegv", "", 0),
    ("linux32", "", 0),
    ("linux64", "", 0),
    ("ld-linux-x86-64.so.2", "", 0),
    ("ld-linux-aarch64.so.1", "", 0),
    ("eatmydata", "", 0),
    ("proxychains", "f", 0),
    ("coproc", "", 0),
    ("!", "", 0),
    ("{", "", 0),
    ("if", "", 0),
    ("then", "", 0),
    ("elif", "", 0),
    ("else", "", 0),
    ("while", "", 0),
    ("until", "", 0),
    ("do", "", 0),
];

/// Long options of the wrappers whose value is the next word.
const LONG_OPTIONS_WITH_VALUE: [&str; 22] = [
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
    "--arg-file",
    "--delimiter",
    "--max-args",
    "--max-chars",
    "--max-procs",
];

/// Programs and shell built-ins that may run any of their words as the text of a program.
const EVALUATORS: [&str; 7] = ["eval", "trap", "ssh", "watch", "parallel", "tmux", "screen"];

/// Long options of interpreters whose value is the text of a program.
const LONG_TEXT_OPTIONS: [&str; 6] =
    ["--command", "--eval", "--execute", "--expression", "--print", "--split-string"];

/// Long option of interpreters whose value is the file of a program.
const LONG_SCRIPT_OPTION: &str = "--file";

/// Letter of options of interpreters whose value is the file of a program.
const SCRIPT_LETTER: char = 'f';

/// Letter of options of interpreters whose value is a module to run; the words after it are the
/// module's.
const MODULE_LETTER: char = 'm';

/// Interpreters and their options with which they parse their script and do not run it.
const PARSERS: [(&str, &[&str]); 4] =
    [("sh", &["-n"]), ("php", &["-l", "--syntax-check"]), ("node", &["-c", "--check"]), ("ruby", &["-c"])];

/// Words of a shell after which a command begins.
const KEYWORDS: [&str; 9] = ["if", "then", "elif", "else", "while", "until", "do", "{", "!"];

/// Built-ins of shells that run the file that is their first operand.
const SOURCING: [&str; 2] = [".", "source"];

/// An interpreter: a program that takes the text of a program.
struct Interpreter {
    /// Names of the interpreter, without version numbers.
    names: &'static [&'static str],
    /// Letters of its options whose value is the text.
    text: &'static str,
    /// Letters of its options with another value.
    valued: &'static str,
    first_operand: FirstOperand,
}

/// What the first operand of an interpreter is if no option has the program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FirstOperand {
    /// The text of the program.
    Text,
    /// The file of the program. Without an operand, the program comes from standard input.
    Script,
    /// An argument of the program, which comes from standard input.
    Argument,
    /// Something else. Whether standard input is a program is unknown.
    Other,
}

/// Where a command names the program that its interpreter runs.
#[derive(Default)]
struct ProgramSource {
    /// Indices of the words that are the text of a program.
    texts: Vec<usize>,
    /// Indices of the words that name the file of a program.
    scripts: Vec<usize>,
    is_standard_input: bool,
}

const fn interpreter(
    names: &'static [&'static str],
    text: &'static str,
    valued: &'static str,
    first_operand: FirstOperand,
) -> Interpreter {
    Interpreter { names, text, valued, first_operand }
}

/// The last entry stands for any program whose name only the shell knows.
const INTERPRETERS: [Interpreter; 15] = [
    interpreter(
        &["sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "csh", "tcsh"],
        "c",
        "oO",
        FirstOperand::Script,
    ),
    interpreter(&["python", "pypy"], "c", "WXQm", FirstOperand::Script),
    interpreter(&["perl"], "eE", "IMm", FirstOperand::Script),
    interpreter(&["ruby"], "e", "rIC", FirstOperand::Script),
    interpreter(&["node", "nodejs"], "ep", "r", FirstOperand::Script),
    interpreter(&["bun"], "ep", "r", FirstOperand::Script),
    interpreter(&["deno"], "", "c", FirstOperand::Script),
    interpreter(&["php"], "rRBE", "cdzf", FirstOperand::Script),
    interpreter(&["lua", "luajit"], "e", "l", FirstOperand::Script),
    interpreter(
        &["Rscript", "julia", "groovy", "scala", "elixir", "guile", "osascript", "tclsh"],
        "eEc",
        "",
        FirstOperand::Script,
    ),
    interpreter(&["R"], "e", "fg", FirstOperand::Argument),
    interpreter(&["awk", "gawk", "mawk", "nawk"], "e", "Fvf", FirstOperand::Text),
    interpreter(&["sed", "gsed"], "e", "fl", FirstOperand::Text),
    interpreter(&["su", "runuser", "script"], "c", "sgGw", FirstOperand::Other),
    interpreter(&[], "ceErp", "", FirstOperand::Other),
];

/// Marks a `$` or a backquote outside quotes in a split command. The word may vanish by its
/// expansion.
const EXPANSION: char = '\u{1}';

/// Marks a `$` or a backquote within double quotes.
const QUOTED_EXPANSION: char = '\u{2}';

/// Marks a `<` outside quotes.
const INPUT_REDIRECTION: char = '\u{3}';

/// Marks an escaped `{`.
const ESCAPED_BRACE: char = '\u{4}';

/// Marks a `>` outside quotes.
const OUTPUT_REDIRECTION: char = '\u{5}';

/// How a program gets the path whose text would name it.
pub const HAND_OVER_WORDS: &str = "hand it over as an argument: sh -c 'cat \"$1\" | wc -l' sh {}, or in a variable, if the program takes no argument: F={} duckdb -c \"select count(*) from read_csv(getenv('F'))\"";

/// The reason why the path may not be at this position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlacingError {
    /// The path would be part of a program's text.
    #[error("'{0}': {{}} is within a script, where the file's name would be code; {how}", how = HAND_OVER_WORDS)]
    Script(String),
    /// A shell would put the path into a program's text.
    #[error(
        "'{0}': $1, or a variable that is set to it, is the raced file here, and within a script in double quotes its name would be code; write the script in single quotes: sh -c 'cat \"$1\" | wc -l' sh {{}}"
    )]
    Expanded(String),
    /// `xargs`, `find` or `fd` would put the names of files into a program's text.
    #[error(
        "'{0}': {1} would put names of files into the text of a program, where they would be code; hand them over as arguments: sh -c 'wc -l \"$@\"' sh{2}"
    )]
    Built(String, &'static str, String),
    /// The path is in a line with a here-document, in whose text a shell expands it.
    #[error(
        "'{0}': a here-document may have the file's name in its text, where it would be code; write the text to a file, and hand the name over as an argument: sh -c 'cat \"$1\" | wc -l' sh {{}}"
    )]
    HereDocument(String),
    /// `perl` opens a name by its old rules, which run a name that ends in `|`.
    #[error(
        "'{0}': perl with -n, -p, <>, <ARGV> or an open without a mode runs a name that ends in |, and writes to one that begins with >, as '{1}' does; let the shell open the file: perl -ne '…' < {{}}"
    )]
    PerlOpen(String, String),
    /// The path would be the program.
    #[error("'{0}': the file itself would be run as a program; name the program that reads {{}}")]
    Program(String),
    /// The path follows an operand that is the name of an interpreter.
    #[error(
        "'{0}': '{1}' before {{}} may be an interpreter, and would run the file itself as its program; if '{1}' is data, hand both over in a script: sh -c 'my-reader {1} \"$1\"' sh {{}}"
    )]
    Interpreter(String, String),
    /// The path would be the program if a variable is empty.
    #[error(
        "'{0}': the file itself would be run as a program where the variable before it is empty; write ${{NAME:?}}, which ends the command then"
    )]
    Vanishing(String),
    /// The line has no placeholder, and the word after its end may be a program.
    #[error("'{0}' has no {{}}; write {{}} where the path belongs, behind the program that reads it")]
    NoPlace(String),
    /// The placeholder belongs to another program.
    #[error(
        "'{0}': {{}} is the raced file here, also behind {1}, which has a {{}} of its own; write that one as \\{{\\}}"
    )]
    OfAnother(String, String),
    /// The command would change the file.
    #[error(
        "'{0}': this writes to the raced file, or to one below the raced folder, which must stay as it is; write elsewhere, for example to {{}}.out"
    )]
    Writes(String),
    /// The command would write to files that are named by parts of the path.
    #[error(
        "'{0}': a shell splits the file's name at blanks here, and this would write to the files of that name; write it in double quotes, as \"$1\", or write {{}}"
    )]
    Split(String),
}

/// Completes the line with a placeholder for the path. A line without one gets it at its end, if
/// the last program of the line is known to read its operands, and if no word of the line can name
/// a file in a way that only a shell understands.
/// # Errors
/// If the path would be run, or might be run, or if a second file might be read.
pub fn completed(line: &str) -> Result<String, PlacingError> {
    if has_place(line) {
        return check(line).map(|()| line.to_owned());
    }
    let (command, comment) = line.split_at(comment_at(line).unwrap_or(line.len()));
    let last = commands(command).last().copied().unwrap_or_default();
    let words = words(last);
    let program = final_program(&words);
    let (is_reader, runs_next) =
        (READERS.contains(&program_name(program.first())), is_option_to_run(program.last()));
    let is_in_pipe = is_piped(&command[..command.len() - last.len()]);
    if !is_reader || runs_next || is_in_pipe || changes_folder(command) || may_name_other_file(last) {
        return Err(PlacingError::NoPlace(line.to_owned()));
    }
    let comment = if comment.is_empty() { String::new() } else { format!(" {comment}") };
    Ok(format!("{} {PLACE}{comment}", command.trim_end()))
}

/// The name, without its folder, of the program that a command finally runs, after its wrappers.
#[must_use]
pub fn program_of(command: &str) -> String {
    program_name(final_program(&words(command)).first()).to_owned()
}

/// Whether the line changes the folder in which names are looked up.
fn changes_folder(line: &str) -> bool {
    let is_change =
        |words: Vec<String>| ["cd", "pushd", "popd"].contains(&program_name(final_program(&words).first()));
    commands(line).into_iter().map(words).any(is_change)
}

/// Whether a shell may make the name of a file of what is in a command: by a variable, a command, a
/// pattern, a `~` or a backslash.
fn may_name_other_file(command: &str) -> bool {
    let marked = marked(command);
    let is_name = |c: char| c.is_alphanumeric() || "_{(@*".contains(c);
    let mut expansions = marked.split([EXPANSION, QUOTED_EXPANSION]).skip(1);
    expansions.any(|after| after.starts_with(is_name)) || has_outside_quotes(command, "\\*?[~")
}

/// Whether a command has one of these characters outside quotes.
fn has_outside_quotes(command: &str, searched: &str) -> bool {
    quoted_chars(command).any(|it| it.is_outside() && searched.contains(it.c))
}

/// Refuses a line in which the path would be run as a program or as part of a program's text, or
/// would be written to.
///
/// # Errors
/// If the path would be run or written to.
pub fn check(line: &str) -> Result<(), PlacingError> {
    Scope::of_line(line).check(line)
}

/// Refuses a line in which `perl` would run one of the files' names, or write to one.
///
/// # Errors
/// As [`check`], and if the line has `perl` open such a name.
pub fn check_names(line: &str, names: impl FnOnce() -> Vec<OsString>) -> Result<(), PlacingError> {
    check(line)?;
    if !line.contains("perl") {
        return Ok(());
    }
    let Some(name) = names().into_iter().find(|name| is_run_by_perl(name)) else { return Ok(()) };
    Scope { perl_name: Some(&name.to_string_lossy()), ..Scope::of_line(line) }.check(line)
}

/// Whether `perl` does not read the file of this name when it opens it by its old rules.
fn is_run_by_perl(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes().trim_ascii();
    name.ends_with(b"|") || matches!(name.first(), Some(b'|' | b'>' | b'+'))
}

/// What is known about a script while it is checked.
struct Scope<'a> {
    /// The line of the user, for messages.
    line: &'a str,
    /// The variables that the shells around the script set to the path.
    variables: Vec<PathVariable>,
    /// The number of scripts and substitutions around this script.
    depth: usize,
    /// Whether this is the script of a shell that the line starts.
    is_script: bool,
    /// The name of a file that `perl` would run.
    perl_name: Option<&'a str>,
}

/// The number of scripts within each other that are checked. Lines with more are refused.
const DEPTH_MAX: usize = 8;

impl<'a> Scope<'a> {
    fn of_line(line: &'a str) -> Scope<'a> {
        Scope { line, variables: Vec::new(), depth: 0, is_script: false, perl_name: None }
    }

    fn check(&self, script: &str) -> Result<(), PlacingError> {
        let script = without_comment(script);
        let variables = parameters::variables_with_path(script, &self.variables);
        let renamed = parameters::with_variables_renamed(script, &variables);
        let code = renamed.as_str();
        // A variable in single quotes is expanded by a shell that this script starts.
        if !names_path(&marked(code)) && !parameters::names_variable(code, &variables) {
            return Ok(());
        }
        if self.depth > DEPTH_MAX {
            return Err(PlacingError::Script(self.line.to_owned()));
        }
        if has_here_document(code) {
            return Err(PlacingError::HereDocument(self.line.to_owned()));
        }
        let placed = placed_commands(code);
        let wholes = substituted::commands_with_substitutions(code);
        for (at, command) in placed.iter().enumerate() {
            let words = words(command.text);
            if !words.iter().any(|word| names_path(word)) {
                continue;
            }
            let checked = Command { scope: self, words: &words }.check();
            // The text behind a substitution belongs to the command before it.
            let whole = wholes.iter().find(|whole| whole.has_rest(at));
            if !whole.is_some_and(|whole| whole.is_safe(|words| Command { scope: self, words }.check())) {
                checked?;
            }
        }
        for words in wholes.iter().flat_map(|whole| &whole.words) {
            self.check_writes(words)?;
        }
        for (at, command) in placed.iter().enumerate() {
            command.check_standard_input(self.line)?;
            let may_read_program = |whole: &WholeCommand| {
                whole.has_rest(at) && whole.words.iter().any(|it| reads_program(final_program(it)))
            };
            if command.is_fed_by_path() && wholes.iter().any(may_read_program) {
                return Err(PlacingError::Program(self.line.to_owned()));
            }
        }
        // Within double quotes a shell splits the path in backquotes, and evaluates it in arithmetic.
        let evaluates = |quoted: &&str| quoted.contains('`') || quoted.contains("$((");
        if double_quoted(code).into_iter().filter(evaluates).any(has_place) {
            return Err(PlacingError::Script(self.line.to_owned()));
        }
        for command in &placed {
            let renamed = |word: &String| parameters::with_outputs_renamed(word, command.text);
            let words: Vec<String> = words(command.text).iter().map(renamed).collect();
            let output_files = written::redirected_files(command.text, OUTPUT_REDIRECTION);
            if output_files.iter().any(|file| written::is_path(&renamed(file))) {
                return Err(PlacingError::Writes(self.line.to_owned()));
            }
            self.check_writes(&words)?;
            self.check_scripts(&words, &variables)?;
            let built = built::commands_of_names(&words);
            if !built.is_empty() && is_fed(command, &placed) {
                self.check_built(built, &variables)?;
            }
        }
        let inner = self.inner(variables, self.is_script);
        // What a substitution prints is in the command around it.
        let (with_outputs, substituted) = output::with_outputs(code);
        substituted.iter().try_for_each(|text| inner.check(text))?;
        if !substituted.is_empty() {
            inner.check(&with_outputs)?;
        }
        parameters::quoted_substitutions(code).into_iter().try_for_each(|text| inner.check(text))
    }

    /// The scope of a script or of a substitution in this one.
    fn inner(&self, variables: Vec<PathVariable>, is_script: bool) -> Scope<'a> {
        let Scope { line, perl_name, depth, .. } = *self;
        Scope { line, variables, depth: depth + 1, is_script, perl_name }
    }

    fn check_writes(&self, words: &[String]) -> Result<(), PlacingError> {
        if written::writes_to_path(words) {
            return Err(PlacingError::Writes(self.line.to_owned()));
        }
        if written::writes_to_part_of_path(words) {
            return Err(PlacingError::Split(self.line.to_owned()));
        }
        Ok(())
    }

    /// Checks the scripts of the shells that a command starts.
    fn check_scripts(&self, words: &[String], variables: &[PathVariable]) -> Result<(), PlacingError> {
        let program = final_program(words);
        let is_shell = |at: &usize| interpreter_of(program.get(*at)).is_some_and(Interpreter::is_shell);
        let is_data = is_data_program(program_name(program.first()));
        let is_other = interpreter_of(program.first()).is_some();
        // An unknown program may run the shell among its words.
        let candidates = match (is_data, is_other) {
            (true, _) => 0,
            (false, true) => 1,
            (false, false) => program.len(),
        };
        let Some(at) = (0..candidates).find(is_shell) else { return Ok(()) };
        let words = &program[at..];
        let source = interpreter_of(words.first()).map_or_else(ProgramSource::default, |it| it.source(words));
        for &at in source.texts.iter().filter(|&&at| at < words.len()) {
            let script = parameters::with_operands(&words[at], &words[at + 1..], variables);
            self.inner(variables.to_vec(), true).check(&script)?;
        }
        Ok(())
    }

    /// Checks commands that are made of the names of raced files.
    fn check_built(
        &self,
        commands: Vec<BuiltCommand>,
        variables: &[PathVariable],
    ) -> Result<(), PlacingError> {
        for built in commands {
            match (Command { scope: self, words: &built.words }).check() {
                Err(PlacingError::Script(line) | PlacingError::Expanded(line)) => {
                    return Err(PlacingError::Built(line, built.builder, built.shown_place));
                }
                checked => checked?,
            }
            self.check_writes(&built.words)?;
            self.check_scripts(&built.words, variables)?;
        }
        Ok(())
    }
}

/// Whether a command gets names of the raced files: among its words, from its standard input, from
/// the list, or because it runs in the raced folder.
fn is_fed(command: &PlacedCommand, all: &[PlacedCommand]) -> bool {
    let enters_path = |command: &PlacedCommand| {
        let words = words(command.text);
        let is_entry = ["cd", "pushd"].contains(&program_name(final_program(&words).first()));
        is_entry && words.iter().any(|word| names_path(word))
    };
    names_path(&marked(command.text))
        || command.is_fed_by_path()
        || all.iter().any(|command| command.text.contains(LIST_PLACE) || enters_path(command))
}

/// Whether a text has the path, by its placeholder or by a parameter of the shell.
fn names_path(text: &str) -> bool {
    has_place(text) || expands_path(text)
}

/// The texts between double quotes. The quotes of a substitution are part of the text around it.
fn double_quoted(script: &str) -> Vec<&str> {
    let (mut found, mut begin) = (Vec::new(), None);
    for it in quoted_chars(script).filter(|it| it.c == '"' && !it.is_escaped && !it.is_substituted) {
        match it.quote {
            None => begin = Some(it.at + 1),
            Some('"') => found.extend(begin.take().map(|begin: usize| &script[begin..it.at])),
            Some(_) => {}
        }
    }
    found.extend(begin.map(|begin| &script[begin..]));
    found
}

/// Whether a script has a here-document, which `<<` begins. In arithmetic `<<` shifts.
fn has_here_document(script: &str) -> bool {
    let (marked, operator) = (marked(script), [INPUT_REDIRECTION; 2].iter().collect::<String>());
    marked.match_indices(&operator).any(|(at, _)| {
        let (before, after) = (&marked[..at], &marked[at + operator.len()..]);
        !after.starts_with(INPUT_REDIRECTION) && !ends_in_arithmetic(before)
    })
}

/// Whether arithmetic is open at the end of a marked script, as in `$((1<<2` and `((1<<2`.
fn ends_in_arithmetic(marked: &str) -> bool {
    let mut is_arithmetic: Vec<bool> = Vec::new();
    for (at, c) in operators(marked) {
        let before = &marked[..at];
        match c {
            '(' => {
                let outer = before.strip_suffix('(');
                let begins = outer.is_some_and(|it| it.ends_with(EXPANSION) || ends_before_command(it));
                let is_within = is_arithmetic.last().copied().unwrap_or_default();
                is_arithmetic.push(begins || is_within && !before.ends_with(EXPANSION));
            }
            ')' => {
                is_arithmetic.pop();
            }
            _ => {}
        }
    }
    is_arithmetic.last().copied().unwrap_or_default()
}

/// Whether a command may begin at the end of a text.
fn ends_before_command(text: &str) -> bool {
    let text = text.trim_end_matches([' ', '\t']);
    let last = text.rsplit(char::is_whitespace).next().unwrap_or_default();
    let is_end = text.is_empty() || text.ends_with([';', '|', '&', '(', ')', '\n']);
    is_end || last == "for" || KEYWORDS.contains(&last)
}

/// A command of a script, with what is before and after it.
struct PlacedCommand<'a> {
    before: &'a str,
    text: &'a str,
    /// The rest of the script, from the character that ends the command.
    after: &'a str,
}

/// The commands of a script.
fn placed_commands(script: &str) -> Vec<PlacedCommand<'_>> {
    let mut start = 0;
    let placed = commands(script).into_iter().map(|text| {
        let (before, after) = (&script[..start], &script[start + text.len()..]);
        // A character of one byte ends each command.
        start += text.len() + 1;
        PlacedCommand { before, text, after }
    });
    placed.collect()
}

impl PlacedCommand<'_> {
    /// Refuses an interpreter that would read its program from the path, by a redirection or from
    /// the commands before it.
    fn check_standard_input(&self, line: &str) -> Result<(), PlacingError> {
        let words = words(self.text);
        if reads_program(final_program(&words)) && self.is_fed_by_path() {
            return Err(PlacingError::Program(line.to_owned()));
        }
        Ok(())
    }

    /// Whether the command gets the path, or what a command with the path prints, from a
    /// redirection, a pipe or a substitution.
    fn is_fed_by_path(&self) -> bool {
        let input_files = written::redirected_files(self.text, INPUT_REDIRECTION);
        let text = self.text.trim_end();
        // What is substituted follows the command, as in `sh <(cat {})`.
        let is_substituted = text.ends_with('<') || text.contains("<<<") && text.ends_with('$');
        let is_path_piped = || {
            let pipeline = pipeline_before(self.before);
            is_piped(pipeline) && names_path(&marked(pipeline))
        };
        input_files.iter().any(|file| names_path(file))
            || is_piped(self.before) && is_path_piped()
            || is_substituted
                && self.after.starts_with('(')
                && names_path(&marked(in_parentheses(self.after)))
    }

    /// Whether the output of the commands after it becomes part of its last word.
    fn is_before_substitution(&self) -> bool {
        self.text.ends_with('$') && self.after.starts_with('(')
    }
}

/// Whether a command runs what it reads from standard input.
fn reads_program(words: &[String]) -> bool {
    let is_sourced = || match words {
        [program] => SOURCING.contains(&program.as_str()),
        [program, file, ..] => SOURCING.contains(&program.as_str()) && is_standard_input(file),
        [] => false,
    };
    let interpreter = interpreter_of(words.first());
    interpreter.is_some_and(|it| it.source(words).is_standard_input) || is_sourced()
}

/// Whether what follows these commands gets their output, by a pipe or as in `tee >(sh)`.
fn is_piped(before: &str) -> bool {
    let before = before.trim_end_matches(|c: char| c == '(' || c.is_whitespace());
    before.ends_with("|&") || before.ends_with(['|', '>']) && !before.ends_with("||")
}

/// The part of the text that is in the same pipeline as the command after it. A command in
/// parentheses that has none before it is in the pipeline of the parentheses.
fn pipeline_before(text: &str) -> &str {
    let mut starts = vec![0];
    for (at, c) in operators(text) {
        let start = starts.last().copied().unwrap_or_default();
        let previous = &text[start..at];
        match c {
            '(' => starts.push(at + 1),
            ')' if starts.len() > 1 => {
                starts.pop();
                continue;
            }
            // A pipeline goes on after `|` at the end of a line, and with `|&`.
            '\n' | '&' if previous.trim_end().ends_with('|') => continue,
            '|' if !previous.ends_with('|') => continue,
            ')' => continue,
            _ => {
                starts.pop();
                starts.push(at + 1);
            }
        }
    }
    let is_first = |start: &&usize| text[**start..].chars().all(|c| c == '(' || c.is_whitespace());
    let start = starts.iter().rev().find(|start| !is_first(start)).copied().unwrap_or_default();
    let closes = |word: &str| ["}", "done", "fi", "esac"].contains(&word);
    // The output of a compound command comes from all commands in it.
    if text[start..].split_whitespace().any(closes) { text } else { &text[start..] }
}

/// Whether a parenthesis is open at the end of a text.
fn is_in_parentheses(text: &str) -> bool {
    let operators = operators(text);
    let count = |searched: char| operators.iter().filter(|(_, c)| *c == searched).count();
    count('(') > count(')')
}

/// The text up to the parenthesis that closes its first one.
fn in_parentheses(text: &str) -> &str {
    let mut depth = 0_usize;
    for (at, c) in operators(text) {
        match c {
            '(' => depth += 1,
            ')' if depth <= 1 => return &text[..at],
            ')' => depth -= 1,
            _ => {}
        }
    }
    text
}

/// One command of a line.
struct Command<'a> {
    scope: &'a Scope<'a>,
    words: &'a [String],
}

impl Command<'_> {
    fn check(&self) -> Result<(), PlacingError> {
        let words = final_program(self.words);
        self.check_program(words)?;
        self.check_own_places()?;
        let (name, operands) = (program_name(words.first()), words.get(1..).unwrap_or_default());
        if is_data_program(name) {
            let runs = |pair: &[String]| is_option_to_run(pair.first()) && names_path(&pair[1]);
            let is_run = operands.windows(2).any(runs);
            return if is_run { Err(PlacingError::Program(self.scope.line.to_owned())) } else { Ok(()) };
        }
        let evaluates = EVALUATORS.contains(&name) || splits_text(self.words);
        let interpreter = interpreter_of(words.first());
        let source = interpreter.map_or_else(ProgramSource::default, |it| it.source(words));
        for (at, word) in words.iter().enumerate().filter(|(_, word)| has_place(word)) {
            if evaluates || source.texts.contains(&at) || !is_file_name(word) {
                return Err(PlacingError::Script(self.scope.line.to_owned()));
            }
        }
        for (at, _) in words.iter().enumerate().filter(|(_, word)| expands_path(word)) {
            if evaluates || source.texts.contains(&at) {
                return Err(PlacingError::Expanded(self.scope.line.to_owned()));
            }
        }
        let sourced = operands.first().filter(|_| SOURCING.contains(&name));
        let mut scripts = source.scripts.iter().filter_map(|&at| words.get(at)).chain(sourced);
        if scripts.any(|word| names_path(word)) {
            return Err(PlacingError::Program(self.scope.line.to_owned()));
        }
        // An unknown program may run the program among its words.
        if interpreter.is_some() {
            return self.check_perl(words, &source);
        }
        let inner = |&at: &usize| {
            let word = &operands[at];
            let is_value = words[at].starts_with('-') && words[at] != "--" && !words[at].contains('=');
            !is_value && (is_named_interpreter(Some(word)) || EVALUATORS.contains(&word.as_str()))
        };
        match (0..operands.len()).find(inner) {
            Some(at) => self.check_inner(&operands[at..]),
            None => Ok(()),
        }
    }

    /// Refuses the path where an operand of an unknown program may be a program that runs it. A name
    /// that neither an option nor the path follows is data.
    fn check_inner(&self, words: &[String]) -> Result<(), PlacingError> {
        let checked = Command { scope: self.scope, words }.check();
        match words {
            // The user says in a script of his own that the name is data.
            [name, path, ..]
                if self.scope.is_script && is_named_interpreter(Some(name)) && names_path(path) =>
            {
                Ok(())
            }
            [name, path, ..] if is_named_interpreter(Some(name)) && names_path(path) => {
                checked.map_err(|_| PlacingError::Interpreter(self.scope.line.to_owned(), name.clone()))
            }
            [name, next, ..] if is_named_interpreter(Some(name)) && !next.starts_with(['-', '+']) => Ok(()),
            _ => checked,
        }
    }

    /// Refuses a name that `perl` would run, among the files that it opens by its old rules.
    fn check_perl(&self, words: &[String], source: &ProgramSource) -> Result<(), PlacingError> {
        let is_perl = interpreter_of(words.first()).is_some_and(|it| it.names.contains(&"perl"));
        let Some(name) = self.scope.perl_name.filter(|_| is_perl) else { return Ok(()) };
        let loops = |word: &String| {
            let letters = word.strip_prefix('-').unwrap_or_default();
            letters.chars().take_while(|&c| !"eEIMmiFxDCV-".contains(c)).any(|c| c == 'n' || c == 'p')
        };
        let mut texts = source.texts.iter().filter_map(|&at| words.get(at));
        let opens_names = words.iter().any(loops) || texts.any(|text| opens_by_old_rules(text));
        if opens_names && words[1..].iter().any(|word| names_path(word)) {
            return Err(PlacingError::PerlOpen(self.scope.line.to_owned(), name.to_owned()));
        }
        Ok(())
    }

    /// Refuses the path as the program, also where the words before it may vanish.
    fn check_program(&self, words: &[String]) -> Result<(), PlacingError> {
        let is_path = |word: &String| names_path(word);
        match words.iter().find(|word| is_path(word) || !may_vanish(word)) {
            Some(word) if words.first() == Some(word) && is_path(word) => {
                Err(PlacingError::Program(self.scope.line.to_owned()))
            }
            Some(word) if is_path(word) => Err(PlacingError::Vanishing(self.scope.line.to_owned())),
            _ => Ok(()),
        }
    }

    /// Refuses a placeholder at a position where the program has placeholders of its own.
    fn check_own_places(&self) -> Result<(), PlacingError> {
        for (at, word) in self.words.iter().enumerate() {
            let begins = |(of, program): (usize, &String)| match program_name(Some(program)) {
                "find" => built::FIND_OPTIONS.contains(&word.as_str()),
                "fd" | "fdfind" => built::FD_OPTIONS.contains(&word.as_str()),
                "xargs" => {
                    let is_own = self.words[of + 1..at].iter().all(|word| word.starts_with('-'));
                    is_own && ["-I", "-i", "--replace"].iter().any(|option| word.starts_with(option))
                }
                _ => false,
            };
            let begins = self.words[..at].iter().enumerate().any(begins);
            if begins && self.words[at..].iter().any(|word| has_place(word)) {
                return Err(PlacingError::OfAnother(self.scope.line.to_owned(), word.replace(PLACE, "")));
            }
        }
        Ok(())
    }
}

/// Whether the text of a program for `perl` may open a name by the old rules: as an argument with
/// `<>` or the handle `ARGV`, or by an `open` that has no mode before the name.
fn opens_by_old_rules(text: &str) -> bool {
    let has_no_mode = |(at, _): (usize, &str)| {
        let (before, after) = (&text[..at], &text[at + "open".len()..]);
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        if before.ends_with(|c: char| is_name(c) || "$@%&".contains(c)) || after.starts_with(is_name) {
            return false;
        }
        let second = after.split_once(',').map(|(_, second)| second.trim_start()).unwrap_or_default();
        !second.strip_prefix(['"', '\'']).is_some_and(|mode| mode.starts_with(['<', '>', '+', '|', '-']))
    };
    let is_handle = |(at, _): (usize, &str)| {
        !text[..at].ends_with(|c: char| {
            c.is_alphanumeric() || "_$@#%{".contains(c) || [EXPANSION, QUOTED_EXPANSION].contains(&c)
        })
    };
    text.contains("<>")
        || text.match_indices("ARGV").any(is_handle)
        || text.match_indices("open").any(has_no_mode)
}

impl Interpreter {
    /// Where the program is. The first word is the interpreter.
    fn source(&self, words: &[String]) -> ProgramSource {
        let (mut source, mut at) = (ProgramSource::default(), 1);
        if self.only_parses(words) {
            return source;
        }
        let mut operand_is_text = self.first_operand == FirstOperand::Text;
        let mut takes_script = self.first_operand == FirstOperand::Script;
        while let Some(word) = words.get(at) {
            let option = word.split('=').next().unwrap_or_default();
            let plus = word.strip_prefix('+').filter(|_| self.is_shell());
            match word.strip_prefix('-').or(plus) {
                // A shell takes its script after a single `-`.
                Some("") if self.is_shell() && !operand_is_text => {}
                None if word == "run" && ["bun", "deno"].iter().any(|it| self.names.contains(it)) => {}
                None if word == "eval" && self.names.contains(&"deno") => operand_is_text = true,
                Some("") | None => {
                    // Lua runs a script after a text, too.
                    let is_open = source.names_nothing() || self.names.contains(&"lua");
                    if operand_is_text {
                        source.texts.push(at);
                    } else if takes_script && is_open {
                        source.scripts.push(at);
                    }
                    // The words after `--` or an operand are for the script, except for `su`, whose
                    // operand is a user.
                    if !self.names.contains(&"su") {
                        break;
                    }
                }
                Some("-") => {}
                Some(_) if LONG_TEXT_OPTIONS.contains(&option) => {
                    operand_is_text = false;
                    let next = usize::from(option == word);
                    source.texts.extend([at, at + next]);
                    at += next;
                }
                Some(_) if option == LONG_SCRIPT_OPTION && !self.names.is_empty() => {
                    operand_is_text = false;
                    at += usize::from(option == word);
                    source.scripts.push(at);
                }
                Some(_) if LONG_OPTIONS_WITH_VALUE.contains(&word.as_str()) => at += 1,
                Some(long) if long.starts_with('-') => {}
                Some(letters) => {
                    let letters: Vec<char> = letters.chars().take_while(|c| c.is_alphanumeric()).collect();
                    let found =
                        letters.iter().position(|&c| self.text.contains(c) || self.valued.contains(c));
                    // With `-s`, the operands of a shell are for the script from standard input.
                    takes_script &= !(self.is_shell() && letters.contains(&'s'));
                    let is_whole = word.chars().count() == letters.len() + 1;
                    // The value is the next word if no other value follows the letter in this one.
                    let rest = &letters[found.map_or(letters.len(), |found| found + 1)..];
                    match found.map(|found| letters[found]) {
                        // A shell takes its first operand as the text, whatever options precede it.
                        Some('c') if self.is_shell() => operand_is_text = true,
                        Some(c) if self.text.contains(c) => {
                            operand_is_text = false;
                            let next = usize::from(is_whole && rest.iter().all(|&c| self.text.contains(c)));
                            source.texts.extend([at, at + next]);
                            at += next;
                        }
                        Some(c) => {
                            at += usize::from(is_whole && rest.is_empty());
                            let is_module = c == MODULE_LETTER && self.names.contains(&"python");
                            if c == SCRIPT_LETTER || is_module {
                                operand_is_text = false;
                                source.scripts.push(at);
                            }
                            if is_module {
                                break;
                            }
                        }
                        None => {}
                    }
                }
            }
            at += 1;
        }
        let may_be_input = matches!(self.first_operand, FirstOperand::Script | FirstOperand::Argument);
        let is_input = |at: &usize| words.get(*at).is_some_and(|word| is_standard_input(word));
        source.is_standard_input =
            may_be_input && source.names_nothing() && !operand_is_text || source.scripts.iter().any(is_input);
        source
    }

    /// Whether the interpreter parses its script and does not run it. Another option could load code.
    fn only_parses(&self, words: &[String]) -> bool {
        let [_, option, operands @ ..] = words else { return false };
        let is_parsing = |(name, options): &(&str, &[&str])| {
            self.names.contains(name) && options.contains(&option.as_str())
        };
        PARSERS.iter().any(is_parsing) && !operands.iter().any(|word| word.starts_with(['-', '+']))
    }

    fn is_shell(&self) -> bool {
        self.names.contains(&"sh")
    }
}

impl ProgramSource {
    fn names_nothing(&self) -> bool {
        self.texts.is_empty() && self.scripts.is_empty()
    }
}

/// Whether the file of a program is standard input.
fn is_standard_input(file: &str) -> bool {
    ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"].contains(&file)
}

/// Splits a command into words like a shell, without the assignments before the program and without
/// redirections. Characters that a shell would expand are marked.
fn words(command: &str) -> Vec<String> {
    all_words(command).into_iter().skip_while(|word| is_assignment(word)).collect()
}

/// The words of a command, with the assignments before the program.
fn all_words(command: &str) -> Vec<String> {
    let marked = marked(command);
    let split = shell_words::split(&marked).unwrap_or_else(|_| vec![marked.clone()]);
    let (mut words, mut is_file): (Vec<String>, bool) = (Vec::new(), false);
    for word in split {
        if std::mem::take(&mut is_file) {
            continue;
        }
        let Some((before, after)) = word.split_once([INPUT_REDIRECTION, OUTPUT_REDIRECTION]) else {
            words.push(word);
            continue;
        };
        is_file = after.trim_start_matches([INPUT_REDIRECTION, OUTPUT_REDIRECTION, '&', '|']).is_empty();
        if !before.chars().all(|c| c.is_ascii_digit()) {
            words.push(before.to_owned());
        }
    }
    words
}

/// Marks the characters of a command that a shell interprets outside quotes. A substitution within
/// double quotes stays as it is written, but for its expansions.
fn marked(command: &str) -> String {
    let mut marked = String::new();
    for it in quoted_chars(command) {
        match it.c {
            '$' | '`' if it.is_expanded() => {
                marked.push(if it.is_outside() { EXPANSION } else { QUOTED_EXPANSION });
            }
            c if it.is_substituted => {
                marked.extend("\"\\$`".contains(c).then_some('\\'));
                marked.push(c);
            }
            '\\' if it.is_outside() && command[it.at + 1..].starts_with('{') => {}
            '{' if it.is_escaped && it.quote.is_none() => marked.push(ESCAPED_BRACE),
            '<' if it.is_outside() => marked.push(INPUT_REDIRECTION),
            '>' if it.is_outside() => marked.push(OUTPUT_REDIRECTION),
            c => marked.push(c),
        }
    }
    marked
}

/// The words of the program that a command finally runs, after its wrappers.
fn final_program(mut words: &[String]) -> &[String] {
    while let Some(program) = wrapped_program(words) {
        words = program;
    }
    words
}

/// The words of the program that a wrapper runs; `None` if the first word is no wrapper.
fn wrapped_program(words: &[String]) -> Option<&[String]> {
    let (_, valued, operands) = *WRAPPERS.iter().find(|it| it.0 == program_name(words.first()))?;
    let mut at = 1;
    while let Some(option) = words.get(at).filter(|word| word.starts_with('-')) {
        at += 1;
        if option == "--" {
            break;
        }
        let has_value = if option.starts_with("--") {
            LONG_OPTIONS_WITH_VALUE.contains(&option.as_str())
        } else {
            // The rest of the word is the value of the first letter that has one.
            option[1..].find(|c: char| valued.contains(c)).is_some_and(|letter| letter + 2 == option.len())
        };
        at += usize::from(has_value);
    }
    at += operands;
    while words.get(at).is_some_and(|word| is_assignment(word)) {
        at += 1;
    }
    Some(words.get(at..).unwrap_or_default())
}

/// The name of a program without its folder.
fn program_name(word: Option<&String>) -> &str {
    word.and_then(|word| word.rsplit('/').next()).unwrap_or_default()
}

/// The interpreter of this name. If only the shell knows the name, or the name is missing, it is
/// the last entry of the table.
fn interpreter_of(word: Option<&String>) -> Option<&'static Interpreter> {
    let name = program_name(word);
    if name.contains([EXPANSION, QUOTED_EXPANSION]) || name.starts_with('-') {
        return INTERPRETERS.last();
    }
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    INTERPRETERS.iter().find(|it| it.names.contains(&name))
}

/// Whether all words of a program are data.
fn is_data_program(name: &str) -> bool {
    READERS.contains(&name) || DATA_PROGRAMS.contains(&name)
}

/// Whether a word is the name of an interpreter in the table.
fn is_named_interpreter(word: Option<&String>) -> bool {
    interpreter_of(word).is_some_and(|it| !it.names.is_empty())
}

/// Whether `env` splits a text into a command.
fn splits_text(words: &[String]) -> bool {
    let is_text = |word: &String| word.starts_with("-S") || word.starts_with("--split-string");
    let env = words.iter().position(|word| program_name(Some(word)) == "env");
    env.is_some_and(|env| words[env..].iter().any(is_text))
}

fn is_option_to_run(word: Option<&String>) -> bool {
    word.is_some_and(|word| OPTIONS_THAT_RUN.contains(&word.as_str()))
}

/// Whether a word may be empty after the shell has expanded it.
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

/// The rest of a word that begins with the shell's parameter for the path, such as `$1`.
fn after_path_parameter(word: &str) -> Option<&str> {
    let parameter = word.strip_prefix([EXPANSION, QUOTED_EXPANSION])?;
    let Some(braced) = parameter.strip_prefix('{') else { return parameter.strip_prefix(['1', '@', '*']) };
    let (operation, rest) = braced.strip_prefix(['1', '@', '*'])?.split_once('}')?;
    // `${1:?}` is the path, and `${1%.gz}` another name.
    (operation.is_empty() || operation.starts_with([':', '-', '?'])).then_some(rest)
}

/// Whether the shell that runs the line puts the path into a word, as by `$1` in double quotes.
fn expands_path(word: &str) -> bool {
    word.split([EXPANSION, QUOTED_EXPANSION]).skip(1).any(is_path_parameter)
}

/// Whether a shell puts the path into a word and splits it at blanks.
fn splits_path(word: &str) -> bool {
    word.split(EXPANSION).skip(1).any(|text| is_path_parameter(text) && !is_content_parameter(text))
}

/// Whether a word has bytes of the file and not the path.
fn is_content(word: &str) -> bool {
    let mut parameters = word.split([EXPANSION, QUOTED_EXPANSION]).skip(1).filter(|it| is_path_parameter(it));
    !has_place(word) && parameters.all(is_content_parameter)
}

/// Whether a text begins with the parameter that replaces a variable with bytes of the file.
fn is_content_parameter(text: &str) -> bool {
    text.strip_prefix('{').is_some_and(|name| name.starts_with(parameters::CONTENT))
}

/// Whether a text begins with the name of the shell's parameter for the path.
fn is_path_parameter(text: &str) -> bool {
    let (name, is_braced) = text.strip_prefix('{').map_or((text, false), |name| (name, true));
    let after = name.strip_prefix(['1', '@', '*']);
    after.is_some_and(|after| !is_braced || !after.starts_with(|c: char| c.is_ascii_digit()))
}

/// Whether a word is plainly the name of a file: the placeholder alone, or behind a folder or the
/// name of an option, or before an extension or the rest of a path.
fn is_file_name(word: &str) -> bool {
    let word = word.replace(LIST_PLACE, PLACE);
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
    // A folder may be followed by the name of a file or a pattern for names.
    let is_below = first.is_empty() && last.starts_with('/');
    let is_end =
        last.chars().all(|c| c.is_alphanumeric() || "._-+~:,=/*?[]{}!^".contains(c) || is_below && c == ' ');
    is_start && is_end && !is_script && is_plain(first) && between.iter().all(|part| is_plain(part))
}

/// The line without the comment at its end.
fn without_comment(line: &str) -> &str {
    let comment = comment_at(line).filter(|&at| !line[at..].contains('\n'));
    &line[..comment.unwrap_or(line.len())]
}

/// The offset at which a comment begins.
fn comment_at(line: &str) -> Option<usize> {
    let mut before = ' ';
    for it in quoted_chars(line) {
        if it.is_outside() && it.c == '#' && before.is_whitespace() {
            return Some(it.at);
        }
        // A blank with a backslash before it is part of a word.
        before = if it.is_escaped { '\\' } else { it.c };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_may_be_an_argument_or_part_of_a_file_name() {
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
            "F={} duckdb -c \"select count(*) from read_csv(getenv('F'))\"",
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
            // The shell expands patterns in names, but not in the path.
            "cat {}/*.log | wc -l",
            "cat \"{}\"/*.log | wc -l",
            "cat {}/{a,b} {}/[ab]*",
            "./my-reader {}/*.log {}/{a,b}",
            "cat \"{}/sub dir/x\"",
            "./my-reader \"{}/sub dir/x\"",
            "cp {} \"/tmp/my copy of {}\"",
            "grep -c '(x|y) $z' {}",
            // An option of a script is not an option of its interpreter.
            "python3 my.py -p {}",
            "python3 -u my.py -c {}",
            "python3 -m my -e {}",
            "sh mine -c {}",
            "perl mine.pl -e {}",
            "node --max-old-space-size=99 my.js -r {}",
            "my-reader -p {}",
            "my-reader -c{}",
            "python3 script.py {}",
            "python3 -c 'import sys' {}",
            "python3 -mjson.tool {}",
            "python3 -m my -c {}",
            "python3 - {} < script.py",
            "sh -s {} < script",
            "sh script {}",
            "bash -x -- script {}",
            "perl -ne 'print' {}",
            "perl -lane 'print' {}",
            "ruby -rjson -e '1' {}",
            "node run.js {}",
            "deno run -A my.ts {}",
            "php -f my.php {}",
            "R --vanilla --args {} < my.R",
            "awk -f my.awk {}",
            "sed -n '$=' {}",
            "sed -nf my.sed {}",
            "awk 'END{print NR}' < {}",
            "jq length {}",
            "$READER --file {}",
            "\"$READER\" < {}",
            "sh -c 'wc -l' < {}",
            "cat {} | sh -c 'wc -l'",
            "cat {} | sh script",
            "cat {} | python3 script.py",
            "cat {} | python3 -c 'import sys'",
            "cat {} | perl -ne 'print'",
            "cat {} | xargs -0 sh -c 'wc -l \"$@\"' sh",
            "true || sh; wc -l {}",
            ". ./functions; wc -l {}",
            ". ./functions {}",
            // Programs that run another program.
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
            "xargs -l grep x {}",
            "numactl -l wc {}",
            "numactl -l sh script {}",
            // The name of an interpreter may be data.
            "bat -l python {}",
            "pygmentize -l sh {}",
            "ag node {}",
            "mlr --icsv sort -f node {}",
            "tar -C /opt/node -xf {}",
            "./my-reader --lib /usr/lib/python3.11 {}",
            "./my-reader node x {}",
            // An option with `=` has its value.
            "sed --expression='$=' {}",
            "node --eval='1' {}",
            // A letter's value is the rest of its word.
            "lua -lpl s.lua {}",
            "ruby -rbundler s.rb {}",
            "perl -MDBI s.pl {}",
            "perl -mDBI s.pl {}",
            "awk -Ff '{print}' {}",
            "bun run my.ts {}",
            "deno run -r my.ts {}",
            "node run {}",
            // Standard input that is not the path.
            "wc -l {}; echo 1 | python3",
            "wc -l {}\necho 1 | python3",
            "cat {} >/dev/null && gen | sh",
            "cat {} || gen | sh",
            "(cat {}); gen | (sh)",
            "sh <(gen); cat {}",
            "cat {} # | sh",
            // The script is parsed and not run.
            "php -l {}",
            "bash -n {}",
            "node --check {}",
            "ruby -c {}",
            "awk '+$3' {}",
            "if grep -q x {}; then wc -l {}; fi",
            // A variable that has the path is an argument.
            "for f in {}; do wc -l \"$f\"; done",
            "for f in {}/*.log; do wc -l \"$f\"; done",
            "while read -r f; do wc -l \"$f\"; done < {list}",
            "f={}; wc -l \"$f\" \"${f%.gz}\"",
            "f={}; sh -c 'wc -l \"$1\"' sh \"$f\"",
            "f={}; out=\"$f.out\"; sort \"$f\" > \"$out\"",
            "f=$(realpath {}); wc -l \"$f\"",
            "n=$(cat {} | wc -l); awk \"BEGIN{print $n}\"",
            "for x in 1 2; do sh -c \"echo $x\"; done; wc -l {}",
            "sh -c 'for f; do sh -c \"echo $f\"; done' sh 1 2; wc -l {}",
            "sh -c 'for f do sh -c \"echo $f\"; done' sh 1 2; wc -l {}",
            "echo for f; sh -c \"echo $f\"; wc -l {}",
            "n=$(grep -c x {}); awk \"BEGIN{print $n/2}\"",
            "s=$(stat -c %s {}); truncate -s $s made",
            "n=$(grep -c x {}); touch made.$n",
            "cat {} | wc -l; ls made | while read -r f; do rm -f \"$f\"; done",
            "while read -r k v; do touch \"$k\"; done < {}",
            // What a substitution prints is an argument.
            "wc -l $(realpath {})",
            "wc -l `realpath {}`",
            "./my-reader $(realpath {})",
            "cd $(dirname {}) && ls",
            "cp $(realpath {}) copy",
            "ln -sf $(realpath {}) link",
            "head -c $(stat -c %s {}) made",
            "test $(wc -l < {}) -gt $((1 + $(wc -l < {})))",
            "touch made.$(wc -l < {})",
            "kill $(cat {}.pid)",
            "rm -f $(cat {}.list)",
            "docker run -v $(dirname {}):/d image sh -c 'wc -l /d/x'",
            "tar -C $(dirname {}) -cf - $(basename {}) | wc -c",
            // The parameters of a script are followed through `shift` and `set`.
            "sh -c 'cmd=$1; shift; \"$cmd\" \"$@\"' sh wc {}",
            "sh -c 'cmd=$1 && shift && \"$cmd\" \"$@\"' sh wc {}",
            "sh -c 'shift; exec \"$@\"' sh x wc {}",
            "sh -c 'shift 2; exec \"$@\"' sh x y wc {}",
            "sh -c 'f=$1; shift; \"$@\" \"$f\"' sh {} wc -l",
            "sh -c 'grep -c shift \"$2\"; \"$1\" \"$2\"' sh wc {}",
            "sh -c 'while [ $# -gt 0 ]; do wc -l \"$1\"; shift; done' sh {}",
            "sh -c 'set -- wc -l \"$@\"; exec \"$@\"' sh {}",
            "sh -c 'set -eu; \"$1\" \"$2\"' sh wc {}",
            "x=$((1<<2)); head -n $x {}",
            "sh -c 'if [ -n \"$1\" ]; then echo; fi; shift; exec \"$@\"' sh x wc {}",
            "sh -c 'while getopts n:v o; do :; done; shift $((OPTIND-1)); exec \"$@\"' sh -v -n 5 wc {}",
            "sh -c 'while getopts :n: o; do case $o in n) n=$OPTARG;; *) exit 2;; esac; done\nshift \"$((OPTIND - 1))\"; \"$1\" -n \"$n\" \"$2\"' sh -n5 -- head {}",
            "sh -c 'while getopts n: o; do n=$OPTARG; done; shift $((OPTIND - 1)); touch \"made.$n\"; wc -l \"$1\"' sh -n 5 {}",
            // A command goes on behind a substitution.
            "sort --parallel=$(nproc) {}",
            "head -n $(( 2 + 1 )) {}",
            "pigz -p $(nproc) -d -c {}",
            "taskset -c $(cat cores) wc -l {}",
            "nice -n 5 head -c $(cat size) {} | wc -c",
            "diff <(sort x) {}",
            "python3 my.py $(nproc) {}",
            // A substitution in double quotes has quotes of its own.
            "echo \"$(cat {})\"",
            "echo \"$(cat \"{}\")\"",
            "[ \"$(stat -c %s {})\" -gt 0 ] && wc -l {}",
            "n=\"$(grep -c \"x|y z\" {})\"; touch made.$n",
            "n=\"$(awk '{n += $1} END{print n}' \"$1\")\"; touch \"made.$n\"; wc -l {}",
            "touch \"made.$(basename \"$1\")\"; wc -l {}",
            // A quote within other quotes begins nothing.
            "awk -F'\"' '{print length($2)}' {}",
            "grep -c 'f(\"' {}",
            // A script that the path is handed over to.
            "sh -c 'cat \"$0\" | wc -l' {}",
            "sh -c 'wc -l < \"$1\"; wc -c \"$2\"' sh {} {}",
            "sh -c 'n=\"$(wc -l < \"$1\")\"; echo \"$n\"' sh {}",
            "sh -c 'exec \"$@\"' sh wc -l {}",
            "sh -c '\"$1\" -l \"$2\"' sh wc {}",
            "sh -c 'eval \"$1\"; wc -l \"$2\"' sh X=1 {}",
            "sh -c 'eval \"$1\"' sh 'echo 3'; wc -l {}",
            "sh -c 'rm -f \"$1\"; touch \"$1\"' sh {}.seen",
            "sh -c 'awk \"{print \\$1}\" \"$1\"' sh {}",
            // The names that a program puts into a command are arguments.
            "xargs -0 -I% sh -c 'wc -l \"$1\"' sh % < {list}",
            "xargs -0 -n 1 -P 4 wc -l < {list}",
            "find {} -type f -print0 | xargs -0 wc -l",
            "find {} -type f -exec sh -c 'wc -l \"$1\"' sh \\{\\} \\;",
            "fd . {} -x wc -l",
            "wc -l {}; ls made | xargs rm -f",
        ] {
            assert_eq!(check(line), Ok(()), "{line}");
            assert_eq!(completed(line).as_deref(), Ok(line));
        }
        for hook in [
            "n=\"$(grep -c x < \"$1\")\"; awk \"BEGIN{print $n/2}\"",
            "n=\"$(grep -c x \"$1\")\"; awk \"BEGIN{print $n/2}\"",
            "n=\"$(grep -c \"x y\" \"$1\")\"; touch made.$n",
            "s=\"$(stat -c %s \"$1\")\"; truncate -s $s made",
        ] {
            assert_eq!(check(hook), Ok(()), "{hook}");
        }
    }

    #[test]
    fn the_path_may_not_be_text_of_a_program() {
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
            "echo \"`cat {}`\" x",
            "echo \"$(( {} ))\"",
            "echo \"$(sh -c 'cat {}')\"",
            "./my-reader \"$(cat {})\"",
            "perl -e{}",
            "perl -MStorable -e {}",
            "deno eval {}",
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
    fn a_shell_may_not_expand_the_path_into_the_text_of_a_program() {
        for line in [
            "bash -c \"wc -l $1\" bash {}",
            "sh -c \"cat ${1} | wc -l\" sh {}",
            "nice sh -c \"cat '$@'\" sh {}",
            "my-wrapper sh -c \"cat ${1%.gz}\"",
            "sh -c $*",
            "eval wc -l $1",
            "ssh host cat \"$1\"",
            "perl -ne \"print '$1'\" {}",
            "sed \"s/$1//\" x",
            "f={}; sh -c \"wc -l $f\"",
            "f={}; g=${f%.gz}; eval wc -l \"$g\"",
            "for f in {}; do eval \"wc -l $f\"; done",
            "for f in $(find {} -type f); do sh -c \"wc -l $f\"; done",
            "while read -r f; do sh -c \"wc -l $f\"; done < {list}",
            "find {} | while IFS= read -r f; do eval wc -l $f; done",
            "set -- x {}; eval wc -l $2",
            "f={} sh -c 'eval wc -l $f'",
            "sh -c 'sh -c \"cat $1\"' sh {}",
            "sh -c 'eval wc -l $1' sh {}",
            "sh -c 'for f; do eval wc -l $f; done' sh {}",
            "sh -c 'echo \"$(eval wc -l $1)\"' sh {}",
            // Without quotes, the name may become several words, and `grep` then prints names.
            "n=\"$(grep -c x $1)\"; awk \"BEGIN{print $n/2}\"",
            "eval wc -l $(realpath {})",
            "eval $(cat {})",
            "ssh host wc -l $(basename {})",
            "echo $(eval wc -l $(realpath {}))",
        ] {
            assert!(matches!(check(line), Err(PlacingError::Expanded(_))), "{line}: {:?}", check(line));
        }
        for line in [
            "sh -c \"wc -l \\\"\\$1\\\"\" sh {}",
            "sh -c \"echo $HOME ${10} $2 ${#}\" sh {}",
            "awk \"{print \\$1}\" {}",
            "wc -l \"$1\"",
        ] {
            assert_eq!(check(line), Ok(()), "{line}");
        }
    }

    #[test]
    fn the_path_may_not_be_the_program() {
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
            "sh {}",
            "sh - {}",
            "bash -x -- {}",
            "bash < {}",
            "sh <{}",
            "sh < \"$1\"",
            "sh -s x < '{}'",
            "sh /dev/stdin < {}",
            "sh <(cat {})",
            "sh <<< $(cat {})",
            "nice -n 5 sh < {}",
            "xargs sh < {list}",
            "python3 {}",
            "python3.11 -u {} -x",
            "python3 - < {}",
            "perl {}",
            "perl -n {}",
            "ruby {}",
            "node {}",
            "node < {}",
            "deno run {}",
            "php -f {}",
            "lua -e 1 {}",
            "R --no-save < {}",
            "Rscript {}",
            "awk -f {} x",
            "awk -f{} x",
            "sed --file={} x",
            ". {}",
            "source {}",
            "source <(cat {})",
            ". /dev/stdin < {}",
            "builtin . \"$1\"",
            "cat {} | sh",
            "cat {} | sort | sh",
            "cat {} |& bash -s x",
            "(cat {}; echo x) | (sh)",
            "cat {} |\nnice sh",
            "true; cat {} | sh",
            "{ cat {}; true; } | sh",
            "(cat {}; true) | sh # x",
            "cat {} # x\ncat {} | sh",
            "while true; do cat {}; done | sh",
            "cat {} | (sh; true)",
            "sh <(gen; (true); cat {})",
            "echo \"\\\" # \" {} | sh",
            "perl -MDBI {}",
            "perl -mDBI {}",
            "bash -n +n {}",
            "ruby -c -n {}",
            "deno run -A {}",
            "bun --watch run {}",
            "faketime -f 1 sh {}",
            "numactl -l sh {}",
            "cat {} | python3 -",
            "cat {} | tee >(sh)",
            "cat \"$1\" | perl",
            "printf 'wc -l %s' {} | sh",
            "/lib64/ld-linux-x86-64.so.2 {}",
            "csh {}",
            "tcsh -f {}",
            "$1 x",
            "exec $1",
            "\"${1:?}\" x",
            "f={}; \"$f\"",
            "for f in {}; do sh \"$f\"; done",
            "while read -r f; do . \"$f\"; done < {list}",
            "sh -c '\"$1\"' sh {}",
            "sh -c 'exec \"$1\"' sh {}",
            "sh -c '\"$@\"' sh {}",
            "sh -c '\"$@\"' sh sh {}",
            "sh -c '\"$1\" \"$2\"' sh sh {}",
            "sh -c 'shift; \"$1\"' sh x {}",
            "sh -c 'shift 2; \"$1\"' sh x y {}",
            "sh -c 'shift $3; \"$1\"' sh x y {}",
            "sh -c 'true && shift; \"$1\"' sh x {}",
            "sh -c '(shift); \"$1\"' sh {} wc",
            "sh -c 'shift | cat; \"$1\"' sh {} wc",
            "sh -c 'eval shift; \"$1\"' sh x {}",
            "sh -c 'x=shift; $x; \"$1\"' sh x {}",
            "sh -c 'echo \"$(shift; \"$1\")\"' sh x {}",
            "sh -c 'while true; do \"$1\"; shift; done' sh wc {}",
            "sh -c 'if false; then :; elif shift; then \"$1\"; fi' sh x {}",
            "sh -c 'time if true; then :; shift; fi; \"$1\"' sh {} wc",
            "sh -c 'case x in x) ;; esac; (true; shift); \"$1\"' sh {} wc",
            "sh -c 'case x in y) ;; fi) :; shift;; esac; \"$1\"' sh {} wc",
            "sh -c 'function f { true; shift; }; \"$1\"' sh {} wc",
            "sh -c 'while getopts f: o; do sh \"$OPTARG\"; done' sh -f {}",
            "sh -c 'while getopts f: o; do f=$OPTARG; done; . \"$f\"' sh -f {}",
            "sh -c 'while getopts v o; do :; done; shift $((OPTIND-1)); \"$1\"' sh -v {}",
            "sh -c 'while getopts v o; do break; done; shift $((OPTIND-1)); \"$1\"' sh -a {} wc",
            "sh -c 'while getopts av o; do :; done; OPTIND=1; shift $((OPTIND-1)); \"$2\"' sh -a {} wc",
            "sh -c 'if false; then while getopts v o; do :; done; fi; shift $((OPTIND-1)); \"$2\"' sh -v {} wc",
            "sh -c 'getopts av o; shift $((OPTIND-1)); \"$1\"' sh -a -v {} wc",
            "sh -c 'set -- \"$2\"; \"$@\"' sh wc {}",
            "sh -c 'f=$2; set -- \"$f\"; \"$@\"' sh wc {}",
            "if false; then true; elif {}; then true; fi",
            "x=$(cat {}); $x",
            "while read -r x; do \"$x\"; done < {}",
            "g() { read -r f; . \"$f\"; }; cat {list} | g",
            "sh -c 'sh \"$1\"' sh {}",
            "sh -c '. \"$1\"' sh {}",
            "sh -c 'cat \"$1\" | sh' sh {}",
            "sh -c 'echo \"$(sh \"$1\")\"' sh {}",
            "sh -c '`\"$1\"`' sh {}",
            "sh -c '\"$0\"' {}",
            "sh -c 'set -- \"$1\"; \"$2\"' sh {}",
            "nice my-wrapper sh -c '\"$1\"' sh {}",
            "xargs -0 -I% % < {list}",
            "xargs -0 env < {list}",
            "find {} -type f -exec \\{\\} \\;",
            "rg --pre {} x",
            "rg --pre \"$1\" x {}",
            "$(cat x) {}",
            "sh $(true) {}",
            "sh $(true) < {}",
            "sh <(true) {}",
            "nice $(true) {}",
            "python3 $(true) {}",
            "xargs -a $(cat x) {}",
            "sh -c 'rm \"$3\"' sh $(echo a b) {}",
            "\"$(cat {})\" x",
            "echo \"$({})\"",
            "echo \"$(sh {})\"",
            "wc -l \\ #; sh {}",
            "$(realpath {})",
            "sh $(realpath {})",
            "sh < $(realpath {})",
            ". $(realpath {})",
            "python3 $(dirname {})/script.py",
            "sh -c 'sh $(realpath \"$1\")' sh {}",
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
    fn an_operand_that_may_be_an_interpreter_of_the_path_is_named() {
        for line in ["my-wrapper sh {}", "my-wrapper -- /bin/python3.11 {}", "my-wrapper --level=1 awk {}"] {
            let error = check(line).unwrap_err();
            assert!(matches!(error, PlacingError::Interpreter(..)), "{line}: {error:?}");
        }
        let said = check("my-wrapper node {}").unwrap_err().to_string();
        assert!(said.contains("'node' before {} may be an interpreter"), "{said}");
        let way_out = said.rsplit_once("in a script: ").unwrap().1;
        assert_eq!(way_out, "sh -c 'my-reader node \"$1\"' sh {}");
        assert_eq!(check(way_out), Ok(()));
    }

    #[test]
    fn an_error_names_the_program_whose_placeholder_it_is_and_the_escape() {
        for line in [
            "find {} -exec cat {} +",
            "find . -exec sh -c 'cat {}' \\;",
            "ls | xargs -I{} cat {}",
            "ls | xargs -i cat {}",
        ] {
            assert!(matches!(check(line), Err(PlacingError::OfAnother(..))), "{line}: {:?}", check(line));
        }
        let said = check("find {} -exec cat {} +").unwrap_err().to_string();
        assert!(
            said.ends_with("also behind -exec, which has a {} of its own; write that one as \\{\\}"),
            "{said}"
        );
    }

    #[test]
    fn names_that_a_program_puts_into_a_script_are_refused_with_the_form_that_works() {
        for (line, way_out) in [
            ("xargs -0 -I% sh -c 'wc -l %' < {list}", "sh -c 'wc -l \"$@\"' sh %"),
            ("xargs -0I % sh -c 'wc -l %' < {list}", "sh -c 'wc -l \"$@\"' sh %"),
            ("xargs -0 --max-procs 4 --replace=% sh -c 'wc -l %' < {list}", "sh -c 'wc -l \"$@\"' sh %"),
            ("find {} -type f | xargs -I% sh -c 'wc -l %'", "sh -c 'wc -l \"$@\"' sh %"),
            ("cd {} && ls | nice xargs -I% perl -e 'open F, \"%\"'", "sh -c 'wc -l \"$@\"' sh %"),
            ("xargs -0 sh -c < {list}", "sh -c 'wc -l \"$@\"' sh"),
            ("xargs -0 -a {list} awk", "sh -c 'wc -l \"$@\"' sh"),
            ("find {} -exec sh -c wc\\ \\{\\} \\;", "sh -c 'wc -l \"$@\"' sh \\{\\}"),
            ("fd . {} -x sh -c", "sh -c 'wc -l \"$@\"' sh \\{\\}"),
        ] {
            let error = check(line).unwrap_err();
            assert!(matches!(error, PlacingError::Built(..)), "{line}: {error:?}");
            assert!(error.to_string().ends_with(&format!("as arguments: {way_out}")), "{line}: {error}");
        }
    }

    #[test]
    fn a_here_document_is_refused_where_the_line_has_the_path() {
        for line in [
            "sh <<E\ntouch {}.x\nE",
            "cat <<E | sh\n$1\nE",
            "sh -c 'sh <<E\nwc $1\nE' sh {}",
            "((true); sh <<E\nwc $1\nE\n)",
            "echo \"((\"; sh <<E\nwc {}\nE",
            "echo $((1+$(sh <<E\nwc $1\nE\n)))",
        ] {
            assert!(matches!(check(line), Err(PlacingError::HereDocument(_))), "{line}: {:?}", check(line));
        }
        for line in ["cat > made <<E\nx\nE", "n=$((1 + (1<<2))); wc -l {}", "if ((1<<2)); then wc -l {}; fi"]
        {
            assert_eq!(check(line), Ok(()), "{line}");
        }
    }

    #[test]
    fn a_name_that_perl_would_run_is_refused_only_where_perl_opens_it() {
        let checked = |line: &str, name: &str| check_names(line, || vec!["x".into(), name.into()]);
        for line in [
            "perl -ne 'END{print $.}' {}",
            "perl -0777 -lpe 1 {}",
            "perl -e 'print while <>' x {}",
            "sh -c 'perl -ne 1 \"$1\"' sh {}",
            "xargs -0 perl -ne 1 < {list}",
            "find {} -exec perl -ne 1 \\{\\} +",
            "perl -e 'open(F,$ARGV[0]); 1 while <F>; print $.' {}",
            "perl -e 'open my $f, shift; print while <$f>' {}",
            "perl -e 'open F, \"$ARGV[0]\" or die' {}",
            "perl -e 'while(<ARGV>){$n++} print $n' {}",
            "perl -e 'print readline ARGV' {}",
        ] {
            for name in ["x;touch PWNED|", " |touch PWNED", ">x", "a|\n"] {
                let refused = matches!(checked(line, name), Err(PlacingError::PerlOpen(..)));
                assert!(refused, "{line}, {name}: {:?}", checked(line, name));
            }
            assert_eq!(checked(line, "/folder/a|b > c"), Ok(()), "{line}");
        }
        for line in [
            "perl -ne 1 < {}",
            "perl -e 'open F, \"<\", shift' {}",
            "perl -e 'open(my $f, \"<:raw\", $ARGV[0])' {}",
            "perl -e 'sysopen F, $ARGV[0], 0; opendir D, \"x\"; print scalar @ARGV' {}",
            "grep -c perl {}",
        ] {
            assert_eq!(checked(line, "x;touch PWNED|"), Ok(()), "{line}");
        }
    }

    #[test]
    fn scripts_within_each_other_are_checked_to_a_limit() {
        for (depth, is_accepted) in [(1, true), (DEPTH_MAX, true), (DEPTH_MAX + 1, false), (100, false)] {
            let nested = format!("{}wc $1{}", "echo \"$(".repeat(depth), ")\"".repeat(depth));
            assert_eq!(check(&nested).is_ok(), is_accepted, "{depth}: {:?}", check(&nested));
        }
    }

    #[test]
    fn only_a_program_that_reads_its_operands_gets_the_path_appended() {
        for (line, right) in [
            ("wc -l", "wc -l {}"),
            ("LC_ALL=C nice -n 5 grep -c x ", "LC_ALL=C nice -n 5 grep -c x {}"),
            ("true && /usr/bin/wc -l", "true && /usr/bin/wc -l {}"),
            ("wc -l # second", "wc -l {} # second"),
            ("grep -c '#'", "grep -c '#' {}"),
            ("grep -c '[a-z]*\\.x$'", "grep -c '[a-z]*\\.x$' {}"),
            ("grep -c \"a\\\"b$\"", "grep -c \"a\\\"b$\" {}"),
            ("test -e x || wc -l", "test -e x || wc -l {}"),
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
            "wc -l ~/big.log",
            "wc -l $FILE",
            "wc -l \"$FILE\"",
            "wc -l < $FILE",
            "wc -l `newest`",
            "wc -l *.log",
            "wc -l my\\ data",
            "cat $FILE | wc -l",
            "cat x |& wc -l",
            "cd /data && wc -l big.log",
        ] {
            assert!(
                matches!(completed(line), Err(PlacingError::NoPlace(_))),
                "{line}: {:?}",
                completed(line)
            );
        }
    }
}
