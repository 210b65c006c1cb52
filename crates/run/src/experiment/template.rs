//! Turns the user's command lines into templates: the name of the target is replaced by `{}`.
//!
//! A command without `{}` gets the path appended if its program is known to read its last argument.
//! A command that also named the file, or a file below a raced folder, would then read it twice, so
//! this is refused. The `command` contender handles everything else about command lines.

use super::options::{OwnCommand, SelectionOptions};
use anyhow::{bail, ensure};
use readlab_model::trial::{COMMAND, TrialId};
use readlab_protocol::command_line::{self, PLACE};
use readlab_protocol::placing::{self, HAND_OVER_WORDS, PlacingError};
use readlab_protocol::quoting;
use readlab_record::Check;
use readlab_system::file_status::FileStatus;
use readlab_system::terminal::notice;
use readlab_system::terminal::printable::display_path;
use readlab_targets::target::secret;
use std::ops::Range;
use std::path::{self, Component, Path, PathBuf};

/// Characters that end a word outside of quotes.
const WORD_SEPARATORS: &str = " \t\n|&;<>()";

/// Characters of a pattern for names.
const PATTERN_CHARACTERS: [char; 3] = ['*', '?', '['];

/// The shell variable that replaces the names of targets where a line is checked for writes. Unlike
/// `{}`, it may also be within the script of a shell.
const TARGET_VARIABLE: &str = "READLAB_TARGET";

/// The options with `{}` in every command that names a target. A notice lists the commands that
/// were changed.
pub(super) fn with_placeholders(
    mut options: SelectionOptions,
    targets: &[PathBuf],
) -> anyhow::Result<SelectionOptions> {
    let (mut given, mut notices): (Vec<String>, Vec<String>) = Default::default();
    for at in 0..options.commands.len() {
        let command = &mut options.commands[at];
        let written = secret::redact_command(&command.line);
        let template = command_template(&command.line, targets)?;
        let names_file = template.is_some();
        command.line = template.unwrap_or_else(|| command.line.clone());
        check_command(command, targets)?;
        command.line = placing::completed(&command.line)?;
        let line = command.line.clone();
        if let Some(same) = options.commands[..at].iter().position(|other| other.line == line) {
            bail!(
                "the commands '{}' and '{written}' are both '{line}', and a row is named after its command: name each, \
                 for example by a comment: '{line} # second'",
                given[same]
            );
        }
        if names_file {
            notices.push(format!("the command '{written}' names the file: raced as '{line}'"));
        } else if !command_line::has_place(&written) {
            notices.push(format!("the command '{written}' names no file: raced as '{line}'"));
        }
        given.push(written);
    }
    let names = options.reference.iter_mut().chain(&mut options.methods);
    for name in names {
        let command = name.strip_prefix(COMMAND).and_then(|rest| rest.strip_prefix('/'));
        let template = command.map(|command| command_template(command, targets)).transpose()?.flatten();
        if let Some(template) = template {
            *name = format!("{COMMAND}/{template}");
        }
    }
    set_command_to_match(&mut options.commands);
    // Notices are shown after all checks, so that a refusal is a single line.
    notices.into_iter().for_each(notice::show);
    Ok(options)
}

/// Sets the first command as the one with whose output the check `same` compares. Must run after the
/// lines of the commands are final, because the check names the first command by its line.
fn set_command_to_match(commands: &mut [OwnCommand]) {
    let first = commands.first().and_then(|own| own.trial_name().parse::<TrialId>().ok());
    let first = first.map(|id| id.to_string()).unwrap_or_default();
    for own in commands {
        if let Check::Same { trial_name: of } = &mut own.rules.check {
            of.clone_from(&first);
        }
    }
}

/// Refuses a command if its line, its check or one of its hooks must not be recorded or run.
fn check_command(command: &OwnCommand, targets: &[PathBuf]) -> anyhow::Result<()> {
    ensure!(!command.line.trim().is_empty(), "-c is empty, and a command that reads {PLACE} is needed");
    command.shell_lines().try_for_each(|line| check_line(line, targets))
}

