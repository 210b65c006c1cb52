//! What the output of commands with the path has: the path, something that is made of it, or bytes of
//! the file alone.

use super::parameters::{CONTAINS_PATH, CONTENT, PATH, parameter_of_value, quoted_substitutions};
use super::{
    EXPANSION, INPUT_REDIRECTION, KEYWORDS, PlacedCommand, QUOTED_EXPANSION, all_words, final_program,
    in_parentheses, is_in_parentheses, marked, names_path, pipeline_before, placed_commands, program_name,
    words, written,
};
use crate::command_line::{LIST_PLACE, operators};
use std::ops::Range;

/// Programs that print the paths among their operands, or of files below them.
const PATH_PRINTERS: [&str; 8] = ["realpath", "readlink", "echo", "printf", "ls", "find", "fd", "fdfind"];

/// Programs that print bytes of the files among their operands, and not the names of these.
const CONTENT_PRINTERS: [&str; 19] = [
    "cat", "tac", "nl", "cut", "paste", "rev", "fold", "fmt", "expand", "od", "hexdump", "strings", "sort",
    "uniq", "zcat", "bzcat", "xzcat", "zstdcat", "lz4cat",
];

/// Programs that print whole lines of their input.
const LINE_FILTERS: [&str; 8] = ["cat", "tac", "head", "tail", "sort", "uniq", "grep", "tee"];

/// Directives in the format of `stat` that print numbers.
const NUMERIC_DIRECTIVES: &str = "abBdfghiostTuWXYZ";

/// Replaces a substitution that prints other data, such as a number: the count of the arguments.
const OTHER_OUTPUT: &str = "#";

/// First words of compound commands, and the words that end them.
pub(super) const COMPOUND_BEGINS: [&str; 7] = ["if", "while", "until", "for", "select", "case", "{"];
pub(super) const COMPOUND_ENDS: [&str; 4] = ["fi", "done", "esac", "}"];

/// The parameter that replaces a variable with the output of these commands.
pub(super) fn parameter_of_output(script: &str) -> Option<&'static str> {
    let placed = placed_commands(script);
    let is_end = |command: &&PlacedCommand| {
        let is_piped = command.after.starts_with('|') && !command.after.starts_with("||");
        !is_piped && !command.text.trim().is_empty()
    };
    let mut ends = placed.iter().filter(is_end).map(|command| words(command.text));
    if !names_path(&marked(script)) || ends.all(|words| prints_numbers(&words)) {
        return None;
    }
    if script.contains(LIST_PLACE) {
        return Some(PATH);
    }
    let printed = placed.iter().filter_map(parameter_printed).min();
    let is_filter = |command: &PlacedCommand| {
        let words = words(command.text);
        words.is_empty() || LINE_FILTERS.contains(&program_name(final_program(&words).first()))
    };
    let mut others = placed.iter().filter(|command| !names_path(&marked(command.text)));
    match printed {
        Some(CONTENT) => Some(CONTENT),
        Some(PATH) if others.all(is_filter) => Some(PATH),
        _ => Some(CONTAINS_PATH),
    }
}

/// The script with a parameter for the output of each substitution that has the path, `$(…)`
/// outside quotes or backquotes, and the texts of these substitutions.
pub(super) fn with_outputs(script: &str) -> (String, Vec<&str>) {
    let (mut replaced, mut texts, mut end) = (String::new(), Vec::new(), 0);
    for (range, text) in substitutions(script) {
        // One within another is in the text of that.
        if range.start >= end && names_path(&marked(text)) {
            replaced += &script[end..range.start];
            replaced += &format!("${{{}}}", parameter_of_output(text).unwrap_or(OTHER_OUTPUT));
            texts.push(text);
            end = range.end;
        }
    }
    (replaced + &script[end..], texts)
}

