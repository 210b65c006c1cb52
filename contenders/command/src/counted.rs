//! What a known program counts: bytes 0x0A, or lines with an unterminated last one. The two differ
//! for a file that does not end with a newline; there a correct number looks wrong unless it is
//! known what it counts.
//!
//! Only programs whose first number is plainly one of the two are known, at the end of pipelines
//! that pass bytes on as they are.

use readlab_protocol::command_line::commands;

/// What a number is the number of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counted {
    /// Bytes 0x0A.
    Newlines,
    /// Lines, an unterminated last one included.
    Lines,
}

/// Programs that pass on the bytes of the file, or what they decode, as they are.
const PASS_ON: [&str; 10] = ["cat", "unzip", "gzip", "gunzip", "zcat", "pigz", "bsdtar", "curl", "dd", "pv"];

/// Programs that count the lines which match.
const GREPS: [&str; 5] = ["grep", "egrep", "fgrep", "rg", "zgrep"];

/// What a line for a shell counts, if that is plain.
pub(crate) fn of_script(script: &str) -> Option<Counted> {
    let split = |command: &str| shell_words::split(command).ok();
    let commands: Vec<Vec<String>> = commands(script).into_iter().map(split).collect::<Option<_>>()?;
    let (last, before) = commands.split_last()?;
    let (last, before) = if is_sum(last) { before.split_last()? } else { (last, before) };
    let passes_on =
        |words: &Vec<String>| name(started(program(words))).is_some_and(|name| PASS_ON.contains(&name));
    if before.iter().all(passes_on) { of_words(last) } else { None }
}

/// What the words of one command count.
pub(crate) fn of_words(words: &[String]) -> Option<Counted> {
    let words = started(program(words));
    let (program, rest) = (name(words)?, words.get(1..)?);
    let has = |word: &str| rest.iter().any(|it| it == word);
    let script = |text: &str| rest.iter().any(|it| it.split_whitespace().collect::<String>() == text);
    match program {
        // Its numbers come in a fixed order, lines first.
        "wc" => {
            let mut flags = rest.iter().filter(|word| word.starts_with('-') && word.len() > 1);
            let is_plain = flags.clone().next().is_none();
            let counts = |flag: &String| flag == "--lines" || !flag.starts_with("--") && flag.contains('l');
            (is_plain || flags.any(counts)).then_some(Counted::Newlines)
        }
        // Of others than the empty pattern and the ends of a line, not every line is counted.
        _ if GREPS.contains(&program) => {
            let counts = (has("-c") || has("--count")) && !has("-v") && (has("") || has("^") || has("$"));
            counts.then_some(Counted::Lines)
        }
        "awk" | "gawk" | "mawk" => script("END{printNR}").then_some(Counted::Lines),
        "sed" => (has("-n") && has("$=")).then_some(Counted::Lines),
        _ => None,
    }
}

/// The words that xargs starts, without its flags; other words as they are.
fn started(words: &[String]) -> &[String] {
    if name(words) != Some("xargs") {
        return words;
    }
    let first = words.iter().skip(1).position(|word| !word.starts_with('-'));
    first.map_or(&[], |first| &words[first + 1..])
}

/// Whether a command adds up the numbers that the one before it printed, one of each file.
fn is_sum(words: &[String]) -> bool {
    let words = program(words);
    let adds = |text: &String| {
        let text: String = text.split_whitespace().collect();
        let parts = text.strip_prefix('{').and_then(|rest| rest.split_once("+=$1}END{print"));
        parts.is_some_and(|(counted, printed)| printed.strip_suffix('}') == Some(counted))
    };
    matches!(name(words), Some("awk" | "gawk" | "mawk")) && words[1..].iter().any(adds)
}

/// The words from the program's name on, without assignments and redirections before it.
fn program(words: &[String]) -> &[String] {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        match word.as_str() {
            "<" | ">" => at += 2,
            _ if word.starts_with(['<', '>']) || word.contains('=') => at += 1,
            _ => break,
        }
    }
    words.get(at..).unwrap_or_default()
}

/// The name of the program, without its folder.
fn name(words: &[String]) -> Option<&str> {
    words.first().and_then(|word| word.rsplit('/').next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_programs_say_what_they_count() {
        for (script, counted) in [
            ("wc -l \"$1\"", Some(Counted::Newlines)),
            ("wc -l < \"$1\"", Some(Counted::Newlines)),
            ("< \"$1\" /usr/bin/wc -l", Some(Counted::Newlines)),
            ("LC_ALL=C wc --lines \"$1\"", Some(Counted::Newlines)),
            ("cat \"$1\" | wc", Some(Counted::Newlines)),
            ("unzip -p \"$1\" | wc -l", Some(Counted::Newlines)),
            ("wc -c \"$1\"", None),
            ("grep -c '' \"$1\"", Some(Counted::Lines)),
            ("cat \"$1\" | rg --count ^", Some(Counted::Lines)),
            ("grep -c a \"$1\"", None),
            ("grep -v -c '' \"$1\"", None),
            ("awk 'END { print NR }' \"$1\"", Some(Counted::Lines)),
            ("sed -n '$=' \"$1\"", Some(Counted::Lines)),
            ("rg -c '' \"$1\" | awk '{ n += $1 } END { print n }'", Some(Counted::Lines)),
            ("rg -c '' \"$1\" | awk '{ n += $1 } END { print m }'", None),
            ("xargs -0 rg -c '' < \"$1\" | awk '{ n += $1 } END { print n }'", Some(Counted::Lines)),
            ("xargs -0 cat < \"$1\" | wc -l", Some(Counted::Newlines)),
            // It may add or take away lines.
            ("sed '$a\\' \"$1\" | wc -l", None),
            ("sort \"$1\" | wc -l", None),
            ("wc -l \"$1\" | tail -1", None),
            ("./my-reader \"$1\"", None),
            ("", None),
        ] {
            assert_eq!(of_script(script), counted, "{script}");
        }
    }
}
