//! The arguments of the shell that runs a script, which `shift` and `set` change.

use super::{
    EVALUATORS, EXPANSION, KEYWORDS, PlacedCommand, QUOTED_EXPANSION, all_words, final_program,
    is_in_parentheses, names_path, parameters, placed_commands, program_name, words,
};

/// First words of commands that a shell may run several times, or not at all.
const COMPOUND_WORDS: [&str; 13] = [
    "if", "then", "elif", "else", "while", "until", "do", "for", "select", "case", "{", "function", "coproc",
];

/// The arguments of a shell at a command of its script.
pub(super) struct Arguments {
    /// The arguments behind `$0`, which is the first word.
    pub(super) words: Vec<String>,
    /// Whether each parameter has the word of its number. Otherwise it may have any of them.
    pub(super) is_ordered: bool,
}

impl Arguments {
    pub(super) fn new(words: &[String]) -> Arguments {
        Arguments { words: words.to_vec(), is_ordered: true }
    }

    /// The arguments without `$0`.
    pub(super) fn operands(&self) -> &[String] {
        self.words.get(1..).unwrap_or_default()
    }

    /// Changes the arguments as a command does.
    pub(super) fn apply(&mut self, command: &[String]) {
        let program = final_program(command);
        let operands = program.get(1..).unwrap_or_default();
        match program_name(program.first()) {
            "shift" => self.shift(operands.first()),
            "set" => self.set(operands),
            _ => {}
        }
    }

    fn shift(&mut self, count: Option<&String>) {
        let count: Option<usize> = count.map_or(Some(1), |count| count.parse().ok());
        // Shells differ where there are fewer arguments.
        match count.filter(|count| *count < self.words.len()) {
            Some(count) if self.is_ordered => {
                self.words.drain(1..=count);
            }
            Some(_) => {}
            None => self.is_ordered = false,
        }
    }

    fn set(&mut self, operands: &[String]) {
        let Some(new) = arguments_of_set(operands) else { return };
        let is_known =
            |word: &String| names_path(word) || !word.contains([EXPANSION, QUOTED_EXPANSION, '*', '?', '[']);
        if self.is_ordered && new.iter().all(is_known) {
            self.words.truncate(1);
        } else {
            self.is_ordered = false;
        }
        // The first word is `$0`, also where the script has none.
        if self.words.is_empty() {
            self.words.push(String::new());
        }
        self.words.extend_from_slice(new);
    }
}

/// The arguments that `set` sets; `None` if it sets options alone.
fn arguments_of_set(operands: &[String]) -> Option<&[String]> {
    let mut at = 0;
    loop {
        match operands.get(at)?.as_str() {
            "--" => return Some(&operands[at + 1..]),
            // The name of an option follows `-o`.
            option if option.starts_with(['-', '+']) => at += 1 + usize::from(option.ends_with('o')),
            _ => return Some(&operands[at..]),
        }
    }
}

/// The index of the first command at which the order of the arguments is unknown, because a change
/// of them may happen several times, not at all, or only in a subshell.
pub(super) fn first_unordered(placed: &[PlacedCommand]) -> usize {
    let begins_compound = |command: &PlacedCommand| {
        words(command.text).first().is_some_and(|word| COMPOUND_WORDS.contains(&word.as_str()))
    };
    let compound = placed.iter().position(begins_compound).unwrap_or(placed.len());
    let is_unordered = |(at, command): &(usize, &PlacedCommand)| {
        changes_arguments(command) && (*at >= compound || !is_always_run(command))
            || may_change_arguments(command)
    };
    let change = placed.iter().enumerate().find(is_unordered);
    change.map_or(placed.len(), |(at, _)| at.min(compound))
}

fn changes_arguments(command: &PlacedCommand) -> bool {
    let words = words(command.text);
    let program = final_program(&words);
    match program_name(program.first()) {
        "shift" => true,
        "set" => arguments_of_set(&program[1..]).is_some(),
        _ => false,
    }
}

/// Whether a command may change the arguments by a text that it evaluates, by a variable whose value
/// is a command, or in a substitution within double quotes.
fn may_change_arguments(command: &PlacedCommand) -> bool {
    let is_change = |text: &str| text == "shift" || text == "set";
    let has_change = |word: &String| word.split(|c: char| !c.is_alphanumeric()).any(is_change);
    let words = all_words(command.text);
    let evaluates = EVALUATORS.contains(&program_name(final_program(&words).first()));
    let is_value = |word: &String| word.split_once('=').is_some_and(|(_, value)| is_change(value));
    let within = |text: &str| {
        let placed = placed_commands(text);
        placed.iter().any(|command| changes_arguments(command) || may_change_arguments(command))
    };
    evaluates && words.iter().any(has_change)
        || words.iter().any(is_value)
        || parameters::quoted_substitutions(command.text).into_iter().any(within)
}

/// Whether the shell itself runs a simple command whatever the commands before it do.
fn is_always_run(command: &PlacedCommand) -> bool {
    let (before, after) = (command.before, command.after);
    let follows_end = before.is_empty() || before.ends_with([';', '\n']);
    let is_joined = before.trim_end().ends_with(['|', '&']);
    let stays = !after.starts_with(['|', '&']) || after.starts_with("||") || after.starts_with("&&");
    follows_end && !is_joined && stays && !is_in_parentheses(before)
}

/// What follows the name of the loop that a command begins; `None` if it begins none.
pub(super) fn after_loop_name(command: &str) -> Option<&str> {
    let mut rest = command;
    loop {
        let (word, after) = first_word(rest)?;
        match word {
            "for" | "select" => return first_word(after).map(|(_, after)| after),
            keyword if KEYWORDS.contains(&keyword) => rest = after,
            _ => return None,
        }
    }
}

fn first_word(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}
