//! Finds commands that write to the raced file, by a redirection or because their program writes to
//! its operands. Only the text of the line is examined here. The run proves separately that the
//! file is unchanged after every reading.

use super::{
    INPUT_REDIRECTION, OUTPUT_REDIRECTION, after_path_parameter, marked, program_name, splits_path,
    wrapped_program,
};
use crate::command_line::{LIST_PLACE, PLACE};

/// Whether a word is something that a program may not write to.
type WordTest = fn(&str) -> bool;

/// Programs that write to, rename or remove all their operands.
const WRITERS: [&str; 12] =
    ["tee", "sponge", "truncate", "rm", "rmdir", "unlink", "shred", "touch", "chmod", "chown", "chgrp", "mv"];

/// Programs that write to their last operand.
const COPIERS: [&str; 5] = ["cp", "install", "ln", "link", "rsync"];

/// Those of the copiers that write to the value of `-t` instead if they have it.
const COPIERS_TO_TARGET: [&str; 3] = ["cp", "install", "ln"];

/// Programs with an option for the file of their output, its letter, and the letters of their other
/// options after which the rest of a word is a value.
const OUTPUT_LETTERS: [(&str, char, &str); 9] = [
    ("sort", 'o', "kStT"),
    ("zstd", 'o', "bBDMT"),
    ("unzstd", 'o', "bBDMT"),
    ("brotli", 'o', "DSqw"),
    ("curl", 'o', "AbcCdDeEFhHKmPQrtTuUwxXyYz"),
    ("wget", 'O', "aAeDiIlPQRtTUwX"),
    ("time", 'o', "f"),
    ("strace", 'o', "abeEIOpPsSuUX"),
    ("ltrace", 'o', "aAeFlnpsuwx"),
];

/// Letters of options of the copiers, besides `-t`, after which the rest of a word is a value.
const COPIERS_VALUE_LETTERS: &str = "gmoS";

/// Options of `uniq` whose value is a number: their letters and their long forms.
const UNIQ_LETTERS: &str = "fsw";
const UNIQ_WORDS: [&str; 3] = ["--skip-fields", "--skip-chars", "--check-chars"];

/// Long options for the file of a program's output.
const OUTPUT_WORDS: [&str; 2] = ["--output", "--output-document"];

/// Programs that replace their operands by another file, unless their options contain one of the
/// letters in [`KEEP_LETTERS`].
const PACKERS: [&str; 15] = [
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
    "lzip",
];

/// Programs that remove their operands with `--rm`, or `brotli` with `-j`.
const REMOVING_PACKERS: [&str; 6] = ["zstd", "zstdmt", "unzstd", "lz4", "unlz4", "brotli"];

/// Letters of options with which the packers keep the file: to standard output, keep, test, list.
const KEEP_LETTERS: &str = "cktlhV";

/// Letters of options of the packers after which the rest of a word is a value.
const VALUE_LETTERS: &str = "bpBFCMSTIJ";

/// Long options with which the packers keep the file.
const KEEP_WORDS: [&str; 8] =
    ["--stdout", "--to-stdout", "--keep", "--test", "--list", "--help", "--version", "--robot"];

/// Whether a command would write to the path among the operands of its program or of a wrapper.
pub(super) fn writes_to_path(words: &[String]) -> bool {
    writes(words, is_path)
}

/// Whether a command would write to a word that a shell makes of the path by splitting it at blanks.
pub(super) fn writes_to_part_of_path(words: &[String]) -> bool {
    writes(words, splits_path)
}

