//! Finds the parameters and variables of a shell that have the path. A script is rewritten so that
//! each of them is `$1`, the parameter in which the shell of a line has the path.

use super::arguments::{Arguments, after_loop_name, first_unordered};
use super::output::{parameter_of_input, parameter_of_output};
use super::{
    KEYWORDS, PlacedCommand, QUOTED_EXPANSION, all_words, final_program, in_parentheses, is_content,
    names_path, placed_commands, program_name, words, written,
};
use crate::command_line::is_assignment;
use crate::quoting::quoted_chars;

/// Built-ins of shells that put their input into variables.
const INPUT_READERS: [&str; 3] = ["read", "mapfile", "readarray"];

// Where a variable may have several of these values, the least text counts: `PATH` before
// `CONTAINS_PATH`, and this before `CONTENT`.

/// The parameter that has the path.
pub(super) const PATH: &str = "1";

/// Replaces a parameter whose value contains the path or is made of it, as `{}.out` is.
pub(super) const CONTAINS_PATH: &str = "1%";

/// Replaces a parameter whose value is made of the bytes of the file and does not have the path.
pub(super) const CONTENT: &str = "1=";

/// Replaces a parameter of a script whose value is other data.
const OTHER_DATA: &str = "9";

/// A variable of a shell, and the parameter that replaces it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PathVariable {
    name: String,
    parameter: &'static str,
}

/// The variables of a script that have the path: those in `known`, and those that the script sets.
pub(super) fn variables_with_path(script: &str, known: &[PathVariable]) -> Vec<PathVariable> {
    let mut variables = known.to_vec();
    loop {
        let before = variables.clone();
        for found in variables_set_to_path(&with_variables_renamed(script, &variables)) {
            match variables.iter_mut().find(|variable| variable.name == found.name) {
                Some(variable) => variable.parameter = variable.parameter.min(found.parameter),
                None => variables.push(found),
            }
        }
        if variables == before {
            return variables;
        }
    }
}

/// Whether the name of a variable is anywhere in a script.
pub(super) fn names_variable(script: &str, variables: &[PathVariable]) -> bool {
    variables.iter().any(|variable| script.contains(&variable.name))
}

/// The script with `$1` for each of these variables.
pub(super) fn with_variables_renamed(script: &str, variables: &[PathVariable]) -> String {
    with_parameters_renamed(script, |_| None, |name| parameter_of_variable(name, variables))
}

fn parameter_of_variable(name: &str, variables: &[PathVariable]) -> Option<&'static str> {
    variables.iter().find(|variable| variable.name == name).map(|variable| variable.parameter)
}

/// The parameter that replaces one of this value.
pub(super) fn parameter_of_value(word: &str) -> Option<&'static str> {
    let parameter = || match word {
        path if written::is_path(path) => PATH,
        content if is_content(content) => CONTENT,
        _ => CONTAINS_PATH,
    };
    names_path(word).then(parameter)
}

/// The script of a shell with `$1` for each parameter that has the path. `operands` are the words
/// behind the script, of which the first is `$0`.
pub(super) fn with_operands(script: &str, operands: &[String], variables: &[PathVariable]) -> String {
    let placed = placed_commands(script);
    let (mut arguments, unordered) = (Arguments::new(operands), first_unordered(&placed));
    let mut renamed = String::new();
    for (at, command) in placed.iter().enumerate() {
        if at >= unordered {
            arguments.is_ordered = false;
        }
        let text = with_arguments(&with_list_of_loop(command.text), &arguments, variables);
        arguments.apply(&words(&text), command.after);
        renamed += &text;
        renamed += command.after.get(..1).unwrap_or_default();
    }
    renamed
}

/// The command with `in "$@"` for a loop that has no list of its own.
fn with_list_of_loop(command: &str) -> String {
    let Some(rest) = after_loop_name(command) else { return command.to_owned() };
    let next = rest.split_whitespace().next();
    let separator = if next == Some("do") { ";" } else { "" };
    match next {
        None | Some("do") => format!("{} in \"$@\"{separator}{rest}", &command[..command.len() - rest.len()]),
        Some(_) => command.to_owned(),
    }
}