/// The ranges and texts of the substitutions `$(…)` outside quotes, and of those in backquotes.
fn substitutions(script: &str) -> Vec<(Range<usize>, &str)> {
    let mut found = Vec::new();
    for (at, operator) in operators(script) {
        let rest = &script[at..];
        if operator == '(' && script[..at].ends_with('$') && !rest.starts_with("((") {
            let text = in_parentheses(rest);
            found.push((at - 1..script.len().min(at + text.len() + 1), &text[1..]));
        }
    }
    let mut from = 0;
    for text in quoted_substitutions(script) {
        if let Some(at) = script[from..].find(&format!("`{text}`")) {
            let start = from + at;
            from = start + text.len() + 2;
            found.push((start..from, text));
        }
    }
    found.sort_by_key(|(range, _)| range.start);
    found
}

/// The parameter that replaces a variable into which the command at this index reads a line.
pub(super) fn parameter_of_input(at: usize, placed: &[PlacedCommand]) -> Option<&'static str> {
    // In parentheses and functions, the input may come from any command.
    let is_function = |command: &PlacedCommand| {
        let is_empty = command.text.trim().is_empty();
        is_empty && command.before.ends_with('(') && command.after.starts_with(')')
            || words(command.text).first().is_some_and(|word| word == "function")
    };
    let is_any = is_in_parentheses(placed[at].before) || placed.iter().any(is_function);
    let sources: Vec<&PlacedCommand> = if is_any { placed.iter().collect() } else { around(at, placed) };
    sources.into_iter().filter_map(parameter_fed).min()
}

/// The command, the first and last commands of the compound commands around it, and the redirections
/// of the shell itself.
fn around<'a, 'b>(at: usize, placed: &'a [PlacedCommand<'b>]) -> Vec<&'a PlacedCommand<'b>> {
    let mut found = vec![&placed[at]];
    let mut depth = 0_usize;
    for command in placed[..at].iter().rev() {
        depth += count_of(command, &COMPOUND_ENDS);
        let begun = count_of(command, &COMPOUND_BEGINS);
        if begun > depth || is_redirection_of_shell(command) {
            found.push(command);
        }
        depth = depth.saturating_sub(begun);
    }
    depth = 0;
    for command in &placed[at + 1..] {
        let ended = count_of(command, &COMPOUND_ENDS);
        if ended > depth {
            found.push(command);
        }
        depth = depth.saturating_sub(ended) + count_of(command, &COMPOUND_BEGINS);
    }
    found
}

/// How many of the first words of a command are among these.
pub(super) fn count_of(command: &PlacedCommand, searched: &[&str]) -> usize {
    let words = words(command.text);
    let is_first = |word: &&String| {
        KEYWORDS.contains(&word.as_str())
            || COMPOUND_BEGINS.contains(&word.as_str())
            || COMPOUND_ENDS.contains(&word.as_str())
    };
    words.iter().take_while(is_first).filter(|word| searched.contains(&word.as_str())).count()
}

/// Whether a command redirects the input of all commands after it, as `exec < {list}` does.
fn is_redirection_of_shell(command: &PlacedCommand) -> bool {
    matches!(words(command.text).as_slice(), [program] if program == "exec")
}

/// The parameter that replaces a variable with a line of what a command gets from standard input.
fn parameter_fed(command: &PlacedCommand) -> Option<&'static str> {
    if !command.is_fed_by_path() {
        return None;
    }
    let files = written::redirected_files(command.text, INPUT_REDIRECTION);
    let mut paths = files.iter().filter(|file| names_path(file)).peekable();
    if paths.peek().is_some() {
        let is_text = command.text.contains("<<<") || paths.any(|file| file.contains(LIST_PLACE));
        return Some(if is_text { PATH } else { CONTENT });
    }
    let text = command.text.trim_end();
    let is_substituted = (text.ends_with('<') || text.contains("<<<") && text.ends_with('$'))
        && command.after.starts_with('(');
    let script = if is_substituted { in_parentheses(command.after) } else { pipeline_before(command.before) };
    // An unknown program may print the path.
    let script = script.trim_end_matches(|c: char| c.is_whitespace() || "|&(>".contains(c));
    parameter_of_output(script).map(|parameter| if parameter == CONTENT { CONTENT } else { PATH })
}

