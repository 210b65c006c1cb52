//! Determines what a known program counts: bytes 0x0A, or lines including an unterminated last one.
//! The two numbers differ for a file that does not end with a newline. There a correct number looks
//! wrong unless it is known what the program counts.
//!
//! Known are only programs whose first number is plainly one of the two, at the end of pipelines
//! that pass bytes on unchanged.

use readlab_protocol::command_line::commands;

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CountedUnit {
    /// Bytes 0x0A.
    Newlines,
    /// Lines, an unterminated last one included.
    Lines,
}

/// Programs that pass on the bytes of the file, or the decoded bytes, unchanged.
const UNCHANGED_OUTPUT: [&str; 10] =
    ["cat", "unzip", "gzip", "gunzip", "zcat", "pigz", "bsdtar", "curl", "dd", "pv"];

/// Programs that count matching lines.
const GREPS: [&str; 5] = ["grep", "egrep", "fgrep", "rg", "zgrep"];

/// What a line for a shell counts, if that is certain.
pub(crate) fn counted_by_script(script: &str) -> Option<CountedUnit> {
    let split = |command: &str| shell_words::split(command).ok();
    let commands: Vec<Vec<String>> = commands(script).into_iter().map(split).collect::<Option<_>>()?;
    let (last, before) = commands.split_last()?;
    let (last, before) = if is_sum(last) { before.split_last()? } else { (last, before) };
    let passes_on = |words: &Vec<String>| {
        program_name(without_xargs(from_program(words))).is_some_and(|name| UNCHANGED_OUTPUT.contains(&name))
    };
    if before.iter().all(passes_on) { counted_by_words(last) } else { None }
}

pub(crate) fn counted_by_words(words: &[String]) -> Option<CountedUnit> {
    let words = without_xargs(from_program(words));
    let (program, rest) = (program_name(words)?, words.get(1..)?);
    let has = |word: &str| rest.iter().any(|it| it == word);
    let script = |text: &str| rest.iter().any(|it| it.split_whitespace().collect::<String>() == text);
    match program {
        // The numbers of `wc` have a fixed order, lines first.
        "wc" => {
            let mut flags = rest.iter().filter(|word| word.starts_with('-') && word.len() > 1);
            let is_plain = flags.clone().next().is_none();
            let counts = |flag: &String| flag == "--lines" || !flag.starts_with("--") && flag.contains('l');
            (is_plain || flags.any(counts)).then_some(CountedUnit::Newlines)
        }
        // Every line is counted only with the empty pattern, or with a pattern for the begin or end
        // of a line.
        _ if GREPS.contains(&program) => {
            let counts = (has("-c") || has("--count")) && !has("-v") && (has("") || has("^") || has("$"));
            counts.then_some(CountedUnit::Lines)
        }
        "awk" | "gawk" | "mawk" => script("END{printNR}").then_some(CountedUnit::Lines),
        "sed" => (has("-n") && has("$=")).then_some(CountedUnit::Lines),
        _ => None,
    }
}

/// The words of the program that xargs starts, without the flags of xargs. Words of another program
/// are unchanged.
fn without_xargs(words: &[String]) -> &[String] {
    if program_name(words) != Some("xargs") {
        return words;
    }
    let first = words.iter().skip(1).position(|word| !word.starts_with('-'));
    first.map_or(&[], |first| &words[first + 1..])
}

/// Whether a command adds up the numbers that the command before printed, one for each file.
fn is_sum(words: &[String]) -> bool {
    let words = from_program(words);
    let adds = |text: &String| {
        let text: String = text.split_whitespace().collect();
        let parts = text.strip_prefix('{').and_then(|rest| rest.split_once("+=$1}END{print"));
        parts.is_some_and(|(counted, printed)| printed.strip_suffix('}') == Some(counted))
    };
    matches!(program_name(words), Some("awk" | "gawk" | "mawk")) && words[1..].iter().any(adds)
}

/// The words from the program's name on, without the assignments and redirections before it.
fn from_program(words: &[String]) -> &[String] {
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
fn program_name(words: &[String]) -> Option<&str> {
    words.first().and_then(|word| word.rsplit('/').next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counts_of_common_programs_are_known() {
        for (script, counted) in [
            ("wc -l \"$1\"", Some(CountedUnit::Newlines)),
            ("wc -l < \"$1\"", Some(CountedUnit::Newlines)),
            ("< \"$1\" /usr/bin/wc -l", Some(CountedUnit::Newlines)),
            ("LC_ALL=C wc --lines \"$1\"", Some(CountedUnit::Newlines)),
            ("cat \"$1\" | wc", Some(CountedUnit::Newlines)),
            ("unzip -p \"$1\" | wc -l", Some(CountedUnit::Newlines)),
            ("wc -c \"$1\"", None),
            ("grep -c '' \"$1\"", Some(CountedUnit::Lines)),
            ("cat \"$1\" | rg --count ^", Some(CountedUnit::Lines)),
            ("grep -c a \"$1\"", None),
            ("grep -v -c '' \"$1\"", None),
            ("awk 'END { print NR }' \"$1\"", Some(CountedUnit::Lines)),
            ("sed -n '$=' \"$1\"", Some(CountedUnit::Lines)),
            ("rg -c '' \"$1\" | awk '{ n += $1 } END { print n }'", Some(CountedUnit::Lines)),
            ("rg -c '' \"$1\" | awk '{ n += $1 } END { print m }'", None),
            ("xargs -0 rg -c '' < \"$1\" | awk '{ n += $1 } END { print n }'", Some(CountedUnit::Lines)),
            ("xargs -0 cat < \"$1\" | wc -l", Some(CountedUnit::Newlines)),
            // `sed` and `sort` may add or remove a newline.
            ("sed '$a\\' \"$1\" | wc -l", None),
            ("sort \"$1\" | wc -l", None),
            ("wc -l \"$1\" | tail -1", None),
            ("./my-reader \"$1\"", None),
            ("", None),
        ] {
            assert_eq!(counted_by_script(script), counted, "{script}");
        }
    }
}
