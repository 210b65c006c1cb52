//! Words that mean nothing to a method: it fails, with the reason, before it is ready.

use super::check::{Check, ReadWords, visits};
use super::files::refused;
use super::servers;
use super::stage::Stage;
use readlab_protocol::files::list_word;
use readlab_protocol::places::places_word;
use readlab_protocol::{MethodLine, Reads};

/// One method in as many gets a misuse, beside the first method of a contender, which gets all: in
/// most contenders one parser reads the words of all methods.
const TURNS: usize = 3;

/// A request that the method answers.
pub(super) fn any_words(stage: &Stage, method: &MethodLine) -> Option<ReadWords> {
    if servers::are_for(method) {
        return servers::plain_words(stage, method);
    }
    let visit = visits(method).into_iter().next()?;
    Some(ReadWords::new(method, &visit).on(stage.file("no-final-newline").path.as_os_str()))
}

pub(super) fn checks<'s>(stage: &'s Stage, method: &MethodLine, number: usize) -> Vec<Check<'s>> {
    let Some(words) = any_words(stage, method) else { return Vec::new() };
    let mut misuses = vec![
        ("an unknown scan", ReadWords { scan: "no-such-scan".to_owned(), ..words.clone() }),
        ("an unknown work", ReadWords { work: "no-such-work".to_owned(), ..words.clone() }),
        ("an unknown parameter", words.with(["no_such_parameter=1".to_owned()])),
        ("a setting without a number", words.with(["no_such_parameter".to_owned()])),
    ];
    if let Some(param) = method.params.first() {
        misuses.push(("a setting that is no number", words.with([format!("{}=many", param.name)])));
        misuses.push(("a setting that is no number", words.with([format!("{}=", param.name)])));
        misuses.push(("a negative setting", words.with([format!("{}=-1", param.name)])));
        if let Some(below) = param.min.checked_sub(1) {
            misuses.push(("a setting below its least", words.with([format!("{}={below}", param.name)])));
        }
        if let Some(above) = param.max.checked_add(1) {
            misuses.push(("a setting above its largest", words.with([format!("{}={above}", param.name)])));
        }
    }
    let part = ["start_bytes=0".to_owned(), "length_bytes=1".to_owned()];
    if !method.parts {
        misuses.push(("a part, which it does not offer", words.with(part)));
    } else {
        let [start, length] = part;
        misuses.push(("a part without its length", words.with([start])));
        misuses.push(("a part without its start", words.with([length])));
    }
    if !method.lists && method.reads != Reads::List {
        misuses.push(("a list, which it does not offer", words.with([list_word()])));
    }
    if method.reads != Reads::Places {
        misuses.push(("places, which it does not offer", words.with([places_word()])));
    }
    let check =
        |(what, words): (&'static str, ReadWords)| Check::new(move |stage| refused(stage, &words, what, ""));
    let misuses = misuses.into_iter().enumerate();
    let taken = misuses.filter(|(at, _)| number == 0 || at % TURNS == number % TURNS);
    taken.map(|(_, misuse)| check(misuse)).collect()
}
