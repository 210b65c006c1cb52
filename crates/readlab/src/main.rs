//! The program `readlab`: parses the command line, runs one command, prints an error as one line,
//! and returns the exit code: 0 success, 1 a trial failed or was refused, 2 usage or environment
//! error, 3 worse than `--fail-over` allows, 128 plus the signal's number if it was interrupted.

use clap::{CommandFactory, FromArgMatches};
use readlab::commands;
use readlab::commands::given::GivenOptions;
use readlab::commands::{Cli, Verb, needs};
use readlab_system::file_size_limit;
use readlab_system::folder::scratch;
use readlab_system::program::launcher;
use readlab_system::terminal::notice;
use readlab_system::watchdog::{self, LastSteps};
use readlab_targets::target::filesystem::kind_may_cease_to_answer;
use readlab_targets::target::{RESPONSE_TIME_MAX, TargetError};
use std::path::PathBuf;
use std::process::ExitCode;

/// Exit code of a usage or environment error.
const EXIT_USAGE: u8 = 2;

fn main() -> ExitCode {
    file_size_limit::make_excess_writes_fail();
    let command = Cli::command();
    let matches = command.clone().get_matches();
    let verb = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit()).verb;
    // Readlab itself starts contenders with valid arguments, so they are not checked here.
    if matches!(verb, Verb::Contender(_)) {
        return run(verb);
    }
    let given = GivenOptions::parse(&command, &matches);
    // The watchdog must be running before the first access to a file.
    let is_watched = verb.starts_programs() && given.filesystems_may_cease_to_answer() && watchdog::begin();
    if let Err(error) = given.check_filesystems_respond() {
        return report_error(&error);
    }
    if verb.starts_programs() {
        launcher::begin();
    }
    if is_watched {
        let last = LastSteps { report: report_no_answer, clean_up };
        watchdog::watch(RESPONSE_TIME_MAX, kind_may_cease_to_answer, last);
    }
    let code = needs::check(&given).map_or_else(|error| report_error(&error), |()| run(verb));
    launcher::end();
    code
}

/// Removes and unlocks what this process cannot drop.
fn clean_up() {
    scratch::remove_own_folders();
    readlab_record::unlock_written_record();
}

fn run(verb: Verb) -> ExitCode {
    let done = match verb {
        Verb::Race(args) => commands::race::run(&args),
        Verb::Suite(args) => commands::suite::run(&args),
        Verb::Sweep(args) => commands::sweep::run(&args),
        Verb::Tune(args) => commands::tune::run(&args),
        Verb::Fleet(args) => commands::fleet::run(&args),
        Verb::Compare(args) => commands::compare::run(&args),
        Verb::Claims(args) => commands::claims::run(&args),
        Verb::History(args) => commands::history::run(&args),
        Verb::Report(args) => commands::report::run(&args),
        Verb::Limits(args) => commands::limits::run(&args),
        Verb::List(args) => commands::list::run(&args),
        Verb::Build(args) => commands::build::run(&args),
        Verb::Verify(args) => commands::verify::run(&args),
        Verb::Doctor(args) => commands::doctor::run(&args),
        Verb::Corpus(args) => commands::corpus::run(&args),
        Verb::Request(args) => commands::request::run(&args),
        Verb::Schema(args) => commands::schema::run(&args),
        Verb::Completions(args) => commands::completions::run(&args),
        Verb::Man => commands::man::run(),
        Verb::Serve(args) => commands::serve::run(&args),
        Verb::Share(args) => commands::share::run(&args),
        Verb::Contender(args) => return commands::contender::run(args),
    };
    done.unwrap_or_else(|error| {
        if is_broken_pipe(&error) {
            return ExitCode::SUCCESS;
        }
        report_error(&error)
    })
}

fn report_error(error: &anyhow::Error) -> ExitCode {
    notice::show(format!("{error:#}"));
    ExitCode::from(EXIT_USAGE)
}

/// Reports a file whose file system no longer answers.
fn report_no_answer(path: PathBuf) -> u8 {
    notice::show(TargetError::no_answer(&path));
    EXIT_USAGE
}

/// Whether the reader of standard output has closed it, as in `readlab list | head -1`.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let pipe = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
    };
    error.chain().any(pipe)
}