/// The parameter for what a command prints of the path that is in it.
fn parameter_printed(command: &PlacedCommand) -> Option<&'static str> {
    if !names_path(&marked(command.text)) {
        return None;
    }
    let words = words(command.text);
    let known = all_words(command.text);
    let operands = known.iter().filter_map(|word| parameter_of_value(word)).min();
    let name = program_name(final_program(&words).first());
    let Some(parameter) = operands else {
        // A program that gets the path by a redirection alone does not know it, but may look it up.
        let knows_path = command.text.contains("<<<") || PATH_PRINTERS.contains(&name);
        return Some(if knows_path { CONTAINS_PATH } else { CONTENT });
    };
    Some(match parameter {
        known if PATH_PRINTERS.contains(&name) => known,
        CONTENT => CONTENT,
        _ if CONTENT_PRINTERS.contains(&name) => CONTENT,
        _ => CONTAINS_PATH,
    })
}

/// Whether a command prints numbers alone.
fn prints_numbers(words: &[String]) -> bool {
    let program = final_program(words);
    let operands = program.get(1..).unwrap_or_default();
    match program_name(program.first()) {
        // With a file among its operands, `wc` prints the name.
        "wc" => !operands.iter().any(|word| names_path(word)),
        "grep" | "egrep" | "fgrep" | "zgrep" => counts_lines(operands),
        "stat" => has_numeric_format(operands),
        _ => false,
    }
}

/// Whether `grep` prints the count of one file. With several files it prints their names, too.
fn counts_lines(operands: &[String]) -> bool {
    let has_letter = |word: &String, letters: &str| {
        let of_word = word.strip_prefix('-').filter(|it| !it.starts_with('-')).unwrap_or_default();
        of_word.chars().take_while(|&c| !"efmABCdD".contains(c)).any(|c| letters.contains(c))
    };
    let counts = operands.iter().any(|word| word == "--count" || has_letter(word, "c"));
    let long_options_with_names = ["--with-filename", "--recursive", "--dereference-recursive"];
    let prints_names = |word: &String| {
        has_letter(word, "HrRlL")
            || long_options_with_names.contains(&word.as_str())
            || word.contains("files-with")
    };
    let words = operands.iter().filter(|word| !word.starts_with('-'));
    // A pattern for names may match several files, and so may a parameter without quotes.
    let may_be_many = |word: &String| {
        let is_pattern =
            word.contains(['*', '?', '[']) || word.contains(EXPANSION) || word.contains(LIST_PLACE);
        names_path(word) && is_pattern
    };
    let names_list = operands.iter().any(|word| word.contains(QUOTED_EXPANSION) && word.contains('@'));
    counts
        && !operands.iter().any(prints_names)
        && words.count() <= 2
        && !operands.iter().any(may_be_many)
        && !names_list
}

/// Whether `stat` prints numbers of the file alone.
fn has_numeric_format(operands: &[String]) -> bool {
    let after_letter = |word: &str| written::rest_after_letter(word, 'c', "").map(str::to_owned);
    let apart = |pair: &[String]| {
        let is_option = ["--format", "--printf"].contains(&pair[0].as_str());
        (is_option || after_letter(&pair[0]).is_some_and(|rest| rest.is_empty())).then(|| pair[1].clone())
    };
    let joined = |word: &String| {
        let long = ["--format=", "--printf="].iter().find_map(|option| word.strip_prefix(*option));
        long.map(str::to_owned).or_else(|| after_letter(word)).filter(|format| !format.is_empty())
    };
    let format = operands.windows(2).find_map(apart).or_else(|| operands.iter().find_map(joined));
    format.is_some_and(|format| {
        !names_path(&format)
            && format.split('%').skip(1).all(|it| it.starts_with(|c: char| NUMERIC_DIRECTIVES.contains(c)))
    })
}
