//! `readlab history`: lists the user's records, shows one again, or removes some.

use super::exports::{table_style, table_width};
use super::options::ColorWhen;
use clap::{Args, Subcommand};
use readlab_record::Record;
use readlab_record::history::{History, HistoryEntry, RemovedItem};
use readlab_report::{self as report, Page};
use readlab_system::terminal::printable::display_path;
use std::io::Write;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct HistoryArgs {
    #[command(subcommand)]
    pub verb: Option<HistoryVerb>,
}

/// What is done with the user's records.
#[derive(Debug, Subcommand)]
pub enum HistoryVerb {
    /// List the records, the newest first (the default)
    List,
    /// Print the tables of a record again
    Show {
        /// `last`, `last~1`, a name, a run's folder or a path
        name: String,
    },
    /// Remove records of the data folder; of a record elsewhere, remove only its name
    Rm {
        /// `last`, `last~1`, names or folders of runs
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
    },
}

pub fn run(args: &HistoryArgs) -> anyhow::Result<ExitCode> {
    let history = History::of_user()?;
    let mut out = std::io::stdout();
    match &args.verb {
        None | Some(HistoryVerb::List) => {
            let table = report::history_table(&history_lines(&history.entries()?), table_width());
            out.write_all(table.as_bytes())?;
        }
        Some(HistoryVerb::Show { name }) => {
            let path = history.find(name)?;
            let page = Page::from_record(&Record::read(&path)?);
            let tables =
                report::terminal_page(&page, table_style(ColorWhen::Auto), Some(&display_path(&path)));
            out.write_all(tables.as_bytes())?;
        }
        Some(HistoryVerb::Rm { names }) => {
            // All names are resolved before the first record is removed, because `last~1` would
            // mean another record afterwards.
            for it in history.all_removable(names)? {
                let said = match history.remove(it)? {
                    RemovedItem::Run(folder) => format!("removed {}", display_path(&folder)),
                    RemovedItem::Name(folder) => {
                        format!("removed the name; the record stays in {}", display_path(&folder))
                    }
                };
                writeln!(out, "{said}")?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn history_lines(entries: &[HistoryEntry]) -> Vec<report::HistoryLine> {
    let line = |entry: &HistoryEntry| {
        let meant = match entry.newer_runs {
            Some(0) => Some("last".to_owned()),
            Some(age) => Some(format!("last~{age}")),
            None => None,
        };
        let names = meant.into_iter().chain(entry.names.iter().cloned()).collect();
        match &entry.record {
            Ok(record) => report::HistoryLine::from_record(names, record, &display_path(&entry.folder)),
            Err(error) => report::HistoryLine::unreadable(names, &error.to_string()),
        }
    };
    entries.iter().map(line).collect()
}