/// Refuses a line that must not be recorded, or must not be run on these targets.
pub(super) fn check_line(line: &str, targets: &[PathBuf]) -> anyhow::Result<()> {
    check_command_line(line)?;
    placing::check_names(line, || targets.iter().map(|target| target.as_os_str().to_owned()).collect())?;
    check_writes(line, targets)
}

/// Refuses a line that writes to a target which the line names itself. Such names are in hooks and
/// checks, where they are not replaced by `{}`, and in commands that also have a `{}`.
fn check_writes(line: &str, targets: &[PathBuf]) -> anyhow::Result<()> {
    let replaced = with_target_variable(line, targets);
    if replaced == line {
        return Ok(());
    }
    let has_blank = |target: &PathBuf| {
        path::absolute(target).is_ok_and(|path| path.to_string_lossy().contains(char::is_whitespace))
    };
    match placing::check(&format!("{TARGET_VARIABLE}={PLACE}; {replaced}")) {
        Err(PlacingError::Writes(_)) => Err(PlacingError::Writes(line.to_owned()).into()),
        // A shell splits the name at blanks alone.
        Err(PlacingError::Split(_)) if targets.iter().any(has_blank) => {
            Err(PlacingError::Split(line.to_owned()).into())
        }
        _ => Ok(()),
    }
}

/// The line with a variable for each word that names a target, or files below it, also in scripts
/// within quotes.
fn with_target_variable(line: &str, targets: &[PathBuf]) -> String {
    let is_in_target = |name: &Path| is_target(name, targets) || is_below_target(name, targets);
    let is_named = |name: &Path| is_in_target(name) || folder_of_pattern(name).is_some_and(is_in_target);
    let (mut replaced, mut end) = (String::new(), 0);
    for range in argument_ranges(line) {
        let word = &line[range.clone()];
        let new = match name_offset(word, is_named) {
            Some(_) if changes_link_alone(line, &range, targets) => continue,
            Some(named) => format!("{}\"${TARGET_VARIABLE}\"", &word[..named]),
            None => {
                let Some(script) = script_in(word) else { continue };
                let inner = with_target_variable(&script, targets);
                if inner == script {
                    continue;
                }
                shell_words::quote(&inner).into_owned()
            }
        };
        replaced += &line[end..range.start];
        replaced += &new;
        end = range.end;
    }
    replaced + &line[end..]
}

/// Whether the program of a word renames, replaces or removes the link that the word names, and
/// does not change the file that the link leads to. A link by which a target is raced, or that is
/// below one, is part of what is raced.
fn changes_link_alone(line: &str, word: &Range<usize>, targets: &[PathBuf]) -> bool {
    let name = PathBuf::from(without_quotes(&line[word.clone()]));
    let before = command_line::commands(&line[..word.start]).pop().unwrap_or_default();
    let is_redirected = before.trim_end().ends_with(['<', '>', '|', '&']);
    let is_raced = || targets.iter().any(|target| is_same_entry(&name, target));
    if is_redirected || !name.is_symlink() || is_raced() || has_target_above(&name, targets) {
        return false;
    }
    match placing::program_of(before).as_str() {
        "rm" | "unlink" => true,
        program @ ("mv" | "ln") => !name.is_dir() || !is_destination(program, before, &line[word.end..]),
        _ => false,
    }
}

/// Whether `mv` or `ln` puts files into the folder that a word names. The word is between these two
/// parts of a line.
fn is_destination(program: &str, before: &str, after: &str) -> bool {
    let is_short = |option: &str| option.starts_with('-') && !option.starts_with("--");
    let names_folder =
        |option: &str| option == "--target-directory" || is_short(option) && option.ends_with('t');
    if before.split_whitespace().next_back().is_some_and(names_folder) {
        return true;
    }
    // `mv -n` keeps files that exist, and follows the link.
    let letters: &[char] = if program == "ln" { &['T', 'n', 't'] } else { &['T', 't'] };
    let excludes_word = |option: &str| {
        ["--no-t", "--no-d", "--target-directory"].iter().any(|long| option.starts_with(long))
            || is_short(option) && option.contains(letters)
    };
    let rest = command_line::commands(after).first().copied().unwrap_or_default();
    let operands = match rest.split_once(['<', '>']) {
        // Digits before a redirection are the number of a stream.
        Some((operands, _)) => operands.trim_end_matches(|c: char| c.is_ascii_digit()),
        None => rest,
    };
    operands.trim().is_empty() && !before.split_whitespace().any(excludes_word)
}

