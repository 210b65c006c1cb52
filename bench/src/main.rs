//! Measures the figures that readlab promises about itself, side by side in one run, and shows
//! which are met.
//!
//! Usage: `readlab-bench [--before PROGRAM] [--repeats N] [FIGURE…]`, with the release's `readlab`
//! and `standalone` built beside it; `make bench` does all of it. With an older readlab as PROGRAM,
//! the figures about deciding measure both in turns. It is a report, not a test: a missed target is
//! marked, and the exit code stays 0. Each figure is a file in [`figures`]; they share the start of
//! programs ([`programs`]), ratios of pairs ([`pairs`]), and rows.

mod busy_loops;
mod control_group;
mod export;
mod figures;
mod fio;
mod fleet;
mod hyperfine;
mod lab;
mod late_tree;
mod limited_link;
mod options;
mod outcomes;
mod paced_device;
mod paced_file;
mod paced_server;
mod pairs;
mod pairwise;
mod places;
mod programs;
mod record_lines;
mod report;
mod row;
mod running;
mod screen;
mod script_server;
mod share;
mod told;

use anyhow::{Context, bail};
use figures::Figure;
use options::Options;
use programs::Programs;
use row::Row;
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    match Options::parse(std::env::args().skip(1)).and_then(|options| run(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("readlab-bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> anyhow::Result<()> {
    let figures = chosen(&options.figures)?;
    let programs = Programs::beside_this_one(options)?;
    let mut rows = Vec::new();
    for figure in figures {
        eprintln!("{}", figure.about);
        let start = Instant::now();
        // What could not be measured is a row too: the others are still worth their time.
        let found =
            (figure.measure)(&programs).unwrap_or_else(|error| vec![Row::failed(figure.name, &error)]);
        eprintln!("{}: {} rows, {:.0} s", figure.name, found.len(), start.elapsed().as_secs_f64());
        print!("{}", report::table(figure, &found));
        rows.extend(found.into_iter().map(|row| (figure.name, row)));
        let file = programs.folder().join("figures.json");
        std::fs::write(&file, report::json(&rows)).with_context(|| file.display().to_string())?;
    }
    println!("{}", report::summary(&rows));
    println!("figures: {}", programs.folder().join("figures.json").display());
    Ok(())
}

/// The figures of these names, or all.
fn chosen(names: &[String]) -> anyhow::Result<Vec<&'static Figure>> {
    let known: Vec<&str> = figures::ALL.iter().map(|figure| figure.name).collect();
    if let Some(name) = names.iter().find(|name| !known.contains(&name.as_str())) {
        bail!("no figure '{name}' (known: {})", known.join(", "));
    }
    let wanted = |figure: &&Figure| names.is_empty() || names.iter().any(|name| name == figure.name);
    Ok(figures::ALL.iter().filter(wanted).collect())
}
