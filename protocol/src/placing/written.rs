//! Finds commands that write to the raced file, by a redirection or because their program writes to
//! its operands. Only the text of the line is examined here. The run proves separately that the
//! file is unchanged after every reading.

use super::{
    INPUT_REDIRECTION, OUTPUT_REDIRECTION, final_program, interpreter_of, is_path_parameter, marked,
    program_name, words,
};
use crate::command_line::{LIST_PLACE, PLACE, commands};

/// Programs that write to, rename or remove all their operands.
const WRITERS: [&str; 11] =
    ["tee", "truncate", "rm", "rmdir", "unlink", "shred", "touch", "chmod", "chown", "chgrp", "mv"];

/// Programs that write to their last operand.
const COPIERS: [&str; 5] = ["cp", "install", "ln", "link", "rsync"];

/// Programs that replace their operands by another file, unless their options contain one of the
/// letters in [`KEEP_LETTERS`].
const PACKERS: [&str; 14] = [
    "gzip",
    "gunzip",
    "pigz",
    "unpigz",
    "bzip2",
    "bunzip2",
    "pbzip2",
    "lbzip2",
    "xz",
    "unxz",
    "lzma",
    "unlzma",
    "compress",
    "uncompress",
];

/// Letters of options with which the packers keep the file: to standard output, keep, test, list.
const KEEP_LETTERS: &str = "cktlhV";

/// Long options with which the packers keep the file.
const KEEP_WORDS: [&str; 8] =
    ["--stdout", "--to-stdout", "--keep", "--test", "--list", "--help", "--version", "--robot"];

/// Whether a line would write to the path.
pub(super) fn writes_to_path(line: &str) -> bool {
    commands(line).into_iter().any(|command| {
        let (words, output_files) = (words(command), redirected_files(command, OUTPUT_REDIRECTION));
        let program = final_program(&words);
        let is_written = |word: &String| is_path(word);
        output_files.iter().any(is_written) || is_operand_written(program) || is_written_in_script(program)
    })
}

/// Whether a word is the path or a file below it, by its placeholder or by the shell's parameter.
fn is_path(word: &str) -> bool {
    let below =
        |place: &str| word.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    below(PLACE) || below(LIST_PLACE) || is_path_parameter(word)
}

/// The files of a command's redirections of this direction.
pub(super) fn redirected_files(command: &str, direction: char) -> Vec<String> {
    let marked = marked(command);
    let split = shell_words::split(&marked).unwrap_or_else(|_| vec![marked.clone()]);
    let (mut files, mut is_redirected) = (Vec::new(), false);
    for word in split {
        let mut parts = word.split([INPUT_REDIRECTION, OUTPUT_REDIRECTION]);
        let first = parts.next().unwrap_or_default();
        if std::mem::take(&mut is_redirected) && !first.is_empty() {
            files.push(first.to_owned());
        }
        let mut before = first.len();
        for part in parts {
            is_redirected |= word[before..].starts_with(direction);
            before += INPUT_REDIRECTION.len_utf8() + part.len();
            let file = part.trim_start_matches(['&', '|']);
            if !file.is_empty() && std::mem::take(&mut is_redirected) {
                files.push(file.to_owned());
            }
        }
    }
    files
}

/// Whether a program writes to the path among its operands.
fn is_operand_written(words: &[String]) -> bool {
    let Some((first, operands)) = words.split_first() else { return false };
    let has = |test: &dyn Fn(&str) -> bool| operands.iter().any(|word| test(word));
    let is_operand = has(&is_path);
    match program_name(Some(first)) {
        "dd" => has(&|word| word.strip_prefix("of=").is_some_and(is_path)),
        "sort" => is_output_of_sort(operands),
        "sed" | "gsed" => is_operand && has(&|word| edits_in_place(word, "efls")),
        "perl" | "ruby" => is_operand && has(&|word| edits_in_place(word, "eEIMmrF")),
        name if WRITERS.contains(&name) => is_operand,
        name if COPIERS.contains(&name) => {
            operands.len() > 1 && operands.last().is_some_and(|it| is_path(it))
        }
        name if PACKERS.contains(&name) => is_operand && !has(&keeps_file),
        _ => false,
    }
}

