//! The arguments of the shell that runs a script, which `shift` and `set` change.

use super::output::{COMPOUND_BEGINS, COMPOUND_ENDS, count_of};
use super::{
    EVALUATORS, EXPANSION, KEYWORDS, PlacedCommand, QUOTED_EXPANSION, all_words, final_program,
    in_parentheses, is_in_parentheses, names_path, parameters, placed_commands, program_name, words,
};
use crate::command_line::operators;

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
    /// The parameter that replaces `OPTARG`, the value of an option.
    pub(super) option_value: Option<&'static str>,
    /// The number of words that a loop of `getopts` has taken; `None` if it is unknown.
    option_word_count: Option<usize>,
}

impl Arguments {
    pub(super) fn new(words: &[String]) -> Arguments {
        Arguments { words: words.to_vec(), is_ordered: true, option_value: None, option_word_count: None }
    }

    /// The arguments without `$0`.
    pub(super) fn operands(&self) -> &[String] {
        self.words.get(1..).unwrap_or_default()
    }

    /// Changes the arguments as a command does, with the rest of the script behind it.
    pub(super) fn apply(&mut self, command: &[String], after: &str) {
        let program = final_program(command);
        let operands = program.get(1..).unwrap_or_default();
        match (program_name(program.first()), operands) {
            ("getopts", [options, ..]) => self.take_options(command, options, after),
            // The options may not all be taken.
            ("break", _) => self.option_word_count = None,
            (name, _) if EVALUATORS.contains(&name) => self.option_word_count = None,
            ("shift", [count]) if is_option_count(count, after) => self.shift(self.option_word_count),
            ("shift", [count, ..]) => self.shift(count.parse().ok()),
            ("shift", []) => self.shift(Some(1)),
            ("set", _) => self.set(operands),
            _ => {}
        }
    }

    /// Takes the options that a loop of `getopts` takes.
    fn take_options(&mut self, command: &[String], options: &str, after: &str) {
        let is_loop = command.len() == 4 && command[0] == "while" && after.starts_with([';', '\n']);
        let count = option_word_count(options, self.operands()).filter(|_| is_loop && self.is_ordered);
        let taken = &self.operands()[..count.unwrap_or(self.operands().len())];
        let value = taken.iter().filter_map(|word| parameters::parameter_of_value(word)).min();
        (self.option_value, self.option_word_count) = (value, count);
    }

    fn shift(&mut self, count: Option<usize>) {
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

/// The number of words that have options for `getopts` and their values; `None` if a word may be an
/// option or not.
fn option_word_count(options: &str, words: &[String]) -> Option<usize> {
    let is_known = |word: &str| names_path(word) || !word.contains([EXPANSION, QUOTED_EXPANSION]);
    if !is_known(options) {
        return None;
    }
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if !is_known(word) {
            return None;
        }
        let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) else { break };
        at += 1;
        if letters == "-" {
            break;
        }
        let has_value = |letter: char| options.contains(&format!("{letter}:"));
        // The value is the rest of the word, or else the next word.
        at += usize::from(
            letters.find(has_value).is_some_and(|letter| letters[letter..].chars().nth(1).is_none()),
        );
    }
    Some(at.min(words.len()))
}

/// Whether a count of `shift` is that of all words with options, `$((OPTIND-1))`.
fn is_option_count(count: &str, after: &str) -> bool {
    let text = if count.chars().eq([EXPANSION]) { after } else { count.trim_start_matches(QUOTED_EXPANSION) };
    let expression = text.strip_prefix("((").and_then(|text| text.split_once("))"));
    let is_part = |c: &char| !c.is_whitespace() && !['$', QUOTED_EXPANSION].contains(c);
    expression.is_some_and(|(expression, _)| expression.chars().filter(is_part).eq("OPTIND-1".chars()))
}

/// The index of the first command at which the order of the arguments is unknown, because a change
/// of them may happen several times, not at all, or only in a subshell.
pub(super) fn first_unordered(placed: &[PlacedCommand]) -> usize {
    let begins_compound = |command: &PlacedCommand| {
        words(command.text).first().is_some_and(|word| COMPOUND_WORDS.contains(&word.as_str()))
    };
    let compound = placed.iter().position(begins_compound).unwrap_or(placed.len());
    let is_unordered = |(at, command): &(usize, &PlacedCommand)| {
        let is_within = *at >= compound && may_be_in_compound(&placed[..=*at]);
        let is_certain = || is_always_run(command) && !may_be_in_compound(&placed[..*at]);
        changes_arguments(command) && (is_within || !is_always_run(command))
            || takes_options(command) && !is_certain()
            || may_change_arguments(command)
    };
    let change = placed.iter().enumerate().find(is_unordered);
    change.map_or(placed.len(), |(at, _)| at.min(compound))
}

/// Whether the last of these commands is in a compound command, or may be.
fn may_be_in_compound(placed: &[PlacedCommand]) -> bool {
    let mut depth = 0;
    for command in placed {
        let (begun, ended) = (count_of(command, &COMPOUND_BEGINS), count_of(command, &COMPOUND_ENDS));
        depth += begun;
        let words = words(command.text);
        let is_inner = words.first().is_some_and(|word| COMPOUND_WORDS.contains(&word.as_str()));
        // A pattern of `case` may be a word that ends a compound command elsewhere, and `time if`
        // begins one that is not counted.
        if ended > depth || ended > 0 && command.after.starts_with(')') || is_inner && depth == 0 {
            return true;
        }
        depth -= ended;
    }
    // A parenthesis that closes a pattern hides one that is open.
    let has_open = |last: &PlacedCommand| operators(last.before).iter().any(|(_, c)| *c == '(');
    depth > 0 || placed.last().is_some_and(has_open)
}

fn takes_options(command: &PlacedCommand) -> bool {
    program_name(final_program(&words(command.text)).first()) == "getopts"
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
    let sets_index = |word: &String| word.starts_with("OPTIND") && word != "OPTIND" && word != "OPTIND-1";
    let within = |text: &str| {
        let placed = placed_commands(text);
        placed.iter().any(|command| changes_arguments(command) || may_change_arguments(command))
    };
    evaluates && words.iter().any(has_change)
        || words.iter().any(|word| is_value(word) || sets_index(word))
        || parameters::quoted_substitutions(command.text).into_iter().any(within)
}

/// Whether the shell itself runs a simple command whatever the commands before it do.
fn is_always_run(command: &PlacedCommand) -> bool {
    let (before, after) = (command.before, command.after);
    let follows_end = before.is_empty() || before.ends_with([';', '\n']);
    let is_joined = before.trim_end().ends_with(['|', '&']);
    // The command goes on behind a substitution at its end.
    let is_substituted = command.is_before_substitution();
    let behind = if is_substituted {
        after[in_parentheses(after).len()..].trim_start_matches([')', ' '])
    } else {
        after
    };
    let stays = !behind.starts_with(['|', '&']) || behind.starts_with("||") || behind.starts_with("&&");
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