/// What is within the quotes of a word, if it may be a script.
fn script_in(word: &str) -> Option<String> {
    let plain = without_quotes(word);
    (plain.len() < word.len() && plain.contains(|c: char| WORD_SEPARATORS.contains(c))).then_some(plain)
}

/// Refuses a line with a secret outside of a URL that is a target, and a line that would run the
/// target.
pub(super) fn check_command_line(line: &str) -> anyhow::Result<()> {
    let shown = secret::redact_command(line);
    ensure!(
        shown == line,
        "the command '{shown}' has a secret, which would be in the record: export it as a variable of the environment before, and write $NAME"
    );
    Ok(placing::check(line)?)
}

/// The command with `{}` for each word that names a target; `None` if it already has a `{}` or
/// names no target. A command without a placeholder that only names files below a target is refused,
/// because the target would be appended.
fn command_template(command: &str, targets: &[PathBuf]) -> anyhow::Result<Option<String>> {
    if command.contains(PLACE) {
        return Ok(None);
    }
    let mut template = String::new();
    let mut end = 0;
    let mut name_below = None;
    for range in argument_ranges(command) {
        let word = &command[range.clone()];
        let Some(named) = name_offset(word, |name| is_target(name, targets)) else {
            // An option, such as `--exclude-dir=NAME`, takes no operand's place.
            let named = name_offset(word, |name| is_below_target(name, targets));
            let operand = named.filter(|_| !word.starts_with('-')).map(|at| &word[at..]);
            name_below = name_below.or(operand);
            continue;
        };
        template.push_str(&command[end..range.start + named]);
        template.push_str(PLACE);
        end = range.end;
    }
    let within = |target: &PathBuf| target.to_str().is_some_and(|name| is_word_within_quotes(command, name));
    match (targets.iter().find(|target| within(target)), name_below) {
        _ if end > 0 => Ok(Some(template + &command[end..])),
        (Some(target), _) => {
            bail!(
                "the command '{}' names {} within quotes; {HAND_OVER_WORDS}",
                secret::redact_command(command),
                secret::redact_command(&display_path(target))
            )
        }
        (None, Some(name)) if !command_line::has_place(command) => {
            bail!(
                "the command '{}' has no {PLACE}, and names {name} below the raced folder, so that both might be read; write \
                 {PLACE} where the path belongs",
                secret::redact_command(command)
            )
        }
        (None, _) => Ok(None),
    }
}

/// The words of a command that may name files, also in scripts within quotes.
pub fn file_names_in(command: &str) -> Vec<PathBuf> {
    let words = argument_ranges(command).into_iter().map(|range| &command[range]);
    let names = |word: &str| -> Vec<PathBuf> {
        let own = name_offsets(word).map(|at| PathBuf::from(without_quotes(&word[at..])));
        own.chain(script_in(word).into_iter().flat_map(|script| file_names_in(&script))).collect()
    };
    words.flat_map(names).collect()
}

/// The ranges of a command's words without the program, which is the first word unless that is an
/// assignment or the file of a redirection.
fn argument_ranges(command: &str) -> Vec<Range<usize>> {
    let mut ranges = word_ranges(command);
    let is_program = |first: &Range<usize>| {
        !command_line::is_assignment(&command[first.clone()]) && !command[..first.start].contains(['<', '>'])
    };
    let programs = usize::from(ranges.first().is_some_and(is_program));
    ranges.split_off(programs)
}

