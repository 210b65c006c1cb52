//! `readlab build [NAME…]`: builds contenders that come as sources, and shows the receipt of each.
//! A contender that cannot be built does not stop the others.

use anyhow::{Context, bail};
use clap::Args;
use readlab_catalog::roster::{Roster, RosterEntry};
use readlab_fleet::agent;
use readlab_roster::build::{Build, BuildError};
use readlab_roster::discovery::Query;
use readlab_system::interrupt;
use readlab_system::terminal::notice;
use readlab_system::terminal::printable::display_path;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Exit code if a contender could not be built.
const EXIT_BUILD_FAILED: u8 = 1;

#[derive(Debug, Args)]
pub struct BuildArgs {
    /// The contenders [default: all that have sources], or fleet-agent
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// A roster file with more contenders; may be repeated
    #[arg(long = "roster", value_name = "FILE")]
    pub rosters: Vec<PathBuf>,
}

pub fn run(args: &BuildArgs) -> anyhow::Result<ExitCode> {
    interrupt::install_handlers().context("cannot listen for Ctrl-C")?;
    let roster = Roster::with_user_rosters(&args.rosters)?;
    let agent = agent::roster_entry();
    let entries = chosen_entries(&roster, &agent, &args.names)?;
    let mut failures = Vec::new();
    for entry in entries {
        notice::show(format!("building {}", entry.name));
        let built = if *entry == agent { build_agent(&agent) } else { build_contender(entry) };
        if let Err(error) = built {
            if matches!(error.downcast_ref(), Some(BuildError::Interrupted)) {
                return Ok(ExitCode::from(interrupt::exit_code()));
            }
            let hint = entry.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
            notice::show(format!("{}: {error:#}{hint}", entry.name));
            failures.push(error);
        }
    }
    let logs = failures.iter().filter_map(|error| error.downcast_ref::<BuildError>()?.log_path());
    let logs: Vec<String> = logs.map(display_path).collect();
    if !logs.is_empty() {
        let command = shell_words::join(std::iter::once("cat").chain(logs.iter().map(String::as_str)));
        notice::show(format!("to see all of it: {command}"));
    }
    Ok(if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(EXIT_BUILD_FAILED) })
}

/// The contenders that are named, or else all that come as sources.
fn chosen_entries<'a>(
    roster: &'a Roster,
    agent: &'a RosterEntry,
    names: &[String],
) -> anyhow::Result<Vec<&'a RosterEntry>> {
    if names.is_empty() {
        return Ok(roster.entries.iter().filter(|entry| entry.sources.is_some()).collect());
    }
    let entry = |name: &String| match roster.entry(name) {
        None if *name == agent.name => Ok(agent),
        Some(entry) if entry.sources.is_none() => bail!("{name} needs no building"),
        Some(entry) => Ok(entry),
        None => bail!("no contender '{name}' in the roster"),
    };
    names.iter().map(entry).collect()
}

/// Builds the agent of fleets, which is no contender, and prints its path.
fn build_agent(agent: &RosterEntry) -> anyhow::Result<()> {
    agent.build()?;
    writeln!(std::io::stdout(), "{}", agent.command()?.program.display())?;
    Ok(())
}

fn build_contender(entry: &RosterEntry) -> anyhow::Result<()> {
    entry.build()?;
    let receipt = entry.query()?.receipt;
    writeln!(std::io::stdout(), "{} {} · {}", receipt.contender, receipt.version, receipt.runtime)?;
    Ok(())
}
