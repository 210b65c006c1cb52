//! `readlab contender NAME …`: readlab as a contender, in a separate process. Only here readlab
//! links the reading methods: readlab starts this process like any other contender, and uses only
//! the protocol.

use clap::{Args, Subcommand};
use std::ffi::OsString;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct ContenderArgs {
    #[command(subcommand)]
    pub name: BuiltInContender,
}

/// The contenders within this program.
#[derive(Debug, Subcommand)]
pub enum BuiltInContender {
    /// Ways of reading in Rust
    #[command(disable_help_flag = true)]
    Rust(ContenderWords),
    /// Any command line
    #[command(disable_help_flag = true)]
    Command(ContenderWords),
}

/// The words of the protocol, unchanged.
#[derive(Debug, Args)]
pub struct ContenderWords {
    /// `hello`, `methods`, or `read METHOD SCAN WORK TARGET …`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<OsString>,
}

/// Answers requests of the protocol until standard input is closed.
pub fn run(args: ContenderArgs) -> ExitCode {
    match args.name {
        BuiltInContender::Rust(words) => readlab_rust::serve::main(words.words),
        BuiltInContender::Command(words) => readlab_command::main(words.words),
    }
}

#[cfg(test)]
mod tests {
    use readlab_model::trial::Transport;
    use readlab_protocol::Cache;
    use readlab_rust::method::{Method, registry};
    use readlab_suite::{Suite, SuiteEntry};

    #[test]
    fn every_method_in_rust_is_in_a_suite() {
        let suites = Suite::names().into_iter().map(|name| Suite::find(name).unwrap());
        let trials: Vec<String> = suites.flat_map(|suite| suite.entries).map(|entry| entry.trial).collect();
        for method in registry::ALL {
            let name = format!("rust/{}", method.name);
            let is_of_method = |trial: &String| {
                trial.strip_prefix(&name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '@']))
            };
            assert!(trials.iter().any(is_of_method), "{name} is in no suite");
        }
    }

    /// The method of a trial in Rust, if it is no control.
    fn reading_method(entry: &SuiteEntry) -> Option<&'static Method> {
        let name = entry.trial.strip_prefix("rust/")?.split(['/', '@']).next()?;
        registry::find(name).filter(|method| method.cache != Cache::None)
    }

    #[test]
    fn the_suites_of_a_race_read_every_kind_of_target_and_ranges_from_servers() {
        let transports =
            [Transport::File, Transport::Http, Transport::S3, Transport::Tree, Transport::Places];
        for suite in [Suite::race(), Suite::scale()] {
            for over in transports {
                let entries = suite.entries.iter().filter(|it| it.over == over && !it.only_with_all);
                let methods: Vec<&Method> = entries.filter_map(reading_method).collect();
                assert!(methods.iter().any(|method| !method.ranges), "{}: {over}", suite.name);
                let reads_ranges = methods.iter().any(|method| method.ranges);
                assert_eq!(reads_ranges, over.has_server(), "{}: {over}", suite.name);
            }
        }
    }
}
