//! Measures the figures that readlab promises about itself, in one run, and shows which promises
//! are kept.
//!
//! Usage: `readlab-bench [--list] [--before PROGRAM] [--repeats N] [FIGURE…]`, with the release's
//! `readlab` and `standalone` built in the same folder. `make bench` builds and runs everything.
//! `verdicts/NAME` selects the cases of that figure whose names begin with NAME. The result is a
//! report, not a test: a missed target is marked, and the exit code stays 0.
//!
//! Each figure is a file in [`figures`]. The cases of verdicts are the table in [`cases`]. Limits,
//! file systems, servers and hosts for them are made in [`made`].

mod cases;
mod figures;
mod made;
mod pairs;
mod pairwise;
mod programs;
mod row;
mod screen;

use anyhow::{Context, bail};
use figures::Figure;
use programs::Programs;
use row::Row;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

const USAGE: &str = "usage: readlab-bench [--list] [--before PROGRAM] [--repeats N] [FIGURE…]";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Options {
    /// Names of figures, or of cases of `verdicts`. Empty for all.
    names: Vec<String>,
    is_list: bool,
    /// An older readlab, which some figures measure in turns with this one.
    before: Option<PathBuf>,
    /// How often races are repeated, if not as often as each figure defines.
    repeats: Option<NonZeroUsize>,
}

fn main() -> ExitCode {
    match Options::parse(std::env::args().skip(1)).and_then(run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("readlab-bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: Options) -> anyhow::Result<()> {
    let figures = selected_figures(&options.names)?;
    let minutes: u32 = figures.iter().map(|figure| figure.minutes).sum();
    if options.is_list {
        let print = |it: &Figure| println!("{:<18}{:>3} min  {}", it.name, it.minutes, it.about);
        figures.into_iter().for_each(print);
        cases::selected_cases(&options.names)?.iter().for_each(|case| println!("verdicts/{}", case.name));
        println!("about {minutes} min on two processors");
        if options.names.is_empty() {
            println!("only by name:");
            figures::ONLY_BY_NAME.iter().for_each(print);
        }
        return Ok(());
    }
    let programs = Programs::in_release_folder(options)?;
    let mut rows = Vec::new();
    for figure in figures {
        eprintln!("{}: {} (about {} min)", figure.name, figure.about, figure.minutes);
        let start = Instant::now();
        // A figure that could not be measured is a row too, because the others are still worth
        // their time.
        let found = Row::all_or_failed(figure.name, (figure.measure)(&programs));
        eprintln!("{}: {} rows, {:.0} s", figure.name, found.len(), start.elapsed().as_secs_f64());
        print!("{}", row::table(figure.about, &found));
        rows.extend(found.into_iter().map(|row| (figure.name, row)));
        let file = programs.folder.join("figures.json");
        std::fs::write(&file, row::json(&rows)).with_context(|| file.display().to_string())?;
    }
    println!("{}", row::summary(&rows));
    println!("figures: {}", programs.folder.join("figures.json").display());
    Ok(())
}

fn selected_figures(names: &[String]) -> anyhow::Result<Vec<&'static Figure>> {
    let is_of = |figure: &Figure, name: &str| {
        name.strip_prefix(figure.name)
            .is_some_and(|rest| rest.is_empty() || (figure.name == cases::FIGURE && rest.starts_with('/')))
    };
    let known = || figures::ALL.iter().chain(figures::ONLY_BY_NAME);
    if let Some(name) = names.iter().find(|name| !known().any(|it| is_of(it, name))) {
        let known: Vec<&str> = known().map(|figure| figure.name).collect();
        bail!("no figure '{name}' (known: {})", known.join(", "));
    }
    cases::selected_cases(names)?;
    if names.is_empty() {
        return Ok(figures::ALL.iter().collect());
    }
    Ok(known().filter(|it| names.iter().any(|name| is_of(it, name))).collect())
}

impl Options {
    fn parse(words: impl IntoIterator<Item = String>) -> anyhow::Result<Options> {
        let mut options = Options::default();
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().with_context(|| format!("{word}: its value is missing; {USAGE}"));
            match word.as_str() {
                "--list" => options.is_list = true,
                "--before" => options.before = Some(value()?.into()),
                "--repeats" => {
                    let text = value()?;
                    let count =
                        text.parse().with_context(|| format!("--repeats '{text}': from 1 on; {USAGE}"));
                    options.repeats = Some(count?);
                }
                _ if word.starts_with('-') => bail!("no option '{word}'; {USAGE}"),
                _ => options.names.push(word),
            }
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &str) -> anyhow::Result<Options> {
        Options::parse(words.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn options_and_figures_may_come_in_any_order() {
        let found = parse("power --before /old/readlab verdicts/zip --repeats 3").unwrap();
        assert_eq!(found.names, ["power", "verdicts/zip"]);
        assert_eq!(found.before, Some("/old/readlab".into()));
        assert_eq!(found.repeats, NonZeroUsize::new(3));
        let names: Vec<&str> = selected_figures(&found.names).unwrap().iter().map(|it| it.name).collect();
        assert_eq!(names, ["verdicts", "power"]);
        assert_eq!(parse("").unwrap(), Options::default());
    }

    #[test]
    fn an_unknown_option_or_figure_is_refused() {
        for words in ["--after x", "--before", "--repeats", "--repeats 0", "--repeats many", "-x"] {
            let error = format!("{:#}", parse(words).unwrap_err());
            assert!(error.contains("usage: readlab-bench"), "{words}: {error}");
        }
        for name in ["pow", "power/5", "verdicts/no-such-case"] {
            assert!(selected_figures(&[name.to_owned()]).is_err(), "{name}");
        }
    }

    #[test]
    fn the_whole_run_takes_ninety_minutes_at_most() {
        assert!(figures::ALL.iter().map(|figure| figure.minutes).sum::<u32>() <= 90);
        let all = || figures::ALL.iter().chain(figures::ONLY_BY_NAME).map(|it| it.name);
        let names: std::collections::BTreeSet<&str> = all().collect();
        assert_eq!(names.len(), all().count());
    }

    #[test]
    fn a_long_figure_is_measured_only_if_it_is_named() {
        let selected = |names: &[&str]| -> Vec<&str> {
            let names: Vec<String> = names.iter().copied().map(str::to_owned).collect();
            selected_figures(&names).unwrap().iter().map(|it| it.name).collect()
        };
        assert_eq!(selected(&[]).len(), figures::ALL.len());
        assert_eq!(selected(&["tune-seeds"]), ["tune-seeds"]);
        assert_eq!(selected(&["tune"]), ["tune"]);
    }
}