/// The offset in a word at which a name begins for which the test holds.
fn name_offset(word: &str, is_named: impl Fn(&Path) -> bool) -> Option<usize> {
    name_offsets(word).find(|&at| is_named(Path::new(&without_quotes(&word[at..]))))
}

fn is_target(name: &Path, targets: &[PathBuf]) -> bool {
    targets.iter().any(|target| is_same_file(name, target))
}

/// Whether a name is that of an existing file or folder below a target, or of a link to one. Devices
/// such as /dev/null do not count, because a command may write to them.
fn is_below_target(name: &Path, targets: &[PathBuf]) -> bool {
    name.metadata().is_ok_and(|facts| facts.is_file() || facts.is_dir())
        && (has_target_above(name, targets)
            || name.canonicalize().is_ok_and(|path| has_target_above(&path, targets)))
}

/// Whether a folder above a name is a target, as the name is written.
fn has_target_above(name: &Path, targets: &[PathBuf]) -> bool {
    let Ok(path) = path::absolute(name) else { return false };
    let is_above = |folder: &&Path| {
        let goes_up = |rest: &Path| rest.components().any(|part| part == Component::ParentDir);
        path.strip_prefix(folder).is_ok_and(|rest| !goes_up(rest))
    };
    path.ancestors().skip(1).filter(is_above).any(|folder| is_target(folder, targets))
}

/// Whether two names are the same entry of the same folder. A link at the entry is not followed.
fn is_same_entry(one: &Path, other: &Path) -> bool {
    let (Ok(one), Ok(other)) = (path::absolute(one), path::absolute(other)) else { return false };
    let is_same_folder =
        || one.parent().zip(other.parent()).is_some_and(|(one, other)| is_same_file(one, other));
    one.file_name() == other.file_name() && is_same_folder()
}

/// The folder in which a pattern for names begins to match; `None` if the pattern does not name it.
fn folder_of_pattern(name: &Path) -> Option<&Path> {
    let name = name.to_str()?;
    let (folder, _) = name[..name.find(PATTERN_CHARACTERS)?].rsplit_once('/')?;
    Some(Path::new(folder))
}

/// Offsets in a word at which a name may begin: its first character, and after a `=` as in
/// `if=FILE`.
fn name_offsets(word: &str) -> impl Iterator<Item = usize> {
    [Some(0), word.find('=').map(|at| at + 1)].into_iter().flatten()
}

/// Whether two names mean the same file or the same URL.
fn is_same_file(one: &Path, other: &Path) -> bool {
    if one == other {
        return true;
    }
    let (Ok(one), Ok(other)) = (FileStatus::of_path(one), FileStatus::of_path(other)) else { return false };
    (one.device, one.inode) == (other.device, other.inode)
}

/// Whether a name is a word inside quotes that also hold other words.
fn is_word_within_quotes(command: &str, name: &str) -> bool {
    let scripts = word_ranges(command).into_iter().map(|range| &command[range]);
    let scripts = scripts.filter(|word| word.contains(['\'', '"']) && without_quotes(word) != name);
    let mut inner =
        scripts.flat_map(|script| script.split(|c| WORD_SEPARATORS.contains(c) || "'\"".contains(c)));
    inner.any(|word| !name.is_empty() && word == name)
}

/// The ranges of a command line's words, as a shell would split them, with their quotes.
fn word_ranges(command: &str) -> Vec<Range<usize>> {
    quoting::word_ranges(command, |c| WORD_SEPARATORS.contains(c))
}