/// A command with `$1` for each parameter that has the path.
fn with_arguments(command: &str, arguments: &Arguments, variables: &[PathVariable]) -> String {
    let quoted = |word: &String| match parameter_of_value(word) {
        Some(parameter) => format!("\"${{{parameter}}}\""),
        None => shell_words::quote(word).into_owned(),
    };
    let value = |name: &str| match name {
        _ if !arguments.is_ordered || parameter_of_variable(name, variables).is_some() => None,
        "@" => Some(arguments.operands().iter().map(quoted).collect::<Vec<String>>().join(" ")),
        _ => arguments.words.get(name.parse::<usize>().ok()?).map(quoted),
    };
    let of_any = || arguments.operands().iter().filter_map(|word| parameter_of_value(word)).min();
    let rename = |name: &str| {
        let known = parameter_of_variable(name, variables);
        known.or_else(|| match name {
            "@" | "*" => of_any().or(Some(OTHER_DATA)),
            "argv" => of_any(),
            "OPTARG" => arguments.option_value,
            _ => {
                let at: usize = name.parse().ok()?;
                let own = arguments.words.get(at).and_then(|word| parameter_of_value(word));
                // Any parameter may have any argument whose position is unknown.
                let own = if arguments.is_ordered || at == 0 { own } else { of_any() };
                own.or_else(|| (name == PATH).then_some(OTHER_DATA))
            }
        })
    };
    with_parameters_renamed(command, value, rename)
}

/// The texts of the commands that a shell runs within double quotes or backquotes.
pub(super) fn quoted_substitutions(script: &str) -> Vec<&str> {
    let (mut found, mut chars) = (Vec::new(), quoted_chars(script));
    while let Some(it) = chars.next() {
        let begin = it.at + it.c.len_utf8();
        let rest = &script[begin..];
        let is_quoted = it.is_substituted || it.quote == Some('"');
        match it.c {
            '$' if it.is_expanded() && is_quoted && rest.starts_with('(') && !rest.starts_with("((") => {
                let inner = in_parentheses(rest);
                found.push(&inner[1..]);
                chars.skip_to(script.len().min(begin + inner.len() + 1));
            }
            '`' if it.is_expanded() => {
                let inner = rest.split('`').next().unwrap_or_default();
                found.push(inner);
                chars.skip_to(script.len().min(begin + inner.len() + 1));
            }
            _ => {}
        }
    }
    found
}

/// Renames the parameters that a shell expands. `value` has the text for a parameter that is a word
/// in double quotes.
fn with_parameters_renamed(
    script: &str,
    value: impl Fn(&str) -> Option<String>,
    rename: impl Fn(&str) -> Option<&'static str>,
) -> String {
    let (mut renamed, mut end) = (String::new(), 0);
    for it in quoted_chars(script) {
        if it.at < end {
            continue;
        }
        let rest = &script[it.at..];
        match it.c {
            '$' if it.is_expanded() => {
                let start = 1 + usize::from(rest[1..].starts_with('{'));
                let name = parameter_name(&rest[start..], start > 1);
                if let Some(new) = rename(name) {
                    renamed += "${";
                    renamed += new;
                    renamed.push_str(if start > 1 { "" } else { "}" });
                    end = it.at + start + name.len();
                    continue;
                }
            }
            '"' if it.quote.is_none() && !it.is_escaped => {
                let name = quoted_parameter(rest);
                if let Some((name, value)) = name.and_then(|name| Some((name, value(name)?))) {
                    renamed += &value;
                    end = it.at + "\"$\"".len() + name.len();
                    continue;
                }
            }
            _ => {}
        }
        renamed.push(it.c);
    }
    renamed
}

/// The name of the parameter that is in double quotes at the start of a text.
fn quoted_parameter(text: &str) -> Option<&str> {
    let text = text.strip_prefix("\"$")?;
    let name = parameter_name(text, false);
    text[name.len()..].starts_with('"').then_some(name)
}

/// The name of the parameter at the start of a text.
fn parameter_name(text: &str, is_braced: bool) -> &str {
    let is_short = |c: char| "@*".contains(c) || c.is_ascii_digit() && !is_braced;
    let end = if text.starts_with(is_short) {
        1
    } else {
        text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len())
    };
    &text[..end]
}

