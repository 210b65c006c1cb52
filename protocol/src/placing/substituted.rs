//! Commands with substitutions outside quotes, as in `sort --parallel=$(nproc) {}`: the text behind
//! the parenthesis belongs to the command before it.

use super::{EXPANSION, Interpreter, PlacingError, interpreter_of, words};
use crate::command_line::operators;

/// A command that goes on behind a substitution.
pub(super) struct WholeCommand {
    /// The indices of its parts among the commands of the script.
    parts: Vec<usize>,
    /// Its words with a mark for each substitution, and without those that are a whole word, as if
    /// the substitution printed nothing.
    pub(super) words: [Vec<String>; 2],
}

/// The parts of a command that has not ended.
#[derive(Default)]
struct OpenCommand {
    text: String,
    parts: Vec<usize>,
}

impl WholeCommand {
    fn new(open: OpenCommand) -> WholeCommand {
        let words = words(&open.text);
        let is_left = |word: &&String| word.chars().ne([EXPANSION]);
        let left = words.iter().filter(is_left).cloned().collect();
        WholeCommand { parts: open.parts, words: [words, left] }
    }

    /// Whether the command of this index is behind a substitution of this command.
    pub(super) fn has_rest(&self, at: usize) -> bool {
        self.parts[1..].contains(&at)
    }

    /// Whether the check accepts the command, whatever its substitutions print. A shell among the
    /// words is not accepted, because they may print several words, which move its arguments.
    pub(super) fn is_safe(&self, check: impl Fn(&[String]) -> Result<(), PlacingError>) -> bool {
        let [marked, _] = &self.words;
        let is_shell = |word: &String| interpreter_of(Some(word)).is_some_and(Interpreter::is_shell);
        let is_program_known = marked.first().is_some_and(|word| word.chars().ne([EXPANSION]));
        is_program_known
            && !marked.iter().any(is_shell)
            && self.words.iter().all(|words| check(words).is_ok())
    }
}

/// The commands of a script that go on behind a substitution.
pub(super) fn commands_with_substitutions(script: &str) -> Vec<WholeCommand> {
    let (mut found, mut from) = (Vec::new(), 0);
    // The commands around the current one, and the current one. `None` is a command that ends before
    // its parenthesis.
    let (mut outer, mut current) = (Vec::<Option<OpenCommand>>::new(), OpenCommand::default());
    let mut end = |open: OpenCommand| {
        if open.parts.len() > 1 {
            found.push(WholeCommand::new(open));
        }
    };
    let ends = operators(script).into_iter().chain([(script.len(), '\n')]);
    for (part, (at, operator)) in ends.enumerate() {
        current.text += &script[from..at];
        current.parts.push(part);
        from = (at + operator.len_utf8()).min(script.len());
        let mut ended = std::mem::take(&mut current);
        match operator {
            '(' if ended.text.ends_with(['$', '<', '>']) => {
                ended.text.pop();
                ended.text.push('$');
                outer.push(Some(ended));
            }
            '(' => {
                end(ended);
                outer.push(None);
            }
            ')' => {
                end(ended);
                current = outer.pop().flatten().unwrap_or_default();
            }
            _ => end(ended),
        }
    }
    outer.into_iter().flatten().for_each(end);
    found
}
