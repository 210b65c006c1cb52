//! The commands that `xargs`, `find` and `fd` make of the names that they get or find. Such a command
//! is checked like one that the user wrote with `{}` where a name is put.

use super::{ESCAPED_BRACE, final_program, program_name, wrapped_program};
use crate::command_line::{PLACE, has_place};

/// Options of `find` after which a command begins.
pub(super) const FIND_OPTIONS: [&str; 4] = ["-exec", "-execdir", "-ok", "-okdir"];

/// Options of `fd` after which a command begins.
pub(super) const FD_OPTIONS: [&str; 4] = ["-x", "-X", "--exec", "--exec-batch"];

/// Letters of options of `xargs` that have no value.
const XARGS_FLAGS: &str = "0rtpxo";

/// A command with `{}` for the names that are put into it.
pub(super) struct BuiltCommand {
    pub(super) words: Vec<String>,
    /// The program that puts the names into the command.
    pub(super) builder: &'static str,
    /// How the user writes an argument for a name, behind a blank. Empty if names are appended.
    pub(super) shown_place: String,
}

/// The commands that a command makes of names.
pub(super) fn commands_of_names(words: &[String]) -> Vec<BuiltCommand> {
    let mut built: Vec<BuiltCommand> = built_by_xargs(words).into_iter().collect();
    let program = final_program(words);
    match program_name(program.first()) {
        "find" => built.extend(built_by_search(program, "find", &FIND_OPTIONS)),
        "fd" | "fdfind" => built.extend(built_by_search(program, "fd", &FD_OPTIONS)),
        _ => {}
    }
    built.retain(|command| !command.words.is_empty());
    built
}

fn built_by_xargs(words: &[String]) -> Option<BuiltCommand> {
    let mut rest = words;
    while program_name(rest.first()) != "xargs" {
        rest = wrapped_program(rest)?;
    }
    let program = wrapped_program(rest).filter(|program| !program.is_empty())?;
    let replaced = replaced_name(&rest[1..rest.len() - program.len()]);
    let words = match &replaced {
        Some(name) => program.iter().map(|word| word.replace(name, PLACE)).collect(),
        None => program.iter().cloned().chain([PLACE.to_owned()]).collect(),
    };
    let shown_place = replaced.map_or_else(String::new, |name| format!(" {}", as_written(&name)));
    Some(BuiltCommand { words, builder: "xargs", shown_place })
}

/// The text that `xargs` replaces by a name; `None` if it appends names.
fn replaced_name(options: &[String]) -> Option<String> {
    let name_or_default = |name: &str| if name.is_empty() { PLACE.to_owned() } else { name.to_owned() };
    options.iter().enumerate().find_map(|(at, option)| {
        if let Some(name) = option.strip_prefix("--replace") {
            return Some(name_or_default(name.trim_start_matches('=')));
        }
        let letters = option.strip_prefix('-')?.trim_start_matches(|c: char| XARGS_FLAGS.contains(c));
        if let Some(name) = letters.strip_prefix('i') {
            return Some(name_or_default(name));
        }
        let name = letters.strip_prefix(['I', 'J'])?;
        let name = if name.is_empty() { options.get(at + 1)?.as_str() } else { name };
        Some(name_or_default(name))
    })
}

fn built_by_search(words: &[String], builder: &'static str, options: &[&str]) -> Vec<BuiltCommand> {
    let escaped_place = format!("{ESCAPED_BRACE}}}");
    let starts = words.iter().enumerate().filter(|(_, word)| options.contains(&word.as_str()));
    let commands = starts.map(|(at, _)| {
        let command = words[at + 1..].iter().take_while(|word| ![";", "+"].contains(&word.as_str()));
        let mut words: Vec<String> = command.map(|word| word.replace(&escaped_place, PLACE)).collect();
        // Where its command has no place, `fd` appends the name.
        if builder == "fd" && !words.iter().any(|word| has_place(word)) {
            words.push(PLACE.to_owned());
        }
        BuiltCommand { words, builder, shown_place: format!(" {}", as_written(&escaped_place)) }
    });
    commands.collect()
}

/// A word as the user wrote it outside quotes.
fn as_written(word: &str) -> String {
    if word.contains(ESCAPED_BRACE) {
        word.replace(ESCAPED_BRACE, "\\{").replace('}', "\\}")
    } else {
        word.to_owned()
    }
}
