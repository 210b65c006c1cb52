//! The options that the user gave on the command line, and their words.

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};
use readlab_run::experiment::template;
use readlab_targets::target;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

pub struct GivenOptions<'a> {
    /// The verb with its parent verbs, for example `fleet race`.
    pub verb: String,
    command: &'a Command,
    matches: &'a ArgMatches,
}

impl<'a> GivenOptions<'a> {
    pub fn parse(mut command: &'a Command, mut matches: &'a ArgMatches) -> GivenOptions<'a> {
        let mut verbs = Vec::new();
        while let Some((verb, below)) = matches.subcommand() {
            let Some(subcommand) = command.find_subcommand(verb) else { break };
            verbs.push(verb);
            (command, matches) = (subcommand, below);
        }
        GivenOptions { verb: verbs.join(" "), command, matches }
    }

    /// The options that the user gave, without defaults.
    pub fn options(&self) -> impl Iterator<Item = &'a Arg> {
        let matches = self.matches;
        let is_given =
            move |arg: &&Arg| matches.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine);
        self.command.get_arguments().filter(is_given)
    }

    /// Whether the user gave an option; `false` if the verb does not have it.
    pub fn is_given(&self, option: &str) -> bool {
        self.options().any(|arg| arg.get_id() == option)
    }

    /// The words of an option, including its default.
    pub fn option_words(&self, option: &str) -> impl Iterator<Item = &'a OsStr> {
        let matches = self.matches;
        let known = self.command.get_arguments().find(|arg| arg.get_id() == option);
        known.and_then(move |arg| matches.get_raw(arg.get_id().as_str())).into_iter().flatten()
    }

    /// The first word of an option; `None` if it has none, or if it is not UTF-8.
    pub fn first_word(&self, option: &str) -> Option<&'a str> {
        self.option_words(option).next().and_then(OsStr::to_str)
    }

    /// Every word that may be the name of a file, also within commands.
    fn possible_file_names(&self) -> Vec<PathBuf> {
        let mut names = Vec::new();
        for arg in self.options() {
            let is_command =
                arg.get_value_names().is_some_and(|names| names.iter().any(|it| it == "COMMAND"));
            for word in self.option_words(arg.get_id().as_str()) {
                // The program of a command is checked when it is started, with a separate time
                // limit.
                names.extend(Some(PathBuf::from(word)).filter(|_| !is_command));
                names.extend(word.to_str().into_iter().flat_map(template::file_names_in));
                // A fleet reads the names of its files from a list.
                names.extend(word.to_str().and_then(|word| word.strip_prefix('@')).map(PathBuf::from));
            }
        }
        names
    }

    /// Refuses the name of a file whose file system does not respond. Must run before anything else
    /// accesses the file, because that access could hang forever.
    pub fn check_filesystems_respond(&self) -> anyhow::Result<()> {
        let names = self.possible_file_names();
        let paths: Vec<&Path> = names.iter().map(PathBuf::as_path).collect();
        Ok(target::check_filesystems_respond(&paths)?)
    }

    /// Whether the run reads a file system, or may read one, that can stop answering later. Links,
    /// lists and records lead to files that are not named on the command line.
    pub fn filesystems_may_cease_to_answer(&self) -> bool {
        let reads_unnamed_files =
            ["files_from", "follow", "resume"].iter().any(|option| self.is_given(option));
        target::named_files_may_cease_to_answer(&self.possible_file_names(), reads_unnamed_files)
    }
}
