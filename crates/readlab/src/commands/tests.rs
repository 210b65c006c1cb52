//! Tests of the parsed command line: help, version, and invalid words. No program is started.

use super::*;
use clap::CommandFactory;
use clap::error::ErrorKind;

/// The parser's error for these words; help is as wide as in a terminal of 100 columns.
fn parser_error(words: &[&str]) -> clap::Error {
    let parsed = Cli::command().term_width(100).try_get_matches_from([&["readlab"], words].concat());
    parsed.expect_err(&words.join(" "))
}

fn help(words: &[&str]) -> String {
    let answer = parser_error(words);
    assert_eq!((answer.kind(), answer.exit_code()), (ErrorKind::DisplayHelp, 0), "{words:?}");
    answer.render().to_string()
}

#[test]
fn the_command_tree_passes_claps_checks() {
    Cli::command().debug_assert();
}

#[test]
fn the_help_of_every_verb_matches_its_snapshot() {
    insta::assert_snapshot!("help", help(&["--help"]));
    let command = Cli::command();
    let verbs: Vec<&str> =
        command.get_subcommands().filter(|verb| !verb.is_hide_set()).map(clap::Command::get_name).collect();
    assert!(verbs.len() >= 8, "{verbs:?}");
    for verb in verbs {
        let (short, long) = (help(&[verb, "-h"]), help(&[verb, "--help"]));
        let words = |text: &str| text.split_ascii_whitespace().count();
        assert!(words(&short) <= words(&long), "{verb}: -h has more words than --help");
        insta::assert_snapshot!(format!("help-{verb}"), long);
    }
}

#[test]
fn the_help_of_compare_names_every_publication() {
    let help = help(&["compare", "--help"]);
    for name in readlab_suite::published::names() {
        assert!(help.split([' ', ',', '\n']).any(|word| word == name), "{name} is not in {help}");
    }
}

#[test]
fn invalid_words_are_usage_errors() {
    for (words, why) in [
        (&["race"][..], "<TARGET>"),
        (&["nonsense"], "unrecognized subcommand 'nonsense'"),
        (&["race", "f", "--bogus"], "unexpected argument '--bogus'"),
        (&["race", "f", "--state", "lukewarm"], "invalid value 'lukewarm'"),
        (&["race", "f", "--runs", "0"], "0 is not in"),
        (&["race", "f", "--runs", "3", "--max-runs", "4"], "cannot be used with"),
        (&["race", "f", "--precision", "2"], "invalid value '2'"),
        (&["race", "f", "--indifference", "100%"], "invalid value '100%'"),
        (&["race", "f", "--budget", "3 parsecs"], "invalid value '3 parsecs'"),
        (&["race", "f", "--work", "md5"], "invalid value 'md5'"),
        (&["race", "f", "--readers", "0"], "invalid value '0'"),
        (&["race", "f", "--readers", "257"], "invalid value '257'"),
        (&["race", "f", "--readers", "two"], "invalid value 'two'"),
        (&["race", "f", "--readers", ""], "--readers"),
        (&["race", "--resume", "last", "--readers", "2"], "--readers"),
        (&["race", "f", "--copies", "."], "--readers"),
        (&["race", "f", "g", "--apart", "--same-content"], "cannot be used with"),
        (&["race", "--resume", "last", "--apart"], "--apart"),
        (&["race", "f", "--setting-command", "a=1,2"], "--apply"),
        (&["race", "f", "--apply", "x"], "--setting-command"),
        (&["race", "--resume", "last", "--setting", "scheduler"], "--setting"),
        (&["race", "f", "--pattern", "often"], "'often' is no pattern"),
        (&["race", "f", "--pattern", "random", "--block", "0"], "not from 1 byte to 1 GiB"),
        (&["race", "f", "--pattern", "random", "--reads", "0"], "0 is not in"),
        (&["race", "f", "--block", "8KiB"], "--pattern"),
        (&["race", "f", "-c", "cat", "--success", "256"], "256 is not in"),
        (&["race", "f", "-c", "cat", "--success", ""], "invalid value ''"),
        (&["suite", "newlines", "--size", "0"], "invalid value '0'"),
        (&["suite", "newlines", "f", "--size", "1MiB"], "cannot be used with"),
        (&["suite", "newlines", "f", "--full"], "cannot be used with"),
        (&["tune"], "<TARGET>"),
        (&["tune", "f", "f"], "unexpected argument 'f'"),
        (&["completions", "cobol"], "invalid value 'cobol'"),
        (&["corpus", "make", "poems"], "invalid value 'poems'"),
    ] {
        let answer = parser_error(words);
        assert_eq!(answer.exit_code(), 2, "{words:?}: {answer}");
        assert!(answer.to_string().contains(why), "{words:?}: {answer}");
    }
}