/// A word without its quotes, if the result is one word.
fn without_quotes(word: &str) -> String {
    match shell_words::split(word) {
        Ok(parts) if parts.len() == 1 => parts.concat(),
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_record::CommandRules;
    use std::fs;

    #[test]
    fn a_command_that_names_its_file_reads_it_once() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let (file, spaced) = (at("f.txt"), at("my file"));
        for path in [&file, &spaced, &at("other")] {
            fs::write(path, "a\n").unwrap();
        }
        std::os::unix::fs::symlink(&file, at("link")).unwrap();
        let targets = [PathBuf::from(&file), PathBuf::from(&spaced), "http://h/x?a=b".into()];
        let of = |command: &str| command_template(command, &targets).unwrap();
        for (command, expected) in [
            (format!("wc -l {file}"), "wc -l {}"),
            (format!("wc -l {}", at("link")), "wc -l {}"),
            (format!("wc -l {}", at("./f.txt")), "wc -l {}"),
            (format!("wc -l '{spaced}'"), "wc -l {}"),
            (format!("wc -l {}", spaced.replace(' ', "\\ ")), "wc -l {}"),
            (format!("wc -l \"{spaced}\" \\\""), "wc -l {} \\\""),
            (format!("cat {file}|wc -l"), "cat {}|wc -l"),
            (format!("wc -l <{file}"), "wc -l <{}"),
            (format!("dd if={file} bs=1M"), "dd if={} bs=1M"),
            (format!("cmp \"{file}\" {file}"), "cmp {} {}"),
            ("curl -s http://h/x?a=b | wc -l".to_owned(), "curl -s {} | wc -l"),
        ] {
            assert_eq!(of(&command).as_deref(), Some(expected), "{command}");
        }
        for command in
            ["wc -l", "wc -l {} # f.txt", "grep -c f.txt", "", "wc '", &format!("wc {}", at("other"))]
        {
            assert_eq!(of(command), None, "{command}");
        }
        assert_eq!(of(&file), None, "the program itself");
    }

    #[test]
    fn a_name_within_a_script_is_refused_and_the_message_shows_what_to_write() {
        let targets = [PathBuf::from("f.txt")];
        let said = command_template("sh -c 'wc -l f.txt | cat'", &targets).unwrap_err().to_string();
        assert_eq!(
            said,
            format!("the command 'sh -c 'wc -l f.txt | cat'' names f.txt within quotes; {HAND_OVER_WORDS}")
        );
        assert_eq!(command_template("grep -c 'f.txt.' x", &targets).unwrap(), None);
    }

    /// Options with one command, which has a hook before each reading if `prepare` names one.
    fn options_with_command(line: &str, prepare: Option<&str>) -> SelectionOptions {
        let rules = CommandRules { prepare_command: prepare.map(str::to_owned), ..CommandRules::default() };
        let commands = vec![OwnCommand { line: line.to_owned(), rules }];
        SelectionOptions { commands, ..SelectionOptions::default() }
    }

    /// The error message of a command that is refused.
    fn refusal(line: &str, prepare: Option<&str>, targets: &[PathBuf]) -> String {
        with_placeholders(options_with_command(line, prepare), targets).unwrap_err().to_string()
    }

    #[test]
    fn a_signed_url_that_is_the_target_is_removed_from_the_command() {
        let url = "https://h/o?X-Amz-Signature=hush";
        let options =
            with_placeholders(options_with_command(&format!("curl -s '{url}'"), None), &[url.into()])
                .unwrap();
        assert_eq!(options.commands[0].line, "curl -s {}");
    }

    #[test]
    fn another_secret_of_a_command_is_refused_and_a_variable_is_not() {
        let target = [PathBuf::from("https://h/o?sig=hush")];
        for (line, prepare) in [
            ("curl 'https://other/o?sig=hush' {}", None),
            ("curl https://me:hush@h/", None),
            ("curl {}", Some("curl https://h/purge?token=hush")),
            ("sh -c 'curl https://h/o?sig=hush | wc'", None),
            ("curl h.org/o?key=hush {}", None),
            ("curl me:hush@h/o {}", None),
            ("curl {}", Some("curl -H 'Authorization: Bearer hush' h.org/purge")),
            ("curl -H 'X-Api-Key: hush' {}", None),
            ("wget --header=X-Mine:hush {}", None),
            ("curl -u me:hush {}", None),
            ("TOKEN=hush curl -H \"Authorization: Bearer $TOKEN\" {}", None),
            ("wc -l {}", Some("./sign --account-key hush")),
        ] {
            let said = refusal(line, prepare, &target);
            assert!(said.contains("has a secret") || said.contains("within quotes"), "{said}");
            assert!(!said.contains("hush"), "{said}");
        }
        with_placeholders(options_with_command("curl \"https://h/o?token=$TOKEN\" {}", None), &target)
            .unwrap();
    }

    #[test]
    fn commands_that_would_run_the_file_or_parse_its_name_as_code_are_refused() {
        for (line, prepare, why) in [
            (" ", None, "-c is empty"),
            ("{}", None, "the file itself would be run"),
            ("LC_ALL=C", None, "write {} where the path belongs"),
            ("wc -l |", None, "write {} where the path belongs"),
            ("wc -l $FILE", None, "write {} where the path belongs"),
            ("nice", None, "write {} where the path belongs"),
            ("sh -c 'cat {} | wc -l'", None, "the file's name would be code"),
            ("wc -l", Some("sh -c 'touch {}'"), "the file's name would be code"),
        ] {
            let said = refusal(line, prepare, &[]);
            assert!(said.contains(why), "{line}: {said}");
        }
    }

    #[test]
    fn hooks_that_write_to_the_file_by_its_name_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let (file, link) = (at("my file"), at("link"));
        fs::write(&file, "a\n").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let around = |line: &str| {
            with_placeholders(options_with_command("wc -l {}", Some(line)), &[PathBuf::from(&file)])
        };
        for line in [format!("touch '{file}'"), format!("sort '{file}' > '{file}'")] {
            let said = around(&line).unwrap_err().to_string();
            assert!(said.starts_with(&format!("'{line}': this writes to the raced file")), "{said}");
        }
        for line in [format!("cat '{file}'"), format!("sort '{file}' > x"), format!("rm -f '{link}'")] {
            around(&line).unwrap();
        }
    }

    /// Whether the line is refused as one that writes to a target.
    fn is_write(line: &str, targets: &[PathBuf]) -> bool {
        let checked = check_writes(line, targets);
        checked
            .is_err_and(|error| matches!(error.downcast_ref::<PlacingError>(), Some(PlacingError::Writes(_))))
    }

    #[test]
    fn a_name_is_found_in_each_position_where_a_line_may_write_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let (file, link, other) = (at("f.log"), at("latest"), at("other"));
        fs::write(&file, "a\n").unwrap();
        fs::write(&other, "a\n").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let targets = [PathBuf::from(&file)];
        for line in [
            format!("> {file}"),
            format!(">> {link}"),
            format!("f={file}; rm \"$f\""),
            format!("f=$(realpath {file}); rm \"$f\""),
            format!("truncate -s 0 {link}"),
            format!("rm -f {other} > {link}"),
            format!("cp {link} {file}"),
            format!("sort -o {file} {file} 2>/dev/stderr"),
            format!("sh -c 'rm -f {file}'"),
            format!("sh -c \"rm -f {file}\""),
            format!("bash -c 'sh -c \"rm -f {file}\"'"),
            format!("wc -l {{}}; truncate -s 0 {file}"),
            format!("tee {file}"),
        ] {
            assert!(is_write(&line, &targets), "{line}");
        }
        for line in [
            format!("rm -f {link}"),
            format!("sudo rm {link}"),
            format!("unlink {link}; ln -s {file} {link}"),
            format!("ln -sf {other} {link}"),
            format!("mv {other} {link}"),
            format!("mv {link} {other}"),
            format!("sh -c 'rm -f {link}; wc -l {file}'"),
            format!("sh -c 'wc -l {file}'"),
            format!("f={file}; rm -f \"$f\".idx"),
            format!("f={file}; rm -f $f.idx"),
            format!("echo 'rm {file}'"),
            format!("cp {file} {other}"),
            format!("< {file} wc -l"),
        ] {
            assert!(check_writes(&line, &targets).is_ok(), "{line}");
        }
        let by_link = [PathBuf::from(&link)];
        for line in [format!("rm -f {link}"), format!("ln -sf {other} {link}"), format!("rm -f {file}")] {
            assert!(is_write(&line, &by_link), "{line}");
        }
    }

    #[test]
    fn a_file_below_a_raced_folder_is_not_written_to_and_does_not_get_the_folder_appended() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        fs::create_dir_all(at("d/sub")).unwrap();
        for file in ["d/sub/a", "beside"] {
            fs::write(at(file), "a\n").unwrap();
        }
        for (file, link) in [("d", "link"), ("d/sub/a", "file_link"), ("beside", "d/inner_link")] {
            std::os::unix::fs::symlink(at(file), at(link)).unwrap();
        }
        let (tree, beside, link, file_link) = (at("d"), at("beside"), at("link"), at("file_link"));
        let targets = [PathBuf::from(&tree)];
        for line in [
            format!("rm -f {tree}/sub/a"),
            format!("rm -f {tree}/sub/*"),
            format!("rm -f {link}/*"),
            format!("mv {beside} {link}"),
            format!("ln -s {beside} {link}"),
            format!("mv {beside} {link} 2>/dev/null"),
            format!("mv -n {beside} {link}"),
            format!("mv -t {link} {beside}"),
            format!("ln -s --target-directory {link} {beside}"),
            format!("truncate -s 0 {file_link}"),
            format!("rm -f {tree}/inner_link"),
        ] {
            assert!(is_write(&line, &targets), "{line}");
        }
        for line in [
            format!("cat {tree}/sub/a"),
            format!("rm -f {tree}/../beside"),
            format!("mv {link} {beside}"),
            format!("ln -sfn {beside} {link}"),
            format!("mv -t /tmp {link}"),
            format!("rm {link} {file_link}"),
        ] {
            assert!(check_writes(&line, &targets).is_ok(), "{line}");
        }
        for line in [format!("du -s {tree}/sub"), format!("grep -rc x {link}/sub")] {
            let said = command_template(&line, &targets).unwrap_err().to_string();
            assert!(said.contains("/sub below the raced folder"), "{said}");
            assert!(said.contains("write {} where the path belongs"), "{said}");
        }
        for (line, template) in [
            (format!("du -s {tree} {tree}/sub"), Some("du -s {} ".to_owned() + &tree + "/sub")),
            (format!("grep -rcf {beside}"), None),
            (format!("grep -rc {tree}/absent"), None),
            (format!("grep -rc --exclude-dir={tree}/sub x"), None),
            (format!("xargs -0 {tree}/sub/a < {{list}}"), None),
        ] {
            assert_eq!(command_template(&line, &targets).unwrap(), template, "{line}");
        }
        assert!(check_writes("find {} > /dev/null", &["/".into()]).is_ok());
    }

    #[test]
    fn a_name_that_perl_would_run_is_refused_in_a_command_and_in_a_hook() {
        let perl = "perl -ne 'END{print $.}' {}";
        let target = [PathBuf::from("x;touch PWNED|")];
        for (line, prepare) in [(perl, None), ("wc -l", Some(perl))] {
            let said = refusal(line, prepare, &target);
            assert!(said.contains("as 'x;touch PWNED|' does; let the shell open the file"), "{said}");
        }
        with_placeholders(options_with_command(perl, Some(perl)), &["x".into()]).unwrap();
    }

    #[test]
    fn two_spellings_of_one_command_are_reported() {
        let mut options = options_with_command("wc -l", None);
        options.commands.extend(options_with_command("wc -l {}", Some("true")).commands);
        let said = with_placeholders(options, &[]).unwrap_err().to_string();
        assert!(said.starts_with("the commands 'wc -l' and 'wc -l {}' are both 'wc -l {}'"), "{said}");
        let mut options = options_with_command("wc -l", None);
        options.commands.extend(options_with_command("wc -l # second", None).commands);
        let options = with_placeholders(options, &[]).unwrap();
        let lines: Vec<&str> = options.commands.iter().map(|own| own.line.as_str()).collect();
        assert_eq!(lines, ["wc -l {}", "wc -l {} # second"]);
    }
}