/// Whether a word is the path or a file below it, by its placeholder or by the shell's parameter.
/// A pattern behind the path matches the path itself.
pub(super) fn is_path(word: &str) -> bool {
    let below = |place: &str| word.strip_prefix(place);
    let rest = below(PLACE).or_else(|| below(LIST_PLACE)).or_else(|| after_path_parameter(word));
    rest.is_some_and(|rest| rest.starts_with('/') || rest.chars().all(|c| "*?[]".contains(c)))
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

fn writes(mut words: &[String], is_written: WordTest) -> bool {
    while let Some(program) = wrapped_program(words) {
        if is_output(&words[..words.len() - program.len()], is_written) {
            return true;
        }
        words = program;
    }
    is_output(words, is_written) || is_operand_written(words, is_written)
}

/// Whether a program writes to one of its operands for which the test holds.
fn is_operand_written(words: &[String], is_written: WordTest) -> bool {
    let Some((first, operands)) = words.split_first() else { return false };
    let has = |test: &dyn Fn(&str) -> bool| operands.iter().any(|word| test(word));
    let is_operand = has(&is_written);
    match program_name(Some(first)) {
        "dd" => has(&|word| word.strip_prefix("of=").is_some_and(is_written)),
        "uniq" => second_file_of_uniq(operands).is_some_and(is_written),
        "find" => is_operand && has(&|word| word == "-delete"),
        "sed" | "gsed" => is_operand && has(&|word| edits_in_place(word, "efls")),
        "perl" | "ruby" => is_operand && has(&|word| edits_in_place(word, "eEIMmrF")),
        name if WRITERS.contains(&name) => {
            let is_reference = |at: usize| at > 0 && names_reference(name, &operands[at - 1]);
            operands.iter().enumerate().any(|(at, word)| is_written(word) && !is_reference(at))
        }
        name if COPIERS.contains(&name) => destination(name, operands).is_some_and(is_written),
        name if PACKERS.contains(&name) => is_operand && !has(&|word| keeps_file(name, word)),
        name if REMOVING_PACKERS.contains(&name) => {
            let removes = |word: &str| word == "--rm" || name == "brotli" && has_letter(name, word, "j");
            is_operand && has(&removes)
        }
        _ => false,
    }
}

/// Whether the next word is a file whose size, time or mode a writer takes and which it only reads.
fn names_reference(name: &str, option: &str) -> bool {
    let has_letter = ["touch", "truncate"].contains(&name);
    option == "--reference" || has_letter && rest_after_letter(option, 'r', "dst") == Some("")
}

/// Whether an option of a program names its output, and the test holds for this file.
fn is_output(words: &[String], is_written: WordTest) -> bool {
    let name = program_name(words.first());
    let Some((_, letter, valued)) = OUTPUT_LETTERS.iter().find(|(program, ..)| *program == name) else {
        return false;
    };
    let value = |word: &str| {
        let long = OUTPUT_WORDS.iter().find_map(|option| word.strip_prefix(*option)?.strip_prefix('='));
        long.or_else(|| rest_after_letter(word, *letter, valued)).is_some_and(is_written)
    };
    let apart = |pair: &[String]| {
        let is_option = OUTPUT_WORDS.contains(&pair[0].as_str())
            || rest_after_letter(&pair[0], *letter, valued) == Some("");
        is_option && is_written(&pair[1])
    };
    words.iter().any(|word| value(word)) || words.windows(2).any(apart)
}

/// The file to which `uniq` writes: its second operand.
fn second_file_of_uniq(operands: &[String]) -> Option<&str> {
    let mut is_value = false;
    let is_number_letter = |c: char| UNIQ_LETTERS.contains(c);
    let mut files = operands.iter().map(String::as_str).filter(|word| {
        let is_file = !std::mem::take(&mut is_value) && (!word.starts_with('-') || *word == "-");
        is_value = UNIQ_WORDS.contains(word) || is_letters(word) && word.ends_with(is_number_letter);
        is_file
    });
    files.nth(1)
}

/// Where a copier writes to.
fn destination<'a>(name: &str, operands: &'a [String]) -> Option<&'a str> {
    let after_letter = |word: &'a str| rest_after_letter(word, 't', COPIERS_VALUE_LETTERS);
    let apart = |pair: &'a [String]| {
        let is_option = pair[0] == "--target-directory" || after_letter(&pair[0]) == Some("");
        is_option.then_some(pair[1].as_str())
    };
    let joined = |word: &'a String| {
        let long = word.strip_prefix("--target-directory=");
        long.or_else(|| after_letter(word).filter(|value| !value.is_empty()))
    };
    let target = || operands.windows(2).find_map(apart).or_else(|| operands.iter().find_map(joined));
    let target = COPIERS_TO_TARGET.contains(&name).then(target).flatten();
    target.or_else(|| operands.last().filter(|_| operands.len() > 1).map(String::as_str))
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
fn keeps_file(packer: &str, word: &str) -> bool {
    KEEP_WORDS.contains(&word) || has_letter(packer, word, KEEP_LETTERS)
}

/// Whether a word has one of these letters of a packer's options.
fn has_letter(packer: &str, word: &str, letters: &str) -> bool {
    // The values of `pbzip2` are digits, and further letters may follow them, as in `-b15vk`.
    let is_option = |c: &char| packer == "pbzip2" || !VALUE_LETTERS.contains(*c);
    is_letters(word) && word[1..].chars().take_while(is_option).any(|c| letters.contains(c))
}

/// What follows a letter of an option in a word; `None` if the word has no such option. `valued` are
/// the letters after which the rest of a word is a value.
pub(super) fn rest_after_letter<'a>(word: &'a str, letter: char, valued: &str) -> Option<&'a str> {
    let letters = word.strip_prefix('-').filter(|it| !it.starts_with('-'))?;
    let at = letters.find(|c: char| c == letter || valued.contains(c))?;
    letters[at..].strip_prefix(letter)
}

