//! The command line: one file for each command, with its arguments and a `run`. Nothing is measured
//! or formatted here.

pub mod build;
pub mod claims;
pub mod compare;
pub mod completions;
pub mod contender;
pub mod corpus;
pub mod doctor;
mod exports;
pub mod fleet;
pub mod given;
pub mod history;
pub mod limits;
pub mod list;
pub mod man;
pub mod memory;
pub mod needs;
pub mod options;
mod output;
mod own_commands;
pub mod race;
mod rank;
pub mod report;
pub mod request;
pub mod schema;
pub mod serve;
pub mod settings;
pub mod share;
pub mod suite;
pub mod sweep;
pub mod tune;
pub mod verify;

use clap::{Parser, Subcommand};

const EXIT_CODES: &str = "Exit codes: 0 success; 1 a trial failed or was refused, or something requested by name did not take \
part; 2 wrong usage or environment, or no sample was measured; 3 worse than --fail-over allows; 130, 143 or 129 interrupted by Ctrl-C, SIGTERM or a closed terminal.";

/// Measures ways of reading a file: how fast each is, which is fastest, and what limits it
#[derive(Debug, Parser)]
#[command(name = "readlab", version, about, max_term_width = 100, propagate_version = true, after_help = EXIT_CODES)]
pub struct Cli {
    #[command(subcommand)]
    pub verb: Verb,
}

/// What the program does, by the first word of its command line.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Race all ways of reading on your own file
    Race(race::RaceArgs),
    /// Run a published experiment, or your own
    Suite(suite::SuiteArgs),
    /// Write and read files of many sizes: rate by size, fixed cost, and sizes that are off the
    /// line
    Sweep(sweep::SweepArgs),
    /// Search for the best method, buffer, depth and threads for your own file, with few readings
    Tune(tune::TuneArgs),
    /// Race on many hosts at once, started by mpirun or srun
    Fleet(fleet::FleetArgs),
    /// Compare records and published results, with ratios; a gate for continuous integration
    Compare(compare::CompareArgs),
    /// Judge what publications claim, by their own figures and by a record
    Claims(claims::ClaimsArgs),
    /// List, show or remove your records
    History(history::HistoryArgs),
    /// Make one self-contained HTML page from a record
    Report(report::ReportArgs),
    /// Measure the best rates of memory, the kernel's copy and the device
    Limits(limits::LimitsArgs),
    /// List contenders and methods, and why some are not available
    List(list::ListArgs),
    /// Build contenders in other languages
    Build(build::BuildArgs),
    /// Test contenders against the protocol, with every answer checked
    Verify(verify::VerifyArgs),
    /// Check this machine for things that distort measurements, and suggest fixes
    Doctor(doctor::DoctorArgs),
    /// Make, list or remove deterministic test files
    Corpus(corpus::CorpusArgs),
    /// Print the exact command and bytes that a contender receives, to run by hand
    Request(request::RequestArgs),
    /// Print the JSON Schema of records and exports
    Schema(schema::SchemaArgs),
    /// Print a completion script for a shell
    Completions(completions::CompletionsArgs),
    /// Print the manual page
    Man,
    /// Run a contender; readlab starts this in a separate process
    #[command(hide = true)]
    Contender(contender::ContenderArgs),
    /// Run the loopback server of one file; readlab starts this in a separate process
    #[command(hide = true)]
    Serve(serve::ServeArgs),
    /// Print a share as `--fail-over` reads it; the GitHub action judges by it
    #[command(hide = true)]
    Share(share::ShareArgs),
}

impl Verb {
    /// Whether the verb may start contenders, compilers or servers.
    pub fn starts_programs(&self) -> bool {
        !matches!(
            self,
            Verb::Compare(_)
                | Verb::Claims(_)
                | Verb::History(_)
                | Verb::Report(_)
                | Verb::Corpus(_)
                | Verb::Schema(_)
                | Verb::Completions(_)
                | Verb::Man
                | Verb::Contender(_)
                | Verb::Serve(_)
                | Verb::Share(_)
        )
    }
}

#[cfg(test)]
mod tests;
