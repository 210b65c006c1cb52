//! The command line of the bench: which figures, how often what is repeated, and which older
//! readlab is measured beside this one. What the figures do with it is theirs.

use anyhow::{Context, bail};
use std::num::NonZeroUsize;
use std::path::PathBuf;

const USAGE: &str = "usage: readlab-bench [--before PROGRAM] [--repeats N] [FIGURE…]";

/// What the user wants.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// Names of figures; none for all.
    pub(crate) figures: Vec<String>,
    /// An older readlab, which some figures measure in turns with this one.
    pub(crate) before: Option<PathBuf>,
    /// How often races are repeated whose outcomes are counted, instead of each figure's own
    /// number.
    pub(crate) repeats: Option<NonZeroUsize>,
}

impl Options {
    /// Reads the words of the command line.
    pub(crate) fn parse(words: impl IntoIterator<Item = String>) -> anyhow::Result<Options> {
        let mut options = Options::default();
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().with_context(|| format!("{word}: its value is missing; {USAGE}"));
            match word.as_str() {
                "--before" => options.before = Some(value()?.into()),
                "--repeats" => options.repeats = Some(number(&value()?)?),
                _ if word.starts_with('-') => bail!("no option '{word}'; {USAGE}"),
                _ => options.figures.push(word),
            }
        }
        Ok(options)
    }
}

fn number(text: &str) -> anyhow::Result<NonZeroUsize> {
    text.parse().with_context(|| format!("--repeats '{text}': a number from 1 on; {USAGE}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &str) -> anyhow::Result<Options> {
        Options::parse(words.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn options_and_figures_may_come_in_any_order() {
        let found = parse("power --before /old/readlab same --repeats 3").unwrap();
        assert_eq!(found.figures, ["power", "same"]);
        assert_eq!(found.before, Some("/old/readlab".into()));
        assert_eq!(found.repeats, NonZeroUsize::new(3));
        assert_eq!(parse("").unwrap(), Options::default());
    }

    #[test]
    fn what_means_nothing_is_refused_with_the_usage() {
        for words in ["--after x", "--before", "--repeats", "--repeats 0", "--repeats many", "-x"] {
            let error = format!("{:#}", parse(words).unwrap_err());
            assert!(error.contains("usage: readlab-bench"), "{words}: {error}");
        }
    }
}