/// Whether the option `-o` of `sort` names the path.
fn is_output_of_sort(operands: &[String]) -> bool {
    let joined = |word: &String| {
        ["-o", "--output="].iter().any(|option| word.strip_prefix(option).is_some_and(is_path))
    };
    let apart = |pair: &[String]| {
        let is_option = pair[0] == "--output" || pair[0].ends_with('o') && is_letters(&pair[0]);
        is_option && is_path(&pair[1])
    };
    operands.iter().any(joined) || operands.windows(2).any(apart)
}

/// Whether a word is an option of `sed` or `perl` that edits files in place. `valued` are the
/// letters after which the rest of a word is a value.
fn edits_in_place(word: &str, valued: &str) -> bool {
    let Some(letters) = word.strip_prefix('-').filter(|it| !it.starts_with('-')) else {
        return word.starts_with("--in-place");
    };
    letters.chars().take_while(|&letter| !valued.contains(letter)).any(|letter| letter == 'i')
}

/// Whether a word is an option with which a packer keeps the file.
fn keeps_file(word: &str) -> bool {
    KEEP_WORDS.contains(&word)
        || is_letters(word) && word[1..].chars().any(|letter| KEEP_LETTERS.contains(letter))
}

/// Whether a word is a `-` followed by letters of options.
fn is_letters(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|it| !it.is_empty() && it.chars().all(char::is_alphanumeric))
}

/// Whether a shell that gets the path as an argument writes to it in its script.
fn is_written_in_script(words: &[String]) -> bool {
    let Some(shell) = interpreter_of(words.first()).filter(|it| it.is_shell()) else { return false };
    let texts = shell.source(words).texts;
    let is_handed_over = words.iter().enumerate().any(|(at, word)| !texts.contains(&at) && is_path(word));
    let mut scripts = texts.iter().filter_map(|&at| words.get(at));
    is_handed_over && scripts.any(|script| writes_to_path(script))
}

#[cfg(test)]
mod tests {
    use super::super::{PlacingError, check};

    #[test]
    fn a_line_that_writes_to_the_path_is_refused() {
        for line in [
            "sort {} > {}",
            "sort {} >{}",
            "sort {} >> '{}'",
            "sort {} 1> \"$1\"",
            "sort {} >| {}",
            "sort {} &> {}",
            "sort {} >& {}",
            "cat <> {}",
            "wc -l < {} > {}",
            "wc -l <{}>{}",
            "wc -l 2>/dev/null >{}",
            "sort < {} > \"${1}\"",
            "echo x > {}/marker",
            "tee {} < x",
            "cat x | nice tee -a {} | wc -l",
            "dd if=x of={}",
            "sort -o {} {}",
            "sort -uo {} {}",
            "sort --output={} x",
            "sed -i s/a/b/ {}",
            "sed -Ei.bak s/a/b/ {}",
            "sed --in-place s/a/b/ {}",
            "perl -pi -e s/a/b/ {}",
            "truncate -s 0 {}",
            "rm -f {}",
            "mv {} x",
            "cp x {}",
            "gzip {}",
            "gzip -9 {}",
            "xz -T0 -d {}",
            "sh -c 'sort \"$1\" > \"$1\"' sh {}",
            "bash -c 'wc -l \"$1\"; rm \"$1\"' sh {}",
            "wc -l {}; touch {}",
        ] {
            assert!(matches!(check(line), Err(PlacingError::Writes(_))), "{line}: {:?}", check(line));
        }
    }

    #[test]
    fn a_line_that_only_reads_the_path_or_writes_to_another_file_is_accepted() {
        for line in [
            "sort {} > /dev/null",
            "sort {} > {}.out",
            "sort < {} > out",
            "wc -l {} 2>&1",
            "wc -l {} >&2",
            "cat {} | tee copy | wc -l",
            "dd if={} of=/dev/null",
            "sort -t o -k 1 {}",
            "sort -k o {}",
            "sort -o out {}",
            "sed -n -e 's/i/x/p' {}",
            "sed -es/i/x/ {}",
            "perl -ne 'print if /i/' {}",
            "perl -Mstrict -ne 1 {}",
            "gzip -dc {}",
            "gzip -t {}",
            "xz -T0 --keep {}",
            "gzip < {}",
            "rm -f \"{}.tmp\"",
            "cp {} copy",
            "cp {} \"/tmp/my copy of {}\"",
            "grep '> {}' x {}",
            "sh -c 'sort \"$1\" > /dev/null' sh {}",
            "zstd -d {} -o out",
        ] {
            assert!(!matches!(check(line), Err(PlacingError::Writes(_))), "{line}: {:?}", check(line));
        }
    }
}