/// The variables that a script sets to the path.
fn variables_set_to_path(script: &str) -> Vec<PathVariable> {
    let placed = placed_commands(script);
    (0..placed.len()).flat_map(|at| variables_of_command(at, &placed)).collect()
}

fn variables_of_command(at: usize, placed: &[PlacedCommand]) -> Vec<PathVariable> {
    let command = &placed[at];
    let words = all_words(command.text);
    let is_substituted = command.is_before_substitution();
    let parameter_of = |at: usize, value: &str| {
        let is_made = is_substituted && at + 1 == words.len();
        let made = match is_made {
            true => Some(in_parentheses(command.after)),
            false => quoted_substitution(value, command.text),
        };
        made.map_or_else(|| parameter_of_value(value), parameter_of_output)
    };
    let mut found = Vec::new();
    let mut add = |name: &str, parameter: Option<&'static str>| {
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let parameter = parameter.filter(|_| is_name);
        found.extend(parameter.map(|parameter| PathVariable { name: name.to_owned(), parameter }));
    };
    for (at, word) in words.iter().enumerate() {
        if let Some((name, value)) = word.split_once('=') {
            add(name, parameter_of(at, value));
        }
    }
    let first = words.iter().position(|word| !KEYWORDS.contains(&word.as_str())).unwrap_or(words.len());
    if let [loop_word, name, list @ ..] = &words[first..]
        && ["for", "select"].contains(&loop_word.as_str())
    {
        let of_loop = match list.first() {
            Some(next) if next == "in" => {
                (first + 3..words.len()).filter_map(|at| parameter_of(at, &words[at])).min()
            }
            // The loop is about the shell's arguments.
            _ => Some(PATH),
        };
        add(name, of_loop);
    }
    let start = words.iter().position(|word| !is_assignment(word)).unwrap_or(words.len());
    let program = final_program(&words[start..]);
    let operands = program.get(1..).unwrap_or_default();
    match program_name(program.first()) {
        name if INPUT_READERS.contains(&name) => {
            let parameter = parameter_of_input(at, placed);
            operands.iter().for_each(|name| add(name, parameter));
            add("REPLY", parameter);
        }
        "set" if operands.iter().any(|word| names_path(word)) => {
            (1..=9).for_each(|number| add(&number.to_string(), Some(PATH)));
        }
        _ => {}
    }
    found
}

/// The commands whose output in double quotes is the whole value, as the command of the value has
/// them.
fn quoted_substitution<'a>(value: &str, command: &'a str) -> Option<&'a str> {
    let substituted = value.strip_prefix(QUOTED_EXPANSION)?.strip_prefix('(')?.strip_suffix(')')?;
    quoted_substitutions(command).into_iter().find(|text| is_same_but_marks(text, substituted))
}

/// Whether two texts differ only in the marks for expansions.
fn is_same_but_marks(one: &str, other: &str) -> bool {
    let without_marks = |text: &str| text.replace(['$', '`', QUOTED_EXPANSION], "$");
    without_marks(one) == without_marks(other)
}

/// A word of a command with `$1` for each substitution in double quotes that prints the path.
pub(super) fn with_outputs_renamed(word: &str, command: &str) -> String {
    let mut renamed = word.to_owned();
    let begin = format!("{QUOTED_EXPANSION}(");
    for text in quoted_substitutions(command) {
        let Some(parameter) = parameter_of_output(text) else { continue };
        let is_its_text = |at: &usize| {
            let (start, end) = (at + begin.len(), at + begin.len() + text.len());
            renamed.get(start..end).is_some_and(|own| is_same_but_marks(own, text))
                && renamed[end..].starts_with(')')
        };
        let found = renamed.match_indices(&begin).map(|(at, _)| at).find(is_its_text);
        if let Some(at) = found {
            let end = at + begin.len() + text.len() + 1;
            renamed.replace_range(at..end, &format!("{QUOTED_EXPANSION}{{{parameter}}}"));
        }
    }
    renamed
}