/// Whether a word is a `-` followed by letters of options.
fn is_letters(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|it| !it.is_empty() && it.chars().all(char::is_alphanumeric))
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
            "f={}; sort $f > \"$f\"",
            "for f in {}/*; do rm -f \"$f\"; done",
            "while read -r f; do gzip \"$f\"; done < {list}",
            "f={} sh -c 'rm \"$f\"'",
            "sh -c 'sort \"$0\" > \"$0\"' {}",
            "sh -c 'for f; do rm \"$f\"; done' sh {}",
            "rm -f {}*",
            "rm -f \"$1\"*",
            "touch \"$1/x\"",
            "xargs -0 rm < {list}",
            "find {} -type f | xargs -I% mv % x",
            "find {} -delete",
            "find {} -exec rm \\{\\} +",
            "sort {} | sponge {}",
            "zstd --rm {}",
            "lz4 --rm {} x",
            "brotli -j {}",
            "lzip {}",
            "pigz -b128k {}",
            "uniq x {}",
            "uniq -f 1 -c x {}",
            "time -o {} wc x",
            "strace -fo {} wc x",
            "curl -so {} x",
            "wget -O {} x",
            "cp -t {} x",
            "ln --target-directory={} x",
            "uniq -cf 1 x {}",
            "uniq --skip-fields 1 x {}",
            "pbzip2 -b15v {}",
            "touch -r x {}",
            "touch -tr {}",
            "chmod -r {}",
            "sort -uo{} x",
            "cp -rt{} x",
            "f=$(realpath {}); rm \"$f\"",
            "f=\"$(readlink -f \"$1\")\"; rm \"$f\"",
            "f=$(echo {}); rm \"$f\"",
            "f=$(find {} -type f | head -n 1); rm \"$f\"",
            "find {} -type f | sort | while read -r f; do rm \"$f\"; done",
            "cat {list} | { read -r f; rm \"$f\"; }",
            "while read -r f; do while true; do read -r g; rm \"$g\"; done; done < {list}",
            "exec < {list}; read -r f; rm \"$f\"",
            "read -r f <<< {}; rm \"$f\"",
            "rm $(true) -f {}",
            "tee -a <(true) {}",
            "sort -o $(true) {}",
            "uniq $(cat x) {}",
            "rm \"$(echo {})\"",
            "rm \"$(realpath \"$1\")\"",
            "dd if=x of=\"$(echo {})\"",
            "sort x > \"$(echo {})\"",
            "sh -c 'rm \"$1\"' sh \"$(echo \"$1\")\"",
            "rm $(realpath {})",
            "export f={}; sh -c 'bash -c \"rm \\$f\"'",
            "export f={}; bash -c 'sh -c '\\''rm \"$f\"'\\'''",
            "rm `realpath {}`",
            "sort {} > $(realpath {})",
        ] {
            assert!(matches!(check(line), Err(PlacingError::Writes(_))), "{line}: {:?}", check(line));
        }
    }

    #[test]
    fn a_write_to_words_of_the_path_is_refused() {
        for line in [
            "rm -f $1.tmp",
            "f={}; rm $f.tmp",
            "sh -c 'rm -f $1.tmp' sh {}",
            "cp x $1.copy",
            "sort -o $1.out x",
            "rm -rf $(dirname {})/cache",
            "rm -rf `dirname {}`/cache",
            "rm -f $(basename {}).idx",
            "mv $(dirname {})/a b",
            "echo $(rm -f $(dirname {})/x)",
            "sh -c 'rm -f $(dirname \"$1\")/*.tmp' sh {}",
        ] {
            assert!(matches!(check(line), Err(PlacingError::Split(_))), "{line}: {:?}", check(line));
        }
        for line in [
            "rm -f \"$1.tmp\"",
            "f={}; rm \"$f.tmp\"",
            "wc -l $1",
            "gzip -dc $1.gz",
            "s=$(stat -c %s {}); truncate -s $s made",
            "s=$(stat -Lc %s {}); truncate -s $s made",
            "s=$(stat -Lc%s {}); truncate -s $s made",
            "s=$(stat -L --printf '%s\\n' {}); truncate -s $s made",
            "n=$(grep -c x {}); touch made.$n",
            "n=\"$(cat \"$1\" | grep -c x)\"; touch made.$n",
            "x=$(head -n 1 < {}); touch made.$x",
            "while read -r k v; do touch $k; done < {}",
        ] {
            assert_eq!(check(line), Ok(()), "{line}");
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
            "gzip -9c {}",
            "pigz -kb128 {}",
            "zstd {} -o out",
            "brotli {}",
            "uniq -f 1 {}",
            "time -o out wc {}",
            "cp -t copies {}",
            "cp -rt copies {}",
            "find {} -type f",
            "sponge out < {}",
            "f={}; rm -f \"$f\".tmp",
            "rm -f \"{}.tmp\"",
            "cp {} copy",
            "cp {} \"/tmp/my copy of {}\"",
            "grep '> {}' x {}",
            "sh -c 'sort \"$1\" > /dev/null' sh {}",
            "zstd -d {} -o out",
            "touch -r {} stamp",
            "truncate -r {} made",
            "chmod --reference {} made",
            "uniq -cw 10 {}",
            "uniq -cf 1 {}",
            "uniq --skip-fields 1 {}",
            "pbzip2 -b15vk {}",
            "sort -k1 -to {}",
            "cat {} | wc -l; ls made | while read -r f; do rm -f \"$f\"; done",
            "while read -r k v; do touch \"$k\"; done < {}",
            "cat {} | while read -r k v; do touch \"$k\"; done",
            "f=$(echo {}.out); rm -f \"$f\"",
        ] {
            assert!(!matches!(check(line), Err(PlacingError::Writes(_))), "{line}: {:?}", check(line));
        }
    }
}
