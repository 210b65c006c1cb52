//! Finds the parameters and variables of a shell that have the path. A script is rewritten so that
//! each of them is `$1`, the parameter in which the shell of a line has the path.

use super::{
    PlacedCommand, all_words, final_program, in_parentheses, marked, names_path, placed_commands,
    program_name, words, written,
};
use crate::command_line::{commands, is_assignment};

/// Built-ins of shells that put their input into variables.
const INPUT_READERS: [&str; 3] = ["read", "mapfile", "readarray"];

/// The parameter that has the path.
const PATH: &str = "1";

/// Replaces a parameter whose value contains the path or is made of it, as `{}.out` is.
const CONTAINS_PATH: &str = "1%";

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
                Some(variable) if found.parameter == PATH => variable.parameter = PATH,
                Some(_) => {}
                None => variables.push(found),
            }
        }
        if variables == before {
            return variables;
        }
    }
}

/// The script with `$1` for each of these variables.
pub(super) fn with_variables_renamed(script: &str, variables: &[PathVariable]) -> String {
    with_parameters_renamed(script, |_| None, |name| parameter_of_variable(name, variables))
}

fn parameter_of_variable(name: &str, variables: &[PathVariable]) -> Option<&'static str> {
    variables.iter().find(|variable| variable.name == name).map(|variable| variable.parameter)
}

/// The parameter that replaces one of this value.
fn parameter_of_value(word: &str) -> Option<&'static str> {
    names_path(word).then(|| if written::is_path(word) { PATH } else { CONTAINS_PATH })
}

/// The script of a shell with `$1` for each parameter that has the path. `operands` are the words
/// behind the script, of which the first is `$0`.
pub(super) fn with_operands(script: &str, operands: &[String], variables: &[PathVariable]) -> String {
    let arguments = operands.get(1..).unwrap_or_default();
    // Any parameter may have any argument after a `shift`.
    let is_shifted = script.contains("shift");
    let quoted = |word: &String| match parameter_of_value(word) {
        Some(parameter) => format!("\"${{{parameter}}}\""),
        None => shell_words::quote(word).into_owned(),
    };
    let value = |name: &str| match name {
        _ if is_shifted || parameter_of_variable(name, variables).is_some() => None,
        "@" => Some(arguments.iter().map(quoted).collect::<Vec<String>>().join(" ")),
        _ => operands.get(name.parse::<usize>().ok()?).map(quoted),
    };
    let of_any = || {
        let found = arguments.iter().filter_map(|word| parameter_of_value(word));
        // The path itself is before what contains it.
        found.min_by_key(|parameter| parameter.len())
    };
    let rename = |name: &str| {
        let known = parameter_of_variable(name, variables);
        known.or_else(|| match name {
            "@" | "*" => of_any().or(Some(OTHER_DATA)),
            "argv" => of_any(),
            _ => {
                let at: usize = name.parse().ok()?;
                let own = operands.get(at).and_then(|word| parameter_of_value(word));
                let own = own.or_else(|| of_any().filter(|_| is_shifted && at > 0));
                own.or_else(|| (name == PATH).then_some(OTHER_DATA))
            }
        })
    };
    with_parameters_renamed(script, value, rename)
}

/// The texts of the commands that a shell runs within double quotes or backquotes.
pub(super) fn quoted_substitutions(script: &str) -> Vec<&str> {
    let (mut found, mut quote, mut at) = (Vec::new(), None, 0);
    while let Some(c) = script[at..].chars().next() {
        let rest = &script[at + c.len_utf8()..];
        let mut skipped = 0;
        match (quote, c) {
            (None | Some('"'), '\\') => skipped = rest.chars().next().map_or(0, char::len_utf8),
            (Some('"'), '$') if rest.starts_with('(') && !rest.starts_with("((") => {
                let inner = in_parentheses(rest);
                found.push(&inner[1..]);
                skipped = inner.len();
            }
            (None | Some('"'), '`') => {
                let inner = rest.split('`').next().unwrap_or_default();
                found.push(inner);
                skipped = rest.len().min(inner.len() + 1);
            }
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            _ => {}
        }
        at += c.len_utf8() + skipped;
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
    let (mut renamed, mut quote, mut rest) = (String::new(), None, script);
    while let Some(c) = rest.chars().next() {
        let mut length = c.len_utf8();
        match (quote, c) {
            (None | Some('"'), '\\') => length += rest[1..].chars().next().map_or(0, char::len_utf8),
            (None | Some('"'), '$') => {
                let start = 1 + usize::from(rest[1..].starts_with('{'));
                let name = parameter_name(&rest[start..], start > 1);
                if let Some(new) = rename(name) {
                    renamed += "${";
                    renamed += new;
                    rest = &rest[start + name.len()..];
                    renamed.push_str(if start > 1 { "" } else { "}" });
                    continue;
                }
            }
            (None, '\'' | '"') => {
                let name = quoted_parameter(rest);
                if let Some((name, value)) = name.and_then(|name| Some((name, value(name)?))) {
                    renamed += &value;
                    rest = &rest["\"$\"".len() + name.len()..];
                    continue;
                }
                quote = Some(c);
            }
            (Some(open), c) if c == open => quote = None,
            _ => {}
        }
        renamed += &rest[..length];
        rest = &rest[length..];
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
    let is_input_path = placed.iter().any(PlacedCommand::is_fed_by_path);
    placed.iter().flat_map(|command| variables_of_command(command, is_input_path)).collect()
}

fn variables_of_command(command: &PlacedCommand, is_input_path: bool) -> Vec<PathVariable> {
    let words = all_words(command.text);
    let is_substituted = command.is_before_substitution() && prints_path(in_parentheses(command.after));
    let parameter_of = |at: usize, value: &str| {
        let is_made = is_substituted && at + 1 == words.len();
        if is_made { Some(CONTAINS_PATH) } else { parameter_of_value(value) }
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
        if let ("for" | "select", Some(name)) = (word.as_str(), words.get(at + 1)) {
            let of_loop = match words.get(at + 2) {
                Some(next) if next == "in" => {
                    let values = (at + 3..words.len()).filter_map(|at| parameter_of(at, &words[at]));
                    values.min_by_key(|parameter| parameter.len())
                }
                // The loop is about the shell's arguments.
                _ => Some(PATH),
            };
            add(name, of_loop);
        }
    }
    let start = words.iter().position(|word| !is_assignment(word)).unwrap_or(words.len());
    let program = final_program(&words[start..]);
    let operands = program.get(1..).unwrap_or_default();
    match program_name(program.first()) {
        name if INPUT_READERS.contains(&name) && is_input_path => {
            operands.iter().for_each(|name| add(name, Some(PATH)));
            add("REPLY", Some(PATH));
        }
        "set" if operands.iter().any(|word| names_path(word)) => {
            (1..=9).for_each(|number| add(&number.to_string(), Some(PATH)));
        }
        _ => {}
    }
    found
}

/// Whether the output of these commands may have the path or bytes of its file. `wc` without the
/// path among its operands prints numbers alone.
fn prints_path(script: &str) -> bool {
    let last = commands(script).last().map_or_else(Vec::new, |last| words(last));
    let prints_numbers =
        program_name(final_program(&last).first()) == "wc" && !last.iter().any(|word| names_path(word));
    names_path(&marked(script)) && !prints_numbers
}
