//! The arguments of a benchmark: those of cargo and criterion that people type, and after `--` the
//! options of `readlab race`.

use crate::UsageError;
use std::ffi::OsString;

/// The parsed arguments.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// Whether readers are measured. Otherwise each reads once, as under `cargo test`.
    pub(crate) measures: bool,
    /// Text that the names of selected readers contain.
    pub(crate) filter: Option<String>,
    /// The baseline name under which the run is saved.
    pub(crate) save_baseline: Option<String>,
    /// The name of the baseline to compare with.
    pub(crate) baseline: Option<String>,
    /// Options for `readlab race`.
    pub(crate) race: Vec<OsString>,
}

impl Options {
    pub(crate) fn parse(words: Vec<OsString>) -> Result<Options, UsageError> {
        let mut options = Options::default();
        let is_bench = words.last().is_some_and(|word| word == "--bench");
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let text = word.to_string_lossy().into_owned();
            let mut value = || {
                let value = words.next().and_then(|value| value.into_string().ok());
                value.filter(|value| is_name(value)).ok_or_else(|| {
                    UsageError::Option(format!("{text} needs a name of letters, digits, '-', '_' and '.'"))
                })
            };
            match text.as_str() {
                "--bench" => options.measures = true,
                "--save-baseline" => options.save_baseline = Some(value()?),
                "--baseline" => options.baseline = Some(value()?),
                "--" => {
                    // `--bench`, which cargo appends itself, comes last.
                    options.race = words.filter(|word| word != "--bench").collect();
                    options.measures |= is_bench;
                    break;
                }
                // These options are passed by `cargo test` to every test program.
                "--quiet" | "-q" | "--nocapture" | "--test" => {}
                option if option.starts_with('-') => {
                    let known =
                        "--save-baseline NAME, --baseline NAME, and `--` before options of `readlab race`";
                    return Err(UsageError::Option(format!("no option '{option}'; there are {known}")));
                }
                _ if options.filter.is_some() => {
                    return Err(UsageError::Option(format!("one filter at most, and '{text}' is a second")));
                }
                _ => options.filter = Some(text),
            }
        }
        Ok(options)
    }
}

/// Whether a text can be the name of a folder.
fn is_name(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &str) -> Result<Options, String> {
        let words = words.split_whitespace().map(OsString::from).collect();
        Options::parse(words).map_err(|error| error.to_string())
    }

    #[test]
    fn the_options_of_cargo_criterion_and_readlab_are_separated() {
        let options = parse("buff --save-baseline main --baseline v1.0 -- --state warm --bench").unwrap();
        let expected = Options {
            measures: true,
            filter: Some("buff".to_owned()),
            save_baseline: Some("main".to_owned()),
            baseline: Some("v1.0".to_owned()),
            race: ["--state", "warm"].map(OsString::from).to_vec(),
        };
        assert_eq!(options, expected);
        assert_eq!(parse("--nocapture"), Ok(Options::default()));
        assert!(parse("--bench").unwrap().measures && parse("x --bench").unwrap().measures);
    }

    #[test]
    fn an_unknown_option_is_named() {
        assert!(parse("--fast").unwrap_err().starts_with("no option '--fast'"));
        assert!(parse("a b").unwrap_err().contains("'b' is a second"));
        for words in ["--baseline", "--baseline ../x", "--save-baseline a/b"] {
            assert!(parse(words).unwrap_err().contains("needs a name"), "{words}");
        }
    }
}
